/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_DOCTOR_DOCTOR_H
#define TALLY_RECORD_DOCTOR_DOCTOR_H
/*
 * Finds out what this user can record on this machine by doing it for a moment:
 * opening events, mapping rings, taking samples, reading files.  Settings only
 * explain what failed and name the smallest change.
 */
#include "base/error.h"
#include "record/source/doctor_check.h"

/* Runs all checks. -ERR_NOMEM is the only error. */
int doctor_run(struct doctor *d, const char *folder, struct error *err);
void doctor_fini(struct doctor *d);

/* The groups of checks, in the order in which they are shown. */
void doctor_programs(struct doctor *d);		/* doctor_perf.c */
void doctor_counters(struct doctor *d);		/* doctor_counters.c */
void doctor_limits(struct doctor *d);		/* doctor_limits.c */
void doctor_kernel_names(struct doctor *d);	/* doctor_names.c */
void doctor_debug_files(struct doctor *d);
void doctor_place(struct doctor *d);		/* doctor_place.c */
void doctor_output(struct doctor *d);

#endif
