/* Heard-of sets in the local mode: which environments do not relate two heard-of sets, and what they allow while some
   processes have not reached the round. */
#include "async/async_local.h"

#include "interp/round_step.h"
#include "lockstep/expansion.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "model/node.h"

#include <string.h>

#define BIT(p) (1u << (p))

/* --- supported environments --- */

static bool speaks_of_faults(const struct node *n) { return n->op == NODE_CORRECT || n->op == NODE_FAULTY; }

static const char *rules_refusal(const struct rules *r) {
  bool correctness = false, counts = false;
  for (uint32_t i = 0; i < r->nfilters; i++) {
    correctness |= node_has(r->filters[i].whole, speaks_of_faults);
    counts |= r->filters[i].round;
  }
  if (r->plain)
    return r->plain;
  if (r->coupling != COUPLED_NOT || r->nosplit)
    return "the environment couples whom processes hear";
  if (r->corrupts)
    return "messages are made up or kept back";
  if (r->noracle_clauses)
    return "a condition does not say whom processes hear";
  if (correctness)
    return "whom a process may hear depends on who is correct";
  if (counts)
    return "whom a process may hear depends on the number of the round";
  return NULL;
}

/* Why processes cannot choose their heard-of sets independently; NULL: this clause lets them. */
static const char *clause_refusal(const struct clause *c) {
  switch (c->kind) {
  case CLAUSE_CRASH:
    return c->recovers ? "processes recover" : NULL;
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_FAIR:
    return NULL;
  case CLAUSE_SYNCHRONOUS:
  case CLAUSE_LOST:
    return "who does not arrive must be excused";
  case CLAUSE_OMIT:
  case CLAUSE_BYZANTINE:
  case CLAUSE_CORRUPTED:
  case CLAUSE_DUPLICATED:
  case CLAUSE_CHANNELS:
    break;
  }
  return "messages are made up or kept back";
}

const char *async_local_refusal(struct async_system *s) {
  const struct environment *env = s->rounds->env;
  const struct model *m = s->model;
  if (s->n > ASYNC_LOCAL_PROCESSES)
    return "there are many processes";
  if (s->pack->rank && !s->pack->kept.phase_period)
    return "local states hold numbers of rounds";
  for (uint32_t r = 0; r < m->nroles; r++)
    if (role_noracles(&m->roles[r]))
      return "there are oracles";
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const char *why = clause_refusal(&env->clauses[i]);
    if (why)
      return why;
  }
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t first = s->pack->kept.rounds ? 0 : m->points[p].number - 1, index;
    uint32_t last = s->pack->kept.rounds ? s->pack->kept.from_cap : first;
    for (uint32_t rounds = first; rounds <= last; rounds++) {
      const char *why = rules_refusal(lockstep_rules(s->rounds, p, rounds, NULL, &index));
      if (why)
        return why;
    }
  }
  return NULL;
}

/* --- heard-of sets --- */

struct heard_of_judge { /* the allowed sets in one round, if certain processes take part in it */
  struct async_system *system;
  const struct rules *rules;
  struct expansion x;
  struct unpacked_state *global;
  uint32_t present;
};

static void judge_init(struct heard_of_judge *j, struct async_system *s, uint32_t point, uint32_t rounds,
                       uint32_t globals, uint32_t present) {
  uint32_t index;
  j->system = s;
  j->present = present;
  j->global = global_new(s->pack);
  j->global->point = point;
  j->global->rounds = s->pack->kept.rounds ? rounds : 0;
  j->global->phase = 1;
  j->global->globals = globals;
  j->global->n = s->n;
  for (uint32_t p = 0; p < s->n; p++) {
    uint32_t role = model_role_of(s->model, p);
    j->global->at[p] =
        (struct member){present & BIT(p) ? s->local_mode->present[role] : s->local_mode->absent[role], 1};
  }
  j->rules = lockstep_rules(s->rounds, point, global_rounds(s->rounds, j->global), NULL, &index);
  j->x = (struct expansion){.system = s->rounds, .from = j->global, .rules = j->rules, .rules_index = index};
}

static void judge_release(struct heard_of_judge *j) {
  if (j->x.config)
    config_free(j->x.config);
  global_free(j->global);
}

/* Computes the heard-of sets allowed to p, one bit each, in the caller's memory. Returns whether there are any. */
static bool judge_sets(struct heard_of_judge *j, uint32_t p, uint64_t *sets) {
  struct async_system *s = j->system;
  uint32_t role = model_role_of(s->model, p), all = 1u << s->n;
  bool idle = !(j->present & BIT(p)), any = false;
  struct actor a = {.original = j->global->at[p].local,
                    .local = j->global->at[p].local,
                    .count = 1,
                    .role = role,
                    .process = p,
                    .origin = p,
                    .idle = idle};
  uint32_t allowed = allowed_sets(&j->x, &a);
  const value *bits = allowed ? intern_at(s->rounds->vectors, allowed - 1) : NULL;
  for (uint32_t i = 0; i <= all / 64; i++)
    sets[i] = 0;
  for (uint32_t set = 0; set < all; set++) {
    bool ok = !bits || (uint64_t)bits[set / 64] >> set % 64 & 1;
    uint32_t size = (uint32_t)__builtin_popcount(set);
    for (uint32_t i = 0; i < j->rules->nsizes && ok && !idle; i++)
      ok = j->rules->sizes[i].role != role || j->rules->sizes[i].ok[2 * (size_t)size + (set >> p & 1)];
    if (ok)
      sets[set / 64] |= UINT64_C(1) << set % 64;
    any |= ok;
  }
  return any;
}

static size_t set_words(const struct async_system *s) { return ((size_t)1 << s->n) / 64 + 1; }

static bool has_set(const uint64_t *sets, uint32_t set) { return sets[set / 64] >> set % 64 & 1; }

bool async_local_heard_of(struct async_system *s, uint32_t point, uint32_t rounds, uint32_t globals, uint32_t p,
                          uint32_t present, uint32_t senders, uint32_t heard, uint32_t *set) {
  struct heard_of_judge j;
  uint64_t *sets = memory_alloc(set_words(s) * sizeof *sets);
  bool found = false;
  judge_init(&j, s, point, rounds, globals, present);
  judge_sets(&j, p, sets);
  for (uint32_t x = 1u << s->n; x-- > 0 && !found;)
    if (has_set(sets, x) && (x & senders) == heard) {
      *set = x;
      found = true;
    }
  judge_release(&j);
  memory_free(sets);
  return found;
}

/* Are the sets allowed to q invariant under swapping two other processes of a role? */
static bool hears_alike(struct heard_of_judge *j, uint32_t q, uint64_t *sets) {
  const struct async_system *s = j->system;
  judge_sets(j, q, sets);
  for (uint32_t a = 0; a < s->n; a++)
    for (uint32_t b = a + 1; b < s->n; b++) {
      if (a == q || b == q || model_role_of(s->model, a) != model_role_of(s->model, b))
        continue;
      for (uint32_t set = 0; set < 1u << s->n; set++)
        if ((set >> a & 1) != (set >> b & 1) && has_set(sets, set) != has_set(sets, set ^ BIT(a) ^ BIT(b)))
          return false;
    }
  return true;
}

bool async_local_senders_alike(struct async_system *s, uint32_t point, uint32_t rounds, uint32_t globals) {
  struct unpacked_state at = {.point = point, .rounds = rounds};
  uint32_t index, known;
  lockstep_rules(s->rounds, point, global_rounds(s->rounds, &at), NULL, &index);
  if (memo_find(&s->local_mode->alike, index, globals, &known))
    return known;
  struct heard_of_judge j;
  uint64_t *sets = memory_alloc(set_words(s) * sizeof *sets);
  bool alike = s->rounds->form.group;
  judge_init(&j, s, point, rounds, globals, (1u << s->n) - 1);
  for (uint32_t r = 0; r < s->model->nroles; r++)
    alike &= s->rounds->local.updates[(size_t)r * s->model->npoints + point]->received <= RECEIVED_CONTENT;
  for (uint32_t q = 0; q < s->n && alike; q++)
    alike = hears_alike(&j, q, sets);
  judge_release(&j);
  memory_free(sets);
  memo_add(&s->local_mode->alike, index, globals, alike);
  return alike;
}

/* --- what is known about sends --- */

bool async_local_reaches(struct async_system *s, uint32_t sending, uint32_t from, uint32_t to) {
  const struct local_send_list *out = &s->rounds->local.round_sends.at[sending];
  for (size_t i = 0; i < out->n; i++)
    if (round_send_reaches(s->model, &out->at[i], from, to))
      return true;
  return false;
}

static bool look_fixed(void *context, const struct node *n) {
  bool *fixed = context;
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_ME:
  case NODE_LOOP:
  case NODE_PHASE:
  case NODE_NUMBER_OF:
  case NODE_PROCESS_AT:
  case NODE_ROLE_SET:
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_MOD:
  case NODE_UNION:
  case NODE_DIFFERENCE:
  case NODE_SET:
  case NODE_EQ:
  case NODE_NE:
  case NODE_IN:
  case NODE_NOT:
    return true;
  }
  *fixed = false;
  return false;
}

/* The value of an expression that does not depend on q's state; false: it does. */
static bool fixed_value(struct async_system *s, const struct node *n, uint32_t q, uint32_t point, value phase,
                        value *out) {
  struct eval e;
  jmp_buf failure;
  bool fixed = true;
  node_walk(n, look_fixed, &fixed);
  if (!fixed)
    return false;
  value *local = memory_alloc((s->interp->max_local + 1) * sizeof *local);
  local_begin(&e, s->interp, q, point, phase, local, NULL);
  e.failure = &failure;
  if (setjmp(failure) == 0)
    *out = eval_node(&e, n);
  else
    fixed = false;
  memory_free(local);
  return fixed;
}

/* Is some conjunct of the condition false in every state of q? */
static bool never_true(struct async_system *s, const struct node *n, uint32_t q, uint32_t point, value phase) {
  value v;
  if (n->op == NODE_AND)
    return never_true(s, n->kid[0], q, point, phase) || never_true(s, n->kid[1], q, point, phase);
  return fixed_value(s, n, q, point, phase, &v) && !v;
}

/* Does the send of q reach p in every state of q? *known is false if that depends on the state. */
static bool send_reaches(struct async_system *s, const struct send *send, uint32_t q, uint32_t p, uint32_t point,
                         value phase, bool *known) {
  struct local_send one = {.target = send->target, .to_role = send->to_role};
  *known = !send->guard.cond && !send->guard.ngen;
  if (send->guard.cond && never_true(s, send->guard.cond, q, point, phase))
    return false;
  if (send->to && !fixed_value(s, send->to, q, point, phase, &one.to)) {
    *known = false;
    return true;
  }
  return round_send_reaches(s->model, &one, q, p);
}

static enum sends sends_to(struct async_system *s, uint32_t q, uint32_t p, uint32_t point, value phase) {
  const struct body *b = &s->model->roles[model_role_of(s->model, q)].body[point];
  enum sends result = SENDS_NEVER;
  for (uint32_t i = 0; i < b->nsends; i++) {
    bool known, reaches = send_reaches(s, &b->sends[i], q, p, point, phase, &known);
    if (reaches && known)
      result = SENDS_SURELY;
    else if (reaches && result == SENDS_NEVER)
      result = SENDS_MAYBE;
  }
  return result;
}

static bool never_asked(struct async_system *s, uint32_t point, uint32_t rounds, uint32_t globals, uint32_t p,
                        uint32_t q) {
  struct heard_of_judge j;
  uint64_t *sets = memory_alloc(set_words(s) * sizeof *sets);
  bool ignored = true;
  judge_init(&j, s, point, rounds, globals, (1u << s->n) - 1);
  judge_sets(&j, q, sets);
  for (uint32_t set = 0; set < 1u << s->n && ignored; set++)
    ignored = has_set(sets, set) == has_set(sets, set ^ BIT(p));
  judge_release(&j);
  memory_free(sets);
  return ignored;
}

/* A process that never sends in that round can be heard whether or not it has arrived. */
bool async_local_ignores(struct async_system *s, uint32_t point, uint32_t rounds, value phase, uint32_t globals,
                         uint32_t p, uint32_t q) {
  return sends_to(s, p, q, point, phase) == SENDS_NEVER || never_asked(s, point, rounds, globals, p, q);
}

/* --- what a process may receive while others have not arrived --- */

struct round_presence { /* p is about to end its round; the fields are sets of processes */
  uint32_t p, point, rounds, globals;
  value phase;
  uint32_t here;        /* arrived and took part */
  uint32_t senders;     /* those of `here` that sent p a message */
  uint32_t behind;      /* not arrived yet */
  uint32_t there, gone; /* those of `behind` that promised to take part, and not to take part */
  uint32_t never,
      maybe; /* those of `behind` that would send p nothing, and that may send p something; the others surely send */
  uint32_t crashed;
};

static void presence_make(struct async_system *s, const struct async_local_state *l, uint32_t p,
                          struct round_presence *c) {
  uint32_t r = l->done[p];
  *c = (struct round_presence){.p = p, .globals = l->globals};
  c->point = async_local_point(s, l, r, &c->phase, &c->rounds);
  for (uint32_t q = 0; q < s->n; q++) {
    bool live = async_local_live(s, l, q);
    if (local_status(s->pack, l->local[q]) & STATUS_CRASHED)
      c->crashed |= BIT(q);
    if (l->done[q] > r || (live && l->done[q] == r)) {
      c->here |= BIT(q);
      if (l->sent[r][q] != SENT_IRRELEVANT && async_local_reaches(s, l->sent[r][q], q, p))
        c->senders |= BIT(q);
    } else if (live) {
      enum sends sends = sends_to(s, q, p, c->point, c->phase);
      c->behind |= BIT(q);
      if (l->gone[q] && l->gone[q] - 1 <= r)
        c->gone |= BIT(q);
      if (l->there[q] && l->there[q] - 1 >= r)
        c->there |= BIT(q);
      if (sends != SENDS_SURELY)
        *(sends == SENDS_NEVER ? &c->never : &c->maybe) |= BIT(q);
    }
  }
}

/* Is it possible that exactly these processes arrive? A process that cannot halt must crash in order not to arrive. */
static bool may_come(struct async_system *s, const struct round_presence *c, uint32_t coming) {
  if ((c->there & ~coming) || (c->gone & coming))
    return false;
  int64_t faulty[ASYNC_LOCAL_PROCESSES + 1] = {0};
  for (uint32_t q = 0; q < s->n; q++) {
    uint32_t role = model_role_of(s->model, q);
    bool misses = (c->behind & ~coming) >> q & 1;
    faulty[role] += (c->crashed >> q & 1) || (misses && !s->local_mode->halts[role]);
  }
  if (c->behind == coming)
    return true;
  return faults_within(s->model, s->rounds->env, CLAUSE_CRASH, faulty);
}

/* Projects the allowed sets that do not intersect `out` to `senders`. */
static void project(const struct async_system *s, const uint64_t *sets, uint32_t senders, uint32_t out, uint64_t *to) {
  memset(to, 0, set_words(s) * sizeof *to);
  for (uint32_t set = 0; set < 1u << s->n; set++)
    if (!(set & out) && has_set(sets, set))
      to[(set & senders) / 64] |= UINT64_C(1) << (set & senders) % 64;
}

static bool all_may_go_on(struct heard_of_judge *j, uint64_t *sets) {
  for (uint32_t q = 0; q < j->system->n; q++)
    if (!judge_sets(j, q, sets))
      return false;
  return true;
}

struct permission_builder {
  struct async_system *system;
  const struct round_presence *presence;
  size_t words;
  uint64_t *sets, *heard, *other, *always;
  VEC(struct permission) found;
  VEC(uint32_t) viable;
  bool always_viable, unknown;
};

/* What p may receive if exactly these processes arrive. */
static void permissions_if_coming(struct permission_builder *w, uint32_t coming) {
  struct async_system *s = w->system;
  const struct round_presence *c = w->presence;
  struct heard_of_judge j;
  judge_init(&j, s, c->point, c->rounds, c->globals, c->here | coming);
  if (all_may_go_on(&j, w->sets)) {
    judge_sets(&j, c->p, w->sets);
    project(s, w->sets, c->senders, coming & ~c->never, w->heard);
    project(s, w->sets, c->senders, coming & ~c->never & ~c->maybe, w->other);
    w->unknown |= memcmp(w->heard, w->other, w->words * sizeof *w->heard) != 0;
    for (size_t i = 0; i < w->words; i++)
      w->always[i] &= w->heard[i];
    vec_push(&w->viable, coming);
    vec_push(&w->found,
             ((struct permission){coming, intern_put(s->local_mode->vectors, (const value *)w->heard, w->words)}));
  } else {
    w->always_viable = false;
    memset(w->always, 0, w->words * sizeof *w->always);
  }
  judge_release(&j);
}

/* First what may be received whoever arrives, then the rest. */
static struct permissions permissions_collect(struct permission_builder *w) {
  struct async_local *async_local = w->system->local_mode;
  VEC(struct permission) all = {0};
  vec_push(&all, ((struct permission){w->presence->behind,
                                      intern_put(async_local->vectors, (const value *)w->always, w->words)}));
  for (size_t i = 0; i < w->found.n; i++) {
    const uint64_t *sets = (const uint64_t *)intern_at(async_local->vectors, w->found.at[i].sets);
    bool more = false;
    for (size_t k = 0; k < w->words; k++) {
      w->heard[k] = sets[k] & ~w->always[k];
      more |= w->heard[k] != 0;
    }
    if (more)
      vec_push(&all, ((struct permission){w->found.at[i].coming,
                                          intern_put(async_local->vectors, (const value *)w->heard, w->words)}));
  }
  struct permissions result = {
      .always = w->always_viable && w->viable.n,
      .at = arena_keep_array(&async_local->arena, all.at, all.n, sizeof *all.at),
      .n = (uint32_t)all.n,
      .viable = arena_keep_array(&async_local->arena, w->viable.at, w->viable.n, sizeof *w->viable.at),
      .nviable = (uint32_t)w->viable.n};
  vec_release(&all);
  return result;
}

static bool permissions_make(struct async_system *s, const struct round_presence *c, struct permissions *out) {
  size_t words = set_words(s);
  uint64_t *room = memory_alloc(4 * words * sizeof *room);
  struct permission_builder w = {.system = s,
                                 .presence = c,
                                 .words = words,
                                 .sets = room,
                                 .heard = room + words,
                                 .other = room + 2 * words,
                                 .always = room + 3 * words,
                                 .always_viable = true};
  memset(w.always, 0xff, words * sizeof *w.always);
  uint32_t coming = c->behind;
  while (true) { /* all subsets of those behind */
    if (may_come(s, c, coming))
      permissions_if_coming(&w, coming);
    if (coming == 0)
      break;
    coming = (coming - 1) & c->behind;
  }
  if (!w.viable.n)
    memset(w.always, 0, words * sizeof *w.always);
  if (!w.unknown)
    *out = permissions_collect(&w);
  vec_release(&w.found);
  vec_release(&w.viable);
  memory_free(room);
  return !w.unknown;
}

const struct permissions *async_local_permissions(struct async_system *s, const struct async_local_state *l,
                                                  uint32_t p) {
  struct async_local *async_local = s->local_mode;
  struct round_presence c;
  uint32_t index, id;
  presence_make(s, l, p, &c);
  struct unpacked_state at = {.point = c.point, .rounds = c.rounds};
  lockstep_rules(s->rounds, c.point, global_rounds(s->rounds, &at), NULL, &index);
  value key[] = {index, p, c.globals, c.here, c.senders, c.behind, c.there, c.gone, c.never, c.maybe, c.crashed};
  uint32_t name = intern_put(async_local->vectors, key, sizeof key / sizeof *key);
  if (!memo_find(&async_local->permissions_of, name, 0, &id)) {
    struct permissions made;
    if (!permissions_make(s, &c, &made)) {
      async_local_give_up(s, "who has not come to a round may or may not send something there");
      return NULL;
    }
    id = (uint32_t)async_local->permissions.n;
    vec_push(&async_local->permissions, made);
    memo_add(&async_local->permissions_of, name, 0, id);
  }
  return &async_local->permissions.at[id];
}
