/* The state of the checker, and how it reports. Private to typecheck*.c.

   An expression is lowered bottom-up: every node gets the narrowest type that contains its values (a literal 3 has
   type 3..3). Then `coerce` converts it to the type that its context requires: it wraps it into an option, widens
   the element type of a set literal, or adds a run-time check (NARROW). A node of type error was reported and is
   never reported again. */
#ifndef RONDO_LANG_TYPECHECKER_H
#define RONDO_LANG_TYPECHECKER_H

#include "base/name_index.h"
#include "lang/typecheck.h"
#include "lang/typecheck_constant.h"
#include "lang/typecheck_def.h"
#include "lang/typecheck_params.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"

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

struct role_info {
  const struct ast *ast;
  /* its variables and defs; moved to typechecker.members between enter_role and leave_role */
  struct symbol_scope members;
  struct name_index variables;   /* in the order of the model's variables of the role */
  bool *read;                    /* by variable: it is read somewhere */
  bool *takes;                   /* steps: by kind of message: some action of the role takes it */
  const struct type *points;     /* steps: the type of the program point; NULL: there is none */
  struct name_index point_names; /* steps: in the order of its values */
  uint32_t once;                 /* steps: the next VAR_ONCE variable without an action */
};

struct typechecker {
  struct model *m;
  const struct ast *file;
  struct diags *diags;
  size_t errors_before;      /* number of errors in diags when the checker began */
  struct source_lines lines; /* of the source; empty until the first use */
  /* names */
  struct symbol_scope globals, members, locals; /* scopes: file level, the process, bound names */
  VEC(struct unbound_name) unbound; /* names that look as if the enclosing guards bound them, but are not bound */
  struct name_index fields;         /* in the order of the model's fields */
  struct name_index environments;   /* in the order of the model's environments */
  /* where the checker is */
  struct expr_context in;
  uint32_t slots;               /* number of slots in use in the current frame */
  uint32_t slots_peak;          /* maximum of `slots` since lowering of the current condition began */
  VEC(uint32_t) reserved_slots; /* not for names of the text (slot_reserve), in increasing order */
  size_t first_reserved;        /* of those reserved in the current frame */
  /* what is declared */
  struct type_table types;
  const struct type *boolean, *integer, *round, *error, *unknown; /* unknown: the element type of none, {} and [] */
  struct param_table params;
  struct constant_defs constants;
  struct def_table defs;
  struct role_info *roles;
  bool *global_read; /* by global: it is read somewhere */
  struct message_flow messages;
};

struct span first_step_construct(const struct ast *file); /* the construct that makes the file a model of steps */
const char *checker_strdup(struct typechecker *, const char *name); /* copied into the model */
void checker_error(struct typechecker *, enum diag_code, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void checker_help(struct typechecker *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t checker_line(struct typechecker *, struct span);
struct source source_copy(struct arena *, const struct source *);
/* The source text of a construct on one line; allocated in the arena, or in that of the model. */
const char *source_text_in(struct arena *, const struct source *, struct span);
const char *source_text(struct typechecker *, struct span);
/* "Value = 1..3" for a named range, else as written */
const char *type_text(struct typechecker *, const struct type *);

#endif
