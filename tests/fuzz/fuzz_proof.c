/* Any text as a model to prove for all n: a counter system, or rounds from which one is derived. The engines get a few
   milliseconds. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "m.rondo", (const char *)bytes, size);
  rondo_options *o = rondo_options_new(r);
  rondo_option(o, "max-time", "30ms");
  rondo_option(o, "max-memory", "512M");
  if (m) {
    rondo_result *result = rondo_prove(m, o);
    fuzz_status(rondo_result_status(result));
    rondo_result_free(result);
    result = rondo_export(m, "horn", NULL);
    fuzz_status(rondo_result_status(result));
    rondo_result_free(result);
  }
  rondo_options_free(o);
  rondo_close(m);
  rondo_free(r);
  return 0;
}
