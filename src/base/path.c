// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares and shortens paths: see path.h. */
#include "base/path.h"

#include <string.h>

const char *path_base(const char *path)
{
	const char *slash = *path == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void path_normal(const char *path, struct buf *out)
{
	size_t base = out->n + (*path == '/');

	if (*path == '/')
		buf_u8(out, '/');
	while (*path && !out->failed) {
		size_t n, at = out->n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		while (at > base && out->p[at - 1] != '/')
			at--;
		if (n == 2 && !strncmp(path, "..", 2) && out->n > base &&
		    !(out->n - at == 2 && !memcmp(out->p + at, "..", 2))) {
			out->n = at > base ? at - 1 : base;
		} else if (n && !(n == 1 && *path == '.')) {
			if (out->n > base)
				buf_u8(out, '/');
			buf_bytes(out, path, n);
		}
		path += n;
	}
}

size_t path_common_end(const char *a, const char *b)
{
	size_t i = strlen(a), k = strlen(b), parts = 0;

	while (i && k && a[i - 1] == b[k - 1]) {
		if (a[i - 1] == '/')
			parts++;
		i--;
		k--;
	}
	return parts + ((!i || a[i - 1] == '/') && (!k || b[k - 1] == '/') &&
			(i != strlen(a)) && a[i] != '/');
}

const char *path_end(const char *path, size_t n)
{
	const char *s = path + strlen(path);

	while (s > path && (s[-1] != '/' || --n))
		s--;
	return s;
}

bool path_ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return m && n >= m && !strcmp(path + n - m, end) &&
	       (n == m || path[n - m - 1] == '/' || *end == '/');
}
