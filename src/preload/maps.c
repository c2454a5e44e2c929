// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports this program's own mappings: those at its start, and those added before its
 * end, which the recorder had no time to read. */
#include <fcntl.h>

#include "preload/preload.h"

enum {
	CHUNK = 2048,
	LINE_MAX_BYTES = 1024,
	ALL_MAX = 48 << 10,
};

struct lines {
	struct preload_ring_room *place;
	size_t at;		/* offset in the record */
	char line[LINE_MAX_BYTES];
	size_t n;
};

/* Checks the third letter of the second word: "start-end r-xp …". */
static bool is_code(const char *line, size_t n)
{
	for (size_t i = 0; i + 4 < n; i++)
		if (line[i] == ' ')
			return line[i + 3] == 'x';
	return false;
}

static void line_end(struct lines *l)
{
	if (is_code(l->line, l->n) &&
	    l->at + l->n <= sizeof(struct timer_text) + ALL_MAX) {
		preload_ring_put(l->place, l->at, l->line, l->n);
		l->at += l->n;
	}
	l->n = 0;
}

static void read_lines(struct lines *l, long fd)
{
	char chunk[CHUNK];
	long n;

	l->n = 0;
	while ((n = sys_read(fd, chunk, sizeof(chunk))) > 0)
		for (long i = 0; i < n; i++) {
			/* A name that is too long is truncated.  Its file will not be
			 * found, but its address range is known. */
			if (l->n < LINE_MAX_BYTES - 1 || chunk[i] == '\n')
				l->line[l->n++] = chunk[i];
			if (chunk[i] == '\n')
				line_end(l);
		}
}

void preload_record_maps(void)
{
	static const uint64_t zero;
	struct timer_text t = { .r = { .kind = TIMER_MAPS } };
	struct preload_ring_room place;
	struct lines l;
	size_t all;
	long fd;

	if (preload.careful)
		return;
	preload_numbers(&t.r.pid, &t.r.tid);
	fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (preload_ring_begin(&place, t.r.tid, sizeof(t) + ALL_MAX + 8)) {
		l.place = &place;
		l.at = sizeof(t);
		t.r.time = preload_ring_time();
		read_lines(&l, fd);
		all = (l.at + 7) & ~(size_t)7;
		preload_ring_put(&place, l.at, &zero, all - l.at);
		t.r.size = (uint32_t)all;
		t.n = (uint32_t)(l.at - sizeof(t));
		preload_ring_put(&place, 0, &t, sizeof(t));
		preload_ring_end(&place, all);
	}
	sys_close(fd);
}
