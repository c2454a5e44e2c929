// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows and trees of reports whose right answers are worked out by hand. */
#include "make_profile.h"

#include <string.h>

#include "views/tree/tree.h"

/*
 *	main -> a			3 samples
 *	main -> a -> a -> a		2
 *	main -> b -> inl (inlined)	4
 *	main				1, each of weight 10
 */
struct sample_app {
	struct maker m;
	uint32_t main_loc, a1, a2, b_inl;
	struct reader *r;
};

static int app_setup(void **state)
{
	struct sample_app *s = calloc(1, sizeof(*s));
	struct maker *m = &s->m;
	uint32_t f[2], main_f, a;

	*state = s;
	maker_init(m, 1);
	main_f = maker_func(m, m->app, "main", "main.c", 10);
	a = maker_func(m, m->app, "a", "a.c", 20);
	f[0] = maker_func(m, m->lib, "b", "b.c", 30);
	f[1] = maker_func(m, m->lib, "inl", "inl.h", 40);
	s->main_loc = maker_loc(m, main_f, 11);
	s->a1 = maker_loc(m, a, 21);
	s->a2 = maker_loc(m, a, 22);
	s->b_inl = maker_inlined(m, 2, f, (uint32_t[]){ 31, 41 });
	maker_samples(m, STACK(m, s->main_loc, s->a1), 0, 0, 10, 3);
	maker_samples(m, STACK(m, s->main_loc, s->a1, s->a1, s->a2), 0, 0, 10,
		      2);
	maker_samples(m, STACK(m, s->main_loc, s->b_inl), 0, 0, 10, 4);
	maker_samples(m, STACK(m, s->main_loc), 0, 0, 10, 1);
	s->r = maker_read(m);
	return 0;
}

static int app_teardown(void **state)
{
	struct sample_app *s = *state;

	reader_close(s->r);
	maker_fini(&s->m);
	free(s);
	return 0;
}

#define APP_TEST(name) \
	cmocka_unit_test_setup_teardown(name, app_setup, app_teardown)

static struct report *build(struct reader *r, const struct report_spec *spec)
{
	struct report *rep = NULL;
	struct error err = { 0 };

	if (report_with_trees(r, spec, &rep, &err) < 0)
		fail_msg("%s", err.msg);
	return rep;
}

static struct report_spec spec_of(const char *keys)
{
	struct report_spec spec = { .limit = 0 };
	struct error err;

	assert_int_equal(key_list_parse(keys, &spec.keys, &err), 0);
	return spec;
}

static const char *row_name(const struct report *rep, uint32_t row)
{
	uint32_t fk = rep->table.rows.v[row].fk;

	return profile_cstr(rep->p, rep->keys.keys.v[fk].name);
}

static const struct values *find(const struct report *rep, const char *name)
{
	for (uint32_t i = 0; i < rep->table.rows.n; i++)
		if (!strcmp(row_name(rep, i), name))
			return report_values(rep, i);
	return NULL;
}

static void check(const struct report *rep, const char *name, uint64_t self,
		  uint64_t total)
{
	const struct values *v = find(rep, name);

	if (!v)
		fail_msg("no row %s", name);
	assert_int_equal(v->self.count, self);
	assert_int_equal(v->total.count, total);
	assert_int_equal(v->self.weight, 10 * self);
	assert_int_equal(v->total.weight, 10 * total);
}

static void check_order(const struct report *rep, size_t n,
			const char *const *names)
{
	assert_int_equal(rep->order.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(row_name(rep, rep->order.v[i]), names[i]);
}

static void test_recursion_counts_once(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct sample_app *s = *state;
	struct report *rep;

	rep = build(s->r, &spec);
	assert_int_equal(rep->table.rows.n, 4);
	check(rep, "main", 1, 10);
	check(rep, "a", 5, 5);
	check(rep, "b", 0, 4);
	check(rep, "inl", 4, 4);
	check_order(rep, 4, (const char *const[]){ "a", "inl", "main", "b" });
	assert_true(report_percent(rep, 0, 0, find(rep, "a")->self) == 50.0);
	report_free(rep);
}

static void test_no_inline(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct sample_app *s = *state;
	struct report *rep;

	spec.no_inline = true;
	rep = build(s->r, &spec);
	assert_int_equal(rep->table.rows.n, 3);
	check(rep, "b", 4, 4);
	assert_null(find(rep, "inl"));
	report_free(rep);
}

/* Depth, name, self and total of each branch of a row. */
struct want_branch {
	uint32_t depth;
	const char *name;
	uint64_t self, total;
};

static void check_tree(const struct report *rep, size_t order,
		       const struct want_branch *want, size_t n)
{
	const struct row *row = &rep->table.rows.v[rep->order.v[order]];

	assert_int_equal(row->tree_n, n);
	for (size_t i = 0; i < n; i++) {
		const struct tree_node *t = &rep->tree.v[row->tree + i];
		const struct values *v = &rep->tree_vals.v[row->tree + i];
		uint32_t name = rep->tree_keys->keys.v[t->fk].name;

		assert_int_equal(t->depth, want[i].depth);
		assert_string_equal(profile_cstr(rep->p, name), want[i].name);
		assert_int_equal(v->total.count, want[i].total);
		assert_int_equal(v->self.count, want[i].self);
	}
}

#define TREE(rep, order, ...)                                                 \
	check_tree((rep), (order), (const struct want_branch[]){__VA_ARGS__}, \
		   sizeof((const struct want_branch[]){__VA_ARGS__}) /        \
			   sizeof(struct want_branch))

static void test_callers(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct sample_app *s = *state;
	struct report *rep;

	spec.tree = TREE_CALLERS;
	rep = build(s->r, &spec);
	check_order(rep, 4, (const char *const[]){ "a", "inl", "main", "b" });
	/* a's own frames between it and main are passed */
	TREE(rep, 0, { 0, "main", 0, 5 });
	TREE(rep, 1, { 0, "b", 0, 4 }, { 1, "main", 0, 4 });
	assert_int_equal(rep->table.rows.v[rep->order.v[2]].tree_n, 0);
	report_free(rep);

	/* by total: recursion is folded, callers of the outermost call */
	spec.by_total = true;
	rep = build(s->r, &spec);
	check_order(rep, 4, (const char *const[]){ "main", "a", "inl", "b" });
	TREE(rep, 1, { 0, "main", 0, 5 });
	TREE(rep, 3, { 0, "main", 0, 4 });
	report_free(rep);
}

static void test_callees(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct sample_app *s = *state;
	struct report *rep;

	spec.tree = TREE_CALLEES;
	rep = build(s->r, &spec);
	check_order(rep, 1, (const char *const[]){ "main" });
	check(rep, "main", 1, 10);
	TREE(rep, 0, { 0, "a", 5, 5 }, { 0, "b", 0, 4 }, { 1, "inl", 4, 4 });
	assert_true(rep->tree.v[0].recursive);
	assert_false(rep->tree.v[1].recursive);
	assert_true(rep->tree.v[2].inlined);
	assert_false(rep->tree.v[1].inlined);
	report_free(rep);

	/* focus: trees begin at the outermost place that the filter matches */
	spec.select.symbols = (struct name_list){
		(const char *const[]){ "b" }, 1 };
	rep = build(s->r, &spec);
	check_order(rep, 1, (const char *const[]){ "b" });
	TREE(rep, 0, { 0, "inl", 4, 4 });
	report_free(rep);
}

static void test_limit(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct sample_app *s = *state;
	struct report *rep;

	spec.limit = 40;
	spec.tree = TREE_CALLERS;
	rep = build(s->r, &spec);
	check_order(rep, 2, (const char *const[]){ "a", "inl" });
	assert_int_equal(rep->below_limit, 2);
	/* 40% is at the limit, not below it */
	TREE(rep, 1, { 0, "b", 0, 4 }, { 1, "main", 0, 4 });
	report_free(rep);
	spec.tree = TREE_CALLEES;
	spec.limit = 45;
	rep = build(s->r, &spec);
	TREE(rep, 0, { 0, "a", 5, 5 });
	report_free(rep);
	spec.tree = TREE_CALLERS;
	spec.limit = 25;
	rep = build(s->r, &spec);
	TREE(rep, 0, { 0, "main", 0, 5 });
	report_free(rep);
	/* rows without anything of their own do not fill up */
	spec.at_least = 9;
	rep = build(s->r, &spec);
	check_order(rep, 3, (const char *const[]){ "a", "inl", "main" });
	report_free(rep);
	spec.limit = 0;
	spec.top = 1;
	rep = build(s->r, &spec);
	check_order(rep, 1, (const char *const[]){ "a" });
	assert_int_equal(rep->beyond_top, 3);
	report_free(rep);
}

static void test_keys_of_frames(void **state)
{
	struct report_spec spec = spec_of("image");
	struct sample_app *s = *state;
	struct report *rep;

	rep = build(s->r, &spec);
	assert_int_equal(rep->table.rows.n, 2);
	/* app: main's own 1 and a's 5; all samples pass through it */
	assert_int_equal(report_values(rep, rep->order.v[0])->self.count, 6);
	assert_int_equal(report_values(rep, rep->order.v[0])->total.count, 10);
	assert_int_equal(report_values(rep, rep->order.v[1])->self.count, 4);
	report_free(rep);

	spec = spec_of("line");
	rep = build(s->r, &spec);
	/* main.c:11, a.c:21, a.c:22, b.c:31, inl.h:41 */
	assert_int_equal(rep->table.rows.n, 5);
	for (size_t i = 0; i < 5; i++) {
		uint32_t row = rep->order.v[i];
		const struct frame_key *k =
			&rep->keys.keys.v[rep->table.rows.v[row].fk];

		if (k->line == 21) {
			assert_int_equal(report_values(rep, row)->self.count,
					 3);
			assert_int_equal(report_values(rep, row)->total.count,
					 5);
		}
	}
	report_free(rep);
}

static void test_lanes(void **state)
{
	struct report_spec spec = spec_of("comm,tid,symbol");
	struct maker m;
	struct reader *r;
	struct report *rep;
	uint32_t f, g, lf, lg, other;

	(void)state;
	maker_init(&m, 1);
	other = maker_thread(&m, "worker", 100, 101, 0);
	/* the same name again, later: one row */
	maker_thread(&m, "worker", 100, 101, 0);
	f = maker_func(&m, m.app, "f", "f.c", 1);
	g = maker_func(&m, m.app, "g", "g.c", 1);
	lf = maker_loc(&m, f, 2);
	lg = maker_loc(&m, g, 2);
	maker_samples(&m, STACK(&m, lf, lg), 0, 0, 1, 2);
	maker_samples(&m, STACK(&m, lf), 0, other, 1, 3);
	maker_samples(&m, STACK(&m, lf), 0, other + 1, 1, 4);
	r = maker_read(&m);
	rep = build(r, &spec);
	assert_int_equal(rep->agg.lanes.n, 2);
	check_order(rep, 3, (const char *const[]){ "f", "g", "f" });
	assert_int_equal(report_values(rep, rep->order.v[0])->self.count, 7);
	assert_int_equal(report_values(rep, rep->order.v[2])->self.count, 0);
	assert_int_equal(report_values(rep, rep->order.v[2])->total.count, 2);
	report_free(rep);
	/* without frame keys every sample counts once for its lane */
	spec = spec_of("cpu");
	rep = build(r, &spec);
	assert_int_equal(rep->order.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct values *v = report_values(rep, rep->order.v[i]);
		uint32_t lane = rep->table.rows.v[rep->order.v[i]].lane;

		/* samples alternate between cpu 0 and 1: 5 and 4 of 9 */
		assert_int_equal(v->self.count,
				 rep->agg.lanes.v[lane].cpu ? 4 : 5);
		assert_int_equal(v->total.count, v->self.count);
	}
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

static void test_events(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct maker m;
	struct reader *r;
	struct report *rep;
	uint32_t lf, lg;

	(void)state;
	maker_init(&m, 2);
	lf = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	lg = maker_loc(&m, maker_func(&m, m.app, "g", "g.c", 1), 2);
	maker_samples(&m, STACK(&m, lf), 0, 0, 10, 1);
	maker_samples(&m, STACK(&m, lg), 0, 0, 10, 3);
	maker_samples(&m, STACK(&m, lf, lg), 1, 0, 7, 2);
	r = maker_read(&m);
	rep = build(r, &spec);
	assert_int_equal(rep->table.ncols, 2);
	check_order(rep, 2, (const char *const[]){ "g", "f" });
	assert_int_equal(find(rep, "g")[0].self.count, 3);
	assert_int_equal(find(rep, "g")[1].self.weight, 14);
	assert_int_equal(find(rep, "f")[1].self.count, 0);
	assert_int_equal(find(rep, "f")[1].total.count, 2);
	/* percentages are of each event's own samples */
	assert_true(report_percent(rep, 0, 0, find(rep, "g")[0].self) == 75.0);
	assert_true(report_percent(rep, 0, 1, find(rep, "g")[1].self) ==
		    100.0);
	report_free(rep);

	spec = spec_of("event,symbol");
	rep = build(r, &spec);
	assert_int_equal(rep->table.ncols, 1);
	/* rows of weight 30, 14 and 10; and f of event1 with only callees */
	check_order(rep, 4, (const char *const[]){ "g", "g", "f", "f" });
	assert_int_equal(report_event(rep, rep->table.rows.v[
				 rep->order.v[1]].lane, 0), 1);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

static void test_frameless_and_marks(void **state)
{
	struct report_spec spec = spec_of("symbol");
	struct maker m;
	struct reader *r;
	struct report *rep;
	uint32_t lf, addr, nowhere;

	(void)state;
	maker_init(&m, 1);
	nowhere = maker_image(&m, "[unknown]", PROF_IMAGE_UNKNOWN);
	lf = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	addr = maker_address(&m, m.lib, 0x1234);
	maker_samples(&m, 0, 0, 0, 10, 1);
	maker_samples(&m, STACK(&m, PROF_MARK_CUT), 0, 0, 10, 2);
	maker_samples(&m, STACK(&m, PROF_MARK_CUT, lf), 0, 0, 10, 3);
	maker_samples(&m, STACK(&m, PROF_MARK_BROKEN, lf, addr), 0, 0, 10, 4);
	maker_samples(&m, STACK(&m, lf, maker_address(&m, nowhere, 0x10)), 0,
		      0, 10, 5);
	maker_samples(&m, STACK(&m, lf, maker_address(&m, nowhere, 0x20)), 0,
		      0, 10, 6);
	r = maker_read(&m);
	spec.tree = TREE_CALLERS;
	rep = build(r, &spec);
	check(rep, "f", 3, 18);
	assert_int_equal(rep->order.n, 3);	/* [unknown], libx+0x1234, f */
	assert_int_equal(report_values(rep, rep->order.v[0])->self.count, 14);
	assert_int_equal(report_values(rep, rep->order.v[1])->self.count, 4);
	assert_int_equal(rep->quality.cut, 5);
	assert_int_equal(rep->quality.broken, 4);
	assert_int_equal(rep->quality.frameless, 3);
	assert_int_equal(rep->quality.unresolved, 15);
	assert_int_equal(rep->quality.images.n, 3);
	assert_int_equal(rep->quality.images.v[0].samples, 11);
	assert_int_equal(rep->quality.images.v[1].samples, 4);
	assert_int_equal(rep->quality.images.v[1].unresolved, 4);
	/* a mark is no caller */
	assert_int_equal(rep->table.rows.v[rep->order.v[2]].tree_n, 0);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

/* Thread i of many: its samples in one of many stacks, and one more. */
static unsigned int samples_of(uint32_t i)
{
	return i % 7 + 1;
}

/* Sums that need many lanes take the sparse way: answers stay the same. */
static void test_many_lanes(void **state)
{
	enum { THREADS = 2500, DEEP = 1000 };
	struct report_spec spec = spec_of("tid");
	uint32_t f[2], locs[DEEP], stacks[DEEP];
	uint64_t dense = 0;
	struct maker m;
	struct reader *r;
	struct report *rep;

	(void)state;
	maker_init(&m, 1);
	/* functions that call themselves would be one branch */
	f[0] = maker_func(&m, m.app, "f", "f.c", 1);
	f[1] = maker_func(&m, m.app, "g", "f.c", 1);
	for (uint32_t i = 0; i < DEEP; i++) {
		locs[i] = maker_loc(&m, f[i & 1], i + 1);
		stacks[i] = maker_stack(&m, i + 1, locs);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t t = maker_thread(&m, "t", 100, 1000 + i, 0);

		maker_samples(&m, stacks[i % DEEP], 0, t, 1, samples_of(i));
		maker_samples(&m, stacks[0], 0, t, 1, 1);
	}
	r = maker_read(&m);
	spec.tree = TREE_CALLEES;
	rep = build(r, &spec);
	for (size_t i = 0; i < rep->agg.slots.n; i++)
		dense += rep->agg.slots.v[i].dense != NULL;
	assert_true(dense > 0 && dense < THREADS);
	assert_int_equal(rep->order.n, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct row *row = &rep->table.rows.v[rep->order.v[i]];
		const struct values *v = report_values(rep, rep->order.v[i]);
		uint32_t t = rep->agg.lanes.v[row->lane].tid - 1000;
		uint32_t depth = t % DEEP + 1;

		assert_int_equal(v->total.count, samples_of(t) + 1);
		/* its first function, its stack, and no other thread's */
		assert_int_equal(row->tree_n, depth < TREE_DEPTH_MAX
						      ? depth : TREE_DEPTH_MAX);
		assert_int_equal(rep->tree_vals.v[row->tree].total.count,
				 samples_of(t) + 1);
		assert_int_equal(rep->tree_vals.v[row->tree].self.count,
				 depth == 1 ? samples_of(t) + 1 : 1);
	}
	assert_int_equal(rep->quality.shown, m.samples.n);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		APP_TEST(test_recursion_counts_once),
		APP_TEST(test_no_inline),
		APP_TEST(test_callers),
		APP_TEST(test_callees),
		APP_TEST(test_limit),
		APP_TEST(test_keys_of_frames),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_frameless_and_marks),
		cmocka_unit_test(test_many_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
