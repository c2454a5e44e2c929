// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds tracepoints by name and pattern. */
#include "events/tracepoints.h"

#include <dirent.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/sysfs_files.h"

/* Possible places of tracefs below sysfs. */
enum { ROOTS = 2 };
static const char *const roots[ROOTS] = { "kernel/tracing", "kernel/debug/tracing" };

/* Reads a file of a tracepoint.  Returns its text and sets `path`, or returns NULL if
 * there is none. */
static const char *tracepoint_file(struct buf *out, const char *sysfs,
				   const char *system, const char *name,
				   const char *file, char path[SYSFS_PATH])
{
	const char *text = NULL;

	if (!sysfs_plain(system) || !sysfs_plain(name))
		return NULL;
	for (size_t i = 0; i < ROOTS && !text; i++) {
		snprintf(path, SYSFS_PATH, "%s/%s/events/%s/%s/%s", sysfs,
			 roots[i], system, name, file);
		text = sysfs_read(out, path);
	}
	return text;
}

int tracepoint_find(const char *sysfs, const char *system, const char *name,
		    struct event_spec *out, struct error *err)
{
	char path[SYSFS_PATH];
	struct buf b = { 0 };
	const char *text = tracepoint_file(&b, sysfs, system, name, "id", path);
	uint64_t id;
	int r = 0;

	if (text && !sysfs_number(text, &id)) {
		r = error_set(err, ERR_FORMAT, "%s holds \"%s\"", path, text);
	} else if (text) {
		out->type = PERF_TYPE_TRACEPOINT;
		out->config = id;
		r = 1;
	}
	buf_fini(&b);
	return r;
}

/* The lines have the form "field:TYPE NAME; offset:N; size:N; signed:N;". */
bool tracepoint_field(const char *sysfs, const char *system, const char *name,
		      const char *field, uint32_t *offset)
{
	char path[SYSFS_PATH], wanted[64];
	struct buf b = { 0 };
	const char *text = tracepoint_file(&b, sysfs, system, name, "format",
					   path);
	unsigned int at, size;
	bool found;

	snprintf(wanted, sizeof(wanted), " %s;", field);
	text = text ? strstr(text, wanted) : NULL;
	found = text && sscanf(text + strlen(wanted), " offset:%u; size:%u;",
			       &at, &size) == 2 && size == 4;
	if (found)
		*offset = at;
	buf_fini(&b);
	return found;
}

/* Returns the readable folder of tracefs, or NULL. */
static const char *events_folder(const char *sysfs, char *path)
{
	for (size_t i = 0; i < ROOTS; i++) {
		snprintf(path, SYSFS_PATH, "%s/%s/events", sysfs, roots[i]);
		if (!access(path, R_OK | X_OK))
			return path;
	}
	return NULL;
}

static int plain_entry(const struct dirent *d)
{
	return sysfs_plain(d->d_name);
}

/* Calls cb for the matching tracepoints of one system. */
static int match_system(const char *folder, const char *system,
			const char *pattern, tracepoint_cb *cb, void *ctx)
{
	char path[SYSFS_PATH], name[SYSFS_PATH];
	struct buf b = { 0 };
	struct dirent **list;
	int n, r = 0;

	if (snprintf(path, sizeof(path), "%s/%s", folder, system) >= SYSFS_PATH)
		return 0;
	n = scandir(path, &list, plain_entry, alphasort);
	for (int i = 0; i < n; i++) {
		const char *text;
		uint64_t id;

		snprintf(name, sizeof(name), "%s:%s", system, list[i]->d_name);
		if (!r && !fnmatch(pattern, name, 0) &&
		    snprintf(path, sizeof(path), "%s/%s/%s/id", folder, system,
			     list[i]->d_name) < SYSFS_PATH) {
			text = sysfs_read(&b, path);
			if (text && sysfs_number(text, &id))
				r = cb(ctx, name, id);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	buf_fini(&b);
	return r;
}

int tracepoints_match(const char *sysfs, const char *pattern,
		      tracepoint_cb *cb, void *ctx, struct error *err)
{
	char folder[SYSFS_PATH], of[SYSFS_PATH];
	struct dirent **list;
	int n = -1, r = 0;

	snprintf(of, sizeof(of), "%.*s", (int)strcspn(pattern, ":"), pattern);
	if (events_folder(sysfs, folder))
		n = scandir(folder, &list, plain_entry, alphasort);
	for (int i = 0; i < n; i++) {
		if (!r && !fnmatch(of, list[i]->d_name, 0))
			r = match_system(folder, list[i]->d_name, pattern, cb,
					 ctx);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return r < 0 ? error_set(err, ERR_NOMEM, "out of memory for events")
		     : 0;
}

bool tracepoints_readable(const char *sysfs)
{
	char path[SYSFS_PATH];

	return events_folder(sysfs, path);
}
