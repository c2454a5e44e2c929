/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_AUTO_H
#define TALLY_RECORD_SOURCE_AUTO_H
/* --source: which source of samples a recording gets. */
#include "record/source/options.h"
#include "record/source/source.h"
#include "record/record.h"

/* One line for the user when it is not the best there is: which was taken, and
 * what a better one needs; else "". */
struct source_choice {
	char text[1200];
};

int source_auto(enum record_source which, const struct source_target *target,
		const struct source_options *o, struct source **out,
		struct source_choice *why, struct error *err);

#endif
