#include "report/text_report.h"

#include "report/audit_report.h"
#include "report/trace_text.h"
#include "report/verdict_text.h"

#include <inttypes.h>
#include <string.h>

#define VERY_DEEP 200 /* steps: few algorithms need more */

void report_title(const struct model *m, uint32_t environment, enum semantics semantics, const struct style *style,
                  struct text *out) {
  struct text title = {0};
  text_addf(&title, "%s%s", m->name, m->nparams ? ", " : "");
  params_add(&title, m);
  paint_add(out, style, PAINT_TITLE, title.at);
  text_addf(out, ", environment %s", m->environments[environment].name);
  if (m->kind == MODEL_MESSAGES || semantics == SEMANTICS_FINE)
    text_addf(out, ", semantics %s", semantics_name(semantics));
  text_add(out, "\n\n");
  text_release(&title);
}

static void add_properties(struct text *out, const struct style *style, const struct run_result *r) {
  struct text_table t;
  verdict_table_init(&t);
  for (uint32_t i = 0; i < r->nproperties; i++)
    verdict_table_add(&t, property_result_name(&r->properties[i]), r->properties[i].verdict, r->properties[i].proved);
  verdict_table_print(&t, style, out);
  if (r->nproperties == 0)
    text_add(out, r->end == SEARCH_EXHAUSTED ? "  no property to check, and no error of the model\n"
                                             : "  no property to check\n");
}

/* Properties that hold for coarse rounds but may not hold for fine rounds. */
static void add_rounds_licences(struct text *out, const struct style *style, const struct model *m,
                                const struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties; i++) {
    const struct property_result *p = &r->properties[i];
    bool unknown = p->property && p->property->kind == PROPERTY_LIVE && p->verdict == VERDICT_INCONCLUSIVE;
    bool found = p->property && !unknown && (p->property->kind == PROPERTY_COVER) == (p->verdict == VERDICT_HOLDS);
    if (!p->rounds.reason || (p->rounds.granted ? !style->verbose : found))
      continue;
    text_add(out, "  ");
    if (p->rounds.granted)
      text_addf(out, "coarse         enough for %s: %s", p->property->name, p->rounds.reason);
    else {
      paint_add(out, style, PAINT_UNSURE, "coarse         ");
      text_addf(out, "the verdict on %s is about whole rounds only: %s", p->property->name, p->rounds.reason);
    }
    if (p->rounds.at.to > 0 && !p->rounds.granted)
      text_addf(out, "  (line %u)", source_line_number(&m->source, p->rounds.at));
    text_add(out, "\n");
  }
}

/* `name   reason   (line 12)` for each reduction; only those applied, unless all. */
static void licences_text(const struct licences *l, const struct model *m, bool all, const struct style *style,
                          struct text *out) {
  for (unsigned i = 0; i < REDUCTIONS; i++) {
    const struct licence *licence = &l->of[i];
    if (!licence->concerns)
      continue;
    if (!all && !(licence->applied && (licence->useful || licence->forced)))
      continue;
    const char *word = licence->forced    ? "FORCED"
                       : licence->applied ? "used"
                       : licence->granted ? "granted"
                                          : "refused";
    text_addf(out, "  %-14s ", reduction_name(i));
    if (all || licence->forced) {
      paint_add(out, style, licence->forced ? PAINT_BAD : licence->granted ? PAINT_GOOD : PAINT_UNSURE, word);
      text_addf(out, "%*s", (int)(strlen("granted ") - strlen(word)), "");
    }
    text_add(out, licence->reason);
    if (licence->at.to > 0)
      text_addf(out, "  (line %u)", source_line_number(&m->source, licence->at));
    text_add(out, "\n");
  }
}

/* Did a deep search not finish, in a model with unbounded channels? */
static bool piles_up(const struct model *m, const struct run_result *r) {
  const struct environment *env = &m->environments[r->environment];
  bool limited = false;
  for (uint32_t i = 0; i < env->nclauses; i++)
    limited |= env->clauses[i].kind == CLAUSE_CHANNELS &&
               (env->clauses[i].channel == CHANNEL_SET || env->clauses[i].bound > 0);
  return m->kind == MODEL_MESSAGES && search_limited(r->end) && r->stats.depth >= VERY_DEEP && !limited;
}

/* Was no search made, because no engine can decide these properties? */
static bool is_refused(const struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].verdict != VERDICT_INCONCLUSIVE)
      return false;
  return r->nproperties > 0;
}

static void add_stats(struct text *out, const struct model *m, const struct run_result *r, const struct style *style) {
  text_add(out, "  ");
  if (r->engine) {
    text_addf(out, "engine %s, ", r->engine);
    count_add(out, r->variables, "free variable", "free variables");
  } else {
    count_add(out, r->stats.states, "state", "states");
  }
  if (r->transitions_counted) {
    text_add(out, ", ");
    count_add(out, r->stats.transitions, "transition", "transitions");
  }
  if (!r->stats.depth_unknown) {
    text_add(out, ", depth ");
    number_add(out, r->stats.depth);
  }
  text_add(out, ", ");
  seconds_add(out, r->stats.seconds);
  text_add(out, ", ");
  bytes_add(out, r->stats.memory);
  if (r->stats.disk > 0) {
    text_add(out, ", ");
    bytes_add(out, r->stats.disk);
    text_add(out, " on disk");
  }
  text_add(out, "\n");
  if (!r->engine && r->stats.states == 0 && r->end == SEARCH_EXHAUSTED && !is_refused(r))
    text_add(out, "  the model has no initial state, so these verdicts are vacuous\n");
  if (r->heard_of_assignments) {
    text_add(out, "  an enumeration would have tried ");
    if (strlen(r->heard_of_assignments) > 30)
      text_addf(out, "about 10^%zu", strlen(r->heard_of_assignments) - 1);
    else
      decimal_add(out, r->heard_of_assignments);
    text_add(out, " heard-of assignments\n");
  }
  if (r->divergence) {
    text_addf(out, "  live processes get apart without bound: in the run below, some can repeat %ss %u to %u forever\n",
              step_word(m), r->segment.from + 1, r->segment.to);
  } else if (r->has_distance)
    text_addf(out, "  live processes are up to %u round%s apart%s\n", r->distance, r->distance == 1 ? "" : "s",
              r->distance_cut ? ", and more beyond that limit" : "");
  if (r->engine)
    return;
  if (style->verbose && r->has_channels)
    text_addf(out, "  at most %u message%s pending %s\n", r->channel_bound, r->channel_bound == 1 ? "" : "s",
              r->semantics == SEMANTICS_FINE ? "to one process in rounds of one kind" : "in a channel");
  if (style->verbose || !strncmp(r->successors, "plain", 5)) /* the slow path, with the reason */
    text_addf(out, "  successors: %s\n", r->successors);
  if (style->verbose) {
    if (r->stats.seconds > 0.001) {
      text_add(out, "  ");
      number_add(out, (uint64_t)((double)r->stats.states / r->stats.seconds));
      text_add(out, " states a second");
      if (!r->stats.depth_unknown) {
        text_add(out, ", ");
        count_add(out, r->stats.frontier, "state", "states");
        text_add(out, " in the last layer");
      }
      text_add(out, "\n");
    }
  }
  if (piles_up(m, r))
    text_add(out, "  messages may pile up without end: 'channels set', or 'bound k' after the kind of channels, "
                  "limits them\n");
  if (r->order_mattered)
    text_add(out, "  the order in which messages are taken matters\n");
}

static void add_audit(struct text *out, const struct run_result *r) {
  if (!r->audits)
    return;
  text_add(out, "  audit: ");
  audit_text(r, out);
  text_add(out, "\n");
}

static void add_run(struct text *out, const struct check_result *c, const struct run_result *r,
                    const struct style *style) {
  struct text licences = {0};
  const struct model *m = result_model(c, r);
  add_properties(out, style, r);
  licences_text(r->licences, m, style->verbose, style, &licences);
  add_rounds_licences(&licences, style, m, r);
  if (licences.n > 0)
    text_addf(out, "\n%s", licences.at);
  text_release(&licences);
  text_add(out, "\n");
  add_stats(out, m, r, style);
  add_audit(out, r);
  if (r->divergence) {
    text_add(out, "\n");
    paint_add(out, style, PAINT_UNSURE, "processes get apart without bound");
    text_add(out, "\n");
    trace_print(r->divergence, style, out);
  }
}

/* Several properties often fail in the same run, which is printed only once. */
struct printed_trace {
  char *run_text;
  const char *name;
};
struct trace_cache {
  VEC(struct printed_trace) at;
};

static void add_trace(struct text *out, struct interpreter *interp, const struct property_result *p,
                      const struct style *style, struct trace_cache *printed) {
  struct text title = {0}, run_text = {0};
  bool violated = p->verdict == VERDICT_VIOLATED;
  const char *verdict = !violated ? "holds:" : p->trace->claim.lasso ? "is VIOLATED:" : "is VIOLATED";
  text_addf(&title, "%s %s %s", property_result_name(p), verdict, p->proved);
  text_add(out, "\n");
  paint_add(out, style, violated ? PAINT_BAD : PAINT_GOOD, title.at);
  trace_print(p->trace, style, &run_text);
  size_t i = 0;
  while (i < printed->at.n && strcmp(printed->at.at[i].run_text, run_text.at) != 0)
    i++;
  if (i < printed->at.n) {
    text_addf(out, ", by the same run as %s\n", printed->at.at[i].name);
  } else {
    text_addf(out, "\n%s", run_text.at);
    vec_push(&printed->at, ((struct printed_trace){memory_strdup(run_text.at), property_result_name(p)}));
  }
  trace_explain(p->trace, interp, style, out);
  text_release(&title);
  text_release(&run_text);
}

void report_run_text(const struct check_result *c, const struct run_result *r, const struct style *style,
                     struct text *out) {
  struct trace_cache printed = {0};
  add_run(out, c, r, style);
  for (uint32_t k = 0; k < r->nproperties; k++) {
    const struct property_result *p = &r->properties[k];
    if (p->trace && (p->verdict == VERDICT_VIOLATED || style->verbose))
      add_trace(out, result_interpreter(c, r), p, style, &printed);
  }
  for (size_t k = 0; k < printed.at.n; k++)
    memory_free(printed.at.at[k].run_text);
  vec_release(&printed.at);
}
