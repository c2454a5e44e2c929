/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_CHOOSE_SOURCES_H
#define TALLY_RECORD_CHOOSE_SOURCES_H
/*
 * All sources of samples, and which of them a recording gets.  A new source is a
 * struct source_type of its own, a row here and a word in the help of --source.
 */
#include "base/buf.h"
#include "record/source/source_type.h"

/* In the order that --source=auto tries them; NULL at the end. */
extern const struct source_type *const source_types[];

/* By name; NULL if there is none. */
const struct source_type *source_find(const char *name);
/* Appends "auto, perf, … or ptrace". */
void source_names(struct buf *out);

/* One line for the user when it is not the best there is: which was taken, and
 * what a better one needs; else "". */
struct source_choice {
	char text[1200];
};

/* Opens a source of that type, or with NULL the first of source_types that can
 * record this: those that see the kernel first; without the right to use one of
 * them, the others, unless nothing but kernel code is asked for. */
int source_open(const struct source_type *which,
		const struct source_target *target,
		const struct source_options *o, struct source **out,
		struct source_choice *why, struct error *err);

#endif
