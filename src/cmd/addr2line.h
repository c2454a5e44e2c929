/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_ADDR2LINE_H
#define TALLY_CMD_ADDR2LINE_H
/*
 * What `tally addr2line` knows of a batch of addresses, kept small, and its text.
 *
 *	addr2line.c		options, the file, lines into addresses, batches
 *	addr2line_text.c	answers into text, readable names made once a batch
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/vec.h"
#include "base/buf.h"
#include "symbolize/symbolize.h"

/* How answers look; addr2line(1) of binutils says what each option does. */
struct answer_style {
	bool functions, inlines, addresses, pretty, basenames;
	bool demangle, short_names;
	bool json;
	bool safe;		/* a terminal shows it: no control characters */
	int digits;		/* of an address: 8 or 16 */
};

/* A frame without what is not shown. */
struct answer_frame {
	const char *name, *file;	/* the symbolizer's */
	uint32_t line, column;
	uint16_t lang;			/* of its unit: how the name is read */
};

struct answer {
	uint32_t first, n;	/* in frames; n == 0: nothing known */
};

/* Readable names of what is shown more than once. */
struct readable_name {
	const char *name;
	uint32_t uses;
	uint32_t at;		/* in text[worker]; NOT_MADE */
	uint16_t lang;
	uint8_t worker;
};

struct readable_names {
	VEC(struct readable_name) v;
	struct u64map index;	/* by the linker's name, and if Ada's */
	struct buf text[2];
};

struct answers {
	VEC(struct answer) by_addr;
	VEC(struct answer_frame) frames;
	struct readable_names names;
	struct buf out[2];
};

/* Room for n answers, none known. 0 or -ERR_NOMEM. */
int answers_reset(struct answers *a, size_t n);
void answers_fini(struct answers *a);
/* The first n frames of a result for the address asked for at position `at`. */
int answers_set(struct answers *a, size_t at, const struct sym_result *r,
		size_t n);
/* Writes the answers for n addresses, in that order, and flushes. */
int answers_print(struct answers *a, const struct answer_style *st,
		  const uint64_t *addrs, size_t n, FILE *to,
		  struct error *err);

#endif
