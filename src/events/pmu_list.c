// SPDX-License-Identifier: GPL-2.0-or-later
/* All PMUs and their events. */
#include <stdio.h>
#include <string.h>

#include "events/pmu.h"
#include "events/sysfs_files.h"

static int not_attribute(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	/* cpu/events/x.scale and x.unit are attributes of x. */
	return sysfs_dir_plain(d) && !strchr(d->d_name, '.') && n < 64;
}

static bool pmu_events_each(const char *sysfs, const char *pmu,
			    event_info_cb *cb, void *ctx)
{
	char path[SYSFS_PATH], name[EVENT_NAME_MAX * 2];
	struct dirent **list;
	bool go = true;
	int n;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/events",
		 sysfs, pmu);
	n = scandir(path, &list, not_attribute, alphasort);
	for (int i = 0; i < n && go; i++) {
		struct buf b = { 0 };
		struct event_info info = { name, "", pmu, "" };
		const char *terms = pmu_file(&b, sysfs, pmu, "events",
					     list[i]->d_name);

		snprintf(name, sizeof(name), "%.64s/%.64s/", pmu,
			 list[i]->d_name);
		info.summary = terms ? terms : "";
		go = cb(ctx, &info);
		buf_fini(&b);
	}
	sysfs_list_free(list, n);
	return go;
}

bool pmu_each(const char *sysfs, event_info_cb *cb, void *ctx)
{
	struct dirent **list;
	int n = sysfs_pmus(sysfs, &list);
	bool go = true;

	for (int i = 0; i < n && go; i++)
		go = pmu_events_each(sysfs, list[i]->d_name, cb, ctx);
	sysfs_list_free(list, n);
	return go;
}

bool pmu_names_each(const char *sysfs, event_info_cb *cb, void *ctx)
{
	struct dirent **list;
	int n = sysfs_pmus(sysfs, &list);
	bool go = true;

	for (int i = 0; i < n && go; i++) {
		struct event_info info = { list[i]->d_name, "", "PMU", "" };

		go = cb(ctx, &info);
	}
	sysfs_list_free(list, n);
	return go;
}
