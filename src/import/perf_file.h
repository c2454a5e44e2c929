/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_FILE_H
#define TALLY_IMPORT_PERF_FILE_H
/*
 * The container of perf.data (Linux: tools/perf/Documentation/
 * perf.data-file-format.txt): header, events, what is told of the machine, and the
 * records, unpacked where they are compressed.  Knows nothing of samples.
 */
#include <linux/perf_event.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "image/image.h"

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

struct perf_file {
	struct io_map map;
	const char *name;	/* for messages; the caller's */
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

/* Opens, and reads all but the records' insides. */
int perf_file_open(struct perf_file *f, const char *path, uint64_t max_memory,
		   struct error *err);
void perf_file_close(struct perf_file *f);

/* The build-id that the file's table has for a path, or NULL. */
const struct build_id *perf_file_build_id(const struct perf_file *f,
					  const char *path);

#endif
