// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations of ELF files for libFuzzer that leave the file whole: one section
 * changes, and its size, its place, its compression and the lengths of the units
 * in it are made anew, and the checksum of a debug link to the other file.
 * Sometimes one field of a header is made wrong instead, and nothing else.
 *
 * The file begins at the start, or after four bytes of which three are its
 * length; another follows it then (fuzz_debug_files.c).
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cursor.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b,
				 size_t nb, uint8_t *out, size_t max,
				 unsigned int seed);

enum { RAW_MAX = 1 << 20, UNITS = 64, SECTIONS = 256, WINDOW = 24, PREFIX = 4 };

static const uint64_t odd_values[] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0xffff,
	INT32_MAX, 0x80000000, UINT32_MAX, 0xfffffff0, INT64_MAX, UINT64_MAX };

/* What gives a section of this kind another meaning: forms and tags, operations
 * of line programs, rules and operations of frames, kinds of lists. */
static const struct { const char *name, *codes; size_t n; } vocabulary[] = {
#define CODES(s) s, sizeof(s) - 1
	{ ".debug_abbrev", CODES("\x01\x03\x05\x06\x07\x08\x0b\x0c\x0d\x0e\x0f"
		"\x10\x11\x12\x13\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"
		"\x20\x21\x22\x23\x25\x27\x28\x29\x2e\x31\x34\x3a\x55\x6e") },
	{ ".debug_line", CODES("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"
			       "\x0b\x0c\x0d\xf0\xff") },
	{ ".eh_frame", CODES("\x00\x01\x02\x03\x04\x05\x07\x08\x09\x0a\x0b\x0c"
			     "\x0d\x0e\x0f\x10\x11\x12\x13\x16\x2e\x2f\x41\x86"
			     "\xc6") },
	{ ".debug_frame", CODES("\x00\x01\x02\x03\x04\x05\x07\x08\x09\x0a\x0b"
				"\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x16\x41\x86") },
	{ ".debug_rnglists", CODES("\x00\x01\x02\x03\x04\x05\x06\x07") },
	{ ".debug_loclists", CODES("\x00\x01\x02\x03\x04\x05\x06\x07\x08") },
};

/* Sections that are rows of an initial length and as many bytes. */
static const char *const unit_sections[] = { ".debug_info", ".debug_types",
	".debug_line", ".debug_aranges", ".debug_rnglists", ".debug_loclists",
	".debug_addr", ".debug_str_offsets", ".debug_names", ".eh_frame",
	".debug_frame" };

/* Sections with numbers that refer to other rows or places of the section: the
 * references of debugging entries; buckets and counts of an index by name; slots
 * and columns of the indexes of a .dwp file; offsets in Go's tables. */
static const char *const index_sections[] = { ".debug_info", ".debug_names",
	".debug_cu_index", ".debug_tu_index", ".gopclntab" };

struct unit {
	size_t at, head, len;	/* `head` bytes of length, then `len` */
};

static uint32_t draw(uint32_t *seed, size_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % (uint32_t)n;
}

static uint64_t odd_value(uint32_t *seed)
{
	return odd_values[draw(seed, sizeof(odd_values) / sizeof(*odd_values))];
}

static bool is_named(const char *name, const char *section)
{
	size_t n = strlen(section);	/* and .debug_x.dwo */

	return !strncmp(name, section, n) && (!name[n] || name[n] == '.');
}

static bool in_units(const char *name)
{
	for (size_t i = 0; i < sizeof(unit_sections) / sizeof(*unit_sections); i++)
		if (is_named(name, unit_sections[i]))
			return true;
	return false;
}

static bool has_index(const char *name)
{
	for (size_t i = 0; i < sizeof(index_sections) / sizeof(*index_sections); i++)
		if (is_named(name, index_sections[i]))
			return true;
	return false;
}

static bool is_narrow(const uint8_t *p)
{
	return p[EI_CLASS] == ELFCLASS32;
}

/* The header of a file of either class; false if it is none. */
static bool get_header(const uint8_t *p, size_t n, Elf64_Ehdr *e)
{
	Elf32_Ehdr e32;

	if (n < sizeof(*e) || memcmp(p, ELFMAG, SELFMAG) ||
	    (p[EI_CLASS] != ELFCLASS64 && !is_narrow(p)))
		return false;
	memcpy(e, p, sizeof(*e));
	if (!is_narrow(p))
		return true;
	memcpy(&e32, p, sizeof(e32));
	e->e_phoff = e32.e_phoff;
	e->e_shoff = e32.e_shoff;
	e->e_phnum = e32.e_phnum;
	e->e_shentsize = e32.e_shentsize;
	e->e_shnum = e32.e_shnum;
	e->e_shstrndx = e32.e_shstrndx;
	return true;
}

static size_t section_size(const uint8_t *p)
{
	return is_narrow(p) ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
}

static void get_section(const uint8_t *p, const uint8_t *at, Elf64_Shdr *s)
{
	Elf32_Shdr n;

	if (!is_narrow(p)) {
		memcpy(s, at, sizeof(*s));
		return;
	}
	memcpy(&n, at, sizeof(n));
	*s = (Elf64_Shdr){ n.sh_name, n.sh_type, n.sh_flags, n.sh_addr,
			   n.sh_offset, n.sh_size, n.sh_link, n.sh_info,
			   n.sh_addralign, n.sh_entsize };
}

/* Writes where a section is and how long. */
static void set_place(uint8_t *p, uint8_t *at, const Elf64_Shdr *s)
{
	Elf32_Shdr n;

	if (!is_narrow(p)) {
		memcpy(at, s, sizeof(*s));
		return;
	}
	memcpy(&n, at, sizeof(n));
	n.sh_offset = (Elf32_Off)s->sh_offset;
	n.sh_size = (Elf32_Word)s->sh_size;
	memcpy(at, &n, sizeof(n));
}

/* The section headers, copied; 0 if there are none that lie in the file. */
static size_t get_sections(const uint8_t *p, size_t n, Elf64_Shdr *out)
{
	Elf64_Ehdr e;
	size_t row;

	if (!get_header(p, n, &e))
		return 0;
	row = section_size(p);
	if (e.e_shentsize != row || e.e_shnum > SECTIONS ||
	    e.e_shstrndx >= e.e_shnum || e.e_shoff > n ||
	    (n - e.e_shoff) / row < e.e_shnum)
		return 0;
	for (size_t i = 0; i < e.e_shnum; i++)
		get_section(p, p + e.e_shoff + i * row, &out[i]);
	return e.e_shnum;
}

static bool has_bytes(const Elf64_Shdr *s, size_t n)
{
	return s->sh_type != SHT_NOBITS && s->sh_size && s->sh_offset <= n &&
	       s->sh_size <= n - s->sh_offset;
}

static const char *name_of(const uint8_t *p, size_t n, const Elf64_Shdr *all,
			   size_t i)
{
	const Elf64_Shdr *t;
	Elf64_Ehdr e;

	if (!get_header(p, n, &e))
		return "";
	t = &all[e.e_shstrndx];
	if (!has_bytes(t, n) || all[i].sh_name >= t->sh_size ||
	    !memchr(p + t->sh_offset + all[i].sh_name, 0,
		    t->sh_size - all[i].sh_name))
		return "";
	return (const char *)p + t->sh_offset + all[i].sh_name;
}

/* Some bytes in the middle, by libFuzzer; longer or shorter if `grow`. */
static void change_window(struct buf *out, const uint8_t *p, size_t n, bool grow,
			  uint32_t *seed)
{
	uint8_t few[WINDOW * 2];
	size_t at = n ? draw(seed, n) : 0, len = n - at < WINDOW ? n - at : WINDOW;
	size_t got;

	memcpy(few, p + at, len);
	got = LLVMFuzzerMutate(few, len, grow || !len ? sizeof(few) : len);
	if (!grow)
		memcpy(few + got, p + at + got, got < len ? len - got : 0);
	buf_bytes(out, p, at);
	buf_bytes(out, few, grow ? got : len);
	buf_bytes(out, p + at + len, n - at - len);
}

/* A LEB128 number somewhere has another value, and often another length. */
static void change_leb(struct buf *out, const uint8_t *p, size_t n,
		       uint32_t *seed)
{
	size_t at = n ? draw(seed, n) : 0;
	struct cursor c = cursor_of(p + at, n - at);

	cursor_uleb(&c);
	buf_bytes(out, p, at);
	buf_uleb(out, odd_value(seed));
	buf_bytes(out, c.p, cursor_left(&c));
}

static void change_code(struct buf *out, const char *name, uint32_t *seed)
{
	size_t n = sizeof(vocabulary) / sizeof(*vocabulary);

	for (size_t i = 0; i < n && out->n && !out->failed; i++)
		if (is_named(name, vocabulary[i].name))
			out->p[draw(seed, out->n)] = (uint8_t)
				vocabulary[i].codes[draw(seed, vocabulary[i].n)];
}

/* A number somewhere refers to another place or row: a word of four bytes where an
 * index has its words, or one to four bytes in a debugging entry.  Small numbers
 * are rows, larger ones offsets. */
static void change_reference(struct buf *out, const char *name, uint32_t *seed)
{
	size_t width = is_named(name, ".debug_info") ? 1u << draw(seed, 3) : 4;
	size_t at = out->n < 8 ? 0 : draw(seed, out->n - 7);
	uint32_t v = draw(seed, draw(seed, 2) ? 16 : out->n + 1);

	if (out->n < 8 || out->failed)
		return;
	/* an index begins at a multiple of four behind the unit's length */
	if (!is_named(name, ".debug_info"))
		at &= ~(size_t)3;
	memcpy(out->p + at, &v, width);
}

static void change_bytes(struct buf *out, const char *name, const uint8_t *p,
			 size_t n, uint32_t *seed)
{
	uint32_t how = draw(seed, 8);

	if (how < 4)
		change_window(out, p, n, how == 0, seed);
	else if (how == 4)
		change_leb(out, p, n, seed);
	else
		buf_bytes(out, p, n);
	if (how > 4 && has_index(name) && draw(seed, 2)) {
		change_reference(out, name, seed);
	} else if (how > 4 && out->n >= 8 && !out->failed && draw(seed, 2)) {
		uint64_t v = odd_value(seed);	/* an offset, a count */

		memcpy(out->p + draw(seed, out->n - 7), &v, 1u << draw(seed, 4));
	} else if (how > 4) {
		change_code(out, name, seed);
	}
}

static size_t get_units(const uint8_t *p, size_t n, struct unit *out)
{
	size_t at = 0, k = 0;

	while (k < UNITS && n - at >= 12) {
		uint32_t len;
		uint64_t len64;
		struct unit u = { at, 4, 0 };

		memcpy(&len, p + at, 4);
		memcpy(&len64, p + at + 4, 8);
		u.head = len == UINT32_MAX ? 12 : 4;
		u.len = len == UINT32_MAX ? len64 : len;
		if (!u.len || u.len > n - at - u.head)
			break;
		out[k++] = u;
		at += u.head + u.len;
	}
	return k;
}

static void put_unit(struct buf *out, const uint8_t *p, size_t n, bool wide)
{
	if (wide)
		buf_u32(out, UINT32_MAX);
	if (wide)
		buf_u64(out, n);
	else
		buf_u32(out, (uint32_t)n);
	buf_bytes(out, p, n);
}

/* One unit changes, goes, comes twice, has another version or a wrong length;
 * the lengths of all are right otherwise. */
static void change_unit(struct buf *out, const char *name, const uint8_t *p,
			size_t n, uint32_t *seed)
{
	struct unit units[UNITS];
	size_t count = get_units(p, n, units), end;
	const struct unit *u = &units[count ? draw(seed, count) : 0];
	uint32_t how = draw(seed, 20);
	struct buf body = { 0 };

	if (!count) {
		change_bytes(out, name, p, n, seed);
		return;
	}
	end = u->at + u->head + u->len;
	if (how < 16)
		change_bytes(&body, name, p + u->at + u->head, u->len, seed);
	else
		buf_bytes(&body, p + u->at + u->head, u->len);
	if (how == 16 && body.n > 2)
		body.p[0] = (uint8_t)draw(seed, 7);
	buf_bytes(out, p, u->at);
	if (how != 17)
		put_unit(out, body.p, body.n, u->head == 12);
	if (how == 18)
		put_unit(out, body.p, body.n, u->head == 12);
	if (how == 19 && !out->failed) {
		uint32_t wrong = (uint32_t)odd_value(seed);

		memcpy(out->p + u->at, &wrong, 4);
	}
	buf_bytes(out, p + end, n - end);
	buf_fini(&body);
}

/* One row of a table changes, or becomes another one's copy. */
static void change_row(struct buf *out, const uint8_t *p, size_t n, size_t row,
		       uint32_t *seed)
{
	size_t rows = n / row, at = draw(seed, rows) * row;
	struct buf body = { 0 };

	buf_bytes(out, p, at);
	if (draw(seed, 4))
		change_window(&body, p + at, row, false, seed);
	else
		buf_bytes(&body, p + draw(seed, rows) * row, row);
	buf_bytes(out, body.p, body.n);
	buf_bytes(out, p + at + row, n - at - row);
	buf_fini(&body);
}

/* The section's bytes, inflated. */
static bool get_body(const uint8_t *p, const Elf64_Shdr *s, struct buf *out)
{
	size_t head = is_narrow(p) ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	Elf64_Chdr c;
	Elf32_Chdr c32;
	uLongf got;
	uint8_t *room;

	if (!(s->sh_flags & SHF_COMPRESSED)) {
		buf_bytes(out, p + s->sh_offset, s->sh_size);
		return true;
	}
	if (s->sh_size < head)
		return false;
	if (is_narrow(p)) {
		memcpy(&c32, p + s->sh_offset, sizeof(c32));
		c = (Elf64_Chdr){ .ch_type = c32.ch_type, .ch_size = c32.ch_size };
	} else {
		memcpy(&c, p + s->sh_offset, sizeof(c));
	}
	if (c.ch_type != ELFCOMPRESS_ZLIB || c.ch_size > RAW_MAX)
		return false;
	got = c.ch_size;
	room = buf_room(out, got + 1);
	if (!room || uncompress(room, &got, p + s->sh_offset + head,
				s->sh_size - head) != Z_OK)
		return false;
	out->n += got;
	return true;
}

/* Puts the bytes back where they were, or at the file's end if they are more;
 * what is loaded has its address by its place and stays there, cut. */
static void set_body(struct buf *file, const Elf64_Shdr *all, size_t i,
		     const struct buf *body)
{
	Elf64_Chdr c = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = body->n,
			 .ch_addralign = 1 };
	Elf32_Chdr c32 = { ELFCOMPRESS_ZLIB, (Elf32_Word)body->n, 1 };
	uLongf packed = compressBound(body->n);
	struct buf bytes = { 0 };
	Elf64_Shdr s = all[i];
	Elf64_Ehdr e;
	uint8_t *room;

	if (!get_header(file->p, file->n, &e))
		return;
	if (s.sh_flags & SHF_COMPRESSED) {
		if (is_narrow(file->p))
			buf_bytes(&bytes, &c32, sizeof(c32));
		else
			buf_bytes(&bytes, &c, sizeof(c));
		room = buf_room(&bytes, packed);
		if (room && compress(room, &packed, body->p, body->n) == Z_OK)
			bytes.n += packed;
	} else {
		buf_bytes(&bytes, body->p, body->n);
	}
	if (s.sh_flags & SHF_ALLOC && bytes.n > s.sh_size)
		bytes.n = s.sh_size;
	if (bytes.n > s.sh_size) {
		s.sh_offset = file->n;
		buf_bytes(file, bytes.p, bytes.n);
	} else if (bytes.n) {
		memcpy(file->p + s.sh_offset, bytes.p, bytes.n);
	}
	s.sh_size = bytes.n;
	if (!file->failed && !bytes.failed)
		set_place(file->p, file->p + e.e_shoff +
			  i * section_size(file->p), &s);
	buf_fini(&bytes);
}

/* Debug information three times as often as anything else. */
static size_t pick_section(const struct buf *f, const Elf64_Shdr *all,
			   size_t count, uint32_t *seed)
{
	size_t i = 0;

	for (int tries = 0; tries < 12; tries++) {
		const char *name;

		i = draw(seed, count);
		if (!has_bytes(&all[i], f->n))
			continue;
		name = name_of(f->p, f->n, all, i);
		if (!strncmp(name, ".debug", 6) || in_units(name) ||
		    all[i].sh_entsize || !draw(seed, 4))
			return i;
	}
	return i;
}

static void break_header(struct buf *f, size_t count, uint32_t *seed)
{
	bool narrow = is_narrow(f->p);
	size_t word = narrow ? 4 : 8, segment, at;
	uint64_t v = odd_value(seed);
	Elf64_Ehdr e;

	if (!get_header(f->p, f->n, &e))
		return;
	segment = narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	switch (draw(seed, 4)) {
	case 0:
		at = sizeof(e.e_ident) +
		     draw(seed, (narrow ? sizeof(Elf32_Ehdr) : sizeof(e)) - 16 - 8);
		break;
	case 1:
		if (e.e_phnum && e.e_phoff <= f->n &&
		    (f->n - e.e_phoff) / segment >= e.e_phnum) {
			at = e.e_phoff +
			     draw(seed, e.e_phnum * segment / word) * word;
			break;
		}
		/* fall through */
	default:
		at = e.e_shoff +
		     draw(seed, count * section_size(f->p) / word) * word;
	}
	if (at + 8 <= f->n)
		memcpy(f->p + at, &v, 1u << draw(seed, narrow ? 3 : 4));
}

/* The file with one thing changed; false if it is none that is understood. */
static bool mutate_file(struct buf *f, uint32_t *seed)
{
	Elf64_Shdr all[SECTIONS];
	size_t count = get_sections(f->p, f->n, all), i;
	struct buf body = { 0 }, out = { 0 };
	const char *name;

	if (!count)
		return false;
	if (!draw(seed, 12)) {
		break_header(f, count, seed);
		return true;
	}
	i = pick_section(f, all, count, seed);
	if (!has_bytes(&all[i], f->n) || !get_body(f->p, &all[i], &body)) {
		buf_fini(&body);
		return false;
	}
	name = name_of(f->p, f->n, all, i);
	if (in_units(name))
		change_unit(&out, name, body.p, body.n, seed);
	else if (all[i].sh_entsize > 1 && all[i].sh_entsize <= body.n)
		change_row(&out, body.p, body.n, all[i].sh_entsize, seed);
	else
		change_bytes(&out, name, body.p, body.n, seed);
	if (!out.failed)
		set_body(f, all, i, &out);
	buf_fini(&body);
	buf_fini(&out);
	return !f->failed;
}

/* Where the file is that is to change: all, or one of the two. */
static bool split(const uint8_t *data, size_t size, bool second, size_t *at,
		  size_t *n)
{
	size_t first;

	*at = 0;
	*n = size;
	if (size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
		return true;
	if (size < PREFIX)
		return false;
	first = (size_t)(data[0] | data[1] << 8 | data[2] << 16);
	if (first > size - PREFIX)
		return false;
	*at = PREFIX + (second ? first : 0);
	*n = second ? size - PREFIX - first : first;
	return true;
}

/* The file at `at`, `n` bytes, is now `f`. */
static size_t join(uint8_t *data, size_t size, size_t max, size_t at, size_t n,
		   const struct buf *f)
{
	size_t after = size - at - n;

	if (f->failed || at + f->n + after > max)
		return 0;
	memmove(data + at + f->n, data + at + n, after);
	memcpy(data + at, f->p, f->n);
	if (at == PREFIX)
		for (int i = 0; i < 3; i++)
			data[i] = (uint8_t)(f->n >> (8 * i));
	return at + f->n + after;
}

/* Makes the checksum in the first file's debug link that of the second file
 * (crc32; the last four bytes of .gnu_debuglink), which is not read otherwise. */
static void mend_debug_link(uint8_t *data, size_t size)
{
	Elf64_Shdr all[SECTIONS];
	size_t at, n, count;

	if (!split(data, size, false, &at, &n) || at != PREFIX)
		return;
	count = get_sections(data + at, n, all);
	for (size_t i = 0; i < count; i++) {
		uint32_t crc;

		if (!has_bytes(&all[i], n) || all[i].sh_size < 8 ||
		    strcmp(name_of(data + at, n, all, i), ".gnu_debuglink"))
			continue;
		crc = (uint32_t)crc32(0, data + at + n, (uInt)(size - at - n));
		memcpy(data + at + all[i].sh_offset + all[i].sh_size - 4, &crc, 4);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct buf f = { 0 };
	uint32_t s = seed;
	size_t at, n, got = 0;

	if (draw(&s, 10) && split(data, size, draw(&s, 2), &at, &n)) {
		buf_bytes(&f, data + at, n);
		if (!f.failed && mutate_file(&f, &s))
			got = join(data, size, max, at, n, &f);
		if (got && draw(&s, 8))
			mend_debug_link(data, got);
		buf_fini(&f);
	}
	return got ? got : LLVMFuzzerMutate(data, size, max);
}

/* The first file with a section of the second that has the same name. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b,
				 size_t nb, uint8_t *out, size_t max,
				 unsigned int seed)
{
	Elf64_Shdr sa[SECTIONS], sb[SECTIONS];
	size_t ca = get_sections(a, na, sa), cb = get_sections(b, nb, sb), i, got = 0;
	struct buf f = { 0 }, body = { 0 };
	uint32_t s = seed;

	if (!ca || !cb || na > max)
		return 0;
	buf_bytes(&f, a, na);
	if (!f.failed) {
		i = pick_section(&f, sa, ca, &s);
		for (size_t k = 0; k < cb && has_bytes(&sa[i], na); k++)
			if (has_bytes(&sb[k], nb) &&
			    !strcmp(name_of(a, na, sa, i), name_of(b, nb, sb, k)) &&
			    get_body(b, &sb[k], &body)) {
				set_body(&f, sa, i, &body);
				break;
			}
	}
	if (!f.failed && f.n <= max)
		memcpy(out, f.p, got = f.n);
	buf_fini(&f);
	buf_fini(&body);
	return got;
}
