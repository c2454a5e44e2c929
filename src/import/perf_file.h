/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_FILE_H
#define TALLY_IMPORT_PERF_FILE_H
/*
 * The container of perf.data (Linux: tools/perf/Documentation/
 * perf.data-file-format.txt): header, events, what is told of the machine, and the
 * records, unpacked where they are compressed, in this machine's byte order.  A file, or a
 * directory of several (--threads, --kcore).
 */
#include <linux/perf_event.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "image/image.h"

/* Newer than some <linux/perf_event.h>: the user part of a chain that samples have
 * only a cookie of. */
#define PERF_FILE_CALLCHAIN_DEFERRED 22

struct perf_file_event {
	struct perf_event_attr attr;	/* zeros where the file's is shorter */
	char *name;			/* or NULL */
};

struct perf_file_image {
	char *path;
	struct build_id id;
};

/* Records in memory, one after the other. */
struct perf_file_part {
	const uint8_t *p;
	size_t n;
	uint64_t offset;	/* in the file; of unpacked ones: of their
				 * packed record */
	uint8_t *own;		/* to be freed, or NULL */
};

/* A file's bytes. */
struct perf_file_bytes {
	char *path;
	struct io_map map;
	uint8_t *own;		/* a copy that could be turned, or NULL */
	const uint8_t *p;
	size_t n;
};

struct perf_file {
	VEC(struct perf_file_bytes) files;	/* the first has the header */
	const uint8_t *p;	/* of the first */
	size_t n;
	const char *name;	/* for messages */
	bool swapped;		/* its makers' byte order is not ours */
	char *kallsyms;		/* names of its kernel in its directory, or
				 * NULL */
	VEC(struct perf_file_event) events;
	struct u64map ids;	/* of samples -> events */
	VEC(struct perf_file_image) images;	/* build-ids by path */
	struct idtab image_tab;
	VEC(struct perf_file_part) parts;
	char *hostname, *release, *arch, *cpu, *command;	/* or NULL */
	uint64_t wall_ns, clock_ns;	/* the same moment by the wall clock and
					 * by that of the records, or 0 */
	uint64_t cut_at;		/* where the file ends too early, or 0 */
	uint64_t skipped;		/* records without use */
	uint64_t unpacked, max_memory;
};

/* The file with the header: `path`, or the one in that directory.  Owned by the
 * caller; NULL: out of memory. */
char *perf_file_header_path(const char *path);
/* Opens, and reads all but the records' insides. */
int perf_file_open(struct perf_file *f, const char *path, uint64_t max_memory,
		   struct error *err);
void perf_file_close(struct perf_file *f);

/* The build-id that the file's table has for a path, or NULL. */
const struct build_id *perf_file_build_id(const struct perf_file *f,
					  const char *path);

/* The event of a sample, of whose n bytes the header is left out; `swapped`: they are
 * still in the other byte order.  U64MAP_NONE: none. */
uint32_t perf_file_event(const struct perf_file *f, const uint8_t *body,
			 size_t n, bool swapped);
/* Words that a sample of this kind has before a field. */
uint64_t perf_file_words_before(uint64_t sample_type, uint64_t field);
/* Bytes behind a record of this type, by the first event: all must agree about
 * them. */
size_t perf_file_trailer(const struct perf_file *f, uint32_t type);

#endif
