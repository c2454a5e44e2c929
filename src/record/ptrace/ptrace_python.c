// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the Python interpreters of traced programs, and the frames of their threads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/collect/file_open.h"
#include "record/collect/image_identity.h"
#include "record/ptrace/ptrace_internal.h"

static int if_mapped(const struct record *r, int fd, const struct stat *st)
{
	if (fd >= 0 && !is_mapped_inode(&r->mmap, 0, fd, st)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens the file behind a mapping if it is certainly the same file; otherwise returns
 * -1.  The kernel reports its path below the root of its mount namespace, even if the
 * process has another root. */
static int open_mapped(const struct record *r, struct stat *st)
{
	int fd;

	if (r->mmap.path[0] != '/')
		return -1;
	fd = if_mapped(r, open_of_process("/proc", r->pid, r->mmap.path, true,
					  st), st);
	return fd >= 0 ? fd : if_mapped(r, open_plain(r->mmap.path, st), st);
}

/* Returns whether a file is an interpreter, and sets the address of its code at
 * `offset`. */
static bool look(int fd, uint64_t offset, struct python_file *f, uint64_t *vaddr)
{
	struct image *img;
	bool found;

	if (image_open_fd(fd, "", &img, NULL) < 0)
		return false;
	found = python_file_of(img, f) &&
		image_vaddr_of_offset(img, offset, vaddr);
	image_close(img);
	return found;
}

/* Returns whether the file may be an interpreter.  Few are.  Opening the others would
 * take time that the program may need. */
static bool may_be_python(struct tracer *t, const struct record *r)
{
	const struct tracee *k = tracee_find(t, r->pid);
	const char *name = strrchr(r->mmap.path, '/');

	return t->opts->copy_bytes && name &&
	       ((k && k->python) || strstr(name, "python"));
}

void tracer_python_map(struct tracer *t, const struct record *r)
{
	struct python_file f;
	struct stat st;
	uint64_t vaddr;
	uint32_t *known;
	int fd;

	if (!may_be_python(t, r))
		return;
	fd = open_mapped(r, &st);
	if (fd < 0)
		return;
	known = tracer_image_known(&t->not_python, fd, &st);
	if (known && *known == U64MAP_NONE) {
		if (look(fd, r->mmap.offset, &f, &vaddr))
			python_live_set(&t->python, r->pid, &f,
					r->mmap.start - vaddr);
		else
			*known = 1;
	}
	close(fd);
}

void tracer_python(struct tracer *t, const struct tracee *k,
		   struct record_sample *s)
{
	if (!python_live_frames(&t->python, k->pid, k->tid, s))
		s->frames = NULL;
}
