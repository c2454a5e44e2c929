/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_DOCTOR_DOCTOR_H
#define TALLY_RECORD_DOCTOR_DOCTOR_H
/*
 * What this user can record on this machine, found by doing it for a moment:
 * opening events, mapping rings, taking samples, reading files.  Settings only
 * explain what failed and name the smallest change.
 */
#include "base/error.h"
#include "base/vec.h"
#include "record/source/rights.h"

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_NO };

struct doctor_check {
	const char *name;
	enum doctor_state state;
	char found[600];
	char fix[600];		/* "" where there is none or none is needed */
};

struct doctor {
	bool own_user, own_kernel;	/* own programs: user code, + kernel */
	bool own_timer, own_ptrace;	/* … without perf events: these */
	bool others;			/* processes of other users */
	bool system;			/* the whole machine */
	bool counters;			/* hardware counters */
	bool kernel_names;
	bool others_closed;		/* what they mapped may not be read */
	struct rights rights;
	const char *folder;		/* where a recording would be written */
	VEC(struct doctor_check) checks;
	bool failed;			/* out of memory */
};

/* Tries everything; -ERR_NOMEM is the only error. */
int doctor_run(struct doctor *d, const char *folder, struct error *err);
void doctor_fini(struct doctor *d);

/* A new check at the end of the list, or a spare one when out of memory. */
struct doctor_check *doctor_add(struct doctor *d, const char *name,
				enum doctor_state state);
void doctor_found(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_fix(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The groups of checks, in the order that they are shown. */
void doctor_programs(struct doctor *d);		/* doctor_perf.c */
void doctor_sources(struct doctor *d);		/* doctor_sources.c */
void doctor_timer(struct doctor *d);		/* doctor_timer.c */
void doctor_counters(struct doctor *d);		/* doctor_counters.c */
void doctor_limits(struct doctor *d);		/* doctor_limits.c */
void doctor_kernel_names(struct doctor *d);	/* doctor_names.c */
void doctor_debug_files(struct doctor *d);
void doctor_place(struct doctor *d);		/* doctor_place.c */
void doctor_output(struct doctor *d);

#endif
