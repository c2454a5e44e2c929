// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects CPUs that go online and offline. */
#include "record/source/cpu_watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns false if the list cannot be read or is too long. */
static bool read_list(const struct cpu_watch *w, char *out, size_t size)
{
	ssize_t n = w->fd < 0 ? -1 : pread(w->fd, out, size, 0);

	if (n <= 0 || (size_t)n >= size)
		return false;
	out[n] = 0;
	return true;
}

void cpu_watch_open(struct cpu_watch *w, const char *path)
{
	w->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!read_list(w, w->text, sizeof(w->text)))
		cpu_watch_close(w);
}

void cpu_watch_close(struct cpu_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	w->text[0] = 0;
}

bool cpu_watch_changed(struct cpu_watch *w)
{
	char now[sizeof(w->text)];

	if (!read_list(w, now, sizeof(now)) || !strcmp(now, w->text))
		return false;
	strcpy(w->text, now);
	return true;
}

bool cpu_watch_has(const struct cpu_watch *w, uint32_t cpu)
{
	const char *p = w->text;

	while (*p >= '0' && *p <= '9') {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		p = end + (*end == ',');
	}
	return false;
}
