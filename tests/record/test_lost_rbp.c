// SPDX-License-Identifier: GPL-2.0-or-later
/* Frame pointers by the calls that made them. */
#include "../checks.h"
#include <string.h>

#include "record/collect/lost_rbp.h"

/* The program: code at CODE, of which the function begins at FUNCTION. */
enum { CODE = 0x10000, FUNCTION = CODE + 0x100, PLT = CODE + 0x200,
       GOT = CODE + 0x300, STACK = 0x7ff000, SIZE = 0x400 };

struct program {
	uint8_t code[SIZE];
	uint64_t stack[32];
};

static bool read_code(void *ctx, uint64_t addr, void *to, size_t n)
{
	const struct program *p = ctx;

	if (addr < CODE || addr + n > CODE + SIZE)
		return false;
	memcpy(to, p->code + (addr - CODE), n);
	return true;
}

static bool is_code(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr >= CODE && addr < CODE + SIZE;
}

static void put(struct program *p, uint64_t addr, const void *bytes, size_t n)
{
	memcpy(p->code + (addr - CODE), bytes, n);
}

/* A call that ends at `ra`. */
static void put_call(struct program *p, uint64_t ra, uint64_t to)
{
	int32_t disp = (int32_t)(to - ra);

	put(p, ra - 5, "\xe8", 1);
	put(p, ra - 4, &disp, sizeof(disp));
}

static bool find(struct program *p, uint64_t *rbp, bool *guessed)
{
	const struct rbp_search s = {
		.function = FUNCTION, .stack = (const uint8_t *)p->stack,
		.sp = STACK, .size = sizeof(p->stack), .read = read_code,
		.is_code = is_code, .ctx = p,
	};

	return lost_rbp_find(&s, rbp, guessed);
}

static void a_call_of_the_function_tells(void **state)
{
	struct program p = { 0 };
	uint64_t rbp = 0;
	bool guessed = true;

	(void)state;
	put_call(&p, CODE + 0x20, CODE + 0x180);	/* of another one */
	put(&p, CODE + 0x40 - 2, "\xff\xd0", 2);	/* call *%rax */
	put_call(&p, CODE + 0x60, FUNCTION);
	p.stack[3] = CODE + 0x20;
	p.stack[5] = CODE + 0x40;
	p.stack[9] = CODE + 0x60;
	assert_true(find(&p, &rbp, &guessed));
	assert_int_equal(rbp, STACK + 8 * 8);
	assert_false(guessed);
}

static void a_call_through_the_plt_tells(void **state)
{
	struct program p = { 0 };
	uint64_t rbp = 0, to = FUNCTION;
	int32_t disp = GOT - (PLT + 5 + 6);	/* behind the jmp */
	bool guessed = true;

	(void)state;
	put(&p, PLT, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7);
	put(&p, PLT + 7, &disp, sizeof(disp));
	put(&p, GOT, &to, sizeof(to));
	put_call(&p, CODE + 0x60, PLT);
	p.stack[4] = CODE + 0x60;
	assert_true(find(&p, &rbp, &guessed));
	assert_int_equal(rbp, STACK + 8 * 3);
	assert_false(guessed);
}

static void an_indirect_call_is_a_guess(void **state)
{
	struct program p = { 0 };
	uint64_t rbp = 0;
	bool guessed = false;

	(void)state;
	put(&p, CODE + 0x40 - 3, "\xff\x50\x18", 3);	/* call *0x18(%rax) */
	put(&p, CODE + 0x80 - 2, "\xff\xd3", 2);
	p.stack[2] = CODE + 0x40;
	p.stack[6] = CODE + 0x80;
	assert_true(find(&p, &rbp, &guessed));
	assert_int_equal(rbp, STACK + 8);
	assert_true(guessed);
}

static void no_call_is_no_answer(void **state)
{
	struct program p = { 0 };
	uint64_t rbp = 0;
	bool guessed;

	(void)state;
	for (size_t i = 0; i < 32; i++)
		p.stack[i] = CODE + 8 * i;	/* code, but no call before */
	assert_false(find(&p, &rbp, &guessed));
	memset(p.stack, 0xff, sizeof(p.stack));
	assert_false(find(&p, &rbp, &guessed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_the_function_tells),
		cmocka_unit_test(a_call_through_the_plt_tells),
		cmocka_unit_test(an_indirect_call_is_a_guess),
		cmocka_unit_test(no_call_is_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
