/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_RIGHTS_H
#define TALLY_RECORD_SOURCE_RIGHTS_H
/*
 * What decides whether this process may use perf events, and who said no when
 * it may not.  Settings only explain: what is allowed is found by trying.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIGHTS_UNKNOWN LONG_MIN

struct rights {
	uint64_t caps;		/* effective, as a set of bits */
	long paranoid, kptr_restrict;	/* RIGHTS_UNKNOWN without /proc */
	bool inner_users;	/* own user namespace: caps mean nothing here */
	bool inner_pids;	/* own pid namespace */
	bool root;
};

/* The number in /proc/sys/kernel/NAME, or `otherwise` if it cannot be read. */
long perf_sysctl(const char *name, long otherwise);

void rights_read(struct rights *r);
/* Does a capability (its number) count for the kernel as a whole? */
bool rights_has(const struct rights *r, int cap);
/* May use perf events whatever kernel.perf_event_paranoid is. */
bool rights_perfmon(const struct rights *r);
/* The capability that this kernel wants: CAP_SYS_ADMIN before Linux 5.8. */
const char *rights_perfmon_name(void);

enum denial {
	DENIED_NOT,		/* the call arrives; another reason */
	DENIED_ABSENT,		/* no perf events in this kernel */
	DENIED_FILTER,		/* a seccomp filter answers for the kernel */
	DENIED_LEVEL,		/* kernel.perf_event_paranoid */
	DENIED_POLICY,		/* a security module */
};

/* The number that an impossible call of perf_event_open fails with: EINVAL from
 * the kernel itself, anything else from a filter. */
int rights_reach(void);
/* The same, found in a child: a filter may kill the caller.
 * Returns that number, or the negative signal that ended the child. */
int rights_reach_in_child(void);
/* Who refused with `errnum` what paranoid <= `need` would allow? */
enum denial rights_denial(const struct rights *r, int errnum, int need);
/* The smallest change against it, "" if there is none. */
void rights_fix(const struct rights *r, enum denial d, int need, char *out,
		size_t size);
/* "sudo sysctl WHAT", and where that must be done. */
void rights_sysctl(const struct rights *r, const char *what, char *out,
		   size_t size);

#endif
