/* The typed model: the result of type checking (lang/typecheck.c) once every parameter has a value. The interpreter,
   the analyses, the transition systems and the exporters read nothing else. It is immutable once built, and lives in
   its own arena. Every node keeps its place in the source. */
#ifndef RONDO_MODEL_MODEL_H
#define RONDO_MODEL_MODEL_H

#include "base/arena.h"
#include "base/diag.h"
#include "model/type.h"
#include "model/value.h"

enum op {
#define OP(name, text, kids, traits) NODE_##name,
#include "model/ops.def"
#undef OP
  NODE_OPS
};

/* What an operator does by itself, apart from its children: ops.def explains each. */
enum op_trait {
  TRAIT_NAME = 1 << 0,
  TRAIT_OWN = 1 << 1,
  TRAIT_SELF = 1 << 2,
  TRAIT_SHARED = 1 << 3,
  TRAIT_CLOCK = 1 << 4,
  TRAIT_MESSAGES = 1 << 5,
  TRAIT_SENDERS = 1 << 6,
  TRAIT_PROCESSES = 1 << 7,
  TRAIT_STATUS = 1 << 8,
  TRAIT_NUMBERED = 1 << 9,
  TRAIT_FIELD = 1 << 10,
  TRAIT_HEARD_OF = 1 << 11,
  TRAIT_BINDS = 1 << 12,
  TRAIT_MULTIPLICITY = 1 << 13,
  TRAIT_ORDERS = 1 << 14,
  TRAIT_CHOOSES = 1 << 15,
  TRAIT_FAILS = 1 << 16,
  TRAIT_CALLS = 1 << 17,
  TRAIT_TEMPORAL = 1 << 18,
  TRAIT_FLIGHT = 1 << 19,
  TRAIT_UNKNOWN = 1 << 20 /* only of numbers that are no operator */
};
/* The set of traits. A number that is no operator has all of them, TRAIT_UNKNOWN included. */
unsigned op_traits(enum op);
static inline bool op_is_known(enum op op) { return (unsigned)op < NODE_OPS; }
/* For a switch that names only the operators that it understands. It has no `default:`; the code after it gives the
   cautious answer for all others, including operators that are added later. */
static inline unsigned op_number(enum op op) { return op; }

/* Those that have no value if there is nothing to choose from. */
bool op_may_be_empty(enum op);

/* "slot in range if cond": range is a set, an option, `received` (NODE_RECEIVED), a DOMAIN, an INTERVAL, SUBSETS or
   a sequence. `p, q in P` is two generators. Later ranges and conditions may use earlier slots. */
struct generator {
  uint32_t slot;
  struct node *range;
  struct node *cond;       /* or NULL */
  const struct type *type; /* of the slot */
  const char *name;
  struct span at;
};

struct node {
  enum op op;
  bool primed;
  struct span at;
  const struct type *type;
  uint32_t index;
  value constant;
  uint32_t n, ngen;
  struct node **kid;
  struct generator *gen;
};

/* A condition that may bind names: those of an `exists` that is a positive conjunct and whose names are used in the
   guarded block. All bindings of gen that satisfy cond are witnesses. One of them is chosen freely; witnesses that
   agree in the `used` slots count as one. Without generators it is just cond. cond may be NULL: true. */
struct guard {
  struct generator *gen;
  uint32_t ngen;
  struct node *cond;
  uint32_t *used, nused;
};

enum stmt_kind { STMT_IF, STMT_LET, STMT_ASSIGN, STMT_FOREACH, STMT_HALT, STMT_SEND };

struct block {
  struct stmt **at;
  uint32_t n;
};

struct place_step {   /* an [index] or .field of an assigned place */
  struct node *index; /* NULL: a field */
  uint32_t field;
};

struct stmt {
  enum stmt_kind kind;
  struct span at;
  struct guard guard;       /* IF */
  struct block then, other; /* IF; FOREACH: then */
  uint32_t slot;            /* LET, FOREACH (over `received`, in any order) */
  struct node *expr;        /* LET, ASSIGN; of the place's type (NODE_WRAP was inserted) */
  bool shared;              /* ASSIGN: var is one of model->globals, not the process's own */
  uint32_t var;             /* ASSIGN; `goto` assigns the role's program point, as the last statement of its block */
  struct send *send;        /* SEND: its guard is empty */
  struct place_step *path;  /* ASSIGN */
  uint32_t npath;
};

enum target_kind { TARGET_SET, TARGET_OTHERS, TARGET_ONE, TARGET_EXPR };

struct send {
  struct span at;
  struct guard guard; /* `when` */
  uint32_t kind;      /* STMT_SEND: which of model->messages; message is of its type */
  struct node *message;
  enum target_kind target; /* SET: every process of to_role (ROLE_ANY: all of all roles); OTHERS: all but me */
  uint32_t to_role;
  struct node *to; /* ONE: an identity; EXPR: a set of identities */
};

/* What a role does in one round. */
struct body {
  struct span at;
  struct send *sends;
  uint32_t nsends;
  struct block update;
  bool has_update;
  struct block finally;        /* runs right after the update of the last round */
  const struct type *received; /* type of the messages that can reach this role here, NULL: none can */
  bool mixed;                  /* messages of other types can reach it too, and nobody reads any of them */
};

enum var_kind {
  VAR_INPUT,
  VAR_PLAIN,
  VAR_GHOST,
  VAR_ORACLE,
  VAR_STABLE, /* survives a crash of a process that recovers (so do inputs) */
  VAR_SHARED, /* global: shared memory */
  VAR_POINT,  /* the program point of a role with steps: an enumeration of their names */
  VAR_ONCE    /* has this `once` action been taken? */
};
enum unit { EACH_NONE, EACH_PHASE, EACH_ROUND };

struct var {
  const char *name;
  enum var_kind kind;
  struct span at;
  const struct type *type;
  struct node *init;  /* INPUT: given if not NULL; evaluated in order of declaration, may read earlier variables, me,
                         number(me) */
  struct node *where; /* INPUT: may read the variable itself and earlier ones */
  bool distinct;      /* INPUT: different for each process of the role */
  bool hidden;        /* not in the text: represents a quantifier of a live property; not shown */
  bool followed;  /* hidden, and its value is a process or a set of processes. Where the processes of a round model are
                     interchangeable, a state stores it as a bit of each of these processes, which keeps symmetry */
  enum unit each; /* ORACLE: when it is chosen */
};
#define FOLLOWED_MAX 8

/* --- processes that take steps (message passing, shared memory) --- */

struct message_kind { /* message prepare(b: Ballot) */
  const char *name;
  struct span at;
  const struct type *type; /* a record of its fields, which may be none */
};

enum trigger {
  TRIGGER_NONE,  /* takes no message: `when`, a bare step, `start` */
  TRIGGER_ONE,   /* takes one message */
  TRIGGER_QUORUM /* looks at several, at most one from each sender; `taken`: takes them */
};

struct message_part { /* binds the slot to a field of the message; of a quorum, to a field on which its messages agree
                         (`same`) */
  uint32_t slot, field;
};

/* An atomic step of a process. It is enabled if the process is at the program point, the bound messages match, and the
   guard holds, evaluated in this order; then the body is executed. */
struct action {
  const char *name; /* to be shown: the step's name, the message's, "start", "when" */
  struct span at;
  uint32_t point; /* index of the label of the role's program point at which it can be taken; ANY_POINT: at all but
                     `start` */
  uint32_t next;  /* the label after it, unless the body says goto; ANY_POINT: unchanged */
  enum trigger trigger;
  uint32_t kind;      /* ONE, QUORUM: which of model->messages */
  uint32_t slot;      /* ONE, QUORUM: where a message stands while it is matched; ONE: also in guard and body */
  uint32_t from_slot; /* ONE: its sender; NO_SLOT: not bound. sender(m) reads eval's slot_sender[slot] */
  struct node *match; /* on one message, in slot; or NULL */
  struct message_part *parts;
  uint32_t nparts;
  struct node *size;   /* QUORUM: a number; in guard and body the quorum is NODE_RECEIVED */
  bool exactly, taken; /* QUORUM: exactly that many messages; they are removed */
  struct guard guard;
  uint32_t once; /* the role's VAR_ONCE variable, which must be false and becomes true; NO_SLOT: none */
  struct block body;
};
#define ANY_POINT UINT32_MAX
#define NO_SLOT UINT32_MAX
#define NO_VAR UINT32_MAX
#define NO_KIND UINT32_MAX

struct role {
  const char *name;
  struct span at;
  uint32_t first, count; /* identities first .. first+count-1 */
  struct var *vars;
  uint32_t nvars;
  struct body *body;      /* rounds: one for each point of the schedule */
  struct action *actions; /* steps, in the order of the text */
  uint32_t nactions;
  uint32_t point_var; /* VAR_POINT, NO_VAR: the role has neither `start` nor steps. Labels: "start" if there is one,
                         the steps in order, "end" */
  bool *final;        /* by label: a process may stay there forever, which is no deadlock; NULL: point_var is NO_VAR */
  bool ring;          /* NODE_NEXT is defined; sends go to it only */
  struct node *graph; /* set of identities, may read me: whom a process can send to; NULL: everybody */
};

#define POINT_END UINT32_MAX
#define NO_NAME UINT32_MAX

/* A round of the schedule, which is the same for all roles: `repeat` is unrolled, `phase` is a cycle. */
struct point {
  const char *name; /* of the round, or NULL */
  uint32_t name_id; /* its index in model->round_names, or NO_NAME */
  value loop;       /* the repeat's counter here */
  uint32_t next;    /* POINT_END: the run ends after this round */
  uint32_t number;  /* of the round, counted from 1, when it is first executed */
  bool phase_start; /* oracles `each phase` are chosen here */
  bool phase_end;   /* they are dropped, and the phase number advances if endless */
  bool endless;     /* inside `phase` */
};

struct def {
  const char *name;
  struct span at;
  uint32_t nargs; /* in slots 0 .. nargs-1 of a fresh frame */
  const struct type *type;
  struct node *body;
};

/* `p.x`: a name that one or several roles have a variable of. */
struct field {
  const char *name;
  const struct type *type;
  uint32_t *var; /* by role: index of the variable, or UINT32_MAX */
};

enum clause_kind {
  CLAUSE_CRASH,
  CLAUSE_OMIT,
  CLAUSE_BYZANTINE,
  CLAUSE_LOST,
  CLAUSE_CORRUPTED,
  CLAUSE_EVERY,      /* pred over HO, SHO, oracles, in every round (of name, if it says HO[p, name]) */
  CLAUSE_FROM_ROUND, /* likewise, from round `from` on */
  CLAUSE_OFTEN,      /* infinitely often: does not restrict finite runs */
  CLAUSE_FINALLY,    /* eventually always: likewise */
  CLAUSE_ONCE,       /* eventually, at least once: likewise */
  CLAUSE_SYNCHRONOUS,
  CLAUSE_FAIR,
  CLAUSE_DUPLICATED, /* steps: a message that is taken may stay */
  CLAUSE_CHANNELS    /* steps: at most one; none: bags without bound */
};
#define CLAUSE_KINDS (CLAUSE_CHANNELS + 1u)

/* The channels between each pair of processes. */
enum channel {
  CHANNEL_BAG, /* any pending message can be taken */
  CHANNEL_SET, /* a message equal to a pending one is absorbed */
  CHANNEL_FIFO /* only the oldest can */
};

struct clause_part {
  struct node *pred;
  uint32_t name_id; /* evaluated in rounds of that name only; NO_NAME: in every round */
};

/* Steps: to what an environment is fair. Each of these is taken infinitely often if it is enabled: from some moment on
   (weak fairness), or infinitely often (strong fairness). */
enum fairness {
  FAIR_MESSAGES, /* a process, an action, a sender and a message, for actions that take one; else a process and an
                    action */
  FAIR_ACTIONS,  /* a process and an action */
  FAIR_PROCESSES /* a process */
};

struct clause {
  enum clause_kind kind;
  struct span at;
  int64_t limit; /* faults; INT64_MAX for `any` */
  struct node *limit_node;
  uint32_t role; /* which processes may be faulty; ROLE_ANY: all */
  bool omits_send, omits_receive;
  bool recovers;         /* CRASH: `crash and recover` */
  enum fairness fair_to; /* FAIR: at most one such clause */
  bool strong;
  bool to_followed;     /* FAIR: to the processes in hidden inputs (var.followed) only: live_approximate_fairness */
  enum channel channel; /* CHANNELS */
  int64_t bound;        /* CHANNELS: most pending messages from one process to another, 0: any number; an action that
                           would send more cannot be taken */
  enum limit_scope { PER_RUN, PER_ROUND, PER_RECEIVER } per; /* LOST, CORRUPTED: limit per what */
  struct node *pred; /* one conjunct: `every round: a and b` makes two clauses */
  enum unit unit;
  uint32_t name_id; /* of the rounds that it is about; NO_NAME: all */
  uint32_t from;    /* FROM_ROUND: 1-based */
  /* OFTEN, FINALLY, ONCE: pred, split into parts. It holds in a round, or in the rounds of a phase (unit), if there are
     values for the witness, chosen before the first of these rounds, with which every part holds in every round in
     which it is evaluated. */
  struct generator *witness;
  uint32_t nwitness;
  uint32_t nrigid; /* FINALLY: the first nrigid witnesses are chosen once for the whole run: `for some` */
  struct clause_part *parts;
  uint32_t nparts;
  const struct node
      *each; /* OFTEN, ONCE: one of the clauses that `for each` expands to; `exists p in role: ...` here */
};

struct environment {
  const char *name;
  struct span at;
  struct clause *clauses;
  uint32_t nclauses;
};

enum property_kind { PROPERTY_SAFETY, PROPERTY_COVER, PROPERTY_LIVE };

struct property {
  const char *name;
  enum property_kind kind;
  bool step;              /* about a step: primed fields are after it */
  bool almost_surely;     /* LIVE */
  bool on_request;        /* checked only if --property names it */
  bool built_in;          /* `deadlock`, unless the file declares it; on_request, but `check` adds it by itself */
  bool stability_unknown; /* analysis/local_properties.h: it requires a stability that cannot be expressed */
  uint32_t
      stability_of; /* analysis/local_properties.h: 1 + the property that requires this one; 0: it is in the text */
  struct span at;
  uint32_t *environments, nenvironments; /* at least one: the file's first if it names none */
  struct node *formula;
  const struct node *until; /* SAFETY, rounds: evaluated only until this first holds; NULL: always */
};

struct param {
  const char *name;
  struct span at;
  int64_t value;
  bool truth; /* true or false, as 1 or 0 */
};

enum model_kind { MODEL_ROUNDS, MODEL_MESSAGES, MODEL_SHARED, MODEL_COUNTERS };

/* What a step of a run is (docs/language.md, "Semantics"). */
enum semantics {
  SEMANTICS_COARSE,      /* rounds: all take the whole round in one step */
  SEMANTICS_FINE,        /* rounds: sending, receiving and updating are steps; each process is in a round of its own */
  SEMANTICS_M,           /* steps: a message that is sent lies in its receiver's inbox */
  SEMANTICS_M_MP,        /* delivery is a step of its own; an action takes any fitting messages delivered */
  SEMANTICS_MP,          /* likewise, and an action takes all that was delivered since its process's last one */
  SEMANTICS_INTERLEAVING /* steps without messages: the first three are all the same */
};
const char *semantics_name(enum semantics); /* "coarse", "m", "m-mp", ... as on the command line */

struct process_types {
  const struct type *any; /* TYPE_PROCESS of any role */
  const struct type *set; /* sets of these */
};
struct round_names { /* the distinct names of rounds, in order of their first use */
  const char **at;
  uint32_t n;
};

struct model {
  struct arena arena;
  enum model_kind kind;
  struct source source; /* its text is in the arena */
  struct values values; /* values of constants; the interpreter adds to it */
  const char *name;
  /* declarations */
  struct param *params;
  uint32_t nparams;
  struct type **types;
  uint32_t ntypes;
  struct def *defs;
  uint32_t ndefs;
  struct field *fields;
  uint32_t nfields;
  uint32_t nslots; /* of the largest frame */
  struct process_types process_types;
  /* the algorithm */
  struct role *roles;
  uint32_t nroles;
  uint32_t nprocesses;
  struct var *globals; /* file-level: inputs, chosen once; shared variables; ghosts */
  uint32_t nglobals;
  struct message_kind *messages; /* steps */
  uint32_t nmessages;
  struct point *points; /* rounds: the schedule */
  uint32_t npoints;
  struct round_names round_names;
  /* what is checked */
  struct environment *environments; /* at least one: `free` is made if there is none */
  uint32_t nenvironments;
  struct property *properties; /* then the built-in one, then the stabilities; no model has both */
  uint32_t nproperties;
  uint32_t nbuilt_in;    /* steps: `deadlock`, unless the file declares it */
  uint32_t nstabilities; /* step properties that locality requires (analysis/local_properties.h) */
};

/* The properties that can be asked for by name. */
static inline uint32_t model_nasked(const struct model *m) { return m->nproperties + m->nbuilt_in; }

/* What one search, or one run of another engine, decides. */
struct query {
  uint32_t environment;
  enum semantics semantics;
  const uint32_t *properties; /* those checked together; a live one is alone */
  uint32_t nproperties;
  struct node *const *atoms; /* live: the closed formulas about states that the property consists of; else none */
  uint32_t natoms;
  bool until; /* runs end in the first state in which the only atom holds; one property */
};
static inline bool query_is_live(const struct model *m, const struct query *q) { /* is it about runs, not states? */
  return q->nproperties > 0 && m->properties[q->properties[0]].kind == PROPERTY_LIVE;
}

/* The number of requested properties. They come first, then those that locality requires. */
static inline uint32_t query_nrequested(const struct model *m, const struct query *q) {
  uint32_t n = q->nproperties;
  while (n > 0 && m->properties[q->properties[n - 1]].stability_of)
    n--;
  return n;
}

/* The clauses of the environment about whole runs (OFTEN, FINALLY, ONCE), at most RUN_CLAUSES_MAX. Returns their
   number; found may be NULL. */
#define RUN_CLAUSES_MAX 64
static inline bool clause_is_of_runs(const struct clause *c) {
  return c->kind == CLAUSE_OFTEN || c->kind == CLAUSE_FINALLY || c->kind == CLAUSE_ONCE;
}
uint32_t environment_run_clauses(const struct environment *, const struct clause **found);
/* Are there at most RUN_CLAUSES_MAX of them? Otherwise live properties are refused. */
bool environment_run_clauses_fit(const struct environment *);

/* The `fair` clause, or NULL. */
const struct clause *environment_fairness(const struct environment *);

static inline bool model_steps(const struct model *m) { return m->kind == MODEL_MESSAGES || m->kind == MODEL_SHARED; }
uint32_t model_role_of(const struct model *, value process);
bool block_halts(const struct block *); /* on some path */
bool role_halts(const struct model *, const struct role *);
const char *op_text(enum op);
/* Calls visit on node and everything below it, generators included, parents first; stops going down where it
   returns false. */
typedef bool node_visit_fn(void *context, const struct node *);
void node_walk(const struct node *, node_visit_fn *, void *context);
void guard_walk(const struct guard *, node_visit_fn *, void *context);
void send_walk(const struct send *, node_visit_fn *, void *context);
void stmt_walk(const struct stmt *, node_visit_fn *, void *context); /* without the blocks inside it */
void block_walk(const struct block *, node_visit_fn *, void *context);
/* Calls visit on every statement, those of the blocks inside included, in the order of the text. */
typedef void stmt_visit_fn(void *context, const struct stmt *);
void block_visit(const struct block *, stmt_visit_fn *, void *context);
void model_free(struct model *);

#endif
