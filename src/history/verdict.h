/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_VERDICT_H
#define TALLY_HISTORY_VERDICT_H
/*
 * Did a commit get slower than those before it?
 *
 * New batches are compared with the last stored ones of the same kind of machine.
 * How much a cost varies is learned from the differences between the stored
 * batches, moderated over functions (base/variance.h), so that a check is as safe
 * when its sides were recorded weeks apart as when they were interleaved.
 *
 * A function that seems slower is a suspect unless it surely is: more batches of the
 * same commit decide, up to six.
 *
 * A slowdown that the last stored commit brought may have been too small to name then.
 * So the batches of that commit and of the new one together are compared with those
 * before, too; each of the two tests has half of the budget.  What is named by both
 * commits must also seem slower by the new one alone.
 */
#include "check/allow.h"
#include "history/series.h"

struct verdict_options {
	double budget;		/* wrong names expected of one commit: 0.001 */
	double suspect;		/* false discovery rate of suspects: 0.2 */
	double margin;		/* 0.01: layout may move a function so far */
	double threshold;	/* 0.03: estimates below are no regression */
	double total_threshold;	/* … of the total; negative: it never fails */
	double least_share;	/* 0.004: smaller functions are not tested */
	double min_impact;	/* 0.001: what adds less to the program is none */
	double require_mde;	/* inconclusive unless what adds so much would be
				 * seen; negative: not asked */
	const struct allow_list *allow;	/* may be NULL */
};
struct verdict_options verdict_defaults(void);

enum {
	VERDICT_STORED_LEAST = 5,	/* fewer batches teach too little */
	VERDICT_STORED_MOST = 20,
	VERDICT_BATCHES_MOST = 6,	/* of a commit, while there are suspects */
	VERDICT_SAMPLES_LEAST = 50,	/* of a run: rows of fewer are not judged */
};

enum verdict_status {
	VERDICT_SAME, VERDICT_SLOWER, VERDICT_SUSPECT, VERDICT_FASTER,
	VERDICT_NEW,		/* none of the stored batches has it */
	VERDICT_GONE,
	VERDICT_UNSTEADY,	/* changed, but varies too much or is too rare to
				 * be judged */
	VERDICT_ALLOWED,	/* slower, and known */
};

struct verdict_row {
	uint32_t func;		/* in history.funcs */
	enum verdict_status status;
	double base, now;	/* samples of a run; `now` comparable */
	double share;		/* of the program's time before */
	double ratio, low, high;	/* 95 % */
	double p, q;		/* slower than 1 + margin; q: adjusted */
	double visible;		/* the slowdown (0.05: 5 %) that would be seen in
				 * four of five checks */
	size_t against;		/* stored batches it was compared with: those since
				 * it last got faster */
	double alone;		/* ratio, by the judged commit's batches alone */
	bool before;		/* the last stored commit has it, too: both are
				 * compared with those before them */
	const char *reason;	/* VERDICT_ALLOWED */
};

enum verdict_answer {
	VERDICT_PASS, VERDICT_REGRESSED, VERDICT_INCONCLUSIVE,
};

struct verdict {
	enum verdict_answer answer;
	size_t stored, fresh;	/* batches that were compared */
	bool learning;		/* too few are stored: nothing was judged */
	bool blind;		/* require_mde was not reached */
	VEC(struct verdict_row) rows;	/* what changed first */
	size_t slower, suspects;	/* rows */
	struct {
		double ratio, low, high, p;
		bool slower;
		const char *reason;	/* it is, and that is known */
	} total;
	double mde;		/* minimum detectable effect, of the program */
	uint32_t mde_func;	/* in history.funcs */
	double kernel_before, kernel_now;	/* its share of all time */
};

/* Batches are rows of h; stored ones oldest first, of one class with the new ones. */
int verdict_reach(const struct history *h, const uint32_t *stored,
		  size_t nstored, const uint32_t *fresh, size_t nfresh,
		  const struct verdict_options *o, struct verdict *out,
		  struct error *err);
void verdict_fini(struct verdict *v);

#endif
