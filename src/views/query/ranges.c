// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and searches lists of numbers and ranges (see select.h). */
#include "views/query/select.h"

#include <errno.h>
#include <stdlib.h>

static const char *parse_number(const char *s, uint64_t *out)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return errno ? NULL : end;
}

int range_list_parse(const char *text, const char *what,
		     struct range_list *out, struct error *err)
{
	const char *s = text;

	for (;;) {
		struct range r;

		s = parse_number(s, &r.first);
		if (!s)
			break;
		r.last = r.first;
		if (*s == '-')
			s = parse_number(s + 1, &r.last);
		if (!s || r.last < r.first || (*s && *s != ','))
			break;
		if (vec_push(out, r) < 0)
			return error_nomem(err);
		if (!*s)
			return 0;
		s++;
	}
	return error_set(err, ERR_USAGE,
			 "%s '%s': use numbers and ranges such as 1,4-7", what,
			 text);
}

bool range_list_has(const struct range_list *l, uint64_t x)
{
	for (size_t i = 0; i < l->n; i++)
		if (x >= l->v[i].first && x <= l->v[i].last)
			return true;
	return false;
}
