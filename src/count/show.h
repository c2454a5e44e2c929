/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_SHOW_H
#define TALLY_COUNT_SHOW_H
/* Writes counts as text, JSON and CSV. */
#include "base/json.h"
#include "count/count.h"

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
