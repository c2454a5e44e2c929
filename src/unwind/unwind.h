/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_UNWIND_H
#define TALLY_UNWIND_UNWIND_H
/*
 * Call stacks from registers and a copy of the stack, without frame pointers.
 *
 * A table holds one image's call frame information (.eh_frame, .debug_frame:
 * cfi.h), compiled for each 64 KB of code when an address in it is first looked
 * up.  A walk goes from frame to frame with the tables of an address space:
 *
 *	unwind_table_open(img, &t, &err);	// once for each image; owns img
 *	unwind_cache_new(&cache);		// once for each thread that walks
 *	...
 *	struct unwind_stack out = { .pc = pcs, .max = 512 };
 *	unwind_walk(cache, &space, &regs, &memory, &out);
 *	// out.pc[0..out.n), out.end, out.reason, ...
 *
 * Machines: x86-64, and i386 programs by the same calls.  Registers have the
 * numbers of the x86-64 psABI (figure 3.36) for both.
 *
 * Neither tables nor caches are for two threads at once.  A walk allocates
 * nothing but a page of a table that it is the first to need.
 *
 * Hostile tables, registers and stacks are fine: a walk ends after `max` frames
 * at the latest.  Memory of one table: at most 8 bytes for each byte of the
 * image's call frame information, and 6 MB; time to compile it: in proportion to
 * them, too.  Code beyond these limits counts as code with a bad rule.
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

/* What the interrupted program's registers held.  rip and rsp must be known. */
struct unwind_regs {
	uint64_t r[UNWIND_REGS];
	uint32_t known;		/* bit i: r[i] is */
};

/* What can be read.  A copy begins at rsp and goes up; what is asked for outside
 * of it comes from `read`, if there is one. */
struct unwind_memory {
	const uint8_t *bytes;
	uint64_t start;		/* the address of bytes[0] */
	size_t size;
	bool all;	/* the stack ends where the copy does: not cut there */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	void *ctx;
};

struct unwind_table;

/* What is mapped at [start, end), all executable. */
struct unwind_code {
	uint64_t start, end;
	uint64_t delta;		/* address + delta = vaddr in the image */
	struct unwind_table *table;	/* NULL: no tables (JIT, unreadable) */
	/* Without table: the instructions at [start, end), or NULL.  They stay
	 * until the walk's end. */
	const uint8_t *bytes;
	uint32_t image;		/* the caller's; for out->image */
};

/* Where a frame has what its caller needs. */
struct unwind_caller {
	uint64_t ra_at;		/* of the return address */
	uint64_t sp;		/* the caller's rsp, when it is returned to */
	bool has_rbp;		/* else rbp is the caller's already */
	uint64_t rbp_at;
};

/* An address space.  `generation` names its contents: when it is equal, `find`
 * answers the same.  find is called a few times a walk at most while the cache
 * is warm.  False: no code there. */
struct unwind_space {
	bool (*find)(void *ctx, uint64_t pc, struct unwind_code *out);
	/* NULL, or asked for each frame in code without table, while it is the
	 * last of the stack: where the runtime that made the code has put the
	 * caller.  exact: as UNWIND_EXACT.  False: it does not know. */
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

/* How a frame was found; or of: */
enum {
	UNWIND_BY_POINTER = 1,	/* its address was found by a frame pointer */
	UNWIND_EXACT = 2,	/* execution was at this very instruction: the
				 * innermost frame, or one that a signal broke */
	UNWIND_SIGNAL = 4,	/* the kernel made this frame (a restorer) */
	UNWIND_GUESSED = 8,	/* the next lower one is in code without tables
				 * and frame pointer: what looked most like a
				 * return address */
};

struct unwind_stack {
	/* The caller's, innermost first.  Each names the instruction that the
	 * frame is at: return addresses less 1, so that they are never
	 * adjusted again. */
	uint64_t *pc;
	uint8_t *marks;		/* UNWIND_BY_POINTER…, or NULL */
	uint64_t *sp;		/* each frame's rsp, or NULL; with n as it is
				 * when memory.read is called */
	size_t max;
	/* NULL, or called when there are max frames and one more: true when the
	 * caller has made room (pc, marks, sp and max may be others then); false:
	 * the walk ends, UNWIND_TOO_DEEP. */
	bool (*full)(void *ctx, struct unwind_stack *s);
	void *ctx;
	/* The walk's. */
	size_t n;		/* pc[0] is rip, in code or not */
	enum unwind_end end;
	enum unwind_reason reason;
	uint64_t pc_end;	/* the frame that could not be left ... */
	uint32_t image;		/* ... its code's image; UINT32_MAX: none */
	uint64_t addr;		/* see above */
	uint32_t by_pointer, guessed;	/* steps that were such */
};

/* "bad memory"…, for messages. */
const char *unwind_reason_text(enum unwind_reason r);

/* Takes over img, also when it fails.  ERR_UNSUPPORTED: another machine's code
 * (walk it with table = NULL).  An image without call frame information is no
 * error: all of it is code without data. */
int unwind_table_open(struct image *img, struct unwind_table **out,
		      struct error *err);
void unwind_table_close(struct unwind_table *t);
/* Whether the image has hardly any call frame information for its code: then its
 * separate debug file may have some (.debug_frame). */
bool unwind_table_wants_debug(struct unwind_table *t);
/* Takes over the debug file: for functions that the image tells nothing of.  Only
 * before the first walk. */
void unwind_table_add_debug(struct unwind_table *t, struct image *debug);
/* The image that it was made of. */
struct image *unwind_table_image(struct unwind_table *t);

struct unwind_table_stats {
	uint64_t pages;		/* compiled so far */
	uint64_t rows, rules;
	uint64_t bytes;		/* of memory, all but the image */
};
struct unwind_table_stats unwind_table_stats(const struct unwind_table *t);
/* Compiles all of it now.  0 or -ERR_NOMEM. */
int unwind_table_compile(struct unwind_table *t);
/* Whether there is call frame information for vaddr; compiles as needed. */
bool unwind_table_covers(struct unwind_table *t, uint64_t vaddr);

/* Recently used addresses and their rules: 64 KB.  0 or -ERR_NOMEM. */
struct unwind_cache;
int unwind_cache_new(struct unwind_cache **out);
void unwind_cache_free(struct unwind_cache *c);
/* Forgets all: needed only when generations begin anew. */
void unwind_cache_clear(struct unwind_cache *c);

void unwind_walk(struct unwind_cache *c, const struct unwind_space *space,
		 const struct unwind_regs *regs, const struct unwind_memory *mem,
		 struct unwind_stack *out);

#endif
