// SPDX-License-Identifier: GPL-2.0-or-later
/* Pushing with a clock and a server of the test's own. */
#include "../views/make_profile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/proto_in.h"
#include "push/entry.h"
#include "push/labels.h"
#include "push/spool.h"

#define SECOND 1000000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define WALL (1800000000ull * SECOND)	/* a multiple of 10 s */

static void urls_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int protocol;		/* -1: refused */
		const char *base;
		bool local;
	} cases[] = {
		{ "pyroscope+http://h:4040", PUSH_PYROSCOPE, "http://h:4040", 0 },
		{ "pyroscope+https://h/a/", PUSH_PYROSCOPE, "https://h/a", 0 },
		{ "pyroscope+http://h/ingest", PUSH_INGEST, "http://h", 0 },
		{ "pyroscope+http://h/a/ingest/", PUSH_INGEST, "http://h/a", 0 },
		{ "parca+http://localhost", PUSH_PARCA, "http://localhost", 1 },
		{ "parca+grpc://127.0.0.1:7070", PUSH_PARCA_GRPC,
		  "http://127.0.0.1:7070", 1 },
		{ "otlp+https://[::1]:4318", PUSH_OTLP, "https://[::1]:4318", 1 },
		{ "otlp+grpcs://h", PUSH_OTLP_GRPC, "https://h", 0 },
		{ "otlp+http://localhost.example", PUSH_OTLP,
		  "http://localhost.example", 0 },
		{ "http://h", -1, NULL, 0 },
		{ "pyroscope+ftp://h", -1, NULL, 0 },
		{ "pyroscope+http://", -1, NULL, 0 },
		{ "pyroscope+http://:80", -1, NULL, 0 },
		{ "pyroscope+http://h:", -1, NULL, 0 },
		{ "pyroscope+http://user:secret@h", -1, NULL, 0 },
		{ "pyroscope+http://h/?x=1", -1, NULL, 0 },
		{ "pyroscope+http://h/a b", -1, NULL, 0 },
		{ "pyroscope+http://h\r\nX: y", -1, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };
		struct push_url u;
		int rc = push_url_parse(cases[i].text, &u, &err);

		if (cases[i].protocol < 0) {
			assert_int_equal(rc, -ERR_USAGE);
			check_lacks(err.msg, "secret");
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(u.protocol, cases[i].protocol);
		assert_string_equal(u.base, cases[i].base);
		assert_int_equal(u.local, cases[i].local);
		push_url_fini(&u);
	}
}

static void labels_are_checked(void **state)
{
	static const char *const bad[] = { "", "x", "=y", "1x=y", "x=", "a-b=c",
					   "__name__=x", "a=b\nc", "a=\xff" };
	struct error err;
	const char *value;
	char *name;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(label_parse(bad[i], &name, &value, &err),
				 -ERR_USAGE);
	assert_int_equal(label_parse("team.x=a=b", &name, &value, &err), 0);
	assert_string_equal(name, "team.x");
	assert_string_equal(value, "a=b");
	free(name);
}

/* --- a folder */

struct scratch {
	char dir[64], spool[80];
};

static int setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	strcpy(s->dir, "/tmp/tally-push.XXXXXX");
	if (!mkdtemp(s->dir))
		return -1;
	snprintf(s->spool, sizeof(s->spool), "%s/spool", s->dir);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scratch *s = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	if (system(command))
		return -1;
	free(s);
	return 0;
}

static struct spool *open_spool(const struct scratch *s, uint64_t bytes)
{
	struct spool *spool = NULL;
	struct error err;

	assert_int_equal(spool_open(s->spool, bytes, &spool, &err), 0);
	return spool;
}

static void check_oldest(struct spool *spool, const char *want)
{
	struct buf got = { 0 };
	struct error err;

	assert_int_equal(spool_oldest(spool, 0, &got, &err), 1);
	assert_string_equal(buf_cstr(&got), want);
	buf_fini(&got);
}

static void spool_keeps_order_over_processes(void **state)
{
	struct scratch *s = *state;
	struct spool *spool = open_spool(s, 1 << 20), *other;
	struct error err;
	struct buf got = { 0 };
	struct stat st;

	assert_int_equal(spool_add(spool, "one", 3, true, &err), 0);
	assert_int_equal(spool_add(spool, "two", 3, true, &err), 0);
	assert_int_equal(stat(s->spool, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(spool_open(s->spool, 1, &other, &err), -ERR_USAGE);
	spool_close(spool);
	spool = open_spool(s, 1 << 20);
	assert_int_equal(spool_add(spool, "three", 5, true, &err), 0);
	check_oldest(spool, "one");
	check_oldest(spool, "one");
	assert_int_equal(spool_remove(spool, 0, &err), 0);
	check_oldest(spool, "two");
	assert_int_equal(spool_remove(spool, 0, &err), 0);
	check_oldest(spool, "three");
	assert_int_equal(spool_remove(spool, 0, &err), 0);
	assert_int_equal(spool_oldest(spool, 0, &got, &err), 0);
	assert_int_equal(spool_count(spool).files, 0);
	assert_int_equal(spool_count(spool).bytes, 0);
	buf_fini(&got);
	spool_close(spool);
}

static void spool_drops_the_oldest_for_room(void **state)
{
	struct scratch *s = *state;
	struct spool *spool = open_spool(s, 3 * 120);	/* of 20 + 100 */
	char entry[101] = { 0 };
	struct error err;

	memset(entry, 'x', 100);
	for (int i = 0; i < 5; i++) {
		entry[0] = (char)('0' + i);
		assert_int_equal(spool_add(spool, entry, 100, true, &err), 0);
	}
	entry[0] = '2';
	check_oldest(spool, entry);
	assert_int_equal(spool_count(spool).dropped, 2);
	assert_int_equal(spool_count(spool).files, 3);
	assert_int_equal(spool_count(spool).bytes, 360);
	assert_int_equal(spool_add(spool, entry, 341, true, &err), -ERR_IO);
	assert_int_equal(spool_count(spool).files, 3);
	spool_close(spool);
}

static void write_at(const struct scratch *s, const char *name, const void *p,
		     size_t n, off_t at)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->spool, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, p, n, at), n);
	close(fd);
}

static void spool_passes_over_damaged_files(void **state)
{
	struct scratch *s = *state;
	struct spool *spool = open_spool(s, 1 << 20);
	struct error err;
	char path[160];

	for (int i = 0; i < 3; i++)
		assert_int_equal(spool_add(spool, "good", 4, true, &err), 0);
	assert_int_equal(spool_add(spool, "last", 4, true, &err), 0);
	spool_close(spool);
	write_at(s, "0000000000000001.push", "X", 1, 21);	/* payload */
	write_at(s, "0000000000000002.push", "\xff", 1, 12);	/* its length */
	snprintf(path, sizeof(path), "%s/0000000000000003.push", s->spool);
	assert_int_equal(truncate(path, 7), 0);
	write_at(s, "new", "half of", 7, 0);
	write_at(s, "notes.txt", "mine", 4, 0);
	spool = open_spool(s, 1 << 20);
	check_oldest(spool, "last");
	assert_int_equal(spool_count(spool).damaged, 3);
	assert_int_equal(spool_count(spool).files, 1);
	snprintf(path, sizeof(path), "%s/new", s->spool);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/notes.txt", s->spool);
	assert_int_equal(access(path, F_OK), 0);
	spool_close(spool);
}

/* --- a world */

struct got {
	uint64_t time_ns, samples;
	char id[40];
};

struct world {
	uint64_t now;			/* monotonic */
	uint64_t away_until;		/* refuses connections */
	int status;			/* 0: 200 */
	const char *retry_after, *body;
	size_t most;			/* bytes of a body, 0: any; else 413 */
	uint64_t posts, last_post;
	uint64_t hangs;			/* time that a request takes */
	uint64_t poison;		/* time of a profile that causes 500 */
	bool lose_answer;		/* takes the next, and says nothing */
	VEC(struct got) got;
	char authorization[64];
	char told[1024];
};

static uint64_t world_now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static uint64_t world_wall(void *ctx)
{
	return ((struct world *)ctx)->now + WALL;
}

static void world_sleep(void *ctx, uint64_t ns)
{
	((struct world *)ctx)->now += ns;
}

static uint64_t world_random(void *ctx)
{
	return ((struct world *)ctx)->now * 2654435761u;
}

/* The first value of each sample of a pprof, and its time. */
static void read_profile(const struct cursor *packed, struct got *got)
{
	struct buf raw = { 0 };
	struct error err;
	struct proto_field f, g;
	struct cursor c;

	assert_int_equal(gzip_unpack(&raw, packed->p, cursor_left(packed),
				     1 << 24, &err), 0);
	c = cursor_of(raw.p, raw.n);
	while (proto_next(&c, &f))
		if (f.number == 9)
			got->time_ns = f.v;
		else if (f.number == 2)
			while (proto_next(&f.part, &g))
				if (g.number == 2)
					got->samples += cursor_uleb(&g.part);
	assert_false(c.bad);
	buf_fini(&raw);
}

/* push.v1.PushRequest */
static void take_request(struct world *w, const struct http_request *q)
{
	struct cursor c = cursor_of(q->body, q->n);
	struct proto_field f, g, h;

	while (proto_next(&c, &f))
		while (proto_next(&f.part, &g)) {
			struct got got = { 0 };

			if (g.number != 2)
				continue;
			while (proto_next(&g.part, &h))
				if (h.number == 1)
					read_profile(&h.part, &got);
				else
					memcpy(got.id, h.part.p,
					       cursor_left(&h.part));
			assert_int_equal(vec_push(&w->got, got), 0);
		}
	assert_false(c.bad);
}

static bool is_poison(struct world *w, const struct http_request *q)
{
	size_t before = w->got.n;

	if (!w->poison)
		return false;
	take_request(w, q);
	w->got.n = before;
	return w->got.v[before].time_ns == w->poison;
}

static int world_post(void *ctx, const struct http_request *q,
		      struct http_answer *a, struct error *err)
{
	struct world *w = ctx;

	(void)err;
	*a = (struct http_answer){ 0 };
	w->posts++;
	w->last_post = w->now;
	w->now += w->hangs ? w->hangs : 1000000;
	for (size_t i = 0; q->headers[i]; i++)
		if (!strncmp(q->headers[i], "Authorization: ", 15))
			snprintf(w->authorization, sizeof(w->authorization),
				 "%s", q->headers[i] + 15);
	if (w->now < w->away_until) {
		a->failure = HTTP_AWAY;
		strcpy(a->problem, "Connection refused");
		return 0;
	}
	a->status = w->most && q->n > w->most ? 413
		    : is_poison(w, q) ? 500
		    : w->status ? w->status : 200;
	if (w->retry_after)
		snprintf(a->retry_after, sizeof(a->retry_after), "%s",
			 w->retry_after);
	if (w->body)
		buf_str(&a->body, w->body);
	if (a->status == 200)
		take_request(w, q);
	if (w->lose_answer) {
		w->lose_answer = false;
		a->status = 0;
		a->failure = HTTP_AWAY;
		strcpy(a->problem, "Connection reset by peer");
	}
	return 0;
}

static void tell(void *ctx, const char *text)
{
	struct world *w = ctx;
	size_t n = strlen(w->told);

	snprintf(w->told + n, sizeof(w->told) - n, "%s\n", text);
}

static struct push *open_push(struct world *w, const char *spool,
			      uint64_t spool_bytes)
{
	struct push_world world = { .ctx = w, .now_ns = world_now,
				    .wall_ns = world_wall,
				    .sleep_ns = world_sleep,
				    .random = world_random,
				    .post = world_post };
	struct push_options o = {
		.url = "pyroscope+http://h", .window_ns = 10 * SECOND,
		.patience_ns = 120 * SECOND, .spool = spool,
		.spool_bytes = spool_bytes, .version = "test", .world = &world,
		.authorization = "Bearer hunter2", .notice = tell, .ctx = w };
	struct push *p = NULL;
	struct error err;

	assert_int_equal(push_open(&o, &p, &err), 0);
	return p;
}

/* A recording of one function, with samples at these seconds since WALL. */
static struct reader *recording(struct maker *m, const double *seconds, size_t n)
{
	uint32_t f, stack;

	maker_init(m, 1);
	f = maker_func(m, m->app, "work", "work.c", 1);
	stack = STACK(m, maker_loc(m, f, 2));
	m->p.runs.v[0].start_ns = 0;
	m->p.runs.v[0].start_wall_ns = WALL;
	m->p.runs.v[0].end_ns = 0;
	for (size_t i = 0; i < n; i++) {
		maker_samples(m, stack, 0, 0, 1000, 1);
		m->samples.v[m->samples.n - 1].time_ns =
			(uint64_t)(seconds[i] * 1e9);
	}
	return maker_read(m);
}

static void push_one(struct push *p, const double *seconds, size_t n, int want)
{
	static const struct select_spec all;
	struct maker m;
	struct reader *r = recording(&m, seconds, n);
	struct error err;

	assert_int_equal(push_recording(p, r, &all, &err), want);
	reader_close(r);
	maker_fini(&m);
}

static void samples_are_summed_by_window(void **state)
{
	static const double at[] = { 0, 1, 9.999999, 10, 12, 45.5, 12.5 };
	static const uint64_t want[][2] = {	/* since WALL, samples */
		{ 0, 3 }, { 10, 3 }, { 40, 1 } };
	struct world w = { .now = SECOND };
	struct push *p = open_push(&w, NULL, 0);

	(void)state;
	push_one(p, at, COUNT(at), 0);
	assert_int_equal(w.got.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(w.got.v[i].time_ns, WALL + want[i][0] * SECOND);
		assert_int_equal(w.got.v[i].samples, want[i][1]);
	}
	assert_int_equal(push_get_counts(p)->samples, COUNT(at));
	assert_string_equal(w.authorization, "Bearer hunter2");
	push_close(p);
	vec_fini(&w.got);
}

static void check_each_once(const struct world *w, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(w->got.v[i].time_ns,
				 WALL + (first + i) * 10 * SECOND);
}

/* The server is away for an hour, then there again: all windows come, in order,
 * once; and it is not hammered at. */
static void no_window_is_lost_in_an_hour(void **state)
{
	struct scratch *s = *state;
	struct world w = { .now = SECOND, .away_until = 3600 * SECOND };
	struct push *p = open_push(&w, s->spool, 64 << 20);
	struct error err;
	uint64_t next, tries;
	size_t windows = 370;

	for (size_t i = 0; i < windows; i++) {
		double at = (double)i * 10 + 5;

		if (w.now < i * 10 * SECOND)
			w.now = i * 10 * SECOND;
		push_one(p, &at, 1, 0);
		if (i == 100) {	/* the process is another one */
			push_close(p);
			p = open_push(&w, s->spool, 64 << 20);
		}
	}
	tries = w.posts - w.got.n;
	assert_int_equal(push_drain(p, &err), 0);
	assert_int_equal(push_step(p, &next, &err), 0);
	assert_int_equal(next, UINT64_MAX);
	assert_int_equal(w.got.n, windows);
	check_each_once(&w, 0, windows);
	/* at first after 1 s, then after 30 to 60 */
	assert_true(tries >= 60 && tries <= 140);
	assert_int_equal(push_get_counts(p)->waiting, 0);
	assert_int_equal(push_get_counts(p)->dropped, 0);
	push_close(p);
	vec_fini(&w.got);
}

static void full_spool_loses_the_oldest_and_says_so(void **state)
{
	struct scratch *s = *state;
	struct world w = { .now = SECOND, .away_until = 3600 * SECOND };
	struct push *p = open_push(&w, s->spool, 8000);
	struct error err;
	size_t windows = 100, kept;

	for (size_t i = 0; i < windows; i++) {
		double at = (double)i * 10;

		push_one(p, &at, 1, 0);
	}
	assert_true(push_get_counts(p)->waiting_bytes <= 8000);
	kept = push_get_counts(p)->waiting;
	assert_true(kept > 5);
	assert_int_equal(push_get_counts(p)->dropped + kept, windows);
	w.now = w.away_until;
	assert_int_equal(push_drain(p, &err), 0);
	assert_int_equal(w.got.n, kept);
	check_each_once(&w, windows - kept, kept);
	push_close(p);
	vec_fini(&w.got);
}

static void without_a_spool_patience_ends(void **state)
{
	double at = 3;
	struct world w = { .now = SECOND, .away_until = 60 * SECOND };
	struct push *p = open_push(&w, NULL, 0);

	(void)state;
	push_one(p, &at, 1, 0);
	assert_int_equal(w.got.n, 1);
	w.away_until = UINT64_MAX;
	push_one(p, &at, 1, -ERR_IO);
	assert_true(w.now >= 180 * SECOND && w.now < 320 * SECOND);
	push_close(p);
	vec_fini(&w.got);
}

static void hanging_requests_end_patience(void **state)
{
	double at = 3;
	struct world w = { .now = SECOND, .away_until = UINT64_MAX,
			   .hangs = 200 * SECOND };
	struct push *p = open_push(&w, NULL, 0);

	(void)state;
	push_one(p, &at, 1, -ERR_IO);
	assert_int_equal(w.posts, 1);
	push_close(p);
}

static void retry_after_is_honoured(void **state)
{
	struct scratch *s = *state;
	double at = 3;
	struct world w = { .now = SECOND, .status = 429, .retry_after = "90" };
	struct push *p = open_push(&w, s->spool, 1 << 20);
	struct error err;
	uint64_t next, first;

	push_one(p, &at, 1, 0);
	first = w.last_post;
	assert_int_equal(push_step(p, &next, &err), 0);
	assert_int_equal(w.posts, 1);
	assert_true(next >= first + 90 * SECOND && next < first + 100 * SECOND);
	w.status = 0;
	w.now = next;
	assert_int_equal(push_step(p, &next, &err), 0);
	assert_int_equal(w.got.n, 1);
	push_close(p);
	vec_fini(&w.got);
}

static void long_delays_end_patience(void **state)
{
	struct scratch *s = *state;
	double at = 3;
	struct world w = { .now = SECOND, .status = 429, .retry_after = "3600" };
	struct push *p = open_push(&w, NULL, 0);
	struct error err;

	push_one(p, &at, 1, -ERR_IO);
	assert_true(w.now < 10 * SECOND);
	push_close(p);
	p = open_push(&w, s->spool, 1 << 20);
	push_one(p, &at, 1, 0);
	assert_int_equal(push_drain(p, &err), 0);
	assert_true(w.now < 10 * SECOND);
	assert_int_equal(push_get_counts(p)->waiting, 1);
	push_close(p);
}

static bool is_second(void *ctx, const char *source)
{
	(void)ctx;
	return !strcmp(source, "second");
}

/* A process is killed between the recordings, and within the second one. */
static void unfinished_recordings_are_not_sent(void **state)
{
	static const double first[] = { 3, 13 }, second[] = { 23, 33, 43 };
	struct scratch *s = *state;
	struct world w = { .now = SECOND };
	struct push *p = open_push(&w, s->spool, 1 << 20);
	struct error err;

	push_hold(p, "first");
	push_one(p, first, COUNT(first), 0);
	push_hold(p, "second");
	push_one(p, second, 2, 0);
	assert_int_equal(w.posts, 0);
	push_close(p);
	p = open_push(&w, s->spool, 1 << 20);
	assert_int_equal(push_resume(p, is_second, NULL, &err), 0);
	assert_int_equal(push_get_counts(p)->waiting, 2);
	push_hold(p, "second");
	push_one(p, second, COUNT(second), 0);
	assert_int_equal(push_release(p, &err), 0);
	assert_int_equal(w.got.n, 5);
	check_each_once(&w, 0, 5);
	push_close(p);
	vec_fini(&w.got);
}

/* A spool that is smaller than a recording loses nothing while the server is
 * there, also if its requests are held. */
static void small_spools_are_sent_first(void **state)
{
	static const double at[] = { 3, 13, 23, 33, 43, 53 };
	struct scratch *s = *state;
	struct world w = { .now = SECOND };
	struct push *p = open_push(&w, s->spool, 1000);
	struct error err;

	push_hold(p, "one");
	push_one(p, at, COUNT(at), 0);
	assert_int_equal(push_release(p, &err), 0);
	assert_int_equal(w.got.n, COUNT(at));
	check_each_once(&w, 0, COUNT(at));
	assert_int_equal(push_get_counts(p)->dropped, 0);
	push_close(p);
	vec_fini(&w.got);
	/* no room at all */
	w = (struct world){ .now = SECOND };
	p = open_push(&w, s->spool, 100);
	push_one(p, at, COUNT(at), 0);
	assert_int_equal(w.got.n, COUNT(at));
	assert_int_equal(push_get_counts(p)->dropped, 0);
	w.away_until = UINT64_MAX;
	push_one(p, at, COUNT(at), 0);
	assert_int_equal(push_get_counts(p)->dropped, COUNT(at));
	assert_non_null(strstr(w.told, "size limit of the spool"));
	push_close(p);
	vec_fini(&w.got);
}

static void requests_for_another_protocol_are_removed(void **state)
{
	struct scratch *s = *state;
	struct world w = { .now = SECOND };
	struct spool *spool = open_spool(s, 1 << 20);
	struct push *p;
	struct buf e = { 0 };
	struct error err;

	entry_begin(&e, ENTRY_OTLP, 5, 6, 7);
	assert_int_equal(entry_set_otlp(&e, "x", 1, &err), 0);
	assert_int_equal(spool_add(spool, e.p, e.n, true, &err), 0);
	spool_close(spool);
	p = open_push(&w, s->spool, 1 << 20);
	assert_int_equal(push_resume(p, is_second, NULL, &err), 0);
	assert_int_equal(push_get_counts(p)->waiting, 0);
	assert_int_equal(push_get_counts(p)->refused, 1);
	assert_non_null(strstr(w.told, "another protocol"));
	push_close(p);
	buf_fini(&e);
}

static void refused_ones_do_not_stop_others(void **state)
{
	struct scratch *s = *state;
	static const double at[] = { 3, 13, 23 };
	struct world w = { .now = SECOND, .status = 400,
			   .body = "hunter2 is no good" };
	struct push *p = open_push(&w, s->spool, 1 << 20);

	push_one(p, at, COUNT(at), 0);
	assert_int_equal(w.posts, 3);
	assert_int_equal(push_get_counts(p)->refused, 3);
	assert_int_equal(push_get_counts(p)->waiting, 0);
	/* told once, and without the token */
	check_lacks(w.told, "hunter2");
	assert_non_null(strstr(w.told, "refused"));
	check_lacks(strstr(w.told, "refused") + 1, "refused");
	push_close(p);
}

/* One request makes the server fail, others do not. */
static void poison_is_refused(void **state)
{
	static const double at[] = { 3, 13, 23 };
	struct scratch *s = *state;
	struct world w = { .now = SECOND, .away_until = 2 * SECOND };
	struct push *p = open_push(&w, s->spool, 1 << 20);
	struct error err;

	push_one(p, at, COUNT(at), 0);
	w.status = 500;			/* to all, for ten minutes */
	for (w.now = 2 * SECOND; w.now < 600 * SECOND; w.now += SECOND) {
		uint64_t next;

		assert_int_equal(push_step(p, &next, &err), 0);
	}
	assert_int_equal(push_get_counts(p)->refused, 0);
	assert_int_equal(push_get_counts(p)->waiting, 3);
	assert_int_equal(w.got.n, 0);
	w.status = 0;
	w.poison = WALL + 10 * SECOND;
	for (; w.now < 1800 * SECOND; w.now += SECOND) {
		uint64_t next;

		assert_int_equal(push_step(p, &next, &err), 0);
	}
	assert_int_equal(w.got.n, 2);
	assert_int_equal(w.got.v[0].time_ns, WALL);
	assert_int_equal(w.got.v[1].time_ns, WALL + 20 * SECOND);
	assert_int_equal(push_get_counts(p)->refused, 1);
	assert_int_equal(push_get_counts(p)->waiting, 0);
	push_close(p);
	vec_fini(&w.got);
}

static void denied_ones_wait(void **state)
{
	struct scratch *s = *state;
	static const double at[] = { 3, 13 };
	struct world w = { .now = SECOND, .status = 401 };
	struct push *p = open_push(&w, s->spool, 1 << 20);
	struct error err;

	push_one(p, at, COUNT(at), 0);
	assert_int_equal(push_drain(p, &err), 0);
	assert_int_equal(push_get_counts(p)->waiting, 2);
	assert_non_null(strstr(w.told, "--token-file"));
	push_close(p);
	p = open_push(&w, NULL, 0);
	push_one(p, at, COUNT(at), -ERR_PERM);
	push_close(p);
}

static void lost_answers_make_the_same_id(void **state)
{
	struct scratch *s = *state;
	double at = 3;
	struct world w = { .now = SECOND, .lose_answer = true };
	struct push *p = open_push(&w, s->spool, 1 << 20);
	struct error err;

	push_one(p, &at, 1, 0);
	assert_int_equal(push_drain(p, &err), 0);
	assert_int_equal(w.got.n, 2);
	assert_string_equal(w.got.v[0].id, w.got.v[1].id);
	assert_int_equal(strlen(w.got.v[0].id), 36);
	push_close(p);
	vec_fini(&w.got);
}

/* 500 stacks, and a server that takes a few hundred bytes at once. */
static void too_large_is_sent_in_halves(void **state)
{
	static const struct select_spec all;
	struct world w = { .now = SECOND, .most = 600 };
	struct push *p = open_push(&w, NULL, 0);
	struct maker m;
	struct reader *r;
	struct error err;
	uint64_t samples = 0;

	(void)state;
	maker_init(&m, 1);
	m.p.runs.v[0].start_wall_ns = WALL;
	for (uint32_t i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		maker_samples(&m, STACK(&m, maker_loc(&m, maker_func(&m, m.app,
					name, "", 0), i + 1)), 0, 0, 1000, 2);
	}
	r = maker_read(&m);
	assert_int_equal(push_recording(p, r, &all, &err), 0);
	for (size_t i = 0; i < w.got.n; i++)
		samples += w.got.v[i].samples;
	assert_int_equal(samples, 1000);
	assert_int_equal(push_get_counts(p)->samples, 1000);
	assert_int_equal(push_get_counts(p)->refused, 0);
	assert_true(w.got.n > 4);
	/* less than one sample takes: refused, and no end of halving */
	w.most = 10;
	w.got.n = 0;
	assert_int_equal(push_recording(p, r, &all, &err), 0);
	assert_int_equal(w.got.n, 0);
	assert_int_equal(push_get_counts(p)->refused, 500);
	reader_close(r);
	maker_fini(&m);
	push_close(p);
	vec_fini(&w.got);
}

/* More stacks than servers take in one profile. */
static void parts_have_their_own_times(void **state)
{
	static const struct select_spec all;
	struct world w = { .now = SECOND };
	struct push *p = open_push(&w, NULL, 0);
	struct maker m;
	struct reader *r;
	struct error err;
	uint32_t f;

	(void)state;
	maker_init(&m, 1);
	m.p.runs.v[0].start_wall_ns = WALL;
	f = maker_func(&m, m.app, "f", "", 0);
	for (uint32_t i = 0; i < 15001; i++)
		maker_samples(&m, STACK(&m, maker_loc(&m, f, i + 1)), 0, 0, 1000,
			      1);
	for (size_t i = 0; i < m.samples.n; i++)
		m.samples.v[i].time_ns = m.samples.v[0].time_ns;
	r = maker_read(&m);
	assert_int_equal(push_recording(p, r, &all, &err), 0);
	assert_int_equal(w.got.n, 2);
	assert_int_equal(w.got.v[0].samples + w.got.v[1].samples, 15001);
	assert_int_equal(w.got.v[1].time_ns, w.got.v[0].time_ns + 1);
	reader_close(r);
	maker_fini(&m);
	push_close(p);
	vec_fini(&w.got);
}

static struct buf entry_of(const char *profile, int series)
{
	struct push_label l[] = { { "__name__", "x" }, { "a", "b" } };
	struct buf e = { 0 };

	entry_begin(&e, ENTRY_PPROF, 5, 6, 7);
	for (int i = 0; i < series; i++)
		entry_add_series(&e, l, 2, profile, strlen(profile));
	assert_false(e.failed);
	return e;
}

static void entries_are_read_and_halved(void **state)
{
	struct buf e = entry_of("abc", 3), half[2] = { { 0 }, { 0 } };
	struct entry got, part[2];
	struct error err;

	(void)state;
	assert_int_equal(entry_parse(e.p, e.n, &got, &err), 0);
	assert_int_equal(got.series.n, 3);
	assert_int_equal(got.from_ns, 5);
	assert_int_equal(got.samples, 7);
	assert_memory_equal(got.series.v[2].profile.p, "abc", 3);
	assert_false(entry_fits(&got, PUSH_INGEST));
	assert_true(entry_halves(&got, half, &err));
	for (int i = 0; i < 2; i++)
		assert_int_equal(entry_parse(half[i].p, half[i].n, &part[i],
					     &err), 0);
	assert_int_equal(part[0].series.n, 1);
	assert_int_equal(part[1].series.n, 2);
	assert_int_equal(part[0].samples + part[1].samples, 7);
	assert_memory_equal(part[0].series.v[0].id, got.series.v[0].id, 16);
	/* "abc" is no profile that could be divided */
	buf_reset(&half[0]);
	buf_reset(&half[1]);
	assert_false(entry_halves(&part[0], half, &err));
	for (size_t cut = 0; cut < e.n; cut++) {
		struct entry x;

		if (!entry_parse(e.p, cut, &x, &err))
			entry_fini(&x);
	}
	entry_fini(&part[0]);
	entry_fini(&part[1]);
	entry_fini(&got);
	buf_fini(&e);
	buf_fini(&half[0]);
	buf_fini(&half[1]);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_parsed),
		cmocka_unit_test(labels_are_checked),
		IN_FOLDER(spool_keeps_order_over_processes),
		IN_FOLDER(spool_drops_the_oldest_for_room),
		IN_FOLDER(spool_passes_over_damaged_files),
		cmocka_unit_test(samples_are_summed_by_window),
		IN_FOLDER(no_window_is_lost_in_an_hour),
		IN_FOLDER(full_spool_loses_the_oldest_and_says_so),
		cmocka_unit_test(without_a_spool_patience_ends),
		cmocka_unit_test(hanging_requests_end_patience),
		IN_FOLDER(retry_after_is_honoured),
		IN_FOLDER(long_delays_end_patience),
		IN_FOLDER(unfinished_recordings_are_not_sent),
		IN_FOLDER(small_spools_are_sent_first),
		IN_FOLDER(requests_for_another_protocol_are_removed),
		IN_FOLDER(refused_ones_do_not_stop_others),
		IN_FOLDER(poison_is_refused),
		IN_FOLDER(denied_ones_wait),
		IN_FOLDER(lost_answers_make_the_same_id),
		cmocka_unit_test(too_large_is_sent_in_halves),
		cmocka_unit_test(parts_have_their_own_times),
		cmocka_unit_test(entries_are_read_and_halved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
