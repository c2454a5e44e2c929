// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads objects: texts, dicts, attributes.
 *
 * Offsets are those of the releases that python_frames.c names.
 */
#include "runtime/python_objects.h"

enum {
	TYPE_BASIC_SIZE = 32,
	TYPE_FLAGS = 168,
	TYPE_DICT_OFFSET = 288,	/* up to 3.10 */
	TYPE_INLINE_VALUES = 1 << 2,	/* flags */
	TYPE_MANAGED_DICT = 1 << 4,
	TYPE_IS_DICT = 1 << 29,
	DICT_KEYS = 32,
	DICT_VALUES = 40,	/* 0: the values are in the entries of the keys */
	DICT_BYTES = 48,
	NAMES_MAX = 512,	/* in a module */
	ATTRIBUTES_MAX = 64,
	OBJECTS_MAX = 512,	/* entries of a dict with objects as keys, free ones
				 * included */
	OBJECT_MAX = 4096,	/* bytes of an object with attributes */
	VAR_SIZE = 16,
	TEXT_STATE = 32,
	LITERAL_MAX = 32,
};

/* Offsets by minor version from 3.8 on. */
static const struct object_layout {
	uint16_t locals;	/* in a frame */
	uint16_t type_keys;	/* in a class: keys of its objects' attributes */
} layouts[] = {
	{ 360, 0 }, { 360, 0 }, { 352, 0 }, { 72, 872 },
	{ 72, 880 }, { 72, 880 }, { 80, 880 }, { 80, 880 },
};

static unsigned int minor_of(const struct python_objects *o)
{
	return o->types->layout.minor;
}

static const struct object_layout *layout_of(const struct python_objects *o)
{
	return &layouts[minor_of(o) - 8];
}

bool python_text_find(const struct python_types *types, const struct frame_door *door,
		      uint64_t at, struct frame_piece *p, uint8_t *kind)
{
	uint64_t head[5];
	uint32_t state;
	uint64_t n;

	if (!frame_read(door, at, sizeof(head), head) ||
	    u64_at(head, PYTHON_OBJECT_TYPE) != types->text)
		return false;
	state = u32_at(head, TEXT_STATE);
	n = u64_at(head, VAR_SIZE);
	*kind = (uint8_t)(state >> 2 & 7);
	if (!(state & 32) || n > 1u << 30 ||
	    (*kind != 1 && *kind != 2 && *kind != 4))
		return false;
	p->at = at + (state & 64 ? types->layout.text_ascii
				 : types->layout.text_other);
	n *= *kind;
	p->literal = NULL;
	p->n = n < FRAME_TEXT_MAX ? (size_t)n : FRAME_TEXT_MAX;
	return true;
}

/* Reads n bytes at any address. */
static bool read_bytes(const struct python_objects *o, uint64_t at, size_t n, void *to)
{
	struct frame_span v = { at, n };

	return frame_is_pointer(at & ~7ull) && o->door->read(o->door->ctx, &v, 1, to) == n;
}

bool python_text_ends(const struct python_objects *o, const struct frame_piece *p,
		      uint8_t kind, const char *literal, bool whole)
{
	char text[LITERAL_MAX];
	size_t n = 0;

	while (literal[n])
		n++;
	if (kind != 1 || p->n < n || (whole && p->n != n) || n > sizeof(text) ||
	    !read_bytes(o, p->at + p->n - n, n, text))
		return false;
	for (size_t i = 0; i < n; i++)
		if (text[i] != literal[i])
			return false;
	return true;
}

/* The entries of a dict's keys. */
struct entries {
	uint64_t at;
	size_t n, size;		/* size: bytes of an entry, whose last words are key
				 * and value */
};

/* Objects/dictobject.c: struct _dictkeysobject.  The entries follow a hash table of
 * indices. */
static bool entries_of(const struct python_objects *o, uint64_t keys, struct entries *e)
{
	enum { GENERAL, NAMES, SHARED_NAMES };
	uint64_t k[5], indices;

	if (!frame_read(o->door, keys, sizeof(k), k))
		return false;
	e->size = 24;
	if (minor_of(o) < 11) {
		indices = k[1];
		if (indices > 1u << 30)
			return false;
		indices *= indices <= 0xff ? 1 : indices <= 0xffff ? 2 : 4;
		e->at = keys + 40 + indices;
		e->n = (size_t)k[4];
	} else {
		uint8_t log2_bytes = (uint8_t)(k[1] >> 8), kind = (uint8_t)(k[1] >> 16);

		if (log2_bytes > 32 || kind > SHARED_NAMES)
			return false;
		e->at = keys + 32 + (1ull << log2_bytes);
		e->n = (size_t)k[3];
		e->size = kind == GENERAL ? 24 : 16;
	}
	return true;
}

/* Returns whether this is the wanted key: a name, or an object. */
static bool is_key(const struct python_objects *o, uint64_t key, const char *name,
		   uint64_t object)
{
	struct frame_piece p;
	uint8_t kind;

	return name ? python_text_find(o->types, o->door, key, &p, &kind) &&
		      python_text_ends(o, &p, kind, name, true)
		    : key == object;
}

struct found_entry {
	size_t index;
	uint64_t at, value;	/* address of its value, and the value */
};

/* Finds an entry among the first `most`. */
static bool entry_find(const struct python_objects *o, const struct entries *e,
		       size_t most, const char *name, uint64_t object,
		       struct found_entry *f)
{
	const size_t n = e->n < most ? e->n : most;
	size_t got;

	for (size_t i = 0; i < n; i += got) {
		got = FRAME_WINDOW / e->size;
		if (got > n - i)
			got = n - i;
		if (!frame_read(o->door, e->at + i * e->size, got * e->size, o->room))
			return false;
		for (size_t k = 0; k < got; k++) {
			const size_t end = (k + 1) * e->size;

			if (!is_key(o, u64_at(o->room, end - 16), name, object))
				continue;
			f->index = i + k;
			f->at = e->at + (f->index + 1) * e->size - 8;
			f->value = u64_at(o->room, end - 8);
			return true;
		}
	}
	return false;
}

uint64_t python_dict_value(const struct python_objects *o, uint64_t dict, uint64_t type,
			   const char *name, uint64_t object)
{
	uint64_t d[DICT_BYTES / 8];
	struct found_entry f;
	struct entries e;

	if (!frame_read(o->door, dict, sizeof(d), d) ||
	    u64_at(d, PYTHON_OBJECT_TYPE) != type || u64_at(d, DICT_VALUES) ||
	    !entries_of(o, u64_at(d, DICT_KEYS), &e) ||
	    !entry_find(o, &e, name ? NAMES_MAX : OBJECTS_MAX, name, object, &f))
		return 0;
	return f.value;
}

static bool append(struct python_path *path, uint64_t at, uint64_t word)
{
	if (path->n == PYTHON_PATH)
		return false;
	path->at[path->n] = at;
	path->word[path->n++] = word;
	return true;
}

bool python_step(const struct python_objects *o, struct python_path *path, uint64_t at,
		 uint64_t *word)
{
	return frame_read(o->door, at, sizeof(*word), word) && append(path, at, *word);
}

/* Returns an attribute's value: by its position among the keys, in an array, or (0)
 * beside its key. */
static uint64_t value_by_keys(const struct python_objects *o, uint64_t keys,
			      uint64_t values, const char *name, struct python_path *path)
{
	struct found_entry f;
	struct entries e;

	if (!entries_of(o, keys, &e) ||
	    !entry_find(o, &e, ATTRIBUTES_MAX, name, 0, &f))
		return 0;
	if (!values)
		return append(path, f.at, f.value) ? f.value : 0;
	return python_step(o, path, values + 8 * f.index, &f.value) ? f.value : 0;
}

/* From 3.13 on the array has a head of 8 bytes. */
static uint64_t array_of(const struct python_objects *o, uint64_t values)
{
	return values && minor_of(o) >= 13 ? values + 8 : values;
}

static uint64_t value_in_dict(const struct python_objects *o, uint64_t dict,
			      const char *name, struct python_path *path)
{
	uint64_t type, flags, keys, values;

	if (!frame_read(o->door, dict + PYTHON_OBJECT_TYPE, 8, &type) ||
	    !frame_read(o->door, type + TYPE_FLAGS, 8, &flags) ||
	    !(flags & TYPE_IS_DICT) ||
	    !python_step(o, path, dict + DICT_KEYS, &keys) ||
	    !python_step(o, path, dict + DICT_VALUES, &values))
		return 0;
	return value_by_keys(o, keys, array_of(o, values), name, path);
}

/* Finds where an object keeps its attributes: *values, an array with the keys of the
 * class, or (0) *dict. */
static bool attributes_of(const struct python_objects *o, uint64_t object, uint64_t type,
			  struct python_path *path, uint64_t *values, uint64_t *dict)
{
	uint64_t size, head, flags = 0;

	*values = *dict = 0;
	if (minor_of(o) < 11)
		return frame_read(o->door, type + TYPE_DICT_OFFSET, 8, &size) &&
		       size < OBJECT_MAX && python_step(o, path, object + size, dict);
	if (!frame_read(o->door, type + TYPE_FLAGS, 8, &flags) ||
	    !(flags & TYPE_MANAGED_DICT))
		return false;
	if (minor_of(o) == 11)
		return python_step(o, path, object - 32, values) &&
		       (*values || python_step(o, path, object - 24, dict));
	if (minor_of(o) == 12) {
		if (!python_step(o, path, object - 24, dict))
			return false;
		if (*dict & 1) {
			*values = *dict + 1;
			*dict = 0;
		}
		return true;
	}
	if (flags & TYPE_INLINE_VALUES) {
		if (!frame_read(o->door, type + TYPE_BASIC_SIZE, 8, &size) ||
		    size > OBJECT_MAX || !python_step(o, path, object + size, &head))
			return false;
		if (head >> 24 & 0xff) {	/* they are valid */
			*values = object + size;
			return true;
		}
	}
	return python_step(o, path, object - 24, dict);
}

uint64_t python_attribute(const struct python_objects *o, uint64_t object,
			  const char *name, struct python_path *path)
{
	uint64_t type, values, dict, keys;

	if (!python_step(o, path, object + PYTHON_OBJECT_TYPE, &type) ||
	    !attributes_of(o, object, type, path, &values, &dict))
		return 0;
	if (!values)
		return value_in_dict(o, dict, name, path);
	if (!frame_read(o->door, type + layout_of(o)->type_keys, 8, &keys))
		return 0;
	return value_by_keys(o, keys, array_of(o, values), name, path);
}

uint64_t python_first_local(const struct python_objects *o, uint64_t frame)
{
	return frame + layout_of(o)->locals;
}
