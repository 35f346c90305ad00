/* Inside the async_local way: each process picks what it hears by itself, among what was sent so far.

   What a process may hear can depend on who takes part in its round; of those that have not come there yet nobody
   knows. Then it goes on only with what it may hear whoever of them comes, or they are held to it: a promise, kept in
   the state until it is fulfilled. No promise is made that cannot be fulfilled, so every state is one of a run of whole
   rounds. */
#ifndef RONDO_ASYNC_ASYNC_LOCAL_H
#define RONDO_ASYNC_ASYNC_LOCAL_H

#include "async/async_system.h"

#define ASYNC_LOCAL_PROCESSES FILTER_PROCESSES
#define ASYNC_LOCAL_ROUNDS (ASYNC_WINDOW_MAX + 2)

/* What a process sent in a round: one of the tables' round_sends, or */
#define SENT_IRRELEVANT UINT32_MAX /* it took part, and nobody is left whom it could matter to */

struct async_local_state { /* a state. Rounds are counted from the window's first, where the last live process is */
  uint32_t point, rounds;  /* of the window's first round */
  value phase;
  uint32_t globals, inits;
  uint32_t width;                       /* where the foremost process is, or was when it stopped */
  uint32_t done[ASYNC_LOCAL_PROCESSES]; /* who takes no part any more: the round that it was the first to miss, or 0 */
  local_id local[ASYNC_LOCAL_PROCESSES];
  uint32_t gone[ASYNC_LOCAL_PROCESSES];                     /* promises: takes no part in round gone - 1; 0: none */
  uint32_t there[ASYNC_LOCAL_PROCESSES];                    /* takes part in round there - 1; 0: none */
  uint32_t sent[ASYNC_LOCAL_ROUNDS][ASYNC_LOCAL_PROCESSES]; /* up to the round that it is in */
};

struct async_local_step { /* process p ends its round */
  uint32_t process;
  bool crash;
  uint32_t heard; /* bits by sender: whose messages it received */
  uint64_t broken;
  local_id after;
  uint32_t sent;                         /* in the round that it is in then, or SENT_IRRELEVANT */
  uint32_t shift;                        /* rounds by which the window of what comes of it moved on */
  const struct async_local_step *before; /* a silent one that it took first, or NULL */
};
typedef bool async_local_step_fn(void *context, const struct async_local_step *, const struct async_local_state *next);

struct permission { /* whose messages it may receive, if of those that have not come just these will take part */
  uint32_t coming;
  uint32_t sets; /* in async_local->vectors: a bit for each set */
};
struct permissions {
  struct permission *at; /* the first is what it may receive whoever comes; the others are beyond that */
  uint32_t n;
  uint32_t *viable, nviable; /* those that may come */
  bool always;               /* anybody may */
};

struct async_local_outcome { /* of one process */
  uint32_t update, heard;
};
struct async_local_outcomes {
  struct async_local_outcome *at;
  uint32_t n;
};

struct round_offset {
  uint32_t point;
  value phases; /* that went by */
};

struct async_local {
  struct async_system *system;
  struct round_offset *round_offset; /* [point * ASYNC_LOCAL_ROUNDS + rounds] */
  struct lockstep *rounds;
  struct arena arena;
  bool bag; /* nobody is told from another of its role, nor are senders */
  bool crashes;
  bool total;                 /* everybody takes part in every round */
  bool fuses_steps;           /* silent steps go with the next one */
  bool chooses;               /* some message is a free choice */
  bool *halts;                /* by role: it can */
  local_id *present, *absent; /* by role: some local state that takes part, that does not */
  struct intern *vectors;
  struct memo permissions_of; /* query in vectors -> permissions */
  VEC(struct permissions) permissions;
  struct memo outcomes_of; /* (context and what is offered, in vectors) -> outcomes */
  VEC(struct async_local_outcomes) outcomes;
  struct memo sends_to; /* (point, from and to; phase) -> enum sends */
  struct memo ignored;  /* (rules and globals, processes) -> is hearing one never asked of the other? */
  struct memo alike;    /* (rules, globals) -> async_local_senders_alike */
  struct memo kept;     /* key of a state with promises, in vectors -> can they be kept? */
  struct async_local_state *from;
};

/* What a process that will be in a round is known to do there. */
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
/* In front of the others is the last live process. False: they are further apart than asked for. */
bool async_local_normalise(struct async_system *, struct async_local_state *, uint32_t *shift);
/* The whole way has to be taken: the search begins again. */
bool async_local_give_up(struct async_system *, const char *why);

void async_local_state_view(const struct async_system *, const struct async_local_state *, struct unpacked_state *);
void async_local_note(struct async_system *, const struct async_local_state *); /* how far apart, how much is pending */
/* Every way to start from a state of whole rounds. */
bool async_local_start(struct async_system *, const struct unpacked_state *,
                       bool (*then)(void *context, struct async_local_state *), void *context);

/* async_local_heard_of.c */
const struct permissions *async_local_permissions(struct async_system *, const struct async_local_state *, uint32_t p);
/* Some set that p may hear in round r, if those of `present` take part, that has `heard` of `senders`; false: none. */
bool async_local_heard_of(struct async_system *, uint32_t point, uint32_t rounds, uint32_t globals, uint32_t p,
                          uint32_t present, uint32_t senders, uint32_t heard, uint32_t *set);
/* If everybody takes part, and p sends q nothing in that round: what q may receive does not depend on whether p has
 * come. */
bool async_local_ignores(struct async_system *, uint32_t point, uint32_t rounds, value phase, uint32_t globals,
                         uint32_t p, uint32_t q);
/* If everybody takes part: neither updates nor the environment tell apart who sends a message in that round. */
bool async_local_senders_alike(struct async_system *, uint32_t point, uint32_t rounds, uint32_t globals);
bool async_local_reaches(struct async_system *, uint32_t sending, uint32_t from, uint32_t to);

/* async_local_step.c: false if visit stopped it, or async_local_give_up. */
bool async_local_steps(struct async_system *, const struct async_local_state *, uint32_t p, async_local_step_fn *,
                       void *context);
/* Likewise, with silent steps taken together with the one after them. */
bool async_local_fused_steps(struct async_system *, const struct async_local_state *, uint32_t p, async_local_step_fn *,
                             void *context);
/* All ways to begin the round that p is in: what it sends there. */
bool async_local_begin_round(struct async_system *, struct async_local_state *, uint32_t p,
                             bool (*then)(void *context, struct async_local_state *), void *context);
/* Can every promise be kept? */
bool async_local_promises_hold(struct async_system *, const struct async_local_state *);

#endif
