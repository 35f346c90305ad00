#include "lang/foreign.h"

#include <ctype.h>
#include <string.h>

const char *foreign_word_help(const char *word, size_t length, enum foreign_place place) {
  static const struct {
    const char *word;
    size_t length;
    unsigned places;
    const char *help;
  } words[] = {
#define WORD(word, places, help) {word, sizeof word - 1, places, help},
#include "lang/foreign.def"
#undef WORD
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].length == length && (words[i].places & place) && !memcmp(words[i].word, word, length))
      return words[i].help;
  return NULL;
}

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

const struct foreign_sign *foreign_sign_find(const char *text, size_t length) {
  static const struct foreign_sign signs[] = {
#define SIGN(sign, ours, help) {sign, ours, help},
#include "lang/foreign.def"
#undef SIGN
  };
  if (length == 0 || (!strchr("/\\~<=>|-!@#:*%^", text[0]) && (unsigned char)text[0] < 0x80))
    return NULL; /* no sign starts like this */
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    size_t n = strlen(signs[i].sign);
    if (n > length || memcmp(signs[i].sign, text, n) != 0)
      continue;
    if (!is_word(signs[i].sign[n - 1]) || n == length || !is_word(text[n]))
      return &signs[i];
  }
  return NULL;
}
