/* The command line, read by the tables commands.def and options.def. */
#ifndef RONDO_DRIVER_OPTIONS_H
#define RONDO_DRIVER_OPTIONS_H

#include "analysis/licence.h"
#include "base/diag.h"
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

struct output_options {                                     /* what is written, and where */
  const char *trace_out, *svg, *html, *certificate, *sarif; /* files, or NULL */
  const char *to, *format;                                  /* of export; of reproduce */
  const char *coverage_file;                                /* of --coverage, or NULL */
  bool json, verbose, no_trace;
  bool coverage;   /* --coverage: counts */
  bool json_lines; /* --json=lines: events, one on each line; `json` is true, too */
};

struct storage_options {           /* where states are kept */
  const char *checkpoint, *spill;  /* folders, or NULL */
  struct checkpoints *checkpoints; /* those of the folder, or NULL */
  bool hash_compaction;            /* --store hash */
};

struct random_run_options {
  uint32_t length; /* in rounds or steps; 0: the default */
  uint32_t runs;   /* 0: one, which is shown */
  uint64_t seed;
  bool seeded;
};

struct test_options {
  const char *junit; /* a file, or NULL */
  uint32_t jobs;     /* checks at a time; 0: one for each processor */
  bool is_short;     /* without long expectations */
};

struct rank_options {
  struct ranks *all; /* that search together, or NULL */
  bool is_helper;    /* not rank 0: it reports nothing, and leaves to rank 0 what one rank does alone */
};

struct explore_options {
  const char *trace;
  uint32_t port; /* 0: any */
  bool no_browser;
};

struct command_options {
  struct rondo *rondo;
  enum command command;
  char **words; /* after the command, as they were given */
  int nwords;
  VEC(const char *) files;
  VEC(struct define) defines;
  VEC(const char *) properties;
  const char *env, *engine;
  struct reduction_request requested;
  struct limits limits;
  uint32_t depth; /* of unrolling, for solvers; 0: not given */
  enum successors_by successors;
  uint32_t max_distance;    /* 0: any */
  enum semantics semantics; /* if has_semantics, else the model's cheapest */
  bool has_semantics;
  bool lengths_unused; /* lengths of counterexamples are not reported */
  bool audit, check, help, watch;
  bool deadlock_allowed; /* steps: the property of that name is not checked unless it is named */
  struct output_options output;
  struct storage_options storage;
  struct random_run_options random;
  struct test_options test;
  struct rank_options ranks;
  struct explore_options explore;
};

struct complaint { /* what is wrong with the command line, with help */
  enum diag_code code;
  struct text text;
};

/* False: *error says what is wrong. argv starts after the command. */
bool options_parse(struct command_options *, struct rondo *, enum command, int argc, char **argv,
                   struct complaint *error);
void options_release(struct command_options *);
/* Is there an option of that name, for some command, that takes such an argument (NULL: none)? */
bool option_is_valid(const char *name, const char *argument, struct complaint *error);

const char *command_name(enum command);
bool command_find(const char *name, enum command *);
const char *command_nearest(const char *name);

#endif
