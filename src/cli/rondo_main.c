#include "cli/terminal.h"

int main(int argc, char **argv) {
  rondo *r = terminal_open(NULL);
  return terminal_close(r, rondo_command(r, argc - 1, argv + 1));
}
