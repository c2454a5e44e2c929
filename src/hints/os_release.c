// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads os-release(5): see os_release.h. */
#include "hints/os_release.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"

enum { RELEASE_MAX = 64 << 10 };

/* Returns whether a value has only permitted characters; other values are
 * ignored. */
static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._- ", s[i]))
			return false;
	return true;
}

static void take_value(const char *s, size_t n, char *out, size_t size)
{
	if (n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n - 1] == s[0]) {
		s++;
		n -= 2;
	}
	if (n >= size || !is_plain(s, n))
		return;
	memcpy(out, s, n);
	out[n] = '\0';
}

static void take_line(struct os_release *os, const char *s, size_t n)
{
	const struct {
		const char *key;
		char *out;
		size_t size;
	} keys[] = {
		{ "ID=", os->id, sizeof(os->id) },
		{ "ID_LIKE=", os->like, sizeof(os->like) },
		{ "VERSION_CODENAME=", os->codename, sizeof(os->codename) },
	};

	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t k = strlen(keys[i].key);

		if (n > k && !strncmp(s, keys[i].key, k))
			take_value(s + k, n - k, keys[i].out, keys[i].size);
	}
}

void os_release_read(const char *root, struct os_release *out)
{
	static const char *const paths[] = { "/etc/os-release",
					     "/usr/lib/os-release" };
	struct buf b = { 0 };
	char path[PATH_MAX];

	*out = (struct os_release){ "", "", "" };
	for (size_t i = 0; i < 2 && !b.n; i++) {
		snprintf(path, sizeof(path), "%s%s", root, paths[i]);
		if (io_read_file(path, RELEASE_MAX, &b, NULL) < 0)
			buf_reset(&b);
	}
	for (const char *s = buf_cstr(&b); *s; s += *s == '\n') {
		size_t n = strcspn(s, "\n");

		take_line(out, s, n);
		s += n;
	}
	buf_fini(&b);
}

bool os_is(const struct os_release *os, const char *id)
{
	size_t n = strlen(id);

	if (!strcmp(os->id, id))
		return true;
	for (const char *s = os->like; (s = strstr(s, id)) != NULL; s++)
		if ((s == os->like || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return true;
	return false;
}
