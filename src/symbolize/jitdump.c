// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads jitdump files and finds code by address and time: see jitdump.h. */
#include "symbolize/jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/search.h"
#include "symbolize/code_pages.h"

enum {
	MAGIC = 0x4a695444,	/* "JiTD" as a little-endian number */
	VERSION = 1,
	HEADER_BYTES = 40,
	PREFIX_BYTES = 16,	/* bytes before each record's fields */
	FIELDS_MAX = 48,	/* bytes of fields after the prefix, before the
				 * variable part */
	ARCH_TIMESTAMP = 1,	/* flag of the header */
	CODES_MAX = 1 << 20,
	READ_AHEAD = 64 << 10,
	V8_HEADER = 64,		/* offset that V8 adds to addresses of lines */
	LINE_BYTES = 16,	/* bytes of a line before its file name */
	LINES_PAD = 8,		/* alignment to which a record of lines may be padded */
};

enum record_id {
	CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE,
};

struct jitdump {
	struct jitdump_door door;
	uint32_t pid, machine;
	bool timed;
	bool closed;		/* reading has stopped */
	bool damaged;		/* … because the record at `at` is invalid */
	uint64_t at;		/* offset of the next record */
	VEC(struct jitdump_code) codes;
	VEC(uint32_t) loads;	/* functions as they were loaded, in file order */
	struct u64map by_index;	/* number of a function in the file -> index */
	struct code_pages pages;	/* by time */
	/* Lines of the next function; their record precedes it. */
	struct jitdump_code next;
	uint64_t next_lines_addr;
	/* Read-ahead buffer. */
	uint64_t ahead_at;
	size_t ahead_n;
	uint8_t ahead[READ_AHEAD];
};

static bool read_all(const struct jitdump *j, uint64_t at, void *to, size_t n)
{
	return j->door.read(j->door.ctx, at, to, n) == n;
}

/* Stores a pointer to the buffered bytes at an offset in *out, reading ahead as
 * needed.  Returns their number, which is less than n only at the end. */
static size_t look(struct jitdump *j, uint64_t at, size_t n, const uint8_t **out)
{
	if (at < j->ahead_at || at - j->ahead_at > j->ahead_n ||
	    j->ahead_n - (at - j->ahead_at) < n) {
		j->ahead_at = at;
		j->ahead_n = j->door.read(j->door.ctx, at, j->ahead, READ_AHEAD);
	}
	*out = j->ahead + (at - j->ahead_at);
	return j->ahead_n - (size_t)(at - j->ahead_at);
}

int jitdump_open(const struct jitdump_door *door, struct jitdump **out)
{
	uint8_t bytes[HEADER_BYTES];
	struct cursor c = cursor_of(bytes, sizeof(bytes));
	struct jitdump *j;
	uint32_t size;

	*out = NULL;
	if (door->read(door->ctx, 0, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    cursor_u32(&c) != MAGIC || cursor_u32(&c) != VERSION)
		return -ERR_FORMAT;
	size = cursor_u32(&c);
	if (size < HEADER_BYTES)
		return -ERR_FORMAT;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ERR_NOMEM;
	j->door = *door;
	j->machine = cursor_u32(&c);
	cursor_skip(&c, 4);
	j->pid = cursor_u32(&c);
	cursor_skip(&c, 8);
	j->timed = !(cursor_u64(&c) & ARCH_TIMESTAMP);
	j->at = size;
	*out = j;
	return 0;
}

void jitdump_close(struct jitdump *j)
{
	if (!j)
		return;
	vec_fini(&j->codes);
	code_pages_fini(&j->pages);
	vec_fini(&j->loads);
	u64map_fini(&j->by_index);
	free(j);
}

uint32_t jitdump_pid(const struct jitdump *j)
{
	return j->pid;
}

uint32_t jitdump_machine(const struct jitdump *j)
{
	return j->machine;
}

bool jitdump_is_timed(const struct jitdump *j)
{
	return j->timed;
}

size_t jitdump_count(const struct jitdump *j)
{
	return j->codes.n;
}

bool jitdump_damage(const struct jitdump *j, uint64_t *at)
{
	*at = j->at;
	return j->damaged;
}

/* Adds a function at an address and sets *code to its index.  Beyond the limits
 * it is ignored. */
static int add(struct jitdump *j, const struct jitdump_code *c, uint32_t *code)
{
	if (c->size > JITDUMP_CODE_MAX || j->codes.n >= CODES_MAX ||
	    !code_pages_fits(&j->pages, c->addr, c->size))
		return 0;
	if (vec_push(&j->codes, *c) < 0)
		return -ERR_NOMEM;
	*code = (uint32_t)j->codes.n - 1;
	return code_pages_add(&j->pages, c->addr, c->size, c->time_ns, *code);
}

/* A record with its fields and the position of the rest. */
struct jit_record {
	uint32_t id;
	uint64_t time_ns, at, end;
	struct cursor fields;
};

static int take_load(struct jitdump *j, struct jit_record *r)
{
	struct jitdump_code c = j->next;
	uint32_t *slot;
	uint64_t index;

	memset(&j->next, 0, sizeof(j->next));
	cursor_skip(&r->fields, 16);	/* pid, tid, vma */
	c.addr = c.first_addr = cursor_u64(&r->fields);
	c.size = cursor_u64(&r->fields);
	index = cursor_u64(&r->fields);
	c.time_ns = r->time_ns;
	c.name_at = r->at + PREFIX_BYTES + cursor_offset(&r->fields);
	/* The record ends with the code. */
	if (r->fields.bad || c.size > r->end - c.name_at)
		return 0;
	c.bytes_at = r->end - c.size;
	if (j->next_lines_addr != c.addr)
		c.lines_bytes = 0;
	slot = u64map_slot(&j->by_index, index);
	if (!slot)
		return -ERR_NOMEM;
	*slot = U64MAP_NONE - 1;	/* ignored */
	if (add(j, &c, slot) < 0)
		return -ERR_NOMEM;
	return *slot < j->codes.n ? vec_push(&j->loads, *slot) : 0;
}

static int take_move(struct jitdump *j, struct jit_record *r)
{
	struct jitdump_code c;
	uint64_t from, to, size;
	uint32_t *slot;

	cursor_skip(&r->fields, 16);	/* pid, tid, vma */
	from = cursor_u64(&r->fields);
	to = cursor_u64(&r->fields);
	size = cursor_u64(&r->fields);
	slot = u64map_slot(&j->by_index, cursor_u64(&r->fields));
	if (!slot)
		return -ERR_NOMEM;
	if (r->fields.bad || *slot >= j->codes.n ||
	    j->codes.v[*slot].addr != from || j->codes.v[*slot].size != size)
		return 0;
	c = j->codes.v[*slot];
	c.addr = to;
	c.time_ns = r->time_ns;
	return add(j, &c, slot);
}

static void take_lines(struct jitdump *j, struct jit_record *r)
{
	j->next_lines_addr = cursor_u64(&r->fields);
	j->next.lines_at = r->at + PREFIX_BYTES + 8;	/* position of the number of
							 * lines */
	j->next.lines_bytes = r->fields.bad || r->end - j->next.lines_at < 8 ||
			      r->end - j->next.lines_at > JITDUMP_LINES_MAX
			      ? 0 : r->end - j->next.lines_at;
}

static int take_record(struct jitdump *j, struct jit_record *r)
{
	switch (r->id) {
	case CODE_LOAD:
		return take_load(j, r);
	case CODE_MOVE:
		return take_move(j, r);
	case CODE_DEBUG_INFO:
		take_lines(j, r);
		return 0;
	case CODE_CLOSE:
		j->closed = true;
		return 0;
	default:	/* unwinding information, or of a later version */
		return 0;
	}
}

/* Returns whether the file contains the whole record. */
static bool is_complete(struct jitdump *j, uint64_t end)
{
	uint8_t byte;

	if (end - 1 - j->ahead_at < j->ahead_n)
		return true;
	return read_all(j, end - 1, &byte, 1);
}

int jitdump_read(struct jitdump *j)
{
	while (!j->closed) {
		struct jit_record r = { .at = j->at };
		const uint8_t *p;
		size_t n = look(j, j->at, PREFIX_BYTES + FIELDS_MAX, &p);
		struct cursor c = cursor_of(p, n);
		uint32_t size;

		r.id = cursor_u32(&c);
		size = cursor_u32(&c);
		r.time_ns = cursor_u64(&c);
		if (c.bad)
			return 0;
		if (size < PREFIX_BYTES) {
			j->closed = j->damaged = true;
			return 0;
		}
		r.end = j->at + size;
		if (!is_complete(j, r.end))
			return 0;
		if (!j->timed)	/* ascending, and earlier than any sample */
			r.time_ns = 0;
		if (n > size)
			n = size;
		r.fields = cursor_of(p + PREFIX_BYTES, n - PREFIX_BYTES);
		if (take_record(j, &r) < 0)
			return -ERR_NOMEM;
		j->at = r.end;
	}
	return 0;
}

/* Returns the function at a position if it covers the address.  Sets *other if the
 * position is not of the address's page. */
static const struct jitdump_code *covering(const struct jitdump *j, size_t at,
					   uint64_t addr, bool *other)
{
	const struct code_page *p = code_pages_at(&j->pages, addr, at);
	const struct jitdump_code *c = p ? &j->codes.v[p->code] : NULL;

	*other = !p;
	return c && addr - c->addr < c->size ? c : NULL;
}

const struct jitdump_code *jitdump_find(struct jitdump *j, uint64_t addr,
					uint64_t time_ns)
{
	size_t at = code_pages_after(&j->pages, addr, time_ns);
	const struct jitdump_code *c;
	bool other = false;

	for (size_t i = at; i-- && at - i <= CODE_PAGES_LOOK && !other;) {
		c = covering(j, i, addr, &other);
		if (c)
			return c;
	}
	other = false;
	for (size_t i = at; i - at < CODE_PAGES_LOOK && !other; i++) {
		c = covering(j, i, addr, &other);
		if (c)
			return c;
	}
	return NULL;
}

bool jitdump_is_shared(struct jitdump *j, uint64_t addr)
{
	size_t at = code_pages_after(&j->pages, addr, UINT64_MAX);
	uint64_t one = UINT64_MAX;
	bool other = false;

	for (size_t i = at; i-- && at - i <= CODE_PAGES_LOOK && !other;) {
		const struct jitdump_code *c = covering(j, i, addr, &other);

		if (c && one != UINT64_MAX && c->bytes_at != one)
			return true;
		if (c)
			one = c->bytes_at;
	}
	return false;
}

const struct jitdump_code *jitdump_at(const struct jitdump *j, uint64_t offset)
{
	const struct jitdump_code *c;
	size_t at;

	lower_bound(at, 0, j->loads.n, j->codes.v[j->loads.v[at]].bytes_at <= offset);
	if (!at)
		return NULL;
	c = &j->codes.v[j->loads.v[at - 1]];
	return offset - c->bytes_at < c->size ? c : NULL;
}

/* Appends bytes of the file.  Returns their number. */
static size_t append(const struct jitdump *j, uint64_t at, size_t n, struct buf *out)
{
	uint8_t *room = buf_room(out, n);
	size_t got = room ? j->door.read(j->door.ctx, at, room, n) : 0;

	out->n += got;
	return got;
}

bool jitdump_name(const struct jitdump *j, const struct jitdump_code *c,
		  struct buf *out)
{
	size_t from = out->n, n = (size_t)(c->bytes_at - c->name_at);
	const uint8_t *end;

	if (n > JITDUMP_NAME_MAX)
		n = JITDUMP_NAME_MAX;
	append(j, c->name_at, n, out);
	if (out->failed)
		return false;
	end = out->n > from ? memchr(out->p + from, 0, out->n - from) : NULL;
	if (end)
		out->n = (size_t)(end - out->p);
	return out->n > from;
}

size_t jitdump_bytes(const struct jitdump *j, const struct jitdump_code *c,
		     uint64_t offset, size_t n, struct buf *out)
{
	if (offset >= c->size)
		return 0;
	if (n > c->size - offset)
		n = (size_t)(c->size - offset);
	return append(j, c->bytes_at + offset, n, out);
}

void jitdump_lines_fini(struct jitdump_lines *l)
{
	vec_fini(&l->v);
	buf_fini(&l->text);
}

/* Adds one line.  Its address must be in the code and not before the previous
 * one's. */
static bool add_line(const struct jitdump_code *c, uint64_t addr, uint32_t line,
		     size_t file, struct jitdump_lines *out)
{
	struct jitdump_line *last = out->v.n ? &out->v.v[out->v.n - 1] : NULL;
	uint64_t offset = addr - c->first_addr;

	/* Lines of V8 may be past the end by the size of its header. */
	if (offset >= c->size + V8_HEADER || line > INT32_MAX ||
	    (last && offset < last->offset))
		return false;
	if (last && offset == last->offset) {
		last->line = line;
		last->file = file;
		return true;
	}
	return vec_push(&out->v, (struct jitdump_line){ (uint32_t)offset, line,
							file }) == 0;
}

/* Returns whether a string is text, like file names. */
static bool is_file(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

/* Parses lines as documented: each has the name of its file, or "\xff" if that
 * is unchanged. */
static bool parse_lines(const struct jitdump_code *c, struct cursor *in, uint64_t n,
			struct jitdump_lines *out)
{
	size_t file = SIZE_MAX;
	const char *last = NULL;

	while (n--) {
		uint64_t addr = cursor_u64(in);
		uint32_t line = cursor_u32(in);
		const char *name;

		cursor_skip(in, 4);	/* discriminator; V8: column */
		name = cursor_cstr(in);
		if (in->bad)
			return false;
		if (strcmp(name, "\xff") && (!last || strcmp(name, last))) {
			if (!is_file(name))
				return false;
			file = out->text.n;
			buf_bytes(&out->text, name, strlen(name) + 1);
			last = name;
		}
		if (file == SIZE_MAX || !add_line(c, addr, line, file, out))
			return false;
	}
	return cursor_left(in) < LINES_PAD && !out->text.failed;
}

/* Parses lines of V8 whose file names are garbage, but have the length of the
 * real name. */
static bool parse_v8_lines(const struct jitdump_code *c, struct cursor *in, uint64_t n,
			   const char *file, struct jitdump_lines *out)
{
	size_t name = strlen(file) + 1;

	if (!*file || n > cursor_left(in) / (LINE_BYTES + name) ||
	    cursor_left(in) - n * (LINE_BYTES + name) >= LINES_PAD)
		return false;
	buf_bytes(&out->text, file, name);
	while (n--) {
		uint64_t addr = cursor_u64(in);
		uint32_t line = cursor_u32(in);

		cursor_skip(in, 4 + name);
		if (!add_line(c, addr, line, 0, out))
			return false;
	}
	return !out->text.failed;
}

/* Subtracts V8's header from all lines if all of them are past its size. */
static void unshift(const struct jitdump_code *c, struct jitdump_lines *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].offset < V8_HEADER)
			return;
	for (; n < l->v.n && l->v.v[n].offset - V8_HEADER < c->size; n++)
		l->v.v[n].offset -= V8_HEADER;
	l->v.n = n;
}

bool jitdump_lines(const struct jitdump *j, const struct jitdump_code *c,
		   const char *v8_file, struct jitdump_lines *out)
{
	struct buf b = { 0 };
	struct cursor all, in;
	uint64_t n;
	bool good = false;

	if (c->lines_bytes &&
	    append(j, c->lines_at, (size_t)c->lines_bytes, &b) == c->lines_bytes) {
		all = cursor_of(b.p, b.n);
		n = cursor_u64(&all);
		in = all;
		good = n <= cursor_left(&all) / LINE_BYTES &&
		       parse_lines(c, &in, n, out);
		if (!good && *v8_file) {
			out->v.n = out->text.n = 0;
			in = all;
			good = n <= cursor_left(&all) / LINE_BYTES &&
			       parse_v8_lines(c, &in, n, v8_file, out);
		}
		if (good && *v8_file)
			unshift(c, out);
	}
	/* Without V8's header, lines past the code are wrong. */
	while (good && out->v.n && out->v.v[out->v.n - 1].offset >= c->size)
		out->v.n--;
	buf_fini(&b);
	return good && out->v.n;
}

const struct jitdump_line *jitdump_line(const struct jitdump_lines *l, uint64_t offset)
{
	size_t at;

	lower_bound(at, 0, l->v.n, l->v.v[at].offset <= offset);
	return at ? &l->v.v[at - 1] : NULL;
}
