// SPDX-License-Identifier: GPL-2.0-or-later
#include "events/tracepoints.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <unistd.h>

#include "events/sysfs_files.h"

int tracepoint_find(const char *sysfs, const char *system, const char *name,
		    struct event_spec *out, struct error *err)
{
	static const char *const roots[] = { "kernel/tracing",
					     "kernel/debug/tracing" };
	struct buf b = { 0 };
	int r = 0;

	if (!sysfs_plain(system) || !sysfs_plain(name))
		return 0;
	for (size_t i = 0; i < 2 && !r; i++) {
		char path[SYSFS_PATH];
		const char *text;
		uint64_t id;

		snprintf(path, sizeof(path), "%s/%s/events/%s/%s/id", sysfs,
			 roots[i], system, name);
		text = sysfs_read(&b, path);
		if (!text)
			continue;
		if (!sysfs_number(text, &id)) {
			r = error_set(err, ERR_FORMAT, "%s holds \"%s\"", path,
				      text);
			break;
		}
		out->type = PERF_TYPE_TRACEPOINT;
		out->config = id;
		r = 1;
	}
	buf_fini(&b);
	return r;
}

bool tracepoints_readable(const char *sysfs)
{
	static const char *const dirs[] = { "kernel/tracing/events",
					    "kernel/debug/tracing/events" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char path[SYSFS_PATH];

		snprintf(path, sizeof(path), "%s/%s", sysfs, dirs[i]);
		if (!access(path, R_OK | X_OK))
			return true;
	}
	return false;
}
