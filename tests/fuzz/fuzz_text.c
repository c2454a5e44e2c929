// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a name: what comes out is safe for its place, and cutting keeps
 * to its width. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check_no_control(const struct buf *b)
{
	for (size_t i = 0; i < b->n; i++)
		must(b->p[i] >= 0x20 && b->p[i] != 0x7f);
}

static void check_text(const char *s, uint8_t columns)
{
	struct buf safe = { 0 }, again = { 0 }, out = { 0 };
	const char *text;

	text_safe(&safe, s);
	check_no_control(&safe);
	text = buf_cstr(&safe);
	text_safe(&again, text);
	must(!strcmp(buf_cstr(&again), text));
	text_cut(&out, text, columns);
	must(text_columns(buf_cstr(&out)) <= columns);
	buf_reset(&out);
	text_json(&out, s);
	check_no_control(&out);
	must(out.n >= 2 && out.p[0] == '"' && out.p[out.n - 1] == '"');
	must(!strpbrk(buf_cstr(&out), "<>&"));
	buf_reset(&out);
	text_csv(&out, s);
	check_no_control(&out);
	must(!out.n || !strchr("=+-@", out.p[0]));
	buf_fini(&safe);
	buf_fini(&again);
	buf_fini(&out);
}

static void check_numbers(const uint8_t *data, size_t size)
{
	struct cursor u = cursor_of(data, size), s = u;
	struct buf b = { 0 };

	while (cursor_left(&u)) {
		uint64_t v = cursor_uleb(&u);
		struct cursor back;

		if (u.bad)
			break;
		buf_reset(&b);
		buf_uleb(&b, v);
		back = cursor_of(b.p, b.n);
		must(cursor_uleb(&back) == v && !back.bad);
	}
	while (cursor_left(&s)) {
		int64_t v = cursor_sleb(&s);
		struct cursor back;

		if (s.bad)
			break;
		buf_reset(&b);
		buf_sleb(&b, v);
		back = cursor_of(b.p, b.n);
		must(cursor_sleb(&back) == v && !back.bad);
	}
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s;

	if (!size || size > 65536)
		return 0;
	s = malloc(size);
	if (!s)
		return 0;
	memcpy(s, data + 1, size - 1);
	s[size - 1] = 0;
	check_text(s, data[0]);
	check_numbers(data, size);
	free(s);
	return 0;
}
