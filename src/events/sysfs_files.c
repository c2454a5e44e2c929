// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small files of sysfs: see sysfs_files.h. */
#include "events/sysfs_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

enum { SYSFS_FILE_MAX = 4096 };

bool sysfs_plain(const char *s)
{
	if (!*s || !strcmp(s, ".") || !strcmp(s, ".."))
		return false;
	for (; *s; s++)
		if (*s == '/' || (unsigned char)*s <= ' ')
			return false;
	return true;
}

const char *sysfs_read(struct buf *out, const char *path)
{
	struct stat st;

	buf_reset(out);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    io_read_file(path, SYSFS_FILE_MAX, out, NULL) < 0)
		return NULL;
	while (out->n && out->p[out->n - 1] <= ' ')
		out->n--;
	return buf_cstr(out);
}

const char *pmu_file(struct buf *out, const char *sysfs, const char *pmu,
		     const char *dir, const char *name)
{
	char path[SYSFS_PATH];

	if (!sysfs_plain(pmu) || (*name && !sysfs_plain(name)))
		return NULL;
	if ((size_t)snprintf(path, sizeof(path),
			     "%s/bus/event_source/devices/%s/%s%s%s", sysfs, pmu,
			     dir, *name ? "/" : "", name) >= sizeof(path))
		return NULL;
	return sysfs_read(out, path);
}

bool sysfs_number(const char *s, uint64_t *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, 0);
	return !*end && !errno;
}

bool cpu_list_has(const char *s, uint32_t cpu)
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

int sysfs_dir_plain(const struct dirent *d)
{
	return sysfs_plain(d->d_name) && d->d_name[0] != '.';
}

/* The PMU "cpu" comes first, the others by name. */
static int pmu_order(const struct dirent **a, const struct dirent **b)
{
	bool ca = !strncmp((*a)->d_name, "cpu", 3);
	bool cb = !strncmp((*b)->d_name, "cpu", 3);

	return ca != cb ? cb - ca : strcmp((*a)->d_name, (*b)->d_name);
}

int sysfs_pmus(const char *sysfs, struct dirent ***out)
{
	char path[SYSFS_PATH];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", sysfs);
	return scandir(path, out, sysfs_dir_plain, pmu_order);
}

void sysfs_list_free(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
}
