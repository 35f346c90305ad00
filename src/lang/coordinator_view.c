#include "lang/coordinator_view.h"

#include <string.h>

struct coordinator_view {
  struct arena *arena;
  const struct ast *process; /* the only one */
  bool turns;                /* coordinators take turns */
  bool ages;                 /* there are variables of type round, used as ages can be */
  const char *phase;         /* the name of the number of the phase or pass that is being rewritten; or NULL */
  bool passes;               /* it counts passes */
};

/* ---- what there is ---- */

static bool is_segment(const struct ast *a) { return a->kind == AST_PHASE || a->kind == AST_REPEAT; }

static bool is_name(const struct ast *a, const char *name) {
  return a && name && a->kind == AST_NAME && strcmp(a->name, name) == 0;
}

static bool is_turn(const struct coordinator_view *v, const struct ast *a, const char *phase) {
  return a->kind == AST_CALL && a->n == 1 && strcmp(a->name, v->process->name) == 0 && is_name(a->kid[0], phase);
}

static bool has_turn(const struct coordinator_view *v, const struct ast *a, const char *phase) {
  bool found = a && phase && is_turn(v, a, phase);
  for (uint32_t i = 0; a && i < a->n && !found; i++)
    found = has_turn(v, a->kid[i], phase);
  return found;
}

/* Is the number of the phase only assigned, compared by == and !=, and used for whose turn it is? */
static bool is_age(const struct coordinator_view *v, const struct ast *a, const char *phase) {
  if (!a || is_turn(v, a, phase))
    return true;
  bool equality = a->kind == AST_RELATION && (a->op == OP_EQ || a->op == OP_NE), ok = !is_name(a, phase);
  for (uint32_t i = 0; i < a->n && ok; i++)
    ok = (is_name(a->kid[i], phase) && (equality || (a->kind == AST_ASSIGN && i == 1))) || is_age(v, a->kid[i], phase);
  return ok;
}

static bool is_store(const struct ast *a, enum ast_store store) {
  return a->kind == AST_STORE && a->number == (int64_t)store;
}

/* var ts: round = 0 */
static bool is_timestamp(const struct ast *a) {
  return is_store(a, STORE_VAR) && a->kid[1]->kind == AST_TYPE_ROUND && a->kid[2] && a->kid[2]->kind == AST_NUMBER &&
         a->kid[2]->number == 0;
}

static bool find_what(struct coordinator_view *v, const struct ast *file) {
  bool oracles = false, ages = true;
  for (uint32_t i = 0; i < file->n; i++)
    if (file->kid[i]->kind == AST_PROCESS) {
      if (v->process)
        return false;
      v->process = file->kid[i];
    }
  for (uint32_t i = 1; v->process && i < v->process->n; i++) {
    const struct ast *a = v->process->kid[i];
    if (!a)
      continue;
    oracles |= is_store(a, STORE_ORACLE);
    v->ages |= is_timestamp(a);
    if (is_segment(a))
      v->turns |= has_turn(v, a, a->name);
    if (a->kind == AST_PHASE && a->name)
      ages &= is_age(v, a, a->name);
  }
  v->turns &= !oracles;
  v->ages &= ages;
  return v->turns || v->ages;
}

/* ---- the copy ---- */

static struct ast *made(const struct coordinator_view *v, enum ast_kind kind, const char *name, uint32_t n) {
  struct ast *a = arena_alloc(v->arena, sizeof *a);
  *a = (struct ast){.kind = kind, .at = v->process->at, .word = v->process->word, .name = name, .n = n};
  a->kid = arena_array(v->arena, n + (size_t)1, sizeof *a->kid);
  return a;
}

static struct ast *named(const struct coordinator_view *v, enum ast_kind kind, const char *name) {
  return made(v, kind, name, 0);
}

static struct ast *with_kids(struct ast *a, struct ast *const *kids) {
  memcpy(a->kid, kids, a->n * sizeof *a->kid);
  return a;
}

static struct ast *unit_of_phase(const struct coordinator_view *v) {
  struct ast *unit = made(v, AST_UNIT, NULL, 0);
  unit->number = UNIT_PHASE;
  return unit;
}

/* oracle (coordinator): P each phase */
static struct ast *oracle(const struct coordinator_view *v) {
  struct ast *names = made(v, AST_NAMES, NULL, 1);
  names->kid[0] = named(v, AST_NAME, COORDINATOR_ORACLE);
  struct ast *store =
      with_kids(made(v, AST_STORE, NULL, 5),
                (struct ast *[]){names, named(v, AST_TYPE_NAME, v->process->name), NULL, NULL, unit_of_phase(v)});
  store->number = STORE_ORACLE;
  return store;
}

/* every phase: forall (p), (q) in P: (coordinator)[(p)] == (coordinator)[(q)] */
static struct ast *agreement(const struct coordinator_view *v) {
  static const char *const binders[] = {"(p)", "(q)"};
  struct ast *names = made(v, AST_NAMES, NULL, 2), *equal = made(v, AST_RELATION, NULL, 2);
  equal->op = OP_EQ;
  for (int i = 0; i < 2; i++) {
    names->kid[i] = named(v, AST_NAME, binders[i]);
    equal->kid[i] = with_kids(made(v, AST_INDEX, NULL, 2),
                              (struct ast *[]){named(v, AST_NAME, COORDINATOR_ORACLE), named(v, AST_NAME, binders[i])});
  }
  struct ast *generator =
      with_kids(made(v, AST_GENERATOR, NULL, 3), (struct ast *[]){names, named(v, AST_NAME, v->process->name), NULL});
  struct ast *all = with_kids(made(v, AST_QUANTIFIER, NULL, 2), (struct ast *[]){equal, generator});
  all->number = 1;
  return with_kids(made(v, AST_CLAUSE_EVERY, NULL, 2), (struct ast *[]){unit_of_phase(v), all});
}

/* type (age) = 0..2 */
static struct ast *age_type(const struct coordinator_view *v) {
  struct ast *low = made(v, AST_NUMBER, NULL, 0), *high = made(v, AST_NUMBER, NULL, 0);
  low->number = AGE_OLD;
  high->number = AGE_THIS_PHASE;
  struct ast *type = made(v, AST_TYPEDEF, AGE_TYPE, 1);
  type->kid[0] = with_kids(made(v, AST_TYPE_RANGE, NULL, 2), (struct ast *[]){low, high});
  return type;
}

static void put(struct ast *to, struct ast *kid) { to->kid[to->n++] = kid; }

static struct ast *copy(struct coordinator_view *v, const struct ast *a);

static void copy_kids(struct coordinator_view *v, const struct ast *from, struct ast *to) {
  uint32_t stores = 0;
  for (uint32_t i = 0; i < from->n; i++)
    if (from->kid[i] && (from->kid[i]->kind == AST_STORE || i < 2))
      stores = i + 1;
  to->kid = arena_array(v->arena, from->n + (size_t)2, sizeof *to->kid);
  to->n = 0;
  if (from->kind == AST_FILE && v->ages)
    put(to, age_type(v));
  for (uint32_t i = 0; i < from->n; i++) {
    put(to, copy(v, from->kid[i]));
    if (from == v->process && v->turns && i + 1 == (stores > 2 ? stores : 2))
      put(to, oracle(v));
  }
  if (from->kind == AST_ENVIRONMENT && v->turns)
    put(to, agreement(v));
}

static struct ast *copy(struct coordinator_view *v, const struct ast *a) {
  if (!a)
    return NULL;
  if (v->turns && v->phase && is_turn(v, a, v->phase)) {
    struct ast *who = named(v, AST_NAME, COORDINATOR_ORACLE);
    who->at = a->at;
    who->word = a->word;
    return who;
  }
  struct ast *b = arena_copy(v->arena, a, sizeof *a);
  if (v->ages && !v->passes && is_name(a, v->phase)) {
    b->kind = AST_NUMBER;
    b->name = NULL;
    b->number = AGE_THIS_PHASE;
    return b;
  }
  if (v->ages && a->kind == AST_TYPE_ROUND) {
    b->kind = AST_TYPE_NAME;
    b->name = AGE_TYPE;
    return b;
  }
  if (is_segment(a)) {
    v->phase = a->name;
    v->passes = a->kind == AST_REPEAT;
  }
  copy_kids(v, a, b);
  if (is_segment(a))
    v->phase = NULL;
  return b;
}

struct ast *coordinator_view(const struct ast *file, struct arena *arena) {
  struct coordinator_view v = {.arena = arena};
  return find_what(&v, file) ? copy(&v, file) : NULL;
}
