// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the table of mapped files and other images. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/proc_read.h"
#include "profile/jit_runtimes.h"
#include "record/collect/file_open.h"
#include "record/collect/image_open.h"
#include "record/collect/images.h"
#include "record/collect/jit_map.h"

/* Images that are not files: the vdso, anonymous memory, deleted files. */

enum { VDSO_MAX = 1 << 18 };

#define BELOW_4G 0x100000000ull

static int memfd_of(const void *p, size_t n)
{
	int fd = memfd_create("tally-vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, p, n) != (ssize_t)n) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Copies tally's own vdso, which is the same for all programs of its word size. */
static void image_vdso_init(struct images *im)
{
	const void *p = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct self_map self;

	im->vdso = -1;
	if (!p || !self_map_find(p, &self) ||
	    self.start != (uint64_t)(uintptr_t)p ||
	    self.end - self.start > VDSO_MAX)
		return;
	im->vdso_size = self.end - self.start;
	im->vdso = memfd_of(p, im->vdso_size);
}

static uint32_t vdso_own(struct images *im)
{
	uint32_t image = image_special(im, "[vdso]", PROF_IMAGE_VDSO, 0);
	struct recorded_image *r;

	if (image == UINT32_MAX || im->v.v[image].nsegs)
		return image;
	r = &im->v.v[image];
	if (image_take(r, im->vdso, NULL))
		r->fd = fcntl(im->vdso, F_DUPFD_CLOEXEC, 0);
	return image;
}

/* Returns the image of a vdso that is only available in the process.  Such images are
 * distinguished by size and machine. */
static uint32_t vdso_other(struct images *im, const struct map_owner *who,
			   const struct mapping *m)
{
	void *copy = m->len <= VDSO_MAX ? malloc(m->len) : NULL;
	struct recorded_image *r;
	uint64_t number = m->len;
	uint32_t image;

	if (copy && !im->foreign_proc && m->len > sizeof(Elf32_Ehdr) &&
	    proc_memory(who->pid, m->start, copy, m->len))
		number |= (uint64_t)((Elf32_Ehdr *)copy)->e_machine << 32;
	image = image_special(im, "[vdso]", PROF_IMAGE_VDSO, number);
	r = image == UINT32_MAX ? NULL : &im->v.v[image];
	if (!r || r->nsegs)
		goto out;
	r->base = 0;
	if (number >> 32)
		r->fd = memfd_of(copy, m->len);
	if (r->fd >= 0)
		image_take(r, r->fd, NULL);
	if (!r->nsegs && !r->reason) {
		r->flags |= PROF_IMAGE_UNREADABLE;
		r->reason = strdup("the process ended, or forbade it, before "
				   "its vdso could be read");
	}
out:
	free(copy);
	return image;
}

/* Returns the vdso of a process.  32-bit programs have a different one from 64-bit
 * programs. */
static uint32_t image_vdso(struct images *im, const struct map_owner *who,
			   const struct mapping *m)
{
	uint64_t own = getauxval(AT_SYSINFO_EHDR);

	if (im->vdso >= 0 && m->len == im->vdso_size &&
	    (own < BELOW_4G) == (m->start < BELOW_4G))
		return vdso_own(im);
	return vdso_other(im, who, m);
}

static uint64_t overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	uint64_t lo = a > b ? a : b;
	uint64_t ae = a + an < a ? UINT64_MAX : a + an;
	uint64_t be = b + bn < b ? UINT64_MAX : b + bn;
	uint64_t hi = ae < be ? ae : be;

	return hi > lo ? hi - lo : 0;
}

/* Returns address - vaddr of the image's next lower mapping.  Returns 0, the value
 * for programs with fixed addresses, if there is none. */
static uint64_t bias_below(const struct mapset *maps, uint32_t image,
			   uint64_t start)
{
	uint64_t bias = 0;

	for (size_t i = 0; maps && i < maps->maps.n; i++) {
		if (maps->maps.v[i].start >= start)
			break;
		if (maps->maps.v[i].image == image)
			bias = 0 - maps->maps.v[i].delta;
	}
	return bias;
}

/* Returns how well the mapping fits the loader's way of mapping the segment (gABI 5,
 * "Program Loading"); 0: not at all. */
static int segment_fit(const struct image_segment *s, uint64_t offset,
		       uint64_t len, uint64_t page)
{
	uint64_t lo = s->offset & ~(page - 1);
	uint64_t hi = (s->offset + s->filesz + page - 1) & ~(page - 1);

	if (!overlap(offset, len, s->offset, s->filesz))
		return 0;
	return (s->exec ? 4 : 0) + (lo == offset && hi == offset + len ? 2 : 1);
}

/*
 * Segments need not start at page boundaries: one page of the file may belong to
 * several, and each mapping of it shows all of them.  The best segment is one that
 * would be mapped exactly so.  Among several, it is the one with the same bias as the
 * image's previous mapping, and otherwise the one with most bytes in the mapping.
 *
 * Returns the segment of the image that `m` shows (m->delta: file offset - address),
 * or NULL.  `maps` holds the other mappings of the process, or is NULL.
 */
static const struct image_segment *image_segment_of(const struct images *im,
						    uint32_t image,
						    const struct mapset *maps,
						    const struct map *m)
{
	const struct recorded_image *r = &im->v.v[image];
	const struct image_segment *best = NULL;
	uint64_t offset = m->start + m->delta, len = m->end - m->start;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = 0;
	int fit = 0, rivals = 0;

	for (size_t i = 0; i < r->nsegs; i++) {
		const struct image_segment *s = &r->segs[i];
		int f = segment_fit(s, offset, len, page);
		uint64_t n = overlap(offset, len, s->offset, s->filesz);

		rivals = f > fit ? 0 : rivals + (f && f == fit);
		if (f > fit || (f && f == fit && f % 4 == 1 && n > most)) {
			best = s;
			fit = f;
			most = n;
		}
	}
	if (rivals) {
		uint64_t bias = bias_below(maps, image, m->start);

		for (size_t i = 0; i < r->nsegs; i++) {
			const struct image_segment *s = &r->segs[i];

			if (segment_fit(s, offset, len, page) == fit &&
			    m->start - offset + s->offset - s->vaddr == bias)
				return s;
		}
	}
	return best;
}

enum { TRIES_MAX = 32 };

static const char deleted[] = " (deleted)";

int images_init(struct images *im, struct profile *p, const char *proc)
{
	struct rlimit files = { 1024, 1024 };

	memset(im, 0, sizeof(*im));
	im->began_ns = (int64_t)clock_read(CLOCK_REALTIME);
	im->profile = p;
	im->proc = strdup(proc);
	getrlimit(RLIMIT_NOFILE, &files);
	im->max_fds = files.rlim_cur / 2 < 100000 ? files.rlim_cur / 2 : 100000;
	image_vdso_init(im);
	im->unknown = images_add(im, "[unknown]", PROF_IMAGE_UNKNOWN, 0, NULL);
	im->guest = images_add(im, "[guest]", PROF_IMAGE_UNKNOWN, 0, NULL);
	if (!im->proc || im->guest == UINT32_MAX) {
		images_fini(im);
		return -ERR_NOMEM;
	}
	return 0;
}

static void image_fini(struct recorded_image *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	free(r->mapped_path);
	free(r->reason);
	free(r->symbol);
	free(r->segs);
	*r = (struct recorded_image){ .row = PROF_NONE, .fd = -1 };
}

void images_fini(struct images *im)
{
	for (size_t i = 0; i < im->v.n; i++)
		image_fini(&im->v.v[i]);
	if (im->vdso >= 0)
		close(im->vdso);
	vec_fini(&im->v);
	vec_fini(&im->dropped);
	vec_fini(&im->aliases);
	vec_fini(&im->by_row);
	u64map_fini(&im->jit_dumps);
	vec_fini(&im->ended);
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
		.row = PROF_NONE, .fd = -1, .owner = UINT32_MAX,
	};

	if (id)
		n.build_id = *id;
	if (n.path && im->dropped.n) {
		uint32_t image = im->dropped.v[--im->dropped.n];

		im->v.v[image] = n;
		return image;
	}
	if (!n.path || im->v.n >= UINT32_MAX - 1 || vec_push(&im->v, n) < 0) {
		free(n.path);
		return UINT32_MAX;
	}
	return (uint32_t)im->v.n - 1;
}

/* Drops an image that has no alias. */
static int image_drop(struct images *im, uint32_t image)
{
	if (vec_push(&im->dropped, image) < 0)
		return -ERR_NOMEM;
	image_fini(&im->v.v[image]);
	return 0;
}

int images_drop(struct images *im, const uint32_t *images, size_t n)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = image_drop(im, images[i]);
	idtab_fini(&im->by_file);
	for (size_t i = 0; i < im->aliases.n; i++)
		if (im->v.v[im->aliases.v[i].image].path)
			im->aliases.v[kept++] = im->aliases.v[i];
	im->aliases.n = kept;
	for (size_t i = 0; !rc && i < kept; i++)
		rc = idtab_add(&im->by_file, im->aliases.v[i].hash, (uint32_t)i);
	return rc;
}

int images_name_code(struct images *im, uint32_t image, const struct mapset *maps)
{
	struct recorded_image *r = &im->v.v[image];
	unsigned int rank, best = UINT32_MAX;
	const char *name = NULL;
	char *path;

	if (r->row != PROF_NONE || r->kind != PROF_IMAGE_ANON ||
	    (strcmp(r->path, "[anon]") && strncmp(r->path, "/memfd:", 7)))
		return 0;
	for (size_t i = 0; i < maps->maps.n; i++) {
		const char *file = im->v.v[maps->maps.v[i].image].path;
		const char *code = jit_runtime_image(file, &rank);

		if (code && rank < best) {
			best = rank;
			name = code;
		}
	}
	path = name ? strdup(name) : NULL;
	if (!path)
		return name ? -ERR_NOMEM : 0;
	free(r->mapped_path);
	r->mapped_path = r->path;
	r->path = path;
	return 0;
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
	if (r->kind == PROF_IMAGE_ANON && !r->jit_offsets && !r->jit_lines)
		jit_map_take(im, r);
	row.path = profile_str(im->profile, r->path);
	row.reason = profile_str(im->profile, r->reason ? r->reason : "");
	if (row.path == PROF_NONE || row.reason == PROF_NONE || vec_push(&im->profile->images, row) < 0)
		return PROF_NONE;
	if (vec_push(&im->by_row, image) < 0) {
		im->profile->images.n--;
		return PROF_NONE;
	}
	return r->row = (uint32_t)im->profile->images.n - 1;
}

void images_forget_rows(struct images *im)
{
	im->by_row.n = 0;
	for (size_t i = 0; i < im->v.n; i++) {
		im->v.v[i].row = PROF_NONE;
		im->v.v[i].named_locs = 0;
	}
}

/* Returns whether the path is one that the kernel uses for memory without a file. */
static bool is_anonymous(const char *path)
{
	static const char *const starts[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/SYSV", "/[aio]",
	};

	for (size_t i = 0; i < COUNT(starts); i++)
		if (!strncmp(path, starts[i], strlen(starts[i])))
			return true;
	return path[0] != '/';
}

struct file_key {
	const char *path;
	const struct build_id *build_id;
	uint64_t dev, inode, generation;
	uint64_t hash;
};

static uint64_t file_hash(const struct file_key *k)
{
	uint64_t h = hash_bytes(k->path, strlen(k->path));

	if (k->build_id->len)
		return hash_mix(h, hash_bytes(k->build_id->bytes,
					      k->build_id->len));
	return hash_mix(hash_mix(h, k->dev), k->inode + k->generation);
}

static bool file_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct images *im = ctx;
	const struct file_key *k = key;
	const struct image_alias *a = &im->aliases.v[id];
	const struct recorded_image *r = &im->v.v[a->image];

	if (a->hash != k->hash || a->by_id != (k->build_id->len != 0) ||
	    strcmp(r->mapped_path ? r->mapped_path : r->path, k->path))
		return false;
	if (a->by_id)
		return build_id_equal(&r->build_id, k->build_id);
	return a->dev == k->dev && a->inode == k->inode &&
	       a->generation == k->generation;
}

static int alias_add(struct images *im, const struct file_key *k,
		     uint32_t image)
{
	struct image_alias a = { k->hash, k->dev, k->inode, k->generation,
				 image, k->build_id->len != 0 };

	if (vec_push(&im->aliases, a) < 0)
		return -ERR_NOMEM;
	return idtab_add(&im->by_file, k->hash, (uint32_t)im->aliases.n - 1);
}

/* Returns the alias with this key, or IDTAB_NONE. */
static uint32_t alias_find(const struct images *im, struct file_key *key)
{
	key->hash = file_hash(key);
	return idtab_find(&im->by_file, key->hash, file_equal, im, key);
}

uint32_t image_special(struct images *im, const char *path, uint8_t kind,
		       uint64_t number)
{
	static const struct build_id none;
	struct file_key key = { path, &none, number, UINT64_MAX, 0, 0 };
	uint32_t image = alias_find(im, &key);

	if (image != IDTAB_NONE)
		return im->aliases.v[image].image;
	image = images_add(im, path, kind, number, NULL);
	if (image == UINT32_MAX || alias_add(im, &key, image) < 0)
		return UINT32_MAX;
	return image;
}

/* Returns the image of a process's own memory.  Each process has its own, because its
 * addresses mean nothing in another. */
static uint32_t image_anon(struct images *im, uint32_t pid, const char *path)
{
	bool named = path[0] == '[' && strcmp(path, "[heap]") &&
		     strcmp(path, "[stack]");

	return image_special(im, named ? path : "[anon]", PROF_IMAGE_ANON, pid);
}

/* Adds an image of the file.  Returns UINT32_MAX when out of memory. */
static uint32_t image_of_file(struct images *im, const struct map_owner *who,
			      const struct mapping *m,
			      const struct file_key *key, uint8_t flags)
{
	uint32_t image = images_add(im, key->path, PROF_IMAGE_ELF, 0,
				    &m->build_id);
	struct recorded_image *r;

	if (image == UINT32_MAX)
		return image;
	r = &im->v.v[image];
	r->flags = flags;
	r->dev = key->dev;
	r->inode = key->inode;
	r->generation = key->generation;
	image_open(im, r, who, m);
	return image;
}

/* Returns the existing image with the same build ID, if the file was opened under a
 * key without one. */
static uint32_t image_by_id(struct images *im, const struct mapping *m,
			    struct file_key *key, uint32_t alias, uint32_t image)
{
	struct recorded_image *r = &im->v.v[image], *known;
	uint32_t same;

	if (m->build_id.len || !r->build_id.len)
		return image;
	key->build_id = &r->build_id;
	same = alias_find(im, key);
	if (same == IDTAB_NONE)
		return alias_add(im, key, image) < 0 ? UINT32_MAX : image;
	same = im->aliases.v[same].image;
	known = &im->v.v[same];
	if (known->closer && same != image && r->fd >= 0) {
		known->fd = r->fd;
		known->closer = false;
		r->fd = -1;
	}
	return im->aliases.v[alias].image = same;
}

/* Adds a file seen for the first time under this key.  If its build ID is already
 * known with this path, returns that image. */
static uint32_t image_new(struct images *im, const struct map_owner *who,
			  const struct mapping *m, struct file_key *key,
			  uint8_t flags)
{
	uint32_t image = image_of_file(im, who, m, key, flags);
	struct recorded_image *r;
	uint32_t alias = (uint32_t)im->aliases.n;

	if (image == UINT32_MAX || alias_add(im, key, image) < 0)
		return UINT32_MAX;
	r = &im->v.v[image];
	if (!r->nsegs && !strncmp(key->path, "/memfd:", 7)) {
		r->kind = PROF_IMAGE_ANON;
		r->base = who->pid;
	}
	return image_by_id(im, m, key, alias, image);
}

static bool is_same_file(const struct recorded_image *a,
			 const struct recorded_image *b)
{
	if (a->build_id.len || b->build_id.len)
		return build_id_equal(&a->build_id, &b->build_id);
	return file_stamp_equal(&a->stamp, &b->stamp);
}

/* Removes an image that was added in vain; `r` keeps its descriptor.  Returns 0 or
 * -ERR_NOMEM. */
static int image_undo(struct images *im, uint32_t image, struct recorded_image *r)
{
	struct recorded_image *n = &im->v.v[image];

	if (n->fd >= 0) {
		r->fd = n->fd;
		r->closer = false;
		n->fd = -1;
	}
	return image_drop(im, image);
}

/*
 * Opens a file that was closed (image_closer.h) and is mapped again.  While it was
 * closed, its inode may have been reused for another file.  Without a build ID, a file
 * that cannot be opened is therefore not assumed to be the same.
 */
static uint32_t image_back(struct images *im, const struct map_owner *who,
			   const struct mapping *m, struct file_key *key,
			   uint32_t alias)
{
	uint32_t old = im->aliases.v[alias].image;
	uint32_t image = image_of_file(im, who, m, key,
				       im->v.v[old].flags & PROF_IMAGE_DELETED);
	struct recorded_image *r, *n;

	if (image == UINT32_MAX)
		return image;
	r = &im->v.v[old];
	n = &im->v.v[image];
	if (m->build_id.len || (n->nsegs && is_same_file(r, n))) {
		return image_undo(im, image, r) < 0 ? UINT32_MAX : old;
	}
	im->aliases.v[alias].image = image;
	return image_by_id(im, m, key, alias, image);
}

/*
 * Handles a file that was seen before.  A file that could not be opened may be
 * accessible through this process.  A file that was written to is another program
 * under the same inode.  Both become a new image, because existing locations and
 * mappings stay unchanged.
 */
static uint32_t image_again(struct images *im, const struct map_owner *who,
			    const struct mapping *m,
			    struct file_key *key, uint32_t alias)
{
	uint32_t old = im->aliases.v[alias].image, image;
	struct recorded_image *r = &im->v.v[old];
	bool rewritten;

	if (r->closer)
		return image_back(im, who, m, key, alias);
	/* The mappings of a batch were all made before the first of them is handled
	 * here, so that reading the files once is enough. */
	if (r->nsegs && im->batch && r->checked == im->batch)
		return old;
	rewritten = r->fd >= 0 && !m->build_id.len &&
		    image_is_rewritten(r, r->fd);
	r->checked = rewritten ? 0 : im->batch;
	if (r->kind != PROF_IMAGE_ELF ||
	    (r->nsegs && !rewritten) ||
	    (!r->nsegs && r->tries >= TRIES_MAX))
		return old;
	r->tries++;
	image = image_of_file(im, who, m, key, r->flags & PROF_IMAGE_DELETED);
	if (image == UINT32_MAX)
		return image;
	r = &im->v.v[image];
	if (!r->nsegs && !rewritten) {
		return image_drop(im, image) < 0 ? UINT32_MAX : old;
	}
	return im->aliases.v[alias].image = image;
}

static uint32_t image_file(struct images *im, const struct map_owner *who,
			   const struct mapping *m)
{
	char path[PATH_SPACE];
	struct file_key key = { path, &m->build_id, m->dev, m->inode,
				m->generation, 0 };
	size_t n = strnlen(m->path, sizeof(path) - 1);
	uint8_t flags = 0;
	uint32_t alias;

	memcpy(path, m->path, n);
	path[n] = 0;
	if (n > strlen(deleted) &&
	    !strcmp(path + n - strlen(deleted), deleted)) {
		path[n - strlen(deleted)] = 0;
		flags = PROF_IMAGE_DELETED;
	}
	alias = alias_find(im, &key);
	if (alias != IDTAB_NONE)
		return image_again(im, who, m, &key, alias);
	return image_new(im, who, m, &key, flags);
}

int images_map(struct images *im, const struct map_owner *who,
	       const struct mapping *m, struct map *out)
{
	const struct image_segment *seg;
	const struct recorded_image *r;

	*out = (struct map){ m->start, m->start + m->len, 0, 0 };
	if (!strcmp(m->path, "[vdso]"))
		out->image = image_vdso(im, who, m);
	else if (is_anonymous(m->path))
		out->image = image_anon(im, who->pid, m->path);
	else
		out->image = image_file(im, who, m);
	if (out->image == UINT32_MAX)
		return -ERR_NOMEM;
	r = &im->v.v[out->image];
	/* the last file that describes the process's code counts */
	if (r->jitdump && u64map_put(&im->jit_dumps, who->pid, out->image) < 0)
		return -ERR_NOMEM;
	if (r->kind == PROF_IMAGE_ANON)
		return 0;
	out->delta = m->offset - m->start;
	if (r->kind == PROF_IMAGE_VDSO)
		out->delta = 0 - m->start;
	seg = image_segment_of(im, out->image, who->maps, out);
	if (seg)
		out->delta += seg->vaddr - seg->offset;
	return 0;
}

int images_open_fd(const struct images *im, uint32_t image)
{
	const struct recorded_image *r = &im->v.v[image];

	if ((r->kind != PROF_IMAGE_ELF && r->kind != PROF_IMAGE_VDSO) ||
	    !r->nsegs)
		return -1;
	if (r->fd < 0)
		return image_reopen(r);
	/* A build ID identifies the file by itself. */
	if (!r->build_id.len && image_is_rewritten(r, r->fd))
		return -1;
	return fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
}

int images_open_row(void *ctx, uint32_t row)
{
	const struct images *im = ctx;
	const struct recorded_image *r;

	if (row >= im->by_row.n)
		return -1;
	r = &im->v.v[im->by_row.v[row]];
	if (r->jit_offsets || r->jit_lines)
		return -1;
	return r->kind == PROF_IMAGE_ANON ? jit_map_open(im, r)
		: images_open_fd(im, im->by_row.v[row]);
}

int images_open_jitdump(const struct images *im, uint32_t row, bool *by_offset)
{
	const struct recorded_image *r;

	if (row >= im->by_row.n)
		return -1;
	r = &im->v.v[im->by_row.v[row]];
	*by_offset = r->jit_offsets;
	return r->jit_lines ? -1 : jit_dump_open(im, r);
}

int images_check_rows(struct images *im)
{
	for (size_t i = 0; i < im->by_row.n; i++) {
		const struct recorded_image *r = &im->v.v[im->by_row.v[i]];
		uint32_t *reason = &im->profile->images.v[i].reason;

		if (r->kind != PROF_IMAGE_ELF || r->fd < 0 || r->build_id.len ||
		    !image_is_rewritten(r, r->fd))
			continue;
		*reason = profile_str(im->profile, "it was written to while it "
				      "was recorded, and has no build-id to "
				      "compare");
		if (*reason == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}
