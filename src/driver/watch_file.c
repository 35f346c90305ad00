#include "driver/watch_file.h"

#include "driver/context.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_SECONDS 0.1
#define REST_SECONDS 0.05 /* a file that is being written changes again */

struct file_stamp {
  bool exists;
  uint64_t device, inode;
  int64_t size, seconds, nanoseconds;
};

static struct file_stamp stamp_of(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return (struct file_stamp){0};
  return (struct file_stamp){true,
                             (uint64_t)st.st_dev,
                             (uint64_t)st.st_ino,
                             (int64_t)st.st_size,
                             (int64_t)st.st_mtim.tv_sec,
                             (int64_t)st.st_mtim.tv_nsec};
}

static bool is_same(const struct file_stamp *a, const struct file_stamp *b) {
  return a->exists == b->exists && a->device == b->device && a->inode == b->inode && a->size == b->size &&
         a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static bool wait_for(struct rondo *r, double seconds) {
  return !r->stop && r->host.wait(r->host.context, seconds) && !r->stop;
}

/* Waits until the file is there, differs from the stamp, and rests. False: it was interrupted. */
static bool wait_for_change(struct rondo *r, const char *path, struct file_stamp *known) {
  struct file_stamp now, later;
  do {
    if (!wait_for(r, LOOK_SECONDS))
      return false;
    now = stamp_of(path);
  } while (!now.exists || is_same(&now, known));
  for (;;) {
    if (!wait_for(r, REST_SECONDS))
      return false;
    later = stamp_of(path);
    if (later.exists && is_same(&later, &now))
      break;
    now = later;
  }
  *known = later;
  return true;
}

static void write_line(const struct command_options *o, bool changed) {
  struct style style = context_style(o->rondo, false);
  struct text out = {0}, line = {0};
  char at[16] = "";
  time_t now = time(NULL);
  struct tm broken;
  if (o->output.json)
    return;
  if (localtime_r(&now, &broken))
    strftime(at, sizeof at, "%H:%M:%S", &broken);
  if (changed && style.colour)
    text_add(&out, "\033[H\033[2J\033[3J"); /* an empty screen */
  else
    text_add(&out, "\n");
  text_addf(&line, changed ? "---- %s changed, %s ----" : "watching %s since %s; Ctrl-C ends", o->files.at[0], at);
  paint_add(&out, &style, PAINT_FAINT, line.at);
  text_add(&out, changed ? "\n\n" : "\n");
  context_write(o->rondo, &out);
  text_release(&line);
}

/* As at the start of a command. */
static void begin_again(struct rondo *r) {
  r->began = clock_seconds();
  if (r->json) {
    r->json_answered = false;
    json_array_clear(r->command_diags);
  }
}

int watch_file(const struct command_options *o, int (*once)(const struct command_options *)) {
  struct rondo *r = o->rondo;
  int status;
  if (!r->host.wait || o->ranks.all) {
    context_error(r, E0817, "files cannot be watched here\n  help: leave out '--watch'");
    return EXIT_BAD_INPUT;
  }
  if (o->files.n != 1 || !strcmp(o->files.at[0], "-") || o->storage.checkpoint) {
    context_error(r, E0807, "'--watch' is for one file, without '--checkpoint'");
    return EXIT_BAD_INPUT;
  }
  void (*overdue)(void *, rondo_status, const char *, const char *) = r->host.overdue;
  r->host.overdue = NULL; /* it would end the program */
  struct file_stamp known = stamp_of(o->files.at[0]);
  for (;;) {
    status = once(o);
    watch_answer(r, 0, 0);
    if (r->json && !r->json_answered && status > EXIT_VIOLATED) {
      struct text out = {0};
      context_json_diagnostics(r, status, &out);
      context_write(r, &out);
    }
    if (r->stop || r->write_failed)
      break;
    write_line(o, false);
    if (!wait_for_change(r, o->files.at[0], &known))
      break;
    begin_again(r);
    write_line(o, true);
  }
  r->host.overdue = overdue;
  return status;
}
