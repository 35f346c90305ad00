/* A folder in which a check is written down, so that another process can go on with it: the command and the model's text in
   the file 'command', and a file for each search (search/checkpoint.h). */
#ifndef RONDO_CLI_CHECKPOINT_H
#define RONDO_CLI_CHECKPOINT_H

#include "cli/load.h"
#include "search/checkpoint.h"

struct journal {
  struct checkpoints checkpoints;
  int lock;          /* the folder, kept open: nobody else works there meanwhile */
  char *given;       /* its name, as the user wrote it */
  char *path;        /* and whatever the working directory */
  /* Of a command that is resumed: */
  char **words;      /* after `check` */
  int nwords;
  char *file, *text; /* the model */
  size_t length;
  char *directory;   /* where it was given */
};

/* False: said why. */
bool journal_begin(struct journal *, const struct options *, const struct syntax *);
bool journal_resume(struct journal *, const char *folder);
/* The answer is known, and was given: nothing is left to resume. */
void journal_finish(struct journal *);
void journal_release(struct journal *);

#endif
