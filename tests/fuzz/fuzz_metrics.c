// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics and formulas, one a line, and groups of events: what is accepted has a
 * value or none, and nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "events/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_line(const char *line)
{
	static const struct formula_name names[] = {
		{ "a", 3 }, { "b", 0 }, { "time", 0.5 },
	};
	const double counts[METRIC_EVENTS_MAX] = { 4, 3, 2, 1 };
	struct event_list l = { 0 };
	struct metric_use use;
	struct error err = { 0 };
	uint32_t last = 0;
	double v;

	if (!formula_eval(line, names, 3, &v, &err) && err.code)
		abort();
	if (!metric_parse(line, &use, &err)) {
		if (strcmp(use.text, line))
			abort();
		metric_value(&use, counts, 1);
	}
	if (!events_parse(line, "/nonexistent", &l, &err))
		for (size_t i = 0; i < l.n; i++) {
			/* One after the other. */
			if (l.v[i].group && l.v[i].group < last)
				abort();
			if (l.v[i].group)
				last = l.v[i].group;
		}
	event_list_fini(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *rest;

	if (size > 4096)
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	rest = text;
	while (rest)
		try_line(strsep(&rest, "\n"));
	free(text);
	return 0;
}
