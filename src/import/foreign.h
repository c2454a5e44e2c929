/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_FOREIGN_H
#define TALLY_IMPORT_FOREIGN_H
/*
 * Builds a recording from a profile that contains symbols.  No other file is opened;
 * the recording contains what the profile contains.  Each format has one module that
 * calls these functions.
 *
 * Memory use depends on distinct places and stacks; samples are written as they
 * arrive.  A few bytes of a packed file may be many rows: their memory is charged to
 * the same limit as the unpacked bytes.
 */
#include "base/strtab.h"
#include "import/import.h"
#include "profile/writer.h"

enum { FOREIGN_DEPTH = 1 << 16 };	/* most frames of a stack */

/* A function at a place, innermost first.  Each is inlined into the next. */
struct foreign_func {
	const char *name;		/* linkage name or readable name */
	const char *file;		/* file of the executing line; NULL:
					 * unknown */
	uint32_t line, column, start;	/* start: first line of the function, or 0 */
	bool declared;			/* `file` is also the file of the
					 * function's declaration */
};

struct foreign_place {
	uint32_t at, n;			/* range in `funcs`; n == 0: unnamed */
};

struct foreign_row {
	uint32_t name, file, line, column, start;
	bool declared;
};

struct foreign {
	struct profile p;
	struct writer *w;
	struct import_result *result;
	uint64_t room;			/* bytes of memory left of the limit */
	bool full;			/* more was needed */
	struct strtab names;		/* names of functions and files; keys of
					 * places are in `keys` */
	struct strtab keys;
	VEC(uint32_t) loc_of;		/* location by key of a place */
	VEC(struct foreign_row) funcs;
	VEC(struct foreign_place) places;	/* by location */
	struct u64map images;
	struct idtab threads;
	uint64_t made_up;		/* last address that was invented */
	struct buf tmp;
};

/* The formats: a row of the table in import_foreign.c for each.  `text` is the whole
 * file, unpacked and untrusted; `name` is used in messages. */
bool perf_text_is(const uint8_t *p, size_t n);
int perf_text_read(struct foreign *f, const uint8_t *p, size_t n,
		   const char *name, struct error *err);
bool pprof_file_is(const uint8_t *p, size_t n);
int pprof_file_read(struct foreign *f, const uint8_t *p, size_t n,
		    const char *name, struct error *err);
bool firefox_file_is(const uint8_t *p, size_t n);
int firefox_file_read(struct foreign *f, const uint8_t *p, size_t n,
		      const char *name, struct error *err);

/* Begins a recording.  Returns 0 or -ERR_NOMEM.  Call foreign_end in both cases. */
int foreign_begin(struct foreign *f, const char *version, const char *source);
/* Adds the symbols of all places, after the samples.  Returns 0 or -ERR_NOMEM. */
int foreign_symbols(struct foreign *f);
void foreign_end(struct foreign *f);

/* Takes bytes from the limit of memory.  Returns 0 or -ERR_NOMEM; the message is then
 * that of import_foreign. */
int foreign_charge(struct foreign *f, uint64_t bytes);
/* Like vec_push; charges the growth. */
#define foreign_push(f, vec, ...) \
	((vec)->n == (vec)->cap && \
	 foreign_charge((f), (vec_capacity((vec)->cap, (vec)->n + 1) - \
			      (vec)->cap) * sizeof(*(vec)->v)) < 0 \
		 ? -1 : vec_push((vec), __VA_ARGS__))

/* Return row indices, or PROF_NONE if memory ran out. */
uint32_t foreign_event(struct foreign *f, const char *name, bool time,
		       uint64_t period);
uint32_t foreign_image(struct foreign *f, const char *path);
uint32_t foreign_thread(struct foreign *f, uint32_t pid, uint32_t tid,
			const char *comm);
/* Returns a place in an image; address 0 means unknown. */
uint32_t foreign_place(struct foreign *f, uint32_t image, uint64_t address,
		       const struct foreign_func *funcs, size_t n);
/* Sets the recorded command, on the first call only. */
void foreign_command(struct foreign *f, const char *command);
/* Returns the stack with `place` called by stack `up` (0: none). */
uint32_t foreign_node(struct foreign *f, uint32_t up, uint32_t place);
/* Writes a sample and extends the times of the run to include it. */
int foreign_sample(struct foreign *f, const struct prof_sample *s,
		   struct error *err);
/* Sets the out-of-memory message and returns -ERR_NOMEM. */
int foreign_nomem(const char *name, struct error *err);

#endif
