/* Solver models as concrete states and choices of the reference interpreter. */
#include "symbolic/unrolling.h"

#include "interp/events.h"

#include <string.h>

static value status_of(struct unrolling *s, const struct sym_process *of) {
  const struct {
    truth is;
    value bit;
  } all[] = {{of->halted, STATUS_HALTED},         {of->crashed, STATUS_CRASHED},
             {of->omits_send, STATUS_OMITS_SEND}, {of->omits_receive, STATUS_OMITS_RECEIVE},
             {of->byzantine, STATUS_BYZANTINE},   {of->recovered, STATUS_RECOVERED}};
  value status = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (truth_value(&s->e, s->found, all[i].is))
      status |= all[i].bit;
  return status;
}

/* A Byzantine process has no local state: all its variables are 0. */
static void fill_local(struct unrolling *s, const struct sym_process *of, const struct role *role, value *local) {
  local[LOCAL_STATUS] = status_of(s, of);
  if (local[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0; i < role->nvars; i++) {
    local[LOCAL_VAR(i)] = sym_extract(&s->e, s->found, role->vars[i].type, of->vars[i]);
    if (role->vars[i].kind == VAR_INPUT)
      local[role_initial_at(role, i)] = sym_extract(&s->e, s->found, role->vars[i].type, of->initial[i]);
  }
}

/* Inserts the packet in the order of the reference interpreter (interp/config.h). */
static void add_packet(struct unrolling *s, struct config *c, struct packet p) {
  const struct clause *channels = clause_of_kind(&s->model->environments[s->e.environment], CLAUSE_CHANNELS);
  bool fifo = channels && channels->channel == CHANNEL_FIFO;
  if (c->npackets == c->packets_cap) {
    c->packets_cap = c->packets_cap ? 2 * c->packets_cap : 8;
    c->packets = memory_resize_array(c->packets, c->packets_cap, sizeof *c->packets);
  }
  uint32_t at = c->npackets++;
  for (; at > 0; at--) {
    const struct packet *q = &c->packets[at - 1];
    bool after = q->to != p.to       ? q->to > p.to
                 : q->from != p.from ? q->from > p.from
                                     : !fifo && packet_compare(s->model, q, &p) > 0;
    if (!after)
      break;
    c->packets[at] = *q;
  }
  c->packets[at] = p;
}

static void fill_packets(struct unrolling *s, const struct sym_state *state, struct config *c) {
  for (uint32_t i = 0; i < state->npackets; i++) {
    const struct sym_packet *p = &state->packets[i];
    if (truth_value(&s->e, s->found, p->pending))
      add_packet(s, c,
                 (struct packet){p->from, p->to, p->kind, PACKET_DELIVERED,
                                 sym_extract(&s->e, s->found, s->model->messages[p->kind].type, p->message)});
  }
}

static struct config *config_of(struct unrolling *s, const struct sym_state *state) {
  const struct model *m = s->model;
  struct config *c = config_new(m);
  c->point = state->point;
  c->rounds = (uint32_t)number_value(&s->e, s->found, state->rounds);
  c->phase = number_value(&s->e, s->found, state->phase);
  c->lost = number_value(&s->e, s->found, state->lost);
  c->corrupted = number_value(&s->e, s->found, state->corrupted);
  c->duplicated = number_value(&s->e, s->found, state->duplicated);
  for (uint32_t i = 0; i < m->nglobals; i++)
    c->globals[i] = sym_extract(&s->e, s->found, m->globals[i].type, state->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    fill_local(s, &state->of[p], &m->roles[model_role_of(m, p)], c->local[p]);
  fill_packets(s, state, c);
  return c;
}

static void fill_oracles(struct unrolling *s, const struct sym_round *r, uint32_t p, struct witness *w) {
  const struct role *role = &s->model->roles[model_role_of(s->model, p)];
  uint32_t n = 0;
  for (uint32_t i = 0; i < role->nvars; i++)
    n += role->vars[i].kind == VAR_ORACLE;
  if (n == 0)
    return;
  w->oracles[p] = memory_alloc(n * sizeof **w->oracles);
  for (uint32_t i = 0, k = 0; i < role->nvars; i++)
    if (role->vars[i].kind == VAR_ORACLE)
      w->oracles[p][k++] = sym_extract(&s->e, s->found, role->vars[i].type, r->oracles[p][i]);
}

static void fill_forgery(struct unrolling *s, const struct sym_step *step, uint32_t p, uint32_t q, struct witness *w) {
  const struct sym_round *r = &step->round;
  const struct body *body = &s->model->roles[model_role_of(s->model, p)].body[step->before->point];
  if (!r->forgery[p][q] || !truth_value(&s->e, s->found, r->forged[p][q]))
    return;
  w->forged = memory_resize_array(w->forged, w->nforged + (size_t)1, sizeof *w->forged);
  w->forged[w->nforged++] = (struct forgery){p, q, sym_extract(&s->e, s->found, body->received, r->forgery[p][q])};
}

static struct symbolic_step round_of(struct unrolling *s, const struct sym_step *step) {
  const struct sym_round *r = &step->round;
  uint32_t n = s->model->nprocesses;
  struct symbolic_step out = {.witness = witness_new(s->model),
                              .sent = memory_alloc((size_t)n * n + 1),
                              .message = memory_alloc(((size_t)n * n + 1) * sizeof *out.message)};
  for (uint32_t p = 0; p < n; p++) {
    out.witness->crashes[p] = truth_value(&s->e, s->found, r->crash[p]);
    fill_oracles(s, r, p, out.witness);
    for (uint32_t q = 0; q < n; q++) {
      out.witness->heard[p][q] = truth_value(&s->e, s->found, r->heard[p][q]);
      fill_forgery(s, step, p, q, out.witness);
      size_t at = (size_t)p * n + q;
      out.sent[at] = truth_value(&s->e, s->found, r->sent[p][q]);
      if (out.sent[at])
        out.message[at] = sym_extract(&s->e, s->found, r->type[p][q], r->message[p][q]);
    }
  }
  return out;
}

static struct symbolic_step event_of(struct unrolling *s, const struct sym_step *step) {
  struct symbolic_step out = {.action = NO_ACTION};
  for (uint32_t i = 0; i < step->nevents; i++)
    if (truth_value(&s->e, s->found, step->events[i].it)) {
      out.process = step->events[i].process;
      out.action = step->events[i].action;
    }
  return out;
}

void finding_fill(struct unrolling *s, struct symbolic_finding *f, bool error) {
  f->found = true;
  f->rounds = s->nsteps;
  f->nstates = error ? s->nsteps : s->nsteps + 1;
  f->states = memory_alloc((f->nstates + (size_t)1) * sizeof *f->states);
  f->steps = memory_alloc((f->rounds + (size_t)1) * sizeof *f->steps);
  for (uint32_t i = 0; i < f->nstates; i++)
    f->states[i] = config_of(s, s->states[i]);
  for (uint32_t i = 0; i < f->rounds; i++)
    f->steps[i] = model_steps(s->model) ? event_of(s, s->steps[i]) : round_of(s, s->steps[i]);
}

void finding_release(struct symbolic_finding *f) {
  for (uint32_t i = 0; i < f->nstates; i++)
    config_free(f->states[i]);
  for (uint32_t i = 0; f->steps && i < f->rounds; i++) {
    if (f->steps[i].witness)
      witness_free(f->steps[i].witness);
    memory_free(f->steps[i].sent);
    memory_free(f->steps[i].message);
  }
  memory_free(f->states);
  memory_free(f->steps);
  *f = (struct symbolic_finding){0};
}
