// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's generic event names and their numbers. */
#include "events/events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

#define HW(c) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##c
#define SW(c) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##c

enum { SW_CGROUP_SWITCHES = 11 };	/* missing in older headers */

const struct event_name event_names[] = {
	{ "cycles", "cpu-cycles", HW(CPU_CYCLES), "processor cycles" },
	{ "instructions", "", HW(INSTRUCTIONS), "instructions retired" },
	{ "cache-references", "", HW(CACHE_REFERENCES),
	  "accesses that reach the last-level cache" },
	{ "cache-misses", "", HW(CACHE_MISSES),
	  "accesses that miss the last-level cache" },
	{ "branches", "branch-instructions", HW(BRANCH_INSTRUCTIONS),
	  "branches retired" },
	{ "branch-misses", "", HW(BRANCH_MISSES), "mispredicted branches" },
	{ "bus-cycles", "", HW(BUS_CYCLES), "bus cycles" },
	{ "stalled-cycles-frontend", "idle-cycles-frontend",
	  HW(STALLED_CYCLES_FRONTEND), "cycles without instructions to issue" },
	{ "stalled-cycles-backend", "idle-cycles-backend",
	  HW(STALLED_CYCLES_BACKEND), "cycles that wait for results" },
	{ "ref-cycles", "", HW(REF_CPU_CYCLES),
	  "cycles at a constant reference rate" },
	{ "cpu-clock", "", SW(CPU_CLOCK), "time on the processor, by a timer" },
	{ "task-clock", "", SW(TASK_CLOCK), "time that a task ran" },
	{ "page-faults", "faults", SW(PAGE_FAULTS), "page faults" },
	{ "context-switches", "cs", SW(CONTEXT_SWITCHES),
	  "switches from one task to another" },
	{ "cpu-migrations", "migrations", SW(CPU_MIGRATIONS),
	  "moves of a task to another processor" },
	{ "minor-faults", "", SW(PAGE_FAULTS_MIN),
	  "page faults served from memory" },
	{ "major-faults", "", SW(PAGE_FAULTS_MAJ),
	  "page faults that read a disk" },
	{ "alignment-faults", "", SW(ALIGNMENT_FAULTS),
	  "unaligned accesses that the kernel fixed" },
	{ "emulation-faults", "", SW(EMULATION_FAULTS),
	  "instructions that the kernel emulated" },
	{ "bpf-output", "", SW(BPF_OUTPUT), "data written by BPF programs" },
	{ "cgroup-switches", "", PERF_TYPE_SOFTWARE, SW_CGROUP_SWITCHES,
	  "switches to a task of another cgroup" },
	{ "dummy", "", SW(DUMMY), "counts nothing" },
	{ NULL, NULL, 0, 0, NULL },
};

enum { OP_R = 1 << PERF_COUNT_HW_CACHE_OP_READ,
       OP_W = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
       OP_P = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH };

/* By PERF_COUNT_HW_CACHE_*, with the operations that apply (perf_event_open(2)). */
static const struct {
	const char *name;
	unsigned int ops;
	const char *what;
} caches[] = {
	{ "L1-dcache", OP_R | OP_W | OP_P, "level 1 data cache" },
	{ "L1-icache", OP_R | OP_P, "level 1 instruction cache" },
	{ "LLC", OP_R | OP_W | OP_P, "last-level cache" },
	{ "dTLB", OP_R | OP_W | OP_P, "data TLB" },
	{ "iTLB", OP_R, "instruction TLB" },
	{ "branch", OP_R, "branch predictor" },
	{ "node", OP_R | OP_W | OP_P, "memory of the local node" },
};

/* By PERF_COUNT_HW_CACHE_OP_*: "loads", and "load" before "-misses". */
static const struct {
	const char *access, *miss, *verb;
} ops[] = {
	{ "loads", "load-misses", "reads" },
	{ "stores", "store-misses", "writes" },
	{ "prefetches", "prefetch-misses", "prefetches" },
};

enum { CACHES = COUNT(caches), OPS = 3, RESULTS = 2 };

static bool same(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/* The i-th combination of a cache, an operation and a result. */
struct cache_event {
	char name[64], summary[96];
	uint64_t config;
};

/* Returns false if the operation does not apply to the cache. */
static bool cache_event(int i, struct cache_event *out)
{
	int c = i / (OPS * RESULTS), op = i / RESULTS % OPS, miss = i % RESULTS;

	snprintf(out->name, sizeof(out->name), "%s-%s", caches[c].name,
		 miss ? ops[op].miss : ops[op].access);
	snprintf(out->summary, sizeof(out->summary), "%s%s, %s", ops[op].verb,
		 miss ? " that miss" : "", caches[c].what);
	out->config = (uint64_t)(c | op << 8 | miss << 16);
	return caches[c].ops & 1u << op;
}

static bool cache_each(event_info_cb *cb, void *ctx)
{
	struct cache_event e;
	const struct event_info info = { e.name, "", "cache", e.summary };

	for (int i = 0; i < CACHES * OPS * RESULTS; i++)
		if (cache_event(i, &e) && !cb(ctx, &info))
			return false;
	return true;
}

static bool cache_find(const char *s, size_t n, struct event_spec *out)
{
	struct cache_event e;

	for (int i = 0; i < CACHES * OPS * RESULTS; i++) {
		if (!cache_event(i, &e) || !same(s, n, e.name))
			continue;
		out->type = PERF_TYPE_HW_CACHE;
		out->config = e.config;
		return true;
	}
	return false;
}

bool event_name_find(const char *s, size_t n, struct event_spec *out)
{
	if (!n)
		return false;
	for (const struct event_name *e = event_names; e->name; e++) {
		if (!same(s, n, e->name) && !same(s, n, e->alias))
			continue;
		out->type = e->type;
		out->config = e->config;
		out->software = e->type == PERF_TYPE_SOFTWARE;
		if (out->software && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
				      e->config == PERF_COUNT_SW_TASK_CLOCK))
			out->unit = EVENT_UNIT_NS;
		return true;
	}
	return cache_find(s, n, out);
}

bool event_names_each(event_info_cb *cb, void *ctx)
{
	for (const struct event_name *e = event_names; e->name; e++) {
		struct event_info info = {
			e->name, e->alias,
			e->type == PERF_TYPE_HARDWARE ? "hardware" : "software",
			e->summary,
		};

		if (!cb(ctx, &info))
			return false;
	}
	return cache_each(cb, ctx);
}
