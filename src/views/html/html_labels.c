// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of the page: their values, and the cohorts of threads that the page tells
 * apart by them.
 *
 * A label belongs to the page if it was given to a recording, or if it is derived
 * and has different values.  A page holds few values of a label: the rarest ones
 * become one value, "other".  All remaining values are exact.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/thread_labels.h"
#include "views/html/html_data.h"

enum { NAMES_MAX = 64 };	/* labels that are considered */

/* Labels that tally derives and a user may choose. */
static const char *const derived[] = { "host", "service", "container", "pod",
				       "task", "cgroup" };
enum { DERIVED = COUNT(derived) };

struct name {
	const char *text;
	bool given;
};

struct work {
	struct html_data *d;
	struct thread_labels *of;	/* by source */
	VEC(struct name) names;
};

static int add_name(struct work *w, const char *text, bool given)
{
	struct name new = { text, given };

	for (size_t i = 0; i < w->names.n; i++)
		if (!strcmp(w->names.v[i].text, text)) {
			w->names.v[i].given |= given;
			return 0;
		}
	if (w->names.n < NAMES_MAX)
		return vec_push(&w->names, new);
	w->d->labels.more = true;
	return 0;
}

static int find_names(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < DERIVED; i++)
		rc = add_name(w, derived[i], false);
	for (size_t s = 0; s < w->d->nsrc; s++) {
		const struct thread_labels *l = &w->of[s];

		for (size_t i = 0; !rc && i < l->given.n; i++)
			rc = add_name(w, strtab_get(&l->str,
						    l->given.v[i].name), true);
	}
	return rc;
}

static void label_fini(struct html_label *l)
{
	vec_fini(&l->values);
	free(l->row_value);
}

/* Returns the number of a value in `l`, new or known, or PROF_NONE if out of
 * memory. */
static uint32_t number_value(struct work *w, struct html_label *l,
			     struct u64map *known, const char *text)
{
	struct html_value new = { 0 };

	new.str = text ? strtab_add(&w->d->labels.str, text) : UINT32_MAX;
	if (new.str == UINT32_MAX)
		return PROF_NONE;
	if (!new.str)
		return 0;
	return u64map_row(known, &l->values, new.str, &new);
}

/* Numbers the values of a label by thread row of each source, and counts their
 * samples.  Value 0 is "": threads without the label. */
static int find_values(struct work *w, const char *name, struct html_label *l)
{
	struct u64map known = { 0 };
	int rc = vec_push(&l->values, (struct html_value){ 0 });
	size_t row = 0;

	l->name = strtab_add(&w->d->labels.str, name);
	for (size_t s = 0; !rc && s < w->d->nsrc; s++) {
		const struct html_source *src = &w->d->src[s];
		size_t n = src->in.rep->p->threads.n;

		for (uint32_t i = 0; !rc && i < n; i++, row++) {
			uint32_t value;

			if (!src->thread_samples[i])
				continue;
			value = number_value(w, l, &known, thread_label_named(
						     &w->of[s], i, name));
			if (value == PROF_NONE) {
				rc = -ERR_NOMEM;
				continue;
			}
			l->row_value[row] = value;
			l->values.v[value].samples += src->thread_samples[i];
		}
	}
	u64map_fini(&known);
	return rc || l->name == UINT32_MAX ? -ERR_NOMEM : 0;
}

struct value_order {
	uint64_t samples;
	const char *text;
	uint32_t value;
};

static int by_samples(const void *x, const void *y)
{
	const struct value_order *a = x, *b = y;

	return descending(a->samples, b->samples) ?: strcmp(a->text, b->text);
}

/* Sorts the values by samples and sums all but the first `keep` ones as "other".
 * Value 0 stays, and an older "other" is summed, too.  to: by old value, the new
 * one. */
static int sort_values(const struct strtab *str, struct html_label *l,
		       size_t keep, uint32_t *to)
{
	size_t n = l->values.n, k = 0;
	struct value_order *order = malloc(n * sizeof(*order));
	struct html_value *v = calloc(n + 1, sizeof(*v));
	struct html_value other = { 0 };

	if (!order || !v) {
		free(order);
		free(v);
		return -ERR_NOMEM;
	}
	v[0] = l->values.v[0];
	to[0] = 0;
	for (uint32_t i = 1; i < n; i++)
		if (!l->values.v[i].others)
			order[k++] = (struct value_order){
				l->values.v[i].samples,
				strtab_get(str, l->values.v[i].str), i };
	sort_rows(order, k, by_samples);
	if (keep > k)
		keep = k;
	for (size_t i = 0; i < k; i++) {
		const struct html_value *from = &l->values.v[order[i].value];

		to[order[i].value] = (uint32_t)(i < keep ? i : keep) + 1;
		if (i < keep) {
			v[i + 1] = *from;
		} else {
			other.samples += from->samples;
			other.others++;
		}
	}
	for (size_t i = 1; i < n; i++)
		if (l->values.v[i].others) {
			to[i] = (uint32_t)keep + 1;
			other.samples += l->values.v[i].samples;
			other.others += l->values.v[i].others;
		}
	k = keep + 1;
	if (other.others)
		v[k++] = other;
	free(order);
	free(l->values.v);
	l->values.v = v;
	l->values.cap = n + 1;
	l->values.n = k;
	return 0;
}

/* Returns the number of values that have samples. */
static size_t different(const struct html_label *l)
{
	return l->values.n - !l->values.v[0].samples;
}

/* Takes the values of one more label into the page. */
static int take_label(struct work *w, const struct name *name, size_t rows)
{
	struct html_labels *to = &w->d->labels;
	struct html_label l = { 0 };
	uint32_t *map = NULL;
	int rc;

	l.row_value = calloc(rows + 1, sizeof(*l.row_value));
	rc = l.row_value ? find_values(w, name->text, &l) : -ERR_NOMEM;
	if (!rc && (name->given ? l.values.n > 1 : different(&l) > 1)) {
		map = malloc(l.values.n * sizeof(*map));
		rc = map ? sort_values(&to->str, &l, HTML_VALUES, map)
			 : -ERR_NOMEM;
		for (size_t i = 0; !rc && i < rows; i++)
			l.row_value[i] = map[l.row_value[i]];
		if (!rc)
			rc = vec_push(&to->v, l);
		free(map);
		if (!rc)
			return 0;
	}
	label_fini(&l);
	return rc;
}

static uint64_t labelled(const struct html_label *l)
{
	uint64_t n = 0;

	for (size_t i = 1; i < l->values.n; i++)
		n += l->values.v[i].samples;
	return n;
}

static void drop_label(struct html_labels *l, size_t at)
{
	label_fini(&l->v.v[at]);
	l->v.n--;
	memmove(&l->v.v[at], &l->v.v[at + 1], (l->v.n - at) * sizeof(*l->v.v));
	l->more = true;
}

/* Keeps the labels of most samples, in their order. */
static void drop_labels(struct html_labels *l)
{
	while (l->v.n > HTML_LABELS) {
		size_t least = 0;

		for (size_t i = 1; i < l->v.n; i++)
			if (labelled(&l->v.v[i]) <= labelled(&l->v.v[least]))
				least = i;
		drop_label(l, least);
	}
}

/* Compares thread rows by what distinguishes cohorts. */
static int by_cohort(const void *x, const void *y, void *ctx)
{
	const struct html_labels *l = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int way = ascending(l->row_lane[a], l->row_lane[b]);

	for (size_t i = 0; !way && i < l->v.n; i++)
		way = ascending(l->v.v[i].row_value[a],
				l->v.v[i].row_value[b]);
	return way;
}

/* Numbers the combinations of lanes and values, in their order. */
static int number_cohorts(struct html_labels *l)
{
	size_t k = 0;

	l->cohorts.n = 0;
	for (uint32_t i = 0; i < l->rows; i++)
		if (l->row_lane[i] != PROF_NONE)
			l->order[k++] = i;
	sort_rows_r(l->order, k, by_cohort, l);
	for (size_t i = 0; i < k; i++) {
		if ((!i || by_cohort(&l->order[i - 1], &l->order[i], l)) &&
		    vec_push(&l->cohorts, l->order[i]) < 0)
			return -ERR_NOMEM;
		l->row_cohort[l->order[i]] = (uint32_t)l->cohorts.n - 1;
	}
	return 0;
}

/* Sums the rarer half of the values of the label that has most as "other".  Drops the
 * label if nothing is left to sum.  Returns 1 if there are no labels. */
static int fold_values(struct html_labels *l)
{
	struct html_label *x;
	size_t most = 0, named;
	uint32_t *to;
	int rc;

	for (size_t i = 1; i < l->v.n; i++)
		if (l->v.v[i].values.n > l->v.v[most].values.n)
			most = i;
	if (!l->v.n)
		return 1;
	x = &l->v.v[most];
	if (x->values.n <= 2) {
		drop_label(l, most);
		return 0;
	}
	named = x->values.n - 1;
	named -= x->values.v[named].others > 0;
	to = malloc(x->values.n * sizeof(*to));
	rc = to ? sort_values(&l->str, x, named / 2, to) : -ERR_NOMEM;
	for (size_t i = 0; !rc && i < l->rows; i++)
		x->row_value[i] = to[x->row_value[i]];
	free(to);
	return rc;
}

static void renumber(struct html_entries *e, const uint32_t *to)
{
	for (size_t i = 0; i < e->v.n; i++)
		e->v.v[i].cohort = to[e->v.v[i].cohort] % HTML_COHORTS;
}

int html_fewer_cohorts(struct html_data *d)
{
	struct html_labels *l = &d->labels;
	size_t n = l->cohorts.n;
	uint32_t *row = malloc((n + 1) * sizeof(*row));
	int rc = row ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		row[i] = l->cohorts.v[i];
	while (!rc && l->cohorts.n > n / 2)
		rc = fold_values(l) ?: number_cohorts(l);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		row[i] = l->row_cohort[row[i]];
	if (rc >= 0) {
		struct html_entries *all[] = { &d->entries, &d->lines.entries,
					       &d->lines.call_entries };
		for (size_t i = 0; rc >= 0 && i < 3; i++) {
			renumber(all[i], row);
			if (html_entries_merge(all[i]) < 0)
				rc = -ERR_NOMEM;
		}
	}
	free(row);
	return rc < 0 ? rc : 0;
}

/* Gives each thread row with samples its lane. */
static int begin_rows(struct html_data *d)
{
	struct html_labels *l = &d->labels;
	size_t at = 0;

	for (size_t s = 0; s < d->nsrc; s++)
		l->rows += d->src[s].in.rep->p->threads.n;
	l->row_lane = malloc((l->rows + 1) * sizeof(*l->row_lane));
	l->row_cohort = calloc(l->rows + 1, sizeof(*l->row_cohort));
	l->order = malloc((l->rows + 1) * sizeof(*l->order));
	if (!l->row_lane || !l->row_cohort || !l->order)
		return -ERR_NOMEM;
	for (size_t s = 0; s < d->nsrc; s++) {
		struct html_source *src = &d->src[s];

		src->cohort_of = l->row_cohort + at;
		for (size_t i = 0; i < src->in.rep->p->threads.n; i++)
			l->row_lane[at++] = src->thread_samples[i]
					    ? src->lane_of[i] : PROF_NONE;
	}
	return 0;
}

static int find_labels(struct html_data *d)
{
	struct work w = { .d = d };
	size_t n = 0;
	int rc;

	w.of = calloc(d->nsrc, sizeof(*w.of));
	rc = w.of ? 0 : -ERR_NOMEM;
	for (; !rc && n < d->nsrc; n++)
		rc = thread_labels_init(&w.of[n], d->src[n].in.rep->p);
	if (!rc)
		rc = find_names(&w);
	for (size_t i = 0; !rc && i < w.names.n; i++)
		rc = take_label(&w, &w.names.v[i], d->labels.rows);
	while (w.of && n--)
		thread_labels_fini(&w.of[n]);
	free(w.of);
	vec_fini(&w.names);
	return rc;
}

int html_labels(struct html_data *d, struct error *err)
{
	struct html_labels *l = &d->labels;
	int rc = strtab_init(&l->str) ?: begin_rows(d) ?: find_labels(d);

	if (!rc) {
		drop_labels(l);
		rc = number_cohorts(l);
	}
	while (!rc && l->cohorts.n > HTML_COHORTS)
		rc = fold_values(l) ?: number_cohorts(l);
	return rc < 0 ? error_nomem(err) : 0;
}

void html_labels_fini(struct html_labels *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		label_fini(&l->v.v[i]);
	vec_fini(&l->v);
	vec_fini(&l->cohorts);
	strtab_fini(&l->str);
	free(l->row_lane);
	free(l->row_cohort);
	free(l->order);
}

void html_put_labels(struct html_encoder *e, struct json *j)
{
	const struct html_labels *l = &e->d->labels;

	if (!l->v.n)
		return;
	json_array_lines(j, "labels");
	for (size_t i = 0; i < l->v.n; i++) {
		const struct html_label *x = &l->v.v[i];

		json_object(j, NULL);
		json_str(j, "name",
			 html_safe_text(e, strtab_get(&l->str, x->name)));
		json_array(j, "values");
		for (size_t k = 0; k < x->values.n; k++)
			json_str(j, NULL, html_safe_text(e, strtab_get(
				&l->str, x->values.v[k].str)));
		json_end(j);
		if (x->values.v[x->values.n - 1].others)
			json_uint(j, "others",
				  x->values.v[x->values.n - 1].others);
		json_end(j);
	}
	json_end(j);
	if (l->more)
		json_bool(j, "more_labels", true);
	json_uint(j, "cohorts", l->cohorts.n);
}

void html_put_cohorts(struct html_encoder *e)
{
	const struct html_labels *l = &e->d->labels;

	if (!l->v.n)
		return;
	for (size_t i = 0; i < l->cohorts.n; i++)
		buf_uleb(e->out, l->row_lane[l->cohorts.v[i]]);
	for (size_t k = 0; k < l->v.n; k++)
		for (size_t i = 0; i < l->cohorts.n; i++)
			buf_uleb(e->out,
				 l->v.v[k].row_value[l->cohorts.v[i]]);
}
