/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_SOURCE_TYPE_H
#define TALLY_RECORD_SOURCE_SOURCE_TYPE_H
/* A kind of source: what --source names, and what chooses among them goes by. */
#include "record/source/doctor_check.h"
#include "record/source/options.h"
#include "record/source/source.h"

struct source_type {
	const char *name;	/* the word of --source */
	bool sees_kernel;	/* samples of kernel code have its addresses */
	/* Reads an interpreter's frames at the moment of a sample: of commands
	 * that tally starts; of processes that run already. */
	bool frames_of_launched, frames_of_running;
	/* Without opening anything: 0 if it may take such a target, else an error
	 * that says why not.  NULL: `open` finds out. */
	int (*fits)(const struct source_options *o, struct error *err);
	/* 0, or an error with *out NULL. */
	int (*open)(const struct source_target *target,
		    const struct source_options *o, struct source **out,
		    struct error *err);
	/* Adds a check: what this user can do with it on this machine. */
	void (*diagnose)(struct doctor *d);
};

#endif
