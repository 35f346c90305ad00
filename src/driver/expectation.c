#include "driver/expectation.h"

#include "driver/context.h"

#include <ctype.h>
#include <string.h>

static const char *const verdicts[] = {"holds", "violated", "inconclusive"};
static const char *const number_names[] = {"states", "transitions", "assignments", "depth", "distance", "channels"};

/* ---- words ---- */

struct words {
  VEC(char *) at;
};

static void words_release(struct words *w) {
  for (size_t i = 0; i < w->at.n; i++)
    memory_free(w->at.at[i]);
  vec_release(&w->at);
}

/* One word as a shell reads it: '...' as it is, "..." with \" and \\. False: a quote is not closed. */
static bool read_word(const char *text, size_t length, size_t *at, struct text *word) {
  char quote = 0;
  for (; *at < length && (quote || !isspace((unsigned char)text[*at])); ++*at) {
    char c = text[*at];
    if (!quote && (c == '"' || c == '\''))
      quote = c;
    else if (quote && c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && *at + 1 < length)
      text_add_n(word, &text[++*at], 1);
    else
      text_add_n(word, &c, 1);
  }
  return quote == 0;
}

static bool split_words(const char *text, size_t length, struct words *out, struct text *why) {
  for (size_t at = 0;;) {
    struct text word = {0};
    while (at < length && isspace((unsigned char)text[at]))
      at++;
    if (at >= length)
      return true;
    bool closed = read_word(text, length, &at, &word);
    vec_push(&out->at, memory_strdup(text_or_empty(&word)));
    text_release(&word);
    if (!closed) {
      text_add(why, "a quotation mark is not closed");
      return false;
    }
  }
}

/* ---- what is expected ---- */

static const char *verdict_of_word(const char *word) {
  for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
    if (!strcmp(word, verdicts[i]))
      return verdicts[i];
  return NULL;
}

static bool is_decimal(const char *word) { return *word && strspn(word, "0123456789") == strlen(word); }

static bool read_number(struct expectation *e, size_t which, const char *word, struct text *why) {
  bool unbounded = which == EXPECTED_DISTANCE && word && !strcmp(word, "unbounded");
  if (!word || (!is_decimal(word) && !unbounded))
    text_addf(why, "'%s' needs a number", number_names[which]);
  else if (e->numbers[which])
    text_addf(why, "'%s' stands twice", number_names[which]);
  else
    e->numbers[which] = memory_strdup(word);
  return why->n == 0;
}

static bool read_property(struct expectation *e, const char *verdict, const char *name, struct text *why) {
  if (!verdict) {
    const char *known[sizeof verdicts / sizeof *verdicts + EXPECTED_NUMBERS + 2];
    size_t n = 0;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
      known[n++] = verdicts[i];
    for (size_t i = 0; i < EXPECTED_NUMBERS; i++)
      known[n++] = number_names[i];
    known[n++] = "error";
    known[n++] = "long";
    const char *near = nearest_name(name, known, n);
    text_addf(why, "cannot read the expectation at '%s'\n  help: ", name);
    if (near)
      text_addf(why, "did you mean '%s'?", near);
    else
      text_add(why, "a verdict comes first: holds, violated or inconclusive; then the properties that it is about");
    return false;
  }
  for (size_t i = 0; i < e->properties.n; i++)
    if (!strcmp(e->properties.at[i].name, name)) {
      text_addf(why, "the property '%s' stands twice", name);
      return false;
    }
  vec_push(&e->properties, ((struct expected_property){memory_strdup(name), verdict}));
  return true;
}

static bool read_expected(struct expectation *e, char *const *words, size_t n, struct text *why) {
  const char *verdict = NULL, *unused = NULL; /* a verdict without a property */
  for (size_t i = e->is_long; i < n && why->n == 0; i++) {
    const char *given = verdict_of_word(words[i]);
    size_t number = 0;
    while (number < EXPECTED_NUMBERS && strcmp(words[i], number_names[number]) != 0)
      number++;
    if (given && !unused) {
      verdict = unused = given;
    } else if (number < EXPECTED_NUMBERS && !unused) {
      i++;
      read_number(e, number, i < n ? words[i] : NULL, why);
    } else if (!strcmp(words[i], "error") && !verdict) {
      i++;
      if (i >= n || e->error)
        text_add(why, "'error' needs one text, in quotation marks");
      else
        e->error = memory_strdup(words[i]);
    } else {
      read_property(e, verdict, words[i], why);
      unused = NULL;
    }
  }
  bool numbers = false;
  for (size_t i = 0; i < EXPECTED_NUMBERS; i++)
    numbers |= e->numbers[i] != NULL;
  if (why->n == 0 && unused)
    text_addf(why, "'%s' needs the name of a property", unused);
  else if (why->n == 0 && !e->error && !numbers && e->properties.n == 0)
    text_add(why, "the line expects nothing");
  else if (why->n == 0 && e->error && (numbers || e->properties.n > 0))
    text_add(why, "with an error there are no verdicts and no numbers");
  return why->n == 0;
}

/* ---- options ---- */

/* What would write files, or answer differently. */
static const char *unsuitable_option(const struct command_options *o) {
  const struct {
    bool used;
    const char *name;
  } not_here[] = {{o->output.json, "json"},
                  {o->output.trace_out, "trace-out"},
                  {o->output.svg, "svg"},
                  {o->output.html, "html"},
                  {o->output.certificate, "certificate"},
                  {o->storage.checkpoint, "checkpoint"},
                  {o->storage.spill, "spill"},
                  {o->output.sarif, "sarif"},
                  {o->watch, "watch"},
                  {o->help, "help"}};
  for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
    if (not_here[i].used)
      return not_here[i].name;
  return NULL;
}

static bool read_options(struct expectation *e, struct rondo *r, char **words, size_t n, struct text *why) {
  struct command_options o;
  struct complaint wrong = {.code = E0802};
  bool numbers = false;
  for (size_t i = 0; i < EXPECTED_NUMBERS; i++)
    numbers |= e->numbers[i] != NULL;
  if (!options_parse(&o, r, e->prove ? COMMAND_PROVE : COMMAND_CHECK, (int)n, words, &wrong)) {
    if (!e->error) /* it may be the error that is expected */
      text_add(why, text_or_empty(&wrong.text));
  } else if (unsuitable_option(&o)) {
    text_addf(why, "'--%s' has no place in an expectation", unsuitable_option(&o));
  } else if (o.files.n > 0) {
    text_addf(why, "'%s' stands among the options\n  help: what is expected comes before the first option",
              o.files.at[0]);
  } else {
    e->has_time = o.limits.seconds > 0;
    e->has_memory = o.limits.memory > 0;
    e->has_threads = o.limits.threads > 0;
    for (size_t i = 0; i < o.defines.n; i++)
      e->ranged |= o.defines.at[i].low != o.defines.at[i].high;
    if (e->ranged && numbers)
      text_add(why, "numbers are about one instance, and '-D' has a range");
  }
  for (size_t i = 0; i < n; i++)
    vec_push(&e->options, memory_strdup(words[i]));
  for (size_t i = 0; i < e->properties.n && o.properties.n == 0; i++)
    if (strcmp(e->properties.at[i].name, "no_error") != 0) {
      vec_push(&e->options, memory_strdup("--property"));
      vec_push(&e->options, memory_strdup(e->properties.at[i].name));
    }
  text_release(&wrong.text);
  options_release(&o);
  return why->n == 0;
}

static char *copy_of(const char *text, size_t length) {
  char *copy = memory_alloc(length + 1);
  memcpy(copy, text, length);
  return copy;
}

bool expectation_read(struct expectation *e, struct rondo *r, uint32_t line, const char *text, size_t length,
                      bool prove, struct text *why) {
  struct words words = {0};
  size_t cut = 0;
  while (length > 0 && isspace((unsigned char)text[length - 1]))
    length--;
  for (; length > 0 && isspace((unsigned char)*text); text++)
    length--;
  *e = (struct expectation){.line = line, .text = copy_of(text, length), .prove = prove};
  bool ok = split_words(text, length, &words, why);
  while (cut < words.at.n && words.at.at[cut][0] != '-')
    cut++;
  e->is_long = ok && cut > 0 && !strcmp(words.at.at[0], "long");
  ok = ok && read_expected(e, words.at.at, cut, why) && read_options(e, r, words.at.at + cut, words.at.n - cut, why);
  words_release(&words);
  return ok;
}

void expectation_release(struct expectation *e) {
  for (size_t i = 0; i < EXPECTED_NUMBERS; i++)
    memory_free(e->numbers[i]);
  for (size_t i = 0; i < e->properties.n; i++)
    memory_free(e->properties.at[i].name);
  for (size_t i = 0; i < e->options.n; i++)
    memory_free(e->options.at[i]);
  vec_release(&e->properties);
  vec_release(&e->options);
  memory_free(e->error);
  memory_free(e->text);
}

/* ---- comparison with an answer ---- */

static const char *string_of(const json_t *object, const char *key) {
  const char *s = json_string_value(json_object_get(object, key));
  return s ? s : "";
}

static const json_t *property_of(const json_t *answer, const char *name) {
  const json_t *p;
  size_t i;
  json_array_foreach(json_object_get(answer, "properties"), i, p) if (!strcmp(string_of(p, "name"), name)) return p;
  return NULL;
}

/* Rounds or steps of the shortest counterexample. False: there is none. */
static bool depth_of(const json_t *answer, size_t *depth) {
  const json_t *p;
  size_t i;
  bool found = false;
  json_array_foreach(json_object_get(answer, "properties"), i, p) {
    const json_t *trace = json_object_get(p, "trace"), *steps = json_object_get(trace, "steps");
    size_t n = json_array_size(steps ? steps : json_object_get(trace, "rounds"));
    if (json_is_object(trace) && (!found || n < *depth))
      *depth = n;
    found |= json_is_object(trace);
  }
  return found;
}

/* With these reductions a counterexample may not be the shortest. */
static bool is_shortest(const json_t *answer) {
  const json_t *r;
  size_t i;
  json_array_foreach(json_object_get(answer, "reductions"), i, r) {
    const char *name = string_of(r, "name");
    if (json_is_true(json_object_get(r, "applied")) && (!strcmp(name, "partial-order") || !strcmp(name, "relays")))
      return false;
  }
  return true;
}

/* The number as text. False: the answer has none. */
static bool number_of(const json_t *answer, size_t which, struct text *out) {
  static const char *const keys[] = {"states", "transitions",    "heard_of_assignments",
                                     "",       "round_distance", "channel_bound"};
  size_t depth = 0;
  if (which == EXPECTED_DEPTH) {
    bool found = depth_of(answer, &depth);
    text_addf(out, "%zu", depth);
    return found;
  }
  const json_t *held = json_object_get(json_object_get(answer, "stats"), keys[which]);
  if (json_is_integer(held))
    text_addf(out, "%lld", (long long)json_integer_value(held));
  else
    text_add(out, json_is_string(held) ? json_string_value(held) : "");
  return out->n > 0;
}

static void compare_numbers(const struct expectation *e, const json_t *answer, struct text *why) {
  for (size_t i = 0; i < EXPECTED_NUMBERS && why->n == 0; i++) {
    struct text found = {0};
    if (!e->numbers[i] || (i == EXPECTED_DEPTH && !is_shortest(answer)))
      continue;
    bool known = number_of(answer, i, &found);
    bool optional = i == EXPECTED_DISTANCE || i == EXPECTED_CHANNELS; /* unknown to some ways to search */
    if (known ? strcmp(found.at, e->numbers[i]) != 0 : !optional)
      text_addf(why, "%s: %s where %s is expected", number_names[i], known ? found.at : "unknown", e->numbers[i]);
    text_release(&found);
  }
}

static int rank_of(const char *verdict) {
  return !strcmp(verdict, "violated") ? 2 : !strcmp(verdict, "inconclusive") ? 1 : 0;
}

static void compare_verdicts(const struct expectation *e, const json_t *answer, struct text *why) {
  int worst = 0;
  const json_t *p;
  size_t i;
  for (i = 0; i < e->properties.n && why->n == 0; i++) {
    const struct expected_property *due = &e->properties.at[i];
    const json_t *found = property_of(answer, due->name);
    const char *verdict = found                            ? string_of(found, "verdict")
                          : !strcmp(due->name, "no_error") ? "holds" /* it is there only if there is an error */
                                                           : "not in the answer";
    if (strcmp(verdict, due->verdict) != 0)
      text_addf(why, "%s: %s where '%s' is expected%s%s", due->name, verdict, due->verdict, found ? "; " : "",
                found ? string_of(found, "proved") : "");
    worst = rank_of(due->verdict) > worst ? rank_of(due->verdict) : worst;
  }
  if (why->n > 0 || e->properties.n == 0 || rank_of(string_of(answer, "verdict")) == worst)
    return;
  json_array_foreach(json_object_get(answer, "properties"), i, p) if (rank_of(string_of(p, "verdict")) > worst) {
    text_addf(why, "%s: %s, which the line does not expect; %s", string_of(p, "name"), string_of(p, "verdict"),
              string_of(p, "proved"));
    return;
  }
  text_addf(why, "the verdict is '%s', not the worst of those that are expected", string_of(answer, "verdict"));
}

static void compare_instances(const struct expectation *e, const json_t *instances, struct text *why) {
  const json_t *one;
  size_t i;
  json_array_foreach(instances, i, one) {
    struct text here = {0};
    if (json_object_get(one, "error")) /* values that the model excludes */
      continue;
    compare_verdicts(e, one, &here);
    const json_t *params = json_object_get(json_object_get(one, "model"), "params"), *held;
    const char *name, *between = "";
    if (here.n > 0) {
      json_object_foreach((json_t *)params, name, held) {
        text_addf(why, "%s%s = %lld", between, name, (long long)json_integer_value(held));
        between = ", ";
      }
      text_addf(why, ": %s", here.at);
      text_release(&here);
      return;
    }
  }
}

bool expectation_met(const struct expectation *e, int status, const json_t *answer, const char *errors,
                     struct text *why) {
  size_t n = strlen(errors);
  while (n > 0 && errors[n - 1] == '\n')
    n--;
  if (e->error) {
    if (status != EXIT_BAD_INPUT)
      text_addf(why, "there is no error, the exit status is %d", status);
    else if (!strstr(errors, e->error))
      text_addf(why, "no error says \"%s\"\n%.*s", e->error, (int)n, errors);
    return why->n == 0;
  }
  const json_t *instances = json_object_get(answer, "instances");
  if (status >= EXIT_BAD_INPUT || (!instances && !json_object_get(answer, "properties")))
    text_addf(why, "%s\n%.*s", status == EXIT_FAULT ? "a fault of rondo" : "there is no answer", (int)n, errors);
  else if (instances)
    compare_instances(e, instances, why);
  else
    compare_verdicts(e, answer, why);
  if (why->n == 0 && !instances)
    compare_numbers(e, answer, why);
  return why->n == 0;
}
