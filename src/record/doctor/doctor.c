// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the checks of tally doctor and summarises them. */
#include "record/doctor/doctor.h"

#include <string.h>

#include "record/choose/sources.h"

int doctor_run(struct doctor *d, const char *folder, struct error *err)
{
	enum { ROOM = 32 };

	memset(d, 0, sizeof(*d));
	d->folder = folder;
	if (vec_reserve(&d->checks, ROOM) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for checks");
	rights_read(&d->rights);
	doctor_programs(d);
	for (const struct source_type *const *s = source_types; *s; s++)
		(*s)->diagnose(d);
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
