// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognizes the functions of Go's runtime that begin and switch stacks
 * (src/runtime/asm_amd64.s), by their instructions: programs may be stripped. */
#include "unwind/unwind_internal.h"

static bool is_go(struct image *img)
{
	return image_section(img, ".go.buildinfo").n;
}

/* goexit is the return address of every goroutine.  It has a nop before its
 * call, so that the return address - 1 is in goexit, too. rt0_go is on the
 * first thread.  It calls abort after mstart. */
bool unwind_go_begins(struct image *img, uint64_t ra)
{
	enum { NOP = 0x90, CALL = 0xe8, INT3 = 0xcc, INT = 0xcd, SIZE = 7 };
	struct span s = image_bytes(img, ra - 1, SIZE);
	int32_t to;

	if (s.n != SIZE || s.p[1] != CALL || !is_go(img))
		return false;
	if (s.p[0] == NOP && s.p[6] == NOP)
		return true;
	memcpy(&to, s.p + 2, sizeof(to));
	s = image_bytes(img, ra + 5 + (uint64_t)(int64_t)to, 1);
	return s.n && (*s.p == INT3 || *s.p == INT);
}

/* systemstack: movq %rdi, %rdx; movq (%rdi), %rdi; call *%rdi.  Compiled functions
 * call closures by other registers. */
bool unwind_go_switches(struct image *img, uint64_t ra)
{
	static const uint8_t call[] = { 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f,
					0xff, 0xd7 };
	struct span s = image_bytes(img, ra - sizeof(call), sizeof(call));

	return s.n == sizeof(call) && !memcmp(s.p, call, sizeof(call)) &&
	       is_go(img);
}
