// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes output files: see outfile.h. */
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum { ATTEMPTS = 100, NAME_PART = 200, NUMBER = 8 };

#define PART_END ".tally-part"

/* Returns the descriptor that a path of /dev names, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	char *end;
	long n;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (int i = 0; i < 2; i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(path, folders[i], len) || path[len] < '0' ||
		    path[len] > '9')
			continue;
		n = strtol(path + len, &end, 10);
		return *end || n > 1000000 ? -1 : (int)n;
	}
	return -1;
}

static int cannot(const char *path, int errnum, struct error *err)
{
	return error_errno(err, errnum, "cannot write %s%s", path,
			   strchr(path, '/') || (errnum != EACCES &&
						 errnum != EROFS) ? ""
			   : " here (-o FILE writes elsewhere)");
}

static int refuse_link(const char *path, struct error *err)
{
	char target[256];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = 0;
	return error_set(err, ERR_IO, "cannot write %s: a symbolic link to %s, "
			 "and nothing is written through links; remove it, or "
			 "name the file itself", path, target);
}

/* Locks a file, until its last descriptor is closed, to mark it as in use.
 * Returns false if it is already locked or was removed meanwhile. */
static bool lock(int fd)
{
	struct stat st;

	return (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) &&
	       (fstat(fd, &st) < 0 || st.st_nlink);
}

/* Returns whether open_beside would create `name` for the file whose name is
 * the `n` bytes at `of`. */
static bool is_part_of(const char *name, const char *of, size_t n)
{
	return name[0] == '.' && !strncmp(name + 1, of, n) &&
	       name[1 + n] == '.' &&
	       strspn(name + 2 + n, "0123456789abcdef") == NUMBER &&
	       !strcmp(name + 2 + n + NUMBER, PART_END);
}

/* Removes the file left by a killed process, unless another process is writing
 * it. */
static void remove_unused(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY |
			O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

/* Removes temporary files for `name` in a folder that killed processes left. */
static void tidy(const char *folder, const char *name)
{
	size_t n = strnlen(name, NAME_PART);
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (is_part_of(e->d_name, name, n))
			remove_unused(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}

/* Returns the part of a path behind its folder. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the folder of a path, which the caller frees; NULL if out of memory. */
static char *folder_of(const char *path)
{
	const char *name = name_of(path);

	return name == path ? strdup(".") : strndup(path, (size_t)(name - path));
}

static void tidy_beside(const char *path)
{
	char *folder = folder_of(path);

	if (folder)
		tidy(folder, name_of(path));
	free(folder);
}

/* Sets a temporary name in the folder of the file.  Each attempt gets another one.
 * Returns false if out of memory. */
static bool choose_temp(struct outfile *f, int attempt)
{
	const char *name = name_of(f->path);
	unsigned int number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (unsigned int)(getpid() + attempt);
	free(f->temp);
	if (asprintf(&f->temp, "%.*s.%.*s.%08x" PART_END, (int)(name - f->path),
		     f->path, NAME_PART, name, number) < 0)
		f->temp = NULL;
	return f->temp != NULL;
}

/* Opens a new file without a name in the folder of `path`; it disappears if the process
 * ends.  Returns false if the file system has no such files, or without /proc, where
 * they could not be named later. */
static bool open_unnamed(struct outfile *f, mode_t mode)
{
	char *folder = folder_of(f->path);
	char link[IO_DESCRIPTOR_PATH];

	if (folder)
		f->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC | O_NOCTTY, mode);
	free(folder);
	if (f->fd < 0)
		return false;
	io_descriptor_path(f->fd, link);
	if (!access(link, F_OK) && choose_temp(f, 0)) {
		flock(f->fd, LOCK_EX | LOCK_NB);
		return f->unnamed = true;
	}
	close(f->fd);
	f->fd = -1;
	return false;
}

int outfile_name(struct outfile *f, struct error *err)
{
	char link[IO_DESCRIPTOR_PATH];

	io_descriptor_path(f->fd, link);
	for (int i = 0; f->unnamed; i++) {
		if (!linkat(AT_FDCWD, link, AT_FDCWD, f->temp, AT_SYMLINK_FOLLOW))
			f->unnamed = false;
		else if (errno != EEXIST || i == ATTEMPTS)
			return cannot(f->path, errno, err);
		else if (!choose_temp(f, i + 1))
			return error_nomem(err);
	}
	return 0;
}

/* Opens a new file in the folder of `path`. */
static int open_beside(struct outfile *f, mode_t mode)
{
	if (open_unnamed(f, mode))
		return 0;
	for (int i = 0; i < ATTEMPTS; i++) {
		int e;

		if (!choose_temp(f, i))
			return -ENOMEM;
		f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
			     O_CLOEXEC | O_NOCTTY, mode);
		if (f->fd >= 0 && lock(f->fd))
			return 0;
		e = f->fd < 0 ? errno : EEXIST;
		if (f->fd >= 0)
			close(f->fd);
		f->fd = -1;
		free(f->temp);
		f->temp = NULL;
		if (e != EEXIST)
			return -e;
	}
	return -EEXIST;
}

/* Opens an existing file that is written in place: a pipe, a device, or a file
 * in a folder where tally may not create files.  `kind` (S_IFMT) is what it was before:
 * another user may have replaced it. */
static int open_in_place(struct outfile *f, mode_t kind, int flags,
			 struct error *err)
{
	struct stat st;

	f->fd = open(f->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
		     flags);
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return cannot(f->path, errno, err);
	if ((st.st_mode & S_IFMT) != kind)
		return error_set(err, ERR_IO, "cannot write %s: it was replaced "
				 "meanwhile; use another name", f->path);
	return 0;
}

/* Opens the character device behind a link of the system: in /dev, and not in a folder
 * where others may make links (/dev/shm, /dev/mqueue).  Its kind is checked before it is
 * opened.  Returns false if it is another link. */
static bool open_device(struct outfile *f)
{
	char *folder = strncmp(f->path, "/dev/", 5) ? NULL : folder_of(f->path);
	int dir = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int at = -1;
	struct stat st;
	char link[IO_DESCRIPTOR_PATH];

	if (dir >= 0 && !fstat(dir, &st) && !st.st_uid &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		at = openat(dir, name_of(f->path), O_PATH | O_CLOEXEC);
	if (at >= 0 && !fstat(at, &st) && S_ISCHR(st.st_mode)) {
		io_descriptor_path(at, link);
		f->fd = open(link, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (at >= 0)
		close(at);
	if (dir >= 0)
		close(dir);
	free(folder);
	return f->fd >= 0;
}

static int open_regular(struct outfile *f, bool in_place, bool private_mode,
			struct error *err)
{
	int rc = open_beside(f, private_mode ? 0600 : 0666);

	if (!rc) {
		tidy_beside(f->path);
		return 0;
	}
	if (in_place && (rc == -EACCES || rc == -EPERM || rc == -EROFS) &&
	    !access(f->path, W_OK))
		return open_in_place(f, S_IFREG, O_TRUNC, err);
	return cannot(f->path, -rc, err);
}

static int open_path(struct outfile *f, bool private_mode, struct error *err)
{
	struct stat st;
	int fd = descriptor_of(f->path);

	if (fd >= 0) {
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		return f->fd < 0 ? cannot(f->path, errno, err) : 0;
	}
	if (!*f->path)
		return cannot("\"\"", ENOENT, err);
	if (lstat(f->path, &st) < 0)
		return errno == ENOENT
		       ? open_regular(f, false, private_mode, err)
		       : cannot(f->path, errno, err);
	/* A file that only its owner may read is a recording.  It must not be
	 * truncated to make room for another one, or for its own copy. */
	if (S_ISREG(st.st_mode))
		return open_regular(f, !private_mode || !st.st_size,
				    private_mode, err);
	if (S_ISDIR(st.st_mode))
		return cannot(f->path, EISDIR, err);
	if (S_ISLNK(st.st_mode))
		return open_device(f) ? 0 : refuse_link(f->path, err);
	if (S_ISBLK(st.st_mode))
		return error_set(err, ERR_IO, "cannot write %s: a disk",
				 f->path);
	return open_in_place(f, st.st_mode & S_IFMT, 0, err);
}

int outfile_open(struct outfile *f, const char *path, bool private_mode,
		 struct error *err)
{
	int rc;

	*f = (struct outfile){ .fd = -1 };
	if (!strcmp(path, "-"))
		return error_set(err, ERR_USAGE, "'-': this cannot be written to standard "
				 "output: name a file (./- for one of this name)");
	f->path = strdup(path);
	if (!f->path)
		return error_nomem(err);
	rc = open_path(f, private_mode, err);
	if (rc < 0)
		outfile_drop(f);
	return rc;
}

int outfile_keep(struct outfile *f, const char *keep, struct error *err)
{
	free(f->keep);
	f->keep = strdup(keep);
	return f->keep ? 0 : error_nomem(err);
}

/* Renames `from` to `to`; if another file has that name, it is renamed to
 * `from` and *other is set.  Returns 0 or an errno. */
static int swap(const char *from, const char *to, bool *other)
{
	*other = true;
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE))
		return 0;
	if (errno != ENOENT)
		return errno;
	*other = false;
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE)
	       ? errno : 0;
}

static void unswap(const char *from, const char *to, bool other)
{
	if (other)
		renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE);
	else
		renameat2(AT_FDCWD, to, AT_FDCWD, from, RENAME_NOREPLACE);
}

/* Exchanges names with the older file via the name `keep`, so that the older
 * file never has an unknown name. */
static int swap_names(struct outfile *f)
{
	int e;

	if (!f->keep)
		return swap(f->temp, f->path, &f->displaced);
	e = swap(f->temp, f->keep, &f->displaced);
	if (e)
		return e;
	if (!renameat2(AT_FDCWD, f->keep, AT_FDCWD, f->path, RENAME_EXCHANGE))
		return 0;
	e = errno;
	unswap(f->temp, f->keep, f->displaced);
	return e;
}

int outfile_try(struct outfile *f, struct error *err)
{
	int e;

	if (!f->temp || f->tried)
		return 0;
	e = outfile_name(f, err);
	if (e)
		return e;
	e = swap_names(f);
	if (e == EINVAL || e == ENOSYS || e == EPERM)
		return 0;
	if (e)
		return cannot(f->path, e, err);
	f->tried = true;
	/* Hold the older file open until it is kept, deleted or restored. */
	f->older = open(f->temp, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |
			O_NONBLOCK);
	if (f->older >= 0)
		lock(f->older);
	return 0;
}

static void close_older(struct outfile *f)
{
	if (f->tried && f->older >= 0)
		close(f->older);
	f->older = -1;
}

int outfile_place(struct outfile *f, struct error *err)
{
	int rc = outfile_name(f, err);

	if (rc || !f->temp)
		return rc;
	if (f->tried) {
		unlink(f->temp);
	} else {
		if (f->keep && rename(f->path, f->keep) < 0)
			return error_errno(err, errno, "cannot keep %s as %s",
					   f->path, f->keep);
		if (rename(f->temp, f->path) < 0)
			return cannot(f->path, errno, err);
	}
	close_older(f);
	free(f->temp);
	f->temp = NULL;
	return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Appends a name that the file has in the folder of `path`, or how to find it. */
static void where_is(const char *path, const struct stat *file, struct buf *out)
{
	char *folder = folder_of(path);
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)) != NULL)
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    is_same(&st, file))
			break;
	if (d && e)
		buf_printf(out, "%.*s%s", (int)(name_of(path) - path), path, e->d_name);
	else
		buf_printf(out, "another folder (find -inum %llu)",
			   (unsigned long long)file->st_ino);
	if (d)
		closedir(d);
	free(folder);
}

int outfile_check(const struct outfile *f, struct error *err)
{
	struct stat ours, named;
	struct buf now = { 0 };

	if (fstat(f->fd, &ours) < 0 || !S_ISREG(ours.st_mode))
		return 0;
	if (!stat(f->path, &named) ? is_same(&named, &ours)
				   : errno != ENOENT && errno != ENOTDIR)
		return 0;
	if (!ours.st_nlink)
		return error_set(err, ERR_IO, "%s was removed while it was written: its "
				 "contents are lost", f->path);
	where_is(f->path, &ours, &now);
	error_set(err, ERR_IO, "%s was renamed, or replaced by another process, while it was "
		  "written: its contents are in %s", f->path, buf_cstr(&now));
	buf_fini(&now);
	return -ERR_IO;
}

int outfile_close(struct outfile *f, struct error *err)
{
	int fd = f->fd, held, rc;

	if (fd < 0)
		return outfile_place(f, err);
	rc = outfile_name(f, err);
	/* A second descriptor holds the lock until the file has its final
	 * name. */
	held = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	f->fd = -1;
	if (close(fd) < 0 && !rc)
		rc = cannot(f->path, errno, err);
	if (!rc)
		rc = outfile_place(f, err);
	if (held >= 0)
		close(held);
	outfile_drop(f);
	return rc;
}

/* Restores the names that all files had before outfile_try. */
static void take_back(struct outfile *f)
{
	if (f->keep)
		renameat2(AT_FDCWD, f->keep, AT_FDCWD, f->path,
			  RENAME_EXCHANGE);
	unswap(f->temp, f->keep ? f->keep : f->path, f->displaced);
}

void outfile_drop(struct outfile *f)
{
	if (f->temp && f->tried)
		take_back(f);
	if (f->temp && !f->unnamed)
		unlink(f->temp);
	if (f->fd >= 0)
		close(f->fd);
	close_older(f);
	free(f->temp);
	free(f->keep);
	free(f->path);
	*f = (struct outfile){ .fd = -1 };
}

int outfile_write(const char *path, const void *p, size_t n, struct error *err)
{
	struct outfile f;
	int rc = outfile_open(&f, path, false, err) ?:
		 io_write_all(f.fd, path, p, n, err);

	if (!rc)
		return outfile_close(&f, err);
	outfile_drop(&f);
	return rc;
}

/* Renames `from` to `to`, which may exist.  Without `sync`, `to` takes the new file's place
 * first: a file system (ext4) that finds a new file renamed over an older one writes it
 * to the disk at once.  Returns 0 or -1 with errno. */
static int rename_over(int dir, const char *from, const char *to, bool sync)
{
	int code;

	if (sync || renameat2(dir, from, dir, to, RENAME_EXCHANGE))
		return renameat(dir, from, dir, to);
	if (!unlinkat(dir, from, 0))
		return 0;
	code = errno;	/* `to` was a folder */
	renameat2(dir, from, dir, to, RENAME_EXCHANGE);
	errno = code;
	return -1;
}

int outfile_replace(int dir, const char *temp, const char *name, unsigned int mode,
		    bool sync, const struct iovec *parts, size_t n, struct error *err)
{
	int fd, rc, code;

	unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    mode);
	rc = fd < 0 ? error_errno(err, errno, "%s", temp) : 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = io_write_all(fd, name, parts[i].iov_base, parts[i].iov_len, err);
	if (!rc && sync && fsync(fd) < 0)
		rc = error_errno(err, errno, "%s", name);
	code = errno;
	if (fd >= 0)
		close(fd);
	if (!rc && (rename_over(dir, temp, name, sync) < 0 || (sync && fsync(dir) < 0))) {
		code = errno;
		rc = error_errno(err, code, "%s", name);
	}
	if (rc)
		unlinkat(dir, temp, 0);
	errno = code;
	return rc;
}

/* Renames by a link, which never replaces a file.  Returns 0 or an errno. */
static int rename_by_link(int dir, const char *from, const char *to)
{
	int e;

	if (linkat(dir, from, dir, to, 0) < 0)
		return errno;
	if (!unlinkat(dir, from, 0))
		return 0;
	e = errno;
	unlinkat(dir, to, 0);
	return e;
}

int outfile_rename(int dir, const char *from, const char *to)
{
	struct stat st;
	int e;

	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	e = rename_by_link(dir, from, to);
	if (!e || e == EEXIST || e == ENOENT)
		return e;
	if (!fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW))
		return EEXIST;
	return renameat(dir, from, dir, to) < 0 ? errno : 0;
}

int outfile_folder(const char *path, unsigned int mode, const char *what,
		   struct error *err)
{
	struct stat st;
	int fd, rc;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot make %s %s", what, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "%s", path);
	if (fstat(fd, &st) < 0)
		rc = error_errno(err, errno, "%s", path);
	else if (st.st_uid != geteuid())
		rc = error_set(err, ERR_PERM, "%s belongs to another user (%u), "
			       "who could change what is in it; name a folder "
			       "of your own as %s", path,
			       (unsigned int)st.st_uid, what);
	else if (st.st_mode & S_IWOTH)
		rc = error_set(err, ERR_PERM, "all users may write to %s; use "
			       "chmod o-w, or name another folder as %s", path,
			       what);
	else
		return fd;
	close(fd);
	return rc;
}
