/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_IMPORT_H
#define TALLY_IMPORT_IMPORT_H
/*
 * Converts recordings of other profilers to recordings of tally.
 *
 * perf.data of perf 4.x and later is read from a file or as `perf record -o -`
 * writes it to a pipe, compressed or not.  It contains call chains, or registers and
 * copies of the stack, which are unwound here.
 *
 * pprof, profiles of the Firefox Profiler and the text of perf script contain
 * symbols, so no program is opened for them.
 *
 * The programs of a perf.data are found by path, or by build ID in perf's cache
 * (~/.debug).  A program is used only if it is the recorded one: its build ID is
 * equal, or without a build ID its inode.  Everything else in a file is trusted to
 * be correct.
 *
 * The bytes are hostile.  A truncated file yields the part before the cut, and the
 * result shows that.  Other damage is an error that names its offset.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbolize/symbolize.h"

struct import_options {
	const char *debug_dirs;		/* as in sym_options */
	const char *vmlinux;		/* file of the recorded kernel, or NULL */
	bool symbols;			/* look symbols up */
	bool no_code;	/* store no code of hot functions and no lines of their other
			 * instructions */
	enum sym_detail detail;	/* as in sym_options */
	bool temporary;	/* the result is read once, soon */
	bool trust;	/* open programs and sources named in another user's file;
			 * otherwise such a file is refused */
	uint64_t max_memory;	/* limit of unpacked records, bytes; 0: as for
				 * a recording (profile/reader.h) */
	const char *version;		/* version of tally */
	/* Shows the current step on a terminal; NULL text clears it.  May be NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
};

struct import_result {
	uint64_t samples, lost;
	uint64_t skipped;	/* records of kinds that tally does not use, or
				 * that are invalid */
	uint64_t branches;	/* samples whose branch stacks were left out */
	uint64_t data_sources;	/* samples whose data sources were left out */
	uint64_t cut_at;	/* offset where a truncated file ends, or 0 */
	uint64_t bytes;		/* bytes written */
	uint64_t max_memory;	/* limit for reading them, derived from the size of
				 * the file that was read; 0: none */
};

/* Returns whether a file begins like perf.data (in either byte order). */
bool import_is_perf_data(const char *path);

/* Writes a recording to `fd`, which the caller keeps; `name` appears in messages
 * about it. */
int import_perf_data(const char *path, int fd, const char *name,
		     const struct import_options *o, struct import_result *out,
		     struct error *err);

/* Returns whether a file begins like a profile that contains symbols, or may be
 * one when unpacked. */
bool import_is_foreign(const char *path);
/* Imports such a profile.  Options that concern only perf.data are ignored. */
int import_foreign(const char *path, int fd, const char *name,
		   const struct import_options *o, struct import_result *out,
		   struct error *err);

#endif
