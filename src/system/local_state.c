#include "system/local_state.h"

void local_fill_dont_care(struct model *m, uint32_t role, value *local) {
  const struct role *r = &m->roles[role];
  for (uint32_t i = 0; i < r->nvars; i++)
    if (local[LOCAL_VAR(i)] == VALUE_DONT_CARE)
      local[LOCAL_VAR(i)] = type_default(&m->values, r->vars[i].type);
}

#define STATUS_ALL (STATUS_FAULTY | STATUS_HALTED)

bool local_is_sound(const struct model *m, uint32_t role, const value *local, size_t n, bool keeps_initials,
                    value followed) {
  const struct role *r = &m->roles[role];
  if (n != role_local_length(r) || (local[LOCAL_STATUS] & ~(STATUS_ALL | followed)) != 0)
    return false;
  for (uint32_t i = 0; i < r->nvars; i++) {
    value v = local[LOCAL_VAR(i)];
    if (v != VALUE_DONT_CARE && !value_is_sound(&m->values, r->vars[i].type, v))
      return false;
    if (keeps_initials && r->vars[i].kind == VAR_INPUT &&
        !value_is_sound(&m->values, r->vars[i].type, local[role_initial_at(r, i)]))
      return false;
  }
  return true;
}
