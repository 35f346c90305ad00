#include "steps/state_cells.h"

#include "base/vec.h"
#include "steps/message_routes.h"

#include <stdlib.h>
#include <string.h>

#define PACKET_VALUES 3 /* place, kind, message */

/* --- layout of the cells --- */

static uint32_t table_new(struct state_cells *c) {
  c->tables = memory_resize_array(c->tables, c->ntables + 1, sizeof *c->tables);
  c->tables[c->ntables] = intern_new();
  return c->ntables++;
}

static uint32_t cell_new(struct state_cells *c, enum cell_kind kind, uint32_t a, uint32_t b, uint32_t table) {
  c->cell = memory_resize_array(c->cell, c->ncells + 1, sizeof *c->cell);
  c->cell[c->ncells] = (struct state_cell){kind, a, b, table};
  return c->ncells++;
}

static void make_locals(struct state_cells *c) {
  for (uint32_t r = 0; r < c->model->nroles; r++) {
    uint32_t table = table_new(c);
    for (uint32_t i = 0; i < c->model->roles[r].count; i++)
      cell_new(c, CELL_LOCAL, c->model->roles[r].first + i, 0, table);
  }
}

/* The channels of a ring hold the same contents in the long run if rotations change nothing and messages contain no
   identities. */
static bool same_all_round(const struct state_cells *c, uint32_t role) {
  bool names_nobody = true;
  for (uint32_t k = 0; k < c->model->nmessages; k++)
    names_nobody &= !type_contains_kind(c->model->messages[k].type, TYPE_PROCESS);
  return c->model->roles[role].ring && c->licences->identity[role] != IDENTITY_NUMBERED && names_nobody;
}

/* Channels that a renaming may exchange must share a table. The fewer channels share a table, the shorter its names. So
   a process that no renaming moves has tables of its own, unless that would not make names shorter. Other processes
   share the tables of their role. */
static uint32_t end_of_channel(const struct state_cells *c, uint32_t p) {
  uint32_t r = model_role_of(c->model, p);
  bool stays = !c->licences->of[REDUCE_SYMMETRY].applied || c->licences->identity[r] == IDENTITY_NUMBERED;
  return stays && !same_all_round(c, r) ? p : c->model->roles[r].first;
}

/* The table of a pair of processes. Its first content is the empty channel. */
static uint32_t table_between(struct state_cells *c, uint32_t *tables, uint32_t from, uint32_t to) {
  uint32_t *table = &tables[(size_t)end_of_channel(c, from) * c->model->nprocesses + end_of_channel(c, to)];
  if (*table == NO_CELL) {
    *table = table_new(c);
    intern_put(c->tables[*table], NULL, 0);
  }
  return *table;
}

/* A message that is never taken matters only if it blocks something: actions that must take all messages, messages
   behind it, or messages that would exceed a bound. */
static bool channel_needed(const struct state_cells *c, const struct message_routes *r, uint32_t from, uint32_t to) {
  bool carries = false;
  for (uint32_t k = 0; k < r->nkinds; k++)
    carries |= message_route_carries(r, from, to, k);
  bool minds = c->query->semantics == SEMANTICS_MP || c->bound > 0;
  return carries && (minds || message_route_is_read(c->model, r, from, to));
}

static void make_channels(struct state_cells *c) {
  const struct model *m = c->model;
  uint32_t n = m->nprocesses;
  const struct action_uses *use = action_uses_of(m, c->query, &c->arena);
  const struct message_routes *r = message_routes_of(c->interp, m, use, &c->arena);
  uint32_t *tables = memory_alloc(((size_t)n * n + 1) * sizeof *tables);
  for (size_t i = 0; i < (size_t)n * n; i++)
    tables[i] = NO_CELL;
  for (uint32_t to = 0; to < n; to++)
    for (uint32_t from = 0; from < n; from++) {
      c->channel[(size_t)from * n + to] = NO_CELL;
      if (channel_needed(c, r, from, to))
        c->channel[(size_t)from * n + to] = cell_new(c, CELL_CHANNEL, from, to, table_between(c, tables, from, to));
    }
  memory_free(tables);
}

static void make_orders(struct state_cells *c) {
  const struct model *m = c->model;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    c->order[p] = NO_CELL;
  for (uint32_t r = 0; c->arrivals && r < m->nroles; r++) {
    uint32_t table = table_new(c);
    intern_put(c->tables[table], NULL, 0);
    for (uint32_t p = m->roles[r].first; p < m->roles[r].first + m->roles[r].count; p++)
      c->order[p] = cell_new(c, CELL_ORDER, p, 0, table);
  }
}

static void decide_what_to_keep(struct state_cells *c) {
  const struct model *m = c->model;
  const struct environment *env = &m->environments[c->query->environment];
  struct channels channels = environment_channels(env);
  c->channels = channels.kind;
  c->bound = channels.bound;
  c->arrivals = m->nmessages > 0 && !c->licences->of[REDUCE_MESSAGE_ORDER].applied;
  c->in_order = c->arrivals || c->channels == CHANNEL_FIFO;
  c->initials = initials_asked(m, c->query);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *clause = &env->clauses[i];
    bool limited = clause->limit < INT64_MAX;
    c->keep_lost |= clause->kind == CLAUSE_LOST && limited && !c->licences->of[REDUCE_LOSS].applied;
    c->keep_duplicated |= clause->kind == CLAUSE_DUPLICATED && limited;
  }
}

void state_cells_init(struct state_cells *c, struct interpreter *interp, struct model *m, const struct query *q,
                      const struct licences *licences) {
  *c = (struct state_cells){
      .interp = interp, .model = m, .query = q, .licences = licences, .budget = NO_CELL, .initials_set = NO_CELL};
  arena_init(&c->arena);
  uint32_t n = m->nprocesses;
  c->channel = arena_array(&c->arena, (size_t)n * n + 1, sizeof *c->channel);
  c->global = arena_array(&c->arena, m->nglobals + 1, sizeof *c->global);
  c->order = arena_array(&c->arena, n + 1, sizeof *c->order);
  decide_what_to_keep(c);
  make_locals(c);
  make_channels(c);
  for (uint32_t i = 0; i < m->nglobals; i++)
    c->global[i] = cell_new(c, CELL_GLOBAL, i, 0, table_new(c));
  if (c->keep_lost || c->keep_duplicated)
    c->budget = cell_new(c, CELL_BUDGET, 0, 0, table_new(c));
  if (c->initials == INITIALS_SET)
    c->initials_set = cell_new(c, CELL_INITIALS, 0, 0, table_new(c));
  make_orders(c);
}

void state_cells_share(struct state_cells *c, struct state_cells *first) {
  intern_share(c->model->values.vectors);
  for (uint32_t i = 0; i < c->ntables; i++) {
    intern_free(c->tables[i]);
    intern_share(first->tables[i]);
    c->tables[i] = first->tables[i];
  }
  c->borrowed = true;
}

void state_cells_release(struct state_cells *c) {
  for (uint32_t i = 0; i < c->ntables && !c->borrowed; i++)
    intern_free(c->tables[i]);
  memory_free(c->tables);
  memory_free(c->cell);
  arena_release(&c->arena);
}

size_t state_cells_bytes(const struct state_cells *c) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < c->ntables && !c->borrowed; i++)
    bytes += intern_bytes(c->tables[i]);
  return bytes;
}

/* --- contents --- */

const value *content_values(const struct state_cells *c, uint32_t cell, content name, uint32_t *n) {
  const struct intern *table = c->tables[c->cell[cell].table];
  *n = (uint32_t)intern_length(table, name);
  return intern_at(table, name);
}

content content_put(struct state_cells *c, uint32_t cell, const value *at, uint32_t n) {
  return intern_put(c->tables[c->cell[cell].table], at, n);
}

uint32_t channel_decode(const struct state_cells *c, uint32_t cell, content name, struct channel_packet *out,
                        uint32_t room) {
  uint32_t n;
  const value *v = content_values(c, cell, name, &n);
  n /= PACKET_VALUES;
  for (uint32_t i = 0; i < n && i < room; i++, v += PACKET_VALUES)
    out[i] = (struct channel_packet){(enum packet_place)v[0], (uint32_t)v[1], v[2]};
  return n;
}

static int compare_in_channel(const struct state_cells *c, const struct channel_packet *a,
                              const struct channel_packet *b) {
  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  return value_compare(&c->model->values, c->model->messages[a->kind].type, a->message, b->message);
}

/* Insertion sort: channels are short and nearly sorted. */
static void sort_packets(const struct state_cells *c, struct channel_packet *at, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    struct channel_packet p = at[i];
    uint32_t k = i;
    for (; k > 0 && compare_in_channel(c, &at[k - 1], &p) > 0; k--)
      at[k] = at[k - 1];
    at[k] = p;
  }
}

/* If channels are sets, keeps the first of equal messages. */
static uint32_t absorb(struct channel_packet *at, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool known = false;
    for (uint32_t k = 0; k < kept && !known; k++)
      known = at[k].kind == at[i].kind && at[k].message == at[i].message;
    if (!known)
      at[kept++] = at[i];
  }
  return kept;
}

content channel_encode(struct state_cells *c, uint32_t cell, struct channel_packet *at, uint32_t n) {
  value small[PACKET_VALUES * 32] = {0}, *v = small;
  if (c->channels == CHANNEL_SET)
    n = absorb(at, n);
  if (!c->in_order)
    sort_packets(c, at, n);
  if (n > 32)
    v = memory_alloc((size_t)n * PACKET_VALUES * sizeof *v);
  for (uint32_t i = 0; i < n; i++) {
    v[PACKET_VALUES * i] = at[i].place;
    v[PACKET_VALUES * i + 1] = at[i].kind;
    v[PACKET_VALUES * i + 2] = at[i].message;
  }
  content name = content_put(c, cell, v, n * PACKET_VALUES);
  if (v != small)
    memory_free(v);
  return name;
}

/* --- from configurations to rows --- */

static content local_from(struct state_cells *c, uint32_t p, const value *local) {
  const struct role *role = &c->model->roles[model_role_of(c->model, p)];
  uint32_t length = role_local_length(role), kept = 1 + role->nvars;
  if (c->initials == INITIALS_EACH)
    return content_put(c, p, local, length);
  value small[64], *v = length <= 64 ? small : memory_alloc(length * sizeof *v);
  memcpy(v, local, kept * sizeof *v);
  memset(v + kept, 0, (length - kept) * sizeof *v);
  content name = content_put(c, p, v, length);
  if (v != small)
    memory_free(v);
  return name;
}

static content initials_put(struct state_cells *c, const value *const *local) {
  size_t n;
  value *set = initial_set_of(c->model, local, &n);
  content name = content_put(c, c->initials_set, set, (uint32_t)n);
  memory_free(set);
  return name;
}

/* The packets of a channel are adjacent unless they are in the order of arrival. */
static void channels_from(struct state_cells *c, const struct config *config, content *row) {
  uint32_t n = config->npackets;
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  bool *done = memory_alloc(n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const struct packet *first = &config->packets[i];
    uint32_t cell = c->channel[(size_t)first->from * c->model->nprocesses + first->to], k = 0;
    if (done[i] || cell == NO_CELL)
      continue;
    for (uint32_t j = i; j < n; j++) {
      const struct packet *p = &config->packets[j];
      if (p->from != first->from || p->to != first->to)
        continue;
      packets[k++] = (struct channel_packet){p->place, p->kind, p->message};
      done[j] = true;
    }
    row[cell] = channel_encode(c, cell, packets, k);
  }
  memory_free(packets);
  memory_free(done);
}

static void orders_from(struct state_cells *c, const struct config *config, content *row) {
  value *senders = memory_alloc((config->npackets + 1) * sizeof *senders);
  for (uint32_t p = 0; c->arrivals && p < c->model->nprocesses; p++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < config->npackets; i++) {
      const struct packet *k = &config->packets[i];
      if (k->to == p && c->channel[(size_t)k->from * c->model->nprocesses + p] != NO_CELL)
        senders[n++] = k->from;
    }
    row[c->order[p]] = content_put(c, c->order[p], senders, n);
  }
  memory_free(senders);
}

void state_cells_from_config(struct state_cells *c, const struct config *config, content *row) {
  const struct model *m = c->model;
  memset(row, 0, c->ncells * sizeof *row);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    row[p] = local_from(c, p, config->local[p]);
  channels_from(c, config, row);
  orders_from(c, config, row);
  for (uint32_t i = 0; i < m->nglobals; i++)
    row[c->global[i]] = content_put(c, c->global[i], &config->globals[i], 1);
  if (c->budget != NO_CELL)
    row[c->budget] = budget_put(c, config->lost, config->duplicated);
  if (c->initials_set != NO_CELL)
    row[c->initials_set] = initials_put(c, (const value *const *)config->local);
}

content budget_put(struct state_cells *c, int64_t lost, int64_t duplicated) {
  value v[2] = {c->keep_lost ? lost : 0, c->keep_duplicated ? duplicated : 0};
  return content_put(c, c->budget, v, 2);
}

/* --- from rows to configurations --- */

static void add_packet(struct config *config, const struct packet *p) {
  if (config->npackets == config->packets_cap) {
    config->packets_cap = config->packets_cap ? 2 * config->packets_cap : 16;
    config->packets = memory_resize_array(config->packets, config->packets_cap, sizeof *config->packets);
  }
  config->packets[config->npackets++] = *p;
}

static void add_channel_packet(const struct state_cells *c, const content *row, uint32_t from, uint32_t to, uint32_t i,
                               struct config *config) {
  uint32_t n, cell = c->channel[(size_t)from * c->model->nprocesses + to];
  const value *v = content_values(c, cell, row[cell], &n) + (size_t)i * PACKET_VALUES;
  add_packet(config, &(struct packet){from, to, (uint32_t)v[1], (enum packet_place)v[0], v[2]});
}

static void channels_to(const struct state_cells *c, const content *row, uint32_t to, struct config *config) {
  for (uint32_t from = 0; from < c->model->nprocesses; from++) {
    uint32_t cell = c->channel[(size_t)from * c->model->nprocesses + to], n;
    if (cell == NO_CELL)
      continue;
    content_values(c, cell, row[cell], &n);
    for (uint32_t i = 0; i < n / PACKET_VALUES; i++)
      add_channel_packet(c, row, from, to, i, config);
  }
}

static void arrivals_to(const struct state_cells *c, const content *row, uint32_t to, struct config *config) {
  uint32_t n;
  const value *senders = content_values(c, c->order[to], row[c->order[to]], &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++)
      before += senders[k] == senders[i];
    add_channel_packet(c, row, (uint32_t)senders[i], to, before, config);
  }
}

struct config *state_cells_to_config(struct state_cells *c, const content *row) {
  const struct model *m = c->model;
  struct config *config = config_new(m);
  uint32_t n;
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const value *v = content_values(c, p, row[p], &n);
    memcpy(config->local[p], v, n * sizeof *v);
    local_fill_dont_care(c->model, model_role_of(m, p), config->local[p]);
  }
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (c->arrivals)
      arrivals_to(c, row, p, config);
    else
      channels_to(c, row, p, config);
  for (uint32_t i = 0; i < m->nglobals; i++)
    config->globals[i] = *content_values(c, c->global[i], row[c->global[i]], &n);
  if (c->budget != NO_CELL) {
    const value *v = content_values(c, c->budget, row[c->budget], &n);
    config->lost = v[0];
    config->duplicated = v[1];
  }
  if (c->initials_set != NO_CELL) {
    const value *set = content_values(c, c->initials_set, row[c->initials_set], &n);
    initial_set_fill(m, set, n, config);
  }
  return config;
}
