/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_INFO_H
#define TALLY_VIEWS_INFO_H
/* Summary of a recording: file, environment, runs, events, images and
 * counts. */
#include "views/quality/missing.h"

struct chunk_sum {
	const char *kind;
	uint64_t chunks, stored, raw, bad;
};

enum { INFO_CHUNK_KINDS = 7 };

struct info {
	struct reader *reader;
	const char *path;		/* borrowed */
	uint64_t file_bytes;
	struct selection none;
	struct aggregate agg;
	struct quality quality;
	struct missing missing;
	struct chunk_sum chunks[INFO_CHUNK_KINDS];
};

/* Fills `in`.  Borrows `r` and `path` (of `file_bytes` bytes) until info_fini.
 * After an error there is nothing to release. */
int info_build(struct info *in, struct reader *r, const char *path,
	       uint64_t file_bytes, struct error *err);
void info_fini(struct info *in);
void info_text(const struct info *in, int columns, struct buf *out);
void info_json(const struct info *in, struct buf *out);

/* Returns "tables", "samples" and so on; "unknown" for unknown kinds. */
const char *chunk_kind_name(uint32_t kind);
const char *image_kind_name(uint8_t kind);

#endif
