/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_DOCTOR_CHECK_H
#define TALLY_RECORD_SOURCE_DOCTOR_CHECK_H
/* What `tally doctor` finds: the list of checks, which sources add to, too. */
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

/* A new check at the end of the list, or a spare one when out of memory. */
struct doctor_check *doctor_add(struct doctor *d, const char *name,
				enum doctor_state state);
void doctor_found(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_fix(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
