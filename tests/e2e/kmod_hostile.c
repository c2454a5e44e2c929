// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of the module's device that no honest program makes: by root, by a user with
 * CAP_PERFMON alone, and by one without rights who was given an open file.  Of each, three
 * threads share files, maps and memory, and take them from each other.
 *
 * Two tables say what is done.  Another ioctl is another row of calls[], whose struct is
 * made by its function as an honest program would; fields, places and numbers are changed
 * afterwards for all alike.  Each thread's calls are those of its seed, but not the order
 * in which threads get to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod_torture.h"

enum {
	FDS = 4, MAPS = 8, THREADS = 3, OPS = 16, CALLS = 16,
	WINDOW = 4 << 20,	/* where one map lies */
	ROOM = 4096,		/* of a struct */
};

enum who { ROOT, PERFMON, PLAIN, WHO };
static const char *const who_names[] = { "root", "CAP_PERFMON", "plain user" };

/* What the threads of a process share. */
struct gang {
	enum who who;
	uint32_t counters;	/* source of them, or 0 */
	int giver;		/* where a plain user gets open files, or -1 */
	int cgroup;		/* a folder of one at /groups, or -1 */
	int junk;		/* a file of bytes */
	bool narrow;		/* calls as i386 programs make them work */
	size_t page;
	uint8_t *windows;
	atomic_int fd[FDS];
	atomic_ulong left;	/* ioctls to make */
	atomic_ulong fine[CALLS], refused[CALLS], ops[OPS], granted;
};

struct hostile {
	struct gang *g;
	uint64_t random;
	unsigned long edge_turn;
	uint8_t *edge;		/* the last byte before memory that is not there,
				 * below 4 GB */
	/* What structs point to. */
	uint8_t cpus[16];
	uint32_t tids[8], words[5];
	uint16_t rows[12];
	struct tally_rule rule;
	struct tally_map maps[3];
};

/* ---- values ---- */

static const uint64_t edges[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 999,
	1000, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 16384, 32767, 32768,
	65528, 65535, 65536, 65537, 1000000, 1 << 24, (1 << 24) + 1, INT32_MAX,
	0x80000000u, UINT32_MAX, 1000000000u, 0x100000000ull, 1ull << 47,
	(1ull << 47) - 4096, 1ull << 62, INT64_MAX, 1ull << 63,
	0xffff888000000000, UINT64_MAX - 4095, UINT64_MAX,
};
enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

static uint64_t some(struct hostile *h, uint64_t n)
{
	return roll(&h->random) % n;
}

static uint64_t boundary(struct hostile *h)
{
	return some(h, 4) ? edges[some(h, EDGES)] : roll(&h->random);
}

/* Changes up to three fields of 1, 2, 4 or 8 bytes. */
static void damage(struct hostile *h, void *p, size_t n)
{
	for (uint64_t i = some(h, 4); i > 0; i--) {
		size_t width = (size_t)1 << some(h, 4);
		uint64_t v = boundary(h);

		if (width <= n)
			memcpy((uint8_t *)p + some(h, n / width) * width, &v,
			       width);
	}
}

/* ---- structs as honest programs make them ---- */

static void fill_info(struct hostile *h, void *p)
{
	(void)h;
	*(struct tally_info *)p = (struct tally_info){
		.size = sizeof(struct tally_info),
	};
}

static void fill_perf(struct hostile *h, struct tally_setup *s)
{
	by_kernel(s, some(h, 4) ? PERF_TYPE_SOFTWARE : (uint32_t)some(h, 8),
		  some(h, 4) ? some(h, 12) : boundary(h));
	if (some(h, 2))
		s->events[0].freq = 1 + some(h, 5000);
}

static void fill_setup(struct hostile *h, void *p)
{
	struct tally_setup s = plain_setup();

	s.ring_bytes = some(h, 8) ? RING : 4096u << some(h, some(h, 8) ? 6 : 11);
	s.watermark = (uint32_t)(1 + some(h, s.ring_bytes));
	if (some(h, 2))
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (some(h, 16) == 0)
		s.flags |= TALLY_SETUP_ON_EXEC;
	if (some(h, 4) == 0) {
		for (size_t i = 0; i < sizeof(h->cpus); i++)
			h->cpus[i] = (uint8_t)(some(h, 2) ? roll(&h->random) : 0);
		h->cpus[0] = (uint8_t)some(h, 4);
		s.cpus = (uintptr_t)h->cpus;
		s.cpu_bits = (uint32_t)(some(h, 2) ? 1 + some(h, 2) : boundary(h));
	}
	if (some(h, 2))
		s.copy_bytes = (uint32_t)(some(h, 2) ? some(h, 4097) * 8
						     : boundary(h));
	if (some(h, 8) == 0) {
		s.flags = TALLY_SETUP_CHAIN | TALLY_SETUP_CGROUP;
		s.cgroup_fd = (uint32_t)(some(h, 2) ? h->g->cgroup
						    : (int)boundary(h));
	}
	if (some(h, 4) == 0)
		s.source = (uint32_t)some(h, 8);
	if (some(h, 3) == 0)
		fill_perf(h, &s);
	else if (h->g->counters && some(h, 2))
		by_counters(&s, h->g->counters);
	if (some(h, 2))
		s.flags |= TALLY_SETUP_STACKS;
	if (s.copy_bytes && some(h, 4))
		s.flags |= TALLY_SETUP_UNWIND;
	if (some(h, 4) == 0) {
		s.nevents = (uint32_t)(1 + some(h, TALLY_EVENTS_MAX));
		for (uint32_t i = 1; i < s.nevents; i++) {
			s.events[i] = s.events[0];
			s.perf[i] = s.perf[0];
		}
	}
	*(struct tally_setup *)p = s;
}

static void fill_tasks(struct hostile *h, void *p)
{
	struct tally_tasks t = {
		.size = sizeof(t), .n = (uint32_t)(1 + some(h, 8)),
		.tids = (uintptr_t)h->tids,
	};

	h->tids[0] = (uint32_t)getpid();
	for (size_t i = 1; i < 8; i++)
		h->tids[i] = (uint32_t)(some(h, 2) ? some(h, 400) : boundary(h));
	*(struct tally_tasks *)p = t;
}

static void fill_stats(struct hostile *h, void *p)
{
	struct tally_stats *s = p;

	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->cpu = some(h, 2) ? TALLY_ALL_CPUS : (uint32_t)some(h, 4);
}

static void fill_table(struct hostile *h, void *p)
{
	*(struct tally_table *)p = (struct tally_table){
		.size = sizeof(struct tally_table), .id = (uint32_t)some(h, 4),
		.base = some(h, 4) << TALLY_PAGE_BITS,
		.pages = (uint32_t)some(h, 8),
		.flags = some(h, 4) ? 0 : TALLY_TABLE_GO,
	};
}

/* Mostly well made, of nothing real. */
static void fill_page(struct hostile *h, void *p)
{
	static const uint16_t rows[12] = {
		0, 0x10, 0x100, 0x101, 0x2000, 0xffff, 1, 2, 3, 4, 1, 0,
	};
	static const uint32_t words[5] = {
		TALLY_ROW_NONE, TALLY_ROW_RSP | 2 << 3,
		TALLY_ROW_RBP | 2 << 3 | 0xfffcu << 17, TALLY_ROW_END,
		TALLY_ROW_RULE,
	};

	memcpy(h->rows, rows, sizeof(rows));
	memcpy(h->words, words, sizeof(words));
	h->rule = (struct tally_rule){
		.cfa_reg = 7, .ip = TALLY_HOW_MEM + 7, .sp = TALLY_HOW_MEM + 7,
		.bp = TALLY_HOW_MEM + 7, .cfa_memory = 1, .signal = 1,
	};
	if (some(h, 4) == 0)
		damage(h, h->rows, sizeof(h->rows));
	if (some(h, 4) == 0)
		damage(h, h->words, sizeof(h->words));
	if (some(h, 4) == 0)
		damage(h, &h->rule, sizeof(h->rule));
	*(struct tally_page *)p = (struct tally_page){
		.size = sizeof(struct tally_page), .table = (uint32_t)some(h, 4),
		.page = (uint32_t)some(h, 8), .nrows = 6, .nwords = 5,
		.nrules = 1, .rows = (uintptr_t)h->rows,
		.words = (uintptr_t)h->words, .rules = (uintptr_t)&h->rule,
	};
}

/* All of our code and stack, or something else, as images that were brought. */
static void fill_space(struct hostile *h, void *p)
{
	uint64_t code = (uintptr_t)fill_space & ~0xffffffull;

	for (unsigned int i = 0; i < 3; i++)
		h->maps[i] = (struct tally_map){
			.start = i ? 0x700000000000 + ((uint64_t)i << 40) : code,
			.end = i ? 0x700000000000 + ((i + 1ull) << 40)
				 : code + (2 << 24),
			.delta = some(h, 2) ? 0 - code : roll(&h->random),
			.table = (uint32_t)some(h, 4),
		};
	h->maps[2].end = 0x7ffffffff000;
	if (some(h, 4) == 0)
		damage(h, h->maps, sizeof(h->maps));
	*(struct tally_space *)p = (struct tally_space){
		.size = sizeof(struct tally_space), .pid = (uint32_t)getpid(),
		.generation = (uint32_t)some(h, 4), .n = (uint32_t)some(h, 4),
		.maps = (uintptr_t)h->maps,
	};
}

static const struct call {
	const char *name;
	unsigned long cmd;
	size_t size;		/* of its struct; 0: its argument is 0 */
	size_t in;		/* bytes of it that are read */
	unsigned int weight;
	void (*fill)(struct hostile *h, void *p);
} calls[] = {
#define ROW(name, type, in, weight, fill) \
	{ #name, TALLY_IOC_##name, sizeof(struct type), in, weight, fill }
	ROW(INFO, tally_info, sizeof(struct tally_info), 1, fill_info),
	ROW(SETUP, tally_setup, sizeof(struct tally_setup), 6, fill_setup),
	ROW(TASKS, tally_tasks, sizeof(struct tally_tasks), 3, fill_tasks),
	{ "START", TALLY_IOC_START, 0, 0, 3, NULL },
	{ "STOP", TALLY_IOC_STOP, 0, 0, 2, NULL },
	ROW(STATS, tally_stats, 16, 3, fill_stats),
	ROW(TABLE, tally_table, sizeof(struct tally_table), 3, fill_table),
	ROW(PAGE, tally_page, sizeof(struct tally_page), 4, fill_page),
	ROW(SPACE, tally_space, sizeof(struct tally_space), 2, fill_space),
	/* No such number. */
	{ "others", _IO(TALLY_IOC, 200), 0, 0, 1, NULL },
#undef ROW
};
enum { ROWS = sizeof(calls) / sizeof(calls[0]) };
_Static_assert(sizeof(calls) / sizeof(calls[0]) <= CALLS, "CALLS is too small");

/* ---- ioctls ---- */

/* Where the struct lies: at an edge, cut off there, or nowhere. */
static void *placed(struct hostile *h, const void *p, size_t n)
{
	static const uintptr_t nowhere[] = {
		0, 1, 0x1000, (uintptr_t)-1, (uintptr_t)-4096, 0x7ffffffff000,
		0xffff888000000000, 0xffffffff81000000,
	};
	uint64_t r = some(h, 16);
	uint8_t *at = h->edge - n;

	if (!r)
		return (void *)nowhere[some(h, 8)];
	if (r == 1)
		at += some(h, n);
	/* What another thread maps, unmaps and writes to. */
	if (r == 2)
		return h->g->windows + some(h, MAPS) * WINDOW +
		       some(h, 2 * h->g->page);
	memcpy(at, p, (size_t)(h->edge - at) < n ? (size_t)(h->edge - at) : n);
	return at;
}

/* One field after the other has each of the values at edges. */
static void next_edge(struct hostile *h, void *p, const struct call *c)
{
	unsigned long turn = h->edge_turn++;
	uint64_t v = edges[turn % EDGES];
	size_t width = (size_t)1 << turn / EDGES % 4;

	if (c->in >= width)
		memcpy((uint8_t *)p + turn / EDGES / 4 % (c->in / width) * width,
		       &v, width);
}

/* The same number with another direction or size, or another number. */
static unsigned long some_number(struct hostile *h, const struct call *c)
{
	switch (some(h, 64)) {
	case 0:
		return (unsigned long)_IOC(some(h, 4), TALLY_IOC, _IOC_NR(c->cmd),
					   some(h, 1 << 14));
	case 1:
		return (unsigned long)boundary(h);
	case 2:
		return c->cmd ^ 1ul << some(h, 32);
	default:
		return c->cmd;
	}
}

/* As an i386 program calls: the kernel's compat path. */
static long narrow_ioctl(int fd, unsigned long cmd, const void *arg)
{
	long r = -ENOSYS;

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(54), "b"((long)fd),
			 "c"((long)(uint32_t)cmd),
			 "d"((long)(uint32_t)(uintptr_t)arg)
			 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)fd, (void)cmd, (void)arg;
#endif
	return (int)r;
}

static int some_fd(struct hostile *h)
{
	return atomic_load(&h->g->fd[some(h, FDS)]);
}

static const struct call *some_call(struct hostile *h, unsigned int *row)
{
	unsigned int sum = 0;
	uint64_t left;

	for (unsigned int i = 0; i < ROWS; i++)
		sum += calls[i].weight;
	left = some(h, sum);
	for (*row = 0; left >= calls[*row].weight; ++*row)
		left -= calls[*row].weight;
	return &calls[*row];
}

static void one_ioctl(struct hostile *h)
{
	uint64_t room[ROOM / 8] = { 0 };
	unsigned int row;
	const struct call *c = some_call(h, &row);
	unsigned long cmd = some_number(h, c);
	int fd = some_fd(h);
	void *arg = NULL;
	long r;

	if (c->fill) {
		c->fill(h, room);
		switch (some(h, 4)) {
		case 0:
			damage(h, room, c->in);
			break;
		case 1:
			next_edge(h, room, c);
			break;
		default:
			break;
		}
		/* Sometimes longer than the module knows it. */
		arg = placed(h, room, some(h, 32) ? c->size
						  : c->size + some(h, 64));
	} else if (some(h, 8) == 0) {
		arg = (void *)(uintptr_t)boundary(h);
	}
	r = h->g->narrow && some(h, 16) == 0 ? narrow_ioctl(fd, cmd, arg)
					     : ioctl(fd, cmd, arg);
	atomic_fetch_add(r < 0 ? &h->g->refused[row] : &h->g->fine[row], 1);
}

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

static void give(int to)
{
	for (;;) {
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
		if (!i && (long)atomic_fetch_sub(&h->g->left, 1) <= 0)
			return NULL;
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

/* Kernels without i386 programs kill a process that calls as one. */
static bool narrow_works(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(narrow_ioctl(-1, 0, NULL) != -EBADF);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
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

	for (unsigned int i = 0; i < ROWS; i++) {
		fine += g->fine[i];
		refused += g->refused[i];
	}
	printf("%s: %lu ioctls: %lu fine, %lu refused%s;", who_names[g->who],
	       calls_made, fine, refused, g->narrow ? "" : ", none by i386");
	for (unsigned int i = 0; i < ROWS; i++)
		printf(" %s %lu/%lu", calls[i].name, (unsigned long)g->fine[i],
		       (unsigned long)g->refused[i]);
	for (unsigned int i = 1; i < KNOWN; i++)
		printf(", %s %lu", ops[i].name, (unsigned long)g->ops[i]);
	printf("%s\n", g->granted ? "; A PLAIN USER MAY OPEN IT" : "");
	fflush(stdout);
	return fine && refused && !g->granted;
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
	g.left = n;
	for (unsigned int i = 0; i < FDS; i++)
		g.fd[i] = -1;
	if (!become(who) || !gang_begin(&g))
		return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		if (!hostile_begin(&h[i], &g, seed, i) ||
		    pthread_create(&t[i], NULL, attack, &h[i]))
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

	printf("seed %" PRIu64 "\n", seed);
	fflush(stdout);
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
