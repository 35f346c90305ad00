/* Private to src/session. */
#ifndef RONDO_SESSION_SESSION_INTERNAL_H
#define RONDO_SESSION_SESSION_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "interp/config.h"
#include "session/session.h"
#include "trace/trace.h"

struct path_step {
  struct witness *witness; /* asynchronous rounds: the round that the step fixes; NULL: it was fixed before */
  uint32_t process;        /* asynchronous rounds: the process that ends its round; otherwise SESSION_NO_PROCESS */
  struct config *after;    /* NULL: it ended in an error of the model */
  struct config *fixed;    /* asynchronous rounds: the state after the whole round that the step fixes, or NULL */
  uint64_t index;          /* the index of the choice, or SESSION_NONE */
  char *error;             /* or NULL */
  struct span error_at;
};

struct session_path {
  struct config *initial; /* NULL: not started */
  uint64_t initial_index;
  VEC(struct path_step) steps;
  /* Asynchronous rounds: the rounds that are fixed and how far each process has come in them, after the first
     `position` steps. Otherwise NULL. */
  struct async_run *async;
  size_t position;
  bool closed; /* the run goes on from its end as from the state after `loop` steps */
  size_t loop;
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
  struct session_path path;
};

/* session.c: records the error; always returns false. */
bool session_fail(struct session *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void session_clear_error(struct session *); /* clears the last error */
bool session_stop_seen(struct session *);   /* if the stop flag is set, records that and fails */
/* The state after that many steps; asynchronous rounds: with each process in its own round. NULL: there is none. */
const struct config *session_config_at(const struct session *, size_t position);
/* The state from which the choice at that position is made, which must be a state of the path. Asynchronous rounds: the
   state before the first round that is not fixed; path.async is at that position then. */
const struct config *session_choice_config(struct session *, size_t position);
/* The same for the end of the path. NULL: failed, with the reason recorded. */
const struct config *session_current(struct session *);
struct numbered_choice;
void session_push(struct session *, const struct numbered_choice *, uint64_t index); /* appends a step */
/* Restarts from this state; takes ownership of the configuration. */
void session_set_initial(struct session *, struct config *, uint64_t index);
/* Puts the path aside, to make another one; then keeps the one that was made, or the old one. */
struct session_path session_put_aside(struct session *);
void session_keep_path(struct session *, struct session_path old, bool made);
/* Makes room for one more element after the n elements of a list in an arena; returns the new address of the list. */
void *arena_list_grow(struct arena *, void *at, size_t n, size_t each);
const char *text_to_arena(struct arena *, struct text *); /* copies the text and releases it */

/* choice_walk.c: enumerates the choices of a state, numbered. Results that are not choices are omitted. */
struct numbered_choice {
  uint64_t index;
  const struct witness *witness; /* asynchronous rounds: the round that it fixes; NULL: it is fixed already */
  uint32_t process;              /* as in struct path_step, also below */
  enum step_result result;
  const struct config *after, *fixed; /* STEP_OK */
  const struct model_error *error;    /* STEP_ERROR */
};
typedef bool choice_fn(void *context, const struct numbered_choice *);
enum walk_end { WALK_ALL, WALK_ENDED /* by the callback */, WALK_STOPPED /* by the stop flag */ };
/* `config` is that of session_choice_config; asynchronous rounds: during the callback path.async is before the choice,
   with the round that the choice fixes. process: only the choices of that process, for asynchronous rounds;
   SESSION_NO_PROCESS: all of them, those of the first process first. */
enum walk_end choices_walk(struct session *, uint32_t environment, const struct config *, uint32_t process, choice_fn *,
                           void *context);
/* The process whose choice has that index; SESSION_NO_PROCESS: not asynchronous rounds. */
uint32_t choice_process(const struct session *, uint64_t index);
bool witness_equal(const struct model *, const struct witness *, const struct witness *);
/* Rounds: compares only the sending part. */
bool witness_equal_sending(const struct model *, const struct witness *, const struct witness *);

/* choice_text.c */
/* The choice is made from `config`; path.async is as in choices_walk. */
void choice_describe(struct session *, const struct config *, const struct numbered_choice *, struct arena *,
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

/* session_loop.c: the path from that position on as a lasso, with or without a property; false: it cannot be
   replayed. */
bool session_lasso_trace(struct session *, size_t from, size_t loop, uint32_t property, struct trace *);

/* session_properties.c: did its `until` hold in an earlier state? */
bool property_over(struct session *, const struct property *, size_t position);

/* async_path.c: asynchronous rounds. */
void session_seek(struct session *, size_t position); /* moves path.async */
/* The round that the process ends and the state before it, given what the choice fixes (NULL: nothing). path.async must
   be before the choice. */
const struct witness *session_ended_round(const struct session *, const struct witness *, uint32_t process,
                                          const struct config **);
/* Why the process cannot end this round now (NULL: the one that is fixed); NULL: it can. */
const char *session_cannot_end(struct session *, const struct witness *, uint32_t process);
/* Each process in its own round, after that process has ended this round; for config_free. */
struct config *session_view_after(struct session *, const struct witness *, const struct config *fixed,
                                  uint32_t process);
const struct path_step *session_fixed_round(const struct session *, uint32_t r); /* the step that fixed round r */

/* round_choices.c: conversion between witnesses and structured rounds. NULL, false: failed, with the reason
   recorded. */
/* The state before the round that is to be chosen. Asynchronous rounds: the round of that process; SESSION_NO_PROCESS:
   the first one that is not fixed. */
const struct config *round_config(struct session *, uint32_t process);
bool fails_in_sending(struct session *, const struct config *, const struct witness *);
struct witness *round_witness(struct session *, const struct config *, const struct session_round *);
void round_of_witness(struct session *, const struct config *, const struct witness *, uint32_t process,
                      struct session_round *);
/* Sets everything that has no effect to the value that the plain enumeration uses. */
void witness_normalise(struct session *, const struct config *, struct witness *);

#endif
