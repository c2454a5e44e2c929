// SPDX-License-Identifier: GPL-2.0-or-later
/* The interactive view by its keys, on a screen in memory; right answers are
 * worked out by hand. */
#include "../views/make_profile.h"
#include "memory_screen.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "disasm/disasm.h"
#include "tui/tui.h"

/*
 *	main -> work			10 samples of event 0
 *	main -> work -> inl (inlined)	20
 *	main -> other -> work		5
 *	main -> other			40, thread "second"
 *	other				25 of event 1
 */
struct app {
	struct maker m;
	struct reader *r;
	struct tui_options o;
	struct memory_screen s;
};

static uint32_t text_id(struct maker *m, const char *s)
{
	return profile_str(&m->p, s);
}

static void app_init(struct app *a, unsigned int events)
{
	struct maker *m = &a->m;
	uint32_t f[2], second, main_f, other, mains, works, both, others;

	maker_init(m, events);
	second = maker_thread(m, "second", 100, 101, 0);
	main_f = maker_func(m, m->app, "main", "main.c", 10);
	f[0] = maker_func(m, m->app, "work", "work.c", 20);
	f[1] = maker_func(m, m->app, "inl", "inl.h", 30);
	other = maker_func(m, m->lib, "other", "other.c", 40);
	mains = maker_loc(m, main_f, 11);
	works = maker_loc(m, f[0], 22);
	both = maker_inlined(m, 2, f, (uint32_t[]){ 23, 31 });
	others = maker_loc(m, other, 41);
	maker_samples(m, STACK(m, mains, works), 0, 0, 10, 10);
	maker_samples(m, STACK(m, mains, both), 0, 0, 10, 20);
	maker_samples(m, STACK(m, mains, others, works), 0, 0, 10, 5);
	maker_samples(m, STACK(m, mains, others), 0, second, 10, 40);
	if (events > 1)
		maker_samples(m, STACK(m, others), 1, 0, 10, 25);
}

static void app_open(struct app *a)
{
	struct error err;

	a->r = maker_read(&a->m);
	a->o = (struct tui_options){ .file = "a.tally",
				     .annotate = { .intel = true } };
	assert_int_equal(key_list_parse("image,symbol", &a->o.report.keys,
					&err), 0);
}

static void app_fini(struct app *a)
{
	reader_close(a->r);
	maker_fini(&a->m);
}

static void play_n(struct app *a, const char *keys, size_t n)
{
	struct error err = { 0 };

	memory_screen_init(&a->s, 24, 80, keys, n);
	if (tui_run(a->r, &a->o, &a->s.screen, &err) < 0)
		fail_msg("%s", err.msg);
	if (a->s.bad)
		fail_msg("%s", a->s.why);
}

static void play(struct app *a, const char *keys)
{
	play_n(a, keys, strlen(keys));
}

static void sees(const struct app *a, int row, const char *text)
{
	if (!strstr(a->s.row[row], text))
		fail_msg("row %d is '%s', want '%s'", row, a->s.row[row], text);
}

static void is_chosen(const struct app *a, const char *text)
{
	int row = memory_screen_chosen(&a->s);

	assert_true(row > 0);
	sees(a, row, text);
}

/* Of 75 samples: other 40, inl 20, work 10 + 5; totals: main 75, other 45, work
 * 35. */
static void test_table(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	play(&a, "");
	sees(&a, 0, "event0, 75 samples");
	sees(&a, 1, "SELF   TOTAL");
	sees(&a, 2, "  53.33%  60.00% + libx.so.1  other");
	sees(&a, 3, "  26.67%  26.67% + app        inl");
	sees(&a, 4, "  20.00%  46.67% + app        work");
	sees(&a, 5, "   0.00% 100.00% + app        main");
	is_chosen(&a, "other");
	play(&a, K_DOWN K_DOWN K_DOWN K_DOWN K_UP);
	is_chosen(&a, "work");
	play(&a, "s");
	sees(&a, 2, "main");
	sees(&a, 3, "other");
	sees(&a, 4, "work");
	play(&a, "#");
	sees(&a, 1, "SELF   TOTAL    SAMPLES");
	sees(&a, 2, "  53.33%  60.00%         40 + libx.so.1  other");
	play(&a, ">>>");	/* by symbol */
	sees(&a, 2, "inl");
	sees(&a, 3, "main");
	play(&a, ">>>r");
	sees(&a, 2, "work");
	app_fini(&a);
}

static void test_callers(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	/* work's self: 10 from main, 5 from other */
	play(&a, K_DOWN K_DOWN K_ENTER);
	sees(&a, 4, "- app        work");
	sees(&a, 5, "13.33%   + main");
	sees(&a, 6, " 6.67%   + other");
	play(&a, K_DOWN K_DOWN K_ENTER K_DOWN K_DOWN K_ENTER);
	sees(&a, 7, "               main");	/* all of the row above */
	play(&a, K_DOWN K_DOWN K_ENTER K_ENTER);
	sees(&a, 5, "main");
	sees(&a, 6, "");
	/* by total also the 20 samples of what was inlined */
	play(&a, "s" K_DOWN K_DOWN "+");
	sees(&a, 4, "- app        work");
	sees(&a, 5, "40.00%   + main");
	/* callees: inl */
	play(&a, "c" K_DOWN K_DOWN "+");
	sees(&a, 5, "26.67%  26.67%     inl (inlined)");
	/* everything, and closed again from within */
	play(&a, K_DOWN K_DOWN "*");
	sees(&a, 7, "main");
	play(&a, K_DOWN K_DOWN "*" K_DOWN K_DOWN "C");
	is_chosen(&a, "work");
	sees(&a, 5, "main");
	/* left goes to the row above */
	play(&a, K_DOWN K_DOWN K_RIGHT K_DOWN K_LEFT);
	is_chosen(&a, "work");
	/* all that is known, also of a row by line */
	play(&a, K_DOWN K_DOWN "=");
	assert_true(memory_screen_find(&a.s, "image: /usr/bin/app") >= 0);
	assert_true(memory_screen_find(&a.s, "declared in: work.c") >= 0);
	assert_true(memory_screen_find(&a.s, "46.67% (35.8") >= 0);
	play(&a, "g" K_DOWN K_DOWN K_DOWN K_DOWN K_DOWN K_DOWN K_ENTER "=");
	assert_true(memory_screen_find(&a.s, "in file: other.c") >= 0);
	assert_true(memory_screen_find(&a.s, "at line: 41") >= 0);
	app_fini(&a);
}

static void test_trees(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	play(&a, "T");
	sees(&a, 0, "top-down");
	sees(&a, 2, "100.00% - main in app");
	sees(&a, 3, "  53.33%  60.00%   + other");
	sees(&a, 4, "  13.33%  40.00%   + work");
	play(&a, "T*");
	sees(&a, 4, "6.67%   6.67%       work");
	play(&a, K_DOWN K_DOWN "z");
	sees(&a, 0, "around work");
	sees(&a, 2, "callers of work");
	sees(&a, 3, "40.00%   + main");
	sees(&a, 4, "6.67%   + other");
	sees(&a, 5, "called by work");
	sees(&a, 6, "26.67%  26.67%     inl (inlined)");
	play(&a, K_DOWN K_DOWN "zqq");	/* leaves at the table */
	app_fini(&a);
}

static void test_search(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	play(&a, "/MAI" K_ENTER);
	is_chosen(&a, "main");
	play(&a, "/in" K_ENTER);	/* inl, main */
	is_chosen(&a, "inl");
	play(&a, "/in" K_ENTER "n");
	is_chosen(&a, "main");
	play(&a, "/in" K_ENTER "nn");
	is_chosen(&a, "inl");		/* goes on at the beginning */
	play(&a, "/in" K_ENTER "N");
	is_chosen(&a, "main");
	play(&a, "/nothing" K_ENTER);
	assert_true(memory_screen_find(&a.s, "not found: nothing (closed rows "
				       "are passed over: * opens)") >= 0);
	play(&a, "/ab" K_BACK K_BACK "ork" K_BACK K_ESC);
	is_chosen(&a, "other");
	play(&a, "/\x1b");
	is_chosen(&a, "other");
	app_fini(&a);
}

static void test_filters(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	play(&a, "t");
	sees(&a, 1, "all");
	sees(&a, 2, " 53.33%  second  101");
	sees(&a, 3, " 46.67%  app  100");
	play(&a, "t" K_DOWN K_ENTER);
	sees(&a, 0, "40 samples");
	sees(&a, 0, "thread 101");
	sees(&a, 2, " 100.00% 100.00% + libx.so.1  other");
	play(&a, "t" K_DOWN K_ENTER "x");
	sees(&a, 0, "75 samples");
	/* an image hides rows and leaves shares */
	play(&a, K_DOWN "d");
	sees(&a, 0, "image app");
	sees(&a, 2, "  26.67%  26.67% + app    inl");
	play(&a, K_DOWN "dd");
	sees(&a, 2, "other");
	play(&a, "&wor" K_ENTER);
	sees(&a, 0, "only wor");
	sees(&a, 2, "work");
	assert_int_equal(memory_screen_find(&a.s, "inl"), -1);
	play(&a, "&wor" K_ENTER K_ESC);
	sees(&a, 2, "other");
	play(&a, "g" K_DOWN K_DOWN K_ENTER);	/* by image */
	sees(&a, 2, "  53.33%  60.00% + libx.so.1");
	app_fini(&a);
}

static void test_events(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 2);
	app_open(&a);
	play(&a, "");
	sees(&a, 0, "event0 (1 of 2: e), 75 samples");
	play(&a, "e");
	sees(&a, 0, "event1 (2 of 2: e), 25 samples");
	sees(&a, 2, "other");
	sees(&a, 2, "100.00% 100.00% +");
	play(&a, "ee" K_NARROW);
	sees(&a, 0, "event0");
	sees(&a, 2, "  53.33%  60.00%");
	app_fini(&a);
}

/* "other" waits for all of its 25 ns, and it is not known what ended the waits. */
static void test_waits(void **state)
{
	struct app a;
	struct prof_event *e;

	(void)state;
	app_init(&a, 2);
	app_open(&a);
	play(&a, "W");
	sees(&a, 22, "no waits were recorded");
	app_fini(&a);

	app_init(&a, 2);
	e = &a.m.p.events.v[1];
	e->name = e->actual = text_id(&a.m, "blocked");
	e->unit = PROF_UNIT_NS;
	e->config = PROF_WAIT_CONFIG;
	e->freq = 0;
	app_open(&a);
	play(&a, "W");
	sees(&a, 0, "waits");
	sees(&a, 2, "WAITS       SHARE        TIME      NUMBER  FUNCTION");
	sees(&a, 3, "blocked   100.00%     0.000 s          25  other");
	sees(&a, 5, "known for 0.0% of 0.000 s blocked");
	play(&a, "Wq");
	sees(&a, 2, "other");
	app_fini(&a);
}

static void test_sizes(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, 2);
	app_open(&a);
	play(&a, K_NARROW K_ENTER "?" "q" "i" "q" "=" "q" "T" "*" "q");
	sees(&a, 1, "SYMBOL");
	play(&a, K_TINY K_DOWN K_DOWN K_DOWN "?" K_DOWN "q" "z" "q" "T");
	play(&a, K_WIDE "*");
	app_fini(&a);
}

/* A name with escapes, marks and 28 KB does nothing to the screen. */
static void test_hostile(void **state)
{
	static const char bad[] = "\033]0;x\007\033[2J\xe2\x80\xae" "evil\xff"
				  "\xe2\x80\x8b<script>\r\n\t";
	char *big = malloc(28 * 1024 + 1);
	struct app a;
	uint32_t f[3], loc[3];

	(void)state;
	app_init(&a, 1);
	memset(big, 'T', 28 * 1024);
	memcpy(big, "ns::", 4);
	big[28 * 1024] = 0;
	f[0] = maker_func(&a.m, maker_image(&a.m, bad, PROF_IMAGE_ELF), bad,
			  bad, 7);
	f[1] = maker_func(&a.m, a.m.app, big, big, 7);
	f[2] = maker_func(&a.m, a.m.app, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"
			  "\xe5\xad\x97", "w.c", 7);
	for (int i = 0; i < 3; i++)
		loc[i] = maker_loc(&a.m, f[i], 7);
	maker_samples(&a.m, STACK(&a.m, loc[0], loc[1], loc[2]), 0,
		      maker_thread(&a.m, bad, 1, 2, 0), 10, 1000);
	app_open(&a);
	play(&a, K_ENTER "=" "q" "zq" "aq" K_DOWN "=" "q" "a" "q" K_DOWN
	     K_ENTER "*" K_DOWN "z" "a" "q" "q" "T" "*" K_END "=" "q" "q"
	     "t" "q" "f" "q" "g" K_DOWN K_DOWN K_DOWN K_ENTER K_NARROW "gq"
	     "/" "\x1b" K_TINY "i" "q" K_WIDE);
	play(&a, "/evil" K_ENTER K_NARROW "=");
	play(&a, "d" K_NARROW "x");
	play(&a, ">>>");
	play(&a, "t" K_DOWN K_ENTER);
	free(big);
	app_fini(&a);
}

static void test_empty(void **state)
{
	struct app a;

	(void)state;
	maker_init(&a.m, 1);
	app_open(&a);
	play(&a, K_DOWN K_ENTER "=" "z" "a" "*" "C" "-" "T" "*" "q" "t" K_END
	     K_ENTER "d" "q" "g" K_DOWN K_ENTER "n/x" K_ENTER "e" "s" "r");
	sees(&a, 0, "0 samples");
	app_fini(&a);
}

/* Lines 22 to 24 of work.c are in the recording, and its code:
 *	1000  nop		line 22
 *	1010  call other
 *	1015  jmp 1000
 */
static void add_code(struct app *a)
{
	static const uint8_t code[] = {
		0x90, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44,
		0, 0, 0x90,
		0xe8, 0x0b, 0, 0, 0,	/* 1010: call 1020 */
		0xeb, 0xe9,		/* 1015: jmp 1000 */
	};
	static const char text[] = "twenty\n\ttwo\none\nthree\x1b[2J\nfour\n";
	struct maker *m = &a->m;
	struct profile *p = &m->p;
	uint32_t work = maker_func(m, m->app, "work", "work.c", 20);
	uint32_t callee = maker_func(m, m->app, "callee", "work.c", 50);
	struct prof_symbol sym[] = {
		{ m->app, text_id(m, "work"), 0x1000, sizeof(code) },
		{ m->app, text_id(m, "callee"), 0x1020, 16 },
	};
	struct image_debug_info src = { .image = m->app, .machine = EM_X86_64 };
	struct prof_code c = { m->app, 0x1000, 0, sizeof(code) };
	struct source_excerpt t = { text_id(m, "work.c"), 20, 0, 0,
			       sizeof(text) - 1 };
	uint32_t l1, l2, l3;

	m->next_vaddr = 0x1000;
	l1 = maker_loc(m, work, 22);
	l2 = maker_loc(m, work, 23);
	m->next_vaddr = 0x1020;
	l3 = maker_loc(m, callee, 51);
	maker_samples(m, STACK(m, l1), 0, 0, 10, 300);
	maker_samples(m, STACK(m, l2), 0, 0, 10, 100);
	maker_samples(m, STACK(m, l2, l3), 0, 0, 10, 600);
	buf_bytes(&p->code_bytes, code, sizeof(code));
	buf_bytes(&p->text_bytes, text, sizeof(text) - 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(vec_push(&p->symbols, sym[i]), 0);
	for (int i = 0; i < 3; i++) {
		struct prof_line l = { m->app, 0x1000 + 0x10 * (uint64_t)i,
				       i == 2 ? PROF_NONE
				       : profile_loc_frame(p, i ? l2 : l1) };

		assert_int_equal(vec_push(&p->lines, l), 0);
	}
	assert_int_equal(vec_push(&p->sources, src), 0);
	assert_int_equal(vec_push(&p->codes, c), 0);
	assert_int_equal(vec_push(&p->texts, t), 0);
}

static void test_source(void **state)
{
	struct app a;

	(void)state;
	maker_init(&a.m, 1);
	add_code(&a);
	app_open(&a);
	play(&a, "/work" K_ENTER "a");
	sees(&a, 0, "40.00% (37.01-43.07) work in app  source");
	sees(&a, 2, "work.c (from the recording)");
	sees(&a, 3, "    20  twenty");
	sees(&a, 4, "    21          two");
	sees(&a, 1, "SELF    CALLS    LINE");
	sees(&a, 5, "  30.00%              22  one");
	sees(&a, 6, "  10.00%   60.00%     23  three\\x1b[2J");
	is_chosen(&a, "one");
	play(&a, "/work" K_ENTER "an");
	is_chosen(&a, "three");
	play(&a, "/work" K_ENTER "ann");
	is_chosen(&a, "one");
	play(&a, "/work" K_ENTER "a" K_TAB);
	is_chosen(&a, "three");
	play(&a, "/work" K_ENTER "a" K_TAB K_TAB);
	is_chosen(&a, "one");
	play(&a, "/work" K_ENTER "a#" K_DOWN "H");
	is_chosen(&a, "  30.00%               300     22  one");
	play(&a, "/work" K_ENTER "a/twen" K_ENTER);
	is_chosen(&a, "twenty");
	play(&a, "/work" K_ENTER "a" K_RIGHT);
	sees(&a, 4, "    21  two");
	app_fini(&a);
}

static void test_code(void **state)
{
	struct app a;

	(void)state;
	if (!disasm_knows(EM_X86_64))
		skip_test("built without a disassembler");
	maker_init(&a.m, 1);
	add_code(&a);
	app_open(&a);
	play(&a, "/work" K_ENTER "as");
	sees(&a, 0, "instructions");
	sees(&a, 2, "code of work in app, 0x1000, 23 bytes: 40.00%");
	is_chosen(&a, "1000  nop");
	sees(&a, memory_screen_chosen(&a.s), "30.00%");
	play(&a, "/work" K_ENTER "asn");
	is_chosen(&a, "call 0x1020 <callee>");
	/* to the callee and back; the jump and back */
	play(&a, "/work" K_ENTER "asn" K_ENTER);
	sees(&a, 0, "60.00% (56.93-62.99) callee in app");
	play(&a, "/work" K_ENTER "asn" K_ENTER K_BACK);
	sees(&a, 0, "work in app  instructions");
	play(&a, "/work" K_ENTER "asn" K_DOWN K_ENTER);
	is_chosen(&a, "1000  nop");
	play(&a, "/work" K_ENTER "asn" K_DOWN K_ENTER K_BACK);
	is_chosen(&a, "jmp");
	/* below their lines; the line that calls leads to the callee */
	play(&a, "/work" K_ENTER "ass");
	sees(&a, 0, "source and instructions");
	is_chosen(&a, "1000  nop");
	play(&a, "/work" K_ENTER "an" K_ENTER);
	sees(&a, 0, "callee in app");
	app_fini(&a);
}

static void read_all(const char *name, char *to, size_t n)
{
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	to[fread(to, 1, n - 1, f)] = 0;
	fclose(f);
}

/* What is seen, in a file; a second time in another one. */
static void test_write(void **state)
{
	char dir[] = "/tmp/tally-tui.XXXXXX", back[4096], text[4096];
	struct app a;

	(void)state;
	app_init(&a, 1);
	app_open(&a);
	assert_non_null(getcwd(back, sizeof(back)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	play(&a, K_ENTER "P");
	assert_true(memory_screen_find(&a.s, "wrote tally.txt") >= 0);
	play(&a, "zP");
	assert_true(memory_screen_find(&a.s, "wrote tally-2.txt") >= 0);
	read_all("tally.txt", text, sizeof(text));
	assert_non_null(strstr(text, "  53.33%  60.00% - libx.so.1  other\n"));
	assert_non_null(strstr(text, "  20.00%  46.67% + app        work\n"));
	read_all("tally-2.txt", text, sizeof(text));
	assert_non_null(strstr(text, "callers of other\n"));
	assert_int_equal(unlink("tally.txt") | unlink("tally-2.txt"), 0);
	assert_int_equal(chdir(back), 0);
	assert_int_equal(rmdir(dir), 0);
	app_fini(&a);
}

/* Any keys at all, on screens of any size. */
static void test_any_keys(void **state)
{
	static const char keys[] = K_DOWN K_UP K_RIGHT K_LEFT K_ENTER K_TAB
		K_ESC K_BACK K_END K_HOME K_NARROW K_TINY K_WIDE
		"+-*EC=zzaaTbsssc<>reqnN/wik&dxtfggio?123jk G#H";
	char script[4000];
	uint32_t x = 12345;
	struct app a;

	(void)state;
	app_init(&a, 2);
	add_code(&a);
	app_open(&a);
	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < sizeof(script); i++) {
			x = x * 1664525u + 1013904223u;
			script[i] = keys[(x >> 8) % (sizeof(keys) - 1)];
			/* q at the table would end it early */
			if (script[i] == 'q' && (x >> 20) % 4)
				script[i] = '\x1b';
		}
		play_n(&a, script, sizeof(script));
	}
	app_fini(&a);
}

/*
 *	main -> x			30 samples
 *	main -> other -> y		25
 *	main -> other			40
 *
 * x and y have no names in the older recording, and are one function in the newer one.
 */
static void named_app(struct app *a, bool named)
{
	struct maker *m = &a->m;
	uint32_t big, mains, others, x, y;

	maker_init(m, 1);
	big = maker_func(m, m->lib, "big", "big.c", 50);
	mains = maker_loc(m, maker_func(m, m->app, "main", "main.c", 10), 11);
	others = maker_loc(m, maker_func(m, m->app, "other", "o.c", 40), 41);
	x = named ? maker_loc(m, big, 51) : maker_address(m, m->lib, 0x2000);
	y = named ? maker_loc(m, big, 52) : maker_address(m, m->lib, 0x2010);
	maker_samples(m, STACK(m, mains, x), 0, 0, 10, 30);
	maker_samples(m, STACK(m, mains, others, y), 0, 0, 10, 25);
	maker_samples(m, STACK(m, mains, others), 0, 0, 10, 40);
	app_open(a);
}

struct newer {
	struct reader *r, *shown;
	int taken;
};

static bool start_news(void *ctx)
{
	(void)ctx;
	return true;
}

static bool has_newer(void *ctx)
{
	return !((struct newer *)ctx)->shown;
}

static bool take_news(void *ctx, struct buf *line, struct buf *message)
{
	(void)message;
	((struct newer *)ctx)->taken++;
	buf_str(line, "requests go on");
	return true;
}

static struct reader *newer_recording(void *ctx, struct buf *message)
{
	struct newer *n = ctx;

	buf_str(message, "big is new");
	return n->r;
}

static void shown_recording(void *ctx, struct reader *r)
{
	((struct newer *)ctx)->shown = r;
}

static void play_news(struct app *a, struct app *later, const char *keys)
{
	struct newer n = { .r = later->r };
	struct tui_news news = { .start = start_news, .take = take_news,
				 .has_newer = has_newer,
				 .newer = newer_recording,
				 .shown = shown_recording, .ctx = &n };

	a->o.news = &news;
	play(a, keys);
	a->o.news = NULL;
	assert_int_equal(n.taken, 1);
}

static void test_news(void **state)
{
	struct app a, b;

	(void)state;
	named_app(&a, false);
	named_app(&b, true);
	play(&a, "");
	sees(&a, 2, "42.11%  68.42% + app        other");
	sees(&a, 3, "31.58%  31.58% + libx.so.1  libx.so.1+0x2000");
	sees(&a, 4, "26.32%  26.32% + libx.so.1  libx.so.1+0x2010");
	play_news(&a, &b, K_NEWS);
	sees(&a, 2, "57.89%  57.89% + libx.so.1  big");
	is_chosen(&a, "big");		/* still the first row */
	assert_true(memory_screen_find(&a.s, "big is new") == 22);
	assert_true(memory_screen_find(&a.s, "requests go on") == 23);
	play_news(&a, &b, K_DOWN K_DOWN K_NEWS);
	is_chosen(&a, "big");
	/* not the second row, which was selected */
	play_news(&a, &b, K_DOWN K_DOWN K_DOWN K_NEWS);
	is_chosen(&a, "main");
	play_news(&a, &b, K_DOWN K_DOWN K_UP K_UP K_ENTER K_NEWS);
	is_chosen(&a, "other");
	sees(&a, 3, "- app        other");
	sees(&a, 4, "main");
	/* a caller of y is one of big */
	play_news(&a, &b, K_DOWN K_DOWN K_ENTER K_DOWN K_NEWS);
	sees(&a, 2, "- libx.so.1  big");
	sees(&a, 3, "31.58%");
	sees(&a, 4, "26.32%");
	sees(&a, 4, "other");
	is_chosen(&a, "other");
	assert_true(memory_screen_chosen(&a.s) == 4);
	/* by total, in reverse: the order is kept */
	play_news(&a, &b, "sr" K_NEWS);
	sees(&a, 2, "big");
	sees(&a, 4, "main");
	app_fini(&a);
	app_fini(&b);
}

/* Other pages and prompts go on with the recording that they show. */
static void test_news_elsewhere(void **state)
{
	struct app a, b;

	(void)state;
	named_app(&a, false);
	named_app(&b, true);
	play_news(&a, &b, "T*" K_NEWS);
	sees(&a, 0, "top-down");
	assert_true(memory_screen_find(&a.s, "libx.so.1+0x2000") > 0);
	assert_true(memory_screen_find(&a.s, "new names are in the table") == 23);
	play_news(&a, &b, "T*" K_NEWS K_DOWN "q");
	sees(&a, 2, "big");
	play_news(&a, &b, "/oth" K_NEWS);
	sees(&a, 22, "/oth");
	sees(&a, 4, "libx.so.1+0x2010");
	play_news(&a, &b, "/oth" K_NEWS "e" K_ENTER);
	sees(&a, 2, "big");
	is_chosen(&a, "other");
	/* a filter without any function of that name now */
	play_news(&a, &b, "&0x2000" K_ENTER K_NEWS);
	assert_int_equal(memory_screen_find(&a.s, "0x2000"), 0);
	play_news(&a, &b, "&0x2000" K_ENTER K_NEWS "x");
	sees(&a, 2, "big");
	app_fini(&a);
	app_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_any_keys),
		cmocka_unit_test(test_news),
		cmocka_unit_test(test_news_elsewhere),
	};

	return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}
