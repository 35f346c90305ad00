/* Derives a counter system from a round model: it counts the processes in each local state.

   This applies to algorithms with one role of identical processes with finitely many local states, whose updates read
   the received messages only through counts that they compare with linear terms over parameters. The possible successor
   states of a process, and the messages each requires, are found by running the interpreter and following its decisions
   (interp/eval.h), so the semantics is not implemented a second time. A round is one move: amounts say how many
   processes change from each local state to each other one, provided the required messages can have been heard.

   Models outside this class are refused, with the place of the obstacle. */
#ifndef RONDO_PARAM_DERIVE_H
#define RONDO_PARAM_DERIVE_H

#include "base/vec.h"
#include "interp/config.h"
#include "model/counter_system.h"
#include "param/liveness.h"

/* WHOLE: as exact as counting allows. COUNTED: variables that are never read together are counted separately, as if
   each process consisted of several parts; parts that decide neither what is sent nor what becomes of other parts
   change one after the other before the move of the round. This has far fewer local states but is an overapproximation.
   FLAGS: like COUNTED, but where only the existence of a part in a local state matters, a flag replaces the counter:
   whether there ever was one. COUNTED and FLAGS are overapproximations: their proofs are valid, their violations may be
   spurious. */
enum derive_mode { DERIVE_FLAGS, DERIVE_COUNTED, DERIVE_WHOLE };

/* How a round is made of moves. JOINT: one move, in which all processes change. IN_TURNS: a first move freezes what is
   sent, in counters of their own; then the local states change one after the other, each successor in a move of its
   own, with conditions on the frozen numbers. Both have the same behaviour from round to round: receptions of different
   processes depend on each other only through what is frozen. In turns, all counted parts change, so that it is more
   exact where parts change before the joint move. AUTOMATIC: IN_TURNS for rounds whose
   joint move would unfold into many cases. */
enum round_form { ROUND_AUTOMATIC, ROUND_JOINT, ROUND_IN_TURNS };

#define NO_COUNTER UINT32_MAX

/* The phase that is fixed for a run with numbers of phases (derive_ages.c). */
enum fixed_phase { FIXED_AHEAD, FIXED_NOW, FIXED_OVER };

/* What a process has to do with the coordinator of the phase, the leader. In derived local states this is the value of
   the oracle that names the coordinator. FOLLOWS: it believes in the leader; also between phases. LEADS: it is the
   leader, and believes so. OTHER: it believes in a third process. RIVAL: it believes in itself and is not the leader;
   where processes may disagree, the leader is the one that most of them believe in, so that at most half of all
   processes believe in each other one. */
enum leader_class { LEADER_FOLLOWS, LEADER_LEADS, LEADER_OTHER, LEADER_RIVAL, LEADER_CLASSES };

/* What a move does with processes, in a round in turns. */
enum turn_kind { TURN_NONE, TURN_BEGIN, TURN_CHANGE };
struct turn_move {
  enum turn_kind kind; /* NONE: another move */
  uint32_t point;
  uint32_t nlocals;
  const uint32_t *locals;    /* BEGIN: by amount, the local state whose processes crash; UINT32_MAX: a number of
                                messages that all hear. CHANGE: the local states that change */
  struct term *const *limit; /* BEGIN: by amount, the greatest number of such messages */
  uint32_t to;               /* CHANGE: the next local state */
  bool chosen;               /* CHANGE: the first amount says how many change; otherwise all that are left */
};

struct derivation {
  struct counter_system *system; /* borrowed; filled in */
  const char *refused;           /* reason for a refusal, in the system's arena; NULL: success */
  bool stopped;                  /* refused because it was stopped */
  struct span at;
  struct arena arena;
  /* local states of processes, or of parts of processes */
  VEC(value *) locals;
  VEC(uint32_t) parts;     /* by local state: its part; 0 if there is only one */
  VEC(uint32_t) counter;   /* by local state: its counter; NO_COUNTER: it has */
  VEC(uint32_t) flag;      /* a control that is true if there ever was such a part; of the leader: if it is there */
  const uint32_t *part_of; /* by variable, then one entry for all initial values; NULL: only one part */
  const bool *part_used;   /* by part; NULL: likewise */
  uint32_t nparts;
  VEC(bool) is_part_move;      /* by move: it changes one part of a process, before the move of the round */
  VEC(struct turn_move) turns; /* by move */
  uint32_t turn;               /* the control for the next change of a round in turns, 0 between rounds; UINT32_MAX: no
                                  round is in turns */
  bool leaves_apart;           /* some counted part may stay as it is in a joint move, but not in turns */
  uint32_t violated;           /* the control that records a violated step property; UINT32_MAX: not a step property */
  uint32_t where;              /* the control for the next round; UINT32_MAX: always the first round */
  const struct liveness *liveness; /* NULL: a safety property */
  uint32_t stage;                  /* the control for its stages */
  struct term **echo;              /* by round and value of its coins: when COINS_ECHO chooses it; NULL: no coins */
  uint32_t refused_clause; /* the clause about runs (its ordinal) because of which it was refused; UINT32_MAX: none */
  uint32_t skip_after,
      skipped;     /* number of rounds in the passes between the first and the last, which are not numbered */
  uint32_t passes; /* the counter of completed passes; NO_COUNTER: none */
  uint32_t length;
  struct live_variables *live;
  const struct model *model;
  bool keeps_initial;         /* local states include the initial values of inputs */
  uint32_t leader;            /* the oracle that names the coordinator; UINT32_MAX: there is none */
  const bool *tells_class;    /* by part: it tells the class of the process */
  const bool *tells_self;     /* by part: it also tells whether the process believes in itself */
  bool rivals;                /* processes may believe in different coordinators */
  uint32_t elected;           /* the control: the leader of the phase was chosen */
  const bool *ages;           /* by variable: it is the age of a number of a phase; NULL: none is */
  uint32_t aged, began;       /* controls: numbers have aged since the last phase; enum fixed_phase */
  const bool *watched;        /* by variable: the fixed phase is the first at whose end one of these has changed */
  const value *watched_first; /* their first values */
  const bool *leader_matters; /* by point: this round, or a later one of the phase, reads who leads */
  bool loops; /* some `repeat` has no constant length, so liveness of variables is not known per round */
};

/* The model is an instance: its parameters satisfy the conditions, every clause of the environment allows some fault,
   and a `repeat` without constant length has at least two passes. The only property of the query becomes the property
   of the system. Ends soon after *stop becomes nonzero; stop may be NULL. Returns false if refused. */
bool derive(struct derivation *, const struct round_shape *, struct interpreter *, const struct query *,
            enum derive_mode, const volatile sig_atomic_t *stop);
bool derive_as(struct derivation *, const struct round_shape *, struct interpreter *, const struct query *,
               enum derive_mode, enum round_form, const volatile sig_atomic_t *stop);
/* The product of the derived system with the stages. The model was prepared (liveness_prepare), which made the property
   one about states. */
bool derive_live(struct derivation *, const struct round_shape *, struct interpreter *, const struct query *,
                 const struct liveness *, enum derive_mode, enum round_form, const volatile sig_atomic_t *stop);
void derivation_release(struct derivation *);

/* The index of the derived local state for (this part of) a local state at the start of a round; UINT32_MAX: none. */
uint32_t derived_local(const struct derivation *, uint32_t point, uint32_t part, const value *local);
/* The value of the control for a round of the instance. In a `repeat` without constant length, it is a round of the
   first or of the last pass. */
uint32_t derived_round(const struct derivation *, uint32_t point);
bool part_exists(const struct derivation *, uint32_t part);
/* Is entry i (1 or more) of a local state kept by the derivation? If not, it counts as having its default value. */
bool derived_keeps(const struct derivation *, uint32_t point, uint32_t part, value status, uint32_t i);
value derived_default(const struct derivation *, uint32_t i);
/* The class of a process, as the part of it tells. */
value derived_class(const struct derivation *, uint32_t part, value class);
/* Is it the local state of the leader? Then its control is true while the leader is in it, as one process at most is.
 */
bool derived_leads(const struct derivation *, uint32_t local);

#endif
