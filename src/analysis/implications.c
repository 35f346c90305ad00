/* Implications and quantifiers of a property that must hold everywhere, so that they may hold for lack of cases. */
#include "analysis/coverage_items.h"

#include "model/node.h"

struct implication_frame { /* a quantifier around the place, or the left side of an implication */
  const struct node *forall, *left;
};

struct implication_walk {
  struct implications *out;
  const struct model *model;
  uint32_t property;
  struct arena *arena;
  struct implication_frame frames[64];
  uint32_t n;
};

#define FRAMES_MAX (sizeof((struct implication_walk *)0)->frames / sizeof(struct implication_frame))

/* `never` around it, innermost first: forall ...: left => never. */
static struct node *within_frames(const struct implication_walk *w, struct node *never) {
  const struct type *truth = never->type;
  for (uint32_t i = w->n; i-- > 0;) {
    const struct implication_frame *f = &w->frames[i];
    struct node *outer;
    if (f->forall) {
      outer = node_make(w->arena, NODE_FORALL, f->forall->at, truth, 1);
      outer->gen = f->forall->gen;
      outer->ngen = f->forall->ngen;
      outer->kid[0] = never;
    } else {
      outer = node_make(w->arena, NODE_IMPLIES, f->left->at, truth, 2);
      outer->kid[0] = (struct node *)f->left;
      outer->kid[1] = never;
    }
    never = outer;
  }
  return never;
}

/* A live property: `correct` and `faulty` are about the whole run there. Who is correct in the whole run is correct in
   each state, so a formula about all of `correct` may be stronger than needed; nothing else is known. */
static bool status_differs(const struct implication_walk *w, const struct node *n) {
  return w->model->properties[w->property].kind == PROPERTY_LIVE && node_has_traits_deep(w->model, n, TRAIT_STATUS);
}

static bool may_speak_of(const struct implication_walk *w, const struct node *left) {
  if (left && (node_has_traits_deep(w->model, left, TRAIT_TEMPORAL) || status_differs(w, left)))
    return false;
  for (uint32_t i = 0; i < w->n; i++) {
    const struct implication_frame *f = &w->frames[i];
    if (f->left && (node_has_traits_deep(w->model, f->left, TRAIT_TEMPORAL) || status_differs(w, f->left)))
      return false;
    for (uint32_t k = 0; f->forall && k < f->forall->ngen; k++) {
      const struct generator *g = &f->forall->gen[k];
      if ((g->range->op != NODE_CORRECT && status_differs(w, g->range)) || (g->cond && status_differs(w, g->cond)))
        return false;
    }
  }
  return true;
}

static void add(struct implication_walk *w, const struct node *left, const struct node *right, struct node *never) {
  if (may_speak_of(w, left))
    vec_push(&w->out->at, ((struct implication){w->property, left, right, within_frames(w, never)}));
}

/* Ranges that are never empty. */
static bool is_constant_range(const struct generator *g) {
  return !g->cond && (g->range->op == NODE_ROLE_SET || g->range->op == NODE_DOMAIN);
}

static void walk(struct implication_walk *w, const struct node *n) {
  bool constant = true;
  struct node *never;
  if (w->n == FRAMES_MAX)
    return;
  switch (op_number(n->op)) {
  case NODE_AND:
    walk(w, n->kid[0]);
    walk(w, n->kid[1]);
    return;
  case NODE_ALWAYS:
    walk(w, n->kid[0]);
    return;
  case NODE_FORALL:
    if (n->n == 0)
      return;
    w->frames[w->n++] = (struct implication_frame){.forall = n};
    for (uint32_t i = 0; i < n->ngen; i++)
      constant &= is_constant_range(&n->gen[i]);
    if (!constant && w->model->properties[w->property].kind != PROPERTY_LIVE) {
      never = node_make(w->arena, NODE_CONST, n->at, n->type, 0); /* false, for every binding */
      add(w, NULL, n->kid[0], never);
    }
    walk(w, n->kid[0]);
    w->n--;
    return;
  case NODE_IMPLIES:
    never = node_make(w->arena, NODE_NOT, n->kid[0]->at, n->type, 1);
    never->kid[0] = n->kid[0];
    add(w, n->kid[0], n->kid[1], never);
    w->frames[w->n++] = (struct implication_frame){.left = n->kid[0]};
    walk(w, n->kid[1]);
    w->n--;
    return;
  }
  /* all others: whatever is below need not hold everywhere */
}

void implications_of(struct implications *out, const struct model *m, uint32_t property, struct arena *arena) {
  struct implication_walk w = {.out = out, .model = m, .property = property, .arena = arena};
  const struct property *p = &m->properties[property];
  if (p->kind != PROPERTY_COVER && !p->until)
    walk(&w, p->formula);
}
