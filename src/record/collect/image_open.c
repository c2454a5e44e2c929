// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the file behind a mapping, wherever it is now. */
#include "record/collect/image_open.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "record/collect/file_open.h"
#include "record/collect/jit_map.h"

enum { SEGMENTS_MAX = 4096, OPEN_FILES_MAX = 1024, ANCESTORS = 3 };

/* Places where an image's file may be found, best first: the process's own view of
 * the file system; the mapping itself, whatever became of its name (for root); the
 * program that it runs; its open files; the recorder's, which has the library for
 * timers open; its ancestors, which live longer and usually see the same files;
 * tally's own view; and a cache of programs by build ID. */
enum place {
	PLACE_ROOT, PLACE_MAP_FILES, PLACE_EXE, PLACE_OPEN_FILES,
	PLACE_RECORDER,
	PLACE_ANCESTOR,
	PLACE_PATH = PLACE_ANCESTOR + ANCESTORS,
	PLACE_CACHE,
	PLACES,
};

struct search {
	const struct images *im;
	const struct map_owner *who;
	const struct mapping *m;
	struct recorded_image *r;
	bool other;		/* found a different file */
	int refused;		/* errno other than "no such file" */
	bool not_elf;		/* found the file, but it is not ELF */
	struct error bad;	/* found the file, but could not read it */
};

/* Finds the file among open files (/proc/PID/fd): a memfd, or a deleted file. */
static bool open_file_path(const struct search *s, const char *dir, char *out)
{
	char target[PATH_SPACE];
	size_t len = strlen(s->r->path);
	struct dirent *d;
	bool found = false;
	DIR *fds;

	if (!(s->r->flags & PROF_IMAGE_DELETED))
		return false;
	fds = opendir(dir);
	for (int i = 0; fds && !found && i < OPEN_FILES_MAX &&
			(d = readdir(fds)); i++) {
		ssize_t n = readlinkat(dirfd(fds), d->d_name, target,
				       sizeof(target));

		found = n >= (ssize_t)len && !memcmp(target, s->r->path, len) &&
			((size_t)n == len || target[len] == ' ');
		if (found)
			snprintf(out, PATH_SPACE, "%.64s/%.32s", dir, d->d_name);
	}
	if (fds)
		closedir(fds);
	return found;
}

static bool cache_path(const struct search *s, char *out)
{
	const struct build_id *id = &s->m->build_id;
	char hex[2 * BUILD_ID_MAX + 1];

	if (!s->im->cache || id->len < 2)
		return false;
	text_hex(hex, id->bytes, id->len);
	return snprintf(out, PATH_SPACE, "%s/%.2s/%s/elf", s->im->cache, hex,
			hex + 2) < PATH_SPACE;
}

static bool place_path(const struct search *s, int place, char *out)
{
	const struct map_owner *who = s->who;
	const struct mapping *m = s->m;
	const char *proc = s->im->proc;
	char files[64];
	int n = PATH_SPACE;

	if (place == PLACE_CACHE)
		return cache_path(s, out);
	if (place != PLACE_PATH && s->im->foreign_proc)
		return false;
	switch (place) {
	case PLACE_MAP_FILES:
		n = snprintf(out, PATH_SPACE, "%s/%u/map_files/%llx-%llx", proc,
			     who->pid, (unsigned long long)m->start,
			     (unsigned long long)(m->start + m->len));
		break;
	case PLACE_EXE:
		n = snprintf(out, PATH_SPACE, "%s/%u/exe", proc, who->pid);
		break;
	case PLACE_OPEN_FILES:
		snprintf(files, sizeof(files), "%.32s/%u/fd", proc, who->pid);
		return open_file_path(s, files, out);
	case PLACE_RECORDER:
		return !strcmp(s->r->path, PROF_IMAGE_TIMER) &&
		       open_file_path(s, "/proc/self/fd", out);
	default:
		n = snprintf(out, PATH_SPACE, "%s", s->r->path);
	}
	return n < PATH_SPACE;
}

bool image_take(struct recorded_image *r, int fd, struct error *err)
{
	const struct image_segment *segs;
	struct image *img;
	size_t n;

	if (image_open_fd(fd, r->path, &img, err) < 0)
		return false;
	n = image_segments(img, &segs);
	if (n && n <= SEGMENTS_MAX) {
		r->segs = malloc(n * sizeof(*segs));
		if (r->segs) {
			memcpy(r->segs, segs, n * sizeof(*segs));
			r->nsegs = n;
		} else {
			error_nomem(err);
		}
	} else {
		error_set(err, ERR_FORMAT, "%s has %zu loaded segments "
			  "(supported: 1 to %d)", r->path, n, SEGMENTS_MAX);
	}
	if (!r->build_id.len)
		r->build_id = image_build_id(img);
	image_close(img);
	return r->nsegs;
}

static bool has_build_id(int fd, const char *name, const struct build_id *want,
			 struct error *err)
{
	struct build_id id;
	struct image *img;

	if (image_open_fd(fd, name, &img, err) < 0)
		return false;
	id = image_build_id(img);
	image_close(img);
	return build_id_equal(&id, want);
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}

static bool is_mapped_file(struct search *s, int fd, const struct stat *st)
{
	if (s->m->build_id.len) {
		struct error err = { 0 };
		bool same = has_build_id(fd, s->r->path, &s->m->build_id, &err);

		if (err.code == ERR_NOMEM)
			s->bad = err;
		return same;
	}
	/* A jitdump file grows while it is mapped. */
	return is_mapped_inode(s->m, s->who->time_ns, fd, st) &&
	       !(is_written_since(s->who->time_ns, st) && is_elf(fd));
}

/* Opens the file at a place.  Returns the descriptor, or -errno. */
static int open_place(const struct search *s, int place, struct stat *st)
{
	bool ancestor = place >= PLACE_ANCESTOR && place < PLACE_PATH;
	char path[PATH_SPACE];
	uint32_t pid;

	if (!ancestor && place != PLACE_ROOT)
		return place_path(s, place, path) ? open_plain(path, st)
						  : -ENOENT;
	pid = s->who->pid;
	if (ancestor)
		pid = processes_ancestor(s->who->processes, pid,
					 place - PLACE_ANCESTOR + 1);
	if (s->im->foreign_proc || (ancestor && !pid))
		return -ENOENT;
	return open_of_process(s->im->proc, pid, s->r->path, true, st);
}

/* Returns the descriptor of the file, or -1. */
static int search_place(struct search *s, int place, struct stat *st)
{
	int fd = open_place(s, place, st);

	if (fd < 0) {
		if (fd != -ENOENT && fd != -ESRCH && fd != -ENOTDIR)
			s->refused = -fd;
		return -1;
	}
	if (is_mapped_file(s, fd, st))
		return fd;
	/* The running program is usually a different file. */
	s->other |= place != PLACE_EXE && !s->bad.code;
	close(fd);
	return -1;
}

static bool process_lives(const struct search *s)
{
	char path[64];

	snprintf(path, sizeof(path), "%.32s/%u", s->im->proc, s->who->pid);
	return !access(path, F_OK);
}

__attribute__((format(printf, 2, 3)))
static void set_reason(struct recorded_image *r, const char *fmt, ...)
{
	va_list ap;

	free(r->reason);
	va_start(ap, fmt);
	if (vasprintf(&r->reason, fmt, ap) < 0)
		r->reason = NULL;
	va_end(ap);
}

static void explain(const struct search *s)
{
	bool lives = process_lives(s);
	struct recorded_image *r = s->r;
	const char *whose = s->m->build_id.len ? "build-id"
						   : "inode or time";

	if (s->not_elf)
		set_reason(r, "%s is not an ELF file", r->path);
	else if (s->bad.code)
		set_reason(r, "%s", s->bad.msg);
	else if (s->refused && !s->other)
		set_reason(r, "%s could not be opened: %s", r->path,
			   strerror(s->refused));
	else if (s->other && lives)
		set_reason(r, "%s was replaced after the program started (its "
			   "%s differs), and only root can open the original",
			   r->path, whose);
	else if (s->other)
		set_reason(r, "%s is not the file that ran (its %s differs), "
			   "and process %u has ended", r->path, whose,
			   s->who->pid);
	else if (lives)
		set_reason(r, "%s is deleted, and only root can still open it",
			   r->path);
	else
		set_reason(r, "%s not found: deleted, or visible only to "
			   "process %u, which ended before it could be opened",
			   r->path,
			   s->who->pid);
}

void image_open(struct images *im, struct recorded_image *r,
		const struct map_owner *who, const struct mapping *m)
{
	struct search s = { .im = im, .who = who, .m = m, .r = r };
	char *refused = NULL;
	struct stat st;
	int fd = -1;

	for (int place = 0; place < PLACES && fd < 0; place++)
		fd = search_place(&s, place, &st);
	if (fd >= 0) {
		r->stamp = file_stamp_of(&st);
		if (!image_take(r, fd, &s.bad)) {
			s.not_elf = !is_elf(fd);
			r->jitdump = jit_dump_counts(im, who->pid, r->path, &st,
						     &refused);
			r->kind = r->jitdump ? PROF_IMAGE_UNKNOWN : r->kind;
		}
		if (im->fds < im->max_fds && (r->nsegs || r->jitdump)) {
			r->fd = fd;
			im->fds++;
		} else {
			close(fd);
		}
	}
	if (s.other)
		r->flags |= PROF_IMAGE_DELETED;
	if (r->nsegs || r->jitdump)
		return;
	r->flags |= PROF_IMAGE_UNREADABLE;
	if (refused)
		r->reason = refused;
	else
		explain(&s);
}

bool image_is_rewritten(const struct recorded_image *r, int fd)
{
	struct file_stamp now;
	struct stat st;

	if (!r->inode || fstat(fd, &st) < 0)
		return false;
	now = file_stamp_of(&st);
	return !file_stamp_equal(&now, &r->stamp);
}

int image_reopen(const struct recorded_image *r)
{
	struct mapping m = { .build_id = r->build_id, .dev = r->dev,
				 .inode = r->inode,
				 .generation = r->generation };
	struct stat st;
	int fd = open_plain(r->path, &st);

	if (fd < 0)
		return -1;
	if (r->build_id.len ? has_build_id(fd, r->path, &r->build_id, NULL)
			    : is_mapped_inode(&m, 0, fd, &st) &&
				      !image_is_rewritten(r, fd))
		return fd;
	close(fd);
	return -1;
}
