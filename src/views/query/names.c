// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes readable names of frame keys. */
#include "views/query/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/demangle.h"

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

	buf_bytes(&bare, name, (size_t)(label - name));
	demangle_short(buf_cstr(&bare), out);
	buf_str(out, label);
	out->failed |= bare.failed;
	buf_fini(&bare);
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
	out->failed |= whole.failed;
	buf_fini(&whole);
}

void name_symbol(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, unsigned int how, struct buf *out)
{
	const char *name = profile_cstr(p, k->name), *label;
	bool alone = (how & NAME_ALONE) || !(keys->mask & KEY_BIT(KEY_IMAGE));

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
	label = alone ? label_among(&keys->labels, k->func)
		      : label_within(&keys->labels, k->func);
	if (*label && !(how & NAME_BARE))
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

static void make_name(struct name_cache *c, const struct frame_key *k)
{
	buf_reset(&c->tmp);
	name_symbol(c->p, c->keys, k, c->how, &c->tmp);
	c->text.failed |= c->tmp.failed;
	if (k->kernel)
		buf_str(&c->text, "[k] ");
	text_safe(&c->text, buf_cstr(&c->tmp));
	buf_u8(&c->text, 0);
}

const char *name_cached(struct name_cache *c, uint32_t fk)
{
	if (!c->at[fk] && c->text.n < UINT32_MAX - 1) {
		c->at[fk] = (uint32_t)c->text.n + 1;
		make_name(c, &c->keys->keys.v[fk]);
	}
	return c->text.failed || !c->at[fk]
		       ? "" : (const char *)c->text.p + c->at[fk] - 1;
}
