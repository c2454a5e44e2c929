/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_CHECKS_H
#define TALLY_TESTS_CHECKS_H
/*
 * cmocka, with assertions that may not hold on nothing.  A unit test fails where
 *
 *	- an assertion in it never ran: in a loop over no elements, behind an `if`
 *	  that was never true, in a helper that returned early;
 *	- an assertion compared texts or memory, both empty whenever it ran, and no
 *	  "" stands in it.
 *
 * A program in which a test was skipped is let off.  Assertions that ran only in a child process
 * did not run: let the child tell by its exit status.
 *
 * How: each assertion leaves a counter of its own in a section of the program,
 * and what runs the tests looks at them all afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifndef CMOCKA_VERSION		/* before cmocka 2: the functions below its macros */

struct check_site {
	const char *file, *words;
	int line;
	bool compares, skips;
	unsigned ran, some;	/* some: there was something to compare */
};

/* Pointers, as a section of structures may have gaps. */
extern struct check_site *const __start_check_sites[], *const __stop_check_sites[];

static inline bool check_same_place(const struct check_site *a,
				    const struct check_site *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

/* Says what is wrong with the assertion of one place: of a header there may be
 * one for each file that includes it. */
static inline bool check_site_holds(const struct check_site *s)
{
	struct check_site *const *p;
	unsigned ran = 0, some = 0;

	for (p = __start_check_sites; p < __stop_check_sites; p++)
		if (check_same_place(*p, s)) {
			ran += (*p)->ran;
			some += (*p)->some;
		}
	if (!ran)
		printf("# %s:%d: never ran: %s\n", s->file, s->line, s->words);
	else if (s->compares && !some && !strstr(s->words, "\"\""))
		printf("# %s:%d: compared empty with empty only: %s\n", s->file,
		       s->line, s->words);
	else
		return true;
	return false;
}

/* `failed`: tests that failed already, whose assertions may not have run. */
static inline int check_sites_ran(int failed)
{
	struct check_site *const *p;
	int bad = 0;

	for (p = __start_check_sites; p < __stop_check_sites; p++)
		if ((*p)->skips && (*p)->ran)
			return failed;
	for (p = __start_check_sites; !failed && p < __stop_check_sites; p++)
		bad += !(*p)->skips && !check_site_holds(*p);
	fflush(stdout);
	return failed ? failed : bad;
}

/* The pointer is looked at, so that it stays as long as the code around it does. */
#define CHECK_SITE_(said, is_comparison, is_skip, is_some)			\
	static struct check_site check_site_ = {				\
		__FILE__, said, __LINE__, is_comparison, is_skip, 0, 0 };	\
	static struct check_site *const check_listed_				\
		__attribute__((section("check_sites"))) = &check_site_;		\
	struct check_site *const *check_at_ = &check_listed_;			\
	__asm__ volatile("" : "+r"(check_at_));					\
	(*check_at_)->ran++;							\
	(*check_at_)->some += (is_some)

#define CHECK_(said, call) __extension__ ({					\
	CHECK_SITE_(said, false, false, 0);					\
	call;									\
})
#define CHECK_NUMBER_(c) cast_to_largest_integral_type(c)
#define CHECK_POINTER_(c) cast_ptr_to_largest_integral_type(c)

#undef assert_true
#define assert_true(c)								\
	CHECK_(#c, _assert_true(CHECK_NUMBER_(c), #c, __FILE__, __LINE__))
#undef assert_false
#define assert_false(c)								\
	CHECK_("not " #c, _assert_true(!CHECK_NUMBER_(c), "not " #c,		\
				       __FILE__, __LINE__))
#undef assert_non_null
#define assert_non_null(c)							\
	CHECK_(#c, _assert_true(CHECK_POINTER_(c), #c, __FILE__, __LINE__))
#undef assert_null
#define assert_null(c)								\
	CHECK_("no " #c, _assert_true(!CHECK_POINTER_(c), "no " #c,		\
				      __FILE__, __LINE__))
#undef assert_int_equal
#define assert_int_equal(a, b)							\
	CHECK_(#a " = " #b, _assert_int_equal(CHECK_NUMBER_(a),			\
					      CHECK_NUMBER_(b),			\
					      __FILE__, __LINE__))
#undef assert_int_not_equal
#define assert_int_not_equal(a, b)						\
	CHECK_(#a " != " #b, _assert_int_not_equal(CHECK_NUMBER_(a),		\
						   CHECK_NUMBER_(b),		\
						   __FILE__, __LINE__))
#undef assert_in_range
#define assert_in_range(v, min, max)						\
	CHECK_(#v " in range", _assert_in_range(CHECK_NUMBER_(v),		\
						CHECK_NUMBER_(min),		\
						CHECK_NUMBER_(max),		\
						__FILE__, __LINE__))
#undef assert_ptr_equal
#define assert_ptr_equal(a, b)							\
	CHECK_(#a " = " #b, _assert_int_equal(CHECK_POINTER_(a),		\
					      CHECK_POINTER_(b),		\
					      __FILE__, __LINE__))
#undef assert_ptr_not_equal
#define assert_ptr_not_equal(a, b)						\
	CHECK_(#a " != " #b, _assert_int_not_equal(CHECK_POINTER_(a),		\
						   CHECK_POINTER_(b),		\
						   __FILE__, __LINE__))
#undef assert_string_equal
#define assert_string_equal(a, b) __extension__ ({				\
	const char *check_a_ = (const char *)(a), *check_b_ = (const char *)(b);\
										\
	CHECK_SITE_(#a " = " #b, true, false,					\
		    (check_a_ && *check_a_) || (check_b_ && *check_b_));	\
	_assert_string_equal(check_a_, check_b_, __FILE__, __LINE__);		\
})
#undef assert_string_not_equal
#define assert_string_not_equal(a, b)						\
	CHECK_(#a " != " #b, _assert_string_not_equal((const char *)(a),	\
						      (const char *)(b),	\
						      __FILE__, __LINE__))
#undef assert_memory_equal
#define assert_memory_equal(a, b, size) __extension__ ({			\
	size_t check_size_ = (size);						\
										\
	CHECK_SITE_(#a " = " #b, true, false, check_size_ != 0);		\
	_assert_memory_equal((const void *)(a), (const void *)(b), check_size_,	\
			     __FILE__, __LINE__);				\
})
/* Ends a test that cannot be made here. */
#define skip_test(why) __extension__ ({						\
	CHECK_SITE_(why, false, true, 0);					\
	print_message("# skipped: %s\n", why);					\
	_skip(__FILE__, __LINE__);						\
})
#undef skip

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, before, after)				\
	cmocka_run_group_tests_name(#tests, tests, before, after)
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, before, after)			\
	check_sites_ran(_cmocka_run_group_tests(name, tests,			\
		sizeof(tests) / sizeof((tests)[0]), before, after))

#else
#define skip_test(why) (print_message("# skipped: %s\n", why), skip())
#endif

/* The text is not empty, and does not have `what`. */
#define check_lacks(text, what) __extension__ ({					\
	const char *check_text_ = (text);					\
										\
	assert_true(check_text_ && *check_text_);				\
	assert_true(!strstr(check_text_, what));				\
})

#endif
