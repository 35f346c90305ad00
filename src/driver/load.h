/* From files to models. Errors are reported to the context. */
#ifndef RONDO_DRIVER_LOAD_H
#define RONDO_DRIVER_LOAD_H

#include "driver/options.h"
#include "lang/threshold_automaton.h"
#include "lang/typecheck.h"
#include "lang/typecheck_counters.h"

#define MODEL_BYTES_MAX ((size_t)16 << 20) /* bytes */
#define TRACE_BYTES_MAX ((size_t)1 << 30)

/* "-" is standard input. NULL: the error was reported. For memory_free; terminated. */
char *file_read(struct rondo *, const char *path, size_t largest, size_t *length);

struct parsed_file { /* a file that parses */
  struct rondo *rondo;
  struct source source;
  struct arena arena;
  struct ast *tree;
  char *text;
  bool borrowed; /* the caller owns the text */
};

bool parsed_file_load(struct parsed_file *, struct rondo *, const char *path);
/* In two steps: the text, without a tree; then the tree. Threshold automata have no tree: ask
   source_is_threshold_automaton in between. */
bool model_text_load(struct parsed_file *, struct rondo *, const char *path);
bool parsed_text(struct parsed_file *); /* false: reported, and released */
bool parsed_file_adopt(struct parsed_file *, struct rondo *, const char *path, char *text,
                       size_t length); /* takes the text over */
bool parsed_file_borrow(struct parsed_file *, struct rondo *, const char *path, char *text, size_t length);
void parsed_file_release(struct parsed_file *);

/* False: it is a counter system, which cannot be checked; reported. */
bool parsed_file_is_algorithm(const struct parsed_file *);

/* NULL: *first_error has the first message, and all were reported unless quiet. Warnings are reported, too. */
struct model *model_load(const struct parsed_file *, const struct param_binding *, size_t n, bool complete, bool quiet,
                         struct text *first_error);

/* NULL: the error was reported. A file that is no counter system is refused. */
struct counter_system *counters_load(const struct parsed_file *, const struct command_options *);

/* The automaton in a text. NULL: the error was reported. */
struct threshold_automaton *threshold_automaton_load(const struct parsed_file *, const struct command_options *);

/* The values that `-D` gives, of ranges the lowest; for memory_free. */
struct param_binding *bindings_lowest(const struct command_options *);
/* The same where a range makes no sense. NULL: there is one, and it was refused. proof: for all values, else for one.
 */
struct param_binding *bindings_single(const struct command_options *, bool proof);

/* The model of the single file of a command, at one value of its parameters. */
struct loaded_model {
  struct parsed_file parsed;
  struct param_binding *bindings;
  struct model *model;
};
/* False: the error was reported. complete: as model_load. */
bool loaded_model_open(struct loaded_model *, const struct command_options *, bool complete);
void loaded_model_close(struct loaded_model *);

/* The single file of a command. */
const char *only_file(const struct command_options *);

/* By name, with a suggestion if there is none. */
bool environment_find(struct rondo *, const struct model *, const char *name, uint32_t *);
bool property_find(struct rondo *, const struct model *, const char *name, uint32_t *);
bool counter_property_find(struct rondo *, const struct counter_system *, const char *name, uint32_t *);
bool specification_find(struct rondo *, const struct threshold_automaton *, const char *name, uint32_t *);

#endif
