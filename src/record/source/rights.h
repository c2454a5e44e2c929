/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_RIGHTS_H
#define TALLY_RECORD_SOURCE_RIGHTS_H
/*
 * Decides whether this process may use perf events, and what refused them if not.
 * Settings only explain a refusal: tally finds what is allowed by trying.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIGHTS_UNKNOWN LONG_MIN

struct rights {
	uint64_t caps;		/* effective capabilities, as a set of bits */
	long paranoid, kptr_restrict;	/* RIGHTS_UNKNOWN without /proc */
	bool inner_users;	/* own user namespace: caps have no effect on the
				 * kernel here */
	bool inner_pids;	/* own pid namespace */
	bool root;
	bool own_allowed;	/* own programs above level 2, without capabilities:
				 * this kernel does not refuse everything there */
};

/* Returns the number in /proc/sys/kernel/NAME, or `otherwise` if it cannot be read. */
long perf_sysctl(const char *name, long otherwise);

void rights_read(struct rights *r);
/* Returns whether capability number `cap` applies to the kernel as a whole. */
bool rights_has(const struct rights *r, int cap);
/* Returns whether the process may use perf events at each level up to 2 of
 * kernel.perf_event_paranoid. */
bool rights_perfmon(const struct rights *r);
/* Returns the name of the capability that this kernel requires: CAP_SYS_ADMIN before
 * Linux 5.8. */
const char *rights_perfmon_name(void);

/* Returns the name of the capability that overrides the level of
 * kernel.perf_event_paranoid: CAP_SYS_ADMIN above 2 if this kernel refuses all other
 * users there, as Debian's and Ubuntu's do. */
const char *rights_above(const struct rights *r);

enum denial {
	DENIED_NOT,		/* the kernel refused the call for another reason */
	DENIED_ABSENT,		/* this kernel has no perf events */
	DENIED_FILTER,		/* a seccomp filter refused the call */
	DENIED_LEVEL,		/* kernel.perf_event_paranoid */
	DENIED_POLICY,		/* a security module */
};

/* Returns the error number of a perf_event_open call that can never succeed: EINVAL
 * from the kernel itself, anything else from a filter. */
int rights_reach(void);
/* Does the same in a child process, because a filter may kill the caller.  Returns
 * that number, or the negative signal that ended the child. */
int rights_reach_in_child(void);
/* Returns whether a system call filter kills callers of bpf(2). */
bool rights_bpf_kills(void);
/* Returns what refused, with `errnum`, a call that paranoid <= `need` would allow. */
enum denial rights_denial(const struct rights *r, int errnum, int need);
/* Writes the smallest change that lifts the denial, "" if there is none. */
void rights_fix(const struct rights *r, enum denial d, int need, char *out,
		size_t size);
/* Writes "sudo sysctl WHAT", and where to run it. */
void rights_sysctl(const struct rights *r, const char *what, char *out,
		   size_t size);

#endif
