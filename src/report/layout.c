#include "report/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INDENT 2
#define LABEL 10 /* columns of indentation and label together */
#define GAP "   "

void paint_add(struct text *out, const struct style *style, enum paint paint, const char *s) {
  static const char *const codes[] = {"32", "1;31", "33", "1", "2"};
  if (style->colour && paint != PAINT_NONE)
    text_addf(out, "\033[%sm%s\033[0m", codes[paint], s);
  else
    text_add(out, s);
}

void decimal_add(struct text *out, const char *digits) {
  size_t n = strlen(digits);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0)
      text_add(out, ",");
    text_add_n(out, digits + i, 1);
  }
}

void number_add(struct text *out, uint64_t v) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRIu64, v);
  decimal_add(out, digits);
}

void bytes_add(struct text *out, uint64_t v) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = (double)v;
  unsigned unit = 0;
  for (; amount >= 1000 && unit < 4; unit++)
    amount /= 1024;
  text_addf(out, unit == 0 || amount >= 100 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
}

void seconds_add(struct text *out, double s) {
  if (s < 60)
    text_addf(out, s < 10 ? "%.2f s" : "%.1f s", s);
  else if (s < 3600)
    text_addf(out, "%d min %d s", (int)s / 60, (int)s % 60);
  else
    text_addf(out, "%d h %d min", (int)(s / 3600), (int)s / 60 % 60);
}

void count_add(struct text *out, uint64_t n, const char *one, const char *many) {
  number_add(out, n);
  text_addf(out, " %s", n == 1 ? one : many);
}

void param_add(struct text *out, const struct param *p) {
  if (p->truth)
    text_add(out, p->value ? "true" : "false");
  else
    text_addf(out, "%" PRId64, p->value);
}

void params_add(struct text *out, const struct model *m) {
  for (uint32_t i = 0; i < m->nparams; i++) {
    text_addf(out, "%s%s = ", i ? ", " : "", m->params[i].name);
    param_add(out, &m->params[i]);
  }
}

static uint32_t members_count(const uint8_t *members, uint32_t from, uint32_t to) {
  uint32_t n = 0;
  for (uint32_t p = from; p < to; p++)
    n += members[p] != 0;
  return n;
}

static void add_name(struct text *out, const struct model *m, uint32_t p) {
  value_print(&m->values, m, m->process_types.any, p, out);
}

/* The members of one role; ranges of four or more are abbreviated. */
static void add_members(struct text *out, const struct model *m, const struct role *role, const uint8_t *members,
                        const char **between) {
  uint32_t end = role->first + role->count;
  for (uint32_t p = role->first; p < end;) {
    uint32_t last = p;
    if (!members[p]) {
      p++;
      continue;
    }
    while (last + 1 < end && members[last + 1])
      last++;
    if (last - p < 3)
      last = p;
    text_add(out, *between);
    add_name(out, m, p);
    if (last > p) {
      text_add(out, "..");
      add_name(out, m, last);
    }
    *between = ", ";
    p = last + 1;
  }
}

void processes_add(struct text *out, const struct model *m, const uint8_t *members) {
  uint32_t n = members_count(members, 0, m->nprocesses);
  const char *between = "";
  if (n == 0 || (n == m->nprocesses && n > 1)) {
    text_add(out, n == 0 ? "nobody" : "everybody");
    return;
  }
  if (m->nroles == 1 && m->nprocesses >= 4 && n + 1 == m->nprocesses) {
    uint32_t p = 0;
    while (members[p])
      p++;
    text_add(out, "everybody but ");
    add_name(out, m, p);
    return;
  }
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    if (role->count > 1 && m->nroles > 1 &&
        members_count(members, role->first, role->first + role->count) == role->count) {
      text_addf(out, "%severy %s", between, role->name);
      between = ", ";
    } else {
      add_members(out, m, role, members, &between);
    }
  }
}

void items_add(struct text_items *items, struct text *text) {
  vec_push(&items->at, memory_strdup(text_or_empty(text)));
  text_release(text);
}

size_t text_columns(const char *s, size_t n) {
  size_t wide = 0;
  for (const char *end = s + n; s < end; s++) {
    if (*s == '\033')
      while (s < end && *s != 'm')
        s++;
    else
      wide += ((unsigned char)*s & 0xC0) != 0x80;
  }
  return wide;
}

/* The next possible line break, a blank after a comma or semicolon outside brackets, or NULL. */
static const char *next_break(const char *s, char sign) {
  int depth = 0;
  for (; *s; s++) {
    depth += *s == '(' || *s == '[' || *s == '{';
    depth -= *s == ')' || *s == ']' || *s == '}';
    if (depth <= 0 && s[0] == sign && s[1] == ' ')
      return s;
  }
  return NULL;
}

/* The start of the next line: after the last break that fits, or else after the first one. */
static const char *cut_at(const char *item, size_t at, size_t width, char sign, bool *fits) {
  const char *cut = NULL;
  *fits = false;
  for (const char *s = next_break(item, sign); s; s = next_break(s + 2, sign)) {
    bool fit = at + text_columns(item, (size_t)(s + 1 - item)) <= width;
    if (cut && !fit)
      break;
    *fits |= fit;
    cut = s + 2;
  }
  return cut;
}

/* Adds one item; if it is too long for a line, it is broken at "; " or else at ", ". */
static size_t add_wrapped(struct text *out, const char *item, size_t at, size_t indent, size_t width) {
  while (at + text_columns(item, strlen(item)) > width) {
    bool fits, comma_fits;
    const char *cut = cut_at(item, at, width, ';', &fits);
    const char *comma = cut_at(item, at, width, ',', &comma_fits);
    if (!fits && comma && (comma_fits || !cut))
      cut = comma;
    if (!cut)
      break;
    text_add_n(out, item, (size_t)(cut - 1 - item));
    text_addf(out, "\n%*s", (int)indent, "");
    at = indent;
    item = cut;
  }
  text_add(out, item);
  return at + text_columns(item, strlen(item));
}

void items_print(struct text_items *items, const struct style *style, const char *label, bool one_each,
                 struct text *out) {
  if (items->at.n == 0)
    return;
  size_t used = INDENT + strlen(label), at = used + 1 > LABEL ? used + 1 : LABEL;
  text_addf(out, "%*s", INDENT, "");
  paint_add(out, style, PAINT_FAINT, label);
  text_addf(out, "%*s", (int)(at - used), "");
  for (size_t i = 0; i < items->at.n; i++) {
    size_t wide = text_columns(items->at.at[i], strlen(items->at.at[i]));
    if (i > 0 && (one_each || at + strlen(GAP) + wide > style->width)) {
      text_addf(out, "\n%*s", LABEL, "");
      at = LABEL;
    } else if (i > 0) {
      text_add(out, GAP);
      at += strlen(GAP);
    }
    at = add_wrapped(out, items->at.at[i], at, LABEL + 2, style->width);
  }
  text_add(out, "\n");
  items_release(items);
}

void item_print(const char *label, const char *item, const struct style *style, bool under, struct text *out) {
  size_t used = INDENT + strlen(label), at = used + 1 > LABEL ? used + 1 : LABEL;
  at += under ? INDENT : 0;
  text_addf(out, "%*s", INDENT, "");
  paint_add(out, style, PAINT_FAINT, label);
  text_addf(out, "%*s", (int)(at - used), "");
  add_wrapped(out, item, at, LABEL + 2 * INDENT, style->width);
  text_add(out, "\n");
}

void items_release(struct text_items *items) {
  for (size_t i = 0; i < items->at.n; i++)
    memory_free(items->at.at[i]);
  vec_release(&items->at);
}
