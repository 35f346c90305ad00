#include "driver/help.h"

#include <string.h>

/* Words from column `at` on; continuation lines begin at `indent`. The last line is ended. */
static void add_wrapped(struct text *out, size_t line, size_t indent, const char *words) {
  while (*words) {
    size_t n = strcspn(words, " ");
    size_t used = out->n - line;
    if (used > indent && used + 1 + n > HELP_COLUMNS) {
      text_add(out, "\n");
      line = out->n;
      text_pad_to(out, line, indent);
    } else if (used > indent) {
      text_add(out, " ");
    } else {
      text_pad_to(out, line, indent);
    }
    text_add_n(out, words, n);
    words += n + strspn(words + n, " ");
  }
  text_add(out, "\n");
}

static void add_examples(struct text *out, enum command c) {
  const struct command_example *e;
  for (size_t i = 0; (e = example_at(i)); i++)
    if (c == COMMANDS || e->command == c)
      text_addf(out, "  # %s\n  rondo %s\n", e->what, e->line);
}

void help_all(struct text *out) {
  struct help_group group;
  text_add(out, "rondo: a model checker for fault-tolerant algorithms: rounds, message passing, shared memory\n\n"
                "usage: rondo COMMAND ...\n");
  for (size_t g = 0; command_group_at(g, &group); g++) {
    bool first = true;
    for (unsigned c = 0; c < COMMANDS; c++) {
      const struct command_info *info = command_info(c);
      if (!(group.members & UINT64_C(1) << c))
        continue;
      if (first)
        text_addf(out, "\n%s\n", group.title);
      first = false;
      text_addf(out, "  %-9s %-13s %s\n", info->name, info->arguments, info->help);
    }
  }
  text_add(out, "\nexamples\n"
                "  rondo check models/one_third_rule.rondo -D n=4               does it hold for four processes?\n"
                "  rondo check models/broken/one_third_rule_half.rondo -D n=3   a counterexample\n"
                "  rondo prove models/one_third_rule.rondo -D k=2               for all n\n"
                "  rondo test models/                                           all expectations of all models\n"
                "\n  rondo help COMMAND shows its options and examples; rondo --version shows the version\n"
                "  mpirun -n K rondo-mpi check FILE searches with several processes (docs/performance.md)\n"
                "\nexit status: 0 everything holds, 1 something is violated, 2 inconclusive (a limit was reached),\n"
                "             3 the input or the command line is wrong, 4 a fault of rondo itself\n");
}

static void add_option(struct text *out, const struct option_info *o) {
  size_t line = out->n;
  text_add(out, "  ");
  if (o->letter)
    text_addf(out, "-%c, ", o->letter);
  text_addf(out, "--%s%s%s", o->name, o->argument && !option_argument_is_optional(o) ? " " : "",
            o->argument ? o->argument : "");
  if (out->n - line > 27) {
    text_add(out, "\n");
    line = out->n;
  }
  text_pad_to(out, line, 29);
  add_wrapped(out, line, 29, o->help);
}

void help_command(enum command c, struct text *out) {
  const struct command_info *info = command_info(c);
  const struct option_info *o;
  struct help_group group;
  text_addf(out, "usage: rondo %s %s [options]\n  %s\n\n", info->name, info->arguments, info->help);
  for (const char *about = command_about(c); *about;) {
    const char *end = strstr(about, "\n\n");
    size_t n = end ? (size_t)(end - about) : strlen(about);
    struct text paragraph = {0};
    text_add_n(&paragraph, about, n);
    add_wrapped(out, out->n, 0, paragraph.at);
    text_add(out, "\n");
    text_release(&paragraph);
    about += n + (end ? 2 : 0);
  }
  for (size_t g = 0; option_group_at(g, &group); g++) {
    bool first = true;
    for (size_t i = 0; (o = option_info(i)); i++) {
      if (!(o->commands & 1u << c) || !(group.members & o->bit))
        continue;
      if (first)
        text_addf(out, "%s:\n", group.title);
      first = false;
      add_option(out, o);
    }
    text_add(out, first ? "" : "\n");
  }
  text_add(out, "examples:\n");
  add_examples(out, c);
}
