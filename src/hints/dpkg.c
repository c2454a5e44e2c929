// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the package that owns a file: /var/lib/dpkg/info/PACKAGE[:ARCH].list
 * holds the paths of each package (dpkg-query(1), FILES).
 *
 * These files have about ten megabytes.  Packages whose names resemble the file
 * are searched first, so that a handful of them gives most answers.
 * dpkg-query takes seven times the CPU time (100 ms for 932 packages), and finds
 * no file by the other spelling of a merged /usr.
 */
#include "hints/dpkg.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "base/search.h"
#include "base/vec.h"

#define INFO "/var/lib/dpkg/info"

enum {
	LIST_MAX = 32 << 20,		/* bytes of one list */
	LISTS_BYTES_MAX = 512 << 20,	/* bytes of all lists */
	LISTS_MAX = 200000,
};

struct list {
	char *file;		/* "libc6:amd64.list" */
	size_t name;		/* length of the package name in `file` */
	unsigned int score;
};

struct search {
	const char *root;
	struct dpkg_ask *ask;
	size_t n, found, read;
	VEC(struct list) lists;
	struct buf text;
	uint8_t length[PATH_MAX];	/* lengths of the wanted paths */
};

bool dpkg_is_name(const char *s, size_t n)
{
	if (n < 2 || n > 200 || !isalnum((unsigned char)s[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) && !memchr("+-.", s[i], 3))
			return false;
	return true;
}

bool dpkg_is_here(const char *root)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s" INFO, root) <
		       (int)sizeof(path) && access(path, R_OK | X_OK) == 0;
}

/*
 * Writes the other spelling of a path to `out` (of PATH_MAX + 8); returns false
 * if there is none.  Since /bin, /lib… became links to /usr/bin, /usr/lib…, a
 * path on the machine and the one in the database may differ by /usr.
 */
static bool other_spelling(const char *path, char *out)
{
	static const char *const tops[] = { "/bin/", "/sbin/", "/lib/",
					    "/lib32/", "/lib64/", "/libx32/",
					    "/libo32/" };
	bool usr = !strncmp(path, "/usr/", 5);
	const char *rest = usr ? path + 4 : path;

	for (size_t i = 0; i < COUNT(tops); i++) {
		if (strncmp(rest, tops[i], strlen(tops[i])))
			continue;
		snprintf(out, PATH_MAX + 8, "%s%s", usr ? "" : "/usr", rest);
		return true;
	}
	return false;
}

static bool same_path(const char *path, const char *line, size_t n)
{
	char other[PATH_MAX + 8];

	if (strlen(path) == n && !memcmp(path, line, n))
		return true;
	return other_spelling(path, other) && strlen(other) == n &&
	       !memcmp(other, line, n);
}

static void note_length(struct search *s, size_t n)
{
	if (n < sizeof(s->length))
		s->length[n] = 1;
}

static bool shares_word(const char *path, const char *word, size_t n)
{
	const char *at = path;

	if (n < 2)
		return false;
	for (; (at = memmem(at, strlen(at), word, n)) != NULL; at++)
		if (!isalnum((unsigned char)at[-(at > path)]) &&
		    !isalnum((unsigned char)at[n]))
			return true;
	return false;
}

/* Returns how much a package name resembles a path: libgmp10 is like
 * libgmp.so.10.4.1, cpp-12 a little like
 * /usr/lib/gcc/x86_64-linux-gnu/12/cc1. */
static unsigned int sounds_like(const char *name, size_t n, const char *path)
{
	const char *base = strrchr(path, '/');
	unsigned int score = 0;
	size_t i, k = 0;

	base = base ? base + 1 : path;
	for (i = 0; i < n && base[k]; i++, k++) {
		if (!strncmp(base + k, ".so.", 4))
			k += 4;
		if (name[i] != base[k])
			break;
	}
	score = (unsigned int)i * 10 + (i == n ? 1000 : 0);
	for (i = 0; i < n; i = k + 1) {
		for (k = i; k < n && isalnum((unsigned char)name[k]); k++)
			;
		score += shares_word(path, name + i, k - i);
	}
	return score;
}

static int add_list(struct search *s, const char *file)
{
	size_t n = strlen(file), name = strcspn(file, ":");
	struct list l = { .score = 0 };

	if (n < 6 || strcmp(file + n - 5, ".list"))
		return 0;
	l.name = name < n ? name : n - 5;
	if (!dpkg_is_name(file, l.name) || s->lists.n >= LISTS_MAX)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		unsigned int score = s->ask[i].path
			? sounds_like(file, l.name, s->ask[i].path) : 0;

		if (score > l.score)
			l.score = score;
	}
	l.file = strdup(file);
	if (l.file && vec_push(&s->lists, l) == 0)
		return 0;
	free(l.file);
	return -ERR_NOMEM;
}

static int by_score(const void *a, const void *b)
{
	const struct list *x = a, *y = b;

	return descending(x->score, y->score) ?: strcmp(x->file, y->file);
}

static int find_lists(struct search *s)
{
	char path[PATH_MAX];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s" INFO, s->root);
	d = opendir(path);
	while (d && !rc && (e = readdir(d)) != NULL)
		rc = add_list(s, e->d_name);
	if (d)
		closedir(d);
	if (!rc)
		vec_sort(&s->lists, by_score);
	return rc;
}

static int take_line(struct search *s, const struct list *l, const char *line,
		     size_t n)
{
	for (size_t i = 0; i < s->n; i++) {
		struct dpkg_ask *a = &s->ask[i];

		if (!a->path || a->owner || !same_path(a->path, line, n))
			continue;
		a->owner = strndup(l->file, l->name);
		if (!a->owner)
			return -ERR_NOMEM;
		s->found++;
	}
	return 0;
}

static int search_list(struct search *s, const struct list *l)
{
	char path[PATH_MAX];
	const char *at, *end;
	int rc = 0;

	buf_reset(&s->text);
	if (snprintf(path, sizeof(path), "%s" INFO "/%s", s->root, l->file) >=
		    (int)sizeof(path) ||
	    io_read_file(path, LIST_MAX, &s->text, NULL) < 0)
		return 0;
	s->read += s->text.n;
	at = (const char *)s->text.p;
	end = at + s->text.n;
	while (at < end && !rc) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((nl ? nl : end) - at);

		if (n < sizeof(s->length) && s->length[n])
			rc = take_line(s, l, at, n);
		at += n + 1;
	}
	return rc;
}

/* Returns whether packages never install files there (FHS), so that no search
 * is needed. */
static bool is_foreign(const char *path)
{
	static const char *const own[] = { "/usr/local/", "/home/", "/root/",
					   "/tmp/", "/var/tmp/", "/run/",
					   "/dev/", "/proc/", "/srv/" };

	for (size_t i = 0; i < COUNT(own); i++)
		if (!strncmp(path, own[i], strlen(own[i])))
			return true;
	return path[0] != '/' || strlen(path) >= PATH_MAX;
}

int dpkg_find_owners(const char *root, struct dpkg_ask *ask, size_t n)
{
	struct search s = { .root = root, .ask = ask, .n = n };
	size_t wanted = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		char other[PATH_MAX + 8];

		if (ask[i].path && is_foreign(ask[i].path))
			ask[i].path = NULL;
		if (!ask[i].path)
			continue;
		wanted++;
		note_length(&s, strlen(ask[i].path));
		if (other_spelling(ask[i].path, other))
			note_length(&s, strlen(other));
	}
	if (wanted)
		rc = find_lists(&s);
	for (size_t i = 0; i < s.lists.n && !rc && s.found < wanted &&
			   s.read < LISTS_BYTES_MAX; i++)
		rc = search_list(&s, &s.lists.v[i]);
	for (size_t i = 0; i < s.lists.n; i++)
		free(s.lists.v[i].file);
	vec_fini(&s.lists);
	buf_fini(&s.text);
	return rc;
}

/* Looks for PACKAGE.list, or PACKAGE:ARCH.list for packages that may be
 * installed for several architectures at once. */
bool dpkg_has(const char *root, const char *package)
{
	static const char *const arch[] = {
		"", ":amd64", ":arm64", ":i386", ":armhf", ":riscv64",
		":ppc64el", ":s390x", ":loong64", ":mips64el", ":armel",
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < COUNT(arch); i++)
		if (snprintf(path, sizeof(path), "%s" INFO "/%s%s.list", root,
			     package, arch[i]) < (int)sizeof(path) &&
		    access(path, F_OK) == 0)
			return true;
	return false;
}
