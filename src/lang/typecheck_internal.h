/* Private to the checker (typecheck*.c): its state, its scopes, and the interfaces of its parts.

   An expression is lowered bottom-up: every node gets the narrowest type that contains its values (a literal 3 has
   type 3..3). Then `coerce` converts it to the type that its context requires: it wraps it into an option, widens
   the element type of a set literal, or adds a run-time check (NARROW). A node of type error was reported and is
   never reported again. */
#ifndef RONDO_LANG_TYPECHECK_INTERNAL_H
#define RONDO_LANG_TYPECHECK_INTERNAL_H

#include "base/name_index.h"
#include "lang/typecheck.h"

enum {
  PROCESSES_MAX = 1000000,
  POINTS_MAX = 100000,
  TYPE_BUCKETS = 4096,
  ELEMENTS_MAX = 10000000, /* largest size of a type that a generator ranges over or that indexes an array */
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
  SYMBOL_QUORUM,  /* the messages that the action reads */
  SYMBOL_VAR,     /* a variable of the process being checked */
  SYMBOL_SLOT,    /* bound by a generator, a let, or a def's parameter */
  SYMBOL_LOOP,
  SYMBOL_PHASE
};

struct scope_symbol {
  const char *name;
  enum symbol_kind kind;
  struct span at;
  uint32_t index; /* index of the parameter, role, def, global, message, variable or slot; LABEL: position */
  const struct type *type;
  uint64_t roles; /* SLOT that holds identities: the possible roles, one bit each */
  bool message;   /* SLOT: bound over `received` or by an action, so it has a sender */
  bool used;
  bool open; /* TYPE: being resolved, so finding it again is a cycle; SLOT: bound twice, so it must not be used */
};

/* Sets of roles: one bit each; the last bit stands for all roles from 63 on. */
#define ROLES_ALL UINT64_MAX
static inline bool role_in(uint64_t roles, uint32_t r) { return roles >> (r < 63 ? r : 63) & 1; }

/* The declared names of a file, of a process, or of a construct. */
struct symbol_scope {
  struct scope_symbol *at; /* in the order of declaration */
  size_t n, cap;
  struct name_index names; /* of the same symbols */
};

/* The context of an expression, which determines what it may read. */
enum expr_site {
  IN_FILE,       /* init or where of a file-level input */
  IN_DEF,        /* a file-level def */
  IN_MEMBER_DEF, /* a def of a process */
  IN_INIT,       /* the initial value of a variable */
  IN_SEND,
  IN_UPDATE,
  IN_FINALLY,
  IN_GRAPH,  /* the communication graph: the receivers of a process */
  IN_ACTION, /* steps: trigger and body */
  IN_ENVIRONMENT,
  IN_PROPERTY
};

/* Is an expression evaluated in every run that reaches the construct that it belongs to? */
enum reach { REACH_ALWAYS, REACH_MAYBE, REACH_NEVER };

struct expr_context {
  enum expr_site where;
  uint32_t role;             /* of the process; ROLE_ANY outside of processes */
  bool ghost;                /* the result goes to a ghost, so ghosts may be read */
  bool step, live;           /* IN_PROPERTY */
  uint32_t ready;            /* IN_INIT: the variables that already have a value */
  struct arrivals *arrivals; /* IN_UPDATE; IN_ACTION: for the kind of message that it takes, or NULL */
  const char *quorum;        /* IN_ACTION: the name of the quorum that it reads, or NULL */
  enum reach reach;
  bool fixed; /* IN_ACTION: part of a pattern, where free choices are not allowed */
};

/* The messages that can reach a role in a round, for `received`, `from` and `heard`; steps: the messages of one kind,
   at any time. */
struct arrivals {
  const struct type *type;         /* NULL: no message can */
  uint64_t senders;                /* roles, a bit each */
  const struct ast *first, *clash; /* two sends of different types; clash is NULL if there are none */
  const struct type *first_type, *clash_type;
};

enum def_state { DEF_NEW, DEF_OPEN, DEF_DONE };

struct def_info {
  const struct ast *ast;
  enum def_state state;
  uint32_t role; /* ROLE_ANY: file level */
  const struct type **args;
  const struct type *type; /* NULL: not known yet */
  bool reads_processes;    /* reads variables of processes from outside, so processes may not use it */
  bool chooses;            /* contains pick or random, so only processes may use it */
  bool reads_shared;       /* reads shared variables, so initial values may not use it */
  bool reads_ghost;        /* reads a file-level ghost, so only ghosts and properties may use it */
};

struct role_info {
  const struct ast *ast;
  struct symbol_scope
      members; /* its variables and defs; moved to typechecker.members between enter_role and leave_role */
  struct name_index variables;   /* in the order of the model's variables of the role */
  bool *read;                    /* by variable: it is read somewhere */
  bool *takes;                   /* steps: by kind of message: some action of the role takes it */
  const struct type *points;     /* steps: the type of the program point; NULL: there is none */
  struct name_index point_names; /* steps: in the order of its values */
  uint32_t once;                 /* steps: the next VAR_ONCE variable without an action */
};

struct param_info {
  const struct ast *ast; /* PARAM */
  bool known, is_bool;
};

struct param_condition { /* from `where` or `resilience` */
  const struct ast *expr;
};

struct unbound_name { /* bound by an `exists` that is not a conjunct of the condition */
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
  struct source_lines lines;                    /* of the source; empty until the first use */
  struct symbol_scope globals, members, locals; /* scopes: file level, the process, bound names */
  struct expr_context in;
  struct def_info *def; /* the def whose body is being checked, or NULL */
  uint32_t slots;       /* number of slots in use in the current frame */
  uint32_t slots_peak;  /* maximum of `slots` since lowering of the current condition began */
  VEC(struct type *) types;
  VEC(uint32_t) next_type;           /* hash chain: by type, 1 + the next type with the same hash; 0: none */
  uint32_t first_type[TYPE_BUCKETS]; /* hash chain: by hash, 1 + the first type; 0: none */
  VEC(struct def) defs;
  VEC(struct def_info) def_info;
  VEC(struct param_info) params;
  VEC(struct param_condition) conditions;
  VEC(struct step_send) sends;
  VEC(struct unbound_name) unbound; /* names that look as if the enclosing guards bound them, but are not bound */
  struct role_info *roles;
  struct name_index fields;              /* in the order of the model's fields */
  struct name_index environments;        /* in the order of the model's environments */
  struct name_index constants;           /* in the order of `constant_defs` */
  VEC(const struct ast *) constant_defs; /* the file's defs without arguments; only the first of each name */
  bool *global_read;                     /* by global: it is read somewhere */
  uint64_t *senders; /* steps: [kind * nroles + role]: the roles that send such messages to the role, one bit each */
  /* shared types */
  const struct type *boolean, *integer, *round, *error, *unknown; /* unknown: the element type of none, {} and [] */
  unsigned depth;                                                 /* nesting depth of defs being checked */
};

/* typecheck.c */
struct span first_step_construct(const struct ast *file); /* the construct that makes the file a model of steps */
const char *checker_strdup(struct typechecker *, const char *name); /* copied into the model */
void checker_error(struct typechecker *, struct span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void checker_help(struct typechecker *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t checker_line(struct typechecker *, struct span);
/* The source text of a construct on one line; allocated in the model's arena. */
const char *source_text(struct typechecker *, struct span);
const char *type_text(struct typechecker *,
                      const struct type *); /* "Value = 1..3" for a named range, else as written */

/* typecheck_scope.c */
struct scope_symbol *scope_find(const struct symbol_scope *, const char *name); /* NULL: not declared there */
void scope_add(struct symbol_scope *, struct scope_symbol);                     /* without any check */
void scope_cut(struct symbol_scope *, size_t n);                                /* keeps the first n symbols */
void scope_release(struct symbol_scope *);
struct scope_symbol *symbol_find(struct typechecker *, const char *name);
/* Declares the symbol. False: the name is taken, which is reported. Symbols may move at the next declaration. */
bool symbol_declare(struct typechecker *, struct symbol_scope *, struct scope_symbol);
bool name_is_free(struct typechecker *, const char *name, struct span, bool callable);
void unknown_name(struct typechecker *, const char *name, struct span, const char *what);
uint32_t slot_new(struct typechecker *); /* in the current frame */
/* Binds a name to a slot. roles: the roles whose identities it may hold; message: it has a sender. */
bool slot_declare(struct typechecker *, const char *name, struct span, uint32_t slot, const struct type *,
                  uint64_t roles, bool message);
void help_nearest(struct typechecker *, const char *name, const char *const *names, size_t n); /* "did you mean ...?" */
const char *symbol_kind_text(enum symbol_kind);

/* typecheck_params.c */
void declare_params(struct typechecker *);
void assign_params(struct typechecker *, const struct param_binding *, size_t nbindings, bool complete);

/* typecheck_constant.c: constant expressions, evaluated on the syntax tree. */
enum { CONSTANT_WORK_MAX = 5000000 }; /* tens of milliseconds */

struct constant {
  int64_t value;
  bool is_bool;
};

struct constant_evaluator {
  struct typechecker *c;
  bool quiet;  /* report nothing */
  bool dead;   /* the value is not used: undefined values are accepted, unknown names are not */
  bool open;   /* out: it depends on a parameter without a value */
  bool failed; /* out: it is wrong for all values of the remaining parameters */
  unsigned depth;
  uint64_t work; /* out: number of evaluated nodes */
};

void collect_constant_defs(struct typechecker *); /* before the first evaluation */
bool constant_eval(struct constant_evaluator *, const struct ast *, struct constant *);
/* The constant value of an expression over parameters. False: reported. */
bool constant_number(struct typechecker *, const struct ast *, const char *what, int64_t *out);

/* typecheck_types.c */
const struct type *type_intern(struct typechecker *, struct type); /* the unique type of that shape */
const struct type *type_of_ast(struct typechecker *, const struct ast *);
const struct type *range_type(struct typechecker *, int64_t lo, int64_t hi);
const struct type *option_type(struct typechecker *, const struct type *);
const struct type *set_type(struct typechecker *, const struct type *);
const struct type *process_type(struct typechecker *, uint32_t role);
const struct type *message_type(struct typechecker *, const struct ast *signature);
void declare_types(struct typechecker *);
bool type_is_number(const struct type *);
bool type_is_known(const struct type *); /* has no unknown or error part */
uint64_t roles_of_type(const struct typechecker *, const struct type *);
/* An identity of any role; if there is only one role, of that role */
const struct type *any_process_type(struct typechecker *);

/* typecheck_coerce.c */
const struct type *type_join(struct typechecker *, const struct type *, const struct type *); /* NULL: none */
/* Values of both types have the same representation */
bool same_representation(const struct type *, const struct type *);
/* Converts a node to the type; NULL: impossible. assigned: the interpreter checks the range itself. */
struct node *coerce(struct typechecker *, struct node *, const struct type *, bool assigned);
struct node *coerce_aggregate(struct typechecker *, struct node *, const struct type *); /* min, max, pick ... */
/* coerce, or report "expected ..., not ...". */
struct node *coerce_or_report(struct typechecker *, struct node *, const struct type *, const char *what);
bool coerce_to_join(struct typechecker *, struct node **, struct node **); /* converts both to their join */
const char *order_missing_reason(const struct type *);                     /* NULL: the type is ordered */

/* typecheck_reach.c */
enum reach reach_if(const struct typechecker *, const struct node *condition,
                    bool holds);                    /* in the branch where the condition holds, or does not hold */
enum reach reach_maybe(const struct typechecker *); /* in a branch that depends on something else */
/* Is a value that never fits reported as an error here? */
bool refused_here(const struct typechecker *, const struct node *);

/* typecheck_nodes.c */
struct node *node_new(struct typechecker *, enum op, struct span, const struct type *, uint32_t kids);
struct node *node_error(struct typechecker *, struct span);
struct node *node_constant(struct typechecker *, struct span, const struct type *, value);
struct node *node_slot(struct typechecker *, struct span, uint32_t slot, const struct type *);
struct node *node_role_set(struct typechecker *, struct span, uint32_t role); /* ROLE_ANY: all processes */
struct node *node_unary(struct typechecker *, enum op, struct span, const struct type *, struct node *);
struct node *node_binary(struct typechecker *, enum op, struct span, const struct type *, struct node *, struct node *);
struct node *node_if(struct typechecker *, struct span, const struct type *, struct node *condition, struct node *,
                     struct node *);
/* A quantifier, comprehension or aggregate. */
struct node *node_over(struct typechecker *, enum op, struct span, const struct type *, struct node *body,
                       struct generator *, uint32_t ngen);
struct node *node_and(struct typechecker *, struct node *, struct node *); /* conjunction; NULL means true */
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
/* Properties and environments may read the variables of all processes, and so may defs that only they call. */
bool may_observe_processes(struct typechecker *);
const char *received_name_text(const struct typechecker *);   /* the name of `received` in this context */
uint64_t roles_of(struct typechecker *, const struct node *); /* the roles whose identities it can yield */

/* typecheck_collection.c */
struct node *lower_collection(struct typechecker *,
                              const struct ast *); /* the range of a generator, or the right operand of `in` */
/* At the end of a scope, bound names are removed and their slots are reused. */
struct scope_position {
  size_t locals;
  uint32_t slots;
  enum reach reach;
};
struct scope_position scope_open(const struct typechecker *);
void scope_close(struct typechecker *, struct scope_position);
/* Lowers the generators in kid[from..], sets n to their number, and leaves their names in scope. The reach is then that
   of the generated expression. */
struct generator *lower_generators(struct typechecker *, const struct ast *, uint32_t from, uint32_t *n);
struct node *lower_quantifier(struct typechecker *, const struct ast *);
struct node *lower_set_of(struct typechecker *, const struct ast *);
struct node *lower_count(struct typechecker *, const struct ast *);
struct node *lower_array_of(struct typechecker *, const struct ast *);
struct node *lower_call_over(struct typechecker *, const struct ast *);
uint64_t collection_size_max(struct typechecker *, const struct node *); /* upper bound on its size */
/* Upper bound on the number of bindings */
uint64_t bindings_max(struct typechecker *, const struct generator *, uint32_t n);

/* typecheck_call.c */
struct node *lower_call(struct typechecker *, const struct ast *);
bool is_aggregate(const char *name, enum op *);
struct node *aggregate_over(struct typechecker *, const struct ast *call, enum op, struct node *element,
                            struct generator *, uint32_t ngen);

/* typecheck_def.c */
void declare_defs(struct typechecker *, uint32_t role); /* ROLE_ANY: the defs of the file */
void check_defs(struct typechecker *, uint32_t role);
const struct def_info *def_typecheck(struct typechecker *, uint32_t index, struct span use); /* NULL: reported */

/* typecheck_guard.c: conditions that may bind names. */
struct witness_group { /* the generators of one `exists`, with the names they bind */
  struct generator *gen;
  uint32_t ngen;
  struct node *body;
  struct span at;
};
struct guard_builder {
  struct node **conjunct; /* NULL at the position of a group */
  struct witness_group *group;
  uint32_t n;
  size_t scope; /* index of the first bound name among the locals */
  size_t unbound;
  enum reach outer; /* reach of the guard */
  enum reach other; /* reach of the alternative */
};
/* Lowers the condition. Its names stay in scope until guard_close, which determines the names that were used. */
void guard_open(struct typechecker *, const struct ast *condition, struct guard_builder *);
void guard_close(struct typechecker *, struct guard_builder *, struct guard *);

/* typecheck_variables.c, typecheck_statement.c, typecheck_schedule.c */
void declare_roles(struct typechecker *);
void check_stores(struct typechecker *);
enum var_kind field_kind(const struct typechecker *, uint32_t field);
void mark_read(struct typechecker *, uint32_t field); /* records that such a variable is read */
uint32_t field_find(struct typechecker *, const char *name, uint64_t roles, struct span); /* UINT32_MAX: reported */
void check_schedule(struct typechecker *);
void check_block(struct typechecker *, const struct ast *, struct block *);
void enter_role(struct typechecker *, uint32_t role);
void leave_role(struct typechecker *);
uint64_t check_send(struct typechecker *, const struct ast *, struct send *);   /* the roles that it may reach */
uint64_t check_target(struct typechecker *, const struct ast *, struct send *); /* likewise */

/* typecheck_messages.c: kinds of messages, and their senders and receivers. */
void declare_messages(struct typechecker *);
void find_senders(struct typechecker *); /* requires the environments: a Byzantine process sends anything */
uint32_t message_named(struct typechecker *, const char *name, struct span); /* NO_KIND: reported */
void check_step_send(struct typechecker *, const struct ast *, struct stmt *);
void warn_of_messages(struct typechecker *);

/* typecheck_steps.c, typecheck_action.c: processes that take steps. */
uint32_t count_hidden_variables(const struct ast *process); /* upper bound */
/* Declares the program point and `once` flags, after all other variables */
void declare_points(struct typechecker *, uint32_t role);
void check_graphs(struct typechecker *);
void check_steps(struct typechecker *);
uint32_t point_find(struct typechecker *, uint32_t role, const char *name); /* NAME_NONE: no such step */
struct node *lower_at(struct typechecker *, const struct ast *);            /* at(p, step) */
void check_goto(struct typechecker *, const struct ast *, struct stmt *);
void check_action(struct typechecker *, const struct ast *trigger, const struct ast *block, struct action *);

/* typecheck_faults.c: faults and channels. */
typedef VEC(struct clause) clause_vec;
void check_fault(struct typechecker *, const struct ast *, clause_vec *);
void check_channels(struct typechecker *, const struct ast *, clause_vec *);
/* Is the clause allowed in this kind of model? false: reported */
bool clause_allowed_in_model(struct typechecker *, const struct ast *);
/* An environment has at most one clause of this kind; the environments that it extends may repeat it. */
void merge_single_clause(struct typechecker *, const struct environment *, clause_vec *,
                         enum clause_kind); /* CHANNELS, FAIR */

/* typecheck_environment.c, typecheck_property.c */
void check_environments(struct typechecker *);
uint32_t environment_named(struct typechecker *, const struct ast *name); /* UINT32_MAX: reported */
/* The predicates of the literature by name (uniform, nosplit, ...), expanded over all processes; NULL: no such
   predicate. */
struct node *named_predicate(struct typechecker *, const struct ast *name);
/* The same for failure detectors, as in perfect(suspected). */
struct node *detector_predicate(struct typechecker *, const struct ast *call);

/* typecheck_run_clauses.c: clauses about whole runs */
#define NO_PROCESS UINT32_MAX
uint32_t clause_round_name(const struct node *, bool *several); /* the name in HO[p, name]; NO_NAME: none, or several */
void error_two_rounds(struct typechecker *, struct span);
void clause_decompose(struct typechecker *, struct clause *);                   /* sets witness and parts */
uint32_t role_of_generator(struct typechecker *, const struct ast *quantifier); /* ROLE_ANY: reported */
/* Instantiates pred for one process of `for each` */
bool clause_instantiate(struct typechecker *, struct clause *, uint32_t each);
void check_properties(struct typechecker *);

/* typecheck_whole_model.c: errors and warnings that require the complete model with defs expanded. */
void check_whole_model(const struct model *, struct diags *);

#endif
