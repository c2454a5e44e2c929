// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses text files of proc(5). */
#include "launch/proc_text.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/cursor.h"

enum { MAPS_PATH_MAX = 4096 };

/* Takes the next line, without its newline. */
static bool line_next(struct cursor *c, struct cursor *line)
{
	const uint8_t *nl;
	size_t left = cursor_left(c);

	if (!left)
		return false;
	nl = memchr(c->p, '\n', left);
	*line = cursor_of(c->p, nl ? (size_t)(nl - c->p) : left);
	cursor_skip(c, cursor_left(line) + (nl != NULL));
	return true;
}

/* Copies a word up to white space to `out`, truncated to its size. */
static size_t word_next(struct cursor *c, char *out, size_t size)
{
	size_t n = 0, len = 0;

	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
	for (; c->p < c->end && *c->p != ' ' && *c->p != '\t'; c->p++, len++)
		if (n + 1 < size)
			out[n++] = (char)*c->p;
	out[n] = 0;
	return len;
}

static int digit(int c, int base)
{
	int d = c >= '0' && c <= '9' ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

	return d < base ? d : -1;
}

/* Takes a number up to the byte `until` (0: the end of the word), inclusive. */
static bool number_next(struct cursor *c, int base, char until, uint64_t *out)
{
	const uint8_t *start = c->p;
	uint64_t v = 0;

	for (; c->p < c->end; c->p++) {
		int d = digit(*c->p, base);

		if (d < 0)
			break;
		if (v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	*out = v;
	if (c->p == start)
		return false;
	if (!until)
		return c->p == c->end || *c->p == ' ' || *c->p == '\t';
	return cursor_u8(c) == (uint8_t)until && !c->bad;
}

static void skip_blank(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
}

/* Copies the rest of the line.  The kernel writes a newline in a name as \012. */
static void path_rest(struct cursor *c, char *out)
{
	size_t n = 0;

	skip_blank(c);
	while (c->p < c->end && n + 1 < MAPS_PATH_MAX) {
		if (cursor_left(c) >= 4 && !memcmp(c->p, "\\012", 4)) {
			out[n++] = '\n';
			c->p += 4;
		} else if (*c->p) {
			out[n++] = (char)*c->p++;
		} else {
			c->p++;
		}
	}
	out[n] = 0;
}

/* Parses "start-end perms offset major:minor inode path". */
static bool map_line(struct cursor *c, struct mapping *m, char *path)
{
	uint64_t end, major, minor;
	char perms[8];

	memset(m, 0, sizeof(*m));
	if (!number_next(c, 16, '-', &m->start) ||
	    !number_next(c, 16, ' ', &end) || end <= m->start)
		return false;
	word_next(c, perms, sizeof(perms));
	if (strlen(perms) != 4 || perms[2] != 'x')
		return false;
	skip_blank(c);
	if (!number_next(c, 16, ' ', &m->offset) ||
	    !number_next(c, 16, ':', &major) ||
	    !number_next(c, 16, ' ', &minor) ||
	    !number_next(c, 10, 0, &m->inode))
		return false;
	m->len = end - m->start;
	m->dev = makedev((unsigned int)major, (unsigned int)minor);
	path_rest(c, path);
	m->path = *path ? path : "//anon";
	return true;
}

void proc_maps_parse(const char *text, size_t n, proc_map_cb *cb, void *ctx)
{
	struct cursor c = cursor_of(text, n), line;
	char path[MAPS_PATH_MAX];
	struct mapping m;

	while (line_next(&c, &line))
		if (map_line(&line, &m, path) && !cb(ctx, &m))
			return;
}

/* Parses "name size users dependencies state 0xaddress". */
static bool module_line(struct cursor *c, struct proc_module *m)
{
	char word[64];

	if (!word_next(c, m->name, sizeof(m->name)))
		return false;
	skip_blank(c);
	if (!number_next(c, 10, ' ', &m->size) || !m->size)
		return false;
	for (int i = 0; i < 3; i++)
		if (!word_next(c, word, sizeof(word)))
			return false;
	skip_blank(c);
	if (cursor_left(c) < 3 || memcmp(c->p, "0x", 2))
		return false;
	cursor_skip(c, 2);
	return number_next(c, 16, 0, &m->start) && m->start &&
	       m->start + m->size > m->start;
}

void proc_modules_parse(const char *text, size_t n, proc_module_cb *cb,
			void *ctx)
{
	struct cursor c = cursor_of(text, n), line;
	struct proc_module m;

	while (line_next(&c, &line))
		if (module_line(&line, &m) && !cb(ctx, &m))
			return;
}

/* Finds the text after "KEY:" and blanks. */
static bool status_value(const char *text, size_t n, const char *key,
			 struct cursor *line)
{
	struct cursor c = cursor_of(text, n);
	size_t len = strlen(key);

	while (line_next(&c, line)) {
		if (cursor_left(line) <= len || memcmp(line->p, key, len) ||
		    line->p[len] != ':')
			continue;
		cursor_skip(line, len + 1);
		skip_blank(line);
		return true;
	}
	return false;
}

bool proc_status_number(const char *text, size_t n, const char *key,
			uint64_t *out)
{
	struct cursor line;

	return status_value(text, n, key, &line) &&
	       number_next(&line, 10, 0, out);
}

uint64_t proc_stat_stolen(const char *text, size_t n)
{
	static const char of_all[] = "cpu ";
	enum { STEAL = 8 };	/* after user nice system idle iowait irq softirq */
	struct cursor c = cursor_of(text, n), line;
	uint64_t v = 0;

	if (!line_next(&c, &line) || cursor_left(&line) < strlen(of_all) ||
	    memcmp(line.p, of_all, strlen(of_all)))
		return 0;
	cursor_skip(&line, strlen(of_all));
	for (int i = 0; i < STEAL; i++) {
		skip_blank(&line);
		if (!number_next(&line, 10, 0, &v))
			return 0;
	}
	return v;
}

/* The line has one number per namespace; tally's comes first. */
uint32_t proc_status_own(const char *text, size_t n)
{
	struct cursor line;
	uint64_t v = 0;

	if (!status_value(text, n, "NSpid", &line))
		return 0;
	while (cursor_left(&line)) {
		if (!number_next(&line, 10, 0, &v) || v > UINT32_MAX)
			return 0;
		skip_blank(&line);
	}
	return (uint32_t)v;
}
