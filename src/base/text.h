/* A growable string. */
#ifndef RONDO_BASE_TEXT_H
#define RONDO_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
  char *at; /* NUL-terminated; NULL while nothing was added */
  size_t n, cap;
};

void text_add(struct text *, const char *string);
void text_add_n(struct text *, const char *bytes, size_t n);
void text_addf(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *, const char *format, va_list) __attribute__((format(printf, 2, 0)));
/* Appends spaces until at[start..n) is `width` columns wide */
void text_pad_to(struct text *, size_t start, size_t width);
const char *text_or_empty(const struct text *);
void text_release(struct text *);

#endif
