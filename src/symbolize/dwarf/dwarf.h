/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DWARF_H
#define TALLY_SYMBOLIZE_DWARF_DWARF_H
/*
 * Our DWARF 2 to 5 reader (private to src/symbolize).
 *
 *	dwarf_open.c	the sections of a file; the whole thing opened and closed
 *	dwarf_units.c	unit headers and root DIEs, once; which unit covers an address
 *	dwarf_split.c	split DWARF: .dwo files, .dwp files and their index
 *	dwarf_abbrev.c	abbreviations compiled into programs; stepping over attributes
 *	dwarf_form.c	attribute values, strings, addresses, DW_AT_ranges
 *	dwarf_lines.c	line tables: file names, line programs into rows
 *	dwarf_funcs.c	functions with code, in one flat pass over a unit, and the
 *			inlined calls of one function
 *	dwarf_names.c	names through abstract_origin and specification; scopes
 *	dwarf_spell.c	full names of C++ functions without a linkage name
 *	dwarf_resolve.c	a batch of addresses; which units are read for it, and kept
 *
 * Everything but names and file paths may be used by two threads at a time, as
 * long as they work on different units or only read loaded ones; each thread
 * then has its own struct dwarf_work.
 *
 * A file's sections are a struct dwarf_set: the main one, the alternate file that
 * dwz makes of what several files share, each .dwo file, a .dwp file.  A DIE is
 * named by one number for all of them: its set, its section, its offset.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "image/image.h"
#include "symbolize/dwarf/debug_file.h"
#include "symbolize/dwarf/range_index.h"

/* The attributes that we read, as slots of struct dwarf_die. */
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
	/* What only dwarf_read_all gives, in the places of what only unit roots
	 * have. */
	SLOT_TYPE = SLOT_STMT_LIST, SLOT_EXTERNAL = SLOT_COMP_DIR,
	SLOT_ARTIFICIAL = SLOT_PRODUCER, SLOT_CONST_VALUE = SLOT_LANGUAGE,
	SLOT_DECL_COLUMN = SLOT_STR_BASE, SLOT_CLASS = SLOT_ADDR_BASE,
	SLOT_REFERENCE = SLOT_RNG_BASE, SLOT_RVALUE = SLOT_DWO_NAME,
	SLOT_BOUND = SLOT_DWO_ID, SLOT_TEMPLATE = SLOT_GNU_RANGES,
};

/* One step of a skip program: go `add` bytes on, then do `code`. */
struct abbrev_op {
	uint8_t code;		/* enum abbrev_code */
	uint16_t add;
};

enum abbrev_code {
	OP_END, OP_ADD, OP_LEB, OP_CSTR, OP_BLOCK1, OP_BLOCK2, OP_BLOCK4,
	OP_BLOCK, OP_INDIRECT, OP_JUMP	/* DW_AT_sibling, DW_FORM_ref4 */
};

/* One step of a read program: go `add` bytes on, read `form` into `slot`.
 * DW_FORM_implicit_const has its value in the table's constants, at `add`. */
struct abbrev_read {
	uint16_t form;		/* 0 ends the program after `add` */
	uint8_t slot;
	uint32_t add;
};

enum {
	ABBREV_CHILDREN = 1,
	ABBREV_VARIABLE = 2,	/* size varies: run `ops` */
	ABBREV_FUNC = 4,	/* a subprogram that is no declaration */
	ABBREV_SUBPROGRAM = 8,
	ABBREV_INLINED = 16,
	ABBREV_CLASS = 32,	/* has DW_AT_sibling to trust or not */
};

struct abbrev {
	uint32_t size;		/* of all attributes unless VARIABLE */
	uint32_t ops, reads;	/* where its programs start in the table's */
	const uint8_t *attrs;	/* its declaration: names and forms */
	uint16_t tag;		/* 0: no such abbreviation */
	uint8_t flags;
};

/* Abbreviations of one offset, for one kind of unit.  Parsed as far as asked. */
struct abbrev_table {
	const uint8_t *p, *end;	/* what is not parsed yet */
	/* Overlapping tables could multiply the section: bytes that may still
	 * be parsed by all, and those that this table has taken of them. */
	_Atomic uint64_t *budget;
	uint64_t allowance;
	uint64_t taken;		/* from the budget so far */
	uint32_t users;		/* units that have it */
	uint8_t addr_size, off_size;
	bool v2;		/* DW_FORM_ref_addr has an address' size */
	bool bad;
	VEC(struct abbrev) dense;	/* by code */
	VEC(struct abbrev) sparse;	/* codes out of proportion */
	struct u64map sparse_tab;
	VEC(struct abbrev_op) ops;
	VEC(struct abbrev_read) reads;
	VEC(int64_t) constants;
};

struct dwarf_file {
	const char *name;
	uint64_t dir;
	const char *path;	/* joined, NULL until asked for */
};

struct line_row {
	uint32_t line;
	uint16_t file, column;
};

/* Rows of one stretch of ascending addresses. */
struct line_seq {
	uint64_t lo;
	size_t first, n;
};

struct dwarf_lines {
	VEC(const char *) dirs;
	VEC(struct dwarf_file) files;
	VEC(struct line_seq) seqs;
	struct range_index index;	/* id: in seqs */
	VEC(uint32_t) offsets;		/* row address - seq.lo: searched */
	VEC(struct line_row) rows;
	uint16_t version;
	bool files_read;
};

struct dwarf_unit {
	struct dwarf_set *set;
	/* A skeleton's real unit in another file, and the way back. */
	struct dwarf_unit *split, *skeleton;
	uint64_t off, root, end;	/* in its section: header, first DIE */
	uint64_t abbrev_off;
	uint64_t signature;		/* type units; DWO id of split ones */
	uint64_t type_die;		/* type units */
	uint8_t version, addr_size, off_size, type;	/* type: DW_UT_* */
	bool in_types;			/* in .debug_types */
	bool gnu;			/* made by a GNU compiler */
	bool rooted, loaded, ranged;
	bool partial;			/* loaded for one batch only */
	uint8_t visits;			/* batches that loaded it so */
	uint32_t used;			/* newest batch that asked for it */
	uint64_t table_bytes;		/* when it was loaded */
	bool split_tried, placed;	/* placed: its parts are known */
	uint16_t tag;			/* of the root DIE */
	uint16_t lang;			/* DW_AT_language, 0: unknown */
	struct abbrev_table *abbrevs;
	/* its part of a .dwp file's sections */
	uint64_t str_part, rng_part, line_part;
	/* from the root DIE */
	uint64_t base, stmt_list;	/* stmt_list UINT64_MAX: none */
	uint64_t str_base, addr_base, rng_base;
	uint64_t gnu_ranges;		/* what split units' ranges add to */
	const char *comp_dir;
	const char *dwo_name;		/* skeletons: NULL in all others */
	struct range_index funcs;	/* id: section offset of the DIE */
	struct dwarf_lines lines;
};

/* Attributes of one DIE. */
struct dwarf_die {
	uint32_t have;			/* bit per slot */
	uint16_t form[SLOT_COUNT];
	uint64_t value[SLOT_COUNT];
	uint16_t tag;
	uint8_t flags;
};

struct func_name {
	const char *name;	/* linkage name, else `plain` */
	const char *plain;	/* DW_AT_name where there is no linkage name,
				 * else "" */
	const char *full;	/* with scopes and parameters; NULL until it is
				 * asked for: dwarf_full_name */
	uint64_t decl;		/* the DIE where its chain ends, in its scope */
	const char *file;
	uint32_t line;
	uint16_t lang;
};

/* A DIE that names what is in it: a namespace, class or function. */
struct scope {
	uint32_t start, end;	/* offsets in the unit */
	uint32_t parent;	/* scope that it is in, or NO_SCOPE */
};
#define NO_SCOPE UINT32_MAX

/* The scopes of one unit, by start. */
struct scope_index {
	const struct dwarf_unit *unit;	/* NULL: none */
	VEC(struct scope) v;
};

/* One file's sections and units. */
struct dwarf_set {
	uint64_t id;		/* the set's part of a DIE's number */
	struct image *img;
	bool owned;		/* img is */
	struct dwarf_set *alt;	/* its alternate file, or NULL */
	struct span info, types, abbrev, line, line_str, str, str_offsets,
		addr, ranges, rnglists;
	bool is_split;		/* a .dwo or .dwp file */
	bool indexed;		/* its unit headers were read */
	VEC(struct dwarf_unit) units;	/* .debug_info, then .debug_types, by
					 * offset */
	size_t ninfo;			/* of them in .debug_info */
	struct u64map signatures;	/* units by type signature or DWO id */
	struct u64map abbrev_tab;
	VEC(struct abbrev_table *) abbrevs;
	_Atomic uint64_t abbrev_budget;
};

struct dwarf {
	VEC(struct dwarf_set *) sets;	/* by number; the first is the main */
	struct dwarf_set *main;
	struct debug_search search;
	uint64_t code_lo, code_hi;
	uint64_t bytes;			/* of sections: a measure of work */
	struct range_index cover;	/* unit ranges; id: COVER_ID(unit) */
	bool swept;			/* units without ranges were loaded */
	struct u64map name_tab;
	VEC(struct func_name) names;
	struct scope_index scopes[4];	/* of units that were asked last */
	uint32_t next_scopes;		/* which one goes next */
	struct u64map type_tab;		/* spelled types by DIE: in strings */
	uint64_t spell_left;		/* bytes that may be walked for names */
	struct strtab strings;		/* names and paths: these live on */
	uint64_t kept;			/* bytes of them */
	size_t fresh_names;		/* since pages were let go of */
	VEC(uint32_t) loaded;		/* units with tables */
	uint64_t table_bytes;		/* of them */
	uint32_t clock;			/* counts batches */
	/* split DWARF */
	bool dwp_tried;
	struct dwarf_set *dwp;		/* or NULL */
	struct u64map dwo_tab;		/* sets by hash of their path */
	uint32_t other_users;		/* .dwo files of other code */
	size_t missing_dwo_units;
	char *missing_dwo;		/* the first one, or NULL */
	char *missing_alt;		/* or NULL */
	char damage[256];
};

/* Per thread: scratch and how much work hostile data may still cause. */
struct dwarf_work {
	/* What a unit is read for: it keeps only what covers these addresses
	 * (ascending); NULL: everything. */
	const uint64_t *want;
	size_t nwant;
	uint64_t touched;	/* bytes, since pages were let go of */
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
	uint64_t origin;	/* DIE of the inlined function; see names */
	uint32_t outer;		/* call that it is inlined into, or NO_CALL */
	uint32_t file, line, column;	/* of the call */
};
#define NO_CALL UINT32_MAX
#define NO_DIE UINT64_MAX
/* The number of a DIE: its offset in .debug_info or (bit 63) .debug_types, and
 * above it the number of its set. */
#define DIE_IN_TYPES (1ull << 63)
#define DIE_SET_SHIFT 44
#define DIE_OFFSET(die) ((die) & ((1ull << DIE_SET_SHIFT) - 1))
#define DIE_SET(die) (((die) & ~DIE_IN_TYPES) >> DIE_SET_SHIFT)
/* Files that may be open at a time (each has a mapping). */
enum { MAX_SETS = 16384 };

/* The first of n ascending addresses that is not below lo. */
static inline size_t dwarf_at_least(const uint64_t *addrs, size_t n,
				    uint64_t lo)
{
	size_t at;

	last_where(at, n, addrs[at] < lo);
	return at + (n && addrs[at] < lo);
}

/* Whether something that covers [lo, hi) is to be kept. */
static inline bool dwarf_wants(const struct dwarf_work *w, uint64_t lo,
			       uint64_t hi)
{
	size_t i;

	if (!w->want)
		return true;
	i = dwarf_at_least(w->want, w->nwant, lo);
	return i < w->nwant && w->want[i] < hi;
}

/* dwarf_open.c */
int dwarf_open(struct dwarf *d, struct image *img,
	       const struct debug_search *search);
void dwarf_fini(struct dwarf *d);
/* Adds a set for a .dwo or .dwp file, which it owns from now on; NULL when out of
 * memory or numbers (the image is closed then). */
struct dwarf_set *dwarf_set_add_split(struct dwarf *d, struct image *img);
/* Takes the newest set back. */
void dwarf_set_drop(struct dwarf *d, struct dwarf_set *s);
/* Forgets what was read of a unit's lines and functions. */
void dwarf_unit_unload(struct dwarf_unit *u);
/* Lets go of pages of all files. */
void dwarf_release(const struct dwarf *d);
/* Notes that about n bytes of a set's file were touched, which a fault makes 64
 * KB at least, and lets go of its pages from time to time. */
void dwarf_touched(const struct dwarf_set *s, uint64_t n, struct dwarf_work *w);
void dwarf_damage(struct dwarf *d, const char *what, uint64_t at);
void dwarf_work_damage(struct dwarf_work *w, const char *what, uint64_t at);
void dwarf_work_init(const struct dwarf *d, struct dwarf_work *w);
/* More work may be done where files were added. */
void dwarf_work_grant(const struct dwarf *d, struct dwarf_work *w);
void dwarf_work_fini(struct dwarf_work *w);

/* dwarf_units.c */
/* The unit's length field; off_size becomes 4 or 8. */
uint64_t dwarf_read_length(struct cursor *c, uint8_t *off_size);
/* Reads the headers of a set's units, once; each_unit is called for each in turn,
 * while its bytes are at hand.  0 or -ERR_NOMEM. */
typedef int dwarf_each_unit(struct dwarf *d, struct dwarf_unit *u,
			    struct dwarf_work *w);
int dwarf_set_index(struct dwarf *d, struct dwarf_set *s,
		    dwarf_each_unit *each_unit, struct dwarf_work *w);
struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t die);
int dwarf_unit_root(struct dwarf *d, struct dwarf_unit *u,
		    struct dwarf_work *w);
const struct span *dwarf_unit_section(const struct dwarf_unit *u);
static inline uint64_t dwarf_unit_die(const struct dwarf_unit *u, uint64_t off)
{
	return u->set->id | off | (u->in_types ? DIE_IN_TYPES : 0);
}

/* Longer paths are none (limits.h, PATH_MAX). */
enum { DWARF_PATH_MAX = 4096 };

/* Where several units say that code is theirs (inline functions
 * that the linker kept once, identical code folded), the first is right: that is
 * the copy that linkers keep.  Of equal ranges a lookup finds the highest id. */
#define COVER_ID(unit) (UINT32_MAX - (uint64_t)(unit))
#define COVER_UNIT(id) ((uint32_t)(UINT32_MAX - (id)))
int dwarf_cover_units(struct dwarf *d, struct image *img);

/* dwarf_split.c */
/* Finds the split unit of a skeleton, once. */
void dwarf_find_split(struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);
/* Closes all .dwo files; no unit may be loaded. */
void dwarf_close_splits(struct dwarf *d);
/* The unit whose DIEs describe u's code: u itself unless it is a skeleton. */
static inline const struct dwarf_unit *dwarf_body(const struct dwarf_unit *u)
{
	return u->split ? u->split : u;
}
/* The unit whose line table has u's files. */
static inline struct dwarf_unit *dwarf_files_unit(struct dwarf_unit *u)
{
	return u->skeleton && u->stmt_list == UINT64_MAX ? u->skeleton : u;
}

static inline bool dwarf_is_code(const struct dwarf *d, uint64_t lo, uint64_t hi)
{
	return lo >= d->code_lo && lo < d->code_hi && hi > lo;
}

/* Takes n from the budget; false when it is used up. */
static inline bool dwarf_spend(struct dwarf_work *w, uint64_t n)
{
	if (w->budget < n) {
		w->budget = 0;
		return false;
	}
	w->budget -= n;
	return true;
}

/* dwarf_abbrev.c */
struct abbrev_table *abbrev_table_get(const struct dwarf_unit *u);
void abbrev_table_free(struct abbrev_table *t);
/* The abbreviation of a code, parsing further when needed; NULL if none. */
const struct abbrev *abbrev_find(struct abbrev_table *t, uint64_t code);
/* Parses all, so that abbrev_of can be used. */
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

/* How to step over a form of varying size; OP_END for an unknown one. */
enum abbrev_code abbrev_variable_op(uint64_t form);
/* Steps over one DIE's attributes; NULL when damaged.  *jump: whether it may go
 * to the sibling, past children without interest, and whether it did. */
const uint8_t *abbrev_run(const struct abbrev_table *t, const struct abbrev *a,
			  const uint8_t *p, const uint8_t *unit,
			  const uint8_t *end, bool *jump);

/* dwarf_form.c */
/* Reads a DIE's attributes at p (after its code); returns the end or NULL. */
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
/* Reads the attributes of any DIE, also those that names are made of; *next is
 * where its children or its next sibling stand. */
bool dwarf_read_all(const struct dwarf_unit *u, uint64_t off,
		    struct dwarf_die *out, uint64_t *next);
/* Values of slots; each gives "nothing" when the slot is absent or its form
 * makes no sense. */
const char *dwarf_string(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot);
bool dwarf_address(const struct dwarf_unit *u, const struct dwarf_die *die,
		   enum dwarf_slot slot, uint64_t *out);
uint64_t dwarf_number(const struct dwarf_die *die, enum dwarf_slot slot,
		      uint64_t absent);
/* The number of the DIE that a reference points to, or NO_DIE. */
uint64_t dwarf_reference(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot);
uint64_t dwarf_fixed(const uint8_t *p, unsigned size);

static inline bool dwarf_has(const struct dwarf_die *die, enum dwarf_slot s)
{
	return die->have >> s & 1;
}

/* The live code ranges of a DIE into w->pairs (emptied first). */
void dwarf_die_ranges(const struct dwarf *d, const struct dwarf_unit *u,
		      const struct dwarf_die *die, struct dwarf_work *w);

/* dwarf_lines.c */
/* The path of file number i, "" if there is none. */
const char *dwarf_file_path(struct dwarf *d, struct dwarf_unit *u, uint64_t i);
void dwarf_read_lines(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);
const struct line_row *dwarf_find_row(const struct dwarf_unit *u,
				      uint64_t addr);

/* dwarf_funcs.c */
void dwarf_read_funcs(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w);

/* For n ascending addresses in the function at `die`, the
 * innermost inlined call of each as an index into w->calls, or NO_CALL. */
void dwarf_read_inlines(const struct dwarf *d, const struct dwarf_unit *u,
			uint64_t die, const uint64_t *addrs, size_t n,
			uint32_t *call, struct dwarf_work *w);

/* dwarf_names.c */
/* A copy of a string, which stays when pages or files go; "" where hostile
 * strings would fill all memory. */
const char *dwarf_keep(struct dwarf *d, const char *text);
/* The same of at most n bytes. */
const char *dwarf_keep_n(struct dwarf *d, const char *text, size_t n);
/* NULL when out of memory. */
const struct func_name *dwarf_name(struct dwarf *d, uint64_t die);
/* Makes the names of n DIEs ready (and sorts them): page by page, which is less
 * work than one after the other. */
int dwarf_name_many(struct dwarf *d, uint64_t *dies, size_t n);

/* The same with scopes and parameters where it is C++ without a linkage name:
 * `foo(int)::{lambda(char) at file.cpp:3:9}::operator()(char) const`.  Never
 * NULL. */
const char *dwarf_full_name(struct dwarf *d, uint64_t die);
/* Makes the full names of n DIEs ready, unit by unit (and sorts them). */
int dwarf_full_name_many(struct dwarf *d, uint64_t *dies, size_t n);

/* The scope that the DIE at an offset of its section is in, as an
 * index into *x, which lives until three other units were asked about; NO_SCOPE
 * if it is in none or that is not to be known. */
uint32_t dwarf_scope_of(struct dwarf *d, const struct dwarf_unit *u,
			uint64_t off, const struct scope_index **x);
void dwarf_scopes_fini(struct dwarf *d);

/* dwarf_spell.c: the name of the function at `die`, as binutils would write its
 * linkage name.  False where that cannot be told. */
bool dwarf_spell_function(struct dwarf *d, uint64_t die, struct buf *out);

/* dwarf_resolve.c: what is known of one address. */
struct dwarf_hit {
	uint64_t func;		/* DIE, or NO_DIE */
	uint32_t unit;		/* UINT32_MAX: no unit */
	uint32_t call;		/* innermost inlined call, or NO_CALL */
	uint8_t worker;		/* whose calls */
};
struct dwarf_batch {
	struct dwarf_hit *hits;		/* by address */
	struct dwarf_work work[2];
};
/* So many addresses are worth reading units for them only. */
enum { DWARF_MANY = 64 };

int dwarf_resolve(struct dwarf *d, const uint64_t *addrs, size_t n,
		  struct dwarf_batch *b);
void dwarf_batch_fini(struct dwarf *d, struct dwarf_batch *b);

#endif
