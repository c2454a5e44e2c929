// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of the module's device that no honest program makes: by root, by a user with
 * CAP_PERFMON alone, and by one without rights who was given an open file.  Of each, three
 * threads share files, maps and memory, and take them from each other.
 *
 * A table says what is done; kmod_calls.c has that of ioctls.  Each thread's calls are
 * those of its seed, but not the order in which threads get to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod_hostile.h"

static const char *const who_names[] = { "root", "CAP_PERFMON", "plain user" };

/* ---- files ---- */

/* One from the process that gives; a plain user cannot open the device. */
static int given(struct gang *g)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(g->giver, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Some kernels let no user without rights set up a recording of the kernel. */
static void set_up(int fd, unsigned int way)
{
	struct tally_setup s = plain_setup();

	s.events[0].period = 20000000;
	if (way % 2) {
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
		if (way % 4 == 1) {
			s.flags |= TALLY_SETUP_WAITS | TALLY_SETUP_WAKES;
			s.wait_bytes = RING;
		}
	} else {
		by_kernel(&s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
		s.flags |= TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS;
		s.copy_bytes = 4096;
	}
	ioctl(fd, TALLY_IOC_SETUP, &s);
}

static void give(int to)
{
	for (unsigned int i = 0;; i++) {
		union {
			struct cmsghdr head;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control = { .head = {
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		} };
		char byte = 0;
		struct iovec io = { &byte, 1 };
		struct msghdr m = {
			.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

		if (fd < 0)
			_exit(1);
		if (i % 2)
			set_up(fd, i / 2);
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		if (sendmsg(to, &m, MSG_NOSIGNAL) != 1)
			_exit(0);
		close(fd);
	}
}

static void put_file(struct gang *g, unsigned int i, int fd)
{
	int was = atomic_exchange(&g->fd[i], fd);

	if (was >= 0)
		close(was);
}

static int fresh_file(struct hostile *h)
{
	static const int ways[] = {
		O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY | O_NONBLOCK,
		O_RDWR | O_APPEND | O_DIRECT,
	};
	int fd = open(TALLY_DEVICE, ways[some(h, 6)] | O_CLOEXEC);

	if (h->g->who != PLAIN)
		return fd;
	if (fd >= 0 || errno != EPERM)
		atomic_fetch_add(&h->g->granted, 1);
	if (fd >= 0)
		close(fd);
	return given(h->g);
}

static void op_reopen(struct hostile *h)
{
	put_file(h->g, (unsigned int)some(h, FDS), fresh_file(h));
}

static void op_dup(struct hostile *h)
{
	int fd = fcntl(some_fd(h), F_DUPFD_CLOEXEC, 3);

	put_file(h->g, (unsigned int)some(h, FDS), fd);
}

static void op_close(struct hostile *h)
{
	put_file(h->g, (unsigned int)some(h, FDS), -1);
}

static void op_poll(struct hostile *h)
{
	struct pollfd p[FDS];

	for (unsigned int i = 0; i < FDS; i++)
		p[i] = (struct pollfd){ atomic_load(&h->g->fd[i]),
					(short)roll(&h->random), 0 };
	poll(p, FDS, some(h, 16) ? 0 : 1);
}

/* What the device does not do, or the kernel does for it. */
static void op_other(struct hostile *h)
{
	int fd = some_fd(h);
	char bytes[64] = { 0 };
	struct stat s;

	switch (some(h, 8)) {
	case 0:
		(void)!read(fd, bytes, sizeof(bytes));
		break;
	case 1:
		(void)!write(fd, bytes, sizeof(bytes));
		break;
	case 2:
		lseek(fd, (off_t)boundary(h), (int)some(h, 5));
		break;
	case 3:
		fcntl(fd, F_SETFL, (int)some(h, 2) ? O_ASYNC : O_NONBLOCK);
		break;
	case 4:
		fcntl(fd, F_SETOWN, getpid());
		break;
	case 5:
		fsync(fd);
		break;
	case 6:
		(void)!pread(fd, bytes, sizeof(bytes), (off_t)boundary(h));
		break;
	default:
		fstat(fd, &s);
	}
}

/* ---- maps: each in its window, which is never anything else's ---- */

static uint8_t *some_window(struct hostile *h)
{
	return h->g->windows + some(h, MAPS) * WINDOW;
}

static void op_map(struct hostile *h)
{
	size_t n = h->g->page + RING;
	uint64_t offset = TALLY_RING_OFFSET(some(h, 4), h->g->page, RING);

	if (some(h, 4) == 0)
		offset = TALLY_WAIT_OFFSET(some(h, 4), 1 + some(h, 4),
					   h->g->page, RING, RING);
	if (some(h, 4) == 0)
		n = (size_t)(boundary(h) % WINDOW);
	if (some(h, 4) == 0)
		offset = boundary(h) & ~(uint64_t)(h->g->page - 1);
	mmap(some_window(h), n, (int)some(h, 16) ? PROT_READ | PROT_WRITE
						  : (int)some(h, 8),
	     MAP_FIXED | (some(h, 8) ? MAP_SHARED : MAP_PRIVATE) |
	     (some(h, 8) ? 0 : MAP_POPULATE), some_fd(h), (off_t)offset);
}

static void op_unmap(struct hostile *h)
{
	mmap(some_window(h) + some(h, 2) * h->g->page, WINDOW - h->g->page,
	     PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Any bytes over a ring, or its positions; by a call that survives its absence. */
static void op_scribble(struct hostile *h)
{
	struct tally_ring *r = (struct tally_ring *)some_window(h);
	uint64_t at[2] = { boundary(h), boundary(h) };
	struct iovec from = { at, 8 }, to = { &r->tail, 8 };

	if (some(h, 4) == 0) {
		(void)!pread(h->g->junk, r, some(h, RING),
			     (off_t)some(h, 4096));
		return;
	}
	if (some(h, 2))
		to.iov_base = &r->head;
	process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}

static void op_remap(struct hostile *h)
{
	uint8_t *p = some_window(h);
	size_t page = h->g->page;

	switch (some(h, 6)) {
	case 0:
		mprotect(p, page, (int)some(h, 8));
		break;
	case 1:
		mremap(p, page + RING, page * (1 + some(h, 64)), 0);
		break;
	case 2:
		mremap(p, page + RING, page + RING, MREMAP_MAYMOVE | MREMAP_FIXED,
		       some_window(h));
		break;
	case 3:
		madvise(p, page + RING, (int)some(h, 26));
		break;
	case 4:
		mlock(p, page + RING);
		break;
	default:
		msync(p, page + RING, MS_SYNC);
	}
}

/* ---- processes ---- */

/* A child that calls with the same files; half of them are killed. */
static void op_fork(struct hostile *h)
{
	bool stays = some(h, 2);
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 4 || stays; i++)
			one_ioctl(h);
		_exit(0);
	}
	if (pid < 0)
		return;
	if (stays) {
		nap((long)some(h, 1000000));
		kill(pid, SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static void *gone(void *arg)
{
	return arg;
}

/* Threads that recordings follow come and go. */
static void op_thread(struct hostile *h)
{
	pthread_t t;

	if (pthread_create(&t, NULL, gone, h) == 0)
		pthread_join(t, NULL);
}

struct rush {
	int fd;
	atomic_bool done;
};

static void *rush(void *arg)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = TALLY_ALL_CPUS };
	struct rush *r = arg;

	while (!atomic_load(&r->done)) {
		ioctl(r->fd, TALLY_IOC_STOP, 0);
		ioctl(r->fd, TALLY_IOC_STATS, &s);
	}
	return NULL;
}

/* One thread begins a recording; another stops it before it is set up. */
static void op_rush(struct hostile *h)
{
	struct rush r = { .fd = fresh_file(h) };
	struct tally_setup s;
	pthread_t t;

	fill_setup(h, &s);
	if (r.fd >= 0 && pthread_create(&t, NULL, rush, &r) == 0) {
		ioctl(r.fd, TALLY_IOC_SETUP, &s);
		ioctl(r.fd, TALLY_IOC_START, 0);
		atomic_store(&r.done, true);
		pthread_join(t, NULL);
	}
	if (r.fd >= 0)
		close(r.fd);
}

static const struct op {
	const char *name;
	unsigned int weight;
	void (*act)(struct hostile *h);
} ops[] = {
	{ "ioctl", 700, one_ioctl },
	{ "reopen", 25, op_reopen },
	{ "dup", 4, op_dup },
	{ "close", 2, op_close },
	{ "poll", 30, op_poll },
	{ "other", 20, op_other },
	{ "map", 60, op_map },
	{ "unmap", 30, op_unmap },
	{ "scribble", 60, op_scribble },
	{ "remap", 20, op_remap },
	{ "fork", 2, op_fork },
	{ "thread", 2, op_thread },
	{ "rush", 4, op_rush },
};
enum { KNOWN = sizeof(ops) / sizeof(ops[0]) };
_Static_assert(sizeof(ops) / sizeof(ops[0]) <= OPS, "OPS is too small");

static void *attack(void *arg)
{
	struct hostile *h = arg;
	unsigned int sum = 0, i;

	for (i = 0; i < KNOWN; i++)
		sum += ops[i].weight;
	for (;;) {
		uint64_t r = some(h, sum);

		for (i = 0; r >= ops[i].weight; i++)
			r -= ops[i].weight;
		/* The first is the one that counts. */
		if (!i) {
			long left = (long)atomic_fetch_sub(&h->g->left, 1);

			if (left <= 0)
				return NULL;
			if (left % 100000 == 0)
				printf("%s: %ld to go\n", who_names[h->g->who],
				       left);
		}
		atomic_fetch_add(&h->g->ops[i], 1);
		ops[i].act(h);
	}
}

/* ---- begin and end ---- */

static bool only_perfmon(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };
	enum { PERFMON_CAP = 38 };

	data[1].effective = data[1].permitted = 1u << (PERFMON_CAP - 32);
	return prctl(PR_SET_KEEPCAPS, 1) == 0 && setgid(65534) == 0 &&
	       setuid(65534) == 0 && syscall(SYS_capset, &head, data) == 0;
}

static bool become(enum who who)
{
	if (who == PERFMON)
		return only_perfmon();
	return who == ROOT || (setgid(65534) == 0 && setuid(65534) == 0);
}

static bool gang_begin(struct gang *g)
{
	g->page = (size_t)sysconf(_SC_PAGESIZE);
	g->narrow = narrow_works();
	g->cgroup = open("/groups", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g->junk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	/* Below 4 GB, as i386 programs have it. */
	g->windows = mmap(NULL, (size_t)MAPS * WINDOW, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	return g->windows != MAP_FAILED;
}

static bool hostile_begin(struct hostile *h, struct gang *g, uint64_t seed,
			  unsigned int i)
{
	uint8_t *p = mmap(NULL, ROOM + 2 * g->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (p == MAP_FAILED)
		return false;
	*h = (struct hostile){
		.g = g, .random = seeded(seed, g->who * THREADS + i),
		.edge = p + ROOM + g->page,
	};
	h->edge_turn = roll(&h->random) % 100000;
	return mprotect(h->edge, g->page, PROT_NONE) == 0;
}

/* Sum and table of one process's calls. */
static bool gang_print(struct gang *g, unsigned long calls_made)
{
	unsigned long fine = 0, refused = 0;

	for (unsigned int i = 0; call_name(i); i++) {
		fine += g->fine[i];
		refused += g->refused[i];
	}
	printf("%s: %lu ioctls: %lu fine, %lu refused%s;", who_names[g->who],
	       calls_made, fine, refused, g->narrow ? "" : ", none by i386");
	for (unsigned int i = 0; call_name(i); i++)
		printf(" %s %lu/%lu", call_name(i), (unsigned long)g->fine[i],
		       (unsigned long)g->refused[i]);
	for (unsigned int i = 1; i < KNOWN; i++)
		printf(", %s %lu", ops[i].name, (unsigned long)g->ops[i]);
	printf("%s\n", g->granted ? "; A PLAIN USER MAY OPEN IT" : "");
	/* A few calls may all be refused. */
	return (fine || calls_made < 1000) && refused && !g->granted;
}

static int run_gang(enum who who, int giver, uint32_t counters, unsigned long n,
		    uint64_t seed)
{
	static struct gang g;
	static struct hostile h[THREADS];
	pthread_t t[THREADS];

	g.who = who;
	g.giver = giver;
	g.counters = counters;
	/* The kernel's P6 driver loses track of NMIs when it samples. */
	g.no_drivers = counters == TALLY_PMU_P6;
	g.left = n;
	for (unsigned int i = 0; i < FDS; i++)
		g.fd[i] = -1;
	if (!become(who) || !gang_begin(&g))
		return 1;
	/* All memory first: threads leave holes in the windows, which are mapped
	 * over later. */
	for (unsigned int i = 0; i < THREADS; i++)
		if (!hostile_begin(&h[i], &g, seed, i))
			return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, attack, &h[i]))
			return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return !gang_print(&g, n);
}

static int users(unsigned long n, uint64_t seed)
{
	uint32_t counters = counters_here();
	pid_t pids[WHO], giver;
	int pair[2], bad = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 1;
	giver = fork();
	if (!giver) {
		close(pair[0]);
		give(pair[1]);
	}
	close(pair[1]);
	for (enum who who = 0; who < WHO; who++) {
		/* Each has its third; the first one the rest, too. */
		unsigned long part = who ? n / WHO : n - (WHO - 1) * (n / WHO);

		pids[who] = fork();
		if (!pids[who])
			_exit(run_gang(who, pair[0], counters, part,
				       seed));
	}
	for (enum who who = 0; who < WHO; who++) {
		int status = 1;

		if (pids[who] > 0 && waitpid(pids[who], &status, 0) > 0 &&
		    !status)
			continue;
		printf("%s: ended with status %x\n", who_names[who],
		       (unsigned int)status);
		bad = 1;
	}
	close(pair[0]);
	waitpid(giver, NULL, 0);
	return bad;
}

/*
 * A recording of threads, and an event of perf's, turn on branches in the kernel's
 * scheduler; the last one of them turns these off.  That changes the kernel's code,
 * which takes most of the time of a machine that is emulated.
 */
static bool keep_branches(int fds[2])
{
	struct tally_setup s = plain_setup();
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};

	s.flags |= TALLY_SETUP_TASKS;
	fds[0] = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);
	fds[1] = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);
	return fds[0] >= 0 && ioctl(fds[0], TALLY_IOC_SETUP, &s) == 0;
}

int hostile(unsigned long n, uint64_t seed)
{
	unsigned long plain = n / 16;
	int kept[2], bad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("seed %" PRIu64 "\n", seed);
	/* As it is; then in less time. */
	bad = plain ? users(plain, seed) : 0;
	put("/sys/kernel/rcu_expedited", "1");
	if (!keep_branches(kept))
		bad = 1;
	bad |= users(n - plain, seed + 1);
	put("/sys/kernel/rcu_expedited", "0");
	close(kept[0]);
	close(kept[1]);
	printf("%lu calls: %s\n", n, bad ? "failed" : "3 users");
	return bad;
}
