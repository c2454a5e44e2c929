// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which programs load the library.  A loader that cannot load it would print
 * an error on the program's standard error. */
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/preload.h"

enum { SCRIPTS_MAX = 4, HEAD = 1024, PATH_SPACE = 1024 };

extern char **environ __attribute__((weak));

/* Returns the interpreter of "#!interpreter argument", in place. */
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

/* Returns whether a program gets other privileges.  Its loader ignores the library. */
static bool has_rights(long fd)
{
	struct stat st;

	return !sys3(SYS_fstat, fd, (long)&st, 0) &&
	       ((st.st_mode & S_ISUID &&
		 st.st_uid != (uid_t)sys1(SYS_getuid, 0)) ||
		(st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
		 st.st_gid != (gid_t)sys1(SYS_getgid, 0)));
}

/* Reads the beginning of regular files only: opening a pipe waits for its other end,
 * and devices may have effects. */
static long head_read(const char *path, char *head, bool *rights)
{
	struct stat st;
	long fd, n;

	if (sys4(SYS_newfstatat, -100, (long)path, (long)&st, 0) < 0 ||
	    !S_ISREG(st.st_mode))
		return -1;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	n = sys_read(fd, head, HEAD - 1);
	*rights = has_rights(fd);
	sys_close(fd);
	return n;
}

static enum follow elf_kind(const char *head, long n)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)head;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)
			       (head + sizeof(*e));

	if (head[EI_CLASS] != ELFCLASS64 || n < (long)sizeof(*e))
		return FOLLOW_NOT;
	if (e->e_machine != EM_X86_64)
		return FOLLOW_NOT;
	/* Not directly after the header, so anything is possible. */
	if (e->e_phoff != sizeof(*e))
		return FOLLOW;
	for (int i = 0; i < e->e_phnum; i++) {
		if (n < (long)(sizeof(*e) + ((size_t)i + 1) * sizeof(*ph)))
			return FOLLOW;
		if (ph[i].p_type == PT_INTERP)
			return FOLLOW;
	}
	return FOLLOW_CHILDREN;
}

enum follow follow_file(const char *path)
{
	char head[HEAD] __attribute__((aligned(8)));
	const char *at = path;

	/* With another root or user, the library's path is not accessible. */
	if (sys4(SYS_faccessat, -100, (long)preload.library, R_OK, 0) < 0)
		return FOLLOW_NOT;
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		bool rights = false;
		long n = head_read(at, head, &rights);

		/* An unreadable executable is taken for a program. */
		if (n < 4)
			return FOLLOW;
		if (head[0] == '#' && head[1] == '!') {
			at = interpreter(head, n);
			continue;
		}
		if (head[0] != ELFMAG0 || head[1] != ELFMAG1)
			return FOLLOW;
		return rights ? FOLLOW_CHILDREN : elf_kind(head, n);
	}
	return FOLLOW;
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

enum follow follow_found(const char *file)
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
	return FOLLOW;
}
