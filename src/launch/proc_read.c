// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small files of proc(5), and memory of processes. */
#include "launch/proc_read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "launch/proc_text.h"

enum { LINE_MAX_BYTES = 256, STATUS_MAX = 1 << 16 };

bool proc_line(const char *path, struct buf *out)
{
	bool read = !io_read_file(path, LINE_MAX_BYTES, out, NULL);

	while (read && out->n && out->p[out->n - 1] == '\n')
		out->n--;
	return read;
}

ssize_t proc_beginning(char *text, size_t size, const char *path, ...)
{
	char name[4096];
	ssize_t n = -1;
	va_list ap;
	int fd;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = 0;
	return n;
}

uint32_t proc_next(DIR *d)
{
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		char *end;
		unsigned long id = strtoul(e->d_name, &end, 10);

		if (*e->d_name >= '1' && *e->d_name <= '9' && !*end && id < INT32_MAX)
			return (uint32_t)id;
	}
	return 0;
}

bool proc_name(uint32_t pid, const char *otherwise, struct buf *out)
{
	struct buf b = { 0 };
	char path[64];
	bool known;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	known = proc_line(path, &b) && b.n;
	buf_str(out, known ? buf_cstr(&b) : otherwise);
	buf_fini(&b);
	return known;
}

/* All processes may be asked, and the kernel writes stat faster than status. */
uint32_t proc_parent(uint32_t pid)
{
	char text[256];
	const char *name_end;
	uint32_t parent = 0;

	proc_beginning(text, sizeof(text), "/proc/%u/stat", pid);
	name_end = strrchr(text, ')');
	if (name_end && sscanf(name_end, ") %*c %" SCNu32, &parent) != 1)
		parent = 0;
	return parent;
}

uint64_t proc_status_of(uint32_t pid, const char *key, uint64_t otherwise)
{
	struct buf b = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (!io_read_file(path, STATUS_MAX, &b, NULL))
		proc_status_number((const char *)b.p, b.n, key, &otherwise);
	buf_fini(&b);
	return otherwise;
}

bool proc_other_user(uint32_t pid, uint64_t *uid)
{
	*uid = proc_status_of(pid, "Uid", geteuid());
	return *uid != geteuid();
}

bool proc_is_own(void)
{
	char text[64];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = 0;
	return n > 0 && strtol(text, NULL, 10) == getpid();
}

bool proc_first_pid_namespace(void)
{
	static const char first[] = "pid:[4026531836]";	/* PROC_PID_INIT_INO */
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = 0;
	return n <= 0 || !strcmp(text, first);
}

bool proc_memory(uint32_t pid, uint64_t addr, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)addr, n };

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

ssize_t proc_memory_pages(uint32_t pid, uint64_t addr, void *to, size_t n)
{
	struct iovec local = { to, n }, remote[PROC_PAGES];
	size_t k = 0;

	for (; n && k < PROC_PAGES; k++) {
		size_t part = PROC_PAGE - addr % PROC_PAGE;

		if (part > n)
			part = n;
		remote[k] = (struct iovec){ (void *)(uintptr_t)addr, part };
		addr += part;
		n -= part;
	}
	return process_vm_readv((pid_t)pid, &local, 1, remote, k, 0);
}
