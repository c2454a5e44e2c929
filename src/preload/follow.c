// SPDX-License-Identifier: GPL-2.0-or-later
/* Which programs take the library: a loader that cannot would say so on the
 * program's standard error. */
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "preload/preload.h"

enum { SCRIPTS_MAX = 4, HEAD = 512, PATH_SPACE = 1024 };

extern char **environ __attribute__((weak));

/* "#!interpreter argument": the interpreter, in place. */
static const char *interpreter(char *head, long n)
{
	char *p = head + 2, *end;

	head[n < HEAD - 1 ? n : HEAD - 1] = 0;
	while (*p == ' ' || *p == '\t')
		p++;
	for (end = p; *end && *end != ' ' && *end != '\t' && *end != '\n';)
		end++;
	*end = 0;
	return p;
}

static long head_read(const char *path, char *head)
{
	long fd = sys_open(path, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return fd;
	n = sys_read(fd, head, HEAD - 1);
	sys_close(fd);
	return n;
}

bool follow_file(const char *path)
{
	char head[HEAD];
	const char *at = path;

	/* Another root, another user's: then there is no way to us. */
	if (sys4(SYS_faccessat, -100, (long)preload.library, R_OK, 0) < 0)
		return false;
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		long n = head_read(at, head);

		/* What may be executed but not read is what it is. */
		if (n < 4)
			return true;
		if (head[0] == '#' && head[1] == '!') {
			at = interpreter(head, n);
			continue;
		}
		return head[0] != ELFMAG0 || head[1] != ELFMAG1 ||
		       head[EI_CLASS] == ELFCLASS64;
	}
	return true;
}

static const char *search_path(void)
{
	for (char **e = &environ ? environ : NULL; e && *e; e++) {
		const char *value = text_after(*e, "PATH=");

		if (value)
			return value;
	}
	return "/bin:/usr/bin";
}

bool follow_found(const char *file)
{
	char path[PATH_SPACE];
	const char *p, *dirs = search_path();
	size_t n = text_size(file);

	for (p = file; *p; p++)
		if (*p == '/')
			return follow_file(file);
	while (*dirs) {
		size_t d = 0;

		while (dirs[d] && dirs[d] != ':')
			d++;
		if (d && d + n + 2 <= sizeof(path)) {
			bytes_copy(path, dirs, d);
			path[d] = '/';
			bytes_copy(path + d + 1, file, n + 1);
			if (!sys4(SYS_faccessat, -100, (long)path, X_OK, 0))
				return follow_file(path);
		}
		dirs += d + (dirs[d] == ':');
	}
	return true;
}
