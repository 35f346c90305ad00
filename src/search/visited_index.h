/* Inside the visited set, for who looks up very many keys: the index and the records, and looking up without a call. */
#ifndef RONDO_SEARCH_VISITED_INDEX_H
#define RONDO_SEARCH_VISITED_INDEX_H

#include "search/visited_set.h"

#include <stdatomic.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* A record's position is the chunk's number, then the offset in it. */
#define CHUNK_BITS 21
#define CHUNK_SIZE ((size_t)1 << CHUNK_BITS)
#define PARENT_BYTES RECORD_PARENT_BYTES
#define FIRST 1 /* position 0 marks an empty slot of the index */

/* A slot of the index is 26 bits of the hash and the record's position. The segment comes from
   other bits, and a slot's home from the upper bits of the 26: a segment can grow without reading a
   single key. A home is a cache line of slots, filled from its start; what finds it full goes to the
   next line. Most look-ups touch one line. */
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
  uint32_t buckets; /* of slots */
  uint32_t used;    /* slots */
  uint32_t version; /* how often it has grown, from 1 */
};

/* What a thread changes with each record lies on a cache line of its own. */
struct record_chunk {
  _Alignas(64) uint32_t used;
  uint32_t next;   /* of its partition; 0: none yet */
  uint32_t pieces; /* allocated together with those after it; 0: the rest of a record longer than a chunk */
  uint32_t partition;
};
#define CHUNKS_MAX                                                                                                     \
  (1u << ((SIZE_MAX > UINT32_MAX ? POSITION_BITS : 32) -                                                               \
          CHUNK_BITS)) /* as many as there are, or as memory has room for */

struct visited_partition {
  _Alignas(64) uint32_t last; /* its chunk that is being filled */
  state_ref base;             /* delta records: the parent that the next one's is told from */
  _Atomic uint64_t count;
};

struct hash_compaction; /* search/hash_compaction.h */

struct visited_set {
  struct index_segment segment[SEGMENTS];
  struct record_chunk *chunks; /* CHUNKS_MAX of them, most never touched */
  uint8_t **pages;             /* and where they lie */
  _Atomic uint32_t nchunks;
  struct visited_partition partition[MAX_PARTITIONS];
  uint32_t partitions; /* that were begun */
  _Atomic size_t index_bytes;
  atomic_bool high_load;              /* see visited_raise_load */
  bool sequential_exact;              /* one thread has it for itself, and keys are whole */
  struct visited_sharing *sharing;    /* NULL: one thread */
  struct hash_compaction *compaction; /* NULL: records hold whole keys */
  bool delta;                         /* records are (search/visited_records.h) */
  uint32_t common_length;             /* then: the length of most keys; 0: there are none yet */
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

static inline uint64_t *wrapped(const struct index_segment *g,
                                uint64_t *slot) { /* behind the last one comes the first */
  return slot == g->slots + ((size_t)g->buckets << BUCKET_BITS) ? g->slots : slot;
}
static inline uint64_t *next_bucket(const struct index_segment *g, uint64_t *line) {
  return wrapped(g, line + BUCKET_SLOTS);
}
static inline uint64_t *next_slot(const struct index_segment *g, uint64_t *slot) { return wrapped(g, slot + 1); }

/* Looking a key up waits for memory twice. To look up many, ask for the index line of each, then for the record that
   each line names (visited_prefetch_record), then call visited_insert with what that answered: where it left off. The
   first can be asked from outside, too: if the segment is just growing it is asked for in vain. */
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

/* Where a look left off: a slot such that those from the home line up to it are not the key's, and the version of the
   segment, for slots move when it grows. 0: nobody has looked. */
#define PROBE_VERSION_SHIFT 32
#define PROBE_CONTINUES                                                                                                \
  (UINT64_C(1) << 31) /* it is the first one of a line that was asked for, to be looked at, too                        \
                       */
#define PROBE_SLOT_MASK (PROBE_CONTINUES - 1)

static inline uint64_t *probe_start(const struct index_segment *g, uint64_t tag, uint64_t probe_position) {
  return probe_position >> PROBE_VERSION_SHIFT == g->version ? g->slots + (probe_position & PROBE_SLOT_MASK)
                                                             : home_bucket(g, tag);
}

/* The first slot of a line that is empty or has the tag; BUCKET_SLOTS: there is none. All are looked at at once: where
   to stop nobody could tell beforehand. What others write into other slots meanwhile does not matter. */
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

/* Looks at one line, and asks for what is needed next: the record that it names, or the next line. */
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
    __builtin_prefetch(record); /* in vain if there is none: who could tell? */
    __builtin_prefetch(record + (s->common_length ? s->common_length : 16)); /* it may lie across two buckets */
  }
  return (uint64_t)g->version << PROBE_VERSION_SHIFT | looks_on | (uint64_t)(slot - g->slots);
}

/* --- visited_set.c, for hash_compaction.c, visited_save.c and visited_rekey.c --- */

struct visited_set *visited_new_unpartitioned(void);
void visited_take_index(struct visited_set *, struct visited_set *from); /* all slots of which are empty then */
void visited_index_record(struct visited_set *, uint32_t partition, uint64_t hash,
                          state_ref); /* a record that is not in the index */

void visited_slot_filled(struct visited_set *, uint32_t partition, struct index_segment *); /* a slot of it */

#endif
