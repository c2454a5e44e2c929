// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs what a page of a comparison shows of both sides: source files, codes of
 * the same function, and their lines and instructions.
 *
 * In the JSON, "file_pairs" and "code_pairs" are lists of [old, new, runs…], with
 * indexes of files or codes of the page.  A run is four numbers: the first old
 * and the first new line or instruction, how many are paired, and whether they
 * differ (1).  Others are on one side only.  If there are no runs, they are
 * paired by number.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/paths.h"
#include "symbolize/demangle/clones.h"
#include "views/annotate/listing.h"
#include "views/code/line_match.h"
#include "views/html/html_data.h"

enum { RUNS_MAX = 60000 };	/* runs in a page */

static int side_of(const struct html_data *d, uint32_t source)
{
	return d->src[source].in.side == HTML_BASE ? LISTING_OLD : LISTING_NEW;
}

/* Adds the runs of the aligned rows to the last pair. */
static int add_runs(struct html_lines *l, struct html_pair *p,
		    const struct align_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct align_row *r = &rows->v[i];
		struct html_run *last = p->n ? &l->runs.v[l->runs.n - 1] : NULL;
		struct html_run run = { { r->at[0], r->at[1] }, 1,
					r->how == ALIGN_CHANGED };

		if (r->how != ALIGN_SAME && r->how != ALIGN_CHANGED)
			continue;
		if (last && last->changed == run.changed &&
		    last->at[0] + last->n == run.at[0] &&
		    last->at[1] + last->n == run.at[1]) {
			last->n++;
			continue;
		}
		if (vec_push(&l->runs, run) < 0)
			return -ERR_NOMEM;
		p->n++;
	}
	return 0;
}

/* Adds a pair with the runs of its aligned rows. */
static int add_pair(struct html_lines *l, uint32_t old, uint32_t now,
		    bool is_code, const struct align_rows *rows)
{
	struct html_pair p = { is_code, { old, now }, l->runs.n, 0 };

	if (add_runs(l, &p, rows) < 0)
		return -ERR_NOMEM;
	if (l->runs.n > RUNS_MAX) {
		l->runs.n = p.first;
		p.n = 0;
	}
	return vec_push(&l->pairs, p);
}

/* --- files */

/* Collects the lines that the page may show of a file. */
static int collect_lines(struct html_data *d, uint32_t file,
			 struct line_pair *x)
{
	const struct html_file *f = &d->lines.files.v[file];
	struct annotation *a = d->src[f->source].in.lines;
	const struct source_file *s = sources_get(&a->sources, f->str, f->image);
	struct html_text_range r = { .file = file };
	struct span text;
	int rc = s ? 0 : -ERR_NOMEM;

	while (!rc && html_next_lines(&d->lines, &r))
		for (uint32_t line = r.from; !rc && line <= r.end; line++) {
			if (!source_line(&a->sources, s, line, &text) &&
			    line > r.to)
				break;
			rc = line_pair_add(x, side_of(d, f->source), &a->sources,
					   s, line);
		}
	return rc;
}

static int pair_files(struct html_data *d, uint32_t old, uint32_t now)
{
	struct align_rows rows = { 0 };
	struct line_pair x;
	int rc = line_pair_init(&x) ?:
		 collect_lines(d, old, &x) ?:
		 collect_lines(d, now, &x) ?:
		 line_pair_align(&x, &rows) ?:
		 add_pair(&d->lines, old, now, false, &rows);

	vec_fini(&rows);
	line_pair_fini(&x);
	return rc;
}

/* Returns the file of the other side with the same path, or PROF_NONE. */
static uint32_t same_path(struct html_data *d, const struct html_file *f,
			  const char *path)
{
	enum html_side other = d->src[f->source].in.side == HTML_NEW ? HTML_BASE
								     : HTML_NEW;
	uint32_t id = strtab_add(&d->lines.paths, path);
	uint32_t at = u64map_get(&d->lines.file_tab, (uint64_t)id * 2 + other);

	return at == U64MAP_NONE ? PROF_NONE : at;
}

static int pair_all_files(struct html_data *d)
{
	VEC(struct side_path) v = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->lines.files.n; i++) {
		const struct html_file *f = &d->lines.files.v[i];
		const char *path = profile_cstr(html_rep(d, f->source)->p,
						f->str);
		int side = side_of(d, f->source);
		uint32_t other = same_path(d, f, path);
		struct side_path one = { .id = i, .side = (uint8_t)side,
					 .path = path };

		if (other == PROF_NONE)
			rc = vec_push(&v, one);
		else if (side == LISTING_NEW)
			rc = pair_files(d, other, i);
	}
	if (!rc)
		rc = paths_pair(v.v, v.n);
	for (size_t i = 0; !rc && i < v.n; i++)
		if (v.v[i].paired && v.v[i].side == LISTING_NEW)
			rc = pair_files(d, v.v[i].pair, v.v[i].id);
	vec_fini(&v);
	return rc;
}

/* --- codes */

static int pair_codes(struct html_data *d, uint32_t old, uint32_t now)
{
	const struct html_code *o = &d->lines.codes.v[old];
	const struct html_code *n = &d->lines.codes.v[now];
	const struct annotation *const a[LISTING_SIDES] = {
		d->src[o->source].in.lines, d->src[n->source].in.lines };
	struct align_rows rows = { 0 };
	int rc = annot_align_codes(a, (size_t[]){
		o->insns ? o->at : SIZE_MAX, n->insns ? n->at : SIZE_MAX }, &rows);

	if (!rc)
		rc = add_pair(&d->lines, old, now, true, &rows);
	vec_fini(&rows);
	return rc;
}

/* Returns a name without compiler suffixes, as a string of `names`; UINT32_MAX if out of
 * memory. */
static uint32_t base_name(const struct profile *p, uint32_t name,
			  struct strtab *names)
{
	const char *text = profile_cstr(p, name);

	return strtab_add_n(names, text, clone_base(text));
}

/* A function of a side: its number (html_input.match) and its base_name. */
struct named {
	uint32_t number, name;
};

typedef VEC(struct named) named_list;

static int list_functions(const struct html_data *d, int side, struct strtab *names,
			  named_list *out)
{
	for (uint32_t i = 0; i < d->nsrc; i++) {
		const struct report *rep = html_rep(d, i);

		for (uint32_t fk = 0; side_of(d, i) == side && fk < rep->keys.keys.n;
		     fk++) {
			const struct frame_key *k = &rep->keys.keys.v[fk];
			struct named f = { html_match(&d->src[i].in, fk),
					   base_name(rep->p, k->name, names) };

			if (f.name == UINT32_MAX ||
			    (k->kind == FRAME_FUNC && vec_push(out, f) < 0))
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* Maps the names of old functions to those of the new ones that correspond. */
static int map_names(const struct html_data *d, struct strtab *names,
		     struct u64map *now)
{
	named_list old = { 0 }, new = { 0 };
	struct u64map name_of = { 0 };	/* by number, of new functions */
	int rc = list_functions(d, LISTING_OLD, names, &old) ?:
		 list_functions(d, LISTING_NEW, names, &new);

	for (size_t i = 0; !rc && i < new.n; i++)
		rc = u64map_put(&name_of, new.v[i].number, new.v[i].name);
	for (size_t i = 0; !rc && i < old.n; i++) {
		uint32_t to = u64map_get(&name_of, old.v[i].number);

		if (to != U64MAP_NONE)
			rc = u64map_put(now, old.v[i].name, to);
	}
	u64map_fini(&name_of);
	vec_fini(&old);
	vec_fini(&new);
	return rc;
}

/* Gives old codes of renamed functions their new name: of those names that only codes of
 * one side have.  `name` holds the names of codes. */
static int rename_codes(const struct html_data *d, struct strtab *names,
			uint32_t *name)
{
	struct u64map now = { 0 };
	size_t n = names->str.n;
	uint8_t *has = calloc(n, 1);	/* by name: bit 1 << side: a code has it */
	int rc = has ? map_names(d, names, &now) : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < d->lines.codes.n; i++)
		has[name[i]] |= (uint8_t)(1u << side_of(
			d, d->lines.codes.v[i].source));
	for (size_t i = 0; !rc && i < d->lines.codes.n; i++) {
		uint32_t to = u64map_get(&now, name[i]);

		if (to < n && has[name[i]] == 1u << LISTING_OLD &&
		    has[to] == 1u << LISTING_NEW)
			name[i] = to;
	}
	u64map_fini(&now);
	free(has);
	return rc;
}

static int name_codes(const struct html_data *d, struct strtab *names,
		      uint32_t *name)
{
	for (size_t i = 0; i < d->lines.codes.n; i++) {
		const struct html_code *c = &d->lines.codes.v[i];
		const struct annotation *a = d->src[c->source].in.lines;

		name[i] = base_name(a->p, a->p->symbols.v[
				a->codes.v[c->at].symbol].name, names);
		if (name[i] == UINT32_MAX)
			return -ERR_NOMEM;
	}
	return rename_codes(d, names, name);
}

/* Pairs codes of the same function in the order of their cost. */
static int pair_all_codes(struct html_data *d)
{
	struct html_lines *l = &d->lines;
	uint32_t *name = malloc((l->codes.n + 1) * sizeof(*name));
	uint32_t *next = malloc((l->codes.n + 1) * sizeof(*next));
	uint32_t *first = NULL;		/* by name: old codes that are left */
	struct strtab names;
	int rc = strtab_init(&names) < 0 || !name || !next ? -ERR_NOMEM : 0;

	if (!rc)
		rc = name_codes(d, &names, name);
	if (!rc) {
		first = malloc(names.str.n * sizeof(*first));
		rc = first ? 0 : -ERR_NOMEM;
	}
	if (!rc)
		memset(first, 0xff, names.str.n * sizeof(*first));
	/* backwards, so that the most expensive one comes first */
	for (uint32_t i = (uint32_t)l->codes.n; !rc && i-- > 0;)
		if (side_of(d, l->codes.v[i].source) == LISTING_OLD) {
			next[i] = first[name[i]];
			first[name[i]] = i;
		}
	for (uint32_t i = 0; !rc && i < l->codes.n; i++) {
		uint32_t old = first[name[i]];

		if (side_of(d, l->codes.v[i].source) == LISTING_OLD ||
		    !name[i] || old == PROF_NONE)
			continue;
		rc = pair_codes(d, old, i);
		first[name[i]] = next[old];
	}
	free(first);
	strtab_fini(&names);
	free(name);
	free(next);
	return rc;
}

int html_pairs(struct html_data *d, struct error *err)
{
	int rc = pair_all_files(d) ?: pair_all_codes(d);

	return rc < 0 ? error_nomem(err) : 0;
}

static void put_pairs(const struct html_lines *l, bool is_code, const char *name,
		      struct json *j)
{
	json_array_lines(j, name);
	for (size_t i = 0; i < l->pairs.n; i++) {
		const struct html_pair *p = &l->pairs.v[i];

		if (p->is_code != is_code)
			continue;
		json_array(j, NULL);
		json_uint(j, NULL, p->of[LISTING_OLD]);
		json_uint(j, NULL, p->of[LISTING_NEW]);
		for (size_t k = p->first; k < p->first + p->n; k++) {
			const struct html_run *r = &l->runs.v[k];

			json_uint(j, NULL, r->at[LISTING_OLD]);
			json_uint(j, NULL, r->at[LISTING_NEW]);
			json_uint(j, NULL, r->n);
			json_uint(j, NULL, r->changed);
		}
		json_end(j);
	}
	json_end(j);
}

void html_put_pairs(const struct html_lines *l, struct json *j)
{
	put_pairs(l, false, "file_pairs", j);
	put_pairs(l, true, "code_pairs", j);
}
