/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_CHOOSE_SOURCES_H
#define TALLY_RECORD_CHOOSE_SOURCES_H
/*
 * All sources of samples, and the choice of one for a recording.  To add a source,
 * write its struct source_type, a row here and a word in the help of --source.
 */
#include "base/buf.h"
#include "record/source/source_type.h"

/* All sources in the order that --source=auto tries them; NULL at the end. */
extern const struct source_type *const source_types[];

/* Returns the source of this name, or NULL. */
const struct source_type *source_find(const char *name);
/* Appends "auto, perf, … or ptrace". */
void source_names(struct buf *out);

/* One line for the user if the source is not the best: which source was chosen, and
 * what a better one needs.  Otherwise "". */
struct source_choice {
	char text[1200];
};

/* Opens a source of type `which`, or with NULL the first of source_types that can
 * record this target.  Sources that see the kernel come first.  Without the right to
 * use one of them, the others follow, unless only kernel code is requested. */
int source_open(const struct source_type *which,
		const struct source_target *target,
		const struct source_options *o, struct source **out,
		struct source_choice *why, struct error *err);

#endif
