/* The local mode: each process picks what it hears by itself, among the messages sent so far.

   The messages that a process may hear can depend on which processes take part in its round, and some may not have
   reached that round yet. The process then either hears only what is allowed whichever of them take part, or it makes a
   promise: a guess about who takes part, which binds the processes behind it and stays in the state until it is
   fulfilled. No promise is made that cannot be fulfilled, so every state belongs to a run of lockstep rounds. */
#ifndef RONDO_ASYNC_ASYNC_LOCAL_H
#define RONDO_ASYNC_ASYNC_LOCAL_H

#include "async/async_system.h"

#define ASYNC_LOCAL_PROCESSES FILTER_PROCESSES
#define ASYNC_LOCAL_ROUNDS (ASYNC_WINDOW_MAX + 2)

/* What a process sent in a round: an index in round_sends of the lockstep system, or */
#define SENT_IRRELEVANT UINT32_MAX /* it took part, but no remaining process depends on what it sent */

struct async_local_state { /* a state. Rounds are counted from the window's first round, which is that of the last live
                              process */
  uint32_t point, rounds;  /* of the window's first round */
  value phase;
  uint32_t globals, inits;
  uint32_t width;                       /* the round of the foremost process, also if it has stopped */
  uint32_t done[ASYNC_LOCAL_PROCESSES]; /* by process: the first round it took no part in; 0: it still takes part */
  local_id local[ASYNC_LOCAL_PROCESSES];
  uint32_t gone[ASYNC_LOCAL_PROCESSES];                     /* promise: takes no part in round gone - 1; 0: none */
  uint32_t there[ASYNC_LOCAL_PROCESSES];                    /* promise: takes part in round there - 1; 0: none */
  uint32_t sent[ASYNC_LOCAL_ROUNDS][ASYNC_LOCAL_PROCESSES]; /* up to the process's current round */
};

struct async_local_step { /* process p ends its round */
  uint32_t process;
  bool crash;
  uint32_t heard; /* bit q: it received the message of process q */
  uint64_t broken;
  local_id after;
  uint32_t sent;                         /* in its next round, or SENT_IRRELEVANT */
  uint32_t shift;                        /* the number of rounds by which the window moves */
  const struct async_local_step *before; /* an invisible step fused with this one and taken before it, or NULL */
};
typedef bool async_local_step_fn(void *context, const struct async_local_step *, const struct async_local_state *next);

struct permission { /* the heard-of sets allowed if, of the processes that have not arrived, exactly `coming` take part
                     */
  uint32_t coming;
  uint32_t sets; /* in async_local->vectors: one bit for each set */
};
struct permissions {
  struct permission *at; /* the first entry holds the sets allowed whoever comes; the others only add to it */
  uint32_t n;
  uint32_t *viable, nviable; /* the sets of processes that can come */
  bool always;               /* every set is allowed */
};

struct async_local_outcome { /* an outcome of one process */
  uint32_t update, heard;
};
struct async_local_outcomes {
  struct async_local_outcome *at;
  uint32_t n;
};

struct round_offset {
  uint32_t point;
  value phases; /* the number of phases in between */
};

struct async_local {
  struct async_system *system;
  struct round_offset *round_offset; /* [point * ASYNC_LOCAL_ROUNDS + rounds] */
  struct lockstep *rounds;
  struct arena arena;
  bool bag; /* processes of a role are indistinguishable, and so are senders */
  bool crashes;
  bool total;                 /* every process takes part in every round */
  bool fuses_steps;           /* invisible steps are fused with the next step */
  bool chooses;               /* the content of some message is a free choice */
  bool *halts;                /* by role: its processes can halt */
  local_id *present, *absent; /* by role: some local state that takes part, and one that does not */
  struct intern *vectors;
  struct memo permissions_of; /* query in vectors -> permissions */
  VEC(struct permissions) permissions;
  struct memo outcomes_of; /* (projection and receivable messages, in vectors) -> outcomes */
  VEC(struct async_local_outcomes) outcomes;
  struct memo alike; /* (rules, globals) -> async_local_senders_alike */
  struct memo kept;  /* key of a state with promises, in vectors -> can they be fulfilled? */
  struct async_local_state *from;
};

/* What is known about the sends of a process in a round that it will reach. */
enum sends { SENDS_NEVER, SENDS_MAYBE, SENDS_SURELY };

static inline bool async_local_live(const struct async_system *s, const struct async_local_state *l, uint32_t p) {
  return process_active(local_status(s->pack, l->local[p]));
}

/* async_local.c */
uint32_t async_local_point(const struct async_system *, const struct async_local_state *, uint32_t round, value *phase,
                           uint32_t *rounds);
void async_local_assign(struct async_local_state *to, const struct async_local_state *from);
struct state async_local_encode(struct async_system *,
                                const struct async_local_state *); /* canonical; in system->best */
/* Moves the start of the window to the round of the last live process. False: the processes are further apart than
   max_distance. */
bool async_local_normalise(struct async_system *, struct async_local_state *, uint32_t *shift);
/* Switches to the joint mode: the search starts again. */
bool async_local_give_up(struct async_system *, const char *why);

void async_local_state_view(const struct async_system *, const struct async_local_state *, struct unpacked_state *);
void async_local_note(struct async_system *,
                      const struct async_local_state *); /* records round distance and pending messages */
/* Every way to start from a state of lockstep rounds. */
bool async_local_start(struct async_system *, const struct unpacked_state *,
                       bool (*then)(void *context, struct async_local_state *), void *context);

/* async_local_heard_of.c */
const struct permissions *async_local_permissions(struct async_system *, const struct async_local_state *, uint32_t p);
/* A heard-of set for p in that round, if the processes in `present` take part, whose intersection with `senders` is
   `heard`; false: none. */
bool async_local_heard_of(struct async_system *, uint32_t point, uint32_t rounds, uint32_t globals, uint32_t p,
                          uint32_t present, uint32_t senders, uint32_t heard, uint32_t *set);
/* Is what q may receive independent of whether p has arrived? Assumes that every process takes part, and that p sends q
   nothing in that round. */
bool async_local_ignores(struct async_system *, uint32_t point, uint32_t rounds, value phase, uint32_t globals,
                         uint32_t p, uint32_t q);
/* Are the senders of equal messages in that round indistinguishable to updates and to the environment? Assumes that
   every process takes part. */
bool async_local_senders_alike(struct async_system *, uint32_t point, uint32_t rounds, uint32_t globals);
bool async_local_reaches(struct async_system *, uint32_t sending, uint32_t from, uint32_t to);

/* async_local_step.c: return false if visit stopped them, or after async_local_give_up. */
bool async_local_steps(struct async_system *, const struct async_local_state *, uint32_t p, async_local_step_fn *,
                       void *context);
/* Likewise, with invisible steps fused with the step after them. */
bool async_local_fused_steps(struct async_system *, const struct async_local_state *, uint32_t p, async_local_step_fn *,
                             void *context);
/* All ways to begin p's current round, that is, all messages it may send there. */
bool async_local_begin_round(struct async_system *, struct async_local_state *, uint32_t p,
                             bool (*then)(void *context, struct async_local_state *), void *context);
/* Can every promise be fulfilled? */
bool async_local_promises_hold(struct async_system *, const struct async_local_state *);

#endif
