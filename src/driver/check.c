/* rondo check: one instance, or a table of them where a parameter has a range. */
#include "driver/audit.h"
#include "driver/check.h"
#include "driver/commands.h"
#include "driver/files.h"
#include "driver/load.h"
#include "driver/pictures.h"
#include "driver/question.h"
#include "driver/semantics.h"
#include "driver/symbolic.h"
#include "driver/context.h"
#include "report/json_report.h"
#include "report/table.h"
#include "report/text_report.h"
#include "search/ranks.h"
#include "search/shelf.h"
#include "trace/trace_json.h"

#define MOST_INSTANCES 10000

struct checking {
  const struct options *options;
  const struct syntax *syntax;
  struct binding *bindings; /* by -D */
  struct style style;
  bool trace_written, drawn;
};

void instance_close(struct instance *i) {
  check_result_release(&i->result);
  meaning_free(i->meaning);
  model_free(i->model);
  arena_release(&i->arena);
}

/* Returns the exit status; on EXIT_BAD_INPUT the message is in *error, too. */
static int instance_check(struct checking *k, struct instance *i, bool quiet, struct text *error) {
  struct inquiries in;
  struct text fault = {0};
  size_t refused = error->n;
  *i = (struct instance){0};
  arena_init(&i->arena);
  i->model = model_load(k->syntax, k->bindings, k->options->defines.n, false, quiet, error);
  enum semantics semantics;
  if (!i->model || !semantics_choose(i->model, k->options, &semantics) ||
      !inquiries_make(&in, i->model, k->options))
    return EXIT_BAD_INPUT;
  i->meaning = meaning_new(i->model);
  struct asked about = {k->syntax, k->bindings, k->options->defines.n, i->model, i->meaning, &i->arena,
                        k->options, semantics, !k->options->has_semantics, false};
  bool ok = inquiries_answer(&in, &about, &i->result, error, &fault);
  enum audited audited = ok && k->options->audit ? audit_answer(&in, &about, &i->result, &fault) : AUDITED;
  inquiries_release(&in);
  if (!ok && error->n > refused) {
    text_release(&fault);
    return EXIT_BAD_INPUT;
  }
  if (!ok)
    say_error(k->options->rondo, "a fault of rondo itself: %s", text_or_empty(&fault));
  else if (audited == AUDIT_FAULT)
    say_error(k->options->rondo, "a fault of rondo itself: the audit disagrees%s", text_or_empty(&fault));
  else if (audited == AUDIT_MISFORCED)
    say_error(k->options->rondo, "the audit disagrees with an answer that rests on a reduction forced against its licence%s\n"
              "  help: leave out the '!' in '--reduce'", text_or_empty(&fault));
  text_release(&fault);
  if (!ok || audited == AUDIT_FAULT)
    return EXIT_FAULT;
  if (audited == AUDIT_MISFORCED)
    return EXIT_BAD_INPUT;
  return i->result.verdict == VERDICT_HOLDS      ? EXIT_HOLDS
         : i->result.verdict == VERDICT_VIOLATED ? EXIT_VIOLATED
                                                 : EXIT_INCONCLUSIVE;
}

static const struct trace *trace_to_write(const struct check_result *c, struct meaning **meaning) {
  const struct trace *reached = NULL;
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      const struct property_result *p = &c->runs[i].properties[k];
      bool violated = p->verdict == VERDICT_VIOLATED;
      if (!p->trace || (reached && !violated))
        continue;
      reached = p->trace;
      *meaning = result_meaning(c, &c->runs[i]);
      if (violated)
        return reached;
    }
  return reached;
}

/* False: it could not be written. */
static bool write_trace(struct checking *k, const struct instance *i) {
  struct meaning *meaning = NULL;
  const struct trace *t = k->options->trace_out ? trace_to_write(&i->result, &meaning) : NULL;
  if (!t || k->trace_written)
    return true;
  struct text out = {0};
  json_t *j = trace_to_json(t, meaning);
  json_text(j, &out);
  json_decref(j);
  k->trace_written = file_write(k->options->rondo, k->options->trace_out, &out);
  text_release(&out);
  return k->trace_written;
}

/* A counterexample; a run that reaches a cover only if somebody asked for it by name. False: it could not be written. */
static bool draw_trace(struct checking *k, const struct instance *i) {
  struct meaning *meaning = NULL;
  if (!pictures_wanted(k->options) || k->drawn)
    return true;
  const struct trace *t = trace_to_write(&i->result, &meaning);
  if (!t || (i->result.verdict != VERDICT_VIOLATED && k->options->properties.n == 0))
    return true;
  k->drawn = true;
  return pictures_write(k->options, t, meaning);
}

static void say_undrawn(const struct checking *k) {
  if (pictures_wanted(k->options) && !k->drawn)
    say_error(k->options->rondo, "there is no counterexample, so nothing is drawn");
}

static int check_one(struct checking *k) {
  struct instance i;
  struct text out = {0}, error = {0};
  int status = instance_check(k, &i, false, &error);
  if (status < EXIT_BAD_INPUT && !k->options->helps) {
    if (k->options->json) {
      json_t *j = report_json(&i.result);
      json_text(j, &out);
      json_decref(j);
    } else {
      report_text(&i.result, &k->style, &out);
    }
    say(k->options->rondo, &out);
    if (!write_trace(k, &i) || !draw_trace(k, &i))
      status = EXIT_BAD_INPUT;
    say_undrawn(k);
  }
  text_release(&error);
  if (status < EXIT_BAD_INPUT && k->options->rondo->kept)
    *k->options->rondo->kept = i;
  else
    instance_close(&i);
  return status;
}

/* --- tables --- */

/* Violated beats inconclusive; what is wrong beats both. */
static int worse(int a, int b) {
  static const int rank[] = {0, 2, 1, 3, 4};
  return rank[a] >= rank[b] ? a : b;
}

static json_t *refused_json(const struct checking *k, const char *error) {
  json_t *j = json_object(), *params = json_object();
  for (size_t d = 0; d < k->options->defines.n; d++)
    json_object_set_new(params, k->bindings[d].name, json_integer(k->bindings[d].value));
  json_object_set_new(j, "params", params);
  json_object_set_new(j, "error", json_string(error));
  return j;
}

static void say_refused(const struct checking *k, const char *error) {
  struct text out = {0};
  for (size_t d = 0; d < k->options->defines.n; d++)
    text_addf(&out, "%s%s = %lld", d ? ", " : " ", k->bindings[d].name,
              (long long)k->bindings[d].value);
  text_addf(&out, "  left out: %s\n", error);
  say(k->options->rondo, &out);
}

/* The next combination of values, the last parameter fastest. */
static bool next_values(struct checking *k) {
  for (size_t d = k->options->defines.n; d-- > 0;) {
    if (k->bindings[d].value < k->options->defines.at[d].high) {
      k->bindings[d].value++;
      return true;
    }
    k->bindings[d].value = k->options->defines.at[d].low;
  }
  return false;
}

static int check_row(struct checking *k, bool first, json_t *instances, int status,
                     bool *answered) {
  struct instance i;
  struct text out = {0}, error = {0};
  int row = instance_check(k, &i, true, &error);
  if (row == EXIT_BAD_INPUT && error.n > 0) {
    if (k->options->json)
      json_array_append_new(instances, refused_json(k, error.at));
    else
      say_refused(k, error.at);
    row = status;
  } else if (row < EXIT_BAD_INPUT && !k->options->helps) {
    if (k->options->json)
      json_array_append_new(instances, report_json(&i.result));
    else if (first)
      table_head(&i.result, &k->style, &out);
    if (!k->options->json)
      table_row(&i.result, &k->style, &out);
    say(k->options->rondo, &out);
    *answered = true;
    if (!write_trace(k, &i) || !draw_trace(k, &i))
      row = EXIT_BAD_INPUT;
  }
  text_release(&error);
  instance_close(&i);
  return worse(status, row);
}

static int check_table(struct checking *k) {
  json_t *instances = json_array();
  int status = EXIT_HOLDS;
  bool answered = false;
  do {
    status = check_row(k, !answered, instances, status, &answered);
  } while (status < EXIT_BAD_INPUT && (k->options->helps || !*k->options->limits.interrupt) && next_values(k));
  if (!answered && status < EXIT_BAD_INPUT) {
    say_error(k->options->rondo, "no value in the range can be checked");
    status = EXIT_BAD_INPUT;
  } else if (k->options->json && status < EXIT_BAD_INPUT) {
    static const char *const names[] = {"holds", "violated", "inconclusive"};
    struct text out = {0};
    json_t *j = json_pack("{s:s, s:s, s:O}", "schema", CHECK_SCHEMA, "verdict", names[status],
                          "instances", instances);
    json_text(j, &out);
    say(k->options->rondo, &out);
    json_decref(j);
  }
  if (status < EXIT_BAD_INPUT)
    say_undrawn(k);
  json_decref(instances);
  return status;
}

static bool count_instances(const struct options *o, bool *ranged) {
  uint64_t n = 1;
  *ranged = false;
  for (size_t d = 0; d < o->defines.n; d++) {
    uint64_t more = (uint64_t)o->defines.at[d].high - (uint64_t)o->defines.at[d].low;
    *ranged |= more > 0;
    if (more >= MOST_INSTANCES || (n *= more + 1) > MOST_INSTANCES) {
      say_error(o->rondo, "these ranges have more than %d instances", MOST_INSTANCES);
      return false;
    }
  }
  return true;
}

/* What has been answered, or was never begun, need not be kept. */
static void close_journal(struct journal *j, int status) {
  bool unbegun = status == EXIT_BAD_INPUT && j->checkpoints.searches == 0;
  bool answered = status == EXIT_HOLDS || status == EXIT_VIOLATED;
  struct text command = {0};
  if (!journal_leads(j))
    return;
  if (j->checkpoints.unfinished || status == EXIT_INCONCLUSIVE) {
    journal_command(j, &command);
    say_error(j->rondo, "%s goes on from here", command.at);
    text_release(&command);
  } else if ((answered || unbegun) && !j->rondo->unwritten) {
    journal_finish(j);
  }
}

static uint32_t signature_bits(const struct rondo *r) {
  uint64_t bits = r->tests.hash_bits;
  return bits >= 1 && bits <= STORE_SIGNATURE_FEW ? (uint32_t)bits : STORE_SIGNATURE;
}

int check_model(const struct options *given, const struct syntax *syntax, struct journal *journal) {
  struct options o = *given;
  struct journal none = {.rondo = o.rondo, .lock = -1};
  bool ranged, few = count_instances(&o, &ranged);
  o.helps = o.ranks && o.ranks->rank != 0;
  o.no_trace |= o.helps;
  if (o.limits.memory == 0)
    o.limits.memory = default_memory_limit();
  if (o.limits.threads == 0)
    o.limits.threads = o.ranks ? 1 : default_threads();
  o.limits.threads_from = o.rondo->tests.threads_from;
  o.limits.sieve_from = o.rondo->tests.sieve_from;
  o.limits.signature = o.hashed ? signature_bits(o.rondo) : 0;
  o.limits.spill_from = o.rondo->tests.spill_from;
  o.limits.interrupt = context_listen(o.rondo);
  if (journal) {
    o.checkpoints = &journal->checkpoints;
    watch_patience(o.rondo);
    o.limits.insist = &o.rondo->insist;
  }
  if (o.ranks)
    ranks_watch(o.ranks, o.limits.interrupt, journal_lost, journal ? journal : &none);
  o.unread = ranged && !o.json && !o.trace_out && !pictures_wanted(&o);
  struct checking k = {.options = &o, .syntax = syntax, .style = context_style(o.rondo, o.verbose)};
  k.bindings = first_bindings(&o);
  int status = !few ? EXIT_BAD_INPUT : ranged ? check_table(&k) : check_one(&k);
  memory_free(k.bindings);
  if (o.ranks)
    ranks_watch(o.ranks, NULL, NULL, NULL);
  if (journal)
    close_journal(journal, status);
  return status;
}

static int check_journalled(const struct options *o, const struct syntax *syntax) {
  struct journal journal = {.lock = -1};
  int status = journal_begin(&journal, o, syntax) ? check_model(o, syntax, &journal) : EXIT_BAD_INPUT;
  journal_release(&journal);
  return status;
}

static bool store_suits(const struct options *o) {
  enum symbolic_engine engine;
  if (o->hashed && o->checkpoint)
    say_error(o->rondo, "a search that keeps signatures of states is not written down\n  help: leave out '--checkpoint' or '--store hash'");
  else if (o->hashed && symbolic_engine_find(o->engine, &engine))
    say_error(o->rondo, "engine '%s' stores no states\n  help: leave out '--store hash'", o->engine);
  else if (o->hashed && o->spill)
    say_error(o->rondo, "signatures of states stay in memory\n  help: leave out '--spill' or '--store hash'");
  else
    return true;
  return false;
}

/* What would come to light hours later otherwise. */
static bool can_spill(const struct options *o) {
  int error;
  if (o->checkpoint) {
    say_error(o->rondo, "states on disk are not written down: '--spill' and '--checkpoint' do not go together\n"
              "  help: leave out one of them");
    return false;
  }
  struct shelf *tried = shelf_new(o->spill, &error);
  if (!tried)
    say_error(o->rondo, "cannot write in the folder '%s' of '--spill': %s", o->spill, strerror(error));
  bool can = tried;
  shelf_free(tried);
  return can;
}

int command_check(const struct options *o) {
  struct syntax syntax;
  int status = EXIT_BAD_INPUT;
  const char *path = only_file(o);
  if (!path || !syntax_load(&syntax, o->rondo, path))
    return EXIT_BAD_INPUT;
  if (o->no_trace && pictures_wanted(o))
    say_error(o->rondo, "with '--no-trace' there is nothing to draw");
  else if (store_suits(o) && (!o->spill || can_spill(o)) && syntax_is_algorithm(&syntax))
    status = o->checkpoint ? check_journalled(o, &syntax) : check_model(o, &syntax, NULL);
  syntax_release(&syntax);
  return status;
}
