// SPDX-License-Identifier: GPL-2.0-or-later
/* Labels of recordings and names from control groups: what threads have, and
 * which samples --label and -s select. */
#include "make_profile.h"

#include <stdio.h>
#include <string.h>

#include "profile/thread_labels.h"
#include "views/query/aggregate.h"

#define ID "3f1f9d6a0b7c4e2f8a1d5c6b7e8f90123456789abcdef0123456789abcdef012"

/* Run 0 is a command, run 1 the whole of another machine. */
static void make(struct maker *m)
{
	static const struct {
		const char *comm, *cgroup;
		uint32_t pid, parent;
	} t[] = {
		{ "nginx", "/system.slice/web.service", 200, 1 },
		{ "kworker", "", 300, 2 },
		{ "redis", "/system.slice/docker-" ID ".scope", 400, 1 },
		{ "bash", "/user.slice/user-0.slice/session-1.scope", 500, 1 },
	};

	uint32_t loc, stack;

	maker_init(m, 1);
	maker_run(m, 1000000000, 11000000000);
	loc = maker_loc(m, maker_func(m, maker_image(m, "/bin/one", PROF_IMAGE_ELF), "main",
				      "one.c", 1), 1);
	stack = maker_stack(m, 1, &loc);
	m->p.runs.v[1].command = PROF_STR_EMPTY;
	for (size_t i = 0; i < 4; i++) {
		uint32_t id = maker_thread(m, t[i].comm, t[i].pid, t[i].pid, 1);

		m->p.threads.v[id].cgroup = profile_str(&m->p, t[i].cgroup);
		m->p.threads.v[id].parent = t[i].parent;
		m->p.threads.v[id].task = profile_str(&m->p, i == 2 ? "fetch" : "");
		maker_samples(m, stack, 0, id, 10, (unsigned int)i + 1);
	}
	maker_samples(m, stack, 0, 0, 10, 100);
	profile_set_env(&m->p, PROF_NONE, "hostname", "a");
	profile_set_env(&m->p, 1, "hostname", "b");
	profile_set_label(&m->p, PROF_NONE, "team", "x");
	profile_set_label(&m->p, PROF_NONE, "zone", "old");
	profile_set_label(&m->p, PROF_NONE, "zone", "eu");
	profile_set_label(&m->p, 1, "team", "y");
	profile_set_label(&m->p, 1, "canary", "yes");
}

static void test_labels(void **state)
{
	/* threads 0 to 4 */
	static const char *const want[][LABEL_COUNT] = {
		{ "team=x, zone=eu", "a", "app", "", "", "", "" },
		{ "canary=yes, team=y, zone=eu", "b", "web", "", "",
		  "/system.slice/web.service", "" },
		{ "canary=yes, team=y, zone=eu", "b", "kernel", "", "", "", "" },
		{ "canary=yes, team=y, zone=eu", "b", "redis", ID, "",
		  "/system.slice/docker-" ID ".scope", "fetch" },
		{ "canary=yes, team=y, zone=eu", "b", "bash", "", "",
		  "/user.slice/user-0.slice/session-1.scope", "" },
	};
	struct thread_labels l;
	struct reader *r;
	struct maker m;

	(void)state;
	make(&m);
	r = maker_read(&m);	/* what is in the file */
	assert_int_equal(thread_labels_init(&l, reader_profile(r)), 0);
	for (uint32_t t = 0; t < 5; t++)
		for (int i = 0; i < LABEL_COUNT; i++)
			assert_string_equal(
				thread_label(&l, t, (enum thread_label)i),
				want[t][i]);
	assert_string_equal(thread_label_named(&l, 0, "team"), "x");
	assert_string_equal(thread_label_named(&l, 0, "canary"), "");
	assert_string_equal(thread_label_named(&l, 1, "service"), "web");
	assert_true(thread_labels_know(&l, "canary"));
	assert_string_equal(thread_label_named(&l, 3, "task"), "fetch");
	assert_true(thread_labels_know(&l, "pod"));
	assert_false(thread_labels_know(&l, "nothing"));
	thread_labels_fini(&l);
	reader_close(r);
	maker_fini(&m);
}

/* A label named service is the service, also of a command. */
static void test_given_service(void **state)
{
	struct thread_labels l;
	struct maker m;

	(void)state;
	make(&m);
	profile_set_label(&m.p, PROF_NONE, "service", "api");
	assert_int_equal(thread_labels_init(&l, &m.p), 0);
	for (uint32_t t = 0; t < 5; t++)
		assert_string_equal(thread_label(&l, t, LABEL_SERVICE), "api");
	thread_labels_fini(&l);
	maker_fini(&m);
}

/* The number of samples that these filters select; a negative error code
 * otherwise. */
static int64_t selected(struct reader *r, size_t n, const char *const *labels,
			struct error *err)
{
	struct select_spec spec = { .labels = { labels, n } };
	struct selection sel;
	struct aggregate a;
	int64_t count;
	int rc = selection_init(&sel, reader_profile(r), &spec, err);

	if (rc)
		return rc;
	assert_int_equal(aggregate_run(r, &sel, 0, false, &a, err), 0);
	count = (int64_t)a.shown[0].count;
	aggregate_fini(&a);
	selection_fini(&sel);
	return count;
}

#define SELECTED(r, err, ...) \
	selected(r, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
		 (const char *const[]){ __VA_ARGS__ }, err)

static void test_filter(void **state)
{
	struct error err;
	struct reader *r;
	struct maker m;

	(void)state;
	make(&m);
	r = maker_read(&m);
	assert_int_equal(SELECTED(r, &err, "canary=yes"), 10);
	assert_int_equal(SELECTED(r, &err, "canary!=yes"), 100);
	assert_int_equal(SELECTED(r, &err, "zone=eu"), 110);
	assert_int_equal(SELECTED(r, &err, "zone=old"), 0);
	assert_int_equal(SELECTED(r, &err, "host=b", "service=web"), 1);
	assert_int_equal(SELECTED(r, &err, "service=w*,redis"), 4);
	assert_int_equal(SELECTED(r, &err, "container=3f1f9d6a0b7c*"), 3);
	assert_int_equal(SELECTED(r, &err, "container!="), 3);
	assert_int_equal(SELECTED(r, &err, "cgroup=/system.slice/*"), 4);
	assert_int_equal(SELECTED(r, &err, "canry=yes"), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "no label canry"));
	assert_int_equal(SELECTED(r, &err, "canary"), -ERR_USAGE);
	assert_int_equal(SELECTED(r, &err, "=yes"), -ERR_USAGE);
	assert_int_equal(SELECTED(r, &err, "!=yes"), -ERR_USAGE);
	assert_int_equal(SELECTED(r, &err, ""), -ERR_USAGE);
	reader_close(r);
	maker_fini(&m);
}

static void test_sums(void **state)
{
	struct selection sel = { .timed = false };
	struct error err;
	struct aggregate a;
	struct reader *r;
	struct maker m;

	(void)state;
	make(&m);
	r = maker_read(&m);
	assert_int_equal(aggregate_run(r, &sel, KEY_BIT(KEY_HOST), false, &a,
				       &err), 0);
	assert_int_equal(a.lanes.n, 2);
	aggregate_fini(&a);
	assert_int_equal(aggregate_run(r, &sel, KEY_BIT(KEY_SERVICE) |
				       KEY_BIT(KEY_CONTAINER), false, &a, &err),
			 0);
	assert_int_equal(a.lanes.n, 5);
	aggregate_fini(&a);
	reader_close(r);
	maker_fini(&m);
}

/* Files may contain any number of labels with any name. */
static void test_hostile(void **state)
{
	struct thread_labels l;
	struct maker m;
	char name[32];

	(void)state;
	make(&m);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "l%d\n\x1b=", i);
		profile_set_label(&m.p, i & 1 ? 1 : PROF_NONE, name, "");
	}
	profile_set_env(&m.p, 7, "label.none", "x");	/* no such run */
	assert_int_equal(thread_labels_init(&l, &m.p), 0);
	assert_true(l.given.n <= 2 * 64);
	assert_false(thread_labels_know(&l, "none"));
	thread_labels_fini(&l);
	maker_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_given_service),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
