#include "base/text.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void text_reserve(struct text *t, size_t more) {
  size_t need;
  if (__builtin_add_overflow(t->n, more, &need) || __builtin_add_overflow(need, (size_t)1, &need))
    need = SIZE_MAX;
  if (need <= t->cap)
    return;
  size_t cap = t->cap < 32 ? 64 : t->cap * 2;
  if (cap < need)
    cap = need;
  t->at = memory_resize(t->at, cap);
  t->cap = cap;
}

void text_add_n(struct text *t, const char *bytes, size_t n) {
  text_reserve(t, n);
  if (n)
    memcpy(t->at + t->n, bytes, n);
  t->n += n;
  t->at[t->n] = '\0';
}

void text_add(struct text *t, const char *string) { text_add_n(t, string, strlen(string)); }

void text_addv(struct text *t, const char *format, va_list args) {
  if (!format) /* never true; avoids a gcc warning under -fsanitize=undefined */
    return;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length <= 0)
    return;
  text_reserve(t, (size_t)length);
  vsnprintf(t->at + t->n, (size_t)length + 1, format, args);
  t->n += (size_t)length;
}

void text_addf(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_addv(t, format, args);
  va_end(args);
}

void text_pad_to(struct text *t, size_t start, size_t width) {
  size_t wide = 0;
  for (size_t i = start; i < t->n; i++)
    wide += ((unsigned char)t->at[i] & 0xC0) != 0x80; /* UTF-8: count characters, not bytes */
  for (; wide < width; wide++)
    text_add_n(t, " ", 1);
}

const char *text_or_empty(const struct text *t) { return t->at ? t->at : ""; }

void text_release(struct text *t) {
  memory_free(t->at);
  *t = (struct text){0};
}
