/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_INFO_H
#define TALLY_VIEWS_INFO_H
/* What a recording is: file, environment, runs, events, images, counts. */
#include "views/quality/missing.h"

struct chunk_sum {
	const char *kind;
	uint64_t chunks, stored, raw, bad;
};

enum { INFO_CHUNK_KINDS = 6 };

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

/* Borrows `r` and `path` (its size: file_bytes) until info_fini; after an error
 * there is nothing to release. */
int info_build(struct info *in, struct reader *r, const char *path,
	       uint64_t file_bytes, struct error *err);
void info_fini(struct info *in);
void info_text(const struct info *in, int columns, struct buf *out);
void info_json(const struct info *in, struct buf *out);

/* "tables", "samples"…; "unknown" for kinds this version does not know. */
const char *chunk_kind_name(uint32_t kind);
const char *image_kind_name(uint8_t kind);

#endif
