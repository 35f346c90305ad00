/* Properties of one environment are checked in one search. If that becomes large, each kind of properties is tried
   alone: it may be decided at once, or need far fewer states, because fewer variables are read. */
#ifndef RONDO_DRIVER_QUERY_SPLIT_H
#define RONDO_DRIVER_QUERY_SPLIT_H

#include "driver/query.h"

struct query_split;

/* NULL: there is nothing to be tried, because all of them read the same, or because of the options. Results of trials
   that decide their properties are added to `c`, and reported. */
struct query_split *split_new(const struct query_context *, uint32_t environment, const uint32_t *properties,
                              uint32_t n, struct check_result *c, struct text *refused, struct text *fault);
void split_free(struct query_split *);
/* For search->layer: after each layer of the search for all of them. False: it ends, because others replace it. */
bool split_after_layer(void *split, struct search *);
/* Was a trial refused, or is there a fault? */
bool split_failed(const struct query_split *);
/* The search for all of them was ended: what to search for instead, one after the other. 0: nothing is left. */
bool split_replaces(const struct query_split *);
uint32_t split_next(struct query_split *, uint32_t *properties);
/* Removes what trials have decided from the result of the search for all of them. */
void split_filter(const struct query_split *, struct run_result *);

#endif
