// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts records of the other byte order: see perf_swap.h. */
#include "import/perf_swap.h"

#include <byteswap.h>
#include <string.h>

enum { HEADER = 8 };

/* The bytes that remain to be converted. */
struct bytes_left {
	uint8_t *p, *end;
};

static size_t left(const struct bytes_left *s)
{
	return (size_t)(s->end - s->p);
}

static void skip(struct bytes_left *s, uint64_t n)
{
	s->p = n > left(s) ? s->end : s->p + n;
}

/* Converts n numbers of `size` bytes.  Returns the last one; 0 if there are fewer. */
static inline uint64_t numbers(struct bytes_left *s, uint64_t n, size_t size)
{
	uint64_t v = 0;

	for (; n && left(s) >= size; n--, s->p += size) {
		memcpy(&v, s->p, size);
		v = bswap_64(v) >> (64 - 8 * size);
		memcpy(s->p, &v, size);
	}
	if (n)
		s->p = s->end;
	return n ? 0 : v;
}

static uint64_t words(struct bytes_left *s, uint64_t n)
{
	return numbers(s, n, 8);
}

static uint32_t halves(struct bytes_left *s, uint64_t n)
{
	return (uint32_t)numbers(s, n, 4);
}

static uint16_t quarters(struct bytes_left *s, uint64_t n)
{
	return (uint16_t)numbers(s, n, 2);
}

/* Reverses bit fields, which begin at the other end of each byte.  The only field of two
 * bits, precise_ip (bits 15 and 16), keeps its order. */
static void bit_fields(struct bytes_left *s)
{
	uint64_t v = 0, precise;

	if (left(s) < 8) {
		s->p = s->end;
		return;
	}
	for (unsigned int i = 0; i < 64; i++)
		v |= (uint64_t)(s->p[i / 8] >> (7 - i % 8) & 1) << i;
	precise = v >> 15 & 3;
	v &= ~(3ull << 15);
	v |= (precise >> 1 | (precise & 1) << 1) << 15;
	memcpy(s->p, &v, 8);
	s->p += 8;
}

void perf_swap_attr(uint8_t *p, size_t n)
{
	struct bytes_left s = { p, p + n };

	halves(&s, 2);		/* type, size */
	words(&s, 4);		/* config, period, sample_type, read_format */
	bit_fields(&s);
	halves(&s, 2);		/* wakeup, bp_type */
	words(&s, 4);		/* config1, config2, branches, registers */
	halves(&s, 2);		/* size of copies, clock */
	words(&s, 1);
	halves(&s, 1);
	quarters(&s, 2);
	halves(&s, 2);
	words(&s, left(&s) / 8);
}

static uint64_t bit_count(uint64_t bits)
{
	return (uint64_t)__builtin_popcountll(bits);
}

static void read_values(struct bytes_left *s, uint64_t format)
{
	uint64_t times = bit_count(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
					     PERF_FORMAT_TOTAL_TIME_RUNNING));
	uint64_t each = 1 + bit_count(format & (PERF_FORMAT_ID |
						1u << 4 /* LOST */));
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = words(s, 1);
	words(s, times);
	words(s, n > left(s) / 8 ? left(s) / 8 + 1 : n * each);
}

/* Converts a list of n * each words that follows its length. */
static void list(struct bytes_left *s, uint64_t before, uint64_t each)
{
	uint64_t n = words(s, 1);

	words(s, before);
	words(s, n > left(s) / 8 ? left(s) / 8 + 1 : n * each);
}

/* Converts the fields of a sample after those that all samples begin with. */
static void sample_rest(struct bytes_left *s, const struct perf_event_attr *a)
{
	uint64_t type = a->sample_type;

	if (type & PERF_SAMPLE_READ)
		read_values(s, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		list(s, 0, 1);
	if (type & PERF_SAMPLE_RAW)
		skip(s, halves(s, 1));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		list(s, a->branch_sample_type >> 17 & 1,	/* HW_INDEX */
		     3 + (a->branch_sample_type >> 19 & 1));	/* COUNTERS */
	if (type & PERF_SAMPLE_REGS_USER)
		words(s, words(s, 1) ? bit_count(a->sample_regs_user) : 0);
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t size = words(s, 1);

		skip(s, size);
		words(s, !!size);
	}
}

static void sample(const struct perf_file *f, struct bytes_left *s)
{
	uint32_t row = perf_file_event(f, s->p, left(s), true);
	const struct perf_event_attr *a;
	uint64_t type;

	if (row >= f->events.n)
		return;
	a = &f->events.v[row].attr;
	type = a->sample_type;
	words(s, bit_count(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)));
	halves(s, type & PERF_SAMPLE_TID ? 2 : 0);
	words(s, bit_count(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
				   PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
	halves(s, type & PERF_SAMPLE_CPU ? 2 : 0);
	words(s, !!(type & PERF_SAMPLE_PERIOD));
	sample_rest(s, a);
}

/* Converts the identification at the end of records other than samples. */
static void trailer(const struct perf_file *f, struct bytes_left *s)
{
	uint64_t type = f->events.v[0].attr.sample_type;

	halves(s, type & PERF_SAMPLE_TID ? 2 : 0);
	words(s, bit_count(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				   PERF_SAMPLE_STREAM_ID)));
	halves(s, type & PERF_SAMPLE_CPU ? 2 : 0);
	words(s, !!(type & PERF_SAMPLE_IDENTIFIER));
}

static void body(uint32_t type, uint16_t misc, struct bytes_left *s)
{
	switch (type) {
	case PERF_RECORD_MMAP:
		halves(s, 2);
		words(s, 3);
		break;
	case PERF_RECORD_MMAP2:
		halves(s, 2);
		words(s, 3);
		if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			skip(s, 24);
		} else {
			halves(s, 2);
			words(s, 2);
		}
		halves(s, 2);
		break;
	case PERF_RECORD_COMM:
		halves(s, 2);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		halves(s, 4);
		words(s, 1);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_FILE_CALLCHAIN_DEFERRED:
		words(s, left(s) / 8);
		break;
	case PERF_RECORD_KSYMBOL:
		words(s, 1);
		halves(s, 1);
		quarters(s, 2);
		break;
	default:
		break;
	}
}

void perf_swap_record(const struct perf_file *f, uint8_t *p, size_t n)
{
	struct bytes_left all = { p, p + n };
	uint32_t type = halves(&all, 1);
	uint16_t misc = quarters(&all, 1);
	size_t behind = perf_file_trailer(f, type);

	quarters(&all, 1);
	if (!f->events.n)
		return;
	if (type == PERF_RECORD_SAMPLE) {
		sample(f, &all);
	} else if (behind <= left(&all)) {
		struct bytes_left end = { all.end - behind, all.end };

		all.end -= behind;
		body(type, misc, &all);
		if (behind)
			trailer(f, &end);
	}
}
