/* A folder in which a check is written down, so that another process can go on with it: the command and the model's text in
   the file 'command', and a file for each search (search/checkpoint.h). Of several ranks the first one keeps it; the others find it
   in the same place. */
#ifndef RONDO_DRIVER_CHECKPOINT_H
#define RONDO_DRIVER_CHECKPOINT_H

#include "driver/load.h"
#include "search/checkpoint.h"

struct journal {
  struct rondo *rondo;
  struct checkpoints checkpoints;
  struct ranks *ranks; /* or NULL */
  struct text why;     /* what is wrong with it */
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

/* False: said why. All ranks together. */
bool journal_begin(struct journal *, const struct options *, const struct syntax *);
bool journal_resume(struct journal *, struct rondo *, struct ranks *, const char *folder);
bool journal_leads(const struct journal *); /* is this process the one that keeps it? */
/* By which command it goes on. */
void journal_command(const struct journal *, struct text *);
/* Other ranks do not answer any more: what can be done is said, by one of those that are left. journal: NULL: there is none. */
void journal_lost(void *journal);
/* The answer is known, and was given: nothing is left to resume. */
void journal_finish(struct journal *);
void journal_release(struct journal *);

#endif
