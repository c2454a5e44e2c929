/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_ALLOW_H
#define TALLY_CHECK_ALLOW_H
/*
 * Changes that are known.  A file of lines
 *
 *	PATTERN [+PERCENT%] -- REASON
 *
 * PATTERN is a function's name as a report shows it or as it is linked, with *
 * and ? for any text and character, or [total]; it may grow by PERCENT, without
 * it by anything.  Empty lines and lines that begin with # say nothing.  A reason
 * is needed: it is shown.
 */
#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

struct allowed {
	char *pattern, *reason;
	double limit;		/* 0.12: up to +12 %; negative: any */
	unsigned int line;
};

struct allow_list {
	VEC(struct allowed) v;
};

int allow_parse(const char *text, size_t n, const char *name,
		struct allow_list *out, struct error *err);
int allow_read(const char *path, struct allow_list *out, struct error *err);
void allow_fini(struct allow_list *l);
/* The first entry for one of the names that allows such a change (ratio 1.1:
 * 10 % slower), or NULL. */
const struct allowed *allow_find(const struct allow_list *l,
				 const char *const *names, size_t n,
				 double ratio);

#endif
