/* What only counter systems have, besides moves (parser_environment.c). */
#include "lang/parser.h"

/* control = "control" names ":" type ["=" expr] */
struct ast *parse_control(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_CONTROL);
  parser_add(p, parse_names(p, "the name of a control"));
  if (!parser_expect(p, T_COLON))
    parser_help(p, "a control has a finite type: 'control stage: {ask, answer} = ask'");
  parser_add(p, parse_type(p));
  parser_add(p, parser_take(p, T_ASSIGN) ? parse_expr(p) : NULL);
  return parser_node(p, AST_CONTROL, place);
}
