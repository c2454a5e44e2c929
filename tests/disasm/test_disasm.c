// SPDX-License-Identifier: GPL-2.0-or-later
/* What disasm.h promises of hostile bytes, and flow; bytes by Intel's manual. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <elf.h>
#include <string.h>

#include "disasm/disasm.h"

static struct disasm *open_x86(enum disasm_syntax syntax)
{
	struct disasm *d;
	struct error err;

	if (!disasm_knows(EM_X86_64))
		skip_test("built without a disassembler");
	assert_int_equal(disasm_open(EM_X86_64, syntax, &d, &err), 0);
	return d;
}

static void test_machines(void **state)
{
	struct disasm *d = (struct disasm *)state;
	struct error err;

	assert_false(disasm_knows(EM_AARCH64));
	assert_int_equal(disasm_open(EM_AARCH64, SYNTAX_INTEL, &d, &err),
			 -ERR_UNSUPPORTED);
	assert_null(d);
	assert_true(err.msg[0]);
}

struct want {
	const char *bytes;
	uint8_t n, size, flow;
	bool bad, has_target, has_data;
	uint64_t target;
	const char *text;
};

/* At 0x1000; Intel SDM volume 2. */
static const struct want wants[] = {
	{ "\xeb\xfe", 2, 2, FLOW_JUMP, 0, 1, 0, 0x1000, "jmp 0x1000" },
	{ "\x74\x10", 2, 2, FLOW_BRANCH, 0, 1, 0, 0x1012, "je 0x1012" },
	{ "\x0f\x87\0\1\0\0", 6, 6, FLOW_BRANCH, 0, 1, 0, 0x1106,
	  "ja 0x1106" },
	{ "\xe8\xfb\xff\xff\xff", 5, 5, FLOW_CALL, 0, 1, 0, 0x1000,
	  "call 0x1000" },
	{ "\xc3", 1, 1, FLOW_RETURN, 0, 0, 0, 0, "ret" },
	{ "\xff\xe0", 2, 2, FLOW_JUMP, 0, 0, 0, 0, "jmp rax" },
	{ "\x0f\x0b", 2, 2, FLOW_TRAP, 0, 0, 0, 0, "ud2" },
	{ "\x48\x8b\x05\1\0\0\0", 7, 7, FLOW_NEXT, 0, 0, 1, 0x1008,
	  "mov rax, qword ptr [0x1008]" },
	{ "\x0f\x94\xc0", 3, 3, FLOW_NEXT, 0, 0, 0, 0, "sete al" },
	{ "\x06", 1, 1, FLOW_NEXT, 1, 0, 0, 0, ".byte 0x06" },
	/* cut short: one byte each */
	{ "\x48\x8b\x05\1\0", 5, 1, FLOW_NEXT, 1, 0, 0, 0, ".byte 0x48" },
	{ "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90",
	  16, 1, FLOW_NEXT, 1, 0, 0, 0, ".byte 0x66" },
};

static void test_instructions(void **state)
{
	struct disasm *d = open_x86(SYNTAX_INTEL);
	char text[DISASM_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		const struct want *w = &wants[i];
		struct disasm_insn in;

		disasm_next(d, (const uint8_t *)w->bytes, w->n, 0x1000, &in,
			    text);
		assert_string_equal(text, w->text);
		assert_int_equal(in.size, w->size);
		assert_int_equal(in.flow, w->flow);
		assert_int_equal(in.bad, w->bad);
		assert_int_equal(in.has_target, w->has_target);
		assert_int_equal(in.has_data, w->has_data);
		assert_int_equal(in.target, w->target);
		/* the same without text */
		disasm_next(d, (const uint8_t *)w->bytes, w->n, 0x1000, &in,
			    NULL);
		assert_int_equal(in.size, w->size);
	}
	disasm_close(d);
}

static void test_att(void **state)
{
	struct disasm *d = open_x86(SYNTAX_ATT);
	char text[DISASM_TEXT_MAX];
	struct disasm_insn in;

	(void)state;
	disasm_next(d, (const uint8_t *)"\x48\x01\xd8", 3, 0, &in, text);
	assert_string_equal(text, "add %rbx, %rax");
	disasm_close(d);
}

static void test_no_code(void **state)
{
	(void)state;
	disasm_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_att),
		cmocka_unit_test(test_no_code),
	};

	return cmocka_run_group_tests_name("disasm", tests, NULL, NULL);
}
