/* The state graph, for Graphviz. */
#include "export/export_formats.h"
#include "export/state_graph.h"

#include <inttypes.h>
#include <string.h>

/* Is the variable the element of an empty option? It follows the variable NAME_is. */
static bool is_absent(const struct state_graph *w, size_t cell, const int64_t *now) {
  const struct program *g = w->program;
  for (size_t i = cell; i-- > 0;) {
    const char *name = g->variables.at[i].name;
    size_t n = strlen(name);
    if (n > 3 && !strcmp(name + n - 3, "_is") && !strncmp(g->variables.at[cell].name, name, n - 3))
      return !now[w->first[i]];
    if (strncmp(g->variables.at[cell].name, name, 3))
      return false;
  }
  return false;
}

/* The label shows only variables that differ from the state before the start. Variables of a process share a line. */
static void add_label(const struct state_graph *w, uint32_t state, struct text *out) {
  const struct program *g = w->program;
  const int64_t *now = state_graph_state(w, state);
  const char *line = NULL;
  size_t same = 0;
  for (size_t i = 0; i < g->variables.n; i++) {
    const struct state_variable *c = &g->variables.at[i];
    const char *second = strchr(c->name, '_');
    second = second ? strchr(second + 1, '_') : NULL;
    size_t length = second ? (size_t)(second - c->name) : 0;
    bool together = line && length == same && length > 0 && !strncmp(line, c->name, length);
    for (uint32_t k = 0; k < (c->length ? c->length : 1); k++) {
      int64_t v = now[w->first[i] + k];
      if (i == g->started || (c->length && v == 0) || (c->truth && !v) || is_absent(w, i, now))
        continue;
      text_add(out, !line ? "" : together ? ", " : "\\n");
      line = c->name;
      same = length;
      together = true;
      text_add(out, c->name);
      if (c->length)
        text_addf(out, "[%" PRIu32 "]", k);
      if (!c->truth && !(c->length && v == 1))
        text_addf(out, " = %" PRId64, v);
    }
  }
}

/* The first safety property that is false in the state, or the first cover that is true. */
static const struct property *property_shown(const struct state_graph *w, uint32_t state) {
  for (size_t i = 0; i < w->program->properties.n; i++) {
    const struct program_property *p = &w->program->properties.at[i];
    if (p->holds != NO_EXPR && state_graph_eval(w, state, p->holds) == (p->property->kind == PROPERTY_COVER))
      return p->property;
  }
  return NULL;
}

bool export_dot(const struct program *g, uint64_t most, struct text *out) {
  struct state_graph w;
  if (!state_graph_build(&w, g, most)) {
    state_graph_release(&w);
    return false;
  }
  text_addf(out,
            "// %s, environment %s: %" PRIu32 " states\ndigraph %s {\n  node [shape=box, fontname=\"monospace\"];\n",
            g->model->name, g->environment->name, w.nstates - 1, g->model->name);
  for (uint32_t i = 1; i < w.nstates; i++) {
    const struct property *p = property_shown(&w, i);
    text_addf(out, "  s%" PRIu32 " [label=\"", i);
    add_label(&w, i, out);
    if (p)
      text_addf(out, "\\n%s%s", p->kind == PROPERTY_COVER ? "" : "violates ", p->name);
    text_addf(out, "\"%s];\n", !p ? "" : p->kind == PROPERTY_COVER ? ", color=green" : ", color=red");
  }
  for (size_t i = 0; i < w.edges.n; i++) {
    const struct state_graph_edge *e = &w.edges.at[i];
    if (e->fails)
      text_addf(out,
                "  error%zu [label=\"error of the model\", color=red, shape=plain];\n  s%" PRIu32
                " -> error%zu [label=\"%s\"];\n",
                i, e->from, i, g->rules.at[e->rule].name);
    else if (e->from == 0)
      text_addf(out, "  start%" PRIu32 " [shape=point];\n  start%" PRIu32 " -> s%" PRIu32 ";\n", e->to, e->to, e->to);
    else if (e->from != e->to)
      text_addf(out, "  s%" PRIu32 " -> s%" PRIu32 " [label=\"%s\"];\n", e->from, e->to, g->rules.at[e->rule].name);
  }
  text_add(out, "}\n");
  state_graph_release(&w);
  return true;
}
