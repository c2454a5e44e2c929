// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads code that a walk has come to, and recognizes return addresses by the call
 * before them. */
#include "unwind/unwind_internal.h"

/* Returns code that exists only in memory. */
static struct span bytes_at(const struct unwind_code *c, uint64_t pc, size_t n)
{
	struct span s = { NULL, 0 };

	if (c->bytes) {
		s.p = c->bytes + (pc - c->start);
		s.n = n < c->end - pc ? n : (size_t)(c->end - pc);
	}
	return s;
}

struct span walk_bytes(struct walk *w, uint64_t pc, size_t n)
{
	if (!walk_code(w, pc))
		return (struct span){ NULL, 0 };
	if (!w->code.table)
		return bytes_at(&w->code, pc, n);
	return image_bytes(w->code.table->img, pc + w->code.delta, n);
}

/* Returns whether the 7 bytes before `end` end in a call instruction (Intel SDM
 * vol.  2A, CALL: E8 cd, FF /2 with each form of ModRM). */
static bool ends_in_call(const uint8_t *end)
{
	if (end[-5] == 0xe8)
		return true;
	if (end[-2] == 0xff && ((end[-1] & 0xf8) == 0xd0 ||
				((end[-1] & 0xf8) == 0x10 &&
				 end[-1] != 0x14 && end[-1] != 0x15)))
		return true;
	if (end[-3] == 0xff && (end[-2] == 0x14 ||
				((end[-2] & 0xf8) == 0x50 && end[-2] != 0x54)))
		return true;
	if (end[-4] == 0xff && end[-3] == 0x54)
		return true;
	if (end[-6] == 0xff && (end[-5] == 0x15 ||
				((end[-5] & 0xf8) == 0x90 && end[-5] != 0x94)))
		return true;
	return end[-7] == 0xff && (end[-6] == 0x94 || end[-6] == 0x14);
}

enum likely walk_after_call(struct walk *w, uint64_t ra)
{
	enum { LONGEST = 7 };
	enum likely otherwise;
	struct span s;

	if (!ra || !walk_code(w, ra - 1))
		return LIKELY_NO;
	otherwise = w->code.table ? LIKELY_NO : LIKELY_MAYBE;
	s = walk_bytes(w, ra - LONGEST, LONGEST);
	return s.n == LONGEST && ends_in_call(s.p + LONGEST) ? LIKELY_YES : otherwise;
}
