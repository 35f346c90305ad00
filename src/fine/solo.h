/* Inside the solo way: each process picks what it hears by itself, among what was sent so far.

   What a process may hear can depend on who takes part in its round; of those that have not come there yet nobody knows. Then
   it goes on only with what it may hear whoever of them comes, or they are held to it: a promise, kept in the state until it is
   fulfilled. No promise is made that cannot be fulfilled, so every state is one of a run of whole rounds. */
#ifndef RONDO_FINE_SOLO_H
#define RONDO_FINE_SOLO_H

#include "fine/fine_space.h"

#define SOLO_PROCESSES FILTER_PROCESSES
#define SOLO_ROUNDS (WINDOW_MOST + 2)

/* What a process sent in a round: one of the tables' sendings, or */
#define SENT_IN_VAIN UINT32_MAX /* it took part, and nobody is left whom it could matter to */

struct lone { /* a state. Rounds are counted from the window's first, where the last live process is */
  uint32_t point, rounds; /* of the window's first round */
  value phase;
  uint32_t globals, inits;
  uint32_t width;         /* where the foremost process is, or was when it stopped */
  uint32_t done[SOLO_PROCESSES]; /* who takes no part any more: the round that it was the first to miss, or 0 */
  local_id local[SOLO_PROCESSES];
  uint32_t gone[SOLO_PROCESSES]; /* promises: takes no part in round gone - 1; 0: none */
  uint32_t there[SOLO_PROCESSES]; /* takes part in round there - 1; 0: none */
  uint32_t sent[SOLO_ROUNDS][SOLO_PROCESSES]; /* up to the round that it is in */
};

struct lone_step { /* process p ends its round */
  uint32_t process;
  bool crash;
  uint32_t heard;    /* bits by sender: whose messages it received */
  uint64_t broken;
  local_id after;
  uint32_t sent;     /* in the round that it is in then, or SENT_IN_VAIN */
  uint32_t shift;    /* rounds by which the window of what comes of it moved on */
  const struct lone_step *before; /* a silent one that it took first, or NULL */
};
typedef bool lone_fn(void *context, const struct lone_step *, const struct lone *next);

struct permission { /* whose messages it may receive, if of those that have not come just these will take part */
  uint32_t coming;
  uint32_t sets;     /* in solo->vectors: a bit for each set */
};
struct permissions {
  struct permission *at; /* the first is what it may receive whoever comes; the others are beyond that */
  uint32_t n;
  uint32_t *viable, nviable; /* those that may come */
  bool always;       /* anybody may */
};

struct dish { /* of a menu of one's own */
  uint32_t effect, heard;
};
struct dishes {
  struct dish *at;
  uint32_t n;
};

struct later {
  uint32_t point;
  value phases; /* that went by */
};

struct solo {
  struct fine_space *space;
  struct later *later; /* [point * SOLO_ROUNDS + rounds] */
  struct round_space *rounds;
  struct arena arena;
  bool bag;          /* nobody is told from another of its role, nor are senders */
  bool crashes;
  bool total;        /* everybody takes part in every round */
  bool strides;      /* silent steps go with the next one */
  bool chooses;      /* some message is a free choice */
  bool *halts;       /* by role: it can */
  local_id *present, *absent; /* by role: some local state that takes part, that does not */
  struct intern *vectors;
  struct memo permissions_of; /* question in vectors -> permissions */
  VEC(struct permissions) permissions;
  struct memo dishes_of;      /* (context and what is offered, in vectors) -> dishes */
  VEC(struct dishes) dishes;
  struct memo sends_to;       /* (point, from and to; phase) -> enum sends */
  struct memo ignored;        /* (rules and globals, processes) -> is hearing one never asked of the other? */
  struct memo alike;          /* (rules, globals) -> solo_senders_alike */
  struct memo kept;           /* key of a state with promises, in vectors -> can they be kept? */
  struct lone *from;
};

/* What a process that will be in a round is known to do there. */
enum sends { SENDS_NEVER, SENDS_MAYBE, SENDS_SURELY };

static inline bool lone_live(const struct fine_space *s, const struct lone *l, uint32_t p) {
  return process_active(local_status(s->pack, l->local[p]));
}

/* solo.c */
uint32_t lone_point(const struct fine_space *, const struct lone *, uint32_t round, value *phase, uint32_t *rounds);
void lone_assign(struct lone *to, const struct lone *from);
struct state lone_encode(struct fine_space *, const struct lone *); /* canonical; in space->best */
/* In front of the others is the last live process. False: they are further apart than asked for. */
bool lone_normalise(struct fine_space *, struct lone *, uint32_t *shift);
/* The whole way has to be taken: the search begins again. */
bool solo_give_up(struct fine_space *, const char *why);

void lone_view(const struct fine_space *, const struct lone *, struct global *);
void lone_note(struct fine_space *, const struct lone *); /* how far apart, how much is pending */
/* Every way to start from a state of whole rounds. */
bool lone_start(struct fine_space *, const struct global *, bool (*then)(void *context, struct lone *), void *context);

/* solo_heard.c */
const struct permissions *solo_permissions(struct fine_space *, const struct lone *, uint32_t p);
/* Some set that p may hear in round r, if those of `present` take part, that has `heard` of `senders`; false: none. */
bool solo_heard_of(struct fine_space *, uint32_t point, uint32_t rounds, uint32_t globals, uint32_t p, uint32_t present,
                   uint32_t senders, uint32_t heard, uint32_t *set);
/* If everybody takes part, and p sends q nothing in that round: what q may receive does not depend on whether p has come. */
bool solo_ignores(struct fine_space *, uint32_t point, uint32_t rounds, value phase, uint32_t globals, uint32_t p,
                  uint32_t q);
/* If everybody takes part: neither updates nor the environment tell apart who sends a message in that round. */
bool solo_senders_alike(struct fine_space *, uint32_t point, uint32_t rounds, uint32_t globals);
bool solo_reaches(struct fine_space *, uint32_t sending, uint32_t from, uint32_t to);

/* solo_step.c: false if visit stopped it, or solo_give_up. */
bool lone_steps(struct fine_space *, const struct lone *, uint32_t p, lone_fn *, void *context);
/* Likewise, with silent steps taken together with the one after them. */
bool lone_strides(struct fine_space *, const struct lone *, uint32_t p, lone_fn *, void *context);
/* All ways to begin the round that p is in: what it sends there. */
bool lone_begin(struct fine_space *, struct lone *, uint32_t p, bool (*then)(void *context, struct lone *), void *context);
/* Can every promise be kept? */
bool lone_keeps(struct fine_space *, const struct lone *);

#endif
