/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_HOTSPOT_H
#define TALLY_RUNTIME_HOTSPOT_H
/*
 * The code that a Java virtual machine (HotSpot: libjvm.so of OpenJDK 8 and later)
 * makes while it runs: which code is at an address, how large its frame is, which
 * method it belongs to.  All of it is read from the memory of the program, which
 * knows nothing of it and needs no option.
 *
 * libjvm.so exports tables that describe its structures to debuggers
 * (gHotSpotVMStructs…, src/hotspot/share/runtime/vmStructs.hpp), so that one
 * reader serves all versions.
 *
 *	hotspot_new(&h, &door, &err);
 *	hotspot_batch(h);			// before each batch of samples
 *	b = hotspot_find(h, pc);
 *	if (b && hotspot_frame(h, b, &regs, exact, &caller)) ...
 *	hotspot_text(h, hotspot_name(h, b, &regs))
 *
 * Memory is hostile, and changes while it is read: every answer is bounded in time
 * and memory and has been checked as far as it can be; what makes no sense is no
 * answer.  What was learnt of code is read again in each batch, as other code may
 * be in its place, and kept where the memory can no longer be read: the program
 * has ended.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/unwind.h"

/* The program. */
struct hotspot_door {
	/* n bytes at addr, all or nothing */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	/* where libjvm.so's variable of that name is; 0: it has none */
	uint64_t (*symbol)(void *ctx, const char *name);
	void *ctx;
};

struct hotspot;

/* Reads the tables.  0, -ERR_NOMEM, -ERR_NOTFOUND: the symbols are missing, or
 * -ERR_FORMAT. */
int hotspot_new(struct hotspot **out, const struct hotspot_door *door,
		struct error *err);
void hotspot_free(struct hotspot *h);
/* What was read may have changed. */
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
	uint64_t code, end;	/* its instructions */
	uint32_t frame_size;	/* bytes from the caller's rsp down, with the
				 * return address; 0: not known */
	uint32_t complete;	/* from that offset in the code on the frame is
				 * there; UINT32_MAX: not known */
	uint64_t method;	/* of compiled code; 0: none */
	uint32_t compile_id;
	uint32_t name;		/* of the blob; see hotspot_text */
};

/* The code at pc, or NULL.  Valid until the next call. */
const struct hotspot_blob *hotspot_find(struct hotspot *h, uint64_t pc);
/* Its instructions, end - code bytes; NULL where they cannot be read or there are
 * too many.  Valid until hotspot_batch. */
const uint8_t *hotspot_bytes(struct hotspot *h, const struct hotspot_blob *b);

/* The stack of the sample, for the words that frames have there. */
struct hotspot_stack {
	bool (*word)(void *ctx, uint64_t addr, uint64_t *out);
	void *ctx;
};

/* Where the frame at regs, in blob b, has what its caller needs; `exact`: rip was
 * interrupted there, it is no return address.  False: nothing is known. */
bool hotspot_frame(struct hotspot *h, const struct hotspot_blob *b,
		   const struct unwind_regs *regs, bool exact,
		   const struct hotspot_stack *stack,
		   struct unwind_caller *out);

/* The number of the name of the method that the frame executes, else of its blob;
 * names are numbered from 1.  0: there is none, or no memory is left. */
uint32_t hotspot_name(struct hotspot *h, const struct hotspot_blob *b,
		      const struct unwind_regs *regs,
		      const struct hotspot_stack *stack);
/* "java.util.HashMap.getNode(java.lang.Object)": one line, without control
 * characters. */
const char *hotspot_text(const struct hotspot *h, uint32_t name);

#endif
