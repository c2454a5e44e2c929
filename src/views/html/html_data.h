/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_DATA_H
#define TALLY_VIEWS_HTML_HTML_DATA_H
/* Internals of the HTML page: its data, and the encoding of that data. */
#include "base/strtab.h"
#include "views/html/html.h"
#include "views/query/outward.h"
#include "views/wait_sites.h"

enum {
	/* threads shown separately; the last lane sums all others */
	HTML_LANES = 64,
	HTML_BUCKETS = 256,	/* number of time slices */
	HTML_EVENTS = 32,	/* columns of both sides */
	HTML_INPUTS = 256,
	HTML_KINDS = 64,	/* kinds of waits */
	HTML_WAIT_ROWS = 500,	/* of each table of waits */
	HTML_LABELS = 16,
	HTML_VALUES = 1000,	/* of a label, without "none" and "other" */
	HTML_COHORTS = 4096,
	/* beyond, they are merged rather than branches summed */
	HTML_COHORTS_KEPT = 256,
	HTML_ENTRIES_MAX = 4 << 20,	/* limit while samples are summed */
	/* Limits of a page. */
	HTML_NODES = 600000,
	HTML_ENTRIES = 1200000,
	HTML_BYTES = 2120000,	/* size compressed, before base64 */
	/* Approximate compressed size of one node or entry, in tenths of a
	 * byte. */
	HTML_NODE_COST = 16,
	HTML_ENTRY_COST = 15,
	/* Limits for lines and instructions, within the limits of the page. */
	HTML_LINE_FUNCS = 300,
	HTML_LINE_ENTRIES = 80000,
	HTML_CALL_ENTRIES = 80000,
	HTML_LINE_TEXTS = 24000,
	HTML_INSNS = 50000,
};

/* Samples of one cohort of threads in one time slice at one node of the graph, or at
 * one location. */
struct html_entry {
	uint32_t node;
	uint32_t bucket : 8;
	uint32_t kind : 7;	/* what is waited for: html_waits */
	uint32_t cohort : 12;	/* html_labels */
	uint32_t event : 5;	/* column of the page */
	struct cell c;
};
_Static_assert(HTML_EVENTS <= 1 << 5 && HTML_COHORTS <= 1 << 12 &&
	       HTML_KINDS <= 1 << 7 && HTML_BUCKETS <= 1 << 8,
	       "an entry has room for the numbers");
struct html_entries {
	VEC(struct html_entry) v;	/* by node, event, cohort, kind, bucket */
	size_t nodes;			/* number of values of `node` */
};

struct page_thread {
	uint32_t source, run, pid, tid;
	const char *comm;
	uint64_t samples;
	uint32_t others;	/* number of threads summed here; 0: a single thread */
};

struct html_func {
	uint32_t source, fk;	/* one of the sources that have the function */
};

struct html_col {		/* an event of a side */
	uint32_t source, event;	/* one of the sources that have it */
	enum html_side side;
	uint64_t per;		/* constant weight of each sample; 0: it varies */
	struct cell all;
	struct html_scale scale;
};

/* A step of an inline chain: see framekey.h. */
struct html_frame {
	uint32_t func;		/* function of the page, or PROF_NONE */
	uint32_t file, line;	/* file of the page, or PROF_NONE */
	uint32_t outer;		/* frame of the page with a lower index, or PROF_NONE */
};

struct html_loc {
	uint32_t source, loc;
	uint32_t frame;		/* innermost frame */
	uint32_t code, insn;	/* indexes in the page, or PROF_NONE */
};

struct html_code {
	uint32_t source;
	size_t at;		/* index in the source's lines->codes */
	size_t insns;		/* number of instructions; 0: not shown */
};

struct html_file {
	uint32_t source;	/* one of the sources that have it */
	uint32_t str, image;	/* str and image in that source */
};

struct html_call {		/* calls that a function makes at a line */
	uint32_t func;
	uint32_t file, line;	/* file of the page */
};

struct page_source_line {		/* a line whose text is shown */
	uint32_t file, line;
};

/* Paired lines or instructions that follow each other on both sides. */
struct html_run {
	uint32_t at[2], n;	/* first one of the old and of the new side */
	bool changed;		/* paired although they differ */
};

struct html_pair {		/* files or codes of the page that are compared */
	bool is_code;
	uint32_t of[2];		/* old, new */
	size_t first, n;	/* range in `runs` */
};

/* Lines and instructions of the most expensive functions (html_lines.c). */
struct html_lines {
	VEC(uint32_t) funcs;	/* functions whose lines are shown, in order */
	VEC(struct html_frame) frames;
	VEC(struct html_loc) locs;
	VEC(struct html_code) codes;
	VEC(struct html_file) files;
	VEC(struct page_source_line) wants;	/* by file and line */
	VEC(uint32_t) insn_frames;	/* by shown instruction */
	struct html_entries entries;	/* by location */
	VEC(struct html_call) calls;
	struct html_entries call_entries;	/* by call */
	/* functions in `funcs` whose calls exceeded the limit */
	VEC(uint32_t) uncalled;
	VEC(struct html_pair) pairs;	/* of a comparison */
	VEC(struct html_run) runs;
	struct strtab paths;
	/* by string of `paths` * 2 + enum html_side: file */
	struct u64map file_tab;
	struct idtab frame_tab, call_tab;
	bool failed;		/* out of memory while adding a file or frame */
};

/* What threads wait for (html_waits.c). */
struct html_waits {
	bool any;		/* a recording has kinds */
	struct strtab kinds;	/* by number of the page; 0: not a blocked wait */
	/* only if the page has one recording */
	struct wait_sites sites, pairs;
	uint64_t blocked;	/* sum of all blocked waits */
};

/* Threads with a label's value.  Value 0 is "": they do not have the label. */
struct html_value {
	uint32_t str;
	uint32_t others;	/* number of values summed here; 0: a single one */
	uint64_t samples;
};

struct html_label {
	uint32_t name;		/* str */
	VEC(struct html_value) values;	/* by samples; 0: none; last: others */
	uint32_t *row_value;	/* by thread row of the page */
};

/*
 * Labels of threads, and cohorts: threads of one lane that have the same values.
 * An entry has a cohort, so that one test selects lanes and values.  Without labels
 * each lane is a cohort.
 */
struct html_labels {
	struct strtab str;
	VEC(struct html_label) v;
	bool more;		/* labels were left out */
	VEC(uint32_t) cohorts;	/* one of its rows, by lane and values */
	/* By thread row of the page, which are those of all recordings one
	 * after the other. */
	size_t rows;
	uint32_t *row_lane;	/* PROF_NONE: the row has no samples */
	uint32_t *row_cohort;
	uint32_t *order;	/* rows by cohort, while they are numbered */
};

struct html_source {
	struct html_input in;
	uint32_t *func_of;	/* by fk: function of the page, or PROF_NONE */
	uint32_t *node_of;	/* by node of the profile: node of the page */
	uint32_t *lane_of;	/* by thread row */
	uint64_t *thread_samples;	/* likewise: selected ones */
	uint32_t *cohort_of;	/* likewise; belongs to html_labels */
	uint32_t *col_of;	/* by column of the report */
	uint32_t *frame_of;	/* by step: frame of the page, or PROF_NONE */
	uint32_t *loc_of;	/* by location; PROF_NONE: not shown */
	/* By frame of the profile: call of the page made at this frame;
	 * PROF_NONE if not shown.  NULL: no calls are shown. */
	uint32_t *call_of;
	uint32_t *code_of;	/* by symbol: code of the page, or PROF_NONE */
	uint8_t *kind_of;	/* by node of the profile; NULL: no kinds */
	uint64_t start_ns;
};

struct html_data {
	const struct html_style *style;
	struct html_source *src;
	size_t nsrc, ncols;
	struct html_col cols[HTML_EVENTS];
	VEC(struct html_func) funcs;	/* most expensive first */
	struct values *sums;		/* [function * ncols + column] */
	/* Tree of the page's functions. */
	struct calltree tree;
	VEC(struct page_thread) lanes;
	struct html_labels labels;
	struct html_entries entries;	/* by node of the graph */
	struct html_lines lines;
	struct html_waits waits;
	uint32_t buckets;
	uint64_t width_ns;	/* width of a bucket */
	double share;		/* share below which branches are summed */
};

static inline const struct report *html_rep(const struct html_data *d,
					    uint32_t source)
{
	return d->src[source].in.rep;
}

/* Returns the function of the page that a step (framekey.h) belongs to, or
 * PROF_NONE. */
static inline uint32_t html_step_func(const struct html_source *s,
				      uint32_t step)
{
	uint32_t fk = s->in.rep->keys.steps[step].fk;

	return fk == PROF_NONE ? PROF_NONE : s->func_of[fk];
}

/* html_union.c: merges columns and functions of all inputs. */
int html_functions(struct html_data *d, struct error *err);
/* Returns the comparison's result for a function, or NULL. */
const struct row_verdict *html_find_verdict(const struct html_data *d,
					    const struct html_func *f);
static inline uint32_t html_match(const struct html_input *in, uint32_t fk)
{
	return in->match ? in->match[fk] : fk;
}
/* Merges the call trees of all inputs. */
int html_tree(struct html_data *d, struct error *err);
/* html_lines.c: selects the lines and instructions to show. */
int html_lines(struct html_data *d, struct error *err);
void html_lines_fini(struct html_lines *l);
/* Lines whose text a page holds: [from, to], and up to `end` those that exist.
 * Begins with only `file` set; returns false after the file's last lines. */
struct html_text_range {
	uint32_t file;
	uint32_t from, to, end;
	size_t next;		/* 1 + index in html_lines.wants */
};
bool html_next_lines(const struct html_lines *l, struct html_text_range *r);
/* html_pairs.c: pairs the files, codes, lines and instructions of both sides,
 * and writes them as members of the open object. */
int html_pairs(struct html_data *d, struct error *err);
void html_put_pairs(const struct html_lines *l, struct json *j);
/* html_lines.c: finds the frames of a stack whose calls led to its innermost
 * frame. */
struct html_call_walk {
	VEC(uint32_t) steps;	/* steps of the current stack */
	/* by function: stamp of the last stack that contained it */
	uint32_t *seen;
	uint32_t stamp;
	struct outward_index outward;	/* index of the current source */
};
int html_call_walk_init(struct html_call_walk *w, const struct html_data *d);
void html_call_walk_fini(struct html_call_walk *w);
/* Fills w->steps from a node of the profile.  Returns 0 or -ERR_NOMEM. */
int html_walk_calls(struct html_call_walk *w, const struct html_data *d,
		    const struct html_source *s, uint32_t stack);
/* html_threads.c: fills the threads and the start of their time. */
int page_threads(struct html_data *d, struct error *err);
/* The key of an entry; keys are in the order of the entries. */
static inline uint64_t html_entry_key(const struct html_entry *e)
{
	return (uint64_t)e->node << 32 | (uint32_t)e->event << 27 |
	       (uint32_t)e->cohort << 15 | (uint32_t)e->kind << 8 | e->bucket;
}

/* html_entries.c: merges equal entries after nodes or buckets changed. */
int html_entries_merge(struct html_entries *e);
/* Doubles the width of time slices. */
int html_coarsen(struct html_data *d);

/* html_labels.c: finds the labels of these threads, and numbers the cohorts. */
int html_labels(struct html_data *d, struct error *err);
void html_labels_fini(struct html_labels *l);
/* Merges cohorts until half of them are left, or those without labels: of the labels
 * with most values, the rarest become "other".  Merges equal entries. */
int html_fewer_cohorts(struct html_data *d);
/* html_samples.c: fills the entries, without limiting their number. */
int html_samples(struct html_data *d, struct error *err);

/* html_waits.c: numbers the kinds of waits and sums waits by place and by pairs of
 * places. */
int html_waits(struct html_data *d, struct error *err);
void html_waits_fini(struct html_waits *w);
/* Returns what a sample waited for. */
uint8_t html_kind(const struct html_source *s, const struct prof_event *e,
		  uint32_t stack);

/* html_encode.c: appends the compressed bytes of the block. */
int html_encode(struct html_data *d, struct buf *out, struct error *err);

struct html_encoder {
	const struct html_data *d;
	struct buf *out;	/* uncompressed output */
	struct buf tmp, safe, cut;
	struct strtab images, files;	/* id 0: "" */
	bool failed;
};
/* html_encoder.c: returns text that is harmless anywhere in the page, cut to a sensible
 * length.  It is valid until the next call. */
const char *html_safe_text(struct html_encoder *e, const char *text);
/* Writes columns of entries. */
void html_put_entries(struct html_encoder *e, const struct html_entries *x);
/* html_labels.c: writes members of the open object, and columns. */
void html_put_labels(struct html_encoder *e, struct json *j);
void html_put_cohorts(struct html_encoder *e);
/* html_waits.c: writes members of the open object. */
void html_put_waits(struct html_encoder *e, struct json *j);
/* html_encode_lines.c: writes members of the open object, and columns. */
void html_put_lines(struct html_encoder *e, struct json *j);
void html_put_line_columns(struct html_encoder *e);

/* Generated from src/views/html by embed.awk. */
const char *html_page(void);
const char *html_style(void);
const char *html_script(void);

#endif
