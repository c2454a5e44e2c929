// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the list of findings of `tally doctor`: see doctor_check.h. */
#include "record/source/doctor_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct doctor_check *doctor_add(struct doctor *d, const char *name,
				enum doctor_state state)
{
	struct doctor_check c = { .name = name, .state = state };

	/* Room for all checks was reserved at the start. */
	if (vec_push(&d->checks, c) < 0)
		d->failed = true;
	return &d->checks.v[d->checks.n - 1];
}

static void append(char *text, size_t size, const char *fmt, va_list ap)
{
	size_t n = strlen(text);

	vsnprintf(text + n, size - n, fmt, ap);
}

void doctor_found(struct doctor_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(c->found, sizeof(c->found), fmt, ap);
	va_end(ap);
}

void doctor_state(struct doctor_check *c, enum doctor_state state, const char *fmt, ...)
{
	va_list ap;

	c->state = state;
	va_start(ap, fmt);
	append(c->found, sizeof(c->found), fmt, ap);
	va_end(ap);
}

void doctor_fix(struct doctor_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(c->fix, sizeof(c->fix), fmt, ap);
	va_end(ap);
}

void doctor_fix_sysctl(const struct doctor *d, struct doctor_check *c,
		       const char *what)
{
	char fix[sizeof(c->fix)];

	rights_sysctl(&d->rights, what, fix, sizeof(fix));
	doctor_fix(c, "%s", fix);
}
