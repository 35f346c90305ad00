#include "param/engine_result_io.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_all(struct text *out, const int64_t *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    text_addf(out, " %" PRId64, values[i]);
}

void engine_result_write(const struct engine_result *o, const struct counter_graph *g, struct text *out) {
  const struct counter_system *s = g->system;
  text_addf(out, "%d %" PRIu32 " %zu %s", (int)o->kind, o->depth, o->reached.n, text_or_empty(&o->reached));
  if (o->kind == ENGINE_SAFE)
    for (uint32_t l = 0; l < g->locations.n; l++)
      text_addf(out, " %zu %s", strlen(o->invariant[l]), o->invariant[l]);
  if (o->kind != ENGINE_UNSAFE)
    return;
  add_all(out, o->run.params, s->nparams);
  add_all(out, o->run.start.counters, s->ncounters);
  add_all(out, o->run.start.controls, s->ncontrols);
  text_addf(out, " %zu", o->run.steps.n);
  for (size_t i = 0; i < o->run.steps.n; i++) {
    text_addf(out, " %" PRIu32, o->run.steps.at[i].move);
    add_all(out, o->run.steps.at[i].amounts, s->moves[o->run.steps.at[i].move].namounts);
  }
}

struct result_reader {
  const char *at, *end;
};

static bool read_number(struct result_reader *r, int64_t *out) {
  char *end;
  while (r->at < r->end && *r->at == ' ')
    r->at++;
  if (r->at == r->end || !(isdigit((unsigned char)*r->at) || *r->at == '-'))
    return false;
  errno = 0;
  *out = strtoll(r->at, &end, 10);
  bool ok = errno == 0 && end > r->at && end <= r->end; /* '-' alone is not a number */
  r->at = end;
  return ok;
}

static bool read_all(struct result_reader *r, int64_t *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!read_number(r, &out[i]))
      return false;
  return true;
}

/* A string is its length, a blank, and its bytes. */
static bool read_string(struct result_reader *r, const char **out, size_t *n) {
  int64_t length;
  if (!read_number(r, &length) || length < 0 || r->at == r->end || length > r->end - r->at - 1)
    return false;
  *out = r->at + 1;
  *n = (size_t)length;
  r->at += length + 1;
  return true;
}

static bool read_invariant(struct result_reader *r, struct engine_result *o, const struct counter_graph *g) {
  const char *text;
  size_t n;
  o->invariant = arena_array(&o->arena, g->locations.n + 1, sizeof *o->invariant);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    if (!read_string(r, &text, &n))
      return false;
    o->invariant[l] = arena_strndup(&o->arena, text, n);
  }
  return true;
}

static bool read_run(struct result_reader *r, struct counter_run *run, const struct counter_system *s) {
  int64_t steps, move;
  if (!read_all(r, run->params, s->nparams) || !read_all(r, run->start.counters, s->ncounters) ||
      !read_all(r, run->start.controls, s->ncontrols) || !read_number(r, &steps))
    return false;
  for (int64_t i = 0; i < steps; i++)
    if (!read_number(r, &move) || move < 0 || move >= s->nmoves ||
        !read_all(r, counter_run_add(run, s, (uint32_t)move)->amounts, s->moves[move].namounts))
      return false;
  return true;
}

bool engine_result_read(struct engine_result *o, const struct counter_graph *g, const char *bytes, size_t n) {
  struct result_reader r = {bytes, bytes + n};
  int64_t kind, depth;
  const char *reached;
  size_t length;
  engine_result_init(o);
  if (!read_number(&r, &kind) || kind < ENGINE_UNDECIDED || kind > ENGINE_UNSAFE || !read_number(&r, &depth) ||
      !read_string(&r, &reached, &length))
    return false;
  text_add_n(&o->reached, reached, length);
  o->depth = (uint32_t)depth;
  if (kind == ENGINE_SAFE && !read_invariant(&r, o, g))
    return false;
  if (kind == ENGINE_UNSAFE) {
    counter_run_init(&o->run, g->system);
    if (!read_run(&r, &o->run, g->system)) {
      counter_run_release(&o->run);
      return false;
    }
  }
  o->kind = (enum engine_verdict)kind;
  return r.at == r.end;
}

void cube_write(const struct cube *c, struct text *out) {
  text_addf(out, "%" PRIu32 " %" PRIu32, c->width, c->n);
  for (uint32_t i = 0; i < c->n; i++) {
    text_addf(out, " %d", (int)c->equal.at[i]);
    add_all(out, cube_row(c, i), c->width);
  }
}

bool cube_read(struct cube *c, const char *bytes, size_t *n) {
  struct result_reader r = {bytes, bytes + *n};
  int64_t width, rows, equal;
  if (!read_number(&r, &width) || width < 1 || width > UINT16_MAX || !read_number(&r, &rows)) {
    cube_init(c, 0);
    return false;
  }
  cube_init(c, (uint32_t)width - 1);
  int64_t *row = memory_alloc((size_t)width * sizeof *row);
  bool ok = true;
  for (int64_t i = 0; i < rows && ok; i++) {
    ok = read_number(&r, &equal) && read_all(&r, row, (uint32_t)width);
    if (ok)
      cube_add(c, row, equal != 0);
  }
  memory_free(row);
  *n = (size_t)(r.at - bytes);
  return ok;
}
