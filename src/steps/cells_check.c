/* Tables and rows of a checkpoint, which may hold anything: can they be used without harm? */
#include "steps/state_cells.h"

#define PACKET_VALUES 3 /* place, kind, message */

static bool packets_are_sound(const struct model *m, const value *v, size_t n) {
  if (n % PACKET_VALUES != 0)
    return false;
  for (size_t i = 0; i < n; i += PACKET_VALUES)
    if (v[i] < PACKET_IN_TRANSIT || v[i] > PACKET_SEEN || v[i + 1] < 0 || v[i + 1] >= (value)m->nmessages ||
        !value_is_sound(&m->values, m->messages[v[i + 1]].type, v[i + 2]))
      return false;
  return true;
}

static bool senders_are_sound(const struct model *m, const value *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (v[i] < 0 || v[i] >= (value)m->nprocesses)
      return false;
  return true;
}

static bool content_is_sound(const struct state_cells *c, const struct state_cell *cell, const value *v, size_t n) {
  const struct model *m = c->model;
  switch (cell->kind) {
  case CELL_LOCAL:
    return local_is_sound(m, model_role_of(m, cell->a), v, n, c->initials == INITIALS_EACH, 0);
  case CELL_CHANNEL:
    return packets_are_sound(m, v, n);
  case CELL_GLOBAL:
    return n == 1 && value_is_sound(&m->values, m->globals[cell->a].type, v[0]);
  case CELL_BUDGET:
    return n == 2 && v[0] >= 0 && v[0] <= INT64_MAX / 2 && v[1] >= 0 && v[1] <= INT64_MAX / 2;
  case CELL_INITIALS:
    return initial_set_is_sound(m, v, n);
  case CELL_ORDER:
    return senders_are_sound(m, v, n);
  }
  return false;
}

bool state_cells_are_sound(const struct state_cells *c) {
  uint32_t checked = UINT32_MAX; /* cells of one table are adjacent, mostly */
  for (uint32_t i = 0; i < c->ncells; i++) {
    const struct intern *table = c->tables[c->cell[i].table];
    for (uint32_t k = 0; k < intern_count(table) && c->cell[i].table != checked; k++)
      if (!content_is_sound(c, &c->cell[i], intern_at(table, k), intern_length(table, k)))
        return false;
    checked = c->cell[i].table;
  }
  return true;
}

/* The order names each sender as often as there are messages in its channel. */
static bool order_is_sound(const struct state_cells *c, const content *row, uint32_t to) {
  uint32_t n, total = 0, packets;
  const value *senders = content_values(c, c->order[to], row[c->order[to]], &n);
  for (uint32_t from = 0; from < c->model->nprocesses; from++) {
    uint32_t cell = c->channel[(size_t)from * c->model->nprocesses + to], named = 0;
    for (uint32_t i = 0; i < n; i++)
      named += senders[i] == (value)from;
    packets = 0;
    if (cell != NO_CELL)
      content_values(c, cell, row[cell], &packets);
    if (named != packets / PACKET_VALUES)
      return false;
    total += named;
  }
  return total == n;
}

bool row_is_sound(const struct state_cells *c, const content *row) {
  for (uint32_t i = 0; i < c->ncells; i++)
    if (row[i] >= intern_count(c->tables[c->cell[i].table]))
      return false;
  for (uint32_t p = 0; p < c->model->nprocesses && c->arrivals; p++)
    if (!order_is_sound(c, row, p))
      return false;
  return true;
}
