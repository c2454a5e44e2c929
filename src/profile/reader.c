// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading .tally files: see reader.h and format.h.  The file is hostile. */
#include "profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "profile/columns.h"
#include "profile/format.h"
#include "profile/paths.h"

/* Rows that may be missing before a table section once damage was seen. */
enum { MAX_GAP = 1 << 20 };
/* What a chunk unpacks to is bounded by its own size, and by the file's: real
 * ones unpack to 7 times as much at most, a file to 5 times its size. */
enum {
	CODED_ROWS_A_BYTE = 64,		/* of a chunk: coded bits do not deflate */
	CODED_ROWS_MORE = 1024,
	UNPACKED_A_BYTE = 64,		/* of the file, and … */
	UNPACKED_MORE = 32 << 20,
};
/* Bytes of the file that are looked over before their pages are given back. */
enum { FORGET_STEP = 256 << 10 };

struct reader {
	struct io_map map;
	bool own_map;
	char *name;
	const uint8_t *p;
	size_t n;
	VEC(struct chunk) chunks;	/* those with a good header, in order */
	struct profile profile;
	struct paths *paths;		/* while tables are loaded */
	uint64_t unpacked;		/* bytes of chunks so far */
	struct reader_damage damage;
	uint64_t samples;
	unsigned int mask;
	size_t next;			/* chunk to stream next */
	struct sample_columns columns;
	struct buf scratch;
	uint8_t *counted;		/* by chunk: its damage is counted */
};

static void note_damage(struct reader *r, uint64_t offset, uint64_t bytes)
{
	struct reader_damage *d = &r->damage;

	if (!d->bad_chunks || offset < d->first_offset)
		d->first_offset = offset;
	d->bad_chunks++;
	d->bad_bytes += bytes;
}

static void describe_damage(struct reader *r)
{
	struct reader_damage *d = &r->damage;
	size_t n = 0;

	d->message[0] = 0;
	if (d->no_memory)
		n = (size_t)snprintf(d->message, sizeof(d->message),
				     "memory ran out");
	if (d->incomplete && n < sizeof(d->message))
		n += (size_t)snprintf(
			d->message + n, sizeof(d->message) - n,
			"%srecording did not end properly: all up to its last flush is here",
			n ? "; " : "");
	if (d->bad_chunks && n < sizeof(d->message))
		n += (size_t)snprintf(
			d->message + n, sizeof(d->message) - n,
			"%s%" PRIu64 " damaged part%s (%" PRIu64
			" bytes, first at offset %" PRIu64 ") skipped",
			n ? "; " : "", d->bad_chunks,
			d->bad_chunks == 1 ? "" : "s", d->bad_bytes,
			d->first_offset);
	if (d->bad_samples && n < sizeof(d->message))
		snprintf(d->message + n, sizeof(d->message) - n,
			 "%s%" PRIu64 " samples lost with them",
			 n ? "; " : "", d->bad_samples);
}

/* What was meant may be told by what it is. */
static int not_ours(const struct reader *r, struct error *err)
{
	const char *what = "";

	if (!r->n)
		what = ": it is empty";
	else if (r->n >= 8 && (!memcmp(r->p, "PERFILE2", 8) ||
			       !memcmp(r->p, "2ELIFREP", 8)))
		what = ", but one of perf: 'perf report -i' shows it";
	else if (r->n >= 4 && !memcmp(r->p, "\177ELF", 4))
		what = ", but a program: 'tally record -- PROGRAM' makes one "
		       "of it";
	return error_set(err, ERR_FORMAT, "%s: not a tally recording%s",
			 r->name, what);
}

static int check_header(struct reader *r, struct error *err)
{
	struct cursor c = cursor_of(r->p, r->n);
	const uint8_t *magic = cursor_take(&c, 8);
	uint16_t major, minor;
	uint32_t size;

	if (!magic || memcmp(magic, FORMAT_MAGIC, 8))
		return not_ours(r, err);
	major = cursor_u16(&c);
	minor = cursor_u16(&c);
	size = cursor_u32(&c);
	if (c.bad || r->n < FORMAT_HEADER)
		return error_set(err, ERR_FORMAT,
				 "%s: cut inside its header at offset %zu",
				 r->name, r->n);
	cursor_skip(&c, 12);
	if (cursor_u32(&c) != format_crc(r->p, FORMAT_HEADER - 4))
		return error_set(err, ERR_FORMAT,
				 "%s: damaged header (checksum at offset 28)",
				 r->name);
	if (major != FORMAT_MAJOR || size < FORMAT_HEADER || size > r->n)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: format %u.%u, this tally reads %d.x",
				 r->name, major, minor, FORMAT_MAJOR);
	return (int)size;
}

/* Gives back the file's pages from one offset to another: the memory of a reader
 * must not grow with the samples, not even by pages of the file. */
static void forget_pages(const struct reader *r, size_t from, size_t to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t a = (uintptr_t)(r->p + from) & ~(page - 1);
	uintptr_t b = (uintptr_t)(r->p + to) & ~(page - 1);

	if (r->own_map && a < b)
		(void)madvise((void *)a, b - a, MADV_DONTNEED);
}

/* Finds the chunks by their headers; over damage it looks for the next valid
 * header byte by byte. */
static int find_chunks(struct reader *r, size_t at)
{
	struct chunk c;
	size_t bad_from = 0, seen = at;
	bool in_damage = false;

	while (at < r->n) {
		size_t left = r->n - at;
		bool ok = left >= CHUNK_HEADER &&
			  chunk_get_header(r->p + at, &c) &&
			  c.stored <= left - CHUNK_HEADER;

		if (ok) {
			if (in_damage)
				note_damage(r, bad_from, at - bad_from);
			in_damage = false;
			c.offset = at;
			if (vec_push(&r->chunks, c) < 0)
				return -ERR_NOMEM;
			at += CHUNK_HEADER + c.stored;
			if (at - seen >= FORGET_STEP) {
				forget_pages(r, seen, at);
				seen = at;
			}
			continue;
		}
		if (!in_damage)
			bad_from = at;
		in_damage = true;
		at++;
		while (at < r->n && r->p[at] != (CHUNK_MAGIC & 0xff))
			at++;
	}
	r->damage.incomplete = !r->chunks.n ||
		r->chunks.v[r->chunks.n - 1].kind != CHUNK_END;
	/* A cut tail is what "incomplete" says already. */
	if (in_damage && !r->damage.incomplete)
		note_damage(r, bad_from, r->n - bad_from);
	return 0;
}

static bool payload_good(const struct reader *r, const struct chunk *c)
{
	return format_crc(r->p + c->offset + CHUNK_HEADER, c->stored) ==
	       c->payload_crc;
}

/* Whether a chunk of so many bytes can hold as many coded rows as a section of it
 * says: memory is taken for all of them at once. */
static bool coded_rows_fit(uint64_t kind, struct cursor c, size_t stored)
{
	uint64_t most = (uint64_t)stored * CODED_ROWS_A_BYTE + CODED_ROWS_MORE;

	if (kind == SECTION_PACKED_SYMBOLS)
		return cursor_uleb(&c) <= most;
	if (kind != SECTION_PATHS)
		return true;
	for (int i = 0; i < 4; i++) {
		uint64_t v = cursor_uleb(&c);	/* place, loc, locs, node */

		if (i == 2 && v > most)
			return false;
	}
	return cursor_uleb(&c) <= most;
}

/* A section list into the model, from a chunk of `stored` bytes; false when
 * something in it was wrong. */
static bool load_sections(struct reader *r, const uint8_t *p, size_t n,
			  size_t stored)
{
	struct cursor c = cursor_of(p, n);
	size_t gap = r->damage.bad_chunks ? MAX_GAP : 0;
	bool good = true;

	while (cursor_left(&c)) {
		uint64_t kind = cursor_uleb(&c), length = cursor_uleb(&c);
		struct cursor body = cursor_sub(&c, length);

		if (c.bad)
			return false;
		if (!coded_rows_fit(kind, body, stored)) {
			good = false;
			continue;
		}
		good &= kind == SECTION_PATHS
			? r->paths && paths_get(r->paths, &r->profile, &body,
						gap)
			: section_get(&r->profile, kind, &body, gap);
	}
	return good;
}

static bool load_chunk(struct reader *r, const struct chunk *c)
{
	const uint8_t *p = r->p + c->offset + CHUNK_HEADER;
	uint8_t *raw;
	bool good;

	if (!payload_good(r, c))
		return false;
	if (c->codec == CODEC_STORED)
		return load_sections(r, p, c->stored, c->stored);
	if (c->codec != CODEC_ZLIB || c->raw / 1100 > c->stored)
		return false;
	if (r->unpacked + c->raw >
	    r->n * (uint64_t)UNPACKED_A_BYTE + UNPACKED_MORE)
		return false;
	r->unpacked += c->raw;
	raw = malloc(c->raw ? c->raw : 1);
	good = raw && format_inflate(p, c->stored, raw, c->raw) &&
	       load_sections(r, raw, c->raw, c->stored);
	free(raw);
	return good;
}

/* The end mark counts what came before it. */
static void check_end(struct reader *r)
{
	const struct chunk *c;
	uint64_t samples;
	struct cursor body;

	if (r->damage.incomplete)
		return;
	c = &r->chunks.v[r->chunks.n - 1];
	body = cursor_of(r->p + c->offset + CHUNK_HEADER, c->stored);
	(void)cursor_uleb(&body);	/* SECTION_END */
	(void)cursor_uleb(&body);	/* its length */
	samples = cursor_uleb(&body);
	if (!payload_good(r, c) || body.bad)
		note_damage(r, c->offset, CHUNK_HEADER + c->stored);
	else if (samples > r->samples)
		r->damage.bad_samples += samples - r->samples;
}

static void load_kind(struct reader *r, enum chunk_kind kind)
{
	for (size_t i = 0; i < r->chunks.n; i++) {
		const struct chunk *c = &r->chunks.v[i];

		if (c->kind != kind)
			continue;
		if (!load_chunk(r, c)) {
			note_damage(r, c->offset, CHUNK_HEADER + c->stored);
			r->counted[i] = 1;
		} else if (kind == CHUNK_SYMBOLS) {
			r->profile.symbolized = true;
		}
	}
}

/* Chunks are numbered: a number that is missing was a chunk (it may have held
 * rows), even where no damaged bytes are left to see. */
static void check_sequence(struct reader *r)
{
	uint32_t want = 0;

	for (size_t i = 0; i < r->chunks.n; i++) {
		if (r->chunks.v[i].seq != want && !r->damage.bad_chunks)
			note_damage(r, r->chunks.v[i].offset, 0);
		want = r->chunks.v[i].seq + 1;
	}
}

static int load(struct reader *r, struct error *err)
{
	size_t bad_refs = 0;
	int size = check_header(r, err);

	if (size < 0)
		return size;
	if (find_chunks(r, (size_t)size) < 0 ||
	    !(r->counted = calloc(r->chunks.n + 1, 1)) ||
	    !(r->paths = paths_new()) ||
	    profile_init(&r->profile) < 0)
		return error_set(err, ERR_NOMEM, "%s: out of memory", r->name);
	check_sequence(r);
	/* What reads sections says no more than that it could not; memory that
	 * ran out is no damage of the file. */
	errno = 0;
	load_kind(r, CHUNK_TABLES);
	paths_free(r->paths);
	r->paths = NULL;
	r->profile.str_base = r->profile.str.str.n;
	load_kind(r, CHUNK_SYMBOLS);
	load_kind(r, CHUNK_CODE);
	if (format_check_refs(&r->profile, &bad_refs) < 0 || errno == ENOMEM)
		return error_set(err, ERR_NOMEM, "%s: out of memory", r->name);
	if (bad_refs && !r->damage.bad_chunks)
		note_damage(r, FORMAT_HEADER, 0);
	for (size_t i = 0; i < r->chunks.n; i++)
		if (r->chunks.v[i].kind == CHUNK_SAMPLES)
			r->samples += r->chunks.v[i].rows;
	check_end(r);
	describe_damage(r);
	return 0;
}

/* Takes the map over, also when it fails; map.p is NULL for bytes of others. */
static int open_reader(struct io_map map, const void *p, size_t n,
		       const char *name, struct reader **out, struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (!r) {
		io_unmap(&map);
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	}
	r->map = map;
	r->own_map = map.p;
	r->p = p;
	r->n = n;
	r->mask = COLUMN_ALL;
	r->name = strdup(name);
	if (!r->name || columns_init(&r->columns) < 0)
		rc = error_set(err, ERR_NOMEM, "%s: out of memory", name);
	else
		rc = load(r, err);
	if (rc < 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

int reader_open_bytes(const void *p, size_t n, const char *name,
		      struct reader **out, struct error *err)
{
	return open_reader((struct io_map){ 0 }, p, n, name, out, err);
}

bool reader_is_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char magic[8];
	bool is = fd >= 0 && read(fd, magic, 8) == 8 &&
		  !memcmp(magic, FORMAT_MAGIC, 8);

	if (fd >= 0)
		close(fd);
	return is;
}

int reader_open(const char *path, struct reader **out, struct error *err)
{
	struct io_map map;
	int rc = io_map_file(path, &map, err);

	*out = NULL;
	return rc < 0 ? rc : open_reader(map, map.p, map.n, path, out, err);
}

int reader_open_fd(int fd, const char *name, struct reader **out,
		   struct error *err)
{
	struct io_map map;
	int rc = io_map_fd(fd, name, &map, err);

	*out = NULL;
	return rc < 0 ? rc : open_reader(map, map.p, map.n, name, out, err);
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	profile_fini(&r->profile);
	paths_free(r->paths);
	columns_fini(&r->columns);
	buf_fini(&r->scratch);
	vec_fini(&r->chunks);
	free(r->counted);
	if (r->own_map)
		io_unmap(&r->map);
	free(r->name);
	free(r);
}

struct profile *reader_profile(struct reader *r)
{
	return &r->profile;
}

const struct reader_damage *reader_damage(const struct reader *r)
{
	return &r->damage;
}

void reader_inherit_damage(struct reader *r, const struct reader_damage *from,
			   const char *name)
{
	struct reader_damage *d = &r->damage;
	size_t n = strlen(d->message);

	d->no_memory |= from->no_memory;
	d->incomplete |= from->incomplete;
	d->bad_chunks += from->bad_chunks;
	d->bad_bytes += from->bad_bytes;
	d->bad_samples += from->bad_samples;
	if (*from->message)
		snprintf(d->message + n, sizeof(d->message) - n, "%s%s: %s",
			 n ? "; " : "", name, from->message);
}

uint64_t reader_sample_count(const struct reader *r)
{
	return r->samples;
}

void reader_columns(struct reader *r, unsigned int mask)
{
	r->mask = mask & COLUMN_ALL;
}

void reader_rewind(struct reader *r)
{
	r->next = 0;
}

/* True when the ids of a row exist.  Columns that were not asked for are not
 * checked: nobody sees them. */
static bool row_good(const struct reader *r, size_t i)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) || c->thread[i] < p->threads.n) &&
	       (!(r->mask & COLUMN_EVENT) || c->event[i] < p->events.n) &&
	       (!(r->mask & COLUMN_STACK) || c->stack[i] < p->nodes.n);
}

static size_t max_id(const uint32_t *v, size_t n)
{
	uint32_t max = 0;

	for (size_t i = 0; i < n; i++)
		max = v[i] > max ? v[i] : max;
	return max;
}

static bool batch_good(const struct reader *r)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) ||
		max_id(c->thread, c->n) < p->threads.n) &&
	       (!(r->mask & COLUMN_EVENT) ||
		max_id(c->event, c->n) < p->events.n) &&
	       (!(r->mask & COLUMN_STACK) ||
		max_id(c->stack, c->n) < p->nodes.n);
}

/* Takes out the rows whose ids point nowhere (their rows were damaged). */
static void drop_bad_rows(struct reader *r, bool count)
{
	struct sample_columns *c = &r->columns;
	size_t k = 0;

	if (batch_good(r))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (!row_good(r, i))
			continue;
		c->time_ns[k] = c->time_ns[i];
		c->thread[k] = c->thread[i];
		c->cpu[k] = c->cpu[i];
		c->event[k] = c->event[i];
		c->weight[k] = c->weight[i];
		c->stack[k] = c->stack[i];
		k++;
	}
	if (count)
		r->damage.bad_samples += c->n - k;
	c->n = k;
}

static void *column_if(const struct reader *r, unsigned int bit, void *p)
{
	return r->mask & bit ? p : NULL;
}

static void batch_fill(const struct reader *r, struct sample_batch *out)
{
	const struct sample_columns *c = &r->columns;

	out->n = c->n;
	out->time_ns = column_if(r, COLUMN_TIME, c->time_ns);
	out->thread = column_if(r, COLUMN_THREAD, c->thread);
	out->cpu = column_if(r, COLUMN_CPU, c->cpu);
	out->event = column_if(r, COLUMN_EVENT, c->event);
	out->weight = column_if(r, COLUMN_WEIGHT, c->weight);
	out->stack = column_if(r, COLUMN_STACK, c->stack);
}

static void note_unread(struct reader *r, const struct chunk *c,
			bool first_time, bool no_memory)
{
	if (first_time) {
		note_damage(r, c->offset, CHUNK_HEADER + c->stored);
		r->damage.bad_samples += c->rows;
	}
	r->damage.no_memory |= no_memory;
	if (first_time || no_memory)
		describe_damage(r);
}

bool reader_next(struct reader *r, struct sample_batch *out)
{
	while (r->next < r->chunks.n) {
		size_t i = r->next++;
		const struct chunk *c = &r->chunks.v[i];
		bool first_time = !r->counted[i];

		if (c->kind != CHUNK_SAMPLES)
			continue;
		r->counted[i] = 1;
		errno = 0;
		if (!payload_good(r, c) || c->codec != CODEC_STORED ||
		    !columns_get(r->p + c->offset + CHUNK_HEADER, c->stored,
				 c->rows, r->mask, &r->columns, &r->scratch)) {
			note_unread(r, c, first_time, errno == ENOMEM);
			continue;
		}
		forget_pages(r, c->offset,
			     c->offset + CHUNK_HEADER + c->stored);
		drop_bad_rows(r, first_time);
		if (first_time && r->damage.bad_samples)
			describe_damage(r);
		if (!r->columns.n)
			continue;
		batch_fill(r, out);
		return true;
	}
	return false;
}

void reader_each_chunk(struct reader *r, reader_chunk_cb *cb, void *ctx)
{
	for (size_t i = 0; i < r->chunks.n; i++) {
		const struct chunk *c = &r->chunks.v[i];
		struct reader_chunk rc = {
			.offset = c->offset,
			.kind = c->kind,
			.seq = c->seq,
			.stored = c->stored,
			.raw = c->raw,
			.good = payload_good(r, c),
		};

		if (!cb(ctx, &rc))
			return;
	}
}
