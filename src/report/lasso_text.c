/* Runs that go on for ever: why nothing that the environment assumes forbids them. */
#include "report/teller.h"
#include "trace/lasso.h"

static void tell_standstill(const struct teller *t) {
  static const char *const words[] = {
      "the algorithm has ended, and the last state stays",
      "nothing more can happen: nobody waits for anything",
      "nothing more can happen: a deadlock",
  };
  text_addf(t->out, "\n%s\n", words[lasso_standstill(t->trace)]);
}

/* "infinitely often: ..." as the text has it, on one line. */
static void add_clause(const struct teller *t, const struct clause *c) {
  const char *text = t->model->source.text;
  bool blank = false;
  text_addf(t->out, "  %s ", c->kind == CLAUSE_OFTEN ? "infinitely often" : c->kind == CLAUSE_ONCE ? "eventually" : "eventually always");
  for (uint32_t i = c->at.from; i < c->at.to; i++) {
    bool space = text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r';
    if (!space) {
      text_add(t->out, blank ? " " : "");
      text_add_n(t->out, &text[i], 1);
    }
    blank = space;
  }
  text_addf(t->out, "  (line %u)\n", teller_line(t->model, c->at));
}

void teller_assumptions(const struct teller *t) {
  const struct trace *trace = t->trace;
  const struct environment *env = &t->model->environments[trace->claim.environment];
  const struct clause *marks[MARKS_MOST], *fair = environment_fairness(env);
  bool stays = trace->claim.loop == trace->run.nsteps;
  if (stays) {
    tell_standstill(t);
    return;
  }
  if (trace->piles)
    text_add(t->out, "\nit comes back to the same, but for messages that nobody takes: there are ever more of them\n");
  else if (!trace->exact)
    text_add(t->out, "\nit comes back to the same, but for round numbers, of which only the order matters\n");
  uint32_t n = model_steps(t->model) ? 0 : environment_marks(env, marks);
  if (n > 0) {
    text_addf(t->out, "\nthis satisfies what environment %s says of runs\n", env->name);
    for (uint32_t i = 0; i < n; i++)
      if (i == 0 || marks[i]->at.from != marks[i - 1]->at.from) /* `for each` is one line */
        add_clause(t, marks[i]);
  }
  if (fair && model_steps(t->model))
    text_addf(t->out, "\nthis is fair: whatever %s be taken is taken, or %s  (line %u)\n",
              fair->strong ? "can again and again" : "can always",
              fair->strong ? "cannot be from some time on" : "again and again cannot be", teller_line(t->model, fair->at));
}
