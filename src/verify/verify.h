/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_VERIFY_H
#define TALLY_VERIFY_VERIFY_H
/*
 * Compares tally's names, inline chains, files and lines with libdw's, and writes
 * each difference with both answers.  A difference is *explained* if its kind is
 * documented (doc/symbolizing-differences.md, "libdw").  In that case, both answers
 * are right, or libdw does not read what tally reads.  All other differences count
 * against tally.
 */
#include "base/buf.h"
#include "profile/model.h"
#include "verify/opinion.h"

/* One function of tally's answer, innermost first. */
struct verify_frame {
	const char *name;	/* linkage name if there is one; "": unknown */
	const char *file;	/* file of the address (innermost frame) or of the
				 * call */
	uint32_t line;
};

/* Tally's answer about an address: n frames from frames.v[first]; n == 0:
 * unresolved. */
struct verify_case {
	uint64_t vaddr;
	uint32_t first, n;
};

struct verify_cases {
	VEC(struct verify_case) v;	/* in any order */
	VEC(struct verify_frame) frames;
};

void verify_cases_fini(struct verify_cases *c);

struct verify_counts {
	uint64_t asked;		/* distinct addresses */
	uint64_t same, explained, different;
	uint64_t skipped;	/* not compared; the text gives the reason */
	uint64_t unknown;	/* part of `same`: neither has a name or a line */
};

/*
 * Compares the answers about one ELF file.  `expected` is the build ID of the file
 * that tally read; len 0: unknown.  A different file at the path is skipped.  `go`:
 * tally read .gopclntab.  Sorts the cases, and fills in q->vaddrs and q->n.  Appends
 * text that is safe for a terminal to `out`, and adds to `counts`.
 */
int verify_image(const struct opinion_request *q, bool go,
		 const struct build_id *expected, struct verify_cases *c,
		 struct verify_counts *counts, struct buf *out,
		 struct error *err);

/* Compares all locations and line rows of a recording that belong to files on this
 * machine.  `progress` may be NULL. */
typedef void verify_progress(void *ctx, const char *image, size_t done,
			     size_t total);
int verify_profile(const struct profile *p, const char *debug_dirs,
		   verify_progress *progress, void *ctx,
		   struct verify_counts *counts, struct buf *out,
		   struct error *err);

/* Appends a sentence that summarizes the counts. */
void verify_summary(const struct verify_counts *counts, struct buf *out);

#endif
