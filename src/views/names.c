// SPDX-License-Identifier: GPL-2.0-or-later
/* Readable names: see names.h. */
#include "views/names.h"

#include <stdlib.h>

#include "base/text.h"
#include "symbolize/symbolize.h"

void name_symbol(const struct profile *p, const struct frame_key *k,
		 struct buf *out)
{
	const char *name = profile_cstr(p, k->name);

	if (k->sort == FRAME_ADDR)
		frame_address_name(p, k->image, k->vaddr, out);
	else if (k->sort == FRAME_UNKNOWN || !*name)
		buf_str(out, "[unknown]");
	else
		demangle(name, out);
}

int name_cache_init(struct name_cache *c, const struct profile *p,
		    const struct frame_keys *keys, bool full)
{
	*c = (struct name_cache){ .p = p, .keys = keys, .full = full };
	c->at = calloc(keys->keys.n + 1, sizeof(*c->at));
	return c->at ? 0 : -ERR_NOMEM;
}

void name_cache_fini(struct name_cache *c)
{
	free(c->at);
	buf_fini(&c->text);
	buf_fini(&c->tmp);
	buf_fini(&c->tmp2);
}

static void make_name(struct name_cache *c, const struct frame_key *k)
{
	buf_reset(&c->tmp);
	buf_reset(&c->tmp2);
	name_symbol(c->p, k, &c->tmp);
	if (!c->full && k->sort == FRAME_FUNC)
		demangle_short(buf_cstr(&c->tmp), &c->tmp2);
	c->text.failed |= c->tmp.failed || c->tmp2.failed;
	if (k->kernel)
		buf_str(&c->text, "[k] ");
	text_safe(&c->text, buf_cstr(c->tmp2.n ? &c->tmp2 : &c->tmp));
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
