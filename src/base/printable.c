#include "base/printable.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of a control character: those of ASCII have one, those of Latin-1 have two in UTF-8; 0: it is none. */
static size_t control_length(const unsigned char *at) {
  if (*at < 0x20 || *at == 0x7F)
    return 1;
  return *at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0 ? 2 : 0;
}

static void add_printable(struct text *t, const char *words, bool breaks) {
  const unsigned char *at = (const unsigned char *)words;
  while (*at) {
    size_t n = *at == '\n' && breaks ? 0 : control_length(at);
    if (n == 0)
      text_add_n(t, (const char *)at++, 1);
    for (; n > 0; n--)
      text_addf(t, "\\x%02x", *at++);
  }
}

void text_add_printable(struct text *t, const char *words) { add_printable(t, words, false); }

void text_make_printable(struct text *t) {
  bool any = false;
  for (size_t i = 0; i < t->n && !any; i++)
    any = t->at[i] != '\n' && control_length((const unsigned char *)t->at + i) > 0;
  if (!any)
    return;
  struct text copy = {0};
  add_printable(&copy, t->at, true);
  text_release(t);
  *t = copy;
}
