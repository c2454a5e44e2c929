// SPDX-License-Identifier: GPL-2.0-or-later
/* The notes and names of a check. */
#include "check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"

int check_note(struct check *c, const char *fmt, ...)
{
	char text[1024], *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = strdup(text);
	if (copy && vec_push(&c->notes, copy) == 0)
		return 0;
	free(copy);
	return -ERR_NOMEM;
}

void check_fini(struct check *c)
{
	for (size_t i = 0; i < c->notes.n; i++)
		free(c->notes.v[i]);
	for (size_t i = 0; i < c->machine.n; i++)
		free(c->machine.v[i]);
	for (size_t i = 0; i < c->commits.n; i++) {
		free(c->commits.v[i].id);
		free(c->commits.v[i].subject);
	}
	vec_fini(&c->commits);
	for (size_t i = 0; i < c->edits.n; i++) {
		free(c->edits.v[i].path);
		free(c->edits.v[i].name);
		free(c->edits.v[i].id);
		free(c->edits.v[i].subject);
	}
	vec_fini(&c->edits);
	vec_fini(&c->notes);
	vec_fini(&c->machine);
	vec_fini(&c->rows);
	vec_fini(&c->order);
	vec_fini(&c->parts);
	judge_fini(&c->judge);
	judge_fini(&c->inclusive);
	free(c->cost);
	free(c->inclusive_cost);
	free(c->broken);
	check_runs_fini(&c->runs);
}

const char *check_status_name(enum check_status s)
{
	static const char *const names[] = {
		"small", "same", "suspect", "regressed", "improved", "new",
		"gone", "moved", "allowed",
	};

	return names[s];
}

const char *check_verdict_name(enum check_verdict v)
{
	static const char *const names[] = { "pass", "regressed",
					     "inconclusive", "broken" };

	return names[v];
}

void check_row_name(const struct check *c, const struct check_row *r,
		    struct buf *out)
{
	if (r->unit.func == PROF_NONE) {
		buf_printf(out, "[functions below %g%%]",
			   100 * c->o.judge.min_share);
		return;
	}
	check_func_name(&c->runs, r->unit.func, out);
	if (r->unit.base)
		buf_printf(out, " %s:%u", check_str(&c->runs, r->unit.base),
			   check_line_number(r->unit.line));
}

bool check_row_renamed(const struct check *c, const struct check_row *r)
{
	return r->unit.func != PROF_NONE && !r->unit.base &&
	       check_func_before(&c->runs, r->unit.func) != PROF_NONE;
}

bool check_row_before(const struct check *c, const struct check_row *r,
		      struct buf *out)
{
	if (check_row_renamed(c, r))
		check_func_name(&c->runs,
				check_func_before(&c->runs, r->unit.func), out);
	else if (r->status == CHECK_MOVED && r->partner != PROF_NONE)
		check_row_name(c, &c->rows.v[r->partner], out);
	else
		return false;
	return true;
}

const char *check_row_image(const struct check *c, const struct check_row *r)
{
	return r->unit.func == PROF_NONE ? "" :
	       check_str(&c->runs, c->runs.match.funcs.v[r->unit.func].image);
}

const char *check_event_name(const struct check *c)
{
	const struct check_file *f = &c->runs.files.v[0];

	return prof_event_actual(f->p, &f->p->events.v[f->event]);
}
