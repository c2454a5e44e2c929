// SPDX-License-Identifier: GPL-2.0-or-later
#include "made_jvm.h"

#include <stdlib.h>
#include <string.h>

/* Members' offsets, unlike those of HotSpot. */
enum {
	ARRAY_LEN = 12, ARRAY_DATA = 24,
	HEAP_MEMORY = 16, HEAP_SEGMAP = 72, HEAP_LOG2 = 4,
	SPACE_LOW = 40, SPACE_HIGH = 8,
	HEADER = 0, HEADER_LENGTH = 8, HEADER_USED = 3,
	BLOB_NAME = 40, BLOB_SIZE = 20, BLOB_FRAME = 24, BLOB_COMPLETE = 28,
	BLOB_BEGIN = 56, BLOB_END = 64, BLOB_METHOD = 72, BLOB_ID = 80,
	METHOD_CONST = 16, CONST_POOL = 24, CONST_NAME = 6, CONST_SIGNATURE = 10,
	POOL_HOLDER = 8, POOL_LENGTH = 4, POOL_SIZE = 40,
	KLASS_NAME = 32, SYMBOL_LENGTH = 2, SYMBOL_BODY = 9,
};

void *made_jvm_at(struct made_jvm *m, uint64_t addr)
{
	if (addr < m->base || addr - m->base >= MADE_SIZE)
		abort();
	return m->mem + (addr - m->base);
}

static uint64_t room(struct made_jvm *m, size_t n)
{
	uint64_t at = m->base + m->used;

	if (n > MADE_SIZE - m->used)
		abort();
	m->used += (n + 15) & ~15ul;
	return at;
}

static void put(struct made_jvm *m, uint64_t at, uint64_t v, size_t n)
{
	memcpy(made_jvm_at(m, at), &v, n);
}

static uint64_t text(struct made_jvm *m, const char *s)
{
	uint64_t at = room(m, strlen(s) + 1);

	memcpy(made_jvm_at(m, at), s, strlen(s) + 1);
	return at;
}

static void export(struct made_jvm *m, const char *name, uint64_t value)
{
	uint64_t at = room(m, 8);

	if (m->nsymbols == MADE_SYMBOLS)
		abort();
	put(m, at, value, 8);
	m->symbols[m->nsymbols].name = name;
	m->symbols[m->nsymbols++].at = at;
}

/* One of gHotSpotVMStructs. */
enum { STRUCT_ENTRY = 56, TYPE_ENTRY = 24 };

struct member {
	const char *type, *name, *of;
	uint64_t at;
	bool is_static;
	char when;	/* 'o': in older ones, 'n': in newer ones; 0: in both */
};

static void put_members(struct made_jvm *m, uint64_t heaps, bool newer)
{
	const struct member v[] = {
		{ "Other", "_heaps", "int", 1, false, 0 },
		{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", heaps, true, 0 },
		{ "GrowableArrayBase", "_len", "int", ARRAY_LEN, false, 0 },
		{ "GrowableArray<int>", "_data", "int*", ARRAY_DATA, false, 0 },
		{ "CodeHeap", "_memory", "VirtualSpace", HEAP_MEMORY, false, 0 },
		{ "CodeHeap", "_segmap", "VirtualSpace", HEAP_SEGMAP, false, 0 },
		{ "CodeHeap", "_log2_segment_size", "int", HEAP_LOG2, false, 0 },
		{ "VirtualSpace", "_low", "char*", SPACE_LOW, false, 0 },
		{ "VirtualSpace", "_high", "char*", SPACE_HIGH, false, 0 },
		{ "HeapBlock", "_header", "HeapBlock::Header", HEADER, false, 0 },
		{ "HeapBlock::Header", "_length", "size_t", HEADER_LENGTH, false, 0 },
		{ "HeapBlock::Header", "_used", "bool", HEADER_USED, false, 0 },
		{ "CodeBlob", "_name", "const char*", BLOB_NAME, false, 0 },
		{ "CodeBlob", "_size", "int", BLOB_SIZE, false, 0 },
		{ "CodeBlob", "_frame_size", "int", BLOB_FRAME, false, 0 },
		{ "CodeBlob", "_frame_complete_offset", "int", BLOB_COMPLETE, false, 'o' },
		{ "CodeBlob", "_frame_complete_offset", "int16_t", BLOB_COMPLETE, false, 'n' },
		{ "CodeBlob", "_code_begin", "address", BLOB_BEGIN, false, 'o' },
		{ "CodeBlob", "_code_end", "address", BLOB_END, false, 'o' },
		{ "CodeBlob", "_code_offset", "int", BLOB_BEGIN, false, 'n' },
		{ "CodeBlob", "_data_offset", "int", BLOB_END, false, 'n' },
		{ "CompiledMethod", "_method", "Method*", BLOB_METHOD, false, 'o' },
		{ "nmethod", "_method", "Method*", BLOB_METHOD, false, 'n' },
		{ "nmethod", "_compile_id", "int", BLOB_ID, false, 0 },
		{ "Method", "_constMethod", "ConstMethod*", METHOD_CONST, false, 0 },
		{ "ConstMethod", "_constants", "ConstantPool*", CONST_POOL, false, 0 },
		{ "ConstMethod", "_name_index", "u2", CONST_NAME, false, 0 },
		{ "ConstMethod", "_signature_index", "u2", CONST_SIGNATURE, false, 0 },
		{ "ConstantPool", "_pool_holder", "InstanceKlass*", POOL_HOLDER, false, 0 },
		{ "ConstantPool", "_length", "int", POOL_LENGTH, false, 0 },
		{ "Klass", "_name", "Symbol*", KLASS_NAME, false, 0 },
		{ "Symbol", "_length", "unsigned short", SYMBOL_LENGTH, false, 0 },
		{ "Symbol", "_body[0]", "u1", 99, false, 0 },
		{ "Symbol", "_body", "u1", SYMBOL_BODY, false, 0 },
	};
	size_t n = sizeof(v) / sizeof(v[0]);
	uint64_t at = room(m, (n + 1) * STRUCT_ENTRY);

	export(m, "gHotSpotVMStructs", at);
	for (size_t i = 0; i < n; i++) {
		if (v[i].when && (v[i].when == 'n') != newer)
			continue;
		put(m, at + 8, text(m, v[i].type), 8);
		put(m, at + 16, text(m, v[i].name), 8);
		put(m, at, text(m, v[i].of), 8);
		put(m, at + 24, v[i].is_static, 4);
		put(m, at + 32, v[i].is_static ? 0 : v[i].at, 8);
		put(m, at + 40, v[i].is_static ? v[i].at : 0, 8);
		at += STRUCT_ENTRY;
	}
	export(m, "gHotSpotVMStructEntryArrayStride", STRUCT_ENTRY);
	export(m, "gHotSpotVMStructEntryTypeNameOffset", 8);
	export(m, "gHotSpotVMStructEntryFieldNameOffset", 16);
	export(m, "gHotSpotVMStructEntryTypeStringOffset", 0);
	export(m, "gHotSpotVMStructEntryIsStaticOffset", 24);
	export(m, "gHotSpotVMStructEntryOffsetOffset", 32);
	export(m, "gHotSpotVMStructEntryAddressOffset", 40);
}

static void put_types(struct made_jvm *m)
{
	uint64_t at = room(m, 4 * TYPE_ENTRY);

	export(m, "gHotSpotVMTypes", at);
	put(m, at, text(m, "Method"), 8);
	put(m, at + 8, 88, 8);
	put(m, at + TYPE_ENTRY, text(m, "HeapBlock"), 8);
	put(m, at + TYPE_ENTRY + 8, MADE_BLOCK, 8);
	put(m, at + 2 * TYPE_ENTRY, text(m, "ConstantPool"), 8);
	put(m, at + 2 * TYPE_ENTRY + 8, POOL_SIZE, 8);
	export(m, "gHotSpotVMTypeEntryArrayStride", TYPE_ENTRY);
	export(m, "gHotSpotVMTypeEntryTypeNameOffset", 0);
	export(m, "gHotSpotVMTypeEntrySizeOffset", 8);
}

static uint64_t symbol(struct made_jvm *m, const char *s)
{
	uint64_t at = room(m, SYMBOL_BODY + strlen(s));

	put(m, at + SYMBOL_LENGTH, strlen(s), 2);
	memcpy(made_jvm_at(m, at + SYMBOL_BODY), s, strlen(s));
	return at;
}

static uint64_t put_method(struct made_jvm *m, const char *class,
			   const char *name, const char *signature)
{
	uint64_t method = room(m, 88), constants = room(m, 48), pool, klass;

	pool = room(m, POOL_SIZE + 8 * 8);
	klass = room(m, 64);
	put(m, method + METHOD_CONST, constants, 8);
	put(m, constants + CONST_POOL, pool, 8);
	put(m, constants + CONST_NAME, 5, 2);
	put(m, constants + CONST_SIGNATURE, 7, 2);
	put(m, pool + POOL_LENGTH, 8, 4);
	put(m, pool + POOL_HOLDER, klass, 8);
	put(m, pool + POOL_SIZE + 5 * 8, symbol(m, name), 8);
	put(m, pool + POOL_SIZE + 7 * 8, symbol(m, signature), 8);
	put(m, klass + KLASS_NAME, symbol(m, class), 8);
	return method;
}

static uint64_t block(const struct made_jvm *m, int segment)
{
	return m->heap + ((uint64_t)segment << MADE_LOG2);
}

uint64_t made_jvm_code(const struct made_jvm *m, int segment)
{
	return block(m, segment) + MADE_BLOCK + MADE_CODE;
}

/* As HotSpot fills the map: how far back, at most 254 at once. */
static void put_block(struct made_jvm *m, int segment, int n, bool used)
{
	uint64_t at = block(m, segment);

	for (int i = 0; i < n; i++)
		put(m, m->segmap + (uint64_t)(segment + i),
		    !used ? 255 : i < 255 ? (uint64_t)i : 254, 1);
	put(m, at + HEADER + HEADER_LENGTH, (uint64_t)n, 8);
	put(m, at + HEADER + HEADER_USED, used, 1);
}

static void put_blob(struct made_jvm *m, int segment, int n, const char *name,
		     uint64_t frame, uint64_t complete, bool newer)
{
	uint64_t at = block(m, segment) + MADE_BLOCK;
	uint64_t size = ((uint64_t)n << MADE_LOG2) - MADE_BLOCK;

	put_block(m, segment, n, true);
	put(m, at + BLOB_NAME, text(m, name), 8);
	put(m, at + BLOB_SIZE, size, 4);
	put(m, at + BLOB_FRAME, frame, 4);
	put(m, at + BLOB_COMPLETE, complete, newer ? 2 : 4);
	put(m, at + BLOB_BEGIN, newer ? MADE_CODE : at + MADE_CODE,
	    newer ? 4 : 8);
	put(m, at + BLOB_END, newer ? size : at + size, newer ? 4 : 8);
}

void made_jvm_replace(struct made_jvm *m, uint64_t method)
{
	uint64_t at = block(m, MADE_METHOD) + MADE_BLOCK;

	put(m, at + BLOB_METHOD, method, 8);
	put(m, at + BLOB_ID, 78, 4);
}

/* As C2 begins and ends a method: with a check of the stack, or without. */
static const uint8_t pushes[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /*  0 mov eax, -0x14000(rsp) */
	0x55,					/*  7 push rbp */
	0x48, 0x83, 0xec, 0x20,			/*  8 sub 32, rsp */
	0x90,					/* 12 nop */
	0xe8, 0x00, 0x00, 0x00, 0x00,		/* 13 call */
	0x48, 0x83, 0xc4, 0x20,			/* 18 add 32, rsp */
	0x5d,					/* 22 pop rbp */
	0x49, 0x3b, 0xa7, 0x38, 0x03, 0x00, 0x00, /* 23 cmp 0x338(r15), rsp */
	0x0f, 0x87, 0x10, 0x00, 0x00, 0x00,	/* 30 ja */
	0xc3,					/* 36 ret */
	0xeb, 0xfe,				/* 37 jmp to itself */
};
static const uint8_t stores[] = {
	0x48, 0x81, 0xec, 0x28, 0x00, 0x00, 0x00, /*  0 sub 40, rsp */
	0x48, 0x89, 0x6c, 0x24, 0x20,		/*  7 mov rbp, 32(rsp) */
	0xeb, 0xfe,				/* 12 jmp to itself */
};
/* Into the interpreter, and into compiled code. */
static const uint8_t adapter[] = {
	0x58,					/*  0 pop rax */
	0x49, 0x89, 0xe5,			/*  1 mov rsp, r13 */
	0x48, 0x83, 0xec, 0x20,			/*  4 sub 32, rsp */
	0x48, 0x89, 0x04, 0x24,			/*  8 mov rax, (rsp) */
	0x48, 0x89, 0x74, 0x24, 0x08,		/* 12 mov rsi, 8(rsp) */
	0xff, 0xe1,				/* 17 jmp *rcx */
	0x48, 0x8b, 0x04, 0x24,			/* 19 mov (rsp), rax */
	0x48, 0x83, 0xe4, 0xf0,			/* 23 and -16, rsp */
	0x50,					/* 27 push rax */
	0x41, 0xff, 0xe3,			/* 28 jmp *r11 */
};

static void put_cache(struct made_jvm *m, uint64_t heaps, bool newer)
{
	uint64_t array = room(m, 32), data = room(m, 8), heap = room(m, 128);

	m->heap = room(m, MADE_SEGMENTS << MADE_LOG2);
	m->segmap = room(m, MADE_SEGMENTS);
	put(m, heaps, array, 8);
	put(m, array + ARRAY_LEN, 1, 4);
	put(m, array + ARRAY_DATA, data, 8);
	put(m, data, heap, 8);
	put(m, heap + HEAP_LOG2, MADE_LOG2, 4);
	put(m, heap + HEAP_MEMORY + SPACE_LOW, m->heap, 8);
	put(m, heap + HEAP_MEMORY + SPACE_HIGH, block(m, MADE_SEGMENTS), 8);
	put(m, heap + HEAP_SEGMAP + SPACE_LOW, m->segmap, 8);
	put(m, heap + HEAP_SEGMAP + SPACE_HIGH, m->segmap + MADE_SEGMENTS, 8);
	put_blob(m, MADE_INTERPRETER, MADE_INTERPRETER_N, "Interpreter", 0,
		 UINT32_MAX, newer);
	put_blob(m, MADE_METHOD, MADE_METHOD_N, "nmethod", MADE_FRAME / 8, 12,
		 newer);
	put_block(m, MADE_FREE, MADE_FREE_N, false);
	put_blob(m, MADE_OTHER, MADE_OTHER_N, "nmethod", MADE_FRAME / 8, 12,
		 newer);
	put_blob(m, MADE_ADAPTER, MADE_ADAPTER_N, "I2C/C2I adapters", 0,
		 UINT32_MAX, newer);
	memcpy(made_jvm_at(m, made_jvm_code(m, MADE_ADAPTER)), adapter,
	       sizeof(adapter));
	memcpy(made_jvm_at(m, made_jvm_code(m, MADE_METHOD)), pushes,
	       sizeof(pushes));
	memcpy(made_jvm_at(m, made_jvm_code(m, MADE_OTHER)), stores,
	       sizeof(stores));
}

void made_jvm_make(struct made_jvm *m, uint64_t base, bool newer)
{
	uint64_t heaps;

	memset(m, 0, sizeof(*m));
	m->base = base;
	heaps = room(m, 8);
	put_cache(m, heaps, newer);
	put_members(m, heaps, newer);
	put_types(m);
	m->methods[0] = put_method(m, "shop/Cart", "total",
				   "(Ljava/util/List;[[JZ)D");
	m->methods[1] = put_method(m, "shop/Cart$$Lambda$7+0x0000000800c03000",
				   "<init>", "()V");
	put(m, block(m, MADE_METHOD) + MADE_BLOCK + BLOB_METHOD, m->methods[0], 8);
	put(m, block(m, MADE_METHOD) + MADE_BLOCK + BLOB_ID, 77, 4);
	put(m, block(m, MADE_OTHER) + MADE_BLOCK + BLOB_METHOD, m->methods[1], 8);
}

bool made_jvm_read(void *ctx, uint64_t addr, void *to, size_t n)
{
	const struct made_jvm *m = ctx;
	uint64_t at = addr - m->base;

	if (m->closed || at >= MADE_SIZE || n > MADE_SIZE - at)
		return false;
	memcpy(to, m->mem + at, n);
	return true;
}

uint64_t made_jvm_symbol(void *ctx, const char *name)
{
	const struct made_jvm *m = ctx;

	for (size_t i = 0; i < m->nsymbols; i++)
		if (!strcmp(m->symbols[i].name, name))
			return m->symbols[i].at;
	return 0;
}
