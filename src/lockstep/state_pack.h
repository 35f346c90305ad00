/* Global states as short vectors of small integers, and as exact byte keys.
   A local state is interned as [role, status, variables, first values of inputs]; what no checked property can
   ask for is left out (set to 0), so that states that differ in nothing visible are one.

   Live queries follow processes: hidden inputs of the model that name one, or some (var.followed). Where symmetry is
   applied they are bits of the status of those who are meant, above the bits of enum status, and 0 among the globals.
   So the others stay anonymous, and bags do. Configurations have them as inputs, as the reference knows them. */
#ifndef RONDO_LOCKSTEP_STATE_PACK_H
#define RONDO_LOCKSTEP_STATE_PACK_H

#include "analysis/read_sets.h"
#include "system/memo.h"
#include "system/system.h"

typedef uint32_t local_id;

struct member { /* `count` processes in local state `local`; in a vector count is 1 and the place is the process */
  local_id local;
  uint32_t count;
};

struct unpacked_state {    /* a global state, unpacked */
  uint32_t point;          /* or POINT_END */
  uint32_t rounds;         /* kept only if pack->keep_rounds, up to pack->rounds_cap */
  value phase;             /* kept only if pack->keep_phase */
  int64_t lost, corrupted; /* kept only if a clause limits them for the whole run */
  uint32_t globals;        /* file-level inputs, in pack->vectors */
  uint32_t obligation; /* queries about runs: what is still to come in this phase, see lockstep/acceptance_marks.h; in
                          pack->vectors */
  uint32_t inits;      /* the set of first values, in pack->vectors; 0 if none is kept */
  uint32_t n;
  struct member *at;
};

/* What a query asks of states: the formulas of its properties, then its atoms. */
static inline uint32_t query_nformulas(const struct query *q) { return q->nproperties + q->natoms; }
static inline const struct node *query_formula(const struct model *m, const struct query *q, uint32_t i) {
  return i < q->nproperties ? m->properties[q->properties[i]].formula : q->atoms[i - q->nproperties];
}

/* How much of first values the properties of a query ask for. */
enum initials_kept initials_asked(const struct model *, const struct query *);

#define STATUS_FOLLOWED 8 /* bit 8 + i: it is, or is among, what pack->followed[i] stands for */
#define STATUS_BITS ((INT64_C(1) << STATUS_FOLLOWED) - 1)

struct pack {
  struct interpreter *interp;
  struct model *model;
  const struct query *query;
  const struct licences *licences;
  struct arena arena;
  struct intern *locals, *vectors;
  bool borrowed;        /* they are another thread's, too, and that one's to free */
  bool bag;             /* states are bags: members sorted by local, equal ones merged */
  bool sort;            /* vectors, symmetric, no identities inside: sorted within each role */
  bool permute;         /* vectors, symmetric, identities inside: canonical up to renaming */
  bool rank;            /* round numbers by their order */
  bool drop_dead;       /* dead variables */
  bool keep_obligation; /* states have a obligation */
  bool keep_rounds, keep_phase, keep_lost, keep_corrupted;
  uint32_t phase_period; /* not 0: a phase number matters only modulo this */
  uint32_t rounds_cap;
  uint32_t from_cap; /* the latest round that a clause `from round` names */
  enum initials_kept initials;
  const struct live_variables *liveness;
  const struct clause *marks[RUN_CLAUSES_MAX]; /* queries about runs: environment_run_clauses */
  uint32_t nmarks;
  bool long_phases;                /* some phase has more than one round */
  uint32_t followed[FOLLOWED_MAX]; /* which file-level inputs are bits of a status */
  uint32_t nfollowed;
  struct memo dead_dropped; /* (local, point) -> local */
  struct memo renamed;      /* (local, renaming) -> local */
  struct intern *renamings;
};

void pack_init(struct pack *, struct interpreter *, struct model *, const struct query *, const struct licences *);
void pack_share(struct pack *, struct pack *first); /* its names, from the first one on */
void pack_release(struct pack *);
size_t pack_bytes(const struct pack *);

uint32_t local_role(const struct pack *, local_id);
value local_status(const struct pack *, local_id);
const value *local_values(const struct pack *, local_id); /* as in a config: status, variables, first values */
local_id local_put(struct pack *, uint32_t role, const value *values);
/* The bits by which states follow a process, given the inputs of a configuration; ready for a status. */
value followed_bits(const struct pack *, const value *globals, uint32_t process);
/* Blanks what says nothing from `point` on: oracles that are not chosen, and, if licensed, what is never read again
   by processes that still run, or by the idle. */
local_id local_drop_dead(struct pack *, local_id, uint32_t point);
local_id local_at_start(struct pack *, local_id); /* the same at the start, where nothing but oracles is blanked */

void global_from_config(struct pack *, const struct config *, struct unpacked_state *); /* needs room for nprocesses */
/* Members become processes in order; first values that are not kept are filled in as far as properties ask. */
struct config *global_to_config(struct pack *, const struct unpacked_state *);

/* How the canonical form came about: which process of the raw vector stands where. */
struct renumbering {
  uint32_t *to; /* by raw process: its place in the canonical vector */
};

/* Brings a raw state, already blanked, into canonical form in place: ranks, sorts, renames. `how` may be NULL. */
void global_canonical(struct pack *, struct unpacked_state *, struct renumbering *how);

void global_encode(const struct pack *, const struct unpacked_state *, uint8_t **buffer, size_t *capacity,
                   struct state *);
void global_decode(const struct pack *, const struct state *,
                   struct unpacked_state *);    /* room for nprocesses members */
uint8_t *key_put(uint8_t *at, uint64_t number); /* at most 10 bytes; behind them */
const uint8_t *key_get(const uint8_t *at, uint64_t *number);
struct unpacked_state *global_new(const struct pack *);
void global_free(struct unpacked_state *);

/* A obligation under a renaming of processes: lockstep/acceptance_marks.c. */
uint32_t obligation_renamed(struct pack *, uint32_t obligation, const struct renaming *);
/* The values in a obligation and their types, in order; returns how many. Either may be NULL. */
uint32_t obligation_values(const struct pack *, uint32_t obligation, const value **, const struct type **);

/* lockstep_canonical.c */
void global_permute(struct pack *, struct unpacked_state *, struct renumbering *how);
local_id local_rename_processes(struct pack *, local_id, const uint32_t *to);
local_id local_rename_rounds(struct pack *, local_id, const value *rounds, size_t n); /* those below n */
/* Where the residue of the phase number is read: the smallest number from `least` on that has it. */
value rank_of_phase(const struct pack *, value least, value phase);

#endif
