#include "system/local_state.h"

void local_fill_dont_care(struct model *m, uint32_t role, value *local) {
  const struct role *r = &m->roles[role];
  for (uint32_t i = 0; i < r->nvars; i++)
    if (local[LOCAL_VAR(i)] == VALUE_DONT_CARE)
      local[LOCAL_VAR(i)] = type_default(&m->values, r->vars[i].type);
}
