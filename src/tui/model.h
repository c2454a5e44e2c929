/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_MODEL_H
#define TALLY_TUI_MODEL_H
/* The data that the interactive view shows: reports of the selected samples. */
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
	struct report_spec spec;	/* the user's options at start */
	struct key_list keys;		/* current keys of the rows */
	/* Filters chosen in the view; NULL: none. */
	char *tid, *image, *symbol;
	const char *image_list[1], *symbol_list[1];
	struct data *table;
	/* Report by image and symbol, for trees.  It is the table if the table
	 * has these keys; NULL until first used. */
	struct data *flat;
	size_t event;			/* index of the current event column */
	bool full_names;
	bool samples;			/* sample counts are shown too */
	bool has_callers;		/* some stack has callers */
};

int model_init(struct model *m, struct reader *r, const struct tui_options *o,
	       struct error *err);
void model_fini(struct model *m);
/* Builds the table again after keys or filters changed. */
int model_reload(struct model *m, struct error *err);
void data_free(struct data *d);
/* Shows another recording with the same samples.  On success *old is the data of the
 * table before, which still refers to the recording before; free it with data_free. */
int model_renew(struct model *m, struct reader *r, struct data **old,
		struct error *err);
/* Sets one of the filters; NULL or "" clears it. */
int model_set(char **which, const char *value);
/* Clears all of them. */
void model_set_none(struct model *m);
bool model_filters(const struct model *m);
/* Returns the current selection. */
struct select_spec model_select(struct model *m);
/* Returns the report by image and symbol, owned by the model, or NULL and an
 * error. */
struct data *model_flat(struct model *m, struct error *err);
/* Builds another report of the same samples.  Free it with report_free. */
int model_report(struct model *m, const char *keys, struct report **out,
		 struct error *err);

/* Returns the frame key in `to` of the same function, or PROF_NONE. */
uint32_t model_same_function(const struct frame_keys *to,
			     const struct frame_key *k);
/* Identifies a function for annotate.  Returns false if the function is
 * unresolved. */
bool model_pick(const struct model *m, const struct frame_key *k,
		struct annot_pick *out);
/* Returns the column of `rep` for the model's current event. */
size_t model_column(const struct model *m, const struct report *rep);

#endif
