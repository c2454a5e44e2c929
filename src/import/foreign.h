/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_FOREIGN_H
#define TALLY_IMPORT_FOREIGN_H
/*
 * Builds a recording from profiles that contain symbols.  No file is opened;
 * the recording contains what the profile contains.  One module for each format
 * fills it.
 *
 * Memory use follows distinct places and stacks; samples are written as they
 * arrive.
 */
#include "base/strtab.h"
#include "import/import.h"
#include "profile/writer.h"

enum { FOREIGN_DEPTH = 1 << 16 };	/* frames of a stack */

/* A function of a place, innermost first: each is inlined into the next. */
struct foreign_func {
	const char *name;		/* linkage name, or a readable one */
	const char *file;		/* where execution is; NULL: not known */
	uint32_t line, column, start;	/* start: line where it begins; 0 */
	bool declared;			/* the function is of that file, too */
};

struct foreign_place {
	uint32_t at, n;			/* in `funcs`; n 0: no name */
};

struct foreign_row {
	uint32_t name, file, line, column, start;
	bool declared;
};

struct foreign {
	struct profile p;
	struct writer *w;
	struct import_result *result;
	struct strtab names;		/* of functions and files, and of places */
	struct strtab keys;
	VEC(uint32_t) loc_of;		/* by key of a place */
	VEC(struct foreign_row) funcs;
	VEC(struct foreign_place) places;	/* by location */
	struct u64map threads, images;
	uint64_t made_up;		/* last address that was made up */
	struct buf tmp;
};

/* The formats.  `text` is the whole file, unpacked and untrusted; `name` is
 * used in messages. */
bool perf_text_is(const uint8_t *p, size_t n);
int perf_text_read(struct foreign *f, const uint8_t *p, size_t n,
		   const char *name, struct error *err);
bool pprof_file_is(const uint8_t *p, size_t n);
int pprof_file_read(struct foreign *f, const uint8_t *p, size_t n,
		    const char *name, struct error *err);
bool firefox_file_is(const uint8_t *p, size_t n);
int firefox_file_read(struct foreign *f, const uint8_t *p, size_t n,
		      const char *name, struct error *err);

/* Return rows; PROF_NONE: out of memory. */
uint32_t foreign_event(struct foreign *f, const char *name, bool time,
		       uint64_t period);
uint32_t foreign_image(struct foreign *f, const char *path);
uint32_t foreign_thread(struct foreign *f, uint32_t pid, uint32_t tid,
			const char *comm);
/* Returns a place in an image; address 0: none. */
uint32_t foreign_place(struct foreign *f, uint32_t image, uint64_t address,
		       const struct foreign_func *funcs, size_t n);
/* Sets the command of the recording, on the first call. */
void foreign_command(struct foreign *f, const char *command);
/* Returns the stack below `up` (0: none). */
uint32_t foreign_node(struct foreign *f, uint32_t up, uint32_t place);
int foreign_sample(struct foreign *f, const struct prof_sample *s,
		   struct error *err);
int foreign_nomem(const char *name, struct error *err);

#endif
