// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes .tally files: see writer.h and format.h. */
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
#include "profile/columns.h"
#include "profile/format.h"

enum {
	MAX_TABLES = 24,
	DEFLATE_MIN = 64,	/* minimum bytes to compress; fewer are stored */
};

struct writer {
	const struct profile *p;
	int fd;
	bool uncompressed;	/* tables and symbols */
	bool sums;		/* samples are sums of those before */
	char *name;
	uint32_t seq;
	uint64_t bytes;		/* bytes of complete chunks in the file */
	uint64_t samples;
	struct sample_columns pending;
	size_t written[MAX_TABLES];	/* rows of format_tables[i] in the file */
	void *shadow[MAX_TABLES];	/* mutable tables: copy of the rows as
					 * written */
	size_t strings;			/* strings in the file */
	struct buf payload, chunk;
	struct deflater deflater;
	struct error error;	/* sticky */
};

static int writer_fail(struct writer *w, struct error *err)
{
	if (err)
		*err = w->error;
	return -w->error.code;
}

/* Writes header and payload in one write.  A partial write is removed again, so
 * that the file ends with a complete chunk. */
static int put_file(struct writer *w, const struct buf *b, struct error *err)
{
	if (b->failed)
		error_set(&w->error, ERR_NOMEM, "%s: out of memory", w->name);
	else if (io_write_all(w->fd, w->name, b->p, b->n, &w->error) < 0 &&
		 ftruncate(w->fd, (off_t)w->bytes) == 0)
		(void)lseek(w->fd, (off_t)w->bytes, SEEK_SET);
	if (w->error.code)
		return writer_fail(w, err);
	w->bytes += b->n;
	return 0;
}

static int put_chunk(struct writer *w, enum chunk_kind kind, uint32_t rows,
		     bool compress, struct error *err)
{
	struct buf packed = { 0 };
	const struct buf *body = &w->payload;
	struct chunk c = { .seq = w->seq, .kind = kind, .rows = rows };
	int rc;

	if (body->n > CHUNK_MAX)
		error_set(&w->error, ERR_NOMEM, "%s: a table of %zu bytes",
			  w->name, body->n);
	if (w->error.code)
		return writer_fail(w, err);
	if (compress && !w->uncompressed && body->n > DEFLATE_MIN &&
	    format_deflate(&w->deflater, body->p, body->n, &packed) && packed.n < body->n) {
		c.codec = CODEC_ZLIB;
		body = &packed;
	}
	c.raw = (uint32_t)w->payload.n;
	c.stored = (uint32_t)body->n;
	c.payload_crc = format_crc(body->p, body->n);
	buf_reset(&w->chunk);
	chunk_put_header(&w->chunk, &c);
	buf_bytes(&w->chunk, body->p, body->n);
	w->chunk.failed |= w->payload.failed;
	buf_fini(&packed);
	rc = put_file(w, &w->chunk, err);
	if (!rc)
		w->seq++;
	buf_reset(&w->payload);
	return rc;
}

static void put_header(struct buf *b)
{
	buf_bytes(b, FORMAT_MAGIC, 8);
	buf_u16(b, FORMAT_MAJOR);
	buf_u16(b, FORMAT_MINOR);
	buf_u32(b, FORMAT_HEADER);
	buf_u64(b, 0);
	buf_u32(b, 0);
	if (!b->failed)
		buf_u32(b, format_crc(b->p, FORMAT_HEADER - 4));
}

static struct writer *writer_new(int fd, const char *name,
				 const struct profile *p)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->p = p;
	w->fd = fd;
	w->name = strdup(name);
	w->strings = PROF_STR_DAMAGED + 1;	/* known to every reader */
	for (size_t i = 0; i < format_ntables; i++)
		w->written[i] = format_tables[i].section == SECTION_NODES;
	if (!w->name || columns_init(&w->pending) < 0) {
		free(w->name);
		free(w);
		return NULL;
	}
	return w;
}

int writer_open_fd(int fd, const char *name, const struct profile *p,
		   struct writer **out, struct error *err)
{
	struct writer *w = writer_new(fd, name, p);
	int rc;

	*out = NULL;
	if (!w)
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	buf_reset(&w->chunk);
	put_header(&w->chunk);
	rc = put_file(w, &w->chunk, err);
	if (rc < 0) {
		writer_close(w);
		return rc;
	}
	*out = w;
	return 0;
}

int writer_sample(struct writer *w, const struct prof_sample *s,
		  struct error *err)
{
	struct sample_columns *c = &w->pending;
	size_t i = c->n;

	if (w->error.code)
		return writer_fail(w, err);
	c->time_ns[i] = s->time_ns;
	c->thread[i] = s->thread;
	c->cpu[i] = s->cpu;
	c->event[i] = s->event;
	c->weight[i] = s->weight;
	c->stack[i] = s->stack;
	c->more[i] = s->more;
	c->n++;
	return c->n < SAMPLE_BATCH ? 0 : writer_flush(w, err);
}

/* Compares the stored fields of two rows; the rest (padding, image notes) is
 * not part of the table. */
static bool row_changed(const struct table *t, const char *a, const char *b)
{
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct column *col = &t->columns[c];
		size_t size = col->code == COL_BUILD_ID
				      ? sizeof(struct build_id)
				      : col->width;

		if (memcmp(a + col->offset, b + col->offset, size))
			return true;
	}
	return false;
}

/* Writes the rows that have changed since they were written. */
static void put_changed(struct writer *w, size_t ti)
{
	const struct table *t = &format_tables[ti];

	for (size_t i = 0; i < w->written[ti]; i++) {
		const char *row = table_row(w->p, t, i);
		char *old = (char *)w->shadow[ti] + i * t->row;

		if (row_changed(t, row, old)) {
			section_put_table(&w->payload, w->p, t, i, i + 1);
			memcpy(old, row, t->row);
		}
	}
}

static void put_new(struct writer *w, size_t ti)
{
	const struct table *t = &format_tables[ti];
	size_t first = w->written[ti], end = table_rows(w->p, t);
	void *shadow;

	section_put_table(&w->payload, w->p, t, first, end);
	w->written[ti] = end;
	if (!t->mutable_rows || first >= end)
		return;
	shadow = realloc(w->shadow[ti], end * t->row);
	if (!shadow) {
		w->payload.failed = true;
		return;
	}
	w->shadow[ti] = shadow;
	memcpy((char *)shadow + first * t->row, table_row(w->p, t, first),
	       (end - first) * t->row);
}

static void put_tables(struct writer *w, bool symbols)
{
	size_t end = w->p->symbolized && !symbols ? w->p->str_base
						  : w->p->str.str.n;

	section_put_strings(&w->payload, w->p, w->strings, end);
	if (end > w->strings)
		w->strings = end;
	for (size_t i = 0; i < format_ntables; i++) {
		if (format_tables[i].symbols != symbols)
			continue;
		if (format_tables[i].mutable_rows)
			put_changed(w, i);
		put_new(w, i);
	}
}

int writer_flush(struct writer *w, struct error *err)
{
	struct sample_columns *c = &w->pending;
	int rc;

	if (w->error.code)
		return writer_fail(w, err);
	buf_reset(&w->payload);
	put_tables(w, false);
	if (w->payload.n || w->payload.failed) {
		rc = put_chunk(w, CHUNK_TABLES, 0, true, err);
		if (rc < 0)
			return rc;
	}
	if (!c->n)
		return 0;
	if (w->sums)
		buf_uleb(&w->payload, c->n);
	columns_put(&w->payload, c, &w->deflater);
	/* the header's number is that of samples */
	rc = w->sums ? put_chunk(w, CHUNK_SUMS, 0, false, err)
		     : put_chunk(w, CHUNK_SAMPLES, (uint32_t)c->n, false, err);
	if (rc < 0)
		return rc;
	w->samples += w->sums ? 0 : c->n;
	c->n = 0;
	return 0;
}

int writer_begin_sums(struct writer *w, struct error *err)
{
	int rc = writer_flush(w, err);

	w->sums = true;
	return rc;
}

static int put_texts(struct writer *w, struct error *err)
{
	const struct profile *p = w->p;
	size_t first = 0;
	int rc = 0;

	while (!rc && first < p->texts.n) {
		size_t end = first + 1, size = p->texts.v[first].size;

		while (end < p->texts.n &&
		       size + p->texts.v[end].size <= CODE_CHUNK)
			size += p->texts.v[end++].size;
		section_put_texts(&w->payload, p, first, end);
		rc = put_chunk(w, CHUNK_CODE, 0, true, err);
		first = end;
	}
	return rc;
}

static int put_symbols(struct writer *w, struct error *err)
{
	const struct profile *p = w->p;
	size_t first = 0;
	int rc;

	if (!p->symbolized)
		return 0;
	buf_reset(&w->payload);
	put_tables(w, true);
	section_put_notes(&w->payload, p);
	rc = put_chunk(w, CHUNK_SYMBOLS, 0, true, err);
	while (!rc && first < p->codes.n) {
		size_t end = first + 1, size = p->codes.v[first].size;

		while (end < p->codes.n &&
		       size + p->codes.v[end].size <= CODE_CHUNK)
			size += p->codes.v[end++].size;
		section_put_codes(&w->payload, p, first, end);
		rc = put_chunk(w, CHUNK_CODE, 0, true, err);
		first = end;
	}
	return rc ? rc : put_texts(w, err);
}

static int put_end(struct writer *w, struct error *err)
{
	struct buf body = { 0 };

	buf_uleb(&body, w->samples);
	buf_uleb(&body, w->seq);
	buf_reset(&w->payload);
	buf_uleb(&w->payload, SECTION_END);
	buf_uleb(&w->payload, body.n);
	buf_bytes(&w->payload, body.p, body.n);
	buf_close(&body, &w->payload);
	return put_chunk(w, CHUNK_END, 0, false, err);
}

int writer_finish(struct writer *w, struct error *err)
{
	return writer_flush(w, err) ?: put_symbols(w, err) ?: put_end(w, err);
}

void writer_skip_compression(struct writer *w)
{
	w->uncompressed = true;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->bytes;
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < format_ntables; i++)
		free(w->shadow[i]);
	columns_fini(&w->pending);
	buf_fini(&w->payload);
	buf_fini(&w->chunk);
	deflater_fini(&w->deflater);
	free(w->name);
	free(w);
}

/* Copies the intact chunks outside the symbol part.  Sets *whole if the last
 * one was the end mark. */
static int copy_chunks(struct writer *w, const struct io_map *src, bool *whole,
		       struct error *err)
{
	size_t at = FORMAT_HEADER;
	struct chunk c;

	while (src->n - at >= CHUNK_HEADER) {
		const uint8_t *p = src->p + at;

		if (!chunk_get_header(p, &c) ||
		    c.stored > src->n - at - CHUNK_HEADER) {
			at++;		/* damage: search for the next chunk */
			continue;
		}
		at += CHUNK_HEADER + c.stored;
		*whole = c.kind == CHUNK_END;
		if (c.kind == CHUNK_SYMBOLS || c.kind == CHUNK_CODE ||
		    c.kind == CHUNK_END)
			continue;
		/* Numbers do not change: a missing number shows readers that
		 * rows were lost. */
		w->seq = c.seq;
		buf_reset(&w->chunk);
		chunk_put_header(&w->chunk, &c);
		buf_bytes(&w->chunk, p + CHUNK_HEADER, c.stored);
		if (put_file(w, &w->chunk, err) < 0)
			return -w->error.code;
		w->seq++;
		w->samples += c.kind == CHUNK_SAMPLES ? c.rows : 0;
	}
	return 0;
}

/* Copies a file.  The new file has the source's tables, so only the symbol part
 * must be written. */
static int write_copy(struct writer *w, const char *src, struct error *err)
{
	struct io_map map;
	bool whole = false;
	int rc = io_map_file(src, &map, err);

	if (rc < 0)
		return rc;
	rc = map.n < FORMAT_HEADER
		     ? error_set(err, ERR_FORMAT, "%s: cut short", src)
		     : copy_chunks(w, &map, &whole, err);
	io_unmap(&map);
	w->strings = w->p->str_base;
	if (!rc)
		rc = put_symbols(w, err);
	/* A truncated recording remains truncated. */
	return rc || !whole ? rc : put_end(w, err);
}

int writer_replace_symbols(const char *src, const char *dst,
			   const struct profile *p, struct error *err)
{
	struct outfile out;
	struct writer *w = NULL;
	struct stat st;
	int rc = outfile_open(&out, dst, true, err) ?:
		 writer_open_fd(out.fd, dst, p, &w, err) ?:
		 write_copy(w, src, err);

	/* The copy gets the permissions of the recording. */
	if (!rc && out.temp && !stat(src, &st) &&
	    fchmod(out.fd, st.st_mode & 0777) < 0)
		rc = error_errno(err, errno, "%s: cannot set its mode", dst);
	if (!rc)
		rc = outfile_close(&out, err);
	writer_close(w);
	outfile_drop(&out);
	return rc;
}
