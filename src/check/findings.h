/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_FINDINGS_H
#define TALLY_CHECK_FINDINGS_H
/*
 * What a check reports to continuous integration: one finding for each function, and
 * the verdict on the whole.  A check of two sides and a check against a history fill in
 * the same findings; each format is written in one place.
 */
#include "base/buf.h"
#include "base/vec.h"

enum finding_level {
	FINDING_NONE,		/* tested, nothing to report */
	FINDING_NOTE,		/* changed, but neither fails nor may fail */
	FINDING_WARNING,	/* may be slower */
	FINDING_ERROR,		/* fails the check */
};

/* Texts are safe for a terminal unless noted. */
struct finding {
	enum finding_level level;
	struct buf name;	/* shortened name */
	struct buf function;	/* whole name, as it is */
	struct buf image;	/* as it is; empty for several functions together */
	struct buf text;	/* "+12.3% (95%: …), +3.2 ms per run" */
	struct buf details;	/* lines with more evidence */
	struct buf path;	/* source file as recorded, as it is; empty if
				 * unknown */
	uint32_t line;		/* 0 if unknown */
	bool slower;		/* `name` with " is slower" or " may be slower" is a
				 * sentence; false for new functions */
	double seconds;		/* duration of the function in a run; negative if
				 * unknown */
	size_t rank;		/* position among the reported ones, worst first */
};

struct findings {
	struct buf verdict;	/* one sentence */
	struct buf total;	/* the change of a whole run */
	struct buf broken;	/* why the new side is broken, as it is */
	bool total_fails, inconclusive;
	VEC(struct finding) v;	/* by name */
};

/* Adds an empty finding, valid until the next one is added; NULL if memory ran out. */
struct finding *findings_add(struct findings *f);
void findings_fini(struct findings *f);

/* Each appends a report.  Paths below `root` (may be NULL) become relative to it.
 * They set out->failed if memory ran out. */
/* GitHub's workflow commands: the verdict, then annotations at file and line. */
void findings_github(const struct findings *f, const char *root, bool warn_only,
		     struct buf *out);
/* JUnit XML as GitLab and Jenkins read it. */
void findings_junit(const struct findings *f, struct buf *out);
/* SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format") with one run, for
 * GitHub's code scanning and editors, and GitLab's Code Quality report.  Both require a
 * place for each issue: a function whose file is unknown is at line 1 of its image. */
void findings_sarif(const struct findings *f, const char *root, struct buf *out);
void findings_code_quality(const struct findings *f, const char *root,
			   struct buf *out);

#endif
