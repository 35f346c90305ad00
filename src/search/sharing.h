/* A store that several threads fill: who may come in, and how its index grows. */
#ifndef RONDO_SEARCH_SHARING_H
#define RONDO_SEARCH_SHARING_H

#include "search/store_look.h"

#include <pthread.h>

/* Whoever wants to add something is inside, unless a segment is growing. */
struct gate {
  _Alignas(64) atomic_bool inside; /* one for each lane */
  uint32_t used[SEGMENTS];         /* slots of each segment that this lane has filled since it last told */
};

struct sharing {
  struct gate gate[STORE_LANES];
  atomic_bool growing;       /* nobody comes in */
  atomic_bool open;          /* nobody is in: who waits helps */
  _Atomic uint32_t next;     /* segment to be looked at */
  _Atomic uint32_t helping;  /* lanes */
  pthread_mutex_t grows, relinks;
  uint32_t lanes;
  uint32_t tell; /* so many slots that a lane has filled */
};

void sharing_free(struct sharing *);
void sharing_grow(struct store *, uint32_t lane, const struct segment *); /* that one, and others, if nobody has done it in the meantime */

/* --- store.c --- */

/* A segment grows when so many 64ths of it are full. */
#define FULL 51
#define FULL_TIGHT 60
#define SOON 3 /* as many less, and it will grow soon */
/* By this part of what it has, if it is large. */
#define GROWTH 5
#define GROWTH_TIGHT 8

void segment_grow(struct store *, struct segment *);
bool segment_is_filling_up(const struct store *, const struct segment *);
bool segment_fills_up_soon(const struct store *, const struct segment *);

#endif
