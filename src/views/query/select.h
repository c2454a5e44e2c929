/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_SELECT_H
#define TALLY_VIEWS_QUERY_SELECT_H
/*
 * Filters.  The user's filters are compiled once into tables by id, so that a
 * sample or a frame is tested in a few loads.
 *
 * A sample filter (comm, pid, tid, cpu, run, label, event, time) decides which samples
 * count; percentages are relative to those.  A frame filter (image, symbol)
 * decides which functions are shown; it does not change percentages.
 */
#include "profile/model.h"
#include "profile/reader.h"

struct name_list {
	const char *const *v;
	size_t n;
};

/* Filters as the user wrote them; empty and NULL mean no filter. */
struct select_spec {
	/* names or patterns with * and ?; each may hold several, separated by
	 * commas */
	struct name_list comms, images, events;
	struct name_list symbols;	/* see match.h */
	/* "NAME=VALUE" and "NAME!=VALUE": all must hold; VALUE as for names */
	struct name_list labels;
	const char *pids, *tids, *cpus, *runs;	/* "1,4-7"; runs from 1 */
	const char *time;	/* "1.5,3", "200ms,", ",50%": relative to the start */
};

struct range {
	uint64_t first, last;
};

struct range_list {
	struct range *v;
	size_t n, cap;
};

/* Appends the ranges of "0,4-7"; `what` names the option in messages. */
int range_list_parse(const char *text, const char *what,
		     struct range_list *out, struct error *err);
bool range_list_has(const struct range_list *l, uint64_t x);

/* Parses "START,END".  Both are relative to start_ns and either may be empty.
 * The unit is ms, s (default), m, h, or % of the whole (end_ns 0: unknown).
 * The result is from <= t < to. */
int timeslice_parse(const char *text, uint64_t start_ns, uint64_t end_ns,
		    uint64_t *from, uint64_t *to, struct error *err);

/* Return the start and the end of the recording in its own clock; end 0:
 * unknown. */
uint64_t profile_start_ns(const struct profile *p);
uint64_t profile_end_ns(const struct profile *p);

struct selection {
	uint8_t *thread_ok;	/* by thread; NULL: all */
	uint8_t *event_ok;	/* by event; NULL: all */
	struct range_list cpus;	/* empty: all */
	bool timed;
	uint64_t from_ns, to_ns;	/* from <= t < to */
	uint8_t *func_ok;	/* by function; NULL: all frames */
	uint8_t *image_ok;	/* by image; NULL: all */
	struct name_list symbols;	/* patterns for frames without a function */
};

int selection_init(struct selection *s, const struct profile *p,
		   const struct select_spec *spec, struct error *err);
void selection_fini(struct selection *s);

/* Returns false if every sample passes. */
static inline bool selection_filters(const struct selection *s)
{
	return s->thread_ok || s->event_ok || s->cpus.n || s->timed;
}

/* Writes the indexes of the passing samples to `keep`, which has room for
 * SAMPLE_BATCH, and returns their number. */
size_t selection_apply(const struct selection *s, const struct sample_batch *b,
		       uint32_t *keep);

static inline bool selection_filters_frames(const struct selection *s)
{
	return s->func_ok || s->image_ok;
}
/* Tests a location without frames; `name` is its display name. */
bool selection_has_address(const struct selection *s, uint32_t image,
			   const char *name);

#endif
