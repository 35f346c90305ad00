/* Private to the checker (typecheck*.c): its state, its scopes, and the interfaces of its parts.

   An expression is lowered bottom-up: every node gets the narrowest type that holds its values (a
   literal 3 is of type 3..3), then `coerce` converts it to the type that its place needs: it wraps it into an option,
   widens the element of a set literal, or adds a check at run time (NARROW). A node of type error
   was reported and is never reported again. */
#ifndef RONDO_LANG_TYPECHECK_INTERNAL_H
#define RONDO_LANG_TYPECHECK_INTERNAL_H

#include "base/vec.h"
#include "lang/typecheck.h"

enum {
  PROCESSES_MAX = 1000000,
  POINTS_MAX = 100000,
  TYPE_BUCKETS = 4096,
  ELEMENTS_MAX = 10000000, /* of a type that a generator ranges over, or that indexes an array */
};

enum symbol_kind {
  SYMBOL_PARAM,
  SYMBOL_TYPE,
  SYMBOL_LABEL,
  SYMBOL_ROLE,
  SYMBOL_DEF,
  SYMBOL_GLOBAL,  /* a file-level input */
  SYMBOL_SHARED,  /* a file-level variable: shared, or a ghost */
  SYMBOL_MESSAGE, /* a kind of message */
  SYMBOL_QUORUM,  /* the messages that the action looks at */
  SYMBOL_VAR,     /* of the process being checked */
  SYMBOL_SLOT,    /* bound by a generator, a let, or a def's parameter */
  SYMBOL_LOOP,
  SYMBOL_PHASE
};

struct scope_symbol {
  const char *name;
  enum symbol_kind kind;
  struct span at;
  uint32_t index; /* parameter, role, def, global, message, variable or slot; LABEL: position */
  const struct type *type;
  uint64_t roles; /* SLOT of identities: of which roles, a bit each */
  bool message;   /* SLOT: bound over `received` or by an action, so it has a sender */
  bool used;
  bool open; /* TYPE: being looked at, so meeting it again is a cycle; SLOT: bound twice, so not to
                be used */
};

/* Sets of roles: a bit each, the last one for all from 63 on. */
#define ROLES_ALL UINT64_MAX
static inline bool role_in(uint64_t roles, uint32_t r) { return roles >> (r < 63 ? r : 63) & 1; }

typedef VEC(struct scope_symbol) symbol_vec;

/* Where an expression stands: what it may read. */
enum expr_site {
  IN_FILE,       /* a file-level input's init or where */
  IN_DEF,        /* a file-level def */
  IN_MEMBER_DEF, /* a def of a process */
  IN_INIT,       /* a variable's first value */
  IN_SEND,
  IN_UPDATE,
  IN_FINALLY,
  IN_GRAPH,  /* whom a process can send to */
  IN_ACTION, /* steps: trigger and body */
  IN_ENVIRONMENT,
  IN_PROPERTY
};

/* Whether an expression is evaluated in every run that gets to the construct it belongs to. */
enum reach { REACH_ALWAYS, REACH_MAYBE, REACH_NEVER };

struct expr_context {
  enum expr_site where;
  uint32_t role;             /* of the process, ROLE_ANY outside */
  bool ghost;                /* what is computed goes to a ghost: ghosts may be read */
  bool step, live;           /* IN_PROPERTY */
  uint32_t ready;            /* IN_INIT: variables that have a value */
  struct arrivals *arrivals; /* IN_UPDATE; IN_ACTION: of the kind of message that it takes, or NULL */
  const char *quorum;        /* IN_ACTION: the name of the messages it looks at, or NULL */
  enum reach reach;
  bool fixed; /* IN_ACTION: part of a pattern, where nothing can be chosen */
};

/* What can reach a role in a round, for `received`, `from` and `heard`; steps: of one kind, at any time. */
struct arrivals {
  const struct type *type;         /* NULL: nothing can */
  uint64_t senders;                /* roles, a bit each */
  const struct ast *first, *clash; /* two sends whose types differ; clash is NULL if there are none */
  const struct type *first_type, *clash_type;
};

enum def_state { DEF_NEW, DEF_OPEN, DEF_DONE };

struct def_info {
  const struct ast *ast;
  enum def_state state;
  uint32_t role; /* ROLE_ANY: file level */
  const struct type **args;
  const struct type *type; /* NULL: not known yet */
  bool reads_processes;    /* reads processes from outside, so it is not for processes */
  bool chooses;            /* pick or random inside, so it is for processes only */
  bool reads_shared;       /* reads shared variables, so it is not for first values */
  bool reads_ghost;        /* reads a ghost of the file, so it is for ghosts and properties only */
};

struct role_info {
  const struct ast *ast;
  symbol_vec members; /* its variables and defs; moved to typechecker.members between enter_role and leave_role */
  bool *read;         /* by variable: somebody reads it */
  bool *takes;        /* steps: by kind of message: an action of it does */
  const struct type *points; /* steps: of the program point, NULL: it has none */
  uint32_t once;             /* steps: the next VAR_ONCE variable that has no action yet */
};

struct param_info {
  const struct ast *ast; /* PARAM */
  bool known, is_bool;
};

struct param_condition { /* where, resilience */
  const struct ast *expr;
};

struct unbound_name { /* of an `exists` inside a condition that is not joined with `and` */
  const char *name;
  const char *under; /* or, not, ... */
};

struct step_send { /* a send of an action, and the roles that it may reach */
  struct span at;
  uint32_t kind;
  uint64_t reach;
};

struct typechecker {
  struct model *m;
  const struct ast *file;
  struct diags *diags;
  symbol_vec globals, members, locals; /* file level; the process; bound names */
  struct expr_context in;
  struct def_info *def; /* whose body is looked at, or NULL */
  uint32_t slots;       /* of the current frame, in use */
  uint32_t slots_peak;  /* the most there were since the condition that is being lowered was begun */
  VEC(struct type *) types;
  VEC(uint32_t) next_type;           /* by type: 1 + the next one with the same hash, 0: none */
  uint32_t first_type[TYPE_BUCKETS]; /* likewise, by hash */
  VEC(struct def) defs;
  VEC(struct def_info) def_info;
  VEC(struct param_info) params;
  VEC(struct param_condition) conditions;
  VEC(struct step_send) sends;
  VEC(struct unbound_name) unbound; /* names that the guards around do not bind, though it looks so */
  struct role_info *roles;
  bool *global_read; /* by global: somebody reads it */
  uint64_t *senders; /* steps: [kind * nroles + role]: roles that send such messages to the role, a bit each */
  /* shared types */
  const struct type *boolean, *integer, *round, *error, *unknown; /* unknown: element of none, {} and [] */
  unsigned depth;                                                 /* of defs that check each other */
};

/* typecheck.c */
struct span first_step_construct(const struct ast *file);           /* what makes the file a model of steps */
const char *checker_strdup(struct typechecker *, const char *name); /* copied into the model */
void checker_error(struct typechecker *, struct span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void checker_help(struct typechecker *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t checker_line(const struct typechecker *, struct span);
/* The source text of a construct on one line; in the model's arena. */
const char *source_text(struct typechecker *, struct span);
const char *type_text(struct typechecker *,
                      const struct type *); /* "Value = 1..3" for a named range, else as written */

/* typecheck_scope.c */
struct scope_symbol *symbol_find(struct typechecker *, const char *name);
/* Declares unless the name is taken (reported); the result may move at the next declaration. */
bool symbol_declare(struct typechecker *, symbol_vec *, struct scope_symbol);
bool name_is_free(struct typechecker *, const char *name, struct span, bool callable);
void unknown_name(struct typechecker *, const char *name, struct span, const char *what);
uint32_t slot_new(struct typechecker *); /* in the current frame */
/* Binds a name to a slot. roles: whose identities it may hold; message: it has a sender. */
bool slot_declare(struct typechecker *, const char *name, struct span, uint32_t slot, const struct type *,
                  uint64_t roles, bool message);
void help_nearest(struct typechecker *, const char *name, const char *const *names, size_t n); /* "did you mean ...?" */
const char *symbol_kind_text(enum symbol_kind);

/* typecheck_params.c */
void declare_params(struct typechecker *);
void assign_params(struct typechecker *, const struct param_binding *, size_t nbindings, bool complete);

/* typecheck_constant.c: constant expressions, evaluated on the syntax tree. */
enum { CONSTANT_WORK_MAX = 5000000 }; /* some tens of milliseconds */

struct constant {
  int64_t value;
  bool is_bool;
};

struct constant_evaluator {
  struct typechecker *c;
  bool quiet;  /* report nothing */
  bool dead;   /* the value is not used: values may be wrong, names may not */
  bool open;   /* out: it needs a parameter that has no value yet */
  bool failed; /* out: it is wrong whatever the parameters are given later */
  unsigned depth;
  uint64_t work; /* out: nodes evaluated, and declarations searched for defs */
};

bool constant_eval(struct constant_evaluator *, const struct ast *, struct constant *);
/* The constant value of an expression over parameters; false: reported. */
bool constant_number(struct typechecker *, const struct ast *, const char *what, int64_t *out);

/* typecheck_types.c */
const struct type *type_intern(struct typechecker *, struct type); /* the one type of that shape */
const struct type *type_of_ast(struct typechecker *, const struct ast *);
const struct type *range_type(struct typechecker *, int64_t lo, int64_t hi);
const struct type *option_type(struct typechecker *, const struct type *);
const struct type *set_type(struct typechecker *, const struct type *);
const struct type *process_type(struct typechecker *, uint32_t role);
const struct type *message_type(struct typechecker *, const struct ast *signature);
void declare_types(struct typechecker *);
bool type_is_number(const struct type *);
bool type_is_known(const struct type *); /* no unknown or error part */
uint64_t roles_of_type(const struct typechecker *, const struct type *);
const struct type *any_process_type(struct typechecker *); /* of any role: of the only one if there is one */

/* typecheck_coerce.c */
const struct type *type_join(struct typechecker *, const struct type *, const struct type *); /* NULL: none */
bool same_representation(const struct type *, const struct type *); /* values of both look alike */
/* Converts a node to the type; NULL: it cannot be. assigned: the interpreter checks the range itself. */
struct node *coerce(struct typechecker *, struct node *, const struct type *, bool assigned);
struct node *coerce_aggregate(struct typechecker *, struct node *, const struct type *); /* min, max, pick ... */
/* coerce, or report "expected ..., not ...". */
struct node *coerce_or_report(struct typechecker *, struct node *, const struct type *, const char *what);
bool coerce_to_join(struct typechecker *, struct node **, struct node **); /* both to their join */
const char *order_missing_reason(const struct type *);                     /* NULL: it has an order */

/* typecheck_reach.c */
enum reach reach_if(const struct typechecker *, const struct node *condition,
                    bool holds);                                    /* where it does or does not */
enum reach reach_maybe(const struct typechecker *);                 /* where something else decides */
bool refused_here(const struct typechecker *, const struct node *); /* is a value that never fits an error already? */

/* typecheck_nodes.c */
struct node *node_new(struct typechecker *, enum op, struct span, const struct type *, uint32_t kids);
struct node *node_error(struct typechecker *, struct span);
struct node *node_constant(struct typechecker *, struct span, const struct type *, value);
struct node *node_slot(struct typechecker *, struct span, uint32_t slot, const struct type *);
struct node *node_role_set(struct typechecker *, struct span, uint32_t role); /* ROLE_ANY: of all processes */
struct node *node_unary(struct typechecker *, enum op, struct span, const struct type *, struct node *);
struct node *node_binary(struct typechecker *, enum op, struct span, const struct type *, struct node *, struct node *);
struct node *node_if(struct typechecker *, struct span, const struct type *, struct node *condition, struct node *,
                     struct node *);
/* A quantifier, comprehension or aggregate. */
struct node *node_over(struct typechecker *, enum op, struct span, const struct type *, struct node *body,
                       struct generator *, uint32_t ngen);
struct node *node_and(struct typechecker *, struct node *, struct node *); /* and; either may be NULL */
bool node_is_error(const struct node *);
struct generator *generator_over(struct typechecker *, struct span, const char *name, uint32_t slot,
                                 struct node *range);

/* typecheck_expr.c */
struct node *lower_expr(struct typechecker *, const struct ast *);
struct node *lower_bool(struct typechecker *, const struct ast *, const char *what);

/* typecheck_name.c */
struct node *lower_name(struct typechecker *, const struct ast *);
struct node *lower_select(struct typechecker *, const struct ast *);
struct node *lower_primed(struct typechecker *, const struct ast *);
struct node *lower_index(struct typechecker *, const struct ast *);
struct node *lower_initial(struct typechecker *, const struct ast *);
bool may_read_received(struct typechecker *, const struct ast *, const char *what);
const struct type *sender_type(struct typechecker *);
bool in_process(const struct typechecker *);
/* Properties and environments read the variables of all processes; so may a def that only they call. */
bool may_observe_processes(struct typechecker *);
const char *received_name_text(const struct typechecker *);   /* what `received` is called here */
uint64_t roles_of(struct typechecker *, const struct node *); /* whose identities it yields */

/* typecheck_collection.c */
struct node *lower_collection(struct typechecker *,
                              const struct ast *); /* a generator's range, or what stands after `in` */
/* Bound names go out of scope at the end, and their slots are free again. */
struct scope_position {
  size_t locals;
  uint32_t slots;
  enum reach reach;
};
struct scope_position scope_open(const struct typechecker *);
void scope_close(struct typechecker *, struct scope_position);
/* Lowers the generators of kid[from..] and leaves their names in scope, and the reach as it is for what they yield;
 *n: how many there are. */
struct generator *lower_generators(struct typechecker *, const struct ast *, uint32_t from, uint32_t *n);
struct node *lower_quantifier(struct typechecker *, const struct ast *);
struct node *lower_set_of(struct typechecker *, const struct ast *);
struct node *lower_count(struct typechecker *, const struct ast *);
struct node *lower_array_of(struct typechecker *, const struct ast *);
struct node *lower_call_over(struct typechecker *, const struct ast *);
uint64_t collection_size_max(struct typechecker *, const struct node *);           /* its largest size */
uint64_t bindings_max(struct typechecker *, const struct generator *, uint32_t n); /* likewise, of generators */

/* typecheck_call.c */
struct node *lower_call(struct typechecker *, const struct ast *);
bool is_aggregate(const char *name, enum op *);
struct node *aggregate_over(struct typechecker *, const struct ast *call, enum op, struct node *element,
                            struct generator *, uint32_t ngen);

/* typecheck_def.c */
void declare_defs(struct typechecker *, uint32_t role); /* ROLE_ANY: the file's */
void check_defs(struct typechecker *, uint32_t role);
const struct def_info *def_typecheck(struct typechecker *, uint32_t index, struct span use); /* NULL: reported */

/* typecheck_guard.c: a condition that may bind. */
struct witness_group { /* the generators of one `exists`, with the names they bind */
  struct generator *gen;
  uint32_t ngen;
  struct node *body;
  struct span at;
};
struct guard_builder {
  struct node **conjunct; /* NULL where a group stands */
  struct witness_group *group;
  uint32_t n;
  size_t scope; /* first of the bound names among the locals */
  size_t unbound;
  enum reach outer; /* of the guard */
  enum reach other; /* of what is done if it does not hold */
};
/* Lowers the condition; its names stay in scope until guard_close, which finds out which were used.
 */
void guard_open(struct typechecker *, const struct ast *condition, struct guard_builder *);
void guard_close(struct typechecker *, struct guard_builder *, struct guard *);

/* typecheck_variables.c, typecheck_statement.c, typecheck_schedule.c */
void declare_roles(struct typechecker *);
void check_stores(struct typechecker *);
enum var_kind field_kind(const struct typechecker *, uint32_t field);
void mark_read(struct typechecker *, uint32_t field); /* somebody reads such a variable */
uint32_t field_find(struct typechecker *, const char *name, uint64_t roles, struct span); /* UINT32_MAX: reported */
void check_schedule(struct typechecker *);
void check_block(struct typechecker *, const struct ast *, struct block *);
void enter_role(struct typechecker *, uint32_t role);
void leave_role(struct typechecker *);
uint64_t check_send(struct typechecker *, const struct ast *, struct send *);   /* the roles that it may reach */
uint64_t check_target(struct typechecker *, const struct ast *, struct send *); /* likewise */

/* typecheck_messages.c: kinds of messages, who sends them to whom. */
void declare_messages(struct typechecker *);
void find_senders(struct typechecker *); /* needs the environments: a liar sends anything */
uint32_t message_named(struct typechecker *, const char *name, struct span); /* NO_KIND: reported */
void check_step_send(struct typechecker *, const struct ast *, struct stmt *);
void warn_of_messages(struct typechecker *);

/* typecheck_steps.c, typecheck_action.c: processes that take steps. */
uint32_t count_hidden_variables(const struct ast *process); /* at most so many */
void declare_points(struct typechecker *, uint32_t role);   /* program point and `once` flags, after all others */
void check_graphs(struct typechecker *);
void check_steps(struct typechecker *);
uint32_t point_find(struct typechecker *, uint32_t role, const char *name); /* UINT32_MAX: no such step */
struct node *lower_at(struct typechecker *, const struct ast *);            /* at(p, step) */
void check_goto(struct typechecker *, const struct ast *, struct stmt *);
void check_action(struct typechecker *, const struct ast *trigger, const struct ast *block, struct action *);

/* typecheck_faults.c: faults and channels. */
typedef VEC(struct clause) clause_vec;
void check_fault(struct typechecker *, const struct ast *, clause_vec *);
void check_channels(struct typechecker *, const struct ast *, clause_vec *);
bool clause_allowed_in_model(struct typechecker *, const struct ast *); /* the kind of model; false: reported */
/* An environment has at most one kind; those that it extends may say the same. */
void merge_single_clause(struct typechecker *, const struct environment *, clause_vec *,
                         enum clause_kind); /* CHANNELS, FAIR */

/* typecheck_environment.c, typecheck_property.c */
void check_environments(struct typechecker *);
uint32_t environment_named(struct typechecker *, const struct ast *name); /* UINT32_MAX: reported */
/* The predicates of the papers, written out (uniform, nosplit, ...), over all processes;
 * NULL if the name is none of them. */
struct node *named_predicate(struct typechecker *, const struct ast *name);
/* Likewise of failure detectors, as in perfect(suspected). */
struct node *detector_predicate(struct typechecker *, const struct ast *call);

/* typecheck_run_clauses.c: clauses about whole runs */
#define NO_PROCESS UINT32_MAX
uint32_t clause_round_name(const struct node *, bool *several); /* HO[p, name]; NO_NAME: none, or several */
void error_two_rounds(struct typechecker *, struct span);
void clause_decompose(struct typechecker *, struct clause *);                   /* sets witness and parts */
uint32_t role_of_generator(struct typechecker *, const struct ast *quantifier); /* ROLE_ANY: reported */
bool clause_instantiate(struct typechecker *, struct clause *, uint32_t each); /* pred, for one process of `for each` */
void check_properties(struct typechecker *);

/* typecheck_whole_model.c: errors and warnings that need all of the model, its defs written out. */
void check_whole_model(const struct model *, struct diags *);

#endif
