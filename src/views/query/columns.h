/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_COLUMNS_H
#define TALLY_VIEWS_QUERY_COLUMNS_H
/*
 * The columns of a report, as one table for text, JSON, CSV and the terminal
 * view.  The keys come first, by enum view_key, and then the numbers of each
 * event.  A new column is a row of the table in columns.c; tally-report(1)
 * lists them.
 */
#include "base/json.h"
#include "views/query/framekey.h"
#include "views/query/table.h"

enum column_kind {
	COLUMN_SAMPLE,		/* key by which samples are grouped */
	COLUMN_FRAME,		/* key by which frames are grouped */
	COLUMN_NUMBER,		/* number of each event */
};

/* How text that does not fit is cut. */
enum column_fit { FIT_END, FIT_PATH, FIT_NAME };

/* Columns of numbers in a table on a terminal. */
enum column_shown {
	SHOWN_NEVER,		/* in CSV and JSON only */
	SHOWN_SELF,
	SHOWN_TOTAL,		/* if there is room for totals */
	SHOWN_SAMPLES,		/* with --samples */
};

enum column_use {
	COLUMN_SHORT,		/* for a table: images by the last path component */
	COLUMN_FULL,		/* for a table: in full */
	COLUMN_DATA,		/* for CSV and JSON: empty if unknown */
};

/* Subject of a cell: a row, or a branch below it. */
struct column_at {
	const struct profile *p;
	const struct frame_keys *keys;
	const struct frame_key *frame;	/* NULL: none */
	const struct lane *lane;
	struct values v;	/* values of one event */
	struct cell all;	/* all selected samples of that event */
	struct cell metric;	/* the one of `v` (self or total) in use */
};

struct report_column {
	const char *name;	/* name in -s, CSV and JSON */
	const char *alias;	/* name in perf, or NULL */
	const char *head;	/* heading in text, or NULL */
	uint8_t kind, fit;
	uint8_t least;		/* key: minimum width when columns shrink */
	uint8_t width;		/* number: width in text */
	uint8_t shown;		/* number: enum column_shown */
	bool data;		/* number: shown in CSV and JSON */
	/* number: containing object in JSON, and prefix of its name in CSV */
	const char *object;
	bool of_self;		/* number: absent from branches of caller trees */
	bool is_label;		/* key: the text is this label of the thread */
	uint8_t label;		/* enum thread_label */
	/* Of other columns one of these is set, or text and integer: text for
	 * tables, and a number for CSV and JSON. */
	void (*text)(const struct column_at *x, enum column_use use,
		     struct buf *out);
	int64_t (*integer)(const struct column_at *x);	/* -1: unknown */
	uint64_t (*count)(const struct column_at *x);
	double (*percent)(const struct column_at *x);
};

/* The keys by enum view_key, then the numbers. */
enum { COLUMNS_MAX = 32 };
extern const struct report_column report_columns[];
size_t report_columns_count(void);
/* Returns the next column of numbers of a table on a terminal after `c`, the
 * first one after NULL; NULL after the last. */
const struct report_column *report_next_number(const struct report_column *c,
					       bool totals, bool samples);

/* Appends a cell as unsafe text; numbers are not padded. */
void column_text(const struct report_column *c, const struct column_at *x,
		 enum column_use use, struct buf *out);
/* Writes a member of the open object.  `tmp` is scratch. */
void column_json(const struct report_column *c, const struct column_at *x,
		 struct buf *tmp, struct json *j);
/* Appends a CSV field, quoted if necessary. */
void column_csv(const struct report_column *c, const struct column_at *x,
		struct buf *tmp, struct buf *out);
/* Writes the numbers of CSV and JSON.  `self`: include those that branches of
 * caller trees lack. */
void column_json_numbers(const struct column_at *x, bool self, struct json *j);

#endif
