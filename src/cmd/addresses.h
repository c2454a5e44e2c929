/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_ADDRESSES_H
#define TALLY_CMD_ADDRESSES_H
/*
 * Addresses that come as lines of text, in batches: all that can be read without
 * waiting, so that a file of many is looked up at once and a program that asks
 * one at a time gets its answer at once.
 *
 * A line is read as addr2line of binutils does: a function's name and "+OFFSET",
 * or what strtoull makes of it with base 16 (0 for anything else); a line longer
 * than 99 bytes is several.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "cmd/symbol_names.h"

struct addresses {
	int fd;
	struct symbol_names *names;
	bool eof;
	size_t at, n;			/* unread bytes of text */
	VEC(uint64_t) batch;
	char text[64 * 1024];
};

void addresses_init(struct addresses *a, int fd, struct symbol_names *names);
void addresses_fini(struct addresses *a);
/* The next batch into a->batch: false at the end or on an error (err->code). */
bool addresses_next(struct addresses *a, struct error *err);
uint64_t address_parse(const char *text, struct symbol_names *names);

#endif
