/* Lockstep rounds. Successors are combined from local steps, each computed once:
     projection: what a local step depends on besides its messages: role, point, and the variables that it reads
     bag: the received messages; (projection, bag) -> updates, computed by the interpreter
     receivable: the messages that can be received; (projection, receivable) -> outcome set: the distinct updates, with
     their costs
     update: what a local step changes; (local state, update) -> local state
   A successor takes one update for each process, in every combination that the environment allows. */
#ifndef RONDO_LOCKSTEP_LOCKSTEP_H
#define RONDO_LOCKSTEP_LOCKSTEP_H

#include "interp/local.h"
#include "lockstep/acceptance_marks.h"
#include "lockstep/round_rules.h"
#include "lockstep/state_pack.h"

struct list { /* of ids; immutable */
  uint32_t *at;
  uint32_t n;
};

struct sender_group { /* senders whose messages the receiver cannot distinguish */
  value message;
  bool silent;     /* they send no message to the receiver: visible only in HO */
  bool self;       /* the receiver is in this group */
  uint32_t tag;    /* the sender, if it is distinguishable; else NO_SENDER */
  uint32_t count;  /* number of senders */
  uint32_t must;   /* number of senders that must be heard, because no fault excuses them */
  uint32_t serial; /* the order in which the groups were made */
  uint64_t actors; /* its senders, one bit for each actor, where there are fewer than 64 */
};

struct round_receivable { /* everything that one receiver may receive */
  struct sender_group *groups;
  uint32_t n;
  uint32_t *group_of;  /* [2 * actor + (is it the receiver itself)]: 1 + its group; 0: none */
  uint32_t nbyzantine; /* Byzantine senders: each may send any message or none */
  uint32_t *byzantine_tags;
  uint32_t need;    /* this group must be heard (kernel); UINT32_MAX: no such group */
  bool exact;       /* every receivable message is heard (uniform rounds) */
  uint32_t sized;   /* bit i: size rule i applies to the receiver because the query follows it */
  uint32_t allowed; /* 1 + the allowed heard-of sets, one bit each, in system->vectors; 0: all sets */
};

struct local_outcome { /* an element of an outcome set */
  uint32_t update;
  uint32_t cost; /* lost messages */
  uint32_t how;  /* an example of its cause, in system->vectors: the number heard of each group, then forged messages */
  uint64_t *masks; /* no-split: the maximal sets of groups that lead to it, bitset_words(groups) words each */
  uint32_t nmasks;
};

static inline uint32_t bitset_words(uint32_t n) { return n / 64 + 1; }

struct local_outcome_set {
  struct local_outcome *outcomes;
  uint32_t n;
};

struct lockstep_successor { /* an outcome applied to a particular local state */
  local_id next;
  uint32_t cost;
  uint32_t outcome;
  uint32_t error;            /* 1 + index in system->errors; 0: none */
  uint64_t broken;           /* step properties that it breaks */
  uint32_t adversary_choice; /* 1 + index in system->lists: the possible results of the coins, each a local state or
                                COIN_RESULT_ERROR plus an index in system->errors; 0: no coins */
};

struct lockstep_successors {
  struct lockstep_successor *at;
  uint32_t n;
  uint32_t list; /* 1 + index in system->next_lists; 0: not made yet */
  bool special;  /* some outcome is an error or breaks a step property */
};

struct demands {
  const struct demand *at;
  uint32_t n;
};

enum outcomes_by { OUTCOMES_BY_EITHER, OUTCOMES_BY_ENUMERATION, OUTCOMES_BY_REGIONS };

struct decision_node { /* see outcome_regions.c */
  struct form form;
  uint32_t child[3];      /* by sign + 1: 1 + node; 0: not explored yet */
  uint32_t local_updates; /* leaf: 1 + list of updates */
};

struct lockstep {
  struct system base;
  struct pack pack;
  struct interpreter *interp;
  bool owns_interp; /* made for another thread */
  struct system_options made_with;
  struct model *model;
  const struct environment *env;
  struct arena arena;   /* all cached data */
  struct rules **rules; /* by point and round */
  uint32_t nrules;
  struct read_set **sends, **updates; /* by role and point */
  struct intern *projections, *bags, *receivables, *local_updates, *vectors;
  struct intern *next_lists;        /* [(local, cost), ...]: the possible next local states of a process */
  struct memo projection_of;        /* (local and point, me and phase and globals) -> projection */
  struct memo steps;                /* (projection, bag) -> lists */
  struct memo outcome_sets_of;      /* (projection, receivable) -> outcome_sets */
  struct memo local_successors_of;  /* (local and point, outcome_set) -> local_successors */
  struct memo after;                /* (local and point, update) -> local */
  struct memo round_sends_of;       /* projection of sends -> alternatives */
  struct memo steps_broken;         /* (local, local) -> bits */
  struct layer_product *layerwise;  /* or NULL */
  struct memo fast_path_lists;      /* (local and point, receivable) -> lists, where nothing else matters */
  VEC(uint32_t) fast_path_sends_of; /* by local state: 1 + index of its sends, at the point fast_path_point */
  uint32_t fast_path_point;
  bool *fast_path; /* by point: see fast_path.c */
  enum outcomes_by outcomes_by;
  struct memo within_bag;   /* (projection, bag) -> vectors: the updates of the bag and of all its sub-bags */
  struct memo united;       /* (vector, vector) -> vectors: their union */
  struct memo region_roots; /* (projection, messages) -> regions */
  VEC(struct decision_node) regions;
  struct memo named_of;                   /* projection -> lists: the senders it names */
  bool probabilistic;                     /* almost surely: coins are distinguished from choices of the adversary */
  uint32_t adversary_choice;              /* the last number assigned to one, in the current state */
  struct intern *plain_adversary_choices; /* of the current state */
  struct memo coin_results_of;            /* results of coins, in vectors -> 1 + index in lists */
  struct memo demands_of;                 /* demands as numbers, in pack.vectors -> 1 + index in demands */
  VEC(struct demands) demands;
  struct memo opened;        /* (mark, point) -> must a value for its witness be chosen? */
  struct intern *rules_keys; /* rules with demands: [index of those without, demands] */
  struct memo allowed_of; /* what determines the heard-of sets allowed to a process, in vectors -> the allowed sets, in
                             vectors */
  struct memo oracles_of; /* (local, point) -> lists: the local states after choosing oracles */
  VEC(struct list) lists;
  VEC(struct local_outcome_set) outcome_sets;
  VEC(struct lockstep_successors) local_successors;
  VEC(struct model_error) errors;
  VEC(struct local_send_list) round_sends; /* one run of the sending code each */
  VEC(struct list) alternatives;           /* of round_sends */
  bool plain;
  bool group;                     /* equal messages are counted; their senders are not distinguished */
  bool explicit_senders;          /* no-split with counting updates: all senders are distinguished */
  bool all_costs;                 /* every cost is kept, not only the lowest */
  uint32_t nglobal_steps;         /* step properties that are not about a single process */
  struct step_check *step_checks; /* by property of the query */
  VEC(uint64_t) stored_at;        /* by rules index: states stored */
  uint8_t *buffer;
  size_t buffer_capacity;
  struct unpacked_state *scratch;
  struct lockstep_property_cache *property_caches;
  struct eval eval;
  uint64_t initial_states; /* emitted so far */
  bool *same_receivables;  /* by point: every message reaches all processes of a role, which cannot distinguish its
                              sender */
};

/* The search was interrupted, or its time limit was reached: computations may be abandoned, and their results are then
   not cached. */
static inline bool lockstep_stopped(const struct lockstep *s) { return s->interp->stop && *s->interp->stop; }

struct expansion;
struct layer_product;

struct step_check {
  bool step;     /* it is a step property */
  bool local;    /* forall p in R: something about p and p' alone */
  uint32_t role; /* ROLE_ANY: all */
};

#define COIN_RESULT_ERROR 0x80000000u
#define UPDATE_IDLE UINT32_MAX /* no change, except that oracles are reset */
#define UPDATE_CRASH (UINT32_MAX - 1)

/* An error while sending is an alternative of its own: SENDING_ERROR plus the index of the error. */
#define SENDING_ERROR 0x80000000u

/* lockstep_local_steps.c */
void *arena_keep_array(struct arena *, const void *from, size_t n, size_t each); /* a copy; never NULL */
uint32_t projection_of(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase, uint32_t globals);
const struct list *step_updates(struct lockstep *, uint32_t context, const value *bag, size_t length);
/* Like step_updates, but computed anew, with the decisions that depend on message counts; returns an index in lists. */
uint32_t step_updates_traced(struct lockstep *, uint32_t context, const value *bag, size_t length, struct decisions *);
const struct list *send_alternatives(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase,
                                     uint32_t globals);
local_id local_after(struct lockstep *, local_id, uint32_t point, uint32_t update);
uint32_t update_error(const struct lockstep *, uint32_t update);

/* probabilistic_choice.c: the choices of an adversary; each is a set of updates among which coins decide. */
struct update_run {      /* one run of the update code */
  const uint32_t *taken; /* the choices it made */
  size_t n;
  uint64_t coins;
  uint32_t update;
};
/* Adds one update for each choice of the adversary. A choice with several updates gets an update that stands for the
   set. */
void probabilistic_updates(struct lockstep *, const struct update_run *, size_t n, uint32_t **found, size_t *nfound,
                           size_t *cap);
bool update_is_probabilistic(const struct lockstep *, uint32_t update);
void successor_of_coins(struct lockstep *, local_id, uint32_t point, uint32_t update, struct lockstep_successor *);
void add_unique(uint32_t **at, size_t *n, size_t *cap, uint32_t x); /* lockstep_local_steps.c */
/* Plain enumeration: a number for everything that was chosen, except by coins. */
uint32_t plain_adversary_choice(struct lockstep *, const struct config *, const struct witness *);

/* outcome_set.c */
/* The order of messages of one type in a receivable. */
bool message_before(const struct model *, const struct type *, value a, value b);
uint32_t receivable_put(struct lockstep *, uint32_t rules_index, const struct round_receivable *); /* interned */
uint32_t receivable_find(struct lockstep *, uint32_t rules_index,
                         const struct round_receivable *); /* INTERN_NONE if new */
uint32_t outcome_set_of(struct lockstep *, uint32_t context, const struct rules *, const struct round_receivable *,
                        uint32_t id);
#define BAG_ENTRY 4 /* message, sender or -1, count, lazy */

/* An actor is a set of processes of a state with the same part in a round: states are split by oracles, crashes and
   sends. */
struct actor {
  local_id original; /* before its oracles were chosen */
  local_id local;
  uint32_t count;
  uint32_t role;
  uint32_t process; /* vectors: the process; bags: some process of the role */
  uint32_t origin;  /* index of the member in the global state */
  bool idle, crashing;
  uint32_t sending; /* index in system->round_sends; UINT32_MAX: none */
  struct round_receivable receivable;
  bool receivable_shared; /* owned by another actor */
  uint32_t receivable_id;
  uint32_t outcome_set;
  struct lockstep_successors *local_successors;
};

struct pick { /* `count` processes of an actor take a successor */
  uint32_t actor;
  const struct lockstep_successor *successor;
  uint32_t count;
};

/* One way to take a round, for making a trace concrete. */
struct round_derivation {
  const struct actor *actors;
  uint32_t nactors;
  const struct pick *picks;
  uint32_t npicks;
  const struct unpacked_state *next; /* not canonical */
  const struct edge *edge;
  uint32_t kernel;               /* the actor that all hear; UINT32_MAX: none */
  const uint32_t *uniform;       /* by actor: how many of it everyone hears, or NULL */
  const uint64_t *const *clique; /* no-split: the allowed sets of actors, or NULL */
  uint32_t nclique;
};
typedef bool round_derivation_fn(void *context, const struct round_derivation *); /* false: stop */

/* outcome_product.c: all successors; with a derivation function, every way to reach each of them. variant may be NULL.
 */
bool lockstep_successors(struct lockstep *, const struct unpacked_state *, const struct round_variant *, emit_fn *,
                         round_derivation_fn *, void *context);
struct layer_product;
bool lockstep_tasks(struct lockstep *, const struct unpacked_state *,
                    struct layer_product *); /* records products without multiplying them out */

/* fast_path.c */
void fast_path_prepare(struct lockstep *);
bool fast_path_task(struct lockstep *, const struct unpacked_state *, struct layer_product *);

/* lockstep_property.c */
enum verdict3 formula_holds(struct lockstep *, uint32_t i, const struct state *,
                            struct model_error *); /* query_formula */
uint64_t steps_broken_by(struct lockstep *, local_id before, local_id after);
void step_checks_prepare(struct lockstep *);
void property_caches_free(struct lockstep *);
size_t property_caches_bytes(const struct lockstep *);

/* lockstep.c: see system_ops */
void lockstep_save(struct system *, struct saver *);
void lockstep_load(struct system *, struct loader *);

const struct rules *lockstep_rules(struct lockstep *, uint32_t point, uint32_t rounds, const struct round_variant *,
                                   uint32_t *index);
bool demands_hold(struct interpreter *, const struct round_variant *, const struct config *, const struct witness *);
uint32_t global_rounds(const struct lockstep *,
                       const struct unpacked_state *); /* completed rounds, as far as the rules depend on them */

#endif
