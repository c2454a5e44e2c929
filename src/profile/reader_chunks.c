// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the chunks of a file: see reader_internal.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/reader_internal.h"

enum {
	FORGET_STEP = 256 << 10,	/* bytes of the file that are scanned before
					 * their pages are released */
	ZLIB_MOST = 1100,		/* zlib compresses by no larger factor */
	END_MOST = 1 << 20,		/* bytes of an END chunk; it has two numbers */
};

/* Reports that the file is not a recording; recognizes some common formats to
 * suggest what to do. */
static int not_ours(const struct reader *r, struct error *err)
{
	const char *what = "";

	if (!r->n)
		what = ": it is empty";
	else if (r->n >= 8 && !memcmp(r->p, FORMAT_MAGIC_EARLY, 8))
		what = ", but one of a development version before format 1.0: "
		       "record again";
	else if (r->n >= 8 && (!memcmp(r->p, "PERFILE2", 8) ||
			       !memcmp(r->p, "2ELIFREP", 8)))
		what = ", but a perf.data file: 'perf report -i' reads it";
	else if (r->n >= 4 && !memcmp(r->p, "\177ELF", 4))
		what = ", but a program: 'tally record -- PROGRAM' records it";
	return error_set(err, ERR_FORMAT, "%s: not a tally recording%s",
			 r->name, what);
}

int reader_check_header(struct reader *r, struct error *err)
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

void reader_forget_pages(const struct reader *r, size_t from, size_t to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t a = (uintptr_t)(r->p + from) & ~(page - 1);
	uintptr_t b = (uintptr_t)(r->p + to) & ~(page - 1);

	if (r->map.p && !r->map.copied && a < b)
		(void)madvise((void *)a, b - a, MADV_DONTNEED);
}

/* Checks the numbers of chunks.  A missing number was a chunk (it may have held
 * rows), even if no damaged bytes remain. */
static void check_sequence(struct reader *r)
{
	uint32_t want = 0;

	for (size_t i = 0; i < r->chunks.n; i++) {
		if (r->chunks.v[i].seq != want && !r->damage.bad_chunks)
			reader_note_damage(r, r->chunks.v[i].offset, 0);
		want = r->chunks.v[i].seq + 1;
	}
}

/* Finds the chunks by their headers; after damage, searches byte by byte for
 * the next valid header. */
int reader_find_chunks(struct reader *r, size_t at)
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
				reader_note_damage(r, bad_from, at - bad_from);
			in_damage = false;
			c.offset = at;
			if (vec_push(&r->chunks, c) < 0)
				return -ERR_NOMEM;
			at += CHUNK_HEADER + c.stored;
			if (at - seen >= FORGET_STEP) {
				reader_forget_pages(r, seen, at);
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
	/* "incomplete" already covers a truncated end. */
	if (in_damage && !r->damage.incomplete)
		reader_note_damage(r, bad_from, r->n - bad_from);
	check_sequence(r);
	r->counted = calloc(r->chunks.n + 1, 1);
	return r->counted ? 0 : -ERR_NOMEM;
}

bool reader_payload_good(const struct reader *r, const struct chunk *c)
{
	return format_crc(r->p + c->offset + CHUNK_HEADER, c->stored) ==
	       c->payload_crc;
}

bool reader_all_good(const struct reader *r)
{
	size_t seen = 0;

	for (size_t i = 0; i < r->chunks.n; i++) {
		const struct chunk *c = &r->chunks.v[i];
		size_t end = c->offset + CHUNK_HEADER + c->stored;

		if (!reader_payload_good(r, c))
			return false;
		if (end - seen >= FORGET_STEP) {
			reader_forget_pages(r, seen, end);
			seen = end;
		}
	}
	return true;
}

const uint8_t *reader_payload(const struct reader *r, const struct chunk *c,
			      uint8_t **room)
{
	const uint8_t *p = r->p + c->offset + CHUNK_HEADER;

	*room = NULL;
	if (!reader_payload_good(r, c))
		return NULL;
	if (c->codec == CODEC_STORED)
		return p;
	if (c->codec != CODEC_ZLIB || c->raw / ZLIB_MOST > c->stored)
		return NULL;
	*room = malloc(c->raw ? c->raw : 1);
	if (*room && format_inflate(p, c->stored, *room, c->raw))
		return *room;
	free(*room);
	*room = NULL;
	return NULL;
}

/* Compares the contents with the counts in the end mark. */
void reader_check_end(struct reader *r)
{
	const struct chunk *c;
	const uint8_t *p;
	uint8_t *room = NULL;
	uint64_t samples;
	struct cursor body;

	if (r->damage.incomplete)
		return;
	c = &r->chunks.v[r->chunks.n - 1];
	p = c->raw <= END_MOST ? reader_payload(r, c, &room) : NULL;
	body = cursor_of(p, !p ? 0 : room ? c->raw : c->stored);
	(void)cursor_uleb(&body);	/* SECTION_END */
	(void)cursor_uleb(&body);	/* length of the section */
	samples = cursor_uleb(&body);
	if (body.bad)
		reader_note_damage(r, c->offset, CHUNK_HEADER + c->stored);
	else if (samples > r->samples)
		r->damage.bad_samples += samples - r->samples;
	free(room);
}
