/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUALITY_QUALITY_H
#define TALLY_VIEWS_QUALITY_QUALITY_H
/*
 * What can be trusted: what was really measured, what is missing, and what
 * would help.  Every view begins with it.
 */
#include "base/json.h"
#include "views/query/aggregate.h"

struct quality_event {
	/* Each sample that rate or period called for was got, lost for want of
	 * room, or missed: never taken, as no timer came in time, its thread
	 * had ended or the kernel throttled.  wanted 0: not known. */
	uint64_t wanted, got, lost, missed;
	uint64_t throttled;		/* how often */
	uint64_t weight;		/* sum over the samples got */
	uint64_t value;			/* what the counter counted */
	uint64_t enabled_ns, running_ns;
};

struct quality_image {
	uint32_t image;
	uint64_t samples;		/* whose innermost frame is here */
	uint64_t unresolved;		/* of them: without a name */
	uint64_t lineless;		/* with a name, but no line */
};

/* Samples whose stacks end at their outer side with the same mark, for the same
 * reason, in the same image. */
struct stack_end {
	uint32_t mark;			/* PROF_MARK_* */
	uint32_t reason;		/* enum prof_end_reason */
	uint32_t image;			/* or PROF_NONE */
	uint64_t samples;
};

/* What /proc (wait4(2)) says of the command and its children, beside samples of
 * a source that does not see the kernel. */
struct quality_time {
	uint64_t user_ns, sys_ns;
	uint64_t sampled_ns;		/* what samples stand for */
	uint64_t before_ns;		/* before programs' first samples */
	uint64_t unseen_ns;		/* by no sample: the whole rest */
	uint64_t missing_ns;		/* more than chance would leave out */
	bool too_short;			/* the programs, for the kernel to part
					 * their time into user and system */
};

struct quality {
	const struct profile *p;
	const struct reader_damage *damage;
	struct quality_event *events;	/* by event */
	VEC(struct quality_image) images;	/* most samples first */
	uint64_t got;			/* samples in the file, all events */
	uint64_t shown;			/* samples selected */
	uint64_t lost, throttled;	/* of all events, known or not */
	uint64_t missed;		/* of all events */
	uint64_t cut, broken, later, guessed;	/* of shown: marked stacks */
	VEC(struct stack_end) ends;	/* of these, most samples first */
	uint64_t frameless;		/* of shown: no frame at all */
	uint64_t weight, in_kernel;	/* of shown; and of these in the kernel */
	/* Of shown: PLACE_BEFORE_FIRST and PLACE_NOT_SAMPLED of model.h. */
	uint64_t before_first, not_sampled;
	uint64_t unresolved;		/* of shown: innermost without name */
	uint64_t duration_ns;
	bool running;			/* the end is not known */
};

int quality_build(struct quality *t, struct reader *r, const struct aggregate *a,
		  struct error *err);
void quality_fini(struct quality *t);

/* What a run recorded: its command, or the processes or CPUs that were watched. */
const char *quality_run_title(const struct profile *p, const struct prof_run *r);

/* Appends what is wrong with stacks on one line, nothing when all is well; what
 * would help, a line each that begins with `before`. */
void quality_stacks(const struct quality *t, struct buf *out);
/* One kind of end: "broken: no unwind data in libx.so". */
void stack_end_text(const struct quality *t, const struct stack_end *e,
		    struct buf *out);
void quality_stacks_help(const struct quality *t, const char *before,
			 struct buf *out);
/* Member "stacks" of a JSON object that is open. */
void quality_stacks_json(const struct quality *t, struct json *j);

/* False when nobody counted, or when samples can be missed in no such way. */
bool quality_time(const struct quality *t, struct quality_time *out);
/* Appends it as text without an end of line, nothing when it is not known. */
void quality_time_text(const struct quality *t, struct buf *out);
/* Member "processor_time" of a JSON object that is open. */
void quality_time_json(const struct quality *t, struct json *j);

/* Lines that begin with "# ", none wider than `columns` (0: 80). */
void quality_text(const struct quality *t, int columns, struct buf *out);
/* Members of a JSON object that is open. */
void quality_json(const struct quality *t, struct json *j);

#endif
