#include "report/audit_report.h"

#include "base/memory.h"
#include "report/layout.h"

#include <string.h>

#define MISSED_MAX 1e-6 /* with a larger probability of missed states, absence of a run is not known */

void audit_variant_release(struct audit_variant *w) {
  check_result_release(&w->result);
  for (uint32_t i = 0; i < w->nquery_groups; i++)
    memory_free(w->refused[i]);
  memory_free(w->refused);
}

static const struct property_result *result_of(const struct run_result *r, const struct property *property) {
  for (uint32_t i = 0; i < r->nproperties; i++) {
    const struct property_result *p = &r->properties[i];
    if (p->property ? property && !strcmp(p->property->name, property->name) : !property)
      return p;
  }
  return NULL;
}

static bool is_live(const struct run_result *r) {
  return r->nproperties > 0 && r->properties[0].property && r->properties[0].property->kind == PROPERTY_LIVE;
}

/* --- contradictions --- */

/* A liveness property is violated by some run or by none. If it holds, every relevant state was visited, and so was any
   error. */
static struct evidence live_evidence(const struct run_result *r, const struct property_result *p) {
  struct evidence e = {.length = LENGTH_UNKNOWN};
  e.found = p && p->verdict == VERDICT_VIOLATED;
  if (!e.found && r->properties[0].verdict == VERDICT_HOLDS)
    e.none_before = NO_LENGTH;
  return e;
}

/* The evidence for a property; NULL: for errors, which a result has only if there are any. */
static struct evidence evidence_of(const struct run_result *r, const struct property *property) {
  const struct property_result *p = result_of(r, property);
  if (is_live(r))
    return live_evidence(r, p);
  struct evidence e = p ? p->evidence : property ? (struct evidence){0} : r->errors;
  if (r->hashed && r->missed > MISSED_MAX)
    e.none_before = 0;
  e.cheapest &= r->semantics == SEMANTICS_COARSE && !r->engine;
  return e;
}

/* Did one find a run that the other excludes? */
static bool refutes(const struct run_result *found, const struct evidence *f, const struct run_result *none,
                    const struct evidence *n) {
  if (!f->found || (none->distance_cut && found->distance > none->distance))
    return false;
  return n->none_before == NO_LENGTH || (f->length != LENGTH_UNKNOWN && f->length < n->none_before);
}

/* Does r answer for all properties of the other? A property that was not evaluated can cause no error. */
static bool judges_all_of(const struct run_result *r, const struct run_result *other) {
  for (uint32_t i = 0; i < other->nproperties; i++)
    if (other->properties[i].property && !result_of(r, other->properties[i].property))
      return false;
  return true;
}

static bool contradicts(const struct run_result *a, const struct run_result *b, const struct property *property) {
  struct evidence x = evidence_of(a, property), y = evidence_of(b, property);
  const struct property_result *p = result_of(a, property), *q = result_of(b, property);
  if (refutes(a, &x, b, &y) && (property || judges_all_of(b, a)))
    return true;
  if (refutes(b, &y, a, &x) && (property || judges_all_of(a, b)))
    return true;
  if (x.cheapest && y.cheapest && x.length == y.length && x.fault_cost != y.fault_cost)
    return true;
  return p && q && p->verdict == VERDICT_HOLDS && q->verdict == VERDICT_HOLDS && p->vacuous != q->vacuous;
}

static bool same_question(const struct run_result *a, const struct run_result *b) {
  return a->query_group == b->query_group && a->semantics == b->semantics && a->environment == b->environment;
}

/* Is one of them for coarse rounds and the other for fine rounds? */
static bool is_crossed(const struct run_result *a, const struct run_result *b) {
  return a->query_group == b->query_group && a->environment == b->environment &&
         ((a->semantics == SEMANTICS_COARSE && b->semantics == SEMANTICS_FINE) ||
          (a->semantics == SEMANTICS_FINE && b->semantics == SEMANTICS_COARSE));
}

bool is_local_result(const struct property_result *p) {
  return p->property && p->property->kind != PROPERTY_LIVE && p->rounds.granted;
}

/* Must errors be the same in both? A property that is not local may cause an error in only one of them. */
static bool has_local_errors(const struct run_result *whole, const struct run_result *own) {
  for (uint32_t i = 0; i < whole->nproperties; i++) {
    const struct property_result *p = &whole->properties[i];
    if (p->property && (!is_local_result(p) || p->property->step || !result_of(own, p->property)))
      return false;
  }
  return true;
}

/* A local property that is violated in fine rounds is violated in coarse rounds. Every state between two coarse rounds
   is also a state of fine rounds. The lengths are not comparable. */
static bool contradicts_crossed(const struct run_result *a, const struct run_result *b,
                                const struct property *property) {
  const struct run_result *whole = a->semantics == SEMANTICS_COARSE ? a : b, *own = whole == a ? b : a;
  const struct property_result *p = result_of(whole, property);
  if (property ? !p || !is_local_result(p) : !has_local_errors(whole, own))
    return false;
  struct evidence x = evidence_of(whole, property), y = evidence_of(own, property);
  bool states = !property || (!property->step && !property->until);
  return (y.found && x.none_before == NO_LENGTH) || (states && x.found && y.none_before == NO_LENGTH);
}

static void compare_runs(struct conflicts *c, struct conflict of) {
  const struct run_result *a = of.run[0], *b = of.run[1];
  bool (*contradict)(const struct run_result *, const struct run_result *, const struct property *) =
      is_crossed(a, b) ? contradicts_crossed : contradicts;
  of.forced = a->licences->unlicensed || b->licences->unlicensed;
  for (uint32_t i = 0; i < a->nproperties; i++) {
    of.property = a->properties[i].property;
    if (of.property && result_of(b, of.property) && contradict(a, b, of.property))
      vec_push(&c->at, of);
  }
  of.property = NULL;
  if (contradict(a, b, NULL))
    vec_push(&c->at, of);
}

void audit_compare(const struct audit_variant *ways, uint32_t n, struct conflicts *c) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = i + 1; k < n; k++)
      for (uint32_t x = 0; x < ways[i].result.nruns; x++)
        for (uint32_t y = 0; y < ways[k].result.nruns; y++) {
          const struct run_result *a = &ways[i].result.runs[x], *b = &ways[k].result.runs[y];
          if (same_question(a, b) || is_crossed(a, b))
            compare_runs(c, (struct conflict){.way = {i, k}, .run = {a, b}});
        }
}

static void add_answer(const struct run_result *r, const struct property *property, struct text *out) {
  const struct property_result *p = result_of(r, property);
  struct evidence e = evidence_of(r, property);
  if (p)
    text_addf(out, "%s (%s)", verdict_name(p->verdict), p->proved);
  else if (e.none_before == NO_LENGTH)
    text_add(out, "no error in any run");
  else
    text_addf(out, "no error in runs of length up to %u", e.none_before ? e.none_before - 1 : 0);
}

void conflict_print(const struct conflict *c, const struct audit_variant *ways, struct text *out) {
  const struct model *m = ways[0].result.model;
  text_addf(out, "'%s' in environment '%s': ", c->property ? c->property->name : "no_error",
            m->environments[c->run[0]->environment].name);
  for (int i = 0; i < 2; i++) {
    const char *options = ways[c->way[i]].options;
    add_answer(c->run[i], c->property, out);
    text_addf(out, *options ? " with %s%s" : " as asked%s%s", options, i ? "" : ", ");
  }
}

/* --- results of the variants --- */

/* The first property that is undecided for another reason than a requested limit on the length; NULL: none. */
static const struct property_result *undecided(const struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].verdict == VERDICT_INCONCLUSIVE && (search_limited(r->end) || r->distance_cut || is_live(r)))
      return &r->properties[i];
  return NULL;
}

struct audit_note audit_note_for(const struct audit_variant *w, const struct run_result *asked) {
  struct audit_note note = {.way = w->options};
  const struct run_result *r = NULL;
  for (uint32_t i = 0; i < w->result.nruns && !r; i++)
    if (same_question(&w->result.runs[i], asked))
      r = &w->result.runs[i];
  if (asked->query_group < w->nquery_groups && w->refused[asked->query_group]) {
    note.end = AUDIT_REFUSED;
    note.why = memory_strdup(w->refused[asked->query_group]);
    return note;
  }
  for (uint32_t i = 0; i < w->result.nruns && !r && asked->semantics == SEMANTICS_COARSE; i++)
    if (is_crossed(&w->result.runs[i], asked))
      r = &w->result.runs[i];
  bool crossed = r && r->semantics != asked->semantics, local = false;
  for (uint32_t i = 0; i < asked->nproperties && crossed; i++)
    local |= is_local_result(&asked->properties[i]);
  if (crossed && !local) {
    note.end = AUDIT_REFUSED;
    note.why = memory_strdup("what it says is said of whole rounds only");
    return note;
  }
  if (!r) { /* fine rounds, which are checked only as far as that is cheap */
    note.end = AUDIT_UNDECIDED;
    note.why = memory_strdup("it came to no answer in these semantics");
    return note;
  }
  const struct property_result *p =
      crossed ? NULL : undecided(r); /* the limit on the distance does not matter for local properties */
  note.states = r->engine ? 0 : r->stats.states;
  if (p || search_limited(r->end)) {
    note.end = AUDIT_UNDECIDED;
    note.why = memory_strdup(p ? p->proved : "a limit was reached");
  }
  return note;
}

bool audit_complete(const struct run_result *r) {
  bool complete = !search_limited(r->end) && !undecided(r);
  for (uint32_t i = 0; i < r->naudits; i++)
    complete &= r->audits[i].end != AUDIT_UNDECIDED;
  return complete;
}

static void add_others(const struct run_result *r, enum audit_end end, const char *words, struct text *out) {
  for (uint32_t i = 0; i < r->naudits; i++)
    if (r->audits[i].end == end)
      text_addf(out, "; %s %s: %.*s", r->audits[i].way, words, (int)strcspn(r->audits[i].why, "\n"), r->audits[i].why);
}

void audit_text(const struct run_result *r, struct text *out) {
  uint32_t n = 1;
  for (uint32_t i = 0; i < r->naudits; i++)
    n += r->audits[i].end == AUDIT_AGREES;
  if (n == 1)
    text_add(out, "nothing to compare with");
  else
    text_addf(out, "%u ways agree: as asked", n);
  for (uint32_t i = 0; i < r->naudits; i++)
    if (r->audits[i].end == AUDIT_AGREES) {
      text_addf(out, ", %s", r->audits[i].way);
      if (r->audits[i].states > 0) {
        text_add(out, " (");
        count_add(out, r->audits[i].states, "state", "states");
        text_add(out, ")");
      }
    }
  add_others(r, AUDIT_UNDECIDED, "undecided", out);
  add_others(r, AUDIT_REFUSED, "not possible", out);
}
