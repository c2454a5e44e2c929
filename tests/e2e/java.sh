#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks and names of Java without any option: in a program with the tables and the
# code cache of a Java virtual machine, and in Java itself if it is installed.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/stacks.sh"

# Code without frame pointer or call frame information, which only the tables tell
# of: C calls it.
made=$top_srcdir/tests/runtime
cat >jvm.c <<'END2'
#include <stdint.h>
#define V(name) uint64_t gHotSpotVM##name
V(Structs); V(StructEntryArrayStride); V(StructEntryTypeNameOffset);
V(StructEntryFieldNameOffset); V(StructEntryTypeStringOffset);
V(StructEntryIsStaticOffset); V(StructEntryOffsetOffset);
V(StructEntryAddressOffset); V(Types); V(TypeEntryArrayStride);
V(TypeEntryTypeNameOffset); V(TypeEntrySizeOffset);
int jvm(void) { return 1; }
END2
cat >made.c <<'END2'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "made_jvm.h"

int jvm(void);

static const uint8_t code[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /* mov eax, -0x14000(rsp) */
	0x55,					/* push rbp */
	0x48, 0x83, 0xec, 0x20,			/* sub 32, rsp */
	0x48, 0xc7, 0xc5, 0x34, 0x12, 0, 0,	/* mov 0x1234, rbp */
	0xb9, 0x00, 0x00, 0x00, 0x08,		/* mov n, ecx */
	0xff, 0xc9, 0x75, 0xfc,			/* dec ecx; jnz */
	0x48, 0x83, 0xc4, 0x20,			/* add 32, rsp */
	0x5d, 0xc3,				/* pop rbp; ret */
};

__attribute__((noinline)) static void c_calls_java(struct made_jvm *m)
{
	void (*java)(void) = (void (*)(void))(uintptr_t)
			     made_jvm_code(m, MADE_METHOD);

	for (int i = 0; i < 5; i++) {
		java();
		__asm__ volatile("");
	}
}

int main(int argc, char **argv)
{
	struct made_jvm *m = mmap(NULL, sizeof(*m),
				  PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || !jvm())
		return 1;
	made_jvm_make(m, (uintptr_t)m->mem, argc > 1);
	for (size_t i = 0; i < m->nsymbols; i++) {
		uint64_t *v = dlsym(RTLD_DEFAULT, m->symbols[i].name);

		if (!v)
			return 1;
		memcpy(v, made_jvm_at(m, m->symbols[i].at), sizeof(*v));
	}
	memcpy(made_jvm_at(m, made_jvm_code(m, MADE_METHOD)), code,
	       sizeof(code));
	c_calls_java(m);
	return 0;
}
END2
t_run "a program with the tables of libjvm.so" sh -c "
	${CC:-cc} -shared -fPIC -o libjvm.so jvm.c &&
	${CC:-cc} -O2 -fomit-frame-pointer -w -I'$made' -o made made.c \
		'$made/made_jvm.c' -L. -ljvm -Wl,-rpath,'$T_TMP' -ldl"

# Of the samples that begin so, the share of those with all callers, in percent;
# "few" when there are not enough to say so.
share() { # FILE FIRST PATTERN
	chains $1 broken | ALL=$3 awk -v first="$2" '
		index($0, first) == 1 { n++; good += $0 ~ ENVIRON["ALL"] }
		END { print n < 50 ? "few" : int(100 * good / n) }'
}
whole() { # FILE: whole stacks in percent, those read later among them
	awk -v w="$(stacks $1 whole)" -v l="$(stacks $1 later)" \
		-v g="$(stacks $1 guessed)" -v c="$(stacks $1 cut)" \
		-v b="$(stacks $1 broken)" 'BEGIN {
			n = w + l + g + c + b
			print n < 100 ? "few" : int(100 * (w + l) / n) }'
}
for newer in '' newer; do
	record_stacks -o made.tally -- ./made $newer
	t_near "callers of compiled code ${newer:+(tables as of JDK 23)}" \
		"$(share made.tally 'shop.Cart.total(java.util.List,' \
			'^[^ ]* .*c_calls_java main __libc_start')" 100 3
done

t_like "info says where its names are from" "$("$TALLY" info --no-pager \
	made.tally | grep -A 3 '\[java\]')" "symbols from the memory of the program"

java=
for j in java /usr/lib/jvm/*/bin/java; do
	command -v "$j" >/dev/null && command -v javac >/dev/null && java=$j
	[ "$java" ] && break
done
if [ -z "$java" ]; then
	t_skip_all "Java itself" "no java and javac here"
fi

# A chain of calls of known depth, whose innermost one works.
cat >Chain.java <<'END2'
public class Chain {
	static long burn(int n) {
		long s = 0;
		for (int i = 0; i < 20000; i++)
			s += (s ^ i) * n;
		return s;
	}
	static long down(int n) {
		return n == 0 ? burn(7) : down(n - 1) + n;
	}
	static long outer(int n) {
		return down(n) + 1;
	}
	public static void main(String[] a) {
		long s = 0;
		for (int i = Integer.parseInt(a[0]); i > 0; i--)
			s += outer(20);
		System.out.println(s);
	}
}
END2
t_run "a Java program" javac Chain.java
downs=$(awk 'BEGIN { for (i = 0; i < 21; i++) printf " Chain.down\\(int\\)" }')
chain="^Chain.burn\\(int\\)$downs Chain.outer\\(int\\) Chain.main\\(java.lang.String\\[\\]\\) "
java_chain() { # NAME CALLS OPTION…
	name=$1 calls=$2; shift 2
	record_stacks -o java.tally -- "$java" "$@" Chain $calls >/dev/null
	t_near "$name: whole stacks" "$(whole java.tally)" 100 1
	t_near "$name: all callers" \
		"$(share java.tally 'Chain.burn(int)' "$chain")" 100 1
}
java_chain "interpreted" 1500 -XX:+UseSerialGC -Xint
java_chain "compiled by C1" 20000 -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
	-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Chain.*
# as it comes, but that calls stay calls
java_chain "compiled by C2" 20000 -XX:CompileCommand=quiet \
	-XX:CompileCommand=dontinline,Chain.*
t_done
