/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_READER_INTERNAL_H
#define TALLY_PROFILE_READER_INTERNAL_H
/* Shared by the parts of a reader.  The file is hostile. */
#include "base/io.h"
#include "profile/columns.h"
#include "profile/format.h"
#include "profile/reader.h"

struct reader {
	struct io_map map;
	char *name;
	const uint8_t *p;
	size_t n;
	VEC(struct chunk) chunks;	/* those with a good header, in order */
	struct profile profile;
	uint64_t unpacked;		/* bytes of decompressed chunks so far */
	uint64_t refused;		/* offset of the chunk whose rows need more
					 * memory than profile.memory allows */
	struct reader_damage damage;
	/* First equal node, by node; NULL if no two nodes are equal. */
	uint32_t *same;
	uint64_t samples;
	unsigned int mask;
	uint64_t max_memory;		/* bytes for tables; 0: no limit */
	size_t next;			/* chunk to stream next */
	uint32_t streamed;		/* kind of the chunks that are streamed */
	enum { SUMS_UNKNOWN, SUMS_USABLE, SUMS_UNUSABLE } sums;
	struct sample_columns columns;
	struct buf scratch;
	uint8_t *counted;		/* by chunk: whether its damage was counted */
};

void reader_note_damage(struct reader *r, uint64_t offset, uint64_t bytes);
/* Writes the damage as one line to damage.message. */
void reader_describe_damage(struct reader *r);

/* reader_chunks.c: checks the header.  Returns its size or an error. */
int reader_check_header(struct reader *r, struct error *err);
/* Finds all intact chunks from offset `at` on and notes damaged parts.  Returns
 * 0 or -ERR_NOMEM. */
int reader_find_chunks(struct reader *r, size_t at);
bool reader_payload_good(const struct reader *r, const struct chunk *c);
/* Returns whether the payloads of all chunks are intact. */
bool reader_all_good(const struct reader *r);
/* Returns the payload of a chunk that is not one of samples: c->stored bytes in the
 * file, or c->raw bytes in *room, which the caller frees.  Returns NULL if it is
 * damaged or memory ran out. */
const uint8_t *reader_payload(const struct reader *r, const struct chunk *c,
			      uint8_t **room);
/* Notes as damage what the end mark counts but the file does not contain. */
void reader_check_end(struct reader *r);
/* Releases the file's pages between two offsets.  The memory of a reader must
 * not grow with the number of samples, including mapped pages of the file. */
void reader_forget_pages(const struct reader *r, size_t from, size_t to);

/* reader_tables.c: loads everything except samples into the model.  Returns 0
 * or -ERR_NOMEM. */
int reader_load_tables(struct reader *r, struct strpool *pool);

#endif
