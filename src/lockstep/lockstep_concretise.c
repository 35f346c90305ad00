/* Turns a path of canonical states into a concrete run. At each step, the canonical form of the concrete configuration
   gives the position of each process. The product is then enumerated again until a derivation of the next state of the
   path is found. That derivation is translated into heard-of sets and checked by the interpreter: only steps that the
   interpreter confirms are used. */
#include "lockstep/lockstep_concretise.h"

#include "interp/run_clauses.h"
#include "lockstep/expansion.h"
#include "lockstep/lockstep_initial.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"
#include "lockstep/round_rank.h"

#include <string.h>

struct concretisation {
  struct lockstep *system;
  struct config *config;               /* the concrete configuration */
  struct unpacked_state *packed;       /* its canonical form, a state of the path */
  uint32_t *real;                      /* vectors: canonical position -> concrete process */
  uint32_t *place;                     /* the inverse */
  value *to_rank, *from_rank;          /* round numbers; NULL: unchanged */
  const struct state *target;          /* NULL: the step must end in an error */
  const struct path_goal *goal;        /* of the last step; NULL: another step */
  uint64_t marks;                      /* that must hold in the step */
  uint32_t obligation;                 /* of the concrete configuration */
  const struct round_variant *variant; /* of the step, in terms of the canonical state; NULL: there are no marks */
  uint32_t **of_actor;                 /* the concrete processes of each actor */
  struct witness *witness;             /* the result */
  struct config *next;
  bool found;
};

/* --- between concrete values and those of the canonical state --- */

static value to_packed(struct concretisation *k, const struct type *t, value v) {
  struct renaming r = {.process = k->place, .rounds = k->to_rank};
  return value_rename(&k->system->model->values, t, v, &r);
}

static value to_real(struct concretisation *k, const struct type *t, value v) {
  struct renaming r = {.process = k->real, .rounds = k->from_rank};
  return value_rename(&k->system->model->values, t, v, &r);
}

static local_id pack_local(struct concretisation *k, uint32_t process, const value *local) {
  struct lockstep *s = k->system;
  uint32_t role = model_role_of(s->model, process);
  const struct role *r = &s->model->roles[role];
  uint32_t length = role_local_length(r);
  value *v = memory_alloc(length * sizeof *v);
  memcpy(v, local, length * sizeof *v);
  local_reset_oracles(s->interp, role, k->config->point, v);
  for (uint32_t i = 0, j = 1 + r->nvars; i < r->nvars; i++) {
    v[LOCAL_VAR(i)] = to_packed(k, r->vars[i].type, v[LOCAL_VAR(i)]);
    if (r->vars[i].kind == VAR_INPUT) {
      v[j] = to_packed(k, r->vars[i].type, v[j]);
      j++;
    }
  }
  v[LOCAL_STATUS] |= followed_bits(&s->pack, k->config->globals, process);
  local_id id = local_put(&s->pack, role, v);
  memory_free(v);
  return local_drop_dead(&s->pack, id, s->model->points[k->config->point].next);
}

/* The renaming of the concrete configuration's round numbers by the canonical form, and its inverse. */
static void rank_real_rounds(struct concretisation *k, const struct unpacked_state *raw) {
  struct lockstep *s = k->system;
  struct round_ranks ranks;
  if (!s->pack.rank)
    return;
  round_ranks_begin(&ranks);
  for (uint32_t i = 0; i < raw->n; i++)
    round_ranks_note_local(&ranks, &s->pack, raw->at[i].local);
  round_ranks_note(&ranks, raw->phase);
  if (round_ranks_assign(&ranks, &s->pack, raw->phase)) {
    size_t last = (size_t)k->config->phase + 1; /* for all variables, including dead ones */
    size_t n = ranks.n > last + 1 ? ranks.n : last + 1;
    k->to_rank = memory_alloc(n * sizeof *k->to_rank);
    k->from_rank = memory_alloc(n * sizeof *k->from_rank);
    memcpy(k->to_rank, ranks.rank, ranks.n * sizeof *k->to_rank);
    for (size_t r = 0; r < ranks.n; r++)
      if (ranks.occurs[r])
        k->from_rank[ranks.rank[r]] = (value)r;
  }
  round_ranks_release(&ranks);
}

/* The canonical form of the concrete configuration, and the position of each process in it. */
static bool place_processes(struct concretisation *k, const struct state *state) {
  struct lockstep *s = k->system;
  uint32_t n = s->model->nprocesses;
  struct unpacked_state *raw = global_new(&s->pack);
  struct renumbering how = {memory_alloc((n + 1) * sizeof *how.to)};
  global_from_config(&s->pack, k->config, raw);
  raw->obligation = k->obligation;
  for (uint32_t i = 0; i < raw->n; i++)
    raw->at[i].local = k->config->rounds > 0 ? local_drop_dead(&s->pack, raw->at[i].local, raw->point)
                                             : local_at_start(&s->pack, raw->at[i].local);
  rank_real_rounds(k, raw);
  local_id *locals = memory_alloc((n + 1) * sizeof *locals);
  if (s->pack.bag) {
    struct unpacked_state copy = *raw;
    copy.at = memory_alloc((n + 1) * sizeof *copy.at);
    memcpy(copy.at, raw->at, n * sizeof *copy.at);
    s->pack.bag = false; /* only ranks, so that every process keeps its own local state */
    global_canonical(&s->pack, &copy, NULL);
    s->pack.bag = true;
    for (uint32_t i = 0; i < n; i++)
      locals[i] = copy.at[i].local;
    memory_free(copy.at);
  }
  global_canonical(&s->pack, raw, &how);
  struct state found;
  global_encode(&s->pack, raw, &s->buffer, &s->buffer_capacity, &found);
  bool same = found.length == state->length && !memcmp(found.bytes, state->bytes, found.length);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t to = i;
    if (!s->pack.bag)
      to = how.to[i];
    k->place[i] = to;
    k->real[to] = i;
  }
  if (s->pack.bag) /* in bags, a process is identified with a member by its local state, so place holds local ids */
    for (uint32_t i = 0; i < n; i++)
      k->place[i] = locals[i];
  memory_free(locals);
  memory_free(how.to);
  global_free(raw);
  return same;
}

/* --- the processes of each actor --- */

static void assign_actors(struct concretisation *k, const struct round_derivation *l) {
  struct lockstep *s = k->system;
  uint32_t n = s->model->nprocesses;
  bool *taken = memory_alloc(n + 1);
  k->of_actor = memory_alloc((l->nactors + 1) * sizeof *k->of_actor);
  for (uint32_t a = 0; a < l->nactors; a++) {
    const struct actor *actor = &l->actors[a];
    k->of_actor[a] = memory_alloc((actor->count + 1) * sizeof **k->of_actor);
    if (!s->pack.bag) {
      k->of_actor[a][0] = k->real[actor->process];
      continue;
    }
    for (uint32_t p = 0, got = 0; p < n && got < actor->count; p++)
      if (!taken[p] && k->place[p] == actor->original) {
        taken[p] = true;
        k->of_actor[a][got++] = p;
      }
  }
  memory_free(taken);
}

static void free_actors(struct concretisation *k, uint32_t n) {
  for (uint32_t a = 0; a < n; a++)
    memory_free(k->of_actor[a]);
  memory_free(k->of_actor);
}

/* --- heard-of sets --- */

struct heard_of_choice {
  struct concretisation *k;
  const struct round_derivation *derivation;
  uint32_t actor, process; /* the receiver */
  const struct round_receivable *receivable;
  uint32_t *left;    /* by group: the number still to be heard */
  uint32_t *corrupt; /* by group: the number of corrupted ones among them */
  uint32_t next_forged;
  uint32_t nforged;
  const value *forged; /* pairs (message, tag) */
};

/* The content of an open message is determined later. */
static void forge(struct heard_of_choice *h, uint32_t sender, value message) {
  struct witness *w = h->k->witness;
  const struct lockstep *s = h->k->system;
  const struct type *t = s->model->roles[h->derivation->actors[h->actor].role].body[h->k->config->point].received;
  if (message != LAZY_FIRST)
    message = to_real(h->k, t, message);
  w->forged = memory_resize_array(w->forged, w->nforged + 1, sizeof *w->forged);
  w->forged[w->nforged++] = (struct forgery){h->process, sender, message};
}

static void hear(struct heard_of_choice *h, uint32_t sender_actor, uint32_t sender) {
  struct witness *w = h->k->witness;
  uint32_t g = h->receivable->group_of[2 * sender_actor + (sender == h->process)];
  if (g == 0)
    w->heard[h->process][sender] = 1; /* it sends nothing here, and no condition depends on whether it is heard */
  if (g-- == 0 || h->left[g] == 0 || w->heard[h->process][sender])
    return;
  h->left[g]--;
  w->heard[h->process][sender] = 1;
  if (h->corrupt[g] && h->next_forged < h->nforged) {
    h->corrupt[g]--;
    forge(h, sender, h->forged[2 * h->next_forged++]);
  }
}

static bool is_byzantine(const struct heard_of_choice *h, uint32_t actor) {
  return local_status(&h->k->system->pack, h->derivation->actors[actor].original) & STATUS_BYZANTINE;
}

/* Hears those Byzantine senders, with those messages, that the outcome specifies, and no others. */
static void hear_byzantine(struct heard_of_choice *h, uint32_t byzantine_senders, uint32_t silent) {
  const struct round_derivation *l = h->derivation;
  struct witness *w = h->k->witness;
  uint32_t index = 0;
  for (uint32_t a = 0; a < l->nactors; a++)
    for (uint32_t i = 0; is_byzantine(h, a) && i < l->actors[a].count; i++, index++) {
      uint32_t q = h->k->of_actor[a][i];
      value message = VALUE_NONE;
      bool speaks = false;
      for (uint32_t f = 0; f < byzantine_senders && !speaks; f++) {
        uint32_t tag = (uint32_t)h->forged[2 * f + 1];
        bool this = tag == NO_SENDER ? f == index : h->k->real[tag] == q;
        if (this) {
          message = h->forged[2 * f];
          speaks = true;
        }
      }
      if (speaks) {
        w->heard[h->process][q] = 1;
        forge(h, q, message);
      } else if (silent) {
        w->heard[h->process][q] = 1;
        silent--;
      }
    }
}

/* Reduces the heard-of set to a size that the conditions allow, without changing what the update observes. */
static uint32_t shrink_to_size(struct heard_of_choice *h, const struct read_set *reads, const struct rules *rules,
                               int64_t size, bool self, uint32_t byzantine_senders) {
  if (size < 0)
    return 0;
  int64_t total = byzantine_senders;
  for (uint32_t i = 0; i < h->receivable->n; i++)
    total += h->left[i];
  bool counts =
      reads->counts || rules->corrupts || (rules->lossy && h->k->system->form.all_costs) || losses_by_size(rules);
  for (uint32_t i = 0; i < h->receivable->n && total > size; i++) {
    const struct sender_group *g = &h->receivable->groups[i];
    uint32_t least = !rules->delivers ? 0 : rules->lossy ? g->self : g->must;
    if ((h->receivable->need == i || (self && g->self)) && !least)
      least = 1;
    if (!g->silent)
      least = counts ? h->left[i] : least ? least : h->left[i] ? 1 : 0;
    while (h->left[i] > least && total > size) {
      h->left[i]--;
      total--;
    }
  }
  return total < size ? (uint32_t)(size - total) : 0;
}

static void hear_outcome(struct heard_of_choice *h, const struct local_outcome *outcome, const struct rules *rules,
                         const struct read_set *reads) {
  const struct round_derivation *l = h->derivation;
  const struct round_receivable *o = h->receivable;
  const value *how = intern_at(h->k->system->vectors, outcome->how);
  size_t length = intern_length(h->k->system->vectors, outcome->how);
  for (uint32_t i = 0; i < o->n; i++) {
    h->left[i] = (uint32_t)how[i];
    h->corrupt[i] = (uint32_t)how[o->n + i];
  }
  uint32_t corrupted = 0;
  for (uint32_t i = 0; i < o->n; i++)
    corrupted += h->corrupt[i];
  int64_t size = how[2 * o->n];
  bool self = how[2 * o->n + 1];
  h->forged = how + 2 * o->n + 2;
  h->nforged = (uint32_t)((length - 2 * (size_t)o->n - 2) / 2);
  uint32_t byzantine_senders = h->nforged - corrupted;
  h->next_forged = byzantine_senders;
  for (uint32_t i = 0; i < outcome->nmasks && l->clique; i++) {
    const uint64_t *mask = outcome->masks + (size_t)i * bitset_words(o->n);
    bool allowed = l->clique[l->actors[h->actor].mask_sets[outcome->first_mask + i]];
    for (uint32_t g = 0; g < o->n && allowed; g++)
      h->left[g] = mask[g / 64] >> g % 64 & 1 ? o->groups[g].count : 0;
  }
  uint32_t silent = shrink_to_size(h, reads, rules, l->clique ? -1 : size, self, byzantine_senders);
  hear_byzantine(h, byzantine_senders, silent);
  if (l->kernel != UINT32_MAX) /* before the receiver itself, which may send the same message */
    hear(h, l->kernel, h->k->of_actor[l->kernel][0]);
  if (size < 0 || self)
    hear(h, h->actor, h->process);
  for (int excused = 0; excused < 2; excused++)
    for (uint32_t a = 0; a < l->nactors; a++)
      for (uint32_t i = 0; i < l->actors[a].count && !is_byzantine(h, a) &&
                           actor_excused(h->k->system, &l->actors[a], &l->actors[h->actor]) == excused;
           i++)
        if (h->k->of_actor[a][i] != h->process)
          hear(h, a, h->k->of_actor[a][i]);
  hear(h, h->actor, h->process);
}

static void hear_uniformly(struct heard_of_choice *h, const struct local_outcome *outcome) {
  const struct round_derivation *l = h->derivation;
  const value *how = intern_at(h->k->system->vectors, outcome->how);
  size_t length = intern_length(h->k->system->vectors, outcome->how);
  for (uint32_t a = 0; a < l->nactors; a++)
    for (uint32_t i = 0; i < l->uniform[a]; i++)
      h->k->witness->heard[h->process][h->k->of_actor[a][i]] = 1;
  h->forged = how + 2 * h->receivable->n + 2;
  h->nforged = (uint32_t)((length - 2 * (size_t)h->receivable->n - 2) / 2);
  uint32_t next = 0;
  for (uint32_t a = 0; a < l->nactors; a++)
    for (uint32_t i = 0; i < l->uniform[a] && is_byzantine(h, a); i++)
      if (next < h->nforged)
        forge(h, h->k->of_actor[a][i], h->forged[2 * next++]);
}

/* --- free choices: found by search --- */

static bool same_round_send(struct concretisation *k, const struct local_send *real, const struct local_send *packed) {
  if (real->target != packed->target || real->to_role != packed->to_role ||
      to_packed(k, real->type, real->message) != packed->message)
    return false;
  const struct model *m = k->system->model;
  if (real->target == TARGET_ONE)
    return to_packed(k, m->process_types.any, real->to) == packed->to;
  return real->target != TARGET_EXPR || to_packed(k, m->process_types.set, real->to) == packed->to;
}

static bool find_send_script(struct concretisation *k, uint32_t q, value *local, const struct actor *a,
                             bool want_error) {
  struct lockstep *s = k->system;
  struct choices choices = {0};
  struct local_send_list out = {0};
  bool found = false;
  do {
    struct eval e;
    local_begin(&e, s->interp, q, k->config->point, k->config->phase, local, k->config->globals);
    e.choices = &choices;
    bool ok = local_sends(&e, &out);
    found = ok != want_error;
    if (ok && !want_error && a->sending != UINT32_MAX) {
      const struct local_send_list *expected = &s->local.round_sends.at[a->sending];
      found = expected->n == out.n;
      for (size_t i = 0; i < out.n && found; i++)
        found = same_round_send(k, &out.at[i], &expected->at[i]);
    }
    if (found)
      script_keep(&k->witness->sends[q], &choices);
  } while (!found && choices_next(&choices));
  memory_free(out.at);
  choices_release(&choices);
  return found;
}

/* The messages that q receives under the witness so far; forged messages that are still open are lazy. */
static uint32_t real_received(struct concretisation *k, const struct message_exchange *x, uint32_t q,
                              struct received_entry *entries) {
  struct witness *w = k->witness;
  struct model_error ignored;
  uint32_t n = 0;
  for (uint32_t z = 0; z < w->nprocesses; z++) {
    const struct local_send *m;
    const struct forgery *f = witness_forgery(w, q, z);
    exchange_message(x, z, q, &m, &ignored);
    if (w->heard[q][z] && (m || f))
      entries[n++] = (struct received_entry){f ? f->message : m->message, z, 1, f && f->message == LAZY_FIRST};
  }
  return n;
}

static void fix_open_messages(struct concretisation *k, struct eval *e, uint32_t q, const struct received *r) {
  for (uint32_t i = 0; i < r->n; i++)
    for (uint32_t f = 0; f < k->witness->nforged; f++) {
      struct forgery *forged = &k->witness->forged[f];
      if (r->at[i].lazy && forged->receiver == q && forged->sender == r->at[i].sender)
        forged->message = e->lazy[i].type ? lazy_completed(e, &e->lazy[i]) : type_default(e->values, e->received_type);
    }
}

/* Finds choices that lead q to the local state of the successor. With open messages there are two passes: the first
   determines their content, the second uses it. */
static bool find_update_script(struct concretisation *k, const struct message_exchange *x, uint32_t q,
                               const struct lockstep_successor *o) {
  struct lockstep *s = k->system;
  uint32_t role = model_role_of(s->model, q), length = role_local_length(&s->model->roles[role]);
  struct received_entry *entries = memory_alloc((s->model->nprocesses + 1) * sizeof *entries);
  struct received r = {entries, real_received(k, x, q, entries)};
  value *local = memory_alloc(length * sizeof *local);
  struct choices choices = {0};
  bool found = false, open = false;
  for (uint32_t i = 0; i < r.n; i++)
    open |= entries[i].lazy;
  do {
    struct eval e;
    memcpy(local, x->local[q], length * sizeof *local);
    local_begin(&e, s->interp, q, k->config->point, k->config->phase, local, k->config->globals);
    e.choices = &choices;
    bool ok = local_update(&e, &r);
    found = o->error ? !ok : ok && pack_local(k, q, local) == o->next;
    if (found && open)
      fix_open_messages(k, &e, q, &r);
    else if (found)
      script_keep(&k->witness->updates[q], &choices);
  } while (!found && choices_next(&choices));
  choices_release(&choices);
  memory_free(entries);
  memory_free(local);
  return found && (!open || find_update_script(k, x, q, o));
}

/* --- one derivation of the product --- */

static void choose_real_oracles(struct concretisation *k, const struct actor *a, uint32_t q) {
  const struct role *role = &k->system->model->roles[a->role];
  uint32_t n = role_noracles(role);
  if (!n)
    return;
  value *oracles = memory_alloc(n * sizeof *oracles);
  for (uint32_t i = 0, j = 0; i < role->nvars; i++)
    if (role->vars[i].kind == VAR_ORACLE) {
      bool chosen = !a->idle && oracle_chosen_at(k->system->model, &role->vars[i], k->config->point);
      value packed = local_values(&k->system->pack, a->local)[LOCAL_VAR(i)];
      oracles[j++] = chosen ? to_real(k, role->vars[i].type, packed) : k->config->local[q][LOCAL_VAR(i)];
    }
  memory_free(k->witness->oracles[q]);
  k->witness->oracles[q] = oracles;
}

/* Hears any allowed set. */
static void hear_allowed(struct concretisation *k, uint32_t allowed, uint8_t *heard) {
  const value *bits = intern_at(k->system->vectors, allowed - 1);
  uint32_t n = k->system->model->nprocesses;
  uint64_t set = (UINT64_C(1) << n) - 1;
  while (set > 0 && !(bits[set / 64] >> set % 64 & 1))
    set--;
  for (uint32_t p = 0; p < n; p++)
    heard[k->real[p]] = set >> p & 1;
}

/* The heard-of set of a process that does not update: as large as the conditions allow. */
static void hear_idly(struct concretisation *k, const struct round_derivation *l, const struct actor *a, uint32_t q,
                      const struct rules *rules) {
  uint32_t n = k->system->model->nprocesses, role = a->role;
  uint8_t *heard = k->witness->heard[q];
  if (a->receivable.allowed) {
    hear_allowed(k, a->receivable.allowed, heard);
    return;
  }
  memset(heard, !l->uniform, n);
  for (uint32_t z = 0; l->uniform && z < l->nactors; z++)
    for (uint32_t j = 0; j < l->uniform[z]; j++)
      heard[k->of_actor[z][j]] = 1;
  uint32_t kernel = l->kernel == UINT32_MAX ? UINT32_MAX : k->of_actor[l->kernel][0];
  for (uint32_t size = n + 1; rules->nsizes && !l->uniform && size-- > 0;)
    for (uint32_t self = size > 0; self != UINT32_MAX; self--) {
      bool ok = (self || size < n) && (kernel == UINT32_MAX || size > (self && kernel != q)) && (kernel != q || self);
      for (uint32_t i = 0; i < rules->nsizes && ok; i++)
        ok = rules->sizes[i].role != role || rules->sizes[i].followed || rules->sizes[i].ok[2 * size + self];
      if (!ok)
        continue;
      uint32_t left = size - self;
      memset(heard, 0, n);
      heard[q] = (uint8_t)self;
      if (kernel != UINT32_MAX && kernel != q) {
        heard[kernel] = 1;
        left--;
      }
      for (uint32_t z = 0; z < n && left; z++)
        if (z != q && !heard[z]) {
          heard[z] = 1;
          left--;
        }
      return;
    }
}

static bool hear_and_update(struct concretisation *k, const struct round_derivation *l) {
  struct lockstep *s = k->system;
  struct message_exchange x;
  struct model_error error;
  uint32_t index;
  const struct rules *rules = lockstep_rules(s, k->packed->point, global_rounds(s, k->packed), k->variant, &index);
  uint32_t *used = memory_alloc((l->nactors + 1) * sizeof *used);
  bool ok = exchange_begin(&x, s->interp, k->config, k->witness, &error) == STEP_OK;
  for (uint32_t i = 0; i < l->npicks && ok; i++) {
    const struct pick *pick = &l->picks[i];
    const struct actor *a = &l->actors[pick->actor];
    for (uint32_t c = 0; c < pick->count && ok; c++) {
      uint32_t q = k->of_actor[pick->actor][used[pick->actor]++];
      if (a->idle || a->crashing) {
        hear_idly(k, l, a, q, rules);
        continue;
      }
      const struct read_set *reads = s->local.updates[(size_t)a->role * s->model->npoints + k->config->point];
      struct heard_of_choice h = {
          .k = k, .derivation = l, .actor = pick->actor, .process = q, .receivable = &a->receivable};
      h.left = memory_alloc((a->receivable.n + 1) * sizeof *h.left);
      h.corrupt = memory_alloc((a->receivable.n + 1) * sizeof *h.corrupt);
      const struct local_outcome *outcome =
          &s->outcomes.outcome_sets.at[a->outcome_set].outcomes[pick->successor->outcome];
      if (l->uniform)
        hear_uniformly(&h, outcome);
      else
        hear_outcome(&h, outcome, rules, reads);
      memory_free(h.left);
      memory_free(h.corrupt);
      ok = find_update_script(k, &x, q, pick->successor);
    }
  }
  memory_free(used);
  exchange_release(&x);
  return ok;
}

static bool right_target(struct concretisation *k, const struct round_derivation *l) {
  struct lockstep *s = k->system;
  if (!k->target)
    return l->edge->error != NULL;
  if (l->edge->error)
    return false;
  if (k->goal && k->goal->kind == GOAL_BROKEN_STEP && !(l->edge->broken >> k->goal->property & 1))
    return false;
  struct unpacked_state *copy = global_new(&s->pack);
  struct member *room = copy->at;
  *copy = *l->next;
  copy->at = room;
  memcpy(room, l->next->at, l->next->n * sizeof *room);
  global_canonical(&s->pack, copy, NULL);
  struct state state;
  global_encode(&s->pack, copy, &s->buffer, &s->buffer_capacity, &state);
  global_free(copy);
  return state.length == k->target->length && !memcmp(state.bytes, k->target->bytes, state.length);
}

static uint32_t real_obligation(struct concretisation *k, uint32_t obligation) {
  struct renaming r = {.process = k->real, .rounds = k->from_rank};
  return k->system->pack.bag ? obligation : obligation_renamed(&k->system->pack, obligation, &r);
}

/* Checks the demands of the variant, in terms of concrete processes. */
static bool demands_confirmed(struct concretisation *k) {
  struct lockstep *s = k->system;
  for (uint32_t i = 0; i < k->variant->ndemands; i++) {
    struct demand d = k->variant->demands[i];
    value *bound = memory_alloc((d.clause->nwitness + 1) * sizeof *bound);
    for (uint32_t w = 0; d.parts && w < d.clause->nwitness; w++)
      bound[w] = s->pack.bag ? d.bound[w] : to_real(k, d.clause->witness[w].type, d.bound[w]);
    d.bound = bound;
    bool ok = demands_hold(s->interp, &(struct round_variant){.demands = &d, .ndemands = 1}, k->config, k->witness);
    memory_free(bound);
    if (!ok)
      return false;
  }
  return true;
}

/* The interpreter has the final say. */
static bool confirmed(struct concretisation *k) {
  struct lockstep *s = k->system;
  const struct query *q = s->base.query;
  const char *why;
  struct model_error error;
  if (!config_allows(s->interp, q->environment, k->config, k->witness, &why))
    return false;
  enum step_result result = config_step(s->interp, q->environment, k->config, k->witness, k->next, NULL, &error);
  if (!k->target)
    return result == STEP_ERROR;
  if (result != STEP_OK || (k->variant && !demands_confirmed(k)))
    return false;
  if (k->goal && k->goal->kind == GOAL_BROKEN_STEP &&
      config_holds(s->interp, s->model->properties[q->properties[k->goal->property]].formula, k->config, k->next,
                   NULL) == V_TRUE)
    return false;
  struct unpacked_state *g = global_new(&s->pack);
  global_from_config(&s->pack, k->next, g);
  g->obligation = k->variant ? real_obligation(k, k->variant->obligation) : 0;
  for (uint32_t i = 0; i < g->n; i++)
    g->at[i].local = local_drop_dead(&s->pack, g->at[i].local, g->point);
  global_canonical(&s->pack, g, NULL);
  struct state state;
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  global_free(g);
  return state.length == k->target->length && !memcmp(state.bytes, k->target->bytes, state.length);
}

static bool try_derivation(void *context, const struct round_derivation *l) {
  struct concretisation *k = context;
  struct lockstep *s = k->system;
  if (lockstep_stopped(k->system))
    return false;
  if (!right_target(k, l))
    return true;
  k->witness = witness_new(s->model);
  assign_actors(k, l);
  bool ok = true;
  for (uint32_t a = 0; a < l->nactors && ok; a++)
    for (uint32_t i = 0; i < l->actors[a].count && ok; i++) {
      uint32_t q = k->of_actor[a][i];
      const struct actor *actor = &l->actors[a];
      choose_real_oracles(k, actor, q);
      k->witness->crashes[q] = actor->crashing;
      if (actor->idle)
        continue;
      value *local = local_with_oracles(s->model, k->config, k->witness, q);
      ok =
          find_send_script(k, q, local, actor, false) || (l->edge->error && find_send_script(k, q, local, actor, true));
      memory_free(local);
    }
  if (ok && l->npicks)
    ok = hear_and_update(k, l);
  k->found = ok && confirmed(k);
  free_actors(k, l->nactors);
  if (!k->found) {
    witness_free(k->witness);
    k->witness = NULL;
  }
  return !k->found;
}

/* --- plain steps --- */

static bool try_plain(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct concretisation *k = context;
  (void)error;
  (void)next;
  if (result == STEP_BAD_WITNESS || (result == STEP_ERROR) != (k->target == NULL))
    return true;
  k->witness = witness_copy(k->system->model, w);
  k->found = confirmed(k);
  if (!k->found) {
    witness_free(k->witness);
    k->witness = NULL;
  }
  return !k->found;
}

/* --- the whole path --- */

struct config *lockstep_real_start(struct lockstep *s, const struct state *first) {
  struct unpacked_state *raw = global_new(&s->pack);
  struct config *c = NULL;
  if (initial_find(s, first, raw)) {
    c = global_to_config(&s->pack, raw);
    for (uint32_t i = 0, p = 0; i < raw->n; i++)
      for (uint32_t j = 0; j < raw->at[i].count; j++, p++) {
        const struct role *role = &s->model->roles[model_role_of(s->model, p)];
        memcpy(c->local[p], local_values(&s->pack, raw->at[i].local), role_local_length(role) * sizeof(value));
        c->local[p][LOCAL_STATUS] &= STATUS_BITS;
        local_fill_dont_care(s->model, model_role_of(s->model, p), c->local[p]);
        for (uint32_t v = 0; v < role->nvars && !(c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE); v++)
          if (role->vars[v].kind == VAR_INPUT)
            c->local[p][role_initial_at(role, v)] = c->local[p][LOCAL_VAR(v)];
      }
    c->rounds = 0;
  }
  global_free(raw);
  return c;
}

/* Tries every derivation of the target until one is confirmed. */
static void try_variant(struct concretisation *k, const struct round_variant *v) {
  struct lockstep *s = k->system;
  uint32_t index;
  k->variant = v;
  if (v && v->optional && lockstep_rules(s, k->packed->point, global_rounds(s, k->packed), v, &index)->plain)
    return;
  if (s->form.plain || lockstep_rules(s, k->packed->point, global_rounds(s, k->packed), v, &index)->plain)
    config_successors(s->interp, s->base.query->environment, k->config, try_plain, k);
  else
    lockstep_successors(s, k->packed, v, NULL, try_derivation, k);
}

static bool concretise_step(struct concretisation *k, const struct state *from) {
  struct lockstep *s = k->system;
  struct round_variants all = {0};
  bool ok = place_processes(k, from);
  if (ok)
    global_decode(&s->pack, from, k->packed);
  if (ok && s->pack.nmarks)
    variants_of(s, k->packed, &all);
  else if (ok)
    try_variant(k, NULL);
  for (size_t i = 0; i < all.n && !k->found && !lockstep_stopped(k->system); i++)
    if ((all.at[i].marks & k->marks) == k->marks)
      try_variant(k, &all.at[i]);
  if (k->found)
    k->obligation = k->variant ? real_obligation(k, k->variant->obligation) : 0;
  memory_free(all.at);
  memory_free(k->to_rank);
  memory_free(k->from_rank);
  k->to_rank = k->from_rank = NULL;
  return ok && k->found;
}

static bool concretise_steps(struct lockstep *s, const struct state *path, uint32_t n, uint32_t steps,
                             const struct path_goal *goal, const struct step_requirement *required, struct run *run) {
  uint32_t processes = s->model->nprocesses;
  memset(run, 0, sizeof *run);
  run->initial = lockstep_real_start(s, &path[0]);
  if (!run->initial)
    return false;
  struct config *current = config_copy(s->model, run->initial);
  struct concretisation k = {.system = s,
                             .packed = global_new(&s->pack),
                             .real = memory_alloc((processes + 1) * sizeof *k.real),
                             .place = memory_alloc((processes + 1) * sizeof *k.place)};
  bool ok = true;
  for (uint32_t i = 0; i < steps && ok; i++) {
    k.config = current;
    k.next = config_new(s->model);
    k.target = i + 1 < n ? &path[i + 1] : NULL;
    k.goal = i + 1 == steps ? goal : NULL;
    k.marks = required ? required[i].marks : 0;
    k.found = false;
    ok = concretise_step(&k, &path[i]);
    if (ok)
      run_add(run, k.witness);
    config_free(current);
    current = k.next;
  }
  config_free(current);
  global_free(k.packed);
  memory_free(k.real);
  memory_free(k.place);
  if (!ok)
    run_release(run);
  return ok;
}

bool lockstep_concretise(struct system *system, const struct state *path, uint32_t n, const struct path_goal *goal,
                         struct run *run) {
  uint32_t steps = goal->kind == GOAL_ERROR ? n : n - 1;
  return concretise_steps((struct lockstep *)system, path, n, steps, goal, NULL, run);
}

bool lockstep_concretise_path(struct system *system, const struct state *path, uint32_t n,
                              const struct step_requirement *required, struct run *run) {
  return concretise_steps((struct lockstep *)system, path, n, n - 1, NULL, required, run);
}
