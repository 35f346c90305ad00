#include "system/system.h"

#include "base/memory.h"

#include <string.h>

void system_save_common(const struct system *s, struct saver *to) {
  save_number(to, s->order_mattered);
  save_number(to, s->order_unstable);
  save_number(to, s->channel_bound);
  save_number(to, s->distance);
  save_number(to, s->distance_cut);
}

void system_load_common(struct system *s, struct loader *from) {
  s->order_mattered = load_below(from, 2);
  s->order_unstable = load_below(from, 2);
  s->channel_bound = (uint32_t)load_number(from);
  s->distance = (uint32_t)load_number(from);
  s->distance_cut = load_below(from, 2);
}

void run_add(struct run *run, struct witness *w) {
  run->steps = memory_resize_array(run->steps, run->nsteps + 1, sizeof *run->steps);
  run->steps[run->nsteps++] = w;
}

void run_release(struct run *run) {
  config_free(run->initial);
  for (uint32_t i = 0; i < run->nsteps; i++)
    witness_free(run->steps[i]);
  memory_free(run->steps);
  memory_free(run->order);
  memory_free(run->reached);
  memset(run, 0, sizeof *run);
}
