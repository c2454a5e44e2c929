// SPDX-License-Identifier: GPL-2.0-or-later
/* Uploads debug information to Parca: see debuginfo.h. */
#include "push/debuginfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/proto_in.h"
#include "base/io.h"
#include "base/search.h"
#include "base/sha256.h"
#include "base/strtab.h"
#include "base/text.h"
#include "export/proto.h"
#include "push/grpc.h"
#include "symbolize/dwarf/debug_file.h"

#define SERVICE "/parca.debuginfo.v1alpha1.DebuginfoService/"

enum {
	WAITING_MAX = 4096,	/* most images that wait */
	KNOWN_MAX = 1 << 16,	/* most build IDs that are remembered */
	STRATEGY_GRPC = 1,	/* UploadInstructions.UploadStrategy */
};

struct waiting {
	uint32_t id;		/* build ID, in `known` */
	char *path;
};

struct debuginfo {
	struct debuginfo_options o;
	struct strtab known;	/* build IDs that wait or were handled, in hex */
	VEC(struct waiting) waiting;
	size_t next;		/* first element that still waits */
	bool off;		/* the server has no such service */
	struct debuginfo_counts counts;
};

struct debuginfo *debuginfo_open(const struct debuginfo_options *o)
{
	struct debuginfo *d = calloc(1, sizeof(*d));

	if (d && strtab_init(&d->known) < 0) {
		free(d);
		return NULL;
	}
	if (d)
		d->o = *o;
	return d;
}

static void forget_waiting(struct debuginfo *d)
{
	for (size_t i = 0; i < d->waiting.n; i++)
		free(d->waiting.v[i].path);
	d->waiting.n = d->next = 0;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	forget_waiting(d);
	vec_fini(&d->waiting);
	strtab_fini(&d->known);
	free(d);
}

struct debuginfo_counts debuginfo_count(const struct debuginfo *d)
{
	return d->counts;
}

struct candidate {
	uint32_t image;
	size_t locs;
};

static int more_locs(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return descending(x->locs, y->locs) ?: ascending(x->image, y->image);
}

static int add_image(struct debuginfo *d, const struct profile *p,
		     const struct prof_image *im)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";
	struct waiting w;

	text_hex(hex, im->build_id.bytes, im->build_id.len);
	if (strtab_find(&d->known, hex) != UINT32_MAX)
		return 0;
	w.id = strtab_add(&d->known, hex);
	w.path = strdup(profile_cstr(p, im->path));
	if (w.id == UINT32_MAX || !w.path || vec_push(&d->waiting, w) < 0) {
		free(w.path);
		return -ERR_NOMEM;
	}
	return 0;
}

int debuginfo_add(struct debuginfo *d, const struct profile *p)
{
	struct candidate *v = calloc(p->images.n + 1, sizeof(*v));
	int rc = v ? 0 : -ERR_NOMEM;
	size_t n = 0;

	if (d->next == d->waiting.n) {
		forget_waiting(d);
		/* Begin anew: old build IDs are asked for again. */
		if (d->known.str.n > KNOWN_MAX) {
			strtab_fini(&d->known);
			if (strtab_init(&d->known) < 0)
				rc = -ERR_NOMEM;
		}
	}
	for (size_t i = 0; !rc && i < p->locs.n; i++)
		if (p->locs.v[i].image < p->images.n)
			v[p->locs.v[i].image].locs++;
	for (size_t i = 0; !rc && !p->foreign && !d->off && i < p->images.n; i++)
		if (v[i].locs && prof_is_identified(&p->images.v[i]))
			v[n++] = (struct candidate){ (uint32_t)i, v[i].locs };
	sort_rows(v, n, more_locs);
	for (size_t i = 0; !rc && i < n && d->waiting.n < WAITING_MAX; i++)
		rc = add_image(d, p, &p->images.v[v[i].image]);
	free(v);
	return rc;
}

bool debuginfo_wanted(struct cursor c, bool *wanted)
{
	struct proto_field f;

	*wanted = false;
	while (proto_next(&c, &f))
		if (f.number == 1 && f.wire == PROTO_VARINT)
			*wanted = f.v != 0;
	return !c.bad;
}

bool debuginfo_read_plan(struct cursor c, struct debuginfo_plan *plan)
{
	struct proto_field f, g;

	*plan = (struct debuginfo_plan){ .id = cursor_of(NULL, 0) };
	while (proto_next(&c, &f)) {
		if (f.number != 1 || f.wire != PROTO_BYTES)
			continue;
		while (proto_next(&f.part, &g))
			if (g.number == 2 && g.wire == PROTO_BYTES)
				plan->id = g.part;
			else if (g.number == 3 && g.wire == PROTO_VARINT)
				plan->by_grpc = g.v == STRATEGY_GRPC;
		if (f.part.bad)
			return false;
	}
	return !c.bad;
}

/* Calls a method with one message.  *answer holds the result if *outcome is
 * PUSH_TAKEN; the caller releases its body. */
static int call(struct debuginfo *d, const char *method,
		const struct buf *message, struct http_answer *answer,
		struct push_verdict *v, struct error *err)
{
	struct buf framed = { 0 };
	struct http_request q = { .body = NULL };
	int rc;

	grpc_frame(&framed, false, message->p, message->n);
	if (message->failed || framed.failed) {
		buf_fini(&framed);
		return error_nomem(err);
	}
	q.body = framed.p;
	q.n = framed.n;
	rc = d->o.call(d->o.ctx, method, &q, answer, v, err);
	buf_fini(&framed);
	return rc;
}

/* The stream of an upload: one message at a time is made. */
struct stream {
	const struct image *file;
	struct span bytes;
	size_t at;		/* bytes of the file in messages so far */
	struct buf message;	/* current message … */
	size_t given;		/* … number of its bytes sent so far */
	struct buf scratch;
};

static void next_message(struct stream *s)
{
	size_t n = s->bytes.n - s->at;

	n = n < DEBUGINFO_CHUNK ? n : DEBUGINFO_CHUNK;
	buf_again(&s->scratch);
	proto_bytes(&s->scratch, 2, s->bytes.p + s->at, n);
	buf_again(&s->message);
	grpc_frame(&s->message, false, s->scratch.p, s->scratch.n);
	s->message.failed |= s->scratch.failed;
	image_release_span(s->file, s->bytes.p + s->at, n);
	s->at += n;
	s->given = 0;
}

/* Implements http_request.more. */
static size_t more(void *ctx, void *out, size_t room)
{
	struct stream *s = ctx;
	size_t n;

	if (s->given == s->message.n && s->at < s->bytes.n)
		next_message(s);
	if (s->message.failed)
		return HTTP_ABORT;
	n = s->message.n - s->given;
	n = n < room ? n : room;
	if (n)
		memcpy(out, s->message.p + s->given, n);
	s->given += n;
	return n;
}

static int send_file(struct debuginfo *d, const char *id,
		     const struct cursor *upload, const struct image *file,
		     struct push_verdict *v, struct error *err)
{
	struct stream s = { .file = file, .bytes = image_file_bytes(file) };
	struct http_request q = { .more = more, .ctx = &s };
	struct http_answer a = { .status = 0 };
	struct buf info = { 0 };
	int rc = 0;

	proto_str(&info, 1, id);
	proto_bytes(&info, 2, upload->p, cursor_left(upload));
	proto_part(&s.scratch, 1, &info);
	grpc_frame(&s.message, false, s.scratch.p, s.scratch.n);
	if (s.scratch.failed || s.message.failed)
		rc = error_nomem(err);
	else
		rc = d->o.call(d->o.ctx, SERVICE "Upload", &q, &a, v, err);
	if (!rc && s.message.failed)
		rc = error_nomem(err);
	buf_fini(&a.body);
	buf_fini(&info);
	buf_fini(&s.message);
	buf_fini(&s.scratch);
	return rc;
}

static void refuse(struct debuginfo *d, const struct waiting *w,
		   const char *text)
{
	struct buf what = { 0 };

	d->counts.refused++;
	buf_str(&what, "debug information of ");
	text_safe(&what, w->path);
	buf_str(&what, " is not uploaded");
	d->o.notice(d->o.ctx, buf_cstr(&what), text);
	buf_fini(&what);
}

/* Asks the server whether it wants a build ID. */
static int ask(struct debuginfo *d, const char *id, bool *wanted,
	       struct push_verdict *v, struct error *err)
{
	struct http_answer a = { .status = 0 };
	struct buf m = { 0 };
	int rc;

	proto_str(&m, 1, id);
	rc = call(d, SERVICE "ShouldInitiateUpload", &m, &a, v, err);
	*wanted = false;
	if (!rc && v->outcome == PUSH_TAKEN)
		debuginfo_wanted(answer_message(&a), wanted);
	buf_fini(&a.body);
	buf_fini(&m);
	return rc;
}

static int finish(struct debuginfo *d, const char *id,
		  const struct cursor *upload, struct push_verdict *v,
		  struct error *err)
{
	struct http_answer a = { .status = 0 };
	struct buf m = { 0 };
	int rc;

	proto_str(&m, 1, id);
	proto_bytes(&m, 2, upload->p, cursor_left(upload));
	rc = call(d, SERVICE "MarkUploadFinished", &m, &a, v, err);
	buf_fini(&a.body);
	buf_fini(&m);
	return rc;
}

static void hash_of(const struct image *file, char out[2 * SHA256_BYTES + 1])
{
	struct span bytes = image_file_bytes(file);
	uint8_t hash[SHA256_BYTES];

	sha256(bytes.p, bytes.n, hash);
	image_release(file);
	text_hex(out, hash, SHA256_BYTES);
}

/* Uploads a file that the server wants. */
static int upload(struct debuginfo *d, const struct waiting *w,
		  const struct image *file, struct push_verdict *v,
		  struct error *err)
{
	const char *id = strtab_get(&d->known, w->id);
	struct http_answer a = { .status = 0 };
	char hash[2 * SHA256_BYTES + 1];
	struct debuginfo_plan plan;
	struct buf m = { 0 };
	int rc;

	hash_of(file, hash);
	proto_str(&m, 1, id);
	proto_uint(&m, 2, image_file_bytes(file).n);
	proto_str(&m, 3, hash);
	rc = call(d, SERVICE "InitiateUpload", &m, &a, v, err);
	if (!rc && v->outcome == PUSH_TAKEN) {
		if (!debuginfo_read_plan(answer_message(&a), &plan) ||
		    !plan.by_grpc) {
			refuse(d, w, "the server wants it by other means than "
			       "gRPC");
		} else {
			rc = send_file(d, id, &plan.id, file, v, err);
			if (!rc && v->outcome == PUSH_TAKEN)
				rc = finish(d, id, &plan.id, v, err);
			if (!rc && v->outcome == PUSH_TAKEN) {
				d->counts.files++;
				d->counts.bytes += image_file_bytes(file).n;
			}
		}
	}
	buf_fini(&a.body);
	buf_fini(&m);
	return rc;
}

/* Opens what would be uploaded for an image; NULL if its file is not there. */
static struct image *open_file(const struct debuginfo *d,
			       const struct waiting *w)
{
	int fd = io_open_file(w->path, NULL);
	char hex[2 * BUILD_ID_MAX + 1] = "";
	struct image *img = NULL, *debug;
	struct build_id got;
	struct error ignored;

	if (fd < 0)
		return NULL;
	if (image_open_fd(fd, w->path, &img, &ignored) < 0)
		img = NULL;
	close(fd);
	if (!img)
		return NULL;
	got = image_build_id(img);
	text_hex(hex, got.bytes, got.len);
	if (strcmp(hex, strtab_get(&d->known, w->id))) {
		image_close(img);
		return NULL;
	}
	debug = symbolize_debug_file(img, d->o.debug_dirs);
	if (!debug)
		return img;
	image_close(img);
	return debug;
}

static int handle(struct debuginfo *d, const struct waiting *w,
		  struct push_verdict *v, struct error *err)
{
	struct image *file = open_file(d, w);
	bool wanted = false;
	int rc = 0;

	*v = (struct push_verdict){ .outcome = PUSH_TAKEN };
	if (file && image_file_bytes(file).n > DEBUGINFO_FILE_MAX)
		refuse(d, w, "it is larger than 256 MB");
	else if (file)
		rc = ask(d, strtab_get(&d->known, w->id), &wanted, v, err);
	if (!rc && wanted)
		rc = upload(d, w, file, v, err);
	image_close(file);
	return rc;
}

int debuginfo_next(struct debuginfo *d, struct error *err)
{
	const struct waiting *w;
	struct push_verdict v;
	int rc;

	if (d->off || d->next == d->waiting.n)
		return 0;
	w = &d->waiting.v[d->next];
	rc = handle(d, w, &v, err);
	if (rc < 0)
		return rc;
	if (v.outcome == PUSH_LATER)
		return 0;
	if (v.outcome == PUSH_DENIED) {
		d->off = true;
		d->o.notice(d->o.ctx, "no debug information is uploaded", v.text);
		return 0;
	}
	if (v.outcome != PUSH_TAKEN)
		refuse(d, w, v.text);
	d->next++;
	return d->next < d->waiting.n;
}
