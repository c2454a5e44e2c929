/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_DATA_H
#define TALLY_VIEWS_HTML_DATA_H
/* Inside of the HTML page: what it shows, and that as bytes. */
#include "views/html.h"

enum {
	HTML_LANES = 64,	/* threads told apart; the last: all others */
	HTML_BUCKETS = 256,	/* of time */
	HTML_EVENTS = 32,
	HTML_ENTRIES_MAX = 4 << 20,	/* while samples are summed */
	/* What a page may hold. */
	HTML_NODES = 600000,
	HTML_ENTRIES = 1200000,
	HTML_BYTES = 2150000,	/* compressed, before base64 */
	/* About what one of them takes of those, in tenths of a byte. */
	HTML_NODE_COST = 16,
	HTML_ENTRY_COST = 15,
};

/* Samples of one thread in one time slice at one node of the graph. */
struct html_entry {
	uint32_t node;
	uint8_t event, lane;	/* event: column of the report */
	uint16_t bucket;
	struct cell c;
};

struct html_lane {
	uint32_t run, pid, tid, comm;
	uint64_t samples;
	uint32_t others;	/* threads summed here, 0: it is one thread */
};

struct html_data {
	const struct report *rep;
	const struct html_style *style;
	struct flame flame;
	VEC(struct html_lane) lanes;
	VEC(struct html_entry) entries;	/* by node, event, lane, bucket */
	uint32_t *lane_of;	/* by thread row */
	uint32_t buckets;
	uint64_t start_ns, width_ns;	/* of a bucket */
	double share;		/* branches below are summed */
};

/* html_samples.c: lanes and entries, not yet bounded. */
int html_samples(struct html_data *d, struct reader *r, struct error *err);
/* Merges equal entries after nodes or buckets changed. */
int html_entries_merge(struct html_data *d);
/* html_encode.c: the bytes of the block, compressed. */
int html_encode(const struct html_data *d, struct buf *out, struct error *err);

/* Generated from src/views/html by embed.awk. */
const char *html_page(void);
const char *html_style(void);
const char *html_script(void);

#endif
