/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_DOCTOR_CHECK_H
#define TALLY_RECORD_SOURCE_DOCTOR_CHECK_H
/* The findings of `tally doctor`: a list of checks, to which sources add their own. */
#include "base/vec.h"
#include "record/source/rights.h"

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_NO };

struct doctor_check {
	const char *name;
	enum doctor_state state;
	char found[600];
	char fix[600];		/* smallest fix; "" if there is none or none is
				 * needed */
};

struct doctor {
	bool own_user, own_kernel;	/* own programs with perf events: user code,
					 * kernel code */
	bool own_timer, own_ptrace;	/* own programs without perf events: by timer,
					 * by ptrace */
	bool others;			/* processes of other users */
	bool system;			/* the whole machine */
	bool counters;			/* hardware counters */
	bool kernel_names;
	bool others_closed;		/* mappings of other users' processes may not
					 * be read */
	struct rights rights;
	const char *folder;		/* directory in which a recording would be
					 * written */
	VEC(struct doctor_check) checks;
	bool failed;			/* out of memory */
};

/* Appends a check to the list and returns it; when out of memory, the last one. */
struct doctor_check *doctor_add(struct doctor *d, const char *name,
				enum doctor_state state);
void doctor_found(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Changes the state, and adds to what was found. */
void doctor_state(struct doctor_check *c, enum doctor_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds the command that changes a kernel setting, "sudo sysctl WHAT". */
void doctor_fix_sysctl(const struct doctor *d, struct doctor_check *c,
		       const char *what);

#endif
