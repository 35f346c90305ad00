/* Any bytes as a saved trace: replayed on a model (the first byte selects it), drawn, and loaded into a session. */
#include "fuzz.h"

#include <unistd.h>

static const struct {
  const char *path, *params[3][2];
} models[] = {
    {"models/broken/one_third_rule_half.rondo", {{"n", "3"}, {"k", "2"}}},
    {"models/floodset.rondo", {{"n", "3"}, {"f", "1"}}},
    {"models/two_phase_commit.rondo", {{"n", "2"}}},
    {"models/paxos.rondo", {{"acceptors", "3"}}},
    {"models/ben_or.rondo", {{"n", "3"}, {"f", "1"}}},
    {"models/bakery.rondo", {{"n", "2"}}},
};

static const char *file_with(const uint8_t *bytes, size_t size) {
  static char path[64];
  const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(path, sizeof path, "%s/fuzz_trace.%ld.json", folder, (long)getpid());
  FILE *f = fopen(path, "wb");
  fuzz_must(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "the trace cannot be written");
  return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size == 0)
    return 0;
  size_t which = bytes[0] % (sizeof models / sizeof *models);
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open(r, models[which].path);
  fuzz_must(m, "run it where the models are");
  for (size_t i = 0; i < 3 && models[which].params[i][0]; i++)
    rondo_set(m, models[which].params[i][0], models[which].params[i][1]);
  const char *path = file_with(bytes + 1, size - 1);
  rondo_result *result = rondo_replay(m, path, NULL);
  fuzz_status(rondo_result_status(result));
  rondo_result_free(result);
  unlink(path);
  rondo_session *session = rondo_session_new(m, NULL, NULL);
  if (session) {
    rondo_session_load(session, (const char *)bytes + 1, size - 1);
    rondo_string_free(rondo_session_path(session, 1000));
    rondo_session_free(session);
  }
  rondo_close(m);
  rondo_free(r);
  return 0;
}
