/* The variables of a program, with their names and ranges. A state contains the same data as in the explicit engine
   (lockstep/state_pack.c, steps/state_cells.c). Dead data is omitted, so that the numbers of states are comparable. */
#include "analysis/dataflow.h"
#include "export/lower.h"
#include "export/reserved_words.h"

#include <stdio.h>
#include <string.h>

#define VARIABLES_MOST 20000

/* --- names --- */

/* Reserved words of Promela, Murphi, TLA+ and SMV that a model may use as names of shared variables and properties. */
static bool is_reserved_word(const char *name) {
  static const char words[] =
      "active assert atomic bit bool break byte chan do else empty enabled end fi full goto hidden if in "
      "init inline int len mtype never nfull od of pid printf priority proctype provided return run select "
      "short skip timeout typedef unless unsigned xr xs for ltl always eventually until weakuntil "
      "stronguntil implies release next true false alias array assume begin boolean by case clear const "
      "cover elsif enum endfor endif error exists forall function invariant isundefined liveness max min "
      "mod multiset procedure process program put real record rule ruleset scalarset startstate switch then "
      "to type undefine union var while esac self word auto char continue default double extern float long "
      "register restrict signed sizeof static struct void volatile main now integer count toint time "
      "started steps rules judge follow assumed met flip error_happened no_error Number Init Next Spec "
      "TypeOK vars Assert DOMAIN CHOOSE d_step c_code c_expr not and or";
  if (is_one_of_words(words, name))
    return true;
  if (strlen(name) == 1 && name[0] >= 'A' && name[0] <= 'Z')
    return true;
  static const char *const numbered[] = {"atom_", "met_", "idle_", "sure_"};
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (!strncmp(name, numbered[i], strlen(numbered[i])) && strspn(name + strlen(numbered[i]), "0123456789") > 0)
      return true;
  size_t digits = strspn(name + 1, "0123456789"); /* t1, j1, r1_...: names that printers generate */
  return strchr("tjr", name[0]) && digits > 0 && (name[1 + digits] == '\0' || name[0] == 'r');
}

const char *process_name(struct model_lowering *l, uint32_t p) {
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, p)];
  return arena_printf(l->base.arena, "%s_%u", role->name, p - role->first + 1);
}

/* Internal names such as `once 1` may contain characters that no target language allows. */
const char *plain_name(struct model_lowering *l, const char *name) {
  char *copy = arena_printf(l->base.arena, "%s", name);
  for (char *s = copy; *s; s++)
    if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9')))
      *s = '_';
  return copy;
}

const char *property_name(struct model_lowering *l, const char *name) {
  return is_reserved_word(name) ? property_name(l, arena_printf(l->base.arena, "%s_", name)) : name;
}

static const char *free_name(struct model_lowering *l, const char *name) {
  bool taken = is_reserved_word(name);
  for (size_t i = 0; i < l->program->variables.n && !taken; i++)
    taken = !strcmp(l->program->variables.at[i].name, name);
  for (uint32_t i = 0; i < l->base.model->nproperties && !taken; i++)
    taken = !strcmp(l->base.model->properties[i].name, name);
  return taken ? free_name(l, arena_printf(l->base.arena, "%s_", name)) : name;
}

/* --- variables --- */

uint32_t variable_new(struct model_lowering *l, const char *name, bool is_truth, int64_t lo, int64_t hi, bool visible,
                      const char *comment) {
  struct state_variable cell = {.name = free_name(l, plain_name(l, name)),
                                .truth = is_truth,
                                .lo = lo,
                                .hi = hi,
                                .visible = visible,
                                .comment = comment};
  vec_push(&l->program->variables, cell);
  return (uint32_t)l->program->variables.n - 1;
}

expr_id variable_expr(struct model_lowering *l, uint32_t cell) {
  const struct state_variable *c = &l->program->variables.at[cell];
  return expr_variable(l->base.graph, cell, c->truth, c->truth ? 0 : c->lo, c->truth ? 1 : c->hi);
}

static expr_id boolean_variable(struct model_lowering *l, uint32_t p, const char *what) {
  const char *name = arena_printf(l->base.arena, "%s_%s", process_name(l, p), what);
  return variable_expr(l, variable_new(l, name, true, 0, 1, true, NULL));
}

static void bounds(struct model_lowering *l, const struct type *t, int64_t *lo, int64_t *hi) {
  *lo = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
  *hi = t->kind == TYPE_RANGE   ? t->hi
        : t->kind == TYPE_ROUND ? (int64_t)l->max_rounds + 2
                                : *lo + (int64_t)t->count - 1;
}

static const char *labels_of(struct model_lowering *l, const struct type *t) {
  struct text out = {0};
  for (uint32_t i = 0; t->kind == TYPE_ENUM && i < t->size; i++)
    text_addf(&out, "%s%u: %s", i ? ", " : "", i, t->labels[i]);
  for (uint64_t i = 0; t->kind == TYPE_PROCESS && i < t->count; i++)
    text_addf(&out, "%s%lld: %s", i ? ", " : "", (long long)(t->first + (int64_t)i),
              process_name(l, (uint32_t)(t->first + (int64_t)i)));
  const char *copy = out.n ? arena_printf(l->base.arena, "%s", out.at) : NULL;
  text_release(&out);
  return copy;
}

/* The part of a name that represents an index or a member of a set. */
static const char *key_of(struct model_lowering *l, const struct type *t, value v, uint64_t ordinal) {
  if (t->kind == TYPE_PROCESS)
    return process_name(l, (uint32_t)v);
  if (t->kind == TYPE_ENUM)
    return t->labels[v];
  if (t->kind == TYPE_BOOL)
    return v ? "true" : "false";
  if (t->kind == TYPE_RANGE)
    return arena_printf(l->base.arena, v < 0 ? "m%lld" : "%lld", (long long)(v < 0 ? -v : v));
  return arena_printf(l->base.arena, "%llu", (unsigned long long)ordinal + 1);
}

static truth declare_truth(struct model_lowering *l, const char *name, bool visible, const char *comment) {
  return variable_expr(l, variable_new(l, name, true, 0, 1, visible, comment));
}

static struct number declare_number(struct model_lowering *l, const char *name, int64_t lo, int64_t hi, bool visible,
                                    const char *comment) {
  return number_at(l->base.graph, variable_expr(l, variable_new(l, name, false, lo, hi, visible, comment)));
}

static struct sym_value *declare_set(struct model_lowering *l, const char *name, const struct type *t, bool visible) {
  const struct type *element = t->element;
  struct values *values = &l->base.model->values;
  struct sym_value *s = sym_whole_set(&l->base, element);
  for (uint32_t i = 0; i < s->n; i++) {
    value v = element->kind == TYPE_PROCESS ? (value)i : type_nth(values, element, i);
    if (!type_has(values, element, v)) /* a process of another role */
      continue;
    struct text member = {0};
    value_print(values, l->base.model, element, v, &member);
    const char *comment = arena_printf(l->base.arena, "%s in %s", text_or_empty(&member), name);
    text_release(&member);
    s->has[i] =
        declare_truth(l, arena_printf(l->base.arena, "%s_%s", name, key_of(l, element, v, i)), visible, comment);
  }
  return s;
}

static struct sym_value *declare_value(struct model_lowering *, const char *name, const struct type *, struct span,
                                       bool visible);

/* The parts of a record, an array or a sequence. */
static struct sym_value *declare_parts(struct model_lowering *l, const char *name, const struct type *t, struct span at,
                                       bool visible) {
  bool sequence = t->kind == TYPE_SEQUENCE;
  struct sym_value *s =
      sym_parts(&l->base, sequence ? SYM_SEQUENCE : SYM_PARTS, sequence ? (uint64_t)t->hi : part_count(t));
  if (sequence)
    s->number = declare_number(l, arena_printf(l->base.arena, "%s_length", name), 0, t->hi, visible, NULL);
  for (uint32_t i = 0; i < s->n; i++) {
    const char *suffix = t->kind == TYPE_RECORD ? t->fields[i].name
                         : sequence             ? arena_printf(l->base.arena, "%u", i + 1)
                                                : key_of(l, t->index, type_nth(&l->base.model->values, t->index, i), i);
    const char *part = arena_printf(l->base.arena, "%s_%s", name, suffix);
    s->part[i] = declare_value(l, part, sequence ? t->element : part_type(t, i), at, visible);
  }
  return s;
}

/* Variables for a value. It is canonical: rules keep the first value of its type where an element is absent. */
static struct sym_value *declare_value(struct model_lowering *l, const char *name, const struct type *t, struct span at,
                                       bool visible) {
  struct sym_value *s = NULL;
  int64_t lo, hi;
  l->base.at = at;
  if (l->program->variables.n > VARIABLES_MOST)
    refuse(l, at, "more than %d variables are too many to be written out one by one", VARIABLES_MOST);
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(&l->base, declare_truth(l, name, visible, NULL));
  case TYPE_INT:
    refuse(l, at, "a number without bound cannot be written in this format");
  case TYPE_OPTION: {
    truth there = declare_truth(l, arena_printf(l->base.arena, "%s_is", name), visible, "is there one");
    s = sym_option(&l->base, there, declare_value(l, name, t->element, at, visible));
    break;
  }
  case TYPE_SET:
    s = declare_set(l, name, t, visible);
    break;
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    s = declare_parts(l, name, t, at, visible);
    break;
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    if (t->kind == TYPE_ROUND && !l->max_rounds)
      refuse(l, at, "round numbers have no bound: --max-rounds gives them one");
    bounds(l, t, &lo, &hi);
    return sym_number(&l->base, declare_number(l, name, lo, hi, visible, labels_of(l, t)));
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  if (!s)
    refuse_unknown_type(&l->base);
  s->layout = t;
  return s;
}

/* --- contents of a state --- */

static bool properties_mention(const struct model_lowering *l, enum op op) {
  for (size_t i = 0; i < l->program->properties.n; i++)
    if (contains_op(l->base.model, l->program->properties.at[i].property->formula, op))
      return true;
  return l->program->live.property && contains_op(l->base.model, l->program->live.property->formula, op);
}

static bool clauses_mention(const struct model_lowering *l, enum op op) {
  const struct environment *env = l->program->environment;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if ((env->clauses[i].kind == CLAUSE_EVERY || env->clauses[i].kind == CLAUSE_FROM_ROUND ||
         (l->program->live.property && clause_is_of_runs(&env->clauses[i]))) &&
        contains_op(l->base.model, env->clauses[i].pred, op))
      return true;
  return false;
}

static bool may_be(const struct model_lowering *l, uint32_t role, enum clause_kind kind,
                   bool (*what)(const struct clause *)) {
  const struct environment *env = l->program->environment;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == kind && c->limit > 0 && (c->role == ROLE_ANY || c->role == role) && (!what || what(c)))
      return true;
  }
  return false;
}

static bool omits_send(const struct clause *c) { return c->omits_send; }
static bool omits_receive(const struct clause *c) { return c->omits_receive; }
static bool recovers(const struct clause *c) { return c->recovers; }

static expr_id status_variable(struct model_lowering *l, bool wanted, uint32_t p, const char *name) {
  return wanted ? boolean_variable(l, p, name) : EXPR_FALSE;
}

static const char *place_of(struct model_lowering *l, struct span at) {
  uint32_t line, column;
  source_place(&l->base.model->source, at.from, &line, &column);
  return arena_printf(l->base.arena, "line %u", line);
}

static void declare_process(struct model_lowering *l, uint32_t p, bool initials) {
  uint32_t r = model_role_of(l->base.model, p);
  const struct role *role = &l->base.model->roles[r];
  struct sym_process *s = &l->now.of[p];
  s->vars = arena_array(l->base.arena, role->nvars + 1, sizeof *s->vars);
  s->initial = arena_array(l->base.arena, role->nvars + 1, sizeof *s->initial);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    const char *name = arena_printf(l->base.arena, "%s_%s", process_name(l, p), v->name);
    size_t first = l->program->variables.n;
    s->vars[i] = declare_value(l, name, v->type, v->at, true);
    if (first < l->program->variables.n && !l->program->variables.at[first].comment)
      l->program->variables.at[first].comment = place_of(l, v->at);
    if (initials && v->kind == VAR_INPUT)
      s->initial[i] = declare_value(l, arena_printf(l->base.arena, "%s_initial", name), v->type, v->at, true);
  }
  s->halted = status_variable(l, role_halts(l->base.model, role), p, "halted");
  s->crashed = status_variable(l, may_be(l, r, CLAUSE_CRASH, NULL), p, "crashed");
  s->recovered = status_variable(l, may_be(l, r, CLAUSE_CRASH, recovers), p, "recovered");
  s->omits_send = status_variable(l, may_be(l, r, CLAUSE_OMIT, omits_send), p, "omits_send");
  s->omits_receive = status_variable(l, may_be(l, r, CLAUSE_OMIT, omits_receive), p, "omits_receive");
  s->byzantine = status_variable(l, may_be(l, r, CLAUSE_BYZANTINE, NULL), p, "byzantine");
}

static bool endless(const struct model *m) {
  for (uint32_t i = 0; i < m->npoints; i++)
    if (m->points[i].endless)
      return true;
  return false;
}

/* The number of completed rounds follows from the next round, unless the schedule is infinite. */
static void declare_schedule(struct model_lowering *l) {
  struct expr_graph *c = l->base.graph;
  const struct model *m = l->base.model;
  bool ever = endless(m);
  l->phase_variable = l->rounds_variable = l->point_variable = UINT32_MAX;
  if (m->npoints > 1 || !ever)
    l->point_variable = variable_new(l, "point", false, 0, ever ? m->npoints - 1 : m->npoints, false,
                                     ever ? "the round to come"
                                          : arena_printf(l->base.arena, "the round to come; %u: the end", m->npoints));
  bool phase =
      ever && (rounds_contain_op(m, NODE_PHASE) || properties_mention(l, NODE_PHASE) || clauses_mention(l, NODE_PHASE));
  bool rounds = ever && (properties_mention(l, NODE_ROUND_NUMBER) || clauses_mention(l, NODE_ROUND_NUMBER));
  if (phase && !l->max_rounds)
    refuse(l, l->base.model->roles[0].at, "the numbers of phases have no bound: --max-rounds gives them one");
  if (rounds && !l->max_rounds)
    refuse(l, l->base.model->roles[0].at, "the number of rounds has no bound: --max-rounds gives it one");
  if (phase)
    l->phase_variable = variable_new(l, "phase", false, 1, (int64_t)l->max_rounds + 2, false, NULL);
  int64_t most = ever && l->max_rounds && (rounds || !phase) ? l->max_rounds : 0;
  const struct environment *env = l->program->environment;
  for (uint32_t i = 0; i < env->nclauses && ever; i++)
    if (env->clauses[i].kind == CLAUSE_FROM_ROUND && env->clauses[i].from > most)
      most = env->clauses[i].from;
  if (most > 0)
    l->rounds_variable = variable_new(l, "rounds", false, 0, most, false, "rounds done, no further than that");
  expr_id done = l->rounds_variable != UINT32_MAX ? variable_expr(l, l->rounds_variable) : expr_number(c, 0);
  if (!ever) {
    expr_id point = variable_expr(l, l->point_variable);
    done = expr_number(c, m->npoints);
    for (uint32_t i = m->npoints; i-- > 0;)
      done = expr_ite(c, expr_equal(c, point, expr_number(c, i)), expr_number(c, m->points[i].number - 1), done);
  }
  l->now.rounds = number_at(c, done);
  if (phase)
    l->now.phase = number_at(c, variable_expr(l, l->phase_variable));
}

static int64_t budget(const struct model_lowering *l, enum clause_kind kind) {
  const struct environment *env = l->program->environment;
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind && env->clauses[i].per == PER_RUN && env->clauses[i].limit < least)
      least = env->clauses[i].limit;
  return least == INT64_MAX ? -1 : least;
}

static uint32_t budget_variable(struct model_lowering *l, enum clause_kind kind, const char *name) {
  int64_t most = budget(l, kind);
  return most < 0 ? UINT32_MAX : variable_new(l, name, false, 0, most, false, "charged so far");
}

void declare_variables(struct model_lowering *l) {
  const struct model *m = l->base.model;
  l->program->started = variable_new(l, "started", true, 0, 1, false, "false before the initial state is chosen");
  l->program->variables.at[0].name = "started";
  l->now.phase = number_of(1);
  if (!model_steps(m))
    declare_schedule(l);
  else
    l->point_variable = l->phase_variable = l->rounds_variable = UINT32_MAX;
  l->now.of = arena_array(l->base.arena, m->nprocesses + 1, sizeof *l->now.of);
  l->now.globals = arena_array(l->base.arena, m->nglobals + 1, sizeof *l->now.globals);
  for (uint32_t i = 0; i < m->nglobals; i++)
    l->now.globals[i] = declare_value(l, m->globals[i].name, m->globals[i].type, m->globals[i].at, true);
  bool initials = properties_mention(l, NODE_INITIAL) || clauses_mention(l, NODE_INITIAL);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    declare_process(l, p, initials);
  l->lost_variable = budget_variable(l, CLAUSE_LOST, "lost");
  l->corrupted_variable = budget_variable(l, CLAUSE_CORRUPTED, "corrupted");
  l->duplicated_variable = budget_variable(l, CLAUSE_DUPLICATED, "duplicated");
  if (model_steps(m))
    channels_declare(l);
}
