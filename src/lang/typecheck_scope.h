/* Names: what they stand for, where they can be used, and help for unknown ones. */
#ifndef RONDO_LANG_TYPECHECK_SCOPE_H
#define RONDO_LANG_TYPECHECK_SCOPE_H

#include "base/diag.h"
#include "base/name_index.h"
#include "model/model.h"

struct typechecker;

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
  SYMBOL_PHASE,
  /* only in counter systems */
  SYMBOL_COUNTER,
  SYMBOL_CONTROL,
  SYMBOL_AMOUNT,
  SYMBOL_ARGUMENT
};

/* Makes it possible to switch over some kinds without `default:` and without -Wswitch-enum warnings. Code after the
   switch handles all other kinds. */
static inline unsigned symbol_among(enum symbol_kind kind) { return kind; }

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

struct unbound_name { /* bound by an `exists` that is not a conjunct of the condition */
  const char *name;
  const char *under; /* or, not, ...; if: a conditional expression */
};

struct scope_symbol *scope_find(const struct symbol_scope *, const char *name); /* NULL: not declared there */
void scope_add(struct symbol_scope *, struct scope_symbol);                     /* without any check */
void scope_cut(struct symbol_scope *, size_t n);                                /* keeps the first n symbols */
void scope_release(struct symbol_scope *);
struct scope_symbol *symbol_find(struct typechecker *, const char *name);
/* Declares the symbol. False: the name is taken, which is reported. Symbols may move at the next declaration. */
bool symbol_declare(struct typechecker *, struct symbol_scope *, struct scope_symbol);
/* Offers what has the right kind after an unknown name was reported: the nearest one, and the list of all. */
struct name_choice {
  struct typechecker *c;
  struct nearest near;
  struct span near_at;
  struct text list;
  uint32_t n;
  bool dropped; /* the report was */
};
void name_choice_init(struct name_choice *, struct typechecker *, const char *name);
void name_choice_offer(struct name_choice *, const char *candidate, struct span at);
void name_choice_help(struct name_choice *, const char *without_any); /* what to say if there is none; releases it */
void unknown_name(struct typechecker *, enum diag_code, const char *name, struct span, const char *what);
uint32_t slot_new(struct typechecker *); /* in the current frame */
/* A slot that has no other use in the current frame, for a name made by the checker. Where it is made, the scope of the
   expression around it may be closed already, so slots that look free may belong to names of that expression. */
uint32_t slot_reserve(struct typechecker *);
/* Binds a name to a slot. roles: the roles whose identities it may hold; message: it has a sender. */
bool slot_declare(struct typechecker *, const char *name, struct span, uint32_t slot, const struct type *,
                  uint64_t roles, bool message);
void help_nearest(struct typechecker *, const char *name, const char *const *names, size_t n, const char *without_any);
const char *symbol_kind_text(enum symbol_kind);

#endif
