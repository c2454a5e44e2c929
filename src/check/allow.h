/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_ALLOW_H
#define TALLY_CHECK_ALLOW_H
/*
 * Known changes that must not fail a check, read from a file of lines
 *
 *	PATTERN [+PERCENT%] -- REASON
 *
 * PATTERN is a function's linkage name or its name as reports show it, with * for
 * any text and ? for any character, or it is [total]. The entry allows an increase
 * of up to PERCENT; without PERCENT it allows any increase.  REASON is required, and
 * reports show it.  Empty lines and lines that begin with # are ignored.
 */
#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

struct allowed {
	char *pattern, *reason;
	double limit;		/* largest allowed increase, 0.12 for +12 %;
				 * negative: no limit */
	unsigned int line;
};

struct allow_list {
	VEC(struct allowed) v;
};

/* Parses a list of n bytes; `name` appears in messages.  Returns 0 or an error,
 * after which *out is empty. */
int allow_parse(const char *text, size_t n, const char *name,
		struct allow_list *out, struct error *err);
/* Reads and parses a file in the same way. */
int allow_read(const char *path, struct allow_list *out, struct error *err);
void allow_fini(struct allow_list *l);
/* Returns the first entry that matches a function and allows the change, or NULL;
 * `l` may be NULL.  `name` is the full readable name, which reports may shorten;
 * `linkage` may be "".  A ratio of 1.1 means 10 % slower.  The list owns the entry. */
const struct allowed *allow_find(const struct allow_list *l, const char *name,
				 const char *linkage, double ratio);

#endif
