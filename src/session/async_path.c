/* Asynchronous rounds: a step is one process ending its round (interp/async_round.h). The first process to end a round
   fixes what happens to everybody in it; the others go through it later, as it was fixed. */
#include "session/session_internal.h"

#include "interp/async_round.h"
#include "trace/trace.h"

void session_seek(struct session *s, size_t position) {
  struct session_path *path = &s->path;
  const char *why;
  while (path->async && path->position > position) {
    const struct path_step *step = &path->steps.at[--path->position];
    async_run_undo(path->async, step->process);
    if (step->witness)
      async_run_drop_round(path->async);
  }
  while (path->async && path->position < position) {
    const struct path_step *step = &path->steps.at[path->position++];
    if (step->witness)
      async_run_add_round(path->async, step->witness, step->fixed);
    async_run_end_round(path->async, step->process, &why);
  }
}

const struct path_step *session_fixed_round(const struct session *s, uint32_t r) {
  for (size_t i = 0; i < s->path.steps.n; i++)
    if (s->path.steps.at[i].witness && r-- == 0)
      return &s->path.steps.at[i];
  return NULL;
}

const struct witness *session_ended_round(const struct session *s, const struct witness *w, uint32_t process,
                                          const struct config **c) {
  const struct async_run *run = s->path.async;
  if (w)
    return w;
  *c = run->at.at[run->done[process]];
  return session_fixed_round(s, run->done[process])->witness;
}

/* Is it the round that was fixed for the process? */
static bool is_fixed_round(struct session *s, const struct witness *w, uint32_t process) {
  const struct async_run *run = s->path.async;
  struct witness *normal = witness_copy(&s->model, w);
  witness_normalise(s, run->at.at[run->done[process]], normal);
  bool same = witness_equal(&s->model, normal, session_fixed_round(s, run->done[process])->witness);
  witness_free(normal);
  return same;
}

const char *session_cannot_end(struct session *s, const struct witness *w, uint32_t process) {
  struct async_run *run = s->path.async;
  const char *why = "a process that ends its round must be named";
  if (process >= run->n)
    return why;
  bool fixed = run->done[process] < run->nrounds;
  if (w && fixed && !is_fixed_round(s, w, process))
    return "what happens in this round was fixed by the first process to end it, and is something else";
  if (!fixed)
    async_run_add_round(run, w, NULL);
  bool ends = async_run_end_round(run, process, &why);
  if (ends)
    async_run_undo(run, process);
  if (!fixed)
    async_run_drop_round(run);
  return ends ? NULL : why;
}

struct config *session_view_after(struct session *s, const struct witness *w, const struct config *fixed,
                                  uint32_t process) {
  struct async_run *run = s->path.async;
  struct config *view = config_new(&s->model);
  const char *why;
  if (w)
    async_run_add_round(run, w, fixed);
  async_run_end_round(run, process, &why);
  async_run_view(run, view);
  async_run_undo(run, process);
  if (w)
    async_run_drop_round(run);
  return view;
}
