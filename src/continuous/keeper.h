/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_KEEPER_H
#define TALLY_CONTINUOUS_KEEPER_H
/* Reads finished files, and pushes what they hold. */
#include "continuous/continuous.h"

/* Runs until SIGTERM or SIGINT, which must be blocked, or a closed pipe ends it;
 * tells by report_fd how it does.  The files that are finished then are still read.
 * An error where pushing cannot begin. */
int keeper_run(const struct continuous_options *o, int dir, int report_fd,
	       struct error *err);

#endif
