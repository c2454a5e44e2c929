/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_SHOW_H
#define TALLY_HISTORY_SHOW_H
/* Reports of a history and of a verdict, for people and for programs. */
#include "check/findings.h"
#include "history/detail.h"
#include "history/verdict.h"

/* The series and changes of one class of machines. */
struct history_view {
	const struct history_class *class;
	struct cost_series series;
	struct changes changes;
};

struct history_report {
	const struct history *h;
	VEC(struct history_view) views;	/* in the order of history_classify */
	size_t aside;		/* number of batches of commits on other branches */
	/* `subject` returns a commit's subject (str ID) as unsafe text, "" if
	 * unknown; NULL if no subjects are known.  `between` returns the number of
	 * commits between those of two batches that were not recorded, 0 if
	 * unknown. */
	const char *(*subject)(void *ctx, uint32_t commit);
	size_t (*between)(void *ctx, uint32_t older, uint32_t newer);
	void *ctx;
	const char *store;	/* folder that recordings were kept in */
	/* Writes a page with the differences between the recordings of two batches,
	 * and appends a link to it.  Returns false if there is none.  May be NULL. */
	bool (*compare)(void *page_ctx, size_t old_batch, size_t new_batch,
			struct buf *link);
	void *page_ctx;
};

/* Builds the views of all classes.  Call history_report_fini in any case. */
int history_report_build(struct history_report *r,
			 const struct history_classes *classes,
			 struct error *err);
void history_report_fini(struct history_report *r);

/* Appends text for people; `top` is the number of functions to list. */
void history_text(const struct history_report *r, size_t top, struct buf *out);
/* Appends JSON of schema 1, see tally-history(1). */
void history_json(const struct history_report *r, struct buf *out);
/* Appends a page without scripts, with the changes and a curve for each function. */
void history_html(const struct history_report *r, size_t top, struct buf *out);
/* Appends one line for each batch, oldest first. */
void history_list(const struct history *h,
		  const struct history_classes *classes, struct buf *out);

/* Append a verdict on new batches; `class` is the index of their class. */
void verdict_text(const struct history *h, const struct verdict *v,
		  const struct verdict_options *o,
		  const struct history_classes *classes, size_t class,
		  struct buf *out);
void verdict_json(const struct history *h, const struct verdict *v,
		  const struct verdict_options *o,
		  const struct history_classes *classes, size_t class,
		  struct buf *out);
/* Adds the findings for continuous integration.  Returns 0 or -ERR_NOMEM; call
 * findings_fini in any case. */
int verdict_findings(const struct history *h, const struct verdict *v,
		     const struct verdict_options *o, struct findings *out);
/* Appends Markdown for a step summary or a comment. */
void verdict_markdown(const struct history *h, const struct verdict *v,
		      const struct verdict_options *o, struct buf *out);

/* Functions that the above share. */
/* Returns a status such as "slower" or "suspect". */
const char *verdict_status_name(enum verdict_status s);
const char *verdict_answer_name(const struct verdict *v);
/* Appends the verdict in one sentence, and the change of a whole run. */
void show_answer(const struct history *h, const struct verdict *v,
		 const struct verdict_options *o, struct buf *out);
void show_total(const struct verdict *v, struct buf *out);
/* Appends how a row changed: "+12.3% (95%: +9.1% to +15.5%), +1.2% of the program". */
void show_estimate(const struct history *h, const struct verdict_row *r,
		   struct buf *out);
/* Appends a safe, shortened name. */
void show_func(const struct history *h, uint32_t func, struct buf *out);
/* Appends the commit or commits that may have caused a group of changes: "a1b2c3d4e5f6
 * "subject"". */
void show_when(const struct history_report *r, const struct history_view *v,
	       const struct change_group *g, struct buf *out);
/* Appends why a function's cost changed: "moved from parse; its code changed; lines that
 * gained: lex.c:12 +4.1%".  Nothing if that is unknown. */
void show_evidence(const struct history_view *v, const struct change *c,
		   struct buf *out);
/* Sets *from and *to to the batches before and after a group's change. */
void show_sides(const struct history_view *v, const struct change_group *g,
		size_t *from, size_t *to);
/* Appends a command that compares the recordings of two batches; nothing if some of
 * them do not exist. */
void show_command(const struct history_report *r, size_t from, size_t to,
		  struct buf *out);
/* Appends "cpu, kernel 6.1, cpu-clock, 4999 Hz" or the like. */
void show_class(const struct history *h, const struct history_class *c,
		struct buf *out);

#endif
