/* Inside the space of processes that take steps.
     letter    a message with its kind
     context   what a process's step depends on besides its messages: who it is (only if the text asks), its local state,
               the globals that its role uses
     outcome   what comes of an action: (context, letters) -> outcomes is computed once, by the interpreter
     move      an outcome at its place: which cells get which contents, what is sent where
     moves     all that a process can do, by what it sees: its local state, the channels into it, globals
   A step picks a process and one of its moves, and patches the packed state. */
#ifndef RONDO_INTERLEAVE_SPACE_H
#define RONDO_INTERLEAVE_SPACE_H

#include "interleave/channels.h"
#include "interleave/interleave.h"
#include "interleave/keys.h"
#include "interleave/stubborn.h"
#include "interleave/window.h"
#include "model/actions.h"
#include "sem/event_step.h"
#include "space/memo.h"

struct interleave;

/* --- steps.c: local steps --- */

struct outcome {
  uint32_t action;
  content next;    /* the local state after it, with nothing in it that is never read again */
  uint32_t posts;  /* what is sent, in steps->posts: to, kind, message for each */
  uint32_t writes; /* globals that got a value, in steps->writes: global, content for each */
  uint32_t error;  /* 1 + its place in steps->errors, 0: none; then the rest means nothing */
  uint32_t ticket; /* almost surely: what an adversary chose on the way, in steps->tickets */
  bool tossed;     /* likewise: coins had a say */
};

struct chosen { /* a message that a quorum takes or looks at */
  uint32_t from;
  letter letter;
  uint32_t place;
  uint32_t forged;
};

struct quorum_outcome {
  struct outcome outcome;
  const struct chosen *chosen; /* only where it matters which */
  uint32_t nchosen;
};

struct outcomes {
  struct outcome *at;
  uint32_t n;
};
struct quorum_outcomes {
  struct quorum_outcome *at;
  uint32_t n;
};

struct steps {
  struct arena arena;
  struct intern *contexts;    /* [process or role, local, globals] */
  struct intern *global_sets; /* contents of the globals that a role uses */
  struct intern *posts, *writes, *tuples, *letter_lists;
  struct intern *tickets;
  value salt;                 /* what else an adversary chose: which message was made up */
  struct memo none, one, forged, quorum;
  VEC(struct outcomes) lists;
  VEC(struct quorum_outcomes) quorum_lists;
  VEC(struct model_error) errors;
  struct outbox outbox;
  value *local, *globals;     /* scratch */
  bool *by_me;                /* by role: some action's text asks who it is */
  bool **used;                /* [role][global]: read or written by some action */
  bool *uses;                 /* by role: any of them */
  bool uses_any;
};

/* What the process at hand sees. */
struct sight {
  uint32_t process, role;
  content local;
  uint32_t globals;           /* which contents the globals of its role have, in steps->global_sets */
  uint32_t byzantine;         /* who is Byzantine, in space->vectors */
  const content *inbox;       /* by inbound channel */
};

void steps_init(struct interleave *);
void steps_release(struct interleave *);
size_t steps_bytes(const struct interleave *);
/* Leaves the variables and globals that it sees in steps->local and steps->globals, as the interpreter wants them. */
void steps_unfold(struct interleave *, const struct sight *);
struct outcomes steps_none(struct interleave *, const struct sight *);
struct outcomes steps_one(struct interleave *, const struct sight *, uint32_t from, letter);
struct outcomes steps_forged(struct interleave *, const struct sight *, uint32_t from);
struct quorum_outcomes steps_quorum(struct interleave *, const struct sight *, uint32_t action);
struct outcomes steps_recover(struct interleave *, const struct sight *);

/* --- moves.c --- */

struct patch {
  uint32_t cell;
  content to;
};

struct deadness { /* of one message from one process to another: by local state of the receiver, 0: not known, 1: it
                     stays, 2: nobody cares */
  uint8_t *of;
  uint32_t n;
  uint32_t from, to;
  letter letter;
};

struct post {
  uint32_t cell, to;
  struct appending *append;
  struct deadness *dead; /* NULL: it always stays */
};
struct posts {
  struct post *at;
  uint32_t n;
};

struct move {
  enum event_kind kind;
  uint32_t action;          /* ACTION; CRASH: in the middle of it, or NO_ACTION */
  uint32_t sender;          /* of an action that takes one message */
  const struct patch *patches;
  uint32_t npatches;
  bool writes;              /* some global changes */
  bool special;             /* there is more to it than patches and messages */
  bool lie;                 /* ACTION on one message that a Byzantine process made up */
  bool optional;            /* questions about runs: nobody need do it */
  const struct posts *posts; /* or NULL */
  uint32_t sent;            /* ACTION: all that it sends, in steps->posts */
  uint32_t whole;           /* CRASH in an action: 1 + that action's place among the moves; it must be possible, too */
  uint16_t lost, duplicated, became_faulty;
  uint64_t broken;          /* step properties about one process each that it breaks */
  uint32_t group;           /* ACTION: what it takes, or NO_GROUP */
  uint32_t lottery;         /* almost surely: the same for all results of the same choices of an adversary */
  bool tossed;              /* likewise: coins had a say */
  const struct model_error *error;
};

/* A move that consists of patches and messages only, for keys of up to 4 words. */
struct brief_post {
  uint64_t mask; /* of its channel's field, shifted down */
  struct appending *append;
  struct deadness *dead; /* NULL: it always stays */
  uint32_t to;
  uint8_t word, shift;
};
struct brief_move {
  const struct brief_post *posts;
  uint32_t nposts;
  bool quiet;       /* no property of states can tell what it changes */
  uint64_t masks[]; /* which bits it keeps, then which ones it sets: 2 words each, or 4 */
};
struct moves;
struct brief_moves { /* of a process: what is looked at first, all in one place */
  struct moves *of;
  uint32_t n;
  bool brief;    /* else they are not short: see `of` */
  uint64_t at[]; /* brief: one behind the other, each of brief_size */
};
static inline uint32_t brief_words(const struct keys *k) { return k->nwords <= 2 ? 2 : BRIEF_WORDS; }
static inline size_t brief_size(uint32_t words) { return sizeof(struct brief_move) + 2 * words * sizeof(uint64_t); }

struct moves {
  struct move *at;
  uint32_t n;
  const uint32_t *groups; /* fairness: what the process can take, without a lie */
  uint32_t ngroups;
  uint32_t process;
  content local;             /* in which it is */
  bool remembered;
  bool brief_only;           /* none of them is special */
  uint32_t layout;           /* of keys for which `brief` was made; 0: none */
  struct brief_moves *brief; /* remembered: for the keys as they are */
};

struct inbound {
  uint32_t from, cell;
};

#define DIRECT_BITS 16
struct cached_sight {
  uint64_t window, memory;
  struct brief_moves *moves;
  uint32_t byzantine;
};

/* --- outlook.c --- */

struct outlook { /* of a process in some local state */
  bool known;
  bool hears;    /* what lies in the channels into it counts */
  bool gathers;  /* it may look at several messages at a time */
  uint64_t uses; /* by global: it counts */
};
struct overlooked { /* by local state: what does not count of its window, and of shared memory */
  uint64_t window, memory;
};
void outlooks_init(struct interleave *);
void outlooks_release(struct interleave *);
size_t outlooks_bytes(const struct interleave *);
struct outlook outlook_of(struct interleave *, uint32_t p, content local);
void overlooked_forget(struct interleave *); /* keys were laid out anew */
void overlooked_note(struct interleave *, uint32_t p, content local, const struct outlook *);

struct sights { /* of one process */
  struct intern *seen; /* [local, globals, byzantine, inbox...] */
  VEC(struct moves *) moves;
};

/* The short way to a process's moves, by what the key says of it. At most one of them is not NULL. */
struct glance {
  struct brief_moves **direct; /* if that is short, with what it sees of shared memory, and nothing else counts */
  struct cached_sight *cache; /* NULL: it does not pay yet, or what it sees does not fit */
  const struct overlooked *overlooked; /* by local state, or NULL */
  uint64_t local_mask;        /* where that is in the window */
  struct key_window window;
  uint32_t role;
  uint32_t bits;              /* of the cache's size */
};

static inline struct cached_sight *cached_at(const struct glance *g, uint64_t window, uint64_t memory,
                                             uint32_t byzantine) {
  uint64_t h = window * 0x9E3779B97F4A7C15u + (memory ^ (uint64_t)byzantine << 40) * 0xC2B2AE3D27D4EB4Fu;
  return &g->cache[h >> (64 - g->bits)];
}
static inline bool cached_is(const struct cached_sight *c, uint64_t window, uint64_t memory, uint32_t byzantine) {
  return c->moves && c->window == window && c->memory == memory && c->byzantine == byzantine;
}

/* --- letters.c --- */

struct letter_row { /* of a process in some local state */
  struct brief_moves **of;  /* [inbound * room + letter], NULL: not known */
  struct brief_moves *none; /* without a message; NULL: nothing is known */
  uint32_t room;
  bool at_once;             /* no: all at once is better */
};
struct letter_channel { /* into it: where its content stands in keys, and what can be taken from it */
  uint64_t mask;
  const struct takings *takings;
  const struct key_field *field;
  uint32_t word, cell;
  uint8_t shift;
};
struct letters { /* of a process */
  bool used;
  uint32_t n;
  struct letter_row *rows; /* by local state */
  struct letter_channel *in, *end;
  uint64_t mask; /* of its local state, in keys */
  uint32_t word;
  uint8_t shift;
};
bool letters_suit(const struct interleave *); /* all processes, if keys are short: nobody needs windows then */
void letters_release(struct interleave *);
void letters_forget(struct interleave *); /* keys were laid out anew */
size_t letters_bytes(const struct interleave *);
/* Moves to be taken: all of a process, or those on one message, and what is left of the channel then. */
struct able {
  struct brief_moves *moves;
  const struct key_field *channel; /* NULL: all of them */
  content rest;
};
/* What p can do in the state at hand, message by message, into space->able. False: it has to be asked in another way. */
bool letters_ask(struct interleave *, uint32_t p);

/* Processes whose fields lie next to each other, asked together: most of them can do nothing most of the time. */
#define PARTY_MOST 3
struct cached_party { /* what those can do that can do something, then NULLs */
  uint64_t window;    /* and one more; 0: nothing is known */
  struct brief_moves *moves[PARTY_MOST];
};
struct party {
  uint32_t first, n;
  bool by_letter;             /* one who is asked message by message */
  const struct glance *alone; /* of one who is asked alone; NULL: otherwise */
  struct key_window window;
  struct cached_party *cache; /* NULL: ask each for itself */
  uint32_t bits;              /* of its size */
  uint32_t missed;
};
static inline struct cached_party *party_at(const struct party *y, uint64_t window) {
  return &y->cache[window * 0x9E3779B97F4A7C15u >> (64 - y->bits)];
}

struct mover {
  struct arena arena;
  struct arena brief;        /* what is looked at all the time, close together */
  struct arena passing;      /* moves that are not remembered: there are too many */
  struct inbound **inbound;  /* by process */
  uint32_t *ninbound;
  struct sights *sights;     /* by process, as is */
  VEC(struct outlook) *outlooks; /* by role: by local state */
  struct overlooked **overlooked; /* by role: by local state, for the keys as they are; NULL: everything counts */
  uint64_t *memory_used;     /* by role: the bits of shared memory that it uses */
  uint64_t always_used;      /* globals, in every local state */
  size_t able_most;          /* of what processes can do, one message at a time */
  struct letters *letters;   /* by process */
  struct glance *glances;
  struct party *parties;
  uint32_t nparties;
  struct memo posts_of;      /* (posts, process) -> compiled */
  VEC(struct posts *) compiled;
  struct intern *deadness_of;
  VEC(struct deadness *) deadness;
  size_t move_bytes, brief_bytes;
  content *inbox, *after;    /* scratch */
  VEC(struct move) making;
  struct brief_moves *nothing; /* of everybody who can do nothing: always close at hand */
};

void mover_init(struct interleave *);
void mover_release(struct interleave *);
size_t mover_bytes(const struct interleave *);
/* Everything that process p can do in the state in space->words, by what it sees. Valid until the next call. */
struct moves *moves_of(struct interleave *, uint32_t p, uint32_t byzantine);
/* Likewise, for who asks often. */
static inline struct moves *moves_at(struct interleave *, uint32_t p, uint32_t byzantine);
/* All on one message (NO_LETTER: on none), in short, but for what is left of the channel. NULL: some are not short. */
struct brief_moves *moves_on_letter(struct interleave *, uint32_t p, content local, uint32_t in, letter);
/* Is a crash in the middle of that action (NO_ACTION: between two) to be explored? */
bool crash_matters(const struct interleave *, uint32_t role, uint32_t action);
/* Is the message of no use to a receiver in that local state? Remembered. */
__attribute__((cold)) bool deadness_known(struct interleave *, struct deadness *, content local);

/* --- glances.c --- */

void glances_release(struct interleave *);
void glances_forget(struct interleave *); /* keys were laid out anew */
/* The parties for keys as they are, or larger caches for them, as the search gets on; likewise for each process. */
__attribute__((cold)) void make_parties(struct interleave *);
void make_shortcuts(struct interleave *, uint32_t p);

/* --- successors.c --- */

enum which { STEPS_ALL, STEPS_FIRST, STEPS_OTHERS }; /* FIRST, OTHERS: with partial order reduction */
/* Of the state in space->words. */
bool fast_successors(struct interleave *, enum which, emit_fn *, void *context);
bool short_successors(struct interleave *, emit_fn *, void *context); /* all, by short ways */

/* Every move that can be taken there, with what comes of it in space->next, as it comes. False: stopped, or keys are too narrow. */
typedef bool step_fn(void *context, uint32_t process, const struct move *);
bool steps_each(struct interleave *, step_fn *, void *context);

/* --- twins.c --- */

struct twins {
  bool any;
  bool named;     /* some value may name a process */
  bool channels;  /* there are any */
  bool *role;     /* by role: its processes may be renamed */
  uint32_t *of;   /* by process, of the state at hand: the first one that can change places with it */
  uint32_t *to;
  content *row, *swapped;
};
void twins_init(struct interleave *);
void twins_find(struct interleave *, const uint64_t *words);

/* --- forget.c: what can have no effect any more --- */

struct forgetting;
void forgetting_init(struct interleave *);
void forgetting_release(struct interleave *);
size_t forgetting_bytes(const struct interleave *);
/* Blanks in place what is never read again, from program point and status alone. */
void forget_variables(struct interleave *, uint32_t role, value *local);
/* The channel's content without what can have no effect on a receiver in that local state. */
content forget_messages(struct interleave *, uint32_t to, content local, uint32_t from, content channel);
bool message_is_dead(struct interleave *, uint32_t to, content local, uint32_t from, letter);
/* The row of a configuration, with all that forgotten. */
void row_of_config(struct interleave *, const struct config *, content *row);

/* Likewise, for one of its actions. */
bool message_has_no_use(struct interleave *, uint32_t to, content local, uint32_t from, letter, uint32_t action);
/* Are messages forgotten that somebody may take, to no effect? */
bool forgets_idle_messages(const struct interleave *);

/* --- relays.c: messages that are only passed on --- */

struct relays;
void relays_init(struct interleave *); /* leaves space->relays NULL if there are none */
void relays_release(struct interleave *);
size_t relays_bytes(const struct interleave *);
typedef void put_down_fn(struct interleave *, uint32_t from, uint32_t to, letter);
/* Does a message stay where it is? */
bool relays_keep(struct interleave *, const content *row, uint32_t from, uint32_t to, letter);
/* Puts it down where it gets to, if anybody wants it in the end. */
void relays_put(struct interleave *, const content *row, uint32_t from, uint32_t to, letter, put_down_fn *);

/* --- settle.c: rows with relative rounds, and without messages that are only passed on --- */

struct settling;
void settling_init(struct interleave *); /* after relays_init; leaves space->settling NULL if there are no relays */
void settling_release(struct interleave *);
size_t settling_bytes(const struct interleave *);
void settling_forget(struct interleave *); /* what became of contents lately */
/* A message that the row is to have besides, when it is next made relative. */
void settle_later(struct interleave *, uint32_t from, uint32_t to, letter);
/* Is the row the state but for its messages? */
bool only_messages_differ(const struct interleave *, const uint64_t *words, const content *row);
/* In place; returns how far apart processes are. */
uint32_t row_relative(struct interleave *, content *row);

/* --- frozen.c: variables that are never read again because shared memory will not change --- */

struct frozen;
void frozen_init(struct interleave *); /* leaves space->frozen NULL if there is nothing like that */
void frozen_release(struct interleave *);
/* The local state of p without them, given what the globals that its role uses hold. */
content forget_unread(struct interleave *, uint32_t p, content local, uint32_t globals);
uint32_t globals_of_row(struct interleave *, const content *row, uint32_t role);
uint32_t globals_after(struct interleave *, uint32_t role, uint32_t globals, uint32_t writes);

/* --- scout.c: names for most contents, before keys are laid out --- */

void scout(struct interleave *);

/* --- property.c --- */

struct property_memo;
void properties_init(struct interleave *);
void properties_release(struct interleave *);
enum verdict3 interleave_holds(struct interleave *, uint32_t i, const struct state *, struct model_error *);
enum verdict3 interleave_atom(struct interleave *, uint32_t i, const struct state *, struct model_error *);
/* Is there no property of states that could tell what the move of a process in that local state changes? */
bool move_is_quiet(struct interleave *, uint32_t p, content local, const struct move *);
/* Step properties of the form `forall p in R: ...` about p alone. */
uint64_t steps_broken_by_local(struct interleave *, uint32_t p, content before, content after);
/* The others, on whole states. */
uint64_t steps_broken_by_step(struct interleave *, const uint64_t *before, const uint64_t *after);

/* --- groups.c --- */

void groups_init(struct interleave *);
/* What an event, or an action on one message (in; else NULL), is a taking of; NO_GROUP: nothing that fairness speaks of. */
uint32_t group_of_event(struct interleave *, const struct event *);
uint32_t group_of_action(struct interleave *, uint32_t p, uint32_t action, const struct inbox_entry *in);
void interleave_enabled(struct space *, const struct state *, group_fn *, void *context);

/* --- initial.c --- */

bool interleave_initial(struct interleave *, emit_fn *, void *context);
/* A configuration whose key is that of the state. */
struct config *interleave_initial_find(struct interleave *, const struct state *);

/* --- concretise.c --- */

bool interleave_concretise(struct space *, const struct state *path, uint32_t n, const struct goal *, struct run *);
bool interleave_concretise_path(struct space *, const struct state *path, uint32_t n, const struct step_wish *,
                                struct run *);

/* --- interleave.c --- */

#define FORMS_REMEMBERED (1u << 13) /* a power of 2 */

struct interleave {
  struct space base;
  struct cells cells;
  struct keys keys;
  struct keys before;          /* as they were laid out before, once they were widened */
  struct channel_ops channels;
  struct steps steps;
  struct mover mover;
  struct forgetting *forgetting;
  struct frozen *frozen;       /* or NULL */
  struct relays *relays;       /* or NULL */
  struct settling *settling;   /* or NULL */
  bool may_settle_later, settles_later; /* messages that are sent wait for that, so that no content comes up that is not stored */
  bool only_messages;          /* the row at hand is a stored one with some messages less: the rest is as it should be */
  struct twins twins;
  struct canonical *canonical; /* NULL: nothing is renamed */
  struct window *window;       /* NULL: rounds are as they come */
  bool normal;                 /* one of these, or relays: states are not stored as they come */
  struct hopes *hopes;         /* NULL: nobody asks */
  struct stubborn *stubborn;   /* NULL: every step is explored */
  uint64_t *enabled, *aim, *prepare; /* classes of steps, for it */
  const struct clause *fair;   /* questions about runs: the environment's fairness, or NULL */
  struct intern *group_names;  /* [process, action, sender, message] */
  struct intern *lottery_names;
  struct property_memo *properties;
  uint32_t digests_from;       /* so many verdicts that were not at hand there are digests (tests: from the first one on) */
  uint32_t nlocal_steps, nglobal_steps; /* step properties, by whether they are judged on one process or on whole states */
  struct memo broken_by_local; /* (role and local state, local state) -> bits, in vectors */
  struct meaning *meaning;
  struct model *model;
  const struct environment *env;
  const struct actions_use *use;
  uint32_t *role_of;           /* by process */
  struct arena arena;
  struct intern *vectors;
  struct intern *statuses;     /* of all processes */
  VEC(const uint8_t *) permits; /* by those: by process, PERMIT_... */
  bool forgets_messages;
  bool stuck_channels;         /* FIFO: what lies behind a message that nobody wants is forgotten, too */
  bool plain;                  /* successors are those of the reference */
  bool loses, duplicates, crashes, recovers, byzantine; /* what the environment does, reductions considered */
  bool parts;                  /* crashes in the middle of an action: any part of what is sent is out, not just all */
  bool silent;                 /* nobody can tell who has crashed from who takes no more steps */
  bool short_ways;             /* for keys as they are: see takes_short_ways */
  uint64_t expanded;           /* states, since keys were laid out */
  struct space_options options; /* as it was made with */
  bool own_meaning;            /* made for another thread */
  bool scouted;
  bool too_narrow;             /* keys must be laid out anew */
  uint32_t max_distance;
  bool too_far;                /* the row that row_key was last asked for is beyond that */
  uint64_t *farthest;          /* the key of base.farthest */
  uint64_t *forms;             /* keys and their canonical forms, latest ones */
  /* scratch */
  uint64_t *words, *next, *packed, *whole;
  content *row;
  uint64_t *memory;            /* by role: what it sees of shared memory, as the key has it, or a name for it */
  VEC(struct able) able;       /* what can be done in the state at hand; there is room for one more of each process */
  value *status, *vector;
  const uint8_t *permitted;    /* by process, in the state at hand: PERMIT_... */
};
#define PERMIT_CRASH 1
#define PERMIT_RECOVERY 2

/* Steps change a few words of the key, and there is nothing else to do about them. */
static inline bool takes_short_ways(const struct interleave *s) { /* if keys are short */
  return !s->stubborn && !s->normal && !s->crashes && !s->nglobal_steps && !s->stuck_channels;
}

/* What counts of a process's window, and of shared memory. */
static inline uint64_t glance_at(const struct interleave *s, const struct glance *g, const uint64_t *words, uint64_t *memory) {
  uint64_t window = key_window(&g->window, words);
  *memory = s->memory[g->role];
  if (!g->overlooked)
    return window;
  const struct overlooked *o = &g->overlooked[window & g->local_mask];
  *memory &= ~o->memory;
  return window & ~o->window;
}

static inline struct brief_moves **direct_at(const struct interleave *s, const struct glance *g) {
  return &g->direct[key_window(&g->window, s->words) | s->memory[g->role] << g->window.width];
}

/* NULL: they are not at hand. */
static inline struct brief_moves *moves_at_hand(const struct interleave *s, const struct glance *g, uint32_t byzantine) {
  if (g->direct)
    return *direct_at(s, g);
  if (g->cache) {
    uint64_t memory, window = glance_at(s, g, s->words, &memory);
    const struct cached_sight *known = cached_at(g, window, memory, byzantine);
    if (cached_is(known, window, memory, byzantine))
      return known->moves;
  }
  return NULL;
}

static inline struct moves *moves_at(struct interleave *s, uint32_t p, uint32_t byzantine) {
  const struct brief_moves *known = moves_at_hand(s, &s->mover.glances[p], byzantine);
  return known ? known->of : moves_of(s, p, byzantine);
}

static inline struct interleave *interleave_of(struct space *s) { return (struct interleave *)s; }
/* The row as it is stored: in canonical form, packed. False: too narrow. to, value_to: see canonical_form. */
bool row_key(struct interleave *, content *row, uint64_t *words, uint32_t *to, uint32_t *value_to);
__attribute__((cold)) bool too_narrow(struct interleave *); /* false: nothing goes on with these keys */
__attribute__((cold)) bool leave_out(struct interleave *);  /* true: the state is too far off, the search goes on without it */
value status_of(const struct interleave *, const uint64_t *words, uint32_t p);
uint32_t sight_globals(struct interleave *, const uint64_t *words, uint32_t role, uint64_t uses); /* by global: it counts */
uint32_t sight_byzantine(struct interleave *, const uint64_t *words);
/* What processes see of shared memory, and of who lies, in the state at hand. */
static inline uint32_t look_around(struct interleave *s) { /* returns who lies */
  uint64_t memory = s->steps.uses_any && s->keys.memory.fits ? key_window(&s->keys.memory, s->words) : 0;
  for (uint32_t r = 0; s->steps.uses_any && r < s->model->nroles; r++)
    if (s->steps.uses[r])
      s->memory[r] = s->keys.memory.fits ? memory & s->mover.memory_used[r] : sight_globals(s, s->words, r, UINT64_MAX);
  return s->byzantine ? sight_byzantine(s, s->words) : 0;
}

#endif
