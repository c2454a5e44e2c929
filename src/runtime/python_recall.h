/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_RECALL_H
#define TALLY_RUNTIME_PYTHON_RECALL_H
/*
 * What the last walk of a thread read, to read the same places in one call.
 *
 * Most of a thread's frames are those of its sample before.  So the first call of a walk
 * reads their places together with the words from which the walk starts.  The
 * walk follows the same pointers as without it.  Where one leads to a place that was
 * read, nothing more is read.  All bytes are of the walk's own moment; only the guess
 * which to read is older.
 *
 * An item is a frame with a part of its code object (what the witness is made of), the
 * record of a run, or another place that the walk read.  Items are kept in the opposite
 * order, the outermost frame before the inner ones: those change, and a read ends at
 * the first place that is no longer mapped.
 */
#include "runtime/frame_part.h"

enum {
	PYTHON_RECALL_FIRST = 3,	/* spans of the words from which a walk starts */
	PYTHON_RECALL_ITEMS = 256,
	PYTHON_RECALL_BYTES = 24 << 10,	/* bytes of all items */
	PYTHON_RECALL_PLACE = FRAME_NAME_MAX,	/* bytes of a place by
						 * python_recall_read */
	PYTHON_RECALL_NONE = PYTHON_RECALL_ITEMS,
	PYTHON_RECALL_FILTER = 2048,	/* bits */
};

/* What is kept of a thread, initially zero. */
struct python_recall {
	uint32_t n;		/* number of items */
	uint32_t bytes;		/* … and their bytes */
	bool cut;		/* there was no room for the outer ones */
	uint32_t witness[PYTHON_RECALL_ITEMS];
	/* Two for each item: the frame or record; the part of the code, or 0 bytes. */
	struct frame_span spans[PYTHON_RECALL_FIRST + 2 * PYTHON_RECALL_ITEMS];
};

struct python_recall_item {
	struct frame_span place, code;
	uint32_t witness;
};

/* One walk. */
struct python_recalled {
	struct python_recall *kept;	/* NULL: nothing is kept */
	/* Items before `left` may still be found; the bytes of the last of them end at
	 * `end`.  Those from `left` to `top` were visited one after the other, and all
	 * others are among `visited`. */
	uint32_t left, top;
	size_t end;
	uint32_t scans;		/* items that may still be passed over */
	uint32_t n;
	bool full;		/* there was no room for all that was visited */
	bool filtered;		/* `filter` is set */
	/* The first words, and the items. */
	uint64_t words[PYTHON_RECALL_FIRST + PYTHON_RECALL_BYTES / 8];
	/* A bit for each item's place.  Most that are not among them have none. */
	uint64_t filter[PYTHON_RECALL_FILTER / 64];
	struct python_recall_item visited[PYTHON_RECALL_ITEMS];
};

/* Reads the words from which a walk starts, to c->words, and the items of the walk
 * before.  Returns whether the words were read. */
bool python_recall_begin(struct python_recalled *c, struct python_recall *kept,
			 const uint64_t *first, const struct frame_door *door);
/* Returns the bytes of an item that was read, and sets *item; NULL: it was not. */
const void *python_recall_find(struct python_recalled *c, const struct frame_span *place,
			       struct python_recall_item *item, const void **code);
/* Notes an item that the walk visited and that was not kept as it is, instead of the one
 * found last.  Returns its number, or PYTHON_RECALL_NONE. */
uint32_t python_recall_note(struct python_recalled *c, const struct python_recall_item *item,
			    bool instead);
/* Reads spans like the door, and notes them.  Nothing is read again if all of them
 * were. */
size_t python_recall_read(struct python_recalled *c, const struct frame_door *door,
			  const struct frame_span *v, size_t n, void *to);
/* Keeps the items that the walk visited.  Until the next walk none is found or noted. */
void python_recall_end(struct python_recalled *c);

#endif
