#include "driver/jobs.h"

#include "symbolic/solver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MILLISECONDS = 10 /* ms: a process that allocates fast must not get far beyond the limit */ };

void jobs_init(struct jobs *r, struct rondo *context, double seconds, size_t memory) {
  *r = (struct jobs){.rondo = context, .start = clock_seconds(), .seconds = seconds, .memory = memory};
}

/* ---- in the child process ---- */

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

struct job_line {
  int wire;          /* in a process of its own */
  struct jobs *jobs; /* in this process: all of them, and the one; else NULL */
  struct job *job;
};

void job_report_progress(const struct job_line *line, const char *progress) {
  if (!line->jobs) {
    send_frame(line->wire, 'p', progress, strlen(progress));
    return;
  }
  line->job->progress.n = 0;
  text_add(&line->job->progress, progress);
  if (line->jobs->progress)
    line->jobs->progress(line->jobs->progress_context, line->jobs);
}

struct child {
  struct rondo *rondo;
  const struct job *job;
};

/* In a process of its own. */
static void run_work(void *argument, int wire) {
  const struct child *child = argument;
  const struct job *job = child->job;
  struct text result = {0};
  monitor_forget(child->rondo);
  child->rondo->host.overdue = NULL; /* only the parent answers the host */
  solver_limit_memory(job->limit);
  job->work(job->context, &(struct job_line){.wire = wire}, &result);
  send_frame(wire, 'r', text_or_empty(&result), result.n);
  text_release(&result);
}

/* ---- in the parent process ---- */

static const rondo_host *host_of(const struct jobs *r) {
  const rondo_host *h = &r->rondo->host;
  return h->start_process && h->end_process ? h : NULL;
}

const volatile sig_atomic_t *jobs_stop_flag(const struct jobs *r) { return host_of(r) ? NULL : &r->rondo->stop; }

bool jobs_add(struct jobs *r, const char *name, job_work_fn *work, void *context) {
  struct job job = {.name = name, .work = work, .context = context, .limit = r->memory};
  const rondo_host *host = host_of(r);
  bool json = r->rondo->json, started = true;
  r->rondo->json = false; /* the other process answers on its wire only */
  if (host)
    started = host->start_process(host->context, run_work, &(struct child){r->rondo, &job}, &job.process);
  r->rondo->json = json;
  if (!started)
    return false;
  vec_push(&r->entries, job);
  return true;
}

static void job_end_now(struct jobs *r, struct job *job, enum job_end end) {
  const rondo_host *host = host_of(r);
  if (job->end != JOB_RUNNING)
    return;
  if (host)
    host->end_process(host->context, &job->process);
  job->end = end;
  text_release(&job->received);
}

/* Decodes the frames that were received completely. */
static void take_frames(struct job *job) {
  size_t at = 0;
  while (at < job->received.n) {
    const char *start = job->received.at + at;
    const char *line = memchr(start, '\n', job->received.n - at);
    size_t n = 0;
    if (!line || sscanf(start + 1, "%zu", &n) != 1 || job->received.n - at - (size_t)(line + 1 - start) < n)
      break;
    struct text *to = *start == 'r' ? &job->result : &job->progress;
    to->n = 0;
    text_add_n(to, line + 1, n);
    if (*start == 'r')
      job->end = JOB_DONE;
    at += (size_t)(line + 1 - start) + n;
  }
  if (at > 0) {
    memmove(job->received.at, job->received.at + at, job->received.n - at);
    job->received.n -= at;
    job->received.at[job->received.n] = '\0';
  }
}

static bool job_read(struct jobs *r, struct job *job) {
  char bytes[65536];
  ssize_t got = read(job->process.wire, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return false;
  if (got > 0) {
    text_add_n(&job->received, bytes, (size_t)got);
    take_frames(job);
  }
  if (job->end == JOB_DONE) {
    job->end = JOB_RUNNING; /* for job_end_now */
    job_end_now(r, job, JOB_DONE);
    return true;
  }
  if (got <= 0)
    job_end_now(r, job, JOB_DIED);
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

/* The job that was ended because of memory, or NULL. */
static struct job *enforce_memory_limit(struct jobs *r) {
  size_t sum = 0;
  struct job *largest = NULL;
  for (size_t i = 0; i < r->entries.n; i++) {
    struct job *job = &r->entries.at[i];
    if (job->end != JOB_RUNNING)
      continue;
    size_t memory = memory_of(job->process.id);
    if (memory > job->memory)
      job->memory = memory;
    sum += memory;
    if (!largest || job->memory > largest->memory)
      largest = job;
  }
  if (sum > r->most_memory)
    r->most_memory = sum;
  if (r->memory == 0 || sum <= r->memory || !largest)
    return NULL;
  job_end_now(r, largest, JOB_OUT_OF_MEMORY);
  return largest;
}

/* The job that was ended because its time is up, or NULL. */
static struct job *enforce_deadlines(struct jobs *r) {
  double now = clock_seconds();
  for (size_t i = 0; i < r->entries.n; i++) {
    struct job *job = &r->entries.at[i];
    if (job->end == JOB_RUNNING && job->deadline > 0 && now >= job->deadline) {
      job_end_now(r, job, JOB_STOPPED);
      return job;
    }
  }
  return NULL;
}

static bool over(struct jobs *r) {
  if (r->seconds > 0 && clock_seconds() - r->start >= r->seconds)
    r->late = true;
  return r->late || r->rondo->stop;
}

/* --- without processes --- */

#define FIRST_SLICE 2.0 /* seconds; then four times as many */

/* The job that was tried least often, the newest first: the check of a certificate comes before further engines. */
static struct job *next_in_turn(struct jobs *r, bool *alone) {
  struct job *next = NULL;
  *alone = true;
  for (size_t i = 0; i < r->entries.n; i++) {
    if (r->entries.at[i].end != JOB_RUNNING)
      continue;
    *alone = !next;
    if (!next || r->entries.at[i].tries <= next->tries)
      next = &r->entries.at[i];
  }
  return next;
}

/* 0: no limit. The last job gets all the time that is left. */
static double slice_of(const struct jobs *r, const struct job *job, bool alone) {
  double slice = FIRST_SLICE, left = r->seconds > 0 ? r->seconds - (clock_seconds() - r->start) : 0;
  if (r->seconds > 0 && left < 1e-3)
    left = 1e-3;
  for (uint32_t i = 0; i < job->tries; i++)
    slice *= 4;
  return alone || (left > 0 && slice > left) ? left : slice;
}

/* Jobs run one after another, each for a time slice. One that did not finish starts again later, with a longer slice.
 */
static struct job *jobs_next_in_turn(struct jobs *r) {
  struct job *job;
  bool alone;
  while (!over(r) && (job = next_in_turn(r, &alone))) {
    double slice = slice_of(r, job, alone);
    job->tries++;
    job->result.n = 0;
    if (slice > 0)
      watch_time(r->rondo, slice);
    if (r->memory > 0)
      watch_resident_memory(r->rondo, r->memory);
    job->work(job->context, &(struct job_line){.wire = -1, .jobs = r, .job = job}, &job->result);
    sig_atomic_t stop = r->rondo->stop;
    if (r->memory > 0)
      watch_resident_memory(r->rondo, 0);
    if (slice > 0)
      watch_time(r->rondo, 0);
    if (!stop || stop == INTERRUPT_MEMORY) {
      job_end_now(r, job, stop ? JOB_OUT_OF_MEMORY : JOB_DONE);
      return job;
    }
  }
  return NULL;
}

struct job *jobs_next(struct jobs *r) {
  if (!host_of(r))
    return jobs_next_in_turn(r);
  VEC(struct pollfd) polled = {0};
  VEC(size_t) of = {0};
  struct job *found = NULL;
  while (!found && !over(r)) {
    vec_clear(&polled);
    vec_clear(&of);
    for (size_t i = 0; i < r->entries.n; i++)
      if (r->entries.at[i].end == JOB_RUNNING) {
        vec_push(&polled, ((struct pollfd){.fd = r->entries.at[i].process.wire, .events = POLLIN}));
        vec_push(&of, i);
      }
    if (polled.n == 0)
      break;
    int ready = poll(polled.at, polled.n, POLL_MILLISECONDS);
    for (size_t i = 0; ready > 0 && i < polled.n && !found; i++)
      if (polled.at[i].revents && job_read(r, &r->entries.at[of.at[i]]))
        found = &r->entries.at[of.at[i]];
    if (!found)
      found = enforce_memory_limit(r);
    if (!found)
      found = enforce_deadlines(r);
    if (r->progress)
      r->progress(r->progress_context, r);
  }
  vec_release(&polled);
  vec_release(&of);
  return found;
}

void jobs_release(struct jobs *r) {
  for (size_t i = 0; i < r->entries.n; i++) {
    struct job *job = &r->entries.at[i];
    job_end_now(r, job, JOB_STOPPED);
    text_release(&job->progress);
    text_release(&job->result);
  }
  vec_release(&r->entries);
}
