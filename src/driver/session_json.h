/* What sessions (session/session.h) answer, as JSON: docs/json.md. Every json_t is a new reference. What is
   given without const is released. */
#ifndef RONDO_DRIVER_SESSION_JSON_H
#define RONDO_DRIVER_SESSION_JSON_H

#include "session/session.h"

#include <jansson.h>

#define SESSION_SCHEMA "rondo-session/1"

/* Numbers above 2^53 are strings of digits, because not every reader of JSON has them as numbers. */
json_t *number_to_json(uint64_t);
json_t *string_or_null(const char *);
json_t *span_to_json(const struct source *, struct span); /* null: no place */

json_t *session_info_to_json(const struct model *, uint32_t environment, enum semantics);
json_t *session_initials_to_json(struct session_initials *);
json_t *session_choice_to_json(const struct source *, const struct session_choice *);
json_t *session_choices_to_json(const struct source *, struct session_choices *);
json_t *session_state_to_json(const struct source *, struct session_state *);
json_t *session_properties_to_json(const struct source *, struct session_properties *);
json_t *session_result_to_json(struct session_result *);
json_t *session_round_to_json(const struct session_round *);
json_t *session_candidates_to_json(struct session_candidates *);
json_t *session_judgement_to_json(const struct source *, const struct session_judgement *);
json_t *session_outcomes_to_json(struct session_outcomes *, bool interrupted);
json_t *session_found_to_json(enum session_search, const struct session_round *, bool interrupted);
json_t *session_ahead_to_json(struct session_ahead *, bool interrupted);
json_t *session_survey_to_json(const struct model *, struct session_survey *);

/* --- and back --- */

/* NULL: *why says what is wrong. */
json_t *json_read(const char *text, struct text *why);
/* A round of the model. What is left out is as in session_round_init's round. False: *why says what is wrong, and
   nothing is to be released. */
bool session_round_read(const json_t *, const struct model *, bool async, struct session_round *, struct text *why);

#endif
