// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a diff of two recordings. */
#include "views/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_internal.h"

static int refuse_keys(const struct diff_spec *spec, struct error *err)
{
	static const struct {
		enum view_key key;
		const char *why;
	} refused[] = {
		{ KEY_PID, "processes have other numbers in each recording: "
			   "comm compares them by name" },
		{ KEY_TID, "threads have other numbers in each recording: "
			   "comm compares them by name" },
		{ KEY_RUN, "all runs of a side are combined; --run "
			   "chooses some" },
		{ KEY_EVENT, "events stand beside each other anyway" },
		{ KEY_LABEL, "--label chooses some" },
		{ KEY_HOST, "--label chooses some" },
		{ KEY_SERVICE, "--label chooses some" },
		{ KEY_CONTAINER, "--label chooses some" },
		{ KEY_POD, "--label chooses some" },
		{ KEY_CGROUP, "--label chooses some" },
		{ KEY_TASK, "--label chooses some" },
	};

	for (size_t i = 0; i < COUNT(refused); i++)
		if (key_list_has(&spec->keys, refused[i].key))
			return error_set(err, ERR_USAGE, "cannot compare by "
					 "%s: %s", key_name(refused[i].key),
					 refused[i].why);
	return 0;
}

/* Reads the names of a side, before anything is summed by them. */
static int open_side(struct diff *d, int side, struct reader *r,
		     struct error *err)
{
	struct diff_side *s = &d->side[side];
	struct report_spec spec = { .keys = d->spec.keys,
				    .select = d->spec.select,
				    .no_inline = d->spec.no_inline,
				    .spread = true };

	s->reader = r;
	s->p = reader_profile(r);
	s->path = d->spec.path[side];
	if (s->p->runs.n > 1)
		spec.keys.mask |= KEY_BIT(KEY_RUN);
	return report_prepare(r, &spec, &s->rep, err);
}

static int build(struct diff *d, struct reader *const readers[DIFF_SIDES],
		 struct error *err)
{
	int rc = refuse_keys(&d->spec, err);

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		rc = open_side(d, s, readers[s], err);
		if (rc < 0 && rc != -ERR_USAGE)
			error_prefix(err, "%s", d->spec.path[s]);
	}
	if (!rc)
		rc = diff_columns(d, err);
	if (!rc)
		rc = diff_normalise(d, err);
	if (!rc && diff_match(d) < 0)
		rc = error_nomem(err);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = report_complete(d->side[s].rep, err);
	if (!rc && (diff_rows(d) < 0 || diff_stats(d) < 0 ||
		    diff_moved(d) < 0 ||
		    diff_order_rows(d) < 0))
		rc = error_nomem(err);
	return rc;
}

int diff_build(struct reader *const readers[DIFF_SIDES],
	       const struct diff_spec *spec, struct diff **out,
	       struct error *err)
{
	struct diff *d = calloc(1, sizeof(*d));
	int rc;

	*out = NULL;
	if (!d)
		return error_nomem(err);
	d->spec = *spec;
	rc = profile_init(&d->names) < 0 ? error_nomem(err)
					 : build(d, readers, err);
	if (rc < 0) {
		diff_free(d);
		return rc;
	}
	*out = d;
	return 0;
}

int diff_side_report(const struct diff *d, int side, struct report **out,
		     struct error *err)
{
	const struct diff_side *s = &d->side[side];
	const struct frame_keys *from = &s->rep->keys;
	struct report_spec spec = { .keys = d->spec.keys,
				    .select = d->spec.select,
				    .no_inline = d->spec.no_inline };
	int rc = report_prepare(s->reader, &spec, out, err);

	if (rc)
		return rc;
	memcpy((*out)->keys.steps, from->steps,
	       (from->nframes + s->p->locs.n) * sizeof(*from->steps));
	(*out)->keys.unknown = from->unknown;
	return report_complete(*out, err);
}

static void side_fini(struct diff_side *s)
{
	report_free(s->rep);
	vec_fini(&s->cells);
	free(s->key_of);
	free(s->row_of);
	free(s->file_of);
	free(s->run_at);
	free(s->run_seconds);
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	for (int s = 0; s < DIFF_SIDES; s++) {
		side_fini(&d->side[s]);
		vec_fini(&d->key_fk[s]);
		free(d->vals[s]);
	}
	frame_keys_fini(&d->keys);
	profile_fini(&d->names);
	vec_fini(&d->cols);
	vec_fini(&d->rows);
	compare_match_fini(&d->match);
	line_map_fini(&d->lines);
	vec_fini(&d->order);
	free(d->moved_from);
	free(d->moved_to);
	free(d->self);
	free(d->total);
	free(d);
}
