#include "search/scc_stack.h"

struct scc_root *scc_roots_merge(scc_roots *roots, uint64_t number, uint64_t accepts, uint64_t marks) {
  struct scc_root *top = &roots->at[roots->n - 1];
  while (top->number > number) {
    accepts |= top->accepts | top->arc_accepts;
    marks |= top->marks | top->arc_marks;
    top = &roots->at[--roots->n - 1];
  }
  top->accepts |= accepts;
  top->marks |= marks;
  top->cyclic = true;
  return top;
}

void scc_stack_enter(struct scc_stack *s, struct product *p, uint32_t node, uint64_t accepts, uint64_t marks) {
  p->nodes.at[node].number = ++s->numbers;
  vec_push(&s->open, node);
  vec_push(&s->roots, ((struct scc_root){.number = s->numbers, .arc_accepts = accepts, .arc_marks = marks}));
  vec_push(&s->path, ((struct scc_frame){node, product_edges_of(p, node)}));
}

void scc_stack_take(struct scc_stack *s, const struct product *p, uint64_t number, node_vec *to) {
  vec_clear(to);
  while (s->open.n > 0 && p->nodes.at[s->open.at[s->open.n - 1]].number >= number)
    vec_push(to, s->open.at[--s->open.n]);
}

bool scc_stack_leave(struct scc_stack *s, const struct product *p, struct scc_root *root, node_vec *component) {
  uint32_t node = s->path.at[--s->path.n].node;
  *root = s->roots.at[s->roots.n - 1];
  if (p->nodes.at[node].number != root->number)
    return false;
  s->roots.n--;
  scc_stack_take(s, p, root->number, component);
  return true;
}

size_t scc_stack_bytes(const struct scc_stack *s) {
  return s->path.cap * sizeof *s->path.at + s->roots.cap * sizeof *s->roots.at + s->open.cap * sizeof *s->open.at;
}

void scc_stack_release(struct scc_stack *s) {
  vec_release(&s->path);
  vec_release(&s->roots);
  vec_release(&s->open);
}
