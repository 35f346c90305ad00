/* Internals of the visited set, for callers that look up very many keys: the layout of the index and the records, and
   inline look-ups. */
#ifndef RONDO_SEARCH_VISITED_INDEX_H
#define RONDO_SEARCH_VISITED_INDEX_H

#include "search/visited_set.h"

#include <stdatomic.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* A record's position (its state_ref) is the chunk number followed by the offset in the chunk. */
#define CHUNK_BITS 21
#define CHUNK_SIZE ((size_t)1 << CHUNK_BITS)
#define PARENT_BYTES RECORD_PARENT_BYTES
#define FIRST 1 /* position 0 marks an empty slot of the index */

/* An index slot holds 26 bits of the hash (the tag) and the record's position. Other bits of the hash select the
   segment, and the upper bits of the tag select the home bucket, so a segment can grow without reading a single key. A
   bucket is one cache line of slots and is filled from its start; an entry that finds its bucket full goes into the
   next bucket. Most look-ups touch one cache line. */
#define SEGMENT_BITS 3
#define SEGMENTS (1u << SEGMENT_BITS)
#define TAG_BITS 26
#define POSITION_BITS 38
#define POSITION_MASK ((UINT64_C(1) << POSITION_BITS) - 1)
#define BUCKET_BITS 3
#define BUCKET_SLOTS (1u << BUCKET_BITS)
#define FIRST_BUCKETS 8
#define BUCKETS_MAX (1u << (TAG_BITS - BUCKET_BITS))

struct index_segment {
  uint64_t *slots;
  uint32_t buckets; /* number of buckets */
  uint32_t used;    /* filled slots */
  uint32_t version; /* starts at 1, incremented whenever the segment grows */
};

/* The fields a thread writes with every record have a cache line of their own. */
struct record_chunk {
  _Alignas(64) uint32_t used;
  uint32_t next;   /* the next chunk of the same partition; 0: none yet */
  uint32_t pieces; /* chunks allocated together, starting with this one; 0: the continuation of a record longer than a
                      chunk */
  uint32_t partition;
};
/* Limited by POSITION_BITS, or by the address space. */
#define CHUNKS_MAX (1u << ((SIZE_MAX > UINT32_MAX ? POSITION_BITS : 32) - CHUNK_BITS))

struct visited_partition {
  _Alignas(64) uint32_t last; /* the chunk being filled */
  state_ref base;             /* delta records: the parent that the next record's parent is encoded relative to */
  _Atomic uint64_t count;
};

struct hash_compaction; /* search/hash_compaction.h */

struct visited_set {
  struct index_segment segment[SEGMENTS];
  struct record_chunk *chunks; /* CHUNKS_MAX of them, most never touched */
  uint8_t **pages;             /* the memory of each chunk */
  _Atomic uint32_t nchunks;
  struct visited_partition partition[MAX_PARTITIONS];
  uint32_t partitions; /* number of partitions in use */
  _Atomic size_t index_bytes;
  atomic_bool high_load;              /* see visited_raise_load */
  bool sequential_exact;              /* one thread only, and no hash compaction */
  struct visited_sharing *sharing;    /* NULL: one thread */
  struct hash_compaction *compaction; /* NULL: records hold the full keys */
  bool delta;                         /* delta records rather than plain ones (search/visited_records.h) */
  uint32_t common_length;             /* delta records: the length of most keys; 0: no key was stored yet */
};

static inline const struct index_segment *index_segment_of(const struct visited_set *s, uint64_t hash) {
  return &s->segment[hash >> (64 - SEGMENT_BITS)];
}

static inline uint64_t tag_of(uint64_t hash) { return (hash >> 16) & ((1u << TAG_BITS) - 1); }

static inline size_t home_slot(uint32_t buckets, uint64_t tag) {
  return (size_t)(tag * buckets >> TAG_BITS << BUCKET_BITS);
}
static inline uint64_t *home_bucket(const struct index_segment *g, uint64_t tag) {
  return &g->slots[home_slot(g->buckets, tag)];
}

static inline uint64_t *wrapped(const struct index_segment *g, uint64_t *slot) { /* wraps around at the end */
  return slot == g->slots + ((size_t)g->buckets << BUCKET_BITS) ? g->slots : slot;
}
static inline uint64_t *next_bucket(const struct index_segment *g, uint64_t *line) {
  return wrapped(g, line + BUCKET_SLOTS);
}
static inline uint64_t *next_slot(const struct index_segment *g, uint64_t *slot) { return wrapped(g, slot + 1); }

/* A look-up waits for memory twice. To look up many keys, prefetch the index bucket of each, then the record that each
   bucket refers to (visited_prefetch_record), then call visited_insert with the probe position that
   visited_prefetch_record returned. visited_prefetch_bucket may also be called outside visited_enter/visited_leave: if
   the segment is growing, the prefetch is merely useless. */
static inline void visited_prefetch_bucket(const struct visited_set *s, uint64_t hash) {
  const struct index_segment *g = index_segment_of(s, hash);
  uint64_t slots = (uint64_t)(uintptr_t)__atomic_load_n(&g->slots, __ATOMIC_RELAXED);
  __builtin_prefetch(
      (const void *)(uintptr_t)(slots + home_slot(__atomic_load_n(&g->buckets, __ATOMIC_RELAXED), tag_of(hash)) *
                                            sizeof *g->slots));
}

static inline uint8_t *record_at(const struct visited_set *s, state_ref ref) {
  return s->pages[ref >> CHUNK_BITS] + (ref & (CHUNK_SIZE - 1));
}

/* A probe position: the version of the segment and a slot. No slot from the home bucket up to this one holds the key.
   The version is needed because slots move when the segment grows. 0: not probed yet. */
#define PROBE_VERSION_SHIFT 32
#define PROBE_CONTINUES (UINT64_C(1) << 31) /* the slot begins a prefetched bucket, not examined yet */
#define PROBE_SLOT_MASK (PROBE_CONTINUES - 1)

static inline uint64_t *probe_start(const struct index_segment *g, uint64_t tag, uint64_t probe_position) {
  return probe_position >> PROBE_VERSION_SHIFT == g->version ? g->slots + (probe_position & PROBE_SLOT_MASK)
                                                             : home_bucket(g, tag);
}

/* Returns the first slot of a bucket that is empty or has the tag; BUCKET_SLOTS if there is none. It compares all slots
   at once, because a branch on where to stop would be unpredictable. Concurrent writes to other slots do no harm. */
#if defined(__AVX512F__) && !defined(__SANITIZE_THREAD__)
static inline uint32_t bucket_probe(const uint64_t *line, uint64_t tag) {
  __m512i slots = _mm512_loadu_si512(line), tags = _mm512_srli_epi64(slots, POSITION_BITS);
  uint32_t stops =
      (uint32_t)_mm512_cmpeq_epi64_mask(tags, _mm512_set1_epi64((int64_t)tag)) | _mm512_testn_epi64_mask(slots, slots);
  return (uint32_t)__builtin_ctz(stops | 1u << BUCKET_SLOTS);
}
#elif defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
static inline __m128i low_words(__m128i a, __m128i b) {
  return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88));
}
static inline __m128i probe_four(const uint64_t *line, __m128i tag) {
  __m128i a = _mm_loadu_si128((const __m128i *)line), b = _mm_loadu_si128((const __m128i *)(line + 2));
  __m128i tags = low_words(_mm_srli_epi64(a, POSITION_BITS), _mm_srli_epi64(b, POSITION_BITS));
  __m128i rest = low_words(_mm_or_si128(a, _mm_srli_epi64(a, 32)), _mm_or_si128(b, _mm_srli_epi64(b, 32)));
  return _mm_or_si128(_mm_cmpeq_epi32(tags, tag), _mm_cmpeq_epi32(rest, _mm_setzero_si128()));
}
static inline uint32_t bucket_probe(const uint64_t *line, uint64_t tag) {
  __m128i wanted = _mm_set1_epi32((int32_t)tag);
  __m128i stops = _mm_packs_epi32(probe_four(line, wanted), probe_four(line + 4, wanted));
  uint32_t which = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(stops, _mm_setzero_si128()));
  return (uint32_t)__builtin_ctz(which | 1u << BUCKET_SLOTS);
}
#else
static inline uint32_t bucket_probe(const uint64_t *line, uint64_t tag) {
  uint32_t i = 0;
  for (uint64_t slot;
       i < BUCKET_SLOTS && (slot = __atomic_load_n(&line[i], __ATOMIC_ACQUIRE)) != 0 && slot >> POSITION_BITS != tag;)
    i++;
  return i;
}
#endif
_Static_assert(BUCKET_SLOTS == 8, "as many as are looked at");

/* Examines one bucket, prefetches what is needed next (the record that the slot refers to, or the next bucket) and
   returns the probe position. */
static inline uint64_t visited_prefetch_record(const struct visited_set *s, uint64_t hash, uint64_t probe_position) {
  uint64_t tag = tag_of(hash);
  const struct index_segment *g = index_segment_of(s, hash);
  uint64_t *line = probe_start(g, tag, probe_position), looks_on = 0;
  uint32_t i = bucket_probe(line, tag);
  uint64_t *slot = line + i;
  if (i == BUCKET_SLOTS) {
    slot = next_bucket(g, line);
    __builtin_prefetch(slot);
    looks_on = PROBE_CONTINUES;
  } else {
    const uint8_t *record = record_at(s, __atomic_load_n(slot, __ATOMIC_ACQUIRE) & POSITION_MASK);
    __builtin_prefetch(record); /* useless if the slot is empty, but cheaper than a branch */
    __builtin_prefetch(record + (s->common_length ? s->common_length : 16)); /* the record may cross a cache line */
  }
  return (uint64_t)g->version << PROBE_VERSION_SHIFT | looks_on | (uint64_t)(slot - g->slots);
}

/* --- visited_set.c, for hash_compaction.c, visited_save.c and visited_rekey.c --- */

struct visited_set *visited_new_unpartitioned(void);
void visited_take_index(struct visited_set *, struct visited_set *from); /* takes over the index of `from`, emptied */
/* Adds a record that is not in the index yet. */
void visited_index_record(struct visited_set *, uint32_t partition, uint64_t hash, state_ref);

/* To be called after filling a slot. */
void visited_slot_filled(struct visited_set *, uint32_t partition, struct index_segment *);

#endif
