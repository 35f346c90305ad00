#include "model_dump.h"

#include "model/type_print.h"

#include <inttypes.h>

/* --- expressions --- */

static void print_kids(const struct model *m, const struct node *n, const char *open, const char *shut,
                       struct text *out) {
  text_add(out, open);
  for (uint32_t i = 0; i < n->n; i++) {
    text_add(out, i ? ", " : "");
    node_print(m, n->kid[i], out);
  }
  text_add(out, shut);
}

static void print_generators(const struct model *m, const struct node *n, struct text *out) {
  for (uint32_t i = 0; i < n->ngen; i++) {
    text_addf(out, "%s%s#%u in ", i ? ", " : "", n->gen[i].name, n->gen[i].slot);
    node_print(m, n->gen[i].range, out);
    if (n->gen[i].cond) {
      text_add(out, " if ");
      node_print(m, n->gen[i].cond, out);
    }
  }
}

/* name(element for generators) */
static void print_over(const struct model *m, const struct node *n, const char *open, const char *shut,
                       struct text *out) {
  text_add(out, open);
  node_print(m, n->kid[0], out);
  text_add(out, " for ");
  print_generators(m, n, out);
  text_add(out, shut);
}

static void print_infix(const struct model *m, const struct node *n, struct text *out) {
  text_add(out, "(");
  node_print(m, n->kid[0], out);
  text_addf(out, " %s ", op_text(n->op));
  node_print(m, n->kid[1], out);
  text_add(out, ")");
}

static void print_quantifier(const struct model *m, const struct node *n, struct text *out) {
  text_addf(out, n->op == NODE_COUNT ? "%s(" : "(%s ", op_text(n->op));
  print_generators(m, n, out);
  text_add(out, ": ");
  node_print(m, n->kid[0], out);
  text_add(out, ")");
}

static void print_heard_of(const struct model *m, const struct node *n, struct text *out) {
  text_addf(out, "%s[", op_text(n->op));
  node_print(m, n->kid[0], out);
  text_addf(out, n->index == NO_NAME ? "]" : ", %s]", n->index == NO_NAME ? "" : m->round_names.at[n->index]);
}

static void print_field_of(const struct model *m, const struct node *n, struct text *out) {
  const char *name = m->fields[n->index].name;
  if (n->op == NODE_INITIAL)
    text_add(out, "initial(");
  if (n->op == NODE_ORACLE)
    text_addf(out, "%s[", name);
  node_print(m, n->kid[0], out);
  if (n->op == NODE_ORACLE)
    text_add(out, "]");
  else
    text_addf(out, ".%s%s%s", name, n->primed ? "'" : "", n->op == NODE_INITIAL ? ")" : "");
}

static void print_call(const struct model *m, const struct node *n, const char *name, struct text *out) {
  text_add(out, name);
  print_kids(m, n, "(", ")", out);
}

void node_print(const struct model *m, const struct node *n, struct text *out) {
  if (!n) {
    text_add(out, "true");
    return;
  }
  switch (op_number(n->op)) {
  case NODE_CONST:
    value_print(&m->values, m, n->type, n->constant, out);
    return;
  case NODE_PARAM:
    text_add(out, m->params[n->index].name);
    return;
  case NODE_SLOT:
    text_addf(out, "#%u", n->index);
    return;
  case NODE_VAR:
    text_addf(out, "var%u", n->index);
    return;
  case NODE_GLOBAL:
    text_addf(out, "%s%s", m->globals[n->index].name, n->primed ? "'" : "");
    return;
  case NODE_SENDER:
    text_addf(out, "sender(#%u)", n->index);
    return;
  case NODE_ROLE_SET:
    text_add(out, n->index == ROLE_ANY ? "all" : m->roles[n->index].name);
    return;
  case NODE_PROCESS_AT:
    print_call(m, n, m->roles[n->index].name, out);
    return;
  case NODE_CALL:
    print_call(m, n, m->defs[n->index].name, out);
    return;
  case NODE_DOMAIN:
    type_print(m, n->type->element, out);
    return;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    print_field_of(m, n, out);
    return;
  case NODE_HO:
  case NODE_SHO:
    print_heard_of(m, n, out);
    return;
  case NODE_CARD:
    print_kids(m, n, "|", "|", out);
    return;
  case NODE_SET:
    print_kids(m, n, "{", "}", out);
    return;
  case NODE_SEQUENCE:
    print_kids(m, n, "[", "]", out);
    return;
  case NODE_RECORD:
    print_kids(m, n, "(", ")", out);
    return;
  case NODE_SET_OF:
    print_over(m, n, "{", "}", out);
    return;
  case NODE_ARRAY_OF:
    print_over(m, n, "[", "]", out);
    return;
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
    print_quantifier(m, n, out);
    return;
  case NODE_SELECT:
    node_print(m, n->kid[0], out);
    text_addf(out, ".%s", n->kid[0]->type->fields[n->index].name);
    return;
  case NODE_INDEX:
    node_print(m, n->kid[0], out);
    text_add(out, "[");
    node_print(m, n->kid[1], out);
    text_add(out, "]");
    return;
  case NODE_NEG:
    text_add(out, "-");
    node_print(m, n->kid[0], out);
    return;
  case NODE_IF:
    print_kids(m, n, "if(", ")", out);
    return;
  }
  if (n->ngen) {
    text_add(out, op_text(n->op));
    print_over(m, n, "(", ")", out);
  } else if (n->n == 2)
    print_infix(m, n, out);
  else if (n->n)
    print_call(m, n, op_text(n->op), out);
  else
    text_add(out, op_text(n->op));
}

/* --- statements, processes, schedule, environments, properties --- */

static void indent(struct text *out, int depth) {
  for (int i = 0; i < depth; i++)
    text_add(out, "  ");
}

static void print_guard(const struct model *m, const struct guard *g, struct text *out) {
  for (uint32_t i = 0; i < g->ngen; i++) {
    text_addf(out, "%s%s#%u in ", i ? ", " : "choose ", g->gen[i].name, g->gen[i].slot);
    node_print(m, g->gen[i].range, out);
    if (g->gen[i].cond) {
      text_add(out, " if ");
      node_print(m, g->gen[i].cond, out);
    }
  }
  text_add(out, g->ngen ? ": " : "");
  node_print(m, g->cond, out);
}

static void print_assign(const struct model *m, const struct role *role, const struct stmt *s, struct text *out) {
  const struct var *v = s->shared ? &m->globals[s->var] : &role->vars[s->var];
  const struct type *type = v->type;
  text_add(out, v->name);
  for (uint32_t i = 0; i < s->npath; i++) {
    if (!s->path[i].index) {
      text_addf(out, ".%s", type->fields[s->path[i].field].name);
      type = type->fields[s->path[i].field].type;
      continue;
    }
    text_add(out, "[");
    node_print(m, s->path[i].index, out);
    text_add(out, "]");
    type = type->element;
  }
  text_add(out, " := ");
  node_print(m, s->expr, out);
}

static void print_send(const struct model *m, const struct send *s, struct text *out);

static void print_block(const struct model *m, const struct role *role, const struct block *b, int depth,
                        struct text *out) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    indent(out, depth);
    switch (s->kind) {
    case STMT_IF:
      text_add(out, "if ");
      print_guard(m, &s->guard, out);
      text_add(out, "\n");
      print_block(m, role, &s->then, depth + 1, out);
      if (s->other.n) {
        indent(out, depth);
        text_add(out, "else\n");
        print_block(m, role, &s->other, depth + 1, out);
      }
      continue;
    case STMT_LET:
      text_addf(out, "let #%u = ", s->slot);
      node_print(m, s->expr, out);
      break;
    case STMT_ASSIGN:
      print_assign(m, role, s, out);
      break;
    case STMT_FOREACH:
      text_addf(out, "foreach #%u in received\n", s->slot);
      print_block(m, role, &s->then, depth + 1, out);
      continue;
    case STMT_HALT:
      text_add(out, "halt");
      break;
    case STMT_SEND:
      text_add(out, "send ");
      text_add(out, m->messages[s->send->kind].name);
      print_send(m, s->send, out);
      break;
    }
    text_add(out, "\n");
  }
}

static void print_send(const struct model *m, const struct send *s, struct text *out) {
  node_print(m, s->message, out);
  text_add(out, " to ");
  switch (s->target) {
  case TARGET_SET:
    text_add(out, s->to_role == ROLE_ANY ? "all" : m->roles[s->to_role].name);
    break;
  case TARGET_OTHERS:
    text_add(out, "others");
    break;
  case TARGET_ONE:
  case TARGET_EXPR:
    node_print(m, s->to, out);
    break;
  }
  if (s->guard.ngen || s->guard.cond) {
    text_add(out, " when ");
    print_guard(m, &s->guard, out);
  }
}

static void print_var(const struct model *m, const struct var *v, struct text *out) {
  static const char *const kind[] = {
      [VAR_INPUT] = "input",   [VAR_PLAIN] = "var",     [VAR_GHOST] = "ghost", [VAR_ORACLE] = "oracle",
      [VAR_STABLE] = "stable", [VAR_SHARED] = "shared", [VAR_POINT] = "point", [VAR_ONCE] = "once"};
  text_addf(out, "  %s %s: ", kind[v->kind], v->name);
  type_print(m, v->type, out);
  text_add(out, v->distinct ? " distinct" : "");
  text_add(out, v->each == EACH_PHASE ? " each phase" : v->each == EACH_ROUND ? " each round" : "");
  if (v->init) {
    text_add(out, " = ");
    node_print(m, v->init, out);
  }
  if (v->where) {
    text_add(out, " where ");
    node_print(m, v->where, out);
  }
  text_add(out, "\n");
}

/* What an action waits for: its messages, what of them has a name, and the condition. */
static void print_trigger(const struct model *m, const struct action *a, struct text *out) {
  if (a->trigger != TRIGGER_NONE) {
    const struct message_kind *kind = &m->messages[a->kind];
    text_add(out, " on ");
    if (a->trigger == TRIGGER_QUORUM) {
      text_add(out, a->exactly ? "exactly " : "");
      node_print(m, a->size, out);
      text_add(out, " of ");
    }
    text_addf(out, "#%u: %s", a->slot, kind->name);
    if (a->match) {
      text_add(out, " matching ");
      node_print(m, a->match, out);
    }
    for (uint32_t i = 0; i < a->nparts; i++)
      text_addf(out, "%s#%u = %s",
                i                              ? ", "
                : a->trigger == TRIGGER_QUORUM ? " same "
                                               : " with ",
                a->parts[i].slot, kind->type->fields[a->parts[i].field].name);
    if (a->from_slot != NO_SLOT)
      text_addf(out, " from #%u", a->from_slot);
    text_add(out, a->taken ? " taken" : "");
  }
  if (a->guard.ngen || a->guard.cond) {
    text_add(out, " if ");
    print_guard(m, &a->guard, out);
  }
}

static void print_action(const struct model *m, const struct role *role, const struct action *a, struct text *out) {
  text_addf(out, "  action %s", a->name);
  const char **label = role->point_var != NO_VAR ? role->vars[role->point_var].type->labels : NULL;
  if (label && a->point != ANY_POINT)
    text_addf(out, " at %s then %s", label[a->point], label[a->next]);
  print_trigger(m, a, out);
  if (a->once != NO_SLOT)
    text_addf(out, " once var%u", a->once);
  text_add(out, "\n");
  print_block(m, role, &a->body, 2, out);
}

static void print_role(const struct model *m, const struct role *role, struct text *out) {
  text_addf(out, "process %s: %u from %u%s\n", role->name, role->count, role->first, role->ring ? ", ring" : "");
  if (role->graph) {
    text_add(out, "  graph ");
    node_print(m, role->graph, out);
    text_add(out, "\n");
  }
  for (uint32_t i = 0; i < role->nvars; i++)
    print_var(m, &role->vars[i], out);
  for (uint32_t i = 0; i < role->nactions; i++)
    print_action(m, role, &role->actions[i], out);
  for (uint32_t i = 0; i < m->npoints; i++) {
    const struct body *body = &role->body[i];
    text_addf(out, "  point %u\n", i);
    for (uint32_t j = 0; j < body->nsends; j++) {
      text_add(out, "    send ");
      print_send(m, &body->sends[j], out);
      text_add(out, "\n");
    }
    if (body->received) {
      text_add(out, "    receives ");
      type_print(m, body->received, out);
      text_add(out, "\n");
    }
    print_block(m, role, &body->update, 2, out);
    if (body->finally.n) {
      text_add(out, "    finally\n");
      print_block(m, role, &body->finally, 3, out);
    }
  }
}

static void print_points(const struct model *m, struct text *out) {
  for (uint32_t i = 0; i < m->npoints; i++) {
    const struct point *p = &m->points[i];
    text_addf(out, "point %u: %s, round %u, loop %" PRId64 "%s%s%s, then ", i, p->name ? p->name : "(no name)",
              p->number, p->loop, p->phase_start ? ", phase start" : "", p->phase_end ? ", phase end" : "",
              p->endless ? ", endless" : "");
    if (p->next == POINT_END)
      text_add(out, "end\n");
    else
      text_addf(out, "%u\n", p->next);
  }
}

static void print_clause(const struct model *m, const struct clause *c, struct text *out) {
  static const char *const kind[] = {"crash",
                                     "omit",
                                     "byzantine",
                                     "lost",
                                     "corrupted",
                                     "every",
                                     "from round",
                                     "infinitely often",
                                     "eventually always",
                                     "eventually",
                                     "synchronous",
                                     "fair",
                                     "duplicated",
                                     "channels"};
  static const char *const channel[] = {"bag", "set", "fifo"};
  static const char *const fair_to[] = {"messages", "actions", "processes"};
  static const char *const per[] = {"run", "round", "receiver"};
  static const char *const unit[] = {"", " phase", " round"};
  text_addf(out, "  %s", kind[c->kind]);
  if (c->kind == CLAUSE_CHANNELS) {
    text_addf(out, " %s", channel[c->channel]);
    if (c->bound)
      text_addf(out, " bound %" PRId64, c->bound);
  } else if (c->kind == CLAUSE_FAIR) {
    text_addf(out, "%s to %s", c->strong ? " strong" : "", fair_to[c->fair_to]);
  } else if (c->kind <= CLAUSE_CORRUPTED || c->kind == CLAUSE_DUPLICATED) {
    text_addf(out, "%s at most", c->recovers ? " and recover" : "");
    text_addf(out, " %" PRId64 " per %s", c->limit, per[c->per]);
    if (c->role != ROLE_ANY)
      text_addf(out, " of %s", m->roles[c->role].name);
    if (c->kind == CLAUSE_OMIT)
      text_addf(out, "%s%s", c->omits_send ? " send" : "", c->omits_receive ? " receive" : "");
  } else if (c->pred) {
    if (c->kind == CLAUSE_FROM_ROUND)
      text_addf(out, " %u", c->from);
    text_addf(out, "%s: ", unit[c->unit]);
    node_print(m, c->pred, out);
  }
  text_add(out, "\n");
}

static void print_property(const struct model *m, const struct property *p, struct text *out) {
  static const char *const kind[] = {"safety", "cover", "live"};
  text_addf(out, "%s %s in ", kind[p->kind], p->name);
  for (uint32_t i = 0; i < p->nenvironments; i++)
    text_addf(out, "%s%s", i ? ", " : "", m->environments[p->environments[i]].name);
  text_add(out, p->on_request ? " on request" : "");
  text_add(out, p->step ? ": step " : ": ");
  node_print(m, p->formula, out);
  text_add(out, "\n");
}

void model_print(const struct model *m, struct text *out) {
  text_addf(out, "algorithm %s\n", m->name);
  for (uint32_t i = 0; i < m->nparams; i++)
    text_addf(out, "param %s = %" PRId64 "\n", m->params[i].name, m->params[i].value);
  for (uint32_t i = 0; i < m->nmessages; i++) {
    text_addf(out, "message %s", m->messages[i].name);
    for (uint32_t j = 0; j < m->messages[i].type->size; j++) {
      text_addf(out, "%s%s: ", j ? ", " : "(", m->messages[i].type->fields[j].name);
      type_print(m, m->messages[i].type->fields[j].type, out);
    }
    text_add(out, m->messages[i].type->size ? ")\n" : "\n");
  }
  for (uint32_t i = 0; i < m->nglobals; i++)
    print_var(m, &m->globals[i], out);
  for (uint32_t i = 0; i < m->ndefs; i++) {
    text_addf(out, "def %s/%u = ", m->defs[i].name, m->defs[i].nargs);
    node_print(m, m->defs[i].body, out);
    text_add(out, "\n");
  }
  print_points(m, out);
  for (uint32_t i = 0; i < m->nroles; i++)
    print_role(m, &m->roles[i], out);
  for (uint32_t i = 0; i < m->nenvironments; i++) {
    text_addf(out, "environment %s\n", m->environments[i].name);
    for (uint32_t j = 0; j < m->environments[i].nclauses; j++)
      print_clause(m, &m->environments[i].clauses[j], out);
  }
  for (uint32_t i = 0; i < m->nproperties; i++)
    print_property(m, &m->properties[i], out);
}
