// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folder of kept results: see symbol_cache.h.
 *
 * A file "BUILDID-HASH" has, in the byte order of the machine: the header, then the rows
 * of `inputs`, `symbols`, `symbols_at`, `frames_at` and `frames`, then the strings.  A
 * string is an offset of these, where 0 is "".  A frame names the next outer one, which
 * is before it; frame 0 and symbol 0 stand for none.
 */
#include "symbolize/symbol_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vec.h"

#define MAGIC 0x31796c6c61742e73ull
enum {
	FORMAT = 2,		/* increase it whenever a symbolizer's results change */
	MAX_INPUTS = 64,
	MAX_ROWS = 4 << 20,	/* of each kind, in one image */
	MAX_STRINGS = 16 << 20,
	NAME_BYTES = 2 * BUILD_ID_MAX + 1 + 16 + 1,
	USED_S = 3600,		/* how exactly the time of the last use is kept */
	/* A file is written as a whole: for this part of new addresses, or once in this
	 * time. */
	WORTH_ADDING = 16,
	WRITE_AGAIN_S = 600,
	SETTLED_S = 2,		/* two changes in less may leave the same times */
};

struct symbol_cache {
	int dir;
	uint64_t max_bytes, free_bytes;
	uint64_t boot;		/* hash of the kernel's boot ID; 0: unknown */
};

struct input {
	uint32_t path;
	uint32_t exists;
	struct io_identity file;
};

struct symbol_row {
	uint32_t name, file;
	uint64_t start, size;
	uint64_t cfi;
};

struct frame_row {
	uint32_t outer;		/* number of the calling frame; 0: none */
	uint32_t name, plain, file, decl_file;
	uint32_t line, column, decl_line;
	uint16_t lang;
	uint8_t inlined, unused;
};

struct place {
	uint64_t lo;
	uint32_t size;
	uint32_t id;
};

struct header {
	uint64_t magic;
	uint64_t sum;		/* hash of all else but `boot` */
	uint64_t boot;		/* in which the hash was made or tested.  Another one may
				 * have ended before all was on the disk. */
	uint32_t format, flags;
	uint32_t debug_file, missing;
	int64_t written_s;	/* since 1970 */
	uint64_t inputs, symbols, frames, symbols_at, frames_at, strings;
	struct io_identity image;
	uint32_t key, unused;
};

enum { SYMTAB = 1, DYNSYM = 2, DWARF = 4, DEBUGDATA = 8 };

struct cached_image {
	const struct symbol_cache *cache;
	char name[NAME_BYTES];
	/* Everything that `name` is made of, because any user can make a file for which
	 * the hash is the same. */
	struct io_identity image;
	char *key;		/* the kind and the image's path */
	struct io_map map;	/* of `name`; rows point into it until they change */
	bool known, changed;
	bool nomem;		/* nothing can be added */
	bool unsure;		/* what it depends on changed, or is too much to note:
				 * not stored */
	int64_t written_s;
	struct cached_sources sources;
	VEC(struct input) inputs;
	VEC(struct symbol_row) symbols;
	VEC(struct frame_row) frames;
	VEC(struct place) symbols_at, frames_at;
	size_t nsymbols_at, nframes_at;	/* those that are sorted */
	VEC(char) strings;
	/* Numbers of equal rows and strings, once anything is added. */
	struct idtab symbol_ids, frame_ids, string_ids;
};

static uint64_t boot_id(void)
{
	struct buf text = { 0 };
	uint64_t h = 0;

	if (io_read_file("/proc/sys/kernel/random/boot_id", 64, &text, NULL) >= 0)
		h = hash_bytes(text.p, text.n);
	buf_fini(&text);
	return h;
}

int symbol_cache_open(const char *path, uint64_t max_bytes, uint64_t free_bytes,
		      struct symbol_cache **out, struct error *err)
{
	struct symbol_cache *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return error_nomem(err);
	c->max_bytes = max_bytes;
	c->free_bytes = free_bytes;
	c->boot = boot_id();
	c->dir = outfile_folder(path, 0700, "the folder of symbols", err);
	if (c->dir < 0) {
		int rc = c->dir;

		free(c);
		return rc;
	}
	*out = c;
	return 0;
}

void symbol_cache_close(struct symbol_cache *c)
{
	if (!c)
		return;
	close(c->dir);
	free(c);
}

/* Returns whether a change from now on would leave another identity. */
static bool is_old(const struct io_identity *file)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return file->changed_ns < (now.tv_sec - SETTLED_S) * 1000000000ll;
}

/* Names the file of an image.  Returns false if it is not cached. */
static bool name_image(struct cached_image *k, const struct image *img,
		       const char *kind)
{
	const struct io_identity *file = image_identity(img);
	struct build_id id = image_build_id(img);
	char hex[2 * BUILD_ID_MAX + 1];
	uint64_t h;

	if (!file || id.len > BUILD_ID_MAX || !is_old(file))
		return false;
	if (asprintf(&k->key, "%s\n%s", kind, image_name(img)) < 0) {
		k->key = NULL;
		return false;
	}
	k->image = *file;
	text_hex(hex, id.bytes, id.len);
	h = hash_mix(hash_bytes(file, sizeof(*file)),
		     hash_bytes(k->key, strlen(k->key)));
	snprintf(k->name, sizeof(k->name), "%s-%016llx", id.len ? hex : "0",
		 (unsigned long long)h);
	return true;
}

/*
 * Reading
 */

/* Files are not checked as a whole, because most lookups are for few of many rows.  Each
 * number is checked where it is used. */
static const char *string_at(const struct cached_image *k, uint32_t at)
{
	return at < k->strings.n ? k->strings.v + at : "";
}

/* Lets a vector be the n rows at *p, which moves after them. */
#define TAKE_ROWS(vec, count, p, left)					\
	((count) > MAX_ROWS ||						\
	 (count) * sizeof(*(vec)->v) > (left) ? false :			\
	 ((vec)->v = (void *)(uintptr_t)(p), (vec)->n = (count),	\
	  (left) -= (count) * sizeof(*(vec)->v),			\
	  (p) += (count) * sizeof(*(vec)->v), true))

static bool take_rows(struct cached_image *k, const struct header *h)
{
	const uint8_t *p = k->map.p + sizeof(*h);
	size_t left = k->map.n - sizeof(*h);

	if (!TAKE_ROWS(&k->inputs, h->inputs, p, left) ||
	    !TAKE_ROWS(&k->symbols, h->symbols, p, left) ||
	    !TAKE_ROWS(&k->symbols_at, h->symbols_at, p, left) ||
	    !TAKE_ROWS(&k->frames_at, h->frames_at, p, left) ||
	    !TAKE_ROWS(&k->frames, h->frames, p, left) ||
	    h->strings != left || left > MAX_STRINGS)
		return false;
	k->strings.v = (char *)(uintptr_t)p;
	k->strings.n = left;
	k->nsymbols_at = k->symbols_at.n;
	k->nframes_at = k->frames_at.n;
	return left && !p[0] && !p[left - 1] && k->symbols.n && k->frames.n;
}

#define PART(vec) { (vec)->v, (vec)->n * sizeof(*(vec)->v) }

/* Returns the hash of a file, of which all but `sum` counts. */
static uint64_t hash_file(const struct cached_image *k, const struct header *h)
{
	struct header rest = *h;
	struct iovec parts[] = {
		{ &rest, sizeof(rest) }, PART(&k->inputs), PART(&k->symbols),
		PART(&k->symbols_at), PART(&k->frames_at), PART(&k->frames),
		PART(&k->strings),
	};
	uint64_t sum = 0;

	rest.sum = rest.boot = 0;
	for (size_t i = 0; i < COUNT(parts); i++)
		sum = hash_mix(sum, hash_bytes(parts[i].iov_base,
					       parts[i].iov_len));
	return sum;
}

/* Returns whether all paths lead to what was there. */
static bool is_current(const struct cached_image *k)
{
	for (size_t i = 0; i < k->inputs.n; i++) {
		const struct input *in = &k->inputs.v[i];
		struct io_identity now = { 0 };
		bool exists = io_identify(string_at(k, in->path), &now);

		if (exists != !!in->exists ||
		    memcmp(&now, &in->file, sizeof(now)))
			return false;
	}
	return true;
}

static void forget(struct cached_image *k)
{
	io_unmap(&k->map);
	k->inputs.v = NULL;
	k->symbols.v = NULL;
	k->frames.v = NULL;
	k->symbols_at.v = k->frames_at.v = NULL;
	k->strings.v = NULL;
	k->inputs.n = k->symbols.n = k->frames.n = k->strings.n = 0;
	k->symbols_at.n = k->frames_at.n = 0;
	k->nsymbols_at = k->nframes_at = 0;
}

/* Returns whether a file is as it was written. */
static bool is_whole(struct cached_image *k, struct header *h, int fd)
{
	if (h->boot && h->boot == k->cache->boot)
		return true;
	if (h->sum != hash_file(k, h))
		return false;
	h->boot = k->cache->boot;
	/* If this fails, the next reader tests the hash, too. */
	return pwrite(fd, &h->boot, sizeof(h->boot),
		      offsetof(struct header, boot)) || true;
}

/* Returns whether the file is that of this image. */
static bool is_of_image(const struct cached_image *k, const struct header *h)
{
	return !memcmp(&h->image, &k->image, sizeof(h->image)) &&
	       !strcmp(string_at(k, h->key), k->key);
}

static bool load(struct cached_image *k, int fd)
{
	struct header h;

	if (k->map.n < sizeof(h))
		return false;
	memcpy(&h, k->map.p, sizeof(h));
	if (h.magic != MAGIC || h.format != FORMAT || !take_rows(k, &h) ||
	    !is_whole(k, &h, fd) || !is_of_image(k, &h) || !is_current(k))
		return false;
	k->written_s = h.written_s;
	k->sources = (struct cached_sources){
		!!(h.flags & SYMTAB), !!(h.flags & DYNSYM), !!(h.flags & DWARF),
		!!(h.flags & DEBUGDATA),
		string_at(k, h.debug_file), string_at(k, h.missing),
	};
	return true;
}

/* Opens the image's file and notes that it was used. */
static void open_known(struct cached_image *k)
{
	int fd = openat(k->cache->dir, k->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	struct error ignored;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() &&
	    io_map_fd(fd, k->name, &k->map, &ignored) >= 0) {
		k->known = load(k, fd);
		if (!k->known)
			forget(k);
		else if (time(NULL) - st.st_mtime > USED_S)
			futimens(fd, NULL);
	}
	close(fd);
}

struct cached_image *cached_image_open(const struct symbol_cache *c,
				       const struct image *img, const char *kind)
{
	struct cached_image *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->cache = c;
	if (!name_image(k, img, kind)) {
		free(k->key);
		free(k);
		return NULL;
	}
	open_known(k);
	return k;
}

const struct cached_sources *cached_image_sources(const struct cached_image *k)
{
	return k->known ? &k->sources : NULL;
}

static uint32_t find_place(const struct place *v, size_t n, uint64_t vaddr)
{
	size_t i;

	last_where(i, n, v[i].lo <= vaddr);
	return n && v[i].lo <= vaddr && vaddr - v[i].lo < v[i].size ? v[i].id
								    : CACHED_NONE;
}

uint32_t cached_symbol_at(const struct cached_image *k, uint64_t vaddr)
{
	return find_place(k->symbols_at.v, k->nsymbols_at, vaddr);
}

uint32_t cached_frames_at(const struct cached_image *k, uint64_t vaddr)
{
	return find_place(k->frames_at.v, k->nframes_at, vaddr);
}

uint64_t cached_symbol_after(const struct cached_image *k, uint64_t vaddr)
{
	size_t i;

	lower_bound(i, 0, k->nsymbols_at, k->symbols_at.v[i].lo <= vaddr);
	return i < k->nsymbols_at ? k->symbols_at.v[i].lo : UINT64_MAX;
}

bool cached_image_takes(const struct cached_image *k, bool frames, size_t n)
{
	size_t known = frames ? k->nframes_at : k->nsymbols_at;
	int64_t now = time(NULL);

	if (k->nomem || k->unsure)
		return false;
	return n >= known / WORTH_ADDING || now < k->written_s ||
	       now - k->written_s >= WRITE_AGAIN_S;
}

bool cached_frames_between(const struct cached_image *k, uint64_t lo, uint64_t hi)
{
	size_t i;

	lower_bound(i, 0, k->nframes_at, k->frames_at.v[i].lo < lo);
	return i < k->nframes_at && k->frames_at.v[i].lo < hi;
}

struct cached_symbol cached_symbol(const struct cached_image *k, uint32_t symbol)
{
	static const struct symbol_row none;
	const struct symbol_row *s = symbol < k->symbols.n ? &k->symbols.v[symbol]
							   : &none;

	return (struct cached_symbol){ string_at(k, s->name),
				       string_at(k, s->file), s->start, s->size,
				       s->cfi };
}

size_t cached_frames(const struct cached_image *k, uint32_t frames, struct sym_frame *out,
		     size_t max)
{
	size_t n = 0;

	while (frames && frames < k->frames.n) {
		const struct frame_row *f = &k->frames.v[frames];

		if (n++ < max)
			out[n - 1] = (struct sym_frame){
				string_at(k, f->name), string_at(k, f->file),
				f->line, f->column, string_at(k, f->decl_file),
				f->decl_line, f->inlined, f->lang,
				string_at(k, f->plain),
			};
		if (f->outer >= frames)		/* damaged */
			break;
		frames = f->outer;
	}
	return n;
}

/*
 * Adding
 */

/* Replaces rows of the mapped file by a copy that can grow. */
#define OWN_ROWS(vec)							\
	__extension__ ({						\
		void *old_ = (vec)->v;					\
		size_t n_ = (vec)->n;					\
									\
		(vec)->v = NULL;					\
		(vec)->n = (vec)->cap = 0;				\
		bool good_ = !vec_reserve((vec), n_ + 1);		\
		if (good_ && n_)					\
			memcpy((vec)->v, old_, n_ * sizeof(*(vec)->v));	\
		(vec)->n = good_ ? n_ : 0;				\
		good_ ? 0 : -ERR_NOMEM;					\
	})

/* Copies all rows, also after one copy failed: none may stay in the mapped file. */
static int own_rows(struct cached_image *k)
{
	int rc = OWN_ROWS(&k->inputs);

	rc |= OWN_ROWS(&k->symbols);
	rc |= OWN_ROWS(&k->frames);
	rc |= OWN_ROWS(&k->symbols_at);
	rc |= OWN_ROWS(&k->frames_at);
	rc |= OWN_ROWS(&k->strings);
	k->nsymbols_at = k->symbols_at.n;
	k->nframes_at = k->frames_at.n;
	return rc;
}

static uint64_t hash_symbol(const struct symbol_row *s)
{
	return hash_bytes(s, sizeof(*s));
}

static uint64_t hash_frame(const struct frame_row *f)
{
	return hash_bytes(f, sizeof(*f));
}

static bool symbol_is(const void *ctx, uint32_t id, const void *key)
{
	const struct cached_image *k = ctx;

	return !memcmp(&k->symbols.v[id], key, sizeof(struct symbol_row));
}

static bool frame_is(const void *ctx, uint32_t id, const void *key)
{
	const struct cached_image *k = ctx;

	return !memcmp(&k->frames.v[id], key, sizeof(struct frame_row));
}

static bool string_is(const void *ctx, uint32_t id, const void *key)
{
	return !strcmp(string_at(ctx, id), key);
}

static int index_rows(struct cached_image *k)
{
	int rc = 0;

	for (size_t i = 0; i < k->symbols.n && !rc; i++)
		rc = idtab_add(&k->symbol_ids, hash_symbol(&k->symbols.v[i]),
			       (uint32_t)i);
	for (size_t i = 1; i < k->frames.n && !rc; i++)
		rc = idtab_add(&k->frame_ids, hash_frame(&k->frames.v[i]),
			       (uint32_t)i);
	for (size_t i = 0; i < k->strings.n && !rc;) {
		const char *s = k->strings.v + i;
		size_t n = strlen(s);

		rc = idtab_add(&k->string_ids, hash_bytes(s, n), (uint32_t)i);
		i += n + 1;
	}
	return rc;
}

/* Prepares for additions: copies the rows, and gives each table its first. */
static int begin_change(struct cached_image *k)
{
	int rc;

	if (k->changed)
		return k->nomem ? -ERR_NOMEM : 0;
	k->changed = true;
	rc = own_rows(k);
	/* Callers keep strings, so these must not move.  Memory that is not used
	 * takes only addresses. */
	if (!rc)
		rc = vec_reserve(&k->strings, MAX_STRINGS);
	if (!rc && !k->strings.n)
		rc = vec_push(&k->strings, '\0');
	if (!rc && !k->symbols.n)
		rc = vec_push(&k->symbols, (struct symbol_row){ 0 });
	if (!rc && !k->frames.n)
		rc = vec_push(&k->frames, (struct frame_row){ 0 });
	if (!rc)
		rc = index_rows(k);
	k->nomem = rc < 0;
	return rc < 0 ? -ERR_NOMEM : 0;
}

static int add_string(struct cached_image *k, const char *s, uint32_t *out)
{
	size_t n = strlen(s);
	uint64_t h = hash_bytes(s, n);
	uint32_t at = idtab_find(&k->string_ids, h, string_is, k, s);

	if (at == IDTAB_NONE) {
		if (n >= MAX_STRINGS - k->strings.n)
			return -ERR_NOMEM;
		at = (uint32_t)k->strings.n;
		if (idtab_add(&k->string_ids, h, at) < 0)
			return -ERR_NOMEM;
		memcpy(k->strings.v + at, s, n + 1);
		k->strings.n += n + 1;
	}
	*out = at;
	return 0;
}

static int add_place(struct place **v, size_t *n, size_t *cap, uint64_t lo, uint64_t hi,
		     uint32_t id)
{
	VEC(struct place) places = { *v, *n, *cap };
	struct place *last = *n ? &places.v[*n - 1] : NULL;
	int rc = 0;

	if (last && last->id == id && last->lo + last->size == lo &&
	    hi - last->lo <= UINT32_MAX) {
		last->size = (uint32_t)(hi - last->lo);
		return 0;
	}
	if (*n >= MAX_ROWS || hi - lo > UINT32_MAX)
		return -ERR_NOMEM;
	if (vec_push(&places, (struct place){ lo, (uint32_t)(hi - lo), id }) < 0)
		rc = -ERR_NOMEM;
	*v = places.v;
	*n = places.n;
	*cap = places.cap;
	return rc;
}
#define ADD_PLACE(vec, lo, hi, id) \
	add_place(&(vec)->v, &(vec)->n, &(vec)->cap, (lo), (hi), (id))

uint32_t cached_store_symbol(struct cached_image *k, const struct cached_symbol *s)
{
	struct symbol_row row = { .start = s->start, .size = s->size,
				  .cfi = s->cfi };
	uint32_t id;
	uint64_t h;

	if (begin_change(k) < 0 || add_string(k, s->name, &row.name) < 0 ||
	    add_string(k, s->file, &row.file) < 0)
		return CACHED_NONE;
	h = hash_symbol(&row);
	id = idtab_find(&k->symbol_ids, h, symbol_is, k, &row);
	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)k->symbols.n;
	if (id >= MAX_ROWS || vec_push(&k->symbols, row) < 0 ||
	    idtab_add(&k->symbol_ids, h, id) < 0)
		return CACHED_NONE;
	return id;
}

static int add_frame(struct cached_image *k, const struct sym_frame *f, uint32_t outer,
		     uint32_t *out)
{
	struct frame_row row = { .outer = outer, .line = f->line,
				 .column = f->column, .decl_line = f->decl_line,
				 .lang = f->lang, .inlined = f->inlined };
	int rc = add_string(k, f->name, &row.name);
	uint32_t id;
	uint64_t h;

	if (!rc)
		rc = add_string(k, f->plain, &row.plain) ?:
		     add_string(k, f->file, &row.file) ?:
		     add_string(k, f->decl_file, &row.decl_file);
	if (rc)
		return rc;
	h = hash_frame(&row);
	id = idtab_find(&k->frame_ids, h, frame_is, k, &row);
	if (id == IDTAB_NONE) {
		if (k->frames.n >= MAX_ROWS)
			return -ERR_NOMEM;
		id = (uint32_t)k->frames.n;
		if (vec_push(&k->frames, row) < 0 ||
		    idtab_add(&k->frame_ids, h, id) < 0)
			return -ERR_NOMEM;
	}
	*out = id;
	return 0;
}

uint32_t cached_store_frames(struct cached_image *k, const struct sym_frame *f, size_t n)
{
	int rc = begin_change(k);
	uint32_t id = 0;

	while (n && !rc)
		rc = add_frame(k, &f[--n], id, &id);
	return rc ? CACHED_NONE : id;
}

int cached_place_symbol(struct cached_image *k, uint64_t lo, uint64_t hi, uint32_t symbol)
{
	return ADD_PLACE(&k->symbols_at, lo, hi, symbol);
}

int cached_place_frames(struct cached_image *k, uint64_t lo, uint64_t hi, uint32_t frames)
{
	return ADD_PLACE(&k->frames_at, lo, hi, frames);
}

static int by_lo(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return ascending(x->lo, y->lo);
}

/* Sorts n rows of which the first `sorted` are in order, as they usually all are. */
static void sort_places(struct place *v, size_t sorted, size_t n)
{
	struct place *tail;
	size_t more = n - sorted;

	if (!more)
		return;
	sort_rows(v + sorted, more, by_lo);
	if (!sorted || v[sorted - 1].lo < v[sorted].lo)
		return;
	tail = malloc(more * sizeof(*tail));
	if (!tail) {
		sort_rows(v, n, by_lo);
		return;
	}
	memcpy(tail, v + sorted, more * sizeof(*tail));
	while (more)
		if (sorted && v[sorted - 1].lo > tail[more - 1].lo)
			v[--n] = v[--sorted];
		else
			v[--n] = tail[--more];
	free(tail);
}

void cached_image_sort(struct cached_image *k)
{
	sort_places(k->symbols_at.v, k->nsymbols_at, k->symbols_at.n);
	sort_places(k->frames_at.v, k->nframes_at, k->frames_at.n);
	k->nsymbols_at = k->symbols_at.n;
	k->nframes_at = k->frames_at.n;
}

/* Returns whether a path is among the inputs as it is now.  One that changed in between
 * gave results that no later file can say. */
static bool has_input(struct cached_image *k, const char *path, const struct input *now)
{
	for (size_t i = 0; i < k->inputs.n; i++) {
		const struct input *in = &k->inputs.v[i];

		if (strcmp(string_at(k, in->path), path))
			continue;
		if (!!in->exists != !!now->exists ||
		    memcmp(&in->file, &now->file, sizeof(in->file)))
			k->unsure = true;
		return true;
	}
	return false;
}

void cached_add_input(void *image, const char *path)
{
	struct cached_image *k = image;
	struct input in = { 0 };

	in.exists = io_identify(path, &in.file);
	/* A later change of the file must be seen. */
	if (in.exists && !is_old(&in.file))
		k->unsure = true;
	if (k->unsure || has_input(k, path, &in))
		return;
	if (begin_change(k) < 0 || add_string(k, path, &in.path) < 0 ||
	    k->inputs.n >= MAX_INPUTS || vec_push(&k->inputs, in) < 0)
		k->unsure = true;
}

/*
 * Writing
 */

struct old_file {
	char name[NAME_BYTES + 24];
	uint64_t bytes;
	int64_t used;
};

static int by_use(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	return ascending(x->used, y->used) ?: strcmp(x->name, y->name);
}

/* Returns whether this is the name of an image's file, or of one that a process did not
 * finish. */
static bool is_ours(const char *name)
{
	static const char hex[] = "0123456789abcdef";
	const char *p = name + strspn(name, hex);

	if (p == name || *p != '-' || strspn(p + 1, hex) != 16 ||
	    strlen(name) >= sizeof(((struct old_file *)0)->name))
		return false;
	p += 17;
	return !*p || (*p == '.' && p[1] && !p[1 + strspn(p + 1, hex)]);
}

/* Removes the files that were not used for the longest time, until a quarter of the
 * room is free. */
static void trim(const struct symbol_cache *c)
{
	VEC(struct old_file) files = { 0 };
	DIR *d = io_open_folder(c->dir, ".");
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)) != NULL) {
		struct old_file f = { .bytes = 0 };

		if (!is_ours(e->d_name) ||
		    fstatat(c->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		snprintf(f.name, sizeof(f.name), "%s", e->d_name);
		f.bytes = (uint64_t)st.st_blocks * 512;
		f.used = clock_ns(st.st_mtim);
		sum += f.bytes;
		if (vec_push(&files, f) < 0)
			break;
	}
	if (sum > c->max_bytes) {
		vec_sort(&files, by_use);
		for (size_t i = 0; i < files.n && sum > c->max_bytes / 4 * 3; i++)
			if (!unlinkat(c->dir, files.v[i].name, 0))
				sum -= files.v[i].bytes;
	}
	vec_fini(&files);
	if (d)
		closedir(d);
}

static uint32_t flags_of(const struct cached_sources *s)
{
	return (s->symtab ? SYMTAB : 0) | (s->dynsym ? DYNSYM : 0) |
	       (s->dwarf ? DWARF : 0) | (s->debugdata ? DEBUGDATA : 0);
}

static bool has_room(const struct symbol_cache *c)
{
	struct statvfs fs;

	return !fstatvfs(c->dir, &fs) &&
	       (uint64_t)fs.f_bavail * fs.f_frsize > c->free_bytes;
}

static void store(struct cached_image *k, const struct cached_sources *s)
{
	struct header h = { .magic = MAGIC, .format = FORMAT,
			    .boot = k->cache->boot, .flags = flags_of(s),
			    .written_s = time(NULL), .image = k->image };
	char temp[sizeof(((struct old_file *)0)->name)];
	struct error ignored;
	size_t bytes = 0;

	if (!has_room(k->cache) ||
	    add_string(k, s->debug_file, &h.debug_file) < 0 ||
	    add_string(k, s->missing, &h.missing) < 0 ||
	    add_string(k, k->key, &h.key) < 0)
		return;
	h.inputs = k->inputs.n;
	h.symbols = k->symbols.n;
	h.symbols_at = k->symbols_at.n;
	h.frames_at = k->frames_at.n;
	h.frames = k->frames.n;
	h.strings = k->strings.n;
	struct iovec parts[] = {
		{ &h, sizeof(h) }, PART(&k->inputs), PART(&k->symbols),
		PART(&k->symbols_at), PART(&k->frames_at), PART(&k->frames),
		PART(&k->strings),
	};
	size_t n = COUNT(parts);

	h.sum = hash_file(k, &h);
	for (size_t i = 0; i < n; i++)
		bytes += parts[i].iov_len;
	if (bytes > k->cache->max_bytes / 4)
		return;
	snprintf(temp, sizeof(temp), "%s.%d", k->name, (int)getpid());
	if (outfile_replace(k->cache->dir, temp, k->name, 0600, false, parts, n,
			    &ignored) >= 0)
		trim(k->cache);
}

void cached_image_close(struct cached_image *k, const struct cached_sources *s)
{
	if (!k)
		return;
	if (k->changed) {
		if (s && !k->nomem && !k->unsure)
			store(k, s);
		vec_fini(&k->inputs);
		vec_fini(&k->symbols);
		vec_fini(&k->frames);
		vec_fini(&k->symbols_at);
		vec_fini(&k->frames_at);
		vec_fini(&k->strings);
		idtab_fini(&k->symbol_ids);
		idtab_fini(&k->frame_ids);
		idtab_fini(&k->string_ids);
	}
	io_unmap(&k->map);
	free(k->key);
	free(k);
}
