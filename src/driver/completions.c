/* Completions for shells. Names of properties, environments and parameters are read from the model on the command line.
 */
#include "driver/help.h"

#include <string.h>

static bool is_of(const struct option_info *o, unsigned command) { return o->commands & 1u << command; }

static bool argument_is(const struct option_info *o, const char *kind) {
  return o->argument && !strcmp(o->argument, kind);
}

/* ---- bash ---- */

static void bash_options(struct text *out, unsigned c) {
  const struct option_info *o;
  for (size_t i = 0; (o = option_info(i)); i++)
    if (is_of(o, c)) {
      if (o->letter)
        text_addf(out, "-%c ", o->letter);
      text_addf(out, "--%s ", o->name);
    }
}

/* The pattern of an option that takes an argument: "--engine" or "-D|--define". */
static void bash_pattern(struct text *out, const char *command, const struct option_info *o) {
  if (o->letter)
    text_addf(out, "%s:-%c|", command, o->letter);
  text_addf(out, "%s:--%s", command, o->name);
}

static void bash_values(struct text *out) {
  const struct option_info *o;
  for (size_t i = 0; (o = option_info(i)); i++) {
    bool by_command = false;
    for (unsigned c = 0; c < COMMANDS; c++)
      by_command |= is_of(o, c) && option_choices(o, c);
    if (!o->argument || (option_argument_is_optional(o)))
      continue;
    for (unsigned c = 0; by_command && c < COMMANDS; c++) {
      if (!is_of(o, c) || !option_choices(o, c))
        continue;
      text_add(out, "    ");
      bash_pattern(out, command_info(c)->name, o);
      text_addf(out, ") _rondo_words \"%s\" ;;\n", option_choices(o, c));
    }
    if (by_command)
      continue;
    text_add(out, "    ");
    bash_pattern(out, "*", o);
    text_addf(out, ") %s ;;\n",
              argument_is(o, "FILE")         ? "_rondo_files"
              : argument_is(o, "DIR")        ? "_rondo_folders"
              : !strcmp(o->name, "env")      ? "_rondo_names environment"
              : !strcmp(o->name, "property") ? "_rondo_names 'safety|live|cover|unsafe'"
              : argument_is(o, "NAME=VALUE") ? "_rondo_names param ="
                                             : ":");
  }
}

void completions_bash(struct text *out) {
  text_add(out, "# bash completion for rondo, made by 'rondo help --format bash'\n"
                "_rondo_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
                "_rondo_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); }\n"
                "_rondo_folders() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$cur\")); }\n"
                "_rondo_models() {\n"
                "  compopt -o filenames 2>/dev/null\n"
                "  COMPREPLY=($(compgen -f -X '!*.rondo' -- \"$cur\") $(compgen -d -- \"$cur\"))\n"
                "}\n"
                "# names that the models on the command line declare with these words\n"
                "_rondo_names() {\n"
                "  local word names=\n"
                "  for word in \"${COMP_WORDS[@]}\"; do\n"
                "    if [[ $word == *.rondo && -r $word ]]; then\n"
                "      names+=\" $(sed -nE \"s/^[[:space:]]*($1)[[:space:]]+([A-Za-z_][A-Za-z_0-9]*).*/\\\\2$2/p\" "
                "\"$word\" | tr '\\n' ' ')\"\n"
                "    fi\n"
                "  done\n"
                "  [ -z \"$2\" ] || compopt -o nospace 2>/dev/null\n"
                "  _rondo_words \"$names\"\n"
                "}\n"
                "_rondo() {\n"
                "  local cur=${COMP_WORDS[COMP_CWORD]} prev= command= equals= i\n"
                "  COMPREPLY=()\n"
                "  [ \"$COMP_CWORD\" -gt 0 ] && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "  # --option=value comes in three words\n"
                "  if [ \"$cur\" = = ]; then equals=1 cur=; elif [ \"$prev\" = = ]; then equals=1 "
                "prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
                "  if [ \"$equals$prev\" = 1--json ]; then _rondo_words lines; return; fi\n"
                "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "    if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi\n"
                "  done\n"
                "  if [ -z \"$command\" ]; then\n    _rondo_words \"");
  for (unsigned c = 0; c < COMMANDS; c++)
    text_addf(out, "%s ", command_info(c)->name);
  text_add(out, "--help --version\"\n    return\n  fi\n  case $command:$prev in\n");
  bash_values(out);
  text_add(out, "    *)\n      if [[ $cur == -* ]]; then\n        case $command in\n");
  for (unsigned c = 0; c < COMMANDS; c++) {
    text_addf(out, "          %s) _rondo_words \"", command_info(c)->name);
    bash_options(out, c);
    text_add(out, "\" ;;\n");
  }
  text_add(out, "        esac\n        return\n      fi\n      case $command in\n        help) _rondo_words \"");
  for (unsigned c = 0; c < COMMANDS; c++)
    text_addf(out, "%s ", command_info(c)->name);
  text_add(
      out,
      "\" ;;\n        resume) _rondo_folders ;;\n        replay) _rondo_files ;;\n        explain) _rondo_words \"");
  for (unsigned i = 0; i < DIAG_CODES; i++)
    text_addf(out, "%s ", diag_entry(i)->code);
  text_add(out, "\" ;;\n        threshold)\n"
                "          for i in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
                "            if [[ $i == *.rondo ]]; then _rondo_names 'safety|live|cover|unsafe'; return; fi\n"
                "          done\n"
                "          _rondo_models ;;\n"
                "        reproduce) ;;\n        *) _rondo_models ;;\n      esac ;;\n  esac\n}\n"
                "complete -F _rondo rondo rondo-mpi\n");
}

/* ---- zsh ---- */

/* Inside '...': of a description in brackets, or of one after a colon. */
static void zsh_text(struct text *out, const char *s) {
  for (; *s; s++) {
    if (*s == '\'')
      text_add(out, "'\\'");
    else if (strchr("[]:\\", *s))
      text_add(out, "\\");
    text_add_n(out, s, 1);
  }
}

static void zsh_argument(struct text *out, const struct option_info *o, unsigned c) {
  const char *words = option_choices(o, c);
  text_add(out, option_argument_is_optional(o) ? "::" : ":");
  zsh_text(out, option_argument_is_optional(o) ? "form" : o->argument);
  text_add(out, ":");
  if (option_argument_is_optional(o))
    text_add(out, "(lines)");
  else if (words)
    text_addf(out, "(%s)", words);
  else if (argument_is(o, "FILE"))
    text_add(out, "_files");
  else if (argument_is(o, "DIR"))
    text_add(out, "_files -/");
  else if (!strcmp(o->name, "env"))
    text_add(out, "{_rondo_names environment}");
  else if (!strcmp(o->name, "property"))
    text_add(out, "{_rondo_names \"safety|live|cover|unsafe\"}");
  else if (argument_is(o, "NAME=VALUE"))
    text_add(out, "{_rondo_names param =}");
}

static void zsh_option(struct text *out, const struct option_info *o, unsigned c) {
  text_add(out, "        '*'");
  if (o->letter)
    text_addf(out, "{-%c%s,--%s%s}", o->letter, o->argument ? "+" : "", o->name, o->argument ? "=" : "");
  else
    text_addf(out, "--%s%s", o->name, option_argument_is_optional(o) ? "=-" : o->argument ? "=" : "");
  text_add(out, "'[");
  zsh_text(out, o->help);
  text_add(out, "]");
  if (o->argument)
    zsh_argument(out, o, c);
  text_add(out, "' \\\n");
}

void completions_zsh(struct text *out) {
  const struct option_info *o;
  text_add(out, "#compdef rondo rondo-mpi\n"
                "# zsh completion for rondo, made by 'rondo help --format zsh'\n"
                "# names that the models on the command line declare with these words\n"
                "_rondo_names() {\n"
                "  local word; local -a names\n"
                "  for word in $words; do\n"
                "    [[ $word == *.rondo && -r $word ]] && names+=($(sed -nE "
                "\"s/^[[:space:]]*($1)[[:space:]]+([A-Za-z_][A-Za-z_0-9]*).*/\\\\2/p\" $word))\n"
                "  done\n"
                "  compadd ${2:+-S $2} -- $names\n"
                "}\n"
                "_rondo() {\n  local -a commands\n  commands=(\n");
  for (unsigned c = 0; c < COMMANDS; c++) {
    text_addf(out, "    '%s:", command_info(c)->name);
    zsh_text(out, command_info(c)->help);
    text_add(out, "'\n");
  }
  text_add(out, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n");
  for (unsigned c = 0; c < COMMANDS; c++) {
    text_addf(out, "    %s)\n      _arguments -s \\\n", command_info(c)->name);
    for (size_t i = 0; (o = option_info(i)); i++)
      if (is_of(o, c))
        zsh_option(out, o, c);
    if (c == COMMAND_HELP)
      text_add(out, "        '1:command:{_describe command commands}' ;;\n");
    else if (c == COMMAND_RESUME)
      text_add(out, "        '1:folder:_files -/' ;;\n");
    else if (c == COMMAND_THRESHOLD)
      text_add(out,
               "        '1:model:_files -g \"*.rondo\"' '2:property:{_rondo_names \"safety|live|cover|unsafe\"}' ;;\n");
    else if (c == COMMAND_EXPLAIN || c == COMMAND_REPRODUCE)
      text_addf(out, "        '1:%s:' ;;\n", c == COMMAND_EXPLAIN ? "code" : "table");
    else
      text_addf(out, "        '*:file:_files%s' ;;\n", c == COMMAND_REPLAY ? "" : " -g \"*.rondo\"");
  }
  text_add(out, "  esac\n}\n[ \"$funcstack[1]\" = _rondo ] && _rondo \"$@\" || compdef _rondo rondo rondo-mpi\n");
}

/* ---- fish ---- */

static void fish_text(struct text *out, const char *s) {
  text_add(out, "'");
  for (; *s; s++) {
    if (*s == '\'' || *s == '\\')
      text_add(out, "\\");
    text_add_n(out, s, 1);
  }
  text_add(out, "'");
}

void completions_fish(struct text *out) {
  const struct option_info *o;
  text_add(out,
           "# fish completion for rondo, made by 'rondo help --format fish'\n"
           "# names that the models on the command line declare with these words\n"
           "function __rondo_names\n"
           "  for word in (commandline -opc)\n"
           "    if string match -q -- '*.rondo' $word; and test -r $word\n"
           "      sed -nE \"s/^[[:space:]]*($argv[1])[[:space:]]+([A-Za-z_][A-Za-z_0-9]*).*/\\\\2$argv[2]/p\" $word\n"
           "    end\n"
           "  end\n"
           "end\n"
           "complete -c rondo -f\n");
  for (unsigned c = 0; c < COMMANDS; c++) {
    text_addf(out, "complete -c rondo -n __fish_use_subcommand -a %s -d ", command_info(c)->name);
    fish_text(out, command_info(c)->help);
    text_add(out, "\n");
  }
  for (unsigned c = 0; c < COMMANDS; c++) {
    const char *name = command_info(c)->name;
    for (size_t i = 0; (o = option_info(i)); i++) {
      const char *words = option_choices(o, c);
      if (!is_of(o, c))
        continue;
      text_addf(out, "complete -c rondo -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
      if (o->letter)
        text_addf(out, " -s %c", o->letter);
      if (argument_is(o, "FILE") || argument_is(o, "DIR"))
        text_add(out, " -r -F");
      else if (o->argument && !option_argument_is_optional(o))
        text_add(out, " -x");
      if (words)
        text_addf(out, " -a '%s'", words);
      else if (!strcmp(o->name, "env"))
        text_add(out, " -a '(__rondo_names environment)'");
      else if (!strcmp(o->name, "property"))
        text_add(out, " -a '(__rondo_names \"safety|live|cover|unsafe\")'");
      else if (argument_is(o, "NAME=VALUE"))
        text_add(out, " -a '(__rondo_names param =)'");
      text_add(out, " -d ");
      fish_text(out, o->help);
      text_add(out, "\n");
    }
    if (c == COMMAND_HELP) {
      for (unsigned k = 0; k < COMMANDS; k++)
        text_addf(out, "complete -c rondo -n '__fish_seen_subcommand_from help' -a %s\n", command_info(k)->name);
    } else if (c != COMMAND_EXPLAIN && c != COMMAND_REPRODUCE) {
      text_addf(out, "complete -c rondo -n '__fish_seen_subcommand_from %s' -F\n", name);
    }
  }
}
