/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DWARF_H
#define TALLY_SYMBOLIZE_DWARF_DWARF_H
/*
 * tally's DWARF 2 to 5 reader (private to src/symbolize).
 *
 *	dwarf_work.c	damage, limits of work, strings that are kept
 *	dwarf_abbrev.c	abbreviations compiled into programs; skipping attributes
 *	dwarf_form.c	attribute values, strings, addresses, DW_AT_ranges
 *	dwarf_units.c	unit headers and root DIEs, read once; the unit that covers
 *			an address
 *	dwarf_scopes.c	namespaces, classes and functions that contain a DIE
 *	dwarf_open.c	sections of a file; opening and closing the whole
 *	dwarf_split.c	split DWARF: .dwo files, .dwp files and their index
 *	dwarf_files.c	headers of line tables, and paths of their files
 *	dwarf_spell.c	full names of C++ functions without a linkage name
 *	dwarf_names.c	names through abstract_origin and specification
 *	dwarf_lines.c	line programs into rows
 *	dwarf_funcs.c	functions with code, in one flat pass over a unit, and the
 *			inlined calls of one function
 *	dwarf_resolve.c	a batch of addresses; which units are read for it and kept
 *
 * Each file calls only those above it here.
 *
 * Two threads may use everything except names and file paths at the same time,
 * as long as they work on different units, one on the functions and one on the
 * lines of a unit, or only read loaded ones.  Each thread then needs its own
 * struct dwarf_work.  Tables of abbreviations that several units use must be
 * parsed before (abbrev_finish).
 *
 * A struct dwarf_set holds the sections of one file.  Files are the main one,
 * the alternate file in which dwz puts data shared by several files, each .dwo
 * file, and a .dwp file.  One number identifies a DIE among all of them: its
 * set, section and offset.
 */
#include <dwarf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "image/image.h"
#include "symbolize/dwarf/debug_file.h"
#include "symbolize/dwarf/range_index.h"

/* The attributes that are read, as slots of struct dwarf_die. */
enum dwarf_slot {
	SLOT_SKIP,
	SLOT_LOW, SLOT_HIGH, SLOT_RANGES,
	SLOT_ORIGIN, SLOT_SPEC, SLOT_LINKAGE, SLOT_NAME,
	SLOT_DECL_FILE, SLOT_DECL_LINE,
	SLOT_CALL_FILE, SLOT_CALL_LINE, SLOT_CALL_COLUMN,
	SLOT_SIBLING,
	SLOT_STMT_LIST, SLOT_COMP_DIR, SLOT_PRODUCER, SLOT_LANGUAGE,
	SLOT_STR_BASE, SLOT_ADDR_BASE, SLOT_RNG_BASE,
	SLOT_DWO_NAME, SLOT_DWO_ID, SLOT_GNU_RANGES,
	SLOT_COUNT,
	/* Set by dwarf_read_all only; they share the slots that only unit roots
	 * use. */
	SLOT_TYPE = SLOT_STMT_LIST, SLOT_EXTERNAL = SLOT_COMP_DIR,
	SLOT_ARTIFICIAL = SLOT_PRODUCER, SLOT_CONST_VALUE = SLOT_LANGUAGE,
	SLOT_DECL_COLUMN = SLOT_STR_BASE, SLOT_CLASS = SLOT_ADDR_BASE,
	SLOT_REFERENCE = SLOT_RNG_BASE, SLOT_RVALUE = SLOT_DWO_NAME,
	SLOT_BOUND = SLOT_DWO_ID, SLOT_TEMPLATE = SLOT_GNU_RANGES,
};

/* One step of a skip program: advance by `add` bytes, then run `code`. */
struct abbrev_op {
	uint8_t code;		/* enum abbrev_code */
	uint16_t add;
};

enum abbrev_code {
	OP_END, OP_ADD, OP_LEB, OP_CSTR, OP_BLOCK1, OP_BLOCK2, OP_BLOCK4,
	OP_BLOCK, OP_INDIRECT, OP_JUMP	/* DW_AT_sibling, DW_FORM_ref4 */
};

/* One step of a read program: advance by `add` bytes, then read `form` into
 * `slot`.  DW_FORM_implicit_const has its value in the table's constants, at
 * `add`. */
struct abbrev_read {
	uint16_t form;		/* 0 ends the program after `add` */
	uint8_t slot;
	uint32_t add;
};

enum {
	ABBREV_CHILDREN = 1,
	ABBREV_VARIABLE = 2,	/* size varies; run `ops` */
	ABBREV_FUNC = 4,	/* a subprogram that is not a declaration */
	ABBREV_SUBPROGRAM = 8,
	ABBREV_INLINED = 16,
	ABBREV_CLASS = 32,	/* a class with DW_AT_sibling; its children may have
				 * code */
};

struct abbrev {
	uint32_t size;		/* bytes of all attributes unless VARIABLE */
	uint32_t ops, reads;	/* start of its programs in the table's arrays */
	uint32_t attrs;		/* its declaration, from the table's start: attribute
				 * names and forms */
	uint16_t tag;		/* 0: no such abbreviation */
	uint8_t flags;
};

/* Abbreviations at one offset, for one kind of unit.  Parsed on demand. */
struct abbrev_table {
	const uint8_t *start;
	const uint8_t *p, *end;	/* bytes not yet parsed */
	/* Overlapping tables could multiply the section.  `budget` is the
	 * number of bytes that all tables may still parse, `allowance` the part
	 * reserved for this table. */
	_Atomic uint64_t *budget;
	uint64_t allowance;
	uint64_t taken;		/* bytes taken from the budget */
	uint32_t users;		/* number of units that use the table */
	uint8_t addr_size, off_size;
	bool v2;		/* DW_FORM_ref_addr has the size of an address */
	bool types;		/* a parsed abbreviation is for types or parameters */
	bool bad;
	struct abbrev root;	/* of the first unit's root DIE, with root_code; many
				 * units need no other abbreviation */
	uint64_t root_code;	/* 0: none */
	VEC(struct abbrev) dense;	/* by code */
	VEC(struct abbrev) sparse;	/* abbreviations with very large codes */
	struct u64map sparse_tab;
	VEC(struct abbrev_op) ops;
	VEC(struct abbrev_read) reads;
	VEC(int64_t) constants;
};

struct dwarf_file {
	const char *name;
	uint64_t dir;
	const char *path;	/* full path; NULL until first used */
};

struct line_row {
	uint32_t line;
	uint16_t file, column;
};

/* A sequence of rows with ascending addresses. */
struct line_seq {
	uint64_t lo;
	size_t first, n;
	struct line_row entry;	/* its first row, which `rows` may lack */
};

struct dwarf_lines {
	VEC(const char *) dirs;
	VEC(struct dwarf_file) files;
	VEC(struct line_seq) seqs;
	struct range_index index;	/* id: index in seqs */
	struct range_index folded;	/* the same; further sequences of code that the
					 * linker folded */
	VEC(uint32_t) offsets;		/* row address - seq.lo; searched */
	VEC(struct line_row) rows;
	uint16_t version;
	bool files_read;
};

struct dwarf_unit {
	struct dwarf_set *set;
	/* The split unit of a skeleton, in another file, and the skeleton of a
	 * split unit. */
	struct dwarf_unit *split, *skeleton;
	uint64_t off, root, end;	/* offsets in its section: header, first DIE,
					 * end */
	uint64_t abbrev_off;
	uint64_t signature;		/* type signature of type units; DWO id of
					 * split units */
	uint64_t type_die;		/* DIE of the type, in type units */
	uint8_t version, addr_size, off_size, type;	/* type: DW_UT_* */
	bool in_types;			/* in .debug_types */
	bool gnu;			/* produced by a GNU compiler */
	bool rooted, loaded, ranged;
	bool partial;			/* loaded for one batch */
	uint8_t visits;			/* number of batches that loaded it partially */
	uint32_t used;			/* last batch that used it */
	uint64_t table_bytes;		/* bytes of its tables when it was loaded */
	bool split_tried, placed;	/* placed: its parts of a .dwp file are known */
	uint16_t tag;			/* tag of the root DIE */
	uint16_t lang;			/* DW_AT_language, 0: unknown */
	struct abbrev_table *abbrevs;
	/* offsets of its parts in a .dwp file's sections */
	uint64_t str_part, rng_part, line_part;
	/* from the root DIE */
	uint64_t base, stmt_list;	/* stmt_list UINT64_MAX: none */
	uint64_t str_base, addr_base, rng_base;
	uint64_t gnu_ranges;		/* base of the range offsets of split units */
	const char *comp_dir;
	const char *dwo_name;		/* of skeletons; NULL in all other units */
	struct range_index funcs;	/* id: section offset of the DIE */
	struct dwarf_lines lines;
	struct scope_index *scopes;	/* NULL until they are looked up */
};

/* Attributes of one DIE. */
struct dwarf_die {
	uint32_t have;			/* bit for each slot */
	uint16_t form[SLOT_COUNT];
	uint64_t value[SLOT_COUNT];
	uint16_t tag;
	uint8_t flags;
};

struct func_name {
	const char *name;	/* linkage name; `plain` if there is none */
	const char *plain;	/* DW_AT_name if there is no linkage name, else "" */
	const char *full;	/* name with scopes and parameters; NULL until first
				 * used: dwarf_full_name */
	uint64_t decl;		/* last DIE of the reference chain, located in the
				 * function's scope */
	const char *file;
	uint32_t line;
	uint16_t lang;
	bool abstract;		/* without code: of inlined calls */
};

/* A DIE that gives its children a scope: a namespace, class or function. */
struct scope {
	uint32_t start, end;	/* offsets in the unit */
	uint32_t parent;	/* enclosing scope, or UNIT_SCOPE */
	bool collected;		/* by a pass of its own, which stored these: */
	uint32_t first, last;	/* scopes inside, by start */
	uint32_t first_mark, last_mark;
};

/* The scopes of one unit that were looked up. */
struct scope_index {
	VEC(struct scope) v;		/* the unit itself is UNIT_SCOPE */
	VEC(uint32_t) marks;		/* offsets of some DIEs in the unit */
	struct u64map left_out;		/* scopes that a pass left out and that were
					 * looked up, by start */
};
#define UNIT_SCOPE 0u

/* One file's sections and units. */
struct dwarf_set {
	uint64_t id;		/* this set's part of DIE numbers */
	struct image *img;
	bool owned;		/* whether the set owns img */
	struct dwarf_set *alt;	/* its alternate file, or NULL */
	struct span info, types, abbrev, line, line_str, str, str_offsets,
		addr, ranges, rnglists;
	bool is_split;		/* a .dwo or .dwp file */
	bool indexed;		/* unit headers were read */
	VEC(struct dwarf_unit) units;	/* .debug_info, then .debug_types, by
					 * offset */
	size_t ninfo;			/* number of units in .debug_info */
	struct u64map signatures;	/* units by type signature or DWO id */
	struct u64map abbrev_tab;
	VEC(struct abbrev_table *) abbrevs;
	_Atomic uint64_t abbrev_budget;
};

struct dwarf {
	VEC(struct dwarf_set *) sets;	/* by number; the first one is main */
	struct dwarf_set *main;
	struct debug_search search;
	uint64_t code_lo, code_hi;
	uint64_t bytes;			/* size of all sections, a measure of work */
	struct range_index cover;	/* unit ranges; id: COVER_ID(unit) */
	bool no_lines;			/* line programs are not run */
	bool swept;			/* units without ranges were loaded */
	struct u64map name_tab;
	VEC(struct func_name) names;
	struct u64map type_tab;		/* DIE -> id in `strings` of the type's text */
	uint64_t spell_left;		/* remaining bytes that may be read to build
					 * names */
	struct strtab strings;		/* names and paths; never removed */
	uint64_t kept;			/* bytes of `strings` */
	uint64_t name_bytes;		/* read for names since pages were last released */
	VEC(uint32_t) loaded;		/* numbers of the units with tables */
	uint64_t table_bytes;		/* bytes of all tables */
	uint32_t clock;			/* number of batches */
	/* split DWARF */
	bool dwp_tried;
	struct dwarf_set *dwp;		/* or NULL */
	struct u64map dwo_tab;		/* sets, by hash of their path */
	uint32_t mismatched_dwo;	/* number of .dwo files that belong to other
					 * code */
	size_t missing_dwo_units;
	char *missing_dwo;		/* name of the first one, or NULL */
	char *missing_alt;		/* or NULL */
	char damage[256];
};

/* State of one thread: scratch memory and the remaining work that hostile data
 * may cause. */
struct dwarf_work {
	/* Addresses (ascending) for which a unit is read: only data that covers
	 * them is kept.  NULL: everything is kept. */
	const uint64_t *want;
	size_t nwant;
	uint64_t touched;	/* bytes touched since pages were last released */
	uint64_t budget, granted;
	VEC(struct dwarf_pair) pairs;
	VEC(struct inline_open) open;
	VEC(struct inline_call) calls;
	const char *damage;
	uint64_t damage_at;
	bool nomem;
};

struct dwarf_pair {
	uint64_t lo, hi;
};

struct inline_open {
	uint32_t call, depth;
};

/* One inlined call that covers a wanted address. */
struct inline_call {
	uint64_t origin;	/* DIE of the inlined function, see dwarf_name */
	uint32_t outer;		/* call that contains this one, or NO_CALL */
	uint32_t file, line, column;	/* source position of the call */
};
#define NO_CALL UINT32_MAX
#define NO_DIE UINT64_MAX
/* The number of a DIE: its offset in .debug_info or (bit 63) .debug_types.  The
 * bits above the offset are the number of its set. */
#define DIE_IN_TYPES (1ull << 63)
#define DIE_SET_SHIFT 44
#define DIE_OFFSET(die) ((die) & ((1ull << DIE_SET_SHIFT) - 1))
#define DIE_SET(die) (((die) & ~DIE_IN_TYPES) >> DIE_SET_SHIFT)
/* Maximum number of open files (each has a mapping). */
enum { MAX_SETS = 16384 };

/* Returns the index of the first of n ascending addresses that is >= lo. */
static inline size_t dwarf_at_least(const uint64_t *addrs, size_t n,
				    uint64_t lo)
{
	size_t at;

	last_where(at, n, addrs[at] < lo);
	return at + (n && addrs[at] < lo);
}

/* Returns whether data that covers [lo, hi) must be kept. */
static inline bool dwarf_wants(const struct dwarf_work *w, uint64_t lo,
			       uint64_t hi)
{
	size_t i;

	if (!w->want)
		return true;
	i = dwarf_at_least(w->want, w->nwant, lo);
	return i < w->nwant && w->want[i] < hi;
}

/* dwarf_work.c */
/* Work that is free, so that small files have enough. */
enum { DWARF_WORK_FREE = 1 << 20 };
void dwarf_work_init(const struct dwarf *d, struct dwarf_work *w);
/* Raises the work budget after files were added. */
void dwarf_work_grant(const struct dwarf *d, struct dwarf_work *w);
void dwarf_work_fini(struct dwarf_work *w);
/* Keep what is damaged; the first damage counts. */
void dwarf_work_damage(struct dwarf_work *w, const char *what, uint64_t at);
void dwarf_damage(struct dwarf *d, const char *what, uint64_t at);
/* Releases the mapped pages of all files. */
void dwarf_release(const struct dwarf *d);
/* Notes that about n bytes of a set's file were touched (a page fault maps at
 * least 64 KB), and periodically releases the file's pages. */
void dwarf_touched(const struct dwarf_set *s, uint64_t n, struct dwarf_work *w);
/* Announces that about n bytes are read for one name, and periodically releases the pages
 * that were read for names before. */
void dwarf_name_reads(struct dwarf *d, uint64_t n);
/* Releases them now. */
void dwarf_release_names(struct dwarf *d);
/* Returns a copy of a string that outlives pages and files; "" if hostile
 * strings would exhaust memory. */
const char *dwarf_keep(struct dwarf *d, const char *text);
/* Does the same for at most n bytes. */
const char *dwarf_keep_n(struct dwarf *d, const char *text, size_t n);

/* dwarf_open.c */
int dwarf_open(struct dwarf *d, struct image *img,
	       const struct debug_search *search);
void dwarf_fini(struct dwarf *d);
/* Adds a set for a .dwo or .dwp file and takes ownership of the image.  Returns
 * NULL if out of memory or numbers (the image is then closed). */
struct dwarf_set *dwarf_set_add_split(struct dwarf *d, struct image *img);
/* Removes the newest set. */
void dwarf_set_drop(struct dwarf *d, struct dwarf_set *s);
/* Frees the lines and functions of a unit. */
void dwarf_unit_unload(struct dwarf_unit *u);

/* dwarf_units.c */
/* Reads a unit's length field.  Sets *off_size to 4 or 8. */
uint64_t dwarf_read_length(struct cursor *c, uint8_t *off_size);
/* Reads the headers of a set's units, once.  Calls each_unit for each one while
 * its bytes are in memory.  Returns 0 or -ERR_NOMEM. */
typedef int dwarf_each_unit(struct dwarf *d, struct dwarf_unit *u,
			    struct dwarf_work *w);
int dwarf_set_index(struct dwarf *d, struct dwarf_set *s,
		    dwarf_each_unit *each_unit, struct dwarf_work *w);
struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t die);
int dwarf_unit_root(struct dwarf *d, struct dwarf_unit *u,
		    struct dwarf_work *w);
static inline const struct span *dwarf_unit_section(const struct dwarf_unit *u)
{
	return u->in_types ? &u->set->types : &u->set->info;
}
static inline uint64_t dwarf_unit_die(const struct dwarf_unit *u, uint64_t off)
{
	return u->set->id | off | (u->in_types ? DIE_IN_TYPES : 0);
}

/* Longer paths are ignored (limits.h, PATH_MAX). */
enum { DWARF_PATH_MAX = 4096 };

/* If several units claim the same code (inline functions that the linker kept
 * once, identical code folded), the first one is right: linkers keep the first
 * copy.  Among equal ranges a lookup finds the highest id, so ids are in
 * reverse order of units. */
#define COVER_ID(unit) (UINT32_MAX - (uint64_t)(unit))
#define COVER_UNIT(id) ((uint32_t)(UINT32_MAX - (id)))
int dwarf_cover_units(struct dwarf *d, struct image *img);

/* dwarf_split.c */
/* Finds the split unit of a skeleton; tries only once. */
void dwarf_find_split(struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);
/* Closes all .dwo files; no unit may be loaded. */
void dwarf_close_splits(struct dwarf *d);
/* Returns the unit whose DIEs describe u's code: u itself unless it is a
 * skeleton. */
static inline const struct dwarf_unit *dwarf_body(const struct dwarf_unit *u)
{
	return u->split ? u->split : u;
}
/* Returns the unit whose line table has u's files. */
static inline struct dwarf_unit *dwarf_files_unit(struct dwarf_unit *u)
{
	return u->skeleton && u->stmt_list == UINT64_MAX ? u->skeleton : u;
}

static inline bool dwarf_is_code(const struct dwarf *d, uint64_t lo, uint64_t hi)
{
	return lo >= d->code_lo && lo < d->code_hi && hi > lo;
}

/* Takes n from the budget.  Returns false if it is used up. */
static inline bool dwarf_spend(struct dwarf_work *w, uint64_t n)
{
	if (w->budget < n) {
		w->budget = 0;
		return false;
	}
	w->budget -= n;
	return true;
}

/* Reads a little-endian number of up to 8 bytes. */
static inline uint64_t dwarf_fixed(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;
	unsigned i;

	if (size == 4) {
		uint32_t v4;

		memcpy(&v4, p, 4);
		return v4;
	}
	if (size == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	for (i = 0; i < size; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* dwarf_abbrev.c */
/* Returns the size of a form in the DIE; -1 if it varies. */
static inline int abbrev_form_size(const struct abbrev_table *t, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return 0;
	case DW_FORM_data1: case DW_FORM_ref1: case DW_FORM_flag:
	case DW_FORM_strx1: case DW_FORM_addrx1: return 1;
	case DW_FORM_data2: case DW_FORM_ref2:
	case DW_FORM_strx2: case DW_FORM_addrx2: return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3: return 3;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_ref_sup4:
	case DW_FORM_strx4: case DW_FORM_addrx4: return 4;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8: return 8;
	case DW_FORM_data16: return 16;
	case DW_FORM_addr: return t->addr_size;
	case DW_FORM_ref_addr: return t->v2 ? t->addr_size : t->off_size;
	case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_line_strp:
	case DW_FORM_strp_sup: case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return t->off_size;
	default: return -1;
	}
}

struct abbrev_table *abbrev_table_get(const struct dwarf_unit *u);
void abbrev_table_free(struct abbrev_table *t);
/* Returns the abbreviation of a code, parsing further if needed; NULL if there
 * is none. */
const struct abbrev *abbrev_find(struct abbrev_table *t, uint64_t code);
/* Same, for the root of a unit: does not parse the declarations before it, because most
 * units have no address that is looked up. */
const struct abbrev *abbrev_find_root(struct abbrev_table *t, uint64_t code);
/* Parses the whole table, so that abbrev_of can be used. */
void abbrev_finish(struct abbrev_table *t);
const struct abbrev *abbrev_of_sparse(const struct abbrev_table *t,
				      uint64_t code);

static inline const struct abbrev *abbrev_of(const struct abbrev_table *t,
					     uint64_t code)
{
	if (code < t->dense.n && t->dense.v[code].tag)
		return &t->dense.v[code];
	return abbrev_of_sparse(t, code);
}

/* Reads the code of the DIE at p, which is before `end`.  Returns its end, or NULL if it is
 * damaged. */
static inline const uint8_t *dwarf_read_code(const uint8_t *p, const uint8_t *end,
					     uint64_t *code)
{
	struct cursor c;

	*code = *p;
	if (*code < 0x80)
		return p + 1;
	if (end - p >= 2 && p[1] < 0x80) {
		*code = (*code & 0x7f) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	c = cursor_of(p, (size_t)(end - p));
	*code = cursor_uleb(&c);
	return c.bad ? NULL : c.p;
}

/* Skips one DIE's attributes.  Returns NULL if they are damaged.  *jump: on
 * input, whether to skip to the sibling past children that are not needed; on
 * output, whether that happened. */
const uint8_t *abbrev_run(const struct abbrev_table *t, const struct abbrev *a,
			  const uint8_t *p, const uint8_t *unit,
			  const uint8_t *end, bool *jump);

/* dwarf_form.c */
/* Reads a DIE's attributes at p (after its code).  Returns their end, or NULL
 * if they are damaged. */
const uint8_t *dwarf_read_die(const struct abbrev_table *t,
			      const struct abbrev *a, const uint8_t *p,
			      const uint8_t *start, const uint8_t *end,
			      struct dwarf_die *out);
/* Reads the DIE at an offset of its section. */
bool dwarf_die_at(const struct dwarf_unit *u, uint64_t off,
		  struct dwarf_die *out);
const uint8_t *dwarf_skip_form(uint64_t form, uint8_t addr_size,
			       uint8_t off_size, bool v2, const uint8_t *p,
			       const uint8_t *end);
/* Reads the attributes of any DIE, including those needed to build names.  Sets
 * *next to the offset of its first child or next sibling. */
bool dwarf_read_all(const struct dwarf_unit *u, uint64_t off,
		    struct dwarf_die *out, uint64_t *next);
/* Return the value of a slot, or a "nothing" value if the slot is absent or its
 * form is invalid. */
const char *dwarf_string(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot);
bool dwarf_address(const struct dwarf_unit *u, const struct dwarf_die *die,
		   enum dwarf_slot slot, uint64_t *out);
uint64_t dwarf_number(const struct dwarf_die *die, enum dwarf_slot slot,
		      uint64_t absent);
/* Returns the number of the DIE that a reference points to, or NO_DIE. */
uint64_t dwarf_reference(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot);

static inline bool dwarf_has(const struct dwarf_die *die, enum dwarf_slot s)
{
	return die->have >> s & 1;
}

/* Stores the live code ranges of a DIE in w->pairs, which is emptied first. */
void dwarf_die_ranges(const struct dwarf *d, const struct dwarf_unit *u,
		      const struct dwarf_die *die, struct dwarf_work *w);

/* dwarf_files.c */
struct line_header {
	const uint8_t *program, *end;
	const uint8_t *lengths;		/* operand counts of standard opcodes 1.. */
	uint8_t min_inst, max_ops, line_range, opcode_base, addr_size;
	int8_t line_base;
};
/* Reads header and file names of a unit's line table once (`files_read`).  Returns false
 * if they are unusable. */
bool dwarf_read_files(struct dwarf_unit *u, struct line_header *h, struct dwarf_work *w);
/* Returns the path of file number i; "" if there is none. */
const char *dwarf_file_path(struct dwarf *d, struct dwarf_unit *u, uint64_t i);

/* dwarf_lines.c */
void dwarf_read_lines(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);
const struct line_row *dwarf_find_row(const struct dwarf_unit *u,
				      uint64_t addr);
/* The same where the linker may have folded identical functions: the row that belongs
 * to the function at this DIE, as its declaration shows. */
const struct line_row *dwarf_find_row_of(struct dwarf *d, struct dwarf_unit *u,
					 uint64_t func, uint64_t addr);

/* dwarf_funcs.c */
void dwarf_read_funcs(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);

/* Stores the innermost inlined call of each of n ascending addresses in the
 * function at `die`: an index into w->calls, or NO_CALL. */
void dwarf_read_inlines(const struct dwarf *d, const struct dwarf_unit *u,
			uint64_t die, const uint64_t *addrs, size_t n,
			uint32_t *call, struct dwarf_work *w);

/* dwarf_names.c */
/* Returns the name of a function's DIE; NULL if out of memory. */
const struct func_name *dwarf_name(struct dwarf *d, uint64_t die);
/* Reads the names of n DIEs in advance (and sorts the DIEs): page by page,
 * which is less work than reading them one at a time. */
int dwarf_name_many(struct dwarf *d, uint64_t *dies, size_t n);

/* Returns the name of a function's DIE.  For C++ without a linkage name, it has
 * scopes and parameters: `foo(int)::{lambda(char) at
 * file.cpp:3:9}::operator()(char) const`.  Never NULL. */
const char *dwarf_full_name(struct dwarf *d, uint64_t die);
/* Builds the full names of n DIEs in advance, unit by unit. */
int dwarf_full_name_many(struct dwarf *d, const uint64_t *dies, size_t n);

/* dwarf_scopes.c */
/* Returns the scope that contains the DIE at an offset of its section, as an
 * index into *x.  *x is valid until the unit is unloaded.  Returns UNIT_SCOPE if
 * there is none or it cannot be determined. */
uint32_t dwarf_scope_of(struct dwarf *d, struct dwarf_unit *u, uint64_t off,
			const struct scope_index **x);
/* Makes the pass over the unit in advance, if there was none. */
void dwarf_scopes_read(struct dwarf *d, struct dwarf_unit *u);
void dwarf_scopes_free(struct dwarf_unit *u);

/* dwarf_spell.c: appends the name of the function at `die`, as binutils would
 * write its linkage name.  Returns false if it cannot be determined. */
bool dwarf_spell_function(struct dwarf *d, uint64_t die, struct buf *out);
/* Reads what names of functions in the unit of a DIE need, while pages of the unit are
 * mapped.  Returns whether it read the unit, before which it may have released pages. */
bool dwarf_spell_prepare(struct dwarf *d, uint64_t die);

/* dwarf_resolve.c: the result of looking up one address. */
struct dwarf_hit {
	uint64_t func;		/* DIE, or NO_DIE */
	uint32_t unit;		/* number of the unit; UINT32_MAX: none */
	uint32_t call;		/* innermost inlined call, or NO_CALL */
	uint8_t worker;		/* index of the dwarf_work with its calls */
};
struct dwarf_batch {
	struct dwarf_hit *hits;		/* by address */
	struct dwarf_work work[2];
};
/* From this number of addresses on, units are read only for the addresses of
 * the batch. */
enum { DWARF_MANY = 64 };

int dwarf_resolve(struct dwarf *d, const uint64_t *addrs, size_t n,
		  struct dwarf_batch *b);
void dwarf_batch_fini(struct dwarf *d, struct dwarf_batch *b);

#endif
