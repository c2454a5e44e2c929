// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings and processes: overlaps, sharing between forks, exec, numbers that
 * are used again. */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>

#include "record/collect/processes.h"

static void insert(struct mapset **s, uint32_t *gen, uint64_t start,
		   uint64_t end, uint32_t image)
{
	struct map m = { start, end, 0, image };

	assert_int_equal(mapset_insert(s, &m, gen), 0);
}

static int image_at(struct mapset *s, uint64_t addr)
{
	const struct map *m = mapset_find(s, addr);

	return m ? (int)m->image : -1;
}

static void newer_mappings_cover_older(void **state)
{
	uint32_t gen = 0;
	struct mapset *s = mapset_new(&gen);

	(void)state;
	insert(&s, &gen, 100, 200, 1);
	insert(&s, &gen, 300, 400, 2);
	insert(&s, &gen, 150, 350, 3);	/* over the ends of both */
	assert_int_equal(image_at(s, 99), -1);
	assert_int_equal(image_at(s, 149), 1);
	assert_int_equal(image_at(s, 150), 3);
	assert_int_equal(image_at(s, 349), 3);
	assert_int_equal(image_at(s, 350), 2);
	assert_int_equal(image_at(s, 400), -1);
	insert(&s, &gen, 200, 210, 4);	/* a hole in the middle */
	assert_int_equal(image_at(s, 199), 3);
	assert_int_equal(image_at(s, 205), 4);
	assert_int_equal(image_at(s, 210), 3);
	insert(&s, &gen, 0, 1000, 5);	/* over everything */
	assert_int_equal(s->maps.n, 1);
	assert_int_equal(image_at(s, 205), 5);
	mapset_put(s);
}

/* Against a table with one entry per address. */
static void random_mappings_agree_with_a_table(void **state)
{
	enum { SPACE = 300 };
	int want[SPACE];
	uint32_t gen = 0;
	struct mapset *s = mapset_new(&gen);

	(void)state;
	srand(7);
	memset(want, 0xff, sizeof(want));
	for (int i = 0; i < 2000; i++) {
		uint64_t a = (uint64_t)rand() % (SPACE - 1);
		uint64_t b = a + 1 + (uint64_t)rand() % 20;

		if (b > SPACE)
			b = SPACE;
		insert(&s, &gen, a, b, (uint32_t)i);
		for (uint64_t k = a; k < b; k++)
			want[k] = i;
		for (uint64_t k = 0; k < SPACE; k++)
			assert_int_equal(image_at(s, k), want[k]);
		for (size_t k = 1; k < s->maps.n; k++)
			assert_true(s->maps.v[k - 1].end <=
				    s->maps.v[k].start);
	}
	mapset_put(s);
}

static void equal_sets_have_equal_generations(void **state)
{
	uint32_t gen = 0, before;
	struct mapset *s = mapset_new(&gen), *fork;

	(void)state;
	insert(&s, &gen, 100, 200, 1);
	before = s->generation;
	insert(&s, &gen, 100, 200, 1);	/* mprotect tells it again */
	assert_int_equal(s->generation, before);
	fork = mapset_get(s);
	assert_ptr_equal(fork, s);
	insert(&fork, &gen, 100, 200, 2);	/* now they differ */
	assert_ptr_not_equal(fork, s);
	assert_int_equal(s->generation, before);
	assert_int_not_equal(fork->generation, before);
	assert_int_equal(image_at(s, 150), 1);
	assert_int_equal(image_at(fork, 150), 2);
	mapset_put(s);
	mapset_put(fork);
}

static void map_in(struct processes *p, uint32_t pid, uint64_t start,
		   uint32_t image)
{
	struct map m = { start, start + 100, 0, image };

	assert_int_equal(processes_map(p, pid, &m), 0);
}

static int image_in(struct processes *p, uint32_t pid, uint64_t addr)
{
	return image_at(processes_get(p, pid)->maps, addr);
}

static void forks_see_their_parents_mappings(void **state)
{
	struct processes p = { 0 };

	(void)state;
	map_in(&p, 10, 1000, 1);
	assert_int_equal(processes_name(&p, 10, 10, "parent", 1), 0);
	assert_int_equal(processes_fork(&p, 11, 11, 10, 10, 5), 0);
	assert_int_equal(image_in(&p, 11, 1050), 1);
	assert_string_equal(processes_find_task(&p, 11)->comm, "parent");
	assert_int_equal(processes_get(&p, 11)->parent, 10);
	/* What one of them loads later the other does not have. */
	map_in(&p, 10, 2000, 2);
	assert_int_equal(image_in(&p, 11, 2050), -1);
	map_in(&p, 11, 1000, 3);
	assert_int_equal(image_in(&p, 10, 1050), 1);
	assert_int_equal(image_in(&p, 11, 1050), 3);
	processes_fini(&p);
}

static void threads_share_their_process(void **state)
{
	struct processes p = { 0 };

	(void)state;
	map_in(&p, 10, 1000, 1);
	assert_int_equal(processes_name(&p, 10, 10, "main", 1), 0);
	assert_int_equal(processes_fork(&p, 10, 12, 10, 10, 5), 0);
	assert_int_equal(processes_find_task(&p, 12)->pid, 10);
	map_in(&p, 10, 2000, 2);	/* dlopen in any thread */
	assert_int_equal(image_in(&p, 10, 2050), 2);
	assert_int_equal(processes_name(&p, 10, 12, "worker", 6), 0);
	assert_string_equal(processes_find_task(&p, 12)->comm, "worker");
	assert_string_equal(processes_find_task(&p, 10)->comm, "main");
	processes_fini(&p);
}

static void exec_forgets_mappings_of_one_process_only(void **state)
{
	struct processes p = { 0 };

	(void)state;
	map_in(&p, 10, 1000, 1);
	assert_int_equal(processes_fork(&p, 11, 11, 10, 10, 5), 0);
	assert_int_equal(processes_exec(&p, 11, 1), 0);
	assert_int_equal(image_in(&p, 11, 1050), -1);
	assert_int_equal(image_in(&p, 10, 1050), 1);
	processes_fini(&p);
}

static void numbers_used_again_are_new_threads(void **state)
{
	struct processes p = { 0 };
	struct task *t;

	(void)state;
	map_in(&p, 10, 1000, 1);
	assert_int_equal(processes_name(&p, 10, 10, "old", 1), 0);
	processes_find_task(&p, 10)->row = 77;
	assert_int_equal(processes_exit(&p, 10, 10, 100), 0);
	/* Still there for records that come late … */
	processes_purge(&p, 50);
	assert_int_equal(image_in(&p, 10, 1050), 1);
	/* … gone later … */
	processes_purge(&p, 101);
	assert_null(processes_find_task(&p, 10));
	assert_int_equal(image_in(&p, 10, 1050), -1);
	/* … and the number comes again, from another parent. */
	map_in(&p, 20, 5000, 2);
	assert_int_equal(processes_fork(&p, 10, 10, 20, 20, 200), 0);
	t = processes_find_task(&p, 10);
	assert_int_equal(t->row, UINT32_MAX);
	assert_int_equal(image_in(&p, 10, 5050), 2);
	processes_fini(&p);
}

static void a_late_exit_does_not_kill_the_next(void **state)
{
	struct processes p = { 0 };

	(void)state;
	assert_int_equal(processes_fork(&p, 10, 10, 1, 1, 10), 0);
	assert_int_equal(processes_exit(&p, 10, 10, 20), 0);
	assert_int_equal(processes_fork(&p, 10, 10, 1, 1, 30), 0);
	processes_purge(&p, 1000);
	assert_non_null(processes_find_task(&p, 10));
	processes_fini(&p);
}

/* main() may call pthread_exit long before the other threads end. */
static void an_address_space_outlives_the_first_thread(void **state)
{
	struct processes p = { 0 };

	(void)state;
	map_in(&p, 10, 100, 1);
	processes_task(&p, 10, 10);
	assert_int_equal(processes_fork(&p, 10, 11, 10, 10, 1), 0);
	assert_int_equal(processes_exit(&p, 10, 10, 2), 0);
	processes_purge(&p, 50);
	assert_null(processes_find_task(&p, 10));
	assert_non_null(processes_find(&p, 10));
	assert_int_equal(image_at(processes_find(&p, 10)->maps, 150), 1);
	assert_int_equal(processes_exit(&p, 10, 11, 60), 0);
	processes_purge(&p, 100);
	assert_null(processes_find(&p, 10));
	processes_fini(&p);
}

static void a_new_name_is_a_new_row(void **state)
{
	struct processes p = { 0 };
	struct task *t;

	(void)state;
	assert_int_equal(processes_name(&p, 10, 10, "one", 1), 0);
	t = processes_find_task(&p, 10);
	t->row = 5;
	assert_int_equal(processes_name(&p, 10, 10, "one", 2), 0);
	assert_int_equal(t->row, 5);
	assert_int_equal(processes_name(&p, 10, 10, "two", 3), 0);
	assert_int_equal(t->row, UINT32_MAX);
	assert_int_equal(t->start_ns, 3);
	processes_fini(&p);
}

static void a_million_short_processes_need_no_memory(void **state)
{
	struct processes p = { 0 };

	(void)state;
	map_in(&p, 1, 1000, 1);
	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t pid = 2 + i % 32000;

		assert_int_equal(processes_fork(&p, pid, pid, 1, 1, i), 0);
		assert_int_equal(processes_exit(&p, pid, pid, i), 0);
		processes_purge(&p, i < 100 ? 0 : i - 100);
	}
	assert_true(p.procs.n < 300);
	assert_true(p.tasks.n < 300);
	assert_true(p.gone.n < 1000);
	processes_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newer_mappings_cover_older),
		cmocka_unit_test(random_mappings_agree_with_a_table),
		cmocka_unit_test(equal_sets_have_equal_generations),
		cmocka_unit_test(forks_see_their_parents_mappings),
		cmocka_unit_test(threads_share_their_process),
		cmocka_unit_test(exec_forgets_mappings_of_one_process_only),
		cmocka_unit_test(numbers_used_again_are_new_threads),
		cmocka_unit_test(a_late_exit_does_not_kill_the_next),
		cmocka_unit_test(an_address_space_outlives_the_first_thread),
		cmocka_unit_test(a_new_name_is_a_new_row),
		cmocka_unit_test(a_million_short_processes_need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
