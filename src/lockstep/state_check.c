/* Keys and tables of a checkpoint, which may hold anything: can they be used without harm? */
#include "lockstep/state_pack.h"

#include "base/memory.h"

const uint8_t *key_get_checked(const uint8_t *at, const uint8_t *end, uint64_t *x) {
  *x = 0;
  for (unsigned shift = 0; at && at < end && shift < 64; shift += 7) {
    *x |= (uint64_t)(*at & 127) << shift;
    if (!(*at++ & 128))
      return at;
  }
  return NULL;
}

static bool local_entry_is_sound(const struct pack *p, uint32_t id) {
  const value *v = intern_at(p->locals, id);
  size_t n = intern_length(p->locals, id);
  value followed = ((INT64_C(1) << p->nfollowed) - 1) << STATUS_FOLLOWED;
  return n > 0 && v[0] >= 0 && v[0] < (value)p->model->nroles &&
         local_is_sound(p->model, (uint32_t)v[0], v + 1, n - 1, p->kept.initials == INITIALS_EACH, followed);
}

bool locals_are_sound(const struct pack *p) {
  for (uint32_t i = 0; i < intern_count(p->locals); i++)
    if (!local_entry_is_sound(p, i))
      return false;
  return true;
}

static bool is_followed(const struct pack *p, uint32_t global) {
  for (uint32_t i = 0; i < p->nfollowed; i++)
    if (p->followed[i] == global)
      return true;
  return false;
}

bool globals_are_sound(const struct pack *p, uint64_t globals) {
  const struct model *m = p->model;
  if (globals >= intern_count(p->vectors) || intern_length(p->vectors, (uint32_t)globals) != m->nglobals)
    return false;
  const value *v = intern_at(p->vectors, (uint32_t)globals);
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (is_followed(p, i) ? v[i] != 0 : !value_is_sound(&m->values, m->globals[i].type, v[i]))
      return false;
  return true;
}

bool initials_are_sound(const struct pack *p, uint64_t inits) {
  return inits < intern_count(p->vectors) && initial_set_is_sound(p->model, intern_at(p->vectors, (uint32_t)inits),
                                                                  intern_length(p->vectors, (uint32_t)inits));
}

/* The members: as many processes of each role as there are, each where its role is. */
static bool members_are_sound(const struct pack *p, const uint8_t *at, const uint8_t *end) {
  const struct model *m = p->model;
  uint32_t *of_role = memory_alloc((m->nroles + 1) * sizeof *of_role), n = 0;
  bool ok = true;
  while (ok && at && at < end) {
    uint64_t local, count = 1;
    at = key_get_checked(at, end, &local);
    if (at && p->bag)
      at = key_get_checked(at, end, &count);
    ok = at && local < intern_count(p->locals) && count > 0 && count <= m->nprocesses && n < m->nprocesses;
    if (!ok)
      break;
    uint32_t role = local_role(p, (local_id)local);
    ok = p->bag || role == model_role_of(m, n);
    of_role[role] += (uint32_t)count;
    n++;
    ok &= of_role[role] <= m->roles[role].count;
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    ok &= of_role[r] == m->roles[r].count;
  memory_free(of_role);
  return ok && at;
}

bool global_key_is_sound(const struct pack *p, const struct state *s) {
  const uint8_t *end = s->bytes + s->length;
  uint64_t x;
  const uint8_t *at = key_get_checked(s->bytes, end, &x);
  bool ok = at && x <= p->model->npoints && !p->kept.obligation;
  if (p->kept.rounds) {
    at = key_get_checked(at, end, &x);
    ok &= x <= p->kept.rounds_cap;
  }
  if (p->kept.phase) {
    at = key_get_checked(at, end, &x);
    ok &= x >= 1 && x <= UINT32_MAX;
  }
  if (p->kept.lost)
    at = key_get_checked(at, end, &x), ok &= x <= INT64_MAX / 2;
  if (p->kept.corrupted)
    at = key_get_checked(at, end, &x), ok &= x <= INT64_MAX / 2;
  if (p->model->nglobals)
    at = key_get_checked(at, end, &x), ok = ok && at && globals_are_sound(p, x);
  if (p->kept.initials == INITIALS_SET)
    at = key_get_checked(at, end, &x), ok = ok && at && initials_are_sound(p, x);
  return ok && at && members_are_sound(p, at, end);
}
