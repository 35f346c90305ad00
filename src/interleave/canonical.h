/* Canonical forms of rows, from the inside. What a renaming moves are points: the processes and, behind them, the
   values of the unordered type. A family is a set of points that renamings permute among themselves: in any way, or
   round a ring. All other points stay where they are. */
#ifndef RONDO_INTERLEAVE_CANONICAL_H
#define RONDO_INTERLEAVE_CANONICAL_H

#include "base/vec.h"
#include "interleave/cells.h"
#include "interleave/routes.h"
#include "space/memo.h"

#define NO_POINT UINT32_MAX
#define NO_FAMILY UINT32_MAX

struct family {
  uint32_t first, count; /* points */
  bool ring;             /* only round */
  bool plain; /* no content speaks of its points, and its cells speak of no point that moves: columns are sorted */
  uint32_t *column, width; /* plain: by member, the cells that move with it, each member's in the same order */
  uint32_t *turns;         /* ring: members that may come first */
};

/* --- what a content says about points (mentions.c) --- */

struct mention {
  uint32_t point;
  uint32_t like; /* view->likened: the first point in its place of which the content would say the same */
  uint64_t tag;  /* where it stands: the same in every renaming of the content */
};

/* A part of a content that speaks of several points at once: an element of a set or array, one of many messages. */
struct part {
  uint64_t shape;
  uint32_t first, n; /* its mentions */
};

struct view {
  uint64_t key;      /* of the content; 0: not looked at yet */
  uint64_t shape;    /* the same in every renaming of the content */
  uint32_t mentions; /* where its mentions begin: one for each point that moves and stands in it, ascending */
  uint32_t parts;
  uint32_t nmentions;
  uint16_t nparts;
  bool likened;
};

struct views { /* of one table's contents, by name */
  struct view *at;
  uint32_t n;
};

/* --- partitions of the points (refine.c) --- */

/* The points in an order, cut into classes. A point's colour is the place where its class begins. A class of one point
   has its final place. */
struct partition {
  uint32_t *at;     /* by place: the point */
  uint32_t *colour; /* by point */
  uint32_t *size;   /* by colour: of the class that begins there */
  uint32_t open;    /* points in classes of several */
  uint32_t *orbit;  /* by point: leads to another that some renaming takes it to which leaves row and path unchanged */
};

/* A cell's content or a part of it, with the points it ties together. */
struct link {
  uint64_t shape;
  uint32_t a, b; /* whose cell it is in, or NO_POINT */
  uint32_t first, n; /* mentions */
  bool part;
};

/* Sums are taken of these: unlike hash_mix, no bit of it is nearly linear. */
static inline uint64_t stir(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
  return h ^ h >> 29;
}

/* A cell that is moved by a family that is not plain, or that may speak of its points. */
struct watched {
  uint32_t cell, table;
  uint32_t a, b;   /* whose it is, or NO_POINT */
  uint32_t free;   /* how many of these can be told apart: not those of rings, which are placed first */
  bool empties;    /* content 0 says nothing */
  uint64_t site;   /* tells cells of several kinds apart, and those that are nobody's */
};

/* Cells of a bare ring (rings.c) of which a member sees the same when they hold the same. */
struct ring_site {
  uint32_t table;
  uint64_t site, a, b; /* as it sees the points whose they are */
  uint64_t *fed;       /* by content: what that adds to what lies at the member; 0: not known yet */
  uint32_t n;
};

/* A ring that no content speaks of, and nothing else is renamed: turning it moves contents and changes none. */
struct bare_ring {
  const struct family *family;
  struct ring_site *sites;
  uint32_t nsites;
  uint32_t *site_of, *member; /* by place in canonical.watched */
  uint32_t *to;               /* [turn * nwatched + place in watched]: the cell where it goes */
  uint64_t *feed;             /* by member, twice round */
};

struct canonical {
  struct cells *cells;
  struct model *model;
  struct arena arena;
  const struct routes *routes;
  const struct type *value_type; /* NULL: values stay as they are */
  uint32_t nprocesses, npoints;
  uint32_t *family_of;           /* by point, or NO_FAMILY */
  bool *is_free;                 /* by point: to be told apart. Members of rings are placed before that */
  struct family *families;
  uint32_t nfamilies;
  uint32_t *rings, nrings;       /* among them */
  bool searches;                 /* some family is not plain */
  struct watched *watched;
  uint32_t nwatched;
  struct bare_ring *bare;        /* or NULL */

  struct views *views;           /* by table */
  VEC(struct mention) mentions;
  VEC(struct part) parts;
  VEC(struct mention) scratch;   /* while a content is looked at */
  VEC(struct channel_packet) packets;
  VEC(value) values;

  struct memo renamed;           /* (table and content, where its points go) -> content */
  struct intern *renamings;      /* of contents with many points */
  VEC(value) images;
  uint32_t *value_map;

  /* the row at hand */
  content *row, *leaf, *best;
  bool any;                      /* best is set */
  uint32_t *to, *best_to, *went;
  uint32_t *swap, *pair; /* by point: itself, but while points are tried in each other's place */
  VEC(struct link) links;
  uint32_t ntied;                /* the first of them tie several points together */
  VEC(struct partition) levels;
  uint32_t *path, *best_path;    /* the points that were told apart on the way, by level */
  uint32_t jump;                 /* a level: what is deeper is as what was tried there before */
  uint64_t *feed;                /* by point */
  struct keyed { uint64_t key; uint32_t at; } *keyed, *spare;
  uint32_t *members, *spare_members;
  bool indexed;                  /* mentioned_at is that of the row */
  uint32_t *mentioned_first;     /* by point */
  VEC(uint32_t) mentioned_at;    /* cells */
  uint32_t *parent, *bundle, *bundle_first, *bundle_size, *heads; /* bundles.c: all by point */
};

/* families.c: from the licences and the types alone. */
void families_find(struct canonical *);

/* mentions.c */
const struct view *view_make(struct canonical *, uint32_t cell, content);
static inline const struct view *view_of(struct canonical *k, uint32_t cell, content c) {
  const struct views *v = &k->views[k->cells->cell[cell].table];
  return c < v->n && v->at[c].key ? &v->at[c] : view_make(k, cell, c);
}
static inline const struct view *view_at(struct canonical *k, const struct watched *w, content c) {
  const struct views *v = &k->views[w->table];
  return c < v->n && v->at[c].key ? &v->at[c] : view_make(k, w->cell, c);
}
bool cell_may_mention(const struct canonical *, uint32_t cell, const struct family *); /* from the types alone */
/* Order by content, never by name: the same in every run. */
int content_compare_deeply(struct canonical *, uint32_t cell, content, content);
static inline int content_compare(struct canonical *k, uint32_t cell, content x, content y) {
  if (x == y)
    return 0;
  uint64_t kx = view_of(k, cell, x)->key, ky = view_of(k, cell, y)->key;
  return kx < ky ? -1 : kx > ky ? 1 : content_compare_deeply(k, cell, x, y);
}
/* Would the content be the same if these two points of a family changed places? */
bool content_likens(struct canonical *, uint32_t cell, content, uint32_t x, uint32_t y);
/* The content after its points went where `to` says. */
content content_renamed(struct canonical *, uint32_t cell, content, const uint32_t *to);
/* Where the cell's content goes. */
uint32_t cell_renamed(const struct canonical *, uint32_t cell, const uint32_t *to);

/* columns.c: sorts the members of a plain family. to, by point: those that moved are entered; may be NULL. */
void family_sort(struct canonical *, const struct family *, content *row, uint32_t *to);

/* refine.c */
void links_gather(struct canonical *);
void partition_begin(const struct canonical *, struct partition *); /* a class for each family */
void partition_copy(const struct canonical *, struct partition *, const struct partition *from);
void partition_single_out(struct partition *, uint32_t point);
/* Cuts a class into single points, in the order in which they stand. */
void partition_cut(struct partition *, uint32_t colour);
/* Splits classes until all points of a class are tied in the same way to the classes. fresh: what lies in a point's own
   cells has not been looked at either. */
void partition_refine(struct canonical *, struct partition *, bool fresh);

/* rings.c: which members of a ring may come first? Those that begin the least sequence of what lies at each: into
   family->turns, and how many. */
uint32_t ring_turns(struct canonical *, const struct partition *, struct family *);
void ring_place(struct partition *, const struct family *, uint32_t first);

/* Is that all there is to be renamed? Leaves canonical->bare NULL if not. */
void bare_ring_find(struct canonical *);
void bare_ring_release(struct canonical *);
size_t bare_ring_bytes(const struct canonical *);
/* The same form as the search would find, from what is remembered of contents. to, by point: where members went; may be
   NULL. False: several turns look the same, the search has to decide. */
bool bare_ring_form(struct canonical *, content *row, uint32_t *to);

/* bundles.c: classes whose points can change places, alone or together with others, without changing the row, are cut:
   all their orders are as good. */
void partition_settle(struct canonical *, struct partition *);
/* Is the row as it was if a[i] and b[i] change places, for all i? They are 2n different points. */
bool points_interchangeable(struct canonical *, const uint32_t *a, const uint32_t *b, uint32_t n);

#endif
