/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_UNWIND_KERNEL_WALK_H
#define TALLY_TESTS_UNWIND_KERNEL_WALK_H
/* The kernel module's walk (kmod/walk_core.h) beside tally's own, with rows that
 * are made as the recorder makes them: of what tally's walk went through. */
#include "../../kmod/walk_core.h"
#include "unwind/rows.h"
#include "unwind/unwind.h"

struct kernel_table {
	struct unwind_table *from;
	struct walk_table table;
	struct walk_page *page;		/* [table.pages] */
	struct unwind_rows *rows;
};

struct kernel_side {
	VEC(struct kernel_table) tables;
	VEC(struct walk_map) maps;	/* by address */
	size_t pages, refused;		/* made; that walk_page_check refused */
};

/* Maps of code that may come in any order, with `n` of `end` bytes at most. */
void kernel_side_open(struct kernel_side *k, const struct unwind_code *code,
		      size_t n);
void kernel_side_close(struct kernel_side *k);
/* Brings rows of the frames of a walk, and what it has learned; `s` with marks. */
void kernel_side_teach(struct kernel_side *k, const struct unwind_cache *c,
		       uint32_t generation, const struct unwind_stack *s);

#endif
