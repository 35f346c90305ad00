/* In a build without threads: a timer of the process, whose signal looks. The library's own treatment of Ctrl-C interrupts it from a
   handler in the same way. */
#include "symbolic/watchdog.h"

#include "base/memory.h"

#include <signal.h>
#include <sys/time.h>

#define LOOK_EVERY 20000 /* us of this process */

struct watchdog {
  struct watchdog *next;
  Z3_context z3;
  bool (*look)(void *);
  void *context;
};

/* A handler has no other way to know. */
static struct watchdog *volatile all;

static void look_all(int number) {
  (void)number;
  for (struct watchdog *w = all; w; w = w->next)
    if (w->look(w->context))
      Z3_interrupt(w->z3);
}

static void set_timer(long every) {
  struct itimerval timer = {.it_value.tv_usec = every, .it_interval.tv_usec = every};
  setitimer(ITIMER_PROF, &timer, NULL);
}

struct watchdog *watchdog_new(Z3_context z3, bool (*look)(void *), void *context) {
  struct watchdog *w = memory_alloc(sizeof *w);
  struct sigaction action = {.sa_handler = look_all, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, NULL);
  *w = (struct watchdog){.next = all, .z3 = z3, .look = look, .context = context};
  all = w;
  set_timer(LOOK_EVERY);
  return w;
}

void watchdog_free(struct watchdog *w) {
  if (!w)
    return;
  set_timer(0);
  if (all == w) {
    all = w->next;
  } else {
    struct watchdog *before = all;
    while (before->next != w)
      before = before->next;
    before->next = w->next;
  }
  if (all)
    set_timer(LOOK_EVERY);
  memory_free(w);
}
