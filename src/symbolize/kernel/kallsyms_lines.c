// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds lines of a table of kernel symbols: see kallsyms_lines.h. */
#include "symbolize/kernel/kallsyms_lines.h"

#include <endian.h>
#include <string.h>

#include "base/io.h"

/* Returns the value of eight hexadecimal digits, without a loop: a table has
 * millions. */
static uint64_t eight_digits(const char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	v = be64toh(v);
	/* the low bits of a letter are its value less 9 */
	v = (v & 0x0f0f0f0f0f0f0f0full) + (v >> 6 & 0x0101010101010101ull) * 9;
	v = (v | v >> 4) & 0x00ff00ff00ff00ffull;
	v = (v | v >> 8) & 0x0000ffff0000ffffull;
	return (v | v >> 16) & 0xffffffffull;
}

uint64_t kallsyms_digits(const char *p)
{
	return eight_digits(p) << 32 | eight_digits(p + 8);
}

/* Returns the start of the line that ends before `at`, not before `least`. */
static size_t line_before(const char *text, size_t least, size_t at)
{
	const char *nl = at > least + 1
		? memrchr(text + least, '\n', at - 1 - least) : NULL;

	return nl ? (size_t)(nl + 1 - text) : least;
}

/* Reads the address of the line at `at`; false if it has none. */
static bool line_address(const char *text, size_t n, size_t at, uint64_t *out)
{
	if (at >= n || n - at < 20 || text[at + 16] != ' ')
		return false;
	*out = kallsyms_digits(text + at);
	return true;
}

/* Copies the lines of the symbol that covers an address, and the next line, from a
 * table sorted by address.  *done: end of the lines that were copied before, and
 * *end: the address of the last of them. */
static bool copy_lines(const char *text, size_t n, uint64_t addr, size_t *done,
		       uint64_t *end, struct buf *out)
{
	size_t lo = *done, hi = n, first, from;
	uint64_t at, group;
	const char *nl;

	if (addr < *end)
		return true;
	while (lo < hi) {
		size_t line = line_before(text, lo, lo + (hi - lo) / 2 + 1);

		if (!line_address(text, n, line, &at))
			return false;
		nl = memchr(text + line, '\n', n - line);
		if (at > addr)
			hi = line;
		else
			lo = nl ? (size_t)(nl + 1 - text) : n;
	}
	nl = lo < n ? memchr(text + lo, '\n', n - lo) : NULL;
	if (!lo || !nl || memchr(text + lo, '\t', (size_t)(nl - (text + lo))))
		return false;
	first = line_before(text, 0, lo);
	if (!line_address(text, n, first, &group) || group > addr ||
	    !line_address(text, n, lo, end) || *end <= addr)
		return false;
	for (from = first; from > *done; from = first) {
		first = line_before(text, 0, from);
		if (!line_address(text, n, first, &at) || at != group)
			break;
	}
	from = from > *done ? from : *done;
	*done = (size_t)(nl + 1 - text);
	buf_bytes(out, text + from, *done - from);
	return !out->failed;
}

bool kallsyms_copy_lines(const char *path, uint64_t text,
			 const uint64_t *offsets, size_t n, struct buf *out)
{
	struct io_map map = { 0 };
	struct error ignored;
	uint64_t end = 0;
	size_t done = 0;
	bool good = text && !io_map_file(path, &map, &ignored);

	if (good)
		good = copy_lines((const char *)map.p, map.n, text, &done, &end,
				  out);
	for (size_t i = 0; good && i < n; i++)
		good = offsets[i] <= UINT64_MAX - text &&
		       copy_lines((const char *)map.p, map.n,
				  text + offsets[i], &done, &end, out);
	io_unmap(&map);
	return good;
}
