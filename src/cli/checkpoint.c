#include "cli/checkpoint.h"

#include "base/hash.h"
#include "cli/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MOST 100000

static void say_plainly(const char *message) { say_error("%s", message); }

static struct text file_in(const struct journal *j, const char *name) {
  struct text t = {0};
  text_addf(&t, "%s/%s", j->path, name);
  return t;
}

/* Names and keys are this very program's: another build may give others. */
static uint64_t program_print(void) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  void *stream = hash_stream_new(), *block = memory_alloc(1 << 16);
  for (ssize_t n; fd >= 0 && (n = read(fd, block, 1 << 16)) > 0;)
    hash_stream_add(stream, block, (size_t)n);
  hash_stream_add(stream, RONDO_VERSION, sizeof RONDO_VERSION);
  memory_free(block);
  if (fd >= 0)
    close(fd);
  return hash_stream_end(stream);
}

/* False: said why. */
static bool folder_open(struct journal *j, const char *folder) {
  *j = (struct journal){.given = memory_strdup(folder)};
  char *real = realpath(folder, NULL);
  j->lock = real ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (j->lock < 0) {
    say_error("cannot open the checkpoint '%s': %s", folder, strerror(errno));
    free(real);
    return false;
  }
  j->path = memory_strdup(real);
  free(real);
  if (flock(j->lock, LOCK_EX | LOCK_NB) != 0) {
    say_error("the checkpoint '%s' is in use by another rondo", folder);
    return false;
  }
  j->checkpoints = (struct checkpoints){.folder = j->path, .seconds = checkpoint_seconds(), .say = say_plainly};
  return true;
}

static uint64_t command_print(const struct journal *j, uint64_t program) {
  void *h = hash_stream_new();
  hash_stream_add(h, &program, sizeof program);
  for (int i = 0; i < j->nwords; i++)
    hash_stream_add(h, j->words[i], strlen(j->words[i]) + 1);
  hash_stream_add(h, j->text, j->length);
  return hash_stream_end(h);
}

/* --- beginning --- */

static bool write_command(struct journal *j) {
  uint64_t program = program_print();
  struct text path = file_in(j, "command");
  struct saver to;
  j->checkpoints.command = command_print(j, program);
  bool ok = archive_begin(&to, path.at);
  if (ok) {
    save_text(&to, RONDO_VERSION);
    save_number(&to, program);
    save_text(&to, j->directory);
    save_text(&to, j->file);
    save_number(&to, j->length);
    save_bytes(&to, j->text, j->length);
    save_number(&to, (uint64_t)j->nwords);
    for (int i = 0; i < j->nwords; i++)
      save_text(&to, j->words[i]);
    ok = archive_end(&to, path.at);
  }
  if (!ok)
    say_error("cannot write the checkpoint '%s': %s", j->given, strerror(to.error));
  text_release(&path);
  return ok;
}

static char *working_directory(void) {
  char *directory = getcwd(NULL, 0), *kept = directory ? memory_strdup(directory) : NULL;
  free(directory);
  return kept;
}

bool journal_begin(struct journal *j, const struct options *o, const struct syntax *s) {
  if (mkdir(o->checkpoint, 0777) != 0 && errno != EEXIST) {
    say_error("cannot make the folder '%s' for checkpoints: %s", o->checkpoint, strerror(errno));
    *j = (struct journal){.lock = -1};
    return false;
  }
  if (!folder_open(j, o->checkpoint))
    return false;
  struct text command = file_in(j, "command");
  bool taken = access(command.at, F_OK) == 0;
  text_release(&command);
  if (taken) {
    say_error("'%s' holds the checkpoint of a check that has not ended\n  help: rondo resume %s goes on with it; else remove it",
              o->checkpoint, o->checkpoint);
    return false;
  }
  j->nwords = o->nwords;
  j->words = memory_alloc(((size_t)o->nwords + 1) * sizeof *j->words);
  for (int i = 0; i < o->nwords; i++)
    j->words[i] = memory_strdup(o->words[i]);
  j->directory = working_directory();
  j->file = memory_strdup(s->source.path);
  j->length = s->source.length;
  j->text = memory_alloc(j->length + 1);
  memcpy(j->text, s->source.text, j->length);
  return write_command(j);
}

/* --- resuming --- */

static bool wrong(const struct journal *j, const char *file, const char *what) {
  say_error("cannot resume from '%s': the file '%s' %s", j->given, file, what);
  return false;
}

static bool read_command(struct journal *j) {
  struct text path = file_in(j, "command"), why = {0};
  struct archive a;
  bool ok = archive_open(&a, path.at, true, &why);
  text_release(&path);
  if (!ok) {
    wrong(j, "command", why.at);
    text_release(&why);
    return false;
  }
  struct loader *from = &a.loader;
  char *version = load_text(from);
  uint64_t program = load_number(from);
  j->directory = load_text(from);
  j->file = load_text(from);
  j->length = load_below(from, MODEL_LARGEST + 1);
  j->text = memory_alloc(j->length + 1);
  load_bytes(from, j->text, j->length);
  int n = (int)load_below(from, WORDS_MOST);
  j->words = memory_alloc(((size_t)n + 1) * sizeof *j->words);
  for (; j->nwords < n && !from->bad; j->nwords++)
    j->words[j->nwords] = load_text(from);
  bool sound = !from->bad && j->file;
  for (int i = 0; i < j->nwords; i++)
    sound &= j->words[i] != NULL;
  if (!sound)
    j->nwords = 0;
  archive_close(&a);
  bool same = program == program_print();
  if (!sound)
    wrong(j, "command", "is damaged");
  else if (!same)
    say_error("cannot resume from '%s': it was written by another build of rondo (version %s)\n  help: states are named in a "
              "way that only the same program understands",
              j->given, version ? version : "unknown");
  j->checkpoints.command = command_print(j, program);
  memory_free(version);
  return sound && same;
}

/* All of them are read before anything is based on one. */
static bool check_searches(struct journal *j) {
  DIR *folder = opendir(j->path);
  bool ok = folder;
  for (struct dirent *e; ok && (e = readdir(folder));) {
    unsigned number;
    char rest;
    if (sscanf(e->d_name, "search-%u%c", &number, &rest) != 1)
      continue;
    struct text path = file_in(j, e->d_name), why = {0};
    struct archive a;
    ok = archive_open(&a, path.at, true, &why);
    if (ok && load_number(&a.loader) != j->checkpoints.command) {
      text_add(&why, "is of another command");
      ok = false;
    }
    archive_close(&a);
    if (!ok)
      wrong(j, e->d_name, why.at);
    if (number >= j->checkpoints.last)
      j->checkpoints.last = number + 1;
    text_release(&path);
    text_release(&why);
  }
  if (folder)
    closedir(folder);
  return ok;
}

bool journal_resume(struct journal *j, const char *folder) {
  if (!folder_open(j, folder) || !read_command(j) || !check_searches(j))
    return false;
  return j->checkpoints.resumed = true;
}

/* --- the end --- */

/* The command first: without it the others are nothing. */
void journal_finish(struct journal *j) {
  struct text command = file_in(j, "command");
  unlink(command.at);
  text_release(&command);
  for (uint32_t i = 0; i < j->checkpoints.searches || i < j->checkpoints.last; i++) {
    struct text path = checkpoint_path(&j->checkpoints, i);
    unlink(path.at);
    text_add(&path, ".new"); /* of one that was killed while it wrote */
    unlink(path.at);
    text_release(&path);
  }
}

void journal_release(struct journal *j) {
  if (j->lock >= 0)
    close(j->lock);
  for (int i = 0; i < j->nwords; i++)
    memory_free(j->words[i]);
  memory_free(j->words);
  memory_free(j->given);
  memory_free(j->path);
  memory_free(j->file);
  memory_free(j->text);
  memory_free(j->directory);
}
