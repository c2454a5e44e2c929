/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_SYM_RESULT_H
#define TALLY_SYMBOLIZE_DWARF_SYM_RESULT_H
/* The result of looking up one address: functions, files and lines. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function at an address.  Strings belong to the symbolizer and live until
 * symbolizer_close; "" if unknown, never NULL. */
struct sym_frame {
	const char *name;	/* linkage name if there is one, not demangled;
				 * otherwise, for C++, the readable name with scopes
				 * and parameters; otherwise the plain name.  See
				 * symbolizer.c. */
	const char *file;	/* source path as compiled, joined with its
				 * directory: position of the address for the
				 * innermost frame, of the call for the others */
	uint32_t line, column;	/* in `file`; 0 = unknown */
	const char *decl_file;	/* file of the function's declaration */
	uint32_t decl_line;
	bool inlined;		/* true for all but the last (physical) frame */
	uint16_t lang;		/* DW_AT_language of its unit; 0: unknown */
	const char *plain;	/* name from DWARF: the linkage name, else the plain
				 * name; "" if not from DWARF */
};

/* Everything known about one address. */
struct sym_result {
	uint64_t vaddr;
	const struct sym_frame *frames;	/* innermost first; the last one is the
					 * physical function */
	size_t nframes;			/* 0: unknown */
	/* The ELF symbol that covers vaddr and its range.  "" with a size: a
	 * function without a name, known only from call frame information.  ""
	 * and size 0: unknown. */
	const char *symbol;
	uint64_t sym_start, sym_size;
	const char *sym_file;	/* source file of a local symbol, or "" */
	bool same;		/* equal to the previous address's result except for
				 * vaddr */
};

/* Receives one result; returns false to stop the batch. */
typedef bool sym_cb(void *ctx, size_t index, const struct sym_result *res);

#endif
