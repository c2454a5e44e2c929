/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_MODEL_H
#define TALLY_TUI_MODEL_H
/* What the interactive view shows: reports of the samples that are looked at. */
#include "tui/tui.h"
#include "views/query/names.h"
#include "views/tree/tree_level.h"

/* A report, its trees, and its names. */
struct data {
	struct report *rep;
	struct tree_explorer trees;
	struct name_cache row_names, tree_names;
};

struct model {
	struct reader *r;
	struct profile *p;
	struct report_spec spec;	/* as it was asked for */
	struct key_list keys;		/* what rows are now */
	/* What the user chose here; NULL: nothing. */
	char *comm, *tid, *image, *symbol;
	const char *comm_list[1], *image_list[1], *symbol_list[1];
	struct data *table;
	/* By image and symbol, for trees; the table, where that is the same;
	 * NULL: nobody asked. */
	struct data *flat;
	size_t event;			/* column that counts */
	bool full_names;
	bool samples;			/* their numbers are shown too */
	bool has_callers;		/* in some stack */
};

int model_init(struct model *m, struct reader *r, const struct tui_options *o,
	       struct error *err);
void model_fini(struct model *m);
/* Makes the table anew after keys or filters changed. */
int model_reload(struct model *m, struct error *err);
/* Sets one of the filters (NULL or "": none). */
int model_set(char **which, const char *value);
bool model_filters(const struct model *m);
/* The selection as it is now. */
struct select_spec model_select(struct model *m);
/* NULL and err: it could not be made. */
struct data *model_flat(struct model *m, struct error *err);
/* Another report of the same samples; report_free it. */
int model_report(struct model *m, const char *keys, struct report **out,
		 struct error *err);

/* The frame key of `to` that means the same function, or PROF_NONE. */
uint32_t model_same_function(const struct frame_keys *to,
			     const struct frame_key *k);
/* What annotate calls a function; false: nothing is known of it. */
bool model_pick(const struct model *m, const struct frame_key *k,
		struct annot_pick *out);
/* The column that counts, of a report. */
size_t model_column(const struct model *m, const struct report *rep);

#endif
