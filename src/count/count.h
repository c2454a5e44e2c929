/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_COUNT_H
#define TALLY_COUNT_COUNT_H
/*
 * Counting: how often events happen while programs run, without samples.
 */
#include "base/buf.h"
#include "count/counters.h"
#include "count/spread.h"

struct count_result;

struct count_options {
	char *const *command;		/* NULL-terminated, or NULL */
	struct target_options target;
	const struct event_list *events;	/* empty: the usual ones */
	const struct metric_use *metrics;
	size_t nmetrics;
	bool no_metrics, no_group, by_mode, no_merge;
	bool inherit, user_only, kernel_only;
	uint64_t repeat;		/* runs of the command; 0 is 1 */
	/* Seconds; 0: none; a delay below 0: until `control` enables. */
	double delay, duration, interval;
	const char *control;		/* as record_options', or NULL */
	/* One line that the user should know; may be NULL. */
	void (*notice)(void *ctx, const char *text);
	/* Each `interval`: what was counted in it (elapsed_ns of it, and since
	 * the start). */
	void (*tick)(void *ctx, const struct count_result *r,
		     const struct count_value *values, uint64_t elapsed_ns,
		     uint64_t since_ns);
	void *ctx;
};

struct count_run {
	uint64_t elapsed_ns, user_ns, sys_ns;
	int wait_status;	/* of the command; 0 without */
};

struct count_result {
	struct plan plan;
	bool of_command;	/* it is what is counted, and its user and
				 * system time are known */
	VEC(struct count_run) runs;
	VEC(struct count_value) values;	/* [run * events + event] */
	struct buf notes;	/* lines */
	int exec_status;	/* 127, 126: it could not be run; else 0 */
	int stop_signal;	/* signal that ended the counting, or 0 */
};

/* 0 or an error.  `out` is to be released in any case. */
int count(const struct count_options *o, struct count_result *out,
	  struct error *err);
void count_result_fini(struct count_result *r);

/* For the whole time it should have counted; NaN when it never did. */
double count_whole(const struct count_value *v);
/* The same in the unit of the event, where sysfs tells one. */
double count_event_value(const struct plan_event *e,
			 const struct count_value *v);
/* The share of that time that it did, 0 to 1. */
double count_share(const struct count_value *v);
/* Is count_whole() an estimate, because others needed the counter, too? */
bool count_estimated(const struct count_value *v);

/* A metric of one set of values; NaN when there is no such figure. */
double count_metric(const struct plan_metric *m, const struct count_value *v,
		    double seconds);

enum count_doubt {
	COUNT_SURE,
	COUNT_ESTIMATED,	/* of events that were counted together */
	COUNT_APART,		/* of estimates that are of different times */
};
enum count_doubt count_metric_doubt(const struct plan *p,
				    const struct plan_metric *m,
				    const struct count_value *v);
/* The worst of all runs. */
enum count_doubt count_metric_doubt_all(const struct count_result *r,
					const struct plan_metric *m);

/* All runs: of an event, a metric, and of a time of the runs. */
struct spread count_event_spread(const struct count_result *r, size_t event);
struct spread count_metric_spread(const struct count_result *r, size_t metric);
enum count_time { COUNT_ELAPSED, COUNT_USER, COUNT_SYSTEM };
struct spread count_time_spread(const struct count_result *r,
				enum count_time which);
/* An event's values of all runs, added. */
struct count_value count_total(const struct count_result *r, size_t event);

#endif
