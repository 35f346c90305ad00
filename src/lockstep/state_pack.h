/* Global states as short vectors of small integers, and as exact byte keys. A local state is interned as [role, status,
   variables, first values of inputs]. What no checked property can observe is left out (set to 0), so states that do
   not differ visibly are equal.

   Liveness queries follow processes: hidden inputs of the model name a process or a set of processes (var.followed).
   Where symmetry is applied, these inputs are bits of the status of the named processes, above the bits of enum status,
   and 0 among the globals. So the other processes stay anonymous, and states can stay bags. Configurations keep them as
   inputs, as the interpreter does. */
#ifndef RONDO_LOCKSTEP_STATE_PACK_H
#define RONDO_LOCKSTEP_STATE_PACK_H

#include "analysis/read_sets.h"
#include "system/initial_set.h"
#include "system/local_state.h"
#include "system/memo.h"
#include "system/query_formulas.h"
#include "system/system.h"

typedef uint32_t local_id;

struct member { /* `count` processes in local state `local`; in a vector, count is 1 and the index is the process */
  local_id local;
  uint32_t count;
};

struct unpacked_state {    /* a global state, unpacked */
  uint32_t point;          /* or POINT_END */
  uint32_t rounds;         /* kept only if pack->kept.rounds, up to pack->kept.rounds_cap */
  value phase;             /* kept only if pack->kept.phase */
  int64_t lost, corrupted; /* kept only if a clause limits them for the whole run */
  uint32_t globals;        /* file-level inputs, in pack->vectors */
  uint32_t obligation;     /* queries about runs: what must still hold in this phase (lockstep/acceptance_marks.h); in
                              pack->vectors */
  uint32_t inits;          /* the set of first values, in pack->vectors; 0 if none is kept */
  uint32_t n;
  struct member *at;
};

#define STATUS_FOLLOWED 8 /* bit 8 + i: the process is, or is in, the value of input pack->followed[i] */
#define STATUS_BITS ((INT64_C(1) << STATUS_FOLLOWED) - 1)

/* What states keep because a property or a clause reads it. */
struct kept_parts {
  bool rounds, phase, lost, corrupted;
  bool obligation;       /* states carry an obligation */
  uint32_t phase_period; /* not 0: a phase number matters only modulo this */
  uint32_t rounds_cap;
  uint32_t from_cap; /* the latest round named in a `from round` clause */
  enum initials_kept initials;
};

struct pack {
  struct interpreter *interp;
  struct model *model;
  const struct query *query;
  const struct licences *licences;
  struct arena arena;
  struct intern *locals, *vectors;
  bool borrowed;  /* the tables are shared, and another thread's pack frees them */
  bool bag;       /* states are bags: members are sorted by local state, and equal ones merged */
  bool sort;      /* vectors with symmetry, no identities in states: sorted within each role */
  bool permute;   /* vectors with symmetry, identities in states: canonical up to renaming */
  bool rank;      /* round numbers are replaced by their rank */
  bool drop_dead; /* dead variables are set to VALUE_DONT_CARE */
  struct kept_parts kept;
  const struct live_variables *liveness;
  const struct clause *marks[RUN_CLAUSES_MAX]; /* queries about runs: environment_run_clauses */
  uint32_t nmarks;
  bool long_phases;                /* some phase has more than one round */
  uint32_t followed[FOLLOWED_MAX]; /* the file-level inputs that are bits of a status */
  uint32_t nfollowed;
  struct memo dead_dropped; /* (local, point) -> local */
  struct memo renamed;      /* (local, renaming) -> local */
  struct intern *renamings;
};

void pack_init(struct pack *, struct interpreter *, struct model *, const struct query *, const struct licences *);
void pack_share(struct pack *, struct pack *first); /* uses the intern tables of the first pack */
void pack_release(struct pack *);
size_t pack_bytes(const struct pack *);

uint32_t local_role(const struct pack *, local_id);
value local_status(const struct pack *, local_id);
const value *local_values(const struct pack *, local_id); /* as in a config: status, variables, first values */
local_id local_put(struct pack *, uint32_t role, const value *values);
/* `followed`: bits to add to its status, for followed inputs that name the process. */
local_id local_put_followed(struct pack *, uint32_t role, const value *values, value followed);
/* INITIALS_SET: the set of initial values (system/initial_set.h), from the local states by process; in vectors. */
uint32_t initials_put(struct pack *, const value *const *local);
/* The status bits of the followed inputs that name this process, given the globals of a configuration. */
value followed_bits(const struct pack *, const value *globals, uint32_t process);
/* Sets values that do not matter from `point` on to VALUE_DONT_CARE: oracles that are not chosen and, if licensed,
   variables that are never read again, of active and of idle processes. */
local_id local_drop_dead(struct pack *, local_id, uint32_t point);
local_id local_at_start(struct pack *,
                        local_id); /* the same at the start, where only oracles are set to VALUE_DONT_CARE */

void global_from_config(struct pack *, const struct config *, struct unpacked_state *); /* needs room for nprocesses */
/* Member i becomes process i; first values that are not kept are filled in as far as properties read them. */
struct config *global_to_config(struct pack *, const struct unpacked_state *);

/* The permutation that leads to the canonical form. */
struct renumbering {
  uint32_t *to; /* by raw process: its place in the canonical vector */
};

/* Brings a raw state into canonical form in place: ranks, sorts, renames. Don't-care values must be set before. `how`
   may be NULL. */
void global_canonical(struct pack *, struct unpacked_state *, struct renumbering *how);

void global_encode(const struct pack *, const struct unpacked_state *, uint8_t **buffer, size_t *capacity,
                   struct state *);
void global_decode(const struct pack *, const struct state *,
                   struct unpacked_state *);    /* room for nprocesses members */
uint8_t *key_put(uint8_t *at, uint64_t number); /* at most 10 bytes; returns the end */
const uint8_t *key_get(const uint8_t *at, uint64_t *number);
/* Keys from outside, which may be any bytes: state_check.c. The next number before `end`; NULL: there is none. */
const uint8_t *key_get_checked(const uint8_t *at, const uint8_t *end, uint64_t *number);
/* Do all local states have the right number of parts, of the right types? */
bool locals_are_sound(const struct pack *);
bool globals_are_sound(const struct pack *, uint64_t globals), initials_are_sound(const struct pack *, uint64_t inits);
/* Can it be decoded, and is the result a state of the model? */
bool global_key_is_sound(const struct pack *, const struct state *);
struct unpacked_state *global_new(const struct pack *);
void global_free(struct unpacked_state *);

/* An obligation under a renaming of processes: lockstep/acceptance_marks.c. */
uint32_t obligation_renamed(struct pack *, uint32_t obligation, const struct renaming *);
/* The values in an obligation and their types, in order; returns their number. Either may be NULL. */
uint32_t obligation_values(const struct pack *, uint32_t obligation, const value **, const struct type **);

local_id local_rename_rounds(struct pack *, local_id, const value *rounds, size_t n); /* renames those below n */
/* Where the residue of the phase number is read: the smallest number >= `least` with that residue. */
value rank_of_phase(const struct pack *, value least, value phase);

#endif
