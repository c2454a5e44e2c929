// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts recordings to requests, and sends them to a server or a spool: see
 * push.h. */
#include "push/push.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "export/export.h"
#include "push/answer.h"
#include "push/debuginfo.h"
#include "push/entry.h"
#include "push/labels.h"
#include "push/spool.h"

enum {
	/* Default limits of servers, with a margin.  Pyroscope: 16,000 samples, 4
	 * MiB unpacked, 1,000 locations per stack (it would cut the innermost
	 * ones). gRPC: messages of 4 MiB. */
	SAMPLES_MAX = 15000,
	SAMPLES_OTLP_MAX = 50000,
	PROFILE_MAX = 7 << 19,
	DEPTH_MAX = 950,
	REQUEST_BYTES = 1 << 20,	/* size of a request of several series */
	HALVES_MAX = 16,		/* most times that a request is halved */
	BACKOFF_FIRST_S = 1,
	BACKOFF_MAX_S = 60,
	FAULTS_MAX = 6,		/* errors of the server until it is suspected that the
				 * request causes them */
	ROUND_S = 2,		/* longest round of push_step, in which a request
				 * may begin */
	UPLOAD_AGAIN_S = 60,	/* delay of uploads if the server is away */
	HEADERS_MAX = 10,
};

struct push {
	struct push_options o;
	struct push_url url;
	struct push_world world;
	struct http *http;
	struct spool *spool;
	struct debuginfo *debuginfo;	/* NULL: none is uploaded */
	uint64_t upload_ns;		/* time of the next upload, monotonic */
	struct push_counts counts;
	struct services services;	/* services of the current recording */
	const struct profile *profile;
	struct buf entry;		/* entry to which series are added */
	uint64_t entry_from;
	struct buf oldest;
	unsigned int failures;		/* consecutive failures */
	uint64_t away_since, next_ns;	/* monotonic; 0: the server is not away */
	uint64_t posted_ns;		/* start of the last request, monotonic */
	bool denied, asked;		/* `asked`: next_ns is what the server
					 * asked for */
	unsigned int faults;	/* consecutive errors of the server at the oldest
				 * request in the spool */
	bool others_pass;	/* it took the next one after FAULTS_MAX of these */
	uint64_t unstored;		/* requests for which the spool had no
					 * room, and that were not sent */
	const char *source;		/* name of the recording whose requests are
					 * held, or NULL */
	char last_problem[512];			/* the last problem that was reported */
};

static uint64_t real_now(void *ctx)
{
	(void)ctx;
	return clock_now();
}

static uint64_t real_wall(void *ctx)
{
	(void)ctx;
	return clock_read(CLOCK_REALTIME);
}

static void real_sleep(void *ctx, uint64_t ns)
{
	struct timespec t = { (time_t)(ns / SECOND), (long)(ns % SECOND) };

	(void)ctx;
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static uint64_t real_random(void *ctx)
{
	uint64_t v = 0;

	(void)ctx;
	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = real_now(NULL);
	return v;
}

static uint64_t now(const struct push *p)
{
	return p->world.now_ns(p->world.ctx);
}

static void notice(const struct push *p, const char *text)
{
	if (p->o.notice)
		p->o.notice(p->o.ctx, text);
}

static debuginfo_call_fn call_debuginfo;
static void report_problem(void *push, const char *what, const char *text);

int push_check(const struct push_options *o, struct error *err)
{
	struct http *http = NULL;
	struct push_url url;
	int rc = push_url_parse(o->url, &url, err) ?: http_open(&o->http, &http, err);

	http_close(http);
	push_url_fini(&url);
	return rc;
}

int push_open(const struct push_options *o, struct push **out,
	      struct error *err)
{
	struct push *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return error_nomem(err);
	p->o = *o;
	rc = push_url_parse(o->url, &p->url, err);
	if (!rc && o->world) {
		p->world = *o->world;
	} else if (!rc) {
		p->world = (struct push_world){
			.now_ns = real_now, .wall_ns = real_wall,
			.sleep_ns = real_sleep, .random = real_random,
			.post = http_post };
		rc = http_open(&o->http, &p->http, err);
		p->world.ctx = p->http;
	}
	if (!rc && o->server_names && p->url.protocol == PUSH_PARCA_GRPC) {
		p->debuginfo = debuginfo_open(&(struct debuginfo_options){
			.debug_dirs = o->debug_dirs, .call = call_debuginfo,
			.notice = report_problem, .ctx = p });
		if (!p->debuginfo)
			rc = error_nomem(err);
	}
	if (!rc && o->spool)
		rc = spool_open(o->spool, o->spool_bytes, &p->spool, err);
	if (!rc && o->authorization && !p->url.tls && !p->url.local)
		notice(p, "the token is sent without TLS: every machine on "
		       "the network path can read it");
	if (rc)
		push_close(p);
	else
		*out = p;
	return rc;
}

void push_close(struct push *p)
{
	if (!p)
		return;
	push_url_fini(&p->url);
	http_close(p->http);
	debuginfo_close(p->debuginfo);
	spool_close(p->spool);
	services_fini(&p->services);
	buf_fini(&p->entry);
	buf_fini(&p->oldest);
	free(p);
}

const struct push_counts *push_get_counts(const struct push *p)
{
	return &p->counts;
}

static void count_spool(struct push *p)
{
	struct spool_counts c;

	if (!p->spool)
		return;
	c = spool_count(p->spool);
	p->counts.dropped = c.dropped + p->unstored;
	p->counts.damaged = c.damaged;
	p->counts.waiting = c.files;
	p->counts.waiting_bytes = c.bytes;
}

/* Reports each problem once, until another one occurs or a request succeeds. */
static void report_problem(void *push, const char *what, const char *text)
{
	struct push *p = push;
	char line[1200];

	snprintf(p->counts.problem, sizeof(p->counts.problem), "%s", text);
	snprintf(line, sizeof(line), "%s: %s", what, p->counts.problem);
	if (!strcmp(p->last_problem, p->counts.problem))
		return;
	snprintf(p->last_problem, sizeof(p->last_problem), "%s", p->counts.problem);
	notice(p, line);
}

static void back_off(struct push *p, const struct push_verdict *v)
{
	unsigned int shift = p->failures < 6 ? p->failures : 6;
	uint64_t wait = (uint64_t)BACKOFF_FIRST_S << shift;
	uint64_t t = now(p), jitter;

	if (wait > BACKOFF_MAX_S)
		wait = BACKOFF_MAX_S;
	wait *= SECOND;
	jitter = p->world.random(p->world.ctx) % (wait / 2);
	wait = wait / 2 + jitter;
	/* Spread requests to which the server gave the same delay. */
	if (v->wait_ns)
		wait = v->wait_ns + jitter / 8;
	p->failures++;
	p->counts.tries++;
	/* The time that a request hung counts, too. */
	if (!p->away_since)
		p->away_since = p->posted_ns;
	p->next_ns = t + wait;
	p->asked = v->wait_ns;
	p->denied = v->outcome == PUSH_DENIED;
}

static void note_success(struct push *p)
{
	p->failures = 0;
	p->away_since = p->next_ns = 0;
	p->denied = p->asked = false;
}

/* Sends `request`, which has a body, with the path and headers of *q.  The caller
 * releases the answer's body. */
static int post(struct push *p, const struct entry_request *q,
		struct http_request *request, struct http_answer *answer,
		struct push_verdict *v, struct error *err)
{
	const char *headers[HEADERS_MAX + 1];
	struct buf url = { 0 }, type = { 0 }, tenant = { 0 }, token = { 0 };
	size_t n = 0;
	int rc;

	p->posted_ns = now(p);
	request->headers = headers;
	request->http2 = push_is_grpc(p->url.protocol);
	buf_printf(&url, "%s%s", p->url.base, (const char *)q->path.p);
	buf_printf(&type, "Content-Type: %s", q->content_type);
	headers[n++] = buf_cstr(&type);
	if (q->encoding)
		headers[n++] = "Content-Encoding: gzip";
	if (q->connect)
		headers[n++] = "Connect-Protocol-Version: 1";
	if (request->http2)
		headers[n++] = "TE: trailers";
	if (q->grpc_gzip)
		headers[n++] = "grpc-encoding: gzip";
	if (p->o.tenant) {
		buf_printf(&tenant, "X-Scope-OrgID: %s", p->o.tenant);
		headers[n++] = buf_cstr(&tenant);
	}
	if (p->o.authorization) {
		buf_printf(&token, "Authorization: %s", p->o.authorization);
		headers[n++] = buf_cstr(&token);
	}
	headers[n] = NULL;
	request->url = buf_cstr(&url);
	if (url.failed || type.failed || tenant.failed || token.failed)
		rc = error_nomem(err);
	else
		rc = p->world.post(p->world.ctx, request, answer, err);
	if (!rc)
		push_judge(p->url.protocol, answer, p->o.authorization,
			   (int64_t)(p->world.wall_ns(p->world.ctx) / SECOND),
			   v);
	buf_fini(&url);
	buf_fini(&type);
	buf_fini(&tenant);
	buf_fini(&token);
	return rc;
}

/* Calls a method for debuginfo.c. */
static int call_debuginfo(void *ctx, const char *path, struct http_request *q,
			  struct http_answer *a, struct push_verdict *v,
			  struct error *err)
{
	struct entry_request head = { .content_type = "application/grpc" };
	int rc = 0;

	buf_str(&head.path, path);
	buf_cstr(&head.path);
	if (head.path.failed)
		rc = error_nomem(err);
	else
		rc = post(ctx, &head, q, a, v, err);
	entry_request_fini(&head);
	return rc;
}

static int send_entry(struct push *p, const void *bytes, size_t n, int depth,
		      enum push_outcome *outcome, struct error *err);

/* Sends the entry as two halves.  Returns 1 if it was halved, even if a half was
 * not sent, and 0 if it cannot be halved. */
static int send_halves(struct push *p, const struct entry *e, int depth,
		       enum push_outcome *outcome, struct error *err)
{
	struct buf half[2] = { { 0 }, { 0 } };
	struct error ignored;
	int rc = 0, divided = depth < HALVES_MAX &&
			      entry_halves(e, half, &ignored);

	*outcome = PUSH_TAKEN;
	for (int i = 0; divided && !rc && i < 2 &&
			*outcome != PUSH_LATER && *outcome != PUSH_DENIED; i++)
		rc = send_entry(p, half[i].p, half[i].n, depth + 1, outcome,
				err);
	buf_fini(&half[0]);
	buf_fini(&half[1]);
	return rc < 0 ? rc : divided;
}

static void refuse(struct push *p, const char *text)
{
	p->counts.refused++;
	report_problem(p, "refused by the server", text);
}

static int judge(struct push *p, const struct entry *e, size_t bytes, int depth,
		 const struct push_verdict *v, enum push_outcome *outcome,
		 struct error *err)
{
	int rc;

	*outcome = v->outcome;
	switch (v->outcome) {
	case PUSH_TAKEN:
		note_success(p);
		p->counts.sent++;
		p->counts.sent_bytes += bytes;
		p->counts.samples += e->samples;
		p->counts.rejected += v->rejected;
		if (*v->text)
			report_problem(p, "sent", v->text);
		else
			p->counts.problem[0] = p->last_problem[0] = 0;
		return 0;
	case PUSH_TOO_LARGE:
		note_success(p);
		rc = send_halves(p, e, depth, outcome, err);
		if (!rc) {
			refuse(p, v->text);
			*outcome = PUSH_REFUSED;
		}
		return rc < 0 ? rc : 0;
	case PUSH_REFUSED:
		note_success(p);
		refuse(p, v->text);
		return 0;
	case PUSH_LATER:
	case PUSH_DENIED:
		if (v->fault && p->others_pass) {
			note_success(p);
			refuse(p, v->text);
			*outcome = PUSH_REFUSED;
			return 0;
		}
		p->faults = v->fault ? p->faults + 1 : 0;
		back_off(p, v);
		report_problem(p, v->outcome == PUSH_DENIED ? "not sent"
							  : "not sent yet",
			       v->text);
		return 0;
	}
	return 0;
}

/* Makes one attempt.  If *outcome is PUSH_LATER or PUSH_DENIED, the entry must be
 * sent again. */
static int send_entry(struct push *p, const void *bytes, size_t n, int depth,
		      enum push_outcome *outcome, struct error *err)
{
	struct entry e;
	struct entry_request q = { .path = { 0 } };
	struct http_request request = { .url = NULL };
	struct http_answer answer = { .status = 0 };
	struct push_verdict v;
	int rc = entry_parse(bytes, n, &e, err);

	if (rc == -ERR_FORMAT) {	/* written to the spool by a later version */
		refuse(p, "a request in the spool has an unknown format");
		*outcome = PUSH_REFUSED;
		return 0;
	}
	if (rc)
		return rc;
	if (!entry_fits(&e, p->url.protocol)) {
		rc = send_halves(p, &e, depth, outcome, err);
		entry_fini(&e);
		return rc < 0 ? rc : 0;
	}
	rc = entry_request(&e, p->url.protocol, p->o.tenant, &q, err);
	request.body = q.body.p;
	request.n = q.body.n;
	if (!rc)
		rc = post(p, &q, &request, &answer, &v, err) ?:
		     judge(p, &e, q.body.n, depth, &v, outcome, err);
	buf_fini(&answer.body);
	entry_request_fini(&q);
	entry_fini(&e);
	return rc;
}

/* Returns whether to give up, also if the server asked for a longer delay. */
static bool retry_expired(const struct push *p)
{
	uint64_t end = p->away_since + p->o.patience_ns;

	return p->denied || (p->away_since && (now(p) >= end ||
					       (p->asked && p->next_ns > end)));
}

static void wait_next(const struct push *p)
{
	uint64_t t = now(p);

	if (p->next_ns > t)
		p->world.sleep_ns(p->world.ctx, p->next_ns - t);
}

/* Sends an entry without a spool: repeats until the server has accepted it. */
static int deliver(struct push *p, const struct buf *e, struct error *err)
{
	enum push_outcome outcome = PUSH_LATER;
	int rc = 0;

	for (;;) {
		wait_next(p);
		rc = send_entry(p, e->p, e->n, 0, &outcome, err);
		if (rc || (outcome != PUSH_LATER && outcome != PUSH_DENIED))
			return rc;
		if (retry_expired(p))
			return error_set(err, p->denied ? ERR_PERM : ERR_IO,
					 "%s: %s", p->url.base,
					 p->counts.problem);
	}
}

/* Sends the oldest request in the spool or, if the server fails at it again and
 * again, the next one.  If that passes, the oldest one is refused when the server
 * fails once more; if not, the server is out of order and nothing is lost.  Returns 1
 * to go on, and 0 to wait. */
static int send_oldest(struct push *p, struct error *err)
{
	enum push_outcome outcome = PUSH_TAKEN;
	size_t skip = p->faults >= FAULTS_MAX && !p->others_pass &&
		      spool_count(p->spool).files > 1;
	int rc = spool_oldest(p->spool, skip, &p->oldest, err);

	if (rc <= 0)
		return rc;
	rc = send_entry(p, p->oldest.p, p->oldest.n, 0, &outcome, err);
	if (rc < 0)
		return rc;
	if (outcome == PUSH_LATER || outcome == PUSH_DENIED) {
		if (skip)
			p->faults = 0;
		return 0;
	}
	p->others_pass = skip && outcome == PUSH_TAKEN;
	p->faults = 0;
	rc = spool_remove(p->spool, skip, err);
	return rc < 0 ? rc : 1;
}

int push_step(struct push *p, uint64_t *next_ns, struct error *err)
{
	uint64_t end = now(p) + ROUND_S * SECOND;
	int rc = p->spool ? 1 : 0;

	*next_ns = UINT64_MAX;
	while (rc > 0 && now(p) >= p->next_ns && now(p) < end)
		rc = send_oldest(p, err);
	count_spool(p);
	if (p->counts.waiting)
		*next_ns = p->next_ns;
	return rc < 0 ? rc : 0;
}

int push_drain(struct push *p, struct error *err)
{
	uint64_t next;
	int rc = push_step(p, &next, err);

	while (!rc && next != UINT64_MAX && !retry_expired(p)) {
		wait_next(p);
		rc = push_step(p, &next, err);
	}
	return rc;
}

/* Sends an entry for which the spool has no room, in one attempt. */
static int send_unstored(struct push *p, const char *why, struct error *err)
{
	enum push_outcome outcome = PUSH_LATER;
	int rc = 0;

	if (now(p) >= p->next_ns)
		rc = send_entry(p, p->entry.p, p->entry.n, 0, &outcome, err);
	if (!rc && (outcome == PUSH_LATER || outcome == PUSH_DENIED)) {
		p->unstored++;
		report_problem(p, "dropped", why);
	}
	return rc;
}

/* Adds the entry to the spool.  If there is no room, what is in the spool is sent
 * first, and removed only if that fails. */
static int store_entry(struct push *p, struct error *err)
{
	struct error full;
	uint64_t next;
	int rc = spool_add(p->spool, p->entry.p, p->entry.n, false, &full);

	if (rc && rc != -ERR_NOMEM) {
		rc = push_step(p, &next, err);
		if (rc)
			return rc;
		rc = spool_add(p->spool, p->entry.p, p->entry.n, true, &full);
		if (rc && rc != -ERR_NOMEM)
			return send_unstored(p, full.msg, err);
	}
	return rc ? error_nomem(err) : 0;
}

/* Sends the entry or adds it to the spool. */
static int finish_entry(struct push *p, struct error *err)
{
	uint64_t next;
	int rc;

	if (!p->entry.n)
		return 0;
	if (p->source)
		entry_set_source(&p->entry, p->source);
	if (p->entry.failed)
		return error_nomem(err);
	if (p->spool) {
		rc = store_entry(p, err);
		if (!rc && !p->source)
			rc = push_step(p, &next, err);
	} else {
		rc = deliver(p, &p->entry, err);
	}
	buf_reset(&p->entry);
	return rc;
}

void push_hold(struct push *p, const char *source)
{
	p->source = p->spool ? source : NULL;
}

int push_release(struct push *p, struct error *err)
{
	uint64_t next;

	p->source = NULL;
	return push_step(p, &next, err);
}

struct resume {
	struct push *p;
	bool (*unfinished)(void *ctx, const char *source);
	void *ctx;
};

static bool is_left_over(void *ctx, const void *bytes, size_t n)
{
	const struct resume *r = ctx;
	struct push *p = r->p;
	struct buf source = { 0 };
	struct entry e;
	struct error ignored;
	bool unwanted = false;

	if (entry_parse(bytes, n, &e, &ignored))
		return false;	/* push_step reports it */
	if ((e.kind == ENTRY_OTLP) != push_is_otlp(p->url.protocol)) {
		refuse(p, "a request in the spool is for another protocol");
		unwanted = true;
	} else if (cursor_left(&e.source)) {
		buf_bytes(&source, e.source.p, cursor_left(&e.source));
		unwanted = r->unfinished(r->ctx, buf_cstr(&source));
	}
	buf_fini(&source);
	entry_fini(&e);
	return unwanted;
}

int push_resume(struct push *p, bool (*unfinished)(void *ctx, const char *source),
		void *ctx, struct error *err)
{
	struct resume r = { p, unfinished, ctx };
	int rc = p->spool ? spool_discard(p->spool, is_left_over, &r, err) : 0;

	count_spool(p);
	return rc;
}

static int add_profile(struct push *p, const struct export_part *part,
		       const struct buf *bytes, struct error *err)
{
	const struct export_group *g = &p->services.groups[part->group];
	struct push_label labels[LABELS_MAX + 4];
	struct buf metric = { 0 };
	size_t n = 0;
	int rc = 0;

	if (p->entry.n && (p->url.protocol == PUSH_INGEST ||
			   p->entry_from != part->wall_ns ||
			   p->entry.n + bytes->n > REQUEST_BYTES))
		rc = finish_entry(p, err);
	if (rc)
		return rc;
	label_metric(p->profile, part->event, &metric);
	/* sorted: __name__ precedes all names that users may give */
	labels[n++] = (struct push_label){ "__name__", buf_cstr(&metric) };
	for (size_t i = 0; i < g->n && n < COUNT(labels); i++)
		labels[n++] = (struct push_label){ g->labels[i].name,
						   g->labels[i].value };
	if (!p->entry.n) {
		p->entry_from = part->wall_ns;
		entry_begin(&p->entry, ENTRY_PPROF, part->wall_ns,
			    part->wall_ns + part->duration_ns, 0);
	}
	entry_count(&p->entry, part->count);
	entry_add_series(&p->entry, labels, n, bytes->p, bytes->n);
	buf_close(&metric, &p->entry);
	return 0;
}

static int add_otlp(struct push *p, const struct export_part *part,
		    const struct buf *bytes, struct error *err)
{
	entry_begin(&p->entry, ENTRY_OTLP, part->wall_ns,
		    part->wall_ns + part->duration_ns, part->count);
	return entry_set_otlp(&p->entry, bytes->p, bytes->n, err) ?:
	       finish_entry(p, err);
}

static int take_part(void *ctx, const struct export_part *part,
		     const struct buf *bytes, struct error *err)
{
	struct push *p = ctx;

	return push_is_otlp(p->url.protocol) ? add_otlp(p, part, bytes, err)
					     : add_profile(p, part, bytes, err);
}

int push_recording(struct push *p, struct reader *r,
		   const struct select_spec *select, struct error *err)
{
	bool otlp = push_is_otlp(p->url.protocol);
	struct export_spec spec = { .select = *select, .depth = DEPTH_MAX,
				    .addresses = p->o.server_names,
				    .version = p->o.version };
	struct export_division division = {
		.window_ns = p->o.window_ns, .together = otlp,
		.max_samples = otlp ? SAMPLES_OTLP_MAX : SAMPLES_MAX,
		.max_bytes = PROFILE_MAX };
	const struct export_format *format;
	int rc = export_format_find(otlp ? "otlp" : "pprof", &format, err);

	p->profile = reader_profile(r);
	services_fini(&p->services);
	if (!rc)
		rc = services_init(&p->services, p->profile, p->o.labels,
				   p->o.nlabels, otlp, err);
	if (rc)
		return rc;
	division.group_of = p->services.group_of;
	division.groups = p->services.groups;
	division.ngroups = p->services.ngroups;
	rc = export_divide(r, format, &spec, &division, take_part, p, err) ?:
	     finish_entry(p, err);
	if (!rc && p->debuginfo && debuginfo_add(p->debuginfo, p->profile) < 0)
		rc = error_nomem(err);
	buf_reset(&p->entry);
	count_spool(p);
	return rc;
}

int push_debuginfo(struct push *p, struct error *err)
{
	struct debuginfo_counts c;
	int rc;

	if (!p->debuginfo || p->away_since || p->denied ||
	    now(p) < p->upload_ns)
		return 0;
	rc = debuginfo_next(p->debuginfo, err);
	if (!rc)
		p->upload_ns = now(p) + UPLOAD_AGAIN_S * SECOND;
	c = debuginfo_count(p->debuginfo);
	p->counts.debug_files = c.files;
	p->counts.debug_bytes = c.bytes;
	return rc;
}
