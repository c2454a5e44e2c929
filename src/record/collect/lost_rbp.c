// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds frame pointers by the calls that pushed them. */
#include "record/collect/lost_rbp.h"

#include <string.h>

#include "base/vec.h"

enum {
	SLOTS_MAX = 2048,	/* 16 KB of one frame */
	CALL_SIZE_MAX = 7,		/* maximum bytes of a call */
};

/* Returns the target of a PLT entry, or 0: [endbr64] [bnd] jmp *disp(%rip). */
static uint64_t through_plt(const struct rbp_search *s, uint64_t addr)
{
	uint8_t code[16];
	uint64_t to;
	int32_t disp;
	size_t at = 0;

	if (!s->is_code(s->ctx, addr) ||
	    !s->read(s->ctx, addr, code, sizeof(code)))
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&disp, code + at + 2, sizeof(disp));
	return s->read(s->ctx, addr + at + 6 + (uint64_t)(int64_t)disp, &to,
		       sizeof(to)) ? to : 0;
}

/* Returns whether an indirect call ends here (Intel SDM, FF /2). */
static bool is_indirect(const uint8_t *end)
{
	static const struct {
		int length;
		uint8_t mod;
	} forms[] = { { 2, 3 }, { 2, 0 }, { 3, 1 }, { 6, 2 }, { 6, 0 },
		      { 3, 0 }, { 4, 1 }, { 7, 2 } };

	for (size_t i = 0; i < COUNT(forms); i++) {
		const uint8_t *p = end - forms[i].length;

		if (p[0] == 0xff && (p[1] >> 3 & 7) == 2 &&
		    p[1] >> 6 == forms[i].mod)
			return true;
	}
	return false;
}

enum call { CALL_NONE, CALL_EXACT, CALL_INDIRECT };

/* Returns the kind of call before a return address. */
static enum call call_before(const struct rbp_search *s, uint64_t ra)
{
	uint8_t code[CALL_SIZE_MAX];
	uint64_t to;
	int32_t disp;

	if (ra < CALL_SIZE_MAX || !s->is_code(s->ctx, ra - 1) ||
	    !s->read(s->ctx, ra - CALL_SIZE_MAX, code, sizeof(code)))
		return CALL_NONE;
	if (code[CALL_SIZE_MAX - 5] == 0xe8) {
		memcpy(&disp, code + CALL_SIZE_MAX - 4, sizeof(disp));
		to = ra + (uint64_t)(int64_t)disp;
		if (to == s->function || through_plt(s, to) == s->function)
			return CALL_EXACT;
	}
	return is_indirect(code + CALL_SIZE_MAX) ? CALL_INDIRECT : CALL_NONE;
}

bool lost_rbp_find(const struct rbp_search *s, uint64_t *rbp, bool *guessed)
{
	size_t first = s->sp & 7 ? 8 - (s->sp & 7) : 0;
	bool found = false;

	*guessed = false;
	for (size_t i = 0; i < SLOTS_MAX && first + 8 * i + 16 <= s->size;
	     i++) {
		size_t at = first + 8 * i;
		uint64_t ra;
		enum call call;

		memcpy(&ra, s->stack + at + 8, sizeof(ra));
		call = call_before(s, ra);
		if (call == CALL_NONE || (call == CALL_INDIRECT && found))
			continue;
		*rbp = s->sp + at;
		*guessed = call == CALL_INDIRECT;
		found = true;
		if (!*guessed)
			return true;
	}
	return found;
}
