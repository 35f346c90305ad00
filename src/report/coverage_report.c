#include "report/coverage_report.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 5      /* claims that are listed unless all are asked for */
#define QUOTED_MAX 48 /* characters of the source in a message */

struct coverage_report *coverage_report_new(const struct model *m) {
  struct coverage_report *r = memory_alloc(sizeof *r);
  r->model = m;
  r->source = &m->source;
  coverage_items_init(&r->items, m);
  r->states = memory_alloc((r->items.at.n + 1) * sizeof *r->states);
  r->counts = memory_alloc((r->items.at.n + 1) * sizeof *r->counts);
  return r;
}

void coverage_report_free(struct coverage_report *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->claims.n; i++)
    memory_free(r->claims.at[i].message);
  vec_release(&r->claims);
  coverage_items_release(&r->items);
  memory_free(r->states);
  memory_free(r->counts);
  memory_free(r);
}

/* ---- claims ---- */

static void quote_add(struct text *out, const struct model *m, struct span at) {
  struct text whole = {0};
  source_add_text(&m->source, at, &whole);
  size_t n = whole.n;
  if (n > QUOTED_MAX)
    for (n = QUOTED_MAX - 3; n > 0 && ((unsigned char)whole.at[n] & 0xc0) == 0x80; n--)
      ;
  text_addf(out, "'%.*s%s'", (int)n, text_or_empty(&whole), n < whole.n ? "..." : "");
  text_release(&whole);
}

void coverage_claim_add(struct coverage_report *r, enum diag_code code, struct span at, const char *kind,
                        struct text *message) {
  vec_push(&r->claims, ((struct coverage_claim){code, at, kind, memory_strdup(text_or_empty(message))}));
  text_release(message);
}

static const char *kind_name(const struct coverage_item *i) {
  switch (i->kind) {
  case COVER_ROUND:
    return "round";
  case COVER_ACTION:
    return "action";
  case COVER_STATEMENT:
    return "statement";
  case COVER_THEN:
  case COVER_ELSE:
    return "branch";
  case COVER_FAULT:
    return "fault";
  case COVER_CLAUSE:
    break;
  }
  return "clause";
}

static const char *fault_text(const struct clause *c, bool recovery) {
  if (recovery)
    return "no process ever recovers";
  switch (c->kind) {
  case CLAUSE_CRASH:
    return "no process ever crashes";
  case CLAUSE_OMIT:
    return "no process ever omits a message";
  case CLAUSE_BYZANTINE:
    return "no process is ever Byzantine";
  case CLAUSE_LOST:
    return "no message is ever lost";
  case CLAUSE_CORRUPTED:
    return "no message is ever corrupted";
  case CLAUSE_DUPLICATED:
    return "no message is ever duplicated";
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_SYNCHRONOUS:
  case CLAUSE_FAIR:
  case CLAUSE_CHANNELS:
    break;
  }
  return "it never happens";
}

static void claim_item(struct coverage_report *r, const struct coverage_item *i) {
  const struct model *m = r->model;
  struct text t = {0};
  struct span at = i->at;
  enum diag_code code = W0120;
  const char *when = i->kind == COVER_THEN ? "true" : "false";
  switch (i->kind) {
  case COVER_ROUND:
    text_addf(&t, "no process of '%s' ever executes this round", m->roles[i->role].name);
    break;
  case COVER_ACTION:
    text_addf(&t, "%s '%s' of '%s' is never executed", i->step ? "step" : "action", i->name, m->roles[i->role].name);
    break;
  case COVER_STATEMENT:
    quote_add(&t, m, i->shown);
    text_add(&t, " is never executed");
    break;
  case COVER_THEN:
  case COVER_ELSE:
    if (i->body.to) {
      at = i->body;
      quote_add(&t, m, i->body);
      text_add(&t, " is never executed: ");
    } else {
      code = W0121;
    }
    text_add(&t, "the condition ");
    quote_add(&t, m, i->shown);
    text_addf(&t, " is never %s", when);
    break;
  case COVER_FAULT:
    code = W0122;
    text_addf(&t, "%s in environment '%s'",
              fault_text(&m->environments[i->environment].clauses[i->clause], i->recovery),
              m->environments[i->environment].name);
    break;
  case COVER_CLAUSE:
    code = W0123;
    text_addf(&t, "this clause excludes nothing in environment '%s'", m->environments[i->environment].name);
    break;
  }
  coverage_claim_add(r, code, at, kind_name(i), &t);
}

void coverage_claim_items(struct coverage_report *r) {
  for (size_t i = 0; i < r->items.at.n; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    if (r->states[i] == ITEM_NEVER && (item->inside == NO_ITEM || r->states[item->inside] != ITEM_NEVER))
      claim_item(r, item);
  }
}

static int compare_claims(const void *a, const void *b) {
  const struct coverage_claim *x = a, *y = b;
  if (x->at.from != y->at.from)
    return x->at.from < y->at.from ? -1 : 1;
  return x->code != y->code ? (x->code < y->code ? -1 : 1) : strcmp(x->message, y->message);
}

void coverage_claims_sort(struct coverage_report *r) {
  if (r->claims.n > 1)
    qsort(r->claims.at, r->claims.n, sizeof *r->claims.at, compare_claims);
}

void coverage_claims_intersect(struct coverage_report **all, const struct coverage_report *one,
                               const struct source *source) {
  struct coverage_report *r = *all;
  if (!r) {
    *all = r = memory_alloc(sizeof *r);
    r->source = source;
    for (size_t i = 0; i < one->claims.n; i++) {
      struct coverage_claim copy = one->claims.at[i];
      copy.message = memory_strdup(copy.message);
      vec_push(&r->claims, copy);
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->claims.n; i++) {
    bool both = false;
    for (size_t k = 0; k < one->claims.n; k++)
      both |= !compare_claims(&r->claims.at[i], &one->claims.at[k]);
    if (both)
      r->claims.at[kept++] = r->claims.at[i];
    else
      memory_free(r->claims.at[i].message);
  }
  r->claims.n = kept;
}

void coverage_diagnostics(const struct coverage_report *r, struct diags *d) {
  struct text values = {0};
  params_add(&values, r->model);
  for (size_t i = 0; i < r->claims.n; i++) {
    diag_warning(d, r->claims.at[i].code, r->claims.at[i].at, "%s", r->claims.at[i].message);
    if (values.n > 0)
      diag_help(d, "this is about %s", values.at);
  }
  text_release(&values);
}

/* ---- counts by line ---- */

struct line_count {
  bool has;       /* code starts here */
  uint64_t count; /* the largest of what starts here */
  bool never;     /* some of it */
};

/* The count of a line is that of what is executed most often among what starts there: statements, sends, rounds and
   actions. Branches have counts of their own. */
static struct line_count *lines_new(const struct coverage_report *r, uint32_t *n) {
  struct source_lines places;
  source_lines_init(&places, r->source);
  *n = (uint32_t)places.starts.n;
  struct line_count *lines = memory_alloc(((size_t)*n + 2) * sizeof *lines);
  for (size_t i = 0; i < r->items.at.n; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    uint32_t line, column;
    if (!coverage_item_is_code(item) || item->kind == COVER_THEN || item->kind == COVER_ELSE)
      continue;
    source_lines_place(&places, item->at.from, &line, &column);
    if (line > *n)
      continue;
    struct line_count *l = &lines[line];
    l->count = l->count > r->counts[i] ? l->count : r->counts[i];
    l->has = true;
    l->never |= r->states[i] == ITEM_NEVER;
  }
  source_lines_release(&places);
  return lines;
}

static void annotated_text(const struct coverage_report *r, struct text *out) {
  uint32_t n;
  struct line_count *lines = lines_new(r, &n);
  bool parts = false;
  text_addf(out, "\n%12s  line\n", "steps");
  for (uint32_t i = 1; i <= n; i++) {
    size_t length;
    const char *text = source_line(r->source, i, &length);
    if (i == n && length == 0)
      break;
    if (!lines[i].has)
      text_addf(out, "%12s", "");
    else if (lines[i].count == 0)
      text_addf(out, "%12s", lines[i].never ? "never" : r->counted_all ? "0" : "?");
    else
      text_addf(out, "%12" PRIu64, lines[i].count);
    parts |= lines[i].count > 0 && lines[i].never;
    text_addf(out, "%c %4u  %.*s\n", lines[i].count > 0 && lines[i].never ? '*' : ' ', i, (int)length, text);
  }
  if (parts)
    text_add(out, "* some of the line is never executed\n");
  memory_free(lines);
}

void coverage_text(const struct coverage_report *r, const struct style *style, struct text *out) {
  size_t listed = r->asked || style->verbose ? r->claims.n : r->claims.n < LISTED + 2 ? r->claims.n : LISTED;
  if (r->claims.n > 0) {
    text_add(out, "\n");
    paint_add(out, style, PAINT_UNSURE, r->model ? "in no run" : "in no run of these instances");
    struct text values = {0};
    if (r->model)
      params_add(&values, r->model);
    text_addf(out, "%s%s\n", values.n ? ", " : "", text_or_empty(&values));
    text_release(&values);
  }
  for (size_t i = 0; i < listed; i++)
    text_addf(out, "  line %u: %s\n", source_line_number(r->source, r->claims.at[i].at), r->claims.at[i].message);
  if (listed < r->claims.n)
    text_addf(out, "  and %zu more: see --coverage\n", r->claims.n - listed);
  if (!r->asked)
    return;
  paint_add(out, style, PAINT_TITLE, "\ncoverage");
  text_add(out, "  ");
  if (r->claims.n == 0 && !r->why_not)
    text_add(out, "everything is taken in some run; ");
  if (r->why_not)
    text_addf(out, "no claims about what is never executed: %s; ", r->why_not);
  text_add(out, r->counted_all ? "counts are of all " : "counts are of the first ");
  count_add(out, r->nsteps, "step", "steps");
  text_add(out, ", from ");
  count_add(out, r->nstates, "state", "states");
  text_add(out, "\n");
  annotated_text(r, out);
}

/* ---- JSON ---- */

static json_t *count_json(const struct coverage_report *r, size_t i) { return json_integer((json_int_t)r->counts[i]); }

static json_t *item_json(const struct coverage_report *r, size_t i) {
  const struct coverage_item *item = &r->items.at.at[i];
  static const char *const states[] = {"unknown", "taken", "never"};
  json_t *j = json_object();
  json_object_set_new(j, "kind", json_string(kind_name(item)));
  json_object_set_new(j, "line", json_integer(source_line_number(r->source, item->at)));
  json_object_set_new(j, "name", item->name ? json_string(item->name) : json_null());
  json_object_set_new(j, "taken",
                      item->kind == COVER_THEN || item->kind == COVER_ELSE ? json_boolean(item->kind == COVER_THEN)
                                                                           : json_null());
  json_object_set_new(j, "environment",
                      coverage_item_is_code(item) ? json_null()
                                                  : json_string(r->model->environments[item->environment].name));
  json_object_set_new(j, "state", json_string(states[r->states[i]]));
  json_object_set_new(j, "steps", count_json(r, i));
  return j;
}

static json_t *lines_json(const struct coverage_report *r) {
  uint32_t n;
  struct line_count *lines = lines_new(r, &n);
  json_t *j = json_array();
  for (uint32_t i = 1; i <= n; i++)
    if (lines[i].has)
      json_array_append_new(j, json_pack("{s:i, s:I, s:b}", "line", (int)i, "steps", (json_int_t)lines[i].count,
                                         "never", (int)lines[i].never));
  memory_free(lines);
  return j;
}

json_t *coverage_json(const struct coverage_report *r) {
  json_t *j = json_object(), *never = json_array();
  for (size_t i = 0; i < r->claims.n; i++) {
    const struct coverage_claim *c = &r->claims.at[i];
    json_array_append_new(never, json_pack("{s:s, s:s, s:i, s:s}", "code", diag_entry(c->code)->code, "kind", c->kind,
                                           "line", (int)source_line_number(r->source, c->at), "message", c->message));
  }
  json_object_set_new(j, "never", never);
  json_object_set_new(j, "unknown", r->why_not ? json_string(r->why_not) : json_null());
  if (!r->asked)
    return j;
  json_t *items = json_array();
  for (size_t i = 0; i < r->items.at.n; i++)
    json_array_append_new(items, item_json(r, i));
  json_object_set_new(j, "complete", json_boolean(r->counted_all));
  json_object_set_new(j, "states", json_integer((json_int_t)r->nstates));
  json_object_set_new(j, "steps", json_integer((json_int_t)r->nsteps));
  json_object_set_new(j, "lines", lines_json(r));
  json_object_set_new(j, "items", items);
  return j;
}

/* ---- lcov ---- */

static void lcov_branches(const struct coverage_report *r, struct text *out) {
  unsigned found = 0, hit = 0;
  for (size_t i = 0; i < r->items.at.n; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    if (item->kind != COVER_THEN && item->kind != COVER_ELSE)
      continue;
    found++;
    hit += r->counts[i] > 0;
    text_addf(out, "BRDA:%u,%u,%d,%" PRIu64 "\n", source_line_number(r->source, item->at), item->at.from,
              item->kind == COVER_ELSE, r->counts[i]);
  }
  text_addf(out, "BRF:%u\nBRH:%u\n", found, hit);
}

/* Actions and rounds are its functions. */
static void lcov_functions(const struct coverage_report *r, struct text *out) {
  unsigned found = 0, hit = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < r->items.at.n; i++) {
      const struct coverage_item *item = &r->items.at.at[i];
      uint32_t line = source_line_number(r->source, item->at);
      if (item->kind != COVER_ACTION && item->kind != COVER_ROUND)
        continue;
      text_addf(out, pass == 0 ? "FN:%" PRIu64 "," : "FNDA:%" PRIu64 ",", pass == 0 ? (uint64_t)line : r->counts[i]);
      text_addf(out, "%s.%s:%u\n", r->model->roles[item->role].name, item->name ? item->name : "round", line);
      found += pass == 0;
      hit += pass == 0 && r->counts[i] > 0;
    }
  text_addf(out, "FNF:%u\nFNH:%u\n", found, hit);
}

void coverage_lcov(const struct coverage_report *r, struct text *out) {
  uint32_t n;
  unsigned found = 0, hit = 0;
  struct line_count *lines = lines_new(r, &n);
  text_addf(out, "TN:%s\nSF:%s\n", r->model->name, r->model->source.path);
  lcov_functions(r, out);
  lcov_branches(r, out);
  for (uint32_t i = 1; i <= n; i++) {
    if (!lines[i].has)
      continue;
    text_addf(out, "DA:%u,%" PRIu64 "\n", i, lines[i].count);
    found++;
    hit += lines[i].count > 0;
  }
  text_addf(out, "LF:%u\nLH:%u\nend_of_record\n", found, hit);
  memory_free(lines);
}
