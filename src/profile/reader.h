/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_READER_H
#define TALLY_PROFILE_READER_H
/*
 * Reads a .tally file (doc/tally-format.5).  Opening reads all tables; samples are
 * then streamed in batches of columns, as often as wanted.
 *
 * The file is hostile: damaged chunks are skipped and counted, ids that point
 * nowhere are never handed out, memory is bounded by the file's size or by the
 * caller.
 */
#include "profile/model.h"

struct reader;

/* What is missing from a file. */
struct reader_damage {
	bool no_memory;		/* … to read samples of parts that are told as
				 * damaged */
	bool incomplete;	/* no end mark: cut, killed, or still recording */
	uint64_t bad_chunks, bad_bytes;	/* skipped because damaged */
	uint64_t bad_samples;	/* samples whose rows are missing */
	uint64_t first_offset;	/* of the first damage */
	char message[256];	/* one line, "" when the file is whole */
};

/* Whether a file begins like a recording. */
bool reader_is_recording(const char *path);
/* What the tables of a file may take in memory, for each byte of it, and
 * beside. */
enum { READER_MEMORY_A_BYTE = 64, READER_MEMORY_MORE = 64 << 20 };
/*
 * Opens a recording.  Its tables may take at most max_memory bytes, 0: what
 * follows from the file's size (READER_MEMORY_*), UINT64_MAX: any.  A file that
 * wants more is ERR_FORMAT, and the error names the limit.
 */
int reader_open(const char *path, uint64_t max_memory, struct reader **out,
		struct error *err);
/* The bytes must outlive the reader; max_memory is 0. */
int reader_open_bytes(const void *p, size_t n, const char *name,
		      struct reader **out, struct error *err);
/* The same of an open file, which may be closed afterwards. */
int reader_open_fd(int fd, const char *name, uint64_t max_memory,
		   struct reader **out, struct error *err);
void reader_close(struct reader *r);

/* Owned by the reader, but may be changed (symbolizing). */
struct profile *reader_profile(struct reader *r);
/* Complete once the samples were streamed through. */
const struct reader_damage *reader_damage(const struct reader *r);
/* What a file that this one was made of lacks, this one lacks. */
void reader_inherit_damage(struct reader *r, const struct reader_damage *from,
			   const char *name);
/* Bytes of the file. */
uint64_t reader_bytes(const struct reader *r);
/* Number of samples the file says it holds (sum over its chunks' headers). */
uint64_t reader_sample_count(const struct reader *r);

/* Up to SAMPLE_BATCH samples, column by column; every id is valid in the model.
 * Borrowed until the next call. */
struct sample_batch {
	size_t n;
	const uint64_t *time_ns, *weight;
	const uint32_t *thread, *cpu, *event, *stack;
};

/* Columns (COLUMN_*) that reader_next decodes; the others are NULL in the batch.
 * Asking for less is faster: a report by symbol needs no times. */
void reader_columns(struct reader *r, unsigned int mask);

/* Starts again at the first sample. */
void reader_rewind(struct reader *r);
/* The next batch; false at the end.  A damaged chunk is skipped and counted. */
bool reader_next(struct reader *r, struct sample_batch *out);

/* One chunk of the file, for `tally dump`. */
struct reader_chunk {
	uint64_t offset;	/* of its header */
	uint32_t kind;
	uint32_t seq;
	uint32_t stored, raw;	/* payload bytes in the file, and inflated */
	bool good;		/* checksum and lengths are right */
};
typedef bool reader_chunk_cb(void *ctx, const struct reader_chunk *c);
void reader_each_chunk(struct reader *r, reader_chunk_cb *cb, void *ctx);

#endif
