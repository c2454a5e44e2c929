// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/image_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 4096 };

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* Where an image's file may be found, best first. */
enum place { PLACE_ROOT, PLACE_MAP_FILES, PLACE_PARENT, PLACE_PATH, PLACES };

static bool place_path(const struct images *im, enum place place,
		       struct map_owner who, const struct record_mmap *m,
		       const char *path, char *out)
{
	int n = PATH_SPACE;

	switch (place) {
	case PLACE_ROOT:
		n = snprintf(out, PATH_SPACE, "%s/%u/root%s", im->proc,
			     who.pid, path);
		break;
	case PLACE_MAP_FILES:
		n = snprintf(out, PATH_SPACE, "%s/%u/map_files/%llx-%llx",
			     im->proc, who.pid, (unsigned long long)m->start,
			     (unsigned long long)(m->start + m->len));
		break;
	case PLACE_PARENT:
		if (who.parent)
			n = snprintf(out, PATH_SPACE, "%s/%u/root%s", im->proc,
				     who.parent, path);
		break;
	default:
		n = snprintf(out, PATH_SPACE, "%s", path);
	}
	return n < PATH_SPACE;
}

/* Devices and pipes could act on being opened. */
int open_plain(const char *path, struct stat *st)
{
	int fd;

	if (stat(path, st) < 0 || !S_ISREG(st->st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

void image_take(struct recorded_image *r, int fd)
{
	const struct image_segment *segs;
	struct image *img;
	size_t n;

	if (image_open_fd(fd, r->path, &img, NULL) < 0)
		return;
	n = image_segments(img, &segs);
	if (n && n <= SEGMENTS_MAX) {
		r->segs = malloc(n * sizeof(*segs));
		if (r->segs) {
			memcpy(r->segs, segs, n * sizeof(*segs));
			r->nsegs = n;
		}
	}
	if (!r->build_id.len)
		r->build_id = image_build_id(img);
	image_close(img);
}

/* Device numbers differ between stat(2) and mappings on btrfs and overlayfs,
 * inode numbers don't. */
bool is_mapped_file(const struct record_mmap *m, int fd,
			   const struct stat *st)
{
	struct build_id id;
	struct image *img;

	if (!m->build_id.len)
		return !m->inode || m->inode == st->st_ino;
	if (image_open_fd(fd, "", &img, NULL) < 0)
		return false;
	id = image_build_id(img);
	image_close(img);
	return build_id_equal(&id, &m->build_id);
}

void image_open(struct images *im, struct recorded_image *r,
		struct map_owner who, const struct record_mmap *m)
{
	char path[PATH_SPACE];
	bool other = false;
	struct stat st;

	for (int place = 0; place < PLACES; place++) {
		int fd;

		if (!place_path(im, (enum place)place, who, m, r->path, path))
			continue;
		fd = open_plain(path, &st);
		if (fd < 0)
			continue;
		if (!is_mapped_file(m, fd, &st)) {
			other = true;
			close(fd);
			continue;
		}
		image_take(r, fd);
		if (im->fds < im->max_fds && r->nsegs) {
			r->fd = fd;
			im->fds++;
		} else {
			close(fd);
		}
		break;
	}
	if (other)
		r->flags |= PROF_IMAGE_DELETED;
	if (!r->nsegs)
		r->flags |= PROF_IMAGE_UNREADABLE;
}
