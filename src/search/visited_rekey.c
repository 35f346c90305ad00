/* Copies a visited set to other keys. */
#include "base/memory.h"
#include "search/visited_records.h"

#include <assert.h>

/* Translates references from the old visited set to the new one. The parents of a partition's states come mostly in
   order, so a pair of readers advances with them. */
struct parent_follower {
  struct visited_reader from, to;
};

struct partition_copier {
  struct visited_reader from;
  struct parent_decoder parents;
  bool any;                         /* there is a state left to copy: from.ref */
  state_ref parent;                 /* of that state */
  struct parent_follower *follower; /* by partition */
};

/* A record that is not in the index yet; its bucket has been prefetched. */
struct unindexed_record {
  uint64_t hash;
  state_ref ref;
  uint32_t partition;
};
#define UNINDEXED_MAX 64

struct visited_copier {
  struct visited_set *from, *to;
  rekey_fn *rekey;
  void *context;
  struct partition_copier *partition;
  struct unindexed_record unindexed[UNINDEXED_MAX];
  uint32_t npending_index;
};

static void index_pending(struct visited_copier *c) {
  for (uint32_t i = 0; i < c->npending_index; i++)
    visited_index_record(c->to, c->unindexed[i].partition, c->unindexed[i].hash, c->unindexed[i].ref);
  c->npending_index = 0;
}

static void read_next(struct visited_copier *c, struct partition_copier *l) {
  l->any = visited_read(&l->from);
  if (l->any)
    l->parent = parent_decode_next(c->from, &l->parents, l->from.ref);
}

static bool is_copied(const struct visited_copier *c, state_ref ref) {
  const struct partition_copier *l = ref == STATE_REF_NONE ? NULL : &c->partition[visited_partition_of(c->from, ref)];
  return !l || !l->any || ref < l->from.ref;
}

static state_ref look_up(struct visited_copier *c, state_ref ref) {
  struct stored at = visited_get_key(c->from, ref);
  index_pending(c);
  const uint8_t *key = c->rekey(c->context, at.bytes, &at.length);
  return visited_lookup(c->to, key, at.length);
}

static state_ref parent_of(struct visited_copier *c, const struct partition_copier *l) {
  if (l->parent == STATE_REF_NONE)
    return STATE_REF_NONE;
  struct parent_follower *f = &l->follower[visited_partition_of(c->from, l->parent)];
  while (f->from.ref < l->parent && visited_read(&f->from))
    visited_read(&f->to);
  return f->from.ref == l->parent ? f->to.ref : look_up(c, l->parent);
}

static void copy(struct visited_copier *c, uint32_t partition) {
  struct partition_copier *l = &c->partition[partition];
  struct stored at = l->from.stored;
  state_ref parent = parent_of(c, l);
  const uint8_t *key = c->rekey(c->context, at.bytes, &at.length);
  uint64_t hash = key_hash(key, at.length);
  visited_prefetch_bucket(c->to, hash);
  state_ref ref = record_append(c->to, partition, key, at.length, parent, at.fault_cost);
  c->unindexed[c->npending_index++] = (struct unindexed_record){hash, ref, partition};
  if (c->npending_index == UNINDEXED_MAX)
    index_pending(c);
  read_next(c, l);
}

/* Parents first: a partition waits while the parent of its next state is still to be copied in another. */
static void copy_all(struct visited_copier *c) {
  for (bool any = true; any;) {
    any = false;
    for (uint32_t i = 0; i < c->from->partitions; i++)
      for (; c->partition[i].any && is_copied(c, c->partition[i].parent); any = true)
        copy(c, i);
  }
}

static struct visited_set *begin(struct visited_set *from) {
  struct visited_set *to = visited_new_unpartitioned();
  to->delta = true;
  to->high_load = (bool)from->high_load;
  visited_take_index(to, from);
  for (uint32_t i = 0; i < from->partitions; i++)
    visited_partition_begin(to, i);
  return to;
}

static void begin_lane(struct visited_copier *c, uint32_t partition) {
  uint32_t partitions = c->from->partitions;
  struct partition_copier *l = &c->partition[partition];
  l->from = visited_reader(c->from, visited_first_of(c->from, partition), visited_end_of(c->from, partition));
  l->follower = memory_alloc(partitions * sizeof *l->follower);
  for (uint32_t i = 0; i < partitions; i++)
    l->follower[i] =
        (struct parent_follower){visited_reader(c->from, visited_first_of(c->from, i), visited_end_of(c->from, i)),
                                 visited_reader(c->to, visited_first_of(c->to, i), STATE_REF_NONE)};
  read_next(c, l);
}

struct visited_set *visited_rekey(struct visited_set *from, rekey_fn *rekey, void *context) {
  assert(from->delta && !from->compaction);
  struct visited_copier c = {.from = from, .to = begin(from), .rekey = rekey, .context = context};
  c.partition = memory_alloc(from->partitions * sizeof *c.partition);
  for (uint32_t i = 0; i < from->partitions; i++)
    begin_lane(&c, i);
  copy_all(&c);
  index_pending(&c);
  for (uint32_t i = 0; i < from->partitions; i++)
    memory_free(c.partition[i].follower);
  memory_free(c.partition);
  return c.to;
}
