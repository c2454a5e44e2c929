// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out whether the new side is broken: its runs ended unlike those of the baseline,
 * did far less work, or wrote another amount of output.
 */
#include "check/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "check/check_internal.h"

int check_run_status(const struct check *c, size_t run)
{
	const struct check_run *r = &c->runs.runs.v[run];

	return c->runs.files.v[r->file].p->runs.v[r->run].exit_status;
}

/* Returns whether some run of the baseline ended with this status, or with an
 * unknown one. */
static bool ended_before(const struct check *c, int status)
{
	for (size_t i = 0; i < c->runs.nbase; i++) {
		int s = check_run_status(c, i);

		if (s < 0 || outcome_alike(s, status))
			return true;
	}
	return false;
}

static size_t count_empty(const struct check *c)
{
	size_t n = 0;

	for (size_t i = c->runs.nbase; i < c->runs.runs.n; i++)
		n += !c->runs.runs.v[i].samples;
	return n;
}

/* How much output may differ from the baseline's.  Version numbers and times in it
 * have no fixed length. */
#define WRITTEN_SLACK 0.01
enum { WRITTEN_BYTES = 16 };

/* Returns whether the bytes that a run wrote are known. */
static bool written_by(const struct check *c, size_t run, double *out)
{
	const struct check_run *r = &c->runs.runs.v[run];
	const char *s = profile_env(c->runs.files.v[r->file].p, r->run,
				    "written");

	*out = s ? (double)strtoull(s, NULL, 10) : 0;
	return s != NULL;
}

/* Returns whether most new runs wrote less than all of the baseline, or more.  The
 * spread of the baseline is allowed for once more on each side.  *was and *is
 * receive examples. */
static bool other_output(const struct check *c, double *was, double *is)
{
	double low = INFINITY, high = 0, slack, x, fewest = 0, most = 0;
	size_t less = 0, more = 0, n = c->runs.nnew;

	for (size_t i = 0; i < c->runs.nbase; i++) {
		if (!written_by(c, i, &x))
			return false;
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	slack = WRITTEN_SLACK * high + high - low;
	slack = slack > WRITTEN_BYTES ? slack : WRITTEN_BYTES;
	for (size_t i = c->runs.nbase; i < c->runs.runs.n; i++) {
		bool lacks, exceeds;

		if (!written_by(c, i, &x))
			return false;
		lacks = x < low - slack || (x <= 0 && low > 0);
		exceeds = x > high + slack;
		less += lacks;
		more += exceeds;
		if (lacks)
			fewest = x;
		if (exceeds)
			most = x;
	}
	*was = 2 * less > n ? low : high;
	*is = 2 * less > n ? fewest : most;
	return 2 * less > n || 2 * more > n;
}

bool outcome_alike(int a, int b)
{
	return WIFEXITED(a) && WIFEXITED(b) ? WEXITSTATUS(a) == WEXITSTATUS(b)
	     : WIFSIGNALED(a) && WIFSIGNALED(b) ? WTERMSIG(a) == WTERMSIG(b)
						: a == b;
}

void outcome_add(struct outcome_ends *e, int status)
{
	e->n++;
	for (size_t i = 0; i < e->nseen; i++)
		if (outcome_alike(e->seen[i], status))
			return;
	if (e->nseen == OUTCOME_WAYS)
		return;
	buf_printf(&e->ways, "%s%s %d", e->nseen ? " or " : "",
		   WIFEXITED(status) ? "exit status" : "signal",
		   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	e->seen[e->nseen++] = status;
}

char *outcome_ended(struct outcome_ends *e, size_t runs, bool unlike)
{
	char *out = NULL;

	if (!e->ways.failed &&
	    asprintf(&out, "%zu of %zu new runs ended with %s%s (--any-outcome "
		     "compares them)", e->n, runs, buf_cstr(&e->ways),
		     unlike ? ", unlike all baseline runs" : "") < 0)
		out = NULL;
	return out;
}

char *outcome_less_work(double ratio)
{
	char *out;

	if (asprintf(&out, "the new side did %.2g%% of the baseline's work "
		     "(--any-outcome compares them)", 100 * ratio) < 0)
		return NULL;
	return out;
}

int check_outcome(struct check *c)
{
	const struct judge_total *t = &c->judge.total;
	double most = t->tested ? t->high : t->ratio;
	struct outcome_ends ends = { .n = 0 };
	size_t empty = count_empty(c);
	double was = 0, is = 0;
	int n = 0;

	for (size_t i = c->runs.nbase; i < c->runs.runs.n; i++) {
		int s = check_run_status(c, i);

		if (s >= 0 && !ended_before(c, s))
			outcome_add(&ends, s);
	}
	if (ends.n)
		c->broken = outcome_ended(&ends, c->runs.nnew, true);
	else if (empty)
		n = asprintf(&c->broken, "%zu of %zu new runs have no samples",
			     empty, c->runs.nnew);
	else if (most < OUTCOME_WORK_MIN)
		c->broken = outcome_less_work(t->ratio);
	else if (other_output(c, &was, &is))
		n = asprintf(&c->broken, "the new side wrote %.0f bytes per "
			     "run, the baseline %.0f (--any-outcome compares "
			     "them)", is, was);
	else
		return 0;
	buf_fini(&ends.ways);
	if (n < 0)
		c->broken = NULL;
	return c->broken ? 0 : -ERR_NOMEM;
}
