// SPDX-License-Identifier: GPL-2.0-or-later
/* Explains why a process may not be traced. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/proc_read.h"
#include "record/ptrace/ptrace_internal.h"
#include "record/source/rights.h"

int ptrace_scope(void)
{
	return (int)perf_sysctl("yama/ptrace_scope", -1);
}

static bool not_dumpable(pid_t pid, uint64_t uid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	return !stat(path, &st) && st.st_uid != uid;
}

static int by_yama(pid_t tid, int scope, bool ours, struct error *err)
{
	struct rights r;
	char fix[200];

	rights_read(&r);
	if (scope >= 3)
		return error_set(err, ERR_PERM, "ptrace is switched off: kernel."
				 "yama.ptrace_scope is 3, until the next boot");
	rights_sysctl(&r, ours ? "kernel.yama.ptrace_scope=1"
			       : "kernel.yama.ptrace_scope=0",
		      fix, sizeof(fix));
	if (scope == 2)
		return error_set(err, ERR_PERM, "process %d may not be traced: "
				 "kernel.yama.ptrace_scope is 2 and CAP_SYS_"
				 "PTRACE is missing (%s)", (int)tid, fix);
	return error_set(err, ERR_PERM, "process %d may not be traced: kernel."
			 "yama.ptrace_scope is 1, which allows only what tally "
			 "starts itself (tally record -- COMMAND), and "
			 "CAP_SYS_PTRACE is missing (%s)", (int)tid, fix);
}

static int by_permission(pid_t tid, bool ours, struct error *err)
{
	uint64_t tracer = proc_status_of((uint32_t)tid, "TracerPid", 0), uid;
	int scope = ptrace_scope();
	struct buf name = { 0 };
	struct rights r;
	int rc;

	if (tracer) {
		proc_name((uint32_t)tracer, "another program", &name);
		rc = error_set(err, ERR_PERM, "process %d is already traced by "
			       "%s (process %llu): end that program first",
			       (int)tid,
			       buf_cstr(&name) ? buf_cstr(&name) : "",
			       (unsigned long long)tracer);
		buf_fini(&name);
		return rc;
	}
	rights_read(&r);
	if (proc_other_user((uint32_t)tid, &uid) && !(r.caps >> CAP_SYS_PTRACE & 1))
		return error_set(err, ERR_PERM, "process %d belongs to another "
				 "user (%llu): sudo tally record -p %d, or add "
				 "the capability CAP_SYS_PTRACE", (int)tid,
				 (unsigned long long)uid, (int)tid);
	if (scope > 0 && !(r.caps >> CAP_SYS_PTRACE & 1))
		return by_yama(tid, scope, ours, err);
	if (not_dumpable(tid, uid))
		return error_set(err, ERR_PERM, "process %d may not be traced: "
				 "it is not dumpable (it changed its user, may "
				 "not be read, or said so by prctl): sudo tally "
				 "record -p %d", (int)tid, (int)tid);
	if (proc_status_of((uint32_t)tid, "Kthread", 0))
		return error_set(err, ERR_PERM, "process %d is a kernel "
				 "thread, which only perf events can sample",
				 (int)tid);
	return error_set(err, ERR_PERM, "process %d may not be traced: a "
			 "seccomp filter, a security module or a user namespace "
			 "forbids ptrace (docker or podman run --cap-add="
			 "SYS_PTRACE)", (int)tid);
}

int ptrace_refused(int errnum, pid_t tid, bool ours, struct error *err)
{
	if (errnum == ESRCH)
		return error_set(err, ERR_NOTFOUND, "no thread %d", (int)tid);
	if (errnum == ENOSYS)
		return error_set(err, ERR_PERM, "ptrace is refused by a seccomp "
				 "filter: docker or podman run --cap-add="
				 "SYS_PTRACE");
	if (errnum != EPERM && errnum != EACCES)
		return error_errno(err, errnum, "cannot trace process %d",
				   (int)tid);
	return by_permission(tid, ours, err);
}
