#include "param/engine_result_io.h"

#include "base/archive.h"

#include <string.h>

static void save_all(struct saver *to, const int64_t *values, uint32_t n) {
  save_bytes(to, values, n * sizeof *values);
}

static void load_all(struct loader *from, int64_t *values, uint32_t n) { load_bytes(from, values, n * sizeof *values); }

static void add_saved(struct saver *saved, struct text *out) {
  text_add_n(out, (const char *)saved->bytes.at, saved->bytes.n);
  saver_release(saved);
}

static struct loader loader_of_bytes(const char *bytes, size_t n) {
  return (struct loader){.at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + n};
}

void engine_result_write(const struct engine_result *o, const struct counter_graph *g, struct text *out) {
  const struct counter_system *s = g->system;
  struct saver to = saver_in_memory();
  save_number(&to, o->kind);
  save_number(&to, o->depth);
  save_block(&to, o->reached.at, o->reached.n);
  if (o->kind == ENGINE_SAFE) {
    save_number(&to, o->questions);
    if (o->script)
      save_block(&to, o->script, strlen(o->script));
  }
  for (uint32_t l = 0; o->kind == ENGINE_SAFE && !o->script && l < g->locations.n; l++)
    save_block(&to, o->invariant[l], strlen(o->invariant[l]));
  if (o->kind == ENGINE_UNSAFE) {
    save_all(&to, o->run.params, s->nparams);
    save_all(&to, o->run.start.counters, s->ncounters);
    save_all(&to, o->run.start.controls, s->ncontrols);
    save_number(&to, o->run.steps.n);
    for (size_t i = 0; i < o->run.steps.n; i++) {
      save_number(&to, o->run.steps.at[i].move);
      save_all(&to, o->run.steps.at[i].amounts, s->moves[o->run.steps.at[i].move].namounts);
    }
  }
  add_saved(&to, out);
}

static void load_invariant(struct loader *from, struct engine_result *o, const struct counter_graph *g) {
  o->questions = (uint32_t)load_number(from);
  if (o->questions) {
    size_t length;
    const char *script = load_block(from, &length);
    o->script = script ? arena_strndup(&o->arena, script, length) : NULL;
    from->bad |= !o->script;
    return;
  }
  o->invariant = arena_array(&o->arena, g->locations.n + 1, sizeof *o->invariant);
  for (uint32_t l = 0; l < g->locations.n && !from->bad; l++) {
    size_t n;
    const char *text = load_block(from, &n);
    o->invariant[l] = text ? arena_strndup(&o->arena, text, n) : NULL;
  }
}

static void load_run(struct loader *from, struct counter_run *run, const struct counter_system *s) {
  load_all(from, run->params, s->nparams);
  load_all(from, run->start.counters, s->ncounters);
  load_all(from, run->start.controls, s->ncontrols);
  for (uint64_t steps = load_number(from); steps > 0 && !from->bad; steps--) {
    uint32_t move = (uint32_t)load_below(from, s->nmoves);
    if (!from->bad)
      load_all(from, counter_run_add(run, s, move)->amounts, s->moves[move].namounts);
  }
}

bool engine_result_read(struct engine_result *o, const struct counter_graph *g, const char *bytes, size_t n) {
  struct loader from = loader_of_bytes(bytes, n);
  size_t length;
  engine_result_init(o);
  enum engine_verdict kind = (enum engine_verdict)load_below(&from, ENGINE_UNSAFE + 1);
  o->depth = (uint32_t)load_number(&from);
  const char *reached = load_block(&from, &length);
  if (from.bad)
    return false;
  text_add_n(&o->reached, reached, length);
  if (kind == ENGINE_SAFE)
    load_invariant(&from, o, g);
  if (kind == ENGINE_UNSAFE) {
    counter_run_init(&o->run, g->system);
    load_run(&from, &o->run, g->system);
    if (from.bad)
      counter_run_release(&o->run);
  }
  if (from.bad)
    return false;
  o->kind = kind;
  return from.at == from.end;
}

void cube_write(const struct cube *c, struct text *out) {
  struct saver to = saver_in_memory();
  save_number(&to, c->width);
  save_number(&to, c->n);
  for (uint32_t i = 0; i < c->n; i++) {
    save_number(&to, c->equal.at[i]);
    save_all(&to, cube_row(c, i), c->width);
  }
  add_saved(&to, out);
}

bool cube_read(struct cube *c, const char *bytes, size_t *n) {
  struct loader from = loader_of_bytes(bytes, *n);
  uint32_t width = (uint32_t)load_below(&from, UINT16_MAX + 1);
  from.bad |= width < 1;
  cube_init(c, from.bad ? 0 : width - 1);
  int64_t *row = memory_alloc(((size_t)width + 1) * sizeof *row);
  for (uint64_t rows = load_number(&from); rows > 0 && !from.bad; rows--) {
    bool equal = load_below(&from, 2);
    load_all(&from, row, width);
    if (!from.bad)
      cube_add(c, row, equal);
  }
  memory_free(row);
  *n = (size_t)(from.at - (const uint8_t *)bytes);
  return !from.bad;
}
