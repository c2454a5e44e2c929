// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes readable names of frame keys. */
#include "views/query/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/demangle.h"

/* Number of rows whose names are made distinct together. */
enum { NAMED_TOGETHER = 4096 };

void name_image(const struct profile *p, const struct frame_keys *keys,
		const struct frame_key *k, bool full, struct buf *out)
{
	const char *path = profile_cstr(p, k->image);
	const char *label = label_image(&keys->labels, k->im);

	if (!*path)
		buf_str(out, "[unknown]");
	else if (*label && !full)
		buf_str(out, label);
	else
		buf_str(out, full ? path : path_base(path));
	if (full)
		buf_str(out, label_tag(&keys->labels, k->im));
}

/* Returns where " (label)" begins, or the end of the name. */
static const char *label_start(const char *name)
{
	const char *end = name + strlen(name), *s = end;
	int depth = 0;

	if (s == name || s[-1] != ')')
		return end;
	while (s > name) {
		s--;
		depth += *s == ')' ? 1 : *s == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	return !depth && s > name && s[-1] == ' ' ? s - 1 : end;
}

void name_shorten(const char *name, struct buf *out)
{
	const char *label = label_start(name);
	struct buf bare = { 0 };
	size_t start = out->n;

	buf_bytes(&bare, name, (size_t)(label - name));
	demangle_short(buf_cstr(&bare), out);
	buf_str(out, label);
	if (out->n == start)
		buf_str(out, name);
	buf_close(&bare, out);
}

void name_set_init(struct name_set *s, size_t n)
{
	*s = (struct name_set){ .full = calloc(n + 1, sizeof(*s->full)),
				.brief = calloc(n + 1, sizeof(*s->brief)) };
	s->failed = !s->full || !s->brief;
	s->n = s->failed ? 0 : n;
}

/* Names of a set without their labels. */
struct bare_names {
	struct name_set *s;
	struct buf tmp;
};

static const char *bare_name(void *ctx, size_t i)
{
	struct bare_names *b = ctx;
	const char *full = buf_cstr(&b->s->full[i]), *label = label_start(full);

	if (!*label)
		return full;
	buf_again(&b->tmp);
	buf_bytes(&b->tmp, full, (size_t)(label - full));
	return buf_cstr(&b->tmp);
}

void name_set_shorten(struct name_set *s)
{
	struct short_names *names = short_names_new(s->n);
	struct bare_names bare = { .s = s };

	for (size_t i = 0; names && i < s->n; i++)
		short_names_add(names, s->brief[i].n ? "" : bare_name(&bare, i));
	if (names)
		short_names_apart(names, bare_name, &bare);
	for (size_t i = 0; names && i < s->n; i++) {
		const char *text = short_names_get(names, i);

		if (s->brief[i].n)
			continue;
		buf_str(&s->brief[i], *text ? text : bare_name(&bare, i));
		buf_str(&s->brief[i], label_start(buf_cstr(&s->full[i])));
	}
	s->failed |= short_names_free(names) || bare.tmp.failed;
	buf_fini(&bare.tmp);
}

bool name_set_fini(struct name_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->failed |= s->full[i].failed || s->brief[i].failed;
		buf_fini(&s->full[i]);
		buf_fini(&s->brief[i]);
	}
	free(s->full);
	free(s->brief);
	return s->failed;
}

static void put_function(const char *name, unsigned int how, struct buf *out)
{
	struct buf whole = { 0 };

	if (!(how & NAME_SHORT)) {
		demangle(name, out);
		return;
	}
	demangle(name, &whole);
	demangle_short(buf_cstr(&whole), out);
	buf_close(&whole, out);
}

const char *name_label(const struct profile *p, const struct frame_keys *keys,
		       const struct frame_key *k, unsigned int how)
{
	bool alone = (how & NAME_ALONE) || !(keys->mask & KEY_BIT(KEY_IMAGE));

	if (k->kind == FRAME_ADDR || k->kind == FRAME_UNKNOWN ||
	    !*profile_cstr(p, k->name) || (how & NAME_BARE))
		return "";
	return alone ? label_among(&keys->labels, k->func)
		     : label_within(&keys->labels, k->func);
}

void name_symbol(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, unsigned int how, struct buf *out)
{
	const char *name = profile_cstr(p, k->name), *label;

	if (k->kind == FRAME_ADDR) {
		label = label_image(&keys->labels, k->im);
		frame_address_name(*label ? label : profile_cstr(p, k->image),
				   k->vaddr, out);
		return;
	}
	if (k->kind == FRAME_UNKNOWN || !*name) {
		buf_str(out, "[unknown]");
		return;
	}
	put_function(name, how, out);
	label = name_label(p, keys, k, how);
	if (*label)
		buf_printf(out, " (%s)", label);
}

void name_id(const char *image, const char *label, const char *file,
	     const char *name, const struct frame_key *k, struct buf *out)
{
	if (!*label)
		label = identity_global(name) ? "" : path_base(file);
	buf_printf(out, "%s:%s:", image, label);
	if (k->kind == FRAME_ADDR)
		buf_printf(out, "0x%" PRIx64, k->vaddr);
	else
		buf_str(out, k->kind == FRAME_FUNC && *name ? name
							    : "[unknown]");
}

void name_stable(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, struct buf *out)
{
	const struct prof_func *f = k->func && k->func <= p->funcs.n
					    ? &p->funcs.v[k->func - 1] : NULL;
	uint32_t path = f ? p->images.v[f->image].path : k->image;
	const char *image = label_image(&keys->labels, k->im);

	name_id(*image ? image : path_base(profile_cstr(p, path)),
		label_within(&keys->labels, k->func),
		f ? profile_cstr(p, f->file) : "", profile_cstr(p, k->name), k,
		out);
}

int name_cache_init(struct name_cache *c, const struct profile *p,
		    const struct frame_keys *keys, unsigned int how)
{
	*c = (struct name_cache){ .p = p, .keys = keys, .how = how };
	c->at = calloc(keys->keys.n + 1, sizeof(*c->at));
	return c->at ? 0 : -ERR_NOMEM;
}

void name_cache_fini(struct name_cache *c)
{
	free(c->at);
	buf_fini(&c->text);
	buf_fini(&c->tmp);
}

static void keep_name(struct name_cache *c, uint32_t fk, struct buf *name)
{
	c->text.failed |= name->failed;
	if (c->text.n >= UINT32_MAX - 1)
		return;
	c->at[fk] = (uint32_t)c->text.n + 1;
	if (c->keys->keys.v[fk].kernel)
		buf_str(&c->text, "[k] ");
	text_safe(&c->text, buf_cstr(name));
	buf_u8(&c->text, 0);
}

/* Returns how many rows' names are made together, and puts their keys in fk. */
static size_t rows_to_name(struct name_cache *c, const struct row_table *t,
			   const uint32_t *order, size_t n, uint32_t *fk)
{
	size_t named = 0;

	for (size_t i = 0; i < n && named < NAMED_TOGETHER; i++) {
		uint32_t k = t->rows.v[order[i]].fk;

		/* rows of several events, threads or CPUs have one function */
		if (c->at[k] || c->keys->keys.v[k].kind != FRAME_FUNC)
			continue;
		c->at[k] = UINT32_MAX;
		fk[named++] = k;
	}
	return named;
}

void name_cache_rows(struct name_cache *c, const struct row_table *t,
		     const uint32_t *order, size_t n)
{
	size_t most = n < NAMED_TOGETHER ? n : NAMED_TOGETHER;
	uint32_t *fk = calloc(most + 1, sizeof(*fk));
	struct name_set set;

	c->text.failed |= !fk;
	name_set_init(&set, fk && (c->how & NAME_SHORT)
				    ? rows_to_name(c, t, order, n, fk) : 0);
	for (size_t i = 0; i < set.n; i++)
		name_symbol(c->p, c->keys, &c->keys->keys.v[fk[i]],
			    c->how & ~(unsigned int)NAME_SHORT, &set.full[i]);
	name_set_shorten(&set);
	for (size_t i = 0; i < set.n; i++) {
		c->at[fk[i]] = 0;
		keep_name(c, fk[i], &set.brief[i]);
	}
	c->text.failed |= name_set_fini(&set);
	free(fk);
}

const char *name_cached(struct name_cache *c, uint32_t fk)
{
	if (!c->at[fk]) {
		buf_reset(&c->tmp);
		name_symbol(c->p, c->keys, &c->keys->keys.v[fk], c->how, &c->tmp);
		keep_name(c, fk, &c->tmp);
	}
	return c->text.failed || !c->at[fk]
		       ? "" : (const char *)c->text.p + c->at[fk] - 1;
}
