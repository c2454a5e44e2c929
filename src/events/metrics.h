/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_METRICS_H
#define TALLY_EVENTS_METRICS_H
/*
 * Metrics derived from counts of K8 and P6 events, according to their documents
 * (hw.h lists them), and of kernel events.
 *
 * In a formula, a, b, c and d are the counts of the events in order.  `time` is the
 * elapsed time in seconds, and parameters are used by name.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "events/hw.h"

enum { METRIC_EVENTS_MAX = 4, METRIC_PARAMS_MAX = 2, METRIC_NAME_MAX = 128 };

struct metric_param {
	const char *name;
	double value;		/* default */
	const char *what;
};

struct metric {
	const char *name;
	const struct hw_pmu *pmu;	/* NULL: the kernel's events */
	const char *unit;	/* "%", "B/s", or "" */
	const char *formula;
	const char *events[METRIC_EVENTS_MAX];	/* specifiers */
	const char *summary;
	const char *source;	/* place in the document */
	const char *note;	/* or NULL */
	bool on_request;	/* the inverse of another metric, shown only on
				 * request */
	struct metric_param params[METRIC_PARAMS_MAX];
};

/* The metrics; the table ends with name == NULL. */
extern const struct metric metric_table[];
/* Finds a metric by its name of n bytes, ignoring case; NULL if there is none. */
const struct metric *metric_find(const char *name, size_t n);
/* Returns the number of events. */
size_t metric_events(const struct metric *m);
bool metric_uses_time(const struct metric *m);

/* A metric as requested by the user: NAME[:PARAMETER=NUMBER]… */
struct metric_use {
	const struct metric *m;
	char text[METRIC_NAME_MAX];
	double params[METRIC_PARAMS_MAX];
};

/* Parses a request.  ERR_USAGE describes the mistake. */
int metric_parse(const char *text, struct metric_use *out, struct error *err);
/* Returns a use with all parameters at their defaults. */
struct metric_use metric_plain(const struct metric *m);
/* Computes the metric from counts in the order of m->events; NaN if it is
 * undefined. */
double metric_value(const struct metric_use *u, const double *counts,
		    double seconds);

/*
 * Formulas of metrics: numbers, names, + - * / and parentheses.  The formula
 * shown to the user is the one that is computed.
 */

struct formula_name {
	const char *name;
	double value;
};

/* Evaluates a formula.  Division by zero gives NaN. */
int formula_eval(const char *text, const struct formula_name *names, size_t n,
		 double *out, struct error *err);
/* Returns whether `name` occurs in the formula. */
bool formula_uses(const char *text, const char *name);

#endif
