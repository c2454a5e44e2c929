// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks where tally runs (file systems, namespaces, filters) and where output goes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "events/events.h"
#include "events/pmu.h"
#include "record/doctor/doctor.h"
#include "record/perf/perf_open.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

enum { LITTLE_SPACE_MB = 64 };

static void try_capabilities(struct doctor *d)
{
	static const struct {
		int bit;
		const char *name;
	} known[] = {
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ CAP_SYSLOG, "CAP_SYSLOG" },
		{ CAP_IPC_LOCK, "CAP_IPC_LOCK" },
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE" },
	};
	struct doctor_check *c = doctor_add(d, "capabilities", DOCTOR_OK);
	bool any = false;

	for (size_t i = 0; i < COUNT(known); i++) {
		if (!(d->rights.caps >> known[i].bit & 1))
			continue;
		doctor_found(c, "%s%s", any ? " " : "", known[i].name);
		any = true;
	}
	if (!any)
		doctor_found(c, "none of those that tally could use");
	if (any && d->rights.inner_users) {
		doctor_state(c, DOCTOR_LIMITED, "; they belong to a user namespace and "
			     "do not count for perf events");
		doctor_fix(c, "run tally outside the user namespace");
	}
}

static void try_namespaces(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "namespaces", DOCTOR_OK);

	if (!d->rights.inner_users && !d->rights.inner_pids) {
		doctor_found(c, access("/proc/self/ns", F_OK)
			     ? "unknown without /proc"
			     : "the users and processes of the host");
		return;
	}
	doctor_state(c, DOCTOR_LIMITED, "own%s%s%s: ",
		     d->rights.inner_users ? " user IDs" : "",
		     d->rights.inner_users && d->rights.inner_pids ? " and" : "",
		     d->rights.inner_pids ? " process IDs" : "");
	doctor_found(c, d->rights.inner_pids
		     ? "-p and -t use the process IDs of this namespace and "
		       "reach only its processes"
		     : "only processes of this namespace's users");
	if (d->rights.inner_pids)
		doctor_fix(c, "to record others: run tally on the host, or in "
			   "a container with --pid=host");
}

/* prctl(2): 0 none, 2 a filter.  It works without /proc.  Under strict mode this code
 * cannot run. */
static void try_filter(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "system call filter", DOCTOR_OK);

	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		doctor_found(c, "none");
	else if (d->own_user)
		doctor_found(c, "a seccomp filter, which allows "
			     "perf_event_open");
	else
		doctor_found(c, "a seccomp filter");
}

static void try_proc(struct doctor *d)
{
	struct doctor_check *c;
	bool proc = !access("/proc/self/maps", R_OK);
	bool sys = !access("/sys/devices", R_OK);
	const char *sudo = d->rights.root ? "" : "sudo ";

	if (proc && sys)
		return;
	c = doctor_add(d, "/proc and /sys", DOCTOR_LIMITED);
	doctor_found(c, "%s not mounted: ", proc ? "/sys is" : sys ? "/proc is"
		     : "/proc and /sys are");
	if (!proc) {
		doctor_found(c, "no -p, no settings, no kernel names%s",
			     sys ? "" : "; ");
		doctor_fix(c, "%smount -t proc proc /proc", sudo);
	}
	if (!sys) {
		doctor_found(c, "no events of PMUs by name");
		doctor_fix(c, "%s%smount -t sysfs sysfs /sys",
			   *c->fix ? "; " : "", sudo);
	}
}

/* Tracepoints are hit in the kernel. */
static void found_tracepoint(struct doctor *d, struct doctor_check *c)
{
	if (d->own_kernel) {
		doctor_state(c, DOCTOR_OK, "sched:sched_switch can be sampled");
		return;
	}
	doctor_found(c, "they can be opened, but they are in the kernel, which "
		     "is not visible");
	doctor_fix_sysctl(d, c, "kernel.perf_event_paranoid=1");
}

static void try_tracepoints(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "tracepoints", DOCTOR_NO);
	struct event_list l = { 0 };
	struct error err = { 0 };
	const char *sudo = d->rights.root ? "" : "sudo ";

	if (!events_parse("sched:sched_switch", "/sys", &l, &err) &&
	    !event_usable(&l.v[0], &err)) {
		found_tracepoint(d, c);
	} else if (tracepoints_readable("/sys")) {
		doctor_found(c, "%s", err.msg);
	} else if (access("/sys/kernel/tracing/events", F_OK) &&
		   errno == ENOENT) {
		doctor_found(c, "/sys/kernel/tracing is empty");
		if (d->rights.inner_pids && !rights_has(&d->rights,
							CAP_SYS_ADMIN))
			doctor_fix(c, "docker or podman run -v /sys/kernel/"
				   "tracing:/sys/kernel/tracing:ro");
		else
			doctor_fix(c, "%smount -t tracefs tracefs "
				   "/sys/kernel/tracing", sudo);
	} else {
		doctor_found(c, "/sys/kernel/tracing may not be read");
		/* Since Linux 6.6 its files are accessible only to the group. */
		doctor_fix(c, "sudo mount -o remount,mode=750,gid=%lu "
			   "/sys/kernel/tracing", (unsigned long)getegid());
	}
	event_list_fini(&l);
}

void doctor_place(struct doctor *d)
{
	try_capabilities(d);
	try_filter(d);
	try_namespaces(d);
	try_proc(d);
	try_tracepoints(d);
}

/* Tries to write as record does: a new file, or an existing one. */
static int try_write(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/profile.tally", folder);
	if (!access(path, F_OK)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			return errno;
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/.tally-doctor.XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	unlink(path);
	return 0;
}

void doctor_output(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "output", DOCTOR_OK);
	struct statvfs fs;
	int e = try_write(d->folder);
	uint64_t mb = 0;

	if (e) {
		doctor_state(c, DOCTOR_NO, "profile.tally cannot be written here (%s)",
			     strerror(e));
		doctor_fix(c, "tally record -o /tmp/profile.tally");
		return;
	}
	doctor_found(c, "this directory is writable");
	if (statvfs(d->folder, &fs) < 0)
		return;
	mb = (uint64_t)fs.f_bavail * fs.f_frsize >> 20;
	doctor_found(c, ", %llu MB are free", (unsigned long long)mb);
	if (mb >= LITTLE_SPACE_MB)
		return;
	c->state = DOCTOR_LIMITED;
	doctor_fix(c, "free some space, or write elsewhere (tally record -o "
			"FILE)");
}
