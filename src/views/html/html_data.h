/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_DATA_H
#define TALLY_VIEWS_HTML_HTML_DATA_H
/* Inside of the HTML page: what it shows, and that as bytes. */
#include "base/strtab.h"
#include "views/html/html.h"
#include "views/query/outward.h"

enum {
	HTML_LANES = 64,	/* threads told apart; the last: all others */
	HTML_BUCKETS = 256,	/* of time */
	HTML_EVENTS = 32,	/* columns, those of both sides */
	HTML_INPUTS = 256,
	HTML_ENTRIES_MAX = 4 << 20,	/* while samples are summed */
	/* What a page may hold. */
	HTML_NODES = 600000,
	HTML_ENTRIES = 1200000,
	HTML_BYTES = 2120000,	/* compressed, before base64 */
	/* About what one of them takes of those, in tenths of a byte. */
	HTML_NODE_COST = 16,
	HTML_ENTRY_COST = 15,
	/* What lines and instructions may take of it. */
	HTML_LINE_FUNCS = 300,
	HTML_LINE_ENTRIES = 80000,
	HTML_CALL_ENTRIES = 80000,
	HTML_LINE_TEXTS = 24000,
	HTML_INSNS = 50000,
};

/* Samples of one thread in one time slice at one node of the graph, or at one
 * location. */
struct html_entry {
	uint32_t node;
	uint8_t event, lane;	/* event: column of the page */
	uint16_t bucket;
	struct cell c;
};
struct html_entries {
	VEC(struct html_entry) v;	/* by node, event, lane, bucket */
	size_t nodes;			/* what `node` counts */
};

struct page_thread {
	uint32_t source, run, pid, tid;
	const char *comm;
	uint64_t samples;
	uint32_t others;	/* threads summed here, 0: it is one thread */
};

struct html_func {
	uint32_t source, fk;	/* one of those that have it */
};

struct html_col {		/* an event of a side */
	uint32_t source, event;	/* one that has it */
	enum html_side side;
	uint64_t per;		/* weight of each sample, 0: they differ */
	struct cell all;
	struct html_scale scale;
};

/* A step of an inline chain: see framekey.h. */
struct html_frame {
	uint32_t func;		/* of the page, or PROF_NONE */
	uint32_t file, line;	/* file of the page, or PROF_NONE */
	uint32_t outer;		/* frame of the page < own, or PROF_NONE */
};

struct html_loc {
	uint32_t source, loc;
	uint32_t frame;		/* innermost */
	uint32_t code, insn;	/* of the page, or PROF_NONE */
};

struct html_code {
	uint32_t source;
	size_t at;		/* in the source's lines->codes */
	size_t insns;		/* 0: not shown */
};

struct html_file {
	uint32_t source;	/* one that has it */
	uint32_t str, image;	/* there */
};

struct html_call {		/* calls that a function makes at a line */
	uint32_t func;
	uint32_t file, line;	/* file of the page */
};

struct page_source_line {		/* a line whose text is shown */
	uint32_t file, line;
};

/* Lines and instructions of the dearest functions: html_lines.c. */
struct html_lines {
	VEC(uint32_t) funcs;	/* whose lines are here, in this order */
	VEC(struct html_frame) frames;
	VEC(struct html_loc) locs;
	VEC(struct html_code) codes;
	VEC(struct html_file) files;
	VEC(struct page_source_line) wants;	/* by file and line */
	VEC(uint32_t) insn_frames;	/* of all instructions shown */
	struct html_entries entries;	/* by location */
	VEC(struct html_call) calls;
	struct html_entries call_entries;	/* by call */
	VEC(uint32_t) uncalled;	/* those of funcs whose calls found no room */
	struct strtab paths;
	struct u64map file_tab;
	struct idtab frame_tab, call_tab;
	bool failed;		/* a file or frame found no memory */
};

struct html_source {
	struct html_input in;
	uint32_t *func_of;	/* by fk: function of the page, or PROF_NONE */
	uint32_t *node_of;	/* by node of the profile: node of the page */
	uint32_t *lane_of;	/* by thread row */
	uint32_t *col_of;	/* by column of the report */
	uint32_t *frame_of;	/* by step: frame of the page, or PROF_NONE */
	uint32_t *loc_of;	/* by location; PROF_NONE: not shown */
	/* By frame of the profile: the call of the page that it makes; PROF_NONE:
	 * none that is shown.  NULL: there are none at all. */
	uint32_t *call_of;
	uint32_t *code_of;	/* by symbol: code of the page, or PROF_NONE */
	uint64_t start_ns;
};

struct html_data {
	const struct html_style *style;
	struct html_source *src;
	size_t nsrc, ncols;
	struct html_col cols[HTML_EVENTS];
	VEC(struct html_func) funcs;	/* dearest first */
	struct values *sums;		/* [function * ncols + column] */
	/* Of functions of the page. */
	struct calltree tree;
	VEC(struct page_thread) lanes;
	struct html_entries entries;	/* by node of the graph */
	struct html_lines lines;
	uint32_t buckets;
	uint64_t width_ns;	/* of a bucket */
	double share;		/* branches below are summed */
};

static inline const struct report *html_rep(const struct html_data *d,
					    uint32_t source)
{
	return d->src[source].in.rep;
}

/* The function of the page that a step (framekey.h) belongs to, or PROF_NONE. */
static inline uint32_t html_step_func(const struct html_source *s,
				      uint32_t step)
{
	uint32_t fk = s->in.rep->keys.steps[step].fk;

	return fk == PROF_NONE ? PROF_NONE : s->func_of[fk];
}

/* html_union.c: columns and functions of all inputs, … */
int html_functions(struct html_data *d, struct error *err);
/* What a comparison says of a function, or NULL. */
const struct row_verdict *html_find_verdict(const struct html_data *d,
					    const struct html_func *f);
static inline uint32_t html_match(const struct html_input *in, uint32_t fk)
{
	return in->match ? in->match[fk] : fk;
}
/* … and their call trees as one. */
int html_tree(struct html_data *d, struct error *err);
/* html_lines.c: what of lines and instructions is shown. */
int html_lines(struct html_data *d, struct error *err);
void html_lines_fini(struct html_lines *l);
/* html_calls.c: which frames of a stack made the calls that led to its end. */
struct html_call_walk {
	VEC(uint32_t) steps;	/* of the last stack */
	uint32_t *seen;		/* by function: the last stack that it was in */
	uint32_t stamp;
	struct outward_index outward;	/* of the last source */
};
int html_call_walk_init(struct html_call_walk *w, const struct html_data *d);
void html_call_walk_fini(struct html_call_walk *w);
/* Fills w->steps from a node of the profile.  -ERR_NOMEM. */
int html_walk_calls(struct html_call_walk *w, const struct html_data *d,
		    const struct html_source *s, uint32_t stack);
/* page_threads.c: threads, and where their time begins. */
int page_threads(struct html_data *d, struct error *err);
/* html_samples.c: entries, not yet bounded. */
int html_samples(struct html_data *d, struct error *err);
/* Merges equal entries after nodes or buckets changed. */
int html_entries_merge(struct html_entries *e);
/* Time slices of double width. */
int html_coarsen(struct html_data *d);

/* html_encode.c: the bytes of the block, compressed. */
int html_encode(struct html_data *d, struct buf *out, struct error *err);

struct html_encoder {
	const struct html_data *d;
	struct buf *out;	/* not yet compressed */
	struct buf tmp, safe, cut;
	struct strtab images, files;	/* id 0: "" */
	bool failed;
};
/* Text that can do no harm wherever the page puts it, cut at a length that
 * serves a page; good until the next call. */
const char *html_safe_text(struct html_encoder *e, const char *text);
/* html_encode_lines.c: members of the object that is open; columns. */
void html_put_lines(struct html_encoder *e, struct json *j);
void html_put_line_columns(struct html_encoder *e);
void html_put_entries(struct html_encoder *e, const struct html_entries *x);

/* Generated from src/views/html by embed.awk. */
const char *html_page(void);
const char *html_style(void);
const char *html_script(void);

#endif
