/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_RECORD_BTF_TYPES_H
#define TALLY_TESTS_RECORD_BTF_TYPES_H
/*
 * What tests/fuzz/corpus/btf/clang describes:
 *
 *	clang -g -O1 -target bpf -c -x c -o t.o - <<'END'
 *	#include "tests/record/btf_types.h"
 *	typedef void (*btf_trace_made)(struct outer *);
 *	btf_trace_made traced;
 *	struct outer first __attribute__((section("cpu"))) = { .plain = 1 };
 *	struct outer queues __attribute__((section("cpu"))) = { .plain = 2 };
 *	END
 *	llvm-objcopy --dump-section .BTF=tests/fuzz/corpus/btf/clang t.o
 */
struct inner {
	char before[5];
	unsigned char flag;
};

enum kind { ONE, TWO };

struct outer {
	long plain;
	unsigned int bits : 3, more : 13;
	union {
		struct {
			short low, high;
		};
		float real;
	};
	struct inner named;
	struct inner *list[3];
	volatile const char *text;
	enum kind kind;
};

#endif
