/* Structured rounds: candidates, conversion to and from witnesses, and the interpreter's verdict. */
#include "session/round_choices.h"

#include "interp/async_round.h"

#include "model/node.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>

static bool has_rounds(struct session *s) {
  return !model_steps(&s->model) ||
         session_fail(s, "the processes of '%s' take steps: there are no rounds", s->model.name);
}

const struct config *round_config(struct session *s, uint32_t process) {
  const struct config *c = has_rounds(s) ? session_current(s) : NULL;
  if (c && s->path.async && process < s->model.nprocesses)
    c = s->path.async->at.at[s->path.async->done[process]];
  if (!c || c->point != POINT_END)
    return c;
  session_fail(s, "the algorithm is over");
  return NULL;
}

bool fails_in_sending(struct session *s, const struct config *c, const struct witness *w) {
  struct message_exchange x;
  struct model_error ignored;
  if (!w || w->event)
    return false;
  bool fails = exchange_begin(&x, s->interp, c, w, &ignored) == STEP_ERROR;
  exchange_release(&x);
  return fails;
}

/* --- structure to witness --- */

static bool take_oracles(struct session *s, const struct config *c, const struct session_part *part, uint32_t p,
                         struct witness *w) {
  struct model *m = &s->model;
  const struct role *role = process_role(m, p);
  uint32_t k = 0, n = role_noracles(role);
  w->oracles[p] = n ? memory_alloc(n * sizeof(value)) : NULL;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind != VAR_ORACLE)
      continue;
    w->oracles[p][k] = c->local[p][LOCAL_VAR(i)];
    if (oracle_chosen_at(m, v, c->point) && process_active(c->local[p][LOCAL_STATUS])) {
      if (k >= part->noracles || part->oracles[k] >= v->type->count)
        return session_fail(s, "process %u: oracle '%s' has no such value", p, v->name);
      w->oracles[p][k] = type_nth(&m->values, v->type, part->oracles[k]);
    }
    k++;
  }
  return true;
}

/* In the order of senders, at most one from each. */
static bool take_forged(struct session *s, const struct config *c, const struct session_part *part, uint32_t p,
                        struct witness *w) {
  struct model *m = &s->model;
  const struct type *type = process_role(m, p)->body[c->point].received;
  uint32_t first = w->nforged;
  w->forged = memory_resize_array(w->forged, (size_t)w->nforged + part->nforged + 1, sizeof *w->forged);
  for (uint32_t i = 0; i < part->nforged; i++) {
    const struct session_forgery *f = &part->forged[i];
    if (f->sender >= m->nprocesses)
      return session_fail(s, "process %u: there is no sender %u", p, f->sender);
    if (!type || f->payload >= type->count)
      return session_fail(s, "process %u: there is no message %" PRIu64 " that it could receive", p, f->payload);
    uint32_t at = w->nforged++;
    for (; at > first && w->forged[at - 1].sender > f->sender; at--)
      w->forged[at] = w->forged[at - 1];
    if (at > first && w->forged[at - 1].sender == f->sender)
      return session_fail(s, "process %u: two forged messages from sender %u", p, f->sender);
    w->forged[at] = (struct forgery){p, f->sender, type_nth(&m->values, type, f->payload)};
  }
  return true;
}

static struct script script_of(const uint32_t *at, uint32_t n) {
  struct script script = {n, NULL};
  if (n) {
    script.at = memory_alloc(n * sizeof *at);
    memcpy(script.at, at, n * sizeof *at);
  }
  return script;
}

static bool take_part(struct session *s, const struct config *c, const struct session_part *part, uint32_t p,
                      struct witness *w) {
  uint32_t n = w->nprocesses;
  if (n < 64 && part->heard >> n)
    return session_fail(s, "process %u hears processes that do not exist", p);
  for (uint32_t q = 0; q < n; q++)
    w->heard[p][q] = part->heard >> q & 1;
  w->crashes[p] = part->crashes;
  w->sends[p] = script_of(part->sends, part->nsends);
  w->updates[p] = script_of(part->updates, part->nupdates);
  return take_oracles(s, c, part, p, w) && take_forged(s, c, part, p, w);
}

struct witness *round_witness(struct session *s, const struct config *c, const struct session_round *round) {
  if (!c)
    return NULL;
  if (round->nparts != s->model.nprocesses) {
    session_fail(s, "the round is for %u processes, the model has %u", round->nparts, s->model.nprocesses);
    return NULL;
  }
  struct witness *w = witness_new(&s->model);
  for (uint32_t p = 0; p < round->nparts; p++)
    if (!take_part(s, c, &round->parts[p], p, w)) {
      witness_free(w);
      return NULL;
    }
  return w;
}

/* --- witness to structure --- */

static void fill_oracles(struct session *s, const struct config *c, const struct witness *w, uint32_t p,
                         struct arena *arena, struct session_part *part) {
  const struct model *m = &s->model;
  const struct role *role = process_role(m, p);
  part->noracles = role_noracles(role);
  part->oracles = arena_array(arena, part->noracles + (size_t)1, sizeof *part->oracles);
  for (uint32_t i = 0, k = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind != VAR_ORACLE)
      continue;
    if (w->oracles[p] && oracle_chosen_at(m, v, c->point) && process_active(c->local[p][LOCAL_STATUS]))
      part->oracles[k] = type_index(&m->values, v->type, w->oracles[p][k]);
    k++;
  }
}

static void fill_forged(struct session *s, const struct config *c, const struct witness *w, uint32_t p,
                        struct arena *arena, struct session_part *part) {
  const struct model *m = &s->model;
  const struct type *type = process_role(m, p)->body[c->point].received;
  part->forged = arena_array(arena, w->nforged + (size_t)1, sizeof *part->forged);
  for (uint32_t i = 0; i < w->nforged && type; i++)
    if (w->forged[i].receiver == p)
      part->forged[part->nforged++] =
          (struct session_forgery){w->forged[i].sender, type_index(&m->values, type, w->forged[i].message)};
}

static uint32_t *picks_of(struct arena *arena, const struct script *script, uint32_t *n) {
  *n = script->n;
  return script->n ? arena_copy(arena, script->at, script->n * sizeof *script->at) : NULL;
}

void round_of_witness(struct session *s, const struct config *c, const struct witness *w, uint32_t process,
                      struct session_round *out) {
  *out = (struct session_round){.nparts = w->nprocesses, .process = process};
  arena_init(&out->arena);
  out->parts = arena_array(&out->arena, w->nprocesses + (size_t)1, sizeof *out->parts);
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    struct session_part *part = &out->parts[p];
    for (uint32_t q = 0; q < w->nprocesses; q++)
      part->heard |= (uint64_t)(w->heard[p][q] != 0) << q;
    part->crashes = w->crashes[p];
    part->sends = picks_of(&out->arena, &w->sends[p], &part->nsends);
    part->updates = picks_of(&out->arena, &w->updates[p], &part->nupdates);
    fill_oracles(s, c, w, p, &out->arena, part);
    fill_forged(s, c, w, p, &out->arena, part);
  }
}

void session_round_release(struct session_round *round) {
  arena_release(&round->arena);
  *round = (struct session_round){0};
}

bool session_round_init(struct session *s, struct session_round *out) {
  session_clear_error(s);
  *out = (struct session_round){0};
  const struct config *c = round_config(s, SESSION_NO_PROCESS);
  if (!c)
    return false;
  struct witness *w = witness_new(&s->model);
  for (uint32_t p = 0; p < w->nprocesses; p++)
    memset(w->heard[p], 1, w->nprocesses);
  round_of_witness(s, c, w, SESSION_NO_PROCESS, out);
  witness_free(w);
  return true;
}

struct nth_round_search {
  struct session *session;
  const struct config *config;
  struct session_round *out;
  uint64_t wanted;
  bool found;
};

static bool fill_nth(void *context, const struct numbered_choice *c) {
  struct nth_round_search *n = context;
  if (c->index < n->wanted)
    return true;
  const struct witness *w = session_ended_round(n->session, c->witness, c->process, &n->config);
  round_of_witness(n->session, n->config, w, c->process, n->out);
  n->found = true;
  return false;
}

bool session_round_nth(struct session *s, uint64_t index, struct session_round *out) {
  session_clear_error(s);
  *out = (struct session_round){0};
  const struct config *c = has_rounds(s) ? session_current(s) : NULL;
  struct nth_round_search n = {s, c, out, index, false};
  if (!c || choices_walk(s, s->environment, c, choice_process(s, index), fill_nth, &n) == WALK_STOPPED)
    return false;
  return n.found || session_fail(s, "there is no choice %" PRIu64, index);
}

bool session_round_taken(struct session *s, size_t step, struct session_round *out) {
  session_clear_error(s);
  *out = (struct session_round){0};
  if (!has_rounds(s))
    return false;
  if (step >= s->path.steps.n)
    return session_fail(s, "the path has only %zu steps", s->path.steps.n);
  const struct path_step *at = &s->path.steps.at[step];
  const struct config *c = session_choice_config(s, step);
  const struct witness *w = session_ended_round(s, at->witness, at->process, &c);
  round_of_witness(s, c, w, at->process, out);
  return true;
}

/* --- running one process --- */

/* Runs the sends of p. False: an error of the model. `choices` receives the free choices that were requested. */
static bool process_sends(struct session *s, const struct config *c, const struct witness *w, uint32_t p,
                          struct choices *choices) {
  struct eval e;
  struct local_send_list out = {0};
  value *local = local_with_oracles(&s->model, c, w, p);
  local_begin(&e, s->interp, p, c->point, c->phase, local, c->globals);
  e.choices = choices;
  bool ok = local_sends(&e, &out);
  memory_free(out.at);
  memory_free(local);
  return ok;
}

bool process_updates(struct session *s, const struct message_exchange *x, const struct witness *w, uint32_t p,
                     struct choices *choices, value *local, struct model_error *error) {
  const struct config *c = x->config;
  struct received_entry *entries = memory_alloc((c->nprocesses + (size_t)1) * sizeof *entries);
  struct received received;
  struct eval e;
  bool ok = exchange_receive(x, w, p, entries, &received, NULL);
  memcpy(local, x->local[p], role_local_length(process_role(&s->model, p)) * sizeof *local);
  if (ok) {
    local_begin(&e, s->interp, p, c->point, c->phase, local, c->globals);
    e.choices = choices;
    ok = local_update(&e, &received);
    *error = e.error;
  } else {
    *error = (struct model_error){.message = "a message that nobody could have sent", .process = p};
  }
  memory_free(entries);
  return ok;
}

/* --- normal form, as in the plain enumeration --- */

/* Oracles that are not chosen here keep their values. */
static void normalise_oracles(struct session *s, const struct config *c, struct witness *w, uint32_t p) {
  const struct role *role = process_role(&s->model, p);
  bool active = process_active(c->local[p][LOCAL_STATUS]);
  for (uint32_t i = 0, k = 0; i < role->nvars && w->oracles[p]; i++) {
    if (role->vars[i].kind != VAR_ORACLE)
      continue;
    if (!active || !oracle_chosen_at(&s->model, &role->vars[i], c->point))
      w->oracles[p][k] = c->local[p][LOCAL_VAR(i)];
    k++;
  }
}

/* A process that does not update receives nothing. */
static void normalise_idle(struct session *s, const struct config *c, struct witness *w, uint32_t p) {
  bool active = process_active(c->local[p][LOCAL_STATUS]);
  struct choices none = {0};
  uint32_t n = 0;
  if (active && !w->crashes[p])
    return;
  script_keep(&w->updates[p], &none);
  if (!active)
    script_keep(&w->sends[p], &none);
  if (!environment_reads_heard_of(&s->model.environments[s->environment]))
    memset(w->heard[p], 1, w->nprocesses);
  for (uint32_t i = 0; i < w->nforged; i++)
    if (w->forged[i].receiver != p)
      w->forged[n++] = w->forged[i];
  w->nforged = n;
}

void witness_normalise(struct session *s, const struct config *c, struct witness *w) {
  struct choices choices = {0};
  struct message_exchange x;
  struct model_error error;
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    normalise_oracles(s, c, w, p);
    normalise_idle(s, c, w, p);
    if (!process_active(c->local[p][LOCAL_STATUS]))
      continue;
    choices_give(&choices, &w->sends[p]);
    process_sends(s, c, w, p, &choices);
    script_keep(&w->sends[p], &choices);
  }
  bool sent = exchange_begin(&x, s->interp, c, w, &error) == STEP_OK;
  value *local = memory_alloc(s->interp->max_local * sizeof *local);
  for (uint32_t p = 0; p < w->nprocesses && sent; p++) {
    if (!process_active(c->local[p][LOCAL_STATUS]) || w->crashes[p])
      continue;
    choices_give(&choices, &w->updates[p]);
    process_updates(s, &x, w, p, &choices, local, &error);
    script_keep(&w->updates[p], &choices);
  }
  memory_free(local);
  exchange_release(&x);
  choices_release(&choices);
}

/* --- candidates --- */

static void fill_senders(struct session *s, const struct message_exchange *x, const struct witness *w, uint32_t p,
                         struct arena *arena, struct session_candidate *out) {
  const struct model *m = &s->model;
  const struct environment *env = &m->environments[s->environment];
  struct model_error ignored;
  out->senders = arena_array(arena, m->nprocesses + (size_t)1, sizeof *out->senders);
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    struct session_sender *to = &out->senders[q];
    const struct local_send *sent = NULL;
    exchange_message(x, q, p, &sent, &ignored);
    to->byzantine = x->config->local[q][LOCAL_STATUS] & STATUS_BYZANTINE;
    to->must = environment_delivers(env) && must_hear(x, w, p, q);
    to->sends = sent != NULL;
    if (sent) {
      struct text text = {0};
      value_print(&m->values, m, sent->type, sent->message, &text);
      to->text = text_to_arena(arena, &text);
    }
    out->may_forge |= out->active && out->npayloads && (to->byzantine || environment_corrupts(env));
  }
}

static void fill_candidate(struct session *s, const struct message_exchange *x, const struct witness *w, uint32_t p,
                           struct arena *arena, struct session_candidate *out) {
  const struct model *m = &s->model;
  const struct config *c = x->config;
  const struct role *role = process_role(m, p);
  const struct type *type = role->body[c->point].received;
  out->active = process_active(c->local[p][LOCAL_STATUS]);
  out->may_crash = out->active && environment_clause(&m->environments[s->environment], CLAUSE_CRASH);
  out->npayloads = type ? type->count : 0;
  out->oracles = arena_array(arena, role->nvars + (size_t)1, sizeof *out->oracles);
  for (uint32_t i = 0; i < role->nvars; i++)
    if (role->vars[i].kind == VAR_ORACLE)
      out->oracles[out->noracles++] = (struct session_oracle){
          role->vars[i].name, role->vars[i].type->count, out->active && oracle_chosen_at(m, &role->vars[i], c->point)};
  fill_senders(s, x, w, p, arena, out);
}

static uint32_t *arities(struct arena *arena, const struct choices *choices, uint32_t *n) {
  *n = (uint32_t)choices->at;
  return choices->at ? arena_copy(arena, choices->arity.at, choices->at * sizeof *choices->arity.at) : NULL;
}

static void fill_picks(struct session *s, const struct message_exchange *x, bool sent, const struct witness *w,
                       uint32_t p, struct arena *arena, struct session_candidate *out) {
  struct choices choices = {0};
  struct model_error ignored;
  if (!out->active)
    return;
  choices_give(&choices, &w->sends[p]);
  process_sends(s, x->config, w, p, &choices);
  out->send_picks = arities(arena, &choices, &out->nsend_picks);
  if (sent && !w->crashes[p]) {
    value *local = memory_alloc(s->interp->max_local * sizeof *local);
    choices_give(&choices, &w->updates[p]);
    process_updates(s, x, w, p, &choices, local, &ignored);
    out->update_picks = arities(arena, &choices, &out->nupdate_picks);
    out->update_coins = choices.coins;
    memory_free(local);
  }
  choices_release(&choices);
}

static bool fill_candidates(struct session *s, const struct config *c, const struct witness *w,
                            struct session_candidates *out) {
  struct message_exchange x;
  struct model_error error = {0};
  enum step_result begun = exchange_begin(&x, s->interp, c, w, &error);
  *out = (struct session_candidates){.n = s->model.nprocesses};
  if (begun == STEP_BAD_WITNESS) {
    exchange_release(&x);
    return session_fail(s, "an oracle or a choice that does not exist");
  }
  arena_init(&out->arena);
  out->at = arena_array(&out->arena, out->n + (size_t)1, sizeof *out->at);
  for (uint32_t p = 0; p < out->n; p++) {
    fill_candidate(s, &x, w, p, &out->arena, &out->at[p]);
    fill_picks(s, &x, begun == STEP_OK, w, p, &out->arena, &out->at[p]);
  }
  exchange_release(&x);
  return true;
}

bool session_candidates(struct session *s, const struct session_round *round, struct session_candidates *out) {
  struct session_round own = {0};
  *out = (struct session_candidates){0};
  if (!round && !session_round_init(s, &own))
    return false;
  session_clear_error(s);
  const struct session_round *of = round ? round : &own;
  const struct config *c = round_config(s, of->process);
  struct witness *w = round_witness(s, c, of);
  bool ok = w && fill_candidates(s, c, w, out);
  witness_free(w);
  if (!round)
    session_round_release(&own);
  return ok;
}

void session_candidates_release(struct session_candidates *out) {
  arena_release(&out->arena);
  *out = (struct session_candidates){0};
}

static char *nth_text(struct session *s, const struct type *type, uint64_t number) {
  struct model *m = &s->model;
  struct text text = {0};
  if (!type || number >= type->count) {
    session_fail(s, "there is no value %" PRIu64, number);
    return NULL;
  }
  value_print(&m->values, m, type, type_nth(&m->values, type, number), &text);
  char *copy = memory_strdup(text_or_empty(&text));
  text_release(&text);
  return copy;
}

char *session_oracle_text(struct session *s, uint32_t process, uint32_t oracle, uint64_t number) {
  session_clear_error(s);
  const struct role *role = process < s->model.nprocesses ? process_role(&s->model, process) : NULL;
  for (uint32_t i = 0; role && i < role->nvars; i++)
    if (role->vars[i].kind == VAR_ORACLE && oracle-- == 0)
      return nth_text(s, role->vars[i].type, number);
  session_fail(s, "there is no such oracle");
  return NULL;
}

char *session_payload_text(struct session *s, uint32_t process, uint64_t number) {
  session_clear_error(s);
  const struct config *c = round_config(s, process);
  if (!c)
    return NULL;
  if (process >= s->model.nprocesses) {
    session_fail(s, "there is no process %u", process);
    return NULL;
  }
  return nth_text(s, process_role(&s->model, process)->body[c->point].received, number);
}

/* --- verdicts --- */

/* A round that was judged, and what it leads to. */
struct judged_round {
  const struct config *config;
  struct witness *witness;
  struct config *next;
  enum step_result result;
  struct model_error error;
  bool untimely; /* asynchronous rounds: the process cannot end this round now */
};

/* False: the round is malformed. */
static bool round_judge(struct session *s, const struct session_round *round, struct judged_round *j,
                        struct session_judgement *out) {
  *out = (struct session_judgement){.clause = SESSION_NO_CLAUSE};
  *j = (struct judged_round){.config = round_config(s, round->process)};
  j->witness = round_witness(s, j->config, round);
  if (!j->witness)
    return false;
  j->next = config_new(&s->model);
  j->result = config_step(s->interp, s->environment, j->config, j->witness, j->next, NULL, &j->error);
  out->possible = j->result != STEP_BAD_WITNESS;
  if (!out->possible) {
    out->why = "a choice that the algorithm does not have";
    return true;
  }
  struct clause_blame blame = clause_blame_of(s, j->config, j->witness);
  if (blame.allowed && s->path.async) {
    blame.why = session_cannot_end(s, j->witness, round->process);
    if (!blame.why && j->result == STEP_ERROR && j->error.process != round->process)
      blame.why = "another process fails in this round";
    j->untimely = blame.why != NULL;
    blame.allowed = !j->untimely;
  }
  out->allowed = blame.allowed;
  out->why = blame.allowed ? NULL : blame.why;
  out->clause = blame.clause;
  out->clause_at = blame.at;
  if (blame.allowed && j->result == STEP_ERROR)
    out->error = j->error.message ? j->error.message : "an error of the model";
  return true;
}

static void judged_release(struct judged_round *j) {
  config_free(j->next);
  witness_free(j->witness);
}

bool session_judge(struct session *s, const struct session_round *round, struct session_judgement *out) {
  struct judged_round j;
  session_clear_error(s);
  bool ok = round_judge(s, round, &j, out);
  judged_release(&j);
  return ok && !session_stop_seen(s);
}

static void push_round(struct session *s, struct judged_round *j, uint32_t process) {
  struct numbered_choice c = {.witness = j->witness,
                              .process = s->path.async ? process : SESSION_NO_PROCESS,
                              .result = j->result,
                              .after = j->next,
                              .error = &j->error};
  witness_normalise(s, j->config, j->witness);
  if (!s->path.async || j->result == STEP_ERROR) {
    session_push(s, &c, SESSION_NONE);
    return;
  }
  bool fixed = s->path.async->done[process] < s->path.async->nrounds;
  c.witness = fixed ? NULL : j->witness;
  c.fixed = fixed ? NULL : j->next;
  struct config *view = session_view_after(s, c.witness, c.fixed, process);
  c.after = view;
  session_push(s, &c, fixed ? process : SESSION_NONE);
  config_free(view);
}

bool session_take_round(struct session *s, const struct session_round *round) {
  struct judged_round j;
  struct session_judgement judgement;
  session_clear_error(s);
  bool ok = round_judge(s, round, &j, &judgement) && !session_stop_seen(s);
  if (ok && !judgement.possible)
    ok = session_fail(s, "%s", judgement.why);
  else if (ok && j.untimely)
    ok = session_fail(s, "process %u cannot end this round: %s", round->process, judgement.why);
  else if (ok && !judgement.allowed)
    ok = session_fail(s, "environment '%s' does not allow it: %s", s->model.environments[s->environment].name,
                      judgement.why);
  if (ok)
    push_round(s, &j, round->process);
  judged_release(&j);
  return ok;
}
