// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the sizes of rings and of stack copies. */
#include "record/perf/perf_plan.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/perf/perf_open.h"
#include "record/source/options.h"
#include "record/source/rights.h"

enum {
	RING_MIN = 128 << 10,
	RING_USUAL = 2 << 20,	/* minimum where memory is plentiful */
	RING_MAX = 32 << 20,
	RATE_UNKNOWN = 4000,
	HOLD_MS = 256,		/* ms of full copies, if memory allows */
	HOLD_MIN_MS = 50,	/* ms below which copies become smaller */
	HOLD_MIN = 8,		/* minimum number of copies */
	RECORD_BASE = 512,	/* approximate size of a sample without its copy */
	MEMORY_SHARE = 32,	/* all rings together use less than 1/32 of memory */
	/* Rings of mappings, forks and exits wake tally for each mapping, because the
	 * process may be gone soon. */
	SIDEBAND_BYTES = 64 << 10,
	SIDEBAND_BYTES_PRIVILEGED = 512 << 10,
	/* Each switch takes a record of 64 bytes, and each wakeup one of 104. */
	SWITCH_BYTES = 128 << 10,
	SWITCH_BYTES_PRIVILEGED = 2 << 20,
	RING_BYTES_MIN = 4096,
	/* Recordings that wake rarely (`calm`): a ring has copies for more than a round.
	 * Most stacks of compilers fit into such a copy.  Larger ones would need
	 * more locked memory, and touch more of it. */
	CALM_HOLD_MS = 1250,
	CALM_COPY = 20 << 10,
	CALM_SIDEBAND_BYTES = 1 << 20,
	/* … and on machines with many CPUs these are the limits of all such rings. */
	CALM_RINGS_MAX = 256 << 20,
	CALM_SIDEBANDS_MAX = 64 << 20,
	CALM_HOLD_MIN_MS = 500,	/* rings that hold less must report how full they are */
	CALM_ROUND_MS = 1500,
	CALM_RESCUE_MS = 1700,
	CHAIN_BYTES = 2048,	/* approximate maximum of a sample without a copy */
};

static size_t half_down(size_t n, size_t limit)
{
	while (n > RING_MIN && n > limit)
		n /= 2;
	return n;
}

/* Returns the approximate number of bytes that all rings of one CPU may have. */
static size_t perf_ring_room(size_t ncpus)
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
	/* perf_mmap, kernel/events/core.c: the sysctl's value for each online CPU,
	 * plus the limit of locked memory.  One eighth is for mappings. */
	all = (uint64_t)perf_sysctl("perf_event_mlock_kb", 516) * 1024 *
	      (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (!getrlimit(RLIMIT_MEMLOCK, &lock))
		all += lock.rlim_cur < (1u << 30) ? lock.rlim_cur : 1u << 30;
	return (size_t)(all / ncpus / 8 * 7);
}

static size_t at_most(size_t bytes, size_t share)
{
	while (bytes > share && bytes > RING_BYTES_MIN)
		bytes /= 2;
	return bytes;
}

struct perf_rings perf_rings_plan(size_t samples, size_t ncpus, bool waits,
				  bool calm)
{
	struct perf_rings r = { samples, SIDEBAND_BYTES_PRIVILEGED,
				SWITCH_BYTES_PRIVILEGED };
	size_t n = ncpus ? ncpus : 1, room = perf_ring_room(n);

	if (samples <= SIDEBAND_BYTES_PRIVILEGED) {
		r.samples = at_most(samples, waits ? room / 2 : room / 4 * 3);
		r.sideband = at_most(SIDEBAND_BYTES, room / 6);
		r.switches = at_most(SWITCH_BYTES, room / 4);
	} else if (calm) {
		r.samples = half_down(samples, CALM_RINGS_MAX / n);
		r.sideband = at_most(CALM_SIDEBAND_BYTES, room / 6);
		r.sideband = at_most(r.sideband, CALM_SIDEBANDS_MAX / n);
	}
	return r;
}

static uint64_t usable_rate(uint64_t rate)
{
	if (!rate)
		return RATE_UNKNOWN;
	return rate < 1000000 ? rate : 1000000;
}

/* Returns the size of a ring for `bytes` bytes, from RING_USUAL to RING_MAX. */
static size_t ring_for(uint64_t bytes)
{
	size_t ring = RING_USUAL;

	while (ring < RING_MAX && ring < bytes)
		ring *= 2;
	return ring;
}

/* Returns the size of copies of which a ring holds HOLD_MIN_MS. */
static uint32_t copy_for(size_t ring, uint64_t rate, uint32_t most)
{
	uint64_t hold = rate * HOLD_MIN_MS / 1000, fit;

	fit = ring / (hold < HOLD_MIN ? HOLD_MIN : hold);
	fit = fit > RECORD_BASE + SOURCE_COPY_MIN ? fit - RECORD_BASE
						: SOURCE_COPY_MIN;
	return fit < most ? (uint32_t)fit & ~7u : most;
}

struct perf_copies perf_copies_plan(uint64_t rate, size_t ncpus,
				    uint32_t wanted)
{
	struct perf_copies plan = { 0, wanted };

	rate = usable_rate(rate);
	plan.ring_bytes = half_down(ring_for(rate * HOLD_MS / 1000 *
					     (wanted ? wanted : SOURCE_COPY_MAX)),
				    perf_ring_room(ncpus ? ncpus : 1));
	if (!wanted)
		plan.copy_bytes = copy_for(plan.ring_bytes, rate, SOURCE_COPY_MAX);
	return plan;
}

struct perf_copies perf_copies_plan_calm(uint64_t rate, size_t ncpus,
					 uint32_t wanted)
{
	struct perf_copies plan = { 0, wanted };
	size_t n = ncpus ? ncpus : 1, room = perf_ring_room(n);

	rate = usable_rate(rate);
	if (room > CALM_RINGS_MAX / n)
		room = CALM_RINGS_MAX / n;
	plan.ring_bytes = half_down(ring_for(rate * CALM_HOLD_MS / 1000 *
					     (wanted ? wanted : CALM_COPY)),
				    room);
	if (!wanted)
		plan.copy_bytes = copy_for(plan.ring_bytes, rate, CALM_COPY);
	return plan;
}

static uint32_t at_most_ms(uint64_t ms, uint32_t most)
{
	return ms < most ? (uint32_t)ms : most;
}

struct perf_rounds perf_rounds_plan(uint64_t rate, size_t ring, uint32_t copy)
{
	uint64_t hold, record = copy ? RECORD_BASE + copy : CHAIN_BYTES;
	struct perf_rounds r = { 0, 0 };

	if (!rate || rate > RATE_UNKNOWN)
		return r;
	hold = ring * 1000 / (rate * record);
	if (hold < CALM_HOLD_MIN_MS)
		return r;
	r.round_ms = at_most_ms(hold / 4 * 3, CALM_ROUND_MS);
	r.rescue_ms = at_most_ms(hold / 6 * 5, CALM_RESCUE_MS);
	return r;
}

size_t perf_ring_size(void)
{
	/* Together with the ring of mappings, within the 516 KB per CPU that every
	 * user has. */
	enum { PRIVILEGED = 2 << 20, USUAL = 256 << 10 };
	struct rights r;

	rights_read(&r);
	/* Locked memory is unlimited with CAP_IPC_LOCK and below paranoid 0
	 * (perf_mmap, kernel/events/core.c). */
	return rights_has(&r, CAP_IPC_LOCK) ||
	       (r.paranoid != RIGHTS_UNKNOWN && r.paranoid < 0)
	       ? PRIVILEGED : USUAL;
}
