/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_IMPORT_H
#define TALLY_IMPORT_IMPORT_H
/*
 * Recordings of other profilers as recordings of tally's.  perf.data of perf 4.x
 * and later: as a file or as `perf record -o -` writes it to a pipe, compressed or
 * not, with call chains or with registers and copies of the stack, which are
 * unwound here.
 *
 * Also pprof, profiles of the Firefox Profiler and the text of perf script, which
 * hold names: of those no program is opened.
 *
 * Programs of a perf.data are found by path, or by build-id in perf's cache of them
 * (~/.debug), and count only if they are the recorded ones: the same build-id, or
 * without one the same inode.  What else a file says is believed.
 *
 * The bytes are hostile.  A file that was cut gives what came before, and the
 * result says so; other damage is an error that names its offset.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct import_options {
	const char *debug_dirs;		/* as in sym_options */
	const char *vmlinux;		/* the recorded kernel's file, or NULL */
	bool symbols;			/* look names up */
	bool trust;	/* open the programs and sources that another user's file
			 * names; else such a file is refused */
	uint64_t max_memory;	/* bytes for unpacked records; 0: 64 times the
				 * file and 64 MB */
	const char *version;		/* of tally */
	/* What is being done now, for a terminal; NULL text: nothing; may be
	 * NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
};

struct import_result {
	uint64_t samples, lost;
	uint64_t skipped;	/* records of kinds that tally has no use for, or
				 * that made no sense */
	uint64_t branches;	/* samples whose branch stacks were left out */
	uint64_t cut_at;	/* offset where the file ends too early, or 0 */
	uint64_t bytes;		/* written */
};

/* Whether a file begins like perf.data (in either byte order). */
bool import_is_perf_data(const char *path);

/* Writes a recording to `fd`, which stays the caller's; `name` is for messages
 * about it. */
int import_perf_data(const char *path, int fd, const char *name,
		     const struct import_options *o, struct import_result *out,
		     struct error *err);

/* Whether a file begins like a profile that holds names, or may when unpacked. */
bool import_is_foreign(const char *path);
/* The same for those; what perf.data alone has is not looked at. */
int import_foreign(const char *path, int fd, const char *name,
		   const struct import_options *o, struct import_result *out,
		   struct error *err);

#endif
