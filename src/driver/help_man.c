/* Sources of man pages, in the language of scdoc(5). */
#include "driver/help.h"

#include <string.h>

/* Text in which nothing is markup. */
static void add_plain(struct text *out, const char *s) {
  if (*s && strchr("#-.|[];`~", *s))
    text_add(out, "\\");
  for (; *s; s++) {
    if (*s == '_' || *s == '*' || *s == '\\')
      text_add(out, "\\");
    text_add_n(out, s, 1);
  }
}

static void add_marked(struct text *out, char mark, const char *s) {
  text_add_n(out, &mark, 1);
  for (; *s; s++) {
    if (*s == '_' || *s == '*' || *s == '\\')
      text_add(out, "\\");
    text_add_n(out, s, 1);
  }
  text_add_n(out, &mark, 1);
}

static void add_section(struct text *out, const char *title) {
  text_add(out, "\n# ");
  for (; *title; title++) {
    char c = *title >= 'a' && *title <= 'z' ? (char)(*title - 'a' + 'A') : *title;
    text_add_n(out, &c, 1);
  }
  text_add(out, "\n\n");
}

static void add_head(struct text *out, const char *name, const char *what) {
  text_addf(out, "%s(1) \"rondo " RONDO_VERSION "\" \"rondo manual\"\n", name);
  add_section(out, "name");
  text_addf(out, "%s - ", name);
  add_plain(out, what);
  text_add(out, "\n");
}

static void add_option(struct text *out, const struct option_info *o) {
  struct text name = {0};
  if (o->letter)
    text_addf(out, "*-%c*, ", o->letter);
  text_addf(&name, "--%s", o->name);
  add_marked(out, '*', name.at);
  if (option_argument_is_optional(o)) { /* an underscore right after a star would not begin anything */
    add_plain(out, o->argument);
  } else if (o->argument) {
    text_add(out, " ");
    add_marked(out, '_', o->argument);
  }
  text_add(out, "\n\t");
  add_plain(out, o->help);
  text_add(out, "\n\n");
  text_release(&name);
}

static void add_exit_status(struct text *out) {
  add_section(out, "exit status");
  text_add(out, "*0*\n\tevery property holds, or the command did what it was asked for\n\n"
                "*1*\n\ta property is violated, or an expectation is not met\n\n"
                "*2*\n\tinconclusive: a limit was reached, or it was interrupted\n\n"
                "*3*\n\tthe model or the command line is wrong\n\n"
                "*4*\n\ta fault of rondo itself\n");
}

static void add_examples(struct text *out, enum command c) {
  const struct command_example *e;
  add_section(out, "examples");
  for (size_t i = 0; (e = example_at(i)); i++)
    if (e->command == c) {
      add_plain(out, e->what);
      text_addf(out, ":\n\n```\n$ rondo %s\n```\n\n", e->line);
    }
}

void man_command(enum command c, struct text *out) {
  const struct command_info *info = command_info(c);
  const struct option_info *o;
  struct help_group group;
  struct text name = {0};
  text_addf(&name, "rondo-%s", info->name);
  add_head(out, name.at, info->help);
  add_section(out, "synopsis");
  text_addf(out, "*rondo %s* ", info->name);
  add_marked(out, '_', info->arguments);
  text_add(out, " [options]\n");
  add_section(out, "description");
  add_plain(out, command_about(c));
  text_add(out, "\n");
  add_section(out, "options");
  for (size_t g = 0; option_group_at(g, &group); g++) {
    bool first = true;
    for (size_t i = 0; (o = option_info(i)); i++) {
      if (!(o->commands & 1u << c) || !(group.members & o->bit))
        continue;
      if (first)
        text_addf(out, "## %c%s\n\n", group.title[0] - 'a' + 'A', group.title + 1);
      first = false;
      add_option(out, o);
    }
  }
  add_exit_status(out);
  add_examples(out, c);
  add_section(out, "see also");
  text_add(out, "*rondo*(1)\n");
  text_release(&name);
}

void man_all(struct text *out) {
  const struct command_example *e;
  struct help_group group;
  add_head(out, "rondo", "a model checker for fault-tolerant algorithms");
  add_section(out, "synopsis");
  text_add(out, "*rondo* _COMMAND_ ...\n\n*rondo help* [_COMMAND_]\n\n*rondo --version*\n\n"
                "*mpirun -n* _K_ *rondo-mpi check* _FILE_ ...\n");
  add_section(out, "description");
  text_add(
      out,
      "rondo checks distributed algorithms that work in rounds, by messages or on shared memory. A model says what "
      "the processes do, what can go wrong (lost messages, crashes, omissions, Byzantine processes) and what must "
      "hold. rondo explores every run, for given values of the parameters or, for many algorithms, for all of them. "
      "If a property fails, it shows a shortest run that violates it.\n");
  add_section(out, "commands");
  for (size_t g = 0; command_group_at(g, &group); g++) {
    bool first = true;
    for (unsigned c = 0; c < COMMANDS; c++) {
      const struct command_info *info = command_info(c);
      if (!(group.members & UINT64_C(1) << c))
        continue;
      if (first)
        text_addf(out, "## %c%s\n\n", group.title[0] - 'a' + 'A', group.title + 1);
      first = false;
      text_addf(out, "*rondo %s* ", info->name);
      add_marked(out, '_', info->arguments);
      text_add(out, "\n\t");
      add_plain(out, info->help);
      text_addf(out, ": *rondo-%s*(1)\n\n", info->name);
    }
  }
  add_exit_status(out);
  add_section(out, "environment");
  text_add(out, "*NO_COLOR*\n\tif it is set and not empty, text has no colours\n\n"
                "*TERM*\n\twith the value _dumb_, likewise\n");
  add_section(out, "examples");
  for (size_t i = 0; (e = example_at(i)); i++)
    if (e->command == COMMAND_CHECK || e->command == COMMAND_PROVE || e->command == COMMAND_THRESHOLD) {
      add_plain(out, e->what);
      text_addf(out, ":\n\n```\n$ rondo %s\n```\n\n", e->line);
    }
  add_section(out, "see also");
  for (unsigned c = 0; c < COMMANDS; c++)
    text_addf(out, "%s*rondo-%s*(1)", c ? ", " : "", command_info(c)->name);
  text_add(out, "\n");
}
