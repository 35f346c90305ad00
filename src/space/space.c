#include "space/space.h"

void space_save(const struct space *s, struct saver *to) {
  save_number(to, s->order_mattered);
  save_number(to, s->unsteady);
  save_number(to, s->channel_bound);
  save_number(to, s->distance);
  save_number(to, s->distance_cut);
}

void space_load(struct space *s, struct loader *from) {
  s->order_mattered = load_number(from);
  s->unsteady = load_number(from);
  s->channel_bound = (uint32_t)load_number(from);
  s->distance = (uint32_t)load_number(from);
  s->distance_cut = load_number(from);
}
