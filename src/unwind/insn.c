// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the length of x86-64 instructions (Intel SDM vol.  2, appendix A),
 * for code that is simulated up to its ret.
 */
#include "unwind/insn.h"

/* What follows the opcode; the maps have one such number for each opcode. */
enum { NONE, MODRM = 1, IMM8 = 2, IMMZ = 4, IMM16 = 8, BAD = 16 };

static unsigned one_byte(uint8_t op)
{
	static const uint8_t rest[] = {
		/* 60 */ BAD, BAD, BAD, MODRM, BAD, BAD, BAD, BAD,
		IMMZ, MODRM | IMMZ, IMM8, MODRM | IMM8, NONE, NONE, NONE, NONE,
		/* 70 */ IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
		IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
		/* 80 */ MODRM | IMM8, MODRM | IMMZ, BAD, MODRM | IMM8, MODRM,
		MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM,
		MODRM, MODRM,
		/* 90 */ NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
		NONE, NONE, BAD, NONE, NONE, NONE, NONE, NONE,
		/* a0 */ BAD, BAD, BAD, BAD, NONE, NONE, NONE, NONE,
		IMM8, IMMZ, NONE, NONE, NONE, NONE, NONE, NONE,
		/* b0 */ IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
		IMMZ, IMMZ, IMMZ, IMMZ, IMMZ, IMMZ, IMMZ, IMMZ,
		/* c0 */ MODRM | IMM8, MODRM | IMM8, IMM16, NONE, BAD, BAD,
		MODRM | IMM8, MODRM | IMMZ, IMM16 | IMM8, NONE, IMM16, NONE,
		NONE, IMM8, BAD, NONE,
		/* d0 */ MODRM, MODRM, MODRM, MODRM, BAD, BAD, BAD, NONE,
		MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM,
		/* e0 */ IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
		IMMZ, IMMZ, BAD, IMM8, NONE, NONE, NONE, NONE,
		/* f0 */ BAD, NONE, BAD, BAD, NONE, NONE, MODRM, MODRM,
		NONE, NONE, NONE, NONE, NONE, NONE, MODRM, MODRM,
	};

	if (op >= 0x60)
		return rest[op - 0x60];
	if (op >= 0x40)
		return NONE;
	switch (op & 7) {
	case 4: return IMM8;
	case 5: return IMMZ;
	case 6: case 7: return BAD;
	default: return MODRM;
	}
}

static unsigned two_byte(uint8_t op)
{
	if (op >= 0x80 && op <= 0x8f)
		return IMMZ;
	if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac ||
	    op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
		return MODRM | IMM8;
	if ((op >= 0x05 && op <= 0x09) || op == 0x0b || op == 0x0e ||
	    (op >= 0x30 && op <= 0x37) || op == 0x77 || op == 0xa0 ||
	    op == 0xa1 || op == 0xa2 || (op >= 0xa8 && op <= 0xaa) ||
	    (op >= 0xc8 && op <= 0xcf))
		return NONE;
	return MODRM;
}

/* Returns the size of ModRM, SIB and displacement. */
static size_t modrm_size(const uint8_t *p)
{
	unsigned mod = p[0] >> 6, rm = p[0] & 7;
	size_t n = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		n++;
		if (!mod && (p[1] & 7) == 5)
			n += 4;
	} else if (!mod && rm == 5) {
		n += 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Returns the length of a VEX or EVEX prefix, 0 if there is none.  Sets
 * *map. */
static size_t vector_prefix(const uint8_t *p, unsigned *map)
{
	switch (p[0]) {
	case 0xc5:
		*map = 1;
		return 2;
	case 0xc4:
		*map = p[1] & 31;
		return 3;
	case 0x62:
		*map = p[1] & 7;
		return 4;
	default:
		return 0;
	}
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0xf2 || b == 0xf3 || b == 0xf0 ||
	       b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 ||
	       b == 0x65;
}

bool insn_read(const uint8_t *p, size_t n, struct insn *out)
{
	uint8_t b[INSN_MAX + 16] = { 0 };
	unsigned what, map = 0;
	bool small = false;
	size_t i = 0, v;

	memcpy(b, p, n < INSN_MAX ? n : INSN_MAX);
	*out = (struct insn){ 0 };
	while (i < 4 && is_prefix(b[i]))
		small |= b[i++] == 0x66;
	v = vector_prefix(b + i, &map);
	if (!v && (b[i] & 0xf0) == 0x40)
		out->rex = b[i++];
	i += v;
	if (!v && b[i] == 0x0f) {
		map = b[i + 1] == 0x38 ? 2 : b[i + 1] == 0x3a ? 3 : 1;
		i += map == 1 ? 1 : 2;
	}
	out->map = (uint8_t)map;
	out->vector = v != 0;
	out->op = b[i++];
	what = map == 0 ? one_byte(out->op) : map == 1 ? two_byte(out->op) :
	       map == 3 ? MODRM | IMM8 : MODRM;
	out->modrm = b[i];
	out->sib = b[i + 1];
	out->operand = i;
	if (!map && (out->op & 0xfe) == 0xf6 && (out->modrm >> 3 & 7) < 2)
		what |= out->op & 1 ? IMMZ : IMM8;
	if (what & MODRM)
		i += modrm_size(b + i);
	out->imm_at = i;
	i += (what & IMM8 ? 1 : 0) + (what & IMM16 ? 2 : 0);
	if (what & IMMZ)
		i += !map && (out->op & 0xf8) == 0xb8 && (out->rex & 8) ? 8 :
		     small && out->op != 0xe8 && out->op != 0xe9 && !map ? 2 : 4;
	out->size = i;
	return !(what & BAD) && i <= n && i <= INSN_MAX;
}
