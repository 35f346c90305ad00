/* Types of a model whose parameters have values, so every bound is a number. */
#ifndef RONDO_MODEL_TYPE_H
#define RONDO_MODEL_TYPE_H

#include "base/arena.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum type_kind {
  TYPE_BOOL,
  TYPE_INT,      /* unbounded: results of arithmetic, never stored */
  TYPE_RANGE,    /* lo..hi */
  TYPE_ENUM,     /* labels[0..size) */
  TYPE_PROCESS,  /* identities: of one role, or of any if role is ROLE_ANY */
  TYPE_ROUND,    /* round and phase numbers: compared, copied, advanced */
  TYPE_OPTION,   /* element? */
  TYPE_SET,      /* set of element */
  TYPE_RECORD,   /* fields */
  TYPE_ARRAY,    /* [index] element */
  TYPE_SEQUENCE, /* seq of element up to length [distinct] */
  TYPE_BAG,      /* only of `received`: element is the message type */
  TYPE_ERROR     /* of expressions that were reported already; compatible with everything */
};

#define ROLE_ANY UINT32_MAX

struct field_type {
  const char *name;
  const struct type *type;
};

struct type {
  enum type_kind kind;
  uint32_t id;                /* its place in model->types */
  const char *name;           /* of the `type` declaration, or NULL */
  struct span at;             /* of the declaration */
  bool unordered;             /* `unordered`: order comparisons are type errors */
  bool distinct;              /* SEQUENCE */
  int64_t lo, hi;             /* RANGE; SEQUENCE: hi is the longest length */
  const char **labels;        /* ENUM */
  uint32_t size;              /* ENUM: labels; RECORD: fields */
  uint32_t role;              /* PROCESS */
  const struct type *element; /* OPTION, SET, ARRAY, SEQUENCE, BAG */
  const struct type *index;   /* ARRAY */
  struct field_type *fields;  /* RECORD */
  /* Filled by type_finish: */
  uint64_t count; /* how many values, UINT64_MAX if too many or unbounded */
  bool mask;      /* SET: kept as a bit mask over the element's indices (at most 62 of them) */
  int64_t first;  /* PROCESS: identity with index 0 */
};

/* RECORD, ARRAY, SEQUENCE, BAG: the type of the i-th part. */
static inline const struct type *type_part(const struct type *t, size_t i) {
  return t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
}

#endif
