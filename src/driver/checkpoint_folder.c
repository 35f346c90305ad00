#include "driver/checkpoint_folder.h"

#include "base/hash.h"
#include "driver/context.h"
#include "search/ranks.h"

#include <dirent.h>
#ifdef __linux__
#include <dlfcn.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 100000

static void report_message(void *context, const char *message) { context_error(context, N0101, "%s", message); }

static struct text file_in(const struct checkpoint_folder *j, const char *name) {
  struct text t = {0};
  text_addf(&t, "%s/%s", j->path, name);
  return t;
}

static void hash_file(void *stream, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  void *block = memory_alloc(1 << 16);
  for (ssize_t n; fd >= 0 && (n = read(fd, block, 1 << 16)) > 0;)
    hash_stream_add(stream, block, (size_t)n);
  memory_free(block);
  if (fd >= 0)
    close(fd);
}

/* A hash of the program, and of the shared library if this is one: another build may encode states differently. */
static uint64_t program_fingerprint(void) {
  void *stream = hash_stream_new();
  hash_file(stream, "/proc/self/exe");
#ifdef __linux__
  static const char here;
  Dl_info library;
  if (dladdr(&here, &library) && library.dli_fname)
    hash_file(stream, library.dli_fname);
#endif
  hash_stream_add(stream, RONDO_VERSION, sizeof RONDO_VERSION);
  return hash_stream_end(stream);
}

bool checkpoint_folder_is_owner(const struct checkpoint_folder *j) { return !j->ranks || j->ranks->rank == 0; }

/* --- errors --- */

static bool wrong(struct checkpoint_folder *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct checkpoint_folder *j, const char *format, ...) {
  va_list args;
  if (!checkpoint_folder_is_owner(j))
    text_addf(&j->why, "rank %u: ", j->ranks->rank);
  va_start(args, format);
  text_addv(&j->why, format, args);
  va_end(args);
  return false;
}

static bool wrong_file(struct checkpoint_folder *j, const char *file, const char *what) {
  return wrong(j, "cannot resume from '%s': the file '%s' %s", j->given, file, what);
}

/* All ranks continue, or none does and rank 0 reports why. */
static bool all_ranks_agree(struct checkpoint_folder *j, bool ok) {
  if (j->ranks)
    ok = ranks_all_ok(j->ranks, ok, &j->why);
  if (!ok)
    context_error(j->rondo, E0814, "%s", text_or_empty(&j->why));
  return ok;
}

static void add_command(struct text *t, uint64_t ranks, const char *folder) {
  if (ranks > 0)
    text_addf(t, "mpirun -n %llu rondo-mpi resume %s", (unsigned long long)ranks, folder);
  else
    text_addf(t, "rondo resume %s", folder);
}

void checkpoint_folder_resume_command(const struct checkpoint_folder *j, struct text *t) {
  add_command(t, j->ranks ? j->ranks->n : 0, j->given);
}

void checkpoint_folder_ranks_lost(void *context) {
  struct checkpoint_folder *j = context;
  struct text t = {0};
  if (!j->given) {
    context_error(
        j->rondo, N0101,
        "other ranks are lost, or do not answer\n  help: with '--checkpoint DIR' a check can go on after that");
    return;
  }
  /* if the first rank is gone, so is its lock */
  if (!checkpoint_folder_is_owner(j) && flock(j->lock, LOCK_EX | LOCK_NB) != 0)
    return;
  j->rondo->silent = false;
  checkpoint_folder_resume_command(j, &t);
  context_error(j->rondo, N0101, "other ranks are lost, or do not answer\n  help: %s goes on from the last checkpoint",
                t.at);
  text_release(&t);
}

/* --- the folder --- */

/* False: rank 0 has ended already. */
static bool checkpoint_folder_init(struct checkpoint_folder *j, struct rondo *context, struct ranks *ranks,
                                   const char *folder) {
  *j = (struct checkpoint_folder){.rondo = context, .given = memory_strdup(folder), .lock = -1, .ranks = ranks};
  return !ranks || ranks_next_search(ranks);
}

static bool folder_open(struct checkpoint_folder *j, const char *folder) {
  double seconds = j->rondo->tests.checkpoint_seconds;
  char *real = realpath(folder, NULL);
  j->lock = real ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (j->lock < 0) {
    wrong(j, "cannot open the checkpoint '%s': %s", folder, strerror(errno));
    free(real);
    return false;
  }
  j->path = memory_strdup(real);
  free(real);
  if (checkpoint_folder_is_owner(j) && flock(j->lock, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) /* other errors: the file system has no locks */
    return wrong(j, "the checkpoint '%s' is in use by another rondo", folder);
  j->checkpoints = (struct checkpoints){.folder = j->path,
                                        .seconds = seconds > 0 ? seconds : CHECKPOINT_SECONDS,
                                        .say = report_message,
                                        .say_context = j->rondo};
  return true;
}

static uint64_t command_fingerprint(const struct checkpoint_folder *j, uint64_t program) {
  void *h = hash_stream_new();
  hash_stream_add(h, &program, sizeof program);
  for (int i = 0; i < j->nwords; i++)
    hash_stream_add(h, j->words[i], strlen(j->words[i]) + 1);
  hash_stream_add(h, j->text, j->length);
  return hash_stream_end(h);
}

/* --- files of searches --- */

/* A file of searches, by its name: search-NUMBER, search-NUMBER.rank-RANK.GENERATION, or one of these that was not
 * completed. */
struct search_file {
  unsigned number, rank;
  unsigned long long generation; /* 0: the search's own */
  bool complete;
};

static bool is_search_file(const char *name, struct search_file *f) {
  int n = 0, more = 0;
  *f = (struct search_file){0};
  if (sscanf(name, "search-%5u%n", &f->number, &n) != 1)
    return false;
  if (sscanf(name + n, ".rank-%u.%llu%n", &f->rank, &f->generation, &more) == 2)
    n += more;
  f->complete = name[n] == '\0';
  if (!f->complete && strcmp(name + n, ".new") != 0)
    return false;
  struct text own = {0}; /* another spelling of a number is another file, which is none of ours */
  text_addf(&own, "search-%u", f->number);
  if (more > 0)
    text_addf(&own, ".rank-%u.%llu", f->rank, f->generation);
  bool ours = strlen(own.at) == (size_t)n && !strncmp(own.at, name, (size_t)n) && (more == 0 || f->generation > 0);
  text_release(&own);
  return ours;
}

typedef bool search_file_fn(struct checkpoint_folder *, const char *name, const struct search_file *);

static bool each_search_file(struct checkpoint_folder *j, search_file_fn *visit) {
  DIR *folder = opendir(j->path);
  struct search_file f;
  bool ok = folder;
  for (struct dirent *e; ok && (e = readdir(folder));)
    ok = !is_search_file(e->d_name, &f) || visit(j, e->d_name, &f);
  if (folder)
    closedir(folder);
  return ok;
}

static bool remove_file(struct checkpoint_folder *j, const char *name, const struct search_file *f) {
  struct text path = file_in(j, name);
  (void)f;
  unlink(path.at);
  text_release(&path);
  return true;
}

/* --- beginning --- */

static bool write_command(struct checkpoint_folder *j) {
  uint64_t program = program_fingerprint();
  struct text path = file_in(j, "command");
  struct saver to;
  j->checkpoints.command = command_fingerprint(j, program);
  bool ok = archive_begin(&to, path.at);
  if (ok) {
    save_text(&to, RONDO_VERSION);
    save_number(&to, j->ranks ? j->ranks->n : 0);
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
  text_release(&path);
  return ok || wrong(j, "cannot write the checkpoint '%s': %s", j->given, strerror(to.error));
}

static char *working_directory(void) {
  char *directory = getcwd(NULL, 0), *kept = directory ? memory_strdup(directory) : NULL;
  free(directory);
  return kept;
}

/* Does the folder hold a command that has not ended? */
static bool is_occupied(struct checkpoint_folder *j) {
  struct text path = file_in(j, "command"), why = {0}, command = {0};
  struct archive a;
  bool taken = access(path.at, F_OK) == 0;
  if (taken) {
    bool sound = archive_open(&a, path.at, false, &why);
    if (sound)
      memory_free(load_text(&a.loader));
    add_command(&command, sound ? load_number(&a.loader) : 0, j->given);
    archive_close(&a);
    wrong(j, "'%s' holds the checkpoint of a check that has not ended\n  help: %s goes on with it; else remove it",
          j->given, command.at);
  }
  text_release(&path);
  text_release(&why);
  text_release(&command);
  return taken;
}

static bool begin(struct checkpoint_folder *j, const struct command_options *o, const struct parsed_file *s) {
  if (mkdir(j->given, 0777) != 0 && errno != EEXIST)
    return wrong(j, "cannot make the folder '%s' for checkpoints: %s", j->given, strerror(errno));
  if (!folder_open(j, j->given) || is_occupied(j))
    return false;
  each_search_file(j, remove_file); /* of a command that was killed between its answer and its end */
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

/* Several ranks go on with what several ranks wrote, however many; one process with what one process wrote. */
static bool rank_count_matches(struct checkpoint_folder *j, uint64_t ranks) {
  struct text command = {0};
  add_command(&command, ranks, j->given);
  if (ranks == 0 && j->ranks)
    wrong(j, "cannot resume from '%s': one process wrote it, without mpirun\n  help: %s goes on with it", j->given,
          command.at);
  else if (ranks > 0 && !j->ranks)
    wrong(j,
          "cannot resume from '%s': %llu ranks wrote it\n  help: %s goes on with it; any number of ranks can go on, "
          "also one",
          j->given, (unsigned long long)ranks, command.at);
  text_release(&command);
  return (ranks > 0) == (j->ranks != NULL);
}

static bool read_command(struct checkpoint_folder *j) {
  struct text path = file_in(j, "command"), why = {0};
  struct archive a;
  bool ok = archive_open(&a, path.at, true, &why);
  text_release(&path);
  if (!ok) {
    wrong_file(j, "command", why.at);
    text_release(&why);
    return false;
  }
  struct loader *from = &a.loader;
  char *version = load_text(from);
  uint64_t ranks = load_number(from), program = load_number(from);
  j->directory = load_text(from);
  j->file = load_text(from);
  j->length = (size_t)load_below(from, MODEL_BYTES_MAX + 1);
  j->text = memory_alloc(j->length + 1);
  load_bytes(from, j->text, j->length);
  int n = (int)load_below(from, WORDS_MAX);
  j->words = memory_alloc(((size_t)n + 1) * sizeof *j->words);
  for (; j->nwords < n && !from->bad; j->nwords++)
    j->words[j->nwords] = load_text(from);
  bool sound = !from->bad && j->file;
  for (int i = 0; i < j->nwords; i++)
    sound &= j->words[i] != NULL;
  if (!sound)
    j->nwords = 0;
  archive_close(&a);
  if (!sound)
    wrong_file(j, "command", "is damaged");
  else if (rank_count_matches(j, ranks) && program != program_fingerprint())
    wrong(
        j,
        "cannot resume from '%s': it was written by another build of rondo (version %s)\n  help: states are named in a "
        "way that only the same program understands",
        j->given, version ? version : "unknown");
  j->checkpoints.command = command_fingerprint(j, program);
  memory_free(version);
  return j->why.n == 0;
}

/* Does the file belong to this command, and (if whole) is it undamaged? Also returns who wrote it. */
static bool check_file(struct checkpoint_folder *j, const char *name, bool whole, struct checkpoint_origin *origin) {
  struct text path = file_in(j, name), why = {0};
  struct archive a;
  bool ok = archive_open(&a, path.at, whole, &why);
  if (ok && !checkpoint_is_of(&a.loader, &j->checkpoints, origin)) {
    text_add(&why, "is of another command");
    ok = false;
  }
  archive_close(&a);
  if (!ok)
    wrong_file(j, name, why.at);
  text_release(&path);
  text_release(&why);
  return ok;
}

static bool check_search(struct checkpoint_folder *j, const char *name, const struct search_file *f) {
  struct checkpoint_origin origin, own;
  if (!f->complete || f->generation > 0)
    return true;
  if (f->number >= j->checkpoints.last)
    j->checkpoints.last = f->number + 1;
  if (!check_file(j, name, checkpoint_folder_is_owner(j), &origin))
    return false;
  if (origin.generation == 0 || !j->ranks)
    return origin.generation == 0 || wrong_file(j, name, "is of several ranks");
  bool ok = true;
  for (uint32_t i = j->ranks->rank; ok && i < origin.ranks; i += j->ranks->n) {
    struct text part = checkpoint_part(&j->checkpoints, f->number, i, origin.generation);
    const char *its = strrchr(part.at, '/') + 1;
    ok = check_file(j, its, true, &own) && ((own.generation == origin.generation && own.ranks == origin.ranks) ||
                                            wrong_file(j, its, "is not of the same checkpoint"));
    text_release(&part);
  }
  return ok;
}

/* Removes a part that is not valid: a rank was killed before all had written theirs, or before it removed the previous
   generation. */
static bool remove_part(struct checkpoint_folder *j, const char *name, const struct search_file *f) {
  struct text own = checkpoint_path(&j->checkpoints, f->number), path = file_in(j, name), why = {0};
  struct archive a;
  struct checkpoint_origin origin = {0};
  if (f->generation > 0) {
    if (archive_open(&a, own.at, false, &why))
      checkpoint_is_of(&a.loader, &j->checkpoints, &origin);
    archive_close(&a);
    if (!f->complete || origin.generation != f->generation || f->rank >= origin.ranks)
      unlink(path.at);
  }
  text_release(&own);
  text_release(&path);
  text_release(&why);
  return true;
}

/* --- by all ranks --- */

static void broadcast_bytes(struct checkpoint_folder *j, void *at, size_t n) { ranks_broadcast(j->ranks, 0, at, n); }

/* The other ranks read what rank 0 has written or found. */
static bool join(struct checkpoint_folder *j) {
  if (!j->ranks)
    return true;
  uint64_t n = checkpoint_folder_is_owner(j) ? strlen(j->path) + 1 : 0;
  broadcast_bytes(j, &n, sizeof n);
  size_t length = memory_size(n);
  char *path = memory_alloc(length);
  if (checkpoint_folder_is_owner(j))
    memcpy(path, j->path, length);
  broadcast_bytes(j, path, length);
  bool ok = all_ranks_agree(j, checkpoint_folder_is_owner(j) || (folder_open(j, path) && read_command(j)));
  memory_free(path);
  return ok;
}

bool checkpoint_folder_begin(struct checkpoint_folder *j, const struct command_options *o,
                             const struct parsed_file *s) {
  return checkpoint_folder_init(j, o->rondo, o->ranks.all, o->storage.checkpoint) &&
         all_ranks_agree(j, !checkpoint_folder_is_owner(j) || begin(j, o, s)) && join(j);
}

/* All files are checked before any is used. */
bool checkpoint_folder_resume(struct checkpoint_folder *j, struct rondo *context, struct ranks *ranks,
                              const char *folder) {
  if (!checkpoint_folder_init(j, context, ranks, folder) ||
      !all_ranks_agree(j, !checkpoint_folder_is_owner(j) || (folder_open(j, folder) && read_command(j))) || !join(j) ||
      !all_ranks_agree(j, each_search_file(j, check_search)))
    return false;
  if (ranks)
    broadcast_bytes(j, &j->checkpoints.last, sizeof j->checkpoints.last);
  if (ranks && checkpoint_folder_is_owner(j))
    each_search_file(j, remove_part);
  return j->checkpoints.resumed = true;
}

/* --- the end --- */

/* The command first: without it the other files are ignored. */
void checkpoint_folder_remove(struct checkpoint_folder *j) {
  remove_file(j, "command", NULL);
  each_search_file(j, remove_file);
}

void checkpoint_folder_release(struct checkpoint_folder *j) {
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
  text_release(&j->why);
}
