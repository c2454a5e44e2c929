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
	/* When the file was finished and last written, by CLOCK_BOOTTIME, as known when
	 * the file was first seen: steps of the wall clock change neither ages nor the
	 * order.  May be negative: the machine started later. */
	int64_t born_ns, written_ns;
	bool done;		/* for the caller's use */
};

struct files {
	VEC(struct finished) v;	/* oldest first */
	uint64_t bytes;
	int64_t updated_ns;	/* CLOCK_BOOTTIME; 0: never */
};

struct retention {
	uint64_t keep_ns, keep_bytes, free_bytes;	/* 0: no limit */
};

/* Writes the name of a recorder's file, "record-0.tally".  A finished one is
 * called "record-0.tally.20261124…". */
void recorder_file(int slot, char name[FILE_NAME_ROOM]);
/* Returns whether a name is that of a finished file. */
bool is_finished_name(const char *name);

/* Updates the list from the folder; files that still exist keep their data.  A file that
 * was not there at the last update is not older than that. */
int files_update(struct files *f, int dir, struct error *err);
void files_fini(struct files *f);
/* Returns the time since a file was last written. */
uint64_t finished_quiet_ns(const struct finished *f);

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
