#include "export/counter_export.h"

#include "param/engine.h"

#include <inttypes.h>

struct horn_printer {
  const struct counter_graph *g;
  struct text *out;
  const char **names; /* of parameters, then counters, then amounts */
};

static void add_binding(struct horn_printer *p, uint32_t variables) {
  text_add(p->out, "(assert (forall (");
  for (uint32_t i = 0; i < variables; i++)
    text_addf(p->out, "%s(%s Int)", i ? " " : "", p->names[i]);
  text_add(p->out, ")\n  (=> (and");
}

static void add_predicate(struct horn_printer *p, uint32_t location) {
  text_addf(p->out, p->g->nvars ? "(P%" PRIu32 : "P%" PRIu32, location);
  for (uint32_t i = 0; i < p->g->nvars; i++)
    text_addf(p->out, " %s", p->names[i]);
  text_add(p->out, p->g->nvars ? ")" : "");
}

/* Prints an affine term. */
static void add_row(struct horn_printer *p, const int64_t *row, uint32_t width) {
  text_addf(p->out, row[0] < 0 ? "(+ (- %" PRIu64 ")" : "(+ %" PRIu64,
            row[0] < 0 ? 0 - (uint64_t)row[0] : (uint64_t)row[0]);
  for (uint32_t i = 1; i < width; i++)
    if (row[i])
      text_addf(p->out, row[i] < 0 ? " (* (- %" PRIu64 ") %s)" : " (* %" PRIu64 " %s)",
                row[i] < 0 ? 0 - (uint64_t)row[i] : (uint64_t)row[i], p->names[i - 1]);
  text_add(p->out, " 0)");
}

static void add_conditions(struct horn_printer *p) {
  text_add(p->out, " (or false");
  for (size_t i = 0; i < p->g->conditions.n; i++) {
    text_add(p->out, " ");
    cube_print(&p->g->conditions.at[i], p->names, p->out);
  }
  text_add(p->out, ")");
}

static void add_start(struct horn_printer *p, uint32_t location, const struct cube *c) {
  add_binding(p, p->g->nvars);
  add_conditions(p);
  text_add(p->out, " ");
  cube_print(c, p->names, p->out);
  text_add(p->out, ")\n    ");
  add_predicate(p, location);
  text_add(p->out, ")))\n");
}

static void add_unsafe(struct horn_printer *p, uint32_t location, const struct cube *c) {
  add_binding(p, p->g->nvars);
  text_add(p->out, " ");
  add_predicate(p, location);
  text_add(p->out, " ");
  cube_print(c, p->names, p->out);
  text_add(p->out, ")\n    false)))\n");
}

static void add_transition(struct horn_printer *p, const struct counter_transition *t) {
  const struct counter_graph *g = p->g;
  text_addf(p->out, "; %s\n", g->system->moves[t->move].name);
  add_binding(p, t->guard.width - 1);
  text_add(p->out, " ");
  add_predicate(p, t->from);
  text_add(p->out, " ");
  cube_print(&t->guard, p->names, p->out);
  text_addf(p->out, ")\n    %sP%" PRIu32, g->nvars ? "(" : "", t->to);
  for (uint32_t i = 0; i < g->nparams; i++)
    text_addf(p->out, " %s", p->names[i]);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    text_add(p->out, " ");
    add_row(p, t->update[i], t->guard.width);
  }
  text_add(p->out, g->nvars ? "))))\n" : ")))\n");
}

static void add_location(struct horn_printer *p, uint32_t location) {
  const struct counter_system *s = p->g->system;
  const control_vec *all = &p->g->locations.at[location].controls;
  for (size_t k = 0; k < all->n && s->ncontrols; k++) {
    text_addf(p->out, "; P%" PRIu32 ":", location);
    for (uint32_t i = 0; i < s->ncontrols; i++) {
      text_addf(p->out, " %s = ", s->controls[i].name);
      control_value_print(&s->controls[i], all->at[k][i], p->out);
    }
    text_add(p->out, "\n");
  }
  text_addf(p->out, "(declare-fun P%" PRIu32 " (", location);
  for (uint32_t i = 0; i < p->g->nvars; i++)
    text_add(p->out, i ? " Int" : "Int");
  text_add(p->out, ") Bool)\n");
}

void export_horn(const struct counter_graph *g, struct text *out) {
  struct arena arena;
  struct horn_printer p = {.g = g, .out = out};
  uint32_t most = 0;
  arena_init(&arena);
  p.names = counter_graph_names_with_amounts(g, "amount.", &most, &arena);
  text_addf(out, "; %s, '%s': \"sat\" means that it is never reached\n(set-logic HORN)\n", g->system->name,
            g->property->name);
  for (uint32_t l = 0; l < g->locations.n; l++)
    add_location(&p, l);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    for (size_t i = 0; i < g->locations.at[l].start.n; i++)
      add_start(&p, l, &g->locations.at[l].start.at[i]);
    for (size_t i = 0; i < g->locations.at[l].unsafe.n; i++)
      add_unsafe(&p, l, &g->locations.at[l].unsafe.at[i]);
  }
  for (size_t i = 0; i < g->transitions.n; i++)
    add_transition(&p, &g->transitions.at[i]);
  text_add(out, "(check-sat)\n");
  arena_release(&arena);
}
