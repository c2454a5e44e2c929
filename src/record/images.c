// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/image_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TRIES_MAX = 32 };

static const char deleted[] = " (deleted)";

/* A copy of the vdso that the kernel gives every process like us. */
static void vdso_copy(struct images *im)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	size_t size = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	char line[512];
	FILE *f;

	im->vdso = -1;
	f = p ? fopen("/proc/self/maps", "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    start == (unsigned long)p)
			size = end - start;
	}
	if (f)
		fclose(f);
	if (!size || size > 64 * page)
		return;
	im->vdso = memfd_create("tally-vdso", MFD_CLOEXEC);
	if (im->vdso >= 0 && write(im->vdso, p, size) != (ssize_t)size) {
		close(im->vdso);
		im->vdso = -1;
	}
	im->vdso_size = size;
}

int images_init(struct images *im, struct profile *p, const char *proc)
{
	struct rlimit files = { 1024, 1024 };

	memset(im, 0, sizeof(*im));
	im->profile = p;
	im->proc = strdup(proc);
	getrlimit(RLIMIT_NOFILE, &files);
	im->max_fds = files.rlim_cur / 2 < 100000 ? files.rlim_cur / 2 : 100000;
	vdso_copy(im);
	im->unknown = images_add(im, "[unknown]", PROF_IMAGE_UNKNOWN, 0, NULL);
	im->guest = images_add(im, "[guest]", PROF_IMAGE_UNKNOWN, 0, NULL);
	if (!im->proc || im->guest == UINT32_MAX) {
		images_fini(im);
		return -ERR_NOMEM;
	}
	return 0;
}

void images_fini(struct images *im)
{
	for (size_t i = 0; i < im->v.n; i++) {
		if (im->v.v[i].fd >= 0)
			close(im->v.v[i].fd);
		free(im->v.v[i].path);
		free(im->v.v[i].segs);
	}
	if (im->vdso >= 0)
		close(im->vdso);
	vec_fini(&im->v);
	vec_fini(&im->alias);
	vec_fini(&im->alias_key);
	vec_fini(&im->by_row);
	idtab_fini(&im->by_file);
	free(im->proc);
	memset(im, 0, sizeof(*im));
	im->vdso = -1;
}

uint32_t images_add(struct images *im, const char *path, uint8_t kind,
		    uint64_t base, const struct build_id *id)
{
	struct recorded_image n = {
		.path = strdup(path), .kind = kind, .base = base,
		.row = PROF_NONE, .fd = -1,
	};

	if (id)
		n.build_id = *id;
	if (!n.path || im->v.n >= UINT32_MAX - 1 || vec_push(&im->v, n) < 0) {
		free(n.path);
		return UINT32_MAX;
	}
	return (uint32_t)im->v.n - 1;
}

uint32_t images_row(struct images *im, uint32_t image)
{
	struct recorded_image *r = &im->v.v[image];
	struct prof_image row = {
		.kind = r->kind, .flags = r->flags, .build_id = r->build_id,
		.base = r->base,
	};

	if (r->row != PROF_NONE)
		return r->row;
	row.path = profile_str(im->profile, r->path);
	if (row.path == PROF_NONE || vec_push(&im->profile->images, row) < 0)
		return PROF_NONE;
	if (vec_push(&im->by_row, image) < 0) {
		im->profile->images.n--;
		return PROF_NONE;
	}
	return r->row = (uint32_t)im->profile->images.n - 1;
}

/* Memory without a file behind it, as the kernel names it. */
static bool is_anonymous(const char *path)
{
	static const char *const starts[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/SYSV", "/[aio]",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(path, starts[i], strlen(starts[i])))
			return true;
	return path[0] != '/';
}

struct file_key {
	const char *path;
	const struct build_id *build_id;
	uint64_t dev, inode;
	uint64_t hash;
};

static uint64_t file_hash(const struct file_key *k)
{
	uint64_t h = hash_bytes(k->path, strlen(k->path));

	if (k->build_id->len)
		return hash_mix(h, hash_bytes(k->build_id->bytes,
					      k->build_id->len));
	return hash_mix(hash_mix(h, k->dev), k->inode);
}

static bool file_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct images *im = ctx;
	const struct file_key *k = key;
	const struct recorded_image *r = &im->v.v[im->alias.v[id]];

	if (im->alias_key.v[id] != k->hash || strcmp(r->path, k->path))
		return false;
	if (k->build_id->len)
		return build_id_equal(&r->build_id, k->build_id);
	return r->dev == k->dev && r->inode == k->inode;
}

static int alias_add(struct images *im, uint64_t hash, uint32_t image)
{
	if (vec_push(&im->alias, image) < 0)
		return -ERR_NOMEM;
	if (vec_push(&im->alias_key, hash) < 0) {
		im->alias.n--;
		return -ERR_NOMEM;
	}
	return idtab_add(&im->by_file, hash, (uint32_t)im->alias.n - 1);
}

/* The image with this key, or UINT32_MAX. */
static uint32_t image_find(const struct images *im, struct file_key *key)
{
	uint32_t id;

	key->hash = file_hash(key);
	id = idtab_find(&im->by_file, key->hash, file_equal, im, key);
	return id == IDTAB_NONE ? UINT32_MAX : im->alias.v[id];
}

/* An image that is no file; `dev` tells those of one name apart. */
static uint32_t image_special(struct images *im, const char *path,
			      uint8_t kind, uint64_t dev)
{
	static const struct build_id none;
	struct file_key key = { path, &none, dev, UINT64_MAX, 0 };
	uint32_t image = image_find(im, &key);

	if (image != UINT32_MAX)
		return image;
	image = images_add(im, path, kind, dev, NULL);
	if (image == UINT32_MAX || alias_add(im, key.hash, image) < 0)
		return UINT32_MAX;
	im->v.v[image].dev = dev;
	im->v.v[image].inode = UINT64_MAX;
	return image;
}

/* The image of a process's own memory: addresses of one mean nothing to
 * another, so each process has its own. */
static uint32_t image_anon(struct images *im, uint32_t pid, const char *path)
{
	bool named = path[0] == '[' && strcmp(path, "[heap]") &&
		     strcmp(path, "[stack]");

	return image_special(im, named ? path : "[anon]", PROF_IMAGE_ANON, pid);
}

static uint32_t image_vdso(struct images *im)
{
	uint32_t image = image_special(im, "[vdso]", PROF_IMAGE_VDSO, 0);
	struct recorded_image *r;

	if (image == UINT32_MAX || im->v.v[image].nsegs)
		return image;
	r = &im->v.v[image];
	image_take(r, im->vdso);
	r->fd = fcntl(im->vdso, F_DUPFD_CLOEXEC, 0);
	return image;
}

/* A file seen for the first time under this key.  When its build-id turns out
 * to be known already with this path, it is that image. */
static uint32_t image_new(struct images *im, struct map_owner who,
			  const struct record_mmap *m, struct file_key *key,
			  uint8_t flags)
{
	uint32_t image = images_add(im, key->path, PROF_IMAGE_ELF, 0,
				    &m->build_id);
	struct recorded_image *r;
	uint32_t same, alias = (uint32_t)im->alias.n;

	if (image == UINT32_MAX || alias_add(im, key->hash, image) < 0)
		return UINT32_MAX;
	r = &im->v.v[image];
	r->flags = flags;
	r->dev = key->dev;
	r->inode = key->inode;
	image_open(im, r, who, m);
	if (!r->nsegs && !strncmp(key->path, "/memfd:", 7)) {
		r->kind = PROF_IMAGE_ANON;
		r->base = who.pid;
	}
	if (m->build_id.len || !r->build_id.len)
		return image;
	key->build_id = &r->build_id;
	same = image_find(im, key);
	if (same == UINT32_MAX)
		return alias_add(im, key->hash, image) < 0 ? UINT32_MAX : image;
	if (!im->v.v[same].inode) {
		im->v.v[same].dev = key->dev;
		im->v.v[same].inode = key->inode;
		im->alias.v[alias] = same;
	}
	return same;
}

/*
 * An image that could not be opened when it was first seen, seen again: perhaps
 * this process still lives.  Its locations and mappings so far count in file
 * offsets, so that what can be read now is another image.
 */
static uint32_t image_retry(struct images *im, struct map_owner who,
			    const struct record_mmap *m,
			    const struct file_key *key, uint32_t old)
{
	struct recorded_image *r = &im->v.v[old];
	uint32_t id, image;

	if (r->nsegs || r->kind != PROF_IMAGE_ELF || r->tries >= TRIES_MAX)
		return old;
	r->tries++;
	image = images_add(im, key->path, PROF_IMAGE_ELF, 0, &m->build_id);
	if (image == UINT32_MAX)
		return image;
	r = &im->v.v[image];
	image_open(im, r, who, m);
	if (!r->nsegs) {
		free(r->path);
		im->v.n--;
		return old;
	}
	r->dev = key->dev;
	r->inode = key->inode;
	r->flags |= im->v.v[old].flags & PROF_IMAGE_DELETED;
	id = idtab_find(&im->by_file, key->hash, file_equal, im, key);
	im->alias.v[id] = image;
	return image;
}

static uint32_t image_file(struct images *im, struct map_owner who,
			   const struct record_mmap *m)
{
	char path[PATH_SPACE];
	struct file_key key = { path, &m->build_id, m->dev, m->inode, 0 };
	size_t n = (size_t)snprintf(path, sizeof(path), "%s", m->path);
	uint8_t flags = 0;
	uint32_t image;

	if (n >= sizeof(path))
		n = sizeof(path) - 1;
	if (n > strlen(deleted) &&
	    !strcmp(path + n - strlen(deleted), deleted)) {
		path[n - strlen(deleted)] = 0;
		flags = PROF_IMAGE_DELETED;
	}
	image = image_find(im, &key);
	if (image != UINT32_MAX)
		return image_retry(im, who, m, &key, image);
	return image_new(im, who, m, &key, flags);
}

static uint64_t overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	uint64_t lo = a > b ? a : b;
	uint64_t ae = a + an < a ? UINT64_MAX : a + an;
	uint64_t be = b + bn < b ? UINT64_MAX : b + bn;
	uint64_t hi = ae < be ? ae : be;

	return hi > lo ? hi - lo : 0;
}

/* Which segment a mapping shows: an executable one that shares most bytes with
 * it.  (Mappings start at page boundaries, segments need not.) */
static const struct image_segment *image_segment_of(
	const struct recorded_image *r, uint64_t offset, uint64_t len)
{
	const struct image_segment *best = NULL;
	uint64_t most = 0;

	for (int exec = 1; exec >= 0 && !best; exec--) {
		for (size_t i = 0; i < r->nsegs; i++) {
			const struct image_segment *s = &r->segs[i];
			uint64_t n = overlap(offset, len, s->offset, s->filesz);

			if (s->exec == exec && n > most) {
				most = n;
				best = s;
			}
		}
	}
	return best;
}

int images_map(struct images *im, struct map_owner who,
	       const struct record_mmap *m, struct map *out)
{
	const struct image_segment *seg;
	const struct recorded_image *r;

	*out = (struct map){ m->start, m->start + m->len, 0, 0 };
	if (!strcmp(m->path, "[vdso]") && m->len == im->vdso_size &&
	    im->vdso >= 0)
		out->image = image_vdso(im);
	else if (is_anonymous(m->path))
		out->image = image_anon(im, who.pid, m->path);
	else
		out->image = image_file(im, who, m);
	if (out->image == UINT32_MAX)
		return -ERR_NOMEM;
	r = &im->v.v[out->image];
	if (r->kind == PROF_IMAGE_ANON)
		return 0;
	out->delta = m->offset - m->start;
	if (r->kind == PROF_IMAGE_VDSO)
		out->delta = 0 - m->start;
	seg = image_segment_of(r, out->delta + m->start, m->len);
	if (seg)
		out->delta += seg->vaddr - seg->offset;
	return 0;
}

int images_open_row(void *ctx, uint32_t row)
{
	struct images *im = ctx;
	struct recorded_image *r;
	struct record_mmap m = { 0 };
	struct stat st;
	int fd;

	if (row >= im->by_row.n)
		return -1;
	r = &im->v.v[im->by_row.v[row]];
	if (r->fd >= 0)
		return fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	if (r->kind != PROF_IMAGE_ELF || !r->nsegs)
		return -1;
	/* Too many files to keep all open: take another look. */
	m.build_id = r->build_id;
	m.inode = r->inode;
	fd = open_plain(r->path, &st);
	if (fd >= 0 && !is_mapped_file(&m, fd, &st)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
