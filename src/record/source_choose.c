// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/source_choose.h"

#include <unistd.h>

#include "record/kmod_source.h"
#include "record/timer_source.h"
#include "tally/kmod.h"

/* perf has more events and is everywhere; the module steps in where perf has
 * not what was asked for, or may not be used. */
static int choose(const struct perf_target *target,
		  const struct perf_source_options *o, struct source **out,
		  struct error *err)
{
	struct error other = { 0 };
	int r = perf_source_open(target, o, out, err);

	if ((r != -ERR_UNSUPPORTED && r != -ERR_PERM) ||
	    access(TALLY_DEVICE, R_OK | W_OK))
		return r;
	return kmod_source_open(target, o, out, &other) < 0 ? r : 0;
}

int source_choose(enum record_source which, const struct perf_target *target,
		  const struct perf_source_options *o, struct source **out,
		  struct error *err)
{
	switch (which) {
	case RECORD_SOURCE_PERF:
		return perf_source_open(target, o, out, err);
	case RECORD_SOURCE_KMOD:
		return kmod_source_open(target, o, out, err);
	case RECORD_SOURCE_TIMER:
		return timer_source_open(target, o, out, err);
	case RECORD_SOURCE_AUTO:
		break;
	}
	return choose(target, o, out, err);
}
