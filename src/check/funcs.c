// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of one name in an image: which is which in all recordings
 * (views/func_match.h), and what tells them apart. */
#include <stdlib.h>
#include <string.h>

#include "check/runs_internal.h"
#include "symbolize/clones.h"
#include "views/func_match.h"

struct matching {
	struct check_runs *c;
	VEC(struct match_item) items;
	VEC(uint32_t) rows;	/* by item: func of its file */
	uint32_t nids;
};

static int list_file(struct matching *m, uint32_t file)
{
	struct check_file *f = &m->c->files.v[file];
	const struct profile *p = f->p;

	for (uint32_t i = 0; i < p->funcs.n; i++) {
		const struct prof_func *fn = &p->funcs.v[i];
		const struct prof_image *im = &p->images.v[fn->image];
		const char *name = profile_cstr(p, fn->name);
		size_t n = clone_base(name);
		struct match_item x = {
			.recording = file, .clone = name[n], .line = fn->line,
			.vaddr = fn->vaddr, .file = profile_cstr(p, fn->file) };

		if (f->keys.same.func[i] != i)
			continue;
		if (im->build_id.len)
			x.build = hash_bytes(im->build_id.bytes,
					     im->build_id.len) | 1;
		x.image = strtab_add(&m->c->str,
				     path_base(profile_cstr(p, im->path)));
		x.name = strtab_add_n(&m->c->str, name, n);
		if (x.image == UINT32_MAX || x.name == UINT32_MAX ||
		    vec_push(&m->items, x) < 0 || vec_push(&m->rows, i) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Labels of all functions, by 1 + id: as the newest recording that has them
 * says.  Recordings come by side, the new one last. */
static int label_all(struct matching *m, struct labels *l)
{
	struct check_runs *c = m->c;
	struct label_func *v = calloc(m->nids + 1, sizeof(*v));
	int rc = v ? labels_images(l, NULL, 0, c->str.str.n + 1) : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < m->items.n; i++) {
		const struct match_item *x = &m->items.v[i];
		struct label_func *to = &v[x->id];

		if (to->id && to->line && !x->line)
			continue;
		*to = (struct label_func){ x->id + 1, x->name, x->image, x->line,
					   x->file, x->vaddr, false };
	}
	if (!rc)
		rc = labels_funcs(l, v, m->nids, m->nids + 1, c->str.str.v);
	free(v);
	return rc;
}

static int set_which(struct matching *m, const struct labels *l)
{
	struct check_runs *c = m->c;

	for (size_t i = 0; i < c->files.n; i++) {
		struct check_file *f = &c->files.v[i];

		f->which = calloc(f->p->funcs.n + 1, sizeof(*f->which));
		if (!f->which)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->items.n; i++) {
		const struct match_item *x = &m->items.v[i];
		const char *label = label_within(l, x->id + 1);
		uint32_t id = *label ? strtab_add(&c->str, label) : 0;

		if (id == UINT32_MAX)
			return -ERR_NOMEM;
		c->files.v[x->recording].which[m->rows.v[i]] = id;
	}
	return 0;
}

int runs_match_funcs(struct check_runs *c)
{
	struct matching m = { .c = c };
	struct labels l = { .nfuncs = 0 };
	/* 0 is no label */
	int rc = strtab_add(&c->str, "") ? -ERR_NOMEM : 0;

	for (uint32_t i = 0; !rc && i < c->files.n; i++)
		rc = list_file(&m, i);
	if (!rc)
		rc = match_items(m.items.v, m.items.n, &m.nids);
	if (!rc)
		rc = label_all(&m, &l);
	if (!rc)
		rc = set_which(&m, &l);
	labels_fini(&l);
	vec_fini(&m.items);
	vec_fini(&m.rows);
	return rc;
}
