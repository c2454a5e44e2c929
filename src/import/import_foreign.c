// SPDX-License-Identifier: GPL-2.0-or-later
/* Imports profiles that contain symbols, by the reader of their format. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/io.h"
#include "import/foreign.h"
#include "profile/reader.h"

enum { HEAD = 4096 };		/* bytes by which a format is recognized */

/* The text of a file. */
struct text {
	const uint8_t *p;
	size_t n;
	struct buf own;		/* unpacked text */
};

static bool is_gzip(const uint8_t *p, size_t n)
{
	return n > 2 && p[0] == 0x1f && p[1] == 0x8b;
}

static int too_much(uint64_t most, const char *name, struct error *err)
{
	return error_set(err, ERR_FORMAT, "%s: it takes more than %llu MB "
			 "unpacked; --max-memory SIZE allows more", name,
			 (unsigned long long)(most >> 20));
}

static int unpack(struct text *t, uint64_t most, const char *name,
		  struct error *err)
{
	enum { STEP = 1 << 18 };
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)t->p,
		       .avail_in = t->n < UINT32_MAX ? (uInt)t->n : UINT32_MAX };
	int state = inflateInit2(&z, 15 + 32), rc = 0;

	if (state != Z_OK)
		return foreign_nomem(name, err);
	while (!rc && state != Z_STREAM_END) {
		uint8_t *room = buf_room(&t->own, STEP);

		if (!room) {
			rc = foreign_nomem(name, err);
			break;
		}
		z.next_out = room;
		z.avail_out = STEP;
		state = inflate(&z, Z_NO_FLUSH);
		t->own.n += STEP - z.avail_out;
		if (state != Z_OK && state != Z_STREAM_END)
			rc = error_set(err, ERR_FORMAT, "%s: damaged compressed "
				       "bytes", name);
		if (!rc && t->own.n > most)
			rc = too_much(most, name, err);
	}
	inflateEnd(&z);
	t->p = t->own.p;
	t->n = t->own.n;
	return rc;
}

static const struct foreign_format {
	const char *source;
	bool (*is)(const uint8_t *p, size_t n);
	int (*read)(struct foreign *f, const uint8_t *p, size_t n,
		    const char *name, struct error *err);
} formats[] = {
	{ "pprof", pprof_file_is, pprof_file_read },
	{ "Firefox Profiler", firefox_file_is, firefox_file_read },
	{ "perf script", perf_text_is, perf_text_read },
};

/* Returns the format of a text, or NULL. */
static const struct foreign_format *format_of(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (formats[i].is(p, n))
			return &formats[i];
	return NULL;
}

bool import_is_foreign(const char *path)
{
	int fd = io_open_file(path, NULL);
	uint8_t head[HEAD];
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (fd >= 0)
		close(fd);
	return n > 0 && (is_gzip(head, (size_t)n) ||
			 format_of(head, (size_t)n));
}

int import_foreign(const char *path, int fd, const char *name,
		   const struct import_options *o, struct import_result *out,
		   struct error *err)
{
	struct foreign f = { .result = out };
	const struct foreign_format *format;
	struct text text;
	struct io_map map;
	struct stat st;
	uint64_t most;
	int rc = io_map_file(path, &map, err);

	memset(out, 0, sizeof(*out));
	if (rc < 0)
		return rc;
	if (map.owner && map.owner != geteuid() && !o->trust) {
		io_unmap(&map);
		return error_set(err, ERR_FORMAT, "%s belongs to another user, and "
				 "the source files that it names would be "
				 "opened later: 'tally import "
				 "--trust-recording' does that", path);
	}
	text = (struct text){ .p = map.p, .n = map.n };
	most = o->max_memory ? o->max_memory : reader_usual_memory(map.n);
	if (is_gzip(text.p, text.n))
		rc = unpack(&text, most, path, err);
	f.room = most - text.own.n;
	format = rc ? NULL : format_of(text.p, text.n);
	if (!rc && !format)
		rc = error_set(err, ERR_FORMAT, "%s: neither pprof, nor a profile "
			       "of the Firefox Profiler, nor the text of perf "
			       "script", path);
	if (!rc && foreign_begin(&f, o->version, format->source) < 0)
		rc = foreign_nomem(path, err);
	if (!rc && !stat(path, &st))
		f.p.runs.v[0].start_wall_ns =
			(uint64_t)clock_ns(st.st_mtim);
	if (!rc)
		rc = writer_open_fd(fd, name, &f.p, &f.w, err) ?:
		     format->read(&f, text.p, text.n, path, err);
	if (!rc && !out->samples)
		rc = error_set(err, ERR_FORMAT, "%s: no samples in it", path);
	if (!rc && foreign_symbols(&f) < 0)
		rc = foreign_nomem(path, err);
	if (!rc)
		rc = writer_finish(f.w, err);
	if (f.full)
		rc = too_much(most, path, err);
	out->max_memory = most;
	foreign_end(&f);
	buf_fini(&text.own);
	io_unmap(&map);
	return rc;
}
