/* Private to src/export: the reserved words of a language, as one string separated by spaces. */
#ifndef RONDO_EXPORT_RESERVED_WORDS_H
#define RONDO_EXPORT_RESERVED_WORDS_H

#include <stdbool.h>
#include <string.h>

static inline bool is_one_of_words(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *at = words; n > 0 && (at = strstr(at, word)); at += n)
    if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
      return true;
  return false;
}

#endif
