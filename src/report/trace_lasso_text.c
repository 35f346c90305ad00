/* Infinite runs: why they satisfy the assumptions of the environment. */
#include "report/check_result.h"
#include "report/trace_printer.h"
#include "report/waiting_text.h"
#include "trace/lasso_replay.h"

#include <string.h>

/* Why the run stays in its last state, and who waits for what there. */
static void print_standstill(const struct trace_printer *t, struct interpreter *interp) {
  struct waiting_list list = {0};
  if (!model_steps(t->model))
    text_add(t->out, "\nthe algorithm has ended, and the last state stays\n");
  else if (!waiting_list_make(&list, interp, t->trace->claim.environment, t->trace->configs[t->trace->nconfigs - 1]))
    text_add(t->out, "\nnothing more can happen: no action takes all messages that were delivered\n");
  else
    text_addf(t->out, "\nnothing more can happen: %s\n",
              list.nmiddle ? "a deadlock"
              : list.n     ? "nobody is in the middle of something"
                           : "every process has stopped or ended");
  waiting_list_print(&list, t->model, t->out);
  waiting_list_release(&list);
}

void clause_print(const struct model *m, const struct clause *c, struct text *out) {
  bool quantified = c->at.to - c->at.from > 4 && !strncmp(m->source.text + c->at.from, "for ", 4);
  text_addf(out, "%s%s%s ",
            c->kind == CLAUSE_OFTEN  ? "infinitely often"
            : c->kind == CLAUSE_ONCE ? "eventually"
                                     : "eventually always",
            c->unit == EACH_PHASE ? " phase" : "", quantified ? "" : ":");
  source_add_text(&m->source, c->at, out);
}

static void add_clause(const struct trace_printer *t, const struct clause *c) {
  text_add(t->out, "  ");
  clause_print(t->model, c, t->out);
  text_addf(t->out, "  (line %u)\n", source_line_number(&t->model->source, c->at));
}

#define UNTAKEN_MAX 5

struct untaken_list {
  const struct trace_printer *printer;
  uint32_t n;
};

/* "P(2) could take token from P(1), but not always  (line 19)" */
static void print_untaken(void *context, const struct fair_group *g) {
  struct untaken_list *u = context;
  const struct trace_printer *t = u->printer;
  if (u->n++ >= UNTAKEN_MAX && !t->style->verbose)
    return;
  text_add(t->out, "  ");
  process_print(t->model, g->process, t->out);
  if (g->action == NO_PART) {
    text_add(t->out, " could act, but not always\n");
    return;
  }
  const struct action *a = &process_role(t->model, g->process)->actions[g->action];
  if (g->sender != NO_PART) {
    text_add(t->out, " could take ");
    message_print(t->model, a->kind, g->message, t->out);
    text_add(t->out, " from ");
    process_print(t->model, g->sender, t->out);
  } else if (!strcmp(a->name, "when")) {
    text_add(t->out, " could act");
  } else {
    text_addf(t->out, " could do %s", a->name);
  }
  text_addf(t->out, ", but not always  (line %u)\n", source_line_number(&t->model->source, a->at));
}

static void print_fairness(const struct trace_printer *t, struct interpreter *interp, const struct clause *fair) {
  struct untaken_list u = {t, 0};
  text_addf(t->out, "\nthe loop is fair: what can happen %s does happen  (line %u)\n",
            fair->strong ? "infinitely often" : "all the time", source_line_number(&t->model->source, fair->at));
  lasso_untaken_groups(t->trace, interp, print_untaken, &u);
  if (u.n > UNTAKEN_MAX && !t->style->verbose)
    text_addf(t->out, "  and %u more\n", u.n - UNTAKEN_MAX);
}

void trace_printer_assumptions(const struct trace_printer *t, struct interpreter *interp) {
  const struct trace *trace = t->trace;
  const struct environment *env = &t->model->environments[trace->claim.environment];
  const struct clause *marks[RUN_CLAUSES_MAX], *fair = environment_fairness(env);
  if (trace_stays(trace)) {
    print_standstill(t, interp);
    return;
  }
  if (trace->piles)
    text_add(t->out,
             "\nthe loop returns to the same state, except for messages that nobody takes: there are more each time\n");
  else if (!trace->exact)
    text_add(t->out, "\nthe loop returns to the same state up to round numbers, of which only the order matters\n");
  uint32_t n = model_steps(t->model) ? 0 : environment_run_clauses(env, marks);
  if (n > 0) {
    text_addf(t->out, "\nthe run satisfies these clauses of environment %s\n", env->name);
    for (uint32_t i = 0; i < n; i++)
      if (i == 0 || marks[i]->at.from != marks[i - 1]->at.from) /* clauses from one `for each` share a line */
        add_clause(t, marks[i]);
  }
  if (fair && model_steps(t->model))
    print_fairness(t, interp, fair);
}
