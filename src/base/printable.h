/* Text from outside in messages: control characters, which a terminal might obey, are shown as \\x1b. */
#ifndef RONDO_BASE_PRINTABLE_H
#define RONDO_BASE_PRINTABLE_H

#include "base/text.h"

void text_add_printable(struct text *, const char *); /* line breaks as well */
void text_make_printable(struct text *);              /* all of it, but for its line breaks */

#endif
