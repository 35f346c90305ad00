/* Words in drawings: how wide they are, where they are cut, what is replaced. */
#include "report/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void escaped(const char *words, const char *due) {
  struct text out = {0};
  text_add_escaped(&out, words);
  assert_string_equal(text_or_empty(&out), due);
  text_release(&out);
}

static void what_xml_would_take_is_replaced(void **state) {
  (void)state;
  escaped("", "");
  escaped("p.x < 2 && q", "p.x &lt; 2 &amp;&amp; q");
  escaped("</text><script>\"", "&lt;/text&gt;&lt;script&gt;&quot;");
  escaped("\x01"
          "bell\x07\n",
          "bell\n");
  escaped("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
}

static void fits(const char *words, unsigned most, const char *due) {
  struct text out = {0};
  text_add_fitted(words, most, &out);
  assert_string_equal(text_or_empty(&out), due);
  text_release(&out);
}

static void long_words_are_cut_between_characters(void **state) {
  (void)state;
  fits("", 5, "");
  fits("12345", 5, "12345");
  fits("123456", 5, "123..");
  fits("\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9");
  fits("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9..");
}

static void width_counts_characters(void **state) {
  (void)state;
  assert_int_equal(svg_width("\xc3\xa9\xc3\xa9"), svg_width("ee"));
  assert_true(svg_width("abc") > svg_width("ab"));
  assert_true(svg_title_width("abc") > svg_width("abc"));
}

static void a_drawing_has_its_parts_in_order(void **state) {
  struct svg s = {0};
  struct text out = {0};
  (void)state;
  svg_hook_clear(&s);
  svg_words(&s, INK_KEY, ANCHOR_END, 3, 4, "a<b", "all of it");
  svg_mark(&s, MARK_CRASH, INK_BAD, 10, 10);
  svg_line(&s, STROKE_LOST, 0, 0, 5, 6);
  svg_finish(&s, "x & y", 20, 30, &out);
  const char *line = strstr(out.at, "<path class=\"lost\" d=\"M0 0L5 6\"/>");
  const char *mark = strstr(out.at, "<path class=\"crash\"");
  const char *words = strstr(out.at, "text-anchor=\"end\"><title>all of it</title>a&lt;b</text>");
  assert_non_null(strstr(out.at, "<title>x &amp; y</title>"));
  assert_true(line && mark && words && line < mark && mark < words);
  assert_string_equal(out.at + out.n - 7, "</svg>\n");
  text_release(&out);
}

static void elements_say_what_they_show(void **state) {
  struct svg s = {0};
  struct text out = {0};
  (void)state;
  s.hook = (struct svg_hook){.step = 3, .from = "0", .to = "1 2", .kind = "a", .message = "a(\"<\")", .title = "x<y"};
  s.kind = 2;
  svg_line(&s, STROKE_MESSAGE, 0, 0, 5, 6);
  svg_hook_clear(&s);
  svg_line(&s, STROKE_MESSAGE, 0, 0, 7, 8);
  svg_finish(&s, "", 20, 30, &out);
  assert_non_null(strstr(out.at,
                         "<path class=\"msg k2\" data-step=\"3\" data-from=\"0\" data-to=\"1 2\" data-kind=\"a\" "
                         "data-message=\"a(&quot;&lt;&quot;)\" d=\"M0 0L5 6\" "
                         "marker-end=\"url(#rondo-head-2)\"><title>x&lt;y</title></path>"));
  assert_non_null(strstr(out.at, "<path class=\"msg\" d=\"M0 0L7 8\" marker-end=\"url(#rondo-head-0)\"/>"));
  assert_non_null(strstr(out.at, "<marker id=\"rondo-head-2\""));
  assert_null(strstr(out.at, "<marker id=\"rondo-head-1\""));
  text_release(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_xml_would_take_is_replaced), cmocka_unit_test(long_words_are_cut_between_characters),
      cmocka_unit_test(width_counts_characters),         cmocka_unit_test(a_drawing_has_its_parts_in_order),
      cmocka_unit_test(elements_say_what_they_show),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
