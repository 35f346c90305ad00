/* Expressions over the finite variables of a program (export/program.h): a graph in which equal nodes are one, built
   bottom-up with constants folded. Numbers and truth values, nothing else; every format can write these.

   A wire is the name of a node; kids have smaller names than those who use them. */
#ifndef RONDO_EXPORT_CIRCUIT_H
#define RONDO_EXPORT_CIRCUIT_H

#include "base/diag.h"
#include "base/vec.h"

typedef uint32_t wire;
#define NO_WIRE UINT32_MAX

enum gate {
  GATE_NUMBER, /* number; of truth: 0 or 1 */
  GATE_CELL,   /* index: a variable of the program */
  GATE_READ,   /* index: an array of the program; kid 0: which of its elements */
  GATE_PARAM,  /* index: a choice of the rule at hand; number: its highest value, for rules differ in that */
  GATE_ADD,
  GATE_SUB,
  GATE_MUL,
  GATE_DIV, /* of numbers that are not negative, by positive ones */
  GATE_MOD,
  GATE_NOT,
  GATE_AND,
  GATE_OR,
  GATE_EQ, /* of two numbers, or of two truth values */
  GATE_LT,
  GATE_LE,
  GATE_IF,   /* condition, then, else: numbers or truth values */
  GATE_COUNT /* 1 if true, else 0 */
};

struct gate_node {
  enum gate gate;
  bool truth;
  uint32_t index;
  wire kid[3];
  int64_t number;
  int64_t lo, hi;  /* what a number can be */
  struct span at;  /* where the source says so, {0, 0}: nowhere in particular */
};

struct circuit {
  VEC(struct gate_node) nodes;
  VEC(uint32_t) table; /* open addressing, wire + 1 */
  bool large;          /* some number may be beyond what every format can hold: CIRCUIT_MOST, or its negative */
};
#define CIRCUIT_MOST 1000000000

void circuit_init(struct circuit *);
void circuit_release(struct circuit *);
static inline const struct gate_node *node_of(const struct circuit *c, wire w) { return &c->nodes.at[w]; }
unsigned gate_kids(enum gate);

wire circuit_number(struct circuit *, int64_t);
wire circuit_truth(struct circuit *, bool);
wire circuit_cell(struct circuit *, uint32_t cell, bool truth, int64_t lo, int64_t hi);
wire circuit_read(struct circuit *, uint32_t array, wire index, int64_t lo, int64_t hi);
wire circuit_param(struct circuit *, uint32_t param, bool truth, int64_t lo, int64_t hi);

/* ADD SUB MUL on numbers. DIV MOD as the language has them, for positive divisors: rounded down, never negative. */
wire circuit_arithmetic(struct circuit *, enum gate, wire, wire);
wire circuit_not(struct circuit *, wire);
wire circuit_and(struct circuit *, wire, wire);
wire circuit_or(struct circuit *, wire, wire);
wire circuit_implies(struct circuit *, wire, wire);
wire circuit_equal(struct circuit *, wire, wire);
wire circuit_less(struct circuit *, wire, wire);
wire circuit_at_most(struct circuit *, wire, wire);
wire circuit_if(struct circuit *, wire condition, wire then, wire other);
wire circuit_count(struct circuit *, wire truth);

bool circuit_is(const struct circuit *, wire, int64_t constant); /* this constant, of either kind */
/* The same with a choice made. */
wire circuit_chosen(struct circuit *, wire, uint32_t param, int64_t value);
/* Its value always lies there, in every rule, for a reason that folding does not see. */
void circuit_within(struct circuit *, wire, int64_t lo, int64_t hi);
/* The text at that place computes it, unless another place was named before. */
void circuit_note(struct circuit *, wire, struct span);

#endif
