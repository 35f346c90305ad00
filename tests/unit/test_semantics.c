/* M, M-MP and MP over the same text (Bokor, Serafini, Suri 2010), by plain search; and whether the judge of events and
   their enumeration agree. */
#include "step_text.h"

#include "base/hash.h"
#include "interp/events.h"
#include "short.h"

/* Messages that are looked at are taken, nothing is duplicated: Bokor's programs. */
static const char *const taking[] = {
    "algorithm Relay\nmessage a(v: 0..2), b\n"
    "process P[2] { var x: 0..2 = 0  start { send a(number(me)) to all }\n"
    "  on a(v) from q if v > x { x := v  send b to q }  on b once { send a(0) to others } }\n",
    "algorithm Count\nmessage vote(v: 0..1)\n"
    "process S[3] { step vote { send vote(pick(0..1)) to R } }\n"
    "process R[1] { var x: 0..3 = 0  step first on Q: 2 of vote(v) same v taken { x := |Q| }\n"
    "  step last on vote(v == 0) { x := 0  halt } or on Q: exactly 1 of vote taken { goto last } }\n",
    "algorithm Ring\nparam n = 3\nmessage token(id: 1..n)\n"
    "process P[n] ring { var leads: bool = false  start { send token(number(me)) to next }\n"
    "  on token(id) if id > number(me) { send token(id) to next }  on token(id < number(me)) {}\n"
    "  on token(id == number(me)) { leads := true } }\n",
    "algorithm Again\nmessage a, b\nshared g: 0..2 = 0\n"
    "process P[2] { stable s: 0..1 = 0  var x: 0..2 = 0\n"
    "  start { send a to others  send a to others }\n"
    "  on a if x < 2 { x := x + 1  s := 1  send b to all }\n"
    "  on b if g < 2 { g := g + 1 }  when x == 2 and s == 1 once { x := 0 } }\n",
    /* who crashes after a vote went out may give another one */
    "algorithm Vote\nmessage ask, grant\n"
    "process C[2] { var won: bool = false  start { send ask to V }  on grant { won := true } }\n"
    "process V[1] { stable given: bool = false  on ask from c if not given { given := true  send grant to c } }\n",
};

/* Some look at messages that stay. */
static const char *const looking[] = {
    "algorithm Echo\nmessage init(v: 0..1), echo(v: 0..1)\ninput x: 0..1\n"
    "process P[3] { var got: bool = false\n"
    "  step begin when me == P(1) { send init(x) to all }\n"
    "  on init(v) from q if q == P(1) once { send echo(v) to P(2) }\n"
    "  on Q: 2 of echo(v) same v if not got { got := v == x } }\n",
    "algorithm Mixed\nmessage a(v: 0..1)\n"
    "process S[2] { start { send a(0) to R  send a(1) to R } }\n"
    "process R[1] { var x: 0..2 = 0\n"
    "  on Q: 2 of a(v) same v { x := v + 1 }  on a(v) if v == 1 once { x := 0 }\n"
    "  when x == 2 { x := 1  send a(0) to me } }\n",
};

static const char *const environments[] = {
    "environment e { channels set }",
    "environment e { channels bag bound 2 }",
    "environment e { channels fifo bound 2 }",
    "environment e { channels set bound 1 }",
    "environment e { channels set; at most 1 messages are lost }",
    "environment e { channels fifo bound 2; at most 1 messages are lost }",
    "environment e { channels set; at most 1 processes are byzantine }",
};

/* What an action gets may stay: then it has been delivered. */
static const char *const leaving[] = {
    "environment e { channels set; at most 1 processes crash }",
    "environment e { channels set bound 1; at most 1 processes crash and recover }",
    "environment e { channels fifo bound 2; at most 2 processes crash; at most 1 messages are lost }",
    "environment e { channels set; at most 1 messages are duplicated }",
    "environment e { channels bag bound 2; at most 2 messages are duplicated }",
    "environment e { channels fifo bound 2; at most 1 messages are duplicated; at most 1 messages are lost }",
};
#define LENGTH(list) (sizeof list / sizeof *list)

#define MOST 4000 /* configurations of a search: larger ones prove no more */

/* --- plain search --- */

struct graph {
  struct model *model;
  struct interpreter *interp;
  struct intern *names;
  VEC(struct config *) configs;
  uint64_t transitions;
  size_t from;
};

static void write_locals(const struct model *m, const struct config *c, struct intern *names, uint32_t *id,
                         bool everything) {
  VEC(value) v = {0};
  for (uint32_t i = 0; i < m->nglobals; i++)
    vec_push(&v, c->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < role_local_length(&m->roles[model_role_of(m, p)]); i++)
      vec_push(&v, c->local[p][i]);
  if (everything) {
    vec_push(&v, c->lost);
    vec_push(&v, c->duplicated);
    for (uint32_t i = 0; i < c->npackets; i++) {
      const struct packet *p = &c->packets[i];
      const value parts[] = {p->from, p->to, p->kind, (value)p->place, p->message};
      for (int k = 0; k < 5; k++)
        vec_push(&v, parts[k]);
    }
  }
  *id = intern_put(names, v.at, v.n);
  vec_release(&v);
}

static uint32_t config_name(const struct graph *g, const struct config *c) {
  uint32_t id;
  write_locals(g->model, c, g->names, &id, true);
  return id;
}

static bool found(struct graph *g, const struct config *c) {
  if (config_name(g, c) == g->configs.n)
    vec_push(&g->configs, config_copy(g->model, c));
  return g->configs.n < MOST;
}

static bool found_initial(void *context, const struct config *c) { return found(context, c); }

static bool found_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct graph *g = context;
  const struct config *from = g->configs.at[g->from];
  (void)error;
  assert_int_equal(result, STEP_OK);
  g->transitions++;
  /* the judge says the same, and so does the event carried out alone */
  const char *why = "";
  struct model_error ignored;
  struct witness *copy = witness_copy(g->model, w);
  struct config *again = config_new(g->model);
  bool allowed = config_allows(g->interp, 0, from, copy, &why);
  if (!allowed)
    print_error("not allowed: %s\n", why);
  assert_true(allowed);
  assert_int_equal(config_step(g->interp, 0, from, copy, again, NULL, &ignored), STEP_OK);
  assert_true(config_equal(g->model, again, next));
  config_free(again);
  witness_free(copy);
  return found(g, next);
}

/* False: too large. */
static bool explore(struct graph *g, struct model *m, enum semantics semantics, bool arrivals) {
  *g = (struct graph){.model = m, .interp = interpreter_new(m), .names = intern_new()};
  interpreter_follow(g->interp, semantics, arrivals);
  bool more = config_initials(g->interp, 0, found_initial, g, &(struct model_error){0});
  for (g->from = 0; g->from < g->configs.n && more; g->from++)
    more = config_successors(g->interp, 0, g->configs.at[g->from], found_step, g);
  return more;
}

static void graph_release(struct graph *g) {
  for (size_t i = 0; i < g->configs.n; i++)
    config_free(g->configs.at[i]);
  vec_release(&g->configs);
  intern_free(g->names);
  interpreter_free(g->interp);
}

/* --- Bokor's relations --- */

static bool same_channel(const struct packet *a, const struct packet *b) {
  return a->from == b->from && a->to == b->to;
}

static bool same_packet(const struct packet *a, const struct packet *b) {
  return same_channel(a, b) && a->kind == b->kind && a->message == b->message;
}

/* In how many ways the pending messages can be in transit or delivered: each message of a set; each number of equal
   ones of a bag; each beginning of a FIFO channel. */
static uint64_t ways(const struct graph *g, const struct config *c) {
  enum channel kind = environment_channels(&g->model->environments[0]).kind;
  uint64_t product = 1;
  for (uint32_t i = 0, run; i < c->npackets; i += run) {
    for (run = 1; i + run < c->npackets; run++)
      if (kind == CHANNEL_FIFO ? !same_channel(&c->packets[i], &c->packets[i + run])
                               : !same_packet(&c->packets[i], &c->packets[i + run]))
        break;
    assert_true(kind != CHANNEL_SET || run == 1);
    product *= run + 1;
  }
  return product;
}

static void assert_relations(const char *algorithm, const char *environment) {
  struct arena arena;
  arena_init(&arena);
  struct model *m = model_from(&arena, arena_printf(&arena, "%s%s", algorithm, environment), NULL, 0);
  struct graph in_m, in_m_mp, in_mp;
  assert_true(explore(&in_m, m, SEMANTICS_M, false));
  assert_true(explore(&in_m_mp, m, SEMANTICS_M_MP, false));
  assert_true(explore(&in_mp, m, SEMANTICS_MP, false));
  uint64_t sum = 0;
  for (size_t i = 0; i < in_m.configs.n; i++)
    sum += ways(&in_m, in_m.configs.at[i]);
  if (in_m_mp.configs.n != sum || in_mp.configs.n != sum)
    print_error("%s%s: %zu in M-MP, %zu in MP\n", algorithm, environment, in_m_mp.configs.n, in_mp.configs.n);
  assert_int_equal(in_m_mp.configs.n, sum);
  assert_int_equal(in_mp.configs.n, sum);
  for (size_t i = 0; i < in_mp.configs.n; i++)
    assert_true(config_name(&in_m_mp, in_mp.configs.at[i]) < sum);
  assert_true(in_mp.transitions < in_m_mp.transitions);
  graph_release(&in_m_mp);
  graph_release(&in_mp);
  graph_release(&in_m);
  model_free(m);
  arena_release(&arena);
}

static void test_relations(void **state) {
  (void)state;
  for (size_t a = 0; a < LENGTH(taking); a++)
    for (size_t e = a % one_in(); e < LENGTH(environments); e += one_in())
      assert_relations(taking[a], environments[e]);
}

/* --- the same states of processes, whatever the semantics --- */

static struct intern *projected(const struct graph *g) {
  struct intern *names = intern_new();
  for (size_t i = 0; i < g->configs.n; i++) {
    uint32_t id;
    write_locals(g->model, g->configs.at[i], names, &id, false);
  }
  return names;
}

static void assert_subset(const struct intern *a, const struct intern *b) {
  for (uint32_t i = 0; i < intern_count(a); i++)
    assert_true(intern_find(b, intern_at(a, i), intern_length(a, i)) != INTERN_NONE);
}

static void assert_same_processes(const char *algorithm, const char *environment) {
  struct arena arena;
  arena_init(&arena);
  struct model *m = model_from(&arena, arena_printf(&arena, "%s%s", algorithm, environment), NULL, 0);
  struct intern *first = NULL;
  for (int s = 0; s < 3; s++) {
    const enum semantics all[] = {SEMANTICS_M, SEMANTICS_M_MP, SEMANTICS_MP};
    struct graph g;
    if (explore(&g, m, all[s], false)) {
      struct intern *here = projected(&g);
      if (first) {
        assert_subset(first, here);
        assert_subset(here, first);
        intern_free(here);
      } else {
        first = here;
      }
    }
    graph_release(&g);
  }
  intern_free(first);
  model_free(m);
  arena_release(&arena);
}

static void test_same_processes(void **state) {
  (void)state;
  for (size_t e = 0; e < LENGTH(environments); e += one_in())
    for (size_t a = 0; a < LENGTH(looking); a++)
      assert_same_processes(looking[a], environments[e]);
  for (size_t e = 0; e < LENGTH(leaving); e++) {
    for (size_t a = 0; a < LENGTH(looking); a++)
      assert_same_processes(looking[a], leaving[e]);
    for (size_t a = 0; a < LENGTH(taking); a++)
      assert_same_processes(taking[a], leaving[e]);
  }
}

/* --- remembering the order of sending changes nothing else --- */

static int by_content(const void *a, const void *b, void *model) { return packet_compare(model, a, b); }

static void test_arrivals(void **state) {
  (void)state;
  const char *const env[] = {environments[0], environments[1], leaving[4]};
  for (size_t e = 0; e < LENGTH(env); e++) {
    struct arena arena;
    arena_init(&arena);
    struct model *m = model_from(&arena, arena_printf(&arena, "%s%s", looking[1], env[e]), NULL, 0);
    struct graph plain, ordered;
    bool small = explore(&plain, m, SEMANTICS_M, false);
    small &= explore(&ordered, m, SEMANTICS_M, true);
    assert_true(small);
    assert_true(plain.configs.n < ordered.configs.n);
    size_t n = plain.configs.n;
    VEC(bool) met = {0};
    for (size_t i = 0; i < n; i++)
      vec_push(&met, false);
    for (size_t i = 0; i < ordered.configs.n; i++) {
      struct config *c = ordered.configs.at[i];
      if (c->npackets)
        qsort_r(c->packets, c->npackets, sizeof *c->packets, by_content, m);
      uint32_t name = config_name(&plain, c);
      assert_true(name < n);
      met.at[name] = true;
    }
    for (size_t i = 0; i < n; i++)
      assert_true(met.at[i]);
    vec_release(&met);
    graph_release(&plain);
    graph_release(&ordered);
    model_free(m);
    arena_release(&arena);
  }
}

/* --- whatever the judge allows is enumerated --- */

struct successors {
  struct model *model;
  VEC(struct config *) next;
  VEC(struct witness *) witnesses;
};

static bool keep_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct successors *s = context;
  (void)error;
  (void)result;
  vec_push(&s->next, config_copy(s->model, next));
  vec_push(&s->witnesses, witness_copy(s->model, w));
  return s->next.n < 300;
}

struct dice {
  uint64_t seed;
};

static uint32_t roll(struct dice *d, uint64_t below) {
  d->seed = hash_mix(d->seed, 0x9e3779b97f4a7c15u);
  return below ? (uint32_t)(d->seed % below) : 0;
}

/* Something pending, or anything at all. */
static void take_something(struct dice *d, struct model *m, const struct config *c, struct event *e) {
  struct taken_message t = {.from = roll(d, m->nprocesses),
                            .place = (enum packet_place)roll(d, 3),
                            .forged = roll(d, 2),
                            .kept = roll(d, 4) == 0};
  uint32_t kind = roll(d, m->nmessages);
  t.message = type_nth(&m->values, m->messages[kind].type, roll(d, m->messages[kind].type->count));
  if (c->npackets && roll(d, 2)) {
    const struct packet *p = &c->packets[roll(d, c->npackets)];
    t = (struct taken_message){p->from, p->place, false, roll(d, 4) == 0, p->message};
  }
  if (e->kind != EVENT_DELIVER && e->kind != EVENT_LOSE)
    event_add_taken(e, t);
  else
    e->taken[0] = t;
}

static void change(struct dice *d, struct model *m, const struct config *c, struct event *e) {
  switch (roll(d, 9)) {
  case 0:
    e->process = roll(d, m->nprocesses);
    break;
  case 1:
    if (e->action != NO_ACTION)
      e->action = roll(d, 4);
    break;
  case 2:
    if (e->kind <= EVENT_CRASH && e->kind != EVENT_DELIVER && e->kind != EVENT_LOSE)
      e->kind = e->kind == EVENT_ACTION ? EVENT_CRASH : EVENT_ACTION;
    if (e->kind == EVENT_ACTION && e->action == NO_ACTION)
      e->action = roll(d, 4);
    break;
  case 3:
    if (e->kind == EVENT_DELIVER || e->kind == EVENT_LOSE)
      e->kind = e->kind == EVENT_LOSE ? EVENT_DELIVER : EVENT_LOSE;
    break;
  case 4:
    if (e->ntaken && e->kind != EVENT_DELIVER && e->kind != EVENT_LOSE)
      e->ntaken--;
    break;
  case 5:
    take_something(d, m, c, e);
    break;
  case 6:
    if (e->ntaken)
      e->taken[roll(d, e->ntaken)].kept ^= 1;
    break;
  case 7:
    if (e->kind == EVENT_CRASH)
      event_add_out(e, roll(d, 4));
    break;
  default:
    if (e->ntaken)
      e->taken[roll(d, e->ntaken)].place = (enum packet_place)roll(d, 3);
  }
}

static uint64_t try_changed(struct graph *g, const struct config *c, struct dice *d) {
  struct successors s = {.model = g->model};
  uint64_t accepted = 0;
  bool complete = config_successors(g->interp, 0, c, keep_step, &s);
  for (int i = 0; i < 60 && complete && s.witnesses.n; i++) {
    struct witness *w = witness_copy(g->model, s.witnesses.at[roll(d, s.witnesses.n)]);
    for (uint32_t n = 1 + roll(d, 3); n > 0; n--)
      change(d, g->model, c, w->event);
    const char *why;
    struct model_error error;
    struct config *next = config_new(g->model);
    if (config_allows(g->interp, 0, c, w, &why)) {
      bool known = false;
      assert_int_equal(config_step(g->interp, 0, c, w, next, NULL, &error), STEP_OK);
      for (size_t k = 0; k < s.next.n; k++)
        known |= config_equal(g->model, s.next.at[k], next);
      assert_true(known);
      accepted++;
    }
    config_free(next);
    witness_free(w);
  }
  for (size_t i = 0; i < s.next.n; i++) {
    config_free(s.next.at[i]);
    witness_free(s.witnesses.at[i]);
  }
  vec_release(&s.next);
  vec_release(&s.witnesses);
  return accepted;
}

static void test_changed_witnesses(void **state) {
  (void)state;
  struct dice d = {7};
  uint64_t accepted = 0;
  const char *const env[] = {environments[1], environments[3], environments[5], environments[6],
                             leaving[0],      leaving[1],      leaving[3],      leaving[5]};
  for (size_t a = 0; a < LENGTH(taking) + LENGTH(looking); a++)
    for (size_t e = 0; e < LENGTH(env); e++) {
      struct arena arena;
      arena_init(&arena);
      const char *text = a < LENGTH(taking) ? taking[a] : looking[a - LENGTH(taking)];
      struct model *m = model_from(&arena, arena_printf(&arena, "%s%s", text, env[e]), NULL, 0);
      struct graph g;
      explore(&g, m, (enum semantics)(SEMANTICS_M + roll(&d, 3)), roll(&d, 2));
      for (size_t i = 0; i < g.configs.n; i += 1 + g.configs.n / 40)
        accepted += try_changed(&g, g.configs.at[i], &d);
      graph_release(&g);
      model_free(m);
      arena_release(&arena);
    }
  assert_true(accepted > 1000); /* or nothing was tried */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_relations),
      cmocka_unit_test(test_same_processes),
      cmocka_unit_test(test_arrivals),
      cmocka_unit_test(test_changed_witnesses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
