#include "param/proof.h"

#include "base/memory.h"

#include <inttypes.h>

void proof_init(struct proof *p, const struct counter_property *property) { *p = (struct proof){.property = property}; }

void proof_release(struct proof *p) {
  if (p->kind == ENGINE_UNSAFE)
    counter_run_release(&p->run);
  for (uint32_t i = 0; i < p->nreports; i++)
    memory_free(p->reports[i].reached);
  memory_free(p->by);
  memory_free(p->certificate);
  memory_free(p->limit);
  *p = (struct proof){0};
}

static void say_safe(const struct counter_system *s, struct text *out) {
  struct text names = {0}, conditions = {0};
  const char *between = "";
  counter_params_print(s, &names);
  counter_conditions_print(s, true, &conditions);
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].is && s->params[i].is->op == TERM_NUMBER) {
      text_addf(out, "%s%s = %" PRId64, between, s->params[i].name, s->params[i].is->number);
      between = ", ";
    }
  if (names.n)
    text_addf(out, "%sall %s%s%s", between, names.at, conditions.n ? " with " : "", text_or_empty(&conditions));
  else if (!out->n)
    text_add(out, "every run");
  text_release(&names);
  text_release(&conditions);
}

static void say_unsafe(const struct proof *p, const struct counter_system *s, struct text *out) {
  size_t n = p->run.steps.n;
  if (n == 0)
    text_add(out, "in a start state");
  else
    text_addf(out, "after %zu move%s", n, n == 1 ? "" : "s");
  for (uint32_t i = 0; i < s->nparams; i++)
    if (!s->params[i].of)
      text_addf(out, ", %s = %" PRId64, s->params[i].name, p->run.params[i]);
}

void proof_summary(const struct proof *p, const struct counter_system *s, struct text *out) {
  if (p->kind == ENGINE_SAFE)
    say_safe(s, out);
  else if (p->kind == ENGINE_UNSAFE)
    say_unsafe(p, s, out);
  else
    text_add(out, p->limit ? p->limit : "not decided");
}
