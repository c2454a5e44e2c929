// SPDX-License-Identifier: GPL-2.0-or-later
/* Tries whether an event can be opened. */
#include "record/perf/probe.h"

#include <errno.h>
#include <unistd.h>

#include "record/perf/perf_open.h"

int event_usable(const struct event_spec *spec, struct error *err)
{
	const struct perf_scope self = { 0, -1, 0 }, cpu = { -1, 0, 0 };
	const struct perf_sampling how = { .freq = 1000 };
	struct perf_features f;
	struct perf_event e = { .spec = *spec };
	int fd, r = perf_reachable(err);

	if (!r)
		r = perf_features_probe(&f, err);
	if (r < 0)
		return r;
	perf_event_prepare(&e, &f, &how);
	fd = perf_sys_open(&e.attr, &self);
	if (fd == -EACCES || fd == -EPERM) {
		e.attr.exclude_kernel = 1;
		e.attr.exclude_hv = 1;
		fd = perf_sys_open(&e.attr, &self);
	}
	if (fd == -EINVAL) {
		/* A PMU that knows no guests, or none of a single task. */
		e.attr.exclude_guest = 0;
		fd = perf_sys_open(&e.attr, &self);
	}
	if (fd == -EINVAL)
		fd = perf_sys_open(&e.attr, &cpu);
	if (fd == -EINVAL)
		return error_set(err, ERR_UNSUPPORTED,
				 "it cannot be sampled, only counted");
	if (fd < 0)
		return perf_refused(-fd, spec->text, &self, err);
	close(fd);
	return 0;
}
