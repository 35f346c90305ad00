/* Help, and what other programs make of it: the sources of man pages, and completions for shells. */
#ifndef RONDO_DRIVER_HELP_H
#define RONDO_DRIVER_HELP_H

#include "driver/option_table.h"

#define HELP_COLUMNS 96

void help_all(struct text *);
void help_command(enum command, struct text *);

/* Sources for scdoc: rondo(1) and rondo-COMMAND(1). */
void man_all(struct text *);
void man_command(enum command, struct text *);

void completions_bash(struct text *);
void completions_zsh(struct text *);
void completions_fish(struct text *);

#endif
