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

static bool read_text(int fd, uint64_t modules, struct buf *text)
{
	uint8_t *room = NULL;
	struct head h;
	bool good;

	if (!lock(fd, F_RDLCK, true))
		return false;
	good = pread(fd, &h, sizeof(h), 0) == sizeof(h) && h.bytes &&
	       h.bytes <= KEPT_LIMIT && h.modules == modules;
	if (good)
		room = buf_room(text, h.bytes);
	while (room && text->n < h.bytes) {
		ssize_t n = pread(fd, room + text->n, h.bytes - text->n,
				  (off_t)(sizeof(h) + text->n));

		if (n <= 0)
			break;
		text->n += (size_t)n;
	}
	lock(fd, F_UNLCK, false);
	return room && text->n == h.bytes;
}

static bool put_head(int fd, const struct head *h)
{
	return pwrite(fd, h, sizeof(*h), 0) == sizeof(*h);
}

/* Keeps the text unless another process uses the old one now.  The head is written
 * last, so a process that dies leaves no text. */
static void write_text(int fd, uint64_t modules, const struct buf *text)
{
	struct head h = { .modules = modules };
	struct error ignored;

	if (text->n > KEPT_LIMIT || !lock(fd, F_WRLCK, false))
		return;
	if (put_head(fd, &h) && ftruncate(fd, sizeof(h)) == 0 &&
	    lseek(fd, sizeof(h), SEEK_SET) == sizeof(h) &&
	    io_write_all(fd, "memory", text->p, text->n, &ignored) == 0) {
		h.bytes = text->n;
		put_head(fd, &h);
	}
	lock(fd, F_UNLCK, false);
}

/* Gives the kept text, or reads and keeps it. */
static int get_text(int kept, const char *path, const char *modules, struct buf *text,
		    struct error *err)
{
	uint64_t before, after;
	bool known = hash_modules(modules, &before);
	int rc;

	if (known && read_text(kept, before, text))
		return 0;
	buf_reset(text);
	rc = io_read_file(path, KEPT_LIMIT, text, err);
	/* a module may have been loaded meanwhile */
	if (!rc && known && hash_modules(modules, &after) && before == after)
		write_text(kept, before, text);
	return rc;
}

int kallsyms_open_kept(int kept, const char *path, const char *modules,
		       const uint64_t *offsets, size_t n, struct kallsyms **out,
		       struct error *err)
{
	struct buf text = { 0 };
	struct error ignored;
	int rc;

	*out = NULL;
	rc = get_text(kept, path, modules, &text, err);
	if (!rc && offsets && !kallsyms_take(&text, offsets, n, out, &ignored))
		return 0;
	if (!rc && offsets)
		rc = get_text(kept, path, modules, &text, err);
	if (!rc)
		return kallsyms_take(&text, NULL, 0, out, err);
	buf_fini(&text);
	return rc;
}
