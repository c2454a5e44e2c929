/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_FILES_H
#define TALLY_CONTINUOUS_FILES_H
/* The finished files of a folder, and which of them go. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum { FILE_NAME_ROOM = 64, RECORDERS = 2 };

struct finished {
	char name[FILE_NAME_ROOM];
	uint64_t bytes;
	int64_t mtime_ns;	/* since 1970 */
	/* Age when it was first seen, and when that was (CLOCK_BOOTTIME): steps of
	 * the wall clock change no age that is known. */
	uint64_t age_ns, seen_ns;
	bool done;		/* the caller's */
};

struct files {
	VEC(struct finished) v;	/* oldest first */
	uint64_t bytes;
};

struct retention {
	uint64_t keep_ns, keep_bytes, free_bytes;	/* 0: no limit */
};

/* "record-0.tally", and of a finished one "record-0.tally.20261124…" */
void recorder_file(int slot, char name[FILE_NAME_ROOM]);
bool is_finished_name(const char *name);

/* Looks again: what is known of files that are still there stays known. */
int files_update(struct files *f, int dir, struct error *err);
void files_fini(struct files *f);

/* Removes what is too old or too much; *removed is added to.  False: the disk has
 * less than free_bytes, and no file is left that could go. */
bool files_retain(struct files *f, int dir, const struct retention *r,
		  uint64_t *removed);
/* Bytes that the disk has for us; UINT64_MAX: not known. */
uint64_t disk_free(int dir);

/* A file that a recorder left behind gets the name of a finished one. */
int files_adopt(int dir, int slot, struct error *err);

#endif
