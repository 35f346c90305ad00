#include "driver/race.h"

#include "symbolic/solver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AGAIN = 50 /* ms */ };

double race_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void race_init(struct race *r, struct rondo *context, double seconds, size_t memory) {
  *r = (struct race){.rondo = context, .start = race_clock(), .seconds = seconds, .memory = memory};
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
  if (wire >= 0)
    send_frame(wire, 'p', progress, strlen(progress));
}

/* In a process of its own. */
static void run_work(void *argument, int wire) {
  const struct racer *racer = argument;
  struct text result = {0};
  solver_limit_memory(racer->limit);
  racer->work(racer->context, wire, &result);
  send_frame(wire, 'r', text_or_empty(&result), result.n);
  text_release(&result);
}

/* ---- in the old one ---- */

static const rondo_host *host_of(const struct race *r) {
  const rondo_host *h = &r->rondo->host;
  return h->start_process && h->end_process ? h : NULL;
}

bool race_alone(const struct race *r) { return !host_of(r); }

bool race_add(struct race *r, const char *name, race_work_fn *work, void *context) {
  struct racer racer = {.name = name, .work = work, .context = context, .limit = r->memory};
  const rondo_host *host = host_of(r);
  if (host && !host->start_process(host->context, run_work, &racer, &racer.process))
    return false;
  vec_push(&r->racers, racer);
  return true;
}

static void end_racer(struct race *r, struct racer *racer, enum racer_end end) {
  const rondo_host *host = host_of(r);
  if (racer->end != RACER_RUNS)
    return;
  if (host)
    host->end_process(host->context, &racer->process);
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

static bool read_wire(struct race *r, struct racer *racer) {
  char bytes[65536];
  ssize_t got = read(racer->process.wire, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return false;
  if (got > 0) {
    text_add_n(&racer->received, bytes, (size_t)got);
    take_frames(racer);
  }
  if (racer->end == RACER_DONE) {
    racer->end = RACER_RUNS; /* for end_racer */
    end_racer(r, racer, RACER_DONE);
    return true;
  }
  if (got <= 0)
    end_racer(r, racer, RACER_DIED);
  return got <= 0;
}

static size_t memory_of(long process) {
  char path[64];
  unsigned long all = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%ld/statm", process);
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
    size_t memory = memory_of(racer->process.id);
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
  end_racer(r, largest, RACER_MEMORY);
  return largest;
}

static bool over(struct race *r) {
  if (r->seconds > 0 && race_clock() - r->start >= r->seconds)
    r->late = true;
  return r->late || r->rondo->stop;
}

/* --- without processes --- */

#define FIRST_SLICE 2.0 /* seconds; then four times as many */

/* Those that were tried least often, the newest of them first: what checks an answer comes before further engines. */
static struct racer *next_alone(struct race *r) {
  struct racer *next = NULL;
  for (size_t i = 0; i < r->racers.n; i++)
    if (r->racers.at[i].end == RACER_RUNS && (!next || r->racers.at[i].tries <= next->tries))
      next = &r->racers.at[i];
  return next;
}

/* One after another, each for a while; who is not done begins again later, with more time. */
static struct racer *race_next_alone(struct race *r) {
  struct racer *racer;
  while (!over(r) && (racer = next_alone(r))) {
    double slice = FIRST_SLICE, left = r->seconds > 0 ? r->seconds - (race_clock() - r->start) : 0;
    for (uint32_t i = 0; i < racer->tries; i++)
      slice *= 4;
    if (left > 0 && slice > left)
      slice = left;
    racer->tries++;
    racer->result.n = 0;
    watch_time(r->rondo, slice);
    racer->work(racer->context, -1, &racer->result);
    bool done = !r->rondo->stop;
    watch_time(r->rondo, 0);
    if (done) {
      end_racer(r, racer, RACER_DONE);
      return racer;
    }
  }
  return NULL;
}

struct racer *race_next(struct race *r) {
  if (race_alone(r))
    return race_next_alone(r);
  VEC(struct pollfd) polled = {0};
  VEC(size_t) of = {0};
  struct racer *found = NULL;
  while (!found && !over(r)) {
    vec_clear(&polled);
    vec_clear(&of);
    for (size_t i = 0; i < r->racers.n; i++)
      if (r->racers.at[i].end == RACER_RUNS) {
        vec_push(&polled, ((struct pollfd){.fd = r->racers.at[i].process.wire, .events = POLLIN}));
        vec_push(&of, i);
      }
    if (polled.n == 0)
      break;
    int ready = poll(polled.at, polled.n, LOOK_AGAIN);
    for (size_t i = 0; ready > 0 && i < polled.n && !found; i++)
      if (polled.at[i].revents && read_wire(r, &r->racers.at[of.at[i]]))
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
  end_racer(r, racer, RACER_STOPPED);
}

void race_release(struct race *r) {
  for (size_t i = 0; i < r->racers.n; i++) {
    struct racer *racer = &r->racers.at[i];
    end_racer(r, racer, RACER_STOPPED);
    text_release(&racer->progress);
    text_release(&racer->result);
  }
  vec_release(&r->racers);
}
