/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
#define TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
/*
 * Functions of both sides of a diff, their source lines and instructions aligned:
 * equal text stands beside equal text, also when lines were added or code was
 * compiled to other addresses.
 *
 * A line's cost is what was spent at it and in what was inlined there, as in
 * annotate.h: the lines of a side add up to the function.
 */
#include "views/annotate/annotate.h"
#include "views/diff/diff.h"
#include "compare/align.h"

struct diff_annotate_spec {
	const char *what;	/* function, FILE[:LINE], image; NULL: the most
				 * changed functions */
	uint64_t top;		/* functions at most, 0: all */
	bool code;		/* instructions are wanted */
	bool intel;
};

/* A line or an instruction of both sides. */
struct diff_part {
	uint32_t at[DIFF_SIDES];	/* line number (0: not known), or
					 * instruction counted from the code's
					 * first; PROF_NONE: not on that side */
	size_t cost[DIFF_SIDES];	/* row of annotation.costs, SIZE_MAX */
	uint8_t how;			/* enum align_how */
};

/* A source file of a function. */
struct diff_file {
	uint32_t file[DIFF_SIDES];	/* str of the side's profile */
	const struct source_file *source[DIFF_SIDES];	/* NULL: not there */
	size_t part, nparts;		/* in diff_annotation.parts */
};

struct diff_code {
	size_t code[DIFF_SIDES];	/* in annotation.codes, SIZE_MAX */
	size_t part, nparts;
};

struct diff_unit {
	size_t unit[DIFF_SIDES];	/* in annotation.units, SIZE_MAX */
	struct diff_change change;	/* of the first column */
	size_t file, nfiles, code, ncodes;
};

struct diff_annotation {
	struct diff *d;
	struct diff_annotate_spec spec;
	struct annotation *a[DIFF_SIDES];
	VEC(struct diff_unit) units;	/* most changed first */
	size_t hidden;
	VEC(struct diff_file) files;
	VEC(struct diff_code) codes;
	VEC(struct diff_part) parts;
	struct diff_change *changes;	/* [part * columns + column] */
	uint32_t *col[DIFF_SIDES];	/* by column: of the annotation */
};

/* `d` must outlive it. */
int diff_annotate(struct diff *d, const struct diff_annotate_spec *spec,
		  struct diff_annotation **out, struct error *err);
void diff_annotation_free(struct diff_annotation *x);

/* What a row of costs of one side has of a column. */
struct cell diff_part_cell(const struct diff_annotation *x, int side,
			   size_t row, size_t col);
/* Text of a line, or of an instruction (with the name of its target), unsafe;
 * false: none is known. */
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

/* diff_lines.c, diff_code.c: align a pair of units. */
int diff_lines(struct diff_annotation *x, struct diff_unit *u);
int diff_codes(struct diff_annotation *x, struct diff_unit *u);

#endif
