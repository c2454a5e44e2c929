// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that runs out: whichever allocation fails, what is built from recordings
 * is an error that says so, or what it always is; never a crash, and never another
 * answer.
 */
#include "config.h"

#include "make_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/merge.h"
#include "views/diff/diff.h"
#include "views/diff/diff_annotate.h"
#include "views/report.h"

/* Allocations until the one that fails, from one on; 0: none does. */
static size_t fails_at, asked;

#if defined(__GLIBC__) && !defined(SANITIZED)
#define CAN_FAIL 1
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static bool fails(void)
{
	asked++;
	if (!fails_at || asked != fails_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}
#else
#define CAN_FAIL 0
#endif

struct input {
	struct maker m[2];
	struct reader *r[2];
};

static void input_init(struct input *in)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct maker *m = &in->m[i];
		uint32_t main_fn, at;

		maker_init(m, 2);
		main_fn = maker_func(m, m->app, "main", "main.c", 10);
		at = maker_loc(m, main_fn, 12);
		/* enough for tables to grow, and for coded sections */
		for (unsigned int k = 0; k < 40; k++) {
			char name[32];
			uint32_t f;

			snprintf(name, sizeof(name), "function_%u", k + i);
			f = maker_func(m, k % 2 ? m->lib : m->app, name,
				       "lib.c", 20 + k);
			maker_samples(m, STACK(m, at, maker_loc(m, f, 20 + k)),
				      k % 2, 0, 10, 3 + k);
		}
		maker_samples(m, STACK(m, at, maker_address(m, m->lib, 0x77)),
			      0, 0, 10, 4);
		profile_set_env(&m->p, PROF_NONE, "hostname", i ? "b" : "a");
		reader_close(maker_read(m));
	}
}

static int open_side(const struct input *in, int side, struct reader **r,
		     struct error *err)
{
	return reader_open_bytes(in->m[side].bytes, in->m[side].n, "in.tally",
				 r, err);
}

static int make_report(const struct input *in, struct buf *out,
		       struct error *err)
{
	struct report_spec spec = { .limit = 0 };
	struct text_style style = { .full_names = true };
	struct report *rep = NULL;
	struct reader *r = NULL;
	int rc = key_list_parse("image,symbol", &spec.keys, err);

	if (!rc)
		rc = open_side(in, 0, &r, err);
	if (!rc)
		rc = report_build(r, &spec, &rep, err);
	if (!rc)
		report_text(rep, &style, out);
	report_free(rep);
	reader_close(r);
	return rc;
}

static int put_diff(struct reader *const *r, bool annotate, struct buf *out,
		    struct error *err)
{
	struct diff_spec spec = { .path = { "old", "new" } };
	struct diff_annotate_spec what = { .top = 0, .code = true };
	struct annotate_style lines = { .source = true, .code = true };
	struct diff_style style = { .full_names = true };
	struct diff_annotation *x = NULL;
	struct diff *d = NULL;
	int rc = key_list_parse("image,symbol", &spec.keys, err);

	if (!rc)
		rc = diff_build(r, &spec, &d, err);
	if (!rc && annotate)
		rc = diff_annotate(d, &what, &x, err);
	if (!rc && annotate)
		diff_annotate_text(x, &lines, out);
	else if (!rc)
		diff_text(d, &style, out);
	diff_annotation_free(x);
	diff_free(d);
	return rc;
}

static int make_diff(const struct input *in, bool annotate, struct buf *out,
		     struct error *err)
{
	struct reader *r[2] = { NULL, NULL };
	int rc = 0;

	for (int s = 0; !rc && s < 2; s++)
		rc = open_side(in, s, &r[s], err);
	if (!rc)
		rc = put_diff(r, annotate, out, err);
	for (int s = 0; s < 2; s++)
		reader_close(r[s]);
	return rc;
}

static int make_plain(const struct input *in, struct buf *out,
		      struct error *err)
{
	return make_diff(in, false, out, err);
}

static int make_annotated(const struct input *in, struct buf *out,
			  struct error *err)
{
	return make_diff(in, true, out, err);
}

/* Both taken together, compared with the first. */
static int make_merged(const struct input *in, struct buf *out,
		       struct error *err)
{
	static const char *const paths[] = { "a.tally", "b.tally" };
	struct reader *r[2] = { NULL, NULL }, *side[2] = { NULL, NULL };
	int rc = 0;

	for (int s = 0; !rc && s < 2; s++)
		rc = open_side(in, s, &r[s], err);
	if (!rc)
		rc = recordings_merge(r, paths, 2, &side[1], err);
	side[0] = r[0];
	if (!rc)
		rc = put_diff(side, false, out, err);
	for (int s = 0; s < 2; s++)
		reader_close(r[s]);
	reader_close(side[1]);
	return rc;
}

typedef int make_fn(const struct input *in, struct buf *out, struct error *err);

static void try_all(make_fn *make)
{
	struct buf want = { 0 }, out = { 0 };
	struct error err = { 0 };
	struct input in;
	size_t n;

	if (!CAN_FAIL)
		skip_test("the sanitizer has the allocator");
	input_init(&in);
	asked = 0;
	assert_int_equal(make(&in, &want, &err), 0);
	assert_false(want.failed);
	n = asked;
	for (size_t i = 1; i <= n; i++) {
		int rc;

		asked = 0;
		fails_at = i;
		err = (struct error){ 0 };
		rc = make(&in, &out, &err);
		fails_at = 0;
		if (rc && (rc != -ERR_NOMEM || err.code != ERR_NOMEM))
			fail_msg("allocation %zu of %zu: %d, \"%s\"", i, n, rc,
				 err.msg);
		if (!rc && !out.failed &&
		    !strstr(buf_cstr(&out), "memory ran out") &&
		    strcmp(buf_cstr(&out), buf_cstr(&want)))
			fail_msg("allocation %zu of %zu: another answer:\n%s",
				 i, n, buf_cstr(&out));
		buf_fini(&out);
	}
	buf_fini(&want);
	maker_fini(&in.m[0]);
	maker_fini(&in.m[1]);
}

static void test_report(void **state)
{
	(void)state;
	try_all(make_report);
}

static void test_diff(void **state)
{
	(void)state;
	try_all(make_plain);
}

static void test_merge(void **state)
{
	(void)state;
	try_all(make_merged);
}

static void test_annotate(void **state)
{
	(void)state;
	try_all(make_annotated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_annotate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
