/* Runs of step models as text: for each step the process, its action, its messages, its changes and its sends.
   Consecutive steps that differ only in their process are printed as one. */
#include "interp/local.h"
#include "report/trace_printer.h"

#include <string.h>

#define SENDS_MAX 8   /* lines for the messages sent in one step, unless verbose */
#define PENDING_MAX 6 /* messages in flight to one process, likewise */
#define TRIGGER_MAX 60

/* A step as it is printed: "before PROCESS after  (line 3)", and details. */
struct step_description {
  uint32_t process;
  struct text before, after;
  uint32_t line; /* 0: none */
  struct text_items details;
};

static void step_description_release(struct step_description *s) {
  text_release(&s->before);
  text_release(&s->after);
  items_release(&s->details);
}

static void add_message(const struct trace_printer *t, struct text *out, uint32_t kind, value v) {
  const struct message_kind *k = &t->model->messages[kind];
  text_add(out, k->name);
  if (k->type->size > 0)
    trace_printer_value(t, out, k->type, v);
}

/* "P(1), P(2)"; the process itself is "itself". */
static void add_processes(const struct trace_printer *t, struct text *out, const uint8_t *members, uint32_t me,
                          bool many) {
  uint32_t n = 0;
  for (uint32_t p = 0; p < t->model->nprocesses; p++)
    n += members[p];
  if (n == 1 && members[me])
    text_add(out, many ? "themselves" : "itself");
  else
    processes_add(out, t->model, members);
}

/* --- descriptions of steps --- */

/* The messages of an action: equal ones are grouped, forged ones are listed separately. */
static void add_taken(const struct trace_printer *t, const struct event *e, const struct action *a, bool many,
                      struct text *out) {
  uint8_t *members = memory_alloc(t->model->nprocesses + 1);
  bool *printed = memory_alloc((e->ntaken + 1) * sizeof *printed);
  const char *between = " ";
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *first = &e->taken[i];
    if (printed[i])
      continue;
    memset(members, 0, t->model->nprocesses);
    for (uint32_t k = i; k < e->ntaken; k++) {
      const struct taken_message *other = &e->taken[k];
      if (other->message == first->message && other->forged == first->forged && other->kept == first->kept)
        members[other->from] = printed[k] = true;
    }
    text_add(out, between);
    add_message(t, out, a->kind, first->message);
    text_add(out, first->forged ? " made up by " : " from ");
    add_processes(t, out, members, e->process, many);
    if (first->kept)
      text_add(out, " (a copy stays)");
    between = ", ";
  }
  if (e->ntaken == 0)
    text_add(out, " no message");
  memory_free(members);
  memory_free(printed);
}

/* The trigger as in the source: `when not voted`. */
static void add_trigger(const struct trace_printer *t, const struct action *a, struct text *out) {
  size_t n;
  const char *line = source_line(&t->model->source, source_line_number(&t->model->source, a->at), &n);
  const char *end = memchr(line, '{', n), *when = NULL;
  if (end)
    n = (size_t)(end - line);
  for (size_t i = 0; i + 5 <= n && !when; i++)
    if (!strncmp(line + i, "when ", 5))
      when = line + i;
  if (!when)
    return;
  n -= (size_t)(when - line);
  while (n > 0 && when[n - 1] == ' ')
    n--;
  if (n <= TRIGGER_MAX) {
    text_add(out, ": ");
    text_add_n(out, when, n);
  }
}

static void add_action(const struct trace_printer *t, const struct event *e, const struct action *a, bool many,
                       struct text *out) {
  bool step = a->point != ANY_POINT && a->trigger != TRIGGER_NONE;
  if (step)
    text_addf(out, " at %s", a->name);
  if (a->trigger == TRIGGER_NONE) {
    if (!strcmp(a->name, "start"))
      text_add(out, many ? " start" : " starts");
    else if (a->point != ANY_POINT)
      text_addf(out, many ? " do %s" : " does %s", a->name);
    else {
      text_add(out, many ? " act" : " acts");
      add_trigger(t, a, out);
    }
    return;
  }
  bool looks = a->trigger == TRIGGER_QUORUM && !a->taken;
  text_add(out, looks ? many ? " see" : " sees" : many ? " take" : " takes");
  add_taken(t, e, a, many, out);
}

/* The message of an event, and its sender. */
static void add_subject(const struct trace_printer *t, const struct event *e, struct text *out) {
  add_message(t, out, e->message_kind, e->taken[0].message);
  text_add(out, " from ");
  process_print(t->model, e->taken[0].from, out);
}

static void describe_event(const struct trace_printer *t, const struct event *e, bool many,
                           struct step_description *s) {
  const struct action *a = event_action(t->model, e);
  switch (e->kind) {
  case EVENT_ACTION:
    add_action(t, e, a, many, &s->after);
    break;
  case EVENT_DELIVER:
    add_subject(t, e, &s->before);
    text_add(&s->before, " reaches ");
    break;
  case EVENT_LOSE:
    add_subject(t, e, &s->before);
    text_add(&s->before, " to ");
    text_add(&s->after, " is lost");
    break;
  case EVENT_CRASH:
    text_add(&s->after, many ? " crash" : " crashes");
    if (a) {
      text_add(&s->after, many ? " while they" : " while it");
      add_action(t, e, a, many, &s->after);
    }
    break;
  case EVENT_RECOVER:
    text_add(&s->after, many ? " recover" : " recovers");
    break;
  }
  if (a)
    s->line = source_line_number(&t->model->source, a->at);
}

/* --- effects of steps --- */

/* A role with only `start` and one other point: moving on need not be shown. */
static bool shows_point(const struct var *var) { return var->type->size > 2; }

static void add_changes(const struct trace_printer *t, uint32_t step, bool many, struct step_description *s) {
  const struct step_log *log = &t->trace->logs[step];
  struct text v = {0}, point = {0}, places = {0};
  for (size_t i = 0; i < log->nchanges; i++) {
    const struct change *c = &log->changes[i];
    const struct var *var = change_var(t->model, c);
    struct text place = {0};
    if (var->kind == VAR_ONCE || (var->kind == VAR_POINT && !shows_point(var)))
      continue;
    if (var->kind == VAR_POINT) {
      text_add(&point, many ? "go to " : "goes to ");
      value_print(&t->model->values, t->model, var->type, c->after, &point);
      continue;
    }
    text_addf(&place, "%s%s", c->process == PROCESS_SHARED && var->kind == VAR_SHARED ? "shared " : "", var->name);
    trace_printer_change(t, var->type, place.at, c->before, c->after, &v);
    text_release(&place);
  }
  if (point.n > 0)
    text_addf(&v, "%s%s", v.n ? ", " : "", point.at);
  trace_printer_lines(t, log->changes, log->nchanges, s->line, &places);
  if (v.n > 0) {
    text_add(&v, text_or_empty(&places));
    items_add(&s->details, &v);
  }
  text_release(&point);
  text_release(&places);
}

static void add_halt(const struct trace_printer *t, uint32_t step, bool many, struct step_description *s) {
  struct text v = {0};
  if (trace_halts(t->trace, s->process, step)) {
    text_add(&v, many ? "halt" : "halts");
    items_add(&s->details, &v);
  }
}

/* Equal messages sent in one step share a line. */
static void add_sends(const struct trace_printer *t, uint32_t step, bool many, struct step_description *s) {
  const struct step_log *log = &t->trace->logs[step];
  const char *verb = t->trace->run.steps[step]->event->kind == EVENT_CRASH ? "only " : many ? "send " : "sends ";
  uint8_t *to = memory_alloc(t->model->nprocesses + 1);
  unsigned lines = 0;
  for (size_t i = 0; i < log->nsent;) {
    const struct sent *first = &log->sent[i];
    uint32_t n = 0;
    struct text v = {0};
    i = sent_together(t->trace, log, i, to, &n);
    if (++lines > SENDS_MAX && !t->style->verbose)
      continue;
    text_add(&v, verb);
    add_message(t, &v, first->kind, first->message);
    text_add(&v, " to ");
    if (n == t->model->nprocesses && n > 1)
      text_add(&v, "all");
    else if (n + 1 == t->model->nprocesses && n > 1 && !to[s->process])
      text_add(&v, "all others");
    else
      add_processes(t, &v, to, s->process, many);
    if (*verb == 'o')
      text_add(&v, n == 1 ? " gets out" : " get out");
    items_add(&s->details, &v);
  }
  if (lines > SENDS_MAX && !t->style->verbose) {
    struct text v = {0};
    text_addf(&v, "and so on, %u more", lines - SENDS_MAX);
    items_add(&s->details, &v);
  }
  memory_free(to);
}

static void describe_step(const struct trace_printer *t, uint32_t step, bool many, struct step_description *s) {
  *s = (struct step_description){.process = t->trace->run.steps[step]->event->process};
  describe_event(t, t->trace->run.steps[step]->event, many, s);
  add_changes(t, step, many, s);
  add_halt(t, step, many, s);
  add_sends(t, step, many, s);
}

static bool same_text(const struct text *a, const struct text *b) {
  return !strcmp(text_or_empty(a), text_or_empty(b));
}

static bool alike(const struct step_description *a, const struct step_description *b) {
  bool same = same_text(&a->before, &b->before) && same_text(&a->after, &b->after) && a->line == b->line &&
              a->details.at.n == b->details.at.n;
  for (size_t i = 0; i < a->details.at.n && same; i++)
    same = !strcmp(a->details.at.at[i], b->details.at.at[i]);
  return same;
}

/* --- full states (verbose) --- */

static void print_state(const struct trace_printer *t, const struct config *c) {
  const struct model *m = t->model;
  struct process_groups g = {0};
  for (uint32_t i = 0; i < m->nglobals; i++) {
    struct text v = {0};
    trace_printer_value(t, &v, m->globals[i].type, c->globals[i]);
    struct text_items items = {0};
    items_add(&items, &v);
    items_print(&items, t->style, m->globals[i].name, false, t->out);
  }
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = process_role(m, p);
    struct text v = {0};
    if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
      continue;
    for (uint32_t i = 0; i < role->nvars; i++) {
      const struct var *var = &role->vars[i];
      if (var->kind == VAR_ONCE || (var->kind == VAR_POINT && !shows_point(var)))
        continue;
      text_addf(&v, "%s%s%s", v.n ? ", " : "", var->kind == VAR_POINT ? "at" : var->name,
                var->kind == VAR_POINT ? " " : " = ");
      trace_printer_value(t, &v, var->type, c->local[p][LOCAL_VAR(i)]);
    }
    if (c->local[p][LOCAL_STATUS] & STATUS_CRASHED)
      text_addf(&v, "%scrashed", v.n ? ", " : "");
    if (c->local[p][LOCAL_STATUS] & STATUS_HALTED)
      text_addf(&v, "%shalted", v.n ? ", " : "");
    if (v.n > 0)
      process_groups_add(&g, t, p, &v);
  }
  process_groups_print(&g, t, "state", true);
  trace_printer_in_flight(t, c, "flight");
}

/* --- the steps --- */

/* Steps first .. last, printed as one. */
struct step_group {
  uint32_t first, last;
  bool senders; /* deliveries to one process: members are the senders; otherwise members are the processes that take the
                   steps */
  uint8_t *members;
};

static void print_group(const struct trace_printer *t, const struct step_group *s) {
  struct text label = {0}, head = {0}, who = {0}, line = {0};
  const struct event *e = t->trace->run.steps[s->first]->event;
  struct step_description description;
  processes_add(&who, t->model, s->members);
  bool many = s->last > s->first && !s->senders && strncmp(who.at, "every", 5) != 0;
  describe_step(t, s->first, many, &description);
  text_addf(&label, s->last > s->first ? "%u-%u." : "%u.", s->first + 1, s->last + 1);
  if (s->senders) {
    add_message(t, &head, e->message_kind, e->taken[0].message);
    text_addf(&head, " from %s reaches ", who.at);
    process_print(t->model, e->process, &head);
  } else {
    text_addf(&head, "%s%s%s", text_or_empty(&description.before), who.at, text_or_empty(&description.after));
  }
  if (description.line > 0) {
    text_addf(&line, "  (line %u)", description.line);
    paint_add(&head, t->style, PAINT_FAINT, line.at);
  }
  trace_printer_mark_steps(t, s->first + 1, s->last + 1);
  item_print(label.at, head.at, t->style, false, t->out);
  for (size_t i = 0; i < description.details.at.n; i++)
    item_print("", description.details.at.at[i], t->style, true, t->out);
  step_description_release(&description);
  text_release(&label);
  text_release(&head);
  text_release(&who);
  text_release(&line);
}

/* Groups consecutive steps that differ only in their process. */
static void group_processes(const struct trace_printer *t, struct step_group *s) {
  struct step_description first, next;
  describe_step(t, s->first, false, &first);
  s->members[first.process] = 1;
  for (; s->last + 1 < t->until; s->last++) {
    describe_step(t, s->last + 1, false, &next);
    bool goes_on = alike(&first, &next) && !s->members[next.process];
    s->members[next.process] |= goes_on;
    step_description_release(&next);
    if (!goes_on)
      break;
  }
  step_description_release(&first);
}

/* Groups consecutive deliveries of equal messages to one process. */
static void group_senders(const struct trace_printer *t, struct step_group *s) {
  const struct event *first = t->trace->run.steps[s->first]->event;
  s->senders = first->kind == EVENT_DELIVER;
  for (s->last = s->first; s->senders; s->last++) {
    s->members[t->trace->run.steps[s->last]->event->taken[0].from] = 1;
    const struct event *next = s->last + 1 < t->until ? t->trace->run.steps[s->last + 1]->event : NULL;
    if (!next || next->kind != EVENT_DELIVER || next->process != first->process ||
        next->message_kind != first->message_kind || next->taken[0].message != first->taken[0].message ||
        s->members[next->taken[0].from])
      break;
  }
}

static uint32_t print_next_group(const struct trace_printer *t, uint32_t first) {
  uint32_t n = t->model->nprocesses;
  struct step_group one = {first, first, false, memory_alloc(n + 1)}, other = one;
  other.members = memory_alloc(n + 1);
  if (t->style->verbose) {
    one.members[t->trace->run.steps[first]->event->process] = 1;
  } else {
    group_processes(t, &one);
    group_senders(t, &other);
  }
  print_group(t, other.last > one.last ? &other : &one);
  memory_free(one.members);
  memory_free(other.members);
  return (other.last > one.last ? other.last : one.last) + 1;
}

void trace_printer_steps(const struct trace_printer *whole, const char *heading, uint32_t from, uint32_t to) {
  struct trace_printer part = *whole, *t = &part;
  t->until = to;
  if (from < to)
    trace_printer_heading(t, heading, PART_OTHER);
  for (uint32_t i = from; i < to;) {
    i = print_next_group(t, i);
    if (t->style->verbose && i < t->trace->nconfigs)
      print_state(t, t->trace->configs[i]);
  }
}

/* --- messages in transit --- */

static bool same_message(const struct packet *a, const struct packet *b) {
  return a->to == b->to && a->kind == b->kind && a->message == b->message && a->place == b->place;
}

/* Packet i with all others like it to the same process: "echo(v: 1) from P(1), P(2)". */
static void add_pending(const struct trace_printer *t, const struct config *c, uint32_t i, struct text *out) {
  static const char *const places[] = {" (in transit)", " (delivered)", " (seen)"};
  const struct packet *p = &c->packets[i];
  uint8_t *members = memory_alloc(t->model->nprocesses + 1);
  uint32_t n = 0, senders = 0;
  for (uint32_t k = i; k < c->npackets; k++)
    if (same_message(p, &c->packets[k])) {
      senders += !members[c->packets[k].from];
      members[c->packets[k].from] = 1;
      n++;
    }
  if (n > senders)
    text_addf(out, "%u times ", n);
  add_message(t, out, p->kind, p->message);
  text_add(out, " from ");
  add_processes(t, out, members, p->to, false);
  if (t->trace->claim.semantics != SEMANTICS_M)
    text_add(out, places[p->place]);
  memory_free(members);
}

static void add_all_pending(const struct trace_printer *t, const struct config *c, uint32_t process, struct text *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->npackets; i++) {
    bool first = c->packets[i].to == process;
    for (uint32_t k = 0; k < i && first; k++)
      first = !same_message(&c->packets[k], &c->packets[i]);
    if (first && (++n <= PENDING_MAX || t->style->verbose)) {
      text_add(out, out->n ? "; " : "");
      add_pending(t, c, i, out);
    }
  }
  if (n > PENDING_MAX && !t->style->verbose)
    text_addf(out, "; and %u more", n - PENDING_MAX);
}

void trace_printer_in_flight(const struct trace_printer *t, const struct config *c, const char *label) {
  struct process_groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    struct text v = {0};
    if (!process_active(c->local[p][LOCAL_STATUS]))
      continue; /* inactive processes receive nothing */
    add_all_pending(t, c, p, &v);
    if (v.n > 0)
      process_groups_add(&g, t, p, &v);
  }
  process_groups_print(&g, t, label, true);
}
