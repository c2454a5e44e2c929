// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes the store of a history, one file for each batch: see history.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/text.h"
#include "history/detail.h"
#include "symbolize/demangle/demangle.h"

#define HEX "0123456789abcdef"

enum {
	PACKED_MAX = 16 << 20,	/* bytes of a file */
	TEXT_MAX = 64 << 20,
	NAME_LENGTH = 2 * SHA256_BYTES - 2,
	BATCHES_MAX = 1 << 20,
};

int history_init(struct history *h, struct error *err)
{
	*h = (struct history){ .damaged = 0 };
	return strtab_init(&h->str) < 0 ? error_nomem(err) : 0;
}

void history_fini(struct history *h)
{
	strtab_fini(&h->str);
	vec_fini(&h->funcs);
	idtab_fini(&h->func_tab);
	vec_fini(&h->batches);
	vec_fini(&h->costs);
	vec_fini(&h->counts);
	vec_fini(&h->ended);
	vec_fini(&h->details);
	vec_fini(&h->parts);
	vec_fini(&h->hashes);
	vec_fini(&h->recordings);
}

void history_name(const struct history *h, uint32_t func, struct buf *out)
{
	const struct history_func *f = &h->funcs.v[func];
	const char *image = history_str(h, f->image);

	if (f->name)
		demangle(history_str(h, f->name), out);
	else if (f->image)
		buf_printf(out, "[no name in %s]", image);
	else
		buf_str(out, "[small functions]");
	if (f->which)
		buf_printf(out, " (%s)", history_str(h, f->which));
}

static bool func_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct history *h = ctx;
	const struct history_func *a = &h->funcs.v[id], *b = key;

	return a->image == b->image && a->name == b->name &&
	       a->which == b->which && a->kernel == b->kernel;
}

uint32_t history_func(struct history *h, const struct history_func *f)
{
	uint64_t hash = hash_mix(hash_mix(f->image, f->name),
				 (uint64_t)f->which << 1 | f->kernel);

	return idtab_row(&h->func_tab, &h->funcs, hash, func_eq, h, f);
}

/* Writes a field.  Tabs, line ends and other control characters in names would
 * break the format.  Each is written as a backslash and two hexadecimal digits. */
static void put_field(struct buf *out, const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '\\' || *s == 127)
			buf_printf(out, "\\%02x", (unsigned char)*s);
		else
			buf_u8(out, (uint8_t)*s);
}

static void put_fact(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "%s\t", key);
	put_field(out, value);
	buf_u8(out, '\n');
}

static void put_func(const struct history *h, const struct batch *b,
		     const struct history_cost *c, struct buf *out)
{
	const struct history_func *f = &h->funcs.v[c->func];
	const double *x = h->counts.v + c->counts;

	buf_u8(out, f->kernel ? 'k' : 'f');
	for (uint32_t r = 0; r < b->runs; r++)
		buf_printf(out, "%c%.10g", r ? ' ' : '\t',
			   (double)(int64_t)(x[r] * 10 + 0.5) / 10);
	buf_u8(out, '\t');
	put_field(out, history_str(h, f->image));
	buf_u8(out, '\t');
	put_field(out, history_str(h, f->name));
	buf_u8(out, '\t');
	put_field(out, history_str(h, f->which));
	buf_u8(out, '\n');
}

/* Writes the details of the function that was written before. */
static void put_detail(const struct history *h, const struct history_detail *d,
		       struct buf *out)
{
	buf_str(out, "d\t");
	put_field(out, history_str(h, d->file));
	buf_printf(out, "\t%u\t%016" PRIx64 "\t", d->line, d->code);
	for (uint32_t i = 0; i < d->nhashes; i++)
		buf_printf(out, "%08x", h->hashes.v[d->first_hash + i]);
	buf_u8(out, '\n');
	for (uint32_t i = 0; i < d->nparts; i++) {
		const struct history_part *p = &h->parts.v[d->first_part + i];

		buf_printf(out, "%c\t%.0f\t", p->caller ? 'c' : 'l', p->samples);
		if (p->caller)
			put_field(out, history_str(h, p->key));
		else
			buf_printf(out, "%u", p->key);
		buf_u8(out, '\n');
	}
}

static void put_recording(const struct history *h,
			  const struct history_recording *r, struct buf *out)
{
	char hash[2 * SHA256_BYTES + 1];

	text_hex(hash, r->hash, SHA256_BYTES);
	buf_printf(out, "recording\t%s\t", hash);
	put_field(out, history_str(h, r->path));
	buf_u8(out, '\n');
}

static void put_ended(const struct history *h, const struct batch *b,
		      struct buf *out)
{
	if (b->first_ended == UINT32_MAX)
		return;
	buf_str(out, "ended");
	for (uint32_t r = 0; r < b->runs; r++) {
		buf_u8(out, r ? ' ' : '\t');
		if (history_ended(h, b, r) < 0)
			buf_u8(out, '-');
		else
			buf_printf(out, "%d", history_ended(h, b, r));
	}
	buf_u8(out, '\n');
}

static void put_batch(const struct history *h, const struct batch *b,
		      struct buf *out)
{
	uint32_t next = b->first_detail, end = next + b->ndetails;

	buf_str(out, "tally-history 3\n");
	put_fact(out, "commit", history_str(h, b->commit));
	buf_printf(out, "time\t%" PRId64 "\nrecorded\t%" PRId64 "\n", b->time,
		   b->recorded);
	put_fact(out, "benchmark", history_str(h, b->benchmark));
	put_fact(out, "cpu", history_str(h, b->cpu));
	put_fact(out, "kernel", history_str(h, b->kernel));
	put_fact(out, "event", history_str(h, b->event));
	put_fact(out, "settings", history_str(h, b->settings));
	buf_printf(out, "unit\t%s\nper-sample\t%.17g\nruns\t%u\n",
		   b->is_time ? "ns" : "count", b->per_sample, b->runs);
	put_ended(h, b, out);
	for (uint32_t i = 0; i < b->nrecordings; i++)
		put_recording(h, &h->recordings.v[b->first_recording + i], out);
	for (uint32_t i = 0; i < b->n; i++) {
		put_func(h, b, &h->costs.v[b->first + i], out);
		if (next < end && h->details.v[next].cost == b->first + i)
			put_detail(h, &h->details.v[next++], out);
	}
	buf_printf(out, "end\t%u\n", b->n);
}

/* The state of reading: `p` is the beginning of a line, `end` the end of the text. */
struct lines {
	const char *name, *text, *p, *end;
	size_t number;
	struct error *err;
	struct buf field;
};

static int bad(struct lines *l, const char *why)
{
	return error_set(l->err, ERR_FORMAT, "%s: line %zu: %s", l->name,
			 l->number, why);
}

/* Returns the next complete line without its end, or NULL. */
static const char *next_line(struct lines *l, size_t *n)
{
	const char *p = l->p, *e = p < l->end
		? memchr(p, '\n', (size_t)(l->end - p)) : NULL;

	if (!e)
		return NULL;
	*n = (size_t)(e - p);
	l->p = e + 1;
	l->number++;
	return p;
}

/* Reads a field that put_field wrote.  Returns its str, or UINT32_MAX if memory
 * ran out. */
static uint32_t take_field(struct lines *l, struct history *h, const char *p,
			   size_t n)
{
	buf_reset(&l->field);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\\' && i + 2 < n &&
		    text_hex_digit(p[i + 1]) >= 0 &&
		    text_hex_digit(p[i + 2]) >= 0) {
			buf_u8(&l->field, (uint8_t)(
				text_hex_digit(p[i + 1]) << 4 |
				text_hex_digit(p[i + 2])));
			i += 2;
		} else {
			buf_u8(&l->field, (uint8_t)p[i]);
		}
	}
	return l->field.failed ? UINT32_MAX
	     : strtab_add_n(&h->str, (const char *)l->field.p, l->field.n);
}

/* Returns the value after "KEY\t" on the next line. */
static const char *fact_line(struct lines *l, const char *key, size_t *n)
{
	size_t k = strlen(key);
	const char *p = next_line(l, n);

	if (!p || *n < k + 1 || memcmp(p, key, k) || p[k] != '\t')
		return NULL;
	*n -= k + 1;
	return p + k + 1;
}

static int read_str(struct lines *l, struct history *h, const char *key,
		    uint32_t *out)
{
	size_t n;
	const char *p = fact_line(l, key, &n);

	if (!p)
		return error_set(l->err, ERR_FORMAT, "%s: line %zu: missing "
				 "\"%s\"",
				 l->name, l->number, key);
	*out = take_field(l, h, p, n);
	return *out == UINT32_MAX ? error_nomem(l->err) : 0;
}

/* Parses all bytes as a number.  Returns NAN if they are none. */
static double number(const char *p, size_t n)
{
	char text[40], *end;
	double x;

	if (!n || n >= sizeof(text) || !isdigit((unsigned char)*p))
		return -1;
	memcpy(text, p, n);
	text[n] = '\0';
	x = strtod(text, &end);
	return *end || !(x >= 0) || x > 1e18 ? -1 : x;
}

static int read_number(struct lines *l, const char *key, double least,
		       double most, double *out)
{
	size_t n;
	const char *p = fact_line(l, key, &n);

	*out = p ? number(p, n) : -1;
	return p && *out >= least && *out <= most ? 0
	     : error_set(l->err, ERR_FORMAT, "%s: line %zu: invalid \"%s\"",
			 l->name, l->number, key);
}

static int read_head(struct lines *l, struct history *h, struct batch *b)
{
	double time = 0, recorded = 0, runs = 0;
	const char *p;
	size_t n;
	int rc;

	p = next_line(l, &n);
	if (!p || n != 15 || memcmp(p, "tally-history ", n - 1) ||
	    p[n - 1] < '1' || p[n - 1] > '3')
		return bad(l, "not a batch of a tally history, version 1 to 3");
	rc = read_str(l, h, "commit", &b->commit) ?:
	     read_number(l, "time", 0, 1e12, &time) ?:
	     read_number(l, "recorded", 0, 1e12, &recorded) ?:
	     read_str(l, h, "benchmark", &b->benchmark) ?:
	     read_str(l, h, "cpu", &b->cpu) ?:
	     read_str(l, h, "kernel", &b->kernel) ?:
	     read_str(l, h, "event", &b->event) ?:
	     read_str(l, h, "settings", &b->settings);
	if (rc)
		return rc;
	p = fact_line(l, "unit", &n);
	if (!p || ((n != 2 || memcmp(p, "ns", 2)) &&
		   (n != 5 || memcmp(p, "count", 5))))
		return bad(l, "the unit is neither ns nor count");
	b->is_time = n == 2;
	rc = read_number(l, "per-sample", 1e-9, 1e18, &b->per_sample) ?:
	     read_number(l, "runs", 1, HISTORY_RUNS_MAX, &runs);
	if (rc)
		return rc;
	b->time = (int64_t)time;
	b->recorded = (int64_t)recorded;
	b->runs = (uint32_t)runs;
	return 0;
}

static int read_ended(struct lines *l, struct history *h, struct batch *b,
		      const char *p, size_t n)
{
	const char *end = p + n;

	if (b->first_ended != UINT32_MAX)
		return bad(l, "statuses twice");
	b->first_ended = (uint32_t)h->ended.n;
	for (uint32_t r = 0; r < b->runs; r++) {
		const char *e = p < end ? memchr(p, ' ', (size_t)(end - p)) : NULL;
		bool unknown;
		double x;

		e = e ? e : end;
		unknown = e - p == 1 && *p == '-';
		x = unknown ? -1 : number(p, (size_t)(e - p));
		if ((x < 0 && !unknown) || x > INT32_MAX ||
		    (e == end) != (r + 1 == b->runs))
			return bad(l, "expected a status for each run");
		if (vec_push(&h->ended, (int32_t)x) < 0)
			return error_nomem(l->err);
		p = e < end ? e + 1 : end;
	}
	return 0;
}

/* Reads the counts of a line.  Returns the place after them, or NULL. */
static const char *read_counts(struct history *h, const struct batch *b,
			       const char *p, const char *end)
{
	for (uint32_t r = 0; r < b->runs; r++) {
		const char *e = p;
		double x;

		while (e < end && *e != ' ' && *e != '\t')
			e++;
		x = number(p, (size_t)(e - p));
		if (x < 0 || e == end || *e != (r + 1 < b->runs ? ' ' : '\t'))
			return NULL;
		if (vec_push(&h->counts, x) < 0)
			return NULL;
		p = e + 1;
	}
	return p;
}

static int read_func(struct lines *l, struct history *h,
		     const struct batch *b, const char *p, size_t n)
{
	const char *end = p + n, *tab[2];
	struct history_func f = { .kernel = *p == 'k' };
	struct history_cost c = { 0, (uint32_t)h->counts.n };

	if (h->counts.n > UINT32_MAX - HISTORY_RUNS_MAX)
		return bad(l, "too many counts");
	p = n > 2 && p[1] == '\t' ? read_counts(h, b, p + 2, end) : NULL;
	tab[0] = p ? memchr(p, '\t', (size_t)(end - p)) : NULL;
	tab[1] = tab[0] ? memchr(tab[0] + 1, '\t', (size_t)(end - tab[0]) - 1)
			: NULL;
	if (!tab[1])
		return bad(l, "expected a count for each run, an image, a "
			   "name and a distinguishing key");
	f.image = take_field(l, h, p, (size_t)(tab[0] - p));
	f.name = take_field(l, h, tab[0] + 1, (size_t)(tab[1] - tab[0]) - 1);
	f.which = take_field(l, h, tab[1] + 1, (size_t)(end - tab[1]) - 1);
	c.func = history_func(h, &f);
	if (f.image == UINT32_MAX || f.name == UINT32_MAX ||
	    f.which == UINT32_MAX || c.func == UINT32_MAX ||
	    vec_push(&h->costs, c) < 0)
		return error_nomem(l->err);
	return 0;
}

/* Splits a line at its tabs into at most `most` fields.  Returns their number. */
static size_t split(const char *p, size_t n, size_t most, const char **field,
		    size_t *length)
{
	const char *end = p + n;
	size_t k = 0;

	while (k < most) {
		const char *tab = k + 1 < most
			? memchr(p, '\t', (size_t)(end - p)) : NULL;

		field[k] = p;
		length[k++] = (size_t)((tab ? tab : end) - p);
		if (!tab)
			break;
		p = tab + 1;
	}
	return k;
}

static bool read_hex(const char *p, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (text_hex_digit(p[i]) < 0)
			return false;
		*out = *out << 4 | (uint64_t)text_hex_digit(p[i]);
	}
	return true;
}

static int read_recording(struct lines *l, struct history *h, const char *p,
			  size_t n)
{
	struct history_recording r;
	const char *f[3];
	size_t len[3];

	if (split(p, n, 3, f, len) != 3 || len[1] != 2 * SHA256_BYTES)
		return bad(l, "expected a recording's SHA-256 and path");
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		uint64_t x;

		if (!read_hex(f[1] + 2 * i, 2, &x))
			return bad(l, "not a SHA-256");
		r.hash[i] = (uint8_t)x;
	}
	r.path = take_field(l, h, f[2], len[2]);
	return r.path == UINT32_MAX || vec_push(&h->recordings, r) < 0
		       ? error_nomem(l->err) : 0;
}

/* Reads the details of the function before them. */
static int read_detail(struct lines *l, struct history *h, const char *p, size_t n)
{
	struct history_detail d = { .cost = (uint32_t)h->costs.n - 1,
				    .first_part = (uint32_t)h->parts.n,
				    .first_hash = (uint32_t)h->hashes.n };
	const char *f[5];
	size_t len[5];
	double line;

	if (split(p, n, 5, f, len) != 5 || len[3] != 16 || len[4] % 8 ||
	    len[4] > 8 * DETAIL_HASHES || !read_hex(f[3], 16, &d.code))
		return bad(l, "expected a file, a line, a hash and a sketch of "
			   "code");
	line = number(f[2], len[2]);
	if (line < 0 || line > INT32_MAX)
		return bad(l, "invalid line number");
	d.line = (uint32_t)line;
	d.file = take_field(l, h, f[1], len[1]);
	for (size_t i = 0; i < len[4]; i += 8) {
		uint64_t x;

		if (!read_hex(f[4] + i, 8, &x) ||
		    (i && x <= h->hashes.v[h->hashes.n - 1]))
			return bad(l, "the sketch is not in order");
		if (vec_push(&h->hashes, (uint32_t)x) < 0)
			return error_nomem(l->err);
		d.nhashes++;
	}
	return d.file == UINT32_MAX || vec_push(&h->details, d) < 0
		       ? error_nomem(l->err) : 0;
}

static int read_part(struct lines *l, struct history *h, const char *p, size_t n)
{
	struct history_part x = { .caller = *p == 'c' };
	const char *f[3];
	size_t len[3];
	double line;

	if (split(p, n, 3, f, len) != 3 || (x.samples = number(f[1], len[1])) < 0)
		return bad(l, "expected a count and a line or a caller");
	if (x.caller) {
		x.key = take_field(l, h, f[2], len[2]);
	} else {
		line = number(f[2], len[2]);
		if (line < 0 || line > INT32_MAX)
			return bad(l, "invalid line number");
		x.key = (uint32_t)line;
	}
	if (x.key == UINT32_MAX || vec_push(&h->parts, x) < 0)
		return error_nomem(l->err);
	h->details.v[h->details.n - 1].nparts++;
	return 0;
}

/* Reads a line about the function that was read last. */
static int read_about(struct lines *l, struct history *h, const struct batch *b,
		      const char *p, size_t n)
{
	bool has = h->details.n > b->first_detail &&
		   h->details.v[h->details.n - 1].cost == h->costs.n - 1;

	if (h->costs.n == b->first || (*p == 'd') == has)
		return bad(l, "details without a function, or twice");
	return *p == 'd' ? read_detail(l, h, p, n) : read_part(l, h, p, n);
}

static int read_batch(struct lines *l, struct history *h, struct batch *b)
{
	int rc = read_head(l, h, b);

	b->first = (uint32_t)h->costs.n;
	b->first_detail = (uint32_t)h->details.n;
	b->first_recording = (uint32_t)h->recordings.n;
	while (!rc) {
		size_t n;
		const char *p = next_line(l, &n);

		if (p && n > 6 && !memcmp(p, "ended\t", 6)) {
			rc = read_ended(l, h, b, p + 6, n - 6);
			continue;
		}
		if (p && n > 10 && !memcmp(p, "recording\t", 10)) {
			rc = read_recording(l, h, p, n);
			continue;
		}
		if (p && n > 1 && p[1] == '\t' && strchr("dlc", *p)) {
			rc = read_about(l, h, b, p, n);
			continue;
		}
		if (p && n && (*p == 'f' || *p == 'k')) {
			rc = read_func(l, h, b, p, n);
			continue;
		}
		b->ndetails = (uint32_t)h->details.n - b->first_detail;
		b->nrecordings = (uint32_t)h->recordings.n - b->first_recording;
		b->n = (uint32_t)h->costs.n - b->first;
		if (!p || n < 5 || memcmp(p, "end\t", 4) ||
		    number(p + 4, n - 4) != b->n || l->p != l->end)
			return bad(l, "the text is truncated");
		return 0;
	}
	return rc;
}

int history_parse(struct history *h, const char *name, const char *text,
		  size_t n, struct error *err)
{
	struct lines l = { name, text, text, text + n, 0, err, { 0 } };
	size_t costs = h->costs.n, counts = h->counts.n;
	size_t details = h->details.n, recordings = h->recordings.n;
	size_t ended = h->ended.n;
	struct batch b = { .first_ended = UINT32_MAX };
	int rc = read_batch(&l, h, &b);

	buf_fini(&l.field);
	sha256(text, n, b.hash);
	if (!rc && vec_push(&h->batches, b) < 0)
		rc = error_nomem(err);
	if (rc) {
		h->costs.n = costs;
		h->counts.n = counts;
		h->ended.n = ended;
		h->details.n = details;
		h->recordings.n = recordings;
	}
	return rc;
}

static bool hash_is(const struct batch *b, const char *name)
{
	char text[2 * SHA256_BYTES + 1];

	text_hex(text, b->hash, SHA256_BYTES);
	return !strncmp(text, name, sizeof(text) - 1);
}

/* Reads the text of a batch. */
static int read_text(int dir, const char *shown, const char *file, struct buf *text,
		     struct error *err)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	struct buf packed = { 0 };
	int rc;

	if (fd < 0)
		return error_errno(err, errno, "%s", shown);
	rc = io_read_fd(fd, shown, PACKED_MAX, &packed, err);
	close(fd);
	if (!rc) {
		rc = gzip_unpack(text, packed.p, packed.n, TEXT_MAX, err);
		if (rc == -ERR_FORMAT)
			error_prefix(err, "%s: is damaged", shown);
	}
	buf_fini(&packed);
	return rc;
}

static int read_file(struct history *h, int dir, const char *shown,
		     const char *file, const char *hash, struct error *err)
{
	struct buf text = { 0 };
	int rc = read_text(dir, shown, file, &text, err) ?:
		 history_parse(h, shown, (const char *)text.p, text.n, err);

	if (!rc && !hash_is(&h->batches.v[h->batches.n - 1], hash)) {
		h->batches.n--;
		rc = error_set(err, ERR_FORMAT, "%s: is damaged: its name "
			       "does not match its contents", shown);
	}
	buf_fini(&text);
	return rc;
}

static void note_damage(struct history *h, const char *why)
{
	if (!h->damaged++)
		snprintf(h->damage, sizeof(h->damage), "%.255s", why);
}

static int read_dir(struct history *h, int runs, const char *store,
		    const char *sub, struct error *err)
{
	DIR *d = io_open_folder(runs, sub);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		bool foreign = errno == ENOTDIR || errno == ELOOP;
		struct error why;

		rc = error_errno(&why, errno, "%s/runs/%s", store, sub);
		if (!foreign) {
			*err = why;
			return rc;
		}
		note_damage(h, why.msg);
		return 0;
	}
	while (!rc && (e = readdir(d))) {
		char shown[512], hash[2 * SHA256_BYTES + 1];
		struct error one;
		int damaged;

		if (strspn(e->d_name, HEX) != NAME_LENGTH ||
		    strcmp(e->d_name + NAME_LENGTH, ".gz"))
			continue;
		snprintf(shown, sizeof(shown), "%s/runs/%s/%s", store, sub,
			 e->d_name);
		snprintf(hash, sizeof(hash), "%s%.*s", sub, NAME_LENGTH, e->d_name);
		if (h->batches.n >= BATCHES_MAX) {
			rc = error_set(err, ERR_NOMEM,
				       "%s: more than %d batches of runs", store,
				       BATCHES_MAX);
			break;
		}
		damaged = read_file(h, dirfd(d), shown, e->d_name, hash, &one);
		if (damaged == -ERR_NOMEM) {
			rc = damaged;
			*err = one;
		} else if (damaged) {
			note_damage(h, one.msg);
		}
	}
	closedir(d);
	return rc;
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int link_refused(const char *path, struct error *err)
{
	return error_set(err, ERR_PERM, "%s: is a symbolic link", path);
}

int history_read(struct history *h, const char *store, struct error *err)
{
	char path[4096];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/runs", store);
	d = io_open_folder(AT_FDCWD, path);
	if (!d && errno == ENOENT)
		return error_set(err, ERR_NOTFOUND, "%s: is not a history: "
				 "'tally history add' creates one", store);
	if (!d) {
		int code = errno;

		return is_link(path) ? link_refused(path, err)
				     : error_errno(err, code, "%s", path);
	}
	while (!rc && (e = readdir(d)))
		if (strlen(e->d_name) == 2 && strspn(e->d_name, HEX) == 2)
			rc = read_dir(h, dirfd(d), store, e->d_name, err);
	closedir(d);
	return rc;
}

/* Makes a folder.  One below the store must not be a link: whoever made it could
 * choose where batches are written. */
static int make_folder(const char *path, bool below, struct error *err)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_errno(err, errno, "%s: cannot create", path);
	return below && is_link(path) ? link_refused(path, err) : 0;
}

/* Returns 1 if a file exists and has the contents by which it is named, 0 if not, or
 * -ERR_NOMEM. */
static int is_intact(const char *path, const uint8_t *sum, bool packed,
		     struct error *err)
{
	uint8_t found[SHA256_BYTES];
	struct buf text = { 0 };
	struct io_map bytes;
	int rc = packed ? read_text(AT_FDCWD, path, path, &text, err)
			: io_map_file(path, &bytes, err);

	if (rc >= 0 && packed)
		sha256(text.p, text.n, found);
	if (rc >= 0 && !packed) {
		sha256(bytes.p, bytes.n, found);
		io_unmap(&bytes);
	}
	buf_fini(&text);
	if (rc < 0)
		return rc == -ERR_NOMEM ? rc : 0;
	return !memcmp(found, sum, sizeof(found));
}

/* Writes a file named by a hash into DIR/KIND/XX, of which it creates what is missing.
 * The hash is that of the bytes, or if `packed` of the text in them.  Returns 1 if the
 * file exists already; a damaged one is replaced. */
static int write_hashed(const char *dir, const char *kind, const uint8_t *sum,
			bool packed, const char *suffix, const void *bytes,
			size_t nbytes, struct error *err)
{
	char hash[2 * SHA256_BYTES + 1], path[4096];
	int rc = 0, n;

	text_hex(hash, sum, SHA256_BYTES);
	for (int i = 0; !rc && i < 3; i++) {
		n = snprintf(path, sizeof(path), i == 0 ? "%s" : i == 1
			     ? "%s/%s" : "%s/%s/%.2s", dir, kind, hash);
		if (n < 0 || (size_t)n + 80 > sizeof(path))
			rc = error_set(err, ERR_USAGE, "%.100s…: too long",
				       dir);
		else
			rc = make_folder(path, i > 0, err);
	}
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/%s/%.2s/%s%s", dir, kind, hash, hash + 2,
		 suffix);
	return is_intact(path, sum, packed, err)
		       ?: outfile_write(path, bytes, nbytes, err);
}

int history_write(const struct history *h, size_t batch, const char *dir,
		  struct error *err)
{
	struct buf text = { 0 }, packed = { 0 };
	uint8_t sum[SHA256_BYTES];
	int rc = 0;

	put_batch(h, &h->batches.v[batch], &text);
	sha256(text.p, text.n, sum);
	if (text.failed || text.n > TEXT_MAX)
		rc = error_set(err, ERR_NOMEM, "out of memory, or more than 64 "
			       "MB of function names");
	rc = rc ?: gzip_pack(&packed, text.p, text.n, GZIP_SMALL, err) ?:
	     write_hashed(dir, "runs", sum, true, ".gz", packed.p, packed.n, err);
	buf_fini(&text);
	buf_fini(&packed);
	return rc;
}

/* Maps a file if its contents have the hash of a recording. */
static int map_recorded(const struct history_recording *r, const char *path,
			struct io_map *out, struct error *err)
{
	uint8_t sum[SHA256_BYTES];
	int rc = io_map_file(path, out, err);

	if (rc < 0)
		return rc;
	sha256(out->p, out->n, sum);
	if (!memcmp(sum, r->hash, sizeof(sum)))
		return 0;
	io_unmap(out);
	return error_set(err, ERR_FORMAT, "%s: is no longer the file that was "
			 "added", path);
}

int history_keep(const struct history *h, size_t batch, const char *dir,
		 struct error *err)
{
	const struct batch *b = &h->batches.v[batch];
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < b->nrecordings; i++) {
		const struct history_recording *r =
			&h->recordings.v[b->first_recording + i];
		struct io_map bytes;

		rc = map_recorded(r, history_str(h, r->path), &bytes, err);
		if (rc < 0)
			break;
		rc = write_hashed(dir, "recordings", r->hash, false, ".tally",
				  bytes.p, bytes.n, err);
		io_unmap(&bytes);
	}
	return rc < 0 ? rc : 0;
}

bool history_recording_path(const struct history *h, size_t recording,
			    const char *dir, struct buf *out)
{
	const struct history_recording *r = &h->recordings.v[recording];
	char hash[2 * SHA256_BYTES + 1];
	struct buf path = { 0 };
	bool found = false;

	text_hex(hash, r->hash, SHA256_BYTES);
	buf_printf(&path, "%s/recordings/%.2s/%s.tally", dir, hash, hash + 2);
	for (int i = 0; i < 2 && !found; i++) {
		struct io_map bytes;
		struct error why;

		if (i) {
			buf_reset(&path);
			buf_str(&path, history_str(h, r->path));
		}
		found = !path.failed && !map_recorded(r, buf_cstr(&path), &bytes,
						      &why);
		if (found)
			io_unmap(&bytes);
	}
	if (found)
		buf_str(out, buf_cstr(&path));
	buf_fini(&path);
	return found;
}
