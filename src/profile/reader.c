// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens .tally files and reports damage: see reader.h and format.h.  The file
 * is hostile. */
#include "profile/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "profile/reader_internal.h"

void reader_note_damage(struct reader *r, uint64_t offset, uint64_t bytes)
{
	struct reader_damage *d = &r->damage;

	if (!d->bad_chunks || offset < d->first_offset)
		d->first_offset = offset;
	d->bad_chunks++;
	d->bad_bytes += bytes;
}

void reader_describe_damage(struct reader *r)
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
			plural(d->bad_chunks, "s"), d->bad_bytes,
			d->first_offset);
	if (d->bad_samples && n < sizeof(d->message))
		snprintf(d->message + n, sizeof(d->message) - n,
			 "%s%" PRIu64 " samples lost with them",
			 n ? "; " : "", d->bad_samples);
}

static int too_much(const struct reader *r, struct error *err)
{
	return error_set(err, ERR_FORMAT,
			 "%s: the tables up to offset %" PRIu64 " take more "
			 "than %" PRIu64 " MB of memory, which no usual "
			 "recording of %zu bytes does: --max-memory SIZE "
			 "allows more", r->name, r->refused, r->max_memory >> 20,
			 r->n);
}

static int load(struct reader *r, struct strpool *pool, struct error *err)
{
	int size = reader_check_header(r, err), rc;

	if (size < 0)
		return size;
	rc = reader_find_chunks(r, (size_t)size);
	if (!rc)
		rc = reader_load_tables(r, pool);
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
	r->max_memory = max_memory == UINT64_MAX ? 0 : max_memory ? max_memory
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
