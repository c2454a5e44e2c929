// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON: see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"

enum { OBJECT, ARRAY, LINES };

struct json json_on(struct buf *out)
{
	return (struct json){ .out = out, .kind = { ARRAY } };
}

/* Returns the innermost scope with stored state.  Deeper scopes share it; the
 * buffer has failed by then. */
static int scope(const struct json *j)
{
	return j->depth < JSON_MAX_DEPTH ? j->depth : JSON_MAX_DEPTH - 1;
}

static void before(struct json *j, const char *key)
{
	int d = scope(j);

	if (j->comma[d])
		buf_u8(j->out, ',');
	j->comma[d] = true;
	if (j->kind[d] == LINES)
		buf_u8(j->out, '\n');
	if (key) {
		text_json(j->out, key);
		buf_u8(j->out, ':');
	}
}

static void open_scope(struct json *j, const char *key, uint8_t kind)
{
	before(j, key);
	buf_u8(j->out, kind == OBJECT ? '{' : '[');
	j->depth++;
	if (j->depth >= JSON_MAX_DEPTH)
		j->out->failed = true;
	j->kind[scope(j)] = kind;
	j->comma[scope(j)] = false;
}

void json_object(struct json *j, const char *key)
{
	open_scope(j, key, OBJECT);
}

void json_array(struct json *j, const char *key)
{
	open_scope(j, key, ARRAY);
}

void json_array_lines(struct json *j, const char *key)
{
	open_scope(j, key, LINES);
}

void json_end(struct json *j)
{
	int d = scope(j);

	if (!j->depth) {
		j->out->failed = true;
		return;
	}
	if (j->kind[d] == LINES && j->comma[d])
		buf_u8(j->out, '\n');
	buf_u8(j->out, j->kind[d] == OBJECT ? '}' : ']');
	j->depth--;
}

void json_str(struct json *j, const char *key, const char *value)
{
	before(j, key);
	text_json(j->out, value);
}

void json_buf(struct json *j, const char *key, struct buf *value)
{
	json_str(j, key, buf_cstr(value));
	buf_close(value, j->out);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	before(j, key);
	buf_decimal(j->out, value);
}

void json_put_uints(struct json *j, const struct json_number *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_uint(j, v[i].key, v[i].value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	before(j, key);
	if (value < 0)
		buf_u8(j->out, '-');
	buf_decimal(j->out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	before(j, key);
	buf_str(j->out, value ? "true" : "false");
}

void json_fixed(struct json *j, const char *key, double value, int digits)
{
	before(j, key);
	if (isfinite(value))
		buf_printf(j->out, "%.*f", digits, value);
	else
		buf_str(j->out, "null");
}

void json_raw(struct json *j, const char *key, const void *text, size_t n)
{
	before(j, key);
	buf_bytes(j->out, text, n);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	before(j, key);
	buf_printf(j->out, "\"0x%" PRIx64 "\"", value);
}
