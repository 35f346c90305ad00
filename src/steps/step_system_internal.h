/* The transition system of step models: its parts, and what all of them use. Other terms: action_outcomes.h, moves.h */
#ifndef RONDO_STEPS_STEP_SYSTEM_INTERNAL_H
#define RONDO_STEPS_STEP_SYSTEM_INTERNAL_H

#include "steps/action_outcomes.h"
#include "steps/automorphic.h"
#include "steps/packed_keys.h"
#include "steps/process_moves.h"
#include "steps/step_system.h"

struct action_uses;

/* The faults of the environment that are explored, after reductions. */
struct step_faults {
  bool loses, duplicates, crashes, recovers, byzantine;
  bool parts; /* a crash in the middle of an action may send any subset of its messages, not just all of them */
  bool crash_invisible; /* a crashed process cannot be distinguished from one that takes no more steps */
};

/* How a row is changed before it is stored. */
struct normal_form {
  struct canonical *canonical;                 /* NULL: no symmetry reduction */
  struct relative_rounds *window;              /* NULL: rounds are absolute */
  struct transition_fusion *transition_fusion; /* or NULL */
  struct normaliser *normaliser;               /* or NULL */
  bool normalised; /* canonical, window or transition_fusion is in use: states are changed before they are stored */
  /* messages are added when the row is normalised, so that only contents that are stored get names */
  bool may_defer_sends, defers_sends;
  bool only_messages; /* the row is a stored one with fewer messages: everything else is normalised already */
};

/* What is dropped because it can have no effect. */
struct dead_parts {
  struct dead_data *data;
  struct constant_memory *constant_memory; /* or NULL */
  bool drops_dead_messages;
  bool drops_blocked_messages; /* FIFO: messages behind a message that is never taken are dropped too */
};

struct partial_order {
  struct may_enable *may_enable;                   /* or NULL */
  struct stubborn *stubborn;                       /* NULL: every step is explored */
  uint64_t *enabled, *visible_set, *invisible_set; /* classes of steps, for stubborn sets */
};

struct step_liveness {        /* liveness queries */
  const struct clause *fair;  /* the fairness clause of the environment, or NULL */
  struct intern *group_names; /* [process, action, sender, message]; fairness to followed processes: [-1 - i, action] */
  uint32_t followed[FOLLOWED_MAX]; /* fairness to followed processes: the hidden inputs that name them */
  uint32_t nfollowed;
  struct intern *adversary_choice_names;
};

struct checked_properties {
  struct step_property_memo *memos;
  uint32_t digests_from;  /* digests are laid out after this many evaluations of a property (tests: after the first) */
  uint32_t nlocal_steps;  /* number of step properties that are evaluated on one process */
  uint32_t nglobal_steps; /* number of step properties that are evaluated on whole states */
};

/* Which processes may still crash or recover. */
struct fault_permits {
  struct intern *statuses;      /* status vectors of all processes */
  VEC(const uint8_t *) permits; /* by status vector, then by process: PERMIT_... */
  const uint8_t *permitted;     /* by process, for the current state: PERMIT_... */
  value *status;                /* scratch */
};
#define PERMIT_CRASH 1
#define PERMIT_RECOVERY 2

struct step_distance { /* the round distance between processes */
  uint32_t most;
  bool too_far;       /* the last row passed to row_key exceeds it */
  uint64_t *farthest; /* the key of base.farthest */
};

struct step_layout {    /* the current key layout */
  struct keys before;   /* the previous one, after keys were widened */
  bool short_keys;      /* see uses_short_keys */
  bool sampled;         /* sample_contents was called */
  bool keys_too_narrow; /* a new key layout is needed */
};

struct step_scratch {
  uint64_t *next, *packed, *whole;
  content *row;
  uint64_t *memory; /* by role: the shared memory that it sees, as bits of the key or as a name */
  value *vector;
};

struct step_system {
  struct system base;
  struct interpreter *interp;
  bool owns_interp; /* set if made for another thread */
  struct system_options options;
  struct model *model;
  const struct environment *env;
  const struct action_uses *use;
  uint32_t *role_of; /* by process */
  struct arena arena;
  bool plain; /* the reference interpreter computes the successors */
  struct state_cells cells;
  struct keys keys;
  struct step_layout layout;
  struct channel_ops channels;
  struct local_steps steps;
  struct moves_store moves_store;
  struct step_faults faults;
  struct fault_permits fault_permits;
  struct normal_form form;
  struct dead_parts dead;
  struct partial_order partial_order;
  struct automorphic_processes automorphic;
  struct step_liveness liveness;
  struct checked_properties checked;
  struct step_distance distance;
  struct intern *vectors;
  uint64_t expanded; /* states expanded since the last key layout */
  uint64_t *words;   /* the key of the current state */
  /* for the current state; there is always room for one more entry per process */
  VEC(struct enabled_moves) enabled_moves;
  struct step_scratch scratch;
};

/* Can successors be computed by short moves, which only change the key? Applies if keys are short. */
static inline bool uses_short_keys(const struct step_system *s) {
  return !s->partial_order.stubborn && !s->form.normalised && !s->faults.crashes && !s->checked.nglobal_steps &&
         !s->dead.drops_blocked_messages;
}

static inline struct step_system *step_system_of(struct system *s) { return (struct step_system *)s; }
static inline bool step_system_interrupted(const struct step_system *s) { return s->interp->stop && *s->interp->stop; }
/* The key of the row: in canonical form, packed. False: the keys are too narrow. to, value_to: see canonical_form. */
bool row_key(struct step_system *, content *row, uint64_t *words, uint32_t *to, uint32_t *value_to);
/* Returns false: the search cannot continue with these keys */
__attribute__((cold)) bool keys_too_narrow(struct step_system *);
__attribute__((cold)) bool
cut_by_distance(struct step_system *); /* returns true: the state exceeds the maximal distance and is skipped */
value status_of(const struct step_system *, const uint64_t *words, uint32_t p);
uint32_t visible_globals(struct step_system *, const uint64_t *words, uint32_t role,
                         uint64_t uses); /* bit set of the globals that matter */
uint32_t visible_byzantine(struct step_system *, const uint64_t *words);
/* Stores the shared memory that each role sees in system->memory; returns the set of Byzantine processes. */
static inline uint32_t load_visible_memory(struct step_system *s) {
  uint64_t memory = s->steps.uses_any && s->keys.memory.fits ? key_window(&s->keys.memory, s->words) : 0;
  for (uint32_t r = 0; s->steps.uses_any && r < s->model->nroles; r++)
    if (s->steps.uses[r])
      s->scratch.memory[r] =
          s->keys.memory.fits ? memory & s->moves_store.memory_used[r] : visible_globals(s, s->words, r, UINT64_MAX);
  return s->faults.byzantine ? visible_byzantine(s, s->words) : 0;
}

#endif
