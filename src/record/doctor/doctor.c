// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the checks of tally doctor and sums them up. */
#include "record/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct doctor_check *doctor_add(struct doctor *d, const char *name,
				enum doctor_state state)
{
	struct doctor_check c = { .name = name, .state = state };

	/* Room for all was made at the start. */
	if (vec_push(&d->checks, c) < 0) {
		d->failed = true;
		return &d->checks.v[d->checks.n - 1];
	}
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

void doctor_fix(struct doctor_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(c->fix, sizeof(c->fix), fmt, ap);
	va_end(ap);
}

int doctor_run(struct doctor *d, const char *folder, struct error *err)
{
	enum { ROOM = 32 };

	memset(d, 0, sizeof(*d));
	d->folder = folder;
	if (vec_reserve(&d->checks, ROOM) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for checks");
	rights_read(&d->rights);
	doctor_programs(d);
	doctor_sources(d);
	doctor_counters(d);
	doctor_kernel_names(d);
	doctor_limits(d);
	doctor_place(d);
	doctor_debug_files(d);
	doctor_output(d);
	if (!d->failed)
		return 0;
	doctor_fini(d);
	return error_set(err, ERR_NOMEM, "out of memory for checks");
}

void doctor_fini(struct doctor *d)
{
	vec_fini(&d->checks);
}
