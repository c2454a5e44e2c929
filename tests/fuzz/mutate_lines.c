// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations of texts for libFuzzer that leave lines and words whole: a line goes,
 * comes twice or changes its place; a word becomes another one, a number at the
 * edge of its range, or is changed by bytes.
 */
#include <string.h>

#include "base/buf.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

enum { WORD_BYTES_MAX = 64 };

struct part {
	size_t at, n;
};

static const char *const numbers[] = { "0", "1", "-1", "7fffffff", "80000000",
	"ffffffff", "4294967296", "7fffffffffffffff", "8000000000000000",
	"ffffffffffffffff", "18446744073709551616", "00000000000000000000001",
	"0x10", "fffffffffffff000" };

static uint32_t draw(uint32_t *seed, size_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % (uint32_t)n;
}

/* The line around a place, with its newline. */
static struct part pick_line(const uint8_t *p, size_t n, uint32_t *seed)
{
	size_t at = draw(seed, n), end = at;

	while (at && p[at - 1] != '\n')
		at--;
	while (end < n && p[end] != '\n')
		end++;
	return (struct part){ at, end + (end < n) - at };
}

static bool is_between(uint8_t c)
{
	return c <= ' ' || strchr(",:;-=[]()", c);
}

/* The word around a place; of no length between two. */
static struct part pick_word(const uint8_t *p, size_t n, uint32_t *seed)
{
	size_t at = draw(seed, n), end = at;

	while (at && !is_between(p[at - 1]))
		at--;
	while (end < n && !is_between(p[end]))
		end++;
	return (struct part){ at, end > at ? end - at : 0 };
}

static void put_word(struct buf *out, const uint8_t *p, size_t n,
		     struct part word, uint32_t *seed)
{
	struct part other = pick_word(p, n, seed);
	uint8_t few[WORD_BYTES_MAX * 2];

	switch (draw(seed, 3)) {
	case 0:
		buf_bytes(out, p + other.at, other.n);
		break;
	case 1:
		buf_str(out, numbers[draw(seed, sizeof(numbers) /
						sizeof(*numbers))]);
		break;
	default:
		if (word.n > WORD_BYTES_MAX) {
			buf_bytes(out, p + word.at, WORD_BYTES_MAX);
			break;
		}
		memcpy(few, p + word.at, word.n);
		buf_bytes(out, few, LLVMFuzzerMutate(few, word.n, sizeof(few)));
	}
}

static void mutate(struct buf *out, const uint8_t *p, size_t n, uint32_t *seed)
{
	struct part line = pick_line(p, n, seed), to = pick_line(p, n, seed);
	struct part word = pick_word(p, n, seed);
	uint32_t how = draw(seed, 8);

	if (how > 2) {
		buf_bytes(out, p, word.at);
		put_word(out, p, n, word, seed);
		buf_bytes(out, p + word.at + word.n, n - word.at - word.n);
	} else if (how == 0) {
		buf_bytes(out, p, line.at);
		buf_bytes(out, p + line.at + line.n, n - line.at - line.n);
	} else {
		/* before another line, or over it */
		size_t after = to.at + (how == 1 ? 0 : to.n);

		buf_bytes(out, p, to.at);
		buf_bytes(out, p + line.at, line.n);
		buf_bytes(out, p + after, n - after);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct buf out = { 0 };
	uint32_t s = seed;
	size_t got = 0;

	if (size && draw(&s, 4)) {
		mutate(&out, data, size, &s);
		if (!out.failed && out.n && out.n <= max)
			memcpy(data, out.p, got = out.n);
		buf_fini(&out);
	}
	return got ? got : LLVMFuzzerMutate(data, size, max);
}
