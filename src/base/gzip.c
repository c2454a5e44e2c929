// SPDX-License-Identifier: GPL-2.0-or-later
/* Compresses and decompresses gzip in memory with zlib: see gzip.h. */
#include "base/gzip.h"

#include <zlib.h>

enum { CHUNK = 1 << 16, GZIP_HEADER = 16 };

int gzip_pack(struct buf *out, const void *p, size_t n, enum gzip_level level,
	      struct error *err)
{
	z_stream z = { 0 };
	uint8_t *room;
	size_t bound;
	int state;

	if (n > UINT32_MAX)
		return error_set(err, ERR_NOMEM, "too much to compress at once");
	if (deflateInit2(&z, level, Z_DEFLATED, 15 + GZIP_HEADER, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error_set(err, ERR_NOMEM, "out of memory to compress");
	bound = deflateBound(&z, (uLong)n);
	room = buf_room(out, bound);
	if (!room) {
		deflateEnd(&z);
		return error_set(err, ERR_NOMEM, "out of memory to compress");
	}
	z.next_in = (Bytef *)p;
	z.avail_in = (uInt)n;
	z.next_out = room;
	z.avail_out = (uInt)bound;
	state = deflate(&z, Z_FINISH);
	out->n += bound - z.avail_out;
	deflateEnd(&z);
	return state == Z_STREAM_END ? 0
	       : error_set(err, ERR_IO, "zlib cannot compress");
}

int gzip_unpack(struct buf *out, const void *p, size_t n, size_t limit,
		struct error *err)
{
	z_stream z = { .next_in = (Bytef *)p, .avail_in = (uInt)n };
	size_t start = out->n;
	int state = Z_OK;

	if (n > UINT32_MAX || inflateInit2(&z, 15 + GZIP_HEADER) != Z_OK)
		return error_set(err, ERR_NOMEM, "out of memory to unpack");
	while (state == Z_OK && out->n - start <= limit) {
		uint8_t *room = buf_room(out, CHUNK);

		if (!room)
			break;
		z.next_out = room;
		z.avail_out = CHUNK;
		state = inflate(&z, Z_NO_FLUSH);
		out->n += CHUNK - z.avail_out;
	}
	inflateEnd(&z);
	if (out->failed)
		return error_set(err, ERR_NOMEM, "out of memory to unpack");
	if (out->n - start > limit)
		return error_set(err, ERR_FORMAT, "unpacks to more than %zu "
				 "bytes", limit);
	return state == Z_STREAM_END && !z.avail_in ? 0
	       : error_set(err, ERR_FORMAT, "no whole gzip data");
}
