/* Random walks that name most contents before the first key layout. */
#ifndef RONDO_STEPS_SAMPLE_CONTENTS_H
#define RONDO_STEPS_SAMPLE_CONTENTS_H

struct step_system;

void sample_contents(struct step_system *);

#endif
