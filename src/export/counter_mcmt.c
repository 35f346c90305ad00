/* MCMT supports only conjunctions of literals, so every cube needs its own rule. A disjunctive start condition gets an
   extra location, from which one transition leads into each of its cubes. Amounts are declared with :eevar. */
#include "export/counter_export.h"

#include "param/engine.h"

#include <inttypes.h>

struct mcmt_printer {
  const struct counter_graph *g;
  struct text *out;
  const char **names; /* of parameters, then counters, then amounts */
};

static void add_row(struct mcmt_printer *p, const int64_t *row, uint32_t width) {
  text_addf(p->out, "(+ %" PRId64, row[0]);
  for (uint32_t i = 1; i < width; i++)
    if (row[i])
      text_addf(p->out, " (* %" PRId64 " %s)", row[i], p->names[i - 1]);
  text_add(p->out, " 0)");
}

static void add_cube(struct mcmt_printer *p, const struct cube *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    text_addf(p->out, " (%s ", c->equal.at[i] ? "=" : ">=");
    add_row(p, cube_row(c, i), c->width);
    text_add(p->out, " 0)");
  }
}

/* Prints the new values of all globals, in declaration order. */
static void add_values(struct mcmt_printer *p, const struct counter_transition *t, uint32_t to) {
  const struct counter_graph *g = p->g;
  text_add(p->out, ":numcases 1\n:case\n");
  for (uint32_t i = 0; i < g->nparams; i++)
    text_addf(p->out, " :val %s\n", p->names[i]);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    text_add(p->out, " :val ");
    if (t)
      add_row(p, t->update[i], t->guard.width);
    else
      text_add(p->out, p->names[g->nparams + i]);
    text_add(p->out, "\n");
  }
  text_addf(p->out, " :val %" PRIu32 "\n\n", to);
}

static void add_transition(struct mcmt_printer *p, const struct counter_transition *t) {
  text_addf(p->out, ":comment %s\n:transition\n:var rondo_x\n:guard (= rondo_location %" PRIu32 ")",
            p->g->system->moves[t->move].name, t->from);
  add_cube(p, &t->guard);
  text_add(p->out, "\n");
  add_values(p, t, t->to);
}

/* The transition from the extra location into one start cube, for one cube of the conditions on the parameters. */
static void add_start(struct mcmt_printer *p, uint32_t location, const struct cube *start,
                      const struct cube *condition) {
  text_addf(p->out, ":comment start\n:transition\n:var rondo_x\n:guard (= rondo_location %zu)", p->g->locations.n);
  add_cube(p, condition);
  add_cube(p, start);
  text_add(p->out, "\n");
  add_values(p, NULL, location);
}

static void add_unsafe(struct mcmt_printer *p) {
  bool first = true;
  for (uint32_t l = 0; l < p->g->locations.n; l++)
    for (size_t i = 0; i < p->g->locations.at[l].unsafe.n; i++) {
      text_addf(p->out,
                first ? ":unsafe\n:var rondo_z\n:cnj (= rondo_location %" PRIu32 ")"
                      : ":u_cnj (= rondo_location %" PRIu32 ")",
                l);
      add_cube(p, &p->g->locations.at[l].unsafe.at[i]);
      text_add(p->out, "\n");
      first = false;
    }
  if (first)
    text_add(p->out, ":unsafe\n:var rondo_z\n:cnj (= 0 1)\n");
  text_add(p->out, "\n");
}

void export_mcmt(const struct counter_graph *g, struct text *out) {
  struct arena arena;
  struct mcmt_printer p = {.g = g, .out = out};
  uint32_t most = 0;
  arena_init(&arena);
  p.names = counter_graph_names_with_amounts(g, "amount_", &most, &arena);
  text_addf(out, ":comment %s, %s\n", g->system->name, g->property->name);
  for (uint32_t i = 0; i < g->nvars; i++)
    text_addf(out, ":global %s int\n", p.names[i]);
  text_add(out, ":global rondo_location int\n");
  for (uint32_t i = 0; i < most; i++)
    text_addf(out, ":eevar %s int\n", p.names[g->nvars + i]);
  text_addf(out, "\n:initial\n:var rondo_x\n:cnj (= rondo_location %zu)\n\n", g->locations.n);
  add_unsafe(&p);
  for (uint32_t l = 0; l < g->locations.n; l++)
    for (size_t i = 0; i < g->locations.at[l].start.n; i++)
      for (size_t k = 0; k < g->conditions.n; k++)
        add_start(&p, l, &g->locations.at[l].start.at[i], &g->conditions.at[k]);
  for (size_t i = 0; i < g->transitions.n; i++)
    add_transition(&p, &g->transitions.at[i]);
  arena_release(&arena);
}
