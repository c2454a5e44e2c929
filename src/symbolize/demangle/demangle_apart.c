// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shortens names that are shown together so that different names stay different.
 *
 * Names with the same short form form a class.  They differ only in what was cut:
 * template arguments and parameters.  The first argument that is not the same in
 * all of the class is shown, shortened by the same rules among the arguments of
 * the class.  What it does not tell apart is a smaller class, whose next argument
 * is shown as well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/demangle/manglings.h"

enum {
	/* Nested arguments, and arguments shown, beyond which names are not
	 * shortened. */
	MAX_DEPTH = 12,
	MAX_SHOWN = 32,
};

/* An argument that is shown: the i-th of the group g. */
struct shown {
	size_t group, item, at, n;	/* at, n: its text in name.texts */
};

struct span {
	const char *p;
	size_t n;
};

/* The arguments of the g-th cut begin at groups[g] in items. */
struct name {
	const char *full;
	struct buf brief, texts;
	struct short_cuts cuts;
	VEC(size_t) groups;
	VEC(struct span) items;
	VEC(struct shown) shown;
	bool whole;			/* cannot be shortened */
};

static void apart(const char *const *full, size_t n, struct buf *out,
		  unsigned int depth);

static int by_text(const void *a, const void *b)
{
	struct name *const *x = a, *const *y = b;
	int c = strcmp(buf_cstr(&(*x)->brief), buf_cstr(&(*y)->brief));

	return c ? c : strcmp((*x)->full, (*y)->full);
}

static bool fail(struct name *m)
{
	m->brief.failed = true;
	return false;
}

/* Adds an argument, without the blanks around it. */
static bool add_item(struct name *m, const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (p < end && end[-1] == ' ')
		end--;
	return vec_push(&m->items, (struct span){ p, (size_t)(end - p) }) == 0 ||
	       fail(m);
}

/* Splits the contents of a group at its commas. */
static bool split(struct name *m, const char *p, const char *end)
{
	const char *item = p, *start = p;

	while (p < end) {
		const char *to = skip_part(start, p, end);

		if (*p == ',') {
			if (!add_item(m, item, p))
				return false;
			item = to;
		}
		/* brackets that do not match: the rest is one argument */
		p = to ? to : end;
	}
	return add_item(m, item, end);
}

static bool split_groups(struct name *m)
{
	for (size_t g = 0; g < m->cuts.n; g++)
		if (vec_push(&m->groups, m->items.n) < 0 ||
		    !split(m, m->cuts.v[g].from + 1, m->cuts.v[g].to - 1))
			return fail(m);
	return vec_push(&m->groups, m->items.n) == 0 || fail(m);
}

static struct span item_at(const struct name *m, size_t g, size_t i)
{
	size_t at = m->groups.v[g] + i;

	return at < m->groups.v[g + 1] ? m->items.v[at] : (struct span){ "", 0 };
}

static bool same_span(struct span a, struct span b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool all_same(struct name *const *m, size_t n, size_t g, size_t i)
{
	for (size_t k = 1; k < n; k++)
		if (!same_span(item_at(m[0], g, i), item_at(m[k], g, i)))
			return false;
	return true;
}

static size_t most_items(struct name *const *m, size_t n, size_t g)
{
	size_t most = 0;

	for (size_t k = 0; k < n; k++) {
		size_t has = m[k]->groups.v[g + 1] - m[k]->groups.v[g];

		most = has > most ? has : most;
	}
	return most;
}

/* Adds argument i of group g, shortened, to what each name shows. */
static bool show_item(struct name *const *m, size_t n, size_t g, size_t i,
		      unsigned int depth)
{
	struct buf *copy = calloc(n, sizeof(*copy));
	struct buf *out = calloc(n, sizeof(*out));
	const char **full = calloc(n, sizeof(*full));
	bool ok = copy && out && full;

	for (size_t k = 0; ok && k < n; k++) {
		struct span s = item_at(m[k], g, i);

		buf_bytes(&copy[k], s.p, s.n);
		full[k] = buf_cstr(&copy[k]);
	}
	if (ok)
		apart(full, n, out, depth + 1);
	for (size_t k = 0; k < n; k++) {
		struct name *x = m[k];
		struct shown s = { g, i, x->texts.n, ok ? out[k].n : 0 };

		if (!ok || copy[k].failed || out[k].failed ||
		    vec_push(&x->shown, s) < 0) {
			ok = fail(x);
			continue;
		}
		buf_bytes(&x->texts, out[k].p, out[k].n);
	}
	for (size_t k = 0; k < n; k++) {
		if (copy)
			buf_fini(&copy[k]);
		if (out)
			buf_fini(&out[k]);
	}
	free(copy);
	free(out);
	free(full);
	return ok;
}

static struct span last_shown(const struct name *m)
{
	const struct shown *s = &m->shown.v[m->shown.n - 1];

	return (struct span){ (const char *)m->texts.p + s->at, s->n };
}

static int by_last_shown(const void *a, const void *b)
{
	struct span x = last_shown(*(struct name *const *)a);
	struct span y = last_shown(*(struct name *const *)b);
	int c = memcmp(x.p ? x.p : "", y.p ? y.p : "", x.n < y.n ? x.n : y.n);

	return c ? c : (x.n > y.n) - (x.n < y.n);
}

static bool one_name(struct name *const *m, size_t n)
{
	for (size_t k = 1; k < n; k++)
		if (strcmp(m[0]->full, m[k]->full))
			return false;
	return true;
}

/* Shows arguments from group g, argument i on until no two different names of the
 * class look the same. */
static void tell_apart(struct name **m, size_t n, size_t g, size_t i,
		       unsigned int depth)
{
	if (one_name(m, n))
		return;
	for (; g < m[0]->cuts.n && m[0]->shown.n < MAX_SHOWN; g++, i = 0) {
		for (; i < most_items(m, n, g); i++) {
			if (all_same(m, n, g, i))
				continue;
			if (!show_item(m, n, g, i, depth))
				return;
			qsort(m, n, sizeof(struct name *), by_last_shown);
			for (size_t from = 0, to; from < n; from = to) {
				for (to = from + 1; to < n && same_span(
					last_shown(m[from]), last_shown(m[to]));
				     to++)
					;
				tell_apart(m + from, to - from, g, i + 1, depth);
			}
			return;
		}
	}
	/* They differ in what a short form never has (ABI tags, hashes). */
	for (size_t k = 0; k < n; k++)
		m[k]->whole = true;
}

/* Appends a group with the arguments that are shown, and … for the others. */
static void put_group(const struct name *m, size_t g, const struct shown **s,
		      struct buf *out)
{
	const struct shown *end = m->shown.v + m->shown.n;
	size_t next = 0, has = m->groups.v[g + 1] - m->groups.v[g];
	const char *sep = "";

	for (; *s < end && (*s)->group == g && (*s)->item < has; (*s)++) {
		if ((*s)->item > next) {
			buf_str(out, sep);
			buf_str(out, "…");
			sep = ", ";
		}
		buf_str(out, sep);
		buf_bytes(out, m->texts.p + (*s)->at, (*s)->n);
		next = (*s)->item + 1;
		sep = ", ";
	}
	if (next < has) {
		buf_str(out, sep);
		buf_str(out, "…");
	}
	/* arguments that others have and this name has not */
	while (*s < end && (*s)->group == g)
		(*s)++;
}

static void put_name(struct name *m, struct buf *out)
{
	const struct shown *s = m->shown.v;
	size_t at = 0;

	if (m->whole || !m->shown.n) {
		if (m->whole)
			buf_str(out, m->full);
		else
			buf_bytes(out, m->brief.p, m->brief.n);
		return;
	}
	for (size_t g = 0; g < m->cuts.n; g++) {
		size_t sign = m->cuts.v[g].at;

		buf_bytes(out, m->brief.p + at, sign + 1 - at);
		put_group(m, g, &s, out);
		at = sign + SHORT_SIGN - 1;
	}
	buf_bytes(out, m->brief.p + at, m->brief.n - at);
}

/* Divides a class of names with the same short form. */
static void divide(struct name **m, size_t n, unsigned int depth)
{
	bool ok = depth < MAX_DEPTH;

	if (n < 2 || one_name(m, n))
		return;
	for (size_t k = 0; k < n; k++)
		ok = ok && m[k]->cuts.n && m[k]->cuts.n == m[0]->cuts.n &&
		     !m[k]->cuts.failed;
	for (size_t k = 0; k < n && ok; k++)
		ok = split_groups(m[k]);
	if (ok)
		tell_apart(m, n, 0, 0, depth);
	for (size_t k = 0; k < n && !ok; k++)
		m[k]->whole = true;
}

static void name_fini(struct name *m)
{
	buf_fini(&m->brief);
	buf_fini(&m->texts);
	vec_fini(&m->cuts);
	vec_fini(&m->groups);
	vec_fini(&m->items);
	vec_fini(&m->shown);
}

static void apart(const char *const *full, size_t n, struct buf *out,
		  unsigned int depth)
{
	struct name *names = calloc(n + 1, sizeof(*names));
	struct name **order = calloc(n + 1, sizeof(struct name *));
	struct buf brief = { 0 };	/* with much room, which all names share */

	for (size_t i = 0; names && order && i < n; i++) {
		names[i].full = full[i];
		order[i] = &names[i];
		buf_again(&brief);
		demangle_short_cuts(full[i], &brief, &names[i].cuts);
		buf_bytes(&names[i].brief, brief.p, brief.n);
		names[i].brief.failed |= brief.failed;
	}
	buf_fini(&brief);
	if (names && order)
		qsort(order, n, sizeof(struct name *), by_text);
	for (size_t from = 0, to; names && order && from < n; from = to) {
		for (to = from + 1; to < n && !strcmp(
			buf_cstr(&order[from]->brief),
			buf_cstr(&order[to]->brief)); to++)
			;
		divide(order + from, to - from, depth);
	}
	for (size_t i = 0; i < n; i++) {
		if (names && order)
			put_name(&names[i], &out[i]);
		out[i].failed |= !names || !order || names[i].brief.failed ||
				 names[i].texts.failed;
		if (names)
			name_fini(&names[i]);
	}
	free(names);
	free(order);
}

/* Short names of a table.  Full names are long, so only those of a class are kept at a
 * time, and a number tells whether two are the same. */
struct short_names {
	size_t n, added;
	struct short_name {
		struct buf text;
		const char *at;		/* that text, while names are ordered */
		uint64_t hash;		/* of the full name */
		bool whole;		/* the text is the full name */
	} *v;
	struct buf tmp;
};

struct short_names *short_names_new(size_t n)
{
	struct short_names *s = calloc(1, sizeof(*s));

	if (s)
		s->v = calloc(n + 1, sizeof(*s->v));
	if (!s || !s->v) {
		free(s);
		return NULL;
	}
	s->n = n;
	return s;
}

bool short_names_free(struct short_names *s)
{
	bool failed = !s || s->tmp.failed;

	for (size_t i = 0; s && i < s->n; i++) {
		failed |= s->v[i].text.failed;
		buf_fini(&s->v[i].text);
	}
	if (s) {
		buf_fini(&s->tmp);
		free(s->v);
	}
	free(s);
	return failed;
}

static void set_text(struct short_name *m, const struct buf *text, const char *full)
{
	buf_again(&m->text);
	buf_bytes(&m->text, text->p, text->n);
	m->text.failed |= text->failed;
	m->whole = !strcmp(buf_cstr(&m->text), full);
}

void short_names_add(struct short_names *s, const char *full)
{
	struct short_name *m = &s->v[s->added++];

	buf_again(&s->tmp);
	demangle_short(full, &s->tmp);
	set_text(m, &s->tmp, full);
	m->hash = hash_bytes(full, strlen(full));
}

static int by_short(const void *a, const void *b)
{
	const struct short_name *x = *(struct short_name *const *)a;
	const struct short_name *y = *(struct short_name *const *)b;
	int c = strcmp(x->at, y->at);

	return c ? c : (x->hash > y->hash) - (x->hash < y->hash);
}

/* Makes the names of a class, which are ordered by hash, different where their full names
 * are. */
static bool make_different(struct short_names *s, struct short_name **m, size_t n,
			   short_names_full *full, void *ctx)
{
	char **names = calloc(n, sizeof(*names));
	struct buf *out = calloc(n, sizeof(*out));
	bool ok = names && out;
	size_t k = 0;

	for (size_t i = 0; ok && i < n; i++)
		if (!i || m[i]->hash != m[i - 1]->hash) {
			names[k] = strdup(full(ctx, (size_t)(m[i] - s->v)));
			ok = names[k++];
		}
	if (ok)
		apart((const char *const *)names, k, out, 0);
	k = 0;
	for (size_t i = 0; ok && i < n; i++) {
		k += i && m[i]->hash != m[i - 1]->hash;
		set_text(m[i], &out[k], names[k]);
	}
	for (size_t i = 0; i < n; i++) {
		if (names)
			free(names[i]);
		if (out)
			buf_fini(&out[i]);
	}
	free(names);
	free(out);
	return ok;
}

void short_names_apart(struct short_names *s, short_names_full *full, void *ctx)
{
	struct short_name **order = calloc(s->added + 1, sizeof(struct short_name *));
	bool ok = order;

	for (size_t i = 0; ok && i < s->added; i++) {
		order[i] = &s->v[i];
		order[i]->at = buf_cstr(&order[i]->text);
	}
	if (ok)
		qsort(order, s->added, sizeof(struct short_name *), by_short);
	for (size_t from = 0, to; ok && from < s->added; from = to) {
		for (to = from + 1; to < s->added &&
		     !strcmp(order[from]->at, order[to]->at); to++)
			;
		if (order[from]->hash != order[to - 1]->hash)
			ok = make_different(s, order + from, to - from, full, ctx);
	}
	s->tmp.failed |= !ok;
	free(order);
}

const char *short_names_get(struct short_names *s, size_t i)
{
	return s->v[i].whole ? "" : buf_cstr(&s->v[i].text);
}
