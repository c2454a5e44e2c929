// SPDX-License-Identifier: GPL-2.0-or-later
/* How large rings and copies of stacks should be. */
#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/perf/perf_open.h"
#include "record/source/rights.h"

enum {
	RING_MIN = 128 << 10,
	RING_USUAL = 2 << 20,	/* at least, where memory is no question */
	RING_MAX = 32 << 20,
	RATE_UNKNOWN = 4000,
	HOLD_MS = 256,		/* of full copies, if memory allows */
	HOLD_MIN_MS = 50,	/* … or copies become smaller */
	HOLD_MIN = 8,		/* copies */
	RECORD_REST = 512,	/* of a sample beside its copy, about */
	MEMORY_SHARE = 32,	/* all rings take less than 1/32 of it */
	/* Rings of mappings, forks and exits wake us for each mapping: who made
	 * it may be gone soon. */
	NEWS_BYTES = 64 << 10,
	NEWS_BYTES_PRIVILEGED = 512 << 10,
	/* Each switch has a record of 64 bytes, and each wake one of 104. */
	SWITCH_BYTES = 128 << 10,
	SWITCH_BYTES_PRIVILEGED = 2 << 20,
	RING_LEAST = 4096,
};

static size_t half_down(size_t n, size_t limit)
{
	while (n > RING_MIN && n > limit)
		n /= 2;
	return n;
}

size_t perf_ring_room(size_t ncpus)
{
	struct rlimit lock = { 0, 0 };
	struct rights r;
	uint64_t all;

	rights_read(&r);
	if (rights_has(&r, CAP_IPC_LOCK) ||
	    (r.paranoid != RIGHTS_UNKNOWN && r.paranoid < 0)) {
		all = (uint64_t)sysconf(_SC_PHYS_PAGES) *
		      (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE;
		return (size_t)(all / ncpus);
	}
	/* perf_mmap, kernel/events/core.c: so much for each CPU that is online,
	 * and what may be locked besides.  An eighth is for mappings. */
	all = (uint64_t)perf_sysctl("perf_event_mlock_kb", 516) * 1024 *
	      (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (!getrlimit(RLIMIT_MEMLOCK, &lock))
		all += lock.rlim_cur < (1u << 30) ? lock.rlim_cur : 1u << 30;
	return (size_t)(all / ncpus / 8 * 7);
}

static size_t at_most(size_t bytes, size_t share)
{
	while (bytes > share && bytes > RING_LEAST)
		bytes /= 2;
	return bytes;
}

struct perf_rings perf_rings_plan(size_t samples, size_t ncpus, bool waits)
{
	struct perf_rings r = { samples, NEWS_BYTES_PRIVILEGED,
				SWITCH_BYTES_PRIVILEGED };
	size_t room = perf_ring_room(ncpus ? ncpus : 1);

	if (samples > NEWS_BYTES_PRIVILEGED)
		return r;
	r.samples = at_most(samples, waits ? room / 2 : room / 4 * 3);
	r.news = at_most(NEWS_BYTES, room / 6);
	r.switches = at_most(SWITCH_BYTES, room / 4);
	return r;
}

struct perf_copies perf_copies_plan(uint64_t rate, size_t ncpus,
				    uint32_t wanted, size_t ring)
{
	struct perf_copies plan = { ring, wanted };
	uint64_t hold, full = wanted ? wanted : PERF_COPY_MAX;

	if (!rate)
		rate = RATE_UNKNOWN;
	if (rate > 1000000)
		rate = 1000000;
	hold = rate * HOLD_MIN_MS / 1000;
	if (hold < HOLD_MIN)
		hold = HOLD_MIN;
	if (!ring) {
		size_t room = perf_ring_room(ncpus ? ncpus : 1);

		plan.ring_bytes = RING_USUAL;
		while (plan.ring_bytes < RING_MAX &&
		       plan.ring_bytes < rate * HOLD_MS / 1000 * full)
			plan.ring_bytes *= 2;
		plan.ring_bytes = half_down(plan.ring_bytes, room);
	}
	if (!wanted) {
		uint64_t fit = plan.ring_bytes / hold;

		fit = fit > RECORD_REST + PERF_COPY_MIN ? fit - RECORD_REST
							: PERF_COPY_MIN;
		plan.copy_bytes = fit < PERF_COPY_MAX
				  ? (uint32_t)fit & ~7u : PERF_COPY_MAX;
	}
	return plan;
}
