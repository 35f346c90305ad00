#include "driver/diagram_files.h"

#include "driver/context.h"
#include "driver/files.h"
#include "report/diagram.h"
#include "report/trace_html.h"

bool diagrams_wanted(const struct command_options *o) { return o->output.svg || o->output.html; }

static bool write_one(struct rondo *context, const char *path,
                      void (*draw)(const struct trace *, struct interpreter *, struct text *), const struct trace *t,
                      struct interpreter *interp) {
  struct text out = {0};
  if (!path)
    return true;
  draw(t, interp, &out);
  bool ok = file_write(context, path, &out);
  text_release(&out);
  return ok;
}

bool diagrams_write(const struct command_options *o, const struct trace *t, struct interpreter *interp) {
  if (diagrams_wanted(o) && !trace_drawable(t)) {
    context_error(o->rondo, E1003, "the run is too long to draw");
    return false;
  }
  bool svg = write_one(o->rondo, o->output.svg, trace_svg, t, interp);
  return write_one(o->rondo, o->output.html, trace_html, t, interp) && svg;
}
