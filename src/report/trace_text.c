#include "report/trace_text.h"

#include "sem/local.h"
#include "trace/instance.h"

#include <inttypes.h>
#include <string.h>

#define LONG_VALUE 60 /* what is shown of a long value unless the user wants all */
#define MOST_PARTS 6  /* changed parts of one array or record, likewise */

struct teller {
  const struct trace *trace;
  const struct model *model;
  const struct style *style;
  struct text *out;
};

static uint32_t line_of(const struct model *m, struct span at) {
  uint32_t line, column;
  source_place(&m->source, at.from, &line, &column);
  return line;
}

static void add_value(const struct teller *t, struct text *out, const struct type *type, value v) {
  struct text whole = {0};
  value_print(&t->model->values, t->model, type, v, &whole);
  if (whole.n > LONG_VALUE && !t->style->verbose) {
    text_add_n(out, whole.at, LONG_VALUE - 4);
    text_add(out, " ...");
  } else {
    text_add(out, text_or_empty(&whole));
  }
  text_release(&whole);
}

/* --- processes that do the same are told together --- */

struct group {
  char *what;
  uint8_t *members;
};

struct groups {
  VEC(struct group) at;
};

static void groups_add(struct groups *g, const struct teller *t, uint32_t process,
                       struct text *what) {
  const char *text = text_or_empty(what);
  size_t i = 0;
  while (i < g->at.n && strcmp(g->at.at[i].what, text) != 0)
    i++;
  if (i == g->at.n) {
    struct group fresh = {memory_strdup(text), memory_alloc(t->model->nprocesses + 1)};
    vec_push(&g->at, fresh);
  }
  g->at.at[i].members[process] = 1;
  text_release(what);
}

static void groups_release(struct groups *g) {
  for (size_t i = 0; i < g->at.n; i++) {
    memory_free(g->at.at[i].what);
    memory_free(g->at.at[i].members);
  }
  vec_release(&g->at);
}

/* "P(1), P(3): what" for each group. */
static void groups_print(struct groups *g, const struct teller *t, const char *label,
                         bool one_each) {
  struct items items = {0};
  for (size_t i = 0; i < g->at.n; i++) {
    struct text item = {0};
    processes_add(&item, t->model, g->at.at[i].members);
    text_addf(&item, ": %s", g->at.at[i].what);
    items_add(&items, &item);
  }
  groups_release(g);
  items_print(&items, t->style, label, one_each, t->out);
}

static void tell_phrase(const struct teller *t, const char *label, const char *phrase) {
  struct items items = {0};
  struct text v = {0};
  text_add(&v, phrase);
  items_add(&items, &v);
  items_print(&items, t->style, label, false, t->out);
}

static void heading(const struct teller *t, const char *text) {
  text_add(t->out, "\n");
  paint_add(t->out, t->style, PAINT_TITLE, text);
  text_add(t->out, "\n");
}

/* --- the start --- */

static bool is_free_choice(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_PICK || n->op == NODE_RANDOM;
  return !*found;
}

static bool worth_telling(const struct teller *t, const struct var *var) {
  bool chosen = false;
  if (var->init)
    node_walk(var->init, is_free_choice, &chosen);
  return var->kind == VAR_INPUT || chosen || (t->style->verbose && var->kind != VAR_ORACLE);
}

static void tell_variable(const struct teller *t, const struct config *c, const char *name) {
  struct groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    const struct role *role = process_role(t->model, p);
    for (uint32_t i = 0; i < role->nvars; i++)
      if (!strcmp(role->vars[i].name, name) && worth_telling(t, &role->vars[i]) &&
          !(c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)) {
        struct text v = {0};
        add_value(t, &v, role->vars[i].type, c->local[p][LOCAL_VAR(i)]);
        groups_add(&g, t, p, &v);
      }
  }
  groups_print(&g, t, name, false);
}

static bool told_before(const struct model *m, uint32_t r, uint32_t i) {
  for (uint32_t s = 0; s <= r; s++)
    for (uint32_t k = 0; k < (s < r ? m->roles[s].nvars : i); k++)
      if (!strcmp(m->roles[s].vars[k].name, m->roles[r].vars[i].name))
        return true;
  return false;
}

static void tell_faulty(const struct teller *t, const struct config *c) {
  struct groups g = {0};
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
      groups_add(&g, t, p, &v);
  }
  groups_print(&g, t, "faulty", false);
}

static void tell_start(const struct teller *t) {
  const struct model *m = t->model;
  const struct config *c = t->trace->configs[0];
  heading(t, "start");
  size_t before = t->out->n;
  for (uint32_t i = 0; i < m->nglobals; i++) {
    struct items items = {0};
    struct text v = {0};
    add_value(t, &v, m->globals[i].type, c->globals[i]);
    items_add(&items, &v);
    items_print(&items, t->style, m->globals[i].name, false, t->out);
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      if (!told_before(m, r, i))
        tell_variable(t, c, m->roles[r].vars[i].name);
  tell_faulty(t, c);
  if (t->out->n == before)
    text_add(t->out, "  there is only one way to start\n");
}

/* --- a round --- */

static void tell_oracles(const struct teller *t, uint32_t step) {
  const struct config *c = t->trace->configs[step];
  const struct witness *w = t->trace->run.steps[step];
  struct groups g = {0};
  for (uint32_t p = 0; p < t->model->nprocesses; p++) {
    const struct role *role = process_role(t->model, p);
    struct text v = {0};
    for (uint32_t i = 0, k = 0; w->oracles[p] && i < role->nvars; i++)
      if (role->vars[i].kind == VAR_ORACLE) {
        if (process_active(c->local[p][LOCAL_STATUS]) &&
            oracle_chosen_at(t->model, &role->vars[i], c->point)) {
          text_addf(&v, "%s%s = ", v.n ? ", " : "", role->vars[i].name);
          add_value(t, &v, role->vars[i].type, w->oracles[p][k]);
        }
        k++;
      }
    if (v.n > 0)
      groups_add(&g, t, p, &v);
  }
  groups_print(&g, t, "oracle", false);
}

/* What q sends in one go: the message, and to whom if not to everybody. */
static void tell_sends(const struct teller *t, const struct step_log *log) {
  struct groups g = {0};
  uint8_t *to = memory_alloc(t->model->nprocesses + 1);
  for (size_t i = 0; i < log->nsent;) {
    const struct sent *first = &log->sent[i];
    struct text v = {0};
    uint32_t n = 0;
    memset(to, 0, t->model->nprocesses);
    for (; i < log->nsent && log->sent[i].from == first->from &&
           log->sent[i].message == first->message && log->sent[i].type == first->type;
         i++, n++)
      to[log->sent[i].to] = 1;
    add_value(t, &v, first->type, first->message);
    if (n < t->model->nprocesses) {
      text_add(&v, " to ");
      processes_add(&v, t->model, to);
    }
    groups_add(&g, t, first->from, &v);
  }
  memory_free(to);
  if (g.at.n > 0)
    groups_print(&g, t, "send", false);
  else
    tell_phrase(t, "send", "nobody");
}

/* heard[q]: a message of q reached p; missed[q]: one was sent and did not. */
static void messages_of(const struct step_log *log, uint32_t n, uint32_t p, uint8_t *heard,
                        uint8_t *missed) {
  memset(heard, 0, n);
  memset(missed, 0, n);
  for (size_t i = 0; i < log->nsent; i++)
    if (log->sent[i].to == p)
      missed[log->sent[i].from] = 1;
  for (size_t i = 0; i < log->narrivals; i++)
    if (log->arrivals[i].to == p) {
      heard[log->arrivals[i].from] = 1;
      missed[log->arrivals[i].from] = 0;
    }
}

/* Of the messages sent to p: all, all but those of some, only those of some. */
static void add_heard(const struct teller *t, uint32_t p, const uint8_t *heard,
                      const uint8_t *missed, struct text *v) {
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

static void tell_hearing(const struct teller *t, uint32_t step) {
  const struct step_log *log = &t->trace->logs[step];
  const struct config *c = t->trace->configs[step];
  const bool *crashes = t->trace->run.steps[step]->crashes;
  uint32_t n = t->model->nprocesses;
  uint8_t *heard = memory_alloc(n + 1), *missed = memory_alloc(n + 1);
  struct groups g = {0};
  bool lost = false, any = false;
  for (uint32_t p = 0; p < n; p++) {
    struct text v = {0};
    if (!process_active(c->local[p][LOCAL_STATUS]) || crashes[p])
      continue;
    messages_of(log, n, p, heard, missed);
    if (!memchr(heard, 1, n) && !memchr(missed, 1, n))
      continue;
    any = true;
    lost |= memchr(missed, 1, n) != NULL;
    add_heard(t, p, heard, missed, &v);
    groups_add(&g, t, p, &v);
  }
  if (lost) {
    groups_print(&g, t, "hear", true);
  } else {
    groups_release(&g);
    if (any)
      tell_phrase(t, "hear", "every message arrives");
  }
  memory_free(heard);
  memory_free(missed);
}

/* What q makes its receivers believe: "0 to P(1); 1 to P(2), P(3)". */
static void add_forgeries_of(const struct teller *t, const struct step_log *log, uint32_t q,
                             struct text *out) {
  struct groups g = {0};
  for (size_t i = 0; i < log->narrivals; i++) {
    const struct arrival *a = &log->arrivals[i];
    struct text v = {0};
    if (a->from != q || !a->forged)
      continue;
    add_value(t, &v, a->type, a->message);
    groups_add(&g, t, a->to, &v);
  }
  for (size_t i = 0; i < g.at.n; i++) {
    text_addf(out, "%s%s to ", i ? "; " : "", g.at.at[i].what);
    processes_add(out, t->model, g.at.at[i].members);
  }
  groups_release(&g);
}

/* What liars say, and messages that were corrupted on the way. */
static void tell_forgeries(const struct teller *t, uint32_t step) {
  const struct config *c = t->trace->configs[step];
  for (unsigned lies = 2; lies-- > 0;) {
    struct groups g = {0};
    for (uint32_t q = 0; q < t->model->nprocesses; q++) {
      struct text v = {0};
      bool liar = c->local[q][LOCAL_STATUS] & STATUS_BYZANTINE;
      if (liar == (lies == 1))
        add_forgeries_of(t, &t->trace->logs[step], q, &v);
      if (v.n > 0)
        groups_add(&g, t, q, &v);
    }
    groups_print(&g, t, lies ? "lie" : "corrupt", true);
  }
}

/* "x 2 -> 1"; of arrays and records only the parts that differ. */
static void add_change(const struct teller *t, const struct type *type, const char *place,
                       value before, value after, unsigned *parts, struct text *out) {
  struct values *values = &t->trace->model->values;
  size_t n;
  const value *was, *is;
  if (before == after)
    return;
  if (type->kind == TYPE_ARRAY || type->kind == TYPE_RECORD) {
    was = value_parts(values, before, &n);
    is = value_parts(values, after, &n);
    for (size_t i = 0; i < n; i++) {
      struct text part = {0};
      text_addf(&part, type->kind == TYPE_RECORD ? "%s." : "%s[", place);
      if (type->kind == TYPE_RECORD) {
        text_add(&part, type->fields[i].name);
      } else {
        value_print(values, t->model, type->index, type_nth(values, type->index, i), &part);
        text_add(&part, "]");
      }
      add_change(t, type->kind == TYPE_RECORD ? type->fields[i].type : type->element, part.at,
                 was[i], is[i], parts, out);
      text_release(&part);
    }
    return;
  }
  if (++*parts > MOST_PARTS && !t->style->verbose)
    return;
  text_addf(out, "%s%s ", out->n ? ", " : "", place);
  add_value(t, out, type, before);
  text_add(out, " -> ");
  add_value(t, out, type, after);
}

static void add_lines(const struct teller *t, struct text *out, const struct change *changes,
                      size_t n) {
  struct text lines = {0};
  uint32_t last = 0, count = 0;
  for (;;) { /* in ascending order, each once */
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
      uint32_t line = changes[i].at.to ? line_of(t->model, changes[i].at) : 0;
      if (line > last && line < next)
        next = line;
    }
    if (next == UINT32_MAX)
      break;
    text_addf(&lines, "%s%u", count++ ? ", " : "", next);
    last = next;
  }
  if (count > 0) {
    struct text whole = {0};
    text_addf(&whole, "  (line%s %s)", count == 1 ? "" : "s", lines.at);
    paint_add(out, t->style, PAINT_FAINT, whole.at);
    text_release(&whole);
  }
  text_release(&lines);
}

static void tell_changes(const struct teller *t, uint32_t step) {
  const struct step_log *log = &t->trace->logs[step];
  struct groups g = {0};
  for (size_t i = 0; i < log->nchanges;) {
    const struct change *first = &log->changes[i];
    struct text v = {0};
    for (; i < log->nchanges && log->changes[i].process == first->process; i++) {
      const struct change *c = &log->changes[i];
      const struct var *var = &process_role(t->model, c->process)->vars[c->var];
      unsigned parts = 0;
      if (var->kind == VAR_ORACLE)
        continue;
      add_change(t, var->type, var->name, c->before, c->after, &parts, &v);
      if (parts > MOST_PARTS && !t->style->verbose)
        text_addf(&v, " and %u more", parts - MOST_PARTS);
    }
    add_lines(t, &v, first, (size_t)(&log->changes[i] - first));
    if (v.n > 0)
      groups_add(&g, t, first->process, &v);
  }
  if (g.at.n > 0)
    groups_print(&g, t, "change", true);
  else
    tell_phrase(t, "change", "nothing");
}

static void tell_stops(const struct teller *t, uint32_t step) {
  const struct trace *trace = t->trace;
  const struct witness *w = trace->run.steps[step];
  uint32_t n = t->model->nprocesses;
  for (unsigned halt = 0; halt < 2; halt++) {
    struct items items = {0};
    uint8_t *members = memory_alloc(n + 1);
    struct text v = {0};
    for (uint32_t p = 0; p < n; p++)
      members[p] = halt ? step + 1 < trace->nconfigs &&
                              (trace->configs[step + 1]->local[p][LOCAL_STATUS] &
                               ~trace->configs[step]->local[p][LOCAL_STATUS] & STATUS_HALTED)
                        : w->crashes[p];
    bool any = memchr(members, 1, n) != NULL;
    if (any) {
      processes_add(&v, t->model, members);
      items_add(&items, &v);
      items_print(&items, t->style, halt ? "halt" : "crash", false, t->out);
    }
    memory_free(members);
  }
}

static void tell_round(const struct teller *t, uint32_t step) {
  const struct config *c = t->trace->configs[step];
  const struct point *point = &t->model->points[c->point];
  struct text title = {0};
  text_addf(&title, "round %u", step + 1);
  if (point->name)
    text_addf(&title, ": %s", point->name);
  if (point->endless && t->model->npoints > 1)
    text_addf(&title, ", phase %" PRId64, c->phase);
  heading(t, title.at);
  text_release(&title);
  tell_oracles(t, step);
  tell_sends(t, &t->trace->logs[step]);
  tell_forgeries(t, step);
  tell_stops(t, step);
  tell_hearing(t, step);
  if (step + 1 < t->trace->nconfigs)
    tell_changes(t, step);
}

/* --- the end --- */

static void add_formula(const struct teller *t, struct span at) {
  const char *text = t->model->source.text;
  bool blank = false;
  text_add(t->out, "  ");
  for (uint32_t i = at.from; i < at.to; i++) {
    if (text[i] == '/' && i + 1 < at.to && text[i + 1] == '/') /* a comment within the formula */
      while (i < at.to && text[i] != '\n')
        i++;
    bool space =
        i >= at.to || text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r';
    if (!space) {
      text_add(t->out, blank ? " " : "");
      text_add_n(t->out, &text[i], 1);
    }
    blank = space;
  }
  text_add(t->out, "\n");
}

static void add_list(const struct teller *t, char *const *at, size_t n) {
  for (size_t i = 0; i < n; i++)
    text_addf(t->out, "%s%s%s", i ? ", " : "  ", at[i], i + 1 == n ? "\n" : "");
}

static void tell_error(const struct teller *t) {
  const struct model_error *e = &t->trace->error;
  size_t length;
  struct text title = {0};
  text_add(&title, "error");
  if (e->process < t->model->nprocesses) {
    text_add(&title, " of ");
    process_print(t->model, e->process, &title);
  } else if (t->trace->claim.property != NO_PROPERTY) {
    text_addf(&title, " in %s", t->model->properties[t->trace->claim.property].name);
  }
  text_addf(&title, ": %s", e->message ? e->message : "unknown");
  text_add(t->out, "\n");
  paint_add(t->out, t->style, PAINT_BAD, title.at);
  text_add(t->out, "\n");
  text_release(&title);
  if (e->at.to > 0) {
    uint32_t line = line_of(t->model, e->at);
    const char *source = source_line(&t->model->source, line, &length);
    text_addf(t->out, "  line %u: ", line);
    while (length > 0 && (*source == ' ' || *source == '\t'))
      source++, length--;
    text_add_n(t->out, source, length);
    text_add(t->out, "\n");
  }
}

static void tell_end(const struct teller *t, struct meaning *meaning) {
  if (t->trace->claim.error) {
    tell_error(t);
    return;
  }
  if (t->trace->claim.property == NO_PROPERTY)
    return;
  const struct property *p = &t->model->properties[t->trace->claim.property];
  struct instance instance;
  bool cover = p->kind == PROPERTY_COVER;
  text_add(t->out, "\n");
  struct text title = {0};
  text_addf(&title,
            cover     ? "%s is reached"
            : p->step ? "this step breaks %s"
                      : "now %s fails",
            p->name);
  paint_add(t->out, t->style, cover ? PAINT_GOOD : PAINT_BAD, title.at);
  text_addf(t->out, "  (line %u)\n", line_of(t->model, p->at));
  text_release(&title);
  add_formula(t, p->formula->at);
  instance_find(&instance, meaning, t->trace);
  add_list(t, instance.bound.at, instance.bound.n);
  add_list(t, instance.read.at, instance.read.n);
  instance_release(&instance);
}

void trace_story(const struct trace *trace, const struct style *style, struct text *out) {
  struct teller t = {trace, trace->model, style, out};
  tell_start(&t);
  for (uint32_t i = 0; i < trace->run.nsteps; i++)
    tell_round(&t, i);
}

void trace_moral(const struct trace *trace, struct meaning *meaning, const struct style *style,
                 struct text *out) {
  struct teller t = {trace, trace->model, style, out};
  tell_end(&t, meaning);
}
