/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_VERIFY_H
#define TALLY_VERIFY_VERIFY_H
/*
 * Compares tally's names, inline chains, files and lines with libdw's and writes
 * each difference with both answers.  A difference is *explained* where its kind is
 * known and documented (doc/symbolizing-differences.md, "libdw"): both answers are
 * right, or libdw does not read what tally reads.  All others count against tally.
 */
#include "base/buf.h"
#include "profile/model.h"
#include "verify/opinion.h"

/* One function of tally's answer, innermost first. */
struct verify_frame {
	const char *name;	/* of the linker where there is one; "" unknown */
	const char *file;	/* of the address (innermost) or of the call */
	uint32_t line;
};

/* Tally's answer about an address: frames.v[first], …; n == 0: unresolved. */
struct verify_case {
	uint64_t vaddr;
	uint32_t first, n;
};

struct verify_cases {
	VEC(struct verify_case) v;	/* any order */
	VEC(struct verify_frame) frames;
};

void verify_cases_fini(struct verify_cases *c);

struct verify_counts {
	uint64_t asked;		/* addresses, each once */
	uint64_t same, explained, different;
	uint64_t skipped;	/* not compared: the reason is in the text */
	uint64_t unknown;	/* of `same`: neither has a name or a line */
};

/*
 * Compares the answers about one ELF file.  `expected` is the build-id of the file
 * that tally read, len 0: unknown; another file at the path is skipped.  Sorts the
 * cases.  `go`: tally read .gopclntab.  Appends to `out`, safe for a terminal, and
 * adds to `counts`.  q->vaddrs and q->n are filled in here.
 */
int verify_image(const struct opinion_request *q, bool go,
		 const struct build_id *expected, struct verify_cases *c,
		 struct verify_counts *counts, struct buf *out,
		 struct error *err);

/* Compares every location and every line row of a recording that stands for code of
 * a file on this machine.  `progress` may be NULL. */
typedef void verify_progress(void *ctx, const char *image, size_t done,
			     size_t total);
int verify_profile(const struct profile *p, const char *debug_dirs,
		   verify_progress *progress, void *ctx,
		   struct verify_counts *counts, struct buf *out,
		   struct error *err);

/* Appends the sentence that sums up. */
void verify_summary(const struct verify_counts *counts, struct buf *out);

#endif
