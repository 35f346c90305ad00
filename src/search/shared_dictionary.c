/* The same names on all ranks. Rank 0 assigns them; every table lists them in the order of assignment. */
#include "search/ranks.h"

#include "base/hash.h"

#include <string.h>

/* In messages, a name consists of its table's number, the vector's length, and the vector. */
static void put(bytes *to, const void *at, size_t n) {
  vec_reserve(to, to->n + n + 1);
  if (n)
    memcpy(to->at + to->n, at, n);
  to->n += n;
}

static void put_vector(bytes *to, uint32_t table, const int64_t *at, size_t n) {
  uint32_t head[2] = {table, (uint32_t)n};
  put(to, head, sizeof head);
  put(to, at, n * sizeof *at);
}

struct vector_read {
  uint32_t table, n;
  int64_t *values; /* for memory_free */
};

static const uint8_t *get_vector(const uint8_t *at, struct vector_read *v) {
  uint32_t head[2];
  memcpy(head, at, sizeof head);
  *v = (struct vector_read){head[0], head[1], memory_alloc((head[1] + (size_t)1) * sizeof *v->values)};
  memcpy(v->values, at + sizeof head, v->n * sizeof *v->values);
  return at + sizeof head + v->n * sizeof *v->values;
}

/* --- assignment on rank 0 --- */

static void assign_name(struct ranks *r, uint32_t table, const int64_t *at, size_t n) {
  struct intern *t = r->tables[table].table;
  if (intern_find(t, at, n) != INTERN_NONE)
    return;
  vec_push(&r->given, ((struct dictionary_entry){table, intern_put_local(t, at, n)}));
  r->known = r->given.n;
}

static void put_given(const struct ranks *r, uint64_t from, bytes *to) {
  for (uint64_t i = from; i < r->given.n; i++) {
    const struct intern *t = r->tables[r->given.at[i].table].table;
    put_vector(to, r->given.at[i].table, intern_at(t, r->given.at[i].name), intern_length(t, r->given.at[i].name));
  }
}

/* A request contains the number of names known and the vector. */
void dictionary_answer(struct ranks *r, const uint8_t *request, size_t n, bytes *reply) {
  uint64_t known;
  struct vector_read v;
  (void)n;
  memcpy(&known, request, sizeof known);
  get_vector(request + sizeof known, &v);
  assign_name(r, v.table, v.values, v.n);
  memory_free(v.values);
  vec_clear(reply);
  put_given(r, known, reply);
}

/* --- learning names --- */

/* The first of them has number `from`; some may be known already. */
static void add_names(struct ranks *r, uint64_t from, const uint8_t *at, size_t n) {
  for (const uint8_t *end = at + n; at < end; from++) {
    struct vector_read v;
    at = get_vector(at, &v);
    if (from == r->known) {
      intern_put_local(r->tables[v.table].table, v.values, v.n);
      r->known++;
    }
    memory_free(v.values);
  }
}

static void name(void *context, const int64_t *at, size_t n) {
  struct shared_table *t = context;
  struct ranks *r = t->ranks;
  if (r->rank == 0) {
    assign_name(r, t->number, at, n);
    return;
  }
  vec_clear(&r->request);
  put(&r->request, &r->known, sizeof r->known);
  put_vector(&r->request, t->number, at, n);
  ranks_ask(r, &r->request, &r->reply);
  add_names(r, r->known, r->reply.at, r->reply.n);
}

static void broadcast_bytes(struct ranks *r, bytes *b) {
  uint64_t n = b->n;
  ranks_broadcast(r, 0, &n, sizeof n);
  b->n = memory_size(n);
  vec_reserve(b, b->n + 1);
  ranks_broadcast(r, 0, b->at, b->n);
}

void dictionary_catch_up(struct ranks *r, uint64_t behind, uint64_t given) {
  if (behind == given)
    return;
  vec_clear(&r->reply);
  if (r->rank == 0)
    put_given(r, behind, &r->reply);
  broadcast_bytes(r, &r->reply);
  if (r->rank != 0)
    add_names(r, behind, r->reply.at, r->reply.n);
}

void dictionary_synchronise(struct ranks *r) {
  ranks_barrier(r);
  uint64_t *all = memory_alloc(r->n * sizeof *all), behind = UINT64_MAX;
  ranks_allgather(r, &r->known, 1, all);
  for (uint32_t i = 0; i < r->n; i++)
    behind = all[i] < behind ? all[i] : behind;
  dictionary_catch_up(r, behind, all[0]);
  memory_free(all);
}

/* --- sharing and unsharing --- */

static uint64_t digest(const struct intern *t, uint64_t h) {
  h = hash_mix(h, intern_count(t));
  for (uint32_t i = 0; i < intern_count(t); i++)
    h = hash_mix(h, intern_hash(t, i));
  return h;
}

bool ranks_agree(struct ranks *r, uint64_t mine) {
  uint64_t *all = memory_alloc(r->n * sizeof *all);
  bool same = true;
  ranks_allgather(r, &mine, 1, all);
  for (uint32_t i = 0; i < r->n; i++)
    same &= all[i] == all[0];
  memory_free(all);
  return same;
}

bool ranks_all_ok(struct ranks *r, bool mine, struct text *why) {
  uint64_t length = mine ? 0 : why->n + 1, *all = memory_alloc(r->n * sizeof *all);
  uint32_t first = 0;
  ranks_allgather(r, &length, 1, all);
  while (first < r->n && all[first] == 0)
    first++;
  length = first < r->n ? all[first] : 0;
  memory_free(all);
  if (length == 0)
    return true;
  size_t size = memory_size(length);
  char *text = memory_alloc(size);
  memcpy(text, text_or_empty(why), r->rank == first ? size : 0);
  ranks_broadcast(r, first, text, size);
  text_release(why);
  text_add(why, text);
  memory_free(text);
  return false;
}

bool ranks_ready(struct ranks *r, struct intern *values) {
  if (!ranks_next_search(r))
    return false;
  uint64_t mine = intern_count(values), *all = memory_alloc(r->n * sizeof *all), least = mine;
  ranks_allgather(r, &mine, 1, all);
  for (uint32_t i = 0; i < r->n; i++)
    least = all[i] < least ? all[i] : least;
  vec_clear(&r->reply);
  for (uint64_t i = least; r->rank == 0 && i < mine; i++)
    put_vector(&r->reply, 0, intern_at(values, (uint32_t)i), intern_length(values, (uint32_t)i));
  broadcast_bytes(r, &r->reply);
  for (const uint8_t *at = r->reply.at; r->rank != 0 && at < r->reply.at + r->reply.n;) {
    struct vector_read v;
    at = get_vector(at, &v);
    intern_put_local(values, v.values, v.n);
    memory_free(v.values);
  }
  memory_free(all);
  if (ranks_agree(r, digest(values, 0)))
    r->broken = SEARCH_EXHAUSTED;
  else if (r->broken == SEARCH_EXHAUSTED)
    ranks_fail(r, "ranks disagree about the model");
  return true;
}

void dictionary_share(struct ranks *r, struct system *space) {
  struct intern *t = space->model->values.vectors;
  uint64_t all = 0;
  r->ntables = 0;
  while (r->ntables == 0 || (t = space->ops->ranks.names(space, r->ntables - 1))) {
    r->tables = memory_resize_array(r->tables, r->ntables + 1, sizeof *r->tables);
    r->tables[r->ntables] = (struct shared_table){r, t, r->ntables};
    all = digest(t, all);
    r->ntables++;
  }
  if (!ranks_agree(r, all))
    ranks_fail(r, "ranks disagree about names");
  for (uint32_t i = 0; i < r->ntables; i++)
    intern_set_resolver(r->tables[i].table, name, &r->tables[i]);
  r->known = 0;
  vec_clear(&r->given);
}

void dictionary_unshare(struct ranks *r) {
  for (uint32_t i = 0; i < r->ntables; i++)
    intern_set_resolver(r->tables[i].table, NULL, NULL);
  r->ntables = 0;
}

void ranks_release(struct ranks *r) {
  memory_free(r->tables);
  vec_release(&r->given);
  vec_release(&r->request);
  vec_release(&r->reply);
}
