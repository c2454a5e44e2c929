// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads HotSpot's code cache.
 *
 * It consists of heaps, divided into segments, which form blocks with one blob each.
 * The segment map says for each segment how far back its block begins, in steps of at
 * most 254 segments; 255: no block (src/hotspot/share/memory/heap.cpp).
 */
#include "runtime/hotspot_internal.h"

#include <string.h>

enum {
	HOPS_MAX = 1 << 14,
	LOG2_MIN = 4, LOG2_MAX = 16,
	NAME_SPACE = 64,
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

int hotspot_new(struct hotspot **out, const struct hotspot_door *door,
		struct error *err)
{
	struct hotspot *h = calloc(1, sizeof(*h));
	int rc;

	*out = NULL;
	if (!h)
		return error_set(err, ERR_NOMEM, "out of memory");
	h->door = *door;
	h->batch = 1;
	rc = strtab_init(&h->names);
	if (rc < 0)
		error_set(err, ERR_NOMEM, "out of memory");
	else
		rc = hotspot_layout_read(door, &h->layout, err);
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
