/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_SYM_RESULT_H
#define TALLY_SYMBOLIZE_DWARF_SYM_RESULT_H
/* The answer to one address: functions, files and lines. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function at an address.  Strings belong to the symbolizer and live until
 * symbolizer_close; "" where unknown, never NULL. */
struct sym_frame {
	const char *name;	/* linkage name where there is one, not
				 * demangled; else, for C++, the readable name
				 * with scopes and parameters; else the plain
				 * name.  See symbolizer.c. */
	const char *file;	/* source path as compiled, joined with its
				 * directory: of the address for the innermost
				 * frame, of the call for the others */
	uint32_t line, column;	/* in `file`; 0 = unknown */
	const char *decl_file;	/* where the function is declared */
	uint32_t decl_line;
	bool inlined;		/* true for all but the last (physical) frame */
	uint16_t lang;		/* DW_AT_language of its unit; 0: unknown */
	const char *plain;	/* as DWARF has it: the linkage name, else the
				 * plain name; "" where it is not from DWARF */
};

/* What is known of one address. */
struct sym_result {
	uint64_t vaddr;
	const struct sym_frame *frames;	/* innermost first; the last one is the
					 * function that really exists */
	size_t nframes;			/* 0: nothing known */
	/* The ELF symbol that covers vaddr and its range.  "" with a size: a
	 * function that only call frame information knows, without a name.
	 * "" and size 0: nothing is known. */
	const char *symbol;
	uint64_t sym_start, sym_size;
	const char *sym_file;	/* source file of a local symbol, or "" */
	bool same;		/* all but vaddr is as at the address before */
};

/* Return false to stop the batch. */
typedef bool sym_cb(void *ctx, size_t index, const struct sym_result *res);

#endif
