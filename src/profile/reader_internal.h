/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_READER_INTERNAL_H
#define TALLY_PROFILE_READER_INTERNAL_H
/* What the parts of a reader share.  The file is hostile. */
#include "base/io.h"
#include "profile/columns.h"
#include "profile/format.h"
#include "profile/reader.h"

struct reader {
	struct io_map map;
	bool own_map;
	char *name;
	const uint8_t *p;
	size_t n;
	VEC(struct chunk) chunks;	/* those with a good header, in order */
	struct profile profile;
	uint64_t unpacked;		/* bytes of chunks so far */
	uint64_t refused;		/* offset of the chunk whose rows want more
					 * memory than profile.memory allows */
	struct reader_damage damage;
	/* By node: the first that is equal; NULL: no two are. */
	uint32_t *same;
	uint64_t samples;
	unsigned int mask;
	uint64_t max_memory;		/* bytes for tables; 0: any */
	size_t next;			/* chunk to stream next */
	struct sample_columns columns;
	struct buf scratch;
	uint8_t *counted;		/* by chunk: its damage is counted */
};

void reader_note_damage(struct reader *r, uint64_t offset, uint64_t bytes);
/* Damage as one line. */
void reader_describe_damage(struct reader *r);

/* reader_chunks.c: the header's size, or an error. */
int reader_check_header(struct reader *r, struct error *err);
/* Finds the chunks from `at` on, damaged ones apart; 0 or -ERR_NOMEM. */
int reader_find_chunks(struct reader *r, size_t at);
bool reader_payload_good(const struct reader *r, const struct chunk *c);
/* Notes what the end mark counts and was not found. */
void reader_check_end(struct reader *r);
/* Gives back the file's pages from one offset to another: the memory of a reader
 * must not grow with the samples, not even by pages of the file. */
void reader_forget_pages(const struct reader *r, size_t from, size_t to);

/* reader_tables.c: all that is no sample, into the model; 0 or -ERR_NOMEM. */
int reader_load_tables(struct reader *r);

#endif
