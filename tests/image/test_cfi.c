// SPDX-License-Identifier: GPL-2.0-or-later
/* cfi: pointer encodings and entries as LSB Core 5.0 ("Exception Frames") and
 * DWARF 5 §6.4.1 describe them; this program's own tables. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "image/cfi.h"

static struct cfi_section section(const void *p, size_t n, bool is64)
{
	return (struct cfi_section){
		.data = { p, n }, .vaddr = 0x1000, .text = 0x400000,
		.got = 0x600000, .is64 = is64,
	};
}

/* "DWARF Exception Header Encoding" of the LSB. */
static void test_pointers(void **state)
{
	static const uint8_t bytes[] = { 0xf0, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0x7f };
	static const struct { uint8_t enc; uint64_t want; size_t used; } t[] = {
		{ 0x00, 0x7ffffffffffffff0, 8 },	/* absptr */
		{ 0x02, 0xfff0, 2 },			/* udata2 */
		{ 0x03, 0xfffffff0, 4 },		/* udata4 */
		{ 0x0a, (uint64_t)-16, 2 },		/* sdata2 */
		{ 0x0b, (uint64_t)-16, 4 },		/* sdata4 */
		{ 0x0c, 0x7ffffffffffffff0, 8 },	/* sdata8 */
		{ 0x1b, 0x1000 - 16, 4 },		/* pcrel */
		{ 0x2b, 0x400000 - 16, 4 },		/* textrel */
		{ 0x3b, 0x600000 - 16, 4 },		/* datarel */
		{ 0x4b, 0x7000 - 16, 4 },		/* funcrel */
		{ 0x9b, 0x1000 - 16, 4 },		/* indirect: its place */
	};
	struct cfi_section s = section(bytes, sizeof(bytes), true);
	struct cursor c;
	uint64_t v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		c = cursor_of(bytes, sizeof(bytes));
		assert_true(cfi_pointer(&s, &c, t[i].enc, 0x7000, &v));
		assert_int_equal(v, t[i].want);
		assert_int_equal(cursor_offset(&c), t[i].used);
	}
	c = cursor_of(bytes, sizeof(bytes));
	assert_false(cfi_pointer(&s, &c, 0xff, 0, &v));	/* omitted */
	assert_false(cfi_pointer(&s, &c, 0x07, 0, &v));	/* no such form */
	c = cursor_of(bytes, 3);
	assert_false(cfi_pointer(&s, &c, 0x0b, 0, &v));	/* cut */
	s.is64 = false;
	c = cursor_of(bytes, sizeof(bytes));
	assert_true(cfi_pointer(&s, &c, 0x1b, 0, &v));
	assert_int_equal(v, 0x1000 - 16);
	c = cursor_of(bytes, sizeof(bytes));
	assert_true(cfi_pointer(&s, &c, 0x00, 0, &v));
	assert_int_equal(v, 0xfffffff0);
}

/* One CIE "zPLR" and one FDE; sdata4 pcrel as gcc writes them. */
static const uint8_t frames[] = {
	0x1c, 0, 0, 0, 0, 0, 0, 0,	/* length 28, CIE */
	1, 'z', 'P', 'L', 'R', 0,	/* version, augmentation */
	1, 0x78, 16, 7,			/* code 1, data -8, ra 16; 7 bytes: */
	0x03, 0x11, 0x22, 0x33, 0x44, 0x1b, 0x1b,
	0x0c, 7, 8, 0x90, 1, 0, 0,	/* def_cfa, offset, nop, nop */
	0x18, 0, 0, 0, 0x24, 0, 0, 0,	/* length 24, CIE 36 bytes before */
	0xd8, 0xff, 0xff, 0xff,		/* 0x1028 - 40 */
	0x50, 0, 0, 0,			/* size */
	4, 0x10, 0, 0, 0,		/* LSDA at 0x1031 + 16 */
	0x41, 0x0e, 0x10, 0, 0, 0, 0,	/* program */
	0, 0, 0, 0,			/* the end */
	0x18, 0, 0, 0, 0x24, 0, 0, 0,	/* not reached */
};

static void test_entries(void **state)
{
	struct cfi_section s = section(frames, sizeof(frames), true);
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	uint64_t at = 0;

	(void)state;
	s.kind = CFI_EH_FRAME;
	assert_int_equal(cfi_next(&s, &at, &cie, &fde), CFI_CIE);
	assert_int_equal(at, 32);
	assert_int_equal(cfi_next(&s, &at, &cie, &fde), CFI_FDE);
	assert_int_equal(fde.start, 0x1000);
	assert_int_equal(fde.size, 0x50);
	assert_int_equal(fde.lsda, 0x1041);
	assert_int_equal(fde.program.n, 7);
	assert_int_equal(fde.program.p[0], 0x41);
	assert_int_equal(cie.at, 0);
	assert_int_equal(cie.code_align, 1);
	assert_int_equal(cie.data_align, -8);
	assert_int_equal(cie.ra_reg, 16);
	assert_int_equal(cie.personality, 0x44332211);
	assert_int_equal(cie.fde_encoding, 0x1b);
	assert_int_equal(cie.program.n, 7);
	assert_int_equal(cie.program.p[0], 0x0c);
	assert_false(cie.signal);
	assert_int_equal(cfi_next(&s, &at, &cie, &fde), CFI_END);
}

/* Cut or overwritten anywhere, a walk ends and stays inside. */
static void test_damage(void **state)
{
	uint8_t hurt[sizeof(frames)];
	size_t n, i;

	(void)state;
	for (n = 0; n < 2 * sizeof(frames); n++) {
		struct cfi_section s;
		struct cfi_cie cie = { 0 };
		struct cfi_fde fde;
		uint64_t at = 0;

		memcpy(hurt, frames, sizeof(frames));
		if (n < sizeof(frames))
			hurt[n] = 0xff;
		s = section(hurt, n < sizeof(frames) ? n
						     : n - sizeof(frames), true);
		for (i = 0; cfi_next(&s, &at, &cie, &fde) != CFI_END; i++)
			assert_true(i < sizeof(frames) && at <= s.data.n);
	}
}

static int first_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

/* Functions of this program, as the compiler's tables have them. */
static void test_own_functions(void **state)
{
	struct cfi_section s;
	struct cfi_cie cie;
	struct cfi_fde fde;
	struct image *img;
	struct error err;
	uint64_t base = 0, f = (uint64_t)(uintptr_t)test_entries;

	(void)state;
	dl_iterate_phdr(first_module, &base);
	if (image_open_file("/proc/self/exe", &img, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(image_find_fde(img, f - base, &s, &cie, &fde));
	assert_int_equal(fde.start, f - base);
	assert_true(image_find_fde(img, f - base + fde.size - 1, &s, &cie,
				   &fde));
	assert_int_equal(fde.start, f - base);
	assert_false(image_find_fde(img, UINT64_MAX, &s, &cie, &fde));
	image_close(img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_own_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
