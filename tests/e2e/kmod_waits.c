// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The waits of a thread as /dev/tally records them, against the kernel's own count of its
 * context switches: of a ring that nobody reads, what came and what was lost add up, and
 * each loss has its place.  A second thread wakes it, so that there are wakes.  Counters,
 * where the module has some, overflow meanwhile as often as it allows.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod_torture.h"

enum { WAIT_RING = 16384 };

struct waits {
	int fd;
	uint32_t counters;		/* source of them, or 0 */
	struct tally_ring *ring[2];	/* of waits, by processor */
	unsigned int nrings;
	int to[2];			/* a pipe, from the other thread */
	atomic_bool done;
	/* What was read. */
	uint64_t switches, wakes, stacks, lost, bad;
	uint64_t outs, ins, by_other;
	uint32_t self, other;
};

/* Writes to the one that waits, who would not wait for what is there already. */
static void *write_on(void *arg)
{
	struct waits *w = arg;
	int there = 0;

	w->other = (uint32_t)syscall(SYS_gettid);
	while (!atomic_load(&w->done)) {
		nap(500000);
		if (ioctl(w->to[0], FIONREAD, &there) < 0 ||
		    (!there && write(w->to[1], "", 1) != 1))
			break;
	}
	return NULL;
}

static uint64_t own_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw;
}

/* Both counts at one moment: between two readings there is no switch. */
static bool counts_now(int fd, struct tally_stats *s, uint64_t *switches)
{
	for (unsigned int i = 0; i < 1000; i++) {
		*switches = own_switches();
		*s = (struct tally_stats){ .size = sizeof(*s),
					   .cpu = TALLY_ALL_CPUS };
		if (ioctl(fd, TALLY_IOC_STATS, s) < 0)
			return false;
		if (own_switches() == *switches)
			return true;
	}
	return false;
}

static void see(struct waits *w, const void *p)
{
	const struct tally_record *r = p;
	const struct tally_switch *t = p;
	const struct tally_wake *k = p;

	switch (r->type) {
	case TALLY_RECORD_SWITCH:
		w->switches++;
		w->bad += t->tid != w->self;
		w->outs += t->flags & TALLY_SWITCH_OUT;
		w->ins += !(t->flags & TALLY_SWITCH_OUT);
		break;
	case TALLY_RECORD_WAKE:
		w->wakes++;
		w->bad += k->woken != w->self;
		w->by_other += k->tid == w->other;
		break;
	case TALLY_RECORD_SAMPLE:
		w->stacks++;
		break;
	case TALLY_RECORD_GAP:
		w->lost += ((const struct tally_gap *)p)->lost;
		break;
	default:
		w->bad++;
	}
}

static void read_ring(struct waits *w, struct tally_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)ring + ring->data_offset;
	uint64_t at = ring->tail, record[WAIT_RING / 8];

	while (at != head) {
		struct tally_record h;

		memcpy(&h, data + (at & (ring->data_size - 1)), 8);
		/* A record is a multiple of 8 bytes, and may go around the end. */
		if (h.size < sizeof(h) || h.size % 8 || h.size > head - at) {
			w->bad++;
			break;
		}
		for (size_t i = 0; i < h.size / 8u; i++)
			memcpy(record + i, data + ((at + 8 * i) &
			       (ring->data_size - 1)), 8);
		see(w, record);
		at += h.size;
	}
	__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
}

static bool waits_begin(struct waits *w)
{
	struct tally_info info = { .size = sizeof(info) };
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 1, .tids = (uintptr_t)&w->self,
	};
	struct tally_setup s = plain_setup();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *ring;

	w->counters = counters_here();
	if (w->counters) {
		by_counters(&s, w->counters);
		s.events[0].period = 20000;
	}
	s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_WAITS | TALLY_SETUP_WAKES;
	s.wait_bytes = WAIT_RING;
	w->fd = begin_as(&s, &ring);
	if (w->fd < 0 || ioctl(w->fd, TALLY_IOC_INFO, &info) < 0 ||
	    ioctl(w->fd, TALLY_IOC_TASKS, &tasks) < 0)
		return false;
	for (unsigned int cpu = 0; cpu < 2 && cpu < info.cpus; cpu++) {
		void *p = mmap(NULL, page + WAIT_RING, PROT_READ | PROT_WRITE,
			       MAP_SHARED, w->fd, (off_t)TALLY_WAIT_OFFSET(cpu,
			       info.cpus, page, RING, WAIT_RING));

		if (p != MAP_FAILED)
			w->ring[w->nrings++] = p;
	}
	return w->nrings && ioctl(w->fd, TALLY_IOC_START, 0) >= 0;
}

static void wait_often(struct waits *w, unsigned int n)
{
	char c;

	for (unsigned int i = 0; i < n; i++)
		if (i % 2)
			nap(100000);
		else if (read(w->to[0], &c, 1) != 1)
			break;
}

/* Reads all rings; what they hold must be what the module counted since. */
static bool agrees(struct waits *w, const struct tally_stats *s, const char *when)
{
	for (unsigned int i = 0; i < w->nrings; i++)
		read_ring(w, w->ring[i]);
	printf("%s: switches %llu lost %llu wakes %llu lost %llu stacks %llu lost "
	       "%llu; read %llu (out %llu, in %llu), %llu (%llu by the other), %llu, gaps of "
	       "%llu, bad %llu\n", when, (unsigned long long)s->switches,
	       (unsigned long long)s->switches_lost, (unsigned long long)s->wakes,
	       (unsigned long long)s->wakes_lost,
	       (unsigned long long)s->wait_stacks,
	       (unsigned long long)s->wait_stacks_lost,
	       (unsigned long long)w->switches, (unsigned long long)w->outs,
	       (unsigned long long)w->ins, (unsigned long long)w->wakes,
	       (unsigned long long)w->by_other, (unsigned long long)w->stacks,
	       (unsigned long long)w->lost, (unsigned long long)w->bad);
	return w->switches >= s->switches && w->wakes >= s->wakes &&
	       w->stacks >= s->wait_stacks && !w->bad;
}

/* Returns 0 if all add up. */
int waits(void)
{
	struct waits w = { .self = (uint32_t)syscall(SYS_gettid) };
	struct tally_stats a, b, c;
	uint64_t from, to, end;
	pthread_t t;
	bool fine;

	if (pipe(w.to) < 0 || pthread_create(&t, NULL, write_on, &w) ||
	    !waits_begin(&w) || !counts_now(w.fd, &a, &from))
		return 1;
	/* Few: none is lost. */
	wait_often(&w, 30);
	fine = counts_now(w.fd, &b, &to) && !b.switches_lost && !b.wakes_lost &&
	       b.switches - a.switches == 2 * (to - from) &&
	       b.wakes - a.wakes >= 10;
	fine &= agrees(&w, &b, "few");
	/* Too many for the ring: some are lost, and none is missing. */
	wait_often(&w, 2000);
	fine &= counts_now(w.fd, &b, &end) && b.switches_lost && b.wakes_lost &&
		b.wait_stacks_lost &&
		b.switches + b.switches_lost - a.switches == 2 * (end - from);
	fine &= agrees(&w, &b, "many");
	/* The next records say what was lost before them. */
	wait_often(&w, 30);
	ioctl(w.fd, TALLY_IOC_STOP, 0);
	fine &= counts_now(w.fd, &c, &end) && agrees(&w, &c, "again") &&
		w.switches == c.switches && w.wakes == c.wakes &&
		w.stacks == c.wait_stacks;
	if (w.counters) {
		uint64_t n = c.events[0].samples + c.events[0].lost;

		printf("overflows: %llu\n", (unsigned long long)n);
		fine &= n > 100;
	}
	printf("cycles of handlers for each switch, with stacks by frame pointers: "
	       "%llu\n", (unsigned long long)(c.wait_cycles / (c.switches +
						     c.switches_lost)));
	/* A processor that it did not come back to has said nothing yet. */
	fine &= w.lost && w.lost <= c.switches_lost + c.wakes_lost && w.by_other;
	atomic_store(&w.done, true);
	pthread_join(t, NULL);
	close(w.fd);
	return !fine;
}
