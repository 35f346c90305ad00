/* Inside the system of fine-grained rounds: each process is in a round of its own (interp/async_round.h). A state holds
   where everybody is, rounds counted from the last live process on, and what is left of rounds that somebody has yet to
   end. There are two ways to know that much: joint   joint rounds are agreed on as soon as the first process ends one,
   as the reference would do them; the others follow. Works for every environment local_mode    each process picks what
   it hears, among what was sent so far, by itself: for environments that say nothing of two heard-of sets at once */
#ifndef RONDO_ASYNC_ASYNC_SYSTEM_H
#define RONDO_ASYNC_ASYNC_SYSTEM_H

#include "async/async.h"
#include "lockstep/lockstep.h"

#define ASYNC_WINDOW_MAX 62 /* rounds between the first and the last process that can be told apart */

struct async_joint;
struct async_local;

struct async_system {
  struct system base;
  struct lockstep *rounds; /* tables of local steps, packing, properties; never searched */
  struct interpreter *interp;
  struct model *model;
  struct pack *pack; /* that of rounds */
  uint32_t n;        /* processes */
  uint32_t max_distance;
  uint32_t distance; /* of the last state that was made */
  struct async_joint *joint;
  struct async_local *local_mode; /* NULL: the joint way is taken */
  const char *local_refused;      /* why it is not used; may be set during the search */
  bool watched;                   /* some property is about steps */
  struct unpacked_state *view, *after;
  uint8_t *buffer, *best; /* of keys */
  size_t capacity, view_capacity;
  uint8_t *view_buffer;
  uint8_t *farthest; /* the key of base.farthest */
};

/* Where processes are: of n processes those that are live, with the rounds they have ended. False: they are further
   apart than asked for. */
bool async_distance(struct async_system *, const uint32_t *done, const bool *live);
/* The state (which may be overwritten) is none that the query is about any more: what it waits for has come. */
bool async_until_holds(struct async_system *, struct unpacked_state *view);
/* Of the last one, if the query is about its state (which may be overwritten). */
void async_note_distance(struct async_system *, struct unpacked_state *view);
void async_keep_farthest(struct async_system *, const struct state *);

/* A step property that becoming `after` breaks, for process p of the view: bits by property of the query. */
uint64_t async_broken(struct async_system *, const struct unpacked_state *view, uint32_t p, local_id after);

/* Every permutation of processes within roles that are alike; false: too many, or none is licensed. */
bool async_permutations(const struct async_system *, bool (*visit)(void *context, const uint32_t *order),
                        void *context);

/* Everybody as it is in its own round; the state is the one that steps are taken from next. */
void async_state_view(struct async_system *, const struct state *, struct unpacked_state *);
void async_key_room(struct async_system *, size_t bytes); /* of buffer and best */

/* To the next round of the schedule. */
void async_next_round(const struct model *, uint32_t *point, value *phase, uint32_t *rounds);

/* async_joint.c */
struct async_joint *async_joint_new(struct async_system *);
void async_joint_free(struct async_joint *);
size_t async_joint_memory(const struct async_joint *);
bool async_joint_initial(struct async_system *, const struct unpacked_state *, uint32_t faulty, emit_fn *,
                         void *context);
bool async_joint_successors(struct async_system *, const struct state *, emit_fn *, void *context);
void async_joint_view(struct async_system *, const struct state *, struct unpacked_state *);
/* The first state of the path is the one of this configuration. */
bool async_joint_concretise(struct async_system *, const struct config *, const struct state *path, uint32_t n,
                            const struct path_goal *, struct run *);

/* async_local.c, async_local_heard_of.c, async_local_concretise.c: likewise */
struct async_local *async_local_new(struct async_system *);
void async_local_free(struct async_local *);
size_t async_local_memory(const struct async_local *);
bool async_local_initial(struct async_system *, const struct unpacked_state *, uint32_t faulty, emit_fn *,
                         void *context);
bool async_local_successors(struct async_system *, const struct state *, emit_fn *, void *context);
void async_local_view(struct async_system *, const struct state *, struct unpacked_state *);
bool async_local_concretise(struct async_system *, const struct config *, const struct state *path, uint32_t n,
                            const struct path_goal *, struct run *);
const char *async_local_refusal(struct async_system *); /* why this way cannot be taken, NULL: it can */

#endif
