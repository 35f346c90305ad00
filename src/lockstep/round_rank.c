#include "lockstep/round_rank.h"

#include "base/memory.h"

#include <string.h>

#define RANKS_MOST ((value)1 << 22)

void round_ranks_begin(struct round_ranks *r) {
  r->n = RANKS_FEW;
  r->occurs = r->few_occur;
  r->rank = r->few_ranks;
  r->too_large = false;
  memset(r->few_occur, 0, sizeof r->few_occur);
  r->occurs[0] = true;
}

static void grow(struct round_ranks *r, size_t n) {
  bool *occurs = memory_alloc(n * sizeof *occurs);
  memcpy(occurs, r->occurs, r->n * sizeof *occurs);
  round_ranks_release(r);
  r->occurs = occurs;
  r->rank = memory_alloc(n * sizeof *r->rank);
  r->n = n;
}

void round_ranks_note(struct round_ranks *r, value round) {
  if (round < 0 || round > RANKS_MOST) {
    r->too_large = true;
    return;
  }
  if ((size_t)round >= r->n)
    grow(r, 2 * ((size_t)round + 1));
  r->occurs[round] = true;
}

static void note(void *context, value round) { round_ranks_note(context, round); }

void round_ranks_note_local(struct round_ranks *r, const struct pack *p, local_id id) {
  const struct role *role = &p->model->roles[local_role(p, id)];
  const value *v = local_values(p, id);
  for (uint32_t i = 0; i < role->nvars && !(v[LOCAL_STATUS] & STATUS_BYZANTINE); i++)
    if (v[LOCAL_VAR(i)] != VALUE_DONT_CARE)
      value_each_round(&p->model->values, role->vars[i].type, v[LOCAL_VAR(i)], note, r);
}

bool round_ranks_assign(struct round_ranks *r, const struct pack *p, value phase) {
  value next = 0;
  bool changes = false;
  for (size_t i = 0; i < r->n && !r->too_large; i++) {
    if ((value)i == phase)
      next = rank_of_phase(p, next, phase);
    r->rank[i] = r->occurs[i] ? next++ : 0;
    changes |= r->occurs[i] && r->rank[i] != (value)i;
  }
  return changes;
}

local_id round_ranks_rename(const struct round_ranks *r, struct pack *p, local_id id) {
  return local_rename_rounds(p, id, r->rank, r->n);
}

void round_ranks_release(struct round_ranks *r) {
  if (r->occurs == r->few_occur)
    return;
  memory_free(r->occurs);
  memory_free(r->rank);
}
