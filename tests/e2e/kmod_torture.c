// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Treats /dev/tally as programs should not.
 *
 *	kmod_torture hostile CALLS SEED	ioctls with random and boundary arguments, by
 *			three users: kmod_hostile.c
 *	kmod_torture cycles N		open, set up, start, stop, close
 *	kmod_torture stats [COPY DEPTH]	three seconds of samples and the
 *			histogram; with copies of so many bytes of a stack of so
 *			many, each checked
 *	kmod_torture hold SECONDS [kernel]	a recording is open and runs; by the
 *			kernel's own events
 *	kmod_torture nobody		tries as a user without rights
 *	kmod_torture walk STEPS SEED [k8|p6]	two recordings, perf, sleep and
 *			processors in any order: kmod_walk.c
 *	kmod_torture reload N SEED MODULE TALLY	loads the module, kills a recorder,
 *			unloads: kmod_reload.c
 *	kmod_torture memory NAME	memory that the kernel holds, after some quiet
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

#include "kmod_torture.h"

uint64_t seeded(uint64_t seed, unsigned int which)
{
	/* splitmix64 */
	uint64_t z = seed + (which + 1) * 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) | 1;
}

struct tally_setup plain_setup(void)
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

void by_kernel(struct tally_setup *s, uint32_t type, uint64_t config)
{
	s->source = TALLY_PERF;
	s->perf[0].type = type;
	s->perf[0].config = config;
}

void by_counters(struct tally_setup *s, uint32_t source)
{
	s->source = source;
	s->events[0].event = source == TALLY_PMU_P6 ? 0x79 : 0x76;
}

uint32_t counters_here(void)
{
	struct tally_info info = { .size = sizeof(info) };
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (ioctl(fd, TALLY_IOC_INFO, &info) < 0)
		info.sources = 0;
	close(fd);
	return info.sources & 1u << TALLY_PMU_K8 ? TALLY_PMU_K8
	     : info.sources & 1u << TALLY_PMU_P6 ? TALLY_PMU_P6 : 0;
}

void nap(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, text, strlen(text)) > 0;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fine;
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
			nap(2000000);
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

	if (*pmu)
		by_counters(&s, strcmp(pmu, "p6") ? TALLY_PMU_K8 : TALLY_PMU_P6);
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "hostile"))
		return hostile(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
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
	if (!strcmp(what, "reload") && argc > 5)
		return reload(n, strtoull(argv[3], NULL, 10), argv[4], argv[5]);
	if (!strcmp(what, "memory") && argc > 2)
		return memory(argv[2]);
	if (!strcmp(what, "nobody"))
		return nobody();
	return 2;
}
