// SPDX-License-Identifier: GPL-2.0-or-later
/* Wilson's score interval by values worked out apart; source lines from a
 * recording; which rows of annotated code are shown. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <math.h>
#include <string.h>

#include "views/annotate/listing.h"
#include "views/query/interval.h"
#include "views/code/sources.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 5e-5;
}

/* Worked out apart, from the formula. */
static void test_interval(void **state)
{
	struct interval i = interval_share(5, 10);

	(void)state;
	assert_true(near(i.lo, 0.2366) && near(i.hi, 0.7634));
	i = interval_share(0, 10);
	assert_true(i.lo == 0 && near(i.hi, 0.2775));
	i = interval_share(10, 10);
	assert_true(near(i.lo, 0.7225) && i.hi == 1);
	i = interval_share(1, 100);
	assert_true(near(i.lo, 0.0018) && near(i.hi, 0.0545));
	i = interval_share(0, 0);
	assert_true(i.lo == 0 && i.hi == 0);
}

/* The interval of none of 1000 ends at 0.0038; that of 7 begins below, of 8
 * above. */
static void test_noise(void **state)
{
	(void)state;
	assert_true(interval_is_noise(1, 1000));
	assert_true(interval_is_noise(7, 1000));
	assert_false(interval_is_noise(8, 1000));
	assert_false(interval_is_noise(3, 3));
}

static void add_text(struct profile *p, uint32_t file, uint32_t line,
		     const char *text)
{
	struct source_excerpt t = { .file = file, .line = line,
			       .offset = (uint32_t)p->text_bytes.n,
			       .size = (uint32_t)strlen(text) };

	buf_bytes(&p->text_bytes, text, t.size);
	assert_int_equal(vec_push(&p->texts, t), 0);
}

static void is_line(const struct sources *s, const struct source_file *f,
		    uint32_t line, const char *want)
{
	struct span got;

	assert_true(source_line(s, f, line, &got));
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
}

static void test_pieces(void **state)
{
	const struct source_file *f;
	struct sources s;
	struct profile p;
	struct span got;
	uint32_t file;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	file = profile_str(&p, "/nonexistent/a.c");
	add_text(&p, file, 20, "twenty\n\nlast");
	add_text(&p, file, 3, "three\nfour\n");
	add_text(&p, PROF_STR_EMPTY, 4, "of another file\n");
	sources_init(&s, &p, &(struct source_where){ .maps = NULL });
	f = sources_get(&s, file, 0);
	assert_int_equal(f->place, SOURCE_RECORDING);
	is_line(&s, f, 3, "three");
	is_line(&s, f, 4, "four");
	is_line(&s, f, 20, "twenty");
	is_line(&s, f, 21, "");
	is_line(&s, f, 22, "last");
	assert_false(source_line(&s, f, 5, &got));
	assert_false(source_line(&s, f, 23, &got));
	assert_false(source_line(&s, f, 0, &got));
	assert_ptr_equal(sources_get(&s, file, 0), f);
	sources_fini(&s);
	profile_fini(&p);
}

static void test_no_file(void **state)
{
	const struct source_map map = { "./", "/nonexistent/" };
	const struct source_file *f;
	struct sources s;
	struct profile p;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	sources_init(&s, &p, &(struct source_where){
		     .maps = &map, .nmaps = 1,
		     .access = { .use = SOURCES_ON_SCREEN } });
	f = sources_get(&s, profile_str(&p, "./b.c"), 0);
	assert_int_equal(f->place, SOURCE_NONE);
	assert_string_equal(f->path, "/nonexistent/b.c");
	f = sources_get(&s, profile_str(&p, "c.c"), 0);
	assert_non_null(strstr(f->why, "relative"));
	sources_fini(&s);
	profile_fini(&p);
}

enum { FIRST = 10, LAST = 30 };

/* Lines 10 to 30 of a file; a function with code from 12 to 28, of which lines
 * 15, 19 and 26 have cost. */
static void make_lines(struct annotation *a, struct listing *l)
{
	static const uint32_t hot[] = { 15, 19, 26 };

	a->ncols = 1;
	for (uint32_t line = 12; line <= 28; line++) {
		struct annot_cost c = { { 0, 0 }, { 0, 0 }, { 0, 0 } };

		for (size_t i = 0; i < 3; i++)
			c.self.count += hot[i] == line;
		assert_int_equal(vec_push(&a->costs, c), 0);
	}
	assert_int_equal(vec_push(&l->groups, (struct listing_group){
			 .nrows = LAST - FIRST + 1 }), 0);
	for (uint32_t line = FIRST; line <= LAST; line++) {
		struct listing_row r = listing_new_row(LISTING_LINE);

		r.group = 0;
		r.at[0] = line;
		r.head = line == 12;
		r.cost[0] = line >= 12 && line <= 28 ? line - 12 : SIZE_MAX;
		assert_int_equal(vec_push(&l->rows, r), 0);
	}
}

/* Appends "12 15 +3" for lines 12 and 15 and a fold of three. */
static void put_shown(const struct listing *l, struct buf *out)
{
	buf_again(out);
	for (size_t i = 0; i < l->shown.n; i++) {
		const struct listing_row *r = &l->shown.v[i];

		if (r->kind == LISTING_FOLD)
			buf_printf(out, " +%u", r->hidden);
		else
			buf_printf(out, " %u", r->at[0]);
	}
}

static void test_fold(void **state)
{
	struct annotation a = { .ncols = 0 };
	struct annot_unit u = { .kind = UNIT_FUNCTION };
	struct listing l;
	struct buf out = { 0 };

	(void)state;
	listing_init(&l, &(struct listing_spec){ .a = { &a }, .u = { &u } });
	make_lines(&a, &l);
	/* 13, 17 and 28 would be folded alone */
	assert_int_equal(listing_fold(&l, 1, false), 0);
	put_shown(&l, &out);
	assert_string_equal(buf_cstr(&out),
			    " 12 13 14 15 16 17 18 19 20 +4 25 26 27 28");
	assert_int_equal(listing_fold(&l, 0, false), 0);
	put_shown(&l, &out);
	assert_string_equal(buf_cstr(&out),
			    " 12 +2 15 +3 19 +6 26 +2");
	assert_int_equal(listing_fold(&l, 0, true), 0);
	put_shown(&l, &out);
	assert_string_equal(buf_cstr(&out), " 12 13 14 15 16 17 18 19 20 21 22"
			    " 23 24 25 26 27 28");
	/* without cost there is nothing to show */
	for (size_t i = 0; i < a.costs.n; i++)
		a.costs.v[i].self.count = 0;
	assert_int_equal(listing_fold(&l, 3, false), 0);
	assert_int_equal(l.shown.n, 0);
	listing_fini(&l);
	vec_fini(&a.costs);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests_name("annotate", tests, NULL, NULL);
}
