/* The only way to the terminal: results to standard output, everything else to standard error. */
#ifndef RONDO_CLI_TERMINAL_H
#define RONDO_CLI_TERMINAL_H

#include "base/diag.h"
#include "report/layout.h"
#include "search/bfs.h"

struct style terminal_style(bool verbose); /* of standard output; NO_COLOR is honoured */

void be_plain(void);  /* what looks like a terminal is none */
void be_silent(void); /* somebody else says everything that is to be said from here on */
void be_heard(void);  /* nobody else does */
void say(struct text *);                /* to standard output, and releases it */
void say_error(const char *format, ...) /* "rondo: ..." to standard error */
    __attribute__((format(printf, 1, 2)));
void say_diags(const struct diags *); /* to standard error */
/* Everything written? If not says so, and gives the exit status for it. */
int finish_output(int status);

/* Ctrl-C and SIGTERM set the flag; a second one kills. */
const volatile sig_atomic_t *watch_interrupts(void);
/* The flag is set, too, once so much time has passed (0: never); what an earlier call left is
 * undone. */
void watch_time(double seconds);
/* Running out of memory is a limit too. */
void watch_memory(void);
size_t default_memory_limit(void);
/* The flag is set, too, while the process has more than that in core (0: whatever it has); what an earlier call left is undone. */
void watch_resident_memory(size_t limit);
/* Before that: set a few seconds after an interruption, or when time is up. */
const volatile sig_atomic_t *watch_patience(void);
double checkpoint_seconds(void); /* from one to the next; for tests: RONDO_TEST_CHECKPOINT_SECONDS */
uint64_t tested_threads_from(void); /* for tests: RONDO_TEST_THREADS_FROM; 0: not set */
uint64_t tested_sieve_from(void);   /* likewise RONDO_TEST_SIEVE_FROM */
uint32_t tested_signature(void); /* likewise: RONDO_TEST_HASH_BITS: how many bits '--store hash' keeps, 1 to 40 */
uint64_t tested_spill_from(void); /* likewise: RONDO_TEST_SPILL_FROM */
enum letters_by tested_letters(void); /* likewise: RONDO_TEST_LETTERS: always, never */
bool tested_narrow_keys(void);         /* likewise: RONDO_TEST_NARROW_KEYS */
bool tested_without_second_look(void); /* likewise: RONDO_TEST_NO_SECOND_LOOK: what several found is told as they found it */
uint32_t default_threads(void); /* one for each processor that we may use */

/* A line on standard error while a search runs, if that is a terminal. Its context is the model. */
search_progress_fn *progress_or_null(void);
void progress_clear(void);

#endif
