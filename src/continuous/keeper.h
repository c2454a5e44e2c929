/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_KEEPER_H
#define TALLY_CONTINUOUS_KEEPER_H
/* The keeper process: reads finished files and pushes their content. */
#include "continuous/continuous.h"
#include "symbolize/symbol_cache.h"

/* Runs until SIGTERM or SIGINT, which must be blocked, or until a pipe is closed.
 * Reports its state through report_fd.  Reads the files that are finished at that
 * time before it returns.  `symbols` may be NULL.  Returns an error if pushing cannot
 * begin. */
int keeper_run(const struct continuous_options *o, const struct symbol_cache *symbols,
	       int dir, int report_fd, struct error *err);

#endif
