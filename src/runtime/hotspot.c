// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads HotSpot's code cache.
 *
 * It consists of heaps, divided into segments, which form blocks with one blob each.
 * The segment map says for each segment how far back its block begins, in steps of at
 * most 254 segments; 255: no block (src/hotspot/share/memory/heap.cpp).
 */
#include <string.h>

#include "runtime/hotspot_internal.h"

enum {
	TABLE_ROWS_MAX = 32768,	/* JDK 17 and 25 have 3,000 */
	STRIDE_MAX = 512,
	NAME_SPACE = 64,	/* longer names match no needed one */
};

/*
 * The tables in which libjvm.so describes its structures.  Each table is an array;
 * variables next to it give the size of its entries and the offsets of their members.
 * It ends with an entry without a name (vmStructs.hpp, struct VMStructEntry and
 * VMTypeEntry).
 */
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

/* Reads a zero-terminated text of less than n bytes. */
static bool hotspot_string(const struct hotspot_door *d, uint64_t addr, char *to,
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

static int read_structs(const struct hotspot_door *d, struct hotspot_layout *out)
{
	uint8_t entry[STRIDE_MAX];
	struct struct_entry p;
	uint64_t table;

	if (!struct_places(d, &table, &p))
		return -ERR_NOTFOUND;
	for (unsigned i = 0; i < TABLE_ROWS_MAX; i++) {
		if (!d->read(d->ctx, table + i * p.stride, entry, p.stride))
			break;
		if (!word(entry, p.type))
			return 0;
		take_struct(d, &p, entry, out);
	}
	return -ERR_FORMAT;	/* it has no end */
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

static int read_types(const struct hotspot_door *d, struct hotspot_layout *out)
{
	uint8_t entry[STRIDE_MAX];
	char name[NAME_SPACE];
	struct type_entry p;
	uint64_t table;

	if (!type_places(d, &table, &p))
		return -ERR_NOTFOUND;
	for (unsigned i = 0; i < TABLE_ROWS_MAX; i++) {
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
	return -ERR_FORMAT;	/* it has no end */
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

/* Returns 0, -ERR_NOTFOUND or -ERR_FORMAT. */
static int read_layout(const struct hotspot_door *d, struct hotspot_layout *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = read_structs(d, out)) < 0 || (rc = read_types(d, out)) < 0)
		return rc;
	return is_complete(out) ? 0 : -ERR_FORMAT;
}

enum {
	HOPS_MAX = 1 << 14,
	LOG2_MIN = 4, LOG2_MAX = 16,
	ENTRIES_MAX = 1 << 18,	/* above this number, all entries are dropped */
	PCS_MAX = 1 << 20,
	FRAME_MAX = 1 << 20,
	CODE_MAX = 1 << 18,	/* maximum size of a blob whose instructions are read */
};
#define HEAP_SIZE_MAX (4ull << 30)
#define BLOB_SIZE_MAX (64ull << 20)
#define BYTES_MAX (16ull << 20)	/* maximum size of all instructions in a batch */

bool hotspot_get(const struct hotspot *h, uint64_t object,
		 enum hotspot_field f, uint64_t *out)
{
	const struct hotspot_member *m = &h->layout.field[f];

	*out = 0;
	return m->size && h->door.read(h->door.ctx, object + m->at, out,
				       m->size);
}

int hotspot_new(struct hotspot **out, const struct hotspot_door *door)
{
	struct hotspot *h = calloc(1, sizeof(*h));
	int rc;

	*out = NULL;
	if (!h)
		return -ERR_NOMEM;
	h->door = *door;
	h->batch = 1;
	rc = strtab_init(&h->names) ?: read_layout(door, &h->layout);
	if (rc < 0) {
		hotspot_free(h);
		return rc;
	}
	*out = h;
	return 0;
}

static void drop_bytes(struct hotspot *h)
{
	for (size_t i = 0; i < h->entries.n; i++) {
		free(h->entries.v[i].bytes);
		h->entries.v[i].bytes = NULL;
	}
	h->bytes = 0;
}

void hotspot_free(struct hotspot *h)
{
	if (!h)
		return;
	drop_bytes(h);
	vec_fini(&h->entries);
	u64map_fini(&h->by_pc);
	u64map_fini(&h->by_code);
	vec_fini(&h->methods);
	u64map_fini(&h->by_method);
	strtab_fini(&h->names);
	free(h);
}

void hotspot_batch(struct hotspot *h)
{
	h->batch++;
	if (h->bytes > BYTES_MAX / 2)
		drop_bytes(h);
	if (h->entries.n > ENTRIES_MAX) {
		drop_bytes(h);
		h->entries.n = 0;
		u64map_clear(&h->by_code);
		u64map_clear(&h->by_pc);
	}
	if (h->by_pc.n > PCS_MAX)
		u64map_clear(&h->by_pc);
	if (h->methods.n > ENTRIES_MAX) {
		h->methods.n = 0;
		u64map_clear(&h->by_method);
	}
}

static bool read_space(struct hotspot *h, uint64_t space, uint64_t *low,
		       uint64_t *high)
{
	return hotspot_get(h, space, SPACE_LOW, low) &&
	       hotspot_get(h, space, SPACE_HIGH, high) && *low && *low < *high &&
	       *high - *low <= HEAP_SIZE_MAX;
}

static void read_heap(struct hotspot *h, uint64_t heap)
{
	struct hotspot_heap *p = &h->heaps[h->nheaps];
	uint64_t log2, end;

	if (!read_space(h, heap + h->layout.field[HEAP_MEMORY].at, &p->low,
			&p->high) ||
	    !read_space(h, heap + h->layout.field[HEAP_SEGMAP].at, &p->segmap,
			&end) ||
	    !hotspot_get(h, heap, HEAP_LOG2, &log2) || log2 < LOG2_MIN ||
	    log2 > LOG2_MAX)
		return;
	p->segments = end - p->segmap;
	p->log2 = (uint8_t)log2;
	h->nheaps++;
}

/* Reads the heaps' bounds.  Their number is fixed for the process; they grow. */
static void read_heaps(struct hotspot *h)
{
	const struct hotspot_member *f = h->layout.field;
	uint64_t array, data, n = 0, heap;

	h->heaps_batch = h->batch;
	if (!f[CACHE_HEAPS].size) {
		if (hotspot_get(h, 0, CACHE_HEAP, &heap) && heap) {
			h->nheaps = 0;
			read_heap(h, heap);
		}
		return;
	}
	if (!hotspot_get(h, 0, CACHE_HEAPS, &array) || !array ||
	    !hotspot_get(h, array, f[ARRAY_LEN].size ? ARRAY_LEN
						     : ARRAY_LEN_OLD, &n) ||
	    !hotspot_get(h, array, ARRAY_DATA, &data))
		return;
	h->nheaps = 0;
	hotspot_get(h, 0, STUB_CALL_RETURN, &h->call_return);
	for (uint64_t i = 0; i < n && i < HOTSPOT_HEAPS_MAX; i++)
		if (h->door.read(h->door.ctx, data + i * 8, &heap, 8) && heap)
			read_heap(h, heap);
}

/* Finds the start of the block that holds pc, in segments. */
static bool find_block(struct hotspot *h, const struct hotspot_heap *heap,
		       uint64_t pc, uint64_t *block)
{
	uint64_t i = (pc - heap->low) >> heap->log2;
	uint8_t back;

	for (unsigned hops = 0; hops < HOPS_MAX && i < heap->segments; hops++) {
		if (!h->door.read(h->door.ctx, heap->segmap + i, &back, 1) ||
		    back == 0xff || back > i)
			return false;
		if (!back) {
			*block = i;
			return true;
		}
		i -= back;
	}
	return false;
}

static bool name_starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static enum hotspot_kind kind_of(const char *name)
{
	if (!strcmp(name, "nmethod") || !strcmp(name, "native nmethod"))
		return HOTSPOT_METHOD;
	if (!strcmp(name, "Interpreter"))
		return HOTSPOT_INTERPRETER;
	if (name_starts(name, "StubRoutines") || name_starts(name, "Stub Gen"))
		return HOTSPOT_STUBS;
	if (name_starts(name, "vtable chunks"))
		return HOTSPOT_TABLE;
	/* I2C/C2I; from JDK 25 on also C2I */
	if (strstr(name, "C2I adapters"))
		return HOTSPOT_ADAPTER;
	return HOTSPOT_OTHER;
}

/* Replaces control characters, to keep one printable line. */
static void clean(char *name)
{
	for (; *name; name++)
		if ((uint8_t)*name < ' ' || *name == 0x7f)
			*name = '?';
}

/* Reads the bounds of the instructions. */
static bool read_code(struct hotspot *h, uint64_t blob, struct hotspot_blob *b)
{
	const struct hotspot_member *f = h->layout.field;
	bool good;

	if (f[BLOB_CODE_BEGIN].size)
		good = hotspot_get(h, blob, BLOB_CODE_BEGIN, &b->code);
	else if ((good = hotspot_get(h, blob, BLOB_CODE_OFFSET, &b->code)))
		b->code += blob;
	if (!good)
		return false;
	if (f[BLOB_CODE_END].size)
		return hotspot_get(h, blob, BLOB_CODE_END, &b->end);
	good = hotspot_get(h, blob, BLOB_DATA_OFFSET, &b->end);
	b->end += blob;
	return good;
}

static bool read_method(struct hotspot *h, uint64_t blob,
			struct hotspot_blob *b)
{
	uint64_t id = 0;

	if (b->kind != HOTSPOT_METHOD)
		return true;
	if (!hotspot_get(h, blob, CODE_METHOD, &b->method) &&
	    !hotspot_get(h, blob, CODE_METHOD_OLD, &b->method))
		return false;
	hotspot_get(h, blob, CODE_COMPILE_ID, &id);
	b->compile_id = (uint32_t)id;
	return true;
}

/* Reads the blob that begins at `blob` and spans at most `room` bytes. */
static bool read_blob(struct hotspot *h, uint64_t blob, uint64_t room,
		      struct hotspot_blob *b)
{
	uint64_t name, size, frame, complete;
	char text[NAME_SPACE] = "";

	if (!hotspot_get(h, blob, BLOB_NAME, &name) ||
	    !hotspot_get(h, blob, BLOB_SIZE, &size) || !size || size > room ||
	    !hotspot_get(h, blob, BLOB_FRAME_SIZE, &frame) ||
	    !hotspot_get(h, blob, BLOB_COMPLETE, &complete) ||
	    !read_code(h, blob, b))
		return false;
	if (b->code < blob || b->end <= b->code || b->end > blob + size)
		return false;
	/* an unreadable or too long name is truncated */
	if (!hotspot_string(&h->door, name, text, sizeof(text)))
		text[sizeof(text) - 1] = 0;
	clean(text);
	b->kind = kind_of(text);
	b->frame_size = frame && frame < FRAME_MAX / 8 ? (uint32_t)frame * 8
						       : 0;
	if (h->layout.field[BLOB_COMPLETE].size == 2 && complete == UINT16_MAX)
		complete = UINT64_MAX;		/* -1: there is no frame */
	b->complete = complete < b->end - b->code ? (uint32_t)complete
						  : UINT32_MAX;
	b->name = *text ? strtab_add(&h->names, text) : 0;
	if (b->name == UINT32_MAX)
		b->name = 0;
	return read_method(h, blob, b);
}

/* Finds the blob of pc.  On false, *gone says that the data cannot be read now. */
static bool look_up(struct hotspot *h, uint64_t pc, struct hotspot_blob *b,
		    bool *gone)
{
	const struct hotspot_heap *heap = NULL;
	uint64_t i, at, used, length, room;

	memset(b, 0, sizeof(*b));
	*gone = false;
	if (h->heaps_batch != h->batch)
		read_heaps(h);
	for (size_t k = 0; k < h->nheaps && !heap; k++)
		if (pc >= h->heaps[k].low && pc < h->heaps[k].high)
			heap = &h->heaps[k];
	if (!heap || !find_block(h, heap, pc, &i)) {
		uint8_t byte;

		*gone = heap && !h->door.read(h->door.ctx, pc, &byte, 1);
		return false;
	}
	at = heap->low + (i << heap->log2);
	if (!hotspot_get(h, at + h->layout.field[BLOCK_HEADER].at, HEADER_USED,
			 &used) ||
	    !hotspot_get(h, at + h->layout.field[BLOCK_HEADER].at,
			 HEADER_LENGTH, &length)) {
		*gone = true;
		return false;
	}
	at += h->layout.type_size[TYPE_BLOCK];
	if (!used || !length || at >= heap->high ||
	    length > BLOB_SIZE_MAX >> heap->log2)
		return false;
	room = (length << heap->log2) - h->layout.type_size[TYPE_BLOCK];
	if (room > heap->high - at)
		return false;
	return read_blob(h, at, room, b) && pc >= b->code && pc < b->end;
}

static bool same_blob(const struct hotspot_blob *a,
		      const struct hotspot_blob *b)
{
	return a->kind == b->kind && a->code == b->code && a->end == b->end &&
	       a->frame_size == b->frame_size && a->complete == b->complete &&
	       a->method == b->method && a->compile_id == b->compile_id &&
	       a->name == b->name;
}

/* Returns the index of the blob's entry, made or updated. */
static uint32_t take_entry(struct hotspot *h, const struct hotspot_blob *b)
{
	uint32_t *slot = u64map_slot(&h->by_code, b->code);
	struct hotspot_entry *e;

	if (!slot)
		return U64MAP_NONE;
	if (*slot == U64MAP_NONE) {
		if (vec_push(&h->entries, (struct hotspot_entry){ .blob = *b,
			     .batch = h->batch }) < 0) {
			/* a slot must have a value */
			u64map_clear(&h->by_code);
			u64map_clear(&h->by_pc);
			return U64MAP_NONE;
		}
		return *slot = (uint32_t)h->entries.n - 1;
	}
	e = &h->entries.v[*slot];
	if (!same_blob(&e->blob, b)) {
		if (e->bytes)
			h->bytes -= e->blob.end - e->blob.code;
		free(e->bytes);
		e->bytes = NULL;
		e->blob = *b;
	}
	e->batch = h->batch;
	return *slot;
}

const struct hotspot_blob *hotspot_find(struct hotspot *h, uint64_t pc)
{
	uint32_t id = u64map_get(&h->by_pc, pc), *slot;
	struct hotspot_entry *e = id < h->entries.n ? &h->entries.v[id] : NULL;
	struct hotspot_blob b;
	bool gone;

	if (e && (pc < e->blob.code || pc >= e->blob.end))
		e = NULL;
	if (e && e->batch == h->batch)
		return &e->blob;
	if (!look_up(h, pc, &b, &gone))
		return gone && e ? &e->blob : NULL;
	id = take_entry(h, &b);
	if (id == U64MAP_NONE)
		return NULL;
	slot = u64map_slot(&h->by_pc, pc);
	if (slot)
		*slot = id;
	return &h->entries.v[id].blob;
}

const uint8_t *hotspot_bytes(struct hotspot *h, const struct hotspot_blob *b)
{
	uint32_t id = u64map_get(&h->by_code, b->code);
	struct hotspot_entry *e = id < h->entries.n ? &h->entries.v[id] : NULL;
	uint64_t n = b->end - b->code;

	if (!e || e->bytes || &e->blob != b)
		return e && &e->blob == b ? e->bytes : NULL;
	if (n > CODE_MAX || h->bytes + n > BYTES_MAX)
		return NULL;
	e->bytes = malloc(n);
	if (e->bytes && !h->door.read(h->door.ctx, b->code, e->bytes, n)) {
		free(e->bytes);
		e->bytes = NULL;
	}
	h->bytes += e->bytes ? n : 0;
	return e->bytes;
}

const char *hotspot_text(const struct hotspot *h, uint32_t name)
{
	return strtab_get(&h->names, name);
}
