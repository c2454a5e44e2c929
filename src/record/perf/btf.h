/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_BTF_H
#define TALLY_RECORD_PERF_BTF_H
/*
 * The kernel's type information (Linux, Documentation/bpf/btf.rst): numbers of its
 * types and variables, and where variables and members of structures lie.
 *
 * The bytes are hostile.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct btf {
	const uint8_t *types;	/* borrowed, like `strings` */
	const char *strings;
	size_t type_bytes, string_bytes;
	VEC(uint32_t) at;	/* by number - 1: where a type begins */
};

/* A type or a variable to look for. */
struct btf_name {
	enum btf_kind { BTF_STRUCTURE, BTF_TYPEDEF, BTF_VARIABLE } kind;
	const char *name;
	uint32_t number;	/* result; 0: not found */
};

/* Reads the types, and finds the numbers of `names`.  The bytes stay the caller's.  Returns
 * false if they are damaged, or out of memory.  End with btf_close in any case. */
bool btf_open(struct btf *b, const uint8_t *bytes, size_t n, struct btf_name *names,
	      size_t count);
void btf_close(struct btf *b);
/* Returns whether a structure, or an anonymous one inside of it, has a member of this name
 * that is not a bit field; then its offset in bytes. */
bool btf_member(const struct btf *b, uint32_t number, const char *name, uint32_t *offset);
/* Returns whether a variable lies in a section, and its offset there. */
bool btf_in_section(const struct btf *b, const char *section, uint32_t number,
		    uint32_t *offset);

#endif
