/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_READER_H
#define TALLY_PROFILE_READER_H
/*
 * Reads a .tally file (doc/tally-format.5).  Opening reads all tables; samples
 * are then streamed in batches of columns, as often as needed.
 *
 * The file is untrusted.  Damaged chunks are skipped and counted, and invalid
 * ids are never returned.  The size of the file or the caller limits the
 * memory.
 */
#include "profile/model.h"

struct reader;

/* Missing parts of a file. */
struct reader_damage {
	bool no_memory;		/* there was no memory to read samples; their chunks
				 * are reported as damaged */
	bool incomplete;	/* no end mark: file truncated, recorder killed, or
				 * still recording */
	uint64_t bad_chunks, bad_bytes;	/* skipped because damaged */
	uint64_t bad_samples;	/* samples whose rows are missing */
	uint64_t first_offset;	/* offset of the first damage */
	char message[256];	/* one line; "" if the file is intact */
};

/* Returns whether a file starts like a recording. */
bool reader_is_recording(const char *path);
/* Memory limit of a file's tables: bytes for each byte of the file, plus a
 * constant.  A program whose recursion is different in each sample needs 120 bytes for
 * each, so for files the constant is this part of the machine's memory, if that is
 * more. */
enum { READER_MEMORY_A_BYTE = 64, READER_MEMORY_MORE = 64 << 20,
       READER_MEMORY_PART = 16, READER_MEMORY_PART_MAX = 1 << 30 };
/* Returns the limit for a file of this size. */
uint64_t reader_usual_memory(uint64_t bytes);
/*
 * Opens a recording.  Its tables may use at most max_memory bytes; 0: a limit
 * derived from the size of the file (READER_MEMORY_*); UINT64_MAX: no limit.  A
 * file that needs more is ERR_FORMAT, and the error names the limit.
 */
int reader_open(const char *path, uint64_t max_memory, struct reader **out,
		struct error *err);
/* The same for one of many recordings with equal strings, which are taken from a pool
 * that outlives the reader; NULL: none. */
int reader_open_in(const char *path, uint64_t max_memory, struct strpool *pool,
		   struct reader **out, struct error *err);
/* Opens a recording in memory, with a limit that does not depend on the machine.  The
 * bytes must outlive the reader. */
int reader_open_bytes(const void *p, size_t n, const char *name,
		      struct reader **out, struct error *err);
int reader_open_bytes_in(const void *p, size_t n, const char *name,
			 struct strpool *pool, struct reader **out,
			 struct error *err);
/* Opens a recording from an fd, which may be closed afterwards. */
int reader_open_fd(int fd, const char *name, uint64_t max_memory,
		   struct reader **out, struct error *err);
void reader_close(struct reader *r);

/* Returns the profile, which the reader owns but which may be changed
 * (symbolizing). */
struct profile *reader_profile(struct reader *r);
/* Returns the damage; complete after all samples were streamed. */
const struct reader_damage *reader_damage(const struct reader *r);
/* Adds the damage of a file that this one was created from. */
void reader_inherit_damage(struct reader *r, const struct reader_damage *from,
			   const char *name);
/* Returns the size of the file in bytes. */
uint64_t reader_bytes(const struct reader *r);
/* Returns the limit of memory in bytes, which is also one for what views build from
 * few bytes of the file (trees, instructions); UINT64_MAX: none. */
uint64_t reader_max_memory(const struct reader *r);
/* Returns the number of samples according to the headers of the file's chunks.
 */
uint64_t reader_sample_count(const struct reader *r);

/* Up to SAMPLE_BATCH samples, column by column; every id is valid in the model.
 * Borrowed until the next call. */
struct sample_batch {
	size_t n;
	const uint64_t *time_ns, *weight, *more;
	const uint32_t *thread, *cpu, *event, *stack;
};

/* Selects the columns (COLUMN_*) that reader_next decodes; the others are NULL
 * in the batch.  Fewer columns are faster: a report by symbol needs no times.
 */
void reader_columns(struct reader *r, unsigned int mask);

/* Restarts at the first sample. */
void reader_rewind(struct reader *r);
/* The same for a caller that only sums weights and counts by event and stack, and has
 * selected no other columns.  It may get the sums that the file has of them, which are far
 * fewer rows, if nothing is missing. */
void reader_rewind_sums(struct reader *r);
/* Reads the next batch; returns false at the end.  Damaged chunks are skipped
 * and counted. */
bool reader_next(struct reader *r, struct sample_batch *out);

/* One chunk of the file, for `tally dump`. */
struct reader_chunk {
	uint64_t offset;	/* file offset of its header */
	uint32_t kind;
	uint32_t seq;
	uint32_t stored, raw;	/* bytes of the payload in the file and decompressed */
	bool good;		/* checksum and lengths are correct */
};
typedef bool reader_chunk_cb(void *ctx, const struct reader_chunk *c);
void reader_each_chunk(struct reader *r, reader_chunk_cb *cb, void *ctx);

#endif
