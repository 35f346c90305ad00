/* The names of the reductions, and the user's request. */
#include "analysis/licence.h"

#include <string.h>

static const char *const names[] = {
#define REDUCTION(id, name, text) name,
#include "analysis/reductions.def"
#undef REDUCTION
};

static const char *const texts[] = {
#define REDUCTION(id, name, text) text,
#include "analysis/reductions.def"
#undef REDUCTION
};

const char *reduction_name(enum reduction r) { return names[r]; }

const char *reduction_text(enum reduction r) { return texts[r]; }

static void all(struct reduction_request *w, enum request_mode mode) {
  for (int i = 0; i < REDUCTIONS; i++)
    w->reduce[i] = mode;
}

static bool is(const char *word, size_t n, const char *name) { return strlen(name) == n && memcmp(word, name, n) == 0; }

static void unknown(const char *word, size_t n, struct text *error) {
  char copy[64];
  size_t length = n < sizeof copy - 1 ? n : sizeof copy - 1;
  memcpy(copy, word, length);
  copy[length] = '\0';
  text_addf(error, "unknown reduction '%s'", copy);
  const char *near = nearest_name(copy, names, REDUCTIONS);
  if (near) {
    text_addf(error, ": did you mean '%s'?", near);
    return;
  }
  text_add(error, ": there are auto, none");
  for (int i = 0; i < REDUCTIONS; i++)
    text_addf(error, ", %s", names[i]);
}

/* One item of the list: `symmetry`, `partition!`, or `auto` for all that are not named. */
static bool parse_item(const char *word, size_t n, struct reduction_request *w, struct text *error) {
  bool forced = n > 0 && word[n - 1] == '!';
  if (is(word, n, "auto")) {
    for (int i = 0; i < REDUCTIONS; i++)
      if (w->reduce[i] == REQUEST_OFF)
        w->reduce[i] = REQUEST_AUTO;
    return true;
  }
  for (int i = 0; i < REDUCTIONS; i++)
    if (is(word, n - forced, names[i])) {
      w->reduce[i] = forced ? REQUEST_FORCED : REQUEST_ON;
      return true;
    }
  unknown(word, n - forced, error);
  return false;
}

bool reduction_request_parse(const char *text, struct reduction_request *w, struct text *error) {
  all(w, REQUEST_OFF);
  if (strcmp(text, "none") == 0)
    return true;
  for (const char *at = text;;) {
    at += strspn(at, " ");
    size_t length = strcspn(at, ","), n = length;
    while (n > 0 && at[n - 1] == ' ')
      n--;
    if (n == 0) {
      text_add(error, "a reduction is missing: 'auto', 'none', or a list such as 'symmetry,order'");
      return false;
    }
    if (is(at, n, "none")) {
      text_add(error, "'none' stands alone");
      return false;
    }
    if (!parse_item(at, n, w, error))
      return false;
    if (at[length] == '\0')
      return true;
    at += length + 1;
  }
}
