// SPDX-License-Identifier: GPL-2.0-or-later
/* Polls PROC/PID/maps and reports what is new. */
#include "record/source/maps_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/search.h"
#include "record/source/mapset.h"
#include "launch/proc_read.h"
#include "launch/proc_text.h"

enum {
	MAPS_MAX = 64 << 20, PATH_SPACE = 512,
	READ_SHARE = 50,	/* reading takes less than 1/50 of the time */
	MISS_SHARE = 10,	/* 1/10 when an address is unknown */
	SIDEBAND_SHARE = 4,		/* 1/4 while each reading finds new mappings */
};
#define LOOK_NS 500000u		/* interval of checks of the number of pages */
#define AGAIN_NS 200000000u	/* interval of readings without a reason */
#define MISS_NS 500000u		/* delay after an address outside all mappings */
#define MISS_MAX_NS 64000000u	/* maximum of that delay, which grows while nothing is
				 * new */

void maps_watch_init(struct maps_watch *w, const char *proc)
{
	memset(w, 0, sizeof(*w));
	w->proc = proc;
}

void maps_watch_fini(struct maps_watch *w)
{
	for (size_t i = 0; i < w->procs.n; i++)
		vec_fini(&w->procs.v[i].maps);
	vec_fini(&w->procs);
	vec_fini(&w->free);
	vec_fini(&w->fresh);
	u64map_fini(&w->by_pid);
	buf_fini(&w->text);
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for mappings");
}

static struct watched *watched_find(const struct maps_watch *w, uint32_t pid)
{
	uint32_t row = u64map_get(&w->by_pid, pid);

	/* A row past the end means that the process is gone. */
	return row < w->procs.n ? &w->procs.v[row] : NULL;
}

static struct watched *watched_get(struct maps_watch *w, uint32_t pid)
{
	struct watched *p = watched_find(w, pid);
	struct watched fresh = { .pid = pid };
	uint32_t row, *slot;

	if (p)
		return p;
	slot = u64map_slot(&w->by_pid, pid);
	if (!slot)
		return NULL;
	*slot = UINT32_MAX - 1;
	if (w->free.n) {
		row = w->free.v[--w->free.n];
		fresh.maps.v = w->procs.v[row].maps.v;
		fresh.maps.cap = w->procs.v[row].maps.cap;
		w->procs.v[row] = fresh;
	} else {
		row = (uint32_t)w->procs.n;
		if (vec_push(&w->procs, fresh) < 0)
			return NULL;
	}
	*slot = row;
	return &w->procs.v[row];
}

/* Returns the first mapping that ends after addr, or the number of mappings. */
static size_t map_above(const struct watched *p, uint64_t addr)
{
	size_t at;

	lower_bound(at, 0, p->maps.n, p->maps.v[at].end <= addr);
	return at;
}

static bool knows(const struct watched *p, uint64_t addr)
{
	size_t i = map_above(p, addr);

	return i < p->maps.n && p->maps.v[i].start <= addr;
}

bool maps_watch_knows(const struct maps_watch *w, uint32_t pid, uint64_t addr)
{
	const struct watched *p = watched_find(w, pid);

	return p && knows(p, addr);
}

/* State of one reading of a process's maps. */
struct reading {
	struct maps_watch *w;
	const struct watched *old;
	const struct watch_place *at;
	record_cb *cb;
	void *ctx;
	struct error *err;
	size_t next;		/* index into old->maps */
	size_t reported;	/* number of mappings reported */
	uint64_t end;		/* end of the previous mapping */
	int result;
};

static bool map_equal(const struct watched_map *a, const struct watched_map *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->dev == b->dev &&
	       a->inode == b->inode && a->path == b->path;
}

static bool was_reported(struct reading *r, const struct watched_map *m)
{
	const struct watched *old = r->old;

	while (r->next < old->maps.n && old->maps.v[r->next].start < m->start)
		r->next++;
	return r->next < old->maps.n &&
	       map_equal(&old->maps.v[r->next], m);
}

static bool take_map(void *ctx, const struct mapping *m)
{
	struct reading *r = ctx;
	struct watched_map map = {
		m->start, m->start + m->len, m->offset, m->dev, m->inode,
		hash_bytes(m->path, strlen(m->path)),
	};
	struct record out = {
		.kind = RECORD_MMAP, .pid = r->at->pid, .tid = r->at->tid,
		.event = SOURCE_NONE, .time_ns = r->at->time_ns, .mmap = *m,
	};

	if (map.start < r->end || r->w->fresh.n >= MAPSET_MAX)
		return true;
	r->end = map.end;
	if (vec_push(&r->w->fresh, map) < 0) {
		r->result = no_memory(r->err);
	} else if (!was_reported(r, &map)) {
		r->reported++;
		r->result = r->cb(r->ctx, &out, r->err);
	}
	if (r->result > 0)
		r->result = 0;
	return !r->result;
}

/* Returns the CPU time, for the cost of reading.  Unlike elapsed time, it does not
 * grow on a busy machine. */
static uint64_t processor_time(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* Replaces the known mappings by those read. */
static void maps_take(struct maps_watch *w, struct watched *p)
{
	struct watched_map *v = p->maps.v;
	size_t cap = p->maps.cap;

	p->maps.v = w->fresh.v;
	p->maps.n = w->fresh.n;
	p->maps.cap = w->fresh.cap;
	w->fresh.v = v;
	w->fresh.cap = cap;
	w->fresh.n = 0;
}

int maps_watch_text(struct maps_watch *w, const struct watch_place *at,
		    const void *text, size_t n, record_cb *cb, void *ctx,
		    struct error *err)
{
	struct watched *p = watched_get(w, at->pid);
	struct reading r = { .w = w, .old = p, .at = at, .cb = cb, .ctx = ctx,
			     .err = err };

	if (!p)
		return no_memory(err);
	w->fresh.n = 0;
	proc_maps_parse(text, n, take_map, &r);
	if (!r.result)
		maps_take(w, p);
	p->reported = r.reported;
	return r.result;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Schedules the next reading. */
static void plan(struct watched *p, uint64_t now, uint64_t took)
{
	p->miss = p->reported ? MISS_NS : p->miss * 2;
	if (p->miss > MISS_MAX_NS)
		p->miss = MISS_MAX_NS;
	p->missed_ns = now + max_u64(p->miss, took * MISS_SHARE);
	p->change_ns = now + took * (p->reported ? SIDEBAND_SHARE : READ_SHARE);
	p->again_ns = now + max_u64(AGAIN_NS, took * READ_SHARE);
	p->look_ns = now + LOOK_NS;
}

int maps_watch_read(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err)
{
	uint64_t before = processor_time();
	struct watched *p = watched_get(w, at->pid);
	char path[PATH_SPACE];
	int r = 0;

	if (!p)
		return no_memory(err);
	p->reported = 0;
	w->reads++;
	buf_reset(&w->text);
	snprintf(path, sizeof(path), "%s/%u/maps", w->proc, at->pid);
	/* A process that has ended or forbids reading keeps its known mappings. */
	if (!io_read_file(path, MAPS_MAX, &w->text, NULL) && w->text.n)
		r = maps_watch_text(w, at, w->text.p, w->text.n, cb, ctx, err);
	if (r < 0)
		return r;
	plan(watched_get(w, at->pid), at->time_ns, processor_time() - before);
	return 0;
}

/* Returns the first number of PROC/PID/statm, in pages (proc(5)). */
static uint64_t pages_of(struct maps_watch *w, uint32_t pid)
{
	char text[32];

	proc_beginning(text, sizeof(text), "%s/%u/statm", w->proc, pid);
	return strtoull(text, NULL, 10);
}

static bool is_due(struct maps_watch *w, struct watched *p, uint64_t addr,
		   uint64_t now)
{
	uint64_t pages;

	if (!knows(p, addr))
		return now >= p->missed_ns;
	if (now >= p->again_ns)
		return true;
	if (now < p->look_ns || now < p->change_ns)
		return false;
	p->look_ns = now + LOOK_NS;
	pages = pages_of(w, p->pid);
	if (pages == p->pages)
		return false;
	p->pages = pages;
	return true;
}

int maps_watch_sample(struct maps_watch *w, const struct watch_place *at,
		      uint64_t addr, record_cb *cb, void *ctx,
		      struct error *err)
{
	struct watched *p = watched_find(w, at->pid);

	if (p && !is_due(w, p, addr, at->time_ns))
		return 0;
	return maps_watch_read(w, at, cb, ctx, err);
}

int maps_watch_name(struct maps_watch *w, const struct watch_place *at,
		    bool exec, record_cb *cb, void *ctx, struct error *err)
{
	struct record r = {
		.kind = RECORD_COMM, .pid = at->pid, .tid = at->tid,
		.event = SOURCE_NONE, .time_ns = at->time_ns,
	};
	char path[PATH_SPACE];
	int rc;

	buf_reset(&w->text);
	snprintf(path, sizeof(path), "%s/%u/task/%u/comm", w->proc, at->pid,
		 at->tid);
	if (!proc_line(path, &w->text)) {
		/* A new program is reported even without a name. */
		if (!exec)
			return 0;
		buf_reset(&w->text);
	}
	r.comm.name = buf_cstr(&w->text);
	r.comm.exec = exec;
	rc = cb(ctx, &r, err);
	return rc < 0 ? rc : 0;
}

int maps_watch_exec(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err)
{
	struct watched *p = watched_get(w, at->pid);
	int rc;

	if (!p)
		return no_memory(err);
	p->maps.n = 0;
	rc = maps_watch_name(w, at, true, cb, ctx, err);
	return rc < 0 ? rc : maps_watch_read(w, at, cb, ctx, err);
}

int maps_watch_fork(struct maps_watch *w, uint32_t pid, uint32_t parent)
{
	struct watched *p = watched_get(w, pid);
	const struct watched *from = watched_find(w, parent);

	if (!p)
		return -ERR_NOMEM;
	p->maps.n = 0;
	p->look_ns = p->again_ns = p->change_ns = p->missed_ns = 0;
	if (!from || from == p)
		return 0;
	if (vec_reserve(&p->maps, from->maps.n) < 0)
		return -ERR_NOMEM;
	if (from->maps.n)
		memcpy(p->maps.v, from->maps.v,
		       from->maps.n * sizeof(*p->maps.v));
	p->maps.n = from->maps.n;
	p->pages = from->pages;
	p->again_ns = from->again_ns;
	return 0;
}

void maps_watch_exit(struct maps_watch *w, uint32_t pid)
{
	struct watched *p = watched_find(w, pid);

	if (!p || vec_push(&w->free, (uint32_t)(p - w->procs.v)) < 0)
		return;
	p->maps.n = 0;
	u64map_put(&w->by_pid, pid, UINT32_MAX - 1);
}
