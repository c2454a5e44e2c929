/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_CHECK_H
#define TALLY_CHECK_CHECK_H
/*
 * A check compares recordings of a baseline with new recordings.  It holds the
 * verdict and the evidence for it.  Equal files give equal results, in whatever
 * order they were named.
 */
#include "check/allow.h"
#include "check/edits.h"
#include "check/judge.h"
#include "check/runs.h"

struct check_options {
	struct judge_options judge;
	struct check_runs_options runs;
	double require_mde;	/* largest minimum detectable effect for a pass,
				 * 0.1 for 10 % of a run; above it the check is
				 * inconclusive; negative: not required */
	bool inclusive;		/* also judge costs including callees, in a second
				 * table */
	bool gate_kernel;	/* where the sides were interleaved, also judge the
				 * kernel's own work (scheduling, faults) */
	bool any_outcome;	/* never give the verdict CHECK_BROKEN */
	const struct allow_list *allow;	/* may be NULL */
	size_t runs_planned, runs_most;	/* while runs are recorded: see judge_looks;
					 * 0: their number was decided before */
	bool out_of_time;	/* recording ended because of its time */
};

enum check_verdict {
	CHECK_PASS, CHECK_REGRESSED, CHECK_INCONCLUSIVE,
	CHECK_BROKEN,		/* the new side did less work than the baseline or
				 * ended differently */
};

enum check_status {
	CHECK_SMALL, CHECK_SAME, CHECK_SUSPECT, CHECK_SLOWER, CHECK_FASTER,
	CHECK_ADDED, CHECK_REMOVED,
	CHECK_MOVED,		/* costs more, and related functions cost less by
				 * about as much */
	CHECK_ALLOWED,		/* slower or new, and allowed by the user's list */
};

enum check_part_kind { PART_LINE, PART_INSN, PART_CALLER, PART_KINDS };

/* The cost of a line, an instruction or a caller within a function, in samples per
 * run. */
struct check_part {
	uint32_t row;		/* index in `rows` */
	enum check_part_kind kind;
	uint32_t func;		/* the caller, for PART_CALLER */
	uint32_t name;		/* str: a line's file or an instruction's symbol */
	uint32_t line;
	uint64_t offset;	/* offset in the symbol, bytes */
	uint64_t size, build;	/* size of the symbol and hash of its image's build
				 * ID: if either differs, so does the code */
	uint32_t text;		/* str: disassembly of an instruction; 0: unknown */
	double base, now;
	double p;		/* adjusted p-value of the test that a line costs
				 * more */
};

struct check_parts {
	size_t first, n;	/* range in `parts`, largest increase first */
};

/* A commit between the two recorded revisions that changed lines of a row. */
struct check_commit {
	uint32_t row;
	char *id, *subject;	/* the subject is one line of at most 200 bytes */
	bool of_file;		/* it changed the file; the lines are unknown */
	size_t of;		/* number of all commits of the row */
};

/* How a changed place is related to a slower row, closest first. */
enum check_relation {
	EDIT_SELF,	/* the function itself, in lines without cost */
	EDIT_CALLER,	/* a function that calls it */
	EDIT_FILE,	/* its file */
	EDIT_SAMPLED,	/* another function of the recordings */
	EDIT_OTHER,
};

/* A place that changed between the two recorded revisions, for a row whose own lines
 * no commit changed. */
struct check_edit {
	uint32_t row;		/* PROF_NONE: the total */
	enum check_relation relation;
	enum edit_kind kind;
	char *path, *name;	/* in the repository; declaration, may be "" */
	uint32_t line;		/* in the new revision; EDIT_REMOVED: in the old one */
	char *id, *subject;	/* the last commit that changed it; may be NULL */
	size_t of;		/* number of all changed places */
};

struct check_row {
	struct check_unit unit;	/* func is PROF_NONE for all small functions
				 * together */
	struct judge_row j;
	enum check_status status;
	bool fails;		/* this row alone fails the check */
	const char *reason;	/* the user's reason for CHECK_ALLOWED */
	uint32_t partner;	/* CHECK_MOVED: row the cost came from; PROF_NONE:
				 * the same function under another name */
	struct check_parts parts[PART_KINDS];
};

struct check {
	struct check_options o;
	struct check_runs runs;
	double *cost;		/* cost in samples, [run * nunits + row] */
	double per_sample;	/* units of the event per sample of `cost` */
	struct judge judge;
	VEC(struct check_row) rows;	/* by name; the small functions come last */
	VEC(uint32_t) order;	/* rows to show, most important first */
	VEC(struct check_part) parts;
	VEC(struct check_commit) commits;	/* by row; added by the command */
	VEC(struct check_edit) edits;	/* likewise, closest first within a row */
	double *inclusive_cost;
	struct judge inclusive;	/* judgement of inclusive costs, with the same rows */
	VEC(char *) notes;	/* notes for the reader */
	VEC(char *) machine;	/* differences between the machines */
	bool interleaved;	/* runs of the two sides alternated */
	bool total_fails;
	bool total_unclear;	/* everything became slower; without interleaved runs
				 * it is unknown whether the machine or the program is
				 * the cause */
	char *broken;		/* why the new side is broken, or NULL */
	const char *total_reason;	/* reason why the total's change is
					 * allowed, or NULL */
	struct judge_sensitivity sensitivity;	/* sensitivity for everything
						 * that may fail the check */
	enum judge_step step;	/* with runs_most: whether more runs are needed */
	enum check_verdict verdict;
	size_t failing;		/* number of rows that fail the check */
	double scale;		/* factor from new costs to relative costs */
	bool is_time;		/* the event's unit is nanoseconds */
};

/* decide.c */
/* Returns whether more runs of both sides are not needed. */
bool check_settled(const struct check *c);
/* Judges the recordings in c->runs by c->o.  Call it after all files were added. */
int check_decide(struct check *c, struct error *err);

/* check.c */
/* Releases everything that a check owns. */
void check_fini(struct check *c);

/* Returns a cost in the event's unit. */
static inline double check_cost(const struct check *c, double samples)
{
	return samples * c->per_sample;
}
/* Returns the mean cost of a row in the new runs, in samples.  It is scaled to be
 * comparable with the baseline if the row was judged by its relative cost. */
static inline double check_now(const struct check *c, const struct check_row *r)
{
	return r->j.absolute ? r->j.now : r->j.now * c->scale;
}
/* Returns the line number of a row or a part, whether or not the line still
 * exists. */
static inline uint32_t check_line_number(uint32_t line)
{
	return line & ~LINE_REMOVED;
}
/* Returns the name of a status: "regressed", "moved"… */
const char *check_status_name(enum check_status s);
const char *check_verdict_name(enum check_verdict v);
/* Appends the readable name of a row, not safe for a terminal. */
void check_row_name(const struct check *c, const struct check_row *r,
		    struct buf *out);
/* Returns whether a row is a function that was renamed. */
bool check_row_renamed(const struct check *c, const struct check_row *r);
/* Appends what a row was before: its former name, or the function its cost came
 * from.  The readable name is not safe for a terminal.  Returns false if there is
 * neither. */
bool check_row_before(const struct check *c, const struct check_row *r,
		      struct buf *out);
/* Returns the base name of a row's image, "" for the small functions together. */
const char *check_row_image(const struct check *c, const struct check_row *r);
/* Returns the name of the compared event. */
const char *check_event_name(const struct check *c);

#endif
