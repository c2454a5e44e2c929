/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_WALK_H
#define TALLY_EXPORT_WALK_H
/*
 * The walk that feeds all formats: unique stacks with their costs by thread
 * and event, the samples in order, functions, names and text.
 *
 * A function is an fk: an id of keys.keys, or one of the special ids after
 * them, which represent missing callers.  All text is UTF-8 without control
 * characters (text_safe); a format escapes only what is special in it.
 */
#include "export/export.h"
#include "views/query/aggregate.h"
#include "views/query/framekey.h"

enum {
	/* Default maximum number of frames written per stack.  Of deeper stacks
	 * between half and all of that are written: see export_left_out. */
	EXPORT_DEPTH = 1024,
/* Number of samples held to sort them by thread. */
	EXPORT_SAMPLES = 1 << 21,
};

/* Special functions: ids after keys.keys, for frames that are missing. */
enum {
	/* callers missing: stack deeper than the copied bytes */
	EXPORT_CUT,
	EXPORT_BROKEN,		/* callers missing: unwinding failed */
	EXPORT_DAMAGED,		/* rows lost from the file */
	EXPORT_DEEPER,		/* frames beyond EXPORT_DEPTH */
	EXPORT_SPECIALS
};

struct export_frame {
	uint32_t fk;
	uint32_t loc;		/* PROF_NONE: special function */
	uint32_t file, line, column;	/* str; execution point, or "" and 0 */
	bool inlined;		/* inlined into the next frame */
};

struct export_cell {
	uint32_t leaf, lane, col;
	struct cell c;
};

/* Cells of one event and, in a part, of one group of threads. */
struct export_slice {
	uint32_t group, col;
	size_t first, n;	/* range in export.cells */
};

struct export_sample {
	uint64_t time_ns, weight;
	uint32_t stack, lane, col, cpu;
};

struct export {
	struct reader *r;
	const struct profile *p;
	const struct export_spec *spec;
	const struct export_sink *sink;
	const struct export_format *format;
	struct selection sel;
	/* a lane is a thread under one name; a column is an event */
	struct aggregate a;
	struct cell *totals;	/* [lane * a.ncols + column] */
	struct frame_keys keys;
	uint32_t *lane_of;	/* by thread of the profile */
	struct strtab text;	/* all written text, made safe */
	/* by fk and by str: string in text; 0: not yet */
	uint32_t *name_of, *text_of;
	struct buf tmp;
	VEC(struct export_frame) frames;	/* result of export_stack */
	VEC(uint32_t) places;			/* result of export_places */
	uint32_t *depth;	/* by node: its frames and those of its callers */
	/* cells, stack by stack; read by export_cells */
	VEC(struct export_cell) cells;
	size_t *cells_at;
	/* the current part of a recording (export_divide) */
	const struct export_part *part;	/* NULL: the whole recording */
	const struct export_division *division;
	const struct export_slice *slices;	/* slices of the part */
	size_t nslices;
	/* slice that export_cells reads; NULL: all */
	const struct export_slice *slice;
	/* samples by thread, of lanes [first, last) */
	VEC(struct export_sample) held;
	uint32_t held_first, held_last;
	size_t *held_from, *held_next;	/* by lane - held_first: index in `held` */
	struct buf out;		/* buffer to which formats append */
	uint64_t raw_bytes;	/* bytes that passed export_flush, before compression */
	void *z;		/* z_stream for EXPORT_GZIP */
};

static inline size_t export_nfuncs(const struct export *x)
{
	return x->keys.keys.n + EXPORT_SPECIALS;
}

static inline bool export_special(const struct export *x, uint32_t fk)
{
	return fk >= x->keys.keys.n;
}

/* Opens the names that all formats need, for x->p and x->spec.  export_close
 * releases everything in x, also after an error. */
int export_open_names(struct export *x, struct error *err);
void export_close(struct export *x);

/* First and end of the written columns: those of the slice, or all. */
static inline size_t export_first_col(const struct export *x)
{
	return x->slice ? x->slice->col : 0;
}

static inline size_t export_end_col(const struct export *x)
{
	return x->slice ? x->slice->col + 1 : x->a.ncols;
}

/* Sets the error that the output is larger than spec->max_output. */
int export_too_long(const struct export *x, struct error *err);
/* Passes out->n bytes to the sink if there are many, or if `all`. */
int export_flush(struct export *x, bool all, struct error *err);

/* Returns a string of the profile, made safe.  The result lives as long as x. */
const char *export_str(struct export *x, uint32_t str);
/* Returns the readable name of a function. */
const char *export_name(struct export *x, uint32_t fk);
/* Returns the linkage name of a function, or "". */
const char *export_linkage(struct export *x, uint32_t fk);
/* Returns the row of a function in the profile, or NULL. */
const struct prof_func *export_func(const struct export *x, uint32_t fk);
/* Returns the image of a frame, or NULL. */
const struct prof_image *export_image(const struct export *x,
				      const struct export_frame *f);

/*
 * Returns the number of places.  A place is an element of a stack before
 * inlined functions are expanded: a location of the profile or, after those, a
 * special function.  Formats store their text for each place and build stacks
 * from it.
 */
static inline size_t export_nplaces(const struct export *x)
{
	return x->p->locs.n + EXPORT_SPECIALS + 1;
}

/* Fills x->places, innermost first, with at least one.  Returns 0 or
 * -ERR_NOMEM. */
int export_places(struct export *x, uint32_t node);
/* Fills x->frames with the frames of one place.  Returns 0 or -ERR_NOMEM. */
int export_place(struct export *x, uint32_t place);
/* Returns how many outer frames of a node's stack are left out: whole halves of
 * the deepest stack that is written.  Stacks with common callers therefore begin
 * with the same frame, so that they can share the work for these callers. */
uint32_t export_left_out(const struct export *x, uint32_t node);
/* Returns the place of a node other than the root; PROF_NONE if it is the mark of a
 * complete stack. */
uint32_t export_node_place(const struct export *x, uint32_t node);
/* Fills x->frames, innermost first, with at least one.  Returns 0 or
 * -ERR_NOMEM. */
int export_stack(struct export *x, uint32_t node);
/* Does the same for one location: a function and those inlined into it. */
int export_chain(struct export *x, uint32_t loc);
/* Does the same for a mark: the missing part, or nothing. */
int export_mark(struct export *x, uint32_t mark);

/* Returns whether the functions of an image are left to the reader of the file:
 * see export_spec.addresses. */
static inline bool export_leaves(const struct export *x, uint32_t image)
{
	return x->spec->addresses && prof_is_identified(&x->p->images.v[image]);
}

/* Return the event of a column, its safe name, and whether weights are
 * nanoseconds. */
const struct prof_event *export_event(const struct export *x, size_t col);
const char *export_event_name(struct export *x, size_t col);
bool export_is_time(const struct export *x, size_t col);
/* Appends "program (1234/1235)", with the run if there are several. */
void export_thread_name(struct export *x, uint32_t lane, struct buf *out);

/* Returns start and duration of the recording, in its clock. */
uint64_t export_start_ns(const struct export *x);
uint64_t export_duration_ns(const struct export *x);
uint64_t export_wall_ns(const struct export *x);

/* Cost of a thread and event at one stack.  All costs of a stack are passed in
 * sequence, so that a format builds the text of a stack only once. */
typedef int export_cell_fn(void *ctx, uint32_t lane, uint32_t col,
			   uint32_t node, struct cell c, struct error *err);
int export_cells(struct export *x, export_cell_fn *fn, void *ctx,
		 struct error *err);

/* Does the same with all threads combined: `lane` is PROF_NONE. */
int export_stack_sums(struct export *x, export_cell_fn *fn, void *ctx,
		      struct error *err);
/* Sets *count to the samples of the first event by innermost location; the
 * caller frees it, also after an error. */
int export_loc_counts(struct export *x, uint64_t **count, struct error *err);

typedef int export_sample_fn(void *ctx, const struct export_sample *s,
			     struct error *err);
/* Walks all samples in the order of the file. */
int export_samples(struct export *x, export_sample_fn *fn, void *ctx,
		   struct error *err);
/* Walks the samples of one lane by time.  Request lanes in order; a lane may be
 * walked several times. */
int export_thread_samples(struct export *x, uint32_t lane,
			  export_sample_fn *fn, void *ctx, struct error *err);

#endif
