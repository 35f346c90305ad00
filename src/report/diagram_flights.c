#include "report/diagram_flights.h"

#include "interp/local.h"

struct open_flight { /* a message since it was sent */
  uint32_t from, to, kind, step;
  value message;
  bool landed; /* it was delivered or read */
  bool over;
};

struct flight_finder {
  const struct trace *trace;
  struct flights *found;
  VEC(struct open_flight) open;
  size_t first; /* all before it are over */
};

/* The oldest such message that is not over, or the newest; NULL: none. */
static struct open_flight *find(struct flight_finder *f, uint32_t from, uint32_t to, uint32_t kind, value message,
                                bool newest) {
  size_t n = f->open.n - f->first;
  for (size_t i = 0; i < n; i++) {
    struct open_flight *o = &f->open.at[newest ? f->open.n - 1 - i : f->first + i];
    if (!o->over && o->from == from && o->to == to && o->kind == kind && o->message == message)
      return o;
  }
  return NULL;
}

/* The messages that a step receives, reads, delivers or loses. */
static void take(struct flight_finder *f, uint32_t step) {
  const struct model *m = f->trace->model;
  const struct event *e = f->trace->run.steps[step]->event;
  const struct action *a = event_action(m, e);
  uint32_t kind = event_message_kind(m, e);
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    struct open_flight *o = t->forged ? NULL : find(f, t->from, e->process, kind, t->message, false);
    struct flight flight = {.from = t->from, .to = e->process, .kind = kind, .message = t->message, .taken = step};
    flight.end = t->forged ? FLIGHT_FORGED : e->kind == EVENT_LOSE ? FLIGHT_LOST : FLIGHT_TAKEN;
    flight.sent = o ? o->step : STEP_EARLIER;
    if (t->forged || (o && !o->landed))
      vec_push(&f->found->at, flight);
    if (!o)
      continue;
    bool stays = e->kind == EVENT_DELIVER || (a && a->trigger == TRIGGER_QUORUM && !a->taken);
    o->landed |= stays;
    o->over |= !stays && !t->kept;
  }
  while (f->first < f->open.n && f->open.at[f->first].over)
    f->first++;
}

/* Of equal messages, the newest are pending, as many as there are. */
static void find_pending(struct flight_finder *f) {
  const struct config *last = f->trace->configs[f->trace->nconfigs - 1];
  for (uint32_t i = 0; i < last->npackets; i++) {
    const struct packet *p = &last->packets[i];
    struct open_flight *o = find(f, p->from, p->to, p->kind, p->message, true);
    if (!o || !process_active(last->local[p->to][LOCAL_STATUS]))
      continue; /* the receiver is not active */
    o->over = true;
    if (!o->landed)
      vec_push(&f->found->at,
               ((struct flight){FLIGHT_PENDING, p->from, p->to, p->kind, p->message, o->step, STEP_NEVER}));
  }
}

void flights_find(struct flights *found, const struct trace *t) {
  struct flight_finder f = {.trace = t, .found = found};
  const struct config *first = t->configs[0];
  *found = (struct flights){0};
  for (uint32_t i = 0; i < first->npackets; i++) {
    const struct packet *p = &first->packets[i];
    vec_push(&f.open, ((struct open_flight){p->from, p->to, p->kind, STEP_EARLIER, p->message, false, false}));
  }
  for (uint32_t step = 0; step < t->run.nsteps; step++) {
    take(&f, step);
    for (size_t i = 0; i < t->logs[step].nsent; i++) {
      const struct sent *s = &t->logs[step].sent[i];
      vec_push(&f.open, ((struct open_flight){s->from, s->to, s->kind, step, s->message, false, false}));
    }
  }
  find_pending(&f);
  vec_release(&f.open);
}

void flights_release(struct flights *f) { vec_release(&f->at); }
