// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of many machines summed into one: the same bytes in any order and in
 * any groups, nothing lost, nothing put together that differs. */
#include "make_profile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "profile/merge.h"
#include "profile/thread_labels.h"
#include "views/query/aggregate.h"

enum { HOSTS = 12 };

struct bytes {
	int fd;
	struct io_map map;
};

/* Merges these recordings. */
static struct bytes merge(size_t n, struct reader *const *r)
{
	struct bytes out = { .fd = memfd_create("merged", MFD_CLOEXEC) };
	struct merger *m;
	struct error err = { 0 };
	char path[64];

	assert_int_equal(merger_open(&m), 0);
	for (size_t i = 0; i < n; i++)
		if (merger_add(m, r[i], "part", &err) < 0)
			fail_msg("%s", err.msg);
	if (merger_write(m, out.fd, "merged", &err) < 0)
		fail_msg("%s", err.msg);
	merger_close(m);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out.fd);
	assert_int_equal(io_map_file(path, &out.map, &err), 0);
	return out;
}

static void drop(struct bytes *b)
{
	io_unmap(&b->map);
	close(b->fd);
}

static struct reader *open_bytes(const struct bytes *b)
{
	struct reader *r;

	assert_int_equal(reader_open_bytes(b->map.p, b->map.n, "merged", &r,
					   NULL), 0);
	assert_string_equal(reader_damage(r)->message, "");
	return r;
}

static void same(const struct bytes *a, const struct bytes *b)
{
	assert_int_equal(a->map.n, b->map.n);
	assert_memory_equal(a->map.p, b->map.p, a->map.n);
}

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

/* Gives a location names: more of them, with lines, on some machines. */
static uint32_t random_loc(struct maker *m, uint32_t image, uint32_t i)
{
	uint32_t loc = profile_loc(&m->p, image, 0x1000 + i * 16), frame;
	bool detailed = rnd(2);
	struct prof_func f = { .image = image, .vaddr = detailed ? 0 : 0x1000 };
	struct prof_frame fr = { .outer = PROF_NONE };
	char text[32];

	while (m->p.loc_frame.n <= loc)
		assert_int_equal(vec_push(&m->p.loc_frame, PROF_NONE), 0);
	if (!rnd(3))
		return loc;
	snprintf(text, sizeof(text), "f%u", i / 2);
	f.name = profile_str(&m->p, text);
	if (detailed) {
		snprintf(text, sizeof(text), "f%u.c", i / 8);
		f.file = fr.file = profile_str(&m->p, text);
		f.line = fr.line = i + 1;
	}
	fr.func = profile_func(&m->p, &f);
	if (detailed && rnd(2)) {
		fr.outer = profile_frame(&m->p, &fr);
		f.name = profile_str(&m->p, "inlined");
		fr.func = profile_func(&m->p, &f);
	}
	m->p.loc_frame.v[loc] = profile_frame(&m->p, &fr);
	frame = m->p.loc_frame.v[loc];
	assert_int_equal(vec_push(&m->p.lines, (struct prof_line){
		image, 0x1000 + i * 16, frame }), 0);
	assert_int_equal(vec_push(&m->p.symbols, (struct prof_symbol){
		image, f.name, 0x1000 + i * 16, 16 + rnd(2) }), 0);
	return loc;
}

static void random_bytes(struct maker *m)
{
	struct prof_code c = { .image = m->app, .vaddr = 0x1000 + rnd(3) * 16,
			       .offset = (uint32_t)m->p.code_bytes.n,
			       .size = 1 + rnd(4) };
	struct source_excerpt t = { .line = 1 + rnd(3),
				    .file = profile_str(&m->p, "f0.c"),
				    .offset = (uint32_t)m->p.text_bytes.n,
				    .size = 2 };

	for (uint32_t i = 0; i < c.size; i++)
		buf_u8(&m->p.code_bytes, (uint8_t)rnd(3));
	assert_int_equal(vec_push(&m->p.codes, c), 0);
	buf_bytes(&m->p.text_bytes, rnd(2) ? "a\n" : "b\n", 2);
	assert_int_equal(vec_push(&m->p.texts, t), 0);
}

/* A machine's recording: everything in it depends on its number only. */
static void random_host(struct maker *m, uint32_t host, uint64_t *samples)
{
	static const char *const cgroups[] = { "", "/system.slice/a.service",
					       "/system.slice/b.service" };
	uint32_t locs[12], n = 1 + rnd(40), threads;
	char text[32];

	seed = host * 2654435761u + 1;
	for (int i = 0; i < 4; i++)	/* far from each other */
		rnd(1);
	maker_init(m, 1 + host % 2);
	if (host % 3 == 0)
		m->p.events.v[0].freq = 19;
	m->p.runs.v[0].start_wall_ns += host * 7 % 5 * 1000000000ull;
	snprintf(text, sizeof(text), "host%u", host * 5 % HOSTS);
	profile_set_env(&m->p, PROF_NONE, "hostname", text);
	profile_set_env(&m->p, PROF_NONE, "cpu", rnd(2) ? "old" : "new, fast");
	profile_set_label(&m->p, PROF_NONE, "canary", host % 4 ? "no" : "yes");
	if (rnd(2))
		maker_image(m, "/usr/bin/other", PROF_IMAGE_ELF);
	for (uint32_t i = 0; i < 12; i++)
		locs[i] = random_loc(m, rnd(2) ? m->app : m->lib, rnd(20));
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "worker%u", rnd(2));
		maker_thread(m, text, 100, 101 + rnd(2), 0);
	}
	threads = (uint32_t)m->p.threads.n;
	for (uint32_t i = 1; i < threads; i++) {
		m->p.threads.v[i].cgroup = profile_str(&m->p, cgroups[rnd(3)]);
		m->p.threads.v[i].start_ns = 1000000000 + rnd(1000);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 0, depth = rnd(5), times = 1 + rnd(4);

		if (rnd(3) == 0)
			node = profile_end(&m->p, PROF_MARK_BROKEN,
					   PROF_END_NO_DATA,
					   rnd(2) ? m->lib : PROF_NONE);
		for (uint32_t k = 0; k < depth; k++)
			node = profile_node(&m->p, node, locs[rnd(12)]);
		maker_samples(m, node, rnd((uint32_t)m->p.events.n),
			      rnd(threads), 1 + rnd(3), times);
		*samples += times;
	}
	for (uint32_t i = 0; i < 3; i++) {
		random_bytes(m);
		assert_int_equal(vec_push(&m->p.losses, (struct prof_loss){
			.event = rnd(2) ? 0 : PROF_NONE, .cpu = rnd(2),
			.time_ns = 2000000000 + rnd(1000), .count = 1 + rnd(9) }),
			0);
	}
	assert_int_equal(vec_push(&m->p.stats, (struct prof_stat){
		.value = host, .wanted = host + 1 }), 0);
	assert_int_equal(vec_push(&m->p.sources, (struct image_debug_info){
		.image = m->app, .names = rnd(2), .missing = rnd(2) }), 0);
}

struct fleet {
	struct maker m[HOSTS];
	struct reader *r[HOSTS];
	uint64_t samples;
};

static void make_fleet(struct fleet *f)
{
	*f = (struct fleet){ .samples = 0 };
	for (uint32_t i = 0; i < HOSTS; i++) {
		random_host(&f->m[i], i, &f->samples);
		f->r[i] = maker_read(&f->m[i]);
	}
}

static void drop_fleet(struct fleet *f)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		reader_close(f->r[i]);
		maker_fini(&f->m[i]);
	}
}

static void shuffle(struct reader **r, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = rnd((uint32_t)i);
		struct reader *swap = r[i - 1];

		r[i - 1] = r[k];
		r[k] = swap;
	}
}

/* Merges in a random order, in random groups that are merged in turn. */
static struct bytes merge_somehow(struct reader **r)
{
	struct bytes part[HOSTS], out;
	struct reader *merged[HOSTS];
	size_t at = 0, parts = 0;

	shuffle(r, HOSTS);
	while (at < HOSTS) {
		size_t n = 1 + rnd(HOSTS - (uint32_t)at);

		part[parts] = merge(n, r + at);
		merged[parts] = open_bytes(&part[parts]);
		parts++;
		at += n;
	}
	shuffle(merged, parts);
	out = merge(parts, merged);
	for (size_t i = 0; i < parts; i++) {
		reader_close(merged[i]);
		drop(&part[i]);
	}
	return out;
}

static void test_any_order(void **state)
{
	struct fleet f;
	struct bytes all;

	(void)state;
	make_fleet(&f);
	all = merge(HOSTS, f.r);
	for (uint32_t round = 0; round < 60; round++) {
		struct bytes other;

		seed = round + 1000;
		other = merge_somehow(f.r);
		same(&all, &other);
		drop(&other);
	}
	drop(&all);
	drop_fleet(&f);
}

/* All samples and weights of the parts are in the whole. */
static void test_sums(void **state)
{
	struct fleet f;
	struct bytes all;
	struct reader *r;
	struct selection none = { .timed = false };
	struct aggregate a;
	struct cell got = { 0, 0 }, want = { 0, 0 };
	uint64_t lost = 0;
	uint32_t apart = 0;
	const struct profile *p;

	(void)state;
	make_fleet(&f);
	all = merge(HOSTS, f.r);
	r = open_bytes(&all);
	p = reader_profile(r);
	for (uint32_t i = 0; i < HOSTS; i++) {
		for (size_t k = 0; k < f.m[i].samples.n; k++)
			cell_add(&want, (struct cell){
				f.m[i].samples.v[k].weight, 1 });
		for (size_t k = 0; k < f.m[i].p.losses.n; k++)
			lost += f.m[i].p.losses.v[k].count;
	}
	assert_int_equal(aggregate_run(r, &none, KEY_BIT(KEY_LABEL), false, &a,
				       NULL), 0);
	assert_int_equal(a.lanes.n, 2);
	for (size_t i = 0; i < p->events.n; i++) {
		cell_add(&got, a.got[i]);
		apart += p->events.v[i].freq == 19;
	}
	aggregate_fini(&a);
	assert_int_equal(want.count, f.samples);
	assert_int_equal(got.count, want.count);
	assert_int_equal(got.weight, want.weight);
	for (size_t i = 0; i < p->losses.n; i++)
		lost -= p->losses.v[i].count;
	assert_int_equal(lost, 0);
	assert_int_equal(apart, 1);	/* event0 at 19 Hz */
	assert_int_equal(p->events.n, 3);
	assert_int_equal(p->runs.n, HOSTS);
	assert_int_equal(p->stats.n, HOSTS);
	assert_string_equal(profile_env(p, PROF_NONE, "cpu"), "fast, new, old");
	assert_true(reader_sample_count(r) < want.count);
	reader_close(r);
	drop(&all);
	drop_fleet(&f);
}

/* What is known of a run and its threads stays theirs. */
static void test_runs(void **state)
{
	struct maker m[2];
	struct reader *r[2], *merged;
	struct thread_labels l;
	const struct profile *p;
	struct bytes all;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		maker_init(&m[i], 1);
		profile_set_env(&m[i].p, PROF_NONE, "hostname", i ? "a" : "b");
		profile_set_label(&m[i].p, PROF_NONE, "zone", i ? "x" : "y");
		m[i].p.threads.v[0].cgroup = profile_str(
			&m[i].p, "/system.slice/web.service");
		maker_samples(&m[i], 0, 0, 0, 10, 5);
		r[i] = maker_read(&m[i]);
	}
	all = merge(2, r);
	merged = open_bytes(&all);
	p = reader_profile(merged);
	assert_int_equal(reader_sample_count(merged), 2);
	assert_int_equal(p->runs.v[0].start_ns, 1700000000000000000);
	assert_int_equal(p->runs.v[0].end_ns, 1700000010000000000);
	assert_int_equal(thread_labels_init(&l, p), 0);
	assert_string_equal(thread_label(&l, 0, LABEL_HOST), "a");
	assert_string_equal(thread_label(&l, 0, LABEL_GIVEN), "zone=x");
	assert_string_equal(thread_label(&l, 1, LABEL_HOST), "b");
	assert_string_equal(thread_label(&l, 1, LABEL_CGROUP),
			    "/system.slice/web.service");
	thread_labels_fini(&l);
	reader_close(merged);
	drop(&all);
	for (uint32_t i = 0; i < 2; i++) {
		reader_close(r[i]);
		maker_fini(&m[i]);
	}
}

/* Of two symbols for an address the detailed one is shown, whichever came
 * first. */
static void test_symbols(void **state)
{
	struct maker m[2];
	struct reader *r[2], *merged;
	const struct profile *p;
	struct bytes all;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t f, outer;

		maker_init(&m[i], 1);
		f = maker_func(&m[i], m[i].app, "f", i ? "" : "f.c", i ? 0 : 3);
		outer = maker_func(&m[i], m[i].app, "g", "f.c", 9);
		maker_samples(&m[i], STACK(&m[i], i ? maker_loc(&m[i], f, 0)
			: maker_inlined(&m[i], 2, (uint32_t[]){ outer, f },
					(uint32_t[]){ 10, 4 })), 0, 0, 1, 1);
		r[i] = maker_read(&m[i]);
	}
	all = merge(2, r);
	merged = open_bytes(&all);
	p = reader_profile(merged);
	assert_int_equal(p->locs.n, 1);
	assert_int_equal(p->frames.n, 2);
	assert_int_equal(p->funcs.n, 2);
	assert_string_equal(profile_cstr(p, p->funcs.v[p->frames.v[
		profile_loc_frame(p, 0)].func].name), "f");
	assert_int_equal(p->frames.v[profile_loc_frame(p, 0)].line, 4);
	reader_close(merged);
	drop(&all);
	for (uint32_t i = 0; i < 2; i++) {
		reader_close(r[i]);
		maker_fini(&m[i]);
	}
}

/* Different rates are said. */
static void test_apart(void **state)
{
	struct merger *merger;
	struct maker m[3];
	struct reader *r[3];
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(merger_open(&merger), 0);
	for (uint32_t i = 0; i < 3; i++) {
		maker_init(&m[i], 1);
		if (i == 1)
			m[i].p.events.v[0].freq = 99;
		r[i] = maker_read(&m[i]);
		assert_int_equal(merger_add(merger, r[i], "x", NULL), 0);
	}
	merger_apart(merger, &b);
	assert_string_equal(buf_cstr(&b), "event0 at 99 Hz and at 999 Hz");
	merger_close(merger);
	buf_fini(&b);
	for (uint32_t i = 0; i < 3; i++) {
		reader_close(r[i]);
		maker_fini(&m[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
