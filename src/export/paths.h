/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_PATHS_H
#define TALLY_EXPORT_PATHS_H
/*
 * Stacks as paths: a path is a function, or a place, below another path, and equal
 * stacks are one path.  The paths of callers are kept, so that a million deep stacks
 * take the time of their nodes, not of all their frames.
 *
 * Path 0 is empty; a path has a larger number than the one it is below.
 */
#include "export/walk.h"

enum export_path_kind {
	EXPORT_PATH_PLACES,
	EXPORT_PATH_FUNCTIONS,
	EXPORT_PATH_NAMES,	/* functions; those of one name are equal */
};

struct export_path {
	uint32_t up, what;	/* `what`: place or fk */
	uint32_t depth;		/* number of elements */
};

struct export_path_step {
	uint32_t up, place, path;
};

struct export_paths {
	struct export *x;
	enum export_path_kind kind;
	/* Returns whether a place is left out of paths of places; NULL: none is. */
	bool (*skip)(void *ctx, uint32_t place);
	void *ctx;
	VEC(struct export_path) v;
	struct idtab tab;
	/* paths of functions: the path of a place below another path */
	VEC(struct export_path_step) steps;
	struct idtab step_tab;
	/* Two for each node of the profile, 0: not yet known: the path of its whole
	 * stack, and the one below which deeper nodes are; see export_left_out. */
	uint32_t *of;
	VEC(uint32_t) way;
};

/* export_paths_fini releases everything, also after an error. */
int export_paths_init(struct export_paths *p, struct export *x,
		      enum export_path_kind kind, struct error *err);
void export_paths_fini(struct export_paths *p);
/* Forgets all paths. */
void export_paths_clear(struct export_paths *p);
/* Returns the path of a node's places or frames, as export_places and export_stack
 * return them; PROF_NONE if out of memory. */
uint32_t export_path(struct export_paths *p, uint32_t node);

#endif
