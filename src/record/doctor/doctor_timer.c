// SPDX-License-Identifier: GPL-2.0-or-later
/* tally doctor: timers inside the program. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record/doctor/doctor.h"
#include "record/timer/timer_library.h"

/* A file in memory that may be executed, reached as programs reach it. */
static const char *memory_refused(int *errnum)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("tally-doctor", MFD_CLOEXEC);
	const char *what = NULL;
	char path[64];
	void *p;

	*errnum = errno;
	if (fd < 0)
		return "memory for samples";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, (off_t)page) < 0 || access(path, R_OK) < 0)
		what = "/proc";
	p = what ? NULL : mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fd, 0);
	if (p == MAP_FAILED)
		what = "code in memory";
	*errnum = errno;
	if (p && p != MAP_FAILED)
		munmap(p, page);
	close(fd);
	return what;
}

static const char *refused(int *errnum)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	timer_t t;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &none, &t) < 0) {
		*errnum = errno;
		return "timers of CPU time";
	}
	timer_delete(t);
	return memory_refused(errnum);
}

void doctor_timer(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "source timer", DOCTOR_OK);
	struct timespec tick = { 0, 4000000 };
	const char *what;
	int errnum;

	if (!timer_library().size) {
		c->state = DOCTOR_NO;
		doctor_found(c, "not available on this architecture");
		return;
	}
	what = refused(&errnum);
	if (what) {
		c->state = DOCTOR_NO;
		doctor_found(c, "%s: %s", what, strerror(errnum));
		return;
	}
	d->own_timer = true;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	doctor_found(c, "dynamically linked programs started by tally can be "
		     "sampled by timers inside them, at up to %ld Hz",
		     tick.tv_nsec > 0 ? 1000000000l / tick.tv_nsec : 1l);
}
