/* Lockstep rounds, made of local steps that are computed once each:
     projection      what a local step depends on besides its messages: role, point, the variables that it reads
     bag             what was received; (projection, bag) -> updates, computed by the interpreter
     receivable      what can be received; (projection, receivable) -> outcome set: the distinct updates, with their
   costs update          what changes; (local state, update) -> local state A successor takes one update for each
   process, in every combination that the environment allows. */
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

struct sender_group { /* senders whose messages the receiver cannot tell apart */
  value message;
  bool silent;     /* they send it nothing: only HO can tell */
  bool self;       /* the receiver is among them */
  uint32_t tag;    /* who it is, if that can be told; else NO_SENDER */
  uint32_t count;  /* how many */
  uint32_t must;   /* how many of them no fault excuses */
  uint32_t serial; /* in the order in which the groups were made */
};

struct round_receivable { /* all that one receiver may get */
  struct sender_group *groups;
  uint32_t n;
  uint32_t *group_of;  /* [2 * actor + (is it the receiver itself)]: 1 + its group, 0: none */
  uint32_t nbyzantine; /* Byzantine senders: each sends anything or nothing */
  uint32_t *byzantine_tags;
  uint32_t need; /* this group must be heard (kernel), or UINT32_MAX */
  bool exact;    /* everything offered is heard (uniform rounds) */
  uint32_t
      sized; /* which of the rules' conditions on sizes are about the receiver as one that is followed, a bit each */
  uint32_t allowed; /* 1 + which heard-of sets are allowed, a bit each, in system->vectors; 0: any */
};

struct local_outcome { /* of an outcome set */
  uint32_t update;
  uint32_t cost;   /* lost messages */
  uint32_t how;    /* an example, in system->vectors: heard per group, then forged messages */
  uint64_t *masks; /* no-split: maximal sets of groups that give it, bitset_words(groups) words each */
  uint32_t nmasks;
};

static inline uint32_t bitset_words(uint32_t n) { return n / 64 + 1; }

struct local_outcome_set {
  struct local_outcome *outcomes;
  uint32_t n;
};

struct lockstep_successor { /* an outcome, for a particular local state */
  local_id next;
  uint32_t cost;
  uint32_t outcome;
  uint32_t error;            /* 1 + its place in system->errors, 0: none */
  uint64_t broken;           /* step properties */
  uint32_t adversary_choice; /* 1 + its place in system->lists: what coins make of it, next states or COIN_RESULT_ERROR
                       plus a place in system->errors; 0: no coins */
};

struct lockstep_successors {
  struct lockstep_successor *at;
  uint32_t n;
  uint32_t list; /* 1 + its place in system->next_lists, 0: not made yet */
  bool special;  /* some outcome is an error or breaks a step property */
};

struct demands {
  const struct demand *at;
  uint32_t n;
};

enum outcomes_by { OUTCOMES_BY_EITHER, OUTCOMES_BY_ENUMERATION, OUTCOMES_BY_REGIONS };

struct decision_node { /* see outcome_regions.c */
  struct form form;
  uint32_t child[3];      /* by sign + 1: 1 + node, 0: not known yet */
  uint32_t local_updates; /* a derivation: 1 + list */
};

struct lockstep {
  struct system base;
  struct pack pack;
  struct interpreter *interp;
  bool owns_interp; /* made for another thread */
  struct system_options made_with;
  struct model *model;
  const struct environment *env;
  struct arena arena;   /* everything remembered */
  struct rules **rules; /* by point and round */
  uint32_t nrules;
  struct read_set **sends, **updates; /* by role and point */
  struct intern *projections, *bags, *receivables, *local_updates, *vectors;
  struct intern *next_lists;        /* [(local, cost), ...]: what processes can become */
  struct memo projection_of;        /* (local and point, me and phase and globals) -> context */
  struct memo steps;                /* (context, bag) -> lists */
  struct memo outcome_sets_of;      /* (context, receivable) -> outcome_sets */
  struct memo local_successors_of;  /* (local and point, outcome_set) -> local_successors */
  struct memo after;                /* (local and point, update) -> local */
  struct memo round_sends_of;       /* context of sends -> alternatives */
  struct memo steps_broken;         /* (local, local) -> bits */
  struct layer_product *layerwise;  /* or NULL */
  struct memo fast_path_lists;      /* (local and point, receivable) -> lists, where that is all that matters */
  VEC(uint32_t) fast_path_sends_of; /* by local state: 1 + sending, at the point of fast_path_point */
  uint32_t fast_path_point;
  bool *fast_path; /* by point: see fast_path.c */
  enum outcomes_by outcomes_by;
  struct memo within_bag;   /* (context, bag) -> vectors: local_updates of the bag or of a part of it */
  struct memo united;       /* (vector, vector) -> vectors */
  struct memo region_roots; /* (context, messages) -> regions */
  VEC(struct decision_node) regions;
  struct memo named_of;                   /* context -> lists: the senders it names */
  bool probabilistic;                     /* almost surely: coins are told from an adversary's choices */
  uint32_t adversary_choice;              /* the last number given to one, in the state at hand */
  struct intern *plain_adversary_choices; /* of the state at hand */
  struct memo coin_results_of;            /* what coins make of it, in vectors -> 1 + place in lists */
  struct memo demands_of;                 /* demands as numbers, in pack.vectors -> 1 + place in demands */
  VEC(struct demands) demands;
  struct memo opened;        /* (mark, point) -> must its witness be chosen? */
  struct intern *rules_keys; /* rules with demands: [place of those without, demands] */
  struct memo allowed_of;    /* what decides whom a process may hear, in vectors -> the allowed sets, in vectors */
  struct memo oracles_of;    /* (local, point) -> lists: the local states with oracles chosen */
  VEC(struct list) lists;
  VEC(struct local_outcome_set) outcome_sets;
  VEC(struct lockstep_successors) local_successors;
  VEC(struct model_error) errors;
  VEC(struct local_send_list) round_sends; /* one run each */
  VEC(struct list) alternatives;           /* of round_sends */
  bool plain;
  bool group;                     /* equal messages are counted, not told apart */
  bool explicit_senders;          /* no-split with counting updates: tell all senders apart */
  bool all_costs;                 /* every cost matters, not just the cheapest */
  uint32_t nglobal_steps;         /* step properties that do not speak of one process each */
  struct step_check *step_checks; /* by property of the query */
  VEC(uint64_t) stored_at;        /* by rules index: states stored */
  uint8_t *buffer;
  size_t buffer_capacity;
  struct unpacked_state *scratch;
  struct lockstep_property_cache *property_caches;
  struct eval eval;
  uint64_t initial_states; /* emitted so far */
  bool *same_receivables;  /* by point: whatever is sent reaches all of a role, who cannot tell from whom */
  bool *same_start;        /* by role: starting does not depend on who one is */
};

/* It was interrupted, or time is up: what is being computed may be given up, and is then not remembered. */
static inline bool lockstep_stopped(const struct lockstep *s) { return s->interp->stop && *s->interp->stop; }

struct expansion;
struct layer_product;

struct step_check {
  bool step;     /* a step property at all */
  bool local;    /* forall p in R: something about p and p' alone */
  uint32_t role; /* ROLE_ANY: all */
};

#define COIN_RESULT_ERROR 0x80000000u
#define UPDATE_IDLE UINT32_MAX /* does nothing, but oracles are forgotten */
#define UPDATE_CRASH (UINT32_MAX - 1)

/* An error while sending is an alternative of its own: SENDING_ERROR plus its number. */
#define SENDING_ERROR 0x80000000u

/* lockstep_local_steps.c */
void *arena_keep_array(struct arena *, const void *from, size_t n, size_t each); /* a copy; never NULL */
uint32_t projection_of(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase, uint32_t globals);
const struct list *step_updates(struct lockstep *, uint32_t context, const value *bag, size_t length);
/* The same, computed anew, and what it decides by counts; a place in lists. */
uint32_t step_updates_traced(struct lockstep *, uint32_t context, const value *bag, size_t length, struct decisions *);
const struct list *send_alternatives(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase,
                                     uint32_t globals);
local_id local_after(struct lockstep *, local_id, uint32_t point, uint32_t update);
uint32_t update_error(const struct lockstep *, uint32_t update);

/* probabilistic_choice.c: what an adversary can choose, each a set of local_updates among which coins decide. */
struct update_run {      /* one run of an update */
  const uint32_t *taken; /* its choices */
  size_t n;
  uint64_t coins;
  uint32_t update;
};
/* Adds an update for each; of several local_updates: one that stands for the set. */
void probabilistic_updates(struct lockstep *, const struct update_run *, size_t n, uint32_t **found, size_t *nfound,
                           size_t *cap);
bool update_is_probabilistic(const struct lockstep *, uint32_t update);
void successor_of_coins(struct lockstep *, local_id, uint32_t point, uint32_t update, struct lockstep_successor *);
void add_unique(uint32_t **at, size_t *n, size_t *cap, uint32_t x); /* lockstep_local_steps.c */
/* Steps of the plain way: a number for everything that was chosen but by coins. */
uint32_t plain_adversary_choice(struct lockstep *, const struct config *, const struct witness *);

/* outcome_set.c */
/* In what order messages of a type are offered. */
bool message_before(const struct model *, const struct type *, value a, value b);
uint32_t receivable_put(struct lockstep *, uint32_t rules_index, const struct round_receivable *); /* interned */
uint32_t receivable_find(struct lockstep *, uint32_t rules_index,
                         const struct round_receivable *); /* INTERN_NONE if new */
uint32_t outcome_set_of(struct lockstep *, uint32_t context, const struct rules *, const struct round_receivable *,
                        uint32_t id);
#define BAG_ENTRY 4 /* message, sender or -1, count, lazy */

/* The processes of a state while a round is under way: split by oracle, by crash, by what they send. */
struct actor {
  local_id original; /* before its oracles were chosen */
  local_id local;
  uint32_t count;
  uint32_t role;
  uint32_t process; /* vectors: who it is; bags: some process of the role */
  uint32_t origin;  /* member of the global state */
  bool idle, crashing;
  uint32_t sending; /* place in system->round_sends, UINT32_MAX: none */
  struct round_receivable receivable;
  bool receivable_shared; /* it is another actor's */
  uint32_t receivable_id;
  uint32_t outcome_set;
  struct lockstep_successors *local_successors;
};

struct pick { /* `count` processes of an actor take a successor */
  uint32_t actor;
  const struct lockstep_successor *successor;
  uint32_t count;
};

/* One way to take a round, seen by whoever wants to know how (a trace being made concrete). */
struct round_derivation {
  const struct actor *actors;
  uint32_t nactors;
  const struct pick *picks;
  uint32_t npicks;
  const struct unpacked_state *next; /* raw */
  const struct edge *edge;
  uint32_t kernel;               /* actor that all hear, or UINT32_MAX */
  const uint32_t *uniform;       /* by actor: how many of it are heard by all, or NULL */
  const uint64_t *const *clique; /* no-split: the allowed sets of actors, or NULL */
  uint32_t nclique;
};
typedef bool round_derivation_fn(void *context, const struct round_derivation *); /* false: stop */

/* outcome_product.c: all successors; with a derivation function, every way to each of them. variant may be NULL. */
bool lockstep_successors(struct lockstep *, const struct unpacked_state *, const struct round_variant *, emit_fn *,
                         round_derivation_fn *, void *context);
struct layer_product;
bool lockstep_tasks(struct lockstep *, const struct unpacked_state *,
                    struct layer_product *); /* products, not multiplied out */

/* fast_path.c */
void fast_path_prepare(struct lockstep *);
bool fast_path_task(struct lockstep *, const struct unpacked_state *, struct layer_product *);

/* lockstep_property.c */
enum verdict3 formula_holds(struct lockstep *, uint32_t i, const struct state *,
                            struct model_error *); /* query_formula */
uint64_t steps_broken_by(struct lockstep *, local_id before, local_id after);
void step_checks_prepare(struct lockstep *);
void property_caches_free(struct lockstep *);

/* lockstep.c: see system_ops */
void lockstep_save(struct system *, struct saver *);
void lockstep_load(struct system *, struct loader *);

const struct rules *lockstep_rules(struct lockstep *, uint32_t point, uint32_t rounds, const struct round_variant *,
                                   uint32_t *index);
bool demands_hold(struct interpreter *, const struct round_variant *, const struct config *, const struct witness *);
uint32_t global_rounds(const struct lockstep *, const struct unpacked_state *); /* done so far, as far as rules ask */

#endif
