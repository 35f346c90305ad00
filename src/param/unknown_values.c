#include "param/unknown_values.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { CONDITION_MAX = 4 << 20 };

struct unknown_printer {
  const struct threshold_automaton *a;
  const struct automaton_run *run; /* NULL: only conditions on the unknowns alone */
  const int64_t *counters;         /* of the present state; or NULL */
  uint32_t n;                      /* unknowns */
  struct text *out;
  bool *of; /* or NULL: which unknowns were read */
  bool failed;
};

void unknown_symbol(uint32_t place, struct text *out) { text_addf(out, "u%" PRIu32, place); }

/* ---- numbers: a constant, and a coefficient for each unknown ---- */

static bool is_constant_row(const struct unknown_printer *p, const int64_t *row) {
  for (uint32_t i = 1; i <= p->n; i++)
    if (row[i])
      return false;
  return true;
}

/* out = a + times * b; false: overflow. */
static bool row_sum(const struct unknown_printer *p, const int64_t *a, const int64_t *b, int64_t times, int64_t *out) {
  for (uint32_t i = 0; i <= p->n; i++) {
    int64_t part;
    if (__builtin_mul_overflow(b[i], times, &part) || __builtin_add_overflow(a[i], part, &out[i]))
      return false;
  }
  return true;
}

static bool param_row(struct unknown_printer *p, uint32_t param, int64_t *out) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->a->unknowns[i] == param) {
      out[1 + i] = 1;
      if (p->of)
        p->of[i] = true;
      return true;
    }
  if (!p->run)
    return false;
  out[0] = p->run->params[param];
  return true;
}

/* The number as a linear form over the unknowns. out is zeroed before. False: it is none. */
static bool number_row(struct unknown_printer *p, const struct term *t, int64_t *out) {
  bool ok = false;
  switch (t->op) {
  case TERM_NUMBER:
    out[0] = t->number;
    return true;
  case TERM_PARAM:
    return param_row(p, t->index, out);
  case TERM_COUNTER:
    if (!p->counters)
      return false;
    out[0] = p->counters[t->index];
    return true;
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES: {
    size_t width = p->n + (size_t)1;
    int64_t *a = memory_alloc(2 * width * sizeof *a), *b = a + width;
    memset(a, 0, 2 * width * sizeof *a);
    ok = number_row(p, t->kid[0], a) && number_row(p, t->kid[1], b);
    if (ok && t->op == TERM_TIMES) {
      ok = is_constant_row(p, a) || is_constant_row(p, b);
      ok = ok && (is_constant_row(p, a) ? row_sum(p, out, b, a[0], out) : row_sum(p, out, a, b[0], out));
    } else if (ok) {
      ok = row_sum(p, a, b, t->op == TERM_ADD ? 1 : -1, out);
    }
    memory_free(a);
    return ok;
  }
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_IF:
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    break;
  }
  return false;
}

/* ---- conditions ---- */

static void print_number(struct text *out, int64_t n) {
  text_addf(out, n < 0 ? "(- %" PRIu64 ")" : "%" PRIu64, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* right - left, compared with zero: "=", ">=" or ">". `minus`: a number to be subtracted as well. */
static void print_relation(struct unknown_printer *p, const char *sign, const struct term *left,
                           const struct term *right, int64_t minus) {
  size_t width = p->n + (size_t)1;
  int64_t *row = memory_alloc(3 * width * sizeof *row), *a = row + width, *b = a + width;
  memset(row, 0, 3 * width * sizeof *row);
  bool ok = (!left || number_row(p, left, a)) && number_row(p, right, b) && row_sum(p, b, a, -1, row) &&
            !__builtin_sub_overflow(row[0], minus, &row[0]);
  p->failed |= !ok;
  text_addf(p->out, "(%s (+ ", sign);
  print_number(p->out, row[0]);
  for (uint32_t i = 0; i < p->n; i++)
    if (row[1 + i]) {
      text_add(p->out, " (* ");
      print_number(p->out, row[1 + i]);
      text_add(p->out, " ");
      unknown_symbol(i, p->out);
      text_add(p->out, ")");
    }
  text_add(p->out, " 0) 0)");
  memory_free(row);
}

static void print_condition(struct unknown_printer *p, const struct term *t) {
  if (p->failed || p->out->n > CONDITION_MAX) {
    p->failed = true;
    return;
  }
  switch (t->op) {
  case TERM_NUMBER:
    text_add(p->out, t->number ? "true" : "false");
    return;
  case TERM_NOT:
    text_add(p->out, "(not ");
    print_condition(p, t->kid[0]);
    text_add(p->out, ")");
    return;
  case TERM_AND:
  case TERM_OR:
    text_add(p->out, t->op == TERM_AND ? "(and " : "(or ");
    print_condition(p, t->kid[0]);
    text_add(p->out, " ");
    print_condition(p, t->kid[1]);
    text_add(p->out, ")");
    return;
  case TERM_EQ:
    print_relation(p, "=", t->kid[0], t->kid[1], 0);
    return;
  case TERM_LE:
    print_relation(p, ">=", t->kid[0], t->kid[1], 0);
    return;
  case TERM_LT:
    print_relation(p, ">", t->kid[0], t->kid[1], 0);
    return;
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    p->failed = true;
  }
}

static void print_in_state(struct unknown_printer *p, const struct term *t, uint32_t state) {
  p->counters = p->run->states[state];
  print_condition(p, t);
}

static void print_formula(struct unknown_printer *p, const struct ta_formula *f, uint32_t state) {
  if (p->failed || p->out->n > CONDITION_MAX) {
    p->failed = true;
    return;
  }
  switch (f->op) {
  case TA_STATE:
    print_in_state(p, f->term, state);
    return;
  case TA_NOT:
  case TA_AND:
  case TA_OR:
  case TA_IMPLIES:
    text_add(p->out, f->op == TA_NOT ? "(not " : f->op == TA_AND ? "(and " : f->op == TA_OR ? "(or " : "(=> ");
    print_formula(p, f->kid[0], state);
    text_add(p->out, " ");
    if (f->op != TA_NOT)
      print_formula(p, f->kid[1], state);
    text_add(p->out, ")");
    return;
  case TA_ALWAYS:
  case TA_EVENTUALLY:
    text_add(p->out, f->op == TA_ALWAYS ? "(and true" : "(or false");
    for (uint32_t i = state; i < p->run->nstates && !p->failed; i++) {
      text_add(p->out, " ");
      print_formula(p, f->kid[0], i);
    }
    text_add(p->out, ")");
    return;
  case TA_FINALLY:
    p->failed = true; /* only in normal forms */
  }
}

/* ---- runs ---- */

/* Is the move from state `to` - 1 to `to` possible? Locations change by constants, shared variables perhaps not. */
static void print_move(struct unknown_printer *p, const struct counter_move *m, uint32_t to) {
  const int64_t *before = p->run->states[to - 1], *after = p->run->states[to];
  text_add(p->out, "\n   (and true");
  for (uint32_t i = 0; i < p->run->ncounters && !p->failed; i++) {
    text_add(p->out, " ");
    p->counters = before;
    if (m->counters[i])
      print_relation(p, "=", NULL, m->counters[i], after[i]);
    else
      text_add(p->out, before[i] == after[i] ? "true" : "false");
  }
  text_add(p->out, " ");
  print_in_state(p, m->guard, to - 1);
  text_add(p->out, ")");
}

/* Moves that change other locations are left out: they are impossible for all values. */
static bool fits_locations(const struct unknown_printer *p, const struct counter_move *m, uint32_t to) {
  struct counter_values v = {p->run->params, p->run->states[to - 1], NULL, NULL};
  for (uint32_t i = 0; i < p->run->ncounters; i++) {
    int64_t next = v.counters[i];
    if (p->a->is_location[i] && m->counters[i] && !term_value(m->counters[i], &v, &next))
      return false;
    if (p->a->is_location[i] && next != p->run->states[to][i])
      return false;
  }
  return true;
}

bool unknown_values_violating(const struct threshold_automaton *open, const struct automaton_run *run,
                              uint32_t specification, struct text *out) {
  const struct counter_system *s = open->system;
  struct unknown_printer p = {.a = open, .run = run, .n = open->nunknowns, .out = out};
  text_add(out, "(and true");
  for (uint32_t i = 0; i < s->nconditions && !p.failed; i++) {
    text_add(out, " ");
    print_condition(&p, s->conditions[i].term);
  }
  text_add(out, " ");
  print_in_state(&p, s->start, 0);
  for (uint32_t i = 1; i < run->nstates && !p.failed; i++) {
    text_add(out, "\n  (or false");
    for (uint32_t m = 0; m < s->nmoves && !p.failed; m++)
      if (fits_locations(&p, &s->moves[m], i))
        print_move(&p, &s->moves[m], i);
    text_add(out, ")");
  }
  text_add(out, "\n  (not ");
  print_formula(&p, open->specifications[specification].formula, 0);
  text_add(out, "))");
  return !p.failed;
}

/* Does the condition read an unknown, and no other parameter? */
static void find_reads(const struct threshold_automaton *a, const struct term *t, bool *unknown, bool *other) {
  if (t->op == TERM_PARAM) {
    bool found = false;
    for (uint32_t i = 0; i < a->nunknowns; i++)
      found |= a->unknowns[i] == t->index;
    *unknown |= found;
    *other |= !found;
  }
  for (int i = 0; i < 3; i++)
    if (t->kid[i])
      find_reads(a, t->kid[i], unknown, other);
}

bool unknown_assumptions(const struct threshold_automaton *open, struct text *out, bool *of) {
  struct unknown_printer p = {.a = open, .n = open->nunknowns, .out = out, .of = of};
  text_add(out, "(and true");
  for (uint32_t i = 0; i < open->system->nconditions && !p.failed; i++) {
    bool unknown = false, other = false;
    find_reads(open, open->system->conditions[i].term, &unknown, &other);
    if (!unknown || other)
      continue;
    text_add(out, " ");
    print_condition(&p, open->system->conditions[i].term);
  }
  text_add(out, ")");
  return !p.failed;
}
