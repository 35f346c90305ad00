#include "report/trace_text.h"

#include "report/trace_printer.h"
#include "report/waiting_text.h"
#include "trace/property_instance.h"

/* --- the start --- */

static bool is_free_choice(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_PICK || n->op == NODE_RANDOM;
  return !*found;
}

bool trace_printer_shows_start(const struct trace_printer *t, const struct var *var) {
  bool chosen = false;
  if (var->init)
    node_walk(var->init, is_free_choice, &chosen);
  return (var->kind == VAR_INPUT && !var->hidden) || chosen ||
         (t->style->verbose && var->kind != VAR_ORACLE && !var_is_hidden(var));
}

static void print_variable(const struct trace_printer *t, const struct config *c, const char *name) {
  struct process_groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    const struct role *role = process_role(t->model, p);
    uint32_t i = role_find_var(role, name);
    struct text v = {0};
    if (i == NO_VAR || !trace_printer_shows_start(t, &role->vars[i]) || (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE))
      continue;
    trace_printer_value(t, &v, role->vars[i].type, c->local[p][LOCAL_VAR(i)]);
    process_groups_add(&g, t, p, &v);
  }
  process_groups_print(&g, t, name, false);
}

/* Roles may have variables of the same name, which share a line. */
static bool is_printed_before(const struct model *m, uint32_t r, const char *name) {
  while (r-- > 0)
    if (role_find_var(&m->roles[r], name) != NO_VAR)
      return true;
  return false;
}

static void print_faulty(const struct trace_printer *t, const struct config *c) {
  struct process_groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    value status = c->local[p][LOCAL_STATUS];
    struct text v = {0};
    if (status & STATUS_BYZANTINE)
      text_add(&v, "Byzantine");
    else if ((status & STATUS_OMITS_SEND) && (status & STATUS_OMITS_RECEIVE))
      text_add(&v, "may omit to send and to receive");
    else if (status & STATUS_OMITS_SEND)
      text_add(&v, "may omit to send");
    else if (status & STATUS_OMITS_RECEIVE)
      text_add(&v, "may omit to receive");
    if (v.n > 0)
      process_groups_add(&g, t, p, &v);
  }
  process_groups_print(&g, t, "faulty", false);
}

static void print_start(const struct trace_printer *t) {
  const struct model *m = t->model;
  const struct config *c = t->trace->configs[0];
  trace_printer_heading(t, "start", 0);
  size_t before = t->out->n;
  for (uint32_t i = 0; i < m->nglobals; i++) {
    struct text_items items = {0};
    if (!trace_printer_shows_start(t, &m->globals[i]))
      continue;
    struct text v = {0};
    trace_printer_value(t, &v, m->globals[i].type, c->globals[i]);
    items_add(&items, &v);
    items_print(&items, t->style, m->globals[i].name, false, t->out);
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      if (!is_printed_before(m, r, m->roles[r].vars[i].name))
        print_variable(t, c, m->roles[r].vars[i].name);
  print_faulty(t, c);
  if (t->out->n == before)
    text_add(t->out, "  there is only one initial state\n");
}

/* --- the end --- */

static void add_list(struct text *out, char *const *at, size_t n) {
  for (size_t i = 0; i < n; i++)
    text_addf(out, "%s%s%s", i ? ", " : "  ", at[i], i + 1 == n ? "\n" : "");
}

static void explain_error(const struct trace_printer *t, struct trace_document *d) {
  const struct model_error *e = &t->trace->error;
  size_t length;
  text_add(&d->title, "error");
  if (e->process < t->model->nprocesses) {
    text_add(&d->title, " of ");
    process_print(t->model, e->process, &d->title);
  } else if (trace_property(t->trace)) {
    text_addf(&d->title, " in %s", trace_property(t->trace)->name);
  }
  text_addf(&d->title, ": %s", e->message ? e->message : "unknown");
  if (e->at.to > 0) {
    uint32_t line = source_line_number(&t->model->source, e->at);
    const char *source = source_line(&t->model->source, line, &length);
    text_addf(&d->details, "  line %u: ", line);
    while (length > 0 && (*source == ' ' || *source == '\t'))
      source++, length--;
    text_add_n(&d->details, source, length);
    text_add(&d->details, "\n");
  }
}

/* A property that asks whether anything can happen: who waits for what, if nothing can. */
static void explain_waiting(const struct trace_printer *t, struct interpreter *interp, struct trace_document *d) {
  const struct trace *trace = t->trace;
  struct waiting_list list;
  if (trace->claim.lasso || !formula_asks_quiescence(trace_property(trace)->formula) ||
      !waiting_list_make(&list, interp, trace->claim.environment, trace->configs[trace->nconfigs - 1]))
    return;
  text_addf(&d->details, "  nothing can happen any more%s\n",
            list.nmiddle ? "" : ", and nobody is in the middle of something");
  waiting_list_print(&list, t->model, &d->details);
  waiting_list_release(&list);
}

static void explain_property(const struct trace_printer *t, struct interpreter *interp, struct trace_document *d) {
  const struct property *p = trace_property(t->trace);
  struct property_instance instance;
  bool lasso = t->trace->claim.lasso;
  if (lasso)
    trace_printer_assumptions(t, interp);
  if (lasso && p->almost_surely)
    text_add(&d->reasons, "\nan adversary can keep this up, whatever the coins show\n");
  if (p->built_in && !d->good && !lasso)
    text_add(&d->title, "now there is a deadlock");
  else
    text_addf(&d->title,
              d->good   ? "%s is reached"
              : lasso   ? "so %s fails"
              : p->step ? "this step breaks %s"
                        : "now %s fails",
              p->name);
  if (!p->built_in) {
    text_addf(&d->place, "  (line %u)", source_line_number(&t->model->source, p->at));
    text_add(&d->details, "  ");
    source_add_text(&t->model->source, p->formula->at, &d->details);
    text_add(&d->details, "\n");
  }
  property_instance_find(&instance, interp, t->trace);
  add_list(&d->details, instance.bound.at, instance.bound.n);
  add_list(&d->details, instance.read.at, instance.read.n);
  for (size_t i = 0; i < instance.processes.n; i++)
    vec_push(&d->witnesses, instance.processes.at[i]);
  d->all_witnesses = instance.everyone || instance.processes.n == 0;
  property_instance_release(&instance);
  explain_waiting(t, interp, d);
}

/* Messages in transit after the last step. A step that ends in an error has no state after it. */
static void print_in_flight(const struct trace_printer *t) {
  const struct config *last = t->trace->configs[t->trace->nconfigs - 1];
  if (trace_fails_in_step(t->trace))
    return;
  struct text to = {0};
  struct trace_printer flight = *t;
  flight.out = &to;
  trace_printer_in_flight(&flight, last, "to");
  if (to.n > 0) {
    trace_printer_heading(t, "still in flight", PART_OTHER);
    text_add(t->out, to.at);
  }
  text_release(&to);
}

/* --- the document --- */

static void make_run(struct trace_document *d, const struct trace *trace, const struct style *style) {
  struct trace_printer t = {trace, trace->model, style, &d->run, d, trace->run.nsteps};
  bool loops = trace->claim.lasso && !trace_stays(trace);
  print_start(&t);
  if (model_steps(trace->model)) {
    if (loops) {
      trace_printer_steps(&t, "steps", 0, trace->claim.loop);
      trace_printer_steps(&t, "loop", trace->claim.loop, trace->run.nsteps);
      return;
    }
    trace_printer_steps(&t, "steps", 0, trace->run.nsteps);
    print_in_flight(&t);
    return;
  }
  for (uint32_t i = 0; i < trace->run.nsteps; i++) {
    if (loops && i == trace->claim.loop)
      trace_printer_heading(&t, "loop", PART_OTHER);
    trace_printer_round(&t, i);
  }
  if (trace->done)
    trace_printer_order(&t);
}

static void make_explanation(struct trace_document *d, const struct trace *trace, struct interpreter *interp,
                             const struct style *style) {
  struct trace_printer t = {trace, trace->model, style, &d->reasons, NULL, trace->run.nsteps};
  d->good = trace_is_good(trace);
  if (trace->claim.error)
    explain_error(&t, d);
  else if (trace_property(trace))
    explain_property(&t, interp, d);
}

void trace_document_make(struct trace_document *d, const struct trace *trace, struct interpreter *interp,
                         const struct style *style) {
  const struct model *m = trace->model;
  *d = (struct trace_document){0};
  text_addf(&d->subject, "%s%s", m->name, m->nparams ? ", " : "");
  params_add(&d->subject, m);
  text_addf(&d->subject, ", environment %s", m->environments[trace->claim.environment].name);
  if (m->kind == MODEL_MESSAGES || trace->claim.semantics == SEMANTICS_FINE)
    text_addf(&d->subject, ", semantics %s", semantics_name(trace->claim.semantics));
  make_run(d, trace, style);
  make_explanation(d, trace, interp, style);
}

void trace_document_release(struct trace_document *d) {
  text_release(&d->subject);
  text_release(&d->run);
  vec_release(&d->marks);
  text_release(&d->reasons);
  text_release(&d->title);
  text_release(&d->place);
  text_release(&d->details);
  vec_release(&d->witnesses);
}

void trace_document_explanation(const struct trace_document *d, const struct style *style, struct text *out) {
  text_add(out, text_or_empty(&d->reasons));
  if (!d->title.n)
    return;
  text_add(out, "\n");
  paint_add(out, style, d->good ? PAINT_GOOD : PAINT_BAD, d->title.at);
  text_addf(out, "%s\n%s", text_or_empty(&d->place), text_or_empty(&d->details));
}

void trace_print(const struct trace *trace, const struct style *style, struct text *out) {
  struct trace_document d = {0};
  make_run(&d, trace, style);
  text_add(out, text_or_empty(&d.run));
  trace_document_release(&d);
}

void trace_explain(const struct trace *trace, struct interpreter *interp, const struct style *style, struct text *out) {
  struct trace_document d = {0};
  make_explanation(&d, trace, interp, style);
  trace_document_explanation(&d, style, out);
  trace_document_release(&d);
}
