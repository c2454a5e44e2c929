/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_OPINION_DATA_H
#define TALLY_VERIFY_OPINION_DATA_H
/* Questions to libdw and its answers: see opinion.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "image/image.h"

/* A line of a source file. `dir` is the compilation directory, which libdw does not
 * join with every relative file. */
struct opinion_place {
	uint32_t dir, file, line;
};

/* One function at an address; strings are ids of opinion.str, 0: unknown. */
struct opinion_frame {
	uint32_t linkage;	/* DW_AT_linkage_name */
	uint32_t name;		/* DW_AT_name */
	bool inlined;
	struct opinion_place call;	/* for an inlined function: where the next
					 * frame calls it */
};

/* A contiguous part of one of the vectors below. */
struct opinion_part {
	uint32_t first, n;
};

/* The answer about one address.  It has several chains or places if functions
 * share the code, or if several units claim it. */
enum {
	OPINION_FOLDED = 1,	/* sequences of the line table overlap because the
				 * linker folded identical code */
	OPINION_NO_SPLIT = 2,	/* libdw did not find the split unit (.dwo, .dwp) */
};

struct opinion_answer {
	uint8_t flags;
	struct opinion_part chains;	/* range in opinion.chains */
	struct opinion_part places;	/* range in opinion.places, from the line
					 * table */
	struct opinion_part symbols;	/* range in opinion.symbols: names of all
					 * ELF symbols that cover the address */
};

struct opinion {
	struct strtab str;
	VEC(struct opinion_frame) frames;	/* innermost first */
	VEC(struct opinion_part) chains;	/* ranges in `frames` */
	VEC(struct opinion_place) places;
	VEC(uint32_t) symbols;
	VEC(struct opinion_answer) answers;	/* one for each requested address */
	struct build_id build_id;		/* of the file that libdw read */
	bool dwarf;				/* libdw found DWARF */
};

struct opinion_request {
	const char *path;		/* the ELF file */
	const char *debug_file;		/* separate debug file if the caller knows
					 * one; NULL: libdw searches */
	const char *debug_dirs;		/* "DIR:DIR…" for libdw's own search */
	const uint64_t *vaddrs;		/* ELF addresses in ascending order */
	size_t n;
};

#endif
