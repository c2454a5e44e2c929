// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns K8 and P6 specifiers into perf events on a machine of that family. */
#include "events/hw_event.h"

#include <linux/perf_event.h>
#include <string.h>

#include "events/hw_spec.h"
#include "events/names.h"

bool hw_event_is(const char *word, const char *sysfs)
{
	const struct hw_event *event;
	struct event_spec e;

	return !event_name_find(word, strcspn(word, ":,"), &e) &&
	       hw_spec_pmu(word, hw_pmu_here(sysfs), &event);
}

static int elsewhere(const char *word, const struct hw_pmu *pmu,
		     const struct hw_event *event, struct error *err)
{
	if (event->generic)
		return error_set(err, ERR_USAGE, "\"%s\" is an event of %s; "
				 "this processor is none. The nearest event of "
				 "the kernel is %s", word, pmu->summary,
				 event->generic);
	return error_set(err, ERR_USAGE, "\"%s\" is an event of %s; this "
			 "processor is none, and no event of the kernel is "
			 "near it (\"tally list\" shows what is here)", word,
			 pmu->summary);
}

int hw_event_parse(const char *word, const char *sysfs, struct event_spec *e,
		   struct error *err)
{
	const struct hw_pmu *here = hw_pmu_here(sysfs);
	const struct hw_event *event;
	const struct hw_pmu *pmu = hw_spec_pmu(word, here, &event);
	struct hw_spec spec;
	int r;

	if (!pmu)
		return 0;
	if (event && pmu != here)
		return elsewhere(word, pmu, event, err);
	r = hw_spec_parse(pmu, word, &spec, err);
	if (r < 0)
		return r;
	e->type = PERF_TYPE_RAW;
	e->config = pmu_event_config(&spec.sel);
	e->exclude_user = !spec.sel.usr;
	e->exclude_kernel = !spec.sel.os;
	e->exclude_hv = !spec.sel.os;
	e->exclude_guest = true;
	e->shared = hw_event_shared(pmu, spec.event);
	return 1;
}
