/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_OPINION_DATA_H
#define TALLY_VERIFY_OPINION_DATA_H
/* What libdw is asked and what it says: see opinion.h. */
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
	struct opinion_place call;	/* inlined: where the next frame calls it */
};

/* A contiguous part of one of the vectors below. */
struct opinion_part {
	uint32_t first, n;
};

/* The answer about one address.  More than one chain or place: several functions
 * share the code, or several units claim it. */
enum {
	OPINION_FOLDED = 1,	/* sequences of the line table overlap: the linker
				 * folded identical code */
	OPINION_NO_SPLIT = 2,	/* libdw has not found the split unit (.dwo, .dwp) */
};

struct opinion_answer {
	uint8_t flags;
	struct opinion_part chains;	/* of opinion.chains */
	struct opinion_part places;	/* of opinion.places: the line table */
	struct opinion_part symbols;	/* of opinion.symbols: names of all ELF
					 * symbols that cover the address */
};

struct opinion {
	struct strtab str;
	VEC(struct opinion_frame) frames;	/* innermost first */
	VEC(struct opinion_part) chains;	/* of frames */
	VEC(struct opinion_place) places;
	VEC(uint32_t) symbols;
	VEC(struct opinion_answer) answers;	/* one for each address asked */
	struct build_id build_id;		/* of the file that libdw read */
	bool dwarf;				/* libdw found DWARF */
};

struct opinion_request {
	const char *path;		/* the ELF file */
	const char *debug_file;		/* its separate debug file where the caller
					 * knows one, or NULL: libdw searches */
	const char *debug_dirs;		/* "DIR:DIR…" for libdw's own search */
	const uint64_t *vaddrs;		/* ELF addresses, ascending */
	size_t n;
};

#endif
