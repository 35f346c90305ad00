/* Inside the space of fine-grained rounds: each process is in a round of its own (sem/fine.h). A state holds where
   everybody is, rounds counted from the last live process on, and what is left of rounds that somebody has yet to end.
   There are two ways to know that much:
     whole   whole rounds are agreed on as soon as the first process ends one, as the reference would do them; the others
             follow. Works for every environment
     solo    each process picks what it hears, among what was sent so far, by itself: for environments that say nothing of
             two heard-of sets at once */
#ifndef RONDO_FINE_FINE_SPACE_H
#define RONDO_FINE_FINE_SPACE_H

#include "fine/fine.h"
#include "space/round_space.h"

#define WINDOW_MOST 62 /* rounds between the first and the last process that can be told apart */

struct whole;
struct solo;

struct fine_space {
  struct space base;
  struct round_space *rounds; /* tables of local steps, packing, properties; never searched */
  struct meaning *meaning;
  struct model *model;
  struct pack *pack;          /* that of rounds */
  uint32_t n;                 /* processes */
  uint32_t max_distance;
  uint32_t distance;          /* of the last state that was made */
  struct whole *whole;
  struct solo *solo;          /* NULL: the whole way is taken */
  const char *solo_refused;   /* why it is; the solo way may set it while it is taken */
  bool watched;               /* some property is about steps */
  struct global *view, *after;
  uint8_t *buffer, *best;     /* of keys */
  size_t capacity, view_capacity;
  uint8_t *view_buffer;
  uint8_t *farthest;          /* the key of base.farthest */
};

/* Where processes are: of n processes those that are live, with the rounds they have ended. False: they are further apart
   than asked for. */
bool fine_distance(struct fine_space *, const uint32_t *done, const bool *live);
/* The state (which may be overwritten) is none that the question is about any more: what it waits for has come. */
bool fine_is_over(struct fine_space *, struct global *view);
/* Of the last one, if the question is about its state (which may be overwritten). */
void fine_note_distance(struct fine_space *, struct global *view);
void fine_keep_farthest(struct fine_space *, const struct state *);

/* A step property that becoming `after` breaks, for process p of the view: bits by property of the question. */
uint64_t fine_broken(struct fine_space *, const struct global *view, uint32_t p, local_id after);

/* Every permutation of processes within roles that are alike; false: too many, or none is licensed. */
bool fine_permutations(const struct fine_space *, bool (*visit)(void *context, const uint32_t *order), void *context);

/* Everybody as it is in its own round; the state is the one that steps are taken from next. */
void fine_state_view(struct fine_space *, const struct state *, struct global *);
void fine_room(struct fine_space *, size_t bytes); /* of buffer and best */

/* To the next round of the schedule. */
void fine_go_on(const struct model *, uint32_t *point, value *phase, uint32_t *rounds);

/* whole.c */
struct whole *whole_new(struct fine_space *);
void whole_free(struct whole *);
size_t whole_memory(const struct whole *);
bool whole_initial(struct fine_space *, const struct global *, uint32_t faulty, emit_fn *, void *context);
bool whole_successors(struct fine_space *, const struct state *, emit_fn *, void *context);
void whole_view(struct fine_space *, const struct state *, struct global *);
/* The first state of the path is the one of this configuration. */
bool whole_concretise(struct fine_space *, const struct config *, const struct state *path, uint32_t n, const struct goal *,
                      struct run *);

/* solo.c, solo_heard.c, solo_run.c: likewise */
struct solo *solo_new(struct fine_space *);
void solo_free(struct solo *);
size_t solo_memory(const struct solo *);
bool solo_initial(struct fine_space *, const struct global *, uint32_t faulty, emit_fn *, void *context);
bool solo_successors(struct fine_space *, const struct state *, emit_fn *, void *context);
void solo_view(struct fine_space *, const struct state *, struct global *);
bool solo_concretise(struct fine_space *, const struct config *, const struct state *path, uint32_t n, const struct goal *,
                     struct run *);
const char *solo_refusal(struct fine_space *); /* why this way cannot be taken, NULL: it can */

#endif
