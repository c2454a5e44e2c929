// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows perf maps while they grow: see jit_lines.h. */
#include "record/collect/jit_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "record/collect/jit_map.h"
#include "symbolize/perfmap.h"

enum { PIECE = 64 << 10, LOOK_MAX = 64 << 20, WAIT_MAX = 64 };

void jit_follow_fini(struct jit_follow *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		perfmap_times_free(f->v.v[i].times);
	vec_fini(&f->v);
	u64map_fini(&f->by_pid);
	f->rows = 0;
	if (f->fd > 0)
		close(f->fd);
	f->fd = 0;
}

struct jit_lines *jit_follow_find(struct jit_follow *f, uint32_t pid)
{
	uint32_t i = f->v.n ? u64map_get(&f->by_pid, pid) : U64MAP_NONE;

	return i < f->v.n ? &f->v.v[i] : NULL;
}

static int add(struct jit_follow *f, uint32_t pid, uint32_t image)
{
	struct jit_lines l = { .pid = pid, .image = image, .later = UINT32_MAX };
	uint32_t *slot = u64map_slot(&f->by_pid, pid);

	if (!slot)
		return -ERR_NOMEM;
	if (*slot != U64MAP_NONE)
		return 0;
	if (perfmap_times_new(&l.times) < 0)
		return -ERR_NOMEM;
	if (vec_push(&f->v, l) < 0) {
		perfmap_times_free(l.times);
		return -ERR_NOMEM;
	}
	*slot = (uint32_t)f->v.n - 1;
	return 0;
}

/* Finds processes with samples in their own memory. */
static int find_new(struct jit_follow *f, const struct images *im)
{
	if (f->rows > im->by_row.n)
		f->rows = 0;
	for (; f->rows < im->by_row.n; f->rows++) {
		uint32_t image = im->by_row.v[f->rows];
		const struct recorded_image *r = &im->v.v[image];

		if (r->kind != PROF_IMAGE_ANON || !r->base || r->named ||
		    r->jit_offsets || r->jit_lines ||
		    u64map_get(&im->jit_dumps, r->base) != U64MAP_NONE)
			continue;
		if (add(f, (uint32_t)r->base, image) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static void watch(struct jit_follow *f, struct jit_lines *l, int fd)
{
	char path[32];

	if (!f->fd)
		f->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	l->wd = inotify_add_watch(f->fd, path, IN_MODIFY);
}

static void mark_changed(struct jit_follow *f, const struct inotify_event *e)
{
	for (size_t i = 0; i < f->v.n; i++) {
		struct jit_lines *l = &f->v.v[i];

		l->changed |= l->wd == e->wd || e->mask & IN_Q_OVERFLOW;
		if (l->wd == e->wd && e->mask & IN_IGNORED)
			l->wd = -1;
	}
}

/* Marks the watched files that have changed.  Returns a time before which all changes are
 * known, or 0. */
static uint64_t read_changes(struct jit_follow *f)
{
	_Alignas(struct inotify_event) char events[4096];
	uint64_t before;
	ssize_t n;

	f->changed = false;
	do {
		before = clock_now();
		n = f->fd > 0 ? read(f->fd, events, sizeof(events)) : 0;
		f->changed |= n > 0;
		for (ssize_t at = 0; at < n; ) {
			const struct inotify_event *e = (const void *)(events + at);

			mark_changed(f, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	} while (n > 0);
	return n < 0 && errno == EAGAIN ? before : 0;
}

/* Returns whether the file still has the bytes that were read last. */
static bool has_tail(const struct jit_lines *l, int fd)
{
	uint8_t now[sizeof(l->tail)];

	return io_read_at(fd, l->read - l->ntail, now, l->ntail) == l->ntail &&
	       !memcmp(now, l->tail, l->ntail);
}

static void keep_tail(struct jit_lines *l, const char *text, size_t n)
{
	l->ntail = n < sizeof(l->tail) ? (uint32_t)n : sizeof(l->tail);
	memcpy(l->tail, text + n - l->ntail, l->ntail);
}

/* Reads the whole lines up to `end`. */
static int read_lines(struct jit_lines *l, int fd, uint64_t end, uint64_t since_ns,
		      uint64_t until_ns)
{
	char *text = malloc(PIECE);
	uint64_t most = l->read + LOOK_MAX;
	int rc = text ? 0 : -ERR_NOMEM;

	while (!rc && l->read < end && l->read < most) {
		size_t want = end - l->read < PIECE ? (size_t)(end - l->read) : PIECE;
		size_t n = io_read_at(fd, l->read, text, want);
		const char *last = n ? memrchr(text, '\n', n) : NULL;

		if (!last && n < PIECE)
			break;
		if (last)
			n = (size_t)(last + 1 - text);
		keep_tail(l, text, n);
		if (last)
			rc = perfmap_times_add(l->times, l->read, text, n, since_ns,
					       until_ns);
		l->read += n;
	}
	free(text);
	return rc;
}

/* Returns the latest time at which a file was written: that of its last change, or now.
 * File times lag behind by up to a tick. */
static uint64_t written_until(const struct jit_lines *l, const struct stat *st)
{
	uint64_t now = clock_now(), real = clock_read(CLOCK_REALTIME);
	uint64_t changed = (uint64_t)clock_ns(st->st_mtim);
	struct timespec tick = { 0, 0 };

	clock_getres(CLOCK_REALTIME_COARSE, &tick);
	changed += (uint64_t)tick.tv_nsec;
	if (changed >= real || real - changed > now - l->looked_ns)
		return now;
	return now - (real - changed);
}

/* Reads new lines.  Nothing was written between the last look and quiet_ns, if that is
 * later. */
static int look(struct jit_lines *l, int fd, uint64_t early_ns, uint64_t quiet_ns)
{
	uint64_t before = clock_now(), since = l->looked_ns, until, size;
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st) < 0)
		return 0;
	size = (uint64_t)st.st_size;
	if (size < l->size || (size > l->size && !has_tail(l, fd))) {
		perfmap_times_free(l->times);
		l->times = NULL;
		return 0;
	}
	until = written_until(l, &st);
	/* A recorder that was stopped could not know. */
	if (quiet_ns > since && quiet_ns < until)
		since = quiet_ns;
	if (size > l->size)
		rc = read_lines(l, fd, size, since > early_ns ? since - early_ns : 0,
				until);
	l->size = size;
	l->looked_ns = before;
	return rc;
}

int jit_follow_look(struct jit_follow *f, struct images *im)
{
	uint64_t known_ns;

	if (im->foreign_proc)
		return 0;
	if (find_new(f, im) < 0)
		return -ERR_NOMEM;
	known_ns = read_changes(f);
	f->unwatched = 0;
	for (size_t i = 0; i < f->v.n; i++) {
		struct jit_lines *l = &f->v.v[i];
		struct recorded_image *r = &im->v.v[l->image];

		if (r->fd < 0 && !l->ended && ++l->waited > l->wait) {
			jit_map_take(im, r);
			l->waited = 0;
			l->wait = l->wait < WAIT_MAX ? 2 * l->wait + 1 : WAIT_MAX;
		}
		if (r->fd < 0 || !l->times || l->ended)
			continue;
		if (f->watch && !l->wd) {
			watch(f, l, r->fd);
			l->changed = true;
		}
		f->unwatched += l->wd <= 0;
		if (l->wd > 0 && !l->changed)
			continue;
		l->changed = false;
		if (look(l, r->fd, f->early_ns, l->wd > 0 ? f->quiet_ns : 0) < 0)
			return -ERR_NOMEM;
	}
	if (known_ns)
		f->quiet_ns = known_ns;
	return 0;
}

void jit_follow_forget(struct jit_follow *f, struct processes *p)
{
	for (size_t i = 0; i < f->v.n; i++) {
		struct jit_lines *l = &f->v.v[i];

		if (!l->ended && !processes_find(p, l->pid)) {
			l->ended = true;
			if (l->times)
				perfmap_times_close(l->times);
		}
		if (l->wd > 0 && (l->ended || !l->times)) {
			inotify_rm_watch(f->fd, l->wd);
			l->wd = -1;
		}
	}
}

uint32_t jit_lines_epoch(const struct jit_lines *l, uint64_t time_ns)
{
	return l->times ? perfmap_times_epoch(l->times, time_ns) : 0;
}

/* Returns the image of later functions, which is made if necessary. */
static uint32_t later_image(struct jit_lines *l, struct images *im)
{
	if (l->later == UINT32_MAX) {
		l->later = images_add(im, im->v.v[l->image].path, PROF_IMAGE_ANON,
				      l->pid, NULL);
		if (l->later != UINT32_MAX)
			im->v.v[l->later].jit_lines = true;
	}
	return l->later;
}

uint32_t jit_lines_image(struct jit_lines *l, struct images *im, uint64_t time_ns,
			 uint64_t *vaddr)
{
	struct perfmap_line line;
	enum perfmap_found found = perfmap_times_find(l->times, *vaddr, time_ns, &line);
	uint64_t offset;

	if (found == PERFMAP_FIRST)
		return l->image;
	offset = *vaddr - line.start;
	if (line.offset > PERFMAP_LINE_MAX || offset >= PERFMAP_EITHER_BIT)
		return im->unknown;
	*vaddr = line.offset << PERFMAP_LINE_SHIFT | offset |
		 (found == PERFMAP_EITHER ? PERFMAP_EITHER_BIT : 0);
	return later_image(l, im);
}

/* Returns the map of the process whose memory an image is, or NULL. */
static const struct jit_lines *of_row(const struct jit_follow *f, const struct images *im,
				      uint32_t row)
{
	const struct recorded_image *r = row < im->by_row.n ? &im->v.v[im->by_row.v[row]]
							    : NULL;
	uint32_t i = r && r->kind == PROF_IMAGE_ANON && !r->named && !r->jit_offsets
		     ? u64map_get(&f->by_pid, r->base) : U64MAP_NONE;

	return i < f->v.n ? &f->v.v[i] : NULL;
}

void jit_follow_use(const struct jit_follow *f, const struct images *im, uint32_t row,
		    struct symbolize_perfmap_use *use)
{
	const struct jit_lines *l = of_row(f, im, row);

	if (!l)
		return;
	use->by_line = im->v.v[im->by_row.v[row]].jit_lines;
	if (l->times)
		use->ends = perfmap_times_ends(l->times, &use->nends);
}

int jit_follow_open(const struct jit_follow *f, const struct images *im, uint32_t row)
{
	const struct jit_lines *l = of_row(f, im, row);

	if (!l || !l->times || !im->v.v[im->by_row.v[row]].jit_lines)
		return -1;
	return jit_map_open(im, &im->v.v[l->image]);
}
