/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_SHOW_H
#define TALLY_COUNT_SHOW_H
/* Counts as text, JSON and CSV. */
#include "base/json.h"
#include "count/count.h"

struct count_show {
	char *const *command;	/* or NULL */
	bool intervals;		/* count_…_interval is called between */
};

/* For people.  Intervals: a line for each event, the time first. */
void count_text(struct buf *out, const struct count_result *r,
		const struct count_show *show);
void count_text_interval(struct buf *out, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns);

/* One object; intervals are elements of an array in it, written as they come. */
void count_json_begin(struct json *j, const struct count_show *show);
void count_json_interval(struct json *j, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns);
void count_json_end(struct json *j, const struct count_result *r,
		    const struct count_show *show);

/* A head and a record for each event, metric and time. */
void count_csv_begin(struct buf *out);
void count_csv_interval(struct buf *out, const struct count_result *r,
			const struct count_value *v, uint64_t elapsed_ns,
			uint64_t since_ns);
void count_csv_end(struct buf *out, const struct count_result *r);

/* The name that a metric is shown by. */
void count_metric_name(const struct plan_metric *m, char *out, size_t size);
/* What is to be known of an event's value beside it, or "". */
void count_event_note(const struct plan_event *e, const struct count_value *v,
		      char *out, size_t size);

#endif
