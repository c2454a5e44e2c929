/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_SOURCE_TYPE_H
#define TALLY_RECORD_SOURCE_SOURCE_TYPE_H
/* A kind of source: its name for --source and the properties by which one is chosen. */
#include "record/source/doctor_check.h"
#include "record/source/options.h"
#include "record/source/source.h"

struct source_type {
	const char *name;	/* name for --source */
	bool sees_kernel;	/* samples of kernel code carry its addresses */
	/* Reads an interpreter's frames at the moment of a sample: for commands that
	 * tally starts; for processes that already run. */
	bool frames_of_launched, frames_of_running;
	/* Checks, without opening anything, whether the source may take such a
	 * target.  Returns 0, or an error that says why not.  NULL: `open` finds
	 * out. */
	int (*fits)(const struct source_options *o, struct error *err);
	/* Returns 0, or an error with *out set to NULL. */
	int (*open)(const struct source_target *target,
		    const struct source_options *o, struct source **out,
		    struct error *err);
	/* Adds a check of what this user can do with the source on this machine. */
	void (*diagnose)(struct doctor *d);
};

#endif
