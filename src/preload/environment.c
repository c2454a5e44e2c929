// SPDX-License-Identifier: GPL-2.0-or-later
/* LD_PRELOAD and our variable: not to be seen by the program, but passed on to
 * those that it executes. */
#include "preload/preload.h"

#define PRELOAD "LD_PRELOAD="
#define OURS TIMER_VARIABLE "="

size_t environment_count(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

static char **entry_find(char **envp, const char *name)
{
	for (; *envp; envp++)
		if (text_after(*envp, name))
			return envp;
	return NULL;
}

static void entry_remove(char **e)
{
	do
		e[0] = e[1];
	while (*e++);
}

/* Our path, if the list of libraries begins with it: its length. */
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

static void preload_remove(char **envp, const char *value)
{
	char **e = entry_find(envp, PRELOAD), *list;
	const char *library = value;
	size_t n;

	for (int colons = 0; *library && colons < 2; library++)
		colons += *library == ':';
	if (!e)
		return;
	list = *e + sizeof(PRELOAD) - 1;
	n = is_ours(list, value, library);
	if (!n)
		return;
	if (!list[n]) {
		entry_remove(e);
		return;
	}
	*e += n + 1;
	bytes_copy(*e, PRELOAD, sizeof(PRELOAD) - 1);
}

const char *environment_take(char **envp)
{
	char **e = entry_find(envp, OURS);
	const char *value;

	if (!e)
		return NULL;
	value = *e + sizeof(OURS) - 1;
	entry_remove(e);
	preload_remove(envp, value);
	return value;
}

static const char *preload_of(char *const *envp)
{
	for (; envp && *envp; envp++)
		if (text_after(*envp, PRELOAD))
			return *envp + sizeof(PRELOAD) - 1;
	return "";
}

size_t environment_text(char *const *envp)
{
	return sizeof(PRELOAD) + sizeof(preload.library) + 1 +
	       text_size(preload_of(envp));
}

void environment_make(char **out, char *const *envp, char *text)
{
	const char *list = preload_of(envp);
	size_t n = text_size(preload.library), more = text_size(list);
	char *p = text;

	bytes_copy(p, PRELOAD, sizeof(PRELOAD) - 1);
	p += sizeof(PRELOAD) - 1;
	bytes_copy(p, preload.library, n);
	p += n;
	if (more)
		*p++ = ':';
	bytes_copy(p, list, more + 1);
	for (; envp && *envp; envp++)
		if (!text_after(*envp, PRELOAD) && !text_after(*envp, OURS))
			*out++ = *envp;
	*out++ = text;
	*out++ = preload.variable;
	*out = NULL;
}
