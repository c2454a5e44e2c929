// SPDX-License-Identifier: GPL-2.0-or-later
/* Diffs of two recordings made by hand: what is matched, costs, intervals (their
 * values were worked out apart from this program, from the formulas that
 * src/views/diff/diff_stats.c names), and the merged tree of stacks. */
#include "make_profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "views/diff/diff.h"
#include "views/svg/svg.h"

struct pair {
	struct maker m[DIFF_SIDES];
	struct reader *r[DIFF_SIDES];
	struct diff *d;
};

static struct diff_spec spec_of(const char *keys)
{
	struct diff_spec spec = { .path = { "old", "new" } };
	struct error err = { 0 };

	if (key_list_parse(keys, &spec.keys, &err) < 0)
		fail_msg("%s", err.msg);
	return spec;
}

static void compare(struct pair *p, const struct diff_spec *spec)
{
	struct error err = { 0 };

	for (int s = 0; s < DIFF_SIDES; s++)
		if (!p->r[s])
			p->r[s] = maker_read(&p->m[s]);
	diff_free(p->d);
	if (diff_build(p->r, spec, &p->d, &err) < 0)
		fail_msg("%s", err.msg);
}

static void done(struct pair *p)
{
	diff_free(p->d);
	for (int s = 0; s < DIFF_SIDES; s++) {
		reader_close(p->r[s]);
		maker_fini(&p->m[s]);
	}
}

/* "app main" or "/src/a.c:3": the words of a row's keys. */
static void row_words(const struct diff *d, uint32_t row, struct buf *out)
{
	const struct frame_key *k = &d->keys.keys.v[d->rows.v[row].key];

	if (d->keys.mask & KEY_BIT(KEY_IMAGE))
		buf_printf(out, "%s ", profile_cstr(&d->names, k->image));
	if (d->keys.mask & KEY_BIT(KEY_SYMBOL))
		diff_name(d, d->rows.v[row].key, out);
	if (d->keys.mask & (KEY_BIT(KEY_FILE) | KEY_BIT(KEY_LINE)))
		buf_str(out, profile_cstr(&d->names, k->file));
	if (d->keys.mask & KEY_BIT(KEY_LINE))
		buf_printf(out, ":%u", k->line);
}

static uint32_t find_row(const struct diff *d, const char *words)
{
	for (uint32_t i = 0; i < d->rows.n; i++) {
		struct buf b = { 0 };
		bool hit;

		row_words(d, i, &b);
		hit = !strcmp(buf_cstr(&b), words);
		buf_fini(&b);
		if (hit)
			return i;
	}
	fail_msg("no row %s", words);
	return PROF_NONE;
}

static void counts_are(const struct diff *d, const char *words, uint64_t old,
		       uint64_t now)
{
	uint32_t row = find_row(d, words);

	assert_int_equal(diff_values(d, DIFF_OLD, row)->self.count, old);
	assert_int_equal(diff_values(d, DIFF_NEW, row)->self.count, now);
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * (1 + fabs(want))))
		fail_msg("%.9g is not %.9g", got, want);
}

/* `times` samples of weight 10 in a function of its own. */
static void add(struct maker *m, uint32_t image, const char *name,
		unsigned int times)
{
	char file[40];
	uint32_t f;

	snprintf(file, sizeof(file), "%.*s.c", (int)strcspn(name, "."),
		 name);
	f = maker_func(m, image, name, file, 1);
	maker_samples(m, STACK(m, maker_loc(m, f, 2)), 0, 0, 10, times);
}

static void change_is(const struct diff *d, const char *words, double change,
		      double low, double high, bool real)
{
	const struct cost_change *c =
		diff_row_change(d, find_row(d, words), 0, false);

	near(c->change, change);
	near(c->low, low);
	near(c->high, high);
	assert_int_equal(c->real, real);
}

/* One run of 10 s a side, 2,000 samples together, weight 10 each. */
static void test_changes(void **state)
{
	static const struct {
		const char *name;
		unsigned int n[DIFF_SIDES];
	} rows[] = {
		{ "grew", { 400, 600 } }, { "same", { 300, 300 } },
		{ "came", { 0, 97 } }, { "went", { 297, 0 } },
		{ "rare", { 5, 1 } },
	};
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	uint32_t row;

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		maker_init(&p.m[s], 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			add(&p.m[s], p.m[s].app, rows[i].name, rows[i].n[s]);
	}
	compare(&p, &spec);
	assert_int_equal(p.d->norm, DIFF_NORM_RUN);
	assert_true(p.d->tau_assumed);
	near(p.d->cols.v[0].tau, 0.02);
	change_is(p.d, "app grew", 2000, 1482.8044706, 2521.7501129, true);
	change_is(p.d, "app same", 0, -436.1302027, 436.1302027, false);
	row = find_row(p.d, "app came");
	assert_int_equal(diff_status(p.d, row, 0, false), DIFF_ADDED);
	row = find_row(p.d, "app went");
	assert_int_equal(diff_status(p.d, row, 0, false), DIFF_REMOVED);
	change_is(p.d, "app rare", -40, -107.5006062, 14.6918648, false);
	assert_false(diff_row_change(p.d, find_row(p.d, "app rare"), 0,
				     false)->tested);
	/* the most changed first: went, grew, came, rare, same */
	row = p.d->order.v[0];
	assert_int_equal(row, find_row(p.d, "app went"));
	assert_int_equal(p.d->order.v[4], find_row(p.d, "app same"));
	near(p.d->cols.v[0].total.cost[DIFF_OLD], 10020);
	near(p.d->cols.v[0].total.cost[DIFF_NEW], 9980);
	assert_false(p.d->cols.v[0].total.tested);

	spec.norm = DIFF_NORM_TOTAL;
	compare(&p, &spec);
	row = find_row(p.d, "app grew");
	near(diff_row_change(p.d, row, 0, false)->cost[DIFF_OLD],
	     100 * 400.0 / 1002);
	near(diff_row_change(p.d, row, 0, false)->cost[DIFF_NEW],
	     100 * 600.0 / 998);
	spec.norm = DIFF_NORM_TIME;
	compare(&p, &spec);
	near(diff_row_change(p.d, row, 0, false)->cost[DIFF_OLD], 400);
	assert_string_equal(diff_unit(p.d, 0), "/s");
	done(&p);
}

/* Names of clones, files that were moved, code without names. */
static void test_match(void **state)
{
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t tool, f;

		maker_init(m, 1);
		tool = maker_image(m, s ? "/new/bin/tool" : "/old/tool",
				   PROF_IMAGE_ELF);
		add(m, tool, s ? "f.isra.0" : "f", 30);
		if (s)
			add(m, tool, "f.cold", 4);
		f = maker_func(m, tool, "g", s ? "/b/2/src/x/g.c"
					       : "/b/1/src/x/g.c", 1);
		maker_samples(m, STACK(m, maker_loc(m, f, 7)), 0, 0, 10, 5);
		f = maker_func(m, tool, "h", s ? "/b/2/src/y/g.c"
					       : "/b/1/src/y/g.c", 1);
		maker_samples(m, STACK(m, maker_loc(m, f, 7)), 0, 0, 10, 6);
		/* the same build of libx ran, another of app */
		m->p.images.v[m->lib].build_id =
			(struct build_id){ 2, { 1, 2 } };
		m->p.images.v[m->app].build_id =
			(struct build_id){ 1, { (uint8_t)s } };
		for (int i = 0; i < 2; i++) {
			maker_samples(m, STACK(m, maker_address(
				m, m->lib, 0x100u + 16u * (unsigned)i)), 0, 0,
				10, 2);
			maker_samples(m, STACK(m, maker_address(
				m, m->app, 0x100u + 16u * (unsigned)(i + s))),
				0, 0, 10, 3);
		}
	}
	compare(&p, &spec);
	counts_are(p.d, "tool f", 30, 34);
	counts_are(p.d, "tool g", 5, 5);
	counts_are(p.d, "libx.so.1 libx.so.1+0x100", 2, 2);
	counts_are(p.d, "libx.so.1 libx.so.1+0x110", 2, 2);
	counts_are(p.d, "app [no name]", 6, 6);
	assert_int_equal(p.d->rows.n, 6);
	spec = spec_of("file,line");
	compare(&p, &spec);
	counts_are(p.d, "/b/2/src/x/g.c:7", 5, 5);
	counts_are(p.d, "/b/2/src/y/g.c:7", 6, 6);
	counts_are(p.d, "f.c:2", 30, 34);
	done(&p);
}

/* An image of another name whose functions are the same is the same. */
static void test_renamed(void **state)
{
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t tool, other;

		maker_init(m, 1);
		tool = maker_image(m, s ? "/tool-new" : "/tool-old",
				   PROF_IMAGE_ELF);
		other = maker_image(m, s ? "/plug-b" : "/plug-a",
				    PROF_IMAGE_ELF);
		add(m, tool, "f", 30);
		add(m, tool, "g", 20);
		add(m, tool, s ? "n" : "o", 20);
		add(m, other, s ? "p" : "q", 9);
	}
	compare(&p, &spec);
	counts_are(p.d, "tool-new f", 30, 30);
	counts_are(p.d, "tool-new g", 20, 20);
	counts_are(p.d, "tool-new n", 0, 20);
	counts_are(p.d, "tool-new o", 20, 0);
	counts_are(p.d, "plug-a q", 9, 0);
	counts_are(p.d, "plug-b p", 0, 9);
	done(&p);
}

/* A stack that holds a function and its clone counts once for both. */
static void test_total(void **state)
{
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	uint32_t row;

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t f, g;

		maker_init(m, 1);
		f = maker_func(m, m->app, "f", "a.c", 1);
		g = maker_func(m, m->app, "f.part.0", "a.c", 1);
		maker_samples(m, STACK(m, maker_loc(m, f, 1),
				       maker_loc(m, g, 2)), 0, 0, 10, 7);
	}
	compare(&p, &spec);
	row = find_row(p.d, "app f");
	assert_int_equal(diff_values(p.d, 0, row)->total.count, 7);
	assert_int_equal(diff_values(p.d, 0, row)->self.count, 7);
	done(&p);
}

/* Three runs against three: means a run, and the total's interval by the spread
 * between runs.  Welch's test on the logarithms of 900, 1000, 1100 and 1176, 1200,
 * 1224: difference 0.18553831, standard error 0.05909236, 2.158597 degrees of freedom,
 * whose 97.5 % point of t is 4.0134681 (integrated numerically). */
static void test_runs(void **state)
{
	static const unsigned int n[DIFF_SIDES][3] = { { 90, 100, 110 },
						       { 98, 100, 102 } };
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	const struct cost_change *t;
	/* between runs; and a side's 100 samples a run are whole ones */
	double se = sqrt(0.0590923556 * 0.0590923556 + 2.0 / (12 * 100 * 100));

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t f, loc;

		maker_init(m, 1);
		f = maker_func(m, m->app, "f", "a.c", 1);
		loc = maker_loc(m, f, 1);
		for (unsigned int i = 0; i < 3; i++) {
			uint32_t thread = m->thread;

			if (i) {
				uint64_t at = 11000000000ull * (i + 1);

				maker_run(m, at, at + 1000000000);
				thread = maker_thread(m, "app", 100 + i,
						      100 + i, i);
			}
			maker_samples(m, STACK(m, loc), 0, thread,
				      s ? 12 : 10, n[s][i]);
		}
	}
	compare(&p, &spec);
	assert_int_equal(p.d->side[0].nruns, 3);
	assert_false(p.d->tau_assumed);
	t = &p.d->cols.v[0].total;
	near(t->cost[DIFF_OLD], 1000);
	near(t->cost[DIFF_NEW], 1200);
	near(t->low, 1000 * expm1(0.1855383087 - 4.0134680758 * se));
	near(t->high, 1000 * expm1(0.1855383087 + 4.0134680758 * se));
	assert_false(t->real);
	near(diff_row_change(p.d, find_row(p.d, "app f"), 0, false)->change,
	     200);
	spec.select.runs = "1,3";
	compare(&p, &spec);
	assert_int_equal(p.d->side[0].nruns, 2);
	near(p.d->cols.v[0].total.cost[DIFF_OLD], 1000);
	done(&p);
}

/* What only one side ran costs that side the same in each run: it is new. */
static void test_new_in_runs(void **state)
{
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	const struct cost_change *c;

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t loc[DIFF_SIDES];

		maker_init(m, 1);
		for (int i = 0; i < DIFF_SIDES; i++)
			loc[i] = maker_loc(m, maker_func(m, m->app,
				i ? "came" : "stays", "a.c", 1), 1);
		for (unsigned int i = 0; i < 3; i++) {
			uint32_t thread = m->thread;

			if (i) {
				maker_run(m, 20000000000ull * i,
					  20000000000ull * i + 1000000000);
				thread = maker_thread(m, "app", 100 + i,
						      100 + i, i);
			}
			maker_samples(m, STACK(m, loc[0]), 0, thread, 10, 100);
			if (s)
				maker_samples(m, STACK(m, loc[1]), 0, thread,
					      10, 24 + i);
		}
	}
	compare(&p, &spec);
	c = diff_row_change(p.d, find_row(p.d, "app came"), 0, false);
	near(c->change, 250);
	/* a Poisson count of 75 is 60 to 94 with 95 %; t has few degrees of
	 * freedom, so a little more */
	assert_true(c->low > 170 && c->high < 350);
	assert_true(c->real);
	c = diff_row_change(p.d, find_row(p.d, "app stays"), 0, false);
	assert_false(c->real);
	done(&p);
}

/* Events are paired by name; what only one side has is left out. */
static void test_events(void **state)
{
	struct diff_spec spec = spec_of("symbol");
	struct pair p = { 0 };
	struct diff *d;
	struct error err = { 0 };

	(void)state;
	maker_init(&p.m[0], 1);
	maker_init(&p.m[1], 3);
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t f = maker_func(m, m->app, "f", "a.c", 1);
		uint32_t st = STACK(m, maker_loc(m, f, 1));

		m->p.events.v[0].name = m->p.events.v[0].actual =
			profile_str(&m->p, "event2");
		maker_samples(m, st, 0, 0, 10, 5);
		if (s) {
			m->p.events.v[2].name = m->p.events.v[2].actual =
				profile_str(&m->p, "else");
			maker_samples(m, st, 1, 0, 10, 7);
		}
	}
	compare(&p, &spec);
	assert_int_equal(p.d->cols.n, 1);
	assert_string_equal(diff_event_name(p.d, 0), "event2");
	counts_are(p.d, "f", 5, 5);
	spec = spec_of("symbol,pid");
	assert_int_equal(diff_build(p.r, &spec, &d, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "comm"));
	done(&p);
}

/* One event twice, at two rates: each is compared with its own. */
static void test_equal_events(void **state)
{
	struct diff_spec spec = spec_of("symbol");
	struct pair p = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];
		uint32_t f, st;

		maker_init(m, 2);
		f = maker_func(m, m->app, "f", "a.c", 1);
		st = STACK(m, maker_loc(m, f, 1));
		m->p.events.v[1].name = m->p.events.v[0].name;
		m->p.events.v[1].actual = m->p.events.v[0].actual;
		maker_samples(m, st, 0, 0, 10, 5);
		maker_samples(m, st, 1, 0, 20, s ? 7 : 3);
	}
	compare(&p, &spec);
	assert_int_equal(p.d->cols.n, 2);
	counts_are(p.d, "f", 5, 5);
	assert_int_equal(diff_values(p.d, 0, 0)[1].self.count, 3);
	assert_int_equal(diff_values(p.d, 1, 0)[1].self.count, 7);
	done(&p);
}

/* Other events have only shares in common. */
static void test_other_event(void **state)
{
	struct diff_spec spec = spec_of("symbol");
	struct pair p = { 0 };
	struct diff *d;
	struct error err = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct maker *m = &p.m[s];

		maker_init(m, 1);
		add(m, m->app, "f", 5);
		m->p.events.v[0].actual =
			profile_str(&m->p, s ? "cycles" : "cpu-clock");
	}
	compare(&p, &spec);
	assert_int_equal(p.d->norm, DIFF_NORM_TOTAL);
	assert_true(p.d->cols.v[0].other_event);
	spec.norm = DIFF_NORM_RUN;
	assert_int_equal(diff_build(p.r, &spec, &d, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "--normalise=total"));
	done(&p);
}

/* "all 10>12(main 10>12(a 6>0,b* 4>12))": * marks what was inlined. */
static void put_tree(const struct diff *d, const struct calltree *f, size_t i, struct buf *out)
{
	const struct calltree_node *n = &f->nodes.v[i];
	char sep = '(';

	diff_tree_name(d, n->func, out);
	buf_printf(out, "%s %llu>%llu", n->inlined == 1 ? "-" :
		   n->inlined == 2 ? "+" : n->inlined ? "*" : "",
		   (unsigned long long)calltree_cell(f, i, DIFF_OLD, 0).count,
		   (unsigned long long)calltree_cell(f, i, DIFF_NEW, 0).count);
	for (size_t c = i + 1; c < n->end; c = f->nodes.v[c].end) {
		assert_int_equal(f->nodes.v[c].parent, i);
		buf_u8(out, (uint8_t)sep);
		sep = ',';
		put_tree(d, f, c, out);
	}
	if (sep == ',')
		buf_u8(out, ')');
}

static void tree_is(const struct diff *d, const struct calltree *f, const char *want)
{
	struct buf out = { 0 };

	put_tree(d, f, 0, &out);
	assert_string_equal(buf_cstr(&out), want);
	buf_fini(&out);
}

/* main calls a, b and c; b is inlined in the new one; c goes, d comes. */
static void flame_side(struct maker *m, int s)
{
	uint32_t fs[2], main_loc, a, b;

	maker_init(m, 1);
	fs[0] = maker_func(m, m->app, "main", "m.c", 1);
	fs[1] = maker_func(m, m->app, "b", "b.c", 1);
	main_loc = maker_loc(m, fs[0], 5);
	a = maker_loc(m, maker_func(m, m->app, "a", "a.c", 1), 3);
	maker_samples(m, STACK(m, main_loc, a), 0, 0, 10, s ? 40 : 50);
	if (s) {
		b = maker_inlined(m, 2, fs, (uint32_t[]){ 7, 9 });
		maker_samples(m, STACK(m, b), 0, 0, 10, 45);
	} else {
		b = maker_loc(m, fs[1], 9);
		maker_samples(m, STACK(m, main_loc, b), 0, 0, 10, 30);
	}
	a = maker_loc(m, maker_func(m, m->app, s ? "d" : "c", "a.c", 9), 9);
	maker_samples(m, STACK(m, main_loc, a), 0, 0, 10, s ? 4 : 15);
}

static void test_flame(void **state)
{
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	struct calltree f;
	struct cost_change c;
	struct error err = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++)
		flame_side(&p.m[s], s);
	compare(&p, &spec);
	assert_int_equal(diff_tree(p.d, &f, &err), 0);
	tree_is(p.d, &f, "all 95>89(main 95>89(a 50>40,b+ 30>45,c 15>0,d 0>4))");
	near(calltree_share(&f, 2), 90.0 / 184);
	diff_change_of(p.d, 0, calltree_cell(&f, 3, DIFF_OLD, 0),
		       calltree_cell(&f, 3, DIFF_NEW, 0), &c);
	near(c.change, 150);
	assert_int_equal(calltree_prune(&f, 0.1, NULL, &err), 0);
	tree_is(p.d, &f, "all 95>89(main 95>89(a 50>40,b+ 30>45,"
		    "[small branches] 15>4))");
	assert_int_equal(f.pruned, 2);
	assert_int_equal(calltree_prune(&f, 0.45, NULL, &err), 0);
	tree_is(p.d, &f, "all 95>89(main 95>89(a 50>40,[small branches] 45>49))");
	calltree_fini(&f);
	spec = spec_of("symbol");
	compare(&p, &spec);
	assert_int_equal(diff_tree(p.d, &f, &err), -ERR_USAGE);
	done(&p);
}

/* Names that are no names: nothing of them reaches a terminal or a browser as
 * anything but text. */
static void test_hostile(void **state)
{
	static const char name[] = "f</title><script>\"'&\033[31m\xe2\x80\xae";
	static const char *const never[] = { "<script", "\033",
					     "\xe2\x80\xae" };
	const struct diff_style style = { .full_names = true };
	const struct diff_svg_style svg = { 800, true };
	struct diff_spec spec = spec_of("image,symbol");
	struct pair p = { 0 };
	struct buf out[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	struct error err = { 0 };

	(void)state;
	spec.path[0] = spec.path[1] = name;
	for (int s = 0; s < DIFF_SIDES; s++) {
		maker_init(&p.m[s], 1);
		add(&p.m[s], maker_image(&p.m[s], name, PROF_IMAGE_ELF), name,
		    100);
	}
	compare(&p, &spec);
	diff_text(p.d, &style, &out[0]);
	diff_json(p.d, &out[1]);
	diff_csv(p.d, &out[2]);
	assert_int_equal(diff_svg(p.d, &svg, &out[3], &err), 0);
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 3; k++) {
			/* < is a character like others outside of markup */
			if (!k && (i == 0 || i == 2))
				continue;
			check_lacks(buf_cstr(&out[i]), never[k]);
		}
	assert_non_null(strstr(buf_cstr(&out[3]), "&lt;script&gt;"));
	for (size_t i = 0; i < 4; i++)
		buf_fini(&out[i]);
	done(&p);
}

/* `times` samples in a function of a file, called by another one. */
static void add_called(struct maker *m, const char *caller, const char *name,
		       const char *file, unsigned int times)
{
	uint32_t by = maker_func(m, m->app, caller, "main.c", 1);
	uint32_t f = maker_func(m, m->app, name, file, 1);

	maker_samples(m, STACK(m, maker_loc(m, by, 2), maker_loc(m, f, 2)), 0,
		      0, 10, times);
}

static void moved_is(const struct diff *d, const char *name, const char *from)
{
	uint32_t row = find_row(d, name);

	assert_int_equal(d->moved_from[row],
			 from ? find_row(d, from) : PROF_NONE);
	if (from)
		assert_int_equal(diff_status(d, row, 0, false), DIFF_MOVED);
}

/* Nothing is known of the code: files and callers tell what is related. */
static void test_moved(void **state)
{
	static const struct {
		const char *caller, *name, *file;
		unsigned int n[DIFF_SIDES];
	} rows[] = {
		{ "c1", "split", "a.c", { 600, 300 } },
		{ "c2", "helper", "a.c", { 0, 290 } },	/* by its file */
		{ "c3", "gone", "b.c", { 400, 0 } },
		{ "c3", "named", "c.c", { 0, 410 } },	/* by its caller */
		{ "c4", "slower", "d.c", { 300, 600 } },
		{ "c5", "faster", "e.c", { 600, 300 } },	/* not related */
		{ "c6", "less", "f.c", { 300, 200 } },
		{ "c7", "more", "f.c", { 0, 300 } },	/* far more than that */
		{ "c8", "fell", "g.c", { 600, 300 } },
		/* was there before, and no code of it is known */
		{ "c8", "rose", "g.c", { 300, 590 } },
	};
	struct diff_spec spec = spec_of("symbol");
	struct pair p = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		maker_init(&p.m[s], 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			add_called(&p.m[s], rows[i].caller, rows[i].name,
				   rows[i].file, rows[i].n[s]);
	}
	compare(&p, &spec);
	moved_is(p.d, "helper", "split");
	moved_is(p.d, "named", "gone");
	moved_is(p.d, "slower", NULL);
	moved_is(p.d, "more", NULL);
	moved_is(p.d, "rose", NULL);
	assert_int_equal(diff_status(p.d, find_row(p.d, "more"), 0, false),
			 DIFF_ADDED);
	assert_int_equal(diff_status(p.d, find_row(p.d, "gone"), 0, false),
			 DIFF_MOVED);
	assert_int_equal(diff_status(p.d, find_row(p.d, "split"), 0, false),
			 DIFF_SHRANK);
	assert_int_equal(p.d->moved_to[find_row(p.d, "split")],
			 find_row(p.d, "helper"));
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_new_in_runs),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_equal_events),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_flame),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
