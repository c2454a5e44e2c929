/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_FILES_H
#define TALLY_CONTINUOUS_FILES_H
/* The finished files of a folder and their retention. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum { FILE_NAME_ROOM = 64, RECORDERS = 2 };

struct finished {
	char name[FILE_NAME_ROOM];
	uint64_t bytes;
	int64_t mtime_ns;	/* nanoseconds since 1970 */
	/* Age when the file was first seen, and the time of that (CLOCK_BOOTTIME).
	 * Steps of the wall clock therefore do not change a known age. */
	uint64_t age_ns, seen_ns;
	bool done;		/* for the caller's use */
};

struct files {
	VEC(struct finished) v;	/* oldest first */
	uint64_t bytes;
};

struct retention {
	uint64_t keep_ns, keep_bytes, free_bytes;	/* 0: no limit */
};

/* Writes the name of a recorder's file, "record-0.tally".  A finished one is
 * called "record-0.tally.20261124…". */
void recorder_file(int slot, char name[FILE_NAME_ROOM]);
/* Returns whether a name is that of a finished file. */
bool is_finished_name(const char *name);

/* Updates the list from the folder; files that still exist keep their data. */
int files_update(struct files *f, int dir, struct error *err);
void files_fini(struct files *f);

/* Removes files that exceed the limits, and adds their number to *removed.
 * Returns false if the disk has less than free_bytes and no file is left to
 * remove. */
bool files_retain(struct files *f, int dir, const struct retention *r,
		  uint64_t *removed);
/* Returns the free bytes of the disk, UINT64_MAX if unknown. */
uint64_t disk_free(int dir);

/* Renames a file that a recorder left behind to the name of a finished one. */
int files_adopt(int dir, int slot, struct error *err);

#endif
