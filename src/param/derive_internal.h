/* Private to src/param/derive*.c. */
#ifndef RONDO_PARAM_DERIVE_INTERNAL_H
#define RONDO_PARAM_DERIVE_INTERNAL_H

#include "analysis/read_sets.h"
#include "interp/local.h"
#include "param/counter_graph.h"
#include "param/derive.h"
#include "symbolic/solver.h"

enum {
  LOCALS_MAX = 120,
  MESSAGES_MAX = 16,
  HEARD_MAX = 8, /* of these, by one process */
  LEAVES_MAX = 1500,
  AMOUNTS_MAX = 600,
  FLAGS_MAX = 6
};
enum { CAPPED_MAX = 3 };                    /* each doubles the number of cases */
enum { FROZEN_MAX = 3 * MESSAGES_MAX + 1 }; /* by message: may be heard, must be heard, are heard; Byzantine ones */

/* The result of an update: [status, then pairs of variable and value]; or it fails. */
struct local_update {
  value *at;
  size_t n;
  const char *failure; /* or NULL */
  struct span where;
};

/* An update and its condition: a union of cubes over the parameters and the numbers of messages heard. */
struct guarded_update {
  uint32_t effect;
  cube_vec heard;
  VEC(uint32_t) message_sets; /* the sets of messages heard, as bit sets of indices */
};
typedef VEC(struct guarded_update) guarded_update_vec;

/* All possible results of an update, for local states that are equal in the variables it reads. */
struct update_cases {
  uint32_t point;
  value *context;    /* status, then the variables that it reads; others have the first value of their type */
  uint32_t messages; /* number of possible messages when this was computed */
  uint32_t coin;     /* the interpreter's fixed_coin then */
  guarded_update_vec cases;
};

struct schedule_point {         /* a point of the schedule */
  uint32_t sends, updates;      /* the part of a process that decides about sends, about updates */
  VEC(uint32_t) locals;         /* possible at this point */
  VEC(uint32_t) aging;          /* possible before it, with numbers of the last phase */
  VEC(value) messages_possible; /* messages that may be received */
  VEC(unsigned) kinds;          /* by message: MESSAGE_... */
  bool knows_leader;            /* the round reads who leads */
  bool by_class;                /* the update reads nothing of a process but its class */
  VEC(struct update_cases *) outcomes;
  struct read_set *reads;
};

struct local_move { /* `amount` processes change from one local state to another */
  struct term *amount;
  uint32_t before, after;
};

/* A possible successor of a round in the schedule. */
enum pass_change { PASS_SAME, PASS_FIRST, PASS_NEXT }; /* effect on the counter of passes */
struct next_round {
  uint32_t to;       /* POINT_END: the run ends */
  struct term *when; /* NULL: always */
  enum pass_change passes;
};

struct heard_size { /* times * |set| + more >= limit; limit NULL: 0 */
  int64_t times, more;
  const struct node *limit;
  bool strict; /* > instead of >= */
  bool all;    /* the limit is times the number of all processes */
  bool exact;  /* == instead of >=; times is 1, more is 0 */
  bool active; /* of the set, only the processes that take part are counted */
  bool capped; /* active: the limit is at most the number of processes that take part */
  const struct clause *of;
};

/* Equal messages are counted separately if they go to different processes, or if one is the leader's. */
enum { MESSAGE_FROM_LEADER = 1, MESSAGE_TO_LEADER = 2, MESSAGE_TO_RIVAL = 4 };

enum coupling_kind { HEARD_FREELY, HEARD_NOSPLIT, HEARD_UNIFORM };

/* The parameters of the model as rows over the columns of `base`, of width base->nparams + 1. */
struct open_params {
  struct counter_graph *base; /* has only parameters: columns and conditions */
  int64_t **row;              /* by parameter of the model */
  int64_t *size;              /* the number of processes */
  bool *open;                 /* by parameter of the model: it has no constant value */
};

struct reached_locals {
  struct schedule_point *at; /* by point; at[npoints]: the end */
  uint32_t last_pass;        /* first point of the last pass of a `repeat` without constant length */
  VEC(struct local_update) updates;
  VEC(uint32_t) initial;     /* initial states of a process, nparts local states each */
  bool *begins;              /* by local state: it is initial */
  struct term **begins_when; /* by local state: a condition on the parameters; NULL: for all of them */
  bool closed;               /* all local states are known */
};

struct bound_part { /* the part of a process that a bound name refers to; names of different scopes may share a slot */
  const struct generator *name;
  uint32_t part;
};

/* The parts of a process that properties refer to. */
struct property_parts {
  VEC(struct bound_part) of_names;
  uint32_t of_step;   /* the part that the step property reads, if there is one */
  bool stays_count;   /* a process that does not change may violate the step property */
  bool *counted;      /* by part: it must be counted */
  bool identities;    /* a property compares identities of processes */
  uint32_t *violated; /* by property of the query: the control that records a violated step property */
};

/* The environment: what a process can hear. */
struct heard_rules {
  bool delivers, forges, crashes; /* no message is lost; messages may be forged; processes may crash */
  const struct clause *byzantine, *corrupted;
  VEC(struct heard_size) sizes; /* conditions on every |HO[p]| */
  enum coupling_kind coupling;
  const struct clause *coupling_clause;
};

/* The counters of rounds in turns; each is zero between rounds. Rounds share them. */
struct turn_counters {
  uint32_t frozen[FROZEN_MAX]; /* numbers that are frozen in the round; NO_COUNTER: not needed so far */
  VEC(uint32_t) pools;         /* processes that have not changed yet in this round */
  uint32_t most;               /* the greatest value of the control */
};

struct derivation_builder {
  struct derivation *d; /* the result */
  struct counter_system *s;
  const struct round_shape *shape;
  struct interpreter *interp;
  const struct model *m;
  const struct query *q;
  const struct environment *env;
  const struct role *role; /* the only one */
  enum derive_mode mode;
  const struct liveness *liveness; /* NULL: a safety property */
  bool jointly;                    /* all parts of a process change in one move, whatever the round is */
  enum round_form form;
  uint32_t counters_max, controls_max; /* room for in every move; some are added while moves are made */
  const volatile sig_atomic_t *stop;   /* or NULL */
  struct open_params params;
  struct reached_locals reached;
  struct property_parts parts;
  struct heard_rules heard;
  struct turn_counters turns;
};

/* derive.c */
bool derive_refuse(struct derivation_builder *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool derive_beyond(struct derivation_builder *, struct span); /* refuses numbers beyond 64 bits */
/* row += times * more. Returns false, after a refusal, if a number does not fit 64 bits. */
bool derive_row_add(struct derivation_builder *, struct span, int64_t *row, const int64_t *more, uint32_t width,
                    int64_t times);
bool derive_stopped(struct derivation_builder *); /* if the derivation is to stop, records that as a refusal */
struct solver *derive_solver(const struct derivation_builder *);
/* Adds `times` a linear term over parameters to the row. Returns false, after a refusal, if the node is no
   such term. */
bool node_row(struct derivation_builder *, const struct node *, int64_t times, int64_t *row);
/* Columns and conditions of the parameters: params.base, row, open, size. */
bool derive_params(struct derivation_builder *);
/* The parameters of the model in the solver's solution, whose first columns are params.base's. Returns false if some
   number does not fit 64 bits. */
bool derive_solved_params(struct derivation_builder *, struct solver *, int64_t *params);
/* A name for the counter of a local state, in the system's arena. */
const char *derive_local_name(struct derivation_builder *, uint32_t local);
struct term *limit_term(struct derivation_builder *, enum clause_kind); /* sum of the limits of all such clauses */
/* The possible successors of a round. Returns their number: 1 or 2. */
uint32_t next_rounds(struct derivation_builder *, uint32_t point, struct next_round out[2]);
uint32_t first_rounds(struct derivation_builder *, struct next_round out[2]);
struct term *round_term(struct derivation_builder *, uint32_t point); /* the control's value */
uint32_t derive_counter_new(struct derivation_builder *, const char *name);
uint32_t derive_control_new(struct derivation_builder *, const char *name, enum control_kind, int64_t high);

/* derive_licence.c: can the model be derived? */
bool derive_licensed(struct derivation_builder *);
/* What can be heard in rounds that satisfy these, too. Returns false if refused; *before is to be restored either way.
 */
bool heard_rules_extend(struct derivation_builder *, const struct liveness_predicate *, uint32_t n,
                        struct heard_rules *before);
bool size_applies(const struct derivation_builder *, const struct heard_size *, uint32_t point);
void heard_rules_restore(struct derivation_builder *, const struct heard_rules *before);

/* derive_heard_sizes.c: is the condition of a clause about the number of processes heard, of those that take part? */
bool is_active_size_clause(const struct node *, struct heard_size *);
/* Multiplies a limit that is a quotient by a number with that number. */
void heard_size_without_quotient(struct heard_size *);

/* derive_locals.c: all reachable local states. */
bool derive_locals(struct derivation_builder *);
uint32_t derived_local_put(struct derivation_builder *, uint32_t point, uint32_t part,
                           const value *local); /* UINT32_MAX: there are too many */
void derived_local_possible(struct derivation_builder *, uint32_t point, uint32_t local,
                            bool *more); /* *more: it is new */
uint32_t local_after_update(struct derivation_builder *, uint32_t local, uint32_t point,
                            uint32_t effect); /* the next local state */
uint32_t local_unchanged_after(struct derivation_builder *, uint32_t local, uint32_t point,
                               value more_status); /* unchanged except for the status, in the next round */
/* Merges the parts of variables that are read together (part: of n variables). Returns the merged part, or 0 if vars is
   empty. */
uint32_t merge_parts(uint32_t *part, uint32_t n, const bool *vars);
bool update_fails(const struct derivation_builder *, uint32_t effect);
bool local_active(const struct derivation_builder *, uint32_t local);
bool local_has(const struct derivation_builder *, uint32_t local, value status);
/* The message that a process in this local state broadcasts. Returns false if it sends none. */
bool local_message(struct derivation_builder *, uint32_t local, uint32_t point, value *, unsigned *kind);
uint32_t message_index(const struct schedule_point *, value, unsigned kind);
/* The name of its counter or control. */
const char *local_label(const struct derivation_builder *, uint32_t local);
/* In the move, so many processes are in the local state afterwards; at most one if it is the leader's. */
void move_set_count(struct derivation_builder *, struct counter_move *, uint32_t local, struct term *count);

/* derive_leader.c: a coordinator for each phase.

   Finds the oracle, and whether processes agree about it. Returns false if it is refused. */
bool leader_licensed(struct derivation_builder *);
bool leader_is_clause(const struct derivation_builder *, const struct node *pred); /* all believe in one coordinator */
/* Rounds that read who leads, and from which point on that matters. */
void leader_find_rounds(struct derivation_builder *);
/* The identity that the interpreter takes for the coordinator, in a process of this class. */
value leader_identity(const struct derivation_builder *, value class);
/* The sender, as a process of this class sees it; NO_SENDER: one that nobody asks for. */
uint32_t leader_sender(const struct derivation_builder *, value class, unsigned kind);
bool tells_class(const struct derivation *, uint32_t part);
/* Parts whose variables depend on whether a process is its own coordinator. */
void leader_find_selves(struct derivation_builder *, const uint32_t *part, bool *selves);
/* Can a process be in both local states, of different parts? As far as status and class tell. */
bool locals_agree(const struct derivation_builder *, uint32_t, uint32_t);
bool leader_hears(value class, unsigned kind); /* can such a message reach it? */
value local_class(const struct derivation_builder *, const value *local);
bool leader_begins_at(const struct derivation_builder *, uint32_t point); /* is a leader chosen before that round? */
/* The local state with another class. */
uint32_t leader_local(struct derivation_builder *, uint32_t local, uint32_t point, value class);
/* derive_others.c: does a process in this local state send its message to all others, and not to itself? */
bool local_spares_itself(struct derivation_builder *, uint32_t local, uint32_t point);
bool round_may_spare(struct derivation_builder *, uint32_t point); /* does some process do so? */
/* Refuses clauses about heard-of sets in which such a process itself would have to be told apart. */
bool derive_others_licensed(struct derivation_builder *, uint32_t local, uint32_t point);

/* derive_first_values.c: the initial local states, and for which parameters. */
bool first_values_find(struct derivation_builder *);

/* derive_updates.c: all possible results of the update of a process in this local state. NULL: refused. */
const struct update_cases *update_cases_of(struct derivation_builder *, uint32_t point, uint32_t local);
void update_cases_release(struct update_cases *);

/* derive_cubes.c: replaces the cubes by fewer and larger ones with the same points, under the solver's assertions. */
void cubes_merge(cube_vec *, struct solver *);
/* Is every point that satisfies the solver's assertions in one of the cubes? */
bool cubes_cover(struct solver *, const cube_vec *);

/* derive_reception.c: the condition under which a process can have heard what an update requires.

   A receiver: its faults, and its own message, which it always hears if no message is lost. */
struct receiver {
  bool omits_receive, omits_send; /* omission faults */
  value class;                    /* enum leader_class */
  bool spares_own;                /* it sends its own message to all others, not to itself */
  bool may_spare;                 /* its own message is unknown, and may go to all others only */
  uint32_t own;                   /* index of its own message; UINT32_MAX: none or unknown */
};
struct reception {
  const struct update_cases *outcomes;
  uint32_t way; /* index of the case */
  struct receiver receiver;
  bool fails;  /* the update is an error of the model */
  bool always; /* possible whatever was sent */
  bool never;
  cube_vec cubes;   /* over the columns below */
  bool witness;     /* the condition needs the numbers of messages heard */
  struct term *can; /* the condition as a term of the move; NULL: not computed yet */
};
struct reception_columns { /* columns: parameters; by message, how many are heard, forged, may be heard, must be heard;
                              Byzantine processes */
  struct derivation_builder *d;
  uint32_t point, nm, np; /* nm messages, np parameter columns */
  bool all_send;          /* every process that is not Byzantine sends something */
  bool active_send;       /* every process that takes part does */
  bool coarse;            /* always project the heard messages away, even where that is an overapproximation */
};
uint32_t column_heard(const struct reception_columns *, uint32_t message);
uint32_t column_forged(const struct reception_columns *, uint32_t message);
uint32_t column_may(const struct reception_columns *, uint32_t message);
uint32_t column_must(const struct reception_columns *, uint32_t message);
uint32_t column_byzantine(const struct reception_columns *);
uint32_t reception_ncolumns(const struct reception_columns *);
/* A solver with the constraints on the columns that hold for every receiver. */
struct solver *reception_facts(const struct reception_columns *);
void reception_find(const struct reception_columns *, struct reception *);

/* derive_ages.c: numbers of phases. */
bool ages_licensed(struct derivation_builder *);
bool ages_end_at(const struct derivation_builder *, uint32_t point); /* do numbers age before this round? */
bool local_ages(const struct derivation_builder *, uint32_t local);  /* does it have a number of this phase? */
uint32_t local_aged(struct derivation_builder *, uint32_t local, uint32_t point, value becomes);
void ages_watch(struct derivation_builder *);

/* derive_round.c: the moves of a round. */
typedef VEC(struct counter_move) move_vec;
bool leader_elections(struct derivation_builder *, uint32_t point, move_vec *); /* derive_leader.c */
bool ages_moves(struct derivation_builder *, uint32_t point, move_vec *);       /* derive_ages.c */
enum coupling_kind leader_coupling(const struct derivation_builder *, uint32_t point);
bool derive_round(struct derivation_builder *, uint32_t point, move_vec *);
/* Must all parts of a process change in the same move? True if some choice of the round (such as a heard-of set or
   crashes) concerns all parts at once. */
bool derive_moves_jointly(const struct derivation_builder *);
/* Does the part change in moves of its own, before the joint move of the round? */
bool derive_moves_apart(const struct derivation_builder *, uint32_t point, uint32_t part);

/* liveness_moves.c: the product with the stages of a live property. */
bool liveness_rounds(struct derivation_builder *, uint32_t point, move_vec *); /* in place of derive_round */
bool liveness_property(struct derivation_builder *, struct counter_property *);
struct term *liveness_start(struct derivation_builder *);
/* derive_turns.c: the control for rounds in turns. Restricts other moves, the start and the property to its value 0. */
void turns_finish(struct derivation_builder *);
/* A condition for states between rounds. NULL: all are. */
struct term *turns_between(struct derivation_builder *);

/* derive_property.c */
void derive_property_parts(struct derivation_builder *,
                           uint32_t *part); /* joins parts that a property reads together */
uint32_t part_of_name(const struct derivation_builder *, const struct generator *);
bool derive_property(struct derivation_builder *, const struct property *, struct counter_property *);
struct term *derive_condition(struct derivation_builder *, const struct node *); /* when it holds; NULL: refused */
bool derive_step_licensed(struct derivation_builder *, const struct property *);
/* Does the step property forbid this step of a process? */
bool step_forbidden(struct derivation_builder *, const struct property *, uint32_t before, uint32_t after,
                    bool *forbidden);
/* The number of processes in a local state; for a flag, 0 or 1. */
struct term *local_count(struct derivation_builder *, uint32_t local);

/* derive_terms.c: terms in the system's arena, with constant folding. NULL stands for 0 and for true. */
struct term *make_number(struct derivation_builder *, int64_t);
struct term *make_leaf(struct derivation_builder *, enum term_op, uint32_t index);
struct term *make_sum(struct derivation_builder *, struct term *, struct term *);
struct term *make_difference(struct derivation_builder *, struct term *, struct term *);
struct term *make_times(struct derivation_builder *, int64_t, struct term *);
struct term *make_relation(struct derivation_builder *, enum term_op, struct term *, struct term *);
struct term *make_and(struct derivation_builder *, struct term *, struct term *);
struct term *make_pair_and(struct derivation_builder *, struct term *, struct term *); /* without folding */
struct term *make_or(struct derivation_builder *, struct term *, struct term *);       /* neither may be NULL */
struct term *make_not(struct derivation_builder *, struct term *);
struct term *make_choice(struct derivation_builder *, struct term *condition, struct term *, struct term *);
struct term *make_row(struct derivation_builder *, const int64_t *row); /* over parameters */
/* row >= 0 or == 0, with a term for each column. */
struct term *make_constraint(struct derivation_builder *, const int64_t *row, uint32_t width, bool equal,
                             struct term *const *columns);
struct term *make_cube(struct derivation_builder *, const struct cube *, struct term *const *columns);
bool term_same(const struct term *, const struct term *);

#endif
