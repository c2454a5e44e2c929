// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Java's code cache in memory that was made for the test.  What frames must look like
 * is worked out by hand from the instructions in made_jvm.c.
 */
#include "../checks.h"

#include <stdlib.h>

#include "made_jvm.h"
#include "runtime/hotspot.h"

enum { BASE = 0x10000000, STACK = 0x7000, WORDS = 64 };

struct fixture {
	struct made_jvm m;
	struct hotspot *h;
	uint64_t stack[400];
};

static bool stack_word(void *ctx, uint64_t addr, uint64_t *out)
{
	const struct fixture *f = ctx;

	if (addr < STACK || addr - STACK >= sizeof(f->stack) || addr % 8)
		return false;
	*out = f->stack[(addr - STACK) / 8];
	return true;
}

static struct hotspot_door door_of(struct fixture *f)
{
	return (struct hotspot_door){ made_jvm_read, made_jvm_symbol, &f->m };
}

static struct fixture *fixture_new(bool newer)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hotspot_door door;

	assert_non_null(f);
	made_jvm_make(&f->m, BASE, newer);
	door = door_of(f);
	assert_int_equal(hotspot_new(&f->h, &door), 0);
	return f;
}

static void fixture_free(struct fixture *f)
{
	hotspot_free(f->h);
	free(f);
}

static const char *name_at(struct fixture *f, uint64_t pc, uint64_t rbp)
{
	struct hotspot_stack s = { stack_word, f };
	struct unwind_regs r = { .known = UINT32_MAX };
	const struct hotspot_blob *b = hotspot_find(f->h, pc);

	r.r[UNWIND_RIP] = pc;
	r.r[UNWIND_RSP] = STACK;
	r.r[UNWIND_RBP] = rbp;
	return b ? hotspot_text(f->h, hotspot_name(f->h, b, &r, &s)) : "none";
}

static void blobs_are_found(bool newer)
{
	struct fixture *f = fixture_new(newer);
	uint64_t method = made_jvm_code(&f->m, MADE_METHOD);
	const struct hotspot_blob *b = hotspot_find(f->h, method + 5);

	assert_non_null(b);
	assert_int_equal(b->kind, HOTSPOT_METHOD);
	assert_true(b->code == method);
	assert_int_equal(b->end - b->code, MADE_METHOD_N * 32 - 16 - MADE_CODE);
	assert_int_equal(b->frame_size, MADE_FRAME);
	assert_int_equal(b->complete, 12);
	assert_int_equal(b->compile_id, 77);
	/* hundreds of segments behind its begin */
	b = hotspot_find(f->h, f->m.heap + (MADE_INTERPRETER_N - 1) * 32);
	assert_non_null(b);
	assert_int_equal(b->kind, HOTSPOT_INTERPRETER);
	assert_int_equal(b->complete, UINT32_MAX);
	/* a blob's head is no code; free; outside */
	assert_null(hotspot_find(f->h, method - 1));
	assert_null(hotspot_find(f->h, made_jvm_code(&f->m, MADE_FREE)));
	assert_null(hotspot_find(f->h, f->m.heap - 1));
	assert_null(hotspot_find(f->h, f->m.heap + (MADE_SEGMENTS << MADE_LOG2)));
	fixture_free(f);
}

static void code_is_found(void **state)
{
	(void)state;
	blobs_are_found(false);
	blobs_are_found(true);
}

static void methods_have_names(void **state)
{
	struct fixture *f = fixture_new(false);

	(void)state;
	assert_string_equal(name_at(f, made_jvm_code(&f->m, MADE_METHOD), 0),
			    "shop.Cart.total(java.util.List, long[][], boolean)");
	/* without the address that differs from run to run */
	assert_string_equal(name_at(f, made_jvm_code(&f->m, MADE_OTHER), 0),
			    "shop.Cart$$Lambda$7.<init>()");
	assert_string_equal(name_at(f, made_jvm_code(&f->m, MADE_INTERPRETER), 0),
			    "Interpreter");
	fixture_free(f);
}

/* Where the frame's return address and rbp are, from rsp. */
static void check_frame(struct fixture *f, uint64_t pc, bool exact, int ra,
			int rbp)
{
	struct hotspot_stack s = { stack_word, f };
	struct unwind_regs r = { .known = UINT32_MAX };
	const struct hotspot_blob *b = hotspot_find(f->h, pc - !exact);
	struct unwind_caller c;

	r.r[UNWIND_RIP] = pc;
	r.r[UNWIND_RSP] = STACK;
	r.r[UNWIND_RBP] = 77;
	assert_non_null(b);
	assert_true(hotspot_frame(f->h, b, &r, exact, &s, &c));
	assert_int_equal(c.ra_at, STACK + ra);
	assert_int_equal(c.sp, STACK + ra + 8);
	assert_int_equal(c.has_rbp, rbp >= 0);
	if (rbp >= 0)
		assert_int_equal(c.rbp_at, STACK + rbp);
}

static void compiled_frames_by_their_instructions(void **state)
{
	struct fixture *f = fixture_new(false);
	uint64_t a = made_jvm_code(&f->m, MADE_METHOD);
	uint64_t b = made_jvm_code(&f->m, MADE_OTHER);

	(void)state;
	check_frame(f, a, true, 0, -1);
	check_frame(f, a + 7, true, 0, -1);
	check_frame(f, a + 8, true, 8, 0);	/* rbp was pushed */
	check_frame(f, a + 12, true, 40, 32);
	check_frame(f, a + 18, false, 40, 32);	/* behind the call */
	check_frame(f, a + 18, true, 40, 32);
	check_frame(f, a + 22, true, 8, 0);	/* pop rbp is next */
	check_frame(f, a + 23, true, 0, -1);
	check_frame(f, a + 36, true, 0, -1);
	check_frame(f, a + 37, true, 40, 32);
	check_frame(f, b, true, 0, -1);
	check_frame(f, b + 7, true, 40, -1);	/* rbp is not stored yet */
	check_frame(f, b + 12, true, 40, 32);
	fixture_free(f);
}

/* The caller's rsp behind its call is in r13. */
static void check_adapter(struct fixture *f, int at, uint64_t r13, int64_t ra,
			  int sp)
{
	struct hotspot_stack s = { stack_word, f };
	struct unwind_regs r = { .known = UINT32_MAX };
	const struct hotspot_blob *b;
	struct unwind_caller c = { 0 };

	r.r[UNWIND_RIP] = made_jvm_code(&f->m, MADE_ADAPTER) + (uint64_t)at;
	r.r[UNWIND_RSP] = STACK;
	r.r[UNWIND_R8 + 5] = r13;
	b = hotspot_find(f->h, r.r[UNWIND_RIP]);
	assert_non_null(b);
	assert_int_equal(hotspot_frame(f->h, b, &r, true, &s, &c), ra >= 0);
	assert_false(c.has_rbp);
	assert_int_equal(c.ra_at, ra < 0 ? 0 : STACK + ra);
	assert_int_equal(c.sp, ra < 0 ? 0 : STACK + sp);
}

static void adapters_have_the_callers_frame(void **state)
{
	struct fixture *f = fixture_new(true);

	(void)state;
	check_adapter(f, 0, STACK + 64, 0, 8);	/* r13 is the caller's own */
	check_adapter(f, 1, STACK, -1, 0);	/* only rax has it */
	check_adapter(f, 8, STACK + 32, -1, 0);
	check_adapter(f, 12, STACK + 32, 0, 32);
	check_adapter(f, 17, STACK + 32, 0, 32);
	check_adapter(f, 17, STACK - 8, 0, 8);	/* it cannot be that */
	check_adapter(f, 19, STACK + 8, 0, 8);
	check_adapter(f, 27, STACK + 8, -1, 0);
	check_adapter(f, 28, STACK + 16, 0, 16);
	fixture_free(f);
}

/* As gdb shows at SharedRuntime::fixup_callers_callsite of OpenJDK 17 and 25: rsp + 8
 * is 2840 bytes below r13, whose own copy is at 2704. */
static void adapters_that_call_the_machine(void **state)
{
	struct fixture *f = fixture_new(true);
	uint64_t pc = made_jvm_code(&f->m, MADE_ADAPTER) + 19;
	const struct hotspot_blob *b = hotspot_find(f->h, pc - 1);
	struct hotspot_stack s = { stack_word, f };
	struct unwind_regs r = { .known = 1u << UNWIND_RIP | 1u << UNWIND_RSP };
	struct unwind_caller c;

	(void)state;
	r.r[UNWIND_RIP] = pc;
	r.r[UNWIND_RSP] = STACK;
	assert_false(hotspot_frame(f->h, b, &r, false, &s, &c));
	f->stack[2704 / 8] = STACK + 2840;
	assert_true(hotspot_frame(f->h, b, &r, false, &s, &c));
	assert_int_equal(c.ra_at, STACK + 2840);
	assert_int_equal(c.sp, STACK + 2848);
	assert_false(c.has_rbp);
	f->stack[2704 / 8] = STACK + 2848;	/* more than alignment */
	assert_false(hotspot_frame(f->h, b, &r, false, &s, &c));
	f->stack[2704 / 8] = STACK + 2836;
	assert_false(hotspot_frame(f->h, b, &r, false, &s, &c));
	fixture_free(f);
}

static void interpreted_frames_by_rbp(void **state)
{
	struct fixture *f = fixture_new(true);
	uint64_t pc = made_jvm_code(&f->m, MADE_INTERPRETER) + 9, rbp = STACK + 80;
	struct hotspot_stack s = { stack_word, f };
	struct unwind_regs r = { .known = UINT32_MAX };
	struct unwind_caller c;

	(void)state;
	r.r[UNWIND_RIP] = pc;
	r.r[UNWIND_RSP] = STACK;
	r.r[UNWIND_RBP] = rbp;
	f->stack[(80 - 24) / 8] = f->m.methods[0];
	f->stack[(80 - 8) / 8] = STACK + 120;
	assert_true(hotspot_frame(f->h, hotspot_find(f->h, pc), &r, false, &s, &c));
	assert_int_equal(c.ra_at, rbp + 8);
	assert_true(c.has_rbp);
	assert_int_equal(c.rbp_at, rbp);
	assert_int_equal(c.sp, STACK + 120);	/* before room was made */
	assert_string_equal(name_at(f, pc, rbp),
			    "shop.Cart.total(java.util.List, long[][], boolean)");
	/* without a sensible one, that above the return address */
	f->stack[(80 - 8) / 8] = STACK + 8;
	assert_true(hotspot_frame(f->h, hotspot_find(f->h, pc), &r, false, &s, &c));
	assert_int_equal(c.sp, rbp + 16);
	/* no method: it is no frame, or not yet */
	f->stack[(80 - 24) / 8] = f->m.heap;
	assert_false(hotspot_frame(f->h, hotspot_find(f->h, pc), &r, false, &s, &c));
	assert_string_equal(name_at(f, pc, rbp), "Interpreter");
	fixture_free(f);
}

static void what_was_replaced_is_read_again(void **state)
{
	struct fixture *f = fixture_new(false);
	uint64_t pc = made_jvm_code(&f->m, MADE_METHOD);

	(void)state;
	assert_string_equal(name_at(f, pc, 0),
			    "shop.Cart.total(java.util.List, long[][], boolean)");
	made_jvm_replace(&f->m, f->m.methods[1]);
	hotspot_batch(f->h);
	assert_string_equal(name_at(f, pc, 0), "shop.Cart$$Lambda$7.<init>()");
	assert_int_equal(hotspot_find(f->h, pc)->compile_id, 78);
	fixture_free(f);
}

static void what_ended_is_as_it_was(void **state)
{
	struct fixture *f = fixture_new(false);
	uint64_t pc = made_jvm_code(&f->m, MADE_METHOD);

	(void)state;
	assert_string_equal(name_at(f, pc + 3, 0),
			    "shop.Cart.total(java.util.List, long[][], boolean)");
	f->m.closed = true;
	hotspot_batch(f->h);
	assert_string_equal(name_at(f, pc + 3, 0),
			    "shop.Cart.total(java.util.List, long[][], boolean)");
	fixture_free(f);
}

/* The bytes of a symbol, wherever it is. */
static uint8_t *find_text(struct made_jvm *m, const char *s)
{
	uint8_t *p = memmem(m->mem, MADE_SIZE, s, strlen(s));

	assert_non_null(p);
	return p;
}

static void damage_is_no_answer(void **state)
{
	struct fixture *f = fixture_new(false);
	uint64_t pc = made_jvm_code(&f->m, MADE_METHOD);
	uint8_t *map = made_jvm_at(&f->m, f->m.segmap);

	(void)state;
	memcpy(find_text(&f->m, "(Ljava/util/List"), "(Qjava", 6);
	assert_string_equal(name_at(f, pc, 0), "nmethod");
	memcpy(find_text(&f->m, "<init>"), "<in\n\t>", 6);
	assert_string_equal(name_at(f, made_jvm_code(&f->m, MADE_OTHER), 0),
			    "shop.Cart$$Lambda$7.<in?\?>()");
	/* back before the heap's begin */
	hotspot_batch(f->h);
	memset(map, 254, MADE_SEGMENTS);
	assert_null(hotspot_find(f->h, f->m.heap + 100));
	/* a blob that is larger than its block */
	map[MADE_METHOD] = 0;
	hotspot_batch(f->h);
	memset(made_jvm_at(&f->m, made_jvm_code(&f->m, MADE_METHOD) - MADE_CODE +
			   20), 0x7f, 4);
	assert_null(hotspot_find(f->h, f->m.heap + MADE_METHOD * 32 + 120));
	fixture_free(f);
}

static void damaged_tables_are_reported(void **state)
{
	struct fixture *f = fixture_new(false);
	struct hotspot_door door = door_of(f);
	struct hotspot *h = NULL;

	(void)state;
	memcpy(find_text(&f->m, "_frame_size"), "_other_size", 11);
	assert_int_equal(hotspot_new(&h, &door), -ERR_FORMAT);
	memset(made_jvm_at(&f->m, made_jvm_symbol(&f->m,
			   "gHotSpotVMStructEntryArrayStride")), 0xff, 8);
	assert_int_equal(hotspot_new(&h, &door), -ERR_NOTFOUND);
	f->m.nsymbols = 0;
	assert_int_equal(hotspot_new(&h, &door), -ERR_NOTFOUND);
	assert_null(h);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_found),
		cmocka_unit_test(methods_have_names),
		cmocka_unit_test(compiled_frames_by_their_instructions),
		cmocka_unit_test(adapters_have_the_callers_frame),
		cmocka_unit_test(adapters_that_call_the_machine),
		cmocka_unit_test(interpreted_frames_by_rbp),
		cmocka_unit_test(what_was_replaced_is_read_again),
		cmocka_unit_test(what_ended_is_as_it_was),
		cmocka_unit_test(damage_is_no_answer),
		cmocka_unit_test(damaged_tables_are_reported),
	};

	return cmocka_run_group_tests_name("hotspot", tests, NULL, NULL);
}
