#include "interp/eval.h"

void choices_release(struct choices *c) {
  vec_release(&c->taken);
  vec_release(&c->arity);
}

void choices_clear(struct choices *c) {
  vec_clear(&c->taken);
  vec_clear(&c->arity);
  c->given = c->at = 0;
  c->bad = false;
  c->coins = 0;
}

void choices_give(struct choices *c, const struct script *s) {
  choices_clear(c);
  for (uint32_t i = 0; i < s->n; i++)
    vec_push(&c->taken, s->at[i]);
  c->given = s->n;
}

bool choices_next(struct choices *c) {
  while (c->at > 0 && c->taken.at[c->at - 1] + 1 >= c->arity.at[c->at - 1])
    c->at--;
  if (c->at == 0)
    return false;
  c->taken.at[c->at - 1]++;
  c->taken.n = c->arity.n = c->at;
  c->given = c->at;
  c->at = 0;
  return true;
}

uint32_t eval_choose(struct eval *e, uint64_t arity) {
  if (arity <= 1)
    return 0;
  if (arity > UINT32_MAX)
    eval_fail(e, (struct span){0, 0}, "a free choice among more than 4294967295 values");
  struct choices *c = e->choices;
  if (!c)
    eval_fail(e, (struct span){0, 0}, "a free choice where none is allowed");
  uint32_t answer = 0;
  if (c->at < 64)
    c->coins &= ~(UINT64_C(1) << c->at);
  if (c->at < c->taken.n) {
    answer = c->taken.at[c->at];
    if (answer >= arity) {
      c->bad = true;
      answer = 0;
    }
    if (c->at < c->arity.n)
      c->arity.at[c->at] = (uint32_t)arity;
    else
      vec_push(&c->arity, (uint32_t)arity);
  } else {
    vec_push(&c->taken, 0);
    vec_push(&c->arity, (uint32_t)arity);
  }
  c->at++;
  return answer;
}

uint32_t eval_coin(struct eval *e, uint64_t arity) {
  uint32_t fixed = e->interp->fixed_coin;
  if (fixed && arity > 0)
    return fixed <= arity ? fixed - 1 : (uint32_t)(arity - 1);
  uint32_t answer = eval_choose(e, arity);
  if (arity > 1 && e->choices->at <= 64)
    e->choices->coins |= UINT64_C(1) << (e->choices->at - 1);
  else if (arity > 1)
    e->interp->coins_lost = "a process makes more than 64 choices in one step";
  return answer;
}
