// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks libdw about addresses.  Each unit that covers some of them is walked once,
 * because looking up the scopes of each address takes libdw milliseconds.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "verify/libdw.h"

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/search.h"

enum {
	MAX_DEPTH = 4096,	/* nesting of DIEs, which libdw does not limit */
	MAX_CHAINS = 64,	/* chains at one address, from identical code that
				 * was folded */
	MAX_PLACES = 64,
};

/* Functions of libdw, with their types. */
#define LIBDW_FUNCTIONS(F) \
	F(dwfl_begin) F(dwfl_end) F(dwfl_errmsg) F(dwfl_report_begin) \
	F(dwfl_report_offline) F(dwfl_report_end) F(dwfl_module_getelf) \
	F(dwfl_module_getdwarf) F(dwfl_module_build_id) F(dwfl_module_info) \
	F(dwfl_module_getsymtab) F(dwfl_module_getsym_info) \
	F(dwfl_standard_find_debuginfo) F(dwfl_offline_section_address) \
	F(dwarf_get_units) F(dwarf_cu_info) F(dwarf_ranges) F(dwarf_child) \
	F(dwarf_siblingof) F(dwarf_tag) F(dwarf_attr) F(dwarf_attr_integrate) \
	F(dwarf_formstring) F(dwarf_formudata) F(dwarf_diename) \
	F(dwarf_getsrclines) F(dwarf_onesrcline) F(dwarf_lineaddr) \
	F(dwarf_lineno) F(dwarf_lineendsequence) F(dwarf_linesrc) \
	F(dwarf_getsrcfiles) F(dwarf_filesrc)

struct libdw {
#define MEMBER(f) __typeof__(f) *f;
	LIBDW_FUNCTIONS(MEMBER)
#undef MEMBER
};

struct symbol {
	uint64_t start, end;
	bool sized;		/* the symbol has a size; otherwise `end` is that
				 * of its section */
	const char *name;
};

struct range {
	uint64_t lo, hi;
};

/* A DIE of a function that covers requested addresses. */
struct function {
	Dwarf_Die die;
	bool inlined;
};

/* A function at an address.  They are listed by address, outermost first. */
struct level {
	uint32_t function;	/* index in asking.functions */
	uint32_t next;		/* next level of the same address; UINT32_MAX: none */
};

struct place {
	const char *dir, *file;
	uint32_t line;
	uint32_t next;
};

struct asking {
	struct libdw dw;
	const struct opinion_request *q;
	Dwfl_Module *mod;
	uint64_t to_dwarf;	/* difference from ELF addresses to those of the
				 * DWARF */
	VEC(struct function) functions;
	VEC(struct level) levels;
	VEC(struct place) places;
	VEC(struct symbol) symbols;
	uint32_t *first, *last;	/* level by address, UINT32_MAX: none */
	uint32_t *place;	/* newest place, by address */
	uint8_t *flags;		/* by address */
	struct strtab str;
	size_t sent;		/* number of strings sent so far */
	bool nomem;
};

static void *load(void)
{
	return dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
}

int libdw_load(struct error *err)
{
	return load() ? 0
		      : error_set(err, ERR_UNSUPPORTED, "libdw.so.1 cannot be "
				  "loaded; on Debian: apt-get install libdw1");
}

static int resolve(struct libdw *dw, struct error *err)
{
	void *lib = load();

#define RESOLVE(f) \
	dw->f = (__typeof__(f) *)(lib ? dlsym(lib, #f) : NULL); \
	if (!dw->f) \
		return error_set(err, ERR_UNSUPPORTED, \
				 "this libdw.so.1 has no %s", #f);
	LIBDW_FUNCTIONS(RESOLVE)
#undef RESOLVE
	return 0;
}

/* Uses libdw's own search, then the file that the caller knows. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **out)
{
	struct asking *a = *userdata;
	int fd;

	if (!a)
		return -1;
	fd = a->dw.dwfl_standard_find_debuginfo(mod, userdata, name, base, file,
						link, crc, out);
	if (fd < 0 && a->q->debug_file && *a->q->debug_file) {
		fd = io_open_file(a->q->debug_file, NULL);
		*out = fd >= 0 ? strdup(a->q->debug_file) : NULL;
	}
	return fd;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return ascending(x->start, y->start);
}

/* Finds the range that a symbol of code covers.  Returns false for other symbols. */
static bool symbol_range(const GElf_Sym *sym, GElf_Word section, Elf *elf,
			 uint64_t at, struct symbol *out)
{
	int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr sh;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC &&
	     type != STT_NOTYPE) || sym->st_shndx == SHN_UNDEF || !elf ||
	    !gelf_getshdr(elf_getscn(elf, section), &sh) ||
	    !(sh.sh_flags & SHF_EXECINSTR))
		return false;
	out->start = at;
	out->sized = sym->st_size != 0;
	/* st_value and sh_addr come from one file; `at` may be shifted */
	out->end = at + (out->sized ? sym->st_size
				    : sh.sh_addr + sh.sh_size - sym->st_value);
	return out->end > at;
}

static void read_symbols(struct asking *a, uint64_t bias)
{
	int n = a->dw.dwfl_module_getsymtab(a->mod);

	for (int i = 1; i < n; i++) {
		struct symbol s;
		GElf_Word section;
		GElf_Sym sym;
		GElf_Addr at;
		Elf *elf = NULL;

		s.name = a->dw.dwfl_module_getsym_info(
			a->mod, i, &sym, &at, &section, &elf, NULL);
		if (s.name && *s.name &&
		    symbol_range(&sym, section, elf, at - bias, &s) &&
		    vec_push(&a->symbols, s) < 0)
			a->nomem = true;
	}
	vec_sort(&a->symbols, by_start);
}

/* Returns the first requested address at or above x, an address of the DWARF. */
static size_t first_from(const struct asking *a, uint64_t x)
{
	size_t at;

	lower_bound(at, 0, a->q->n, a->q->vaddrs[at] + a->to_dwarf < x);
	return at;
}

static void add_level(struct asking *a, size_t at, uint32_t function)
{
	uint32_t l = (uint32_t)a->levels.n;

	if (vec_push(&a->levels, (struct level){ function, UINT32_MAX }) < 0) {
		a->nomem = true;
		return;
	}
	if (a->first[at] == UINT32_MAX)
		a->first[at] = l;
	else
		a->levels.v[a->last[at]].next = l;
	a->last[at] = l;
}

/* Records a function at the requested addresses that it covers. */
static void visit_function(struct asking *a, Dwarf_Die *die, int tag)
{
	uint32_t function = UINT32_MAX;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while ((at = a->dw.dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		size_t i = lo ? first_from(a, lo) : a->q->n;

		for (; i < a->q->n && a->q->vaddrs[i] + a->to_dwarf < hi; i++) {
			if (function == UINT32_MAX) {
				function = (uint32_t)a->functions.n;
				if (vec_push(&a->functions, (struct function){
					    *die, tag !=
						DW_TAG_subprogram }) < 0) {
					a->nomem = true;
					return;
				}
			}
			add_level(a, i, function);
		}
	}
}

static void walk(struct asking *a, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int rc;

	if (depth > MAX_DEPTH || a->nomem ||
	    a->dw.dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = a->dw.dwarf_tag(&die);

		if (tag == DW_TAG_subprogram ||
		    tag == DW_TAG_inlined_subroutine)
			visit_function(a, &die, tag);
		walk(a, &die, depth + 1);
		rc = a->dw.dwarf_siblingof(&die, &die);
	} while (rc == 0);
}

static const char *string_of(struct asking *a, Dwarf_Die *die, unsigned int at)
{
	Dwarf_Attribute attr;

	return a->dw.dwarf_formstring(
		a->dw.dwarf_attr_integrate(die, at, &attr));
}

static void add_place(struct asking *a, size_t at, const char *dir,
		      const char *file, int line)
{
	uint32_t p = (uint32_t)a->places.n;

	if (vec_push(&a->places, (struct place){ dir, file, (uint32_t)line,
						 a->place[at] }) < 0)
		a->nomem = true;
	else
		a->place[at] = p;
}

static bool row_at(const struct asking *a, Dwarf_Lines *lines, size_t i,
		   uint64_t *at, bool *end)
{
	Dwarf_Line *row = a->dw.dwarf_onesrcline(lines, i);
	Dwarf_Addr addr;

	if (a->dw.dwarf_lineaddr(row, &addr) ||
	    a->dw.dwarf_lineendsequence(row, end))
		return false;
	*at = addr;
	return true;
}

/* Returns whether two sequences end where the sequence of row i does.  libdw sorts
 * the rows of all sequences by address. */
static bool is_folded(const struct asking *a, Dwarf_Lines *lines, size_t n,
		      size_t i)
{
	uint64_t at, other;
	bool end = false;

	while (i < n && row_at(a, lines, i, &at, &end) && !end)
		i++;
	return end && i + 1 < n && row_at(a, lines, i + 1, &other, &end) &&
	       end && other == at;
}

/* Returns whether a unit covers an address, or does not state its ranges. */
static bool covers(struct asking *a, Dwarf_Die *cu, uint64_t vaddr)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = a->dw.dwarf_ranges(cu, at, &base, &lo, &hi)) > 0) {
		if (vaddr >= lo && vaddr < hi)
			return true;
		any = true;
	}
	return !any;
}

/* If several rows have the same address, the last one counts, because it covers
 * bytes.  libdw sorts the end of a sequence before other rows of its address: a row
 * there begins another sequence, or it is the last row of that one and covers nothing.
 * Only in the first case do the unit's ranges contain it. */
static void read_lines(struct asking *a, Dwarf_Die *cu)
{
	const char *dir = string_of(a, cu, DW_AT_comp_dir);
	uint64_t ended = UINT64_MAX;	/* address of the last end of a sequence */
	Dwarf_Lines *lines;
	size_t n;

	if (a->dw.dwarf_getsrclines(cu, &lines, &n) != 0)
		return;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = a->dw.dwarf_onesrcline(lines, i);
		uint64_t lo, hi;
		bool end, next_end, folded = false;
		int line;

		if (!row_at(a, lines, i, &lo, &end))
			continue;
		if (end)
			ended = lo;
		if (end || !lo ||
		    !row_at(a, lines, i + 1, &hi, &next_end) || lo >= hi ||
		    (lo == ended && !covers(a, cu, lo)) ||
		    a->dw.dwarf_lineno(row, &line))
			continue;
		for (size_t k = first_from(a, lo); k < a->q->n &&
		     a->q->vaddrs[k] + a->to_dwarf < hi; k++) {
			folded = folded || is_folded(a, lines, n, i);
			if (folded)
				a->flags[k] |= OPINION_FOLDED;
			add_place(a, k, dir,
				  a->dw.dwarf_linesrc(row, NULL, NULL), line);
		}
	}
}

/* Returns whether a unit covers requested addresses, and sets the flags for these. */
static bool is_hit(struct asking *a, Dwarf_Die *cu, uint8_t flags)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	bool any = false, hit = false;

	while ((at = a->dw.dwarf_ranges(cu, at, &base, &lo, &hi)) > 0) {
		size_t i = first_from(a, lo);

		any = true;
		for (; i < a->q->n && a->q->vaddrs[i] + a->to_dwarf < hi; i++) {
			a->flags[i] |= flags;
			hit = true;
			if (!flags)
				break;
		}
	}
	return hit || !any;	/* some units do not state their ranges */
}

static void read_units(struct asking *a, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	uint8_t type;

	while (!a->nomem &&
	       a->dw.dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die,
				     &sub) == 0) {
		bool split = type == DW_UT_skeleton;

		if (type == DW_UT_type || type == DW_UT_split_type ||
		    type == DW_UT_partial ||
		    !is_hit(a, &die, split && !sub.addr ? OPINION_NO_SPLIT : 0))
			continue;
		read_lines(a, &die);
		walk(a, split && sub.addr ? &sub : &die, 0);
	}
}

static void put_str(struct asking *a, struct buf *out, const char *s)
{
	uint32_t id = strtab_add(&a->str, s ? s : "");

	if (id == UINT32_MAX) {
		a->nomem = true;
		id = 0;
	}
	buf_uleb(out, id);
	if (id < a->sent)
		return;
	a->sent++;
	buf_str(out, strtab_get(&a->str, id));
	buf_u8(out, 0);
}

static void put_symbols(struct asking *a, struct buf *out, uint64_t vaddr)
{
	struct buf names = { 0 };
	uint64_t nearest = 0;
	size_t lo, n = 0;

	/* after the last symbol that starts at or before the address */
	lower_bound(lo, 0, a->symbols.n, a->symbols.v[lo].start <= vaddr);
	if (lo)
		nearest = a->symbols.v[lo - 1].start;
	for (; lo > 0 && vaddr - a->symbols.v[lo - 1].start < 1 << 26; lo--) {
		const struct symbol *s = &a->symbols.v[lo - 1];

		if (vaddr < s->end && (s->sized || s->start == nearest)) {
			put_str(a, &names, s->name);
			n++;
		}
	}
	buf_uleb(out, n);
	buf_bytes(out, names.p, names.n);
	a->nomem |= names.failed;
	buf_fini(&names);
}

static void put_places(struct asking *a, struct buf *out, size_t at)
{
	uint32_t n = 0, p;

	for (p = a->place[at]; p != UINT32_MAX && n < MAX_PLACES;
	     p = a->places.v[p].next)
		n++;
	buf_uleb(out, n);
	for (p = a->place[at]; n > 0; p = a->places.v[p].next, n--) {
		put_str(a, out, a->places.v[p].dir);
		put_str(a, out, a->places.v[p].file);
		buf_uleb(out, a->places.v[p].line);
	}
}

static uint32_t number_of(struct asking *a, Dwarf_Die *die, unsigned int at)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	if (a->dw.dwarf_formudata(a->dw.dwarf_attr(die, at, &attr), &v))
		return 0;
	return v > UINT32_MAX ? 0 : (uint32_t)v;
}

static void put_call(struct asking *a, struct buf *out, Dwarf_Die *die)
{
	uint32_t n = number_of(a, die, DW_AT_call_file);
	const char *dir = NULL, *file = NULL;
	Dwarf_Files *files;
	Dwarf_Die cu, sub;
	size_t nfiles;

	if (a->dw.dwarf_cu_info(die->cu, NULL, NULL, &cu, &sub, NULL, NULL,
				NULL) == 0) {
		dir = string_of(a, &cu, DW_AT_comp_dir);
		if (a->dw.dwarf_getsrcfiles(&cu, &files, &nfiles) == 0 &&
		    n < nfiles)
			file = a->dw.dwarf_filesrc(files, n, NULL, NULL);
	}
	put_str(a, out, dir);
	put_str(a, out, file);
	buf_uleb(out, number_of(a, die, DW_AT_call_line));
}

static void put_frame(struct asking *a, struct buf *out, struct function *f)
{
	const char *linkage = string_of(a, &f->die, DW_AT_linkage_name);

	if (!linkage)
		linkage = string_of(a, &f->die, DW_AT_MIPS_linkage_name);
	put_str(a, out, linkage);
	put_str(a, out, a->dw.dwarf_diename(&f->die));
	if (f->inlined) {
		put_call(a, out, &f->die);
	} else {
		put_str(a, out, NULL);
		put_str(a, out, NULL);
		buf_uleb(out, 0);
	}
	buf_u8(out, f->inlined);
}

/* The levels of an address run from outer to inner functions.  Each function that
 * is not inlined begins another chain. */
static void put_chains(struct asking *a, struct buf *out, size_t at)
{
	uint32_t starts[MAX_CHAINS + 1], n = 0, length = 0;
	uint32_t *order = NULL;

	for (uint32_t l = a->first[at]; l != UINT32_MAX;
	     l = a->levels.v[l].next)
		length++;
	order = calloc(length + 1, sizeof(*order));
	if (!order) {
		a->nomem = true;
		length = 0;
	}
	length = 0;
	for (uint32_t l = a->first[at]; order && l != UINT32_MAX;
	     l = a->levels.v[l].next, length++) {
		order[length] = a->levels.v[l].function;
		if ((!length || !a->functions.v[order[length]].inlined) &&
		    n < MAX_CHAINS)
			starts[n++] = length;
	}
	starts[n] = length;
	buf_uleb(out, n);
	for (uint32_t c = 0; c < n; c++) {
		buf_uleb(out, starts[c + 1] - starts[c]);
		for (uint32_t i = starts[c + 1]; i-- > starts[c]; )
			put_frame(a, out, &a->functions.v[order[i]]);
	}
	free(order);
}

static int answer_all(struct asking *a, struct buf *out, struct error *err)
{
	const unsigned char *id;
	GElf_Addr id_at, bias = 0, dwarf_bias = 0;
	Dwarf *dwarf;
	int n;

	if (!a->dw.dwfl_module_getelf(a->mod, &bias))
		return error_set(err, ERR_FORMAT, "%s: %s", a->q->path,
				 a->dw.dwfl_errmsg(-1));
	dwarf = a->dw.dwfl_module_getdwarf(a->mod, &dwarf_bias);
	a->to_dwarf = bias - dwarf_bias;
	read_symbols(a, bias);
	if (dwarf)
		read_units(a, dwarf);
	n = a->dw.dwfl_module_build_id(a->mod, &id, &id_at);
	if (n < 0 || n > BUILD_ID_MAX)
		n = 0;
	buf_u8(out, dwarf != NULL);
	buf_u8(out, (uint8_t)n);
	buf_bytes(out, n ? id : NULL, (size_t)n);
	for (size_t i = 0; i < a->q->n; i++) {
		buf_u8(out, a->flags[i]);
		put_symbols(a, out, a->q->vaddrs[i]);
		put_places(a, out, i);
		put_chains(a, out, i);
	}
	return a->nomem ? error_nomem(err) : 0;
}

static uint32_t *none_for_each(size_t n)
{
	uint32_t *v = malloc((n + 1) * sizeof(*v));

	if (v)
		memset(v, 0xff, (n + 1) * sizeof(*v));
	return v;
}

/* Nothing is freed, because the child process exits. */
int libdw_answer(const struct opinion_request *q, struct buf *out,
		 struct error *err)
{
	struct buf path = { 0 };
	char *dirs;
	Dwfl_Callbacks callbacks = { .find_debuginfo = find_debuginfo,
				     .debuginfo_path = &dirs };
	struct asking a = { .q = q };
	void **userdata;
	Dwfl *dwfl;
	int rc = resolve(&a.dw, err);

	if (rc < 0)
		return rc;
	/* The file's own folder comes first, as in libdwfl's default. */
	buf_printf(&path, ":.debug:%s", q->debug_dirs ? q->debug_dirs
						       : "/usr/lib/debug");
	dirs = (char *)buf_cstr(&path);
	callbacks.section_address = a.dw.dwfl_offline_section_address;
	a.first = none_for_each(q->n);
	a.last = none_for_each(q->n);
	a.place = none_for_each(q->n);
	a.flags = calloc(q->n + 1, 1);
	if (!a.first || !a.last || !a.place || !a.flags || strtab_init(&a.str) < 0)
		return error_nomem(err);
	a.sent = a.str.str.n;
	dwfl = a.dw.dwfl_begin(&callbacks);
	if (dwfl) {
		a.dw.dwfl_report_begin(dwfl);
		a.mod = a.dw.dwfl_report_offline(dwfl, "", q->path, -1);
		a.dw.dwfl_report_end(dwfl, NULL, NULL);
	}
	if (!a.mod)
		return error_set(err, ERR_FORMAT, "%s: %s", q->path,
				 a.dw.dwfl_errmsg(-1));
	a.dw.dwfl_module_info(a.mod, &userdata, NULL, NULL, NULL, NULL, NULL,
			      NULL);
	*userdata = &a;
	return answer_all(&a, out, err);
}

#else

int libdw_load(struct error *err)
{
	return error_set(err, ERR_UNSUPPORTED, "this tally was built without "
			 "libdw's headers (on Debian: libdw-dev)");
}

int libdw_answer(const struct opinion_request *q, struct buf *out,
		 struct error *err)
{
	(void)q;
	(void)out;
	return libdw_load(err);
}

#endif
