// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as text, JSON and CSV, with names that would hurt
 * a terminal, and at 80 columns. */
#include "make_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/dump.h"
#include "views/info.h"
#include "views/query/lines.h"
#include "views/tree/tree.h"

static struct report *build(struct reader *r, const char *keys,
			    enum tree_mode tree)
{
	struct report_spec spec = { .tree = tree };
	struct report *rep = NULL;
	struct error err = { 0 };

	if (key_list_parse(keys, &spec.keys, &err) < 0 ||
	    report_with_trees(r, &spec, &rep, &err) < 0)
		fail_msg("%s", err.msg);
	return rep;
}

static void small(struct maker *m)
{
	uint32_t fs[2], loc, leaf;

	maker_init(m, 1);
	fs[0] = maker_func(m, m->app, "main", "main.c", 1);
	fs[1] = maker_func(m, m->app, "helper", "help.h", 1);
	loc = maker_inlined(m, 2, fs, (uint32_t[]){ 7, 9 });
	leaf = maker_loc(m, maker_func(m, m->kernel, "do_work", "", 0), 0);
	maker_samples(m, STACK(m, loc), 0, 0, 10, 1);
	maker_samples(m, STACK(m, loc, leaf), 0, 0, 10, 3);
}

static const char *rows_of(struct buf *out)
{
	const char *rows = strstr(buf_cstr(out), "\"rows\":");

	assert_non_null(rows);
	return rows;
}

static void test_json(void **state)
{
	struct maker m;
	struct buf out = { 0 }, again = { 0 };
	struct report *rep;
	struct reader *r;

	(void)state;
	small(&m);
	r = maker_read(&m);
	rep = build(r, "symbol,image,line", TREE_NONE);
	report_json(rep, &out);
	assert_string_equal(
		rows_of(&out),
		"\"rows\":[\n"
		"{\"symbol\":\"do_work\",\"image\":\"[kernel]\",\"file\":\"\","
		"\"line\":0,\"id\":\"[kernel]::do_work\","
		"\"self\":{\"samples\":3,\"weight\":30,\"percent\":75.0000},"
		"\"total\":{\"samples\":3,\"weight\":30,\"percent\":75.0000}},"
		"\n"
		"{\"symbol\":\"helper\",\"image\":\"/usr/bin/app\","
		"\"file\":\"help.h\",\"line\":9,"
		"\"id\":\"app:help.h:helper\","
		"\"self\":{\"samples\":1,\"weight\":10,\"percent\":25.0000},"
		"\"total\":{\"samples\":4,\"weight\":40,\"percent\":100.0000}},"
		"\n"
		"{\"symbol\":\"main\",\"image\":\"/usr/bin/app\","
		"\"file\":\"main.c\",\"line\":7,"
		"\"id\":\"app:main.c:main\","
		"\"self\":{\"samples\":0,\"weight\":0,\"percent\":0.0000},"
		"\"total\":{\"samples\":4,\"weight\":40,\"percent\":100.0000}}"
		"\n"
		"]}\n");
	report_free(rep);
	rep = build(r, "symbol,image,line", TREE_NONE);
	report_json(rep, &again);
	assert_int_equal(out.n, again.n);
	assert_memory_equal(out.p, again.p, out.n);
	report_free(rep);

	buf_reset(&out);
	rep = build(r, "comm", TREE_CALLEES);
	report_json(rep, &out);
	assert_string_equal(rows_of(&out),
		"\"rows\":[\n"
		"{\"comm\":\"app\","
		"\"self\":{\"samples\":0,\"weight\":0,\"percent\":0.0000},"
		"\"total\":{\"samples\":4,\"weight\":40,\"percent\":100.0000},"
		"\"children\":[{\"symbol\":\"main\",\"id\":\"app:main.c:main\","
		"\"self\":{\"samples\":0,\"weight\":0,\"percent\":0.0000},"
		"\"total\":{\"samples\":4,\"weight\":40,\"percent\":100.0000},"
		"\"children\":[{\"symbol\":\"helper\",\"id\":\"app:help.h:helper\","
		"\"inlined\":true,"
		"\"self\":{\"samples\":1,\"weight\":10,\"percent\":25.0000},"
		"\"total\":{\"samples\":4,\"weight\":40,\"percent\":100.0000},"
		"\"children\":[{\"symbol\":\"do_work\","
		"\"id\":\"[kernel]::do_work\","
		"\"self\":{\"samples\":3,\"weight\":30,\"percent\":75.0000},"
		"\"total\":{\"samples\":3,\"weight\":30,\"percent\":75.0000}"
		"}]}]}]}\n]}\n");
	report_free(rep);
	buf_fini(&out);
	buf_fini(&again);
	reader_close(r);
	maker_fini(&m);
}

static void test_csv(void **state)
{
	struct maker m;
	struct buf out = { 0 };
	struct report *rep;
	struct reader *r;

	(void)state;
	small(&m);
	r = maker_read(&m);
	rep = build(r, "comm,symbol,line", TREE_CALLERS);
	report_csv(rep, &out);
	assert_string_equal(buf_cstr(&out),
		"depth,comm,symbol,file,line,self_samples,self_weight,"
		"self_percent,total_samples,total_weight,total_percent,id\r\n"
		"0,app,do_work,,0,3,30,75.0000,3,30,75.0000,"
		"[kernel]::do_work\r\n"
		"1,app,helper,help.h,9,0,0,0.0000,3,30,75.0000,"
		"app:help.h:helper\r\n"
		"2,app,main,main.c,7,0,0,0.0000,3,30,75.0000,"
		"app:main.c:main\r\n"
		"0,app,helper,help.h,9,1,10,25.0000,4,40,100.0000,"
		"app:help.h:helper\r\n"
		"1,app,main,main.c,7,0,0,0.0000,1,10,25.0000,"
		"app:main.c:main\r\n"
		"0,app,main,main.c,7,0,0,0.0000,4,40,100.0000,"
		"app:main.c:main\r\n");
	report_free(rep);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

static void test_text(void **state)
{
	struct text_style style = { .columns = 80 };
	struct maker m;
	struct buf out = { 0 };
	struct report *rep;
	struct reader *r;

	(void)state;
	small(&m);
	r = maker_read(&m);
	rep = build(r, "image,symbol", TREE_CALLERS);
	report_text(rep, &style, &out);
	assert_string_equal(buf_cstr(&out),
		"# app --work, 10.00 s, 2023-11-14 22:13:20 UTC\n"
		"# event0: 4 samples at 999 Hz, 0 lost\n"
		"#\n"
		"    SELF   TOTAL  IMAGE     SYMBOL\n"
		"  75.00%  75.00%  [kernel]  [k] do_work\n"
		"          75.00%    helper (inlined)\n"
		"                    main\n"
		"\n"
		"  25.00% 100.00%  app       helper\n"
		"          25.00%    main\n"
		"\n"
		"   0.00% 100.00%  app       main\n");
	report_free(rep);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* Names of all kinds that programs may carry. */
static void hostile(struct maker *m)
{
	static const char *const names[] = {
		"plain",
		"esc\033[2J\033]0;title\007",
		"quote\"comma,line\nfeed",
		"=cmd|' /C calc'!A0",
		("rtl\xe2\x80\xae"
		 "gnp.exe"),
		"bad utf8 \xff\xfe\x80",
		"\xe6\xbc\xa2\xe5\xad\x97_wide",
		"",
		"_ZN",
		"_R",
		"</script><script>alert(1)</script>",
	};
	char *huge = malloc(28001);
	uint32_t f, loc, prev;

	maker_init(m, 2);
	memset(huge, 'x', 28000);
	memcpy(huge, "ns::templ<", 10);
	huge[27999] = '>';
	huge[28000] = 0;
	f = maker_func(m, m->app, huge, huge, 1);
	prev = maker_loc(m, f, 1);
	maker_samples(m, STACK(m, prev), 0, 0, 1, 50);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t im = maker_image(m, names[i], PROF_IMAGE_ELF);
		uint32_t t = maker_thread(m, names[i], 100, 200, 0);

		f = maker_func(m, im, names[i], names[i], 1);
		loc = maker_loc(m, f, 1);
		maker_samples(m, STACK(m, prev, loc), i % 2, t, 1, 20);
		maker_samples(m, STACK(m, prev, loc,
				       maker_address(m, im, 0x100 + i)), 0, t,
			      1, 3);
		prev = loc;
	}
	m->p.images.v[0].note = profile_str(&m->p, huge);
	free(huge);
}

/* No byte that a terminal acts on, no line wider than 80 columns. */
static void check_lines(const char *s, size_t columns)
{
	while (*s) {
		size_t n = strcspn(s, "\n");
		char *line = strndup(s, n);

		for (size_t i = 0; i < n; i++)
			assert_false((unsigned char)line[i] < 0x20 ||
				     line[i] == 0x7f);
		assert_true(!strstr(line, "\xe2\x80\xae"));
		if (text_columns(line) > columns)
			fail_msg("%zu columns: %s", text_columns(line), line);
		free(line);
		s += n + (s[n] == '\n');
	}
}

static void test_hostile_names(void **state)
{
	static const char *const keys[] = {
		"image,symbol", "comm,pid,tid,cpu,image,symbol,line", "symbol",
		"line", "file", "comm", "event,run,symbol", "symbol,comm",
	};
	static const size_t widths[] = { 80, 132 };
	struct maker m;
	struct reader *r;

	(void)state;
	hostile(&m);
	r = maker_read(&m);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		for (int tree = TREE_NONE; tree <= TREE_CALLEES; tree++) {
			struct report *rep = build(r, keys[k],
						   (enum tree_mode)tree);
			struct buf out = { 0 };

			for (size_t w = 0; w < 2; w++) {
				struct text_style style = {
					.columns = (int)widths[w] };

				buf_reset(&out);
				report_text(rep, &style, &out);
				check_lines(buf_cstr(&out), widths[w]);
				style.full_names = style.samples = true;
				buf_reset(&out);
				report_text(rep, &style, &out);
				check_lines(buf_cstr(&out), 1000);
			}
			buf_fini(&out);
			report_free(rep);
		}
	}
	reader_close(r);
	maker_fini(&m);
}

/* The formats that programs read are read by programs that are not ours. */
static void check_with_python(const struct report *rep, bool json)
{
	static const char *const code[] = {
		"import csv,io,sys\n"
		"t=sys.stdin.buffer.read().decode('utf-8')\n"
		"rows=list(csv.reader(io.StringIO(t,newline='')))\n"
		"n=len(rows[0])\n"
		"sys.exit(0 if all(len(r)==n for r in rows) and len(rows)>5 "
		"and not any(r[1][:1] in '=+-@' for r in rows if r[1]) else 1)",
		"import json,sys\n"
		"d=json.loads(sys.stdin.buffer.read().decode('utf-8'))\n"
		"assert list(d)==['schema','header','rows'] and "
		"d['schema']==1\n"
		"def walk(r):\n"
		"  assert 'events' in r and 'self' not in r\n"
		"  return 1+sum(walk(c) for c in r.get('children',[]))\n"
		"n=sum(walk(r) for r in d['rows'])\n"
		"sys.exit(0 if n>5 else 1)",
	};
	char cmd[1200];
	struct buf out = { 0 };
	FILE *p;

	if (json)
		report_json(rep, &out);
	else
		report_csv(rep, &out);
	snprintf(cmd, sizeof(cmd), "python3 -c \"%s\"", code[json]);
	p = popen(cmd, "w");
	assert_non_null(p);
	assert_int_equal(fwrite(out.p, 1, out.n, p), out.n);
	assert_int_equal(pclose(p), 0);
	buf_fini(&out);
}

static void test_formats_parse(void **state)
{
	struct report *rep;
	struct reader *r;
	struct maker m;

	(void)state;
	if (system("python3 -c 'import json, csv' 2>/dev/null") != 0) {
		skip_test("python3 is not installed");
	}
	hostile(&m);
	r = maker_read(&m);
	rep = build(r, "symbol,image,line", TREE_CALLERS);
	check_with_python(rep, true);
	check_with_python(rep, false);
	report_free(rep);
	rep = build(r, "image,symbol", TREE_CALLEES);
	check_with_python(rep, true);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

/* A stack deeper than any JSON writer or terminal likes. */
static void test_deep_stack(void **state)
{
	enum { DEEP = 5000 };
	struct text_style style = { .columns = 80 };
	uint32_t locs[DEEP];
	struct report *rep;
	struct reader *r;
	struct maker m;
	struct buf out = { 0 };
	size_t opened = 0, closed = 0;

	(void)state;
	maker_init(&m, 1);
	for (int i = 0; i < DEEP; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		locs[i] = maker_loc(&m, maker_func(&m, m.app, name, "", 0), 1);
		maker_samples(&m, maker_stack(&m, (size_t)i + 1, locs), 0, 0,
			      1, 1);
	}
	r = maker_read(&m);
	rep = build(r, "comm", TREE_CALLEES);
	assert_int_equal(rep->tree.n, TREE_DEPTH_MAX);
	report_json(rep, &out);
	for (size_t i = 0; i < out.n; i++) {
		opened += out.p[i] == '{' || out.p[i] == '[';
		closed += out.p[i] == '}' || out.p[i] == ']';
	}
	assert_int_equal(opened, closed);
	buf_reset(&out);
	report_text(rep, &style, &out);
	check_lines(buf_cstr(&out), 80);
	report_free(rep);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

static void test_header(void **state)
{
	struct text_style style = { .columns = 80 };
	struct report *rep;
	struct reader *r;
	struct maker m;
	struct buf out = { 0 };
	uint32_t lf, addr;

	(void)state;
	maker_init(&m, 1);
	m.p.events.v[0].actual = profile_str(&m.p, "cpu-clock");
	m.p.events.v[0].note = profile_str(&m.p, "no hardware counters here");
	vec_push(&m.p.sources, (struct image_debug_info){
		.image = m.lib, .names = PROF_NAMES_DYNSYM,
		.missing = PROF_MISSING_SYMTAB | PROF_MISSING_DWARF });
	profile_set_env(&m.p, PROF_NONE, "hostname", "box");
	profile_set_env(&m.p, PROF_NONE, "thinned_samples", "1234");
	lf = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	addr = maker_address(&m, m.lib, 0x1234);
	maker_samples(&m, STACK(&m, PROF_MARK_CUT, lf), 0, 0, 10, 6);
	maker_samples(&m, STACK(&m, lf, addr), 0, 0, 10, 2);
	vec_push(&m.p.stats, (struct prof_stat){ 0, 0, 80, 100, 50, 10 });
	vec_push(&m.p.losses, (struct prof_loss){ 0, 0, 1, PROF_LOST, 5, 3 });
	vec_push(&m.p.losses,
		 (struct prof_loss){ 0, 0, 1, PROF_THROTTLED, 5, 4 });
	vec_push(&m.p.losses,
		 (struct prof_loss){ 0, PROF_NONE, 1, PROF_LOST, 5, 7 });
	r = maker_read(&m);
	rep = build(r, "symbol", TREE_NONE);
	style.no_total = true;
	style.missing = missing_major(&rep->missing);
	rep->missing.rows.v[0].command = "apt install libx-dbgsym";
	rep->missing.rows.v[0].note = "from \x1b[31mthere";
	report_text(rep, &style, &out);
	assert_string_equal(buf_cstr(&out),
		"# app --work, 10.00 s on box, 2023-11-14 22:13:20 UTC\n"
		"# cpu-clock (requested event0: no hardware counters here): 8 "
		"samples of 11\n"
		"#   expected at 999 Hz, 3 lost, throttled 4 times, counting "
		"50.0% of the time\n"
		"#   (multiplexed)\n"
		"# Lost: 7 more samples of an unknown event\n"
		"# Rate lowered temporarily because the recorder could not "
		"keep up: 1,234 samples\n"
		"#   omitted; the remaining samples have their weight\n"
		"# Stacks: 75.0% truncated\n"
		"# Unresolved: 25.0% of samples: libx.so.1 25.0%; see tally "
		"info\n"
		"#\n"
		"    SELF  SYMBOL\n"
		"  75.00%  f\n"
		"  25.00%  libx.so.1+0x1234\n"
		"#\n"
		"# Missing:\n"
		"# libx.so.1: 25.0% of samples unresolved: stripped, no "
		"debug file; apt install\n"
		"#   libx-dbgsym (from \\x1b[31mthere)\n"
		"# Then run: tally symbolize\n");
	report_free(rep);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* Samples that were promised and never taken are missed: got, lost and missed are
 * what was wanted.  Where far more came from timers, nothing was promised. */
static void test_missed(void **state)
{
	static const struct {
		bool timers;
		uint64_t wanted, value;		/* samples have a weight of 10 */
		const char *said;
	} cases[] = {
		{ false, 400, 4000, "300 samples of 400 expected at 999 Hz, 0 lost, 100 "
		       "missed "
		       "(25.0% of the time has no samples)\n" },
		{ false, 400, 0, "300 samples of 400 expected at 999 Hz, 0 lost, 100 "
		       "missed "
		       "(25.0% of the time has no samples)\n" },
		/* By a longer period. */
		{ false, 400, 3020, "300 samples of 400 expected at 999 Hz, 0 lost, "
		       "100 missed\n" },
		{ false, 310, 3100, "300 samples of 310 expected at 999 Hz, 0 lost, 10 "
		       "missed\n" },
		{ false, 300, 3000, "300 samples of 300 expected at 999 Hz, 0 lost\n" },
		{ false, 280, 2800, "300 samples of 300 expected at 999 Hz, 0 lost\n" },
		{ false, 150, 1500, "300 samples of 300 expected at 999 Hz, 0 lost\n" },
		/* Most stand for starts of programs. */
		{ true, 150, 1500, "300 samples at 999 Hz, 0 lost\n" },
		{ true, 280, 2800, "300 samples of 300 expected at 999 Hz, 0 lost\n" },
		{ false, 2, 20, "1 sample of 2 expected at 999 Hz, 0 lost, 1 missed\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_style style = { .columns = 200 };
		struct buf out = { 0 };
		struct report *rep;
		struct reader *r;
		struct maker m;

		maker_init(&m, 1);
		maker_samples(&m, STACK(&m, maker_loc(&m, maker_func(&m, m.app,
			      "f", "f.c", 1), 2)), 0, 0, 10,
			      cases[i].wanted < 10 ? 1 : 300);
		vec_push(&m.p.stats, (struct prof_stat){
			0, 0, cases[i].value, 100, 100,
			cases[i].wanted });
		if (cases[i].timers)
			profile_set_env(&m.p, PROF_NONE, "source",
					"timers in the program");
		r = maker_read(&m);
		rep = build(r, "symbol", TREE_NONE);
		report_text(rep, &style, &out);
		assert_non_null(strstr(buf_cstr(&out), cases[i].said));
		report_free(rep);
		buf_fini(&out);
		reader_close(r);
		maker_fini(&m);
	}
}

static void put_source(struct maker *m, uint32_t image, uint32_t names,
		       uint32_t missing)
{
	vec_push(&m->p.sources, (struct image_debug_info){
		.image = image, .names = names, .missing = missing });
}

/* Names before lines, and the dearest first. */
static void test_missing(void **state)
{
	struct report *rep;
	struct missing *w;
	struct reader *r;
	struct maker m;
	uint32_t whole, vdso, named, line, none, kern;

	(void)state;
	maker_init(&m, 1);
	vdso = maker_image(&m, "[vdso]", PROF_IMAGE_VDSO);
	put_source(&m, m.app, PROF_NAMES_SYMTAB | PROF_NAMES_DWARF, 0);
	put_source(&m, m.lib, PROF_NAMES_DYNSYM,
		   PROF_MISSING_SYMTAB | PROF_MISSING_DWARF);
	put_source(&m, m.kernel, PROF_NAMES_KALLSYMS, PROF_MISSING_DWARF);
	put_source(&m, vdso, PROF_NAMES_DYNSYM, PROF_MISSING_DWARF);
	line = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	/* assembly: no line, though nothing is missing */
	whole = maker_loc(&m, maker_func(&m, m.app, "g", "", 0), 0);
	named = maker_loc(&m, maker_func(&m, m.lib, "exported", "", 0), 0);
	kern = maker_loc(&m, maker_func(&m, m.kernel, "k", "", 0), 0);
	none = maker_address(&m, m.lib, 0x1234);
	maker_samples(&m, STACK(&m, line), 0, 0, 10, 30);
	maker_samples(&m, STACK(&m, whole), 0, 0, 10, 20);
	maker_samples(&m, STACK(&m, named), 0, 0, 10, 15);
	maker_samples(&m, STACK(&m, none), 0, 0, 10, 5);
	maker_samples(&m, STACK(&m, kern), 0, 0, 10, 26);
	maker_samples(&m, STACK(&m, maker_loc(&m, maker_func(
			&m, vdso, "v", "", 0), 0)), 0, 0, 10, 4);
	r = maker_read(&m);
	rep = build(r, "symbol", TREE_NONE);
	w = &rep->missing;
	assert_int_equal(w->shown, 100);
	assert_int_equal(w->rows.n, 2);
	assert_int_equal(missing_major(w), 2);
	assert_int_equal(w->rows.v[0].image, m.lib);
	assert_int_equal(w->rows.v[0].unnamed, 5);
	assert_int_equal(w->rows.v[0].exported, 15);
	assert_int_equal(w->rows.v[0].lineless, 20);
	assert_int_equal(w->rows.v[1].image, m.kernel);
	assert_int_equal(w->rows.v[1].unnamed, 0);
	assert_int_equal(w->rows.v[1].exported, 0);
	assert_int_equal(w->rows.v[1].lineless, 26);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

static void test_info(void **state)
{
	struct error err = { 0 };
	struct reader *r;
	struct maker m;
	struct info in;
	struct buf out = { 0 };

	(void)state;
	small(&m);
	r = maker_read(&m);
	assert_int_equal(info_build(&in, r, "x\033.tally", m.n, &err), 0);
	info_text(&in, 80, &out);
	assert_non_null(strstr(buf_cstr(&out), "File x\\x1b.tally, "));
	assert_non_null(strstr(buf_cstr(&out), "  samples       4\n"));
	assert_non_null(strstr(buf_cstr(&out), "  75.00%  [kernel]\n"));
	buf_reset(&out);
	info_json(&in, &out);
	assert_non_null(strstr(buf_cstr(&out), "\"counts\":{\"samples\":4,"));
	info_fini(&in);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* A stack of one frame that ends so at its outer side, `times` times. */
static void ended(struct maker *m, uint32_t loc, uint32_t mark,
		  uint32_t reason, uint32_t image, unsigned int times)
{
	uint32_t end = profile_end(&m->p, mark, reason, image);

	maker_samples(m, profile_node(&m->p, end, loc), 0, 0, 10, times);
}

static void test_stack_ends(void **state)
{
	struct buf out = { 0 };
	struct error err;
	struct info in;
	struct reader *r;
	struct maker m;
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	profile_set_env(&m.p, PROF_NONE, "callgraph", "dwarf");
	profile_set_env(&m.p, PROF_NONE, "stack_copy_bytes", "8192");
	f = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	maker_samples(&m, STACK(&m, f), 0, 0, 10, 5);
	ended(&m, f, PROF_MARK_READ_LATE, PROF_END_UNKNOWN, PROF_NONE, 1);
	ended(&m, f, PROF_MARK_CUT, PROF_END_UNKNOWN, PROF_NONE, 1);
	ended(&m, f, PROF_MARK_BROKEN, PROF_END_BAD_MEMORY, PROF_NONE, 1);
	ended(&m, f, PROF_MARK_BROKEN, PROF_END_NO_DATA, m.lib, 2);
	r = maker_read(&m);
	assert_int_equal(info_build(&in, r, "x.tally", m.n, &err), 0);
	assert_int_equal(in.quality.later, 1);
	assert_int_equal(in.quality.cut, 1);
	assert_int_equal(in.quality.broken, 3);
	quality_stacks(&in.quality, &out);
	assert_string_equal(buf_cstr(&out), "Stacks: 10.0% truncated; 30.0% "
		"broken: no unwind data in libx.so.1 20.0%, bad memory 10.0%; "
		"10.0% with outer callers read later (probably correct); "
		"see tally info");
	buf_reset(&out);
	quality_stacks_help(&in.quality, "-> ", &out);
	assert_string_equal(buf_cstr(&out),
		"-> 8192 bytes of each stack were copied; record with "
		"--call-graph=dwarf,65528\n"
		"-> libx.so.1: build it with -fasynchronous-unwind-tables or "
		"-fno-omit-frame-pointer\n");
	buf_reset(&out);
	info_json(&in, &out);
	assert_non_null(strstr(buf_cstr(&out), "\"stacks\":{\"whole\":5,"
		"\"later\":1,\"guessed\":0,\"cut\":1,\"broken\":3,\"ends\":[\n"
		"{\"state\":\"broken\",\"reason\":\"no unwind data\","
		"\"image\":\"/usr/lib/libx.so.1\",\"samples\":2}"));
	info_fini(&in);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* Code that no C compiler built. */
static void test_stack_ends_of_jits(void **state)
{
	static const char *const paths[] = { PROF_IMAGE_JAVA,
					     PROF_IMAGE_JAVASCRIPT, "[anon]",
					     PROF_IMAGE_TIMER };
	struct buf out = { 0 };
	struct error err;
	struct info in;
	struct reader *r;
	struct maker m;
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	profile_set_env(&m.p, PROF_NONE, "callgraph", "dwarf");
	f = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	for (unsigned int i = 0; i < 4; i++)
		ended(&m, f, PROF_MARK_BROKEN, PROF_END_NO_DATA,
		      maker_image(&m, paths[i], PROF_IMAGE_ANON), 9 - i);
	r = maker_read(&m);
	assert_int_equal(info_build(&in, r, "x.tally", m.n, &err), 0);
	quality_stacks_help(&in.quality, "", &out);
	assert_string_equal(buf_cstr(&out),
		"[java]: run java with -XX:+PreserveFramePointer\n"
		"[anon]: code generated at run time; have its compiler keep frame "
		"pointers\n");
	info_fini(&in);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* Of many stacks a single one is not "0.0%". */
static void test_few_stack_ends(void **state)
{
	struct buf out = { 0 };
	struct error err;
	struct info in;
	struct reader *r;
	struct maker m;
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	f = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	maker_samples(&m, STACK(&m, f), 0, 0, 10, 2494);
	ended(&m, f, PROF_MARK_READ_LATE, PROF_END_UNKNOWN, PROF_NONE, 5);
	ended(&m, f, PROF_MARK_BROKEN, PROF_END_BAD_MEMORY, PROF_NONE, 1);
	r = maker_read(&m);
	assert_int_equal(info_build(&in, r, "x.tally", m.n, &err), 0);
	quality_stacks(&in.quality, &out);
	assert_string_equal(buf_cstr(&out), "Stacks: 1 of 2,500 broken: bad "
		"memory; 0.2% with outer callers read later (probably "
		"correct)");
	info_fini(&in);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

static bool collect(void *ctx, struct buf *text)
{
	buf_bytes(ctx, text->p, text->n);
	return true;
}

static bool refuse(void *ctx, struct buf *text)
{
	(void)text;
	return ++*(int *)ctx < 1;
}

static void test_dump(void **state)
{
	struct buf out = { 0 };
	struct error err;
	struct reader *r;
	struct maker m;
	uint32_t f, addr;
	int calls = 0;

	(void)state;
	maker_init(&m, 1);
	f = maker_loc(&m, maker_func(&m, m.app, "_Z1fi", "f\n.cc", 1), 2);
	addr = maker_address(&m, m.lib, 0x1234);
	maker_samples(&m, STACK(&m, PROF_MARK_CUT, f, addr), 0, 0, 10, 2);
	r = maker_read(&m);
	assert_int_equal(dump_file(r, DUMP_STACKS | DUMP_SAMPLES | DUMP_FRAMES,
				   collect, &out, &err), 0);
	assert_string_equal(buf_cstr(&out),
		"loc 0 image=0 vaddr=0x1000 frame=0\n"
		"loc 1 image=1 vaddr=0x1234 frame=none\n"
		"node 0 parent=0 loc=none\n"
		"node 1 parent=0 mark=cut\n"
		"node 2 parent=1 loc=0\n"
		"node 3 parent=2 loc=1\n"
		"sample time_ns=1000000000 thread=0 cpu=0 event=0 weight=10 "
		"stack=3\n"
		"  0x1234 [unknown] (/usr/lib/libx.so.1)\n"
		"  0x1000 f(int) (/usr/bin/app) f\\x0a.cc:2\n"
		"  [cut short]\n"
		"sample time_ns=1001000000 thread=0 cpu=1 event=0 weight=10 "
		"stack=3\n"
		"  0x1234 [unknown] (/usr/lib/libx.so.1)\n"
		"  0x1000 f(int) (/usr/bin/app) f\\x0a.cc:2\n"
		"  [cut short]\n");
	assert_int_equal(dump_file(r, DUMP_ALL, refuse, &calls, &err),
			 -ERR_STOPPED);
	assert_int_equal(calls, 1);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

/* The end of a scoped name tells functions apart; C names begin with what
 * matters. */
static void test_cut_symbol(void **state)
{
	struct buf out = { 0 };

	(void)state;
	line_cut_symbol(&out, "ns::Class<…>::method(…) const", 18);
	assert_string_equal(buf_cstr(&out), "…::method(…) const");
	buf_reset(&out);
	line_cut_symbol(&out, "tcp_v4_do_rcv", 8);
	assert_string_equal(buf_cstr(&out), "tcp_v4_…");
	buf_reset(&out);
	line_cut_symbol(&out, "a::b", 4);
	assert_string_equal(buf_cstr(&out), "a::b");
	buf_fini(&out);
}

/* A row of the key "event" is called what was really measured. */
static void test_event_key(void **state)
{
	struct text_style style = { .no_header = true };
	struct report *rep;
	struct reader *r;
	struct maker m;
	struct buf out = { 0 };
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	m.p.events.v[0].actual = profile_str(&m.p, "cpu-clock");
	f = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	maker_samples(&m, STACK(&m, f), 0, 0, 10, 6);
	r = maker_read(&m);
	rep = build(r, "event", TREE_NONE);
	report_text(rep, &style, &out);
	assert_non_null(strstr(buf_cstr(&out), "  cpu-clock\n"));
	report_free(rep);
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

static void test_dump_code(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5 };
	struct error err = { 0 };
	struct buf out = { 0 };
	struct reader *r;
	struct maker m;
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	f = maker_loc(&m, maker_func(&m, m.app, "f", "f.c", 1), 2);
	maker_samples(&m, STACK(&m, f), 0, 0, 10, 1);
	buf_bytes(&m.p.code_bytes, code, sizeof(code));
	vec_push(&m.p.codes, (struct prof_code){ m.app, 0x1000, 0, 4 });
	r = maker_read(&m);
	assert_int_equal(dump_file(r, DUMP_SYMBOLS, collect, &out, &err), 0);
	assert_non_null(strstr(buf_cstr(&out), "vaddr=0x1000 size=4 "
			       "bytes=554889e5\n"));
	buf_fini(&out);
	reader_close(r);
	maker_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_formats_parse),
		cmocka_unit_test(test_deep_stack),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_stack_ends),
		cmocka_unit_test(test_stack_ends_of_jits),
		cmocka_unit_test(test_few_stack_ends),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_dump_code),
		cmocka_unit_test(test_event_key),
		cmocka_unit_test(test_cut_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
