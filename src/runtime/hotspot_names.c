// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of methods: Method -> ConstMethod -> ConstantPool, which holds the symbols of
 * name and signature, and the class.
 */
#include <string.h>

#include "base/buf.h"
#include "runtime/hotspot_internal.h"

enum {
	TEXT_MAX = 2048,	/* maximum bytes of each part of a name */
	NAMES_MAX = 1 << 18,
	ARGUMENTS_MAX = 255,
};

/* Reads the text of a symbol.  Rejects text that would not be one line. */
static bool symbol_text(struct hotspot *h, uint64_t symbol, char *to, size_t n)
{
	uint64_t length;

	if (!symbol)
		return false;
	if (!hotspot_get(h, symbol, SYMBOL_LENGTH, &length)) {
		/* the upper half; the lower one counts references */
		if (!hotspot_get(h, symbol, SYMBOL_LENGTH_OLD, &length))
			return false;
		length >>= 16;
	}
	if (!length || length >= n ||
	    !h->door.read(h->door.ctx, symbol +
			  h->layout.field[SYMBOL_BODY].at, to, length))
		return false;
	to[length] = 0;
	for (char *p = to; p < to + length; p++)
		if ((uint8_t)*p < ' ' || *p == 0x7f)
			*p = '?';
	return true;
}

static bool pool_text(struct hotspot *h, uint64_t pool, uint64_t index,
		      char *to, size_t n)
{
	uint64_t length, symbol;

	return hotspot_get(h, pool, POOL_LENGTH, &length) && index &&
	       index < length && index <= UINT16_MAX &&
	       h->door.read(h->door.ctx, pool +
			    h->layout.type_size[TYPE_POOL] + index * 8,
			    &symbol, sizeof(symbol)) &&
	       symbol_text(h, symbol, to, n);
}

/* Writes a/b/C as a.b.C.  Classes generated for lambdas have an address in their
 * name, which differs between runs: it is omitted. */
static void put_class(struct buf *out, const char *name, size_t n)
{
	const char *address = memmem(name, n, "+0x", 3);

	if (!address)
		address = memmem(name, n, "/0x", 3);
	if (address)
		n = (size_t)(address - name);
	for (size_t i = 0; i < n; i++)
		buf_u8(out, name[i] == '/' ? '.' : (uint8_t)name[i]);
}

static const char *primitive(char c)
{
	switch (c) {
	case 'B': return "byte";
	case 'C': return "char";
	case 'D': return "double";
	case 'F': return "float";
	case 'I': return "int";
	case 'J': return "long";
	case 'S': return "short";
	case 'Z': return "boolean";
	default: return NULL;
	}
}

/* Writes one type of a descriptor (JVMS §4.3.2).  Returns the text after it, or
 * NULL. */
static const char *put_type(struct buf *out, const char *s)
{
	unsigned dimensions = 0;

	while (*s == '[' && dimensions < ARGUMENTS_MAX) {
		dimensions++;
		s++;
	}
	if (*s == 'L') {
		const char *end = strchr(s, ';');

		if (!end)
			return NULL;
		put_class(out, s + 1, (size_t)(end - s - 1));
		s = end + 1;
	} else {
		const char *name = primitive(*s++);

		if (!name)
			return NULL;
		buf_str(out, name);
	}
	while (dimensions--)
		buf_str(out, "[]");
	return s;
}

/* Writes (Ljava/lang/Object;I)V as (java.lang.Object, int). */
static bool put_arguments(struct buf *out, const char *s)
{
	if (*s++ != '(')
		return false;
	buf_u8(out, '(');
	for (unsigned i = 0; *s != ')'; i++) {
		if (i)
			buf_str(out, ", ");
		if (i > ARGUMENTS_MAX || !(s = put_type(out, s)))
			return false;
	}
	buf_u8(out, ')');
	return true;
}

/* Returns the name's number; 0: there is no method at this address. */
static uint32_t read_name(struct hotspot *h, uint64_t constants)
{
	char class[TEXT_MAX], name[TEXT_MAX], signature[TEXT_MAX];
	uint64_t pool, holder, symbol, index, sig;
	struct buf out = { 0 };
	uint32_t id = 0;

	if (h->names.str.n > NAMES_MAX ||
	    !hotspot_get(h, constants, CONST_POOL, &pool) || !pool ||
	    !hotspot_get(h, constants, CONST_NAME, &index) ||
	    !hotspot_get(h, constants, CONST_SIGNATURE, &sig) ||
	    !hotspot_get(h, pool, POOL_HOLDER, &holder) || !holder ||
	    !hotspot_get(h, holder, KLASS_NAME, &symbol) ||
	    !symbol_text(h, symbol, class, sizeof(class)) ||
	    !pool_text(h, pool, index, name, sizeof(name)) ||
	    !pool_text(h, pool, sig, signature, sizeof(signature)))
		return 0;
	put_class(&out, class, strlen(class));
	buf_u8(&out, '.');
	buf_str(&out, name);
	if (put_arguments(&out, signature) && !out.failed)
		id = strtab_add_n(&h->names, (char *)out.p, out.n);
	buf_fini(&out);
	return id == UINT32_MAX ? 0 : id;
}

uint32_t hotspot_method_name(struct hotspot *h, uint64_t method)
{
	uint32_t *slot, at = method ? u64map_get(&h->by_method, method)
				    : U64MAP_NONE;
	struct hotspot_method *m = at < h->methods.n ? &h->methods.v[at] : NULL;
	uint64_t constants;
	uint32_t name;

	if (!method || method % 8)
		return 0;
	if (m && m->batch == h->batch)
		return m->name;
	/* the methods of a program that has ended no longer change */
	if (!hotspot_get(h, method, METHOD_CONST, &constants) || !constants)
		return m ? m->name : 0;
	if (m && m->constants == constants) {
		m->batch = h->batch;
		return m->name;
	}
	name = read_name(h, constants);
	if (!name)
		return 0;
	if (m) {
		*m = (struct hotspot_method){ method, constants, name,
					      h->batch };
		return name;
	}
	if (vec_push(&h->methods, (struct hotspot_method){ method, constants,
		     name, h->batch }) < 0)
		return name;
	slot = u64map_slot(&h->by_method, method);
	if (slot)
		*slot = (uint32_t)h->methods.n - 1;
	return name;
}
