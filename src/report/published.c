/* The papers' tables, from published.def. */
#include "report/reproduction.h"

#define HOLDS ROW_HOLDS
#define VIOLATED ROW_VIOLATED
#define NOTHING ROW_UNDECIDED

#define TABLE(name_, title_, tool_, growth_, about_)                                                                   \
  {                                                                                                                    \
    .name = name_, .title = title_, .tool = tool_, .growth = growth_, .about = about_,                                 \
    .rows = (const struct published_row[]) {
#define ROW(setting, way, paper, states, memory, seconds, command, ours, note)                                         \
  {setting, way, paper, states, memory, seconds, command, ours, note},
#define END                                                                                                            \
  { 0 }                                                                                                                \
  }                                                                                                                    \
  }                                                                                                                    \
  ,

const struct published_table published_tables[] = {
#include "report/published.def"
};
const size_t npublished_tables = sizeof published_tables / sizeof *published_tables;

size_t published_nrows(const struct published_table *t) {
  size_t n = 0;
  while (t->rows[n].setting)
    n++;
  return n;
}
