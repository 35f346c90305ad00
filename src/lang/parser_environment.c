/* Environments, properties, and the moves of counter systems. Each function stands below the grammar rule that it
   parses. */
#include "lang/parser.h"

/* ---- environments ---- */

/* "are" ("byzantine" | "lost" | "corrupted" | "duplicated") */
static enum ast_fault parse_are(struct parser *p) {
  if (parser_take_word(p, W_BYZANTINE))
    return FAULT_BYZANTINE;
  if (parser_take_word(p, W_LOST))
    return FAULT_LOST;
  if (parser_take_word(p, W_CORRUPTED))
    return FAULT_CORRUPTED;
  if (parser_take_word(p, W_DUPLICATED))
    return FAULT_DUPLICATED;
  bool later = !p->panic && p->at > 1 && p->tokens->list.at[p->at - 2].word == W_MESSAGES;
  parser_fail(p, E0106, "'byzantine', 'lost', 'corrupted' or 'duplicated'");
  parser_help(
      p, later ? "messages may always take any time, and overtake each other unless a clause says 'channels fifo'"
               : "as in 'at most f processes crash', 'at most f processes omit', 'at most f processes are byzantine'");
  return FAULT_BYZANTINE;
}

/* fault = "crash" ["and" "recover"] | "omit" ["to" ("send" | "receive")] | "are" ... */
static enum ast_fault parse_fault(struct parser *p, uint32_t *flags) {
  if (parser_take_word(p, W_CRASH)) {
    if (parser_take_word(p, W_AND)) {
      parser_expect_word(p, W_RECOVER);
      *flags |= AST_FLAG_RECOVER;
    }
    return FAULT_CRASH;
  }
  if (parser_take_word(p, W_ARE))
    return parse_are(p);
  if (!parser_take_word(p, W_OMIT)) {
    parser_fail(p, E0106, "'crash', 'omit' or 'are'");
    parser_help(
        p, "as in 'at most t processes crash', 'at most t processes are byzantine', 'at most f messages are lost'");
    return FAULT_CRASH;
  }
  if (!parser_take_word(p, W_TO))
    return FAULT_OMIT;
  if (parser_take_word(p, W_SEND))
    return FAULT_OMIT_SEND;
  if (!parser_take_word(p, W_RECEIVE))
    parser_fail(p, E0106, "'send' or 'receive'");
  return FAULT_OMIT_RECEIVE;
}

/* Of whom is missing: `at most 1 crash`. */
static bool sees_fault_of_nobody(const struct parser *p) {
  const struct token *next = parser_look(p, 1);
  return (parser_sees_word(p, W_CRASH) || parser_sees_word(p, W_OMIT)) && next->word != W_CRASH &&
         next->word != W_OMIT && next->word != W_ARE;
}

/* ("at" "most" sum | "any") NAME fault ["each" unit] */
static struct ast *parse_fault_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool any = parser_take_word(p, W_ANY);
  if (!any) {
    parser_expect_word(p, W_AT);
    parser_expect_word(p, W_MOST);
  }
  parser_add(p, any ? NULL : parse_sum(p));
  place.word = parser_look(p, 0)->at;
  if (sees_fault_of_nobody(p)) {
    parser_fail(p, E0106, "'processes' or a role");
    parser_help(p, "say who, as in 'at most t processes crash'");
  }
  bool compares = parser_sees(p, T_LT) || parser_sees(p, T_LE);
  const char *name = parser_expect_name(p, "'processes', 'messages' or a role");
  if (compares)
    parser_help(p, "what parameters must satisfy stands with them: 'param f where f < n'");
  uint32_t flags = any ? AST_FLAG_ANY : 0;
  enum ast_fault fault = parse_fault(p, &flags);
  parser_add(p, parser_take_word(p, W_EACH) ? parse_unit(p, true) : NULL);
  struct ast *node = parser_named(p, AST_CLAUSE_FAULT, place, name);
  node->number = fault;
  node->flags = flags;
  return node;
}

/* "for" ("each" | "some") binder ":" expr */
static struct ast *parse_for_clause(struct parser *p, uint32_t *flags) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_FOR);
  if (parser_take_word(p, W_EACH))
    *flags = AST_FLAG_EACH;
  else if (parser_take_word(p, W_SOME))
    *flags = AST_FLAG_SOME;
  else
    parser_fail(p, E0106, "'each' or 'some'");
  return parse_quantified(p, place, false);
}

/* ("every" unit | "infinitely" "often" [unit] | "eventually" ["always"] [unit]) ["for" ...] ":" expr */
static struct ast *parse_predicate_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  enum ast_kind kind = AST_CLAUSE_EVERY;
  if (parser_take_word(p, W_INFINITELY)) {
    kind = AST_CLAUSE_OFTEN;
    parser_expect_word(p, W_OFTEN);
  } else if (parser_take_word(p, W_EVENTUALLY)) {
    kind = parser_take_word(p, W_ALWAYS) ? AST_CLAUSE_FINALLY : AST_CLAUSE_ONCE;
  } else {
    parser_expect_word(p, W_EVERY);
  }
  parser_add(p, parse_unit(p, kind == AST_CLAUSE_EVERY));
  uint32_t flags = 0;
  if (parser_sees_word(p, W_FOR)) {
    parser_add(p, parse_for_clause(p, &flags));
  } else {
    bool synchronous = parser_sees_word(p, W_SYNCHRONOUS);
    if (!parser_expect(p, T_COLON))
      parser_help(p, synchronous ? "say which messages arrive: 'eventually always: forall p in P: HO[p] == P'"
                                 : "a colon stands before the condition: 'every round: ...', 'eventually: ...'");
    parser_add(p, parse_expr(p));
  }
  struct ast *node = parser_node(p, kind, place);
  node->flags = flags;
  return node;
}

/* "from" "round" sum ":" expr */
static struct ast *parse_from_round_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_FROM);
  parser_expect_word(p, W_ROUND);
  parser_add(p, parse_sum(p));
  parser_expect(p, T_COLON);
  parser_add(p, parse_expr(p));
  return parser_node(p, AST_CLAUSE_FROM_ROUND, place);
}

/* "channels" ("set" | "bag" | "fifo") ["bound" sum] */
static struct ast *parse_channels_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_CHANNELS);
  place.word = parser_look(p, 0)->at;
  const char *name = "";
  if (parser_sees_word(p, W_SET) || parser_sees_word(p, W_BAG) || parser_sees_word(p, W_FIFO)) {
    name = parser_expect_name(p, "a kind of channel");
  } else {
    parser_fail(p, E0106, "'set', 'bag' or 'fifo'");
    parser_help(p, "fifo: in order; bag: in any order; set: in any order, equal messages only once. No message is lost "
                   "unless a clause says so");
  }
  parser_add(p, parser_take_word(p, W_BOUND) ? parse_sum(p) : NULL);
  return parser_named(p, AST_CLAUSE_CHANNELS, place, name);
}

/* fair clause = "fair" ["strong"] ["processes" | "actions" | "messages"] */
static struct ast *parse_fair_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_FAIR);
  bool strong = parser_take_word(p, W_STRONG);
  enum ast_fairness to = AST_FAIR_MESSAGES;
  if (parser_take_word(p, W_PROCESSES))
    to = AST_FAIR_PROCESSES;
  else if (parser_take_word(p, W_ACTIONS))
    to = AST_FAIR_ACTIONS;
  else
    parser_take_word(p, W_MESSAGES);
  struct ast *node = parser_node(p, AST_CLAUSE_FAIR, place);
  node->number = to;
  node->flags = strong ? AST_FLAG_STRONG : 0;
  return node;
}

/* "synchronous" */
static struct ast *parse_synchronous_clause(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_SYNCHRONOUS);
  return parser_node(p, AST_CLAUSE_SYNCHRONOUS, place);
}

static const struct word_rule clauses[] = {
    {W_AT, parse_fault_clause},
    {W_ANY, parse_fault_clause},
    {W_EVERY, parse_predicate_clause},
    {W_INFINITELY, parse_predicate_clause},
    {W_EVENTUALLY, parse_predicate_clause},
    {W_SYNCHRONOUS, parse_synchronous_clause},
    {W_FAIR, parse_fair_clause},
    {W_CHANNELS, parse_channels_clause},
    {W_FROM, parse_from_round_clause},
};

/* clause = fault clause | predicate clause | from-round clause | channels clause
          | "synchronous" | fair clause */
static struct ast *parse_clause(struct parser *p) {
  parse_rule *rule = parser_rule(p, WORD_RULES(clauses));
  parser_begin(p, BEGIN_CONSTRUCT);
  if (rule)
    return rule(p);
  if (parser_reject_foreign(p, FOREIGN_CLAUSE))
    return parser_error_node(p);
  enum word near = parser_nearest_word(p, WORD_RULES(clauses));
  parser_fail(p, E0106, "a clause");
  if (near)
    parser_help(p, "did you mean '%s'?", word_text(near));
  else
    parser_help(p, "as 'every round: ...', 'infinitely often: ...', 'at most f processes crash', "
                   "'any messages are lost', 'synchronous', 'fair', 'channels fifo'");
  return parser_error_node(p);
}

/* environment = "environment" NAME ["extends" names] "{" { clause [";"] } "}" */
struct ast *parse_environment(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_ENVIRONMENT);
  place.word = parser_look(p, 0)->at;
  bool unnamed = parser_sees(p, T_LBRACE);
  const char *name = parser_expect_name(p, "the environment's name");
  if (unnamed)
    parser_help(p, "an environment has a name: 'environment NAME { ... }'");
  parser_add(p, parser_take_word(p, W_EXTENDS) ? parse_names(p, "an environment") : NULL);
  parser_recover_header(p);
  bool bare = !p->panic && !parser_sees(p, T_LBRACE);
  if (!parser_open(p)) {
    if (bare)
      parser_help(p, "clauses are in braces: 'environment NAME { synchronous }'");
  } else {
    while (!parser_sees(p, T_RBRACE) && !parser_sees(p, T_END) && !parser_at_declaration(p)) {
      size_t before = p->at;
      parser_add(p, parse_clause(p));
      if (p->panic)
        parser_recover_clause(p, before);
      parser_take(p, T_SEMICOLON);
    }
    parser_close(p);
  }
  return parser_named(p, AST_ENVIRONMENT, place, name);
}

/* ---- properties ---- */

enum { SAFETY, COVER, LIVE };

/* property = ("safety" | "cover" | "live" ["almost" "surely"]) NAME ["in" names] ["on" "request"]
              ":" ["step"] expr */
struct ast *parse_property(struct parser *p) {
  struct construct_start place = parser_place(p);
  uint32_t flags = 0;
  int64_t number = SAFETY;
  if (parser_take_word(p, W_COVER)) {
    number = COVER;
  } else if (parser_take_word(p, W_LIVE)) {
    number = LIVE;
    if (parser_sees_word(p, W_ALMOST) && parser_look(p, 1)->kind == T_NAME && parser_look(p, 1)->word != W_SURELY &&
        parser_look(p, 1)->word != W_IN && parser_look(p, 1)->word != W_ON) {
      parser_fail(p, E0106, "a property");
      parser_help(p, "write 'live almost surely NAME: FORMULA'");
    } else if (parser_sees_word(p, W_ALMOST) && parser_look(p, 1)->word == W_SURELY) {
      parser_take_word(p, W_ALMOST);
      parser_take_word(p, W_SURELY);
      flags |= AST_FLAG_ALMOST;
    }
  } else {
    parser_expect_word(p, W_SAFETY);
  }
  place.word = parser_look(p, 0)->at;
  bool unnamed = parser_sees(p, T_COLON);
  const char *name = parser_expect_name(p, "the property's name");
  if (unnamed)
    parser_help(p, "a property has a name: 'safety NAME: CONDITION'");
  parser_add(p, parser_take_word(p, W_IN) ? parse_names(p, "an environment") : NULL);
  if (parser_take_word(p, W_ON)) {
    if (!parser_expect_word(p, W_REQUEST))
      parser_help(p, "'on request': it is checked only if --property asks for it");
    flags |= AST_FLAG_REQUEST;
  }
  if (!parser_expect(p, T_COLON))
    parser_help(p, "a property is written 'safety NAME: CONDITION' or 'live NAME in ENVIRONMENT: "
                   "CONDITION'");
  flags |= parser_take_word(p, W_STEP) ? AST_FLAG_STEP : 0;
  parser_add(p, parse_expr(p));
  struct ast *node = parser_named(p, AST_PROPERTY, place, name);
  node->number = number;
  node->flags = flags;
  return node;
}

/* ---- counter systems ---- */

/* effect = NAME ":=" expr | sum "of" NAME "->" NAME */
static struct ast *parse_effect(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (parser_sees_name(p, 0) && parser_look(p, 1)->kind == T_BECOMES) {
    const char *name = parser_expect_name(p, "a counter");
    parser_expect(p, T_BECOMES);
    parser_add(p, parse_expr(p));
    struct ast *node = parser_named(p, AST_EFFECT_ASSIGN, place, name);
    return node;
  }
  parser_add(p, parse_sum(p));
  if (!parser_expect_word(p, W_OF))
    parser_help(p, "a move is written 'k of a -> b' or 'a := a + k'");
  for (int side = 0; side < 2; side++) {
    struct construct_start counter = parser_place(p);
    const char *name = parser_expect_name(p, "a counter");
    struct ast *node = parser_node(p, AST_NAME, counter);
    node->name = name;
    parser_add(p, node);
    if (side == 0)
      parser_expect(p, T_TO);
  }
  return parser_node(p, AST_EFFECT_MOVE, place);
}

/* move = "move" NAME ["any" names] ":" effect {"," effect} ["when" expr] */
struct ast *parse_move(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_MOVE);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "the move's name");
  parser_add(p, parser_take_word(p, W_ANY) ? parse_names(p, "a number's name") : NULL);
  parser_expect(p, T_COLON);
  size_t when = p->kids.n;
  parser_add(p, NULL);
  do
    parser_add(p, parse_effect(p));
  while (parser_take(p, T_COMMA));
  if (parser_take_word(p, W_WHEN)) {
    struct ast *guard = parse_expr(p);
    p->kids.at[when] = guard;
  }
  return parser_named(p, AST_MOVE, place, name);
}

/* unsafe = "unsafe" NAME ["from" expr] ":" expr */
struct ast *parse_unsafe(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_UNSAFE);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "the name of what must not be");
  parser_add(p, parser_take_word(p, W_FROM) ? parse_expr(p) : NULL);
  parser_expect(p, T_COLON);
  parser_add(p, parse_expr(p));
  return parser_named(p, AST_UNSAFE, place, name);
}
