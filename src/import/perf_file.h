/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_FILE_H
#define TALLY_IMPORT_PERF_FILE_H
/*
 * The container of perf.data (Linux: tools/perf/Documentation/
 * perf.data-file-format.txt): header, events, description of the machine, and
 * records.  Records are unpacked if they are compressed, and converted to this
 * machine's byte order.  The recording is a file, or a directory of several
 * (--threads, --kcore).
 */
#include <linux/perf_event.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "image/image.h"

/* Missing in older <linux/perf_event.h>: the user part of a chain, for samples
 * that contain only its cookie. */
#define PERF_FILE_CALLCHAIN_DEFERRED 22

/* The first type of perf's own records (tools/lib/perf/include/perf/event.h). */
#define PERF_FILE_USER 64

struct perf_file_event {
	struct perf_event_attr attr;	/* zero where the file's is shorter */
	char *name;			/* or NULL */
};

struct perf_file_image {
	char *path;
	struct build_id id;
};

/* Contiguous records in memory. */
struct perf_file_part {
	const uint8_t *p;
	size_t n;
	uint64_t offset;	/* offset in the file; for unpacked records, that
				 * of the packed one */
	uint8_t *own;		/* memory to free, or NULL */
};

/* The bytes of a file. */
struct perf_file_bytes {
	char *path;
	struct io_map map;
	uint8_t *own;		/* writable copy for byte swapping, or NULL */
	const uint8_t *p;
	size_t n;
};

struct perf_file {
	VEC(struct perf_file_bytes) files;	/* the first one contains the
						 * header */
	const uint8_t *p;	/* bytes of the first file */
	size_t n;
	const char *name;	/* for messages */
	bool swapped;		/* the file's byte order differs from this
				 * machine's */
	char *kallsyms;		/* symbols of the recorded kernel from the
				 * directory, or NULL */
	VEC(struct perf_file_event) events;
	struct u64map ids;	/* maps sample IDs to events */
	VEC(struct perf_file_image) images;	/* build IDs by path */
	struct idtab image_tab;
	VEC(struct perf_file_part) parts;
	char *hostname, *release, *arch, *cpu, *command;	/* or NULL */
	uint64_t wall_ns, clock_ns;	/* one moment by the wall clock and by the
					 * records' clock, ns; or 0 */
	uint64_t cut_at;		/* offset where a truncated file ends, or 0 */
	uint64_t skipped;		/* records that were skipped */
	uint64_t unpacked, max_memory;
};

/* Returns the path of the file with the header: `path`, or a file in that
 * directory.  The caller frees it; NULL if memory ran out. */
char *perf_file_header_path(const char *path);
/* Opens a perf.data and reads everything except the contents of the records. */
int perf_file_open(struct perf_file *f, const char *path, uint64_t max_memory,
		   struct error *err);
void perf_file_close(struct perf_file *f);

/* Returns the build ID for a path in the file's table, or NULL. */
const struct build_id *perf_file_build_id(const struct perf_file *f,
					  const char *path);

/* perf_ids.c */
/* Returns the event of a sample whose n bytes follow the header, or U64MAP_NONE.
 * `swapped`: the bytes are still in the other byte order. */
uint32_t perf_file_event(const struct perf_file *f, const uint8_t *body,
			 size_t n, bool swapped);
/* Returns the number of words before a field in a sample of this type. */
uint64_t perf_file_words_before(uint64_t sample_type, uint64_t field);
/* Returns the bytes at the end of a record of this type, according to the first
 * event.  All events must agree. */
size_t perf_file_trailer(const struct perf_file *f, uint32_t type);

#endif
