/* One thread's part of a search: states of a layer are taken from the frontier, and what follows them goes into the store.
   Successors go in together, so that the waits for memory overlap. With one thread they go in in the order in which they
   are found; several threads each have a space and a lane of the store. */
#ifndef RONDO_SEARCH_SWEEP_H
#define RONDO_SEARCH_SWEEP_H

#include "base/vec.h"
#include "search/bfs.h"
#include "search/shelf.h"

#include <pthread.h>
#include <stdatomic.h>

/* The states of a layer: a stretch of each lane. */
struct layer {
  state_ref from[STORE_LANES], to[STORE_LANES];
  uint32_t lanes;
};
static inline bool layer_empty(const struct layer *l) {
  for (uint32_t i = 0; i < l->lanes; i++)
    if (l->from[i] < l->to[i])
      return false;
  return true;
}

/* Where a layer is read. Several threads read it in turns, a few states at a time, each from its own lane as long as there are any: what
   comes after those it has found is found by others more rarely. */
struct frontier {
  const struct layer *layer;
  struct store_reader reader[STORE_LANES]; /* by lane of the layer */
  bool in_order; /* lane by lane: if states go to a shelf, what is left of the layer is the rest of it */
  pthread_mutex_t *lock; /* NULL: one thread */
  const state_ref *first; /* states that come before all that */
  size_t nfirst;
  _Atomic uint64_t taken;
  bool on_shelf; /* then it is read there */
  struct shelf_reader shelf;
};

/* What is being done to which layer. */
enum stage_kind {
  STAGE_CHECK,
  STAGE_EXPAND,
  STAGE_OTHERS, /* of several ranks: steps that were put off */
  STAGE_BEYOND,
  STAGE_INITIAL /* the first layer is being made */
};
struct stage {
  enum stage_kind kind;
  struct layer layer;
  struct layer next;    /* EXPAND: the layer being made: its `from` */
  uint64_t states;      /* of the layer */
  uint64_t before;      /* EXPAND: states that there were when it began */
  uint64_t transitions; /* when it began */
  /* How far it had come when it was written down: */
  bool begun;
  state_ref at[STORE_LANES]; /* by lane of the layer: states from here on, */
  VEC(state_ref) first; /* and these before them */
  uint64_t done;        /* states that are not among those */
};
void frontier_of(struct frontier *, const struct search *, const struct layer *); /* what is left of the layer at its stage */

/* Where a sweep can be written down. */
enum rests {
  REST_NEVER,
  REST_BETWEEN,  /* between two states */
  REST_ANYWHERE  /* its layer will be begun again */
};
struct taken {
  state_ref ref;
  struct stored stored;
};
#define TAKEN_MOST 256
uint32_t frontier_take(struct frontier *, uint32_t lane, struct taken *, shelf_bytes *); /* how many; 0: none is left */
void frontier_release(struct frontier *);

struct pending;
struct brief_pending;
struct reduced;
struct recent;
struct recent_pair;
struct led_to;
struct parcels;

/* A property of states that may yet be decided, and by which answer. */
struct asked {
  uint32_t property;
  enum verdict3 found;
};

struct sweep {
  struct search *search;
  struct space *space;
  uint32_t lane;
  bool shared;                  /* others are at it, too */
  atomic_bool *halt;            /* shared: somebody has to stop, so all do */
  struct finding *findings, error;
  enum search_end end;          /* EXHAUSTED, or why it had to stop */
  uint64_t transitions, frontier_states;
  bool room;                    /* in the store, for all that is on its way there */
  bool unchecked;               /* there are states of the next layer whose properties were not looked at when they were stored */
  _Atomic size_t memory;        /* of its space, when it last looked */
  const struct layer *next;     /* the layer being made, as far as it was made when it began: its `from` */
  state_ref from;               /* the state being expanded, STORE_NONE for initial ones */
  charge from_charge;
  uint32_t rounds;              /* of what is being found */
  uint32_t ticks, looks;
  double started, last_progress;
  struct frontier *frontier;
  struct taken taken[TAKEN_MOST];
  uint32_t ntaken, at;          /* the next one of those */
  shelf_bytes taken_bytes;      /* theirs, if they were on a shelf */
  shelf_bytes one;              /* of one state that was there */
  struct pending *pending;
  uint32_t npending;
  VEC(uint8_t) keys;
  VEC(struct reduced) reduced;
  struct stored *waiting;       /* those again, where the store does not have their keys; or NULL */
  size_t completed;             /* of those, by sweep_complete_layer */
  VEC(struct led_to) led_to;    /* candidates that those led to */
  VEC(charge) charges;          /* that origins name */
  VEC(struct asked) asked;
  struct recent *recent;
  struct recent_pair *recent_pairs;
  uint32_t pairs_length; /* of the keys that those are for, 0: none */
  struct short_states brief;
  struct brief_pending *brief_pending;
  uint32_t nbrief_pending;
  struct parcels *parcels; /* of several ranks: where everything goes that is found, instead of the store; or NULL */
  bool made;     /* what it was to do is done */
  enum rests rests;
};

static inline const struct property *question_property(const struct space *space, uint32_t i) {
  return &space->model->properties[space->question->properties[i]];
}
static inline bool is_state_property(const struct property *p) { return p->kind != PROPERTY_LIVE && !p->step; }

/* --- bfs.c --- */

bool search_all_decided(const struct search *);
void search_tell_decided(struct search *); /* to the space */
struct goal finding_goal(const struct finding *);
void search_stop(struct search *, enum search_end why); /* the first reason counts */
void search_forget(struct search *, struct sweep *);    /* everything that was found */

/* --- sweep.c --- */

struct sweep *sweep_new(struct search *, struct space *, uint32_t lane);
void sweep_free(struct sweep *);
void sweep_start(struct sweep *);  /* the clock */
void sweep_forget(struct sweep *); /* what it knows of the store */

void sweep_stop(struct sweep *, enum search_end why);
/* False: a limit was reached, or somebody wants the search to stop. */
bool sweep_undisturbed(struct sweep *);
/* Was the space told to give up? Then it may have told too few steps of the states that were expanded last. */
bool sweep_cut_short(struct sweep *);
bool sweep_look(struct sweep *); /* as sweep_undisturbed; looks at the clock and at memory, too */
void sweep_refresh(struct sweep *); /* the search's stats */
void sweep_started(struct sweep *, double seconds); /* it has run for so long already */
/* What is on its way into the store, and what it remembers of it. */
void sweep_save(const struct sweep *, struct saver *);
void sweep_load(struct sweep *, struct loader *);

/* States that were in memory are on the shelf now. */
void sweep_move(struct sweep *, const struct spill *);
/* It is known which candidates are new. */
void sweep_learn(struct sweep *);

/* How a state is named to a space that expands many at once; and to be the one that what is emitted comes from. */
uint64_t sweep_origin(struct sweep *, const struct taken *);
void sweep_set_from(struct sweep *, uint64_t origin);

bool sweep_initial(struct sweep *);
/* Everything after the states that it takes from the frontier; false: it was stopped. */
bool sweep_expand(struct sweep *);
/* Of several ranks, which of the states that put steps off made headway is known only when all ranks are through: those that
   did not take their other steps then. */
void sweep_made_headway(struct sweep *, state_ref from);
bool sweep_complete_layer(struct sweep *);
/* A step from the state being expanded breaks a property; true: nothing better was known. */
bool sweep_found_step(struct sweep *, uint32_t property, charge);
/* The properties of states that it takes from the frontier. */
bool sweep_check(struct sweep *);
/* Is there anything new after this layer? Then the search is cut off, else it has seen everything. */
void sweep_look_beyond(struct sweep *);
/* Takes over what another one found. */
void sweep_join(struct sweep *, struct sweep *other);

/* --- threads.c --- */

struct crew;
/* NULL: the space cannot be shared. */
struct crew *crew_new(struct sweep *first, uint32_t threads);
void crew_dismiss(struct crew *); /* nothing more is to be done; what was found stays */
void crew_free(struct crew *);
size_t crew_memory(const struct crew *); /* of the others' spaces */
/* Everybody does it; false: not all was done. */
bool crew_do(struct crew *, bool (*work)(struct sweep *), const struct layer *frontier, const struct layer *next);
/* Everything is in the store but what comes after states that it has yet to take up. Waits for the others; the last one
   writes the search down. */
void crew_rest(struct crew *);

/* --- rekey.c --- */

/* Keys have become too narrow: all states get other ones, and the layer that was being expanded is begun again. False: they are lost. */
bool search_rekey(struct sweep *);

/* --- checkpoint.c --- */

/* All of them rest; the first one has joined the others. */
void checkpoint_write(struct search *, struct sweep *const *all, uint32_t n);
void checkpoint_write_end(struct search *, struct sweep *);
enum checkpoint_found { CHECKPOINT_NONE, CHECKPOINT_END, CHECKPOINT_AMID };
enum checkpoint_found checkpoint_read(struct search *, struct sweep *);

#endif
