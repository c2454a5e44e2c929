// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads the module, has somebody record, kills the recorder at any moment and unloads
 * the module, again and again.
 *
 * The recorder is mostly a process of this program, which starts in no time, and for one
 * round in eight tally itself; mostly by counters where the module has some.  It says how
 * much memory the kernel holds after the first rounds and in the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod_torture.h"

enum { TALLY_EACH = 8, WARM = 50, PATIENCE = 20000 };

struct reload {
	uint64_t random;
	const char *module;
	char *tally;
	uint32_t counters;	/* source of them, or 0 */
	unsigned long killed_early, killed, waited;
};

static bool load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fine = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;

	if (fd >= 0)
		close(fd);
	return fine;
}

/* A file that is closed by a process that has ended is closed at once. */
static bool unload(struct reload *r)
{
	for (int i = 0; i < 1000; i++) {
		if (syscall(SYS_delete_module, "tally", O_NONBLOCK) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EBUSY)
			return false;
		r->waited++;
		nap(2000000);
	}
	return false;
}

/* How many files of the module are open, and maps of them. */
static int users(void)
{
	char text[32] = "";
	int fd = open("/sys/module/tally/refcnt", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = 0;
	close(fd);
	return atoi(text);
}

/* One recording, of some kind, that goes on for ever. */
static void record(uint64_t which, uint32_t counters)
{
	static const struct {
		uint32_t source, type;
		uint64_t config, period;
		uint32_t flags, copy;
	} rows[] = {
		{ TALLY_TIMER, 0, 0, 1000000, 0, 0 },
		{ TALLY_TIMER, 0, 0, 100000, 0, 8192 },
		{ TALLY_TIMER, 0, 0, 100000, TALLY_SETUP_TASKS, 0 },
		{ TALLY_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
		  200000, TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS, 8192 },
		{ TALLY_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1,
		  TALLY_SETUP_TASKS, 0 },
		{ TALLY_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
		  1, 0, 0 },
		{ TALLY_TIMER, 0, 0, 1000000, TALLY_SETUP_WAITS | TALLY_SETUP_WAKES,
		  0 },
		{ TALLY_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
		  1000000, TALLY_SETUP_WAITS | TALLY_SETUP_WAKES |
		  TALLY_SETUP_TASKS | TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS,
		  RING / 8 },
	};
	size_t i = which % (sizeof(rows) / sizeof(rows[0]));
	struct tally_setup s = plain_setup();
	uint32_t self = (uint32_t)getpid();
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 1, .tids = (uintptr_t)&self,
	};
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (rows[i].source == TALLY_PERF)
		by_kernel(&s, rows[i].type, rows[i].config);
	s.events[0].period = rows[i].period;
	s.flags |= rows[i].flags;
	s.copy_bytes = rows[i].copy;
	if (s.flags & TALLY_SETUP_WAITS) {
		s.wait_bytes = RING;
		s.wait_copy_bytes = s.copy_bytes;
	}
	if (counters && rows[i].source == TALLY_TIMER)
		by_counters(&s, counters);
	if (fd < 0 || ioctl(fd, TALLY_IOC_SETUP, &s) < 0 ||
	    (s.flags & TALLY_SETUP_TASKS &&
	     ioctl(fd, TALLY_IOC_TASKS, &tasks) < 0) ||
	    mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + RING,
		 PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ||
	    ioctl(fd, TALLY_IOC_START, 0) < 0)
		_exit(1);
	for (;;) {
		char *p = malloc(1 << 16);

		if (p)
			memset(p, 1, 1 << 16);
		free(p);
		if (s.flags & TALLY_SETUP_WAITS)
			nap(1000);
		else
			getppid();
	}
}

static void record_by_tally(char *tally, uint64_t which)
{
	char *rows[][6] = {
		{ "-a" }, { "-a", "--call-graph=fp" }, { "-a", "-g" },
		{ "-a", "-g", "-e", "cpu-clock,page-faults" },
		{ "-a", "-F", "5000" }, { "-a", "-g", "--wait" },
	};
	char *argv[12] = { tally, "record", "-q", "--source=kmod", "-o",
			   "reload.tally" };
	size_t n = 6, row = which % (sizeof(rows) / sizeof(rows[0]));

	for (size_t i = 0; i < 6 && rows[row][i]; i++)
		argv[n++] = rows[row][i];
	execv(tally, argv);
	_exit(127);
}

/* Kills the recorder as it runs, or in one of four cases as it starts. */
static const char *one_round(struct reload *r, unsigned long n)
{
	uint64_t which = roll(&r->random), wait = roll(&r->random);
	bool tally = n % TALLY_EACH == 0, early = roll(&r->random) % 4 == 0;
	pid_t pid;

	if (!load(r->module))
		return "load";
	r->counters = counters_here();
	pid = fork();
	if (!pid) {
		if (tally)
			record_by_tally(r->tally, which);
		record(which, which / 64 % 4 ? r->counters : 0);
	}
	if (pid < 0)
		return "fork";
	for (int i = 0; !early && users() < 1; i++) {
		if (i == PATIENCE || waitpid(pid, NULL, WNOHANG) == pid)
			return "nobody records";
		nap(1000000);
	}
	nap((long)(wait % (tally && early ? 400000000 : 10000000)));
	if (kill(pid, SIGKILL) < 0 || waitpid(pid, NULL, 0) != pid)
		return "kill";
	r->killed++;
	r->killed_early += early;
	return unload(r) ? NULL : "unload";
}

/* Prints some rows of /proc/meminfo; returns kilobytes that the kernel holds. */
static long kept(bool print)
{
	static const char *const names[] = {
		"SUnreclaim:", "VmallocUsed:", "Percpu:", "KernelStack:",
		"PageTables:", "MemAvailable:",
	};
	enum { HELD = 5 };
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	long sum = 0;

	while (f && fgets(line, sizeof(line), f))
		for (int i = 0; i <= HELD; i++) {
			long kb = atol(line + strcspn(line, " "));

			if (strncmp(line, names[i], strlen(names[i])) != 0)
				continue;
			if (print)
				printf(" %s %ld", names[i], kb);
			sum += i < HELD ? kb : 0;
		}
	if (f)
		fclose(f);
	return sum;
}

/* Freed memory that waits for a grace period is not kept. */
static long kept_quiet(bool print)
{
	sleep(6);
	put("/proc/sys/vm/drop_caches", "3");
	return kept(print);
}

int memory(const char *when)
{
	printf("%s: kB:", when);
	printf(", held %ld\n", kept_quiet(true));
	return 0;
}

int reload(unsigned long n, uint64_t seed, const char *module, char *tally)
{
	struct reload r = {
		.random = seeded(seed, 0), .module = module, .tally = tally,
	};
	const char *bad = NULL;
	long before = 0;
	unsigned long i;

	printf("seed %" PRIu64 "\n", seed);
	for (i = 0; i < n && !bad; i++) {
		if (i == WARM)
			before = kept_quiet(false);
		bad = one_round(&r, i);
		if (i && i % 100 == 0) {
			printf("%lu rounds, %ld kB kept\n", i, kept(false));
			fflush(stdout);
		}
	}
	if (bad)
		printf("round %lu: %s: %s\n", i - 1, bad, strerror(errno));
	if (before)
		printf("kept: %ld kB after %d rounds, %ld kB in the end\n", before,
		       WARM, kept_quiet(false));
	printf("%lu rounds: %lu killed, %lu of them as they started, waited %lu "
	       "times to unload\n", i - (bad != NULL), r.killed, r.killed_early,
	       r.waited);
	return bad != NULL;
}
