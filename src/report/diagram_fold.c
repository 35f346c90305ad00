#include "report/diagram_fold.h"

#include <inttypes.h>
#include <string.h>

void fold_init(struct fold *f, uint32_t n) {
  *f = (struct fold){.class_of = memory_alloc((n + 1) * sizeof *f->class_of), .n = n, .nclasses = n > 0};
}

void fold_release(struct fold *f) { memory_free(f->class_of); }

bool fold_split(struct fold *f, struct text *by_process) {
  uint32_t *fresh = memory_alloc((f->n + 1) * sizeof *fresh), n = 0;
  for (uint32_t p = 0; p < f->n; p++) {
    uint32_t q = 0;
    while (q < p && (f->class_of[q] != f->class_of[p] ||
                     strcmp(text_or_empty(&by_process[q]), text_or_empty(&by_process[p])) != 0))
      q++;
    fresh[p] = q < p ? fresh[q] : n++;
  }
  bool split = n > f->nclasses;
  for (uint32_t p = 0; p < f->n; p++)
    text_release(&by_process[p]);
  memory_free(f->class_of);
  f->class_of = fresh;
  f->nclasses = n;
  return split;
}

/* --- rounds --- */

/* The states of p, what it sends, and what happens to it. */
static void add_history(const struct trace *t, uint32_t p, bool alone, struct text *out) {
  const struct role *role = process_role(t->model, p);
  text_addf(out, "%u %u;", model_role_of(t->model, p), alone ? p + 1 : 0);
  for (uint32_t i = 0; i < t->nconfigs; i++) {
    for (uint32_t v = 0; v < LOCAL_VAR(role->nvars) && trace_has_begun(t, p, i); v++)
      text_addf(out, "%" PRId64 ",", (int64_t)t->configs[i]->local[p][v]);
    text_add(out, ";");
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    const struct step_log *log = &t->logs[i];
    text_addf(out, "%d%d:", t->run.steps[i]->crashes[p], trace_has_ended(t, p, i));
    value last = 0;
    bool any = false;
    for (size_t k = 0; k < log->nsent; k++)
      if (log->sent[k].from == p && (!any || log->sent[k].message != last)) {
        text_addf(out, "%" PRId64 ",", (int64_t)log->sent[k].message);
        last = log->sent[k].message;
        any = true;
      }
  }
}

/* From and to how many of each class messages arrive, or are missed; forged ones with their contents. */
static void add_messages(const struct fold *f, const struct trace *t, uint32_t step, struct text *of) {
  const struct step_log *log = &t->logs[step];
  uint32_t n = f->n, *counts = memory_alloc(((size_t)f->nclasses * 4 + 1) * sizeof *counts);
  uint8_t *missed, *heard = trace_heard_of(t, step, &missed);
  for (uint32_t p = 0; p < n; p++) {
    memset(counts, 0, f->nclasses * 4 * sizeof *counts);
    for (uint32_t q = 0; q < n; q++) {
      uint32_t *c = counts + (size_t)f->class_of[q] * 4;
      if (p == q)
        continue;
      c[0] += heard[(size_t)p * n + q];
      c[1] += missed[(size_t)p * n + q];
      c[2] += heard[(size_t)q * n + p];
      c[3] += missed[(size_t)q * n + p];
    }
    for (uint32_t i = 0; i < f->nclasses * 4; i++)
      text_addf(&of[p], "%u,", counts[i]);
    text_addf(&of[p], "%d%d;", heard[(size_t)p * n + p], missed[(size_t)p * n + p]);
  }
  for (size_t i = 0; i < log->narrivals; i++) {
    const struct arrival *a = &log->arrivals[i];
    if (!a->forged)
      continue;
    text_addf(&of[a->to], "<%u %" PRId64, f->class_of[a->from], (int64_t)a->message);
    text_addf(&of[a->from], ">%u %" PRId64, f->class_of[a->to], (int64_t)a->message);
  }
  memory_free(heard);
  memory_free(counts);
}

void fold_rounds(struct fold *f, const struct trace *t, const bool *witness) {
  uint32_t n = t->model->nprocesses;
  struct text *of = memory_alloc((n + 1) * sizeof *of);
  bool all = true;
  fold_init(f, n);
  for (uint32_t p = 0; p < n; p++)
    all &= witness[p];
  for (uint32_t p = 0; p < n; p++)
    add_history(t, p, witness[p] && !all, &of[p]);
  bool split = fold_split(f, of) || f->nclasses == 1;
  while (split && f->nclasses < n) {
    for (uint32_t i = 0; i < t->run.nsteps; i++)
      add_messages(f, t, i, of);
    split = fold_split(f, of);
  }
  memory_free(of);
}
