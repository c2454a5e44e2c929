/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_VERDICT_H
#define TALLY_HISTORY_VERDICT_H
/*
 * Decides whether a commit is slower than the commits before it.
 *
 * New batches are compared with the last stored ones of the same kind of machine.
 * The variance of a cost is learned from the differences between the stored batches,
 * moderated over functions (compare/estimate.h).  A check is therefore as reliable when
 * its sides were recorded weeks apart as when they were interleaved.
 *
 * A function that seems slower is a suspect until it is certain to be slower.  More
 * batches of the same commit decide, up to six.
 *
 * A slowdown by the last stored commit may have been too small to report then.  The
 * batches of that commit and of the new one together are therefore also compared
 * with those before.  They are not part of what new batches alone are compared with.
 * Each of the two tests gets half of the budget.  A function reported by both commits
 * together must also seem slower by each of them alone.
 *
 * A new function is slower than nothing: it is reported if it costs at least `threshold`
 * of the program.  What has code of another function is only reported if they cost more
 * together (history/detail.h, compare/moves.h).  Where stored batches know no code, new
 * functions are not reported, because any of them may be a renamed one.
 */
#include "check/allow.h"
#include "compare/estimate.h"
#include "history/series.h"

struct verdict_options {
	double budget;		/* expected false reports per commit, 0.001 */
	double suspect;		/* false discovery rate of suspects, 0.2 */
	double margin;		/* change that code layout may cause, 0.01 */
	double threshold;	/* smallest estimate that is a regression, 0.03 */
	double total_threshold;	/* the same threshold for the total; negative: the
				 * total never fails */
	double least_share;	/* smallest share of the time that is tested, 0.004: of
				 * the stored batches or of the new ones */
	double min_impact;	/* smallest increase that matters, as a share of
				 * the program's time, 0.001 */
	double require_mde;	/* largest minimum detectable effect for a pass;
				 * above it the verdict is inconclusive; negative:
				 * not required */
	bool any_outcome;	/* never give the verdict VERDICT_BROKEN */
	const struct allow_list *allow;	/* may be NULL */
};
/* Returns the default options. */
struct verdict_options verdict_defaults(void);

enum {
	VERDICT_STORED_MIN = 5,	/* fewest batches that suffice to learn the
					 * variance */
	VERDICT_STORED_MAX = 20,
	VERDICT_BATCHES_MAX = 6,	/* most batches of a commit, recorded while
					 * there are suspects */
	VERDICT_SAMPLES_MIN = 50,	/* fewest samples per run of a row that is
					 * judged */
};

enum verdict_status {
	VERDICT_SAME, VERDICT_SLOWER, VERDICT_SUSPECT, VERDICT_FASTER,
	VERDICT_NEW,		/* absent from all stored batches; not worth a
				 * report, or of unknown origin */
	VERDICT_REMOVED,
	VERDICT_UNSTEADY,	/* changed, but too variable or too rare to be
				 * judged */
	VERDICT_ALLOWED,	/* slower, and allowed by the user's list */
	VERDICT_MOVED,		/* has code that another function had, and together
				 * they cost as much as before */
};

struct verdict_row {
	uint32_t func;		/* in history.funcs */
	enum verdict_status status;
	double base, now;	/* samples per run; `now` is comparable with `base` */
	double share;		/* share of the program's earlier time */
	double ratio, low, high;	/* estimate and 95 % confidence interval */
	struct log_change change;
	double p, q;		/* p-value for slower than 1 + margin; q: adjusted */
	double visible;		/* slowdown that four checks of five would find,
				 * 0.05 for 5 %; 0: the row was not tested */
	size_t against;		/* number of stored batches in the comparison,
				 * those since it last got faster */
	double alone, last;	/* ratio by the judged commit's batches alone, and by
				 * those of the last stored commit */
	bool before;		/* the last stored commit is slower, too; both
				 * together are compared with those before */
	const char *reason;	/* reason for VERDICT_ALLOWED */
	uint32_t moved_from;	/* function in history.funcs, for VERDICT_MOVED */
};

enum verdict_answer {
	VERDICT_PASS, VERDICT_REGRESSED, VERDICT_INCONCLUSIVE,
	VERDICT_BROKEN,		/* the new runs did less work than the stored ones or
				 * ended differently */
};

struct verdict {
	enum verdict_answer answer;
	size_t stored, fresh;	/* number of batches that were compared */
	char *broken;		/* why the new runs are broken, or NULL */
	bool learning;		/* too few batches are stored, so nothing was
				 * judged */
	bool insensitive;		/* require_mde was not reached */
	VEC(struct verdict_row) rows;	/* changed rows first */
	size_t slower, suspects;	/* number of rows */
	struct {
		double ratio, low, high, p;
		bool slower;
		const char *reason;	/* the user's reason if the slower total is
					 * allowed */
	} total;
	double mde;		/* minimum detectable effect, as a share of the
				 * program's time */
	uint32_t mde_func;	/* function with this effect, in history.funcs */
	double kernel_before, kernel_now;	/* the kernel's share of all time */
};

/* Judges the new batches.  Batches are indices in h->batches, all of one class;
 * the stored ones are sorted, oldest first. */
int verdict_reach(const struct history *h, const uint32_t *stored,
		  size_t nstored, const uint32_t *fresh, size_t nfresh,
		  const struct verdict_options *o, struct verdict *out,
		  struct error *err);
void verdict_fini(struct verdict *v);

#endif
