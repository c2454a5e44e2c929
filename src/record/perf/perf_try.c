// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes samples for a moment to find out what works. */
#include "record/perf/perf_try.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "launch/proc_read.h"
#include "record/perf/perf_abi.h"
#include "record/perf/perf_ring.h"

enum { RING_BYTES = 32768, TRY_NS = 100000000, PERIOD_NS = 1000000 };
enum { UID_NOBODY = 65534 };

void perf_try_clock(struct perf_event_attr *a, bool with_kernel)
{
	memset(a, 0, sizeof(*a));
	a->size = PERF_ATTR_SIZE_TALLY;
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_CPU_CLOCK;
	a->sample_period = PERIOD_NS;
	a->exclude_kernel = !with_kernel;
	a->exclude_hv = !with_kernel;
}

int perf_try_open(struct perf_event_attr *a, const struct perf_scope *at)
{
	int fd;

	a->disabled = 1;
	fd = perf_sys_open(a, at);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* Counts the samples in the ring.  The records have equal sizes and none wraps,
 * because a trial ends before the ring is full. */
static void count_samples(struct perf_try *t, const struct perf_ring *ring)
{
	const struct perf_event_mmap_page *head = ring->page;
	const uint8_t *data = (const uint8_t *)ring->page +
			      (size_t)sysconf(_SC_PAGESIZE);
	uint64_t n = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);

	t->user = t->kernel = 0;
	if (n > ring->size)
		n = ring->size;
	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= n;) {
		struct perf_event_header h;

		memcpy(&h, data + at, sizeof(h));
		if (h.size < sizeof(h))
			break;
		if (h.type == PERF_RECORD_SAMPLE) {
			if ((h.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			    PERF_RECORD_MISC_KERNEL)
				t->kernel++;
			else
				t->user++;
		}
		at += h.size;
	}
}

static void work(bool in_kernel, int zero)
{
	static const size_t bytes = 65536;
	volatile unsigned int turns = 20000;

	if (in_kernel) {
		char *p = zero < 0 ? NULL : malloc(bytes);

		if (!p || read(zero, p, bytes) < 0)
			syscall(SYS_getppid);
		free(p);
		return;
	}
	while (turns)
		turns--;
}

static void sample(struct perf_try *t, int fd, const struct perf_ring *ring,
		   bool in_kernel)
{
	int zero = in_kernel ? open("/dev/zero", O_RDONLY | O_CLOEXEC) : -1;
	uint64_t end = clock_now() + TRY_NS;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	do {
		work(in_kernel, zero);
		count_samples(t, ring);
	} while (!(in_kernel ? t->kernel : t->user) && clock_now() < end);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (zero >= 0)
		close(zero);
}

void perf_try_run(struct perf_try *t, struct perf_event_attr *a,
		  const struct perf_scope *at, bool in_kernel)
{
	struct perf_ring ring = { .page = NULL };
	int fd;

	memset(t, 0, sizeof(*t));
	a->sample_type = PERF_SAMPLE_IP;
	a->disabled = 1;
	fd = perf_sys_open(a, at);
	if (fd < 0) {
		t->open_errno = -fd;
		return;
	}
	if (perf_ring_open(&ring, fd, RING_BYTES, NULL) < 0) {
		t->map_errno = errno;
	} else {
		sample(t, fd, &ring, in_kernel);
		perf_ring_close(&ring);
	}
	close(fd);
}

/* Changes to another user, reports it, and waits to be killed. */
static void become_other_user(int ready_fd)
{
	char c = 0;

	/* Changing the user clears this setting, so set it afterwards. */
	if (!setgid(UID_NOBODY) && !setuid(UID_NOBODY) &&
	    !prctl(PR_SET_PDEATHSIG, SIGKILL) && write(ready_fd, &c, 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

static pid_t start_other_user(void)
{
	int fds[2];
	pid_t pid;
	char c;

	if (geteuid() || pipe2(fds, O_CLOEXEC) < 0)
		return 0;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		become_other_user(fds[1]);
	}
	close(fds[1]);
	if (pid > 0 && read(fds[0], &c, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(fds[0]);
	return pid > 0 ? pid : 0;
}

/* Returns whether a process is another user's program.  Kernel threads have no
 * command line. */
static bool is_program_of_other(const char *name)
{
	struct buf b = { 0 };
	char path[64];
	uint64_t uid;
	bool yes;

	if (!proc_other_user((uint32_t)strtoul(name, NULL, 10), &uid))
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", name);
	yes = !io_read_file(path, 1 << 20, &b, NULL) && b.n;
	buf_fini(&b);
	return yes;
}

static void find_other_users(struct other_users *s)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && s->n < OTHER_USERS_MAX && (d = readdir(dir)))
		if (*d->d_name >= '1' && *d->d_name <= '9' &&
		    is_program_of_other(d->d_name))
			s->pid[s->n++] = (pid_t)strtol(d->d_name, NULL, 10);
	if (dir)
		closedir(dir);
}

void try_other_users(struct other_users *s)
{
	s->pid[0] = start_other_user();
	s->ours = s->pid[0] > 0;
	s->n = s->ours;
	if (!s->ours)
		find_other_users(s);
}

void try_other_users_end(struct other_users *s)
{
	if (!s->ours)
		return;
	kill(s->pid[0], SIGKILL);
	while (waitpid(s->pid[0], NULL, 0) < 0 && errno == EINTR)
		;
	s->n = 0;
}
