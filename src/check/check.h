/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_CHECK_H
#define TALLY_CHECK_CHECK_H
/*
 * A check: recordings of a baseline against recordings of something new, the
 * verdict, and what it rests on.  Equal files give equal results, in whatever
 * order they were named.
 */
#include "check/allow.h"
#include "check/judge.h"
#include "check/runs.h"

struct check_options {
	struct judge_options judge;
	struct check_runs_options runs;
	double require_mde;	/* 0.1: inconclusive unless what adds 10 % to a
				 * run would be seen; negative: not asked */
	bool inclusive;		/* a second table: with what was called */
	bool gate_kernel;	/* where the sides were interleaved, also what the kernel
				 * does by itself: scheduling, faults */
	bool any_outcome;	/* never CHECK_BROKEN */
	const struct allow_list *allow;	/* may be NULL */
	size_t runs_allowed;	/* of each side, that might have been made;
				 * 0: those that were */
};

enum check_verdict {
	CHECK_PASS, CHECK_REGRESSED, CHECK_INCONCLUSIVE,
	CHECK_BROKEN,		/* the new side did not do the baseline's work */
};

enum check_status {
	CHECK_SMALL, CHECK_SAME, CHECK_SUSPECT, CHECK_SLOWER, CHECK_FASTER,
	CHECK_ADDED, CHECK_GONE,
	CHECK_MOVED,		/* costs more, others as much less */
	CHECK_ALLOWED,		/* slower or new, and known */
};

enum check_part_kind { PART_LINE, PART_INSN, PART_CALLER, PART_KINDS };

/* What a line, an instruction or a caller of a function had a run, in samples. */
struct check_part {
	uint32_t row;		/* in rows */
	enum check_part_kind kind;
	uint32_t func;		/* PART_CALLER */
	uint32_t name;		/* str: file of a line, symbol of an
				 * instruction */
	uint32_t line;
	uint64_t offset;	/* in the symbol */
	uint64_t size, build;	/* of the symbol, and a hash of its image's
				 * build-id: other ones are other code */
	uint32_t text;		/* str: of an instruction; 0: not known */
	double base, now;
	double p;		/* of a line: costs more by chance, adjusted */
};

struct check_parts {
	size_t first, n;	/* in parts: most gained first */
};

/* A commit between both recordings' revisions that touched a row's lines. */
struct check_commit {
	uint32_t row;
	char *id, *subject;
};

struct check_row {
	struct check_unit unit;	/* func PROF_NONE: all small functions */
	struct judge_row j;
	enum check_status status;
	bool fails;		/* alone fails the check */
	const char *reason;	/* CHECK_ALLOWED: why, in the user's words */
	uint32_t partner;	/* CHECK_MOVED: row it came from; PROF_NONE: it
				 * is the same, by another name */
	struct check_parts parts[PART_KINDS];
};

struct check {
	struct check_options o;
	struct check_runs runs;
	double *cost;		/* [run * nunits + row], in samples */
	double per_sample;	/* the event's units of a sample of `cost` */
	struct judge judge;
	VEC(struct check_row) rows;	/* by name; the last: small ones */
	VEC(uint32_t) order;	/* rows to show: what matters first */
	VEC(struct check_part) parts;
	VEC(struct check_commit) commits;	/* by row; the command adds them */
	double *inclusive_cost;
	struct judge inclusive;	/* by the same rows */
	VEC(char *) notes;	/* what the reader should know */
	VEC(char *) machine;	/* how the machines differ */
	bool interleaved;	/* their runs alternated */
	bool total_fails;
	char *broken;		/* how the new side is broken, or NULL */
	const char *total_reason;	/* the total's change is known */
	struct judge_sight sight;	/* of what may fail the check */
	enum check_verdict verdict;
	size_t failing;		/* rows that fail it */
	double scale;		/* by which new costs are relative ones */
	bool is_time;		/* the unit is ns */
};

/* Whether more runs of both sides would hardly change the verdict. */
bool check_settled(const struct check *c);
/* All files were added to c->runs; the options are set. */
int check_decide(struct check *c, struct error *err);
void check_fini(struct check *c);

/* Cost of a run in the event's unit. */
static inline double check_cost(const struct check *c, double samples)
{
	return samples * c->per_sample;
}
/* Cost of a row in the new runs, in samples, comparable with the baseline's in the
 * way that the row was judged by. */
static inline double check_now(const struct check *c, const struct check_row *r)
{
	return r->j.absolute ? r->j.now : r->j.now * c->scale;
}
/* The line of a row or a part, whether it is still there or not. */
static inline uint32_t check_line_number(uint32_t line)
{
	return line & ~LINE_GONE;
}
/* The words of a status: "regressed", "moved"… */
const char *check_status_name(enum check_status s);
const char *check_verdict_name(enum check_verdict v);
/* Readable name of a row, not safe. */
void check_row_name(const struct check *c, const struct check_row *r,
		    struct buf *out);
/* Whether a row is a function that had another name. */
bool check_row_renamed(const struct check *c, const struct check_row *r);
/* What a row was before: by another name, or the one that it moved from.  Readable
 * name, not safe; false: neither. */
bool check_row_before(const struct check *c, const struct check_row *r,
		      struct buf *out);
/* base name of its image, "" of all small functions together */
const char *check_row_image(const struct check *c, const struct check_row *r);
const char *check_event_name(const struct check *c);

#endif
