// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds tracepoints by name and pattern. */
#include "events/events.h"

#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
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

/* Calls cb for the tracepoint whose file "id" has this path. */
static int take_match(const char *folder, char *path, tracepoint_cb *cb, void *ctx)
{
	struct buf b = { 0 };
	const char *text = sysfs_read(&b, path);
	char *system = path + strlen(folder) + 1, *name = strchr(system, '/') + 1;
	uint64_t id;
	int r = 0;

	name[-1] = name[strcspn(name, "/")] = 0;
	if (text && sysfs_number(text, &id) && sysfs_plain(system) && sysfs_plain(name)) {
		name[-1] = ':';
		r = cb(ctx, system, id);
	}
	buf_fini(&b);
	return r;
}

int tracepoints_match(const char *sysfs, const char *pattern,
		      tracepoint_cb *cb, void *ctx, struct error *err)
{
	char folder[SYSFS_PATH], path[SYSFS_PATH];
	size_t n = strcspn(pattern, ":");
	glob_t found;
	int r;

	if (!events_folder(sysfs, folder) || !pattern[n] ||
	    snprintf(path, sizeof(path), "%s/%.*s/%s/id", folder, (int)n, pattern,
		     pattern + n + 1) >= SYSFS_PATH)
		return 0;
	r = glob(path, 0, NULL, &found) == GLOB_NOSPACE ? -ERR_NOMEM : 0;
	for (size_t i = 0; !r && i < found.gl_pathc; i++)
		r = take_match(folder, found.gl_pathv[i], cb, ctx);
	globfree(&found);
	return r < 0 ? error_set(err, ERR_NOMEM, "out of memory for events")
		     : 0;
}

bool tracepoints_readable(const char *sysfs)
{
	char path[SYSFS_PATH];

	return events_folder(sysfs, path);
}
