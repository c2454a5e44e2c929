// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads apt's lists, /var/lib/apt/lists/…_Packages.  They have one paragraph
 * for each package; in that of a debug package, "Build-Ids:" lists the build
 * IDs of its files.  Lists may be compressed in any way that apt supports:
 * apt-helper cat-file decompresses all of them.
 */
#include "hints/apt_lists.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"
#include "hints/dpkg.h"

#define LISTS "/var/lib/apt/lists"

enum {
	PIECE = 1 << 20,		/* bytes read at once */
	PARAGRAPH_MAX = 8 << 20,
	LISTS_MAX = 1000,
};
static const uint64_t list_bytes_max = 2ull << 30;

struct search {
	struct apt_ask *ask;
	size_t n, left;
	bool read;		/* at least one package was read */
	bool partial;		/* some lists could not be read */
	struct buf text;
};

static bool is_list(const char *file)
{
	const char *at = strstr(file, "_Packages");

	return at && (!at[9] || (at[9] == '.' && !strchr(at + 10, '.') &&
				 strcmp(at + 10, "diff")));
}

bool apt_has_debug_archive(const char *root)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool has = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s" LISTS, root);
	d = opendir(path);
	while (d && !has && (e = readdir(d)) != NULL)
		has = is_list(e->d_name) &&
		      (strstr(e->d_name, "-debug_") ||
		       strstr(e->d_name, "debian-debug") ||
		       strstr(e->d_name, "ddebs"));
	if (d)
		closedir(d);
	return has;
}

static void id_hex(const struct build_id *id, char out[2 * BUILD_ID_MAX + 1])
{
	text_hex(out, id->bytes,
		 id->len < BUILD_ID_MAX ? id->len : BUILD_ID_MAX);
}

/* Handles a paragraph [p, end) whose Build-Ids are at [ids, end of line). */
static int take_paragraph(struct search *s, const char *p, const char *ids,
			  const char *end)
{
	const char *eol = memchr(ids, '\n', (size_t)(end - ids));
	const char *name = memmem(p, (size_t)(ids - p), "Package: ", 9);
	char hex[2 * BUILD_ID_MAX + 1] = "";
	size_t n = (size_t)((eol ? eol : end) - ids), name_n;

	if (!name || (name != p && name[-1] != '\n'))
		return 0;
	name += 9;
	name_n = (size_t)((char *)memchr(name, '\n', (size_t)(ids - name)) -
			  name);
	if (!dpkg_is_name(name, name_n))
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		struct apt_ask *a = &s->ask[i];

		if (!a->id.len || a->package)
			continue;
		a->seen |= a->name && strlen(a->name) == name_n &&
			   !memcmp(a->name, name, name_n);
		id_hex(&a->id, hex);
		if (!memmem(ids, n, hex, 2u * a->id.len))
			continue;
		a->package = strndup(name, name_n);
		if (!a->package)
			return -ERR_NOMEM;
		s->left--;
	}
	return 0;
}

/* Notes whether the text at `name` is one of the requested names. */
static void take_name(struct search *s, const char *name, const char *end)
{
	const char *nl = memchr(name, '\n', (size_t)(end - name));
	size_t n = (size_t)((nl ? nl : end) - name);

	if (!dpkg_is_name(name, n))
		return;
	s->read = true;
	for (size_t i = 0; i < s->n; i++) {
		struct apt_ask *a = &s->ask[i];

		a->known |= a->name && strlen(a->name) == n &&
			    !memcmp(a->name, name, n);
	}
}

static void take_names(struct search *s, const char *p, const char *end)
{
	static const char key[] = "\nPackage: ";
	const size_t n = sizeof(key) - 1;
	const char *at = p;

	if ((size_t)(end - p) >= n && !memcmp(p, key + 1, n - 1))
		take_name(s, p + n - 1, end);	/* first line of the list */
	while ((at = memmem(at, (size_t)(end - at), key, n)) != NULL) {
		at += n;
		take_name(s, at, end);
	}
}

/* Handles all complete paragraphs in the buffer and moves the rest to the
 * front. */
static int take_text(struct search *s)
{
	static const char key[] = "\nBuild-Ids: ";
	const char *p = (const char *)s->text.p, *end = p + s->text.n, *at = p;
	const char *last = memrchr(p, '\n', s->text.n);
	int rc = 0;

	while (last && last > p && last[-1] != '\n')
		last = memrchr(p, '\n', (size_t)(last - p));
	if (!last || last == p)
		return s->text.n > PARAGRAPH_MAX ? -ERR_FORMAT : 0;
	take_names(s, p, last);
	while (!rc && s->left &&
	       (at = memmem(at, (size_t)(last - at), key, sizeof(key) - 1))) {
		const char *from = at, *to;

		while (from > p && !(from[-1] == '\n' && from[0] == '\n'))
			from--;
		to = memmem(at, (size_t)(last + 1 - at), "\n\n", 2);
		rc = take_paragraph(s, from == p ? p : from + 1,
				    at + sizeof(key) - 1, to ? to : last);
		at = to ? to : last;	/* only one such line counts */
	}
	s->text.n = (size_t)(end - last);
	memmove(s->text.p, last, s->text.n);
	return rc;
}

static int search_fd(struct search *s, int fd)
{
	uint64_t all = 0;
	int rc = 0;

	buf_reset(&s->text);
	while (!rc && s->left && all < list_bytes_max) {
		uint8_t *room = buf_room(&s->text, PIECE);
		ssize_t n = room ? read(fd, room, PIECE) : 0;

		if (!room)
			return -ERR_NOMEM;
		if (n <= 0)
			break;
		s->text.n += (size_t)n;
		all += (uint64_t)n;
		rc = take_text(s);
	}
	if (!rc && s->left && s->text.n) {
		buf_str(&s->text, "\n\n");
		rc = s->text.failed ? -ERR_NOMEM : take_text(s);
	}
	s->partial |= rc == -ERR_FORMAT || all >= list_bytes_max;
	return rc == -ERR_FORMAT ? 0 : rc;
}

/* Starts apt-helper with its output in a pipe.  Returns the read end, or -errno. */
static int start_helper(const char *path, pid_t *pid)
{
	char *argv[] = { (char[]){ "apt-helper" }, (char[]){ "cat-file" },
			 (char *)(uintptr_t)path, NULL };
	char *envp[] = { (char[]){ "PATH=/usr/bin:/bin" },
			 (char[]){ "LC_ALL=C" }, NULL };
	posix_spawn_file_actions_t fa;
	int fd[2], rc;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(pid, "/usr/lib/apt/apt-helper", &fa, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	if (!rc)
		return fd[0];
	close(fd[0]);
	return -rc;
}

static int search_list(struct search *s, const char *path)
{
	const char *dot = strrchr(path, '.');
	bool packed = dot && !strchr(dot, '/') && !strchr(dot, '_');
	pid_t pid = 0;
	int fd = packed ? start_helper(path, &pid)
			: open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc, status = 0;

	if (fd == -ENOMEM)
		return -ERR_NOMEM;
	if (fd < 0) {
		s->partial = true;
		return 0;
	}
	rc = search_fd(s, fd);
	close(fd);
	if (pid) {
		kill(pid, SIGTERM);	/* it may still be writing */
		waitpid(pid, &status, 0);
		s->partial |= WIFEXITED(status) && WEXITSTATUS(status);
	}
	return rc;
}

int apt_find_build_ids(const char *root, struct apt_ask *ask, size_t n,
		       bool *read)
{
	struct search s = { .ask = ask, .n = n };
	char path[PATH_MAX];
	struct dirent *e;
	int rc = 0, lists = 0;
	DIR *d;

	for (size_t i = 0; i < n; i++)
		s.left += ask[i].id.len != 0;
	snprintf(path, sizeof(path), "%s" LISTS, root);
	d = s.left ? opendir(path) : NULL;
	while (d && !rc && s.left && lists < LISTS_MAX &&
	       (e = readdir(d)) != NULL) {
		if (!is_list(e->d_name) ||
		    snprintf(path, sizeof(path), "%s" LISTS "/%s", root,
			     e->d_name) >= (int)sizeof(path))
			continue;
		lists++;
		rc = search_list(&s, path);
	}
	if (d)
		closedir(d);
	buf_fini(&s.text);
	*read = s.read && !s.partial && lists < LISTS_MAX;
	return rc;
}
