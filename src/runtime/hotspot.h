/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_HOTSPOT_H
#define TALLY_RUNTIME_HOTSPOT_H
/*
 * Describes code that a Java virtual machine (HotSpot: libjvm.so of OpenJDK 8 and
 * later) generates: the code at an address, its frame size, and its method.
 * Everything is read from the memory of the program, which needs no option and does
 * not notice.
 *
 * libjvm.so exports tables that describe its structures to debuggers
 * (gHotSpotVMStructs…, src/hotspot/share/runtime/vmStructs.hpp), so one reader
 * supports all versions.
 *
 *	hotspot_new(&h, &door, &err);
 *	hotspot_batch(h);			// before each batch of samples
 *	b = hotspot_find(h, pc);
 *	if (b && hotspot_frame(h, b, &regs, exact, &caller)) ...
 *	hotspot_text(h, hotspot_name(h, b, &regs))
 *
 * The memory is untrusted and changes while it is read.  Every result is bounded in
 * time and memory and checked as far as possible; inconsistent data gives no result.
 * Data about code is read again in each batch, because other code may have replaced
 * it.  It is kept if the memory can no longer be read because the program has ended.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/unwind.h"

/* Access to the program. */
struct hotspot_door {
	/* Reads n bytes at addr, all or nothing. */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	/* Returns the address of a variable of libjvm.so; 0 if it has none. */
	uint64_t (*symbol)(void *ctx, const char *name);
	void *ctx;
};

struct hotspot;

/* Reads the tables.  Returns 0, -ERR_NOMEM, -ERR_NOTFOUND (symbols missing) or
 * -ERR_FORMAT. */
int hotspot_new(struct hotspot **out, const struct hotspot_door *door);
void hotspot_free(struct hotspot *h);
/* Marks all data as possibly changed. */
void hotspot_batch(struct hotspot *h);

enum hotspot_kind {
	HOTSPOT_OTHER,		/* stubs with a frame of known size, or none */
	HOTSPOT_METHOD,		/* compiled */
	HOTSPOT_INTERPRETER,
	HOTSPOT_STUBS,		/* many small functions in one */
	HOTSPOT_TABLE,		/* calls through vtables: no frame */
	HOTSPOT_ADAPTER,	/* between compiled code and the interpreter */
};

/* A blob of the code cache. */
struct hotspot_blob {
	enum hotspot_kind kind;
	uint64_t code, end;	/* bounds of its instructions */
	uint32_t frame_size;	/* bytes from the caller's rsp down, including the
				 * return address; 0: unknown */
	uint32_t complete;	/* code offset from which the frame is complete;
				 * UINT32_MAX: unknown */
	uint64_t method;	/* method of compiled code; 0: none */
	uint32_t compile_id;
	uint32_t name;		/* name of the blob; see hotspot_text */
};

/* Returns the code at pc, or NULL.  Valid until the next call. */
const struct hotspot_blob *hotspot_find(struct hotspot *h, uint64_t pc);
/* Returns the instructions of the blob, end - code bytes.  Returns NULL if they
 * cannot be read or there are too many.  Valid until hotspot_batch. */
const uint8_t *hotspot_bytes(struct hotspot *h, const struct hotspot_blob *b);

/* Access to the words of frames on the sample's stack. */
struct hotspot_stack {
	bool (*word)(void *ctx, uint64_t addr, uint64_t *out);
	void *ctx;
};

/* Finds where the frame at regs, in blob b, stores what its caller needs;
 * `exact`: rip is the interrupted instruction, not a return address.  Returns
 * false if unknown. */
bool hotspot_frame(struct hotspot *h, const struct hotspot_blob *b,
		   const struct unwind_regs *regs, bool exact,
		   const struct hotspot_stack *stack,
		   struct unwind_caller *out);

/* Returns the name number (from 1) of the method that the frame executes, or of
 * its blob. 0: no name, or out of memory. */
uint32_t hotspot_name(struct hotspot *h, const struct hotspot_blob *b,
		      const struct unwind_regs *regs,
		      const struct hotspot_stack *stack);
/* Returns "java.util.HashMap.getNode(java.lang.Object)": one line without
 * control characters. */
const char *hotspot_text(const struct hotspot *h, uint32_t name);

#endif
