/* Loaded into rondo with LD_PRELOAD, this makes many processes of one: rondo is started and linked once, and forks for
   each command. Starting it (its libraries are large, and sanitizers make it slower) takes longer than most commands of
   the tests do. Each command still has a process of its own, and runs the program's main from the beginning.

   RONDO_FORK_SERVER is the number of a socket of packets. Each one is a command: folder, number of words, words,
   environment, each of them ended by a NUL, with file descriptors for the output and the errors. The answers are the
   process and, when it has ended, its status. tests/fork_server.py is the other side. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

enum { PACKET_MOST = 1 << 17, STRINGS_MOST = 1 << 12, FDS = 2 };

static main_fn *program;
static char packet[PACKET_MOST + 1];
static char *strings[STRINGS_MOST + 1], *arguments[STRINGS_MOST + 1];
extern char **environ;

/* The length of the packet, and the file descriptors that came with it; -1: there are no more. */
static ssize_t receive(int wire, int fds[FDS]) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(FDS * sizeof(int))];
  } control;
  struct iovec text = {packet, PACKET_MOST};
  struct msghdr message = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(wire, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *with = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!with || with->cmsg_len != CMSG_LEN(FDS * sizeof(int)) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
    return -1;
  memcpy(fds, CMSG_DATA(with), FDS * sizeof(int));
  return n;
}

/* In the process of the command. */
static int run(ssize_t length, const int fds[FDS]) {
  size_t n = 0;
  int null = open("/dev/null", O_RDONLY);
  for (char *at = packet; at < packet + length && n < STRINGS_MOST; at += strlen(at) + 1)
    strings[n++] = at;
  strings[n] = NULL;
  int words = n > 1 ? atoi(strings[1]) : 0;
  if (words < 1 || n < 2 + (size_t)words || n == STRINGS_MOST || chdir(strings[0]) != 0 || dup2(null, 0) < 0 ||
      dup2(fds[0], 1) < 0 || dup2(fds[1], 2) < 0)
    _exit(127);
  memcpy(arguments, strings + 2, (size_t)words * sizeof *arguments);
  environ = strings + 2 + words;
  return program(words, arguments, environ);
}

static int serve(int argc, char **argv, char **envp) {
  const char *number = getenv("RONDO_FORK_SERVER");
  int wire = number ? atoi(number) : -1, fds[FDS];
  ssize_t length;
  if (wire < 0)
    return program(argc, argv, envp);
  pid_t server = getpid();
  while ((length = receive(wire, fds)) > 0) {
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != server)
        _exit(127);
      close(wire);
      return run(length, fds);
    }
    close(fds[0]);
    close(fds[1]);
    int answer[1] = {child}, status = 0;
    if (child < 0 || send(wire, answer, sizeof answer, MSG_NOSIGNAL) < 0)
      break;
    waitpid(child, &status, 0);
    answer[0] = status;
    if (send(wire, answer, sizeof answer, MSG_NOSIGNAL) < 0)
      break;
  }
  _exit(0);
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  void *found = dlsym(RTLD_NEXT, "__libc_start_main");
  start_fn *start;
  memcpy(&start, &found, sizeof start); /* POSIX has it so */
  program = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
