/* One round of a trace as text. */
#include "interp/local.h"
#include "report/trace_printer.h"

#include <inttypes.h>
#include <string.h>

void trace_printer_oracles(const struct trace_printer *t, uint32_t step, uint32_t p, struct text *out) {
  const struct config *c = t->trace->configs[step];
  const struct role *role = process_role(t->model, p);
  for (uint32_t i = 0; i < role->nvars && trace_has_begun(t->trace, p, step); i++) {
    const value *chosen = oracle_choice(t->model, c, t->trace->run.steps[step], p, i);
    if (chosen) {
      text_addf(out, "%s%s = ", out->n ? ", " : "", role->vars[i].name);
      trace_printer_value(t, out, role->vars[i].type, *chosen);
    }
  }
}

static void print_oracles(const struct trace_printer *t, uint32_t step) {
  struct process_groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    struct text v = {0};
    trace_printer_oracles(t, step, p, &v);
    if (v.n > 0)
      process_groups_add(&g, t, p, &v);
  }
  process_groups_print(&g, t, "oracle", false);
}

/* The messages sent by a process: the message, and its receivers if not all. */
static void print_sends(const struct trace_printer *t, const struct step_log *log) {
  struct process_groups g = {0};
  uint8_t *to = memory_alloc(t->model->nprocesses + 1);
  for (size_t i = 0; i < log->nsent;) {
    const struct sent *first = &log->sent[i];
    struct text v = {0};
    uint32_t n = 0;
    i = sent_together(t->trace, log, i, to, &n);
    trace_printer_value(t, &v, first->type, first->message);
    if (n < t->model->nprocesses) {
      text_add(&v, " to ");
      processes_add(&v, t->model, to);
    }
    process_groups_add(&g, t, first->from, &v);
  }
  memory_free(to);
  if (g.at.n > 0)
    process_groups_print(&g, t, "send", false);
  else
    trace_printer_phrase(t, "send", "nobody");
}

/* Which of the messages sent to p it heard: all, all except those of some senders, or only those of some senders. */
static void add_heard(const struct trace_printer *t, uint32_t p, const uint8_t *heard, const uint8_t *missed,
                      struct text *v) {
  uint32_t nheard = 0, nmissed = 0;
  for (uint32_t q = 0; q < t->model->nprocesses; q++) {
    nheard += heard[q];
    nmissed += missed[q];
  }
  if (nheard == 0) {
    text_add(v, "nobody");
  } else if (nmissed == 0) {
    text_add(v, "all");
  } else if (nheard == 1 && heard[p]) {
    text_add(v, "only itself");
  } else if (nmissed <= nheard) {
    text_add(v, "all but ");
    processes_add(v, t->model, missed);
  } else {
    text_add(v, "only ");
    processes_add(v, t->model, heard);
  }
}

static void print_heard_of(const struct trace_printer *t, uint32_t step) {
  uint32_t n = t->model->nprocesses;
  uint8_t *all_missed, *all_heard = trace_heard_of(t->trace, step, &all_missed);
  struct process_groups g = {0};
  bool lost = false, any = false;
  for (uint32_t p = 0; p < n; p++) {
    struct text v = {0};
    const uint8_t *heard = all_heard + (size_t)p * n, *missed = all_missed + (size_t)p * n;
    if (!memchr(heard, 1, n) && !memchr(missed, 1, n))
      continue;
    any = true;
    lost |= memchr(missed, 1, n) != NULL;
    add_heard(t, p, heard, missed, &v);
    process_groups_add(&g, t, p, &v);
  }
  if (lost) {
    process_groups_print(&g, t, "hear", true);
  } else {
    process_groups_release(&g);
    if (any)
      trace_printer_phrase(t, "hear", "every message arrives");
  }
  memory_free(all_heard);
}

void trace_printer_forged(const struct trace_printer *t, uint32_t step, uint32_t q, struct process_groups *messages) {
  const struct step_log *log = &t->trace->logs[step];
  for (size_t i = 0; i < log->narrivals; i++) {
    const struct arrival *a = &log->arrivals[i];
    struct text v = {0};
    if (a->from != q || !a->forged)
      continue;
    trace_printer_value(t, &v, a->type, a->message);
    process_groups_add(messages, t, a->to, &v);
  }
}

/* Forged messages: "P(5), P(6): 0 to P(1); 1 to P(2), P(3)". */
static void print_forged(const struct trace_printer *t, uint32_t step) {
  const struct config *c = t->trace->configs[step];
  struct process_groups forgers = {0};
  for (uint32_t q = 0; q < t->model->nprocesses; q++) {
    struct process_groups messages = {0};
    struct text all = {0};
    if (c->local[q][LOCAL_STATUS] & STATUS_BYZANTINE)
      trace_printer_forged(t, step, q, &messages);
    for (size_t i = 0; i < messages.at.n; i++) {
      text_addf(&all, "%s%s to ", i ? "; " : "", messages.at.at[i].what);
      processes_add(&all, t->model, messages.at.at[i].members);
    }
    process_groups_release(&messages);
    if (all.n > 0)
      process_groups_add(&forgers, t, q, &all);
  }
  process_groups_print(&forgers, t, "lie", true);
}

static const struct sent *sent_from_to(const struct step_log *log, uint32_t from, uint32_t to) {
  for (size_t i = 0; i < log->nsent; i++)
    if (log->sent[i].from == from && log->sent[i].to == to)
      return &log->sent[i];
  return NULL;
}

/* Corrupted messages: "P(1) to P(3), P(4): 1 becomes 2". */
static void print_corruptions(const struct trace_printer *t, uint32_t step) {
  const struct step_log *log = &t->trace->logs[step];
  struct text_items items = {0};
  bool any = false;
  for (size_t i = 0; i < log->narrivals && !any; i++)
    any = log->arrivals[i].forged;
  for (uint32_t q = 0; any && q < t->model->nprocesses; q++) {
    struct process_groups g = {0};
    for (size_t i = 0; i < log->narrivals; i++) {
      const struct arrival *a = &log->arrivals[i];
      const struct sent *sent = a->from == q && a->forged ? sent_from_to(log, q, a->to) : NULL;
      struct text v = {0};
      if (!sent)
        continue;
      trace_printer_value(t, &v, sent->type, sent->message);
      text_add(&v, " becomes ");
      trace_printer_value(t, &v, a->type, a->message);
      process_groups_add(&g, t, a->to, &v);
    }
    for (size_t i = 0; i < g.at.n; i++) {
      struct text v = {0};
      process_print(t->model, q, &v);
      text_add(&v, " to ");
      processes_add(&v, t->model, g.at.at[i].members);
      text_addf(&v, ": %s", g.at.at[i].what);
      items_add(&items, &v);
    }
    process_groups_release(&g);
  }
  items_print(&items, t->style, "corrupt", false, t->out);
}

static void print_changes(const struct trace_printer *t, uint32_t step) {
  const struct step_log *log = &t->trace->logs[step];
  struct process_groups g = {0};
  for (size_t i = 0; i < log->nchanges;) {
    const struct change *first = &log->changes[i];
    struct text v = {0};
    for (; i < log->nchanges && log->changes[i].process == first->process; i++) {
      const struct change *c = &log->changes[i];
      const struct var *var = change_var(t->model, c);
      if (var->kind != VAR_ORACLE)
        trace_printer_change(t, var->type, var->name, c->before, c->after, &v);
    }
    trace_printer_lines(t, first, (size_t)(&log->changes[i] - first), 0, &v);
    if (v.n > 0)
      process_groups_add(&g, t, first->process, &v);
  }
  if (g.at.n > 0)
    process_groups_print(&g, t, "change", true);
  else
    trace_printer_phrase(t, "change", "nothing");
}

static void print_stops(const struct trace_printer *t, uint32_t step) {
  const struct trace *trace = t->trace;
  const struct witness *w = trace->run.steps[step];
  uint32_t n = t->model->nprocesses;
  for (unsigned halt = 0; halt < 2; halt++) {
    struct text_items items = {0};
    uint8_t *members = memory_alloc(n + 1);
    struct text v = {0};
    for (uint32_t p = 0; p < n; p++)
      members[p] = halt ? trace_halts(trace, p, step) : w->crashes[p] && trace_has_ended(trace, p, step);
    bool any = memchr(members, 1, n) != NULL;
    if (any) {
      processes_add(&v, t->model, members);
      items_add(&items, &v);
      items_print(&items, t->style, halt ? "halt" : "crash", false, t->out);
    }
    memory_free(members);
  }
}

void trace_printer_round_title(const struct trace_printer *t, uint32_t step, struct text *title) {
  const struct config *c = t->trace->configs[step];
  const struct point *point = &t->model->points[c->point];
  text_addf(title, "round %u", t->trace->before + step + 1);
  if (point->name)
    text_addf(title, ": %s", point->name);
  if (point->endless && t->model->npoints > 1)
    text_addf(title, ", phase %" PRId64, c->phase);
}

void trace_printer_round(const struct trace_printer *t, uint32_t step) {
  struct text title = {0};
  trace_printer_round_title(t, step, &title);
  trace_printer_heading(t, title.at, t->trace->before + step + 1);
  text_release(&title);
  print_oracles(t, step);
  print_sends(t, &t->trace->logs[step]);
  print_forged(t, step);
  print_corruptions(t, step);
  print_stops(t, step);
  print_heard_of(t, step);
  if (step + 1 < t->trace->nconfigs)
    print_changes(t, step);
}

/* "P(1)  1 2 3": the rounds that a process completed consecutively; then the current round of every process. */
void trace_printer_order(const struct trace_printer *t) {
  const struct trace *trace = t->trace;
  uint32_t n = t->model->nprocesses;
  uint32_t *rounds = memory_alloc((n + 1) * sizeof *rounds);
  trace_printer_heading(t, "order: who ends which rounds, one after the other", PART_OTHER);
  for (uint32_t i = 0; i < trace->run.norder;) {
    uint32_t p = trace->run.order[i], first = rounds[p] + 1;
    struct text line = {0};
    for (; i < trace->run.norder && trace->run.order[i] == p; i++)
      rounds[p]++;
    process_print(t->model, p, &line);
    text_addf(&line, first == rounds[p] ? " round %u" : " rounds %u to %u", first, rounds[p]);
    text_addf(t->out, "  %s\n", line.at);
    text_release(&line);
  }
  struct process_groups g = {0};
  for (uint32_t p = 0; p < n && trace->cut; p++) {
    struct text v = {0};
    value status = trace->cut->local[p][LOCAL_STATUS];
    if (process_active(status)) {
      text_addf(&v, "in round %u", rounds[p] + 1);
      process_groups_add(&g, t, p, &v);
    }
  }
  process_groups_print(&g, t, "now", false);
  memory_free(rounds);
}
