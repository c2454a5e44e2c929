// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens and closes unwind tables: see walk_tables.h. */
#include "record/collect/walk_tables.h"

#include <string.h>
#include <unistd.h>

#include "symbolize/dwarf/debug_file.h"

enum { TABLES_MAX = 512 };	/* maximum number of open tables */
#define TABLE_BYTES_MAX (256ull << 20)
#define TABLE_BYTES_KEPT (32ull << 20)
#define UNUSED_WALKS 40000	/* 20 s of two busy CPUs at 999 Hz */
enum { CHECKS = 128 };	/* of all tables' sizes in this time */

enum table_state { TABLE_UNKNOWN, TABLE_OPEN, TABLE_NONE };

struct walk_table {
	struct unwind_table *table;
	enum table_state state;
	uint64_t used;		/* last walk that used it */
};

int walk_tables_init(struct walk_tables *t, struct images *im)
{
	*t = (struct walk_tables){ .images = im, .kept_bytes = TABLE_BYTES_KEPT,
				   .unused_walks = UNUSED_WALKS };
	return unwind_cache_new(&t->cache);
}

void walk_tables_fini(struct walk_tables *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].table)
			unwind_table_close(t->v.v[i].table);
	vec_fini(&t->v);
	if (t->cache)
		unwind_cache_free(t->cache);
	t->cache = NULL;
}

void walk_tables_begin(struct walk_tables *t)
{
	if (t->stale)
		unwind_cache_clear(t->cache);
	t->stale = false;
	t->clock++;
}

static void drop(struct walk_tables *t, struct walk_table *x)
{
	unwind_table_close(x->table);
	x->table = NULL;
	x->state = TABLE_UNKNOWN;
	t->open--;
	t->stale = true;
}

static struct walk_table *longest_unused(const struct walk_tables *t)
{
	struct walk_table *oldest = NULL;

	for (size_t i = 0; i < t->v.n; i++) {
		struct walk_table *x = &t->v.v[i];

		if (x->table && (!oldest || x->used < oldest->used))
			oldest = x;
	}
	return oldest;
}

/* Closes the tables unused for longest while there are too many.  Above t->kept_bytes it
 * also closes those unused lately, whose programs are gone.  To clear the cache rarely,
 * it closes more than necessary. */
static void close_unused(struct walk_tables *t)
{
	uint64_t bytes = 0, unused = t->unused_walks;

	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].table)
			bytes += unwind_table_stats(t->v.v[i].table).bytes;
	while (t->open && (t->open > TABLES_MAX || bytes > t->kept_bytes)) {
		struct walk_table *x = longest_unused(t);

		if (t->open <= TABLES_MAX && bytes <= TABLE_BYTES_MAX &&
		    t->clock - x->used < unused)
			return;
		unused = t->unused_walks / 2;
		bytes -= unwind_table_stats(x->table).bytes;
		drop(t, x);
	}
}

void walk_tables_idle(struct walk_tables *t)
{
	if (t->open > TABLES_MAX ||
	    (t->open && t->clock - t->checked >= t->unused_walks / CHECKS)) {
		t->checked = t->clock;
		close_unused(t);
	}
}

void walk_tables_forget(struct walk_tables *t, uint32_t image)
{
	struct walk_table *x;

	if (image >= t->v.n)
		return;
	x = &t->v.v[image];
	t->stale |= x->state != TABLE_UNKNOWN;
	if (x->table)
		drop(t, x);
	x->state = TABLE_UNKNOWN;
}

/* Adds the call frame information of a debug file for code without any in its image. */
static void add_debug(const struct walk_tables *t, struct unwind_table *table)
{
	struct image *debug = NULL;

	if (unwind_table_wants_debug(table))
		debug = symbolize_debug_file(unwind_table_image(table),
					     t->debug_dirs);
	if (debug)
		unwind_table_add_debug(table, debug);
}

static void open_table(struct walk_tables *t, uint32_t image, struct walk_table *x)
{
	const struct recorded_image *r = &t->images->v.v[image];
	struct image *img;
	int fd = images_open_fd(t->images, image);

	x->state = TABLE_NONE;
	if (fd < 0)
		return;
	if (!image_open_fd(fd, r->path, &img, NULL) &&
	    !unwind_table_open(img, &x->table)) {
		x->state = TABLE_OPEN;
		t->open++;
		add_debug(t, x->table);
	}
	close(fd);
}

struct unwind_table *walk_tables_get(struct walk_tables *t, uint32_t image)
{
	struct walk_table *x;

	if (image >= t->v.n) {
		size_t n = t->images->v.n;

		if (vec_reserve(&t->v, n) < 0)
			return NULL;
		memset(t->v.v + t->v.n, 0, (n - t->v.n) * sizeof(*t->v.v));
		t->v.n = n;
	}
	x = &t->v.v[image];
	if (x->state == TABLE_UNKNOWN)
		open_table(t, image, x);
	x->used = t->clock;
	return x->table;
}

void walk_tables_release(struct walk_tables *t)
{
	for (size_t i = 0; i < t->v.n; i++) {
		const struct walk_table *x = &t->v.v[i];

		if (x->table && x->used > t->released)
			image_release(unwind_table_image(x->table));
	}
	t->released = t->clock;
}
