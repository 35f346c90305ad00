#include "report/waiting_text.h"

#include "base/memory.h"
#include "report/layout.h"

#include <string.h>

static bool waits_alike(const struct model *m, const struct waiting_process *a, const struct waiting_process *b) {
  return model_role_of(m, a->process) == model_role_of(m, b->process) && a->how == b->how && a->place == b->place &&
         a->at_end == b->at_end && a->nactions == b->nactions &&
         (a->nactions == 0 || !memcmp(a->actions, b->actions, a->nactions * sizeof *a->actions));
}

static void print_group(const struct model *m, const struct waiting_process *w, const uint8_t *members, uint32_t n,
                        struct text *out) {
  struct text who = {0};
  processes_add(&who, m, members);
  bool one = n == 1 || !strncmp(who.at, "every", 5); /* "everybody", "every Acceptor" */
  text_addf(out, "  %s", who.at);
  text_add(out, w->how == WAITING_NOT ? " may wait" : one ? " waits" : " wait");
  if (w->place && !w->at_end)
    text_addf(out, " at %s", w->place);
  if (w->how == WAITING_ROOM)
    text_addf(out, ", where a channel has no room for what %s would send", one ? "it" : "they");
  if (w->nactions == 0)
    text_add(out, ", where each action is 'once' and has been taken");
  for (uint32_t i = 0; i < w->nactions; i++) {
    text_add(out, i ? ", or " : ": ");
    waiting_print_action(m, &m->roles[model_role_of(m, w->process)], w->actions[i], out);
  }
  text_add(out, "\n");
  text_release(&who);
}

void waiting_list_print(const struct waiting_list *list, const struct model *m, struct text *out) {
  uint8_t *done = memory_alloc(list->n + 1), *members = memory_alloc(m->nprocesses + (size_t)1);
  for (uint32_t i = 0; i < list->n; i++) {
    uint32_t n = 0;
    if (done[i])
      continue;
    memset(members, 0, m->nprocesses);
    for (uint32_t k = i; k < list->n; k++)
      if (!done[k] && waits_alike(m, &list->at[i], &list->at[k])) {
        members[list->at[k].process] = done[k] = 1;
        n++;
      }
    print_group(m, &list->at[i], members, n, out);
  }
  memory_free(done);
  memory_free(members);
}
