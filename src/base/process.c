#include "base/process.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

bool processes_exist(void) {
#ifdef __EMSCRIPTEN__
  return false;
#else
  return true;
#endif
}

bool process_follow(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  return getppid() == parent;
}
