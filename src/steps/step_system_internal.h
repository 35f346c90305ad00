/* The parts of the transition system of step models. Terms:
   message_id  an interned message, including its kind
   projection  what the actions of a process depend on besides messages: its identity (only if the program text uses
               it), its local state, and the globals that its role uses
   outcome     a result of an action; (projection, messages) -> outcomes is computed once, by the interpreter
   move        an outcome applied to a state: new contents of cells, and messages to send
   moves       everything that a process can do, given the state that it sees: its local state, its inbound channels,
               and globals
   A step picks a process and one of its moves, and patches the packed state. */
#ifndef RONDO_STEPS_STEP_SYSTEM_INTERNAL_H
#define RONDO_STEPS_STEP_SYSTEM_INTERNAL_H

#include "analysis/action_use.h"
#include "interp/event_step.h"
#include "steps/channel_contents.h"
#include "steps/packed_keys.h"
#include "steps/relative_rounds.h"
#include "steps/step_system.h"
#include "steps/stubborn_sets.h"
#include "system/memo.h"

struct step_system;

/* --- action_outcomes.c: local steps --- */

struct step_outcome {
  uint32_t action;
  content next;          /* the local state after it, with dead variables cleared */
  uint32_t sends;        /* the messages sent, in steps->sends: to, kind, message for each */
  uint32_t writes;       /* the globals written, in steps->writes: global, content for each */
  uint32_t error;        /* 1 + index in steps->errors, then the other fields are undefined; 0: none */
  uint32_t free_choices; /* almost-sure properties: the adversary's choices in it, in steps->free_choice_lists */
  bool used_coin;        /* almost-sure properties: it depends on a coin */
};

struct quorum_message { /* a message that a quorum takes or reads */
  uint32_t from;
  message_id message_id;
  uint32_t place;
  uint32_t forged;
};

struct quorum_outcome {
  struct step_outcome outcome;
  const struct quorum_message *chosen; /* only if it matters which messages were chosen */
  uint32_t nchosen;
};

struct step_outcomes {
  struct step_outcome *at;
  uint32_t n;
};
struct quorum_outcomes {
  struct quorum_outcome *at;
  uint32_t n;
};

struct local_steps {
  struct arena arena;
  struct intern *projections; /* [process or role, local, globals] */
  struct intern *global_sets; /* contents of the globals that a role uses */
  struct intern *sends, *writes, *quorum_keys, *message_lists;
  struct intern *free_choice_lists;
  value forged_index; /* a further choice of the adversary: which message was forged */
  struct memo none, one, forged, quorum;
  VEC(struct step_outcomes) lists;
  VEC(struct quorum_outcomes) quorum_lists;
  VEC(struct model_error) errors;
  struct outbox outbox;
  value *local, *globals; /* scratch */
  VEC(value) scratch;     /* a key under construction, before it is interned */
  bool *uses_identity;    /* by role: the text of some action uses the identity of the process */
  bool **used;            /* [role][global]: read or written by some action */
  bool *uses;             /* by role: uses some global */
  bool uses_any;
};

/* The part of the state that a process sees. */
struct visible_state {
  uint32_t process, role;
  content local;
  uint32_t globals;     /* contents of the globals of its role, in steps->global_sets */
  uint32_t byzantine;   /* the set of Byzantine processes, in system->vectors */
  const content *inbox; /* by inbound channel */
};

void local_steps_init(struct step_system *);
void local_steps_release(struct step_system *);
size_t local_steps_bytes(const struct step_system *);
/* Stores the variables and globals in steps->local and steps->globals, in the interpreter's format. */
void local_steps_load(struct step_system *, const struct visible_state *);
struct step_outcomes local_steps_spontaneous(struct step_system *, const struct visible_state *);
struct step_outcomes local_steps_on_message(struct step_system *, const struct visible_state *, uint32_t from,
                                            message_id);
struct step_outcomes local_steps_on_forged(struct step_system *, const struct visible_state *, uint32_t from);
struct quorum_outcomes local_steps_on_quorum(struct step_system *, const struct visible_state *, uint32_t action);
struct step_outcomes local_steps_of_recovery(struct step_system *, const struct visible_state *);

/* --- process_moves.c --- */

struct patch {
  uint32_t cell;
  content to;
};

struct dead_message_cache { /* for one message from one process to another; by local state of the receiver: 0: not
                               computed, 1: live, 2: dead */
  uint8_t *of;
  uint32_t n;
  uint32_t from, to;
  message_id message_id;
};

struct channel_send {
  uint32_t cell, to;
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: the message is never dead */
};
struct channel_sends {
  struct channel_send *at;
  uint32_t n;
};

struct move {
  enum event_kind kind;
  uint32_t action; /* ACTION: the action; CRASH: the interrupted action, or NO_ACTION */
  uint32_t sender; /* for an action that takes one message */
  const struct patch *patches;
  uint32_t npatches;
  bool writes;                       /* some global changes */
  bool special;                      /* more than patches and sends */
  bool lie;                          /* ACTION that takes a message forged by a Byzantine process */
  bool optional;                     /* liveness queries: a run may end while this move is enabled */
  const struct channel_sends *sends; /* or NULL */
  uint32_t sent;                     /* ACTION: all messages sent, in steps->sends */
  uint32_t whole; /* CRASH in an action: 1 + index of that action among the moves, which must be enabled too */
  uint16_t lost, duplicated, became_faulty;
  uint64_t broken;           /* step properties about a single process that this move violates */
  uint32_t group;            /* ACTION: its fairness group, or NO_GROUP */
  uint32_t adversary_choice; /* almost-sure properties: equal for all results of the same adversary choices */
  bool used_coin;            /* almost-sure properties: it depends on a coin */
  const struct model_error *error;
};

/* A move that consists of patches and sends only, compiled for keys of up to SHORT_KEY_WORDS words. Without short
   moves, Paxos takes 7 % more instructions. */
struct short_send {
  uint64_t mask; /* of the field of its channel, shifted to bit 0 */
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: the message is never dead */
  uint32_t to;
  uint8_t word, shift;
};
struct short_move {
  const struct short_send *sends;
  uint32_t nsends;
  bool invisible;   /* no state property reads what it changes */
  uint64_t masks[]; /* the bits to keep, then the bits to set: 2 or 4 words each */
};
struct moves;
struct short_moves { /* the moves of a process: the most frequently read data, in one block */
  struct moves *of;
  uint32_t n;
  bool short_keyed; /* the moves are compiled into `at`; otherwise they are only in `of` */
  uint64_t at[];    /* short_keyed: records of struct short_move, short_move_size bytes each */
};
static inline uint32_t short_key_words(const struct keys *k) { return k->nwords <= 2 ? 2 : SHORT_KEY_WORDS; }
static inline size_t short_move_size(uint32_t words) {
  return sizeof(struct short_move) + 2 * words * sizeof(uint64_t);
}

struct moves {
  struct move *at;
  uint32_t n;
  const uint32_t *groups; /* fairness: the enabled groups of the process, without forged messages */
  uint32_t ngroups;
  uint32_t process;
  content local; /* the local state of the process */
  bool cached;
  bool short_only;                 /* no move is special */
  uint32_t layout;                 /* the key layout that `short_keyed` was compiled for; 0: none */
  struct short_moves *short_keyed; /* cached, for the current key layout */
};

struct inbound {
  uint32_t from, cell;
};

#define DIRECT_BITS 16
struct move_cache_entry {
  uint64_t window, memory;
  struct short_moves *moves;
  uint32_t byzantine;
};

/* --- relevant_fields.c --- */

struct process_relevant_fields { /* for a process in some local state */
  bool known;
  bool reads_channels; /* its inbound channels matter */
  bool reads_quorum;   /* it may read several messages at a time */
  uint64_t uses;       /* bit set of the globals that matter */
};
void relevant_fields_init(struct step_system *);
void relevant_fields_release(struct step_system *);
size_t relevant_fields_bytes(const struct step_system *);
struct process_relevant_fields relevant_fields_of(struct step_system *, uint32_t p, content local);
void memory_used_locate(struct step_system *); /* after a new key layout */

struct move_tables {   /* for one process */
  struct intern *seen; /* [local, globals, byzantine, inbox...] */
  VEC(struct moves *) moves;
};

/* Cache of the moves of a process, by bits of the key. At most one of `direct` and `cache` is not NULL. */
struct move_cache {
  /* a table indexed by window and shared memory, if they are short and nothing else matters */
  struct short_moves **direct;
  struct move_cache_entry *cache; /* NULL: not worthwhile yet, or the window does not fit */
  struct key_window window;
  uint32_t role;
  uint32_t bits; /* log2 of the cache size */
};

static inline struct move_cache_entry *move_cache_slot(const struct move_cache *g, uint64_t window, uint64_t memory,
                                                       uint32_t byzantine) {
  uint64_t h = window * 0x9E3779B97F4A7C15u + (memory ^ (uint64_t)byzantine << 40) * 0xC2B2AE3D27D4EB4Fu;
  return &g->cache[h >> (64 - g->bits)];
}
static inline bool move_cache_hit(const struct move_cache_entry *c, uint64_t window, uint64_t memory,
                                  uint32_t byzantine) {
  return c->moves && c->window == window && c->memory == memory && c->byzantine == byzantine;
}

/* --- per_message.c --- */

struct message_moves_row {  /* for a process in some local state */
  struct short_moves **of;  /* [inbound * room + message_id]; NULL: not computed */
  struct short_moves *none; /* moves that take no message; NULL: nothing is computed */
  uint32_t room;
  bool at_once; /* moves cannot be found message by message; look up all together */
};
struct message_moves_channel { /* an inbound channel: its field in keys, and the messages that can be taken from it */
  uint64_t mask;
  const struct channel_receives *receives;
  const struct key_field *field;
  uint32_t word, cell;
  uint8_t shift;
};
struct message_moves { /* for one process */
  bool used;
  uint32_t n;
  struct message_moves_row *rows; /* by local state */
  struct message_moves_channel *in, *end;
  uint64_t mask; /* of its local state in the key */
  uint32_t word;
  uint8_t shift;
};
/* Can all processes use these caches if keys are short? If so, windows are not needed. */
bool message_moves_suit(const struct step_system *);
void message_moves_release(struct step_system *);
void message_moves_clear(struct step_system *); /* after a new key layout */
size_t message_moves_bytes(const struct step_system *);
/* Enabled moves: all moves of a process, or the moves on one message together with the rest of its channel. */
struct enabled_moves {
  struct short_moves *moves;
  const struct key_field *channel; /* NULL: all moves of the process */
  content rest;
};
/* Adds the moves of p in the current state, message by message, to system->enabled_moves. False: they must be looked up
   with moves_of. */
bool message_moves_lookup(struct step_system *, uint32_t p);

/* Caches for several processes whose fields are adjacent in the key. Most of the time most of them have no move, so one
   look-up serves all. Without them, Paxos takes 4 % more instructions at 50 000 states, and more with more states. */
#define JOINT_PROCESSES_MAX 3
struct joint_cache_entry { /* the moves of the processes that have any, then NULLs */
  uint64_t window;         /* 1 + the window; 0: empty */
  struct short_moves *moves[JOINT_PROCESSES_MAX];
};
struct joint_cache {
  uint32_t first, n;
  bool by_message;                /* one process, looked up by message */
  const struct move_cache *alone; /* one process, looked up in its own cache; else NULL */
  struct key_window window;
  struct joint_cache_entry *cache; /* NULL: look up each process separately */
  uint32_t bits;                   /* log2 of the cache size */
  uint32_t missed;
};
static inline struct joint_cache_entry *joint_cache_slot(const struct joint_cache *y, uint64_t window) {
  return &y->cache[window * 0x9E3779B97F4A7C15u >> (64 - y->bits)];
}

struct moves_store {
  struct arena arena;
  struct arena short_keyed; /* short moves, stored contiguously because they are read very often */
  struct arena transient;   /* moves that are not cached, because there are too many */
  struct inbound **inbound; /* by process */
  uint32_t *ninbound;
  struct move_tables *move_tables;                         /* by process */
  VEC(struct process_relevant_fields) * relevant_by_state; /* by role: by local state */
  uint64_t *memory_used;                                   /* by role: the bits of shared memory that it uses */
  uint64_t always_used;                                    /* globals that matter in every local state */
  size_t enabled_most; /* upper bound on the entries of enabled_moves when moves are looked up by message */
  struct message_moves *per_message; /* by process */
  struct move_cache *move_caches;
  struct joint_cache *joint_caches;
  uint32_t njoint_caches;
  struct memo sends_of; /* (sends, process) -> compiled_sends */
  VEC(struct channel_sends *) compiled_sends;
  struct intern *dead_message_cache_of;
  VEC(struct dead_message_cache *) dead_messages;
  size_t move_bytes, short_bytes;
  content *inbox, *after; /* scratch */
  VEC(struct move) new_moves;
  struct short_moves *nothing; /* shared by all processes without a move */
};

void moves_store_init(struct step_system *);
void moves_store_release(struct step_system *);
size_t moves_store_bytes(const struct step_system *);
/* All moves of process p in the state in system->words. Valid until the next call. */
struct moves *moves_of(struct step_system *, uint32_t p, uint32_t byzantine);
/* The same, but looks into the caches first. */
static inline struct moves *moves_at(struct step_system *, uint32_t p, uint32_t byzantine);
/* All moves that take one message (NO_MESSAGE_ID: none), as short moves without the change to its channel. NULL: some
   of them are not short. */
struct short_moves *moves_on_message(struct step_system *, uint32_t p, content local, uint32_t in, message_id);
/* Must a crash in the middle of that action (NO_ACTION: between two actions) be explored? */
bool crash_matters(const struct step_system *, uint32_t role, uint32_t action);
/* Is the message dead for a receiver in that local state? Cached. */
__attribute__((cold)) bool dead_message_lookup(struct step_system *, struct dead_message_cache *, content local);

/* --- move_caches.c --- */

void move_caches_release(struct step_system *);
void move_caches_clear(struct step_system *); /* after a new key layout */
/* Makes the joint caches for the current key layout, or enlarges them as the search proceeds; move_cache_grow does the
   same for one process. */
__attribute__((cold)) void joint_caches_make(struct step_system *);
void move_cache_grow(struct step_system *, uint32_t p);

/* --- step_successors.c --- */

enum step_subset { STEPS_ALL, STEPS_STUBBORN, STEPS_DEFERRED }; /* STUBBORN, DEFERRED: for partial-order reduction */
/* The successors of the state in system->words. */
bool move_successors(struct step_system *, enum step_subset, emit_fn *, void *context);
bool short_key_successors(struct step_system *, emit_fn *, void *context); /* all successors, by short moves */

/* Calls the function for every enabled move, with its successor, not normalised, in system->next. False: stopped, or
   the keys are too narrow. */
typedef bool step_fn(void *context, uint32_t process, const struct move *);
bool step_system_each_move(struct step_system *, step_fn *, void *context);

/* --- automorphic.c --- */

struct automorphic_processes {
  bool any;
  bool named;   /* some value may contain the identity of a process */
  bool *role;   /* by role: its processes may be renamed */
  uint32_t *of; /* by process, for the current state: the first process that can be exchanged with it */
  uint32_t *to;
  content *row, *swapped;
};
void automorphic_init(struct step_system *);
void automorphic_find(struct step_system *, const uint64_t *words);

/* --- dead_data.c: variables and messages that can have no effect any more --- */

struct dead_data;
void dead_data_init(struct step_system *);
void dead_data_release(struct step_system *);
size_t dead_data_bytes(const struct step_system *);
/* Replaces variables that are never read again by don't-cares, in place. Uses the program point and the status only. */
void clear_dead_variables(struct step_system *, uint32_t role, value *local);
/* The channel's content without messages that are dead for a receiver in that local state. */
content drop_dead_messages(struct step_system *, uint32_t to, content local, uint32_t from, content channel);
bool message_is_dead(struct step_system *, uint32_t to, content local, uint32_t from, message_id);
/* The row of a configuration, with dead data removed. */
void row_from_config(struct step_system *, const struct config *, content *row);

/* Is the message without effect as far as this action is concerned? */
bool message_never_affects(struct step_system *, uint32_t to, content local, uint32_t from, message_id,
                           uint32_t action);
/* Are messages dropped that may be taken, but without effect? */
bool drops_ineffective_messages(const struct step_system *);

/* --- transition_fusion.c: messages that are only forwarded --- */

struct transition_fusion;
/* Leaves system->transition_fusion NULL if there are no such messages */
void transition_fusion_init(struct step_system *);
void transition_fusion_release(struct step_system *);
size_t transition_fusion_bytes(const struct step_system *);
typedef void place_message_fn(struct step_system *, uint32_t from, uint32_t to, message_id);
/* Does the message stay in its channel? */
bool transition_fusion_keeps(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id);
/* Puts the message into the channels where it ends up, unless it is dead there. */
void transition_fusion_place(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id,
                             place_message_fn *);

/* --- normalise.c: relative rounds; forwarded messages are moved to where they end up --- */

struct normaliser;
/* Call after transition_fusion_init; without transition fusion system->normaliser stays NULL */
void normaliser_init(struct step_system *);
void normaliser_release(struct step_system *);
size_t normaliser_bytes(const struct step_system *);
void normaliser_clear_cache(struct step_system *); /* the cache of changed contents */
/* Adds a message to the next row to be normalised; drops all messages added so far. */
void normalise_deferred_send(struct step_system *, uint32_t from, uint32_t to, message_id);
void normalise_drop_deferred(struct step_system *);
/* Does the row differ from the state in its messages only? */
bool only_messages_differ(const struct step_system *, const uint64_t *words, const content *row);
/* In place; returns the round distance. */
uint32_t row_normalise(struct step_system *, content *row);

/* --- constant_memory.c: variables that are never read again because shared memory will not change --- */

struct constant_memory;
/* Leaves system->constant_memory NULL if there are no such variables */
void constant_memory_init(struct step_system *);
void constant_memory_release(struct step_system *);
/* The local state of p with such variables cleared, given the contents of the globals that its role uses. */
content clear_unread_variables(struct step_system *, uint32_t p, content local, uint32_t globals);
uint32_t globals_of_row(struct step_system *, const content *row, uint32_t role);
uint32_t globals_after(struct step_system *, uint32_t role, uint32_t globals, uint32_t writes);

/* --- sample_contents.c: random walks that name most contents before the first key layout --- */

void sample_contents(struct step_system *);

/* --- step_properties.c --- */

struct step_property_memo;
void properties_init(struct step_system *);
void properties_release(struct step_system *);
enum verdict3 step_system_holds(struct step_system *, uint32_t i, const struct state *, struct model_error *);
enum verdict3 step_system_atom(struct step_system *, uint32_t i, const struct state *, struct model_error *);
/* Does the move, taken in that local state, change nothing that a state property reads? */
bool move_is_invisible(struct step_system *, uint32_t p, content local, const struct move *);
/* The violated step properties of the form `forall p in R: ...` that concern p alone. */
uint64_t step_properties_broken_by_process(struct step_system *, uint32_t p, content before, content after);
/* The other violated step properties, evaluated on whole states. */
uint64_t step_properties_broken_by_step(struct step_system *, const uint64_t *before, const uint64_t *after);

/* --- step_fairness.c --- */

void groups_init(struct step_system *);
/* The fairness group of an event, or of an action that takes one message (`in`, else NULL); NO_GROUP: none. */
uint32_t group_of_event(struct step_system *, const struct event *);
uint32_t group_of_action(struct step_system *, uint32_t p, uint32_t action, const struct inbox_entry *in);
void step_system_enabled(struct system *, const struct state *, group_fn *, void *context);

/* --- step_initial.c --- */

bool step_system_initial(struct step_system *, emit_fn *, void *context);
/* An initial configuration with the key of the state. */
struct config *step_system_initial_find(struct step_system *, const struct state *);

/* --- step_concretise.c --- */

bool step_system_concretise(struct system *, const struct state *path, uint32_t n, const struct path_goal *,
                            struct run *);
bool step_system_concretise_path(struct system *, const struct state *path, uint32_t n, const struct step_requirement *,
                                 struct run *);

/* --- step_system.c --- */

struct step_system {
  struct system base;
  struct state_cells cells;
  struct keys keys;
  struct keys before; /* the previous layout, after keys were widened */
  struct channel_ops channels;
  struct local_steps steps;
  struct moves_store moves_store;
  struct dead_data *dead_data;
  struct constant_memory *constant_memory;     /* or NULL */
  struct transition_fusion *transition_fusion; /* or NULL */
  struct normaliser *normaliser;               /* or NULL */
  /* messages are added when the row is normalised, so that only contents that are stored get names */
  bool may_defer_sends, defers_sends;
  bool only_messages; /* the row is a stored one with fewer messages: everything else is normalised already */
  struct automorphic_processes automorphic;
  struct canonical *canonical;    /* NULL: no symmetry reduction */
  struct relative_rounds *window; /* NULL: rounds are absolute */
  bool normalised; /* canonical, window or transition_fusion is in use: states are changed before they are stored */
  struct may_enable *may_enable;                   /* or NULL */
  struct stubborn *stubborn;                       /* NULL: every step is explored */
  uint64_t *enabled, *visible_set, *invisible_set; /* classes of steps, for stubborn sets */
  const struct clause *fair;  /* liveness queries: the fairness clause of the environment, or NULL */
  struct intern *group_names; /* [process, action, sender, message] */
  struct intern *adversary_choice_names;
  struct step_property_memo *properties;
  uint32_t digests_from; /* digests are laid out after this many evaluations of a property (tests: after the first) */
  uint32_t nlocal_steps,
      nglobal_steps; /* numbers of step properties that are evaluated on one process, and on whole states */
  struct interpreter *interp;
  struct model *model;
  const struct environment *env;
  const struct action_uses *use;
  uint32_t *role_of; /* by process */
  struct arena arena;
  struct intern *vectors;
  struct intern *statuses;      /* status vectors of all processes */
  VEC(const uint8_t *) permits; /* by status vector, then by process: PERMIT_... */
  bool drops_dead_messages;
  bool drops_blocked_messages; /* FIFO: messages behind a message that is never taken are dropped too */
  bool plain;                  /* the reference interpreter computes the successors */
  /* faults of the environment that are explored, after reductions */
  bool loses, duplicates, crashes, recovers, byzantine;
  bool parts; /* a crash in the middle of an action may send any subset of its messages, not just all of them */
  bool crash_invisible; /* a crashed process cannot be distinguished from one that takes no more steps */
  bool short_keys;      /* for the current key layout: see uses_short_keys */
  uint64_t expanded;    /* states expanded since the last key layout */
  struct system_options options;
  bool owns_interp; /* set if made for another thread */
  bool sampled;
  bool keys_too_narrow; /* a new key layout is needed */
  uint32_t max_distance;
  bool too_far;       /* the last row passed to row_key exceeds max_distance */
  uint64_t *farthest; /* the key of base.farthest */
  /* scratch */
  uint64_t *words, *next, *packed, *whole;
  content *row;
  uint64_t *memory; /* by role: the shared memory that it sees, as bits of the key or as a name */
  VEC(struct enabled_moves)
  enabled_moves; /* for the current state; there is always room for one more entry per process */
  value *status, *vector;
  const uint8_t *permitted; /* by process, for the current state: PERMIT_... */
};
#define PERMIT_CRASH 1
#define PERMIT_RECOVERY 2

/* Can successors be computed by short moves, which only change the key? Applies if keys are short. */
static inline bool uses_short_keys(const struct step_system *s) {
  return !s->stubborn && !s->normalised && !s->crashes && !s->nglobal_steps && !s->drops_blocked_messages;
}

static inline struct short_moves **move_cache_direct_slot(const struct step_system *s, const struct move_cache *g) {
  return &g->direct[key_window(&g->window, s->words) | s->memory[g->role] << g->window.width];
}

/* NULL: not in the cache. */
static inline struct short_moves *moves_in_cache(const struct step_system *s, const struct move_cache *g,
                                                 uint32_t byzantine) {
  if (g->direct)
    return *move_cache_direct_slot(s, g);
  if (g->cache) {
    uint64_t memory = s->memory[g->role], window = key_window(&g->window, s->words);
    const struct move_cache_entry *known = move_cache_slot(g, window, memory, byzantine);
    if (move_cache_hit(known, window, memory, byzantine))
      return known->moves;
  }
  return NULL;
}

static inline struct moves *moves_at(struct step_system *s, uint32_t p, uint32_t byzantine) {
  const struct short_moves *known = moves_in_cache(s, &s->moves_store.move_caches[p], byzantine);
  return known ? known->of : moves_of(s, p, byzantine);
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
      s->memory[r] =
          s->keys.memory.fits ? memory & s->moves_store.memory_used[r] : visible_globals(s, s->words, r, UINT64_MAX);
  return s->byzantine ? visible_byzantine(s, s->words) : 0;
}

#endif
