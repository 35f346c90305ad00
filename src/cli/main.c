#include "cli/program.h"

int main(int argc, char **argv) { return program(argc, argv, NULL); }
