// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes and decodes chunk headers, checksums and compression: see
 * format.h. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <limits.h>
#include <string.h>
#include <stdlib.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "profile/format.h"

uint32_t format_crc(const void *p, size_t n)
{
#ifdef HAVE_LIBDEFLATE
	return libdeflate_crc32(0, p, n);
#else
	return (uint32_t)crc32_z(0, p, n);
#endif
}

void chunk_put_header(struct buf *out, const struct chunk *c)
{
	size_t at = out->n;

	buf_u32(out, CHUNK_MAGIC);
	buf_u32(out, c->seq);
	buf_u16(out, (uint16_t)c->kind);
	buf_u8(out, (uint8_t)c->codec);
	buf_u8(out, 0);
	buf_u32(out, c->stored);
	buf_u32(out, c->raw);
	buf_u32(out, c->rows);
	buf_u32(out, c->payload_crc);
	if (!out->failed)
		buf_u32(out, format_crc(out->p + at, CHUNK_HEADER - 4));
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

bool chunk_get_header(const uint8_t *p, struct chunk *out)
{
	if (get32(p) != CHUNK_MAGIC)
		return false;
	out->seq = get32(p + 4);
	out->kind = get32(p + 8) & 0xffff;
	out->codec = p[10];
	out->stored = get32(p + 12);
	out->raw = get32(p + 16);
	out->rows = get32(p + 20);
	out->payload_crc = get32(p + 24);
	return get32(p + 28) == format_crc(p, CHUNK_HEADER - 4) &&
	       out->stored <= CHUNK_MAX && out->raw <= CHUNK_MAX &&
	       (out->kind != CHUNK_SAMPLES || out->rows <= SAMPLE_BATCH);
}

/*
 * Level 6 is the balance of both libraries; zlib's 9 gains under 1 % on these columns for
 * twice the time.  Little has few matches to find: level 1 of libdeflate takes two thirds
 * of the time for columns of up to 4 KB, which are between 2 % smaller and 6 % larger.
 */
enum { LEVEL = 6, LEVEL_LITTLE = 1, LITTLE = 4096 };

void deflater_fini(struct deflater *d)
{
#ifdef HAVE_LIBDEFLATE
	for (size_t i = 0; i < COUNT(d->kept); i++)
		if (d->kept[i])
			libdeflate_free_compressor(d->kept[i]);
#endif
	*d = (struct deflater){ 0 };
}

#ifdef HAVE_LIBDEFLATE
/* Compresses in half of zlib's time to the same size.  Its bound is above zlib's: with less
 * room, it refuses some short inputs. */
bool format_deflate(struct deflater *d, const void *p, size_t n, struct buf *out)
{
	size_t size = libdeflate_zlib_compress_bound(NULL, n), made;
	uint8_t *room = buf_room(out, size);
	void **by = &d->kept[n <= LITTLE];

	if (!*by)
		*by = libdeflate_alloc_compressor(n <= LITTLE ? LEVEL_LITTLE : LEVEL);
	made = room && *by ? libdeflate_zlib_compress(*by, p, n, room, size) : 0;
	out->n += made;
	return made;
}
#else
bool format_deflate(struct deflater *d, const void *p, size_t n, struct buf *out)
{
	uLongf size = compressBound((uLong)n);
	uint8_t *room = buf_room(out, size);

	(void)d;
	if (!room || compress2(room, &size, p, (uLong)n, LEVEL) != Z_OK)
		return false;
	out->n += size;
	return true;
}
#endif

/* Allocates memory for zlib, so that its failures are handled like all
 * others. */
static voidpf zlib_alloc(voidpf ctx, uInt n, uInt size)
{
	(void)ctx;
	return calloc(n, size);
}

static void zlib_free(voidpf ctx, voidpf p)
{
	(void)ctx;
	free(p);
}

/* Decompresses in half of zlib's time.  Returns false if the bytes are invalid or
 * libdeflate is not there. */
static bool inflate_at_once(const void *p, size_t n, uint8_t *out, size_t raw)
{
#ifdef HAVE_LIBDEFLATE
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t used = 0, made = 0;
	bool good = d && libdeflate_zlib_decompress_ex(d, p, n, out, raw, &used,
						       &made) ==
				 LIBDEFLATE_SUCCESS;

	if (d)
		libdeflate_free_decompressor(d);
	return good && used == n && made == raw;
#else
	(void)p;
	(void)n;
	(void)out;
	(void)raw;
	return false;
#endif
}

bool format_inflate(const void *p, size_t n, uint8_t *out, size_t raw)
{
	z_stream z = { .zalloc = zlib_alloc, .zfree = zlib_free,
		       .next_in = (Bytef *)p, .avail_in = (uInt)n,
		       .next_out = out, .avail_out = (uInt)raw };
	bool good;

	if (inflate_at_once(p, n, out, raw))
		return true;
	if (n > UINT32_MAX || raw > UINT32_MAX || inflateInit(&z) != Z_OK)
		return false;
	good = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in &&
	       !z.avail_out;
	inflateEnd(&z);
	return good;
}
