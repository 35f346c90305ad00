/* The transition system of asynchronous rounds: each process is in a round of its own (interp/async_round.h). A state
   holds each process's round, counted from that of the last live process, and what remains to be done in rounds that
   some process has yet to end. It has two modes: joint: a lockstep round is fixed as soon as the first process ends it,
   as the interpreter would take it; the other processes follow. Works for every environment. local: each process picks
   what it hears by itself, among the messages sent so far. Only for environments that do not relate two heard-of sets.
 */
#ifndef RONDO_ASYNC_ASYNC_SYSTEM_H
#define RONDO_ASYNC_ASYNC_SYSTEM_H

#include "async/async.h"
#include "lockstep/lockstep.h"

#define ASYNC_WINDOW_MAX 62 /* the largest number of rounds between the first and the last process */

struct async_joint;
struct async_local;

struct async_system {
  struct system base;
  struct lockstep *rounds; /* used for local steps, packing and properties; never searched */
  struct interpreter *interp;
  struct model *model;
  struct pack *pack; /* that of `rounds` */
  uint32_t n;        /* processes */
  uint32_t max_distance;
  uint32_t distance; /* round distance of the last state made */
  struct async_joint *joint;
  struct async_local *local_mode; /* NULL: joint mode */
  const char *local_refused;      /* why the local mode is not used; may be set during the search */
  bool watched;                   /* some property is a step property */
  struct unpacked_state *view, *after;
  uint8_t *buffer, *best; /* for keys */
  size_t capacity, view_capacity;
  uint8_t *view_buffer;
  uint8_t *farthest; /* the key of base.farthest */
};

/* Sets `distance` from the live processes and the number of rounds that each of n processes has ended. False: they are
   further apart than max_distance. */
bool async_distance(struct async_system *, const uint32_t *done, const bool *live);
/* Does the query's `until` condition hold in the state (which may be overwritten)? Then neither its distance nor its
   pending messages are recorded. */
bool async_until_holds(struct async_system *, struct unpacked_state *view);
/* Records the distance of the last state made, if the query is about that state (which may be overwritten). */
void async_note_distance(struct async_system *, struct unpacked_state *view);
void async_keep_farthest(struct async_system *, const struct state *);

/* The step properties that process p of the view breaks by changing to `after`: bits by property of the query. */
uint64_t async_broken(struct async_system *, const struct unpacked_state *view, uint32_t p, local_id after);

/* Visits every permutation of processes within symmetric roles; false: there are too many, or none is licensed. */
bool async_permutations(const struct async_system *, bool (*visit)(void *context, const uint32_t *order),
                        void *context);

/* Each process as it is in its own round. Later steps are taken from this state. */
void async_state_view(struct async_system *, const struct state *, struct unpacked_state *);
void async_key_room(struct async_system *, size_t bytes); /* in buffer and best */

/* Advances to the next round of the schedule. */
void async_next_round(const struct model *, uint32_t *point, value *phase, uint32_t *rounds);

/* async_joint.c */
struct async_joint *async_joint_new(struct async_system *);
void async_joint_free(struct async_joint *);
size_t async_joint_memory(const struct async_joint *);
bool async_joint_initial(struct async_system *, const struct unpacked_state *, uint32_t faulty, emit_fn *,
                         void *context);
bool async_joint_successors(struct async_system *, const struct state *, emit_fn *, void *context);
bool async_joint_key_is_sound(const struct async_system *, const struct state *); /* which may be any bytes */
void async_joint_view(struct async_system *, const struct state *, struct unpacked_state *);
/* The first state of the path is that of this configuration. */
bool async_joint_concretise(struct async_system *, const struct config *, const struct state *path, uint32_t n,
                            const struct path_goal *, struct run *);

/* async_local.c, async_local_heard_of.c, async_local_concretise.c: the same for the local mode */
struct async_local *async_local_new(struct async_system *);
void async_local_free(struct async_local *);
size_t async_local_memory(const struct async_local *);
bool async_local_initial(struct async_system *, const struct unpacked_state *, uint32_t faulty, emit_fn *,
                         void *context);
bool async_local_successors(struct async_system *, const struct state *, emit_fn *, void *context);
void async_local_view(struct async_system *, const struct state *, struct unpacked_state *);
bool async_local_concretise(struct async_system *, const struct config *, const struct state *path, uint32_t n,
                            const struct path_goal *, struct run *);
const char *async_local_refusal(struct async_system *); /* why the local mode is not possible; NULL: it is */

#endif
