/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_JSON_IN_H
#define TALLY_BASE_JSON_IN_H
/*
 * Reads JSON (RFC 8259) in memory from start to end without building a tree.
 * The input is untrusted: invalid JSON sets `bad` and ends all reads.  A copy
 * of a json_in remembers the position of a value, so that it can be read again.
 *
 *	struct json_in j = json_in_of(p, n);
 *
 *	if (json_in_object(&j))
 *		while (json_in_key(&j, &key))
 *			if (!strcmp(buf_cstr(&key), "rows") && json_in_array(&j))
 *				while (json_in_item(&j))
 *					sum += json_in_number(&j);
 *			else
 *				json_in_skip(&j);
 *
 * After each key and each item exactly one value must be read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { JSON_IN_DEPTH = 512, JSON_IN_TEXT = 1 << 20 };

struct json_in {
	const uint8_t *start, *p, *end;
	bool bad;
	bool first;		/* first element of an object or array: no comma */
};

struct json_in json_in_of(const void *p, size_t n);
/* Returns whether the next value starts with this character: '"' for a string,
 * '0' for any number. */
bool json_in_is(struct json_in *j, char kind);
/* Enters an object or array; returns false if the value is something else. */
bool json_in_object(struct json_in *j);
bool json_in_array(struct json_in *j);
/* Reads the next key into `key`; returns false after the last one. */
bool json_in_key(struct json_in *j, struct buf *key);
/* Returns whether there is another element. */
bool json_in_item(struct json_in *j);
/* Appends a string of at most JSON_IN_TEXT bytes as UTF-8; NUL and unpaired
 * surrogates become U+FFFD. */
bool json_in_string(struct json_in *j, struct buf *out);
/* Returns a number; null, true and false give -1, 1 and 0.  Skips any other
 * value and returns NaN. */
double json_in_number(struct json_in *j);
/* Skips a value of any kind, nested up to JSON_IN_DEPTH. */
void json_in_skip(struct json_in *j);

#endif
