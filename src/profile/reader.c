// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens .tally files and reports damage: see reader.h and format.h.  The file
 * is hostile. */
#include "profile/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "profile/columns.h"
#include "profile/format.h"

struct reader {
	struct io_map map;
	char *name;
	const uint8_t *p;
	size_t n;
	VEC(struct chunk) chunks;	/* those with a good header, in order */
	struct profile profile;
	uint64_t unpacked;		/* bytes of decompressed chunks so far */
	uint64_t refused;		/* offset of the chunk whose rows need more
					 * memory than profile.memory allows */
	struct reader_damage damage;
	/* First equal node, by node; NULL if no two nodes are equal. */
	uint32_t *same;
	uint64_t samples;
	unsigned int mask;
	uint64_t max_memory;		/* bytes for tables; 0: no limit */
	size_t next;			/* chunk to stream next */
	uint32_t streamed;		/* kind of the chunks that are streamed */
	enum { SUMS_UNKNOWN, SUMS_USABLE, SUMS_UNUSABLE } sums;
	struct sample_columns columns;
	struct buf scratch;
	uint8_t *counted;		/* by chunk: whether its damage was counted */
};

static void reader_note_damage(struct reader *r, uint64_t offset, uint64_t bytes)
{
	struct reader_damage *d = &r->damage;

	if (!d->bad_chunks || offset < d->first_offset)
		d->first_offset = offset;
	d->bad_chunks++;
	d->bad_bytes += bytes;
}

/* Writes the damage as one line to damage.message. */
static void reader_describe_damage(struct reader *r)
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
			"%srecording did not end properly, or the file was cut: what was written before is here",
			n ? "; " : "");
	if (d->bad_chunks && n < sizeof(d->message))
		n += (size_t)snprintf(
			d->message + n, sizeof(d->message) - n,
			"%s%" PRIu64 " damaged part%s (%" PRIu64
			" bytes, first at offset %" PRIu64 ") skipped",
			n ? "; " : "", d->bad_chunks,
			plural(d->bad_chunks, "s"), d->bad_bytes,
			d->first_offset);
	if (d->bad_samples && n < sizeof(d->message))
		snprintf(d->message + n, sizeof(d->message) - n,
			 "%s%" PRIu64 " samples lost with them",
			 n ? "; " : "", d->bad_samples);
}

/* Chunks: found by their headers, and checked. */

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

/* Checks the header.  Returns its size or an error. */
static int reader_check_header(struct reader *r, struct error *err)
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

/* Releases the file's pages between two offsets.  The memory of a reader must
 * not grow with the number of samples, including mapped pages of the file. */
static void reader_forget_pages(const struct reader *r, size_t from, size_t to)
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

/* Finds all intact chunks from offset `at` on and notes damaged parts, after which
 * it searches byte by byte for the next valid header.  Returns 0 or -ERR_NOMEM. */
static int reader_find_chunks(struct reader *r, size_t at)
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

static bool reader_payload_good(const struct reader *r, const struct chunk *c)
{
	return format_crc(r->p + c->offset + CHUNK_HEADER, c->stored) ==
	       c->payload_crc;
}

/* Returns whether the payloads of all chunks are intact. */
static bool reader_all_good(const struct reader *r)
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

/* Returns the payload of a chunk that is not one of samples: c->stored bytes in the
 * file, or c->raw bytes in *room, which the caller frees.  Returns NULL if it is
 * damaged or memory ran out. */
static const uint8_t *reader_payload(const struct reader *r,
				     const struct chunk *c, uint8_t **room)
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

/* Notes as damage what the end mark counts but the file does not contain. */
static void reader_check_end(struct reader *r)
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

/* Tables: everything but the samples. */

/* Maximum number of rows that may be missing before a table section once damage
 * was found. */
enum { MAX_GAP = 1 << 20 };

/* Loads a list of sections into the model.  Returns false if any of them is
 * invalid. */
static bool load_sections(struct reader *r, const uint8_t *p, size_t n)
{
	struct cursor c = cursor_of(p, n);
	size_t gap = r->damage.bad_chunks ? MAX_GAP : 0;
	bool good = true;

	while (cursor_left(&c)) {
		uint64_t kind = cursor_uleb(&c), length = cursor_uleb(&c);
		struct cursor body = cursor_sub(&c, length);

		if (c.bad)
			return false;
		good &= section_get(&r->profile, kind, &body, gap);
	}
	return good;
}

static bool load_chunk(struct reader *r, const struct chunk *c)
{
	const uint8_t *p;
	uint8_t *room;
	bool good;

	if (c->codec == CODEC_ZLIB) {
		/* Many equal chunks may decompress to little data: that costs
		 * time. */
		r->unpacked += c->raw;
		if (r->max_memory && r->unpacked > r->max_memory) {
			r->profile.memory.exceeded = true;
			return false;
		}
		if (!profile_charge(&r->profile, c->raw))
			return false;
	}
	p = reader_payload(r, c, &room);
	good = p && load_sections(r, p, room ? c->raw : c->stored);
	free(room);
	if (c->codec == CODEC_ZLIB)
		profile_uncharge(&r->profile, c->raw);
	return good;
}

static void load_kind(struct reader *r, enum chunk_kind kind)
{
	const struct prof_memory *m = &r->profile.memory;

	for (size_t i = 0; i < r->chunks.n && !m->exceeded; i++) {
		const struct chunk *c = &r->chunks.v[i];
		bool good;

		if (c->kind != kind)
			continue;
		good = load_chunk(r, c);
		if (m->exceeded) {
			r->refused = c->offset;
		} else if (!good) {
			reader_note_damage(r, c->offset, CHUNK_HEADER + c->stored);
			r->counted[i] = 1;
		} else if (kind == CHUNK_SYMBOLS) {
			r->profile.symbolized = true;
		}
	}
}

/* Returns the first node equal to node i: an earlier one or itself.  The hash
 * table holds only ids, because there may be tens of millions; 0 is a free
 * slot. */
static uint32_t first_equal(const struct profile *p, uint32_t *slots, size_t mask,
			    uint32_t i)
{
	const struct prof_node *v = p->nodes.v;
	size_t at = hash_mix(v[i].parent, v[i].loc) & mask;

	for (; slots[at]; at = (at + 1) & mask)
		if (v[slots[at]].parent == v[i].parent &&
		    v[slots[at]].loc == v[i].loc)
			return slots[at];
	return slots[at] = i;
}

/* Makes parents refer to the first of equal nodes. */
static void find_repeated(struct reader *r, uint32_t *slots, size_t mask)
{
	struct profile *p = &r->profile;

	r->same[0] = 0;
	for (uint32_t i = 1; i < p->nodes.n; i++) {
		struct prof_node *n = &p->nodes.v[i];

		n->parent = r->same[n->parent];
		/* two stack ends with the same mark may have different
		 * reasons */
		r->same[i] = prof_is_mark(n->loc)
			     ? i : first_equal(p, slots, mask, i);
	}
}

/* Merges equal stacks with different nodes. */
static int join_nodes(struct reader *r)
{
	struct profile *p = &r->profile;
	size_t n = p->nodes.n, room = 16;
	uint32_t *slots;

	if (!profile_env(p, PROF_NONE, PROF_ENV_REPEATED))
		return 0;
	while (room / 4 * 3 < n)
		room *= 2;
	p->memory.limit = r->max_memory;
	if (!profile_charge(p, (room + n) * sizeof(*slots))) {
		r->refused = r->n;
		return -ERR_NOMEM;
	}
	p->memory.limit = 0;
	slots = calloc(room, sizeof(*slots));
	r->same = malloc(n * sizeof(*r->same));
	if (slots && r->same)
		find_repeated(r, slots, room - 1);
	free(slots);
	profile_uncharge(p, room * sizeof(*slots));
	return slots && r->same ? 0 : -ERR_NOMEM;
}

/* Returns the bytes of the name that a reference leads to beyond PROF_NAME_VIEWS;
 * `more` has them by string. */
static uint64_t name_more(const struct profile *p, const uint32_t *more,
			  enum ref ref, uint64_t v)
{
	switch (ref) {
	case REF_STR:
		return more[v];
	case REF_IMAGE:
		return more[p->images.v[v].path];
	case REF_FUNC:
		return v == PROF_NONE ? 0 : more[p->funcs.v[v].name];
	default:
		return 0;
	}
}

static uint64_t names_of_column(const struct profile *p, const uint32_t *more,
				const struct table *t, const struct column *c)
{
	size_t n = table_rows(p, t);
	const char *row = table_row(p, t, 0);
	uint64_t sum = 0;

	if (c->ref != REF_STR && c->ref != REF_IMAGE && c->ref != REF_FUNC)
		return 0;
	for (size_t i = 0; i < n; i++, row += t->row)
		sum += name_more(p, more, c->ref, column_get(row, c));
	return sum;
}

/* Returns the number of references that name_more counts, or more. */
static uint64_t count_names(const struct profile *p)
{
	uint64_t n = p->texts.n + 2 * p->images.n;

	for (size_t i = 0; i < format_ntables; i++)
		n += table_rows(p, &format_tables[i]) * format_tables[i].ncolumns;
	return n;
}

/* Charges the long names of all rows: a view copies a name for each row that has
 * it, while the table of strings has it once. */
static int charge_names(struct reader *r)
{
	struct profile *p = &r->profile;
	uint64_t sum = 0, longest = p->memory.longest;
	uint32_t *more;

	/* mostly so few that counting them is not worth the time */
	longest = longest > PROF_NAME_VIEWS ? longest - PROF_NAME_VIEWS : 0;
	if (!r->max_memory || longest * count_names(p) < r->max_memory / 8)
		return 0;
	more = calloc(p->str.str.n, sizeof(*more));
	if (!more)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->str.str.n; i++) {
		size_t n = strlen(p->str.str.v[i]);

		more[i] = n > PROF_NAME_VIEWS ? (uint32_t)n - PROF_NAME_VIEWS : 0;
	}
	for (size_t i = 0; i < format_ntables; i++)
		for (size_t k = 0; k < format_tables[i].ncolumns; k++)
			sum += names_of_column(p, more, &format_tables[i],
					       &format_tables[i].columns[k]);
	sum += names_of_column(p, more, &text_table, &text_table.columns[0]);
	for (size_t i = 0; i < p->images.n; i++)
		sum += more[p->images.v[i].debug_file] +
		       more[p->images.v[i].note];
	free(more);
	p->memory.limit = r->max_memory;
	if (!profile_charge(p, sum)) {
		r->refused = r->n;
		return -ERR_NOMEM;
	}
	p->memory.limit = 0;
	return 0;
}

/* Loads everything except samples into the model.  Returns 0
 * or -ERR_NOMEM. */
static int reader_load_tables(struct reader *r, struct strpool *pool)
{
	size_t bad_refs = 0;

	if (profile_init_in(&r->profile, pool) < 0)
		return -ERR_NOMEM;
	r->profile.memory.limit = r->max_memory;
	/* Section readers only report failure; lack of memory is not damage of
	 * the file. */
	errno = 0;
	load_kind(r, CHUNK_TABLES);
	r->profile.str_base = r->profile.str.str.n;
	load_kind(r, CHUNK_SYMBOLS);
	load_kind(r, CHUNK_CODE);
	if (r->profile.memory.exceeded)
		return -ERR_NOMEM;
	/* from here on, tally's own use of the profile is not limited */
	r->profile.memory.limit = 0;
	if (profile_validate(&r->profile, &bad_refs) < 0 || errno == ENOMEM)
		return -ERR_NOMEM;
	if (bad_refs && !r->damage.bad_chunks)
		reader_note_damage(r, FORMAT_HEADER, 0);
	return charge_names(r) < 0 ? -ERR_NOMEM : join_nodes(r);
}

static int too_much(const struct reader *r, struct error *err)
{
	return error_set(err, ERR_FORMAT,
			 "%s: the tables up to offset %" PRIu64 " take more "
			 "than %" PRIu64 " MB of memory, which few "
			 "recordings of %zu bytes do: --max-memory SIZE "
			 "allows more", r->name, r->refused, r->max_memory >> 20,
			 r->n);
}

static int load(struct reader *r, struct strpool *pool, struct error *err)
{
	int size = reader_check_header(r, err), rc;

	if (size < 0)
		return size;
	rc = reader_find_chunks(r, (size_t)size) ?: reader_load_tables(r, pool);
	if (r->profile.memory.exceeded)
		return too_much(r, err);
	if (rc < 0)
		return error_set(err, ERR_NOMEM, "%s: out of memory", r->name);
	for (size_t i = 0; i < r->chunks.n; i++)
		if (r->chunks.v[i].kind == CHUNK_SAMPLES)
			r->samples += r->chunks.v[i].rows;
	reader_check_end(r);
	reader_describe_damage(r);
	return 0;
}

uint64_t reader_usual_memory(uint64_t bytes)
{
	uint64_t part = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			(uint64_t)sysconf(_SC_PAGESIZE) / READER_MEMORY_PART;

	if (part < READER_MEMORY_MORE)
		part = READER_MEMORY_MORE;
	if (part > READER_MEMORY_PART_MAX)
		part = READER_MEMORY_PART_MAX;
	return bytes * READER_MEMORY_A_BYTE + part;
}

/* Takes ownership of the map, also on failure; map.p is NULL for borrowed
 * bytes. */
static int open_reader(struct io_map map, const void *p, size_t n,
		       const char *name, uint64_t max_memory,
		       struct strpool *pool, struct reader **out,
		       struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (!r) {
		io_unmap(&map);
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	}
	r->map = map;
	r->p = p;
	r->n = n;
	r->mask = COLUMN_ALL;
	r->streamed = CHUNK_SAMPLES;
	r->max_memory = max_memory == UINT64_MAX ? 0
			: max_memory ? max_memory
			: map.p ? reader_usual_memory(n)
				: n * (uint64_t)READER_MEMORY_A_BYTE + READER_MEMORY_MORE;
	r->name = strdup(name);
	if (!r->name || columns_init(&r->columns) < 0)
		rc = error_set(err, ERR_NOMEM, "%s: out of memory", name);
	else
		rc = load(r, pool, err);
	if (rc < 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

int reader_open_bytes_in(const void *p, size_t n, const char *name,
			 struct strpool *pool, struct reader **out,
			 struct error *err)
{
	return open_reader((struct io_map){ 0 }, p, n, name, 0, pool, out, err);
}

int reader_open_bytes(const void *p, size_t n, const char *name,
		      struct reader **out, struct error *err)
{
	return reader_open_bytes_in(p, n, name, NULL, out, err);
}

bool reader_is_recording(const char *path)
{
	int fd = io_open_file(path, NULL);
	char magic[8];
	bool is = fd >= 0 && read(fd, magic, 8) == 8 &&
		  !memcmp(magic, FORMAT_MAGIC, 8);

	if (fd >= 0)
		close(fd);
	return is;
}

static int open_map(struct io_map map, const char *name, uint64_t max_memory,
		    struct strpool *pool, struct reader **out,
		    struct error *err)
{
	int rc = open_reader(map, map.p, map.n, name, max_memory, pool, out, err);

	if (rc)
		return rc;
	(*out)->profile.foreign = map.owner && map.owner != geteuid();
	(*out)->profile.written_ns = (uint64_t)map.file.written_ns;
	return 0;
}

int reader_open_in(const char *path, uint64_t max_memory, struct strpool *pool,
		   struct reader **out, struct error *err)
{
	struct io_map map;
	int rc = io_load_file(path, &map, err);

	*out = NULL;
	return rc < 0 ? rc : open_map(map, path, max_memory, pool, out, err);
}

int reader_open(const char *path, uint64_t max_memory, struct reader **out,
		struct error *err)
{
	return reader_open_in(path, max_memory, NULL, out, err);
}

int reader_open_fd(int fd, const char *name, uint64_t max_memory,
		   struct reader **out, struct error *err)
{
	struct io_map map;
	int rc = io_load_fd(fd, name, &map, err);

	*out = NULL;
	return rc < 0 ? rc : open_map(map, name, max_memory, NULL, out, err);
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	profile_fini(&r->profile);
	columns_fini(&r->columns);
	buf_fini(&r->scratch);
	vec_fini(&r->chunks);
	free(r->counted);
	free(r->same);
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

uint64_t reader_bytes(const struct reader *r)
{
	return r->n;
}

uint64_t reader_max_memory(const struct reader *r)
{
	return r->max_memory ? r->max_memory : UINT64_MAX;
}

uint64_t reader_sample_count(const struct reader *r)
{
	return r->samples;
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
			.good = reader_payload_good(r, c),
		};

		if (!cb(ctx, &rc))
			return;
	}
}

/* Samples, in batches. */

void reader_columns(struct reader *r, unsigned int mask)
{
	r->mask = mask & COLUMN_ALL;
}

void reader_rewind(struct reader *r)
{
	r->next = 0;
	r->streamed = CHUNK_SAMPLES;
}

/* Returns whether the file has sums, and they are those of the samples that a reader would
 * get: a damaged file has samples less. */
static bool sums_usable(const struct reader *r)
{
	const struct reader_damage *d = &r->damage;
	bool any = false;

	for (size_t i = 0; i < r->chunks.n && !any; i++)
		any = r->chunks.v[i].kind == CHUNK_SUMS;
	return any && !d->incomplete && !d->bad_chunks && !d->bad_samples &&
	       reader_all_good(r);
}

void reader_rewind_sums(struct reader *r)
{
	const unsigned int summed = COLUMN_EVENT | COLUMN_WEIGHT | COLUMN_STACK |
				    COLUMN_MORE;

	reader_rewind(r);
	if (r->mask & ~summed)
		return;
	if (r->sums == SUMS_UNKNOWN)
		r->sums = sums_usable(r) ? SUMS_USABLE : SUMS_UNUSABLE;
	if (r->sums == SUMS_USABLE)
		r->streamed = CHUNK_SUMS;
}

/* Returns true if the ids of a row exist.  Columns that were not requested are
 * not checked, because the caller does not get them. */
static bool row_good(const struct reader *r, size_t i)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) || c->thread[i] < p->threads.n) &&
	       (!(r->mask & COLUMN_EVENT) || c->event[i] < p->events.n) &&
	       (!(r->mask & COLUMN_STACK) || c->stack[i] < p->nodes.n);
}

/* Returns whether n numbers are below `end`.  A block of them takes vector
 * instructions. */
static bool all_below(const uint32_t *v, size_t n, size_t end)
{
	enum { BLOCK = 16 };
	uint32_t most = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX, bad = 0;
	size_t i = 0;

	for (; i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			bad |= v[k] >= most;
	for (; i < n; i++)
		bad |= v[i] >= most;
	return !bad;
}

static bool batch_good(const struct reader *r)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) ||
		all_below(c->thread, c->n, p->threads.n)) &&
	       (!(r->mask & COLUMN_EVENT) ||
		all_below(c->event, c->n, p->events.n)) &&
	       (!(r->mask & COLUMN_STACK) ||
		all_below(c->stack, c->n, p->nodes.n));
}

/* Removes rows with invalid ids (their rows were damaged). */
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
		c->more[k] = c->more[i];
		k++;
	}
	if (count)
		r->damage.bad_samples += c->n - k;
	c->n = k;
}

/* Maps equal stacks to one node.  A recorder that had forgotten a stack stored
 * it as another node. */
static void join_repeated(const struct reader *r)
{
	const struct sample_columns *c = &r->columns;

	if (!r->same || !(r->mask & COLUMN_STACK))
		return;
	for (size_t i = 0; i < c->n; i++)
		c->stack[i] = r->same[c->stack[i]];
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
	out->more = column_if(r, COLUMN_MORE, c->more);
}

static void note_unread(struct reader *r, const struct chunk *c,
			bool first_time, bool no_memory)
{
	if (first_time) {
		reader_note_damage(r, c->offset, CHUNK_HEADER + c->stored);
		r->damage.bad_samples += c->kind == CHUNK_SAMPLES ? c->rows : 0;
	}
	r->damage.no_memory |= no_memory;
	if (first_time || no_memory)
		reader_describe_damage(r);
}

/* Notes a damaged chunk of sums, whose samples are read instead. */
static void check_sums(struct reader *r, size_t i)
{
	r->counted[i] = 1;
	if (!reader_payload_good(r, &r->chunks.v[i]))
		note_unread(r, &r->chunks.v[i], true, false);
}

/* Decodes the rows of a chunk. */
static bool get_rows(struct reader *r, const struct chunk *c)
{
	struct cursor body = cursor_of(r->p + c->offset + CHUNK_HEADER, c->stored);
	uint64_t rows = c->kind == CHUNK_SUMS ? cursor_uleb(&body) : c->rows;

	return !body.bad && rows <= SAMPLE_BATCH && reader_payload_good(r, c) &&
	       c->codec == CODEC_STORED &&
	       columns_get(body.p, cursor_left(&body), (size_t)rows, r->mask,
			   &r->columns, &r->scratch);
}

bool reader_next(struct reader *r, struct sample_batch *out)
{
	while (r->next < r->chunks.n) {
		size_t i = r->next++;
		const struct chunk *c = &r->chunks.v[i];
		bool first_time = !r->counted[i];

		if (c->kind == CHUNK_SUMS && first_time && r->streamed != c->kind)
			check_sums(r, i);
		if (c->kind != r->streamed)
			continue;
		r->counted[i] = 1;
		errno = 0;
		if (!get_rows(r, c)) {
			note_unread(r, c, first_time, errno == ENOMEM);
			continue;
		}
		reader_forget_pages(r, c->offset,
			     c->offset + CHUNK_HEADER + c->stored);
		drop_bad_rows(r, first_time);
		if (first_time && r->damage.bad_samples)
			reader_describe_damage(r);
		if (!r->columns.n)
			continue;
		join_repeated(r);
		batch_fill(r, out);
		return true;
	}
	reader_forget_pages(r, 0, r->n);	/* a fault maps pages around, too */
	return false;
}
