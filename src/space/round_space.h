/* Inside the round space: coarse-grained rounds made of remembered local steps.
     context  what a local step depends on besides its messages: role, point, the variables it reads
     bag      what was received          (context, bag) -> effects           computed once, by the interpreter
     offer    what can be received       (context, offer) -> menu            the distinct effects, and how cheaply
     effect   what an update changes     (local state, effect) -> local state
   A global successor picks one effect for each process, as far as the environment lets them go together. */
#ifndef RONDO_SPACE_ROUND_SPACE_H
#define RONDO_SPACE_ROUND_SPACE_H

#include "sem/local.h"
#include "space/marks.h"
#include "space/pack.h"
#include "space/rules.h"

struct list { /* of ids; immutable */
  uint32_t *at;
  uint32_t n;
};

struct group { /* senders whose messages the receiver cannot tell apart */
  value message;
  bool silent;      /* they send it nothing: only HO can tell */
  bool self;        /* the receiver is among them */
  uint32_t tag;     /* who it is, if that can be told; else NO_SENDER */
  uint32_t count;   /* how many */
  uint32_t must;    /* how many of them no fault excuses */
  uint64_t members; /* which members of the ensemble (the first 64) */
};

struct offer { /* all that one receiver may get */
  struct group *groups;
  uint32_t n;
  uint32_t wild;    /* Byzantine senders: each sends anything or nothing */
  uint32_t *wild_tags;
  uint32_t need;    /* this group must be heard (kernel), or UINT32_MAX */
  bool exact;       /* everything offered is heard (uniform rounds) */
  uint32_t sized;   /* which of the rules' conditions on sizes are about the receiver as one that is followed, a bit each */
  uint32_t allowed; /* 1 + which heard-of sets are allowed, a bit each, in space->vectors; 0: any */
};

struct line { /* of a menu */
  uint32_t effect;
  uint32_t cost;      /* lost messages */
  uint32_t how;       /* an example, in space->vectors: heard per group, then forged messages */
  uint64_t *masks;    /* no-split: maximal sets of groups that give it */
  uint32_t nmasks;
};

struct menu {
  struct line *lines;
  uint32_t n;
};

struct option { /* a line of a menu, for a particular local state */
  local_id next;
  uint32_t cost;
  uint32_t line;
  uint32_t error;   /* 1 + its place in space->errors, 0: none */
  uint64_t broken;  /* step properties */
  uint32_t lottery; /* 1 + its place in space->lists: what coins make of it, next states or OUTCOME_ERROR plus a place in
                       space->errors; 0: no coins */
};

struct options {
  struct option *at;
  uint32_t n;
  uint32_t list;    /* 1 + its place in space->next_lists, 0: not made yet */
  bool special;     /* some line is an error or breaks a step property */
};

struct demands {
  const struct demand *at;
  uint32_t n;
};

enum menus_by { MENUS_BY_EITHER, MENUS_BY_ENUMERATION, MENUS_BY_REGIONS };

struct region_node { /* see regions.c */
  struct form form;
  uint32_t child[3]; /* by sign + 1: 1 + node, 0: not known yet */
  uint32_t effects;  /* a leaf: 1 + list */
};

struct round_space {
  struct space base;
  struct pack pack;
  struct meaning *meaning;
  bool own_meaning;            /* made for another thread */
  struct space_options made_with;
  struct model *model;
  const struct environment *env;
  struct arena arena;          /* everything remembered */
  struct rules **rules;        /* by point and round */
  uint32_t nrules;
  struct reads **sends, **updates; /* by role and point */
  struct intern *contexts, *bags, *offers, *effects, *vectors;
  struct intern *next_lists;   /* [(local, cost), ...]: what processes can become */
  struct memo context_of;      /* (local and point, me and phase and globals) -> context */
  struct memo steps;           /* (context, bag) -> lists */
  struct memo menus_of;        /* (context, offer) -> menus */
  struct memo options_of;      /* (local and point, menu) -> options */
  struct memo after;           /* (local and point, effect) -> local */
  struct memo sendings_of;     /* context of sends -> alternatives */
  struct memo steps_broken;    /* (local, local) -> bits */
  struct together *together;   /* or NULL */
  struct memo quick_lists;     /* (local and point, offer) -> lists, where that is all that matters */
  VEC(uint32_t) quick_sends;   /* by local state: 1 + sending, at the point of quick_point */
  uint32_t quick_point;
  bool *quick;                 /* by point: see quick.c */
  enum menus_by menus_by;
  struct memo within_bag;      /* (context, bag) -> vectors: effects of the bag or of a part of it */
  struct memo united;          /* (vector, vector) -> vectors */
  struct memo region_roots;    /* (context, messages) -> regions */
  VEC(struct region_node) regions;
  struct memo named_of;        /* context -> lists: the senders it names */
  bool lotteries;              /* almost surely: coins are told from an adversary's choices */
  uint32_t lottery;            /* the last number given to one, in the state at hand */
  struct intern *plain_lotteries; /* of the state at hand */
  struct memo outcomes_of;     /* what coins make of it, in vectors -> 1 + place in lists */
  struct memo demands_of;      /* demands as numbers, in pack.vectors -> 1 + place in demands */
  VEC(struct demands) demands;
  struct memo opened;          /* (mark, point) -> must its witness be chosen? */
  struct intern *rules_keys;   /* rules with demands: [place of those without, demands] */
  struct memo allowed_of;      /* what decides whom a process may hear, in vectors -> the allowed sets, in vectors */
  struct memo oracles_of;      /* (local, point) -> lists: the local states with oracles chosen */
  VEC(struct list) lists;
  VEC(struct menu) menus;
  VEC(struct options) options;
  VEC(struct model_error) errors;
  VEC(struct sendings) sendings; /* one run each */
  VEC(struct list) alternatives; /* of sendings */
  bool plain;
  bool group;                  /* equal messages are counted, not told apart */
  bool explicit_senders;       /* no-split with counting updates: tell all senders apart */
  bool all_costs;              /* every cost matters, not just the cheapest */
  uint32_t nglobal_steps;      /* step properties that do not speak of one process each */
  struct step_check *step_checks; /* by property of the question */
  VEC(uint64_t) stored_at;     /* by rules index: states stored */
  uint8_t *buffer;
  size_t buffer_capacity;
  struct global *scratch;
  struct property_memo *property_memos;
  struct eval eval;
  uint64_t initial_states;     /* emitted so far */
  bool *same_offers;           /* by point: whatever is sent reaches all of a role, who cannot tell from whom */
  bool *same_start;            /* by role: starting does not depend on who one is */
};

/* It was interrupted, or time is up: what is being computed may be given up, and is then not remembered. */
static inline bool round_stopped(const struct round_space *s) { return s->meaning->stop && *s->meaning->stop; }

struct expansion;
struct together;

struct step_check {
  bool step;         /* a step property at all */
  bool local;        /* forall p in R: something about p and p' alone */
  uint32_t role;     /* ROLE_ANY: all */
};

#define OUTCOME_ERROR 0x80000000u
#define EFFECT_IDLE UINT32_MAX        /* does nothing, but oracles are forgotten */
#define EFFECT_CRASH (UINT32_MAX - 1)

/* An error while sending is an alternative of its own: SENDING_ERROR plus its number. */
#define SENDING_ERROR 0x80000000u

/* steps.c */
void *keep_array(struct arena *, const void *from, size_t n, size_t each); /* a copy; never NULL */
uint32_t context_of(struct round_space *, local_id, uint32_t point, uint32_t me, value phase, uint32_t globals);
const struct list *step_effects(struct round_space *, uint32_t context, const value *bag, size_t length);
/* The same, computed anew, and what it decides by counts; a place in lists. */
uint32_t step_followed(struct round_space *, uint32_t context, const value *bag, size_t length, struct decisions *);
const struct list *send_alternatives(struct round_space *, local_id, uint32_t point, uint32_t me, value phase,
                                     uint32_t globals);
local_id local_after(struct round_space *, local_id, uint32_t point, uint32_t effect);
uint32_t effect_error(const struct round_space *, uint32_t effect);

/* lottery.c: what an adversary can choose, each a set of effects among which coins decide. */
struct toss { /* one run of an update */
  const uint32_t *taken; /* its choices */
  size_t n;
  uint64_t coins;
  uint32_t effect;
};
/* Adds an effect for each; of several effects: one that stands for the set. */
void lotteries_of(struct round_space *, const struct toss *, size_t n, uint32_t **found, size_t *nfound, size_t *cap);
bool effect_is_lottery(const struct round_space *, uint32_t effect);
void option_of_lottery(struct round_space *, local_id, uint32_t point, uint32_t effect, struct option *);
void add_unique(uint32_t **at, size_t *n, size_t *cap, uint32_t x); /* steps.c */
/* Steps of the plain way: a number for everything that was chosen but by coins. */
uint32_t plain_lottery(struct round_space *, const struct config *, const struct witness *);

/* menu.c */
/* In what order messages of a type are offered. */
bool message_before(const struct model *, const struct type *, value a, value b);
uint32_t offer_put(struct round_space *, uint32_t rules_index, const struct offer *); /* interned */
uint32_t offer_find(struct round_space *, uint32_t rules_index, const struct offer *); /* INTERN_NONE if new */
uint32_t menu_of(struct round_space *, uint32_t context, const struct rules *, const struct offer *, uint32_t id);
#define BAG_ENTRY 4 /* message, sender or -1, count, lazy */

/* The processes of a state while a round is under way: split by oracle, by crash, by what they send. */
struct actor {
  local_id original; /* before its oracles were chosen */
  local_id local;
  uint32_t count;
  uint32_t role;
  uint32_t process;  /* vectors: who it is; bags: some process of the role */
  uint32_t origin;   /* member of the global state */
  bool idle, crashing;
  uint32_t sending;  /* place in space->sendings, UINT32_MAX: none */
  struct offer offer;
  bool offer_shared; /* it is another actor's */
  uint32_t offer_id;
  uint32_t menu;
  struct options *options;
};

struct pick { /* `count` processes of an actor take an option */
  uint32_t actor;
  const struct option *option;
  uint32_t count;
};

/* One way to take a round, seen by whoever wants to know how (a trace being made concrete). */
struct leaf {
  const struct actor *actors;
  uint32_t nactors;
  const struct pick *picks;
  uint32_t npicks;
  const struct global *next;     /* raw */
  const struct edge *edge;
  uint32_t kernel;               /* actor that all hear, or UINT32_MAX */
  const uint32_t *uniform;       /* by actor: how many of it are heard by all, or NULL */
  const uint64_t *clique;        /* no-split: the allowed sets of actors, or NULL */
  uint32_t nclique;
};
typedef bool leaf_fn(void *context, const struct leaf *); /* false: stop */

/* product.c: all successors; with a leaf function, every way to each of them. variant may be NULL. */
bool round_successors(struct round_space *, const struct global *, const struct variant *, emit_fn *, leaf_fn *,
                      void *context);
struct together;
bool round_tasks(struct round_space *, const struct global *, struct together *); /* products, not multiplied out */

/* quick.c */
void quick_prepare(struct round_space *);
bool quick_task(struct round_space *, const struct global *, struct together *);

/* property.c */
enum verdict3 formula_holds(struct round_space *, uint32_t i, const struct state *, struct model_error *); /* question_formula */
uint64_t steps_broken_by(struct round_space *, local_id before, local_id after);
void step_checks_prepare(struct round_space *);
void property_memos_free(struct round_space *);

/* round_space.c: see space_ops */
void round_space_save(struct space *, struct saver *);
void round_space_load(struct space *, struct loader *);

const struct rules *space_rules(struct round_space *, uint32_t point, uint32_t rounds, const struct variant *,
                                uint32_t *index);
bool demands_hold(struct meaning *, const struct variant *, const struct config *, const struct witness *);
uint32_t global_rounds(const struct round_space *, const struct global *); /* done so far, as far as rules ask */

#endif
