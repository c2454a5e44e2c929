// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the tables in which libjvm.so describes its structures.  Each table is an
 * array; variables next to it give the size of its entries and the offsets of their
 * members.  It ends with an entry without a name (vmStructs.hpp, struct VMStructEntry
 * and VMTypeEntry).
 */
#include <string.h>

#include "runtime/hotspot_internal.h"

enum {
	ENTRIES_MAX = 32768,	/* JDK 17 and 25 have 3,000 */
	STRIDE_MAX = 512,
	NAME_SPACE = 64,	/* longer names match no needed one */
};

struct wanted_field {
	const char *type, *name;
	enum hotspot_field field;
};

static const struct wanted_field wanted[] = {
	{ "CodeCache", "_heaps", CACHE_HEAPS },
	{ "CodeCache", "_heap", CACHE_HEAP },		/* JDK 8 */
	{ "StubRoutines", "_call_stub_return_address", STUB_CALL_RETURN },
	{ "GrowableArrayBase", "_len", ARRAY_LEN },
	{ "GenericGrowableArray", "_len", ARRAY_LEN_OLD },	/* up to 15 */
	{ "GrowableArray<int>", "_data", ARRAY_DATA },
	{ "CodeHeap", "_memory", HEAP_MEMORY },
	{ "CodeHeap", "_segmap", HEAP_SEGMAP },
	{ "CodeHeap", "_log2_segment_size", HEAP_LOG2 },
	{ "VirtualSpace", "_low", SPACE_LOW },
	{ "VirtualSpace", "_high", SPACE_HIGH },
	{ "HeapBlock", "_header", BLOCK_HEADER },
	{ "HeapBlock::Header", "_length", HEADER_LENGTH },
	{ "HeapBlock::Header", "_used", HEADER_USED },
	{ "CodeBlob", "_name", BLOB_NAME },
	{ "CodeBlob", "_size", BLOB_SIZE },
	{ "CodeBlob", "_frame_size", BLOB_FRAME_SIZE },
	{ "CodeBlob", "_frame_complete_offset", BLOB_COMPLETE },
	{ "CodeBlob", "_code_begin", BLOB_CODE_BEGIN },	/* 9 to 22 */
	{ "CodeBlob", "_code_end", BLOB_CODE_END },
	{ "CodeBlob", "_code_offset", BLOB_CODE_OFFSET },
	{ "CodeBlob", "_data_offset", BLOB_DATA_OFFSET },
	{ "nmethod", "_method", CODE_METHOD },
	{ "CompiledMethod", "_method", CODE_METHOD_OLD },	/* 9 to 22 */
	{ "nmethod", "_compile_id", CODE_COMPILE_ID },
	{ "Method", "_constMethod", METHOD_CONST },
	{ "ConstMethod", "_constants", CONST_POOL },
	{ "ConstMethod", "_name_index", CONST_NAME },
	{ "ConstMethod", "_signature_index", CONST_SIGNATURE },
	{ "ConstantPool", "_pool_holder", POOL_HOLDER },
	{ "ConstantPool", "_length", POOL_LENGTH },
	{ "Klass", "_name", KLASS_NAME },
	{ "Symbol", "_length", SYMBOL_LENGTH },
	{ "Symbol", "_length_and_refcount", SYMBOL_LENGTH_OLD },
	{ "Symbol", "_body", SYMBOL_BODY },
};

/* Members that every version has. */
static const enum hotspot_field needed[] = {
	ARRAY_DATA, HEAP_MEMORY, HEAP_SEGMAP, HEAP_LOG2, SPACE_LOW, SPACE_HIGH,
	HEADER_USED, HEADER_LENGTH, BLOB_NAME, BLOB_SIZE, BLOB_FRAME_SIZE,
	BLOB_COMPLETE, METHOD_CONST, CONST_POOL, CONST_NAME, CONST_SIGNATURE,
	POOL_HOLDER, POOL_LENGTH, KLASS_NAME, SYMBOL_BODY,
};

/* Sizes of the C++ types of members.  All other types are pointers and size_t. */
static const struct {
	const char *name;
	uint8_t size;
} sizes[] = {
	{ "int", 4 }, { "unsigned int", 4 }, { "uint", 4 }, { "int32_t", 4 },
	{ "uint32_t", 4 }, { "u4", 4 }, { "jint", 4 },
	{ "short", 2 }, { "unsigned short", 2 }, { "int16_t", 2 },
	{ "uint16_t", 2 }, { "u2", 2 },
	{ "char", 1 }, { "unsigned char", 1 }, { "bool", 1 }, { "u1", 1 },
	{ "int8_t", 1 }, { "uint8_t", 1 }, { "CodeBlobKind", 1 },
};

static uint8_t size_of(const char *type)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(type, sizes[i].name))
			return sizes[i].size;
	return 8;
}

bool hotspot_string(const struct hotspot_door *d, uint64_t addr, char *to,
		    size_t n)
{
	enum { STEP = 16 };

	for (size_t at = 0; at < n; at++) {
		/* read in steps, and never from a page beyond the text */
		size_t part = STEP - (addr + at) % STEP;

		if (part > n - at)
			part = n - at;
		if (!d->read(d->ctx, addr + at, to + at, part))
			return false;
		if (memchr(to + at, 0, part))
			return true;
		at += part - 1;
	}
	return false;
}

/* Reads an exported variable. */
static bool variable(const struct hotspot_door *d, const char *name,
		     uint64_t *out)
{
	uint64_t at = d->symbol(d->ctx, name);

	return at && d->read(d->ctx, at, out, sizeof(*out));
}

/* Reads the offset of a member in an entry of `stride` bytes. */
static bool place(const struct hotspot_door *d, const char *name, size_t size,
		  uint64_t stride, uint64_t *out)
{
	return variable(d, name, out) && stride >= size &&
	       *out <= stride - size;
}

struct struct_entry {
	uint64_t stride, type, field, type_text, is_static, offset, address;
};

static bool struct_places(const struct hotspot_door *d, uint64_t *table,
			  struct struct_entry *p)
{
	return variable(d, "gHotSpotVMStructs", table) &&
	       variable(d, "gHotSpotVMStructEntryArrayStride", &p->stride) &&
	       p->stride <= STRIDE_MAX &&
	       place(d, "gHotSpotVMStructEntryTypeNameOffset", 8, p->stride,
		     &p->type) &&
	       place(d, "gHotSpotVMStructEntryFieldNameOffset", 8, p->stride,
		     &p->field) &&
	       place(d, "gHotSpotVMStructEntryTypeStringOffset", 8, p->stride,
		     &p->type_text) &&
	       place(d, "gHotSpotVMStructEntryIsStaticOffset", 4, p->stride,
		     &p->is_static) &&
	       place(d, "gHotSpotVMStructEntryOffsetOffset", 8, p->stride,
		     &p->offset) &&
	       place(d, "gHotSpotVMStructEntryAddressOffset", 8, p->stride,
		     &p->address);
}

static uint64_t word(const uint8_t *entry, uint64_t at)
{
	uint64_t v;

	memcpy(&v, entry + at, sizeof(v));
	return v;
}

static void take_struct(const struct hotspot_door *d,
			const struct struct_entry *p, const uint8_t *entry,
			struct hotspot_layout *out)
{
	char type[NAME_SPACE], field[NAME_SPACE], text[NAME_SPACE];
	const struct wanted_field *f = NULL;
	struct hotspot_member *m;
	uint32_t is_static;

	if (!hotspot_string(d, word(entry, p->type), type, sizeof(type)) ||
	    !hotspot_string(d, word(entry, p->field), field, sizeof(field)))
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !f; i++)
		if (!strcmp(type, wanted[i].type) &&
		    !strcmp(field, wanted[i].name))
			f = &wanted[i];
	if (!f)
		return;
	if (!word(entry, p->type_text) ||
	    !hotspot_string(d, word(entry, p->type_text), text, sizeof(text)))
		text[0] = 0;
	m = &out->field[f->field];
	memcpy(&is_static, entry + p->is_static, sizeof(is_static));
	m->size = size_of(text);
	m->at = word(entry, is_static ? p->address : p->offset);
}

static int read_structs(const struct hotspot_door *d,
			struct hotspot_layout *out, struct error *err)
{
	uint8_t entry[STRIDE_MAX];
	struct struct_entry p;
	uint64_t table;

	if (!struct_places(d, &table, &p))
		return error_set(err, ERR_NOTFOUND, "libjvm.so has no table of "
				 "its structures (gHotSpotVMStructs)");
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (!d->read(d->ctx, table + i * p.stride, entry, p.stride))
			break;
		if (!word(entry, p.type))
			return 0;
		take_struct(d, &p, entry, out);
	}
	return error_set(err, ERR_FORMAT, "libjvm.so: gHotSpotVMStructs has no "
			 "end");
}

struct type_entry {
	uint64_t stride, name, size;
};

static bool type_places(const struct hotspot_door *d, uint64_t *table,
			struct type_entry *p)
{
	return variable(d, "gHotSpotVMTypes", table) &&
	       variable(d, "gHotSpotVMTypeEntryArrayStride", &p->stride) &&
	       p->stride <= STRIDE_MAX &&
	       place(d, "gHotSpotVMTypeEntryTypeNameOffset", 8, p->stride,
		     &p->name) &&
	       place(d, "gHotSpotVMTypeEntrySizeOffset", 8, p->stride, &p->size);
}

static int read_types(const struct hotspot_door *d, struct hotspot_layout *out,
		      struct error *err)
{
	uint8_t entry[STRIDE_MAX];
	char name[NAME_SPACE];
	struct type_entry p;
	uint64_t table;

	if (!type_places(d, &table, &p))
		return error_set(err, ERR_NOTFOUND, "libjvm.so has no table of "
				 "its types (gHotSpotVMTypes)");
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (!d->read(d->ctx, table + i * p.stride, entry, p.stride))
			break;
		if (!word(entry, p.name))
			return 0;
		if (!hotspot_string(d, word(entry, p.name), name, sizeof(name)))
			continue;
		if (!strcmp(name, "HeapBlock"))
			out->type_size[TYPE_BLOCK] = word(entry, p.size);
		else if (!strcmp(name, "ConstantPool"))
			out->type_size[TYPE_POOL] = word(entry, p.size);
	}
	return error_set(err, ERR_FORMAT, "libjvm.so: gHotSpotVMTypes has no "
			 "end");
}

/* Offsets belong to members of small structures; larger values are invalid. */
static bool is_complete(const struct hotspot_layout *l)
{
	enum { MEMBER_MAX = 1 << 16 };
	const struct hotspot_member *f = l->field;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!f[needed[i]].size)
			return false;
	for (size_t i = ARRAY_LEN; i < HOTSPOT_FIELDS; i++)
		if (f[i].at > MEMBER_MAX)
			return false;
	return (f[CACHE_HEAPS].size || f[CACHE_HEAP].size) &&
	       (f[CACHE_HEAP].size || f[ARRAY_LEN].size ||
		f[ARRAY_LEN_OLD].size) &&
	       (f[BLOB_CODE_BEGIN].size || f[BLOB_CODE_OFFSET].size) &&
	       (f[BLOB_CODE_END].size || f[BLOB_DATA_OFFSET].size) &&
	       (f[CODE_METHOD].size || f[CODE_METHOD_OLD].size) &&
	       (f[SYMBOL_LENGTH].size || f[SYMBOL_LENGTH_OLD].size) &&
	       l->type_size[TYPE_BLOCK] - 1 < MEMBER_MAX &&
	       l->type_size[TYPE_POOL] - 1 < MEMBER_MAX;
}

int hotspot_layout_read(const struct hotspot_door *d,
			struct hotspot_layout *out, struct error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = read_structs(d, out, err)) < 0 ||
	    (rc = read_types(d, out, err)) < 0)
		return rc;
	if (!is_complete(out))
		return error_set(err, ERR_FORMAT, "libjvm.so: its tables lack "
				 "structures of the code cache");
	return 0;
}
