/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_RECALL_H
#define TALLY_RUNTIME_PYTHON_RECALL_H
/*
 * The places that the last walk of a thread read, to read them in one call.
 *
 * Most places of a walk are those of the walk before.  So its first call reads all of
 * them, together with the words from which the walk starts.  The walk follows the same
 * pointers as without that.  Where one leads to a place that was read, no call is made.
 * All bytes are of the walk's own moment; only the guess which to read is older.
 *
 * A walk notes its places from the innermost frame outwards.  The call reads them the
 * other way round: what is inside ends first, and a call ends at the first place that is
 * no longer mapped.
 */
#include "runtime/frame_part.h"

enum {
	PYTHON_RECALL_FIRST = 3,	/* words from which a walk starts */
	PYTHON_RECALL_PLACES = 512,
	PYTHON_RECALL_BYTES = 24 << 10,	/* bytes of all places */
	PYTHON_RECALL_INDEX = 2048,
	PYTHON_RECALL_PLACE = FRAME_NAME_MAX,	/* … of a place by
						 * python_recall_read */
};

/* Places of a walk, the last of them at the beginning of a row that ends with the first
 * of them.  There is room for the words before it. */
struct python_places {
	uint32_t n, bytes;
	struct frame_span row[PYTHON_RECALL_FIRST + PYTHON_RECALL_PLACES];
	uint32_t witness[PYTHON_RECALL_PLACES];	/* of a code that was written, or 0 */
};

/* What is kept of a thread, initially zero. */
struct python_recall {
	uint32_t last;		/* the places of the last walk are places[last] */
	struct python_places places[2];
};

/* One walk. */
struct python_recalled {
	struct python_recall *kept;	/* NULL: nothing is kept */
	const struct python_places *last;
	/* Places of the last walk: how many were found or passed over, of how many; and
	 * where the bytes of the next one end. */
	uint32_t done, n;
	size_t end;
	/* Places that were noted.  They are not written as long as they are the same. */
	uint32_t noted, bytes;
	bool same;
	bool indexed;		/* `index` is set */
	/* The first words, and the bytes of the places. */
	uint64_t words[PYTHON_RECALL_FIRST + PYTHON_RECALL_BYTES / 8];
	/* Places by a hash of their address, one for each value. */
	uint16_t index[PYTHON_RECALL_INDEX];
};

void python_recall_forget(struct python_recall *kept);
/* Reads the words from which a walk starts, to c->words, and the places of the walk
 * before.  Returns whether the words were read. */
bool python_recall_begin(struct python_recalled *c, struct python_recall *kept,
			 const uint64_t *first, const struct frame_door *door);
/* Return the bytes of a place if it was read; NULL: it was not.  It is searched among all
 * places, or it must be the next one. */
const void *python_recall_find(struct python_recalled *c, uint64_t at, size_t n);
const void *python_recall_next(struct python_recalled *c, uint64_t at, size_t n,
			       uint32_t *witness);
/* Notes a place for the next walk. */
void python_recall_note(struct python_recalled *c, uint64_t at, size_t n,
			uint32_t witness);
/* Reads spans like the door, and notes them.  No call is made if all of them were read. */
size_t python_recall_read(struct python_recalled *c, const struct frame_door *door,
			  const struct frame_span *v, size_t n, void *to);
/* Keeps the places that were noted, all of which could be read. */
void python_recall_end(const struct python_recalled *c);

#endif
