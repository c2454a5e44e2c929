// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses --event and --filter: see event_options.h. */
#include "cmd/event_options.h"

#include <string.h>

/* Adds a filter to the events from `first` on. */
static int add_filter(struct event_list *l, size_t first, const char *filter,
		      struct error *err)
{
	if (first == l->n)
		return error_set(err, ERR_USAGE, "--filter '%s' must follow "
				 "the -e of a tracepoint", filter);
	for (size_t i = first; i < l->n; i++) {
		if (!event_is_tracepoint(&l->v[i]))
			return error_set(err, ERR_USAGE, "--filter '%s': event "
					 "%s has no fields: only tracepoints "
					 "(sched:sched_switch) have; \"tally "
					 "report --symbol\" and --image choose "
					 "functions", filter, l->v[i].text);
		if (l->v[i].filter)
			return error_set(err, ERR_USAGE, "two --filter for "
					 "event %s: join them with &&",
					 l->v[i].text);
		l->v[i].filter = filter;
	}
	return 0;
}

int cmd_events(const struct opt_strs *given, struct event_list *out,
	       struct error *err)
{
	size_t first = 0;

	for (size_t i = 0; i + 1 < given->n; i += 2) {
		const char *value = given->v[i + 1];
		int r;

		if (!strcmp(given->v[i], "filter")) {
			r = add_filter(out, first, value, err);
		} else {
			first = out->n;
			r = events_parse(value, "/sys", out, err);
		}
		if (r < 0)
			return r;
	}
	return 0;
}
