/* The enumeration of initial states. Processes with the same possible initial local states that cannot be distinguished
   form a class: only the number of processes that start in each local state matters. Initial values are enumerated up
   to renaming (partition) or up to their order (order) if licensed. The processes that a query follows are chosen
   together with their initial local states. */
#ifndef RONDO_SYSTEM_INITIAL_ENUMERATION_H
#define RONDO_SYSTEM_INITIAL_ENUMERATION_H

#include "base/vec.h"
#include "system/system.h"

struct initial_option { /* one way in which the processes of a class can start */
  const value *local;
  uint64_t followed; /* bit i: the process is, or is in, the value of the i-th followed input */
  int64_t value;     /* index of the free initial value to which a reduction applies, or -1 */
  uint32_t name;     /* what `name` returned */
};

struct initial_class {
  uint32_t role, first, size;
  struct initial_option *options;
  uint32_t n;
  size_t nways;      /* local states among the options, adjacent in memory from ways on */
  const value *ways; /* [way * role_local_length] */
  bool ascending;    /* the values ascend from 0 without gaps: choices that a reduction leaves out are pruned early */
};

struct initial_choice { /* `count` processes of a class start in the same way */
  const struct initial_option *option;
  uint32_t count;
};

/* An initial state that the environment allows. */
struct initial_state {
  const value *globals;
  const value *const *local;            /* by process */
  const struct initial_choice *choices; /* in the order of the processes */
  size_t nchoices;
  uint32_t faulty; /* number of faulty processes */
};

struct initial_system { /* what the enumeration needs to know about a transition system */
  struct interpreter *interp;
  const struct query *query;
  const struct licences *licences;
  const uint32_t *followed; /* file-level inputs that name processes, and that are chosen with their initial states */
  uint32_t nfollowed;
  void *context;
  /* May process q, which can start in the same ways, be exchanged with the first process of the class? */
  bool (*interchangeable)(void *context, const value *globals, const struct initial_class *, uint32_t q);
  /* A number for a way to start, called once for each option; NULL: 0. */
  uint32_t (*name)(void *context, uint32_t role, const value *local, uint64_t followed);
  bool (*visit)(void *context, const struct initial_state *); /* false: stop */
};

/* Visits every initial state at least once, up to the exchanges and reductions above. False: stopped, or the model has
   an error there, in *error (if its message is not NULL). */
bool initial_states_each(const struct initial_system *, struct model_error *error);

/* Can a value of some variable of the role name a process? Oracles have no value yet. */
bool role_starts_naming_processes(const struct role *);

/* Emits an error edge, with a copy of the error in the arena. */
void emit_initial_error(struct arena *, const struct model_error *, emit_fn *, void *context);

#endif
