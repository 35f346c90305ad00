#include "system/initial_set.h"

#include "base/memory.h"

#include <string.h>

struct initial_set { /* under construction */
  value *at;
  size_t n;
  size_t role_at; /* index of the first member of the current role */
};

/* Members are inserted role by role, so only members of the same role have to be compared. */
static void add_member(const struct role *role, uint32_t r, const value *local, struct initial_set *out) {
  size_t width = 1 + role_ninputs(role), at = out->role_at;
  value *member = memory_alloc(width * sizeof *member);
  member[0] = r;
  memcpy(member + 1, local + 1 + role->nvars, (width - 1) * sizeof *member);
  int order = 1;
  for (; at < out->n && (order = numbers_compare(member, out->at + at, width)) > 0;)
    at += width;
  if (at == out->n || order < 0) {
    out->at = memory_resize_array(out->at, out->n + width, sizeof *out->at);
    memmove(out->at + at + width, out->at + at, (out->n - at) * sizeof *out->at);
    memcpy(out->at + at, member, width * sizeof *member);
    out->n += width;
  }
  memory_free(member);
}

value *initial_set_of(const struct model *m, const value *const *local, size_t *n) {
  struct initial_set set = {0};
  for (uint32_t r = 0; r < m->nroles; r++) {
    set.role_at = set.n;
    for (uint32_t p = m->roles[r].first; p < m->roles[r].first + m->roles[r].count; p++)
      if (role_ninputs(&m->roles[r]) && !(local[p][LOCAL_STATUS] & STATUS_BYZANTINE))
        add_member(&m->roles[r], r, local[p], &set);
  }
  *n = set.n;
  return set.at;
}

size_t initial_set_members(const struct model *m, const value *set, size_t n) {
  size_t members = 0;
  for (size_t at = 0; at < n; at += 1 + role_ninputs(&m->roles[set[at]]))
    members++;
  return members;
}

void initial_set_fill(const struct model *m, const value *set, size_t n, struct config *config) {
  size_t at = 0;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    uint32_t inputs = role_ninputs(role);
    size_t first = at, end = at;
    while (inputs && end < n && set[end] == (value)r)
      end += 1 + inputs;
    for (uint32_t p = role->first; inputs && end > first && p < role->first + role->count; p++) {
      if (config->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
        continue;
      memcpy(config->local[p] + 1 + role->nvars, set + at + 1, inputs * sizeof *set);
      at = at + 1 + inputs < end ? at + 1 + inputs : first;
    }
    at = end;
  }
}

bool initial_set_is_sound(const struct model *m, const value *set, size_t n) {
  size_t at = 0;
  while (at < n) {
    if (set[at] < 0 || set[at] >= (value)m->nroles || (at > 0 && set[at] < set[0]))
      return false;
    const struct role *role = &m->roles[set[at++]];
    for (uint32_t i = 0; i < role->nvars; i++)
      if (role->vars[i].kind == VAR_INPUT && (at >= n || !value_is_sound(&m->values, role->vars[i].type, set[at++])))
        return false;
    if (role_ninputs(role) == 0)
      return false;
  }
  return true;
}
