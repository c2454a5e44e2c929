// SPDX-License-Identifier: GPL-2.0-or-later
/* On which processors events are to be opened. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "events/pmu.h"
#include "events/sysfs_files.h"

/* Is cpu in a list such as "0-3,8"? */
static bool list_has(const char *s, uint32_t cpu)
{
	while (*s >= '0' && *s <= '9') {
		char *end;
		unsigned long a = strtoul(s, &end, 10), b = a;

		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		if (cpu >= a && cpu <= b)
			return true;
		s = end + (*end == ',');
	}
	return false;
}

bool pmu_lists_cpu(const char *sysfs, const char *pmu, const char *file,
		   uint32_t cpu)
{
	struct buf b = { 0 };
	const char *text = pmu_file(&b, sysfs, pmu, file, "");
	bool has = text && list_has(text, cpu);

	buf_fini(&b);
	return has;
}

bool pmu_counts_on(const char *sysfs, uint32_t type, uint32_t cpu,
		   const uint32_t *cpus, size_t n)
{
	struct dirent **list;
	struct buf b = { 0 };
	bool yes = true;
	int found;

	if (type < PERF_TYPE_MAX)
		return true;
	found = sysfs_pmus(sysfs, &list);
	for (int i = 0; i < found; i++) {
		const char *text = pmu_file(&b, sysfs, list[i]->d_name, "type",
					    "");
		uint64_t v;

		if (!text || !sysfs_number(text, &v) || v != type)
			continue;
		text = pmu_file(&b, sysfs, list[i]->d_name, "cpumask", "");
		if (!text || !*text)
			break;
		/* -C may have left out those that it names. */
		for (size_t k = 0; k < n && yes; k++)
			yes = !list_has(text, cpus[k]);
		yes = yes ? n && cpu == cpus[0] : list_has(text, cpu);
		break;
	}
	sysfs_list_free(list, found);
	buf_fini(&b);
	return yes;
}

static bool cpu_package(const char *sysfs, uint32_t cpu, uint64_t *package)
{
	char path[SYSFS_PATH];
	struct buf b = { 0 };
	const char *text;
	bool known;

	snprintf(path, sizeof(path),
		 "%s/devices/system/cpu/cpu%u/topology/physical_package_id",
		 sysfs, cpu);
	text = sysfs_read(&b, path);
	known = text && sysfs_number(text, package);
	buf_fini(&b);
	return known;
}

bool cpu_first_of_package(const char *sysfs, uint32_t cpu,
			  const uint32_t *cpus, size_t n)
{
	uint64_t mine, other;

	if (!cpu_package(sysfs, cpu, &mine))
		return true;
	for (size_t i = 0; i < n && cpus[i] != cpu; i++)
		if (cpu_package(sysfs, cpus[i], &other) && other == mine)
			return false;
	return true;
}
