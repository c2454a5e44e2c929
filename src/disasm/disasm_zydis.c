// SPDX-License-Identifier: GPL-2.0-or-later
/* Disassembles x86 code with Zydis 4: see disasm.h. */
#include "config.h"

#include "disasm/disasm.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

#ifdef HAVE_ZYDIS
#include <Zydis/Zydis.h>

struct disasm {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

bool disasm_knows(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386;
}

/* Configures the formatter.  Numbers are written as objdump does: 0x1f, not
 * 0x0000001F. */
static bool set_up(struct disasm *d, enum disasm_syntax syntax)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} set[] = {
		{ ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE },
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
		  ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
		  ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
	};
	ZydisFormatterStyle style = syntax == SYNTAX_INTEL
					    ? ZYDIS_FORMATTER_STYLE_INTEL
					    : ZYDIS_FORMATTER_STYLE_ATT;

	if (ZYAN_FAILED(ZydisFormatterInit(&d->formatter, style)))
		return false;
	for (size_t i = 0; i < COUNT(set); i++)
		if (ZYAN_FAILED(ZydisFormatterSetProperty(
			    &d->formatter, set[i].property, set[i].value)))
			return false;
	return true;
}

int disasm_open(uint16_t machine, enum disasm_syntax syntax,
		struct disasm **out, struct error *err)
{
	bool wide = machine == EM_X86_64;
	struct disasm *d;

	*out = NULL;
	if (!disasm_knows(machine))
		return error_set(err, ERR_UNSUPPORTED,
				 "code of ELF machine %u cannot be "
				 "disassembled: only x86-64 and i386 can",
				 machine);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(err);
	if (ZYAN_FAILED(ZydisDecoderInit(
		    &d->decoder,
		    wide ? ZYDIS_MACHINE_MODE_LONG_64
			 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    !set_up(d, syntax)) {
		free(d);
		return error_set(err, ERR_UNSUPPORTED,
				 "Zydis refuses to start: is the library as "
				 "new as what tally was built with?");
	}
	*out = d;
	return 0;
}

void disasm_close(struct disasm *d)
{
	free(d);
}

static enum disasm_flow flow_of(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
		return FLOW_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_BRANCH;
	case ZYDIS_CATEGORY_CALL:
		return FLOW_CALL;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET:
		return FLOW_RETURN;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_HLT:
		return FLOW_TRAP;
	default:
		return FLOW_NEXT;
	}
}

/* Finds the address that is encoded in an instruction. */
static void find_target(const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops, uint64_t vaddr,
			struct disasm_insn *out)
{
	ZyanU64 to;

	for (unsigned i = 0; i < in->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &ops[i];
		bool jump = o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			    o->imm.is_relative;
		bool data = o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    (o->mem.base == ZYDIS_REGISTER_RIP ||
			     o->mem.base == ZYDIS_REGISTER_EIP);

		if ((!jump && !data) ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddress(in, o, vaddr, &to)))
			continue;
		out->has_target = jump;
		out->has_data = data;
		out->target = to;
		return;
	}
}

static void no_instruction(const uint8_t *p, struct disasm_insn *out, char *text)
{
	out->size = 1;
	out->bad = true;
	if (!text)
		return;
	strcpy(text, ".byte 0x");
	text_hex(text + strlen(text), p, 1);
}

/* Returns the usual name of a conditional instruction, such as je, ja, jge;
 * Zydis names conditions by the flags. */
static const char *usual_condition(const char *mnemonic)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{ "z", "e" }, { "nz", "ne" }, { "nb", "ae" }, { "nbe", "a" },
		{ "nl", "ge" }, { "nle", "g" },
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(mnemonic, names[i].from))
			return names[i].to;
	return NULL;
}

static void rename_condition(const ZydisDecodedInstruction *in, char *text)
{
	static const char *const kinds[] = { "j", "set", "cmov" };
	const char *name = ZydisMnemonicGetString(in->mnemonic), *to;
	char *at;

	for (size_t i = 0; name && i < 3; i++) {
		size_t n = strlen(kinds[i]);

		if (strncmp(name, kinds[i], n) ||
		    !(to = usual_condition(name + n)) ||
		    !(at = strstr(text, name)))
			continue;
		/* the new name is never longer */
		memcpy(at + n, to, strlen(to));
		at += strlen(name);
		memmove(at - strlen(name) + n + strlen(to), at,
			strlen(at) + 1);
		return;
	}
}

void disasm_next(struct disasm *d, const uint8_t *p, size_t n, uint64_t vaddr,
		 struct disasm_insn *out, char *text)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	*out = (struct disasm_insn){ .vaddr = vaddr };
	if (n > DISASM_INSN_MAX)
		n = DISASM_INSN_MAX;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&d->decoder, p, n, &in, ops)) ||
	    !in.length || in.length > n) {
		no_instruction(p, out, text);
		return;
	}
	out->size = in.length;
	out->flow = flow_of(&in);
	find_target(&in, ops, vaddr, out);
	if (!text)
		return;
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(
		    &d->formatter, &in, ops, in.operand_count_visible, text,
		    DISASM_TEXT_MAX, vaddr, NULL)))
		strcpy(text, "(unprintable)");
	rename_condition(&in, text);
}

#endif
