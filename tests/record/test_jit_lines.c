// SPDX-License-Identifier: GPL-2.0-or-later
/* Notices of a growing perf map, and what is known of the time of its lines.  The map is
 * that of this process. */
#include "../checks.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/collect/jit_lines.h"
#include "symbolize/perfmap.h"

static struct profile profile;
static struct images images;
static struct processes processes;
static struct jit_follow follow;
static char path[64];
static int file;

static void append(const char *text)
{
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
}

static void look(void)
{
	assert_int_equal(jit_follow_look(&follow, &images), 0);
}

/* Returns whether poll(2) tells of a change. */
static bool is_told(void)
{
	struct pollfd p = { follow.fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static int begin(void **state)
{
	uint32_t image;

	(void)state;
	follow = (struct jit_follow){ .watch = true };
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
	if (file < 0)
		return -1;
	append("1000 20 old\n");
	profile_init(&profile);
	if (images_init(&images, &profile, "/proc") < 0 ||
	    !processes_get(&processes, (uint32_t)getpid()))
		return -1;
	image = images_add(&images, "[anon]", PROF_IMAGE_ANON, (uint64_t)getpid(), NULL);
	return image == UINT32_MAX || images_row(&images, image) == PROF_NONE ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	jit_follow_fini(&follow);
	processes_fini(&processes);
	images_fini(&images);
	profile_fini(&profile);
	close(file);
	unlink(path);
	return 0;
}

/* Returns what is known of address 1000 at a time. */
static enum perfmap_found found(uint64_t time_ns)
{
	struct jit_lines *l = jit_follow_find(&follow, (uint32_t)getpid());
	uint64_t addr = 0x1000;

	if (jit_lines_image(l, &images, time_ns, &addr) == l->image)
		return PERFMAP_FIRST;
	return addr & PERFMAP_EITHER_BIT ? PERFMAP_EITHER : PERFMAP_LATER;
}

static void only_changes_are_told(void **state)
{
	(void)state;
	look();
	assert_true(follow.fd > 0);
	assert_int_equal(follow.unwatched, 0);
	assert_false(is_told());
	append("2000 10 other\n");
	assert_true(is_told());
	look();
	assert_true(follow.changed);
	assert_false(is_told());
	look();
	assert_false(follow.changed);
	/* by the open file, not by its name */
	assert_int_equal(unlink(path), 0);
	append("1000 10 new\n");
	assert_true(is_told());
	look();
	assert_int_equal(found(clock_now()), PERFMAP_LATER);
}

static void time_without_changes_is_known(void **state)
{
	uint64_t before, since;

	(void)state;
	look();
	before = clock_now();
	look();
	since = clock_now();
	append("1000 10 new\n");
	look();
	assert_int_equal(found(before), PERFMAP_FIRST);
	assert_int_equal(found(since), PERFMAP_EITHER);
	assert_int_equal(found(clock_now()), PERFMAP_LATER);
}

static void time_is_not_believed_against_the_file(void **state)
{
	uint64_t before;

	(void)state;
	look();
	before = clock_now();
	append("1000 10 new\n");
	usleep(20000);
	follow.quiet_ns = clock_now();
	look();
	assert_int_equal(found(before), PERFMAP_EITHER);
}

static void files_without_a_watch_are_looked_at(void **state)
{
	(void)state;
	follow.fd = -1;
	look();
	assert_int_equal(follow.unwatched, 1);
	append("1000 10 new\n");
	look();
	assert_int_equal(found(clock_now()), PERFMAP_LATER);
}

/* As when the queue has no room: all files may have changed. */
static void lost_notices_are_made_up_for(void **state)
{
	struct jit_lines *l;
	int most, other;
	char name[80];
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");

	(void)state;
	if (!f || fscanf(f, "%d", &most) != 1)
		most = 16384;
	if (f)
		fclose(f);
	look();
	/* Equal notices one after the other count once. */
	snprintf(name, sizeof(name), "%s.other", path);
	other = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(other >= 0);
	assert_true(inotify_add_watch(follow.fd, name, IN_MODIFY | IN_ATTRIB) > 0);
	for (int i = 0; i < most / 2 + 1; i++) {
		assert_int_equal(pwrite(other, "x", 1, 0), 1);
		assert_int_equal(fchmod(other, 0600), 0);
	}
	append("1000 10 new\n");
	look();
	close(other);
	unlink(name);
	l = jit_follow_find(&follow, (uint32_t)getpid());
	assert_true(l->wd > 0);
	assert_int_equal(found(clock_now()), PERFMAP_LATER);
}

static void a_file_written_anew_is_told_no_more(void **state)
{
	struct jit_lines *l;

	(void)state;
	look();
	assert_int_equal(ftruncate(file, 0), 0);
	assert_true(is_told());
	look();
	l = jit_follow_find(&follow, (uint32_t)getpid());
	assert_null(l->times);
	jit_follow_forget(&follow, &processes);
	look();
	append("1000 10 new\n");
	assert_false(is_told());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_changes_are_told, begin, end),
		cmocka_unit_test_setup_teardown(time_without_changes_is_known, begin,
						end),
		cmocka_unit_test_setup_teardown(time_is_not_believed_against_the_file,
						begin, end),
		cmocka_unit_test_setup_teardown(files_without_a_watch_are_looked_at,
						begin, end),
		cmocka_unit_test_setup_teardown(lost_notices_are_made_up_for, begin, end),
		cmocka_unit_test_setup_teardown(a_file_written_anew_is_told_no_more,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
