// SPDX-License-Identifier: GPL-2.0-or-later
/* Judges new batches by stored ones: see verdict.h. */
#include "history/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/search.h"
#include "check/outcome.h"
#include "compare/moves.h"
#include "history/detail.h"

enum { FASTER_MIN = 3 };	/* batches that confirm an improvement */

struct verdict_options verdict_defaults(void)
{
	return (struct verdict_options){ .budget = 0.001, .suspect = 0.2,
		.margin = 0.01, .threshold = 0.03, .total_threshold = 0.03,
		.least_share = ESTIMATE_MIN_SHARE, .min_impact = 0.001,
		.require_mde = 0.1 };
}

/* The batches being judged: stored ones first, then the new ones. */
struct judging {
	const struct verdict_options *o;
	struct verdict *out;
	struct cost_series s;
	size_t nold, nnew;
	size_t nfresh;		/* number of new batches of the judged commit */
	size_t *start;		/* first stored batch that counts, by function */
	struct run_costs costs;	/* by function and batch, since some start */
	double *p, *q;
	size_t *tested;		/* row indices */
	bool *bursty;		/* by function */
	size_t *cuts;
	double *tmp;
	struct arrays arrays;
};

static int alloc(struct judging *j)
{
	size_t n = j->s.funcs.n, b = j->s.n;

	j->start = arrays_new(&j->arrays, n, sizeof(*j->start));
	j->p = arrays_new(&j->arrays, n, sizeof(double));
	j->q = arrays_new(&j->arrays, n, sizeof(double));
	j->tested = arrays_new(&j->arrays, n, sizeof(*j->tested));
	j->bursty = arrays_new(&j->arrays, n, sizeof(bool));
	j->cuts = arrays_new(&j->arrays, b, sizeof(*j->cuts));
	j->tmp = arrays_new(&j->arrays, b, sizeof(*j->tmp));
	return j->arrays.failed ? -ERR_NOMEM : run_costs_init(&j->costs, n, b, 0);
}

/* Finds the first stored batch that counts for a function, or for the total.  What got
 * faster is compared with its cost since then, once three batches confirm it.  What
 * got slower is compared with its earlier cost. */
static int find_start(struct judging *j, size_t func, size_t *start)
{
	const double *y = func == SERIES_TOTAL ? j->s.total
					       : series_y(&j->s, func);
	long n;

	*start = 0;
	series_variances(&j->s, func, j->tmp);
	n = changes_cut(y, j->nold, j->tmp, NULL, j->cuts);
	if (n < 0)
		return (int)n;
	while (n-- > 0) {
		size_t c = j->cuts[n], a = n ? j->cuts[n - 1] : 0;

		if (j->nold - c < FASTER_MIN ||
		    stats_mean(y + c, j->nold - c) >= stats_mean(y + a, c - a))
			continue;
		*start = c;
		break;
	}
	return 0;
}

/* Computes the measures of all functions from the stored batches since `start`. */
static void measure(struct judging *j, size_t start)
{
	size_t n = j->s.funcs.n, runs = j->s.n - start;

	j->costs.nold = j->nold - start;
	j->costs.nnew = j->nnew;
	for (size_t k = 0; k < n; k++) {
		const double *y = series_y(&j->s, k) + start;

		for (size_t c = 0; c < runs; c++)
			j->costs.y[k * runs + c] = exp(y[c] - y[0]);
		j->costs.v0[k] = stats_mean(j->s.v0 + k * j->s.n + start,
					    j->costs.nold);
	}
	run_costs_estimate(&j->costs);
}

/* Returns the standard error, adjusted for new batches with more or fewer samples
 * than those that the variance was learned from. */
static double error_of(const struct judging *j, size_t k)
{
	double nb = (double)j->costs.nold, nn = (double)j->nnew;
	double se = j->costs.change[k].se, v = se * se / (1 / nb + 1 / nn);
	double between = v - j->costs.v0[k], now;

	now = stats_mean(j->s.v0 + k * j->s.n + j->nold, j->nnew);
	return sqrt(v / nb + ((between > 0 ? between : 0) + now) / nn);
}

static double mean_samples(const struct judging *j, size_t k, size_t from,
			   size_t n)
{
	return stats_mean(j->s.samples + k * j->s.n + from, n);
}

static struct verdict_row make_row(const struct judging *j, size_t k)
{
	size_t start = j->start[k];
	struct verdict_row r = { .func = j->s.funcs.v[k].func,
				 .change = j->costs.change[k], .q = 1,
				 .against = j->nold - start,
				 .moved_from = UINT32_MAX };

	r.base = mean_samples(j, k, start, j->nold - start);
	r.share = series_share(&j->s, k, start, j->nold);
	r.change.se = error_of(j, k);
	log_change_ratio(&r.change, &r.ratio, &r.low, &r.high);
	r.alone = exp(stats_mean(series_y(&j->s, k) + j->s.n - j->nfresh,
				 j->nfresh) -
		      stats_mean(series_y(&j->s, k) + start, j->nold - start));
	r.last = exp(stats_mean(series_y(&j->s, k) + j->nold, j->nnew - j->nfresh) -
		     stats_mean(series_y(&j->s, k) + start, j->nold - start));
	r.now = r.base * r.ratio;
	r.p = log_change_p(&r.change, j->o->margin, false);
	return r;
}

static bool too_rare(const struct judging *j, size_t k,
		     const struct verdict_row *r)
{
	double now = mean_samples(j, k, j->nold, j->nnew);

	return (r->base > now ? r->base : now) < VERDICT_SAMPLES_MIN;
}

static int make_rows(struct judging *j)
{
	size_t n = j->s.funcs.n;

	for (size_t k = 0; k < n; k++)
		if (find_start(j, k, &j->start[k]) < 0)
			return -ERR_NOMEM;
	if (vec_reserve(&j->out->rows, n + 1) < 0)
		return -ERR_NOMEM;
	j->out->rows.n = n;
	/* for each start that some function has */
	for (size_t start = 0; start < j->nold; start++) {
		bool any = false;

		for (size_t k = 0; k < n; k++)
			any |= j->start[k] == start;
		if (!any)
			continue;
		measure(j, start);
		for (size_t k = 0; k < n; k++)
			if (j->start[k] == start) {
				j->out->rows.v[k] = make_row(j, k);
				j->bursty[k] = j->costs.bursty[k];
			}
	}
	return 0;
}

static enum verdict_status status_of(const struct judging *j, size_t k,
				     const struct verdict_row *r)
{
	const struct verdict_options *o = j->o;
	bool matters = r->ratio >= 1 + o->threshold &&
		       (r->ratio - 1) * r->share >= o->min_impact;

	if (r->q <= o->budget && matters)
		return VERDICT_SLOWER;
	if (r->q <= o->suspect && matters && j->nfresh < VERDICT_BATCHES_MAX)
		return VERDICT_SUSPECT;
	if (r->high < 1 - o->threshold / 2 && r->ratio <= 1 - o->threshold)
		return j->bursty[k] ? VERDICT_UNSTEADY : VERDICT_FASTER;
	return VERDICT_SAME;
}

/* Allows a slower or suspicious row, if the user's list does. */
static void allow_row(const struct history *h, const struct verdict_options *o,
		      struct verdict_row *r, double ratio)
{
	struct buf name = { 0 };
	const struct allowed *a;

	history_name(h, r->func, &name);
	a = allow_find(o->allow, buf_cstr(&name),
		       history_str(h, h->funcs.v[r->func].name), ratio);
	buf_fini(&name);
	if (!a)
		return;
	r->status = VERDICT_ALLOWED;
	r->reason = a->reason;
}

/* Selects what is tested, and adjusts the p-values. */
static int adjust(struct judging *j)
{
	struct verdict *v = j->out;
	size_t n = 0;

	for (size_t k = 0; k < v->rows.n; k++) {
		struct verdict_row *r = &v->rows.v[k];
		double now = mean_samples(j, k, j->nold, j->nnew);

		if (r->base < 1 && now >= 1) {
			r->status = VERDICT_NEW;
			r->now = now;
			r->share = series_share(&j->s, k, j->nold, j->s.n);
		} else if (now < 1 && r->base >= 1) {
			r->status = VERDICT_REMOVED;
			r->now = now;
		} else if (too_rare(j, k, r)) {
			r->status = VERDICT_UNSTEADY;
		} else {
			j->tested[n++] = k;
		}
	}
	for (size_t i = 0; i < n; i++)
		j->p[i] = v->rows.v[j->tested[i]].p;
	if (n && stats_adjust(j->p, n, j->q) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t k = j->tested[i];
		struct verdict_row *r = &v->rows.v[k];
		double impact;

		r->visible = log_change_detectable(
			&r->change, j->o->budget / (double)n, j->o->margin,
			fmax(j->o->threshold, r->share > 0
					? j->o->min_impact / r->share : 0));
		impact = r->visible * r->share;
		r->q = j->q[i];
		r->status = status_of(j, k, r);
		if (r->status == VERDICT_SLOWER || r->status == VERDICT_SUSPECT)
			allow_row(j->s.h, j->o, r, r->ratio);
		if (impact > v->mde) {
			v->mde = impact;
			v->mde_func = r->func;
		}
	}
	if (!n)
		v->mde = INFINITY;
	return 0;
}

/* Returns how many samples a run of n batches has. */
static double run_samples(const struct cost_series *s, size_t first, size_t n)
{
	return exp(stats_mean(s->total + first, n)) /
	       s->h->batches.v[s->batch[first]].per_sample;
}

/* Judges the cost of a run on this machine.  The noise is that of the stored
 * batches' totals. */
static int judge_total(struct judging *j)
{
	const double *t = j->s.total;
	double sd, samples[2];
	struct log_change c;
	struct verdict *v = j->out;
	const struct allowed *a;
	size_t start, n;

	if (find_start(j, SERIES_TOTAL, &start) < 0)
		return -ERR_NOMEM;
	n = j->nold - start;
	sd = sqrt(stats_variance(t + start, n) + 1e-8);
	samples[0] = run_samples(&j->s, start, n);
	samples[1] = run_samples(&j->s, j->nold, j->nnew);
	c = (struct log_change){
		stats_mean(t + j->nold, j->nnew) - stats_mean(t + start, n),
		sqrt(sd * sd * (1 / (double)n + 1 / (double)j->nnew) +
		     counting_variance(samples)), (double)n - 1,
	};
	log_change_ratio(&c, &v->total.ratio, &v->total.low, &v->total.high);
	v->total.p = log_change_p(&c, j->o->margin, false);
	v->total.slower = j->o->total_threshold >= 0 && c.log_ratio > 3 * sd &&
			  v->total.p <= j->o->budget &&
			  c.log_ratio >= log1p(j->o->total_threshold);
	a = v->total.slower ? allow_find(j->o->allow, "[total]", "",
					 v->total.ratio) : NULL;
	if (a)
		v->total.reason = a->reason;
	v->kernel_before = stats_mean(j->s.kernel + start, n);
	v->kernel_now = stats_mean(j->s.kernel + j->nold, j->nnew);
	return 0;
}

static int rank(enum verdict_status s)
{
	static const int ranks[] = {
		[VERDICT_SLOWER] = 0, [VERDICT_SUSPECT] = 1,
		[VERDICT_ALLOWED] = 2, [VERDICT_MOVED] = 3, [VERDICT_NEW] = 4,
		[VERDICT_REMOVED] = 5, [VERDICT_FASTER] = 6,
		[VERDICT_UNSTEADY] = 7, [VERDICT_SAME] = 8,
	};

	return ranks[s];
}

static int by_weight(const void *a, const void *b)
{
	const struct verdict_row *x = a, *y = b;
	double p = fabs(x->now - x->base), q = fabs(y->now - y->base);

	if (x->status == VERDICT_SAME && y->status == VERDICT_SAME) {
		p = x->share;
		q = y->share;
	}
	return ascending(rank(x->status), rank(y->status)) ?:
	       descending(p, q) ?: ascending(x->func, y->func);
}

static void answer(struct verdict *v, const struct verdict_options *o)
{
	for (size_t i = 0; i < v->rows.n; i++) {
		v->slower += v->rows.v[i].status == VERDICT_SLOWER;
		v->suspects += v->rows.v[i].status == VERDICT_SUSPECT;
	}
	v->insensitive = o->require_mde >= 0 && v->mde > o->require_mde;
	v->answer = v->broken ? VERDICT_BROKEN : v->slower || (v->total.slower && !v->total.reason)
			    ? VERDICT_REGRESSED
		  : v->suspects || v->insensitive ? VERDICT_INCONCLUSIVE
					    : VERDICT_PASS;
}

/* Verdict rows as items of moves_find. */
struct mover {
	const struct history *h;
	struct verdict *v;
	const uint32_t *old, *now;	/* batches */
	size_t nold, nnew;
	const struct verdict_options *o;
};

/* Returns a function's details in the last of some batches that has them. */
static const struct history_detail *last_detail(const struct history *h,
						const uint32_t *batches, size_t n,
						uint32_t func)
{
	const struct history_detail *d = NULL;

	while (!d && n-- > 0)
		d = detail_find(h, batches[n], func);
	return d;
}

static bool rows_related(void *ctx, size_t gained, size_t lost)
{
	const struct mover *m = ctx;
	uint32_t to = m->v->rows.v[gained].func, from = m->v->rows.v[lost].func;
	const struct history_detail *now, *other;

	now = last_detail(m->h, m->now, m->nnew, to);
	other = last_detail(m->h, m->old, m->nold, from);
	return now && other &&
	       detail_moved(m->h, now, last_detail(m->h, m->old, m->nold, to),
			    other);
}

/* The increase of all rows must be as large and as certain as that of one. */
static bool rows_cost_more(void *ctx, const size_t *rows, size_t n)
{
	const struct mover *m = ctx;
	double base = 0, now = 0, variance = 0;
	struct log_change c = { .df = 1e6 };

	for (size_t i = 0; i < n; i++) {
		const struct verdict_row *r = &m->v->rows.v[rows[i]];
		double sd = r->now * log(r->high / r->low) /
			    (2 * stats_t_quantile(0.975, 1e6));

		base += r->base;
		now += r->now;
		variance += r->base >= 1 && r->now >= 1 && isfinite(sd)
				    ? sd * sd : r->now / (double)m->nnew;
	}
	c.log_ratio = log(now / base);
	/* a new layout of the code, too */
	c.se = hypot(sqrt(variance) / now, m->o->margin);
	return c.log_ratio > log1p(m->o->threshold) &&
	       log_change_p(&c, m->o->margin, false) <= m->o->budget;
}

static struct move_item item_of(void *ctx, size_t row)
{
	const struct verdict_row *r = &((const struct mover *)ctx)->v->rows.v[row];
	struct move_item x = { MOVE_NONE, r->now - r->base };

	if (r->status == VERDICT_FASTER || r->status == VERDICT_REMOVED)
		x.kind = MOVE_LOSS;
	else if (r->status == VERDICT_NEW)
		x.kind = MOVE_NEW;
	else if (r->status == VERDICT_SLOWER || r->status == VERDICT_SUSPECT)
		x.kind = MOVE_GAIN;
	return x;
}

/* Excuses rows whose code moved, and reports new ones that no other function explains. */
static int judge_moved(struct mover *m)
{
	struct verdict *v = m->v;
	struct moves moves = { v->rows.n, m, item_of, rows_related,
			       rows_cost_more };
	size_t known = 0, *from;
	int rc = moves_find(&moves, &from);

	for (size_t i = 0; i < m->nold; i++)
		known += m->h->batches.v[m->old[i]].ndetails > 0;
	for (size_t i = 0; !rc && i < v->rows.n; i++) {
		struct verdict_row *r = &v->rows.v[i];

		if (from[i] != MOVE_FROM_NONE) {
			r->status = VERDICT_MOVED;
			r->moved_from = v->rows.v[from[i]].func;
		} else if (r->status == VERDICT_NEW && known &&
			   r->share >= m->o->threshold) {
			r->status = VERDICT_SLOWER;
			allow_row(m->h, m->o, r, INFINITY);
		}
	}
	free(from);
	return rc;
}

/* Judges the last `nnew` batches by the batches before them. */
static int judge_batches(const struct history *h, const uint32_t *batches,
			 size_t nold, size_t nnew, size_t nfresh,
			 const struct verdict_options *o, struct verdict *out,
			 struct error *err)
{
	struct judging j = { .o = o, .out = out, .nold = nold, .nnew = nnew,
			     .nfresh = nfresh };
	int rc = series_build(h, batches, nold + nnew, nnew, o->least_share,
			      &j.s, err);

	if (rc)
		return rc;
	rc = alloc(&j) ?: make_rows(&j) ?: adjust(&j) ?: judge_total(&j);
	arrays_fini(&j.arrays);
	run_costs_fini(&j.costs);
	series_fini(&j.s);
	return rc ? error_nomem(err) : 0;
}

/* Returns whether both commits together are evidence against a function, and stronger
 * than that of the new one alone.  Each alone must seem slower: a slowdown that was fixed
 * since then does not count, and neither does a commit that was as before. */
static bool is_evidence(const struct verdict_row *both, const struct verdict_row *r,
			const struct verdict_options *o)
{
	double least = 1 + o->threshold / 2;

	if (both->func != r->func || both->alone < least || both->last < least)
		return false;
	if (both->status == r->status)
		return both->status == VERDICT_SUSPECT && both->q < r->q;
	return (both->status == VERDICT_SLOWER || both->status == VERDICT_SUSPECT ||
		both->status == VERDICT_ALLOWED) &&
	       rank(both->status) < rank(r->status);
}

/* Uses the result of both commits together where it is evidence. */
static void take_evidence(struct verdict *v, const struct verdict *both,
			  const struct verdict_options *o)
{
	for (size_t i = 0; i < v->rows.n; i++) {
		struct verdict_row *r = &v->rows.v[i];

		if (r->status != VERDICT_SAME && r->status != VERDICT_SUSPECT)
			continue;
		for (size_t k = 0; k < both->rows.n; k++) {
			if (!is_evidence(&both->rows.v[k], r, o))
				continue;
			*r = both->rows.v[k];
			r->before = true;
		}
	}
}

/* Returns the number of batches of the last stored commit, or 0 if too few would be
 * left without them. */
static size_t last_commit(const struct history *h, const uint32_t *stored,
			  size_t n)
{
	uint32_t commit = h->batches.v[stored[n - 1]].commit;
	size_t last = 0;

	while (last < n && h->batches.v[stored[n - 1 - last]].commit == commit)
		last++;
	return n - last < VERDICT_STORED_MIN ? 0 : last;
}

/* Looks for a slowdown by the last stored commit: compares its `last` batches and the
 * new ones with those before it. */
static int look_back(const struct history *h, const uint32_t *batches,
		     size_t nold, size_t last, size_t nnew,
		     const struct verdict_options *o, struct verdict *v,
		     struct error *err)
{
	struct verdict both = { .answer = VERDICT_INCONCLUSIVE };
	int rc;

	if (!last)
		return 0;
	rc = judge_batches(h, batches, nold, nnew + last, nnew, o, &both, err);
	if (!rc)
		take_evidence(v, &both, o);
	verdict_fini(&both);
	return rc;
}

/* Returns whether a stored run ended with this status; *known: all of their statuses
 * are known. */
static bool ended_before(const struct history *h, const uint32_t *stored, size_t n,
			 int status, bool *known)
{
	*known = n > 0;
	for (size_t i = 0; i < n; i++) {
		const struct batch *b = &h->batches.v[stored[i]];

		for (uint32_t r = 0; r < b->runs; r++) {
			if (outcome_alike(history_ended(h, b, r), status))
				return true;
			*known &= history_ended(h, b, r) >= 0;
		}
	}
	return false;
}

/* Finds out whether new runs ended unlike the stored ones, or by a signal if it is
 * unknown how these ended; or did far less work.  Returns 0 or -ERR_NOMEM. */
static int judge_outcome(const struct history *h, const uint32_t *stored, size_t n,
			 const uint32_t *fresh, size_t nfresh, struct verdict *v)
{
	struct outcome_ends ends = { .n = 0 };
	bool unlike = false, known;
	size_t runs = 0;

	for (size_t i = 0; i < nfresh; i++) {
		const struct batch *b = &h->batches.v[fresh[i]];

		runs += b->runs;
		for (uint32_t r = 0; r < b->runs; r++) {
			int s = history_ended(h, b, r);

			if (s < 0 || ended_before(h, stored, n, s, &known) ||
			    (!known && WIFEXITED(s)))
				continue;
			unlike = known;
			outcome_add(&ends, s);
		}
	}
	if (ends.n)
		v->broken = outcome_ended(&ends, runs, unlike);
	else if (!v->learning && v->total.high < OUTCOME_WORK_MIN)
		v->broken = outcome_less_work(v->total.ratio);
	else
		return 0;
	buf_fini(&ends.ways);
	return v->broken ? 0 : -ERR_NOMEM;
}

int verdict_reach(const struct history *h, const uint32_t *stored,
		  size_t nstored, const uint32_t *fresh, size_t nfresh,
		  const struct verdict_options *o, struct verdict *out,
		  struct error *err)
{
	struct verdict_options half = *o;
	struct mover m;
	size_t last, old;
	uint32_t *batches;
	int rc;

	*out = (struct verdict){ .answer = VERDICT_INCONCLUSIVE };
	out->stored = nstored;
	out->fresh = nfresh;
	if (nstored < VERDICT_STORED_MIN) {
		out->learning = true;
		if (!o->any_outcome &&
		    judge_outcome(h, stored, nstored, fresh, nfresh, out) < 0)
			return error_nomem(err);
		out->answer = out->broken ? VERDICT_BROKEN : VERDICT_INCONCLUSIVE;
		return 0;
	}
	last = last_commit(h, stored, nstored);
	old = nstored - last;
	if (old > VERDICT_STORED_MAX) {
		stored += old - VERDICT_STORED_MAX;
		old = VERDICT_STORED_MAX;
	}
	out->stored = old + last;
	batches = malloc((old + last + nfresh) * sizeof(*batches));
	if (!batches)
		return error_nomem(err);
	/* Each of the two tests gets half of the budget.  Both leave the last stored
	 * commit out of the old ones.  If it was slower, it would raise both their
	 * mean and their variance. */
	half.budget = o->budget / 2;
	memcpy(batches, stored, old * sizeof(*batches));
	memcpy(batches + old, fresh, nfresh * sizeof(*batches));
	rc = judge_batches(h, batches, old, nfresh, nfresh, &half, out, err);
	memcpy(batches + old, stored + old, last * sizeof(*batches));
	memcpy(batches + old + last, fresh, nfresh * sizeof(*batches));
	if (!rc)
		rc = look_back(h, batches, old, last, nfresh, &half, out, err);
	free(batches);
	if (rc) {
		verdict_fini(out);
		return rc;
	}
	m = (struct mover){ h, out, stored, fresh, old, nfresh, &half };
	if (judge_moved(&m) < 0 ||
	    (!o->any_outcome &&
	     judge_outcome(h, stored, old + last, fresh, nfresh, out) < 0)) {
		verdict_fini(out);
		return error_nomem(err);
	}
	answer(out, o);
	vec_sort(&out->rows, by_weight);
	return 0;
}

void verdict_fini(struct verdict *v)
{
	vec_fini(&v->rows);
	free(v->broken);
	v->broken = NULL;
}
