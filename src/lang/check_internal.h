/* Private to the checker (lang/check*.c): its state, scopes, and what its parts offer each other.

   An expression is lowered bottom-up: every node gets the narrowest type that holds its values (a
   literal 3 is of type 3..3), then `fit` makes it what its place wants: wraps it into an option,
   widens the element of a set literal, or has it checked at run time (NARROW). A node of type error
   was reported and is never reported again. */
#ifndef RONDO_LANG_CHECK_INTERNAL_H
#define RONDO_LANG_CHECK_INTERNAL_H

#include "base/vec.h"
#include "lang/check.h"

enum {
  PROCESSES_MAX = 1000000,
  POINTS_MAX = 100000,
  ELEMENTS_MAX = 10000000, /* of a type that is gone through, or that indexes an array */
};

enum symbol_kind {
  SYMBOL_PARAM,
  SYMBOL_TYPE,
  SYMBOL_LABEL,
  SYMBOL_ROLE,
  SYMBOL_DEF,
  SYMBOL_GLOBAL, /* a file-level input */
  SYMBOL_SHARED, /* a file-level variable: shared, or a ghost */
  SYMBOL_MESSAGE, /* a kind of message */
  SYMBOL_QUORUM, /* the messages that the action looks at */
  SYMBOL_VAR,    /* of the process being checked */
  SYMBOL_SLOT,   /* bound by a generator, a let, or a def's parameter */
  SYMBOL_LOOP,
  SYMBOL_PHASE
};

struct symbol {
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

#define ROLES_ALL UINT64_MAX

typedef VEC(struct symbol) symbol_vec;

/* Where an expression stands: what it may read. */
enum where {
  IN_FILE,       /* a file-level input's init or where */
  IN_DEF,        /* a file-level def */
  IN_MEMBER_DEF, /* a def of a process */
  IN_INIT,       /* a variable's first value */
  IN_SEND,
  IN_UPDATE,
  IN_FINALLY,
  IN_GRAPH,      /* whom a process can send to */
  IN_ACTION,     /* steps: trigger and body */
  IN_ENVIRONMENT,
  IN_PROPERTY
};

struct context {
  enum where where;
  uint32_t role;             /* of the process, ROLE_ANY outside */
  bool ghost;                /* what is computed goes to a ghost: ghosts may be read */
  bool step, live;           /* IN_PROPERTY */
  uint32_t ready;            /* IN_INIT: variables that have a value */
  struct arrivals *arrivals; /* IN_UPDATE; IN_ACTION: of the kind of message that it takes, or NULL */
  const char *quorum;        /* IN_ACTION: the name of the messages it looks at, or NULL */
  bool fixed;                /* IN_ACTION: part of a pattern, where nothing can be chosen */
};

/* What can reach a role in a round, for `received`, `from` and `heard`; steps: of one kind, at any time. */
struct arrivals {
  const struct type *type; /* NULL: nothing can */
  uint64_t senders;        /* roles, a bit each */
  const struct ast *first,
      *clash; /* two sends whose types differ; clash is NULL if there are none */
  const struct type *first_type, *clash_type;
};

enum def_state { DEF_NEW, DEF_OPEN, DEF_DONE };

struct def_info {
  const struct ast *ast;
  enum def_state state;
  uint32_t role; /* ROLE_ANY: file level */
  const struct type **args;
  const struct type *type; /* NULL: not known yet */
  bool remote;             /* reads processes from outside, so it is not for processes */
  bool chooses;            /* pick or random inside, so it is for processes only */
  bool shares;             /* reads shared variables, so it is not for first values */
  bool watches;            /* reads a ghost of the file, so it is for ghosts and properties only */
};

struct role_info {
  const struct ast *ast;
  symbol_vec
      members; /* its variables and defs; lent to checker.members while the role is entered */
  bool *read;  /* by variable: somebody reads it */
  bool *takes; /* steps: by kind of message: an action of it does */
  const struct type *points; /* steps: of the program point, NULL: it has none */
  uint32_t once; /* steps: the next VAR_ONCE variable that has no action yet */
};

struct param_info {
  const struct ast *ast; /* PARAM */
  bool known, is_bool;
};

struct condition { /* where, resilience */
  const struct ast *expr;
};

struct unbound { /* of an `exists` inside a condition that is not joined with `and` */
  const char *name;
  const char *under; /* or, not, ... */
};

struct step_send { /* a send of an action, and the roles that it may reach */
  struct span at;
  uint32_t kind;
  uint64_t reach;
};

struct checker {
  struct model *m;
  const struct ast *file;
  struct diags *diags;
  symbol_vec globals, members, locals; /* file level; the process; bound names */
  struct context in;
  struct def_info *def; /* whose body is looked at, or NULL */
  uint32_t slots;       /* of the current frame, in use */
  uint32_t slots_peak; /* the most there were since the condition that is being lowered was begun */
  VEC(struct type *) types;
  VEC(struct def) defs;
  VEC(struct def_info) def_info;
  VEC(struct param_info) params;
  VEC(struct condition) conditions;
  VEC(struct step_send) sends;
  VEC(struct unbound) unbound; /* names that the guards around do not bind, though it looks so */
  struct role_info *roles;
  bool *global_read; /* by global: somebody reads it */
  uint64_t *senders; /* steps: [kind * nroles + role]: roles that send such messages to the role, a bit each */
  /* shared types */
  const struct type *boolean, *integer, *round, *error,
      *unknown;   /* unknown: element of none, {} and [] */
  unsigned depth; /* of defs that check each other */
};

/* check.c */
struct span steps_place(const struct ast *file); /* what makes the file a model of steps */
const char *keep(struct checker *, const char *name); /* copied into the model */
void fault(struct checker *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void help(struct checker *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t line_of(const struct checker *, struct span);
/* The source text of a construct on one line; in the model's arena. */
const char *quoted(struct checker *, struct span);
const char *shown(struct checker *,
                  const struct type *); /* "Value = 1..3" for a named range, else as written */

/* check_scope.c */
struct symbol *symbol_find(struct checker *, const char *name);
/* Declares unless the name is taken (reported); the result may move at the next declaration. */
bool symbol_declare(struct checker *, symbol_vec *, struct symbol);
bool name_is_free(struct checker *, const char *name, struct span, bool callable);
void unknown_name(struct checker *, const char *name, struct span, const char *what);
uint32_t slot_new(struct checker *); /* in the current frame */
const char *symbol_kind_text(enum symbol_kind);

/* check_params.c */
void declare_params(struct checker *);
void assign_params(struct checker *, const struct binding *, size_t nbindings, bool complete);
/* The constant value of an expression over parameters; false: reported. */
bool constant_number(struct checker *, const struct ast *, const char *what, int64_t *out);

/* check_types.c */
const struct type *type_made(struct checker *, struct type); /* the one type of that shape */
const struct type *type_of_ast(struct checker *, const struct ast *);
const struct type *range_type(struct checker *, int64_t lo, int64_t hi);
const struct type *option_of(struct checker *, const struct type *);
const struct type *set_of(struct checker *, const struct type *);
const struct type *process_type(struct checker *, uint32_t role);
const struct type *message_type(struct checker *, const struct ast *signature);
void declare_types(struct checker *);
bool is_number(const struct type *);
bool is_known(const struct type *);  /* no unknown or error part */
bool is_finite(const struct type *); /* no unbounded part */
uint64_t roles_of_type(const struct checker *, const struct type *);
const struct type *any_process(struct checker *); /* of any role: of the only one if there is one */

/* check_fit.c */
const struct type *type_join(struct checker *, const struct type *,
                             const struct type *);           /* NULL: none */
bool same_numbers(const struct type *, const struct type *); /* values of both look alike */
/* Makes node fit the type, or NULL; assigned: the interpreter checks the range itself. */
struct node *fit(struct checker *, struct node *, const struct type *, bool assigned);
struct node *fit_aggregate(struct checker *, struct node *,
                           const struct type *); /* min, max, pick ... */
/* fit, or report "expected ..., not ...". */
struct node *want(struct checker *, struct node *, const struct type *, const char *what);
bool unify(struct checker *, struct node **, struct node **); /* both to their join */
const char *why_no_order(const struct type *);                /* NULL: it has an order */

/* check_expr.c */
struct node *node_new(struct checker *, enum op, struct span, const struct type *, uint32_t kids);
struct node *node_error(struct checker *, struct span);
struct node *node_constant(struct checker *, struct span, const struct type *, value);
struct node *node_slot(struct checker *, struct span, uint32_t slot, const struct type *);
struct node *node_both(struct checker *, struct node *,
                       struct node *); /* and; either may be NULL */
struct node *lower(struct checker *, const struct ast *);
struct node *lower_bool(struct checker *, const struct ast *, const char *what);
bool bad(const struct node *);

/* check_name.c */
struct node *lower_name(struct checker *, const struct ast *);
struct node *lower_select(struct checker *, const struct ast *);
struct node *lower_primed(struct checker *, const struct ast *);
struct node *lower_index(struct checker *, const struct ast *);
struct node *lower_initial(struct checker *, const struct ast *);
bool may_read_received(struct checker *, const struct ast *, const char *what);
const struct type *sender_type(struct checker *);
bool in_process(const struct checker *);
/* Properties and environments look at processes from outside; so may a def that only they call. */
bool from_outside(struct checker *);
const char *received_text(const struct checker *); /* what `received` is called here */
uint64_t roles_of(struct checker *, const struct node *); /* whose identities it yields */

/* check_collection.c */
struct node *
lower_collection(struct checker *,
                 const struct ast *); /* a generator's range, or what stands after `in` */
/* Lowers the generators of kid[from..] and leaves their names in scope; returns how many slots were
 * bound. */
struct generator *lower_generators(struct checker *, const struct ast *, uint32_t from,
                                   uint32_t *n);
struct node *lower_quantifier(struct checker *, const struct ast *);
struct node *lower_set_of(struct checker *, const struct ast *);
struct node *lower_count(struct checker *, const struct ast *);
struct node *lower_array_of(struct checker *, const struct ast *);
struct node *lower_call_over(struct checker *, const struct ast *);
uint64_t collection_most(struct checker *, const struct node *); /* its largest size */
uint64_t most_bindings(struct checker *, const struct generator *, uint32_t n); /* likewise, of generators */

/* check_call.c */
struct node *lower_call(struct checker *, const struct ast *);
bool is_aggregate(const char *name, enum op *);
struct node *aggregate_over(struct checker *, const struct ast *call, enum op, struct node *element,
                            struct generator *, uint32_t ngen);

/* check_def.c */
void declare_defs(struct checker *, uint32_t role); /* ROLE_ANY: the file's */
void check_defs(struct checker *, uint32_t role);
const struct def_info *def_ready(struct checker *, uint32_t index,
                                 struct span use); /* NULL: reported */

/* check_guard.c: a condition that may bind. */
struct witness_group { /* the generators of one `exists`, with the names they bind */
  struct generator *gen;
  uint32_t ngen;
  struct node *body;
  struct span at;
};
struct open_guard {
  struct node **conjunct; /* NULL where a group stands */
  struct witness_group *group;
  uint32_t n;
  size_t scope; /* first of the bound names among the locals */
  size_t unbound;
};
/* Lowers the condition; its names stay in scope until guard_close, which finds out which were used.
 */
void guard_open(struct checker *, const struct ast *condition, struct open_guard *);
void guard_close(struct checker *, struct open_guard *, struct guard *);

/* check_store.c, check_statement.c, check_schedule.c */
void declare_roles(struct checker *);
void check_stores(struct checker *);
enum var_kind field_kind(const struct checker *, uint32_t field);
void mark_read(struct checker *, uint32_t field); /* somebody reads such a variable */
uint32_t field_find(struct checker *, const char *name, uint64_t roles,
                    struct span); /* UINT32_MAX: reported */
void check_schedule(struct checker *);
void check_block(struct checker *, const struct ast *, struct block *);
void enter_role(struct checker *, uint32_t role);
void leave_role(struct checker *);
uint64_t check_send(struct checker *, const struct ast *,
                    struct send *); /* the roles that it may reach */
uint64_t check_target(struct checker *, const struct ast *, struct send *); /* likewise */

/* check_messages.c: kinds of messages, who sends them to whom. */
void declare_messages(struct checker *);
void find_senders(struct checker *);             /* needs the environments: a liar sends anything */
uint32_t message_named(struct checker *, const char *name, struct span); /* NO_KIND: reported */
void check_step_send(struct checker *, const struct ast *, struct stmt *);
void warn_of_messages(struct checker *);

/* check_steps.c, check_action.c: processes that take steps. */
uint32_t hidden_variables(const struct ast *process); /* at most so many */
void declare_points(struct checker *, uint32_t role); /* program point and `once` flags, after all others */
void check_graphs(struct checker *);
void check_steps(struct checker *);
uint32_t point_find(struct checker *, uint32_t role, const char *name); /* UINT32_MAX: no such step */
struct node *lower_at(struct checker *, const struct ast *);            /* at(p, step) */
void check_goto(struct checker *, const struct ast *, struct stmt *);
void check_action(struct checker *, const struct ast *trigger, const struct ast *block, struct action *);

/* check_fault.c: faults and channels. */
typedef VEC(struct clause) clause_vec;
void check_fault(struct checker *, const struct ast *, clause_vec *);
void check_channels(struct checker *, const struct ast *, clause_vec *);
bool clause_suits(struct checker *, const struct ast *); /* the kind of model; false: reported */
/* An environment has at most one kind; those that it extends may say the same. */
void settle_clause(struct checker *, const struct environment *, clause_vec *, enum clause_kind); /* CHANNELS, FAIR */

/* check_environment.c, check_property.c */
void check_environments(struct checker *);
uint32_t environment_named(struct checker *, const struct ast *name); /* UINT32_MAX: reported */
/* The written-out meaning of the papers' predicates (uniform, nosplit, ...), over all processes;
 * NULL if the name is none of them. */
struct node *named_predicate(struct checker *, const struct ast *name);
/* Likewise of failure detectors, as in perfect(suspected). */
struct node *detector_predicate(struct checker *, const struct ast *call);

/* check_runs.c: clauses about whole runs */
#define NO_PROCESS UINT32_MAX
uint32_t round_named(const struct node *, bool *several); /* HO[p, name]; NO_NAME: none, or several */
void fault_two_rounds(struct checker *, struct span);
void clause_take_apart(struct checker *, struct clause *); /* sets witness and parts */
uint32_t role_of_generator(struct checker *, const struct ast *quantifier); /* ROLE_ANY: reported */
bool instance_of(struct checker *, struct clause *, uint32_t each); /* pred, for one process of `for each` */
void check_properties(struct checker *);

#endif
