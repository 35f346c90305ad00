#include "driver/load.h"

#include "driver/context.h"

#include "driver/api.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *stream_read(struct rondo *context, FILE *f, const char *path, size_t largest, size_t *length) {
  VEC(char) bytes = {0};
  size_t got;
  do {
    vec_reserve(&bytes, bytes.n + 65536 + 1);
    got = fread(bytes.at + bytes.n, 1, bytes.cap - bytes.n - 1, f);
    bytes.n += got;
  } while (got > 0 && bytes.n <= largest);
  if (ferror(f) || bytes.n > largest) {
    if (ferror(f) && errno == EINTR && context->stop)
      context->reading_stopped = true;
    else if (ferror(f))
      context_error(context, E0808, "cannot read '%s': %s", path, strerror(errno));
    else
      context_error(context, E0808, "'%s' is larger than %zu MiB", path, largest >> 20);
    vec_release(&bytes);
    return NULL;
  }
  bytes.at[bytes.n] = '\0';
  *length = bytes.n;
  return bytes.at;
}

/* The model in the folder of the path whose name is nearest to it, or NULL. */
static char *nearest_model(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  struct text found = {0}, name = {0};
  text_addf(&name, "%.*s", (int)folder, path);
  DIR *d = opendir(folder ? name.at : ".");
  struct dirent *entry;
  struct nearest near;
  char best[sizeof entry->d_name] = "";
  nearest_init(&near, path + folder);
  while (d && (entry = readdir(d))) {
    const char *dot = strrchr(entry->d_name, '.');
    const char *before = near.found;
    if (!dot || strcmp(dot, ".rondo") != 0)
      continue;
    nearest_offer(&near, entry->d_name);
    if (near.found != before) { /* readdir may use the same memory again */
      snprintf(best, sizeof best, "%s", entry->d_name);
      near.found = best;
    }
  }
  if (d)
    closedir(d);
  if (near.found)
    text_addf(&found, "%.*s%s", (int)folder, path, best);
  text_release(&name);
  return found.at;
}

char *file_read(struct rondo *context, const char *path, size_t largest, size_t *length) {
  if (!strcmp(path, "-"))
    return stream_read(context, stdin, "standard input", largest, length);
  FILE *f = fopen(path, "rb");
  struct stat st;
  if (!f) {
    int error = errno;
    struct text longer = {0};
    text_addf(&longer, "%s.rondo", path);
    if (error == ENOENT && access(longer.at, R_OK) == 0)
      context_error(context, E0808, "cannot open '%s': %s\n  help: did you mean '%s'?", path, strerror(error),
                    longer.at);
    else {
      char *near = error == ENOENT ? nearest_model(path) : NULL;
      if (near)
        context_error(context, E0808, "cannot open '%s': %s\n  help: did you mean '%s'?", path, strerror(error), near);
      else
        context_error(context, E0808, "cannot open '%s': %s", path, strerror(error));
      memory_free(near);
    }
    text_release(&longer);
    return NULL;
  }
  char *text = NULL;
  if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode))
    context_error(context, E0808, "'%s' is a directory\n  help: name a file in it", path);
  else
    text = stream_read(context, f, path, largest, length);
  fclose(f);
  return text;
}

/* ---- limits ---- */

/* With a monitor a little later than the search would end: an answer that names the properties is worth the wait. */
void reading_begin(struct rondo *r, struct diags *d) {
  double left = r->reading_deadline - clock_seconds();
  bool monitored = r->host.overdue;
  if (r->reading_deadline > 0 && !monitored)
    watch_time(r, left > 1e-3 ? left : 1e-3);
  d->stop = monitored ? &r->insist : &r->stop;
}

bool reading_end(struct rondo *r, const struct diags *d) {
  bool interrupted = r->stop && r->stop != INTERRUPT_TIME && r->stop != INTERRUPT_MEMORY;
  struct text why = {0};
  if (r->reading_deadline > 0 && !r->host.overdue)
    watch_time(r, 0);
  if (!d->stopped)
    return true;
  text_add(&why, interrupted ? "interrupted" : "the limit of ");
  if (!interrupted) {
    seconds_add(&why, r->reading_limit);
    text_add(&why, " was reached");
  }
  context_error(r, N0106, "%s while the model was read: inconclusive", why.at);
  text_release(&why);
  r->reading_stopped = true;
  return false;
}

static bool parsed_file_parse(struct parsed_file *s, struct rondo *context, const char *path, char *text,
                              size_t length) {
  *s = (struct parsed_file){.rondo = context, .source = {path, text, length}, .text = text};
  arena_init(&s->arena);
  if (source_is_threshold_automaton(&s->source)) {
    context_error(
        context, E0813,
        "'%s' is a threshold automaton: it is proved for all values of its parameters\n  help: rondo prove %s", path,
        path);
    return false;
  }
  struct diags diags;
  diags_init(&diags, &s->source);
  reading_begin(context, &diags);
  s->tree = parse_file(&s->source, &s->arena, &diags);
  bool ok = reading_end(context, &diags) && diags.errors == 0;
  context_diagnostics(context, &diags);
  diags_release(&diags);
  return ok;
}

bool parsed_file_load(struct parsed_file *s, struct rondo *context, const char *path) {
  return model_text_load(s, context, path) && parsed_text(s);
}

bool model_text_load(struct parsed_file *s, struct rondo *context, const char *path) {
  const struct rondo_model *given = context->given;
  bool known = given && path == given->path;
  *s = (struct parsed_file){.rondo = context, .source = {path, "", 0}, .borrowed = known};
  if (known) {
    s->source.length = given->length;
    s->text = given->text;
  } else {
    s->text = file_read(context, path, MODEL_BYTES_MAX, &s->source.length);
    s->source.path = strcmp(path, "-") ? path : "<standard input>";
  }
  if (!s->text)
    return false;
  s->source.text = s->text;
  arena_init(&s->arena);
  return true;
}

bool parsed_text(struct parsed_file *s) {
  struct parsed_file read = *s;
  arena_release(&read.arena);
  return (read.borrowed ? parsed_file_borrow : parsed_file_adopt)(s, read.rondo, read.source.path, read.text,
                                                                  read.source.length);
}

bool parsed_file_adopt(struct parsed_file *s, struct rondo *context, const char *path, char *text, size_t length) {
  bool ok = parsed_file_parse(s, context, path, text, length);
  if (!ok)
    parsed_file_release(s);
  return ok;
}

bool parsed_file_borrow(struct parsed_file *s, struct rondo *context, const char *path, char *text, size_t length) {
  bool ok = parsed_file_parse(s, context, path, text, length);
  s->borrowed = true;
  if (!ok)
    parsed_file_release(s);
  return ok;
}

void parsed_file_release(struct parsed_file *s) {
  if (s->text)
    arena_release(&s->arena);
  if (!s->borrowed)
    memory_free(s->text);
  *s = (struct parsed_file){0};
}

bool parsed_file_is_algorithm(const struct parsed_file *s) {
  if (ast_model_kind(s->tree) != MODEL_COUNTERS)
    return true;
  context_error(s->rondo, E0813,
                "'%s' is a counter system: it is proved for all values of its parameters\n  help: rondo prove %s",
                s->source.path, s->source.path);
  return false;
}

struct model *model_load(const struct parsed_file *s, const struct param_binding *bindings, size_t n, bool complete,
                         bool quiet, struct text *first_error) {
  struct diags diags;
  diags_init(&diags, &s->source);
  if (!quiet) /* what is checked again in the middle of something else is in its limits */
    reading_begin(s->rondo, &diags);
  struct model *m = model_typecheck(s->tree, &s->source, bindings, n, complete, &diags);
  if (!quiet && !reading_end(s->rondo, &diags) && m) {
    model_free(m);
    m = NULL;
  }
  for (size_t i = 0; i < diags.n && first_error->n == 0; i++)
    if (diag_code_level(diags.at[i].code) == DIAG_ERROR)
      text_add(first_error, diags.at[i].message);
  if (!quiet)
    context_diagnostics(s->rondo, &diags);
  diags_release(&diags);
  return m;
}

struct counter_system *counters_load(const struct parsed_file *s, const struct command_options *o) {
  if (ast_model_kind(s->tree) != MODEL_COUNTERS) {
    context_error(s->rondo, E0813,
                  "'%s' is a model of steps without messages: proofs for all parameters are for counter systems and "
                  "models of rounds or messages\n  help: 'rondo check %s' checks it with values for its parameters, "
                  "-D NAME=VALUE",
                  s->source.path, s->source.path);
    return NULL;
  }
  struct param_binding *bindings = bindings_single(o, true);
  if (!bindings)
    return NULL;
  struct diags diags;
  diags_init(&diags, &s->source);
  reading_begin(s->rondo, &diags);
  struct counter_system *system = counters_typecheck(s->tree, &s->source, bindings, o->defines.n, &diags);
  if (!reading_end(s->rondo, &diags) && system) {
    counter_system_free(system);
    system = NULL;
  }
  context_diagnostics(s->rondo, &diags);
  diags_release(&diags);
  memory_free(bindings);
  return system;
}

struct threshold_automaton *threshold_automaton_load(const struct parsed_file *s, const struct command_options *o) {
  struct param_binding *bindings = bindings_single(o, true);
  struct diags diags;
  if (!bindings)
    return NULL;
  diags_init(&diags, &s->source);
  reading_begin(s->rondo, &diags);
  struct threshold_automaton *a = threshold_automaton_read(&s->source, bindings, o->defines.n, &diags);
  if (!reading_end(s->rondo, &diags)) {
    threshold_automaton_free(a);
    a = NULL;
  }
  context_diagnostics(s->rondo, &diags);
  diags_release(&diags);
  memory_free(bindings);
  return a;
}

static bool is_binding(const char *word) {
  size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  return n > 0 && word[n] == '=' && access(word, F_OK) != 0;
}

/* Values of parameters without '-D'. */
static bool report_bindings(const struct command_options *o) {
  struct text command = {0};
  const char *first = NULL;
  for (size_t i = 0; i < o->files.n; i++) {
    bool binding = is_binding(o->files.at[i]);
    first = first || !binding ? first : o->files.at[i];
    text_addf(&command, " %s%s", binding ? "-D " : "", o->files.at[i]);
  }
  if (first)
    context_error(o->rondo, E0806, "'%s' is not a file\n  help: a parameter gets its value by -D: rondo %s%s", first,
                  command_name(o->command), command.at);
  text_release(&command);
  return first;
}

const char *only_file(const struct command_options *o) {
  if (report_bindings(o))
    return NULL;
  if (o->files.n == 1)
    return o->files.at[0];
  if (o->files.n == 0)
    context_error(o->rondo, E0806, "no file to work on\n  help: name a model, such as models/one_third_rule.rondo");
  else
    context_error(o->rondo, E0806, "one file at a time: '%s' is one too many%s", o->files.at[1],
                  access(o->files.at[1], F_OK) == 0 ? "" : "\n  help: a parameter gets its value by -D: -D n=3");
  return NULL;
}

struct param_binding *bindings_lowest(const struct command_options *o) {
  struct param_binding *bindings = memory_alloc((o->defines.n + 1) * sizeof *bindings);
  for (size_t d = 0; d < o->defines.n; d++)
    bindings[d] = (struct param_binding){o->defines.at[d].name, o->defines.at[d].low};
  return bindings;
}

struct param_binding *bindings_single(const struct command_options *o, bool proof) {
  for (size_t d = 0; d < o->defines.n; d++) {
    if (o->defines.at[d].low == o->defines.at[d].high)
      continue;
    if (proof)
      context_error(o->rondo, E0705, "a proof cannot have a range for '%s'\n  help: without -D it holds for all values",
                    o->defines.at[d].name);
    else
      context_error(o->rondo, E0705,
                    "one instance at a time: '%s' has a range\n  help: rondo check makes tables of ranges",
                    o->defines.at[d].name);
    return NULL;
  }
  return bindings_lowest(o);
}

bool loaded_model_open(struct loaded_model *l, const struct command_options *o, bool complete) {
  struct text error = {0};
  const char *path = only_file(o);
  *l = (struct loaded_model){0};
  if (path && parsed_file_load(&l->parsed, o->rondo, path) && parsed_file_is_algorithm(&l->parsed) &&
      (l->bindings = bindings_single(o, false)))
    l->model = model_load(&l->parsed, l->bindings, o->defines.n, complete, false, &error);
  text_release(&error);
  if (!l->model)
    loaded_model_close(l);
  return l->model;
}

void loaded_model_close(struct loaded_model *l) {
  model_free(l->model);
  memory_free(l->bindings);
  parsed_file_release(&l->parsed);
  *l = (struct loaded_model){0};
}

/* Things in an array that have a name. */
struct named_array {
  const void *at;
  size_t size, offset; /* of one of them; of its name in it */
  uint32_t n;
};

/* Reports that there is none of that name, with a suggestion. */
static bool name_find(struct rondo *context, const char *kind, const char *name, const struct named_array *all,
                      uint32_t *found) {
  const char **names = memory_alloc((all->n + (size_t)1) * sizeof *names);
  struct text list = {0};
  *found = UINT32_MAX;
  for (uint32_t i = 0; i < all->n; i++) {
    names[i] = *(const char *const *)((const char *)all->at + i * all->size + all->offset);
    if (!strcmp(names[i], name))
      *found = i;
    if (i < 20)
      text_addf(&list, "%s'%s'", i ? ", " : "", names[i]);
  }
  const char *near = nearest_name(name, names, all->n);
  if (*found == UINT32_MAX && near)
    context_error(context, E0810, "unknown %s '%s'\n  help: did you mean '%s'?", kind, name, near);
  else if (*found == UINT32_MAX)
    context_error(context, E0810, "unknown %s '%s'\n  help: %sthe model has %s", kind, name,
                  strchr(name, ',') ? "name one at a time, with the option before each; " : "",
                  all->n ? list.at : "none");
  text_release(&list);
  memory_free(names);
  return *found != UINT32_MAX;
}

bool environment_find(struct rondo *context, const struct model *m, const char *name, uint32_t *found) {
  struct named_array all = {m->environments, sizeof *m->environments, offsetof(struct environment, name),
                            m->nenvironments};
  return name_find(context, "environment", name, &all, found);
}

bool property_find(struct rondo *context, const struct model *m, const char *name, uint32_t *found) {
  struct named_array all = {m->properties, sizeof *m->properties, offsetof(struct property, name), model_nasked(m)};
  return name_find(context, "property", name, &all, found);
}

bool counter_property_find(struct rondo *context, const struct counter_system *s, const char *name, uint32_t *found) {
  struct named_array all = {s->properties, sizeof *s->properties, offsetof(struct counter_property, name),
                            s->nproperties};
  return name_find(context, "property", name, &all, found);
}

bool specification_find(struct rondo *context, const struct threshold_automaton *a, const char *name, uint32_t *found) {
  struct named_array all = {a->specifications, sizeof *a->specifications, offsetof(struct ta_specification, name),
                            a->nspecifications};
  return name_find(context, "property", name, &all, found);
}
