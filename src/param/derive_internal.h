/* Private to src/param/derive*.c. */
#ifndef RONDO_PARAM_DERIVE_INTERNAL_H
#define RONDO_PARAM_DERIVE_INTERNAL_H

#include "analysis/read_sets.h"
#include "interp/local.h"
#include "param/counter_graph.h"
#include "param/derive.h"
#include "symbolic/solver.h"

enum { LOCALS_MAX = 120, MESSAGES_MAX = 8, LEAVES_MAX = 1500, AMOUNTS_MAX = 600, FLAGS_MAX = 6 };

/* What an update does: [status, then variable and value in turn]; or it fails. */
struct local_update {
  value *at;
  size_t n;
  const char *failure; /* or NULL */
  struct span where;
};

/* An effect, and what one must have heard for it: any of the cubes over parameters and how many of
 * each message. */
struct guarded_update {
  uint32_t effect;
  cube_vec heard;
  VEC(uint32_t) message_sets; /* which messages were among them: sets of indices, as bits */
};
typedef VEC(struct guarded_update) guarded_update_vec;

/* All that an update may do, for local states that look alike to it. */
struct update_cases {
  uint32_t point;
  value *context;    /* status, then the variables that it reads; others have their type's first value */
  uint32_t messages; /* how many possible messages there were */
  guarded_update_vec cases;
};

struct schedule_point {         /* a point of the schedule */
  uint32_t sends, updates;      /* which part of a process decides about them */
  VEC(uint32_t) locals;         /* that may be there */
  VEC(value) messages_possible; /* what may be received */
  VEC(struct update_cases *) outcomes;
  struct read_set *reads;
};

struct local_move { /* processes in one local state that become another */
  struct term *amount;
  uint32_t before, after;
};

/* Where a round leads. */
enum pass_change { PASS_SAME, PASS_FIRST, PASS_NEXT }; /* the counter of passes */
struct next_round {
  uint32_t to;       /* POINT_END: the run is over */
  struct term *when; /* NULL: always */
  enum pass_change passes;
};

struct heard_size { /* times * |set| >= limit; NULL: 0 */
  int64_t times;
  const struct node *limit;
  bool strict; /* > */
};

enum coupling_kind { HEARD_FREELY, HEARD_NOSPLIT, HEARD_UNIFORM };

struct derivation_builder {
  struct derivation *d;
  const struct round_shape *shape;
  struct counter_system *s;
  struct interpreter *interp;
  const struct model *m;
  const struct query *q;
  const struct environment *env;
  const struct role *role;
  enum derive_mode mode;
  const volatile sig_atomic_t *stop; /* or NULL */
  /* parameters */
  struct counter_graph *base; /* only for the parameters: columns and conditions */
  int64_t **param_row;        /* by parameter of the model: over the columns, width base->nparams + 1 */
  int64_t *size_row;
  bool *open;      /* by parameter of the model: it has no fixed value */
  int64_t *values; /* scratch: by parameter of the model */
  /* what can come up */
  struct schedule_point *at; /* by point; at[npoints]: the end */
  uint32_t last_pass;        /* of a `repeat` that is not fixed: where its last pass begins */
  VEC(struct local_update) local_updates;
  VEC(uint32_t) initial; /* nparts local states each: those in which a process begins */
  bool *begins;          /* by local state: a process may begin like that */
  bool closed;           /* there are no further local states */
  /* properties: which part of a process a bound name speaks of, by slot; which parts must be
   * counted */
  uint32_t *part_of_slot;
  uint32_t part_of_step; /* of the step property, if there is one */
  bool stays_count;      /* it may be false of a process that stays as it is */
  bool *counted;
  bool same;          /* a property says which of the processes that it speaks of are the same */
  uint32_t *violated; /* by property of the query: the control that says so; step properties */
  /* the environment */
  bool delivers, forges, crashes; /* no losses; messages are made up; processes crash */
  const struct clause *byzantine, *corrupted;
  VEC(struct heard_size) sizes; /* of every HO[p] */
  enum coupling_kind coupling;
  const struct clause *coupling_clause;
  struct heard_size uniform; /* UNIFORM: of the set, */
  bool uniform_any;          /* unless there is no condition */
};

/* derive.c */
bool derive_refuse(struct derivation_builder *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool derive_beyond(struct derivation_builder *, struct span); /* refuses numbers beyond 64 bits */
/* row += times * more; false: beyond 64 bits, refused. */
bool derive_row_add(struct derivation_builder *, struct span, int64_t *row, const int64_t *more, uint32_t width,
                    int64_t times);
bool derive_stopped(struct derivation_builder *); /* it is to stop: then it is refused */
struct solver *derive_solver(const struct derivation_builder *);
/* A linear term over parameters, as a row over the columns; false: it is none, refused. */
bool node_row(struct derivation_builder *, const struct node *, int64_t times, int64_t *row);
struct term *limit_term(struct derivation_builder *, enum clause_kind); /* of all such clauses together */
/* What lies between the end of a round and the next one; how many of `out` there are: 1 or 2. */
uint32_t next_rounds(struct derivation_builder *, uint32_t point, struct next_round out[2]);
uint32_t first_rounds(struct derivation_builder *, struct next_round out[2]);
struct term *round_term(struct derivation_builder *, uint32_t point); /* as the control has it */

/* derive_licence.c: does the text allow it? */
bool derive_licensed(struct derivation_builder *);

/* derive_locals.c: local states, and all that can come up. */
bool derive_locals(struct derivation_builder *);
uint32_t local_after_update(struct derivation_builder *, uint32_t local, uint32_t point,
                            uint32_t effect); /* the next local state */
uint32_t local_unchanged_after(struct derivation_builder *, uint32_t local, uint32_t point,
                               value more_status); /* unchanged but for its status, in the next round */
/* Variables (of n, with their parts) that are read together belong together: in one part, which is
   returned; 0 if there are none. */
uint32_t merge_parts(uint32_t *part, uint32_t n, const bool *vars);
bool update_fails(const struct derivation_builder *, uint32_t effect);
bool local_active(const struct derivation_builder *, uint32_t local);
bool local_has(const struct derivation_builder *, uint32_t local, value status);
/* The message that a process in that state sends to all; false: none. */
bool local_message(struct derivation_builder *, uint32_t local, uint32_t point, value *);
uint32_t message_index(const struct schedule_point *, value);

/* derive_updates.c: what can an update do to a process in that state? NULL: refused. */
const struct update_cases *update_cases_of(struct derivation_builder *, uint32_t point, uint32_t local);
void update_cases_release(struct update_cases *);

/* derive_cubes.c: fewer and larger cubes with the same points, given what the solver knows. */
void cubes_merge(cube_vec *, struct solver *);
/* Is every point that the solver knows of in one of them? */
bool cubes_cover(struct solver *, const cube_vec *);

/* derive_reception.c: when can somebody have heard what leads to an effect?

   How a receiver hears: its faults, and its own message, which it always hears where messages
   arrive. */
struct receiver {
  bool omits_receive, omits_send; /* omits to receive, to send */
  uint32_t own;                   /* index of its message, UINT32_MAX: none, or not known */
};
struct reception {
  const struct update_cases *outcomes;
  uint32_t way; /* index of the case */
  struct receiver receiver;
  bool fails;  /* the effect is an error of the model */
  bool always; /* whatever was sent */
  bool never;
  cube_vec cubes;   /* over the columns below */
  bool witness;     /* the condition needs the numbers heard */
  struct term *can; /* as a condition of the move; NULL: not made yet */
};
struct reception_columns { /* columns: parameters, heard, made up, may be heard, must be, byzantine ones */
  struct derivation_builder *d;
  uint32_t point, nm, np; /* messages, parameter columns */
  bool all_send;          /* every process that is not Byzantine sends something */
  bool coarse;            /* what was heard is always projected away, even if that allows too much */
};
uint32_t column_heard(const struct reception_columns *, uint32_t message);
uint32_t column_forged(const struct reception_columns *, uint32_t message);
uint32_t column_may(const struct reception_columns *, uint32_t message);
uint32_t column_must(const struct reception_columns *, uint32_t message);
uint32_t column_byzantine(const struct reception_columns *);
uint32_t reception_ncolumns(const struct reception_columns *);
/* A solver that knows what holds of the columns, whoever listens. */
struct solver *reception_facts(const struct reception_columns *);
void reception_find(const struct reception_columns *, struct reception *);

/* derive_round.c: the moves of a round. */
typedef VEC(struct counter_move) move_vec;
bool derive_round(struct derivation_builder *, uint32_t point, move_vec *);
/* Must all parts of a process change at once? What ties them together is chosen once for all. */
bool derive_moves_jointly(const struct derivation_builder *);

/* derive_property.c */
void derive_property_parts(struct derivation_builder *,
                           uint32_t *part); /* joins parts that a property reads together */
bool derive_property(struct derivation_builder *, const struct property *, struct counter_property *);
bool derive_step_licensed(struct derivation_builder *, const struct property *);
/* Local steps that a step property forbids. */
bool step_forbidden(struct derivation_builder *, const struct property *, uint32_t before, uint32_t after,
                    bool *forbidden);
/* How many there are in that local state, or (0 or 1) whether there is one. */
struct term *local_count(struct derivation_builder *, uint32_t local);

/* derive_terms.c: terms in the system's arena, constants folded. NULL stands for 0, and for true.
 */
struct term *make_number(struct derivation_builder *, int64_t);
struct term *make_leaf(struct derivation_builder *, enum term_op, uint32_t index);
struct term *make_sum(struct derivation_builder *, struct term *, struct term *);
struct term *make_difference(struct derivation_builder *, struct term *, struct term *);
struct term *make_times(struct derivation_builder *, int64_t, struct term *);
struct term *make_relation(struct derivation_builder *, enum term_op, struct term *, struct term *);
struct term *make_and(struct derivation_builder *, struct term *, struct term *);
struct term *make_pair_and(struct derivation_builder *, struct term *, struct term *); /* as it stands */
struct term *make_or(struct derivation_builder *, struct term *, struct term *);       /* neither may be NULL */
struct term *make_not(struct derivation_builder *, struct term *);
struct term *make_choice(struct derivation_builder *, struct term *condition, struct term *, struct term *);
struct term *make_row(struct derivation_builder *, const int64_t *row); /* over parameters */
/* row >= 0 or == 0, each column standing for a term. */
struct term *make_constraint(struct derivation_builder *, const int64_t *row, uint32_t width, bool equal,
                             struct term *const *columns);
struct term *make_cube(struct derivation_builder *, const struct cube *, struct term *const *columns);
bool term_same(const struct term *, const struct term *);

#endif
