// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the table of mapped files and other images. */
#include "record/collect/image_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/jit_runtimes.h"
#include "record/collect/image_special.h"
#include "record/collect/jit_map.h"

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

/* Records the file that describes the process's code.  The last one counts. */
static int note_jitdump(struct images *im, uint32_t pid, uint32_t image)
{
	uint32_t *slot = u64map_slot(&im->jit_dumps, pid);

	if (!slot)
		return -ERR_NOMEM;
	*slot = image;
	return 0;
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
	if (r->jitdump && note_jitdump(im, who->pid, out->image) < 0)
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
