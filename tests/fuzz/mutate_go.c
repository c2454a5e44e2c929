// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations of Go's table of functions and lines for libFuzzer that keep its parts where
 * they are: a word of the header, a function's entry or data, a step of a table of
 * lines, the version, or the end of a name changes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

/* Formats: debug/gosym/pclntab.go. */
enum {
	HEADER_WORDS = 9,	/* at most, of 8 bytes */
	FUNC_WORDS = 24,	/* a function's data, of 4 bytes, and its pcdata */
	STEPS_MAX = 64,		/* bytes at the beginning of a table of steps */
};

static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

struct table {
	uint8_t *p;
	size_t n;
	bool short_entries;	/* 4 bytes for an address, since Go 1.18 */
	uint64_t nfunc, names, pcs, funcs;
};

static uint32_t draw(uint32_t *seed, size_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return n ? (*seed >> 8) % (uint32_t)n : 0;
}

static uint64_t get(const struct table *t, uint64_t at, size_t size)
{
	uint64_t v = 0;

	if (at < t->n && t->n - at >= size)
		memcpy(&v, t->p + at, size);
	return v;
}

static void put(const struct table *t, uint64_t at, size_t size, uint64_t v)
{
	if (at < t->n && t->n - at >= size)
		memcpy(t->p + at, &v, size);
}

static struct table table_of(uint8_t *p, size_t n)
{
	struct table t = { .p = p, .n = n, .funcs = 16 };
	uint32_t magic = (uint32_t)get(&t, 0, 4);
	unsigned int at;

	t.nfunc = get(&t, 8, 8);
	if (magic == magics[0])
		return t;
	t.short_entries = magic != magics[1];
	at = t.short_entries ? 32 : 24;
	t.names = get(&t, at, 8);
	t.pcs = get(&t, at + 24, 8);
	t.funcs = get(&t, at + 32, 8);
	return t;
}

/* A number at the edge of something, near the old one, or one that stands elsewhere. */
static uint64_t other_number(const struct table *t, uint64_t old, uint32_t *seed)
{
	const uint64_t edges[] = {
		0, 1, t->n - 1, t->n, t->n + 1, t->nfunc, t->funcs, t->pcs, t->names,
		INT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX - t->n,
		get(t, 8 * draw(seed, HEADER_WORDS), 8),
	};
	enum { N = sizeof(edges) / sizeof(*edges) };
	uint32_t i = draw(seed, 2 * N);

	return i < N ? edges[i] : old + draw(seed, 33) - 16;
}

static void change(const struct table *t, uint64_t at, size_t size, uint32_t *seed)
{
	put(t, at, size, other_number(t, get(t, at, size), seed));
}

static size_t entry_size(const struct table *t)
{
	return t->short_entries ? 8 : 16;
}

/* The entry of some function, or the end of the last one. */
static uint64_t pick_entry(const struct table *t, uint32_t *seed)
{
	size_t most = t->nfunc < t->n ? (size_t)t->nfunc : t->n;

	return t->funcs + draw(seed, most + 1) * entry_size(t);
}

/* The data of some function. */
static uint64_t pick_func(const struct table *t, uint32_t *seed)
{
	size_t half = entry_size(t) / 2;
	uint64_t at = get(t, pick_entry(t, seed) + half, half);

	return t->names ? t->funcs + at : at;
}

static void swap_entries(const struct table *t, uint32_t *seed)
{
	uint64_t a = pick_entry(t, seed), b = pick_entry(t, seed);

	for (size_t i = 0; i < entry_size(t); i++) {
		uint64_t byte = get(t, a + i, 1);

		put(t, a + i, 1, get(t, b + i, 1));
		put(t, b + i, 1, byte);
	}
}

/* Steps are pairs of numbers in seven bits per byte; a pair that begins with 0 ends
 * them. */
static void change_steps(const struct table *t, uint32_t *seed)
{
	static const uint8_t bytes[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
	uint64_t func = pick_func(t, seed) + (t->short_entries ? 4 : 8);
	uint64_t at = t->pcs + get(t, func + 16 + 4 * draw(seed, 2), 4) +
		      draw(seed, STEPS_MAX);
	uint8_t byte = bytes[draw(seed, sizeof(bytes))];

	for (uint32_t n = 1 + draw(seed, 11); n > 0; n--)
		put(t, at++, 1, byte);
}

static void change_name(const struct table *t, uint32_t *seed)
{
	uint64_t func = pick_func(t, seed) + (t->short_entries ? 4 : 8);
	uint64_t at = t->names + get(t, func, 4);

	while (get(t, at, 1))
		at++;
	put(t, at, 1, 'x');
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct table t = table_of(data, size);
	uint32_t s = seed;

	switch (draw(&s, 8)) {
	case 0:
		change(&t, 8 * draw(&s, HEADER_WORDS), 8, &s);
		break;
	case 1:
		change(&t, pick_entry(&t, &s) + draw(&s, 2) * (entry_size(&t) / 2),
		       entry_size(&t) / 2, &s);
		break;
	case 2:
		swap_entries(&t, &s);
		break;
	case 3:
		change(&t, pick_func(&t, &s) + 4 * draw(&s, FUNC_WORDS), 4, &s);
		break;
	case 4:
		change_steps(&t, &s);
		break;
	case 5:
		change_name(&t, &s);
		break;
	case 6:
		put(&t, 0, 4, magics[draw(&s, 4)]);
		break;
	default:
		return LLVMFuzzerMutate(data, size, max);
	}
	return size;
}
