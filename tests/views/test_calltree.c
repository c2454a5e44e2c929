// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of flame graphs: inlined frames, order, small branches, callers; each
 * tree is written as text and compared with one made by hand. */
#include "make_profile.h"

#include <string.h>

#include "base/text.h"
#include "views/tree/calltree.h"
#include "views/html/html.h"
#include "views/svg/svg.h"

static struct report *build(struct reader *r)
{
	struct report_spec spec = { 0 };
	struct report *rep = NULL;
	struct error err = { 0 };

	if (key_list_parse("image,symbol", &spec.keys, &err) < 0 ||
	    report_build(r, &spec, &rep, &err) < 0)
		fail_msg("%s", err.msg);
	return rep;
}

/* "all 10(main 10(a 6,b* 4))": * marks inlined frames. */
static void put_tree(const struct report *rep, const struct calltree *f, size_t i, struct buf *out)
{
	const struct calltree_node *n = &f->nodes.v[i];
	char sep = '(';

	calltree_func_name(rep, n->func, out);
	buf_printf(out, "%s %llu", n->inlined ? "*" : "",
		   (unsigned long long)f->total[i * f->ncols].count);
	for (size_t c = i + 1; c < n->end; c = f->nodes.v[c].end) {
		assert_int_equal(f->nodes.v[c].parent, i);
		buf_u8(out, (uint8_t)sep);
		sep = ',';
		put_tree(rep, f, c, out);
	}
	if (sep == ',')
		buf_u8(out, ')');
}

static void tree_is(const struct report *rep, const struct calltree *f, const char *want)
{
	struct buf out = { 0 };

	put_tree(rep, f, 0, &out);
	assert_string_equal(buf_cstr(&out), want);
	buf_fini(&out);
}

/* main calls a, b and c; b is inlined into main; a calls c. */
static struct reader *small(struct maker *m)
{
	uint32_t fs[2], main_loc, a, c, both;

	maker_init(m, 1);
	fs[0] = maker_func(m, m->app, "main", "main.c", 1);
	fs[1] = maker_func(m, m->app, "b", "b.h", 1);
	main_loc = maker_loc(m, fs[0], 5);
	both = maker_inlined(m, 2, fs, (uint32_t[]){ 7, 9 });
	a = maker_loc(m, maker_func(m, m->app, "a", "a.c", 1), 3);
	c = maker_loc(m, maker_func(m, m->lib, "c", "c.c", 1), 4);
	maker_samples(m, STACK(m, main_loc, a), 0, 0, 10, 50);
	maker_samples(m, STACK(m, main_loc, a, c), 0, 0, 10, 20);
	maker_samples(m, STACK(m, both), 0, 0, 10, 25);
	maker_samples(m, STACK(m, main_loc, c), 0, 0, 10, 4);
	maker_samples(m, STACK(m, main_loc), 0, 0, 10, 1);
	return maker_read(m);
}

static void test_tree(void **state)
{
	struct maker m;
	struct error err = { 0 };
	struct calltree f, inverted;
	struct reader *r = small(&m);
	struct report *rep = build(r);
	uint32_t *moved = NULL;

	(void)state;
	assert_int_equal(calltree_of(&f, rep, &err), 0);
	tree_is(rep, &f, "all 100(main 100(a 70(c 20),b* 25,c 4))");
	assert_true(calltree_share(&f, 2) > 0.699 && calltree_share(&f, 2) < 0.701);

	assert_int_equal(calltree_invert(&f, 0, &inverted, &err), 0);
	tree_is(rep, &inverted, "all 100(a 50(main 50),b* 25(main 25),"
			   "c 24(a 20(main 20),main 4),main 1)");
	calltree_fini(&inverted);
	assert_int_equal(calltree_invert(&f, 0.05, &inverted, &err), 0);
	tree_is(rep, &inverted, "all 100(a 50(main 50),b* 25(main 25),"
			   "c 24(a 20(main 20),[small branches] 4),"
			   "[small branches] 1)");
	assert_int_equal(inverted.pruned, 2);
	calltree_fini(&inverted);

	assert_int_equal(calltree_prune(&f, 0.22, &moved, &err), 0);
	tree_is(rep, &f, "all 100(main 100(a 70([small branches] 20),b* 25,"
		    "[small branches] 4))");
	/* main, a, c below a, b, c */
	assert_int_equal(moved[1], 1);
	assert_int_equal(moved[2], 2);
	assert_int_equal(moved[3], 3);
	assert_int_equal(moved[4], 4);
	assert_int_equal(moved[5], 5);
	assert_int_equal(f.pruned, 2);
	free(moved);

	/* what was summed is summed on */
	assert_int_equal(calltree_prune(&f, 0.5, NULL, &err), 0);
	tree_is(rep, &f, "all 100(main 100(a 70([small branches] 20),"
		    "[small branches] 29))");
	assert_int_equal(calltree_prune(&f, 2, NULL, &err), 0);
	tree_is(rep, &f, "all 100([small branches] 100)");
	calltree_fini(&f);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

/* Broken stacks stand apart, but not complete ones whose mark tells how their callers
 * were found; samples without any frame are seen. */
static void test_marks(void **state)
{
	struct maker m;
	struct error err = { 0 };
	struct calltree f;
	struct reader *r;
	struct report *rep;
	uint32_t a;

	(void)state;
	maker_init(&m, 1);
	a = maker_loc(&m, maker_func(&m, m.app, "a", "a.c", 1), 3);
	maker_samples(&m, STACK(&m, a), 0, 0, 10, 7);
	maker_samples(&m, STACK(&m, PROF_MARK_BROKEN, a), 0, 0, 10, 5);
	maker_samples(&m, STACK(&m, PROF_MARK_CUT), 0, 0, 10, 3);
	maker_samples(&m, STACK(&m, PROF_MARK_READ_LATE, a), 0, 0, 10, 20);
	maker_samples(&m, STACK(&m, PROF_MARK_HEURISTIC, a), 0, 0, 10, 10);
	maker_samples(&m, 0, 0, 0, 10, 2);
	r = maker_read(&m);
	rep = build(r);
	assert_int_equal(calltree_of(&f, rep, &err), 0);
	tree_is(rep, &f, "all 47(a 37,[callers missing: broken stack] 5(a 5),"
		    "[callers missing: deep stack cut] 3([unknown] 3),"
		    "[unknown] 2)");
	calltree_fini(&f);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

static void test_empty(void **state)
{
	struct maker m;
	struct error err = { 0 };
	struct svg_style svg = { .width = 1200 };
	struct html_style style = { 0 };
	struct html_input in = { 0 };
	struct buf out = { 0 };
	struct reader *r;
	struct report *rep;

	(void)state;
	maker_init(&m, 1);
	r = maker_read(&m);
	rep = build(r);
	assert_int_equal(svg_write(rep, &svg, &out, &err), -ERR_NOTFOUND);
	in.r = r;
	in.rep = rep;
	assert_int_equal(html_write(&in, 1, &style, &out, &err), 0);
	assert_non_null(strstr(buf_cstr(&out), "app --work"));
	buf_fini(&out);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

static void test_xml(void **state)
{
	struct buf out = { 0 };

	(void)state;
	text_xml(&out, "<a b=\"c\">&'\x1b[0m\xe2\x80\xae]]>");
	assert_string_equal(buf_cstr(&out),
			    "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\\x1b[0m"
			    "\\u{202e}]]&gt;");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_xml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
