/* The parts of the transition system of steps. Its words:
   message_id  a message with its kind, interned
   projection  what the actions of a process depend on besides messages: who it is (only if the text asks), its local
               state, and the globals that its role uses
   outcome     a result of an action: (projection, messages) -> outcomes is computed once, by the interpreter
   move        an outcome in its place: which cells get which contents, what is sent where
   moves       everything that a process can do, by what it sees: its local state, the channels into it, globals
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
  content next;          /* the local state after it, with nothing in it that is never read again */
  uint32_t sends;        /* what is sent, in steps->sends: to, kind, message for each */
  uint32_t writes;       /* globals that got a value, in steps->writes: global, content for each */
  uint32_t error;        /* 1 + its place in steps->errors, 0: none; then the rest means nothing */
  uint32_t free_choices; /* almost surely: the choices of the adversary in it, in steps->free_choice_lists */
  bool used_coin;        /* almost surely: it depends on a coin */
};

struct quorum_message { /* a message that a quorum takes or reads */
  uint32_t from;
  message_id message_id;
  uint32_t place;
  uint32_t forged;
};

struct quorum_outcome {
  struct step_outcome outcome;
  const struct quorum_message *chosen; /* only where it matters which messages they are */
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
  value forged_index; /* another choice of the adversary: which message was forged */
  struct memo none, one, forged, quorum;
  VEC(struct step_outcomes) lists;
  VEC(struct quorum_outcomes) quorum_lists;
  VEC(struct model_error) errors;
  struct outbox outbox;
  value *local, *globals; /* scratch */
  VEC(value) scratch;     /* a key that is put together, until it is interned */
  bool *uses_identity;    /* by role: some action's text asks who it is */
  bool **used;            /* [role][global]: read or written by some action */
  bool *uses;             /* by role: any of them */
  bool uses_any;
};

/* What a process sees of the state. */
struct visible_state {
  uint32_t process, role;
  content local;
  uint32_t globals;     /* which contents the globals of its role have, in steps->global_sets */
  uint32_t byzantine;   /* the Byzantine processes, in system->vectors */
  const content *inbox; /* by inbound channel */
};

void local_steps_init(struct step_system *);
void local_steps_release(struct step_system *);
size_t local_steps_bytes(const struct step_system *);
/* Stores its variables and globals in steps->local and steps->globals, in the form that the interpreter takes. */
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

struct dead_message_cache { /* of one message from one process to another: by local state of the receiver, 0: not known,
                     1: it stays, 2: nobody cares */
  uint8_t *of;
  uint32_t n;
  uint32_t from, to;
  message_id message_id;
};

struct channel_send {
  uint32_t cell, to;
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: it always stays */
};
struct channel_sends {
  struct channel_send *at;
  uint32_t n;
};

struct move {
  enum event_kind kind;
  uint32_t action; /* ACTION; CRASH: in the middle of it, or NO_ACTION */
  uint32_t sender; /* of an action that takes one message */
  const struct patch *patches;
  uint32_t npatches;
  bool writes;                       /* some global changes */
  bool special;                      /* it is more than patches and sends */
  bool lie;                          /* ACTION on one message that a Byzantine process forged */
  bool optional;                     /* queries about runs: a run may end without it */
  const struct channel_sends *sends; /* or NULL */
  uint32_t sent;                     /* ACTION: all that it sends, in steps->sends */
  uint32_t whole; /* CRASH in an action: 1 + that action's place among the moves; it must be possible, too */
  uint16_t lost, duplicated, became_faulty;
  uint64_t broken;           /* step properties about one process each that it breaks */
  uint32_t group;            /* ACTION: what it takes, or NO_GROUP */
  uint32_t adversary_choice; /* almost surely: equal for all results of the same choices of the adversary */
  bool used_coin;            /* almost surely: it depends on a coin */
  const struct model_error *error;
};

/* A move that consists of patches and sends only, compiled for keys of up to 4 words. */
struct short_send {
  uint64_t mask; /* of its channel's field, shifted down */
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: it always stays */
  uint32_t to;
  uint8_t word, shift;
};
struct short_move {
  const struct short_send *sends;
  uint32_t nsends;
  bool invisible;   /* no property of states reads what it changes */
  uint64_t masks[]; /* which bits it keeps, then which ones it sets: 2 words each, or 4 */
};
struct moves;
struct short_moves { /* of a process: what is read most often, in one block */
  struct moves *of;
  uint32_t n;
  bool short_keyed; /* they are in `at`; else only in `of` */
  uint64_t at[];    /* short_keyed: struct short_move, each of short_move_size bytes */
};
static inline uint32_t short_key_words(const struct keys *k) { return k->nwords <= 2 ? 2 : SHORT_KEY_WORDS; }
static inline size_t short_move_size(uint32_t words) {
  return sizeof(struct short_move) + 2 * words * sizeof(uint64_t);
}

struct moves {
  struct move *at;
  uint32_t n;
  const uint32_t *groups; /* fairness: what the process can take without forged messages */
  uint32_t ngroups;
  uint32_t process;
  content local; /* in which it is */
  bool cached;
  bool short_only;                 /* none of them is special */
  uint32_t layout;                 /* of keys for which `short_keyed` was made; 0: none */
  struct short_moves *short_keyed; /* cached: for the keys as they are */
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

struct process_relevant_fields { /* of a process in some local state */
  bool known;
  bool reads_channels; /* the channels into it matter */
  bool reads_quorum;   /* it may read several messages at a time */
  uint64_t uses;       /* by global: it matters */
};
struct irrelevant_bits { /* by local state: the bits of its window and of shared memory that do not matter */
  uint64_t window, memory;
};
void relevant_fields_init(struct step_system *);
void relevant_fields_release(struct step_system *);
size_t relevant_fields_bytes(const struct step_system *);
struct process_relevant_fields relevant_fields_of(struct step_system *, uint32_t p, content local);
void irrelevant_bits_clear(struct step_system *); /* keys were laid out anew */
void irrelevant_bits_note(struct step_system *, uint32_t p, content local, const struct process_relevant_fields *);

struct move_tables {   /* of one process */
  struct intern *seen; /* [local, globals, byzantine, inbox...] */
  VEC(struct moves *) moves;
};

/* A process's moves by bits of the key. At most one of `direct` and `cache` is not NULL. */
struct move_cache {
  struct short_moves **direct;    /* a table by window and shared memory, if they are short and nothing else matters */
  struct move_cache_entry *cache; /* NULL: it does not pay yet, or the window does not fit */
  const struct irrelevant_bits *irrelevant_bits; /* by local state, or NULL */
  uint64_t local_mask;                           /* where that is in the window */
  struct key_window window;
  uint32_t role;
  uint32_t bits; /* of the cache's size */
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

struct message_moves_row {  /* of a process in some local state */
  struct short_moves **of;  /* [inbound * room + message_id], NULL: not known */
  struct short_moves *none; /* without a message; NULL: nothing is known */
  uint32_t room;
  bool at_once; /* look up all moves together instead */
};
struct message_moves_channel { /* into it: its field in keys, and what can be taken from it */
  uint64_t mask;
  const struct channel_receives *receives;
  const struct key_field *field;
  uint32_t word, cell;
  uint8_t shift;
};
struct message_moves { /* of a process */
  bool used;
  uint32_t n;
  struct message_moves_row *rows; /* by local state */
  struct message_moves_channel *in, *end;
  uint64_t mask; /* of its local state, in keys */
  uint32_t word;
  uint8_t shift;
};
/* Can it be used for all processes, if keys are short? Then no windows are needed. */
bool message_moves_suit(const struct step_system *);
void message_moves_release(struct step_system *);
void message_moves_clear(struct step_system *); /* keys were laid out anew */
size_t message_moves_bytes(const struct step_system *);
/* Moves that are enabled: all of a process, or those on one message, with what is left of its channel then. */
struct enabled_moves {
  struct short_moves *moves;
  const struct key_field *channel; /* NULL: all of them */
  content rest;
};
/* Adds the moves of p in the current state, message by message, to system->enabled_moves. False: they must be looked up
   in another way. */
bool message_moves_lookup(struct step_system *, uint32_t p);

/* Processes whose fields are adjacent in the key, looked up together: most of them have no move most of the time. */
#define JOINT_PROCESSES_MAX 3
struct joint_cache_entry { /* the moves of those that have some, then NULLs */
  uint64_t window;         /* 1 + the window; 0: empty */
  struct short_moves *moves[JOINT_PROCESSES_MAX];
};
struct joint_cache {
  uint32_t first, n;
  bool by_message;                /* one process, by message */
  const struct move_cache *alone; /* one process, by its own cache; else NULL */
  struct key_window window;
  struct joint_cache_entry *cache; /* NULL: look up each by itself */
  uint32_t bits;                   /* of its size */
  uint32_t missed;
};
static inline struct joint_cache_entry *joint_cache_slot(const struct joint_cache *y, uint64_t window) {
  return &y->cache[window * 0x9E3779B97F4A7C15u >> (64 - y->bits)];
}

struct moves_store {
  struct arena arena;
  struct arena short_keyed; /* short moves, close together: they are read all the time */
  struct arena transient;   /* moves that are not cached, because there are too many */
  struct inbound **inbound; /* by process */
  uint32_t *ninbound;
  struct move_tables *move_tables;                         /* by process, as is */
  VEC(struct process_relevant_fields) * relevant_by_state; /* by role: by local state */
  struct irrelevant_bits *
      *irrelevant_bits;              /* by role: by local state, for the keys as they are; NULL: everything counts */
  uint64_t *memory_used;             /* by role: the bits of shared memory that it uses */
  uint64_t always_used;              /* globals, in every local state */
  size_t enabled_most;               /* of what processes can do, one message at a time */
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
  struct short_moves *nothing; /* of every process that has no move */
};

void moves_store_init(struct step_system *);
void moves_store_release(struct step_system *);
size_t moves_store_bytes(const struct step_system *);
/* All moves of process p in the state in system->words. Valid until the next call. */
struct moves *moves_of(struct step_system *, uint32_t p, uint32_t byzantine);
/* The same, with the caches first. */
static inline struct moves *moves_at(struct step_system *, uint32_t p, uint32_t byzantine);
/* All on one message (NO_MESSAGE_ID: on none), in short, but for what is left of the channel. NULL: some are not short.
 */
struct short_moves *moves_on_message(struct step_system *, uint32_t p, content local, uint32_t in, message_id);
/* Is a crash in the middle of that action (NO_ACTION: between two) to be explored? */
bool crash_matters(const struct step_system *, uint32_t role, uint32_t action);
/* Is the message dead for a receiver in that local state? Cached. */
__attribute__((cold)) bool dead_message_lookup(struct step_system *, struct dead_message_cache *, content local);

/* --- move_caches.c --- */

void move_caches_release(struct step_system *);
void move_caches_clear(struct step_system *); /* keys were laid out anew */
/* The joint_caches for keys as they are, or larger caches for them, as the search gets on; likewise for each process.
 */
__attribute__((cold)) void joint_caches_make(struct step_system *);
void move_cache_grow(struct step_system *, uint32_t p);

/* --- step_successors.c --- */

enum step_subset { STEPS_ALL, STEPS_STUBBORN, STEPS_DEFERRED }; /* STUBBORN, DEFERRED: with partial-order reduction */
/* Of the state in system->words. */
bool move_successors(struct step_system *, enum step_subset, emit_fn *, void *context);
bool short_key_successors(struct step_system *, emit_fn *, void *context); /* all, by short moves */

/* Every move that can be taken there, with what comes of it in system->next, as it comes. False: stopped, or keys are
 * too narrow. */
typedef bool step_fn(void *context, uint32_t process, const struct move *);
bool step_system_each_move(struct step_system *, step_fn *, void *context);

/* --- automorphic.c --- */

struct automorphic_processes {
  bool any;
  bool named;   /* some value may name a process */
  bool *role;   /* by role: its processes may be renamed */
  uint32_t *of; /* by process, of the state at hand: the first one that can change places with it */
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
/* Variables that are never read again become don't-cares, in place; decided by program point and status alone. */
void clear_dead_variables(struct step_system *, uint32_t role, value *local);
/* The channel's content without what can have no effect on a receiver in that local state. */
content drop_dead_messages(struct step_system *, uint32_t to, content local, uint32_t from, content channel);
bool message_is_dead(struct step_system *, uint32_t to, content local, uint32_t from, message_id);
/* The row of a configuration, without dead data. */
void row_from_config(struct step_system *, const struct config *, content *row);

/* Likewise, for one of its actions. */
bool message_never_affects(struct step_system *, uint32_t to, content local, uint32_t from, message_id,
                           uint32_t action);
/* Are messages dropped that may be taken, but to no effect? */
bool drops_ineffective_messages(const struct step_system *);

/* --- transition_fusion.c: messages that are only forwarded --- */

struct transition_fusion;
void transition_fusion_init(struct step_system *); /* leaves system->transition_fusion NULL if there are none */
void transition_fusion_release(struct step_system *);
size_t transition_fusion_bytes(const struct step_system *);
typedef void place_message_fn(struct step_system *, uint32_t from, uint32_t to, message_id);
/* Does a message stay in its channel? */
bool transition_fusion_keeps(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id);
/* Puts it into the channels where it ends up, if it is of use there. */
void transition_fusion_place(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id,
                             place_message_fn *);

/* --- normalise.c: rows with relative rounds, and with forwarded messages where they end up --- */

struct normaliser;
void normaliser_init(struct step_system *); /* after transition_fusion_init; without transition fusion it leaves
                                               system->normaliser NULL */
void normaliser_release(struct step_system *);
size_t normaliser_bytes(const struct step_system *);
void normaliser_clear_cache(struct step_system *); /* of changed contents */
/* A message that the next row to be normalised is to have besides; none of those so far. */
void normalise_deferred_send(struct step_system *, uint32_t from, uint32_t to, message_id);
void normalise_drop_deferred(struct step_system *);
/* Is the row the state but for its messages? */
bool only_messages_differ(const struct step_system *, const uint64_t *words, const content *row);
/* In place; returns the round distance. */
uint32_t row_normalise(struct step_system *, content *row);

/* --- constant_memory.c: variables that are never read again because shared memory will not change --- */

struct constant_memory;
void constant_memory_init(struct step_system *); /* leaves system->constant_memory NULL if there is nothing like that */
void constant_memory_release(struct step_system *);
/* The local state of p without them, given what the globals that its role uses hold. */
content clear_unread_variables(struct step_system *, uint32_t p, content local, uint32_t globals);
uint32_t globals_of_row(struct step_system *, const content *row, uint32_t role);
uint32_t globals_after(struct step_system *, uint32_t role, uint32_t globals, uint32_t writes);

/* --- sample_contents.c: random walks that name most contents before keys are laid out --- */

void sample_contents(struct step_system *);

/* --- step_properties.c --- */

struct step_property_memo;
void properties_init(struct step_system *);
void properties_release(struct step_system *);
enum verdict3 step_system_holds(struct step_system *, uint32_t i, const struct state *, struct model_error *);
enum verdict3 step_system_atom(struct step_system *, uint32_t i, const struct state *, struct model_error *);
/* Does no property of states read what the move of a process in that local state changes? */
bool move_is_invisible(struct step_system *, uint32_t p, content local, const struct move *);
/* Step properties of the form `forall p in R: ...` about p alone. */
uint64_t step_properties_broken_by_process(struct step_system *, uint32_t p, content before, content after);
/* The others, on whole states. */
uint64_t step_properties_broken_by_step(struct step_system *, const uint64_t *before, const uint64_t *after);

/* --- step_fairness.c --- */

void groups_init(struct step_system *);
/* The fairness group of an event, or of an action on one message (in; else NULL); NO_GROUP: none. */
uint32_t group_of_event(struct step_system *, const struct event *);
uint32_t group_of_action(struct step_system *, uint32_t p, uint32_t action, const struct inbox_entry *in);
void step_system_enabled(struct system *, const struct state *, group_fn *, void *context);

/* --- step_initial.c --- */

bool step_system_initial(struct step_system *, emit_fn *, void *context);
/* A configuration whose key is that of the state. */
struct config *step_system_initial_find(struct step_system *, const struct state *);

/* --- step_concretise.c --- */

bool step_system_concretise(struct system *, const struct state *path, uint32_t n, const struct path_goal *,
                            struct run *);
bool step_system_concretise_path(struct system *, const struct state *path, uint32_t n, const struct step_requirement *,
                                 struct run *);

/* --- step_system.c --- */

#define FORMS_REMEMBERED (1u << 13) /* a power of 2 */

struct step_system {
  struct system base;
  struct state_cells cells;
  struct keys keys;
  struct keys before; /* as they were laid out before, once they were widened */
  struct channel_ops channels;
  struct local_steps steps;
  struct moves_store moves_store;
  struct dead_data *dead_data;
  struct constant_memory *constant_memory;     /* or NULL */
  struct transition_fusion *transition_fusion; /* or NULL */
  struct normaliser *normaliser;               /* or NULL */
  bool may_defer_sends,
      defers_sends;   /* messages wait until the row is normalised, so that only contents that are stored get names */
  bool only_messages; /* the row is a stored one with some messages less: the rest is normalised already */
  struct automorphic_processes automorphic;
  struct canonical *canonical;    /* NULL: nothing is renamed */
  struct relative_rounds *window; /* NULL: rounds are as they come */
  bool normalised;                /* one of these, or transition_fusion: states are not stored as they come */
  struct may_enable *may_enable;  /* or NULL */
  struct stubborn *stubborn;      /* NULL: every step is explored */
  uint64_t *enabled, *visible_set, *invisible_set; /* classes of steps, for it */
  const struct clause *fair;                       /* queries about runs: the environment's fairness, or NULL */
  struct intern *group_names;                      /* [process, action, sender, message] */
  struct intern *adversary_choice_names;
  struct step_property_memo *properties;
  uint32_t digests_from; /* so many verdicts that were not at hand there are digests (tests: from the first one on) */
  uint32_t nlocal_steps,
      nglobal_steps;           /* step properties, by whether they are judged on one process or on whole states */
  struct memo broken_by_local; /* (role and local state, local state) -> bits, in vectors */
  struct interpreter *interp;
  struct model *model;
  const struct environment *env;
  const struct action_uses *use;
  uint32_t *role_of; /* by process */
  struct arena arena;
  struct intern *vectors;
  struct intern *statuses;      /* of all processes */
  VEC(const uint8_t *) permits; /* by those: by process, PERMIT_... */
  bool drops_dead_messages;
  bool drops_blocked_messages; /* FIFO: what is behind a message that is never taken is dropped, too */
  bool plain;                  /* successors come from the reference interpreter */
  bool loses, duplicates, crashes, recovers, byzantine; /* what the environment does, reductions considered */
  bool parts;           /* crashes in the middle of an action: any part of its messages is sent, not just all of them */
  bool crash_invisible; /* a crashed process cannot be told from one that takes no more steps */
  bool short_keys;      /* for keys as they are: see uses_short_keys */
  uint64_t expanded;    /* states, since keys were laid out */
  struct system_options options;
  bool owns_interp; /* made for another thread */
  bool sampled;
  bool keys_too_narrow; /* keys must be laid out anew */
  uint32_t max_distance;
  bool too_far;       /* the row that row_key was last asked for is beyond that */
  uint64_t *farthest; /* the key of base.farthest */
  uint64_t *forms;    /* a cache: keys and their canonical forms */
  /* scratch */
  uint64_t *words, *next, *packed, *whole;
  content *row;
  uint64_t *memory; /* by role: the shared memory that it sees, as bits of the key, or a name for it */
  VEC(struct enabled_moves)
  enabled_moves; /* of the current state; there is room for one more of each process */
  value *status, *vector;
  const uint8_t *permitted; /* by process, in the current state: PERMIT_... */
};
#define PERMIT_CRASH 1
#define PERMIT_RECOVERY 2

/* Can steps be taken by short moves, which change the key and do nothing else? */
static inline bool uses_short_keys(const struct step_system *s) { /* if keys are short */
  return !s->stubborn && !s->normalised && !s->crashes && !s->nglobal_steps && !s->drops_blocked_messages;
}

/* The bits that matter of a process's window and of shared memory. */
static inline uint64_t move_cache_key(const struct step_system *s, const struct move_cache *g, const uint64_t *words,
                                      uint64_t *memory) {
  uint64_t window = key_window(&g->window, words);
  *memory = s->memory[g->role];
  if (!g->irrelevant_bits)
    return window;
  const struct irrelevant_bits *o = &g->irrelevant_bits[window & g->local_mask];
  *memory &= ~o->memory;
  return window & ~o->window;
}

static inline struct short_moves **move_cache_direct_slot(const struct step_system *s, const struct move_cache *g) {
  return &g->direct[key_window(&g->window, s->words) | s->memory[g->role] << g->window.width];
}

/* NULL: they are not in the cache. */
static inline struct short_moves *moves_in_cache(const struct step_system *s, const struct move_cache *g,
                                                 uint32_t byzantine) {
  if (g->direct)
    return *move_cache_direct_slot(s, g);
  if (g->cache) {
    uint64_t memory, window = move_cache_key(s, g, s->words, &memory);
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
/* The row as it is stored: in canonical form, packed. False: too narrow. to, value_to: see canonical_form. */
bool row_key(struct step_system *, content *row, uint64_t *words, uint32_t *to, uint32_t *value_to);
__attribute__((cold)) bool keys_too_narrow(struct step_system *); /* false: nothing goes on with these keys */
__attribute__((cold)) bool
cut_by_distance(struct step_system *); /* true: the state is too far off, the search goes on without it */
value status_of(const struct step_system *, const uint64_t *words, uint32_t p);
uint32_t visible_globals(struct step_system *, const uint64_t *words, uint32_t role,
                         uint64_t uses); /* by global: it matters */
uint32_t visible_byzantine(struct step_system *, const uint64_t *words);
/* Stores what each role sees of shared memory in system->memory; returns the Byzantine processes. */
static inline uint32_t load_visible_memory(struct step_system *s) {
  uint64_t memory = s->steps.uses_any && s->keys.memory.fits ? key_window(&s->keys.memory, s->words) : 0;
  for (uint32_t r = 0; s->steps.uses_any && r < s->model->nroles; r++)
    if (s->steps.uses[r])
      s->memory[r] =
          s->keys.memory.fits ? memory & s->moves_store.memory_used[r] : visible_globals(s, s->words, r, UINT64_MAX);
  return s->byzantine ? visible_byzantine(s, s->words) : 0;
}

#endif
