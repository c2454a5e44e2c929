/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CHOOSE_H
#define TALLY_RECORD_SOURCE_CHOOSE_H
/* --source: which source of samples a recording gets. */
#include "record/perf_source.h"
#include "record/record.h"

int source_choose(enum record_source which, const struct perf_target *target,
		  const struct perf_source_options *o, struct source **out,
		  struct error *err);

#endif
