#include "driver/option_values.h"

#include "model/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool count_parse(const char *s, uint64_t least, uint64_t most, uint64_t *out, struct text *error) {
  char *end;
  errno = 0;
  unsigned long long v = strtoull(s, &end, 10);
  if (!isdigit((unsigned char)*s) || *end) {
    text_addf(error, "'%s' is not a whole number", s);
    return false;
  }
  if (errno || v < least || v > most) {
    text_addf(error, "%s is not between %" PRIu64 " and %" PRIu64, s, least, most);
    return false;
  }
  *out = v;
  return true;
}

/* A nonnegative number and the text after it. */
static bool amount_parse(const char *s, double *amount, const char **unit) {
  char *end;
  if (!isdigit((unsigned char)*s) || (s[0] == '0' && (s[1] | 32) == 'x'))
    return false;
  *amount = strtod(s, &end);
  *unit = end;
  return isfinite(*amount);
}

bool size_parse(const char *s, size_t *out, struct text *error) {
  static const char letters[] = "kmgt";
  double amount;
  const char *unit, *letter;
  bool ok = amount_parse(s, &amount, &unit);
  if (ok && *unit && (letter = strchr(letters, tolower((unsigned char)*unit)))) {
    for (; letter >= letters; letter--)
      amount *= 1024;
    unit++;
    if (*unit == 'i')
      unit++;
  }
  if (ok && (*unit == 'B' || *unit == 'b'))
    unit++;
  if (!ok || *unit || amount < 1 || amount >= 0x1p62) {
    text_addf(error, "'%s' is not a size such as 512M or 4G", s);
    return false;
  }
  *out = amount < (double)SIZE_MAX ? (size_t)amount : SIZE_MAX;
  return true;
}

bool seconds_parse(const char *s, double *out, struct text *error) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"min", 60}, {"h", 3600}};
  const char *unit;
  if (amount_parse(s, out, &unit) && *out > 0)
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
      if (!strcmp(unit, units[i].name)) {
        *out *= units[i].seconds;
        return true;
      }
  text_addf(error, "'%s' is not a time such as 90, 90s, 5m or 2h", s);
  return false;
}

/* An integer at *s, moving past it. */
static bool integer_parse(const char **s, int64_t *out, bool *too_large) {
  char *end;
  const char *digits = **s == '-' ? *s + 1 : *s;
  if (!isdigit((unsigned char)*digits))
    return false;
  errno = 0;
  *out = strtoll(*s, &end, 10);
  *too_large = errno != 0;
  *s = end;
  return true;
}

bool define_parse(const char *s, struct define *out, struct text *error) {
  size_t n = 0;
  bool large = false, larger = false;
  while (isalnum((unsigned char)s[n]) || s[n] == '_')
    n++;
  if (n == 0 || isdigit((unsigned char)*s) || s[n] != '=') {
    text_addf(error, "'%s' does not define a parameter\n  help: write it as in -D n=4 or -D n=3..8", s);
    return false;
  }
  const char *at = s + n + 1;
  bool truth = !strcmp(at, "true"), ok = truth || !strcmp(at, "false");
  out->low = truth;
  if (ok) /* of a parameter that is a bool */
    at += strlen(at);
  else
    ok = integer_parse(&at, &out->low, &large);
  out->high = out->low;
  if (ok && !strncmp(at, "..", 2)) {
    at += 2;
    ok = integer_parse(&at, &out->high, &larger);
  }
  if (!ok || *at) {
    text_addf(error, "'%s' is not a whole number, in '%s'\n  help: write it as in -D %.*s=4 or -D %.*s=3..8", s + n + 1,
              s, (int)n, s, (int)n, s);
    return false;
  }
  if (large || larger || !number_fits(out->low) || !number_fits(out->high)) {
    text_addf(error, "the number in '%s' is too large", s);
    return false;
  }
  if (out->low > out->high) {
    text_addf(error, "the range in '%s' is empty\n  help: write the smaller number first", s);
    return false;
  }
  out->name = memory_resize(NULL, n + 1);
  memcpy(out->name, s, n);
  out->name[n] = '\0';
  return true;
}
