/* Messages to all others (`send x to others`). Such a message is sent by a process, but never heard by itself. */
#include "param/derive_internal.h"

#include "base/memory.h"

#include <string.h>

static bool has_such_sends(const struct derivation_builder *d, uint32_t point) {
  bool others = false;
  for (uint32_t i = 0; i < d->role->body[point].nsends; i++)
    others |= d->role->body[point].sends[i].target == TARGET_OTHERS;
  return others;
}

bool local_spares_itself(struct derivation_builder *d, uint32_t local, uint32_t point) {
  struct local_send_list out = {memory_alloc(sizeof *out.at), 0, 1};
  struct choices choices = {0};
  struct eval e;
  bool spares = false;
  if (has_such_sends(d, point) && local_active(d, local)) {
    value *v = memory_alloc((d->interp->max_local + (size_t)1) * sizeof *v);
    memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
    local_begin(&e, d->interp, d->role->first, point, 1, v, NULL);
    e.choices = &choices;
    spares = local_sends(&e, &out) && out.n == 1 && out.at[0].target == TARGET_OTHERS;
    choices_release(&choices);
    memory_free(v);
  }
  memory_free(out.at);
  return spares;
}

bool round_may_spare(struct derivation_builder *d, uint32_t point) { return has_such_sends(d, point); }

bool derive_others_licensed(struct derivation_builder *d, uint32_t local, uint32_t point) {
  const struct clause *clause = d->heard.coupling != HEARD_FREELY ? d->heard.coupling_clause : NULL;
  for (size_t i = 0; i < d->heard.sizes.n && !clause; i++)
    clause = d->heard.sizes.at[i].active ? d->heard.sizes.at[i].of : NULL;
  return !clause || !local_spares_itself(d, local, point) ||
         derive_refuse(d, clause->at,
                       "this clause can be expressed by counters only if messages go to all, not to others");
}
