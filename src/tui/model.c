// SPDX-License-Identifier: GPL-2.0-or-later
/* The data that the interactive view shows (see page.h). */
#include "tui/page.h"

#include <stdlib.h>
#include <string.h>

void data_free(struct data *d)
{
	if (!d)
		return;
	tree_explorer_fini(&d->trees);
	name_cache_fini(&d->row_names);
	name_cache_fini(&d->tree_names);
	report_free(d->rep);
	free(d);
}

struct select_spec model_select(struct model *m)
{
	struct select_spec s = m->spec.select;

	if (m->tid)
		s.tids = m->tid;
	if (m->image) {
		m->image_list[0] = m->image;
		s.images = (struct name_list){ m->image_list, 1 };
	}
	if (m->symbol) {
		m->symbol_list[0] = m->symbol;
		s.symbols = (struct name_list){ m->symbol_list, 1 };
	}
	return s;
}

static int data_make(struct model *m, const struct key_list *keys,
		     struct data **out, struct error *err)
{
	struct report_spec spec = {
		.keys = *keys,
		.select = model_select(m),
		.tree = TREE_CALLERS,
		.lazy = true,
		.no_inline = m->spec.no_inline,
		.by_total = m->spec.by_total,
	};
	struct data *d = calloc(1, sizeof(*d));
	unsigned int how = m->full_names ? 0 : NAME_SHORT;
	int rc = d ? report_build(m->r, &spec, &d->rep, err) : error_nomem(err);

	if (!rc)
		rc = tree_explorer_init(&d->trees, d->rep, err);
	if (!rc && (name_cache_init(&d->row_names, m->p, &d->rep->keys,
				    how) < 0 ||
		    name_cache_init(&d->tree_names, m->p, d->rep->tree_keys,
				    how | NAME_ALONE) < 0))
		rc = error_nomem(err);
	if (!rc)
		name_cache_rows(&d->row_names, &d->rep->table, d->rep->order.v,
				d->rep->order.n);
	if (rc)
		data_free(d);
	else
		*out = d;
	return rc;
}

/* Returns whether the rows are those of the flat report, in any order of
 * columns. */
static bool is_flat(const struct key_list *keys)
{
	return keys->mask == (KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL));
}

static void forget(struct model *m)
{
	if (m->flat != m->table)
		data_free(m->flat);
	data_free(m->table);
	m->flat = m->table = NULL;
}

int model_reload(struct model *m, struct error *err)
{
	struct data *d = NULL;
	int rc = data_make(m, &m->keys, &d, err);

	if (rc)
		return rc;
	forget(m);
	m->table = d;
	if (is_flat(&m->keys))
		m->flat = d;
	return 0;
}

static bool find_callers(const struct profile *p)
{
	for (size_t i = 1; i < p->nodes.n; i++)
		if (p->nodes.v[i].parent &&
		    !prof_is_mark(p->nodes.v[p->nodes.v[i].parent].loc))
			return true;
	for (size_t i = 0; i < p->frames.n; i++)
		if (p->frames.v[i].outer != PROF_NONE)
			return true;
	return false;
}

int model_renew(struct model *m, struct reader *r, struct data **old,
		struct error *err)
{
	struct reader *before = m->r;
	struct data *d = NULL;
	int rc;

	m->r = r;
	m->p = reader_profile(r);
	rc = data_make(m, &m->keys, &d, err);
	if (rc) {
		m->r = before;
		m->p = reader_profile(before);
		return rc;
	}
	if (m->flat != m->table)
		data_free(m->flat);
	*old = m->table;
	m->table = d;
	m->flat = is_flat(&m->keys) ? d : NULL;
	m->has_callers = find_callers(m->p);
	return 0;
}

struct data *model_flat(struct model *m, struct error *err)
{
	struct key_list keys;

	if (!m->flat && !key_list_parse("image,symbol", &keys, NULL))
		data_make(m, &keys, &m->flat, err);
	return m->flat;
}

int model_report(struct model *m, const char *keys, struct report **out,
		 struct error *err)
{
	struct report_spec spec = { .select = model_select(m),
				    .no_inline = m->spec.no_inline };
	int rc = key_list_parse(keys, &spec.keys, err);

	return rc ? rc : report_build(m->r, &spec, out, err);
}

int model_init(struct model *m, struct reader *r, const struct tui_options *o,
	       struct error *err)
{
	*m = (struct model){ .r = r, .p = reader_profile(r),
			     .spec = o->report, .keys = o->report.keys,
			     .full_names = o->full_names };
	m->has_callers = find_callers(m->p);
	return model_reload(m, err);
}

void model_set_none(struct model *m)
{
	model_set(&m->tid, NULL);
	model_set(&m->image, NULL);
	model_set(&m->symbol, NULL);
}

void model_fini(struct model *m)
{
	forget(m);
	model_set_none(m);
}

int model_set(char **which, const char *value)
{
	char *copy = value && *value ? strdup(value) : NULL;

	if (value && *value && !copy)
		return -ERR_NOMEM;
	free(*which);
	*which = copy;
	return 0;
}

bool model_filters(const struct model *m)
{
	return m->tid || m->image || m->symbol;
}

uint32_t model_same_function(const struct frame_keys *to,
			     const struct frame_key *k)
{
	for (uint32_t i = 0; i < to->keys.n; i++) {
		const struct frame_key *x = &to->keys.v[i];

		if (x->kind == k->kind && x->name == k->name &&
		    x->vaddr == k->vaddr && x->kernel == k->kernel &&
		    (!k->im || x->im == k->im) && x->func == k->func)
			return i;
	}
	return PROF_NONE;
}

static bool image_fits(const struct profile *p, uint32_t image,
		       const struct frame_key *k)
{
	return image < p->images.n &&
	       (!k->image || p->images.v[image].path == k->image);
}

bool model_pick(const struct model *m, const struct frame_key *k,
		struct annot_pick *out)
{
	const struct profile *p = m->p;

	if (k->kind == FRAME_FUNC && k->func && k->func <= p->funcs.n) {
		*out = (struct annot_pick){ UNIT_FUNCTION, k->func - 1 };
		return true;
	}
	for (uint32_t i = 0; k->kind == FRAME_ADDR && i < p->symbols.n; i++) {
		const struct prof_symbol *s = &p->symbols.v[i];

		if (image_fits(p, s->image, k) &&
		    k->vaddr - s->vaddr < s->size) {
			*out = (struct annot_pick){ UNIT_CODE, i };
			return true;
		}
	}
	if (!k->kind && k->file) {
		*out = (struct annot_pick){ UNIT_FILE, k->file };
		return true;
	}
	return false;
}

size_t model_column(const struct model *m, const struct report *rep)
{
	return m->event < rep->table.ncols ? m->event : 0;
}
