/* Any words as a command line, read but not run: options may name files to write. The words are separated by zero bytes
   or line breaks; the first byte selects the command. */
#include "fuzz.h"

#include "driver/context.h"
#include "driver/options.h"

#define WORDS_MAX 64

static enum command command_of(uint8_t byte) {
  static const char *const names[] = {"check", "resume", "compare", "prove", "threshold", "export", "reproduce",
                                      "run",   "replay", "lint",    "fmt",   "explain",   "help"};
  enum command c;
  fuzz_must(command_find(names[byte % (sizeof names / sizeof *names)], &c), "a command is gone");
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size == 0)
    return 0;
  char *text = malloc(size), *words[WORDS_MAX];
  if (!text)
    return 0;
  memcpy(text, bytes + 1, size - 1);
  text[size - 1] = '\0';
  int n = 0;
  for (char *at = text; n < WORDS_MAX && at < text + size; n++) {
    words[n] = at;
    at += strcspn(at, "\n");
    *at++ = '\0';
  }
  rondo *r = rondo_new(NULL);
  struct command_options o;
  struct complaint error = {0};
  bool fine = options_parse(&o, r, command_of(bytes[0]), n, words, &error);
  fuzz_must(fine == (error.text.n == 0), "a refused option says why, and an accepted one does not");
  for (int i = 0; i + 1 < n; i++) {
    struct complaint one = {0};
    option_is_valid(words[i], words[i + 1], &one);
    text_release(&one.text);
    command_nearest(words[i]);
  }
  text_release(&error.text);
  options_release(&o);
  rondo_free(r);
  free(text);
  return 0;
}
