// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes of a perf ring: wrap-around, damage, every kind of record. */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_ring.h"

#include "perf_bytes.h"

enum { ID = 71, EVENT = 3 };

static const struct stamp stamp = { 100, 101, 5000, 2, ID };

struct decoding {
	struct u64map ids;
	struct perf_decoder d;
	struct buf b;
};

static int setup(void **state)
{
	struct decoding *x = calloc(1, sizeof(*x));
	uint32_t *slot = x ? u64map_slot(&x->ids, ID) : NULL;

	if (!slot)
		return -1;
	*slot = EVENT;
	x->d = (struct perf_decoder){ .ids = &x->ids, .callchain = true,
				       .max_stack = 127 };
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct decoding *x = *state;

	u64map_fini(&x->ids);
	buf_fini(&x->b);
	free(x);
	return 0;
}

static bool decode(struct decoding *x, struct record *r)
{
	return perf_decode(&x->d, x->b.p, x->b.n, r);
}

/* As in perf.data whose events requested build IDs. */
static bool decode_with_ids(struct decoding *x, struct record *r)
{
	enum { TRAILER = 32 };	/* pid, tid, time, cpu, id */
	struct cursor c = cursor_of(x->b.p + sizeof(struct perf_event_header),
				    x->b.n - TRAILER -
				    sizeof(struct perf_event_header));
	struct perf_event_header h;

	memcpy(&h, x->b.p, sizeof(h));
	memset(r, 0, sizeof(*r));
	return perf_decode_other(&x->d, h, &c, r);
}

static void samples_without_chain(void **state)
{
	struct decoding *x = *state;
	struct record r;

	x->d.callchain = false;
	put_sample(&x->b, &stamp, PERF_RECORD_MISC_USER, 0x401234, 77, NULL, 0);
	assert_int_equal(perf_record_time(x->b.p, x->b.n), 5000);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_SAMPLE);
	assert_int_equal(r.event, EVENT);
	assert_int_equal(r.pid, 100);
	assert_int_equal(r.tid, 101);
	assert_int_equal(r.cpu, 2);
	assert_int_equal(r.sample.weight, 77);
	assert_int_equal(r.sample.nuser, 1);
	assert_int_equal(r.sample.nkernel, 0);
	assert_int_equal(r.sample.user[0], 0x401234);
	buf_reset(&x->b);
	put_sample(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010,
		   1, NULL, 0);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.nkernel, 1);
	assert_int_equal(r.sample.kernel[0], 0xffffffff81000010);
	buf_reset(&x->b);
	put_sample(&x->b, &stamp, PERF_RECORD_MISC_GUEST_KERNEL, 5, 1, NULL, 0);
	assert_true(decode(x, &r));
	assert_true(r.sample.guest);
}

/* sched:sched_waking on Linux 6.1: common fields, comm[16], pid, prio, CPU. */
static void put_wake(struct buf *b, uint8_t flags, uint32_t pid, size_t bytes)
{
	size_t at = record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	uint8_t raw[36] = { 0x77, 1, flags };

	memcpy(raw + 24, &pid, sizeof(pid));
	buf_u64(b, stamp.id);
	buf_u64(b, 0xffffffff81000010);
	buf_u32(b, stamp.pid);
	buf_u32(b, stamp.tid);
	buf_u64(b, stamp.time);
	buf_u32(b, stamp.cpu);
	buf_u32(b, 0);
	buf_u64(b, 1);
	buf_u32(b, (uint32_t)bytes);
	buf_bytes(b, raw, bytes < sizeof(raw) ? bytes : sizeof(raw));
	record_end(b, at);
}

static void wakes_report_the_woken_thread(void **state)
{
	struct decoding *x = *state;
	struct record r;

	/* They have no chain and no stack, whatever samples have. */
	x->d.copy = true;
	x->d.wakes = EVENT;
	x->d.woken_at = x->d.waking_at = 24;
	put_wake(&x->b, 0, 4711, 36);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_WAKE);
	assert_int_equal(r.tid, 101);
	assert_int_equal(perf_record_time(x->b.p, x->b.n), 5000);
	assert_int_equal(r.wake.tid, 4711);
	assert_false(r.wake.interrupt);
	assert_int_equal(perf_sample_event(&x->d, &(struct perf_bytes){
			 x->b.p, 128 }, 0, x->b.n), U64MAP_NONE);
	/* linux/trace_events.h: 8 a hard interrupt, 16 a soft one. */
	buf_reset(&x->b);
	put_wake(&x->b, 8 | 1, 5, 36);
	assert_true(decode(x, &r) && r.wake.interrupt);
	buf_reset(&x->b);
	put_wake(&x->b, 16, 5, 36);
	assert_true(decode(x, &r) && r.wake.interrupt);
	/* Too short for the number, or more than is there. */
	for (size_t n = 0; n < 28; n++) {
		buf_reset(&x->b);
		put_wake(&x->b, 0, 5, n);
		assert_false(decode(x, &r));
	}
	buf_reset(&x->b);
	put_wake(&x->b, 0, 5, 400);
	assert_false(decode(x, &r));
	x->d.woken_at = UINT32_MAX;
	buf_reset(&x->b);
	put_wake(&x->b, 0, 5, 36);
	assert_false(decode(x, &r));
}

static void chains_are_split_by_mode(void **state)
{
	static const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010,
		0xffffffff81000020, (uint64_t)PERF_CONTEXT_USER, 0x401000,
		0x402000, 0x403000,
	};
	struct decoding *x = *state;
	struct record r;

	put_sample(&x->b, &stamp, PERF_RECORD_MISC_KERNEL, chain[1], 1, chain,
		   7);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.nkernel, 2);
	assert_int_equal(r.sample.kernel[1], 0xffffffff81000020);
	assert_int_equal(r.sample.nuser, 3);
	assert_int_equal(r.sample.user[0], 0x401000);
	assert_int_equal(r.sample.user[2], 0x403000);
	assert_false(r.sample.cut);
	x->d.max_stack = 5;
	assert_true(decode(x, &r));
	assert_true(r.sample.cut);
}

static void guest_parts_and_marks_are_left_out(void **state)
{
	static const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_USER, 0x401000,
		(uint64_t)PERF_CONTEXT_GUEST_USER, 0x11, 0x12,
		(uint64_t)PERF_CONTEXT_USER, 0x13,	/* twice: not adjacent */
	};
	struct decoding *x = *state;
	struct record r;

	put_sample(&x->b, &stamp, PERF_RECORD_MISC_USER, 0x401000, 1, chain, 7);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.nuser, 1);
	assert_int_equal(r.sample.user[0], 0x401000);
}

static void an_empty_chain_leaves_the_address(void **state)
{
	static const uint64_t none;
	struct decoding *x = *state;
	struct record r;

	put_sample(&x->b, &stamp, PERF_RECORD_MISC_USER, 0x401000, 1, &none, 0);
	assert_true(decode(x, &r));
	assert_int_equal(r.sample.nuser, 1);
	assert_int_equal(r.sample.user[0], 0x401000);
}

static void chains_longer_than_their_record_are_refused(void **state)
{
	static const uint64_t chain[] = { 1, 2, 3 };
	struct decoding *x = *state;
	uint64_t huge[] = { 4, 1u << 29, UINT64_MAX, UINT64_MAX / 8 + 1 };
	struct record r;

	for (size_t i = 0; i < 4; i++) {
		buf_reset(&x->b);
		put_sample(&x->b, &stamp, PERF_RECORD_MISC_USER, 1, 1, chain,
			   3);
		memcpy(x->b.p + 56, &huge[i], 8);	/* nr */
		assert_false(decode(x, &r));
	}
}

static void mappings(void **state)
{
	static const uint8_t id[20] = { 0xab, 0xcd, 3 };
	struct decoding *x = *state;
	struct record r;

	put_mmap2(&x->b, &stamp, 0x1000, 0x2000, 0x3000, 0xfe, 1, 42,
		  "/usr/bin/cat");
	assert_int_equal(perf_record_time(x->b.p, x->b.n), 5000);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_MMAP);
	assert_int_equal(r.mmap.start, 0x1000);
	assert_int_equal(r.mmap.len, 0x2000);
	assert_int_equal(r.mmap.offset, 0x3000);
	assert_int_equal(r.mmap.dev, makedev(0xfe, 1));
	assert_int_equal(r.mmap.inode, 42);
	assert_int_equal(r.mmap.build_id.len, 0);
	assert_string_equal(r.mmap.path, "/usr/bin/cat");
	buf_reset(&x->b);
	put_mmap2_id(&x->b, &stamp, 0x1000, 0x2000, 0, id, 20, "/lib/a.so");
	assert_true(decode_with_ids(x, &r));
	assert_int_equal(r.mmap.build_id.len, 20);
	assert_memory_equal(r.mmap.build_id.bytes, id, 20);
	assert_int_equal(r.mmap.inode, 0);
	buf_reset(&x->b);
	put_mmap2_id(&x->b, &stamp, 0x1000, 0x2000, 0, id, 21, "/lib/a.so");
	assert_false(decode_with_ids(x, &r));
	buf_reset(&x->b);
	/* In the ring the flag is that of another recorder. */
	put_mmap2(&x->b, &stamp, 0x1000, 0x2000, 0, 8, 1, 43, "/lib/b.so");
	x->b.p[5] |= PERF_RECORD_MISC_MMAP_BUILD_ID >> 8;
	assert_true(decode(x, &r));
	assert_int_equal(r.mmap.build_id.len, 0);
	assert_int_equal(r.mmap.dev, makedev(8, 1));
	assert_int_equal(r.mmap.inode, 43);
	assert_string_equal(r.mmap.path, "/lib/b.so");
	buf_reset(&x->b);
	put_mmap2(&x->b, &stamp, UINT64_MAX - 10, 100, 0, 0, 0, 0, "/x");
	assert_false(decode(x, &r));
}

static void names_without_end_are_refused(void **state)
{
	struct decoding *x = *state;
	struct record r;

	put_comm(&x->b, &stamp, false, "1234567");
	assert_true(decode(x, &r));
	x->b.p[16 + 7] = 'x';	/* its NUL */
	assert_false(decode(x, &r));
}

static void tasks_names_and_losses(void **state)
{
	struct decoding *x = *state;
	struct record r;

	put_comm(&x->b, &stamp, true, "make");
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_COMM);
	assert_true(r.comm.exec);
	assert_string_equal(r.comm.name, "make");
	buf_reset(&x->b);
	put_task(&x->b, &stamp, PERF_RECORD_FORK, 8, 7, 9, 6);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_FORK);
	assert_int_equal(r.pid, 8);
	assert_int_equal(r.tid, 9);
	assert_int_equal(r.fork.ppid, 7);
	assert_int_equal(r.fork.ptid, 6);
	buf_reset(&x->b);
	put_task(&x->b, &stamp, PERF_RECORD_EXIT, 8, 7, 9, 6);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_EXIT);
	buf_reset(&x->b);
	put_lost(&x->b, &stamp, 12345);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_LOST);
	assert_int_equal(r.lost, 12345);
	assert_int_equal(r.event, EVENT);
	assert_int_equal(r.cpu, 2);
	buf_reset(&x->b);
	put_throttle(&x->b, &stamp);
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_THROTTLE);
	assert_int_equal(r.event, EVENT);
}

static void a_control_group_is_made(void **state)
{
	struct decoding *x = *state;
	struct record r;

	put_cgroup(&x->b, &stamp, 1ull << 40, "/a/b.service");
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_CGROUP);
	assert_int_equal(r.cgroup.id, 1ull << 40);
	assert_string_equal(r.cgroup.path, "/a/b.service");
}

static void code_of_the_kernel(void **state)
{
	struct decoding *x = *state;
	struct record r;

	put_ksymbol(&x->b, &stamp, 0xffffffffc0001000, 64, 1, 0, "bpf_prog_x");
	assert_true(decode(x, &r));
	assert_int_equal(r.kind, RECORD_KSYMBOL);
	assert_int_equal(r.ksymbol.addr, 0xffffffffc0001000);
	assert_int_equal(r.ksymbol.len, 64);
	assert_int_equal(r.ksymbol.type, 1);
	assert_false(r.ksymbol.gone);
	assert_string_equal(r.ksymbol.name, "bpf_prog_x");
	buf_reset(&x->b);
	put_ksymbol(&x->b, &stamp, 0xffffffffc0001000, 64, 2, 1, "y");
	assert_true(decode(x, &r));
	assert_true(r.ksymbol.gone);
	buf_reset(&x->b);
	put_ksymbol(&x->b, &stamp, 0xffffffffc0001000, 0, 1, 0, "empty");
	assert_false(decode(x, &r));
	buf_reset(&x->b);
	put_ksymbol(&x->b, &stamp, UINT64_MAX - 8, 64, 1, 0, "wraps");
	assert_false(decode(x, &r));
}

/* Every prefix of every record: no byte outside is read (run with ASan). */
static void short_records_are_refused(void **state)
{
	static const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, 1, 2 };
	static const uint8_t id[20];
	struct decoding *x = *state;
	struct buf all = { 0 };

	put_sample(&all, &stamp, PERF_RECORD_MISC_USER, 1, 1, chain, 3);
	put_mmap2(&all, &stamp, 1, 2, 3, 4, 5, 6, "/a");
	put_mmap2_id(&all, &stamp, 1, 2, 3, id, 20, "/a");
	put_comm(&all, &stamp, true, "x");
	put_task(&all, &stamp, PERF_RECORD_FORK, 1, 2, 3, 4);
	put_lost(&all, &stamp, 1);
	put_throttle(&all, &stamp);
	put_ksymbol(&all, &stamp, 1, 2, 1, 0, "k");
	for (size_t at = 0; at < all.n;) {
		uint16_t size;

		memcpy(&size, all.p + at + 6, 2);
		for (uint16_t n = 0; n < size; n += 8) {
			uint8_t *copy = malloc(n ? n : 1);
			struct record r;

			memcpy(copy, all.p + at, n);
			(void)perf_record_time(copy, n);
			(void)perf_decode(&x->d, copy, n, &r);
			free(copy);
		}
		at += size;
	}
	buf_fini(&all);
}

struct taken {
	uint64_t next;		/* expected ip */
	uint64_t now;
	size_t n;
};

static int see_ip(void *ctx, uint64_t time, const uint8_t *p, size_t size)
{
	struct taken *t = ctx;
	uint64_t ip;

	assert_true(size >= 56);
	memcpy(&ip, p + 16, 8);
	assert_int_equal(ip, t->next);
	assert_int_equal(time, ip < t->now ? ip : t->now);
	t->next++;
	t->n++;
	return 0;
}

/* A writer and a reader at their own pace around a small ring. */
static void records_wrap_around_the_end(void **state)
{
	enum { SIZE = 4096, N = 20000 };
	static const uint64_t chain[32];
	uint8_t *ring = malloc(SIZE);
	uint64_t head = 0, tail = 0, damaged = 0, i = 1;
	struct taken t = { 1, UINT64_MAX, 0 };
	struct order o;
	struct buf b = { 0 };
	struct perf_bytes bytes = { ring, SIZE };
	struct perf_intake in = { &o, 0, NULL, &damaged, NULL, NULL };

	(void)state;
	srand(3);
	assert_int_equal(order_init(&o, 1), 0);
	while (i <= N) {
		struct stamp s = { 1, 1, i, 0, ID };

		buf_reset(&b);
		put_sample(&b, &s, PERF_RECORD_MISC_USER, i, 1, chain,
			   i * 7 % 32);
		if (head - tail + b.n <= SIZE) {
			for (size_t k = 0; k < b.n; k++)
				ring[(head + k) % SIZE] = b.p[k];
			head += b.n;
			i++;
			if (rand() % 5)
				continue;
		}
		tail = perf_ring_take(&bytes, tail, head, &in, UINT64_MAX);
		assert_int_equal(tail, head);
		assert_int_equal(order_flush(&o, UINT64_MAX - 1, see_ip, &t),
				 0);
	}
	perf_ring_take(&bytes, tail, head, &in, UINT64_MAX);
	assert_int_equal(order_flush(&o, UINT64_MAX - 1, see_ip, &t), 0);
	assert_int_equal(t.n, N);
	assert_int_equal(damaged, 0);
	order_fini(&o);
	buf_fini(&b);
	free(ring);
}

/* Records of waits are counted by what they cost the program. */
static void records_of_waits_are_counted(void **state)
{
	enum { SIZE = 4096, BLOCKED_ID = ID + 1, WAKING_ID, WAKES_ID,
	       BLOCKED = EVENT + 1, WAKING, WAKES };
	struct decoding *x = *state;
	uint64_t ring[SIZE / 8] = { 0 }, damaged = 0;
	struct perf_taken taken = { 0 };
	struct order o;
	struct perf_bytes bytes = { (const uint8_t *)ring, SIZE };
	struct perf_intake in = { &o, 0, &x->d, &damaged, NULL, &taken };

	*u64map_slot(&x->ids, BLOCKED_ID) = BLOCKED;
	*u64map_slot(&x->ids, WAKING_ID) = WAKING;
	*u64map_slot(&x->ids, WAKES_ID) = WAKES;
	x->d.blocked = BLOCKED;
	x->d.waking = WAKING;
	x->d.wakes = WAKES;
	for (uint64_t id = ID; id <= WAKES_ID; id++)
		for (uint64_t i = ID; i <= id; i++)
			put_sample(&x->b, &(struct stamp){ 1, 1, 5, 0, id },
				   PERF_RECORD_MISC_USER, 5, 1, NULL, 0);
	for (int i = 0; i < 5; i++)
		record_stamp(&x->b, record_start(&x->b, PERF_RECORD_SWITCH, 0), &stamp);
	assert_in_range(x->b.n, 1, SIZE);
	memcpy(ring, x->b.p, x->b.n);
	assert_int_equal(order_init(&o, 1), 0);
	assert_int_equal(perf_ring_take(&bytes, 0, x->b.n, &in, 10), x->b.n);
	assert_int_equal(taken.blocked, 2);
	assert_int_equal(taken.waking, 3);
	assert_int_equal(taken.switches, 5);
	order_fini(&o);
}

static int count_times(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	uint64_t *sum = ctx;

	(void)p, (void)n;
	*sum = *sum * 10000 + time;
	return 0;
}

static void times_in_the_future_become_now(void **state)
{
	static const uint64_t times[] = { 1, 2, UINT64_MAX, 3 };
	struct order o;
	struct buf b = { 0 };
	uint64_t damaged = 0, seen = 0;
	uint8_t *ring = calloc(1, 4096);

	(void)state;
	assert_int_equal(order_init(&o, 1), 0);
	for (size_t i = 0; i < 4; i++) {
		struct stamp s = { 1, 1, times[i], 0, ID };

		put_comm(&b, &s, false, "x");
	}
	memcpy(ring, b.p, b.n);
	perf_ring_take(&(struct perf_bytes){ ring, 4096 }, 0, b.n,
		       &(struct perf_intake){ &o, 0, NULL, &damaged, NULL, NULL }, 1000);
	assert_int_equal(order_flush(&o, 1000, count_times, &seen), 0);
	assert_int_equal(seen, 1000210001000);
	order_fini(&o);
	buf_fini(&b);
	free(ring);
}

/* A ring with its page, as the kernel maps it. */
struct mapped {
	struct perf_ring ring;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	struct order o;
	struct order_feed feed;
	struct perf_decoder d;
	uint64_t now, before, damaged;
	uint64_t record[PERF_RING_RECORD_MAX / 8];
	struct order_record borrowed;
	struct buf b;
};

enum { MAPPED = 4096 };

static void mapped_free(struct mapped *m)
{
	if (m->borrowed.bytes)
		perf_ring_free(&m->ring, &m->borrowed);
	m->borrowed.bytes = NULL;
}

static bool mapped_peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time)
{
	struct mapped *m = ctx;

	assert_int_equal(stream, 0);
	mapped_free(m);
	return perf_ring_peek(&m->ring, m->now, m->before, upto, time, &m->damaged);
}

/* Some records are borrowed, others copied. */
static bool mapped_take(void *ctx, size_t stream, struct order_record *out)
{
	struct mapped *m = ctx;

	(void)stream;
	mapped_free(m);
	if (rand() % 2 && perf_ring_borrow(&m->ring, out)) {
		m->borrowed = *out;
		return true;
	}
	out->bytes = (const uint8_t *)m->record;
	out->size = perf_ring_fetch(&m->ring, &m->d, m->record);
	return out->size;
}

static void mapped_init(struct mapped *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	memset(m, 0, sizeof(*m));
	m->page = calloc(1, page + MAPPED);
	assert_non_null(m->page);
	m->data = (uint8_t *)m->page + page;
	m->ring = (struct perf_ring){ .page = m->page, .size = MAPPED };
	m->feed = (struct order_feed){ mapped_peek, mapped_take, m };
	assert_int_equal(order_init(&m->o, 1), 0);
	m->o.feed = &m->feed;
	m->now = m->before = UINT64_MAX;
}

static void mapped_fini(struct mapped *m)
{
	order_fini(&m->o);
	buf_fini(&m->b);
	free(m->page);
}

/* Writes what is in m->b, if there is room. */
static bool mapped_write(struct mapped *m)
{
	uint64_t head = m->page->data_head;

	if (head - m->page->data_tail + m->b.n > MAPPED)
		return false;
	for (size_t k = 0; k < m->b.n; k++)
		m->data[(head + k) % MAPPED] = m->b.p[k];
	m->page->data_head = head + m->b.n;
	return true;
}

static void records_are_read_one_by_one(void **state)
{
	enum { N = 20000 };
	static const uint64_t chain[32];
	struct taken t = { 1, UINT64_MAX, 0 };
	static struct mapped m;
	uint64_t i = 1;

	(void)state;
	srand(5);
	mapped_init(&m);
	while (i <= N) {
		struct stamp s = { 1, 1, i, 0, ID };

		buf_reset(&m.b);
		put_sample(&m.b, &s, PERF_RECORD_MISC_USER, i, 1, chain,
			   i * 7 % 32);
		if (mapped_write(&m)) {
			i++;
			if (rand() % 5)
				continue;
		}
		perf_ring_look(&m.ring);
		/* some are left for later, and some are moved in between */
		assert_int_equal(order_flush(&m.o, i - (uint64_t)rand() % 4,
					     see_ip, &t), 0);
		mapped_free(&m);
		if (rand() % 4 == 0) {
			struct perf_intake in = { &m.o, 0, NULL, &m.damaged,
						  NULL, NULL };

			assert_int_equal(perf_ring_drain(&m.ring, &in,
							 clock_now), 0);
			assert_int_equal(m.page->data_tail, m.page->data_head);
		}
	}
	perf_ring_look(&m.ring);
	assert_int_equal(order_flush(&m.o, UINT64_MAX - 1, see_ip, &t), 0);
	mapped_free(&m);
	assert_int_equal(t.n, N);
	assert_int_equal(m.damaged, 0);
	assert_int_equal(m.page->data_tail, m.page->data_head);
	mapped_fini(&m);
}

static int refuse(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	(void)ctx, (void)time, (void)p, (void)n;
	return -7;
}

/* A record from the future has the time at which it was first seen. */
static void times_become_those_of_the_first_look(void **state)
{
	uint64_t times = 0;
	struct stamp s = { 1, 1, 1u << 30, 0, ID };
	static struct mapped m;

	(void)state;
	mapped_init(&m);
	put_comm(&m.b, &s, false, "x");
	assert_true(mapped_write(&m));
	perf_ring_look(&m.ring);
	m.now = 1000;
	assert_int_equal(order_flush(&m.o, 980, count_times, &times), 0);
	assert_int_equal(times, 0);
	assert_true(mapped_write(&m));
	perf_ring_look(&m.ring);
	m.before = m.now;
	m.now = 2000;
	assert_int_equal(order_flush(&m.o, 1980, count_times, &times), 0);
	assert_int_equal(times, 1000);
	/* one that could not be delivered is not delivered twice */
	assert_int_equal(order_flush(&m.o, 2980, refuse, NULL), -7);
	mapped_free(&m);
	assert_int_equal(m.page->data_tail, m.page->data_head);
	mapped_fini(&m);
}

/* The thread that drains the rings may move a record between the two steps. */
static void a_record_that_was_moved_is_not_read_again(void **state)
{
	struct stamp s = { 1, 1, 500, 0, ID };
	static struct mapped m;
	struct perf_intake in = { &m.o, 0, NULL, &m.damaged, NULL, NULL };
	struct order_record r;
	uint64_t time;

	(void)state;
	mapped_init(&m);
	put_comm(&m.b, &s, false, "x");
	assert_true(mapped_write(&m));
	perf_ring_look(&m.ring);
	assert_false(perf_ring_peek(&m.ring, 900, 900, 499, &time, &m.damaged));
	assert_true(perf_ring_peek(&m.ring, 900, 900, 500, &time, &m.damaged));
	assert_int_equal(time, 500);
	assert_int_equal(perf_ring_drain(&m.ring, &in, clock_now), 0);
	assert_int_equal(perf_ring_fetch(&m.ring, &m.d, m.record), 0);
	assert_false(perf_ring_borrow(&m.ring, &r));
	/* One that came after the last look. */
	assert_true(mapped_write(&m));
	assert_int_equal(perf_ring_drain(&m.ring, &in, clock_now), 0);
	assert_false(perf_ring_peek(&m.ring, 900, 900, 900, &time, &m.damaged));
	assert_int_equal(m.damaged, 0);
	mapped_fini(&m);
}

/* The largest record is that of a mapping, with a path of PATH_MAX bytes. */
static void a_ring_is_tight_if_a_mapping_may_not_fit(void **state)
{
	enum { SMALL = 8192, LARGE = 65536, LONGEST = 4096 + 128 };
	struct perf_event_mmap_page page = { .data_tail = 1 << 20 };
	struct perf_ring r = { .page = &page, .size = LARGE };

	(void)state;
	page.data_head = page.data_tail + LARGE / 2;
	assert_false(perf_ring_tight(&r));
	page.data_head = page.data_tail + LARGE - LONGEST;
	assert_true(perf_ring_tight(&r));
	r.size = SMALL;
	page.data_head = page.data_tail + SMALL / 4;
	assert_false(perf_ring_tight(&r));
	page.data_head = page.data_tail + SMALL - LONGEST + 256;
	assert_true(perf_ring_tight(&r));
}

static void damage_is_dropped_and_counted_one_by_one(void **state)
{
	static const uint16_t sizes[] = { 0, 4, 7, 72 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		static struct mapped m;
		uint64_t times = 0;

		mapped_init(&m);
		memcpy(m.data + 6, &sizes[i], 2);
		m.page->data_head = 64;
		perf_ring_look(&m.ring);
		assert_int_equal(order_flush(&m.o, UINT64_MAX, count_times,
					     &times), 0);
		assert_int_equal(m.damaged, 64);
		assert_int_equal(m.page->data_tail, 64);
		assert_int_equal(times, 0);
		mapped_fini(&m);
	}
}

static void damaged_rings_are_dropped_and_counted(void **state)
{
	static const struct {
		uint16_t size;
		uint64_t head;
	} cases[] = {
		{ 0, 64 }, { 7, 64 }, { 72, 64 }, { 64, 5000 }, { 8, 4 },
		{ 64, UINT64_MAX },
	};
	uint8_t *ring = calloc(1, 4096);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t damaged = 0;
		struct order o;
		struct perf_bytes bytes = { ring, 4096 };
		struct perf_intake in = { &o, 0, NULL, &damaged, NULL, NULL };

		assert_int_equal(order_init(&o, 1), 0);
		memcpy(ring + 6, &cases[i].size, 2);
		assert_int_equal(perf_ring_take(&bytes, 0, cases[i].head,
						&in, 1),
				 cases[i].head);
		assert_int_equal(damaged, cases[i].head);
		order_fini(&o);
	}
	free(ring);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(samples_without_chain),
		WITH(wakes_report_the_woken_thread),
		WITH(chains_are_split_by_mode),
		WITH(guest_parts_and_marks_are_left_out),
		WITH(an_empty_chain_leaves_the_address),
		WITH(chains_longer_than_their_record_are_refused),
		WITH(mappings),
		WITH(names_without_end_are_refused),
		WITH(tasks_names_and_losses),
		WITH(a_control_group_is_made),
		WITH(code_of_the_kernel),
		WITH(short_records_are_refused),
		cmocka_unit_test(records_wrap_around_the_end),
		WITH(records_of_waits_are_counted),
		cmocka_unit_test(times_in_the_future_become_now),
		cmocka_unit_test(damaged_rings_are_dropped_and_counted),
		cmocka_unit_test(records_are_read_one_by_one),
		cmocka_unit_test(times_become_those_of_the_first_look),
		cmocka_unit_test(a_record_that_was_moved_is_not_read_again),
		cmocka_unit_test(a_ring_is_tight_if_a_mapping_may_not_fit),
		cmocka_unit_test(damage_is_dropped_and_counted_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
