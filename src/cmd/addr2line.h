/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_ADDR2LINE_H
#define TALLY_CMD_ADDR2LINE_H
/*
 * The answers of `tally addr2line` for a batch of addresses, stored compactly, and
 * their text.
 *
 *	addr2line.c		options, the file, input of addresses, batches
 *	addr2line_text.c	output; readable names are made once per batch
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/vec.h"
#include "base/buf.h"
#include "symbolize/symbolize.h"

/* The layout of answers; addr2line(1) of binutils describes each option. */
struct answer_style {
	bool functions, inlines, addresses, pretty, basenames;
	bool demangle, short_names;
	bool json;
	bool safe;		/* the output is a terminal: no control characters */
	int digits;		/* digits of an address, 8 or 16 */
};

/* A frame, reduced to what is shown. */
struct answer_frame {
	const char *name, *file;	/* owned by the symbolizer */
	uint32_t line, column;
	uint16_t lang;			/* language of the unit, which determines
					 * how the name is demangled */
};

struct answer {
	uint32_t first, n;	/* range in `frames`; n == 0: unresolved */
};

/* A readable name, cached because it is shown more than once. */
struct readable_name {
	const char *name;
	uint32_t uses;
	uint32_t at;		/* offset in text[worker], or NOT_MADE */
	uint16_t lang;
	uint8_t worker;		/* thread that makes it */
};

struct readable_names {
	VEC(struct readable_name) v;
	struct u64map index;	/* by linkage name and whether it is Ada's */
	struct buf text[2];	/* by worker */
};

struct answers {
	VEC(struct answer) by_addr;
	VEC(struct answer_frame) frames;
	struct readable_names names;
	struct buf out[2];
};

/* Makes room for n unresolved answers.  Returns 0 or -ERR_NOMEM. */
int answers_reset(struct answers *a, size_t n);
void answers_fini(struct answers *a);
/* Stores the first n frames of a result as the answer at position `at`. */
int answers_set(struct answers *a, size_t at, const struct sym_result *r,
		size_t n);
/* Writes the answers for n addresses in their order, and flushes. */
int answers_print(struct answers *a, const struct answer_style *st,
		  const uint64_t *addrs, size_t n, FILE *to,
		  struct error *err);

#endif
