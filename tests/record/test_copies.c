// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples with registers and a copy of the stack: as the kernel writes them
 * (perf_output_sample, kernel/events/core.c), out of the ring, decoded.
 */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/perf/perf_decode.h"
#include "record/perf/perf_plan.h"
#include "record/perf/perf_ring.h"
#include "record/source/options.h"

#include "perf_bytes.h"

enum { ID = 5, RING = 1 << 16, NREGS = 17, CGROUP = 4711 };

static const struct stamp stamp = { 10, 11, 700, 1, ID };
static const uint64_t kernel_chain[] = {
	(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
};

struct copies {
	struct u64map ids;
	struct perf_decoder d;
	struct order o;
	struct buf b;
	uint8_t *ring;
	uint64_t regs[NREGS];
	uint8_t stack[65536];
	struct record got;
	size_t ngot, got_bytes;
	uint64_t weight;
};

static int setup(void **state)
{
	struct copies *x = calloc(1, sizeof(*x));

	if (!x || order_init(&x->o, 1) < 0)
		return -1;
	x->ring = calloc(1, RING);
	*u64map_slot(&x->ids, ID) = 0;
	x->d = (struct perf_decoder){ .ids = &x->ids, .callchain = true,
				       .max_stack = 127, .copy = true };
	for (size_t i = 0; i < NREGS; i++)
		x->regs[i] = 0x1000 + i;
	for (size_t i = 0; i < sizeof(x->stack); i++)
		x->stack[i] = (uint8_t)(i * 7 + i / 256);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct copies *x = *state;

	u64map_fini(&x->ids);
	order_fini(&x->o);
	buf_fini(&x->b);
	free(x->ring);
	free(x);
	return 0;
}

static struct user_side side(const struct copies *x, uint64_t size,
			     uint64_t used)
{
	return (struct user_side){ PERF_SAMPLE_REGS_ABI_64, x->regs, NREGS,
				   x->stack, size, used,
				   x->d.cgroup ? CGROUP : 0 };
}

static bool decode(struct copies *x, struct record *r)
{
	return perf_decode(&x->d, x->b.p, x->b.n, r);
}

/* arch/x86/include/uapi/asm/perf_regs.h numbers them ax bx cx dx si di bp sp ip
 * … r8; the walker wants the psABI's: ax dx cx bx si di bp sp r8 … ip. */
static void registers_have_the_walkers_numbers(void **state)
{
	static const int from[] = { 0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13,
				    14, 15, 16, 8 };
	struct copies *x = *state;
	struct user_side u = side(x, 64, 64);
	struct record r;

	assert_int_equal(__builtin_popcountll(PERF_REGS_TALLY), NREGS);
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1],
		 kernel_chain, 3, &u);
	assert_true(decode(x, &r));
	assert_true(r.sample.copied);
	assert_int_equal(r.sample.nkernel, 2);
	assert_int_equal(r.sample.nuser, 0);
	for (int i = 0; i < UNWIND_REGS; i++)
		assert_int_equal(r.sample.copy.regs.r[i], x->regs[from[i]]);
	assert_int_equal(r.sample.copy.regs.known, (1u << UNWIND_REGS) - 1);
	assert_int_equal(r.sample.copy.size, 64);
	assert_memory_equal(r.sample.copy.bytes, x->stack, 64);
	assert_false(r.sample.copy.all);
	assert_false(r.sample.copy.is32);
}

static void the_stack_may_end_before_the_copy(void **state)
{
	struct copies *x = *state;
	struct user_side u = side(x, 512, 40);
	struct record r;

	put_copy(&x->b, &stamp, PERF_RECORD_MISC_USER, 0x401000, kernel_chain,
		 0, &u);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.copy.size, 40);
	assert_true(r.sample.copy.all);
}

static void programs_of_32_bits(void **state)
{
	struct copies *x = *state;
	struct user_side u = side(x, 64, 64);
	struct record r;

	u.abi = PERF_SAMPLE_REGS_ABI_32;
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_USER, 0x8048000, kernel_chain,
		 0, &u);
	assert_true(decode(x, &r));
	assert_true(r.sample.copy.is32);
	/* ax to sp, and ip; there is no r8 */
	assert_int_equal(r.sample.copy.regs.known,
			 0xff | 1u << UNWIND_RIP);
}

/* Kernel threads: no registers, no stack. */
static void without_a_user_side(void **state)
{
	struct copies *x = *state;
	struct user_side u = { .abi = PERF_SAMPLE_REGS_ABI_NONE };
	struct record r;

	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1],
		 kernel_chain, 3, &u);
	assert_true(decode(x, &r));
	assert_false(r.sample.copied);
	assert_int_equal(r.sample.nkernel, 2);
}

static void sizes_that_lie_are_refused(void **state)
{
	static const uint64_t wrong[] = { 72, 1u << 20, UINT64_MAX,
					  UINT64_MAX - 7 };
	struct copies *x = *state;
	struct user_side u = side(x, 64, 64);
	struct record r;
	size_t size_at;

	for (size_t i = 0; i < 4; i++) {
		buf_reset(&x->b);
		put_copy(&x->b, &stamp, PERF_RECORD_MISC_USER, 1, kernel_chain,
			 0, &u);
		size_at = x->b.n - 8 - 64 - 8;
		memcpy(x->b.p + size_at, &wrong[i], 8);
		assert_false(decode(x, &r));
		buf_reset(&x->b);
		put_copy(&x->b, &stamp, PERF_RECORD_MISC_USER, 1, kernel_chain,
			 0, &u);
		memcpy(x->b.p + x->b.n - 8, &wrong[i], 8);	/* used */
		assert_false(decode(x, &r));
	}
	/* cut anywhere */
	for (size_t n = 56; n < x->b.n; n += 8)
		assert_false(perf_decode(&x->d, x->b.p, n, &r));
}

/* The group is the last word, with and without a user side. */
static void control_groups(void **state)
{
	struct copies *x = *state;
	struct user_side u = side(x, 64, 40);
	struct record r;

	put_copy(&x->b, &stamp, PERF_RECORD_MISC_USER, 1, kernel_chain, 0, &u);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.cgroup, 0);
	x->d.cgroup = true;
	for (int i = 0; i < 2; i++) {
		u = i ? (struct user_side){ .cgroup = CGROUP } : side(x, 64, 40);
		buf_reset(&x->b);
		put_copy(&x->b, &stamp, i ? PERF_RECORD_MISC_KERNEL
					  : PERF_RECORD_MISC_USER, 1,
			 kernel_chain, 0, &u);
		assert_true(decode(x, &r));
		assert_int_equal(r.sample.cgroup, CGROUP);
		assert_int_equal(r.sample.copy.size, i ? 0 : 40);
	}
}

static int see(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	struct copies *x = ctx;

	(void)time;
	assert_true(perf_decode(&x->d, p, n, &x->got));
	assert_int_equal(x->got.sample.cgroup, x->d.cgroup ? CGROUP : 0);
	/* borrowed bytes: looked at here */
	assert_memory_equal(x->got.sample.copy.bytes, x->stack,
			    x->got.sample.copy.size);
	x->ngot++;
	x->weight += x->got.sample.weight;
	x->got_bytes = n;
	return 0;
}

static void take(struct copies *x, uint64_t at)
{
	struct perf_bytes ring = { x->ring, RING };
	uint64_t damaged = 0;
	struct perf_intake in = { &x->o, 0, &x->d, &damaged, NULL, NULL };

	for (size_t i = 0; i < x->b.n; i++)
		x->ring[(at + i) & (RING - 1)] = x->b.p[i];
	assert_int_equal(perf_ring_take(&ring, at, at + x->b.n, &in, 1000),
			 at + x->b.n);
	assert_int_equal(damaged, 0);
	assert_int_equal(order_flush(&x->o, 1000, see, x), 0);
}

/* Of the room for a copy only what was filled leaves the ring, wherever the
 * ring's end is. */
static void only_what_was_filled_is_taken(void **state)
{
	static const uint64_t used[] = { 0, 1, 8, 100, 4096, 32752, 32759,
					 32760 };
	struct copies *x = *state;

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		for (uint64_t cut = 0; cut < 34000; cut += 1224) {
			struct user_side u;

			x->d.cgroup = cut / 1224 & 1;
			u = side(x, 32760, used[i]);
			buf_reset(&x->b);
			put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL,
				 kernel_chain[1], kernel_chain, 3, &u);
			x->ngot = 0;
			take(x, RING - cut);
			assert_int_equal(x->ngot, 1);
			assert_int_equal(x->got.pid, 10);
			assert_int_equal(x->got.sample.nkernel, 2);
			assert_int_equal(x->got.sample.copy.size, used[i]);
			assert_int_equal(x->got.sample.copy.all,
					 used[i] < 32760);
			assert_int_equal(x->got.sample.copy.regs.r[UNWIND_RSP],
					 x->regs[7]);
			assert_true(x->got_bytes <= 400 + used[i]);
		}
	}
}

/* While much waits less of each stack is kept, then fewer samples; at last they
 * are counted as lost, and other records still stay. */
static void much_that_waits_shortens_then_thins_then_drops(void **state)
{
	enum { LIMIT = 1 << 20, N = 8000 };
	static const struct stamp later = { 10, 11, 950, 1, ID };
	struct copies *x = *state;
	struct perf_bytes ring = { x->ring, RING };
	uint64_t damaged = 0, dropped = 0, thinned = 0;
	struct perf_thinning thinning = { 0, 0 };
	struct perf_pressure pressure = { .limit = LIMIT, .dropped = &dropped,
					  .thinned = &thinned,
					  .thinning = &thinning,
					  .nstreams = 1 };
	struct perf_intake in = { &x->o, 0, &x->d, &damaged, &pressure, NULL };
	struct user_side u;
	size_t n, waiting;

	x->d.cgroup = true;
	u = side(x, 32760, 32760);
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1],
		 kernel_chain, 3, &u);
	n = x->b.n;
	memcpy(x->ring, x->b.p, n);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(perf_ring_take(&ring, 0, n, &in, 1000), n);
		assert_true(order_waiting(&x->o) < LIMIT + 1000);
		/* The copies, then the rate, then samples. */
		assert_true(!thinned || pressure.shortened > 20);
		assert_true(!dropped || thinned > 1000);
	}
	assert_true(dropped > 0);
	assert_true(pressure.shortened > 100);
	waiting = order_waiting(&x->o);
	buf_reset(&x->b);
	put_comm(&x->b, &later, false, "x");
	memcpy(x->ring, x->b.p, x->b.n);
	assert_int_equal(perf_ring_take(&ring, 0, x->b.n, &in, 1000), x->b.n);
	assert_true(order_waiting(&x->o) > waiting);
	assert_int_equal(order_flush(&x->o, 900, see, x), 0);
	assert_int_equal(x->ngot + thinned + dropped, N);
	/* Each weighed 1. */
	assert_int_equal(x->weight + thinning.weight + dropped, N);
	assert_int_equal(thinning.n, thinning.weight);
	/* The shortest: there may be more of that stack. */
	assert_int_equal(x->got.sample.copy.size, 256);
	assert_false(x->got.sample.copy.all);
}

static int weigh(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct copies *x = ctx;
	struct record r;

	(void)time;
	assert_true(perf_decode(&x->d, bytes, size, &r));
	if (r.kind == RECORD_SAMPLE)
		x->weight += r.sample.weight;
	return 0;
}

/* Takes one sample, and returns the weight that it has if it is kept, or 0. */
static uint64_t weight_taken(struct copies *x, struct perf_intake *in, size_t stream,
			     uint64_t id, uint64_t weight, uint64_t time)
{
	const struct stamp s = { 10, 11, time, 1, id };
	struct perf_bytes ring = { x->ring, RING };

	buf_reset(&x->b);
	put_sample(&x->b, &s, PERF_RECORD_MISC_USER, 1, weight, kernel_chain, 3);
	memcpy(x->ring, x->b.p, x->b.n);
	in->stream = stream;
	assert_int_equal(perf_ring_take(&ring, 0, x->b.n, in, time), x->b.n);
	x->weight = 0;
	/* Only what has just been taken is so new. */
	if (in->pressure->limit == SIZE_MAX)
		assert_int_equal(order_flush(in->order, time, weigh, x), 0);
	return x->weight;
}

/* What was skipped counts for its event and its ring, also once nothing waits. */
static void skipped_samples_count_in_the_next_one(void **state)
{
	enum { OTHER_ID = ID + 1, NAMES = 100 };
	static const struct stamp early = { 10, 11, 1, 1, ID };
	struct copies *x = *state;
	uint64_t damaged = 0, dropped[2] = { 0 }, thinned[2] = { 0 };
	struct perf_thinning thinning[4] = { { 0, 0 } };
	struct perf_pressure pressure = { .limit = SIZE_MAX, .dropped = dropped,
					  .thinned = thinned, .thinning = thinning,
					  .nstreams = 2 };
	struct order o;
	struct perf_intake in = { &o, 0, &x->d, &damaged, &pressure, NULL };
	struct perf_bytes ring = { x->ring, RING };

	*u64map_slot(&x->ids, OTHER_ID) = 1;
	x->d.copy = false;
	assert_int_equal(order_init(&o, 2), 0);
	put_comm(&x->b, &early, false, "x");
	memcpy(x->ring, x->b.p, x->b.n);
	for (int i = 0; i < NAMES; i++)
		assert_int_equal(perf_ring_take(&ring, 0, x->b.n, &in, 1), x->b.n);
	/* So much waits that one of two is kept. */
	pressure.limit = order_waiting(&o) / 58 * 64;
	assert_int_equal(weight_taken(x, &in, 1, ID, 3, 10), 0);
	assert_int_equal(weight_taken(x, &in, 0, OTHER_ID, 5, 10), 0);
	assert_int_equal(thinned[0], 1);
	assert_int_equal(thinned[1], 1);
	pressure.limit = SIZE_MAX;
	assert_int_equal(order_flush(&o, 9, weigh, x), 0);
	assert_int_equal(weight_taken(x, &in, 0, ID, 1, 20), 1);
	assert_int_equal(weight_taken(x, &in, 1, ID, 2, 21), 2 + 3);
	assert_int_equal(weight_taken(x, &in, 0, OTHER_ID, 4, 22), 4 + 5);
	assert_int_equal(weight_taken(x, &in, 1, ID, 2, 23), 2);
	assert_int_equal(thinned[0] + thinned[1], 2);
	order_fini(&o);
}

/* Records that are read one by one leave the ring whole. */
static void a_copy_leaves_nothing_behind(void **state)
{
	struct copies *x = *state;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), n;
	struct perf_event_mmap_page *page = calloc(1, page_bytes + RING);
	struct perf_ring ring = { .page = page, .size = RING };
	uint8_t *to = malloc(PERF_RING_RECORD_MAX);
	struct user_side u = side(x, 4096, 40);
	uint64_t damaged = 0, time;

	assert_true(page && to);
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1], kernel_chain,
		 3, &u);
	n = x->b.n;
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1], kernel_chain,
		 3, &u);
	memcpy((uint8_t *)page + page_bytes, x->b.p, x->b.n);
	page->data_head = x->b.n;
	perf_ring_look(&ring);
	for (int i = 1; i <= 2; i++) {
		assert_true(perf_ring_peek(&ring, UINT64_MAX, UINT64_MAX, UINT64_MAX,
					   &time, &damaged));
		assert_int_equal(time, stamp.time);
		assert_in_range(perf_ring_fetch(&ring, &x->d, to), 1, n - 4000);
		assert_int_equal(page->data_tail, i * n);
	}
	assert_int_equal(damaged, 0);
	free(page);
	free(to);
}

/* What makes no sense is taken whole, and refused later. */
static void lies_in_the_ring_are_harmless(void **state)
{
	struct copies *x = *state;
	struct perf_bytes ring = { x->ring, RING };
	struct user_side u;
	size_t n;

	x->d.cgroup = true;
	u = side(x, 256, 30);
	put_copy(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, kernel_chain[1],
		 kernel_chain, 3, &u);
	n = x->b.n;
	for (size_t at = 56; at < n; at += 8) {
		static const uint64_t lies[] = { 0, 1, 7, 255, 1u << 16,
						 UINT64_MAX, 1ull << 61 };

		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			struct perf_event_header h;
			struct perf_extent e;
			uint8_t *to;

			memcpy(x->ring, x->b.p, n);
			memcpy(x->ring + at, &lies[i], 8);
			memcpy(&h, x->ring, sizeof(h));
			e = perf_record_extent(&x->d, &ring, 0, h, 0);
			assert_true(e.size <= h.size);
			assert_true(e.first <= e.size);
			to = malloc(e.size);
			perf_record_take(&ring, 0, h, e, to);
			free(to);
		}
	}
}

static void a_plan_holds_what_it_promises(void **state)
{
	static const uint64_t rates[] = { 0, 1, 99, 999, 4000, 10000, 100000,
					  UINT64_MAX };
	static const size_t cpus[] = { 1, 2, 16, 512 };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		for (size_t k = 0; k < 4; k++) {
			struct perf_copies p =
				perf_copies_plan(rates[i], cpus[k], 0);

			assert_true(p.copy_bytes >= SOURCE_COPY_MIN);
			assert_true(p.copy_bytes <= SOURCE_COPY_MAX);
			assert_int_equal(p.copy_bytes % 8, 0);
			/* the kernel wants a power of two */
			assert_int_equal(p.ring_bytes & (p.ring_bytes - 1), 0);
			assert_true(p.ring_bytes <= 32 << 20);
			if (p.copy_bytes > SOURCE_COPY_MIN)
				assert_true(p.copy_bytes * 8ull <=
					    p.ring_bytes);
		}
	}
	assert_int_equal(perf_copies_plan(999, 2, 32768).copy_bytes, 32768);
	/* 50 ms at 999 Hz: 49 copies */
	assert_in_range(perf_copies_plan(999, 2, 0).copy_bytes, 4096,
			perf_copies_plan(999, 2, 0).ring_bytes / 49);
}

static void calm_rings_hold_a_second_within_a_limit(void **state)
{
	static const size_t cpus[] = { 1, 2, 64, 128, 512, 2048 };

	(void)state;
	for (size_t k = 0; k < 6; k++) {
		struct perf_copies p = perf_copies_plan_calm(99, cpus[k], 0);
		struct perf_rings r = perf_rings_plan(p.ring_bytes, cpus[k],
						      false, true);

		assert_true(p.copy_bytes >= SOURCE_COPY_MIN);
		assert_true(p.copy_bytes <= 24 << 10);
		assert_int_equal(p.copy_bytes % 8, 0);
		assert_int_equal(p.ring_bytes & (p.ring_bytes - 1), 0);
		assert_true(r.samples * cpus[k] <= 256 << 20);
		assert_true(r.sideband * cpus[k] <= 64 << 20 || r.sideband <=
			    64 << 10);
		/* a copy that is large enough is not reduced, where memory is
		 * plentiful */
		if (perf_ring_size() == 2 << 20 && cpus[k] <= 2)
			assert_true(p.ring_bytes >= 5 * 99 / 4 * (24 << 10));
	}
	/* without copies */
	if (perf_ring_size() == 2 << 20)
		assert_int_equal(perf_rings_plan(2 << 20, 512, false, true).samples,
				 512 << 10);
	assert_int_equal(perf_copies_plan_calm(99, 2, 32768).copy_bytes, 32768);
	/* rounds end well before the ring is full, or are not planned */
	for (uint64_t rate = 1; rate < 5000; rate += 7) {
		struct perf_rounds r = perf_rounds_plan(rate, 4 << 20, 32 << 10);

		assert_true(r.round_ms < r.rescue_ms || !r.round_ms);
		assert_true(rate * r.rescue_ms * ((32 << 10) + 200) / 1000 <
			    4 << 20);
	}
	assert_in_range(perf_rounds_plan(99, 4 << 20, 32 << 10).round_ms, 500, 1000);
	assert_int_equal(perf_rounds_plan(999, 4 << 20, 32 << 10).round_ms, 0);
	assert_int_equal(perf_rounds_plan(0, 4 << 20, 0).round_ms, 0);
	assert_true(perf_copies_plan_calm(UINT64_MAX, 2, 65528).ring_bytes <=
		    32 << 20);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(registers_have_the_walkers_numbers),
		WITH(the_stack_may_end_before_the_copy),
		WITH(programs_of_32_bits),
		WITH(without_a_user_side),
		WITH(sizes_that_lie_are_refused),
		WITH(control_groups),
		WITH(only_what_was_filled_is_taken),
		WITH(much_that_waits_shortens_then_thins_then_drops),
		WITH(skipped_samples_count_in_the_next_one),
		WITH(a_copy_leaves_nothing_behind),
		WITH(lies_in_the_ring_are_harmless),
		cmocka_unit_test(a_plan_holds_what_it_promises),
		cmocka_unit_test(calm_rings_hold_a_second_within_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
