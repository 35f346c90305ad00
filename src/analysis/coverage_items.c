#include "analysis/coverage_items.h"

#include "base/memory.h"

#include <string.h>

/* While items are collected: by kind and place in the source, 1 + the item there; 0: none. */
struct item_collection {
  struct coverage_items *items;
  const struct model *model;
  uint32_t *known[COVER_CLAUSE + 1];
};

bool coverage_item_is_code(const struct coverage_item *i) { return i->kind != COVER_FAULT && i->kind != COVER_CLAUSE; }

static uint32_t item_add(struct item_collection *c, struct coverage_item item) {
  if (item.at.from > c->model->source.length || item.at.to == 0) /* not in the text */
    return item.inside;
  uint32_t *known = &c->known[item.kind][item.at.from];
  if (*known == 0) {
    vec_push(&c->items->at, item);
    *known = (uint32_t)c->items->at.n;
  }
  return *known - 1;
}

/* The text of the condition, from an `exists` before its first generator on. */
static struct span guard_span(const struct model *m, const struct guard *g, struct span otherwise) {
  static const char word[] = "exists";
  struct span at = g->cond ? g->cond->at : (struct span){0, 0};
  for (uint32_t i = 0; i < g->ngen; i++) {
    at.from = at.to == 0 || g->gen[i].at.from < at.from ? g->gen[i].at.from : at.from;
    at.to = g->gen[i].at.to > at.to ? g->gen[i].at.to : at.to;
    at.to = g->gen[i].range->at.to > at.to ? g->gen[i].range->at.to : at.to;
  }
  uint32_t from = at.from;
  while (from > 0 && strchr(" \t\r\n", m->source.text[from - 1]))
    from--;
  if (at.to && from >= sizeof word - 1 && !strncmp(m->source.text + from - (sizeof word - 1), word, sizeof word - 1))
    at.from = from - (uint32_t)(sizeof word - 1);
  return at.to ? at : otherwise;
}

/* The first statement. */
static struct span block_span(const struct block *b) { return b->n == 0 ? (struct span){0, 0} : b->at[0]->at; }

static void add_block(struct item_collection *, const struct block *, uint32_t inside);

static void add_stmt(struct item_collection *c, const struct stmt *s, uint32_t inside) {
  struct coverage_item item = {.kind = COVER_STATEMENT, .at = s->at, .shown = s->at, .inside = inside};
  uint32_t here = item_add(c, item);
  if (s->kind == STMT_FOREACH)
    add_block(c, &s->then, here);
  if (s->kind != STMT_IF)
    return;
  item = (struct coverage_item){.kind = COVER_THEN,
                                .at = s->at,
                                .shown = guard_span(c->model, &s->guard, s->at),
                                .body = block_span(&s->then),
                                .inside = here};
  add_block(c, &s->then, item_add(c, item));
  item.kind = COVER_ELSE;
  item.body = block_span(&s->other);
  add_block(c, &s->other, item_add(c, item));
}

static void add_block(struct item_collection *c, const struct block *b, uint32_t inside) {
  for (uint32_t i = 0; i < b->n; i++)
    add_stmt(c, b->at[i], inside);
}

static void add_send(struct item_collection *c, const struct send *s, uint32_t inside) {
  struct coverage_item item = {.kind = COVER_STATEMENT, .at = s->at, .shown = s->at, .inside = inside};
  uint32_t here = item_add(c, item);
  if (s->guard.ngen == 0 && !s->guard.cond)
    return;
  item = (struct coverage_item){
      .kind = COVER_THEN, .at = s->at, .shown = guard_span(c->model, &s->guard, s->at), .body = s->at, .inside = here};
  item_add(c, item);
  item.kind = COVER_ELSE;
  item.body = (struct span){0, 0};
  item_add(c, item);
}

static void add_role(struct item_collection *c, uint32_t r) {
  const struct model *m = c->model;
  const struct role *role = &m->roles[r];
  for (uint32_t p = 0; p < m->npoints && role->body; p++) {
    const struct body *b = &role->body[p];
    struct coverage_item item = {.kind = COVER_ROUND, .at = b->at, .shown = b->at, .inside = NO_ITEM, .role = r};
    item.name = m->points[p].name;
    uint32_t here = item_add(c, item);
    for (uint32_t i = 0; i < b->nsends; i++)
      add_send(c, &b->sends[i], here);
    add_block(c, &b->update, here);
    add_block(c, &b->finally, NO_ITEM);
  }
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = &role->actions[i];
    struct coverage_item item = {.kind = COVER_ACTION, .at = a->at, .shown = a->at, .inside = NO_ITEM, .role = r};
    item.name = a->name;
    item.step = a->point != ANY_POINT && strcmp(a->name, "start") != 0;
    add_block(c, &a->body, item_add(c, item));
  }
}

static void add_clause(struct item_collection *c, uint32_t environment, uint32_t i) {
  const struct clause *clause = &c->model->environments[environment].clauses[i];
  struct coverage_item item = {.kind = COVER_FAULT, .at = clause->at, .shown = clause->at, .inside = NO_ITEM};
  item.environment = environment;
  item.clause = i;
  switch (clause->kind) {
  case CLAUSE_CRASH:
  case CLAUSE_OMIT:
  case CLAUSE_BYZANTINE:
  case CLAUSE_LOST:
  case CLAUSE_CORRUPTED:
  case CLAUSE_DUPLICATED:
    if (clause->limit > 0) /* `at most 0` says itself that there is none */
      vec_push(&c->items->at, item);
    item.recovery = true;
    if (clause->limit > 0 && clause->kind == CLAUSE_CRASH && clause->recovers)
      vec_push(&c->items->at, item);
    break;
  case CLAUSE_CHANNELS:
    if (clause->bound == 0)
      break;
    item.kind = COVER_CLAUSE;
    vec_push(&c->items->at, item);
    break;
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
    item.kind = COVER_CLAUSE;
    vec_push(&c->items->at, item);
    break;
  case CLAUSE_OFTEN: /* these are about infinite runs, or say what arrives, or what is stored */
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_SYNCHRONOUS:
  case CLAUSE_FAIR:
    break;
  }
}

void coverage_items_init(struct coverage_items *items, const struct model *m) {
  struct item_collection c = {.items = items, .model = m};
  *items = (struct coverage_items){0};
  for (size_t k = 0; k < sizeof c.known / sizeof *c.known; k++)
    c.known[k] = memory_alloc((m->source.length + 1) * sizeof **c.known);
  for (uint32_t r = 0; r < m->nroles; r++)
    add_role(&c, r);
  for (uint32_t e = 0; e < m->nenvironments; e++)
    for (uint32_t i = 0; i < m->environments[e].nclauses; i++)
      add_clause(&c, e, i);
  for (size_t k = 0; k < sizeof c.known / sizeof *c.known; k++)
    memory_free(c.known[k]);
}

void coverage_items_release(struct coverage_items *items) { vec_release(&items->at); }
