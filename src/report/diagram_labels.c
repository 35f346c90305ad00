/* Labels of diagrams: initial values, changes. */
#include "report/diagram_parts.h"

#include <string.h>

void labels_release(struct labels *l) {
  for (size_t i = 0; i < l->at.n; i++) {
    memory_free(l->at.at[i].words);
    memory_free(l->at.at[i].full);
  }
  vec_release(&l->at);
}

int labels_width(const struct labels *l) {
  int widest = 0;
  for (size_t i = 0; i < l->at.n; i++) {
    int w = svg_width(l->at.at[i].words);
    w += l->at.at[i].ink == INK_KEY ? w / 30 : 0; /* bold */
    widest = w > widest ? w : widest;
  }
  return widest;
}

bool labels_equal(const struct labels *a, const struct labels *b) {
  bool same = a->at.n == b->at.n;
  for (size_t i = 0; i < a->at.n && same; i++)
    same = a->at.at[i].ink == b->at.at[i].ink && !strcmp(a->at.at[i].full, b->at.at[i].full);
  return same;
}

void labels_cut(struct labels *l) {
  struct text all = {0}, count = {0};
  if (l->at.n <= LABELS_MAX)
    return;
  for (size_t i = LABELS_MAX - 1; i < l->at.n; i++) {
    text_addf(&all, "%s%s", all.n ? "\n" : "", l->at.at[i].full);
    memory_free(l->at.at[i].words);
    memory_free(l->at.at[i].full);
  }
  text_addf(&count, "and %zu more", l->at.n - (LABELS_MAX - 1));
  l->at.n = LABELS_MAX - 1;
  vec_push(&l->at, ((struct label_line){INK_FAINT, 0, memory_strdup(count.at), memory_strdup(all.at)}));
  text_release(&all);
  text_release(&count);
}

/* Adds the lines, those of witnesses or the others, as one. */
static void join(const struct labels *l, bool key, unsigned most, struct labels *to) {
  struct text all = {0}, cut = {0};
  struct label_line one = {.ink = INK_FAINT};
  for (size_t i = 0; i < l->at.n; i++) {
    if ((l->at.at[i].ink == INK_KEY) != key)
      continue;
    if (!all.n)
      one.ink = l->at.at[i].ink;
    text_addf(&all, "%s%s", all.n ? ", " : "", l->at.at[i].full);
  }
  if (all.n) {
    text_add_fitted(all.at, most, &cut);
    one.full = memory_strdup(all.at);
    one.words = memory_strdup(cut.at);
    vec_push(&to->at, one);
  }
  text_release(&all);
  text_release(&cut);
}

void labels_join(struct labels *l, unsigned most) {
  struct labels joined = {0};
  join(l, true, most, &joined);
  join(l, false, most, &joined);
  labels_release(l);
  *l = joined;
}

void diagram_label(const struct diagram *d, struct labels *l, enum ink ink, struct text *words) {
  struct text cut = {0};
  if (words->n > 0) {
    text_add_fitted(words->at, d->widest, &cut);
    vec_push(&l->at, ((struct label_line){ink, d->svg.kind, memory_strdup(cut.at), memory_strdup(words->at)}));
  }
  text_release(&cut);
  text_release(words);
}

void diagram_draw_labels(struct diagram *d, const struct labels *l, enum anchor anchor, int x, int y, bool above) {
  for (size_t i = 0; i < l->at.n; i++) {
    const struct label_line *one = &l->at.at[i];
    int at = above ? y - 8 - (int)(l->at.n - 1 - i) * SVG_LINE : y + 16 + (int)i * SVG_LINE;
    d->svg.kind = one->kind;
    svg_words(&d->svg, one->ink, anchor, x, at, one->words, one->full);
  }
  d->svg.kind = 0;
}

/* --- changes --- */

struct change_labels {
  struct diagram *diagram;
  struct labels *labels;
  enum ink ink;
};

static void add_part(const struct trace_printer *t, const struct type *type, const char *place, value before,
                     value after, void *context) {
  struct change_labels *c = context;
  struct text v = {0};
  (void)before;
  text_addf(&v, "%s%s= ", place, *place ? " " : "");
  value_print(&t->model->values, t->model, type, after, &v);
  diagram_label(c->diagram, c->labels, c->ink, &v);
}

static bool is_property_var(const struct diagram *d, const struct change *c) {
  if (c->process == PROCESS_SHARED)
    return d->key_global[c->var];
  return d->witness[c->process] && d->key[model_role_of(d->model, c->process)][c->var];
}

/* Does a later step change it again? The property is about the last value; in a lasso, about all. */
static bool changes_again(const struct diagram *d, uint32_t step, const struct change *c) {
  if (d->trace->claim.lasso)
    return false;
  for (uint32_t i = step + 1; i < d->trace->run.nsteps; i++)
    for (size_t k = 0; k < d->trace->logs[i].nchanges; k++) {
      const struct change *other = &d->trace->logs[i].changes[k];
      if (other->process == c->process && other->var == c->var)
        return true;
    }
  return false;
}

bool diagram_changes(struct diagram *d, uint32_t step, const struct change *changes, size_t n, struct labels *l) {
  bool any = false;
  for (unsigned key = 2; key-- > 0;)
    for (size_t i = 0; i < n; i++) {
      const struct change *c = &changes[i];
      const struct var *var = change_var(d->model, c);
      bool shared = c->process == PROCESS_SHARED && var->kind == VAR_SHARED; /* the row already shows the name */
      struct change_labels changed = {d, l, key ? INK_KEY : INK_PLAIN};
      if (var->kind == VAR_ORACLE || var_is_hidden(var) || (is_property_var(d, c) && !changes_again(d, step, c)) != key)
        continue;
      any |= key;
      trace_printer_changed_parts(&d->printer, var->type, shared ? "" : var->name, c->before, c->after, add_part,
                                  &changed);
    }
  d->legend[LEGEND_KEY] |= any;
  return any;
}

void diagram_short_value(const struct diagram *d, const struct type *type, value v, struct text *out) {
  const struct values *values = &d->model->values;
  size_t n;
  if (type->kind != TYPE_RECORD) {
    value_print(values, d->model, type, v, out);
    return;
  }
  const value *parts = value_parts(values, v, &n);
  for (size_t i = 0; i < n; i++) {
    text_add(out, i ? ", " : "(");
    value_print(values, d->model, type->fields[i].type, parts[i], out);
  }
  text_add(out, ")");
}

void diagram_start(struct diagram *d, uint32_t p, struct labels *l) {
  const struct config *c = d->trace->configs[0];
  const struct role *role = process_role(d->model, p);
  value status = c->local[p][LOCAL_STATUS];
  struct text v = {0};
  if (status & STATUS_BYZANTINE)
    text_add(&v, "Byzantine");
  else if ((status & STATUS_OMITS_SEND) && (status & STATUS_OMITS_RECEIVE))
    text_add(&v, "may omit");
  else if (status & (STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE))
    text_add(&v, status & STATUS_OMITS_SEND ? "may omit to send" : "may omit to receive");
  d->legend[LEGEND_BYZANTINE] |= (status & STATUS_BYZANTINE) != 0;
  d->legend[LEGEND_OMITS] |= (status & (STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE)) != 0;
  diagram_label(d, l, INK_BAD, &v);
  for (uint32_t i = 0; i < role->nvars && !(status & STATUS_BYZANTINE); i++) {
    const struct var *var = &role->vars[i];
    bool all = d->trace->before > 0 && var->kind != VAR_ORACLE && !var_is_hidden(var); /* of a later state */
    if (!all && !trace_printer_shows_start(&d->printer, var))
      continue;
    v = (struct text){0};
    text_addf(&v, "%s = ", var->name);
    value_print(&d->model->values, d->model, var->type, c->local[p][LOCAL_VAR(i)], &v);
    diagram_label(d, l, INK_FAINT, &v);
  }
  labels_cut(l);
}
