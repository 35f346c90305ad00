/* The folder of --checkpoint, from which another process can resume a check. The file 'command' has the command line
   and the text of the model; each search has a file of its own (search/search_checkpoint.h). Rank 0 owns the folder;
   other ranks access it under the same name. */
#ifndef RONDO_DRIVER_CHECKPOINT_FOLDER_H
#define RONDO_DRIVER_CHECKPOINT_FOLDER_H

#include "driver/load.h"
#include "search/search_checkpoint.h"

struct checkpoint_folder {
  struct rondo *rondo;
  struct checkpoints checkpoints;
  struct ranks *ranks; /* or NULL */
  struct text why;     /* why it cannot be used */
  int lock;            /* the folder, kept open and locked against other processes */
  char *given;         /* its name, as the user wrote it */
  char *path;          /* absolute */
  /* Of a command that is resumed: */
  char **words; /* after `check` */
  int nwords;
  char *file, *text; /* the model */
  size_t length;
  char *directory; /* where it was given */
};

/* False: the error was reported. All ranks together. */
bool checkpoint_folder_begin(struct checkpoint_folder *, const struct command_options *, const struct parsed_file *);
bool checkpoint_folder_resume(struct checkpoint_folder *, struct rondo *, struct ranks *, const char *folder);
bool checkpoint_folder_is_owner(const struct checkpoint_folder *); /* is this process rank 0, or the only one? */
/* The command line that continues it. */
void checkpoint_folder_resume_command(const struct checkpoint_folder *, struct text *);
/* Other ranks do not answer any more: one of the remaining ones reports how to resume. */
void checkpoint_folder_ranks_lost(void *checkpoint_folder);
/* The check was answered: removes the files. */
void checkpoint_folder_remove(struct checkpoint_folder *);
void checkpoint_folder_release(struct checkpoint_folder *);

#endif
