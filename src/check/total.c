// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of whole runs: its noise is the machine's, so it is judged by its
 * spread between runs, never by the number of samples. */
#include <math.h>

#include "check/judge_internal.h"

struct estimate {
	double log_ratio, se, df;
};

/* Welch's test on logarithms; one run on a side borrows the other's spread. */
static struct estimate unpaired(const double *b, size_t nb, const double *n,
				size_t nn)
{
	double vb = stats_variance(b, nb), vn = stats_variance(n, nn), s;
	struct estimate e = { stats_mean(n, nn) - stats_mean(b, nb), 0, 0 };

	if (nb == 1 || nn == 1) {
		s = (nb == 1 ? vn : vb) * (1 / (double)nb + 1 / (double)nn);
		e.df = (double)(nb + nn - 2);
	} else {
		vb /= (double)nb;
		vn /= (double)nn;
		s = vb + vn;
		e.df = s * s / (vb * vb / (double)(nb - 1) +
				vn * vn / (double)(nn - 1) + 1e-300);
		if (!(e.df >= 1))
			e.df = (double)(nb + nn - 2);
	}
	e.se = sqrt(s + 1e-12);
	return e;
}

static struct estimate paired(const double *b, const double *n, size_t runs,
			      double *diff)
{
	struct estimate e = { 0, 0, (double)(runs - 1) };

	for (size_t i = 0; i < runs; i++)
		diff[i] = n[i] - b[i];
	e.log_ratio = stats_mean(diff, runs);
	e.se = sqrt(stats_variance(diff, runs) / (double)runs + 1e-12);
	return e;
}

static double spread(const double *x, size_t n)
{
	return n > 1 ? sqrt(stats_variance(x, n)) / stats_mean(x, n) : 0;
}

void judge_whole(struct judge_work *w, const double *totals, double *logs)
{
	const struct judge_options *o = &w->out->o;
	size_t nb = w->in->nbase, nn = w->in->nnew;
	struct judge_total *t = &w->out->total;
	double margin = log1p(o->margin), wide, floor;
	struct estimate e;

	t->base = stats_mean(totals, nb);
	t->now = stats_mean(totals + nb, nn);
	t->cv_base = spread(totals, nb);
	t->cv_now = spread(totals + nb, nn);
	t->ratio = t->now / t->base;
	t->low = t->high = t->p = t->p_faster = t->visible = NAN;
	if (nb + nn < 3)
		return;
	for (size_t r = 0; r < nb + nn; r++)
		logs[r] = log(totals[r]);
	t->paired = o->paired && nb == nn && nb > 2;
	e = t->paired ? paired(logs, logs + nb, nb, logs + nb + nn)
		      : unpaired(logs, nb, logs + nb, nn);
	wide = stats_t_quantile(0.975, e.df) * e.se;
	t->tested = true;
	t->se = e.se;
	t->df = e.df;
	t->ratio = exp(e.log_ratio);
	t->low = exp(e.log_ratio - wide);
	t->high = exp(e.log_ratio + wide);
	t->p = stats_t_above((e.log_ratio - margin) / e.se, e.df);
	t->p_faster = stats_t_above((-e.log_ratio - margin) / e.se, e.df);
	floor = log1p(o->total_threshold >= 0 ? o->total_threshold
					      : o->threshold);
	t->visible = judge_total_visible(w->out);
	t->regressed = t->p <= o->alpha && e.log_ratio >= floor;
	t->improved = t->p_faster <= o->alpha && -e.log_ratio >= floor;
	t->gates = t->regressed && o->same_machine && o->total_threshold >= 0;
}
