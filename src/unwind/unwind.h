/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_UNWIND_H
#define TALLY_UNWIND_UNWIND_H
/*
 * Call stacks from registers and a stack copy, without frame pointers.
 *
 * A table contains the call frame information of one image (.eh_frame,
 * .debug_frame: cfi.h).  Each 8 KB of code is compiled at the first lookup in
 * it.  A walk goes from frame to frame with the tables of an address space:
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
 * nothing except a page of a table that it is the first to use, and more slots of the
 * cache.
 *
 * Tables, registers and stacks may be hostile: a walk ends after at most `max`
 * frames.  A table uses at most 8 bytes of memory for each byte of the image's
 * call frame information, plus 6 MB.  The time to compile it is proportional.
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
	uint32_t known;		/* bit i: r[i] is known */
};

/* Readable memory.  A copy starts at rsp and extends upwards; memory outside it
 * comes from `read`, if set. */
struct unwind_memory {
	const uint8_t *bytes;
	uint64_t start;		/* address of bytes[0] */
	size_t size;
	bool all;	/* the stack ends where the copy ends: not truncated */
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
	/* Chosen by the caller, for out->image.  With a table, the same number means
	 * the same image until the cache is cleared. */
	uint32_t image;
};

/* Where a frame stores what its caller needs. */
struct unwind_caller {
	uint64_t ra_at;		/* address of the return address */
	uint64_t sp;		/* the caller's rsp after the return */
	bool has_rbp;		/* false: rbp already holds the caller's value */
	uint64_t rbp_at;
};

/* An address space.  `generation` identifies its contents: while it is equal,
 * `find` gives the same results. find is called at most a few times per walk
 * while the cache is warm.  It returns false if there is no code at the
 * address. */
struct unwind_space {
	bool (*find)(void *ctx, uint64_t pc, struct unwind_code *out);
	/* NULL, or called for each frame in code without a table while it is
	 * the last frame.  Finds where the runtime that generated the code
	 * stores the caller. exact: as UNWIND_EXACT.  Returns false if
	 * unknown. */
	bool (*frame)(void *ctx, const struct unwind_regs *regs, bool exact,
		      struct unwind_caller *out);
	void *ctx;
	uint32_t generation;
	bool is32;		/* an i386 program */
};

enum unwind_end {
	UNWIND_COMPLETE,	/* reached the start of the thread */
	UNWIND_CUT,	/* the copy ended too early, at out->addr */
	UNWIND_BROKEN,	/* see out->reason */
};

enum unwind_reason {
	UNWIND_OK,		/* not broken */
	UNWIND_NO_DATA,		/* no tables for out->pc_end and no other way to find
				 * the caller, or a heuristic one (out->guessed): the
				 * following frames may be wrong */
	UNWIND_BAD_MEMORY,	/* out->addr was needed and is not stack memory */
	UNWIND_BAD_RULE,	/* invalid call frame information, or an unknown
				 * instruction in it */
	UNWIND_NO_CODE,		/* the return address out->addr is not in code */
	UNWIND_NO_PROGRESS,	/* the caller's frame would be at a lower address */
	UNWIND_LOST_REGISTER,	/* register out->addr was needed but not saved */
	UNWIND_TOO_DEEP,	/* more than out->max frames */
	UNWIND_NO_MEMORY,	/* an allocation failed */
	UNWIND_REASONS,
};

/* How a frame was found; flags: */
enum {
	UNWIND_BY_POINTER = 1,	/* a frame pointer led to its address */
	UNWIND_EXACT = 2,	/* pc is the instruction being executed: the
				 * innermost frame, or a frame interrupted by a
				 * signal */
	UNWIND_SIGNAL = 4,	/* frame made by the kernel (a restorer) */
	UNWIND_GUESSED = 8,	/* found by heuristics: the callee has neither tables
				 * nor frame pointer, so the most likely return
				 * address was taken */
	UNWIND_BEGIN = 16,	/* outermost frame, according to its instructions or
				 * the file's entry point */
};

struct unwind_stack {
	/* Result, innermost first.  Each address lies inside the frame's
	 * instruction: return addresses minus 1, so they need no further
	 * adjustment. */
	uint64_t *pc;
	uint8_t *marks;		/* UNWIND_BY_POINTER…, or NULL */
	uint64_t *sp;		/* each frame's rsp, or NULL; up to date, like n,
				 * when memory.read is called */
	size_t max;
	/* NULL, or called when the frames exceed max.  Returns true if it made
	 * room (pc, marks, sp and max may have changed); false ends the walk
	 * with UNWIND_TOO_DEEP. */
	bool (*full)(void *ctx, struct unwind_stack *s);
	void *ctx;
	/* Set by the walk: */
	size_t n;		/* pc[0] is rip, even if it is not in code */
	enum unwind_end end;
	enum unwind_reason reason;
	uint64_t pc_end;	/* the frame that could not be unwound ... */
	uint32_t image;		/* ... and the image of its code; UINT32_MAX: none */
	uint64_t addr;		/* see enum unwind_end and unwind_reason */
	uint32_t by_pointer, guessed;	/* steps by frame pointer, by heuristics */
};

/* Returns "bad memory"…, for messages. */
const char *unwind_reason_text(enum unwind_reason r);

/* Opens the table of an image.  Takes ownership of img, also on failure.
 * Returns -ERR_UNSUPPORTED for code of another architecture (walk it with table
 * = NULL).  An image without call frame information is valid: all its code
 * counts as code without data. */
int unwind_table_open(struct image *img, struct unwind_table **out);
void unwind_table_close(struct unwind_table *t);
/* Returns whether the image has almost no call frame information for its code;
 * then its separate debug file may have some (.debug_frame). */
bool unwind_table_wants_debug(struct unwind_table *t);
/* Adds a debug file, which is used for functions without call frame information
 * in the image.  Takes ownership of it.  Must be called before the first
 * walk. */
void unwind_table_add_debug(struct unwind_table *t, struct image *debug);
/* Returns the image of the table. */
struct image *unwind_table_image(struct unwind_table *t);

struct unwind_table_stats {
	uint64_t pages;		/* pages compiled so far */
	uint64_t rows, rules;
	uint64_t bytes;		/* memory without the image, in bytes */
};
struct unwind_table_stats unwind_table_stats(const struct unwind_table *t);
/* Compiles the whole table now; returns 0 or -ERR_NOMEM. */
int unwind_table_compile(struct unwind_table *t);

/* Return addresses (vaddrs) in the runtime of a Go program.  Returns whether a stack
 * begins there ... */
bool unwind_go_begins(struct image *img, uint64_t ra);
/* ... or whether systemstack called a function there.  It has left a goroutine's
 * stack for that of the thread, so a walk ends there. */
bool unwind_go_switches(struct image *img, uint64_t ra);
/* ... or whether asmcgocall called a C function there.  It has left a goroutine's
 * stack, too.  Sets where the frame has, in bytes above its stack pointer, the
 * goroutine (a struct g) and how far below the top of its stack it was. */
struct unwind_go_c {
	uint8_t g, depth;
};
bool unwind_go_calls_c(struct image *img, uint64_t ra, struct unwind_go_c *out);

/* Creates a cache of recently used addresses and their rules, 128 KB and up to 2 MB.
 * Returns 0 or -ERR_NOMEM. */
struct unwind_cache;
int unwind_cache_new(struct unwind_cache **out);
void unwind_cache_free(struct unwind_cache *c);
/* Clears the cache; needed only when generations or numbers of images are reused. */
void unwind_cache_clear(struct unwind_cache *c);

void unwind_walk(struct unwind_cache *c, const struct unwind_space *space,
		 const struct unwind_regs *regs, const struct unwind_memory *mem,
		 struct unwind_stack *out);

#endif
