// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A second opinion by libdw (elfutils) on this very program: source line of
 * addresses all over its functions, and the chain of inlined functions there.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbolize/symbolize.h"

enum { STEP = 7 };	/* bytes between addresses: not only statement starts */

/* More than one call deep, so that there are chains in this program. */
static inline unsigned inner(unsigned x)
{
	for (unsigned i = 0; i < 5; i++)
		x = x * 1664525u + 1013904223u + (x >> i);
	return x;
}

static inline unsigned middle(unsigned x)
{
	return x & 1 ? inner(x) : inner(x ^ 5) + 1;
}

__attribute__((noinline)) static unsigned outer(unsigned x)
{
	return middle(x) + middle(x + 1);
}

struct libdw {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Dwarf_Addr bias;
	size_t lines, chains;	/* compared */
	unsigned bad;
};

static char no_path[] = "";
static char *path_of_debug = no_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &path_of_debug,
};

static bool open_libdw(struct libdw *l)
{
	l->dwfl = dwfl_begin(&callbacks);
	assert_non_null(l->dwfl);
	dwfl_report_begin(l->dwfl);
	l->mod = dwfl_report_offline(l->dwfl, "", "/proc/self/exe", -1);
	assert_non_null(l->mod);
	dwfl_report_end(l->dwfl, NULL, NULL);
	return dwfl_module_getdwarf(l->mod, &l->bias) != NULL;
}

/* libdw finds the unit of an address by .debug_aranges, which clang leaves out
 * unless told. */
static bool finds_units(const struct libdw *l)
{
	Dwarf *dwarf = dwfl_module_getdwarf(l->mod, &(Dwarf_Addr){ 0 });
	Dwarf_Aranges *all;
	size_t n;

	return dwarf_getaranges(dwarf, &all, &n) == 0 && n > 10;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(die,
						      DW_AT_linkage_name, &a));

	return name ? name : dwarf_diename(die);
}

/* The functions around an address, innermost first; the number of them. */
static size_t chain_by_libdw(const struct libdw *l, uint64_t vaddr,
			     const char **names, size_t most)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(l->mod, vaddr + l->bias, &bias);
	Dwarf_Die *scopes = NULL, *inl = NULL;
	int n = cu ? dwarf_getscopes(cu, vaddr, &scopes) : 0, m, i;
	size_t count = 0;

	/* Scopes by address end in the abstract function: those by DIE go on
	 * to the function that really exists. */
	m = n > 0 ? dwarf_getscopes_die(&scopes[0], &inl) : 0;
	for (i = 0; i < m && count < most; i++) {
		int tag = dwarf_tag(&inl[i]);

		if (tag == DW_TAG_inlined_subroutine ||
		    tag == DW_TAG_subprogram)
			names[count++] = die_name(&inl[i]);
	}
	free(inl);
	free(scopes);
	return count;
}

static bool same_line(struct libdw *l, const struct sym_result *r)
{
	Dwfl_Line *line = dwfl_module_getsrc(l->mod, r->vaddr + l->bias);
	int n = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &n, NULL, NULL,
						NULL) : NULL;
	const char *ours = r->nframes ? r->frames[0].file : "";
	const char *a, *b;

	/* Line 0 is no line: libdw goes back to the row before it. */
	if (!file || !n || !r->nframes || !r->frames[0].line)
		return true;
	l->lines++;
	a = strrchr(file, '/');
	b = strrchr(ours, '/');
	return (uint32_t)n == r->frames[0].line &&
	       !strcmp(a ? a : file, b ? b : ours);
}

static bool same_chain(struct libdw *l, const struct sym_result *r)
{
	const char *names[64];
	size_t n = chain_by_libdw(l, r->vaddr, names, 64), i;

	if (!n)
		return true;
	l->chains += n > 1;
	if (n != r->nframes)
		return false;
	for (i = 0; i < n; i++)
		if (!names[i] || strcmp(names[i], r->frames[i].name))
			return false;
	return true;
}

static bool compare(void *ctx, size_t i, const struct sym_result *r)
{
	struct libdw *l = ctx;

	(void)i;
	if (!same_line(l, r) || !same_chain(l, r)) {
		print_message("at %#llx: %s:%u %s differs\n",
			      (unsigned long long)r->vaddr,
			      r->nframes ? r->frames[0].file : "?",
			      r->nframes ? r->frames[0].line : 0,
			      r->nframes ? r->frames[0].name : "?");
		l->bad++;
	}
	return l->bad < 20;
}

typedef VEC(uint64_t) addresses;

static bool add_function(void *ctx, const struct image_symbol *s)
{
	addresses *v = ctx;

	for (uint64_t at = 0; at < s->size; at += STEP)
		assert_int_equal(vec_push(v, s->vaddr + at), 0);
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_second_opinion(void **state)
{
	struct libdw l = { 0 };
	struct symbolizer *s;
	struct image *img;
	addresses v = { 0 };

	(void)state;
	if (!open_libdw(&l)) {
		dwfl_end(l.dwfl);
		skip_test("built without -g: nothing to compare");
	}
	if (!finds_units(&l)) {
		dwfl_end(l.dwfl);
		skip_test("built without .debug_aranges: libdw finds nothing");
	}
	assert_int_not_equal(outer((unsigned)getpid()), 0);
	assert_int_equal(image_open_file("/proc/self/exe", &img, NULL), 0);
	image_each_symbol(img, IMAGE_SYMTAB, add_function, &v);
	assert_true(v.n > 1000);
	qsort(v.v, v.n, sizeof(*v.v), by_value);
	assert_int_equal(symbolizer_open(img, NULL, &s, NULL), 0);
	symbolizer_resolve(s, v.v, v.n, compare, &l, NULL);
	print_message("%zu addresses: %zu lines, %zu chains compared\n", v.n,
		      l.lines, l.chains);
	assert_int_equal(l.bad, 0);
	assert_true(l.lines > v.n / 2);
	symbolizer_close(s);
	image_close(img);
	vec_fini(&v);
	dwfl_end(l.dwfl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_opinion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
