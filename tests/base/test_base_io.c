// SPDX-License-Identifier: GPL-2.0-or-later
/* Files, among them those that a hostile path can name. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"

struct scratch {
	char dir[64];
	char path[128];		/* inside it */
};

static int setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	strcpy(s->dir, "/tmp/tally-io.XXXXXX");
	if (!mkdtemp(s->dir))
		return -1;
	snprintf(s->path, sizeof(s->path), "%s/file", s->dir);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scratch *s = *state;

	unlink(s->path);
	rmdir(s->dir);
	free(s);
	return 0;
}

static void write_file(const struct scratch *s, const void *p, size_t n)
{
	struct error err;
	int fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, s->path, p, n, &err), 0);
	close(fd);
}

static void reads_what_was_written(void **state)
{
	struct scratch *s = *state;
	uint8_t *data = malloc(200001);
	struct buf b = { 0 };
	struct io_map m;
	struct error err;

	for (int i = 0; i < 200001; i++)
		data[i] = (uint8_t)(i * 31);
	write_file(s, data, 200001);
	buf_str(&b, "head");
	assert_int_equal(io_read_file(s->path, 200001, &b, &err), 0);
	assert_int_equal(b.n, 200005);
	assert_memory_equal(b.p, "head", 4);
	assert_memory_equal(b.p + 4, data, 200001);
	assert_int_equal(io_map_file(s->path, &m, &err), 0);
	assert_int_equal(m.n, 200001);
	assert_memory_equal(m.p, data, 200001);
	io_unmap(&m);
	assert_null(m.p);
	buf_fini(&b);
	free(data);
}

/* Small files are copied, so that nothing that happens to the file later matters. */
static void loads_by_size(void **state)
{
	enum { SMALL = 256 * 1024 };
	struct scratch *s = *state;
	uint8_t *data = calloc(SMALL + 1, 1);
	struct io_map m;
	struct error err;

	data[0] = data[SMALL] = 7;
	for (size_t n = SMALL; n <= SMALL + 1; n++) {
		write_file(s, data, n);
		assert_int_equal(io_load_file(s->path, &m, &err), 0);
		assert_int_equal(m.copied, n == SMALL);
		assert_int_equal(m.n, n);
		assert_memory_equal(m.p, data, n);
		assert_int_equal(m.owner, geteuid());
		if (m.copied) {
			assert_int_equal(truncate(s->path, 0), 0);
			assert_memory_equal(m.p, data, n);
		}
		io_unmap(&m);
		assert_null(m.p);
	}
	free(data);
}

static void reads_at_offsets(void **state)
{
	struct scratch *s = *state;
	char to[8] = "";
	int fd;

	write_file(s, "0123456789", 10);
	fd = open(s->path, O_RDONLY);
	assert_int_equal(io_read_at(fd, 2, to, 4), 4);
	assert_memory_equal(to, "2345", 4);
	assert_int_equal(io_read_at(fd, 7, to, 8), 3);
	assert_int_equal(errno, 0);
	assert_memory_equal(to, "789", 3);
	assert_int_equal(io_read_at(fd, UINT64_MAX, to, 1), 0);
	close(fd);
	assert_int_equal(io_read_at(fd, 0, to, 1), 0);
	assert_int_equal(errno, EBADF);
}

static void limit_is_exact(void **state)
{
	struct scratch *s = *state;
	struct buf b = { 0 };
	struct error err;

	write_file(s, "12345", 5);
	assert_int_equal(io_read_file(s->path, 4, &b, &err), -ERR_FORMAT);
	assert_non_null(strstr(err.msg, s->path));
	assert_non_null(strstr(err.msg, "4 bytes"));
	buf_reset(&b);
	assert_int_equal(io_read_file(s->path, 5, &b, &err), 0);
	assert_int_equal(b.n, 5);
	buf_fini(&b);
}

static void empty_file_is_empty(void **state)
{
	struct scratch *s = *state;
	struct buf b = { 0 };
	struct io_map m;
	struct error err;

	write_file(s, "", 0);
	assert_int_equal(io_read_file(s->path, 0, &b, &err), 0);
	assert_int_equal(b.n, 0);
	assert_int_equal(io_map_file(s->path, &m, &err), 0);
	assert_int_equal(m.n, 0);
	io_unmap(&m);
	buf_fini(&b);
}

/* Files of /proc have size 0 and content all the same. */
static void proc_files_have_content(void **state)
{
	struct buf b = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(io_read_file("/proc/self/stat", 65536, &b, &err), 0);
	assert_true(b.n > 10);
	assert_int_equal(atoi(buf_cstr(&b)), getpid());
	buf_fini(&b);
}

/* Both openers refuse `path` at once, and say which it was. */
static void check_refused(const char *path, int code)
{
	struct buf b = { 0 };
	struct io_map m;
	struct error err = { 0 };

	alarm(10);		/* hanging is the failure looked for */
	assert_int_equal(io_read_file(path, 100, &b, &err), code);
	assert_non_null(strstr(err.msg, path));
	err.msg[0] = 0;
	assert_int_equal(io_map_file(path, &m, &err), code);
	assert_non_null(strstr(err.msg, path));
	alarm(0);
	buf_fini(&b);
}

static void fifo_does_not_hang(void **state)
{
	struct scratch *s = *state;

	assert_int_equal(mkfifo(s->path, 0600), 0);
	check_refused(s->path, -ERR_FORMAT);
}

/* Opening a FIFO lets a writer go on that waits for a reader. */
static void writer_of_fifo_stays_blocked(void **state)
{
	struct scratch *s = *state;
	char where[64], call[64] = "";
	int status, fd;
	pid_t pid;

	assert_int_equal(mkfifo(s->path, 0600), 0);
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(open(s->path, O_WRONLY) < 0);
	}
	/* in wait_for_partner() of the kernel */
	snprintf(where, sizeof(where), "/proc/%d/wchan", (int)pid);
	for (int i = 0; i < 100 && !strstr(call, "wait_for_partner"); i++) {
		usleep(10000);
		fd = open(where, O_RDONLY);
		if (fd >= 0 && read(fd, call, sizeof(call) - 1) < 0)
			call[0] = 0;
		close(fd);
	}
	check_refused(s->path, -ERR_FORMAT);
	usleep(50000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void socket_is_refused(void **state)
{
	struct scratch *s = *state;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	strcpy(a.sun_path, s->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	check_refused(s->path, -ERR_FORMAT);
	close(fd);
}

static void devices_and_folders_are_refused(void **state)
{
	struct scratch *s = *state;

	check_refused("/dev/zero", -ERR_FORMAT);
	check_refused(s->dir, -ERR_FORMAT);
	check_refused(s->path, -ERR_NOTFOUND);
}

/* A pipe that the user gave as a descriptor is read to its end. */
static void descriptor_of_a_pipe_is_read(void **state)
{
	struct buf b = { 0 };
	struct error err;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(io_write_all(fd[1], "pipe", "data", 4, &err), 0);
	close(fd[1]);
	assert_int_equal(io_read_fd(fd[0], "pipe", 10, &b, &err), 0);
	check_text(&b, "data");
	close(fd[0]);
	buf_fini(&b);
}

static void write_errors_name_the_file(void **state)
{
	struct error err;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	if (fd < 0)
		skip_test("no /dev/full in this container");
	assert_int_equal(io_write_all(fd, "out.tally", "x", 1, &err), -ERR_IO);
	assert_non_null(strstr(err.msg, "out.tally"));
	assert_non_null(strstr(err.msg, strerror(ENOSPC)));
	close(fd);
}

/* A folder in which a command goes on writing is its user's own. */
static void folders_of_others_are_refused(void **state)
{
	const char *path = ((struct scratch *)*state)->path;
	struct error err;
	struct stat st;
	int fd;

	fd = outfile_folder(path, 0750, "the spool", &err);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07027, 0);
	close(fd);
	fd = outfile_folder(path, 0700, "the spool", &err);
	assert_true(fd >= 0);
	close(fd);

	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(outfile_folder(path, 0700, "the spool", &err), -ERR_PERM);
	assert_non_null(strstr(err.msg, path));
	assert_non_null(strstr(err.msg, "chmod o-w"));
	assert_int_equal(chmod(path, 0755), 0);
	if (!geteuid() && !chown(path, 12345, (gid_t)-1)) {
		assert_int_equal(outfile_folder(path, 0700, "the spool", NULL),
				 -ERR_PERM);
		assert_int_equal(outfile_folder(path, 0700, "the spool", &err),
				 -ERR_PERM);
		assert_non_null(strstr(err.msg, "another user (12345)"));
	}
	assert_int_equal(rmdir(path), 0);
	assert_true(outfile_folder("/proc/none", 0700, "the spool", &err) < 0);
	assert_non_null(strstr(err.msg, "/proc/none"));
}

/* File systems without flags of renameat2, and without links. */
static bool no_flags, no_links;

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
	      unsigned int flags)
{
	if (flags && no_flags) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (no_links) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

static bool is_file(int dir, const char *name, ino_t number)
{
	struct stat st;

	return !fstatat(dir, name, &st, 0) && st.st_ino == number;
}

/* A file gets another name, but never that of another file. */
static void renaming_replaces_nothing(void **state)
{
	int dir = open(((struct scratch *)*state)->dir, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < 3; i++) {
		struct stat a, b;

		no_flags = i > 0;
		no_links = i > 1;
		close(openat(dir, "a", O_WRONLY | O_CREAT, 0600));
		close(openat(dir, "b", O_WRONLY | O_CREAT, 0600));
		assert_int_equal(fstatat(dir, "a", &a, 0), 0);
		assert_int_equal(fstatat(dir, "b", &b, 0), 0);
		assert_int_equal(outfile_rename(dir, "a", "b"), EEXIST);
		assert_true(is_file(dir, "a", a.st_ino));
		assert_true(is_file(dir, "b", b.st_ino));
		assert_int_equal(outfile_rename(dir, "c", "d"), ENOENT);
		assert_int_equal(outfile_rename(dir, "a", "c"), 0);
		assert_true(is_file(dir, "c", a.st_ino));
		assert_int_equal(unlinkat(dir, "a", 0), -1);
		assert_int_equal(unlinkat(dir, "b", 0), 0);
		assert_int_equal(unlinkat(dir, "c", 0), 0);
	}
	no_flags = no_links = false;
	close(dir);
}

/* A file is replaced as a whole, and a folder of its name is an error that changes
 * nothing. */
static void replacing_is_whole(void **state)
{
	int dir = open(((struct scratch *)*state)->dir, O_RDONLY | O_DIRECTORY);
	struct iovec text = { (void *)(uintptr_t)"new", 3 };

	for (int i = 0; i < 4; i++) {
		bool sync = i & 1;
		struct error err;
		char got[8] = "";
		struct stat st;
		int fd;

		no_flags = i > 1;
		close(openat(dir, "t", O_WRONLY | O_CREAT, 0600));
		fd = openat(dir, "a", O_WRONLY | O_CREAT, 0600);
		assert_int_equal(write(fd, "older", 5), 5);
		close(fd);
		assert_int_equal(outfile_replace(dir, "t", "a", 0640, sync, &text, 1,
						 &err), 0);
		fd = openat(dir, "a", O_RDONLY);
		assert_int_equal(read(fd, got, sizeof(got)), 3);
		close(fd);
		assert_string_equal(got, "new");
		assert_int_equal(unlinkat(dir, "t", 0), -1);
		assert_int_equal(unlinkat(dir, "a", 0), 0);
		assert_int_equal(mkdirat(dir, "a", 0700), 0);
		assert_true(outfile_replace(dir, "t", "a", 0640, sync, &text, 1,
					    &err) < 0);
		assert_int_equal(fstatat(dir, "a", &st, 0), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_int_equal(unlinkat(dir, "t", 0), -1);
		assert_int_equal(unlinkat(dir, "a", AT_REMOVEDIR), 0);
	}
	no_flags = false;
	close(dir);
}

int main(void)
{
#define WITH_SCRATCH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_SCRATCH(reads_what_was_written),
		WITH_SCRATCH(loads_by_size),
		WITH_SCRATCH(reads_at_offsets),
		WITH_SCRATCH(limit_is_exact),
		WITH_SCRATCH(empty_file_is_empty),
		cmocka_unit_test(proc_files_have_content),
		WITH_SCRATCH(fifo_does_not_hang),
		WITH_SCRATCH(writer_of_fifo_stays_blocked),
		WITH_SCRATCH(socket_is_refused),
		WITH_SCRATCH(devices_and_folders_are_refused),
		cmocka_unit_test(descriptor_of_a_pipe_is_read),
		cmocka_unit_test(write_errors_name_the_file),
		WITH_SCRATCH(folders_of_others_are_refused),
		WITH_SCRATCH(renaming_replaces_nothing),
		WITH_SCRATCH(replacing_is_whole),
	};

	return cmocka_run_group_tests_name("base io", tests, NULL, NULL);
}
