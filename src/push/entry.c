// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes, reads and divides payloads: see entry.h. */
#include "push/entry.h"

#include <string.h>

#include "base/gzip.h"
#include "base/sha256.h"
#include "export/proto.h"
#include "push/divide.h"

enum {				/* field numbers */
	KIND = 1, SERIES, OTLP, FROM, UNTIL, SAMPLES, SOURCE,
	S_LABELS = 1, S_PROFILE, S_ID,
	UNPACKED_MAX = 64 << 20,
};

void entry_begin(struct buf *e, enum entry_kind kind, uint64_t from_ns,
		 uint64_t until_ns, uint64_t samples)
{
	proto_uint(e, KIND, kind);
	proto_uint(e, FROM, from_ns);
	proto_uint(e, UNTIL, until_ns);
	proto_uint(e, SAMPLES, samples);
}

void entry_set_source(struct buf *e, const char *source)
{
	proto_str(e, SOURCE, source);
}

void entry_count(struct buf *e, uint64_t samples)
{
	proto_uint(e, SAMPLES, samples);
}

static void put_series(struct buf *e, const void *labels, size_t nlabels,
		       const void *profile, size_t bytes)
{
	struct buf s = { 0 }, id = { 0 };
	uint8_t hash[SHA256_BYTES];

	buf_bytes(&id, labels, nlabels);
	buf_bytes(&id, profile, bytes);
	sha256(id.p ? (const void *)id.p : "", id.n, hash);
	buf_bytes(&s, labels, nlabels);
	proto_bytes(&s, S_PROFILE, profile, bytes);
	proto_bytes(&s, S_ID, hash, ENTRY_ID_BYTES);
	s.failed |= id.failed;
	proto_part(e, SERIES, &s);
	buf_fini(&s);
	buf_fini(&id);
}

void entry_add_series(struct buf *e, const struct push_label *labels, size_t n,
		      const void *profile, size_t bytes)
{
	struct buf all = { 0 }, one = { 0 };

	for (size_t i = 0; i < n; i++) {
		proto_str(&one, 1, labels[i].name);
		proto_str(&one, 2, labels[i].value);
		proto_part(&all, S_LABELS, &one);
	}
	put_series(e, all.p, all.n, profile, bytes);
	buf_close(&all, e);
	buf_close(&one, e);
}

int entry_set_otlp(struct buf *e, const void *request, size_t n,
		   struct error *err)
{
	struct buf packed = { 0 };
	int rc = gzip_pack(&packed, request, n, GZIP_FAST, err);

	if (!rc)
		proto_bytes(e, OTLP, packed.p, packed.n);
	buf_fini(&packed);
	return rc;
}

static bool parse_series(struct cursor c, struct entry_series *s)
{
	struct proto_field f;
	const uint8_t *start = c.p;
	size_t labels = 0;
	bool has_profile = false;

	*s = (struct entry_series){ .labels = cursor_of(start, 0) };
	while (proto_next(&c, &f)) {
		if (f.wire != PROTO_BYTES)
			return false;
		switch (f.number) {
		case S_LABELS:
			/* Labels must come first, so that they are contiguous. */
			if (has_profile || ++labels > ENTRY_LABELS_MAX)
				return false;
			s->labels = cursor_of(start, (size_t)(f.end - start));
			break;
		case S_PROFILE:
			s->profile = f.part;
			has_profile = true;
			break;
		case S_ID:
			if (cursor_left(&f.part) != ENTRY_ID_BYTES)
				return false;
			memcpy(s->id, f.part.p, ENTRY_ID_BYTES);
			break;
		default:
			return false;
		}
	}
	return !c.bad && has_profile;
}

static bool parse_field(struct entry *e, const struct proto_field *f,
			bool *nomem)
{
	struct entry_series s;

	switch (f->number) {
	case KIND:
		e->kind = (enum entry_kind)f->v;
		return f->wire == PROTO_VARINT &&
		       (f->v == ENTRY_PPROF || f->v == ENTRY_OTLP);
	case FROM:
		e->from_ns = f->v;
		return f->wire == PROTO_VARINT;
	case UNTIL:
		e->until_ns = f->v;
		return f->wire == PROTO_VARINT;
	case SAMPLES:
		e->samples += f->v;
		return f->wire == PROTO_VARINT;
	case SOURCE:
		e->source = f->part;
		return f->wire == PROTO_BYTES;
	case OTLP:
		e->otlp = f->part;
		return f->wire == PROTO_BYTES;
	case SERIES:
		if (f->wire != PROTO_BYTES || !parse_series(f->part, &s) ||
		    e->series.n >= ENTRY_SERIES_MAX)
			return false;
		*nomem |= vec_push(&e->series, s) < 0;
		return true;
	default:
		return true;	/* a field of a later version */
	}
}

int entry_parse(const void *p, size_t n, struct entry *out, struct error *err)
{
	struct cursor c = cursor_of(p, n);
	struct proto_field f;
	bool good = true, nomem = false;

	*out = (struct entry){ .otlp = cursor_of(NULL, 0),
				.source = cursor_of(NULL, 0) };
	while (good && !nomem && proto_next(&c, &f))
		good = parse_field(out, &f, &nomem);
	if (nomem) {
		entry_fini(out);
		return error_nomem(err);
	}
	good = good && !c.bad && out->kind &&
	       (out->kind == ENTRY_OTLP ? cursor_left(&out->otlp) > 0
					: out->series.n > 0);
	if (!good)
		entry_fini(out);
	return good ? 0 : error_set(err, ERR_FORMAT, "is not a request "
				    "written by tally");
}

void entry_fini(struct entry *e)
{
	vec_fini(&e->series);
}

/* Divides a packed message into two packed messages with half of the samples each.
 * Returns false if it has one sample or cannot be divided. */
static bool halve_message(const struct cursor *packed, bool otlp,
			  struct buf half[2], struct error *err)
{
	struct buf raw = { 0 }, part = { 0 };
	bool good = !gzip_unpack(&raw, packed->p, cursor_left(packed),
				 UNPACKED_MAX, err);
	size_t n = good ? divide_samples(raw.p, raw.n, otlp) : 0;

	good = n > 1;
	for (int i = 0; good && i < 2; i++) {
		buf_again(&part);
		good = divide_part(raw.p, raw.n, otlp, i ? n / 2 : 0,
				   i ? n : n / 2, &part) &&
		       !gzip_pack(&half[i], part.p, part.n, GZIP_FAST, err);
	}
	buf_fini(&raw);
	buf_fini(&part);
	return good;
}

static void copy_series(struct buf *out, const struct entry_series *s)
{
	put_series(out, s->labels.p, cursor_left(&s->labels), s->profile.p,
		   cursor_left(&s->profile));
}

/* The number of recorded samples is divided evenly, because the share of each half
 * is unknown. */
static void begin_halves(const struct entry *e, struct buf half[2])
{
	for (int i = 0; i < 2; i++)
		entry_begin(&half[i], e->kind, e->from_ns, e->until_ns,
			    i ? e->samples / 2 : e->samples - e->samples / 2);
}

bool entry_halves(const struct entry *e, struct buf half[2],
		  struct error *err)
{
	struct buf packed[2] = { { 0 }, { 0 } };
	bool good = true, otlp = e->kind == ENTRY_OTLP;

	if (otlp || e->series.n == 1)
		good = halve_message(otlp ? &e->otlp : &e->series.v[0].profile,
				     otlp, packed, err);
	if (good)
		begin_halves(e, half);
	for (size_t i = 0; good && !otlp && e->series.n > 1 && i < e->series.n;
	     i++)
		copy_series(&half[i >= e->series.n / 2], &e->series.v[i]);
	for (int i = 0; good && i < 2; i++) {
		if (otlp)
			proto_bytes(&half[i], OTLP, packed[i].p, packed[i].n);
		else if (e->series.n == 1)
			put_series(&half[i], e->series.v[0].labels.p,
				   cursor_left(&e->series.v[0].labels),
				   packed[i].p, packed[i].n);
		good = !half[i].failed;
	}
	buf_fini(&packed[0]);
	buf_fini(&packed[1]);
	return good;
}
