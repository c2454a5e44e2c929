// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which programs load the library.  A loader that cannot load it would print
 * an error on the program's standard error. */
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/preload.h"

enum { SCRIPTS_MAX = 4, HEAD = 1024, PATH_SPACE = 1024, DYNAMIC_MAX = 48 };

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

/* A file to be executed. */
struct candidate {
	char *head;		/* its first HEAD - 1 bytes */
	bool rights;		/* it gets other privileges */
	bool first;		/* it needs a library that must be the first one */
};

static long at_read(long fd, void *to, size_t n, uint64_t at)
{
	return sys4(SYS_pread64, fd, (long)to, (long)n, (long)at);
}

static bool is_elf64(const char *head, long n)
{
	return n >= (long)sizeof(Elf64_Ehdr) && text_after(head, ELFMAG) &&
	       head[EI_CLASS] == ELFCLASS64;
}

/* Returns the i-th program header, or NULL if it is not in the head. */
static const Elf64_Phdr *header_at(const char *head, long n, int i)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)head;
	size_t end = sizeof(*e) + ((size_t)i + 1) * sizeof(Elf64_Phdr);

	/* Linkers place them directly after the file's header. */
	return e->e_phoff == sizeof(*e) && i < e->e_phnum && n >= (long)end
	       ? (const Elf64_Phdr *)(const void *)(head + end) - 1 : NULL;
}

static uint64_t file_offset(const char *head, long n, uint64_t vaddr)
{
	const Elf64_Phdr *p;

	for (int i = 0; (p = header_at(head, n, i)) != NULL; i++)
		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr &&
		    vaddr - p->p_vaddr < p->p_filesz)
			return p->p_offset + (vaddr - p->p_vaddr);
	return 0;
}

/* Returns whether one of the needed libraries is GCC's runtime of AddressSanitizer,
 * which ends the program if another library comes before it. */
static bool needs_asan(long fd, const Elf64_Dyn *d, long n, uint64_t names)
{
	char name[16];

	for (long i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
		if (d[i].d_tag != DT_NEEDED)
			continue;
		bytes_zero(name, sizeof(name));
		at_read(fd, name, sizeof(name) - 1, names + d[i].d_un.d_val);
		if (text_after(name, "libasan.so"))
			return true;
	}
	return false;
}

static bool comes_first(long fd, const char *head, long n)
{
	Elf64_Dyn d[DYNAMIC_MAX];
	const Elf64_Phdr *p = NULL;
	uint64_t names = 0;
	long got;

	if (!is_elf64(head, n))
		return false;
	for (int i = 0; (p = header_at(head, n, i)) != NULL; i++)
		if (p->p_type == PT_DYNAMIC)
			break;
	got = p ? at_read(fd, d, p->p_filesz < sizeof(d) ? p->p_filesz : sizeof(d),
			  p->p_offset) / (long)sizeof(d[0]) : 0;
	for (long i = 0; i < got && d[i].d_tag != DT_NULL; i++)
		if (d[i].d_tag == DT_STRTAB)
			names = file_offset(head, n, d[i].d_un.d_ptr);
	return names && needs_asan(fd, d, got, names);
}

/* Reads the beginning of regular files only: opening a pipe waits for its other end,
 * and devices may have effects. */
static long head_read(const char *path, struct candidate *c)
{
	struct stat st;
	long fd, n;

	if (sys4(SYS_newfstatat, -100, (long)path, (long)&st, 0) < 0 ||
	    !S_ISREG(st.st_mode))
		return -1;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	n = sys_read(fd, c->head, HEAD - 1);
	c->rights = has_rights(fd);
	c->first = n > 0 && comes_first(fd, c->head, n);
	sys_close(fd);
	return n;
}

/* Returns whether another program traces this thread.  It would see the timer's
 * signals. */
static bool is_traced(void)
{
	static const char field[] = "TracerPid:\t";
	char text[512];
	long fd = sys_open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return false;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	text[n > 0 ? n : 0] = 0;
	for (const char *s = text; *s; s++) {
		const char *value = text_after(s, field);

		if (value)
			return *value != '0';
	}
	return false;
}

/* Another C library's loader does not load this library. */
static enum follow linker_kind(const char *head, long n, const Elf64_Phdr *p)
{
	static const char ours[] = "ld-linux-x86-64.so.2";
	uint64_t size = p->p_filesz;

	/* Linkers place it in the first bytes. */
	if (size < sizeof(ours) || p->p_offset >= (uint64_t)n ||
	    size > (uint64_t)n - p->p_offset)
		return FOLLOW;
	return text_after(head + p->p_offset + size - sizeof(ours), ours)
	       ? FOLLOW : FOLLOW_NOT;
}

static enum follow elf_kind(const char *head, long n)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)head;
	const Elf64_Phdr *p;

	if (!is_elf64(head, n) || e->e_machine != EM_X86_64)
		return FOLLOW_NOT;
	for (int i = 0; i < e->e_phnum; i++) {
		p = header_at(head, n, i);
		if (!p)		/* anything is possible */
			return FOLLOW;
		if (p->p_type == PT_INTERP)
			return linker_kind(head, n, p);
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
	if (is_traced())
		return FOLLOW_OTHER;
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		struct candidate c = { head, false, false };
		long n = head_read(at, &c);

		/* An unreadable executable is taken for a program. */
		if (n < 4)
			return FOLLOW;
		if (head[0] == '#' && head[1] == '!') {
			at = interpreter(head, n);
			continue;
		}
		if (head[0] != ELFMAG0 || head[1] != ELFMAG1)
			return FOLLOW;
		return c.first ? FOLLOW_NOT : c.rights ? FOLLOW_CHILDREN
		       : elf_kind(head, n);
	}
	return FOLLOW;
}

enum follow follow_descriptor(int fd, const char *path)
{
	enum { FOLDER = 48 };	/* more than the folder's name takes */
	char at[PATH_SPACE], *p;

	if (*path == '/' || fd == AT_FDCWD)
		return follow_file(path);
	if (text_size(path) >= sizeof(at) - FOLDER)
		return FOLLOW_NOT;
	p = text_put_number(text_put(at, "/proc/thread-self/fd/"),
			    (unsigned int)fd);
	if (*path)
		text_put(text_put(p, "/"), path);
	return follow_file(at);
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
