// SPDX-License-Identifier: GPL-2.0-or-later
/* Hides LD_PRELOAD and tally's variable from the program, and passes them on to
 * programs that it executes. */
#include <fcntl.h>
#include <linux/prctl.h>

#include "preload/preload.h"

#define PRELOAD "LD_PRELOAD="
#define OURS TIMER_VARIABLE "="
#define LISTS "LD_TRACE_LOADED_OBJECTS="	/* the longest of the three */

size_t environment_count(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

static char **entry_find(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++)
		if (text_after(*envp, name))
			return (char **)envp;
	return NULL;
}

static void entry_remove(char **e)
{
	do
		e[0] = e[1];
	while (*e++);
}

/* Returns the length of the library's path if the list of libraries begins with it. */
static size_t is_ours(const char *list, const char *pid, const char *library)
{
	const char *p = text_after(list, "/proc/");

	while (p && *pid && *pid != ':')
		if (*p++ != *pid++)
			return 0;
	p = p ? text_after(p, "/fd/") : NULL;
	p = p ? text_after(p, library) : NULL;
	return p && (*p == ':' || !*p) ? (size_t)(p - list) : 0;
}

/* Bytes of strings to hide. */
struct span {
	char *from, *to;
};

static struct span span_clear(char *from)
{
	struct span s = { from, from + text_size(from) + 1 };

	bytes_zero(s.from, (size_t)(s.to - s.from));
	return s;
}

/* Removes the library's path and keeps the user's libraries. */
static struct span preload_remove(char **envp, const char *value)
{
	char **e = entry_find(envp, PRELOAD), *list;
	const char *library = value;
	size_t n, rest;

	for (int colons = 0; *library && colons < 2; library++)
		colons += *library == ':';
	list = e ? *e + sizeof(PRELOAD) - 1 : NULL;
	n = e ? is_ours(list, value, library) : 0;
	if (!n)
		return (struct span){ NULL, NULL };
	if (!list[n]) {
		char *all = *e;

		entry_remove(e);
		return span_clear(all);
	}
	/* Copy downwards, so that each byte is read before it is overwritten. */
	rest = text_size(list + n + 1) + 1;
	bytes_copy(list, list + n + 1, rest);
	bytes_zero(list + rest, n + 1);
	return (struct span){ list + rest, list + rest + n + 1 };
}

/* Returns a number of /proc/self/stat, counted as in proc(5). */
static uint64_t stat_number(const char *text, int field)
{
	const char *p = text, *name_end = NULL;
	uint64_t v = 0;
	int at = 2;

	for (; *p; p++)
		if (*p == ')')
			name_end = p;
	for (p = name_end; p && *p && at < field; p++)
		at += *p == ' ';
	for (; p && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/* Moves the end of /proc/PID/environ (prctl(2), PR_SET_MM_MAP).  Without that
 * ability, the file shows empty strings. */
static void shown_end(const char *is, const char *wanted)
{
	struct prctl_mm_map m;
	char text[1024];
	long fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	text[n > 0 ? n : 0] = 0;
	bytes_zero(&m, sizeof(m));
	m.env_end = stat_number(text, 51);
	if (m.env_end != (uintptr_t)is)
		return;
	m.start_code = stat_number(text, 26);
	m.end_code = stat_number(text, 27);
	m.start_stack = stat_number(text, 28);
	m.start_data = stat_number(text, 45);
	m.end_data = stat_number(text, 46);
	m.start_brk = stat_number(text, 47);
	m.arg_start = stat_number(text, 48);
	m.arg_end = stat_number(text, 49);
	m.env_start = stat_number(text, 50);
	m.brk = (uint64_t)sys1(SYS_brk, 0);
	m.env_end = (uintptr_t)wanted;
	m.exe_fd = UINT32_MAX;
	sys6(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, (long)&m, sizeof(m), 0, 0);
}

bool environment_take(char **envp, char *out, size_t size)
{
	char **e = entry_find(envp, OURS), *ours;
	struct span s, p;
	size_t n;

	if (!e)
		return false;
	ours = *e;
	n = text_size(ours) + 1;
	if (n > size)
		return false;
	bytes_copy(out, ours, n);
	entry_remove(e);
	p = preload_remove(envp, out + sizeof(OURS) - 1);
	s = span_clear(ours);
	/* They are the last ones, as environment_make writes them. */
	shown_end(s.to, p.to == s.from ? p.from : s.from);
	return true;
}

bool environment_is_mapped(char *const *envp, size_t entries, size_t text)
{
	struct mapped_page m = { 0, false }, at = { 0, false };

	for (size_t n = 0; envp && n < entries; n++) {
		const char *s;

		if (!memory_is_mapped(&at, &envp[n], sizeof(envp[n])))
			return false;
		s = envp[n];
		if (!s)
			return true;
		if (!text_is_mapped(&m, s, sizeof(LISTS)) ||
		    (text_after(s, PRELOAD) && !text_is_mapped(&m, s, text)))
			return false;
	}
	return !envp;
}

bool environment_is_taken(char *const *envp)
{
	return entry_find(envp, OURS);
}

bool environment_lists(char *const *envp)
{
	return entry_find(envp, LISTS);
}

static const char *preload_of(char *const *envp)
{
	char **e = entry_find(envp, PRELOAD);

	return e ? *e + sizeof(PRELOAD) - 1 : NULL;
}

size_t environment_text(char *const *envp)
{
	const char *list = preload_of(envp);

	return sizeof(PRELOAD) + sizeof(preload.library) + 1 +
	       (list ? text_size(list) : 0);
}

void environment_make(char **out, char *const *envp, char *text)
{
	const char *list = preload_of(envp);
	size_t n = text_size(preload.library);
	char *p = text;

	bytes_copy(p, PRELOAD, sizeof(PRELOAD) - 1);
	p += sizeof(PRELOAD) - 1;
	bytes_copy(p, preload.library, n);
	p += n;
	*p = 0;
	if (list) {
		*p++ = ':';
		bytes_copy(p, list, text_size(list) + 1);
	}
	for (; envp && *envp; envp++)
		if (!text_after(*envp, PRELOAD) && !text_after(*envp, OURS))
			*out++ = *envp;
	*out++ = text;
	*out++ = preload.variable;
	*out = NULL;
}
