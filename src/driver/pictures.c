#include "driver/pictures.h"

#include "driver/files.h"
#include "driver/context.h"
#include "report/diagram.h"
#include "report/html.h"

bool pictures_wanted(const struct options *o) { return o->svg || o->html; }

static bool write_one(struct rondo *context, const char *path, void (*draw)(const struct trace *, struct meaning *, struct text *),
                      const struct trace *t, struct meaning *meaning) {
  struct text out = {0};
  if (!path)
    return true;
  draw(t, meaning, &out);
  bool ok = file_write(context, path, &out);
  text_release(&out);
  return ok;
}

bool pictures_write(const struct options *o, const struct trace *t, struct meaning *meaning) {
  if (pictures_wanted(o) && !trace_drawable(t)) {
    say_error(o->rondo, "the run is too long to draw");
    return false;
  }
  bool svg = write_one(o->rondo, o->svg, trace_svg, t, meaning);
  return write_one(o->rondo, o->html, trace_html, t, meaning) && svg;
}
