/* Runs a command and writes to FILE how it ended, its processor microseconds, the clock's, and its peak in KiB. The
   peak that the system tells of a process includes that of the program which started it: so it is started by one that
   is small. usage: timed FILE COMMAND... */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 3;
  long long began = now();
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) < 0)
    return 2;
  long long elapsed = now() - began;
  long long cpu =
      (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  FILE *out = fopen(argv[1], "w");
  if (!out)
    return 2;
  fprintf(out, "%d %lld %lld %ld\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), cpu, elapsed,
          used.ru_maxrss);
  return fclose(out) ? 2 : 0;
}
