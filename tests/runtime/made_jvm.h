/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_RUNTIME_MADE_JVM_H
#define TALLY_TESTS_RUNTIME_MADE_JVM_H
/*
 * Memory as a Java virtual machine has it: the tables that tell of structures, a code
 * cache of one heap, two methods.  Members lie elsewhere than in any HotSpot, so that
 * only the tables can tell where.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MADE_SIZE = 64 << 10,
	MADE_SYMBOLS = 32,
	/* segments of 32 bytes: where blobs begin, and how many they have */
	MADE_INTERPRETER = 0, MADE_INTERPRETER_N = 600,
	MADE_METHOD = 600, MADE_METHOD_N = 8,
	MADE_FREE = 608, MADE_FREE_N = 4,
	MADE_OTHER = 612, MADE_OTHER_N = 8,	/* a method, sub first */
	MADE_ADAPTER = 620, MADE_ADAPTER_N = 6,
	MADE_SEGMENTS = 626,
	MADE_LOG2 = 5,
	MADE_BLOCK = 16,	/* bytes of a block before its blob */
	MADE_CODE = 96,		/* a blob's instructions, from its begin */
	MADE_FRAME = 48,	/* bytes of a method's frame */
};

struct made_jvm {
	uint64_t base;		/* the address of mem[0] */
	size_t used;
	struct {
		const char *name;
		uint64_t at;
	} symbols[MADE_SYMBOLS];
	size_t nsymbols;
	uint64_t heap, segmap;	/* addresses */
	uint64_t methods[2];	/* Method* */
	bool closed;		/* nothing can be read */
	_Alignas(16) uint8_t mem[MADE_SIZE];
};

/* `newer`: as JDK 23 and later tell of code; else as 9 to 22. */
void made_jvm_make(struct made_jvm *m, uint64_t base, bool newer);
/* For struct hotspot_door. */
bool made_jvm_read(void *ctx, uint64_t addr, void *to, size_t n);
uint64_t made_jvm_symbol(void *ctx, const char *name);
/* The address of a blob's first instruction. */
uint64_t made_jvm_code(const struct made_jvm *m, int segment);
/* Bytes in the memory. */
void *made_jvm_at(struct made_jvm *m, uint64_t addr);
/* Another method takes the place of MADE_METHOD's. */
void made_jvm_replace(struct made_jvm *m, uint64_t method);

#endif
