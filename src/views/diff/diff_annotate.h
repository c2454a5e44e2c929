/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
#define TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
/*
 * Functions of both sides of a diff with their source lines and instructions
 * aligned.  Equal text is side by side, even if lines were added or code was
 * compiled to other addresses.
 *
 * The cost of a line includes functions inlined there, as in annotate.h, so the
 * lines of a side add up to the function.
 */
#include "views/annotate/annotate.h"
#include "views/diff/diff.h"
#include "compare/align.h"

struct diff_annotate_spec {
	/* function, FILE[:LINE] or image; NULL: the functions that changed
	 * most */
	const char *what;
	uint64_t top;		/* maximum number of functions; 0: all */
	bool code;		/* show instructions */
	bool intel;
};

/* A line or an instruction, matched between the sides. */
struct diff_part {
	/* line number (0: unknown), or instruction counted from the start of
	 * the code; PROF_NONE: not on that side */
	uint32_t at[DIFF_SIDES];
	size_t cost[DIFF_SIDES];	/* row of annotation.costs, or SIZE_MAX */
	uint8_t how;			/* enum align_how */
};

/* A source file of a function. */
struct diff_file {
	uint32_t file[DIFF_SIDES];	/* str of the side's profile */
	const struct source_file *source[DIFF_SIDES];	/* NULL: not on that side */
	size_t part, nparts;		/* range in diff_annotation.parts */
};

struct diff_code {
	size_t code[DIFF_SIDES];	/* index in annotation.codes, or SIZE_MAX */
	size_t part, nparts;
};

struct diff_unit {
	size_t unit[DIFF_SIDES];	/* index in annotation.units, or SIZE_MAX */
	struct diff_change change;	/* change of the first column */
	size_t file, nfiles, code, ncodes;
};

struct diff_annotation {
	struct diff *d;
	struct diff_annotate_spec spec;
	struct annotation *a[DIFF_SIDES];
	VEC(struct diff_unit) units;	/* largest change first */
	size_t hidden;
	VEC(struct diff_file) files;
	VEC(struct diff_code) codes;
	VEC(struct diff_part) parts;
	struct diff_change *changes;	/* [part * columns + column] */
	uint32_t *col[DIFF_SIDES];	/* by column: column of the annotation */
};

/* Builds the annotation of both sides.  `d` must outlive it. */
int diff_annotate(struct diff *d, const struct diff_annotate_spec *spec,
		  struct diff_annotation **out, struct error *err);
void diff_annotation_free(struct diff_annotation *x);

/* Returns the cost in a row of one side's costs and a column. */
struct cell diff_part_cell(const struct diff_annotation *x, int side,
			   size_t row, size_t col);
/* Append the text of a line, or of an instruction with the name of its
 * target, as unsafe text.  diff_line_text returns false if the line's text
 * is unknown. */
bool diff_line_text(const struct diff_annotation *x, const struct diff_file *f,
		    int side, uint32_t line, struct buf *out);
void diff_insn_text(const struct diff_annotation *x, const struct diff_code *c,
		    int side, uint32_t insn, struct buf *out);
void diff_unit_name(const struct diff_annotation *x, const struct diff_unit *u,
		    bool full, struct buf *out);

struct diff_annotate_style {
	int columns;
	bool color, source, code, automatic, full_names, no_header, all;
	unsigned int context;
};

void diff_annotate_text(struct diff_annotation *x,
			const struct diff_annotate_style *style,
			struct buf *out);
void diff_annotate_json(struct diff_annotation *x,
			const struct diff_annotate_style *style,
			struct buf *out);

/* diff_lines.c and diff_code.c: align the lines and codes of a pair of
 * units. */
int diff_lines(struct diff_annotation *x, struct diff_unit *u);
int diff_codes(struct diff_annotation *x, struct diff_unit *u);

#endif
