/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_COUNT_H
#define TALLY_COUNT_COUNT_H
/* Counts events while programs run, without taking samples. */
#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "events/events.h"
#include "events/metrics.h"
#include "events/pmu.h"
#include "launch/target.h"
#include "record/perf/perf_open.h"

/*
 * plan.c: selects what to count: events, the metrics derived from them, and which events
 * must be counted at the same time.  A ratio of events that were counted at
 * different times is misleading.  The events of a metric therefore form one group,
 * which the kernel puts on the processor's counters together or not at all.  The
 * kernel's software events are always counted and need no group.
 */
struct plan_event {
	struct perf_event ev;
	uint32_t group;		/* from 1; 0: none */
	bool optional;		/* not requested by the user, so it may be missing */
	bool missing;		/* could not be opened */
	bool hidden;		/* missing because the kernel's part may not be
				 * counted */
	bool split;		/* could not be counted with its group */
	/* The units that count the event, if there are several of a kind (their
	 * counts are added), or the kinds of cores (`cores`). */
	struct pmu_units units;
	bool cores;		/* `units` are kinds of cores, or `kind` is one of
				 * them */
	struct pmu_unit kind;
	uint32_t twins;		/* equal for all kinds of cores of an event; 0:
				 * none */
};

struct plan_events {
	struct plan_event *v;
	size_t n, cap;
};

struct plan_metric {
	struct metric_use use;
	uint32_t event[METRIC_EVENTS_MAX];
	char mode[4];		/* mode of its events: ":u", ":k" or "" */
};

struct plan {
	struct plan_events events;
	VEC(struct plan_metric) metrics;
	size_t units_max;	/* most units of one event */
	size_t group_max;	/* most events that a metric adds to a group */
};

struct plan_options {
	const struct event_list *events;	/* requested events */
	const struct metric_use *metrics;
	size_t nmetrics;
	bool no_metrics;	/* show only requested metrics */
	bool no_group;		/* count each event alone */
	bool by_mode;		/* count user and kernel mode separately */
	bool no_merge;		/* show units of a kind, and kinds of cores,
				 * separately */
	const char *sysfs;
};

/* Makes a plan.  Without requested events and metrics, it contains the default
 * ones. */
int plan_make(struct plan *p, const struct plan_options *o, struct error *err);
/* Drops the metrics that need missing events. */
void plan_forget(struct plan *p);
void plan_fini(struct plan *p);

/* --- counters.c: opens the events of a plan on threads or processors and reads their
 * counts */

/* An event's count, the time it was enabled and the time it was on a counter. */
struct count_value {
	uint64_t value, enabled_ns, running_ns;
};

struct counters_options {
	const uint32_t *tids;	/* threads; NULL: all threads on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	bool some_cpus;		/* restrict the threads to these CPUs */
	int cgroup_fd;		/* cgroup, only if tids is NULL; or -1 */
	bool inherit, enable_on_exec;
	bool user_only, kernel_only;
	const char *sysfs;
};

struct counters;

/* Opens the counters.  Events that the user did not request may be missing, and
 * events that do not fit into their group are opened alone.  Both are marked in
 * the plan's events. */
int counters_open(struct counters **out, struct plan *p,
		  const struct counters_options *o, struct error *err);
/* Starts all counters. */
int counters_start(struct counters *c, struct error *err);
/* Stops all counters, which keep their values. */
void counters_stop(struct counters *c);
/* Reads one value for each event of the plan. */
int counters_read(struct counters *c, struct count_value *out,
		  struct error *err);
void counters_close(struct counters *c);

/* --- count.c and values.c */

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
	/* Seconds; 0 or, of the last two, less: none.  A negative delay: wait until
	 * `control` enables. */
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

/* --- show_*.c: writes counts as text, JSON and CSV */

struct count_show {
	char *const *command;	/* or NULL */
	bool intervals;		/* count_…_interval is called between begin and end */
};

/* Append a table for people; at intervals, one line for each event, beginning with
 * the time. */
void count_text(struct buf *out, const struct count_result *r,
		const struct count_show *show);
void count_text_interval(struct buf *out, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns);

/* Write one JSON object.  Intervals are elements of an array in it, written as
 * they arrive. */
void count_json_begin(struct json *j, const struct count_show *show);
void count_json_interval(struct json *j, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns);
void count_json_end(struct json *j, const struct count_result *r,
		    const struct count_show *show);

/* Append a header line, then a record for each event, metric and time. */
void count_csv_begin(struct buf *out);
void count_csv_interval(struct buf *out, const struct count_result *r,
			const struct count_value *v, uint64_t elapsed_ns,
			uint64_t since_ns);
void count_csv_end(struct buf *out, const struct count_result *r);

/* Writes the displayed name of a metric. */
void count_metric_name(const struct plan_metric *m, char *out, size_t size);
/* Writes a remark about an event's value, or "". */
void count_event_note(const struct plan_event *e, const struct count_value *v,
		      char *out, size_t size);
/* Returns a remark about a metric's accuracy, or "". */
const char *count_accuracy_note(enum count_accuracy d);
extern const char *const count_time_names[3];	/* by enum count_time */

#endif
