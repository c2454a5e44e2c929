/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_JSON_H
#define TALLY_BASE_JSON_H
/*
 * A streaming JSON writer (RFC 8259).  Keys are written in the given order.
 * There is no white space except a newline between the elements of arrays
 * opened with json_array_lines.  So output is stable and diffs are readable.
 *
 *	struct json j = json_on(&out);
 *	json_object(&j, NULL);
 *	json_uint(&j, "schema", 1);
 *	json_array_lines(&j, "rows"); ... json_end(&j);
 *	json_end(&j);
 *
 * `key` is NULL inside arrays and at the top level.  Nesting beyond
 * JSON_MAX_DEPTH and unbalanced json_end calls set the buffer's `failed`.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

enum { JSON_MAX_DEPTH = 1024 };

struct json {
	struct buf *out;
	uint8_t kind[JSON_MAX_DEPTH];
	bool comma[JSON_MAX_DEPTH];
	int depth;
};

struct json json_on(struct buf *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_array_lines(struct json *j, const char *key);
void json_end(struct json *j);
void json_str(struct json *j, const char *key, const char *value);
/* Writes the text of a buffer, which it releases. */
void json_buf(struct json *j, const char *key, struct buf *value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
/* Writes several numbers: json_uints(&j, { "pid", pid }, { "tid", tid }). */
#define json_uints(j, ...) \
	json_put_uints((j), (struct json_number[]){ __VA_ARGS__ }, \
		       COUNT(((struct json_number[]){ __VA_ARGS__ })))
struct json_number {
	const char *key;
	uint64_t value;
};
void json_put_uints(struct json *j, const struct json_number *v, size_t n);
/* Writes `digits` digits after the decimal point; NaN and infinity become null.
 */
void json_fixed(struct json *j, const char *key, double value, int digits);
/* Writes text that is already JSON, for a value that is written many times. */
void json_raw(struct json *j, const char *key, const void *text, size_t n);
/* Writes a number as a string "0x…", because JSON numbers have only 53 bits. */
void json_hex(struct json *j, const char *key, uint64_t value);

#endif
