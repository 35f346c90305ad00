/* Forged checkpoints. The harness makes real ones of several kinds of searches, which were stopped at a limit. The
   bytes of an input are edits of them: fields set to 0, to the maximum, to one more or less, to anything; parts
   removed, inserted or repeated. Checksums and fingerprints are then made right, so that only the contents can be
   refused. */
#include "fuzz.h"

#include "base/archive.h"
#include "base/hash.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

typedef VEC(uint8_t) forged_bytes;

#define HEADER 32
#define SCENARIO_WORDS 14

static const struct scenario {
  const char *words[SCENARIO_WORDS];
} scenarios[] = {
    {{"models/floodset.rondo", "-D", "n=5", "-D", "f=2", "--max-states", "400"}},
    {{"models/last_voting.rondo", "-D", "n=3", "-D", "k=2", "--env", "free", "--max-states", "600"}},
    {{"models/paxos.rondo", "--semantics", "m-mp", "--reduce", "message-order", "--max-states", "1500"}},
    {{"models/bracha_toueg.rondo", "-D", "n=3", "-D", "t=1", "--semantics", "fine", "--successors", "plain",
      "--property", "agreement", "--max-states", "700"}},
    {{"models/reliable_broadcast_async.rondo", "-D", "n=4", "-D", "t=1", "--max-states", "2500"}},
    {{"models/itai_rodeh.rondo", "-D", "n=4", "--max-states", "1500"}},
    {{"models/bakery.rondo", "-D", "n=3", "--property", "mutual_exclusion", "--max-states", "1500"}},
    {{"models/abd.rondo", "-D", "readers=1", "-D", "reads=2", "-D", "writes=1", "--env", "crash", "--max-states",
      "1500"}},
    {{"models/paxos.rondo", "--semantics", "m-mp", "--reduce", "message-order", "--max-states", "1500", "--spill",
      "/tmp"}},
    {{"models/abd.rondo", "-D", "readers=1", "-D", "reads=2", "-D", "writes=1", "--env", "crash", "--max-states",
      "1500", "--spill", "/tmp"}},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

/* The two files of each: the command, and its first search. */
enum { COMMAND_FILE, SEARCH_FILE, FILES };
static const char *const file_names[FILES] = {"command", "search-0"};
static forged_bytes files[SCENARIOS][FILES];
static VEC(uint32_t) fields[SCENARIOS][FILES]; /* places that are not in the middle of zeros */
static char folder[64];

static void path_of(char *path, size_t room, const char *name) { snprintf(path, room, "%s/%s", folder, name); }

static void clear_folder(void) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[sizeof folder + sizeof e->d_name + 1];
    path_of(path, sizeof path, e->d_name);
    unlink(path);
  }
  if (d)
    closedir(d);
}

static bool read_whole(const char *name, forged_bytes *into) {
  char path[sizeof folder + 32];
  path_of(path, sizeof path, name);
  FILE *f = fopen(path, "rb");
  for (int c; f && (c = fgetc(f)) != EOF;)
    vec_push(into, (uint8_t)c);
  if (f)
    fclose(f);
  return f && into->n > HEADER;
}

static void write_whole(const char *name, const forged_bytes *b) {
  char path[sizeof folder + 32];
  path_of(path, sizeof path, name);
  FILE *f = fopen(path, "wb");
  fuzz_must(f && fwrite(b->at, 1, b->n, f) == b->n && fclose(f) == 0, "the checkpoint cannot be written");
}

static void find_fields(size_t s, int file) {
  const forged_bytes *b = &files[s][file];
  uint32_t zeros = 0;
  for (uint32_t i = HEADER; i < b->n; i++) {
    zeros = b->at[i] ? 0 : zeros + 1;
    if (zeros < 24)
      vec_push(&fields[s][file], i - HEADER);
  }
}

static rondo *quiet(void) {
  rondo *r = rondo_new(NULL);
  rondo_for_tests(r, "CHECKPOINT_SECONDS", "0.0000001");
  rondo_for_tests(r, "SPILL_FROM", "200");
  return r;
}

static void record(size_t s) {
  char *argv[SCENARIO_WORDS + 8] = {"check"};
  int n = 1;
  clear_folder();
  for (size_t i = 0; i < SCENARIO_WORDS && scenarios[s].words[i]; i++)
    argv[n++] = (char *)scenarios[s].words[i];
  argv[n++] = "--threads";
  argv[n++] = "1";
  argv[n++] = "--checkpoint";
  argv[n++] = folder;
  rondo *r = quiet();
  rondo_command(r, n, argv);
  for (int file = 0; file < FILES; file++)
    if (read_whole(file_names[file], &files[s][file]))
      find_fields(s, file);
  rondo_free(r);
}

static void leave(void) {
  clear_folder();
  rmdir(folder);
}

static void record_all(void) {
  size_t with_search = 0;
  snprintf(folder, sizeof folder, "%s/fuzz_checkpoint.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  fuzz_must(mkdtemp(folder), "no folder");
  atexit(leave);
  for (size_t s = 0; s < SCENARIOS; s++) {
    record(s);
    with_search += files[s][SEARCH_FILE].n > 0;
  }
  fuzz_must(with_search >= SCENARIOS - 2, "too few searches were saved: run it where the models are");
}

/* --- edits --- */

struct edit {
  uint8_t kind;
  uint32_t place;
  uint64_t number;
};

static void splice(forged_bytes *b, size_t from, size_t to, const uint8_t *at, size_t n) {
  forged_bytes copy = {0};
  vec_reserve(&copy, b->n + n + 1);
  if (from)
    memcpy(copy.at, b->at, from);
  if (n)
    memcpy(copy.at + from, at, n);
  if (b->n > to)
    memcpy(copy.at + from + n, b->at + to, b->n - to);
  copy.n = b->n + n - (to - from);
  vec_release(b);
  *b = copy;
}

static void apply(forged_bytes *b, size_t at, const struct edit *e) {
  uint64_t field = 0;
  size_t width = (size_t[]){8, 1, 4, 8}[e->kind >> 6], left = b->n - at;
  width = width < left ? width : left;
  memcpy(&field, b->at + at, width);
  switch (e->kind & 15) {
  case 0:
    field = 0;
    break;
  case 1:
    field = UINT64_MAX;
    break;
  case 2:
    field++;
    break;
  case 3:
    field--;
    break;
  case 4:
    field = e->number;
    break;
  case 5:
    field = e->number & 0xFF;
    break;
  case 6:
    field ^= UINT64_C(1) << (e->number & 63);
    break;
  case 7:
    field = (uint64_t)INT64_MIN + (e->number & 255);
    break;
  case 8:
    field = UINT64_C(1) << (e->number & 63);
    break;
  case 9:
    b->n = at;
    return;
  case 10: { /* a part is removed */
    size_t n = 1 + e->number % 64;
    splice(b, at, at + (n < left ? n : left), NULL, 0);
    return;
  }
  case 11: { /* a part is repeated */
    uint8_t copy[64];
    size_t n = 1 + e->number % sizeof copy;
    n = n < left ? n : left;
    memcpy(copy, b->at + at, n);
    splice(b, at, at, copy, n);
    return;
  }
  default:
    field += e->number & 0xFFFF;
  }
  memcpy(b->at + at, &field, width);
}

static void set_number(forged_bytes *b, size_t at, uint64_t x) {
  if (b->n >= at + sizeof x)
    memcpy(b->at + at, &x, sizeof x);
}

/* As archive_end does. */
static void make_sum_right(forged_bytes *b) {
  set_number(b, 16, b->n - HEADER);
  set_number(b, 24, hash_bytes(b->at + HEADER, b->n - HEADER));
}

/* As command_fingerprint of driver/checkpoint_folder.c does. */
static uint64_t fingerprint_of(const forged_bytes *command) {
  struct loader l = {command->at + HEADER, command->at + command->n, false};
  void *h = hash_stream_new();
  memory_free(load_text(&l));
  load_number(&l);
  uint64_t program = load_number(&l);
  hash_stream_add(h, &program, sizeof program);
  memory_free(load_text(&l));
  memory_free(load_text(&l));
  size_t length;
  const void *text = load_block(&l, &length);
  for (uint64_t n = load_number(&l); n > 0 && !l.bad; n--) {
    char *word = load_text(&l);
    if (word)
      hash_stream_add(h, word, strlen(word) + 1);
    memory_free(word);
  }
  if (text)
    hash_stream_add(h, text, length);
  return hash_stream_end(h);
}

static const uint8_t *read_edit(const uint8_t *at, const uint8_t *end, struct edit *e) {
  uint8_t raw[12] = {0};
  size_t n = (size_t)(end - at) < sizeof raw ? (size_t)(end - at) : sizeof raw;
  memcpy(raw, at, n);
  *e = (struct edit){.kind = raw[0]};
  memcpy(&e->place, raw + 1, 3);
  memcpy(&e->number, raw + 4, 8);
  return at + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (files[0][0].n == 0)
    record_all();
  if (size < 2)
    return 0;
  size_t s = bytes[0] % SCENARIOS;
  forged_bytes forged[FILES] = {{0}};
  for (int file = 0; file < FILES; file++)
    splice(&forged[file], 0, 0, files[s][file].at, files[s][file].n);
  for (const uint8_t *at = bytes + 1, *end = bytes + size; at < end;) {
    struct edit e;
    at = read_edit(at, end, &e);
    int file = (e.kind >> 4 & 3) == 0 ? COMMAND_FILE : SEARCH_FILE;
    if (fields[s][file].n == 0)
      continue;
    size_t place = HEADER + fields[s][file].at[e.place % fields[s][file].n];
    if (place < forged[file].n)
      apply(&forged[file], place, &e);
  }
  clear_folder();
  set_number(&forged[SEARCH_FILE], HEADER, fingerprint_of(&forged[COMMAND_FILE]));
  for (int file = 0; file < FILES; file++)
    if (files[s][file].n > 0) {
      make_sum_right(&forged[file]);
      write_whole(file_names[file], &forged[file]);
    }
  char *argv[] = {"resume", folder, "--max-time", "300ms", "--max-memory", "1G", "--threads", "1", "--spill", "/tmp"};
  bool spills = false;
  for (size_t i = 0; i < SCENARIO_WORDS && scenarios[s].words[i]; i++)
    spills |= !strcmp(scenarios[s].words[i], "--spill");
  rondo *r = quiet();
  rondo_status status = rondo_command(r, (int)(sizeof argv / sizeof *argv) - (spills ? 0 : 2), argv);
  fuzz_must(status <= RONDO_FAULT, "an exit status that is not ours"); /* RONDO_FAULT: a forged run is not one */
  rondo_free(r);
  for (int file = 0; file < FILES; file++)
    vec_release(&forged[file]);
  return 0;
}
