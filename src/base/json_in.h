/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_JSON_IN_H
#define TALLY_BASE_JSON_IN_H
/*
 * Reads JSON (RFC 8259) in memory from the beginning to the end, building nothing.
 * The bytes are hostile: what is no JSON sets `bad`, after which all reads end.
 * A copy of a json_in remembers a value's place, to be read there again.
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
 * Each key and each item must be followed by the reading of one value.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { JSON_IN_DEPTH = 512, JSON_IN_TEXT = 1 << 20 };

struct json_in {
	const uint8_t *start, *p, *end;
	bool bad;
	bool first;		/* of an object or array: no comma comes before */
};

struct json_in json_in_of(const void *p, size_t n);
/* Whether the next value begins with this character, '"' for a string and '0' for any
 * number. */
bool json_in_is(struct json_in *j, char kind);
/* Enters an object or array; false: it is none. */
bool json_in_object(struct json_in *j);
bool json_in_array(struct json_in *j);
/* The next key (in place of what `key` held), or false behind the last one. */
bool json_in_key(struct json_in *j, struct buf *key);
/* Whether there is another element. */
bool json_in_item(struct json_in *j);
/* Appends a string of at most JSON_IN_TEXT bytes in UTF-8; NUL becomes U+FFFD, as do
 * halves of surrogate pairs. */
bool json_in_string(struct json_in *j, struct buf *out);
/* A number; null, true and false are -1, 1 and 0; anything else is skipped and NaN. */
double json_in_number(struct json_in *j);
/* Passes by a value of any kind, nested up to JSON_IN_DEPTH. */
void json_in_skip(struct json_in *j);

#endif
