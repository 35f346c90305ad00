/* A chart of the growth of the state space on a logarithmic scale: for each method of the paper, one line for the paper
   and one for rondo. */
#include "report/reproduction.h"
#include "report/svg.h"

#include <math.h>
#include <string.h>

enum { LEFT = 70, TOP = 50, WIDTH = 560, HEIGHT = 300, LEGEND = 20 };

struct chart {
  const struct reproduction *r;
  size_t n; /* settings on the x axis */
  const char *settings[64];
  double most; /* upper end of the y axis, a power of 10 */
};

static size_t setting_of(struct chart *c, const char *setting) {
  for (size_t i = 0; i < c->n; i++)
    if (!strcmp(c->settings[i], setting))
      return i;
  if (c->n < sizeof c->settings / sizeof *c->settings)
    c->settings[c->n++] = setting;
  return c->n - 1;
}

static double x_of(const struct chart *c, size_t setting) {
  return LEFT + (c->n > 1 ? (double)setting * WIDTH / (double)(c->n - 1) : WIDTH / 2.0);
}
static double y_of(const struct chart *c, double states) {
  return TOP + HEIGHT - (states > 1 ? log10(states) : 0) * HEIGHT / c->most;
}

static double states_at(const struct chart *c, size_t row, bool ours) {
  const struct reproduced_row *o = &c->r->rows[row];
  return ours ? (o->has_states ? o->states : 0) : c->r->table->rows[row].states;
}

static void axes_add(const struct chart *c, struct text *out) {
  for (int power = 0; power <= (int)c->most; power++) {
    double y = y_of(c, pow(10, power));
    text_addf(out, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT, y, LEFT + WIDTH, y);
    text_addf(out,
              "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"8\">%d</tspan></text>\n",
              LEFT - 8, y + 4, power);
  }
  for (size_t i = 0; i < c->n; i++) {
    text_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\" transform=\"rotate(-35 %.1f %d)\">", x_of(c, i),
              TOP + HEIGHT + 18, x_of(c, i), TOP + HEIGHT + 18);
    text_add_escaped(out, c->settings[i]);
    text_add(out, "</text>\n");
  }
}

/* Adds the series of one method, starting at its first row. */
static void series_add(struct chart *c, size_t first, bool ours, unsigned colour, unsigned line, struct text *out) {
  static const char *const colours[] = {"#c0392b", "#2471a3", "#1e8449", "#af601a", "#7d3c98"};
  const struct published_table *t = c->r->table;
  const char *ink = colours[colour % (sizeof colours / sizeof *colours)];
  struct text points = {0};
  for (size_t i = first; i < published_nrows(t); i++)
    if (!strcmp(t->rows[i].way, t->rows[first].way) && states_at(c, i, ours) > 0) {
      double x = x_of(c, setting_of(c, t->rows[i].setting)), y = y_of(c, states_at(c, i, ours));
      text_addf(&points, "%.1f,%.1f ", x, y);
      text_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, ours ? ink : "none");
      if (!ours)
        text_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" stroke=\"%s\"/>\n", x, y, ink);
    }
  if (points.n) {
    int y = TOP + HEIGHT + 90 + (int)line * LEGEND;
    text_addf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s points=\"%s\"/>\n", ink,
              ours ? "" : " stroke-dasharray=\"5 3\"", points.at);
    text_addf(out,
              "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n<text x=\"%d\" "
              "y=\"%d\">",
              LEFT, y - 4, LEFT + 30, y - 4, ink, ours ? "" : " stroke-dasharray=\"5 3\"", LEFT + 38, y);
    text_add_escaped(out, ours ? "rondo beside: " : "paper: ");
    text_add_escaped(out, t->rows[first].way);
    text_add(out, "</text>\n");
  }
  text_release(&points);
}

static bool is_first_of_its_way(const struct published_table *t, size_t row) {
  for (size_t i = 0; i < row; i++)
    if (!strcmp(t->rows[i].way, t->rows[row].way))
      return false;
  return true;
}

void reproduction_svg(const struct reproduction *r, struct text *out) {
  struct chart c = {.r = r, .most = 1};
  size_t n = published_nrows(r->table);
  unsigned ways = 0, lines = 0;
  for (size_t i = 0; i < n; i++) {
    setting_of(&c, r->table->rows[i].setting);
    for (int ours = 0; ours < 2; ours++)
      c.most = fmax(c.most, ceil(log10(fmax(states_at(&c, i, ours), 10))));
    ways += is_first_of_its_way(r->table, i);
  }
  text_addf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n",
            LEFT + WIDTH + 40, TOP + HEIGHT + 100 + 2 * ways * LEGEND);
  text_add(out, "<style>text{fill:#222}.grid{stroke:#ccc}@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:"
                "#555}}</style>\n");
  text_addf(out, "<text x=\"%d\" y=\"24\" font-size=\"14\">", 20);
  text_add_escaped(out, r->table->title);
  text_addf(out, "</text>\n<text x=\"20\" y=\"%d\">states</text>\n", TOP - 8);
  axes_add(&c, out);
  ways = 0;
  for (size_t i = 0; i < n; i++)
    if (is_first_of_its_way(r->table, i)) {
      series_add(&c, i, false, ways, lines++, out);
      series_add(&c, i, true, ways++, lines++, out);
    }
  text_add(out, "</svg>\n");
}
