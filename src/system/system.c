#include "system/system.h"

void system_save_common(const struct system *s, struct saver *to) {
  save_number(to, s->order_mattered);
  save_number(to, s->order_unstable);
  save_number(to, s->channel_bound);
  save_number(to, s->distance);
  save_number(to, s->distance_cut);
}

void system_load_common(struct system *s, struct loader *from) {
  s->order_mattered = load_number(from);
  s->order_unstable = load_number(from);
  s->channel_bound = (uint32_t)load_number(from);
  s->distance = (uint32_t)load_number(from);
  s->distance_cut = load_number(from);
}
