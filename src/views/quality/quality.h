/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUALITY_QUALITY_H
#define TALLY_VIEWS_QUALITY_QUALITY_H
/*
 * Data quality: what was measured, what is missing, and what would help.  Every
 * view begins with it.
 */
#include "base/json.h"
#include "views/query/aggregate.h"

struct quality_event {
	/*
	 * Number of expected samples, and what became of them: recorded, lost
	 * for lack of buffer space, or missed.  A missed sample was never
	 * taken: no timer fired in time, its thread had ended, or the kernel
	 * throttled.  wanted 0: unknown, and so is missed.
	 */
	uint64_t wanted, got, lost, missed;
	uint64_t throttled;		/* number of throttle events */
	uint64_t weight;		/* sum over recorded samples */
	uint64_t value;			/* value of the counter */
	uint64_t enabled_ns, running_ns;
};

struct quality_image {
	uint32_t image;
	uint64_t samples;		/* samples whose innermost frame is here */
	uint64_t unresolved;		/* number of these that have no name */
	/* number of these that have a name but no line */
	uint64_t lineless;
};

/* Samples whose stacks end at their outer side with the same mark, for the same
 * reason, in the same image. */
struct stack_end {
	uint32_t mark;			/* PROF_MARK_* */
	uint32_t reason;		/* enum prof_end_reason */
	uint32_t image;			/* index, or PROF_NONE */
	uint64_t samples;
};

/* CPU time of the command and its children from /proc (wait4(2)), compared with
 * samples of a source that does not see the kernel. */
struct quality_time {
	uint64_t user_ns, sys_ns;
	uint64_t sampled_ns;		/* time represented by samples */
	uint64_t before_ns;		/* time before the programs' first samples */
	uint64_t unseen_ns;		/* time without samples, in total */
	uint64_t missing_ns;		/* time without samples that exceeds chance */
	/* the programs ran too briefly for the kernel to split their time into
	 * user and system */
	bool too_short;
};

struct quality {
	const struct profile *p;
	const struct reader_damage *damage;
	struct quality_event *events;	/* by event */
	VEC(struct quality_image) images;	/* most samples first */
	uint64_t got;			/* samples in the file, all events */
	uint64_t shown;			/* samples selected */
	uint64_t lost, throttled;	/* sums over events, known or not */
	uint64_t missed;		/* sum over events */
	/* selected samples with a marked stack, by mark */
	uint64_t cut, broken, later, guessed;
	VEC(struct stack_end) ends;	/* ends of these stacks, most samples first */
	uint64_t frameless;		/* selected samples without any frame */
	/* weight of selected samples, and its part in the kernel */
	uint64_t weight, in_kernel;
	/* Selected samples at PLACE_BEFORE_FIRST and PLACE_NOT_SAMPLED of
	 * model.h. */
	uint64_t before_first, not_sampled;
	/* selected samples whose innermost frame is unresolved */
	uint64_t unresolved;
	uint64_t duration_ns;
	bool running;			/* the end is unknown */
};

int quality_build(struct quality *t, struct reader *r, const struct aggregate *a,
		  struct error *err);
void quality_fini(struct quality *t);

/* Returns what a run recorded: its command, or the processes or CPUs
 * watched. */
const char *quality_run_title(const struct profile *p, const struct prof_run *r);

/* quality_stacks appends the problems of stacks on one line, or nothing.
 * quality_stacks_help appends remedies, one per line, each beginning with
 * `before`. */
void quality_stacks(const struct quality *t, struct buf *out);
/* Appends one kind of end: "broken: no unwind data in libx.so". */
void stack_end_text(const struct quality *t, const struct stack_end *e,
		    struct buf *out);
void quality_stacks_help(const struct quality *t, const char *before,
			 struct buf *out);
/* Writes member "stacks" to the open JSON object. */
void quality_stacks_json(const struct quality *t, struct json *j);

/* Appends it as text without a newline; nothing if it is unknown.  Returns whether the
 * text names programs that were not recorded. */
bool quality_time_text(const struct quality *t, struct buf *out);
/* Writes member "processor_time" to the open JSON object. */
void quality_time_json(const struct quality *t, struct json *j);

/* Appends lines that begin with "# ", at most `columns` wide (0: 80). */
void quality_text(const struct quality *t, int columns, struct buf *out);
/* Writes members to the open JSON object. */
void quality_json(const struct quality *t, struct json *j);

#endif
