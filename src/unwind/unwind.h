/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_UNWIND_H
#define TALLY_UNWIND_UNWIND_H
/*
 * Call stacks from registers and a stack copy, without frame pointers.
 *
 * A table contains the call frame information of one image (.eh_frame,
 * .debug_frame: cfi.h), compiled for each 64 KB of code when an address in it
 * is first looked up.  A walk goes from frame to frame with the tables of an
 * address space:
 *
 *	unwind_table_open(img, &t, &err);	// once for each image; owns img
 *	unwind_cache_new(&cache);		// once for each thread that walks
 *	...
 *	struct unwind_stack out = { .pc = pcs, .max = 512 };
 *	unwind_walk(cache, &space, &regs, &memory, &out);
 *	// out.pc[0..out.n), out.end, out.reason, ...
 *
 * Supports x86-64 and, through the same calls, i386 programs.  Registers have
 * the numbers of the x86-64 psABI (figure 3.36) for both.
 *
 * Tables and caches must not be used by two threads at once.  A walk allocates
 * nothing except a page of a table that it is the first to use.
 *
 * Tables, registers and stacks may be hostile: a walk ends after at most `max`
 * frames. A table uses at most 8 bytes of memory for each byte of the image's
 * call frame information plus 6 MB, and the time to compile it is proportional.
 * Code beyond these limits counts as code with a bad rule.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"

enum {
	UNWIND_RAX, UNWIND_RDX, UNWIND_RCX, UNWIND_RBX, UNWIND_RSI, UNWIND_RDI,
	UNWIND_RBP, UNWIND_RSP, UNWIND_R8,	/* up to R15 */
	UNWIND_RIP = 16,
	UNWIND_REGS,
};

/* Registers of the interrupted program.  rip and rsp must be known. */
struct unwind_regs {
	uint64_t r[UNWIND_REGS];
	uint32_t known;		/* bit i: r[i] is */
};

/* Readable memory.  A copy starts at rsp and extends upwards; memory outside it
 * comes from `read`, if set. */
struct unwind_memory {
	const uint8_t *bytes;
	uint64_t start;		/* the address of bytes[0] */
	size_t size;
	bool all;	/* the stack ends where the copy does: not cut there */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	void *ctx;
};

struct unwind_table;

/* A mapping of executable code at [start, end). */
struct unwind_code {
	uint64_t start, end;
	uint64_t delta;		/* address + delta = vaddr in the image */
	struct unwind_table *table;	/* NULL: no tables (JIT, unreadable) */
	/* Without table: the instructions at [start, end), or NULL; valid until
	 * the end of the walk. */
	const uint8_t *bytes;
	uint32_t image;		/* the caller's; for out->image */
};

/* Where a frame stores what its caller needs. */
struct unwind_caller {
	uint64_t ra_at;		/* of the return address */
	uint64_t sp;		/* the caller's rsp, when it is returned to */
	bool has_rbp;		/* else rbp is the caller's already */
	uint64_t rbp_at;
};

/* An address space.  `generation` identifies its contents: while it is equal,
 * `find` gives the same results.  find is called at most a few times per walk
 * while the cache is warm; it returns false if there is no code at the address.
 */
struct unwind_space {
	bool (*find)(void *ctx, uint64_t pc, struct unwind_code *out);
	/* NULL, or called for each frame in code without table while it is the
	 * last one: where the runtime that generated the code stores the
	 * caller.  exact: as UNWIND_EXACT.  Returns false if unknown. */
	bool (*frame)(void *ctx, const struct unwind_regs *regs, bool exact,
		      struct unwind_caller *out);
	void *ctx;
	uint32_t generation;
	bool is32;		/* an i386 program */
};

enum unwind_end {
	UNWIND_WHOLE,	/* reached where the thread began */
	UNWIND_CUT,	/* the copy ended first, at out->addr */
	UNWIND_BROKEN,	/* see out->reason */
};

enum unwind_reason {
	UNWIND_OK,		/* not broken */
	UNWIND_NO_DATA,		/* no tables for out->pc_end, and nothing else
				 * led on, or only a guess: out->guessed; then
				 * the frames behind may be wrong */
	UNWIND_BAD_MEMORY,	/* out->addr was needed and is no stack */
	UNWIND_BAD_RULE,	/* call frame information that makes no sense,
				 * or has an instruction that is not known */
	UNWIND_NO_CODE,		/* the return address out->addr is not in code */
	UNWIND_NO_PROGRESS,	/* the caller's frame would be below */
	UNWIND_LOST_REGISTER,	/* register out->addr was needed, not saved */
	UNWIND_TOO_DEEP,	/* more than out->max frames */
	UNWIND_NO_MEMORY,	/* an allocation failed */
	UNWIND_REASONS,
};

	/* How a frame was found, combined from: */
enum {
	UNWIND_BY_POINTER = 1,	/* its address was found by a frame pointer */
	UNWIND_EXACT = 2,	/* execution was at this very instruction: the
				 * innermost frame, or one that a signal broke */
	UNWIND_SIGNAL = 4,	/* the kernel made this frame (a restorer) */
	UNWIND_GUESSED = 8,	/* the next lower one is in code without tables
				 * and frame pointer: what looked most like a
				 * return address */
	UNWIND_BEGIN = 16,	/* the stack begins with this frame, by its
				 * instructions or the file's entry */
};

struct unwind_stack {
	/* Result, innermost first.  Each address lies inside the frame's
	 * instruction: return addresses minus 1, so they need no further
	 * adjustment. */
	uint64_t *pc;
	uint8_t *marks;		/* UNWIND_BY_POINTER…, or NULL */
	uint64_t *sp;		/* each frame's rsp, or NULL; with n as it is
				 * when memory.read is called */
	size_t max;
	/* NULL, or called when there is one frame more than max: returns true
	 * if the caller made room (pc, marks, sp and max may have changed);
	 * false ends the walk with UNWIND_TOO_DEEP. */
	bool (*full)(void *ctx, struct unwind_stack *s);
	void *ctx;
	/* Set by the walk: */
	size_t n;		/* pc[0] is rip, in code or not */
	enum unwind_end end;
	enum unwind_reason reason;
	uint64_t pc_end;	/* the frame that could not be left ... */
	uint32_t image;		/* ... its code's image; UINT32_MAX: none */
	uint64_t addr;		/* see above */
	uint32_t by_pointer, guessed;	/* steps that were such */
};

/* Returns "bad memory"…, for messages. */
const char *unwind_reason_text(enum unwind_reason r);

/* Takes ownership of img, also on failure.  ERR_UNSUPPORTED: code for another
 * architecture (walk it with table = NULL).  An image without call frame
 * information is not an error: all of it is code without data. */
int unwind_table_open(struct image *img, struct unwind_table **out,
		      struct error *err);
void unwind_table_close(struct unwind_table *t);
/* Returns whether the image has almost no call frame information for its code;
 * then its separate debug file may have some (.debug_frame). */
bool unwind_table_wants_debug(struct unwind_table *t);
/* Takes ownership of the debug file, which is used for functions without call
 * frame information in the image.  Only before the first walk. */
void unwind_table_add_debug(struct unwind_table *t, struct image *debug);
/* Returns the image of the table. */
struct image *unwind_table_image(struct unwind_table *t);

struct unwind_table_stats {
	uint64_t pages;		/* compiled so far */
	uint64_t rows, rules;
	uint64_t bytes;		/* of memory, all but the image */
};
struct unwind_table_stats unwind_table_stats(const struct unwind_table *t);
/* Compiles the whole table now; returns 0 or -ERR_NOMEM. */
int unwind_table_compile(struct unwind_table *t);
/* Returns whether there is call frame information for vaddr; compiles as
 * needed. */
bool unwind_table_covers(struct unwind_table *t, uint64_t vaddr);

/* Creates a cache of recently used addresses and their rules, 64 KB.  Returns 0
 * or -ERR_NOMEM. */
struct unwind_cache;
int unwind_cache_new(struct unwind_cache **out);
void unwind_cache_free(struct unwind_cache *c);
/* Clears the cache; needed only when generations start again. */
void unwind_cache_clear(struct unwind_cache *c);

void unwind_walk(struct unwind_cache *c, const struct unwind_space *space,
		 const struct unwind_regs *regs, const struct unwind_memory *mem,
		 struct unwind_stack *out);

#endif
