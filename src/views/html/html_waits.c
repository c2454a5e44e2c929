// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads wait for: kinds of entries, and the tables of waits and of what ended
 * them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/html/html_data.h"
#include "views/query/wait_kinds.h"

/* Numbers of the kinds that every page with kinds has. */
enum { NONE, UNKNOWN, OTHER, FIRST };

/* Returns the number of a kind that was numbered. */
static uint8_t kind_number(const struct html_waits *w, const char *name)
{
	uint32_t id = strtab_find(&w->kinds, name);

	return id < HTML_KINDS ? (uint8_t)id : OTHER;
}

/* Numbers a kind; beyond the limit all are one.  Returns UINT32_MAX if out of
 * memory. */
static uint32_t number_kind(struct html_waits *w, const char *name)
{
	return w->kinds.str.n < HTML_KINDS ? strtab_add(&w->kinds, name)
					   : kind_number(w, name);
}

static bool has_kinds(const struct profile *p)
{
	for (size_t i = 0; i < p->events.n; i++)
		if (wait_kinds_has(p, &p->events.v[i]))
			return true;
	return false;
}

static int number_nodes(struct html_waits *w, struct html_source *s)
{
	struct profile *p = s->in.rep->p;
	uint32_t *kinds;
	int rc = 0;

	if (!has_kinds(p))
		return 0;
	kinds = wait_kinds_of_nodes(p);
	s->kind_of = calloc(p->nodes.n + 1, 1);
	if (!kinds || !s->kind_of) {
		free(kinds);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; !rc && i < p->nodes.n; i++) {
		uint32_t id = kinds[i] ? number_kind(w, profile_cstr(p, kinds[i]))
				       : UNKNOWN;

		s->kind_of[i] = (uint8_t)id;
		rc = id == UINT32_MAX ? -ERR_NOMEM : 0;
	}
	free(kinds);
	return rc;
}

/* The tables of a page with one recording. */
static int build_tables(struct html_data *d)
{
	const struct html_input *in = &d->src[0].in;

	if (wait_sites_build(in->rep, in->r, &d->waits.sites) < 0)
		return -ERR_NOMEM;
	return wait_pairs_build(in->rep, in->r, &d->waits.pairs,
				&d->waits.blocked);
}

int html_waits(struct html_data *d, struct error *err)
{
	struct html_waits *w = &d->waits;
	bool any = false;
	int rc = strtab_init(&w->kinds);

	if (!rc && (strtab_add(&w->kinds, "") != NONE ||
		    strtab_add(&w->kinds, "unknown") != UNKNOWN ||
		    strtab_add(&w->kinds, "other") != OTHER))
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < d->nsrc; i++) {
		rc = number_nodes(w, &d->src[i]);
		any |= d->src[i].kind_of != NULL;
	}
	w->any = any;
	if (!rc && any && d->nsrc == 1)
		rc = build_tables(d);
	return rc < 0 ? error_nomem(err) : 0;
}

uint8_t html_kind(const struct html_source *s, const struct prof_event *e,
		  uint32_t stack)
{
	return s->kind_of && wait_kinds_has(s->in.rep->p, e) ? s->kind_of[stack]
							     : NONE;
}

void html_waits_fini(struct html_waits *w)
{
	strtab_fini(&w->kinds);
	wait_sites_fini(&w->sites);
	wait_sites_fini(&w->pairs);
}

/* Writes [function, library function]; each is a function of the page, or its name if
 * the page does not have it. */
static void put_place(struct html_encoder *e, const char *key, struct wait_place at,
		      struct json *j)
{
	const struct html_source *s = &e->d->src[0];
	const uint32_t fks[2] = { at.func, at.call };

	json_array(j, key);
	for (int i = 0; i < 2; i++) {
		if (fks[i] == PROF_NONE)
			continue;
		if (s->func_of[fks[i]] != PROF_NONE) {
			json_uint(j, NULL, s->func_of[fks[i]]);
			continue;
		}
		buf_again(&e->tmp);
		wait_place_text(s->in.rep,
				(struct wait_place){ fks[i], PROF_NONE }, true,
				&e->tmp);
		json_str(j, NULL, html_safe_text(e, buf_cstr(&e->tmp)));
	}
	json_end(j);
}

static void put_rows(struct html_encoder *e, const char *key,
		     const struct wait_sites *sites, struct json *j)
{
	const struct html_data *d = e->d;
	const struct html_source *s = &d->src[0];
	const struct profile *p = s->in.rep->p;
	struct cell rest = { 0, 0 };
	size_t n = 0, left = 0;

	json_object(j, key);
	json_array_lines(j, "rows");
	for (size_t i = 0; i < sites->rows.n; i++) {
		const struct wait_site *w = &sites->rows.v[i];
		const struct prof_event *ev = &p->events.v[w->event];

		if (!prof_is_wait(ev))
			continue;
		if (n == HTML_WAIT_ROWS) {
			cell_add(&rest, w->sum);
			left++;
			continue;
		}
		n++;
		json_object(j, NULL);
		json_uint(j, "event",
			  s->col_of[s->in.rep->agg.col_of[w->event]]);
		json_uint(j, "kind", !wait_kinds_has(p, ev) ? NONE : !w->kind
			? UNKNOWN : kind_number(&d->waits,
						profile_cstr(p, w->kind)));
		put_place(e, "at", w->at, j);
		if (w->from != PROF_NONE)
			put_place(e, "from", (struct wait_place){ w->from, PROF_NONE }, j);
		if (w->by.func != PROF_NONE)
			put_place(e, "by", w->by, j);
		if (w->group)
			json_uint(j, "group", w->group);
		json_uint(j, "waits", w->sum.count);
		json_uint(j, "ns", w->sum.weight);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "more", left);
	json_uint(j, "more_ns", rest.weight);
	json_end(j);
}

void html_put_waits(struct html_encoder *e, struct json *j)
{
	const struct html_waits *w = &e->d->waits;

	if (!w->any)
		return;
	json_array(j, "kinds");
	for (size_t i = 0; i < w->kinds.str.n; i++)
		json_str(j, NULL, html_safe_text(e, w->kinds.str.v[i]));
	json_end(j);
	if (e->d->nsrc > 1)
		return;
	json_object(j, "waits");
	json_array(j, "groups");
	for (int g = 0; g < WAITS_GROUPS; g++)
		json_str(j, NULL, wait_group_heading(g) ? wait_group_heading(g) : "");
	json_end(j);
	put_rows(e, "sites", &w->sites, j);
	put_rows(e, "pairs", &w->pairs, j);
	json_uint(j, "blocked_ns", w->blocked);
	json_end(j);
}
