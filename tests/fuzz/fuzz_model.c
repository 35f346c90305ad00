/* Any text as a model: checked with tiny limits, drawn into the exporters and linted. */
#include "fuzz.h"

static void with_limits(rondo_options *o) {
  rondo_option(o, "max-states", "60");
  rondo_option(o, "max-time", "300ms");
  rondo_option(o, "threads", "1");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const char *const formats[] = {"promela", "murphi", "tla", "smv", "dot"};
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "m.rondo", (const char *)bytes, size);
  rondo_options *o = rondo_options_new(r);
  with_limits(o);
  if (m) {
    for (const char *const *name = (const char *const[]){"n", "f", "t", "k", "acceptors", "values", NULL}; *name;
         name++)
      if (size > 6 && memmem(bytes, size, *name, strlen(*name)))
        rondo_set(m, *name, **name == 'n' ? "3" : "1");
    rondo_result *result = rondo_check(m, o);
    fuzz_status(rondo_result_status(result));
    rondo_result_free(result);
    result = rondo_lint(m, NULL);
    fuzz_status(rondo_result_status(result));
    rondo_result_free(result);
    result = rondo_export(m, formats[size % (sizeof formats / sizeof *formats)], NULL);
    fuzz_status(rondo_result_status(result));
    rondo_result_free(result);
  }
  rondo_options_free(o);
  rondo_close(m);
  rondo_free(r);
  return 0;
}
