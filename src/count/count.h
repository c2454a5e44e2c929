/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_COUNT_H
#define TALLY_COUNT_COUNT_H
/*
 * Counts events while programs run, without taking samples.
 */
#include "base/buf.h"
#include "count/counters.h"

struct count_result;

struct count_options {
	char *const *command;		/* NULL-terminated, or NULL */
	struct target_options target;
	const struct event_list *events;	/* empty: the default events */
	const struct metric_use *metrics;
	size_t nmetrics;
	bool no_metrics, no_group, by_mode, no_merge;
	bool inherit, user_only, kernel_only;
	uint64_t repeat;		/* runs of the command; 0 means 1 */
	/* Seconds; 0: none.  A negative delay: wait until `control` enables. */
	double delay, duration, interval;
	const char *control;		/* as in record_options, or NULL */
	/* Receives one line for the user; may be NULL. */
	void (*notice)(void *ctx, const char *text);
	/* Called after each `interval` with its counts, its length, and the time
	 * since the start. */
	void (*tick)(void *ctx, const struct count_result *r,
		     const struct count_value *values, uint64_t elapsed_ns,
		     uint64_t since_ns);
	void *ctx;
};

/* The spread of values over several runs. */
struct spread {
	size_t n;		/* number of values other than NaN */
	double mean, min, max;
	double stddev;		/* sample standard deviation (n - 1); 0 for one
				 * value */
	double ci95;		/* half width of the mean's 95 % confidence
				 * interval */
};

/* Computes the spread, ignoring NaN.  Without any value, the mean is NaN. */
struct spread spread_of(const double *v, size_t n);

struct count_run {
	uint64_t elapsed_ns, user_ns, sys_ns;
	int wait_status;	/* wait status of the command; 0 without a command */
};

struct count_result {
	struct plan plan;
	bool of_command;	/* a command was counted, so its user and system
				 * time are known */
	VEC(struct count_run) runs;
	VEC(struct count_value) values;	/* [run * events + event] */
	struct buf notes;	/* notes for the user, as lines */
	int exec_status;	/* 127 or 126 if the command could not be run,
				 * otherwise 0 */
	int stop_signal;	/* signal that ended the counting, or 0 */
};

/* Counts events.  Returns 0 or an error.  Call count_result_fini in any case. */
int count(const struct count_options *o, struct count_result *out,
	  struct error *err);
void count_result_fini(struct count_result *r);

/* Returns the value scaled to the whole enabled time; NaN if it was never counted. */
double count_whole(const struct count_value *v);
/* Returns the same in the event's unit, if sysfs gives one. */
double count_event_value(const struct plan_event *e,
			 const struct count_value *v);
/* Returns the share of the enabled time during which it was counted, 0 to 1. */
double count_share(const struct count_value *v);
/* Returns whether count_whole() is an estimate because the counter was shared. */
bool count_estimated(const struct count_value *v);

/* Computes a metric from one set of values; NaN if it is undefined. */
double count_metric(const struct plan_metric *m, const struct count_value *v,
		    double seconds);

enum count_accuracy {
	COUNT_EXACT,
	COUNT_ESTIMATED,	/* from estimates of events that were counted
				 * together */
	COUNT_SEPARATE,		/* from estimates of events that were counted at
				 * different times */
};
enum count_accuracy count_metric_accuracy(const struct plan *p,
					  const struct plan_metric *m,
					  const struct count_value *v);
/* Returns the worst doubt of all runs. */
enum count_accuracy count_metric_accuracy_all(const struct count_result *r,
					      const struct plan_metric *m);

/* Return the spread over all runs of an event, a metric or a time. */
struct spread count_event_spread(const struct count_result *r, size_t event);
struct spread count_metric_spread(const struct count_result *r, size_t metric);
enum count_time { COUNT_ELAPSED, COUNT_USER, COUNT_SYSTEM };
struct spread count_time_spread(const struct count_result *r,
				enum count_time which);
/* Returns the sum of an event's values over all runs. */
struct count_value count_total(const struct count_result *r, size_t event);

#endif
