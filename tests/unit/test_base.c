/* Arenas, text, interning, archives, diagnostics. */
#include "base/archive.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void arena_aligns_and_zeroes(void **state) {
  (void)state;
  struct arena a;
  arena_init(&a);
  for (size_t size = 0; size < 5000; size += 37) {
    unsigned char *at = arena_alloc(&a, size);
    assert_int_equal((uintptr_t)at % 16, 0);
    for (size_t i = 0; i < size; i++)
      assert_int_equal(at[i], 0);
    memset(at, 0xAB, size);
  }
  arena_clear(&a);
  unsigned char *again = arena_array(&a, 100, 3);
  for (size_t i = 0; i < 300; i++)
    assert_int_equal(again[i], 0);
  assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
  assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
  assert_memory_equal(arena_copy(&a, "abc", 4), "abc", 4);
  arena_release(&a);
  arena_release(&a); /* harmless */
}

static void vec_grows(void **state) {
  (void)state;
  VEC(int) v = {0};
  for (int i = 0; i < 1000; i++)
    vec_push(&v, i);
  assert_int_equal(v.n, 1000);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(v.at[i], i);
  vec_clear(&v);
  assert_int_equal(v.n, 0);
  vec_release(&v);
  assert_null(v.at);
}

static void names_are_found_and_removed(void **state) {
  (void)state;
  char names[1000][16];
  struct name_index x = {0};
  assert_int_equal(name_index_find(&x, "n0"), NAME_NONE);
  for (int i = 0; i < 1000; i++) {
    snprintf(names[i], sizeof names[i], "n%d", i / 2); /* every name twice */
    assert_int_equal(name_index_add(&x, names[i]), i);
  }
  assert_int_equal(name_index_find(&x, "n0"), 1);
  assert_int_equal(name_index_before(&x, 1), 0);
  assert_int_equal(name_index_before(&x, 0), NAME_NONE);
  assert_int_equal(name_index_find(&x, "n499"), 999);
  assert_int_equal(name_index_find(&x, "n500"), NAME_NONE);
  name_index_cut(&x, 11);
  assert_int_equal(name_index_find(&x, "n5"), 10);
  assert_int_equal(name_index_find(&x, "n6"), NAME_NONE);
  assert_int_equal(name_index_add(&x, "n0"), 11);
  assert_int_equal(name_index_find(&x, "n0"), 11);
  assert_int_equal(name_index_before(&x, 11), 1);
  name_index_cut(&x, 0);
  assert_int_equal(name_index_find(&x, "n0"), NAME_NONE);
  name_index_release(&x);
}

static void lines_are_found_by_binary_search(void **state) {
  (void)state;
  static const char text[] = "one\n\n\ttwo \xC3\xA9 three\n\nlast";
  struct source s = {.path = "m", .text = text, .length = sizeof text - 1};
  struct source_lines lines;
  source_lines_init(&lines, &s);
  for (uint32_t i = 0; i <= s.length + 2; i++) {
    uint32_t line, column, by_search, column_by_search;
    source_place(&s, i, &line, &column);
    source_lines_place(&lines, i, &by_search, &column_by_search);
    assert_int_equal(line, by_search);
    assert_int_equal(column, column_by_search);
  }
  source_lines_release(&lines);
}

static void text_grows_and_pads(void **state) {
  (void)state;
  struct text t = {0};
  assert_string_equal(text_or_empty(&t), "");
  text_add(&t, "p");
  text_addf(&t, "%s%05d", "q", 42);
  assert_string_equal(t.at, "pq00042");
  size_t start = t.n;
  text_add(&t, "é"); /* one character, two bytes */
  text_pad_to(&t, start, 3);
  assert_string_equal(t.at, "pq00042é  ");
  for (int i = 0; i < 1000; i++)
    text_add(&t, "0123456789");
  assert_int_equal(strlen(t.at), t.n);
  text_release(&t);
  assert_null(t.at);
}

static void intern_finds_what_it_keeps(void **state) {
  (void)state;
  enum { MANY = 20000 };
  struct intern *t = intern_new();
  int64_t v[40];
  const int64_t *first[10];
  for (int64_t i = 0; i < MANY; i++) {
    size_t n = (size_t)(i % 40);
    for (size_t j = 0; j < n; j++)
      v[j] = i * 31 + (int64_t)j;
    v[0] = i;
    uint32_t id = intern_put(t, v, n + (n == 0));
    assert_int_equal(id, (uint32_t)i);
    if (i < 10)
      first[i] = intern_at(t, id);
  }
  assert_int_equal(intern_count(t), MANY);
  for (int64_t i = 0; i < MANY; i++) {
    size_t n = (size_t)(i % 40);
    for (size_t j = 0; j < n; j++)
      v[j] = i * 31 + (int64_t)j;
    v[0] = i;
    n += n == 0;
    assert_int_equal(intern_find(t, v, n), (uint32_t)i);
    assert_int_equal(intern_put(t, v, n), (uint32_t)i);
    assert_int_equal(intern_length(t, (uint32_t)i), n);
    assert_memory_equal(intern_at(t, (uint32_t)i), v, n * sizeof *v);
    assert_true(intern_hash(t, (uint32_t)i) == hash_bytes(v, n * sizeof *v));
  }
  for (int i = 0; i < 10; i++)
    assert_ptr_equal(intern_at(t, (uint32_t)i), first[i]);
  v[0] = -1;
  assert_int_equal(intern_find(t, v, 1), INTERN_NONE);
  assert_true(intern_bytes(t) > MANY * sizeof(int64_t));
  intern_free(t);
}

/* Each thread puts the same vectors in an order of its own, and must get the same names for them. */
enum { SHARED = 20000, THREADS = 4 };
struct namer {
  struct intern *table;
  uint32_t number, names[SHARED];
};

static void *name_all(void *context) {
  struct namer *n = context;
  for (uint32_t i = 0; i < SHARED; i++) {
    int64_t k = (int64_t)(i * (2 * n->number + 3)) % SHARED, v[3] = {k, k * k, -k};
    uint32_t name = intern_put(n->table, v, 3);
    n->names[k] = name;
    if (intern_at(n->table, name)[1] != k * k || intern_find(n->table, v, 3) != name)
      n->names[k] = INTERN_NONE;
  }
  return NULL;
}

static void intern_names_alike_for_several(void **state) {
  (void)state;
  static struct namer namers[THREADS];
  pthread_t threads[THREADS];
  struct intern *t = intern_new();
  intern_share(t);
  for (uint32_t i = 0; i < THREADS; i++) {
    namers[i].table = t;
    namers[i].number = i == 1 ? 3 : i; /* numbers that have nothing in common with SHARED */
    assert_int_equal(pthread_create(&threads[i], NULL, name_all, &namers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(intern_count(t), SHARED);
  for (uint32_t k = 0; k < SHARED; k++)
    for (uint32_t i = 0; i < THREADS; i++) {
      assert_int_equal(namers[i].names[k], namers[0].names[k]);
      assert_int_equal(intern_at(t, namers[i].names[k])[0], k);
    }
  intern_free(t);
}

static void intern_tells_lengths_apart(void **state) {
  (void)state;
  struct intern *t = intern_new();
  int64_t zeros[4000] = {0};
  assert_int_equal(intern_put(t, NULL, 0), 0);
  for (uint32_t n = 1; n < 4000; n += 7)
    intern_put(t, zeros, n);
  assert_int_equal(intern_find(t, NULL, 0), 0);
  assert_int_equal(intern_length(t, 0), 0);
  assert_int_equal(intern_find(t, zeros, 8), 2);
  assert_int_equal(intern_find(t, zeros, 9), INTERN_NONE);
  intern_free(t);
}

static void text_on_one_line(void **unused) {
  (void)unused;
  static const char text[] = "a <=  // not this\n\t b // nor this";
  struct source source = {"m", text, sizeof text - 1};
  struct text out = {0};
  source_add_text(&source, (struct span){0, sizeof text - 1}, &out);
  assert_string_equal(out.at, "a <= b");
  assert_int_equal(source_line_number(&source, (struct span){20, 21}), 2);
  text_release(&out);
}

static char *printed(struct diags *d) {
  struct text t = {0};
  diags_print(d, false, &t);
  char *copy = memory_strdup(text_or_empty(&t));
  text_release(&t);
  return copy;
}

static struct source source_of(const char *text) {
  return (struct source){.path = "m", .text = text, .length = strlen(text)};
}

static void assert_printed(struct diags *d, const char *expected) {
  char *text = printed(d);
  assert_string_equal(text, expected);
  memory_free(text);
}

static void diags_point_and_sort(void **state) {
  (void)state;
  struct source s = source_of("one two\n\tthrée four\n");
  struct diags d;
  diags_init(&d, &s);
  diag_error(&d, E0201, (struct span){16, 20}, "second");
  diag_help(&d, "do %d", 1);
  diag_error(&d, E0201, (struct span){16, 18}, "dropped: the first says it best");
  diag_help(&d, "dropped too");
  diag_warning(&d, W0101, (struct span){4, 7}, "first");
  diag_error(&d, E0201, (struct span){0, 0}, "nowhere");
  assert_int_equal(d.errors, 2);
  assert_printed(&d, "m: error[E0201]: nowhere\n"
                     "m:1:5: warning[W0101]: first\n"
                     "    1 | one two\n"
                     "      |     ^~~\n"
                     "m:2:8: error[E0201]: second\n"
                     "    2 |     thrée four\n"
                     "      |           ^~~~\n"
                     "  help: do 1\n");
  diags_release(&d);
}

static void diags_show_strange_bytes(void **state) {
  (void)state;
  struct source s = source_of("a\x01\xff\x1b[31m b\r\n");
  struct diags d;
  diags_init(&d, &s);
  diag_error(&d, E0201, (struct span){9, 10}, "here");
  assert_printed(&d, "m:1:10: error[E0201]: here\n"
                     "    1 | a???[31m b\n"
                     "      |          ^\n");
  diags_release(&d);
}

static void diags_at_the_end(void **state) {
  (void)state;
  struct source s = source_of("ab\n");
  struct diags d;
  diags_init(&d, &s);
  diag_error(&d, E0201, (struct span){2, 3}, "line end");
  diag_error(&d, E0201, (struct span){3, 3}, "text end");
  assert_printed(&d, "m:1:3: error[E0201]: line end\n"
                     "    1 | ab\n"
                     "      |   ^\n"
                     "m:2:1: error[E0201]: text end\n"
                     "    2 | \n"
                     "      | ^\n");
  diags_release(&d);
}

static void diags_cut_long_lines(void **state) {
  (void)state;
  static char line[5001];
  memset(line, 'x', 5000);
  memcpy(line + 3000, "HERE", 4);
  struct source s = source_of(line);
  struct diags d;
  diags_init(&d, &s);
  diag_error(&d, E0201, (struct span){3000, 3004}, "far out");
  char *text = printed(&d);
  assert_true(strlen(text) < 400);
  char *shown = strstr(text, "HERE"), *caret = strstr(text, "^~~~");
  assert_non_null(shown);
  assert_non_null(caret);
  char *line_of_shown = strstr(text, "    1 | "), *line_of_caret = strstr(text, "      | ");
  assert_int_equal(shown - line_of_shown, caret - line_of_caret);
  memory_free(text);
  diags_release(&d);
}

static void diags_stop_at_enough(void **state) {
  (void)state;
  static char line[3001];
  memset(line, 'x', 3000);
  struct source s = source_of(line);
  struct diags d;
  diags_init(&d, &s);
  for (uint32_t i = 0; i < 3000; i++)
    diag_error(&d, E0201, (struct span){i, i + 1}, "error %u", i);
  assert_int_equal(d.errors, 3000);
  char *text = printed(&d);
  assert_non_null(strstr(text, "error 49\n"));
  assert_null(strstr(text, "error 50\n"));
  assert_non_null(strstr(text, "and 2950 more errors\n"));
  memory_free(text);
  diags_release(&d);
}

static void source_finds_lines(void **state) {
  (void)state;
  struct source s = source_of("a\n\nlast");
  uint32_t line, column;
  size_t length;
  source_place(&s, 4, &line, &column);
  assert_int_equal(line, 3);
  assert_int_equal(column, 2);
  source_place(&s, 4000, &line, &column);
  assert_int_equal(line, 3);
  source_line(&s, 2, &length);
  assert_int_equal(length, 0);
  assert_memory_equal(source_line(&s, 3, &length), "last", 4);
  assert_int_equal(length, 4);
  source_line(&s, 99, &length);
  assert_int_equal(length, 0);
}

static void names_have_neighbours(void **state) {
  (void)state;
  const char *const names[] = {"decided", "vote", "x", "received"};
  assert_string_equal(nearest_name("decison", names, 4), "decided");
  assert_string_equal(nearest_name("recieved", names, 4), "received");
  assert_string_equal(nearest_name("votes", names, 4), "vote");
  assert_null(nearest_name("y", names, 4));
  assert_null(nearest_name("something_else", names, 4));
  char lengthy[400];
  memset(lengthy, 'd', sizeof lengthy - 1);
  lengthy[sizeof lengthy - 1] = '\0';
  assert_null(nearest_name(lengthy, names, 4));
  assert_null(nearest_name("x", names, 0));
}

static void memory_knows_its_size(void **state) {
  (void)state;
  assert_true(memory_resident() > 4096);
  char *zeroed = memory_alloc(100);
  for (int i = 0; i < 100; i++)
    assert_int_equal(zeroed[i], 0);
  memory_free(zeroed);
}

static jmp_buf gave_up;
static void give_up(void *context, size_t wanted) {
  (void)context;
  (void)wanted;
  longjmp(gave_up, 1);
}

static void memory_checks_products(void **state) {
  (void)state;
  memory_on_exhausted(give_up, NULL);
  bool refused = false;
  if (setjmp(gave_up) == 0)
    memory_resize_array(NULL, SIZE_MAX / 2, 16);
  else
    refused = true;
  memory_on_exhausted(NULL, NULL);
  assert_true(refused);
}

/* Names that are read again are what they were, in a table that has some of them already; else that is noticed. */
static void names_are_written_down(void **state) {
  (void)state;
  struct intern *t = intern_new(), *again = intern_new(), *other = intern_new();
  for (int64_t i = 0; i < 5000; i++) {
    int64_t v[7] = {i, -i, i * i, 4, 5, 6, 7};
    intern_put(t, v, (size_t)(i % 8));
    if (i < 100)
      intern_put(again, v, (size_t)(i % 8));
  }
  intern_put(other, (int64_t[]){77, 78}, 2);
  struct saver saved = saver_in_memory();
  save_intern(&saved, t);
  save_text(&saved, "and so on");
  save_text(&saved, NULL);
  struct loader from = loader_of(&saved), wrong = from, part = from;
  load_intern(&from, again);
  assert_false(from.bad);
  assert_int_equal(intern_count(again), intern_count(t));
  for (uint32_t i = 0; i < intern_count(t); i++) {
    assert_int_equal(intern_length(again, i), intern_length(t, i));
    assert_memory_equal(intern_at(again, i), intern_at(t, i), intern_length(t, i) * sizeof(int64_t));
  }
  char *text = load_text(&from);
  assert_string_equal(text, "and so on");
  memory_free(text);
  assert_null(load_text(&from));
  assert_true(!from.bad && from.at == from.end);
  load_intern(&wrong, other);
  assert_true(wrong.bad);
  part.end -= 40;
  load_intern(&part, again);
  assert_true(part.bad || part.end - part.at < 40);
  saver_release(&saved);
  intern_free(t);
  intern_free(again);
  intern_free(other);
}

/* A file is there as it was or as it is; whatever bit of it changes is noticed. */
static void archives_are_whole(void **state) {
  (void)state;
  char path[] = "/tmp/rondo-archive-XXXXXX", bytes[64];
  struct saver to;
  struct archive a;
  struct text why = {0};
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_true(archive_begin(&to, path));
  for (uint64_t i = 0; i < 100000; i++)
    save_number(&to, i * i);
  assert_false(archive_open(&a, path, true, &why)); /* not before it is complete */
  text_release(&why);
  assert_true(archive_end(&to, path));
  assert_true(archive_open(&a, path, true, &why));
  for (uint64_t i = 0; i < 100000; i++)
    assert_int_equal(load_number(&a.loader), i * i);
  assert_true(!a.loader.bad && a.loader.at == a.loader.end);
  assert_int_equal(load_number(&a.loader), 0);
  assert_true(a.loader.bad);
  size_t size = a.size;
  archive_close(&a);
  close(fd);
  fd = open(path, O_RDWR);
  for (size_t at = 0; at < size; at += at < 40 ? 1 : 997) {
    assert_int_equal(pread(fd, bytes, 1, (off_t)at), 1);
    char damaged = (char)(bytes[0] ^ 4);
    assert_int_equal(pwrite(fd, &damaged, 1, (off_t)at), 1);
    assert_false(archive_open(&a, path, true, &why));
    assert_int_equal(pwrite(fd, bytes, 1, (off_t)at), 1);
  }
  assert_true(why.n > 0);
  text_release(&why);
  close(fd);
  unlink(path);
  assert_false(archive_begin(&to, "/nowhere/at/all"));
  assert_int_equal(to.error, ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arena_aligns_and_zeroes),
      cmocka_unit_test(text_on_one_line),
      cmocka_unit_test(vec_grows),
      cmocka_unit_test(names_are_found_and_removed),
      cmocka_unit_test(lines_are_found_by_binary_search),
      cmocka_unit_test(text_grows_and_pads),
      cmocka_unit_test(intern_finds_what_it_keeps),
      cmocka_unit_test(names_are_written_down),
      cmocka_unit_test(archives_are_whole),
      cmocka_unit_test(intern_names_alike_for_several),
      cmocka_unit_test(intern_tells_lengths_apart),
      cmocka_unit_test(diags_point_and_sort),
      cmocka_unit_test(diags_show_strange_bytes),
      cmocka_unit_test(diags_at_the_end),
      cmocka_unit_test(diags_cut_long_lines),
      cmocka_unit_test(diags_stop_at_enough),
      cmocka_unit_test(source_finds_lines),
      cmocka_unit_test(names_have_neighbours),
      cmocka_unit_test(memory_knows_its_size),
      cmocka_unit_test(memory_checks_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
