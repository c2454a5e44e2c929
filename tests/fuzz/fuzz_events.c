// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event specifiers against a hostile sysfs.  The input is lines: the specifier,
 * then the contents of the PMU's files.
 */
#include <stdlib.h>
#include <string.h>

#include "events/events.h"

#include "../events/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sysfs sysfs;

static void drop(void)
{
	sysfs_drop(&sysfs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {
		"bus/event_source/devices/cpu/type",
		"bus/event_source/devices/cpu/format/event",
		"bus/event_source/devices/cpu/format/umask",
		"bus/event_source/devices/cpu/events/mem-loads",
		"kernel/tracing/events/sched/sched_switch/id",
	};
	struct event_list l = { 0 };
	struct error err;
	char *text, *line, *rest;

	if (!*sysfs.root) {
		if (sysfs_make(&sysfs))
			return 0;
		atexit(drop);
	}
	text = malloc(size + 1);
	if (!text || size > 4096) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	rest = text;
	line = strsep(&rest, "\n");
	for (size_t i = 0; rest && i < sizeof(files) / sizeof(files[0]); i++)
		sysfs_put(&sysfs, files[i], strsep(&rest, "\n"));
	if (events_parse(line, sysfs.root, &l, &err) == 0)
		for (size_t i = 0; i < l.n; i++)
			if (strlen(l.v[i].text) >= EVENT_NAME_MAX ||
			    l.v[i].precise > 3)
				abort();
	event_list_fini(&l);
	free(text);
	return 0;
}
