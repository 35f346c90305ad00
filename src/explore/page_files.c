/* The built page (web/), embedded in the program. */
#include "explore/explore_server.h"

#include <string.h>

#define EMBED(symbol, file)                                                                                            \
  __asm__(".section .rodata\n.balign 16\n.global " #symbol "\n" #symbol ":\n.incbin \"" RONDO_PAGE "/" file            \
          "\"\n.global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.previous\n");                                      \
  extern const unsigned char symbol[], symbol##_end[];

EMBED(page_index_html, "index.html")
EMBED(page_explorer_js, "explorer.js")
EMBED(page_explorer_css, "explorer.css")

static const struct page_file files[] = {
    {"", "text/html; charset=utf-8", page_index_html, page_index_html_end},
    {"explorer.js", "text/javascript; charset=utf-8", page_explorer_js, page_explorer_js_end},
    {"explorer.css", "text/css; charset=utf-8", page_explorer_css, page_explorer_css_end},
};

const struct page_file *page_file_find(const char *name) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (!strcmp(files[i].name, name))
      return &files[i];
  return NULL;
}
