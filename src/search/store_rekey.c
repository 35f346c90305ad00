/* The states of a store under other keys. */
#include "base/memory.h"
#include "search/records.h"

#include <assert.h>

/* Where a state of one store is in the other: parents of the states of a lane come mostly in order, so one goes along with them. */
struct follower {
  struct store_reader from, to;
};

struct lane_copy {
  struct store_reader from;
  struct parents parents;
  bool any;         /* that is to be copied: from.ref */
  state_ref parent; /* of that */
  struct follower *follower; /* by lane */
};

/* What is not in the index yet: memory was asked for its place there. */
struct late {
  uint64_t hash;
  state_ref ref;
  uint32_t lane;
};
#define LATE 64

struct copying {
  struct store *from, *to;
  rekey_fn *rekey;
  void *context;
  struct lane_copy *lane;
  struct late late[LATE];
  uint32_t nlate;
};

static void index_late(struct copying *c) {
  for (uint32_t i = 0; i < c->nlate; i++)
    store_index(c->to, c->late[i].lane, c->late[i].hash, c->late[i].ref);
  c->nlate = 0;
}

static void read_next(struct copying *c, struct lane_copy *l) {
  l->any = store_read(&l->from);
  if (l->any)
    l->parent = parent_next(c->from, &l->parents, l->from.ref);
}

static bool is_copied(const struct copying *c, state_ref ref) {
  const struct lane_copy *l = ref == STORE_NONE ? NULL : &c->lane[store_lane(c->from, ref)];
  return !l || !l->any || ref < l->from.ref;
}

static state_ref look_up(struct copying *c, state_ref ref) {
  struct stored at = store_key(c->from, ref);
  index_late(c);
  const uint8_t *key = c->rekey(c->context, at.bytes, &at.length);
  return store_seek(c->to, key, at.length);
}

static state_ref parent_of(struct copying *c, const struct lane_copy *l) {
  if (l->parent == STORE_NONE)
    return STORE_NONE;
  struct follower *f = &l->follower[store_lane(c->from, l->parent)];
  while (f->from.ref < l->parent && store_read(&f->from))
    store_read(&f->to);
  return f->from.ref == l->parent ? f->to.ref : look_up(c, l->parent);
}

static void copy(struct copying *c, uint32_t lane) {
  struct lane_copy *l = &c->lane[lane];
  struct stored at = l->from.stored;
  state_ref parent = parent_of(c, l);
  const uint8_t *key = c->rekey(c->context, at.bytes, &at.length);
  uint64_t hash = store_hash(key, at.length);
  store_prefetch_index(c->to, hash);
  state_ref ref = record_append(c->to, lane, key, at.length, parent, at.charge);
  c->late[c->nlate++] = (struct late){hash, ref, lane};
  if (c->nlate == LATE)
    index_late(c);
  read_next(c, l);
}

/* Parents first: a lane waits where one is still to be copied in another. */
static void copy_all(struct copying *c) {
  for (bool any = true; any;) {
    any = false;
    for (uint32_t i = 0; i < c->from->lanes; i++)
      for (; c->lane[i].any && is_copied(c, c->lane[i].parent); any = true)
        copy(c, i);
  }
}

static struct store *begin(struct store *from) {
  struct store *to = store_without_lanes();
  to->terse = true;
  to->tight = (bool)from->tight;
  store_take_index(to, from);
  for (uint32_t i = 0; i < from->lanes; i++)
    lane_begin(to, i);
  return to;
}

static void begin_lane(struct copying *c, uint32_t lane) {
  uint32_t lanes = c->from->lanes;
  struct lane_copy *l = &c->lane[lane];
  l->from = store_reader(c->from, store_first_of(c->from, lane), store_end_of(c->from, lane));
  l->follower = memory_alloc(lanes * sizeof *l->follower);
  for (uint32_t i = 0; i < lanes; i++)
    l->follower[i] = (struct follower){store_reader(c->from, store_first_of(c->from, i), store_end_of(c->from, i)),
                                       store_reader(c->to, store_first_of(c->to, i), STORE_NONE)};
  read_next(c, l);
}

struct store *store_rekey(struct store *from, rekey_fn *rekey, void *context) {
  assert(from->terse && !from->compact);
  struct copying c = {.from = from, .to = begin(from), .rekey = rekey, .context = context};
  c.lane = memory_alloc(from->lanes * sizeof *c.lane);
  for (uint32_t i = 0; i < from->lanes; i++)
    begin_lane(&c, i);
  copy_all(&c);
  index_late(&c);
  for (uint32_t i = 0; i < from->lanes; i++)
    memory_free(c.lane[i].follower);
  memory_free(c.lane);
  return c.to;
}
