// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the kernel's symbols in memory: see kallsyms_kept.h. */
#include "symbolize/kernel/kallsyms_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"

enum { KEPT_LIMIT = 64 << 20, MODULES_LIMIT = 16 << 20 };

/* Precedes the text. */
struct head {
	uint64_t modules;	/* their hash */
	uint64_t bytes;		/* size of the text; 0: none, or being written */
};

int kallsyms_keep(void)
{
	int fd = memfd_create("tally-kallsyms", MFD_CLOEXEC), high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

/* Locks of fcntl(2) belong to one process; forked ones would share those of
 * flock(2). */
static bool lock(int fd, short how, bool wait)
{
	struct flock l = { .l_type = how, .l_whence = SEEK_SET };
	int rc;

	do
		rc = fcntl(fd, wait ? F_SETLKW : F_SETLK, &l);
	while (rc < 0 && errno == EINTR);
	return rc == 0;
}

/* Hashes names and addresses of modules.  Lines: name size users dependencies state
 * address.  The users change all the time.  Kernels without modules have no such
 * file. */
static bool hash_modules(const char *path, uint64_t *out)
{
	struct buf b = { 0 };
	struct error ignored;
	const char *p, *end;
	bool good;

	*out = 1;
	if (access(path, F_OK) < 0)
		return errno == ENOENT;
	good = io_read_file(path, MODULES_LIMIT, &b, &ignored) == 0;
	p = buf_cstr(&b);
	for (; good && *p; p = end + (*end == '\n')) {
		const char *address;

		end = p + strcspn(p, "\n");
		address = memmem(p, (size_t)(end - p), " 0x", 3);
		*out = hash_mix(*out, hash_bytes(p, strcspn(p, " \n")));
		if (address)
			*out = hash_mix(*out, hash_bytes(
					address, (size_t)(end - address)));
	}
	good = good && !b.failed;
	buf_fini(&b);
	return good;
}

static bool is_kept(int fd, uint64_t modules)
{
	struct head h;

	return pread(fd, &h, sizeof(h), 0) == sizeof(h) && h.bytes &&
	       h.modules == modules;
}

static bool put_head(int fd, const struct head *h)
{
	return pwrite(fd, h, sizeof(*h), 0) == sizeof(*h);
}

/* Copies the text part by part: all of it is megabytes. */
static bool copy_text(const char *path, int to, uint64_t *bytes)
{
	int from = io_open_file(path, NULL);
	char part[16 << 10];
	ssize_t n = -1;

	while (from >= 0 && *bytes <= KEPT_LIMIT) {
		n = read(from, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || pwrite(to, part, (size_t)n,
				     (off_t)(sizeof(struct head) + *bytes)) != n)
			break;
		*bytes += (uint64_t)n;
	}
	if (from >= 0)
		close(from);
	return n == 0;
}

/* Keeps the text of these modules, unless another process uses an older one now.  The
 * head is written last, so a process that dies leaves no text. */
static void keep(int fd, const char *path, const char *modules, uint64_t hash)
{
	struct head h = { .modules = hash };
	uint64_t after;

	if (!lock(fd, F_WRLCK, false))
		return;
	/* a module may be loaded meanwhile */
	if (put_head(fd, &h) && !ftruncate(fd, sizeof(h)) &&
	    copy_text(path, fd, &h.bytes) && hash_modules(modules, &after) &&
	    after == hash)
		put_head(fd, &h);
	lock(fd, F_UNLCK, false);
}

enum { NOT_KEPT = 2 };

/* Reads the text of these modules; returns NOT_KEPT if there is none. */
static int read_kept(int kept, uint64_t modules, const uint64_t *offsets, size_t n,
		     struct kallsyms **out, struct error *err)
{
	const off_t text = sizeof(struct head);
	int rc = NOT_KEPT, fd = -1;

	if (!lock(kept, F_RDLCK, true))
		return NOT_KEPT;
	if (is_kept(kept, modules))
		fd = io_open_at(kept);	/* forked processes share the position of `kept` */
	if (fd >= 0 && lseek(fd, text, SEEK_SET) == text)
		rc = kallsyms_read(fd, "kallsyms", offsets, n, out, err);
	if (offsets && rc && rc != NOT_KEPT && lseek(fd, text, SEEK_SET) == text)
		rc = kallsyms_read(fd, "kallsyms", NULL, 0, out, err);
	if (fd >= 0)
		close(fd);
	lock(kept, F_UNLCK, false);
	return rc;
}

int kallsyms_open_kept(int kept, const char *path, const char *modules,
		       const uint64_t *offsets, size_t n, struct kallsyms **out,
		       struct error *err)
{
	uint64_t hash;
	bool known = hash_modules(modules, &hash);
	int rc = known ? read_kept(kept, hash, offsets, n, out, err) : NOT_KEPT;

	if (known && rc == NOT_KEPT) {
		keep(kept, path, modules, hash);
		rc = read_kept(kept, hash, offsets, n, out, err);
	}
	if (rc != NOT_KEPT)
		return rc;
	return offsets ? kallsyms_open_some(path, NULL, offsets, n, out, err)
		       : kallsyms_open(path, KALLSYMS_ALL, out, err);
}
