/* Jobs in processes of their own, whatever the monitor thread is doing when they are started. */
#include "base/memory.h"
#include "driver/jobs.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

struct host {
  sem_t overdue, go_on;
};

static bool start_process(void *context, void (*work)(void *argument, int wire), void *argument,
                          rondo_process *process) {
  int wire[2];
  (void)context;
  if (pipe(wire) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    work(argument, wire[1]);
    _exit(0);
  }
  close(wire[1]);
  *process = (rondo_process){.id = child, .wire = wire[0]};
  return child > 0;
}

static void end_process(void *context, const rondo_process *process) {
  (void)context;
  kill((pid_t)process->id, SIGKILL);
  close(process->wire);
  waitpid((pid_t)process->id, NULL, 0);
}

/* Called by the monitor thread, which holds its lock meanwhile. */
static void overdue(void *context, rondo_status status, const char *answer, const char *message) {
  struct host *h = context;
  (void)status;
  (void)answer;
  (void)message;
  sem_post(&h->overdue);
  sem_wait(&h->go_on);
}

static void until_stopped(void *context, const struct job_line *line, struct text *result) {
  struct rondo *r = context;
  (void)line;
  watch_time(r, 0.01);
  while (!r->stop)
    ;
  text_addf(result, "%d", r->stop == INTERRUPT_TIME);
  watch_time(r, 0);
  text_addf(result, "%d", (int)r->stop);
  watch_answer(r, clock_seconds(), 0); /* would be overdue, and the host would wait for ever */
  watch_answer(r, 0, 0);
}

static void limits_hold_in_a_process_of_its_own(void **state) {
  (void)state;
  struct host h;
  sem_init(&h.overdue, 0, 0);
  sem_init(&h.go_on, 0, 0);
  rondo_host host = {.context = &h, .start_process = start_process, .end_process = end_process, .overdue = overdue};
  rondo *r = rondo_new(&host);
  struct jobs jobs;
  watch_listening(r, true);
  watch_answer(r, clock_seconds(), 0);
  for (volatile double work = 0; sem_trywait(&h.overdue) != 0; work++) /* idling is not being late */
    ;
  jobs_init(&jobs, r, 30, 0);
  assert_true(jobs_add(&jobs, "job", until_stopped, r));
  struct job *job = jobs_next(&jobs);
  enum job_end end = job ? job->end : JOB_STOPPED;
  char *result = memory_strdup(job ? text_or_empty(&job->result) : "");
  jobs_release(&jobs);
  sem_post(&h.go_on);
  rondo_free(r);
  assert_int_equal(end, JOB_DONE);
  assert_string_equal(result, "10");
  memory_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(limits_hold_in_a_process_of_its_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
