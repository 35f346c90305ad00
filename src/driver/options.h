/* The command line, read by the tables commands.def and options.def. */
#ifndef RONDO_DRIVER_OPTIONS_H
#define RONDO_DRIVER_OPTIONS_H

#include "analysis/licence.h"
#include "base/vec.h"
#include "search/bfs.h"
#include "system/system.h"

enum command {
#define COMMAND(id, name, function, arguments, help) COMMAND_##id,
#include "driver/commands.def"
#undef COMMAND
  COMMANDS
};

/* Exit statuses, the same for all commands. */
enum { EXIT_HOLDS = 0, EXIT_VIOLATED = 1, EXIT_INCONCLUSIVE = 2, EXIT_BAD_INPUT = 3, EXIT_FAULT = 4 };

struct define { /* -D name=low..high */
  char *name;   /* owned */
  int64_t low, high;
};

struct command_options {
  struct rondo *rondo;
  enum command command;
  VEC(const char *) files;
  VEC(struct define) defines;
  VEC(const char *) properties;
  const char *checkpoint; /* the folder, or NULL */
  const char *spill;      /* likewise */
  char **words;           /* after the command, as they were given */
  int nwords;
  const char *env, *trace_out, *svg, *html, *certificate, *engine, *to, *format;
  struct reduction_request requested;
  struct limits limits;
  struct checkpoints *checkpoints; /* or NULL */
  uint32_t depth;                  /* of unrolling, for solvers; 0: not given */
  uint32_t rounds;                 /* or steps, of a random run; 0: the default */
  uint64_t seed;
  enum successors_by successors;
  uint32_t max_distance;    /* 0: any */
  enum semantics semantics; /* if has_semantics, else the model's cheapest */
  struct ranks *ranks;      /* that search together, or NULL */
  bool is_helper_rank;      /* not rank 0: it reports nothing, and leaves to rank 0 what one rank does alone */
  bool lengths_unused;      /* lengths of counterexamples are not reported */
  bool hash_compaction;     /* --store hash */
  bool has_semantics, seeded, json, verbose, audit, no_trace, check, help;
};

/* False: *error says what is wrong, with help. argv starts after the command. */
bool options_parse(struct command_options *, struct rondo *, enum command, int argc, char **argv, struct text *error);
void options_release(struct command_options *);
/* Is there an option of that name, for some command, that takes such an argument (NULL: none)? */
bool option_is_valid(const char *name, const char *argument, struct text *error);

bool command_find(const char *name, enum command *);
const char *command_nearest(const char *name);
void help_all(struct text *);
void help_command(enum command, struct text *);

#endif
