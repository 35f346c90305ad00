/* The product with the stages of a live property, as the interpreter sees it: the conditions on states are those of the
   text, and the rounds of an edge those of its environment. */
#include "param/validation_internal.h"

uint32_t validation_stage(const struct validator *c, const int64_t *state) {
  return c->liveness ? (uint32_t)state[c->s->ncounters + (size_t)c->dv->stage] : 0;
}

/* NULL: true. An error in the formula counts as whatever demands more of the counter system. */
static enum verdict3 holds(struct validator *c, const struct node *n, const struct config *config) {
  struct model_error error;
  return n ? config_holds(c->interp, n, config, NULL, &error) : V_TRUE;
}

bool validation_live_begins(struct validator *c, const struct config *config) {
  return holds(c, c->liveness->formula.from, config) != V_FALSE;
}

bool validation_live_reaches(struct validator *c, const struct config *config) {
  return holds(c, c->liveness->formula.goal, config) == V_TRUE;
}

enum verdict3 validation_live_holds(struct validator *c, const struct config *config, uint32_t stage) {
  const struct liveness *l = c->liveness;
  enum verdict3 goal = holds(c, l->formula.goal, config), trigger = holds(c, l->formula.trigger, config);
  if (goal == V_ERROR || trigger == V_ERROR)
    return V_ERROR;
  bool ended = config->point == POINT_END && (stage != l->before || trigger == V_TRUE);
  return goal == V_FALSE && (stage == l->last || ended) ? V_FALSE : V_TRUE;
}

/* Does COINS_ECHO choose this value of the coins here? That is a condition on counts. */
static bool is_echo(const struct validator *c, uint32_t point, const int64_t *state, uint32_t coin) {
  if (c->liveness->coins != COINS_ECHO || coin == 0)
    return true;
  const struct term *when = c->dv->echo[(size_t)validation_point(c, point) * COIN_VALUES_MAX + coin - 1];
  struct counter_values values = {.params = c->params, .counters = state, .controls = state + c->s->ncounters};
  int64_t yes = coin == 1; /* without coins */
  return (when ? term_value(when, &values, &yes) : true) && yes;
}

bool validation_live_allows(struct validator *c, const struct config *config, const int64_t *state,
                            const struct liveness_edge *e) {
  const struct liveness_formula *f = &c->liveness->formula;
  return e->from == validation_stage(c, state) && liveness_edge_applies(c->m, e, config->point) &&
         (!e->missed || holds(c, f->goal, config) != V_TRUE) &&
         (!e->triggered || holds(c, f->trigger, config) != V_FALSE) && is_echo(c, config->point, state, e->coin);
}
