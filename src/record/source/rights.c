// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the settings that control perf events. */
#include "record/source/rights.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "launch/proc_read.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* The initial namespace has a fixed inode (include/linux/proc_ns.h). */
#define FIRST_USER_NS 0xeffffffdu

long perf_sysctl(const char *name, long otherwise)
{
	char path[128], *end;
	struct buf b = { 0 };
	long v = otherwise;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (!io_read_file(path, 64, &b, NULL)) {
		const char *s = buf_cstr(&b);

		v = strtol(s, &end, 10);
		if (end == s)
			v = otherwise;
	}
	buf_fini(&b);
	return v;
}

static uint64_t caps_effective(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capget, &h, d) < 0)
		return 0;
	return d[0].effective | (uint64_t)d[1].effective << 32;
}

/* An unknown namespace counts as the initial one. */
static bool in_inner_users(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != FIRST_USER_NS;
}

/* Returns whether the kernel lets this process sample itself.  A filter may kill who
 * asks; then it is not asked. */
static bool may_sample_itself(void)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = rights_reach_in_child() != EINVAL ? -1
		: (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
			       PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void rights_read(struct rights *r)
{
	r->caps = caps_effective();
	r->paranoid = perf_sysctl("perf_event_paranoid", RIGHTS_UNKNOWN);
	r->kptr_restrict = perf_sysctl("kptr_restrict", RIGHTS_UNKNOWN);
	r->inner_users = in_inner_users();
	r->inner_pids = !proc_first_pid_namespace();
	r->root = !geteuid();
	r->own_allowed = r->paranoid > 2 && !rights_has(r, CAP_SYS_ADMIN) &&
			 may_sample_itself();
}

bool rights_has(const struct rights *r, int cap)
{
	return !r->inner_users && (r->caps >> cap & 1);
}

bool rights_perfmon(const struct rights *r)
{
	return rights_has(r, CAP_PERFMON) || rights_has(r, CAP_SYS_ADMIN);
}

const char *rights_perfmon_name(void)
{
	return prctl(PR_CAPBSET_READ, CAP_PERFMON, 0, 0, 0) < 0
	       ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
}

/* Some kernels refuse everything above 2 (perf_paranoid_any()); others have no such
 * level. */
static bool refuses_all(const struct rights *r)
{
	return r->paranoid > 2 && !r->own_allowed;
}

const char *rights_above(const struct rights *r)
{
	return refuses_all(r) ? "CAP_SYS_ADMIN" : rights_perfmon_name();
}

/*
 * The kernel rejects unknown flags before all other checks, including the checks
 * added by some distributions (perf_event_open, kernel/events/core.c).
 */
int rights_reach(void)
{
	struct perf_event_attr a = { .size = sizeof(a) };

	if (syscall(SYS_perf_event_open, &a, 0, -1, -1, ~0ul) >= 0)
		return 0;
	return errno;
}

/* Makes a call in a child, because a filter may kill the caller.  Returns its result, from 0
 * to 255, or minus the signal that killed it. */
static int in_child(int (*call)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(call() & 0xff);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			pid = -1;
	if (pid < 0)	/* without a child, do not try where it may kill the caller */
		return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER
		       ? -SIGSYS : call();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int rights_reach_in_child(void)
{
	return in_child(rights_reach);
}

/* No command has this number. */
static int try_bpf(void)
{
	return syscall(SYS_bpf, INT_MAX, NULL, 0) < 0;
}

bool rights_bpf_kills(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER &&
	       in_child(try_bpf) < 0;
}

enum denial rights_denial(const struct rights *r, int errnum, int need)
{
	int reach = rights_reach();

	/* The file exists if the kernel has perf events (perf_event_open(2), NOTES). */
	if (reach == ENOSYS)
		return r->paranoid == RIGHTS_UNKNOWN ? DENIED_ABSENT
						     : DENIED_FILTER;
	if (reach != EINVAL)
		return DENIED_FILTER;
	if (errnum != EACCES && errnum != EPERM)
		return DENIED_NOT;
	if (refuses_all(r))
		return rights_has(r, CAP_SYS_ADMIN) ? DENIED_POLICY
						    : DENIED_LEVEL;
	return rights_perfmon(r) || (r->paranoid != RIGHTS_UNKNOWN &&
				     r->paranoid <= need)
	       ? DENIED_POLICY : DENIED_LEVEL;
}

/* Returns whether tally runs in a container.  There the setting is the host's, and
 * /proc/sys is read-only. */
static bool is_container(const struct rights *r)
{
	struct statvfs fs;

	return r->inner_users || r->inner_pids ||
	       (!statvfs("/proc/sys", &fs) && fs.f_flag & ST_RDONLY);
}

void rights_sysctl(const struct rights *r, const char *what, char *out,
		   size_t size)
{
	bool outside = is_container(r);

	snprintf(out, size, "%ssysctl %s%s", r->root && !outside ? "" : "sudo ",
		 what, outside ? " (on the host, outside this container)" : "");
}

void rights_fix(const struct rights *r, enum denial d, int need, char *out,
		size_t size)
{
	char what[64];

	snprintf(out, size, "%s", "");
	switch (d) {
	case DENIED_ABSENT:
		snprintf(out, size, "boot a kernel with CONFIG_PERF_EVENTS=y");
		break;
	case DENIED_FILTER:
		snprintf(out, size, "let the filter pass perf_event_open: "
			 "docker or podman run %s; systemd "
			 "SystemCallFilter=perf_event_open",
			 /* the filter does not depend on the capability */
			 rights_perfmon(r) ? "--security-opt seccomp=unconfined"
					   : "--cap-add=PERFMON");
		break;
	case DENIED_LEVEL:
		snprintf(what, sizeof(what), "kernel.perf_event_paranoid=%d",
			 need);
		rights_sysctl(r, what, out, size);
		break;
	case DENIED_POLICY:
		snprintf(out, size, "allow perf_event in the security module's "
			 "policy (SELinux: class perf_event; see the audit "
			 "log)");
		break;
	case DENIED_NOT:
		break;
	}
}
