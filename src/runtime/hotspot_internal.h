/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_HOTSPOT_INTERNAL_H
#define TALLY_RUNTIME_HOTSPOT_INTERNAL_H
/* Shared by the files of this folder and by tests. */
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "runtime/hotspot.h"

/* Members of HotSpot's structures that are used. */
enum hotspot_field {
	CACHE_HEAPS, CACHE_HEAP,		/* static */
	STUB_CALL_RETURN,
	ARRAY_LEN, ARRAY_LEN_OLD, ARRAY_DATA,
	HEAP_MEMORY, HEAP_SEGMAP, HEAP_LOG2,
	SPACE_LOW, SPACE_HIGH,
	BLOCK_HEADER, HEADER_LENGTH, HEADER_USED,
	BLOB_NAME, BLOB_SIZE, BLOB_FRAME_SIZE, BLOB_COMPLETE,
	BLOB_CODE_BEGIN, BLOB_CODE_END, BLOB_CODE_OFFSET, BLOB_DATA_OFFSET,
	CODE_METHOD, CODE_METHOD_OLD, CODE_COMPILE_ID,
	METHOD_CONST, CONST_POOL, CONST_NAME, CONST_SIGNATURE,
	POOL_HOLDER, POOL_LENGTH, KLASS_NAME,
	SYMBOL_LENGTH, SYMBOL_LENGTH_OLD, SYMBOL_BODY,
	HOTSPOT_FIELDS,
};

/* Types whose size is used. */
enum hotspot_type { TYPE_BLOCK, TYPE_POOL, HOTSPOT_TYPES };

struct hotspot_member {
	uint64_t at;	/* offset, or the address of a static member */
	uint8_t size;	/* size in bytes; 0: absent in this version */
};

struct hotspot_layout {
	struct hotspot_member field[HOTSPOT_FIELDS];
	uint64_t type_size[HOTSPOT_TYPES];
};

/* A part of the code cache. */
struct hotspot_heap {
	uint64_t low, high, segmap, segments;
	uint8_t log2;
};
enum { HOTSPOT_HEAPS_MAX = 16 };

/* A blob as last read. */
struct hotspot_entry {
	struct hotspot_blob blob;
	uint8_t *bytes;
	uint32_t batch;
};

/* A method, by its address. */
struct hotspot_method {
	uint64_t address, constants;	/* Method*, its ConstMethod* */
	uint32_t name, batch;
};

struct hotspot {
	struct hotspot_door door;
	struct hotspot_layout layout;
	struct hotspot_heap heaps[HOTSPOT_HEAPS_MAX];
	size_t nheaps;
	uint32_t heaps_batch;
	uint32_t batch;
	uint64_t call_return;	/* return address from Java to C++ */
	VEC(struct hotspot_entry) entries;
	struct u64map by_pc;		/* index into entries */
	struct u64map by_code;
	uint64_t bytes;			/* total size of kept code */
	VEC(struct hotspot_method) methods;
	struct u64map by_method;
	struct strtab names;
};

/* Reads a member of the structure at `object`; returns false if there is none
 * or it cannot be read. */
bool hotspot_get(const struct hotspot *h, uint64_t object,
		 enum hotspot_field f, uint64_t *out);

#endif
