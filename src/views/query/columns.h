/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_COLUMNS_H
#define TALLY_VIEWS_QUERY_COLUMNS_H
/*
 * The columns of a report, as one table that text, JSON, CSV and the terminal view
 * follow: keys, by enum view_key, and then the numbers that each event has.  A new
 * column is a row of it (columns.c); tally-report(1) lists them.
 */
#include "base/json.h"
#include "views/query/framekey.h"
#include "views/query/table.h"

enum column_kind {
	COLUMN_SAMPLE,		/* a key that samples are grouped by */
	COLUMN_FRAME,		/* a key that frames are grouped by */
	COLUMN_NUMBER,		/* a number of each event */
};

/* How words that do not fit are cut. */
enum column_fit { FIT_END, FIT_PATH, FIT_NAME };

/* Which columns of numbers a table on a terminal has. */
enum column_shown {
	SHOWN_NEVER,		/* CSV and JSON only */
	SHOWN_SELF,
	SHOWN_TOTAL,		/* where there is room for totals */
	SHOWN_SAMPLES,		/* --samples */
};

enum column_use {
	COLUMN_SHORT,		/* for a table: images by their last part */
	COLUMN_FULL,		/* … in full */
	COLUMN_DATA,		/* for CSV and JSON: empty where it is unknown */
};

/* What a cell is about: a row, or a branch below it. */
struct column_at {
	const struct profile *p;
	const struct frame_keys *keys;
	const struct frame_key *frame;	/* NULL: none */
	const struct lane *lane;
	struct values v;	/* of one event */
	struct cell all;	/* all selected samples of that event */
	struct cell metric;	/* the one of v that is looked at */
};

struct report_column {
	const char *name;	/* in -s, CSV and JSON */
	const char *alias;	/* what perf calls it, or NULL */
	const char *head;	/* in text, or NULL */
	uint8_t kind, fit;
	uint8_t least;		/* key: columns that its words keep */
	uint8_t width;		/* number: its columns in text */
	uint8_t shown;		/* number: enum column_shown */
	bool data;		/* number: in CSV and JSON */
	const char *object;	/* number: the object in JSON that it is a member of;
				 * in CSV its name begins with it */
	bool of_self;		/* number: branches of caller trees have none */
	/* One of these, or text and integer: words for people, a number for CSV and
	 * JSON. */
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

/* A cell of text that is not yet safe; numbers without padding. */
void column_text(const struct report_column *c, const struct column_at *x,
		 enum column_use use, struct buf *out);
/* A member of the object that is open.  `tmp` is scratch. */
void column_json(const struct report_column *c, const struct column_at *x,
		 struct buf *tmp, struct json *j);
/* A field, quoted where that is needed. */
void column_csv(const struct report_column *c, const struct column_at *x,
		struct buf *tmp, struct buf *out);
/* The numbers of CSV and JSON; `self`: also those that branches of caller trees lack. */
void column_json_numbers(const struct column_at *x, bool self, struct json *j);

#endif
