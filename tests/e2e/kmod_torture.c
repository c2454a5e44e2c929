// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Treats /dev/tally as programs should not.
 *
 *	kmod_torture fuzz CALLS SEED	calls with random and boundary arguments
 *	kmod_torture cycles N		open, set up, start, stop, close
 *	kmod_torture stats [COPY DEPTH]	three seconds of samples and the
 *			histogram; with copies of so many bytes of a stack of so
 *			many, each checked
 *	kmod_torture hold SECONDS [kernel]	a recording is open and runs; by the
 *			kernel's own events
 *	kmod_torture nobody		tries as a user without rights
 *	kmod_torture walk STEPS SEED [k8|p6]	two recordings, perf, sleep,
 *			processor 1 going and coming, and a recorder that is
 *			killed, in any order; says how far it is
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tally/kmod.h"

enum { FDS = 4, RING = 65536, MAPS = 16 };

struct torture {
	int fd[FDS];
	uint64_t random;
	uint8_t *edge;		/* the last byte before memory that is not there */
	size_t page;
	int cgroup;		/* a folder of one, or -1 */
	struct {
		uint8_t *p;
		size_t n;
	} maps[MAPS];
	unsigned int fine, refused;
};

static uint64_t roll(struct torture *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static uint64_t boundary(struct torture *t)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 255, 256,
		999, 1000, 4095, 4096, 4097, 8192, 65535, 65536, 65537,
		1000000, 1 << 24, (1 << 24) + 1, INT32_MAX, 0x80000000u,
		UINT32_MAX, 1000000000u, 0x100000000ull, 1ull << 47,
		(1ull << 47) + 1, INT64_MAX, UINT64_MAX - 4095, UINT64_MAX,
	};
	uint64_t r = roll(t);

	if (r % 4 == 0)
		return roll(t);
	return values[r / 4 % (sizeof(values) / sizeof(values[0]))];
}

static struct tally_setup plain_setup(void)
{
	return (struct tally_setup){
		.size = sizeof(struct tally_setup), .source = TALLY_TIMER,
		.flags = TALLY_SETUP_CHAIN, .nevents = 1, .ring_bytes = RING,
		.watermark = RING / 4, .max_chain = 64,
		.events[0] = {
			.period = 1000000,
			.flags = TALLY_EVENT_USER | TALLY_EVENT_KERNEL,
		},
	};
}

/* Changes up to three fields of 1, 2, 4 or 8 bytes. */
static void damage(struct torture *t, void *p, size_t n)
{
	for (uint64_t i = roll(t) % 4; i > 0; i--) {
		size_t width = (size_t)1 << roll(t) % 4;
		uint64_t v = boundary(t);

		memcpy((uint8_t *)p + roll(t) % (n / width) * width, &v, width);
	}
}

/* Where the struct lies: at an edge, in the middle, or nowhere. */
static void *placed(struct torture *t, const void *p, size_t n)
{
	static const uintptr_t nowhere[] = {
		0, 1, 0x1000, (uintptr_t)-1, (uintptr_t)-4096,
		0x7ffffffff000, 0xffff888000000000,
	};
	uint64_t r = roll(t) % 16;
	uint8_t *at;

	if (!r)
		return (void *)nowhere[roll(t) % 7];
	/* Its end may be cut off. */
	at = t->edge - n + (r == 1 ? roll(t) % n : 0);
	memcpy(at, p, (size_t)(t->edge - at) < n ? (size_t)(t->edge - at) : n);
	return at;
}

static int call(struct torture *t, int fd, unsigned long cmd, void *arg)
{
	int r = ioctl(fd, cmd, arg);

	if (r < 0)
		t->refused++;
	else
		t->fine++;
	return r;
}

/* The kernel's own events: often ones that are there. */
static void perf_events(struct torture *t, struct tally_setup *s)
{
	s->source = TALLY_PERF;
	s->perf[0].type = (uint32_t)(roll(t) % 4 ? PERF_TYPE_SOFTWARE
						 : roll(t) % 8);
	s->perf[0].config = roll(t) % 4 ? roll(t) % 12 : boundary(t);
	if (roll(t) % 2)
		s->events[0].freq = 1 + roll(t) % 5000;
}

static void one_setup(struct torture *t, int fd)
{
	struct tally_setup s = plain_setup();
	uint8_t cpus[16];

	if (roll(t) % 2)
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (roll(t) % 4 == 0) {
		for (size_t i = 0; i < sizeof(cpus); i++)
			cpus[i] = (uint8_t)roll(t);
		s.cpus = (uintptr_t)cpus;
		s.cpu_bits = (uint32_t)boundary(t);
	}
	if (roll(t) % 2)
		s.copy_bytes = (uint32_t)(roll(t) % 2 ? roll(t) % 4097 * 8
						      : boundary(t));
	if (roll(t) % 8 == 0) {
		s.flags |= TALLY_SETUP_CGROUP;
		s.cgroup_fd = (uint32_t)(roll(t) % 2 ? t->cgroup
						     : (int)boundary(t));
	}
	if (roll(t) % 4 == 0)
		s.source = (uint32_t)(roll(t) % 6);
	if (roll(t) % 3 == 0)
		perf_events(t, &s);
	if (roll(t) % 2)
		s.flags |= TALLY_SETUP_STACKS;
	if (s.copy_bytes && roll(t) % 4)
		s.flags |= TALLY_SETUP_UNWIND;
	damage(t, &s, sizeof(s));
	call(t, fd, TALLY_IOC_SETUP, placed(t, &s, sizeof(s)));
}

static void one_tasks(struct torture *t, int fd)
{
	uint32_t tids[8];
	struct tally_tasks k = {
		.size = sizeof(k), .n = 8, .tids = (uintptr_t)tids,
	};

	for (size_t i = 0; i < 8; i++)
		tids[i] = i ? (uint32_t)boundary(t) : (uint32_t)getpid();
	damage(t, &k, sizeof(k));
	call(t, fd, TALLY_IOC_TASKS, placed(t, &k, sizeof(k)));
}

/* What stacks are unwound by: mostly well made, of nothing real. */
static void one_table(struct torture *t, int fd)
{
	struct tally_table u = {
		.size = sizeof(u), .id = (uint32_t)(roll(t) % 4),
		.base = roll(t) % 4 << TALLY_PAGE_BITS,
		.pages = (uint32_t)(roll(t) % 8),
	};

	if (roll(t) % 4 == 0)
		damage(t, &u, sizeof(u));
	call(t, fd, TALLY_IOC_TABLE, placed(t, &u, sizeof(u)));
}

static void one_page(struct torture *t, int fd)
{
	enum { ROWS = 6, WORDS = 5 };
	static const uint16_t rows[2 * ROWS] = {
		0, 0x10, 0x100, 0x101, 0x2000, 0xffff, 1, 2, 3, 4, 1, 0,
	};
	static const uint32_t words[WORDS] = {
		TALLY_ROW_NONE, TALLY_ROW_RSP | 2 << 3,
		TALLY_ROW_RBP | 2 << 3 | 0xfffcu << 17, TALLY_ROW_END,
		TALLY_ROW_RULE,
	};
	struct tally_rule rule = {
		.cfa_reg = 7, .ip = TALLY_HOW_MEM + 7, .sp = TALLY_HOW_MEM + 7,
		.bp = TALLY_HOW_MEM + 7, .cfa_memory = 1, .signal = 1,
	};
	struct tally_page u = {
		.size = sizeof(u), .table = (uint32_t)(roll(t) % 4),
		.page = (uint32_t)(roll(t) % 8), .nrows = ROWS,
		.nwords = WORDS, .nrules = 1,
	};
	uint16_t starts[2 * ROWS];
	uint32_t word[WORDS];

	memcpy(starts, rows, sizeof(rows));
	memcpy(word, words, sizeof(words));
	if (roll(t) % 4 == 0)
		damage(t, starts, sizeof(starts));
	if (roll(t) % 4 == 0)
		damage(t, word, sizeof(word));
	if (roll(t) % 4 == 0)
		damage(t, &rule, sizeof(rule));
	u.rows = (uintptr_t)starts;
	u.words = (uintptr_t)word;
	u.rules = (uintptr_t)&rule;
	if (roll(t) % 4 == 0)
		damage(t, &u, sizeof(u));
	call(t, fd, TALLY_IOC_PAGE, placed(t, &u, sizeof(u)));
}

/* All of our code and stack, or something else, as images that were brought. */
static void one_space(struct torture *t, int fd)
{
	enum { SPACE_MAPS = 3 };
	struct tally_map maps[SPACE_MAPS];
	struct tally_space u = {
		.size = sizeof(u), .pid = (uint32_t)getpid(),
		.generation = (uint32_t)(roll(t) % 4),
		.n = (uint32_t)(roll(t) % (SPACE_MAPS + 1)),
		.maps = (uintptr_t)maps,
	};
	uint64_t code = (uintptr_t)one_space & ~0xffffffull;

	for (unsigned int i = 0; i < SPACE_MAPS; i++)
		maps[i] = (struct tally_map){
			.start = i ? 0x700000000000 + ((uint64_t)i << 40) : code,
			.end = i ? 0x700000000000 + ((i + 1ull) << 40)
				 : code + (2 << 24),
			.delta = roll(t) % 2 ? 0 - code : roll(t),
			.table = (uint32_t)(roll(t) % 4),
		};
	maps[SPACE_MAPS - 1].end = 0x7ffffffff000;
	if (roll(t) % 4 == 0)
		damage(t, maps, sizeof(maps));
	if (roll(t) % 4 == 0)
		damage(t, &u, sizeof(u));
	call(t, fd, TALLY_IOC_SPACE, placed(t, &u, sizeof(u)));
}

static void one_stats(struct torture *t, int fd)
{
	struct tally_stats s = {
		.size = sizeof(s), .cpu = (uint32_t)(roll(t) % 4),
	};

	if (roll(t) % 2)
		s.cpu = TALLY_ALL_CPUS;
	damage(t, &s, 8);
	call(t, fd, TALLY_IOC_STATS, placed(t, &s, sizeof(s)));
}

static void unmap(struct torture *t, unsigned int i)
{
	if (t->maps[i].p)
		munmap(t->maps[i].p, t->maps[i].n);
	t->maps[i].p = NULL;
}

/* Maps something, and writes over what it got. */
static void one_map(struct torture *t, int fd)
{
	unsigned int i = (unsigned int)(roll(t) % MAPS);
	size_t n = t->page + RING;
	uint64_t offset = TALLY_RING_OFFSET(roll(t) % 4, t->page, RING);
	void *p;

	if (roll(t) % 4 == 0)
		n = (size_t)(boundary(t) % (1 << 22));
	if (roll(t) % 4 == 0)
		offset = boundary(t) & ~(uint64_t)(t->page - 1);
	unmap(t, i);
	p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		 roll(t) % 8 ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)offset);
	if (p == MAP_FAILED) {
		t->refused++;
		return;
	}
	t->fine++;
	t->maps[i].p = p;
	t->maps[i].n = n;
}

static void scribble(struct torture *t)
{
	unsigned int i = (unsigned int)(roll(t) % MAPS);
	struct tally_ring *r = (struct tally_ring *)t->maps[i].p;

	if (!r)
		return;
	r->head = boundary(t);
	r->tail = roll(t) % 2 ? r->head + boundary(t) : boundary(t);
	if (roll(t) % 4 == 0)
		memset(t->maps[i].p, (int)roll(t), t->maps[i].n);
}

static void reopen(struct torture *t, unsigned int i)
{
	if (t->fd[i] >= 0)
		close(t->fd[i]);
	t->fd[i] = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);
}

static void one_call(struct torture *t)
{
	unsigned int i = (unsigned int)(roll(t) % FDS);
	int fd = t->fd[i];
	struct tally_info info = { .size = sizeof(info) };
	struct pollfd p = { fd, POLLIN, 0 };

	switch (roll(t) % 21) {
	case 0: case 1: case 2: case 3:
		one_setup(t, fd);
		break;
	case 4: case 5:
		one_tasks(t, fd);
		break;
	case 6:
		call(t, fd, TALLY_IOC_START,
		     roll(t) % 4 ? NULL : (void *)boundary(t));
		break;
	case 7:
		call(t, fd, TALLY_IOC_STOP,
		     roll(t) % 4 ? NULL : (void *)boundary(t));
		break;
	case 8: case 9:
		one_stats(t, fd);
		break;
	case 10:
		damage(t, &info, 8);
		call(t, fd, TALLY_IOC_INFO, placed(t, &info, sizeof(info)));
		break;
	case 11:
		call(t, fd, roll(t) % 2 ? (unsigned long)_IO(TALLY_IOC,
		     roll(t) % 256) : (unsigned long)boundary(t),
		     (void *)boundary(t));
		break;
	case 12: case 13:
		one_map(t, fd);
		break;
	case 14:
		scribble(t);
		break;
	case 15:
		one_table(t, fd);
		break;
	case 16: case 17: case 18:
		one_page(t, fd);
		break;
	case 19:
		one_space(t, fd);
		break;
	default:
		poll(&p, 1, 0);
	}
}

static void fuzz_print(const struct torture *t, unsigned long calls)
{
	printf("%lu calls: %u fine, %u refused\n", calls, t->fine, t->refused);
	fflush(stdout);
}

static int fuzz(unsigned long calls, uint64_t seed)
{
	struct torture t = { .random = seed | 1 };
	unsigned long n = 0;

	t.page = (size_t)sysconf(_SC_PAGESIZE);
	t.cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t.edge = mmap(NULL, 3 * t.page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.edge == MAP_FAILED)
		return 1;
	t.edge += 2 * t.page;
	mprotect(t.edge, t.page, PROT_NONE);
	memset(t.fd, -1, sizeof(t.fd));
	for (unsigned int i = 0; i < FDS; i++)
		reopen(&t, i);
	if (t.fd[0] < 0)
		return 1;
	for (; n < calls; n++) {
		one_call(&t);
		if (n % 400 == 399)
			reopen(&t, (unsigned int)(roll(&t) % FDS));
		if (n % 50000 == 49999)
			fuzz_print(&t, n + 1);
	}
	for (unsigned int i = 0; i < MAPS; i++)
		unmap(&t, i);
	if (n % 50000)
		fuzz_print(&t, n);
	return t.fine && t.refused ? 0 : 1;
}

static int begin_as(struct tally_setup *s, void **ring)
{
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TALLY_IOC_SETUP, s) < 0)
		return -1;
	*ring = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + s->ring_bytes,
		     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *ring == MAP_FAILED ? -1 : fd;
}

static void by_kernel(struct tally_setup *s, uint32_t type, uint64_t config)
{
	s->source = TALLY_PERF;
	s->perf[0].type = type;
	s->perf[0].config = config;
}

static void clock_by_kernel(struct tally_setup *s)
{
	by_kernel(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

/* A recording of everything, all set up. */
static int begin(void **ring, uint32_t bytes, uint32_t copy, bool by_kernel)
{
	struct tally_setup s = plain_setup();

	s.ring_bytes = bytes;
	s.watermark = bytes / 4;
	s.copy_bytes = copy;
	if (copy && by_kernel)
		s.flags |= TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS;
	if (by_kernel)
		clock_by_kernel(&s);
	return begin_as(&s, ring);
}

static int cycles(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		void *ring;
		/* Every third one copies stacks, every fourth has the kernel's
		 * own events. */
		int fd = begin(&ring, RING, i % 3 ? 0 : 8192, i % 4 == 3);

		if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
			return 1;
		for (int k = 0; k < 3; k++) {
			struct timespec ts = { .tv_nsec = 2000000 };

			nanosleep(&ts, NULL);
			if (ioctl(fd, TALLY_IOC_STOP, 0) < 0 ||
			    ioctl(fd, TALLY_IOC_START, 0) < 0)
				return 1;
		}
		/* Every other time the file is closed as it runs. */
		if (i % 2)
			ioctl(fd, TALLY_IOC_STOP, 0);
		munmap(ring, (size_t)sysconf(_SC_PAGESIZE) + RING);
		close(fd);
	}
	printf("%lu cycles\n", n);
	return 0;
}

static int print_stats(int fd)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = TALLY_ALL_CPUS };
	uint64_t sum = 0;

	if (ioctl(fd, TALLY_IOC_STATS, &s) < 0)
		return 1;
	for (int i = 0; i < TALLY_HISTOGRAM; i++) {
		sum += s.histogram[i];
		if (s.histogram[i])
			printf("cycles %u: %llu\n", 1u << i,
			       (unsigned long long)s.histogram[i]);
	}
	printf("samples %llu lost %llu throttled %llu missed %llu mean %llu\n",
	       (unsigned long long)s.events[0].samples,
	       (unsigned long long)s.events[0].lost,
	       (unsigned long long)s.events[0].throttled,
	       (unsigned long long)s.events[0].missed,
	       (unsigned long long)(sum ? s.cycles / sum : 0));
	/* Each that was taken, lost or throttled is in the histogram. */
	return !sum || sum < s.events[0].samples + s.events[0].lost;
}

/* By timers, or by cycles of K8 or P6; with callers or without. */
static int stats(const char *pmu, bool callers)
{
	struct tally_setup s = plain_setup();
	/* With -icount system calls are slow. */
	time_t end = time(NULL) + (*pmu ? 2 : 3);
	void *ring;
	int fd;

	if (*pmu) {
		s.source = strcmp(pmu, "p6") ? TALLY_PMU_K8 : TALLY_PMU_P6;
		s.events[0].event = strcmp(pmu, "p6") ? 0x76 : 0x79;
	}
	if (!callers) {
		s.flags &= ~TALLY_SETUP_CHAIN;
		s.max_chain = 0;
	}
	fd = begin_as(&s, &ring);

	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	while (time(NULL) < end)
		getppid();
	ioctl(fd, TALLY_IOC_STOP, 0);
	return print_stats(fd);
}

/* What is known of the stack that is copied. */
struct checked {
	uint64_t low, high;	/* words here are their addresses, turned */
	uint64_t end;		/* of its memory */
	uint32_t want;
	bool look;		/* all of the stack was touched */
	unsigned int good, bad, others;
	uint64_t tail, bytes;	/* records */
};

/* Above what programs begin with, the kernel leaves a gap of up to 8 KB below
 * their arguments (arch_align_stack), which may hold a page that was never
 * touched: copies end there. */
static uint64_t touched_until(uint64_t at, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char is;

	for (at &= -page; at < to; at += page)
		if (mincore((void *)(uintptr_t)at, page, &is) < 0 || !(is & 1))
			break;
	return at < to ? at : to;
}

static uint64_t stack_end(void)
{
	unsigned long long from, to = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]") &&
		    sscanf(line, "%llx-%llx", &from, &to) == 2)
			break;
	if (f)
		fclose(f);
	return touched_until((uint64_t)(uintptr_t)line, to);
}

static bool copy_right(const struct checked *c, const struct tally_copy *t,
		       size_t n)
{
	uint64_t sp = t->regs[7], end = sp + t->bytes;

	if (t->known != 0x1ffff || t->flags & TALLY_COPY_32 ||
	    n != sizeof(*t) + (t->bytes + 7) / 8 * 8)
		return false;
	/* As much as was asked for, or all that there is. */
	if (t->flags & TALLY_COPY_ALL ? end != c->end || t->bytes > c->want
				      : t->bytes != c->want)
		return false;
	for (uint64_t at = c->low; at < c->high && at + 8 <= end; at += 8) {
		uint64_t word;

		if (at < sp)
			continue;
		memcpy(&word, t->stack + (at - sp), 8);
		if (word != ~at)
			return false;
	}
	return true;
}

/* One record, taken out of its ring. */
static void check_record(struct checked *c, const uint8_t *p)
{
	const struct tally_sample *s = (const struct tally_sample *)p;
	size_t at = sizeof(*s);

	if (s->r.type != TALLY_RECORD_SAMPLE)
		return;
	if (s->tid != (uint32_t)getpid()) {
		c->others++;
		return;
	}
	at += 8 * ((size_t)s->nkernel + s->nuser);
	if (!c->look)
		return;
	if (s->flags & TALLY_SAMPLE_COPY &&
	    copy_right(c, (const struct tally_copy *)(p + at), s->r.size - at))
		c->good++;
	else
		c->bad++;
}

static bool check_ring(struct checked *c, struct tally_ring *ring)
{
	static uint64_t record[65536 / 8];
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)ring + ring->data_offset;

	while (c->tail != head) {
		struct tally_record h;

		for (size_t i = 0; i < sizeof(h) / 8; i++)
			memcpy((uint64_t *)(void *)&h + i, data +
			       ((c->tail + 8 * i) & (ring->data_size - 1)), 8);
		if (h.size < sizeof(h) || h.size % 8 || h.size > head - c->tail)
			return false;
		for (size_t i = 0; i < h.size / 8u; i++)
			memcpy(record + i, data + ((c->tail + 8 * i) &
			       (ring->data_size - 1)), 8);
		check_record(c, (const uint8_t *)record);
		c->tail += h.size;
		c->bytes += h.size;
	}
	__atomic_store_n(&ring->tail, c->tail, __ATOMIC_RELEASE);
	return true;
}

/* What is called from here on finds its stack touched: a copy that is taken while
 * the kernel brings in the page where it begins is empty. */
static __attribute__((noinline)) void touch_below(void)
{
	enum { DEEPER = 32768 };
	volatile char *below = __builtin_alloca(DEEPER);

	for (size_t i = 0; i < DEEPER; i += 1024)
		below[i] = 0;
}

/* Some time in both modes, below a stack whose words are known. */
static __attribute__((noinline)) bool burn(struct checked *c, size_t depth,
					   struct tally_ring *ring, time_t end)
{
	volatile uint64_t *words = __builtin_alloca(depth);
	bool fine;

	for (size_t i = 0; i < depth / 8; i++)
		words[i] = ~(uint64_t)(uintptr_t)&words[i];
	touch_below();
	/* What was sampled before its words stood there, where a copy ends at
	 * the first page that was never touched, is not looked at. */
	fine = check_ring(c, ring);
	c->look = true;
	c->low = (uint64_t)(uintptr_t)words;
	c->high = c->low + depth;
	while (fine && time(NULL) < end) {
		for (volatile int i = 0; i < 20000; i++)
			;
		for (int i = 0; i < 20; i++)
			getppid();
		fine = check_ring(c, ring);
	}
	return fine;
}

static int copies(uint32_t bytes, size_t depth)
{
	struct checked c = { .want = bytes, .end = stack_end() };
	cpu_set_t first;
	void *ring;
	int fd;
	bool fine;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	fd = begin(&ring, 4 << 20, bytes, false);
	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	fine = burn(&c, depth, ring, time(NULL) + 3);
	ioctl(fd, TALLY_IOC_STOP, 0);
	printf("copies of %u: %u right, %u wrong, %u of others, %llu bytes%s\n",
	       bytes, c.good, c.bad, c.others, (unsigned long long)c.bytes,
	       fine ? "" : ", damaged");
	return print_stats(fd) || !fine || !c.good || c.bad;
}

static int hold(unsigned int seconds, bool by_the_kernel)
{
	void *ring;
	int fd = begin(&ring, RING, 4096, by_the_kernel);

	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	puts("holds");
	fflush(stdout);
	sleep(seconds);
	return 0;
}

static int nobody(void)
{
	if (setuid(65534) < 0 || open(TALLY_DEVICE, O_RDWR) >= 0)
		return 1;
	puts(strerror(errno));
	return errno != EPERM;
}

/* ---- a walk ---- */

struct walk {
	struct torture t;
	const char *pmu;
	int fd[2], perf;
	bool cpu1_off;
	unsigned long started, busy, slept, switched, killed;
};

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return fine;
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* A recording of everything or of this process, by timers or counters. */
static int walk_open(struct walk *w)
{
	struct tally_setup s = plain_setup();
	uint32_t self = (uint32_t)getpid();
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 1, .tids = (uintptr_t)&self,
	};
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	s.watermark = (uint32_t)s.ring_bytes / 4;
	if (*w->pmu && roll(&w->t) % 2) {
		s.source = strcmp(w->pmu, "p6") ? TALLY_PMU_K8 : TALLY_PMU_P6;
		s.events[0].event = strcmp(w->pmu, "p6") ? 0x76 : 0x79;
	}
	if (s.source == TALLY_TIMER && roll(&w->t) % 2)
		clock_by_kernel(&s);
	/* The kernel's P6 driver loses track of NMIs when it samples. */
	if (s.source == TALLY_PERF && !strcmp(w->pmu, "k8") && roll(&w->t) % 2)
		by_kernel(&s, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (roll(&w->t) % 4 == 0) {
		s.copy_bytes = 1024;
		s.flags |= TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS;
	}
	if (roll(&w->t) % 2)
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (fd < 0 || ioctl(fd, TALLY_IOC_SETUP, &s) < 0)
		return -1;
	if (s.flags & TALLY_SETUP_TASKS &&
	    ioctl(fd, TALLY_IOC_TASKS, &tasks) < 0)
		return -1;
	return fd;
}

/* False when the answer is one that cannot be. */
static bool walk_start(struct walk *w, int fd)
{
	if (ioctl(fd, TALLY_IOC_START, 0) >= 0) {
		w->started++;
		return true;
	}
	w->busy += errno == EBUSY;
	return errno == EBUSY || errno == EBADFD;
}

/* perf only counts, for the same reason. */
static void walk_perf(struct walk *w)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	if (w->perf >= 0) {
		close(w->perf);
		w->perf = -1;
	} else {
		w->perf = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1,
				       PERF_FLAG_FD_CLOEXEC);
	}
}

static bool walk_kill(struct walk *w)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = walk_open(w);

		if (fd < 0 || !walk_start(w, fd))
			_exit(1);
		for (;;)
			getppid();
	}
	if (pid < 0)
		return false;
	nap((long)(roll(&w->t) % 5000000));
	kill(pid, SIGKILL);
	w->killed++;
	return waitpid(pid, NULL, 0) == pid;
}

static bool walk_step(struct walk *w)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	int *fd = &w->fd[roll(&w->t) % 2];
	unsigned int what = roll(&w->t) % 100;

	if (what < 4) {
		w->slept += put("/sys/power/pm_test", "freezer") &&
			    put("/sys/power/state", "freeze");
	} else if (what < 10) {
		w->cpu1_off = !w->cpu1_off;
		w->switched += put(online, w->cpu1_off ? "0" : "1");
	} else if (what < 18) {
		walk_perf(w);
	} else if (what < 24) {
		return walk_kill(w);
	} else if (what < 34) {
		nap(2000000);
	} else if (*fd < 0) {
		*fd = walk_open(w);
		return *fd >= 0;
	} else if (what < 60) {
		return walk_start(w, *fd);
	} else if (what < 80) {
		return ioctl(*fd, TALLY_IOC_STOP, 0) >= 0 || errno == EBADFD;
	} else {
		close(*fd);
		*fd = -1;
	}
	return true;
}

static void walk_print(const struct walk *w, unsigned long steps)
{
	printf("%lu steps: %lu started, %lu busy, %lu slept, %lu switched, "
	       "%lu killed\n", steps, w->started, w->busy, w->slept,
	       w->switched, w->killed);
	fflush(stdout);
}

static int walk(unsigned long steps, uint64_t seed, const char *pmu)
{
	struct walk w = {
		.t.random = seed | 1, .pmu = pmu, .fd = { -1, -1 }, .perf = -1,
	};
	unsigned long i;

	put("/sys/module/suspend/parameters/pm_test_delay", "0");
	for (i = 0; i < steps; i++) {
		/* Most of the time would be spent in waits for grace periods. */
		if (i % 1000 == 0)
			put("/sys/kernel/rcu_expedited", i % 8000 ? "1" : "0");
		if (i && i % 5000 == 0)
			walk_print(&w, i);
		if (!walk_step(&w)) {
			printf("step %lu: %s\n", i, strerror(errno));
			break;
		}
	}
	put("/sys/devices/system/cpu/cpu1/online", "1");
	put("/sys/kernel/rcu_expedited", "0");
	walk_print(&w, i);
	return i != steps;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "fuzz"))
		return fuzz(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	if (!strcmp(what, "cycles"))
		return cycles(n);
	if (!strcmp(what, "stats"))
		return argc > 3 ? copies((uint32_t)n,
					 strtoul(argv[3], NULL, 10)) : stats("", true);
	if (!strcmp(what, "cost"))
		return stats(argc > 2 ? argv[2] : "", argc < 4);
	if (!strcmp(what, "hold"))
		return hold((unsigned int)n, argc > 3);
	if (!strcmp(what, "walk"))
		return walk(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
			    argc > 4 ? argv[4] : "");
	if (!strcmp(what, "nobody"))
		return nobody();
	return 2;
}
