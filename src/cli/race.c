#include "cli/race.h"

#include "base/process.h"
#include "symbolic/solver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AGAIN = 50 /* ms */ };

double race_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void race_init(struct race *r, double seconds, size_t memory,
               const volatile sig_atomic_t *interrupt) {
  *r = (struct race){
      .start = race_clock(), .seconds = seconds, .memory = memory, .interrupt = interrupt};
}

/* ---- in the new process ---- */

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t wrote = write(fd, bytes, n);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return false;
    bytes += wrote;
    n -= (size_t)wrote;
  }
  return true;
}

/* A letter, the length, a newline, the bytes. */
static void send_frame(int wire, char kind, const char *bytes, size_t n) {
  struct text frame = {0};
  text_addf(&frame, "%c%zu\n", kind, n);
  text_add_n(&frame, bytes, n);
  write_all(wire, frame.at, frame.n);
  text_release(&frame);
}

void race_tell(int wire, const char *progress) {
  send_frame(wire, 'p', progress, strlen(progress));
}

/* Ctrl-C goes to the whole group: the parent decides what it means. Nobody may outlive the parent.
 */
static void run_work(const struct racer *racer, pid_t parent, size_t memory, int wire) {
  struct text result = {0};
  if (!process_follow(parent))
    _exit(1);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGALRM, SIG_IGN);
  solver_limit_memory(memory);
  racer->work(racer->context, wire, &result);
  send_frame(wire, 'r', text_or_empty(&result), result.n);
  _exit(0);
}

/* ---- in the old one ---- */

bool race_add(struct race *r, const char *name, race_work_fn *work, void *context) {
  struct racer racer = {.name = name, .work = work, .context = context};
  int wire[2];
  if (pipe(wire) != 0)
    return false;
  fflush(NULL); /* or it would be written twice */
  pid_t parent = getpid();
  racer.pid = fork();
  if (racer.pid == 0) {
    close(wire[0]);
    run_work(&racer, parent, r->memory, wire[1]);
  }
  close(wire[1]);
  racer.wire = wire[0];
  if (racer.pid < 0) {
    close(wire[0]);
    return false;
  }
  vec_push(&r->racers, racer);
  return true;
}

static void end_racer(struct racer *racer, enum racer_end end) {
  if (racer->end != RACER_RUNS)
    return;
  if (end != RACER_DONE && end != RACER_DIED)
    kill(racer->pid, SIGKILL);
  close(racer->wire);
  while (waitpid(racer->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  racer->end = end;
  text_release(&racer->received);
}

/* Takes whole frames from what was received. */
static void take_frames(struct racer *racer) {
  size_t at = 0;
  while (at < racer->received.n) {
    const char *start = racer->received.at + at;
    const char *line = memchr(start, '\n', racer->received.n - at);
    size_t n = 0;
    if (!line || sscanf(start + 1, "%zu", &n) != 1 ||
        racer->received.n - at - (size_t)(line + 1 - start) < n)
      break;
    struct text *to = *start == 'r' ? &racer->result : &racer->progress;
    to->n = 0;
    text_add_n(to, line + 1, n);
    if (*start == 'r')
      racer->end = RACER_DONE;
    at += (size_t)(line + 1 - start) + n;
  }
  if (at > 0) {
    memmove(racer->received.at, racer->received.at + at, racer->received.n - at);
    racer->received.n -= at;
    racer->received.at[racer->received.n] = '\0';
  }
}

static bool read_wire(struct racer *racer) {
  char bytes[65536];
  ssize_t got = read(racer->wire, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return false;
  if (got > 0) {
    text_add_n(&racer->received, bytes, (size_t)got);
    take_frames(racer);
  }
  if (racer->end == RACER_DONE) {
    racer->end = RACER_RUNS; /* for end_racer */
    end_racer(racer, RACER_DONE);
    return true;
  }
  if (got <= 0)
    end_racer(racer, RACER_DIED);
  return got <= 0;
}

static size_t memory_of(pid_t pid) {
  char path[64];
  unsigned long all = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
  FILE *f = fopen(path, "r");
  if (!f)
    return 0;
  int fields = fscanf(f, "%lu %lu", &all, &resident);
  fclose(f);
  return fields == 2 ? (size_t)resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* The one that ended because of memory, or NULL. */
static struct racer *watch_memory_of(struct race *r) {
  size_t sum = 0;
  struct racer *largest = NULL;
  for (size_t i = 0; i < r->racers.n; i++) {
    struct racer *racer = &r->racers.at[i];
    if (racer->end != RACER_RUNS)
      continue;
    size_t memory = memory_of(racer->pid);
    if (memory > racer->memory)
      racer->memory = memory;
    sum += memory;
    if (!largest || racer->memory > largest->memory)
      largest = racer;
  }
  if (sum > r->most_memory)
    r->most_memory = sum;
  if (r->memory == 0 || sum <= r->memory || !largest)
    return NULL;
  end_racer(largest, RACER_MEMORY);
  return largest;
}

static bool over(struct race *r) {
  if (r->seconds > 0 && race_clock() - r->start >= r->seconds)
    r->late = true;
  return r->late || (r->interrupt && *r->interrupt);
}

struct racer *race_next(struct race *r) {
  VEC(struct pollfd) polled = {0};
  VEC(size_t) of = {0};
  struct racer *found = NULL;
  while (!found && !over(r)) {
    vec_clear(&polled);
    vec_clear(&of);
    for (size_t i = 0; i < r->racers.n; i++)
      if (r->racers.at[i].end == RACER_RUNS) {
        vec_push(&polled, ((struct pollfd){.fd = r->racers.at[i].wire, .events = POLLIN}));
        vec_push(&of, i);
      }
    if (polled.n == 0)
      break;
    int ready = poll(polled.at, polled.n, LOOK_AGAIN);
    for (size_t i = 0; ready > 0 && i < polled.n && !found; i++)
      if (polled.at[i].revents && read_wire(&r->racers.at[of.at[i]]))
        found = &r->racers.at[of.at[i]];
    if (!found)
      found = watch_memory_of(r);
    if (r->progress)
      r->progress(r->progress_context, r);
  }
  vec_release(&polled);
  vec_release(&of);
  return found;
}

void race_stop(struct race *r, struct racer *racer) {
  (void)r;
  end_racer(racer, RACER_STOPPED);
}

void race_release(struct race *r) {
  for (size_t i = 0; i < r->racers.n; i++) {
    struct racer *racer = &r->racers.at[i];
    end_racer(racer, RACER_STOPPED);
    text_release(&racer->progress);
    text_release(&racer->result);
  }
  vec_release(&r->racers);
}
