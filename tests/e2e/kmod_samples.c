// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of /dev/tally, each looked at: their number, their copies of stacks, their
 * sums, the threads that they are of. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kmod_torture.h"

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
int stats(const char *pmu, bool callers)
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

struct added;

/* What is known of the stack that is copied. */
struct checked {
	uint64_t low, high;	/* words here are their addresses, turned */
	uint64_t end;		/* of its memory */
	uint32_t want;
	bool look;		/* all of the stack was touched */
	unsigned int good, bad, others;
	uint64_t tail, bytes;	/* records */
	struct added *added;	/* NULL: records of one thread are checked */
};

/* Copies end before a page that was never touched. */
static uint64_t touched_until(uint64_t at, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char is;

	for (at &= -page; at < to; at += page)
		if (mincore((void *)(uintptr_t)at, page, &is) < 0 || !(is & 1))
			break;
	return at < to ? at : to;
}

/* Returns the address of argc: startstack of proc(5), the 26th field after the name. */
static uint64_t stack_start(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	char line[1024] = "", *at;

	if (f && !fgets(line, sizeof(line), f))
		*line = 0;
	if (f)
		fclose(f);
	at = strrchr(line, ')');
	for (int i = 0; at && i < 26; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static uint64_t stack_end(void)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	return touched_until(here, stack_start() + TALLY_COPY_ABOVE);
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

static void add_record(struct added *a, const uint8_t *p);

/* One record, taken out of its ring. */
static void check_record(struct checked *c, const uint8_t *p)
{
	const struct tally_sample *s = (const struct tally_sample *)p;
	size_t at = sizeof(*s);

	if (c->added) {
		add_record(c->added, p);
		return;
	}
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

int copies(uint32_t bytes, size_t depth)
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

/* All that was taken of a recording of a processor whose equal samples are added up. */
struct added {
	struct checked ring;
	uint64_t records, again, added;	/* samples with a record; among them with a
					 * stack by number; samples without one */
	uint64_t weight;
	uint64_t entries;		/* in which the latter came */
};

static void add_record(struct added *a, const uint8_t *p)
{
	const struct tally_sample *s = (const struct tally_sample *)p;

	if (s->r.type != TALLY_RECORD_SAMPLE)
		return;
	a->records++;
	a->again += !!(s->flags & TALLY_SAMPLE_AGAIN);
	a->weight += s->weight;
}

static bool take_added(struct added *a, int fd, uint32_t cpu)
{
	static struct tally_count counts[TALLY_COUNTS_MAX];
	struct tally_counts u = {
		.size = sizeof(u), .cpu = cpu, .n = TALLY_COUNTS_MAX,
		.to = (uintptr_t)counts,
	};

	if (ioctl(fd, TALLY_IOC_COUNTS, &u) < 0)
		return false;
	for (uint32_t i = 0; i < u.n; i++) {
		const struct tally_count *t = &counts[i];

		if (t->r.type != TALLY_RECORD_COUNT || t->cpu != cpu ||
		    !t->stack || !t->n || t->first > t->r.time)
			return false;
		a->added += t->n;
		a->weight += t->weight;
	}
	a->entries += u.n;
	return true;
}

static bool added_right(const struct added *a, const struct tally_stats *s)
{
	const struct tally_event_stats *e = &s->events[0];

	printf("%llu samples with a record, %llu by the number of their stack, "
	       "%llu added up in %llu\n",
	       (unsigned long long)a->records, (unsigned long long)a->again,
	       (unsigned long long)a->added, (unsigned long long)a->entries);
	/* Those that were not taken have a weight, too. */
	return a->records + a->added == e->samples && a->added == s->counted &&
	       (e->lost || e->throttled || e->missed || a->weight == e->weight);
}

/* An idle machine is in few places, all of them in the kernel. */
int counts(void)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = 0 };
	struct tally_setup u = plain_setup();
	struct added a = { .ring.added = &a };
	time_t end = time(NULL) + 3;
	void *ring;
	bool fine;
	int fd;

	u.flags |= TALLY_SETUP_STACKS | TALLY_SETUP_COUNT;
	fd = begin_as(&u, &ring);
	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	do {
		nap(20000000);
		fine = take_added(&a, fd, 0) && check_ring(&a.ring, ring);
	} while (fine && time(NULL) < end);
	ioctl(fd, TALLY_IOC_STOP, 0);
	fine = fine && take_added(&a, fd, 0) && check_ring(&a.ring, ring) &&
	       !ioctl(fd, TALLY_IOC_STATS, &s) && added_right(&a, &s);
	return !fine || !a.added;
}

static uint64_t own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A thread that is named more than once counts once: its time by the kernel's clock. */
int twice(void)
{
	uint32_t self = (uint32_t)getpid(), tids[2] = { self, self };
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 2, .tids = (uintptr_t)tids,
	};
	struct tally_stats t = { .size = sizeof(t), .cpu = TALLY_ALL_CPUS };
	struct tally_setup s = plain_setup();
	uint64_t from, own, counted;
	void *ring;
	int fd;

	by_kernel(&s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	s.flags |= TALLY_SETUP_TASKS;
	fd = begin_as(&s, &ring);
	if (fd < 0 || ioctl(fd, TALLY_IOC_TASKS, &tasks) < 0 ||
	    ioctl(fd, TALLY_IOC_TASKS, &tasks) < 0 ||
	    ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	from = own_time();
	while (own_time() < from + 100000000)
		getppid();
	own = own_time() - from;
	if (ioctl(fd, TALLY_IOC_STOP, 0) < 0 || ioctl(fd, TALLY_IOC_STATS, &t) < 0)
		return 1;
	counted = t.perf[0].value;
	printf("counted %llu ns of %llu\n", (unsigned long long)counted,
	       (unsigned long long)own);
	return counted < own / 2 || counted > own / 2 * 3;
}

struct sleeper {
	_Atomic uint32_t tid;
	atomic_bool done;
};

static bool go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* Sleeps and runs for microseconds, on the second processor where there is one. */
static void *sleep_often(void *arg)
{
	struct sleeper *t = arg;

	go_to(1);
	atomic_store(&t->tid, (uint32_t)syscall(SYS_gettid));
	while (!atomic_load(&t->done))
		nap(1000);
	return NULL;
}

/* The time of a recording never goes back, although another processor adds to it. */
int clock_forward(unsigned int seconds)
{
	struct sleeper t = { 0 };
	uint32_t tid;
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 1, .tids = (uintptr_t)&tid,
	};
	struct tally_setup s = plain_setup();
	time_t end = time(NULL) + seconds;
	unsigned long n = 0, back = 0;
	uint64_t last = 0;
	pthread_t thread;
	void *ring;
	int fd;

	s.flags |= TALLY_SETUP_TASKS;
	fd = begin_as(&s, &ring);
	if (fd < 0 || pthread_create(&thread, NULL, sleep_often, &t))
		return 1;
	go_to(0);
	while (!atomic_load(&t.tid))
		sched_yield();
	tid = atomic_load(&t.tid);
	if (ioctl(fd, TALLY_IOC_TASKS, &tasks) < 0 ||
	    ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	for (; n % 1000 || time(NULL) < end; n++) {
		struct tally_stats now = { .size = sizeof(now),
					   .cpu = TALLY_ALL_CPUS };

		if (ioctl(fd, TALLY_IOC_STATS, &now) < 0)
			return 1;
		back += now.enabled_ns < last;
		last = now.enabled_ns;
	}
	atomic_store(&t.done, true);
	pthread_join(thread, NULL);
	printf("%lu readings, %lu went back\n", n, back);
	return back || !last;
}
