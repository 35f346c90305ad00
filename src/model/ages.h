/* Numbers of phases as ages: the types that lang/coordinator_view.h puts in the place of `round`. */
#ifndef RONDO_MODEL_AGES_H
#define RONDO_MODEL_AGES_H

#define AGE_TYPE "(age)"
/* From before a phase that is fixed for the run; since then; the number of this phase. */
enum age { AGE_OLD, AGE_SINCE, AGE_THIS_PHASE };

#endif
