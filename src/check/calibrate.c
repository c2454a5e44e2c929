// SPDX-License-Identifier: GPL-2.0-or-later
/* Calibrates with identical code: exchanging the sides of some blocks of the
 * existing runs gives more checks that must not report a change. */
#include <stdlib.h>
#include <string.h>

#include "check/show.h"

enum { EXCHANGES = 200 };

/* The sequence is always the same, so that results are repeatable. */
static bool coin_flip(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 63;
}

static bool alarms(const struct check *c, const struct judge_input *in)
{
	struct judge j;
	bool any;

	if (judge_run(in, &c->o.judge, &j, NULL) < 0)
		return false;
	any = j.total.gates && (!j.drifted || c->interleaved);
	for (size_t i = 0; i <= j.nfuncs; i++)
		any |= j.rows[i].gates;
	judge_fini(&j);
	return any;
}

static size_t count_alarms(const struct check *c)
{
	size_t n = c->judge.nfuncs, blocks = c->runs.nbase, found = 0;
	double *cost = calloc(2 * blocks * n + 1, sizeof(*cost));
	struct judge_input in = { blocks, blocks, n, cost, NULL, NULL, NULL,
				  NULL };
	uint64_t seed = 1;

	for (int k = 0; cost && k < EXCHANGES; k++) {
		for (size_t b = 0; b < blocks; b++) {
			size_t swap = coin_flip(&seed) ? blocks : 0;

			memcpy(cost + (b + swap) * n, c->cost + b * n,
			       n * sizeof(*cost));
			memcpy(cost + (b + blocks - swap) * n,
			       c->cost + (b + blocks) * n, n * sizeof(*cost));
		}
		found += alarms(c, &in);
	}
	free(cost);
	return found;
}

void check_calibration(const struct check *c, struct buf *out)
{
	struct check_style s = { .top = 20 };
	bool pairs = c->runs.nbase == c->runs.nnew && c->runs.nbase >= 3;
	size_t found = pairs ? count_alarms(c) : 0;

	buf_str(out, c->verdict == CHECK_REGRESSED
			     ? "calibration: identical code looks slower on "
			       "this machine now"
			     : "calibration: identical code passes");
	if (pairs)
		buf_printf(out, "; false alarms in %.1f%% of %d random "
			   "permutations of the runs",
			   100.0 * (double)found / EXCHANGES,
			   EXCHANGES);
	buf_str(out, "\n");
	check_text(c, &s, out);
}
