/* Private to src/session. */
#ifndef RONDO_SESSION_SESSION_INTERNAL_H
#define RONDO_SESSION_SESSION_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "interp/config.h"
#include "session/session.h"

struct path_step {
  struct witness *witness;
  struct config *after; /* NULL: it ended in an error of the model */
  uint64_t index;       /* the index of the choice, or SESSION_NONE */
  char *error;          /* or NULL */
  struct span error_at;
};

struct session {
  struct model *given; /* the caller's model */
  /* A copy of the model with two more environments, for the interpreter. A step that a relaxed environment allows
     and the session's own does not is forbidden by the latter (clause_blame.c). The copy borrows everything from
     `given`. */
  struct model model;
  struct interpreter *interp; /* of `model` */
  uint32_t environment;       /* the environment of the session */
  uint32_t relaxed;           /* an environment without any limits */
  uint32_t single;            /* an environment in which one group of clauses is in force and the others are relaxed */
  enum semantics semantics;
  const volatile sig_atomic_t *stop;
  bool interrupted;
  struct text error;
  struct config *initial; /* NULL: not started */
  uint64_t initial_index;
  VEC(struct path_step) path;
};

/* session.c: records the error; always returns false. */
bool session_fail(struct session *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void session_clear_error(struct session *); /* clears the last error */
bool session_stop_seen(struct session *);   /* if the stop flag is set, records that and fails */
const struct config *session_config_at(const struct session *, size_t position); /* NULL: there is no such state */
const struct config *session_current(struct session *); /* NULL: failed, with the reason recorded */
/* Appends a step; takes ownership of the witness. */
void session_push(struct session *, struct witness *, uint64_t index, const struct config *after,
                  const struct model_error *);
/* Restarts from this state; takes ownership of the configuration. */
void session_set_initial(struct session *, struct config *, uint64_t index);
/* Makes room for one more element after the n elements of a list in an arena; returns the new address of the list. */
void *arena_list_grow(struct arena *, void *at, size_t n, size_t each);
const char *text_to_arena(struct arena *, struct text *); /* copies the text and releases it */

/* choice_walk.c: enumerates all choices of a state, numbered. Results that are not choices are omitted. */
typedef bool choice_fn(void *context, uint64_t index, const struct witness *, enum step_result,
                       const struct config *next, const struct model_error *);
enum walk_end { WALK_ALL, WALK_ENDED /* by the callback */, WALK_STOPPED /* by the stop flag */ };
enum walk_end choices_walk(struct session *, uint32_t environment, const struct config *, choice_fn *, void *context);
bool witness_equal(const struct model *, const struct witness *, const struct witness *);
/* Rounds: compares only the sending part. */
bool witness_equal_sending(const struct model *, const struct witness *, const struct witness *);

/* choice_text.c */
void choice_describe(struct session *, const struct config *, const struct witness *, const char *error, struct arena *,
                     struct session_choice *);
const char *process_text(struct session *, struct arena *, uint32_t process);
void status_text(value status, struct text *);

/* clause_blame.c */
struct clause_blame {
  bool allowed;
  const char *why;
  uint32_t clause;
  struct span at;
};
void relaxed_environments_init(struct session *);
void relaxed_environments_release(struct session *);
/* Rounds: do the clauses about crashes allow this, regardless of the other clauses? */
bool crashes_within_limits(struct session *, const struct config *, const struct witness *);
struct clause_blame clause_blame_of(struct session *, const struct config *, const struct witness *);

/* session_properties.c: did its `until` hold in an earlier state? */
bool property_over(struct session *, const struct property *, size_t position);

/* round_choices.c: conversion between witnesses and structured rounds. NULL, false: failed, with the reason
   recorded. */
bool session_in_rounds(struct session *);
bool fails_in_sending(struct session *, const struct config *, const struct witness *);
struct witness *round_witness(struct session *, const struct config *, const struct session_round *);
void round_of_witness(struct session *, const struct config *, const struct witness *, struct session_round *);
/* Sets everything that has no effect to the value that the plain enumeration uses. */
void witness_normalise(struct session *, const struct config *, struct witness *);

#endif
