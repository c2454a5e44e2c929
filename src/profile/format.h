/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_FORMAT_H
#define TALLY_PROFILE_FORMAT_H
/*
 * Numbers and tables of the .tally file, for those who write, read, merge and dump it.
 * Normative text: doc/tally-format.5.  All integers are little-endian.
 *
 *	file   = header, chunk*
 *	header = magic[8] major.u16 minor.u16 size.u32 zero[12] crc.u32
 *	chunk  = magic.u32 seq.u32 kind.u16 codec.u8 zero.u8 stored.u32 raw.u32
 *	         rows.u32 payload_crc.u32 header_crc.u32, payload[stored]
 *	payload of TABLES, SYMBOLS, CODE, END = section*
 *	section = kind.uleb length.uleb bytes[length]
 *	table section = first_id.uleb count.uleb columns.uleb column[columns]
 *	column = length.uleb bytes[length]
 *	payload of SAMPLES = see columns.h
 *	payload of SUMS = rows.uleb, then as SAMPLES
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "profile/model.h"

#define FORMAT_MAGIC "\x89TLY\r\n\x1a\n"
/* Magic of development versions before the format was final. */
#define FORMAT_MAGIC_EARLY "\x89TALLY\r\n"
enum {
	FORMAT_MAJOR = 1,
	FORMAT_MINOR = 0,
	FORMAT_HEADER = 32,
	CHUNK_MAGIC = 0x43594c54,	/* "TLYC" */
	CHUNK_HEADER = 32,
	CHUNK_MAX = 64 << 20,		/* raw and stored bytes of a payload */
	CODE_CHUNK = 8 << 20,		/* maximum code bytes in a CODE chunk */
};

enum chunk_kind {
	CHUNK_TABLES = 1,
	CHUNK_SAMPLES = 2,
	CHUNK_SYMBOLS = 3,
	CHUNK_CODE = 4,
	CHUNK_END = 5,
	CHUNK_SUMS = 6,
};

enum chunk_codec { CODEC_STORED = 0, CODEC_ZLIB = 1 };

enum section_kind {
	SECTION_STRINGS = 1,
	SECTION_ENVS = 2,
	SECTION_EVENTS = 3,
	SECTION_RUNS = 4,
	SECTION_THREADS = 5,
	SECTION_IMAGES = 6,
	SECTION_LOCS = 7,
	SECTION_NODES = 8,
	SECTION_LOSSES = 9,
	SECTION_STATS = 10,
	SECTION_ENDS = 11,
	SECTION_WAIT_KINDS = 12,
	SECTION_FUNCS = 20,
	SECTION_FRAMES = 21,
	SECTION_LOC_FRAMES = 22,
	SECTION_SYMBOLS = 23,
	SECTION_IMAGE_NOTES = 24,
	SECTION_CODES = 25,
	SECTION_SOURCES = 26,
	SECTION_LINES = 27,
	SECTION_TEXTS = 28,
	SECTION_END = 30,
};

struct chunk {
	uint32_t seq, kind, codec, stored, raw, rows, payload_crc;
	uint64_t offset;		/* file offset of the chunk's header */
};

/* Encodes a chunk header of CHUNK_HEADER bytes. */
void chunk_put_header(struct buf *out, const struct chunk *c);
/* Returns false if the bytes are not a valid chunk header (magic, CRC, limits).
 */
bool chunk_get_header(const uint8_t *p, struct chunk *out);
uint32_t format_crc(const void *p, size_t n);
/* The memory of a compressor, which is kept from one call to the next.  All-zero at
 * first; released by deflater_fini. */
struct deflater {
	void *kept[2];
};
void deflater_fini(struct deflater *d);
/* Compress and decompress with zlib; return false on failure.  The decompressed
 * size must be exactly `raw` bytes. */
bool format_deflate(struct deflater *d, const void *p, size_t n, struct buf *out);
bool format_inflate(const void *p, size_t n, uint8_t *out, size_t raw);

/*
 * Encoding of COL_RECENT and of the samples' stacks, for ids of a growing
 * table.  A new id, just above the largest one so far, becomes a small number.
 * An old id is stored unchanged, so frequent ids look the same each time.
 * Marks are ignored for the largest id.
 */
enum { RECENT_NEW = 64 };

static inline uint64_t recent_code(uint32_t v, uint32_t *max)
{
	uint64_t z = v > *max && v - *max <= RECENT_NEW
			     ? v - *max - 1u
			     : (uint64_t)v + RECENT_NEW;

	if (v > *max && v < PROF_MARK)
		*max = v;
	return z;
}

/* Decodes a value.  A result above UINT32_MAX is invalid. */
static inline uint64_t recent_value(uint64_t z, uint32_t *max)
{
	uint64_t v = z < RECENT_NEW ? *max + z + 1 : z - RECENT_NEW;

	if (v > *max && v < PROF_MARK)
		*max = (uint32_t)v;
	return v;
}

/* Kind of row that the values of a column refer to; checked after loading. */
enum ref {
	REF_NONE,	/* a number */
	REF_STR,
	REF_RUN,
	REF_RUN_OPT,	/* or PROF_NONE */
	REF_EVENT,
	REF_EVENT_OPT,
	REF_IMAGE,
	REF_IMAGE_OPT,	/* or PROF_NONE */
	REF_NODE,
	REF_LOC,	/* or a mark */
	REF_FUNC,
	REF_FRAME_OPT,
	REF_BACK,	/* an earlier row of the same table, or PROF_NONE */
};

enum column_code {
	COL_ULEB,	/* the value */
	COL_PLUS1,	/* value + 1 mod 2^32: PROF_NONE is 0 */
	COL_DELTA,	/* sleb: value - value of the previous row (0 for the
			 * section's first) */
	COL_BACK,	/* own id - value; 0 is PROF_NONE */
	COL_OPT,	/* uleb: 0 is PROF_NONE, else 1 + zigzag of (value - the
			 * section's last value other than PROF_NONE, initially 0) */
	COL_RECENT,	/* uleb of recent_code; max starts at 0 in each section */
	COL_BUILD_ID,	/* length byte, bytes */
};

/* How `tally dump` writes a value that is no string; rows are written as numbers, or
 * "none". */
enum column_show {
	SHOW_NUMBER,
	SHOW_HEX,
	SHOW_SIGNED,
	SHOW_WORD,	/* by the table */
	SHOW_OPTIONAL,	/* a string that is left out if it is empty */
	SHOW_NOTHING,
};

struct column {
	const char *name;
	uint16_t offset;	/* offset in the row struct */
	uint8_t width;		/* width in the row struct: 1, 4 or 8 bytes */
	uint8_t code, ref, show;
};

struct table {
	enum section_kind section;
	const char *name;
	size_t vec;		/* offsetof(struct profile, …) */
	size_t row;		/* sizeof a row */
	bool mutable_rows;	/* a later row with the same id replaces it */
	bool symbols;		/* part of the SYMBOLS chunk */
	const struct column *columns;
	size_t ncolumns;
	size_t optional;		/* as many columns at the end are left out
					 * if all their values are 0 */
};

/* All tables except strings, notes and code. */
extern const struct table format_tables[];
extern const size_t format_ntables;
/* Returns the table of a section, or NULL. */
const struct table *format_table(uint64_t section);
/* Rows of profile.codes and profile.texts.  Their sections have the values row by row,
 * then the bytes of all rows. */
extern const struct table code_table, text_table;

/* All VEC types share this layout.  It is copied in and out because the pointer
 * type differs between tables. */
struct any_vec {
	void *v;
	size_t n, cap;
};

/* Returns the number of rows of a table, whatever their type. */
size_t table_rows(const struct profile *p, const struct table *t);
void *table_row(const struct profile *p, const struct table *t, size_t i);
/* Appends a copy of a row.  Returns the new one, or NULL if out of memory. */
void *table_add(struct profile *p, const struct table *t, const void *row);
/* Frees all rows, or moves them to a profile that has none. */
void table_clear(struct profile *p, const struct table *t);
void table_move(struct profile *from, struct profile *to, const struct table *t);

static inline uint64_t column_get(const void *row, const struct column *c)
{
	const char *at = (const char *)row + c->offset;
	uint32_t v32;
	uint64_t v64;

	switch (c->width) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		memcpy(&v32, at, 4);
		return v32;
	default:
		memcpy(&v64, at, 8);
		return v64;
	}
}

static inline void column_set(void *row, const struct column *c, uint64_t value)
{
	char *at = (char *)row + c->offset;
	uint32_t v32 = (uint32_t)value;

	switch (c->width) {
	case 1:
		*at = (char)(uint8_t)value;
		break;
	case 4:
		memcpy(at, &v32, 4);
		break;
	default:
		memcpy(at, &value, 8);
	}
}

/* Appends a section with rows [first, end). */
void section_put_table(struct buf *out, const struct profile *p,
		       const struct table *t, size_t first, size_t end);
void section_put_strings(struct buf *out, const struct profile *p, size_t first,
			 size_t end);
void section_put_notes(struct buf *out, const struct profile *p);
void section_put_codes(struct buf *out, const struct profile *p, size_t first,
		       size_t end);
void section_put_texts(struct buf *out, const struct profile *p, size_t first,
		       size_t end);

/*
 * Adds one section to the profile.  `gap` is the number of rows that may be
 * missing before first_id (because chunks were damaged); missing rows are
 * filled with placeholders.  Returns false if the bytes are invalid; then
 * nothing of the section is kept.
 */
bool section_get(struct profile *p, uint64_t kind, struct cursor *c,
		 size_t gap);

/* Makes every reference in the model valid and bounds the depth of chains;
 * `bad` receives the number of invalid ones.  Returns 0 or -ERR_NOMEM. */
int profile_validate(struct profile *p, size_t *bad);

#endif
