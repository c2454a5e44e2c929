// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every row of compiled tables, at every address, beside libdw's reading of the
 * same call frame information (dwarf_cfi_addrframe).  Files: this program, the
 * libraries it runs with and some that may be installed, or those named.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/rows.h"
#include "unwind/unwind_internal.h"

struct pair {
	const char *path;
	struct unwind_table *t;
	Elf *elf;
	Dwarf *dw;
	Dwarf_CFI *eh, *debug;
	size_t rows, bad, restorers;
};

static void complain(struct pair *p, uint64_t addr, const char *what, int reg)
{
	if (p->bad++ < 10)
		print_error("%s: 0x%llx: %s %d differs\n", p->path,
			    (unsigned long long)addr, what, reg);
}

/* The bytes of an expression against what libdw made of them. */
static bool same_expr(struct span e, bool is64, const Dwarf_Op *ops, size_t n)
{
	struct cursor c = cursor_of(e.p, e.n);
	size_t i;

	for (i = 0; i < n && cursor_left(&c); i++) {
		uint8_t op = cursor_u8(&c);
		uint64_t v = 0;

		if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			v = (uint64_t)cursor_sleb(&c);
		else if (op == DW_OP_plus_uconst || op == DW_OP_constu)
			v = cursor_uleb(&c);
		else if (op == DW_OP_consts)
			v = (uint64_t)cursor_sleb(&c);
		else if (op == DW_OP_const1u || op == DW_OP_deref_size)
			v = cursor_u8(&c);
		else if (op == DW_OP_const1s)
			v = (uint64_t)(int8_t)cursor_u8(&c);
		else if (op == DW_OP_const2s || op == DW_OP_skip ||
			 op == DW_OP_bra)
			v = (uint64_t)(int16_t)cursor_u16(&c);
		else if (op == DW_OP_const4s)
			v = (uint64_t)(int32_t)cursor_u32(&c);
		if (op != ops[i].atom ||
		    (is64 ? v != ops[i].number
			  : (uint32_t)v != (uint32_t)ops[i].number))
			return false;
	}
	return i == n && !cursor_left(&c) && !c.bad;
}

static bool is_breg(const Dwarf_Op *op, bool is32, int reg, int32_t off)
{
	uint64_t r = op->atom == DW_OP_bregx ? op->number
					     : op->atom - (uint64_t)DW_OP_breg0;
	int64_t v = (int64_t)(op->atom == DW_OP_bregx ? op->number2
						      : op->number);

	return reg_of(is32, r) == reg && (int32_t)v == off;
}

static bool same_cfa(const struct pair *p, const struct rule *r,
		     const Dwarf_Op *ops, size_t n)
{
	bool is32 = p->t->is32;

	switch (r->cfa) {
	case CFA_REG:
		return n == 1 && is_breg(ops, is32, r->cfa_reg, r->cfa_val);
	case CFA_MEM:
		return n == 2 && is_breg(ops, is32, r->cfa_reg, r->cfa_val) &&
		       ops[1].atom == DW_OP_deref;
	default:
		return same_expr(p->t->exprs.v[r->cfa_val], !is32, ops, n);
	}
}

static bool is_offset(const Dwarf_Op *ops, size_t n, int32_t off)
{
	if (!n || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	return off ? n == 2 && ops[1].atom == DW_OP_plus_uconst &&
			     (int64_t)ops[1].number == off
		   : n == 1;
}

static bool same_reg(const struct pair *p, const struct rule *r, int i,
		     const Dwarf_Op *ops, size_t n)
{
	bool is32 = p->t->is32;
	int32_t v = r->val[i];

	switch (r->how[i]) {
	case HOW_UNDEFINED: return !n && ops;
	/* libdw calls undefined what the psABI does not save */
	case HOW_SAME: return !n || (i == UNWIND_RSP && is_offset(ops, n - 1, 0));
	case HOW_CFA: return is_offset(ops, n, v);
	case HOW_VAL:
		return n && ops[n - 1].atom == DW_OP_stack_value &&
		       is_offset(ops, n - 1, v);
	case HOW_REG:
		return n == 1 && ops[0].atom == DW_OP_regx &&
		       reg_of(is32, ops[0].number) == v;
	case HOW_EXPR:
		return n && ops[0].atom == DW_OP_call_frame_cfa &&
		       same_expr(p->t->exprs.v[v], !is32, ops + 1, n - 1);
	case HOW_VAL_EXPR:
		return n > 1 && ops[0].atom == DW_OP_call_frame_cfa &&
		       ops[n - 1].atom == DW_OP_stack_value &&
		       same_expr(p->t->exprs.v[v], !is32, ops + 1, n - 2);
	default:
		return n == 2 && is_breg(&ops[1], is32, r->how[i] - HOW_MEM, v);
	}
}

static void check_frame(struct pair *p, uint64_t addr, Dwarf_Frame *frame,
			bool signal)
{
	const struct rule *r;
	Dwarf_Op mem[3], *ops;
	struct rule own;
	uint32_t fast;
	size_t n;

	if (table_find(p->t, addr, &fast, &own, &r) < RULE_ASK) {
		complain(p, addr, "rule", 0);
		return;
	}
	if (r->signal != signal) {
		/* by its instructions, where CFI has nothing right to say */
		if (r->signal)
			p->restorers++;
		else
			complain(p, addr, "signal", signal);
		return;
	}
	if (dwarf_frame_cfa(frame, &ops, &n) || !same_cfa(p, r, ops, n))
		complain(p, addr, "CFA", r->cfa);
	for (int reg = 0; reg < UNWIND_REGS; reg++) {
		int i = reg_of(p->t->is32, (uint64_t)reg);

		if (i < 0)
			continue;
		if (dwarf_frame_register(frame, reg, mem, &ops, &n) ||
		    !same_reg(p, r, i, ops, n))
			complain(p, addr, "register", i);
	}
}

/* Our rule of addr holds up to `end`; a restorer may lie in between. */
static void check_run(struct pair *p, uint64_t addr, uint64_t end)
{
	const struct rule *r;
	struct rule own;
	uint32_t fast;
	int first = table_find(p->t, addr, &fast, &own, &r);
	bool was_signal = first >= RULE_ASK && r->signal;

	for (uint64_t a = addr + 1; a < end; a++) {
		int id = table_find(p->t, a, &fast, &own, &r);

		if (id != first && id >= RULE_ASK && r->signal)
			p->restorers++;
		else if (id != first && !was_signal)
			complain(p, a, "row", id);
		else
			first = id;
		was_signal = id >= RULE_ASK && r->signal;
	}
}

static void check_none(struct pair *p, uint64_t addr)
{
	const struct rule *r;
	struct rule own;
	uint32_t fast;
	int id = table_find(p->t, addr, &fast, &own, &r);

	if (id >= RULE_ASK && r->signal)
		p->restorers++;
	else if (id != RULE_NONE)
		complain(p, addr, "nothing but rule", id);
}

static void check_range(struct pair *p, uint64_t lo, uint64_t hi)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal;

	for (uint64_t addr = lo; addr < hi; addr = end) {
		frame = NULL;
		end = addr + 1;
		if ((!p->eh || dwarf_cfi_addrframe(p->eh, addr, &frame)) &&
		    (!p->debug || dwarf_cfi_addrframe(p->debug, addr, &frame))) {
			check_none(p, addr);
			continue;
		}
		dwarf_frame_info(frame, &start, &end, &signal);
		check_frame(p, addr, frame, signal);
		if (end > hi)
			end = hi;
		check_run(p, addr, end);
		p->rows++;
		free(frame);
	}
}

static void check_file(const char *path)
{
	struct pair p = { .path = path };
	struct image *img;
	uint64_t lo, hi;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(image_open_file(path, &img, NULL), 0);
	assert_true(image_code_range(img, &lo, &hi));
	assert_int_equal(unwind_table_open(img, &p.t), 0);
	elf_version(EV_CURRENT);
	p.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	p.dw = dwarf_begin_elf(p.elf, DWARF_C_READ, NULL);
	p.eh = dwarf_getcfi_elf(p.elf);
	p.debug = p.dw ? dwarf_getcfi(p.dw) : NULL;
	check_range(&p, lo, hi);
	print_message("# %s: %zu rows, %zu addresses of restorers\n", path,
		      p.rows, p.restorers);
	assert_int_equal(p.bad, 0);
	assert_true(p.rows > 0);
	unwind_table_close(p.t);
	if (p.eh)
		dwarf_cfi_end(p.eh);
	dwarf_end(p.dw);
	elf_end(p.elf);
	close(fd);
}

static void test_self(void **state)
{
	(void)state;
	check_file("/proc/self/exe");
}

static int each_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size, (void)ctx;
	if (info->dlpi_name[0] == '/')
		check_file(info->dlpi_name);
	return 0;
}

/* libc, ld.so, libdw and what they need. */
static void test_loaded(void **state)
{
	(void)state;
	dl_iterate_phdr(each_library, NULL);
}

/* Assembly with CFI by hand; C++; skipped where they are not installed. */
static void test_installed(void **state)
{
	static const char *const names[] = { "libcrypto.so.3", "libstdc++.so.6",
					     "libgmp.so.10" };
	int found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *so = dlopen(names[i], RTLD_LAZY);
		struct link_map *map = NULL;

		if (!so)
			continue;
		found++;
		if (!dlinfo(so, RTLD_DI_LINKMAP, &map))
			check_file(map->l_name);
		dlclose(so);
	}
	if (!found)
		skip_test("none of these libraries is installed");
}

/* Built for it: see local.mk. */
static void check_built(const char *name)
{
	const char *top = getenv("top_builddir");
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/unwind/%s", top ? top : ".",
		 name);
	if (access(path, R_OK))
		skip_test("its program was not built: no static libc");
	check_file(path);
}

/* KB of a mapping of this process that are in memory (proc(5), smaps). */
static long resident(const void *at)
{
	uintptr_t addr = (uintptr_t)at;
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	bool here = false;
	long kb = -1;

	while (f && kb < 0 && fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx", &start, &end) == 2)
			here = addr >= start && addr < end;
		else if (here)
			sscanf(line, "Rss: %ld", &kb);
	}
	if (f)
		fclose(f);
	return kb;
}

/* Every byte of code is looked at, but most of the file is not kept in memory. */
static void test_memory(void **state)
{
	struct unwind_table *t;
	struct image *img;
	struct span file;
	uint64_t lo, hi;
	long before, after = -1;
	Dl_info libc;
	int fd;

	(void)state;
	assert_true(dladdr((void *)(uintptr_t)gnu_get_libc_version,
			   &libc));
	fd = open(libc.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_int_equal(image_open_fd(fd, libc.dli_fname, &img, NULL), 0);
	close(fd);
	assert_int_equal(unwind_table_open(img, &t), 0);
	file = image_file_bytes(img);
	assert_true(image_code_range(img, &lo, &hi));
	/* A table of fewer pages proves nothing. */
	assert_true(t->npages > 8);
	before = resident(file.p);
	for (size_t i = 0; i < t->npages / 64 * 64; i++) {
		const struct rule *rule;
		struct rule own;
		uint32_t fast;

		table_find(t, t->base + i * PAGE_SIZE_, &fast, &own, &rule);
	}
	after = resident(file.p);
	print_message("# %ld KB before, %ld KB after %zu KB of code\n", before,
		      after, t->npages * PAGE_SIZE_ >> 10);
	assert_true(after >= 0);
	assert_true(after < (long)((hi - lo) >> 10) / 4);
	unwind_table_close(t);
}

/* The word of each address in libc, alone and among the rows of its page. */
static void test_words(void **state)
{
	struct unwind_rows rows = { 0 };
	struct tally_table head;
	struct unwind_table *t;
	size_t kinds[8] = { 0 };
	struct image *img;
	Dl_info libc;
	int fd;

	(void)state;
	assert_true(dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc));
	fd = open(libc.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_int_equal(image_open_fd(fd, libc.dli_fname, &img, NULL), 0);
	close(fd);
	assert_int_equal(unwind_table_open(img, &t), 0);
	assert_true(unwind_rows_table(t, &head));
	for (uint32_t page = 0; page < head.pages; page++) {
		uint64_t base = head.base + ((uint64_t)page << TALLY_PAGE_BITS);
		uint8_t all = UINT8_MAX;

		assert_int_equal(unwind_rows_make(t, page, &all, &rows), 0);
		for (uint32_t at = 0; at < 1u << TALLY_PAGE_BITS; at++) {
			uint32_t word = unwind_rows_get(&rows, (uint16_t)at);
			uint32_t kind = word & 7;

			/* rules are numbered in their page */
			assert_int_equal(unwind_rows_word(t, base + at),
					 kind == TALLY_ROW_RULE ? kind : word);
			kinds[kind]++;
		}
	}
	assert_true(kinds[TALLY_ROW_NONE] && kinds[TALLY_ROW_RSP] &&
		    kinds[TALLY_ROW_RBP] && kinds[TALLY_ROW_RULE] &&
		    kinds[TALLY_ROW_PLT]);
	unwind_rows_free(&rows);
	unwind_table_close(t);
}

static void test_debug_frame(void **state)
{
	(void)state;
	check_built("frames_debug");
}

static void test_realigned(void **state)
{
	(void)state;
	check_built("frames_realign");
}

/* Restorers without CFI: one that two pages share, and one at the start of a page,
 * whose return address is looked up in the page before. */
_Static_assert(PAGE_SIZE_ == 8192, "the assembly uses this number");
__asm__(".pushsection .text, \"ax\"\n"
	".p2align 13\n"
	".skip 8191, 0x90\n"
	"shared_restorer:\n"
	".byte 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 15, 5\n"
	".skip 8184, 0x90\n"
	"first_restorer:\n"
	".byte 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 15, 5\n"
	".skip 16, 0x90\n"
	".popsection");
extern const uint8_t shared_restorer[], first_restorer[];

static bool is_signal_at(struct unwind_table *t, uint64_t vaddr)
{
	const struct rule *r;
	struct rule own;
	uint32_t fast;

	return table_find(t, vaddr, &fast, &own, &r) >= RULE_ASK && r->signal;
}

static void test_restorers(void **state)
{
	enum { SIZE = 9 };
	const uint8_t *const begin[] = { shared_restorer, first_restorer };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table *t;
	struct image *img;
	struct link_map *map;
	Dl_info self;

	(void)state;
	assert_true(dladdr1(shared_restorer, &self, (void **)&map, RTLD_DL_LINKMAP));
	assert_int_equal(image_open_fd(fd, "self", &img, NULL), 0);
	close(fd);
	assert_int_equal(unwind_table_open(img, &t), 0);
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		uint64_t at = (uintptr_t)begin[i] - map->l_addr;

		assert_int_equal(at % PAGE_SIZE_, i ? 0 : PAGE_SIZE_ - 1);
		assert_false(is_signal_at(t, at - 2));
		for (uint64_t a = at - 1; a < at + SIZE; a++)
			assert_true(is_signal_at(t, a));
		assert_false(is_signal_at(t, at + SIZE));
	}
	unwind_table_close(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restorers),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_loaded),
		cmocka_unit_test(test_installed),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_realigned),
	};

	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	if (argc > 1)
		return 0;
	return cmocka_run_group_tests_name("unwind/tables", tests, NULL, NULL);
}
