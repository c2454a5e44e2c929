#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Complete call stacks of programs without frame pointers. Which functions call which
# follows from the sources of the programs here.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/stacks.sh"

cat >plain.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "burn.h"
static NOINLINE void two(void) { burn(200000); STAY; }
static NOINLINE void one(void) { two(); STAY; }
static NOINLINE int down(int n)
{
	volatile char pad[40];
	int r;

	pad[n % 40] = 1;
	if (!n) {
		burn(200000);
		STAY;
		return 1;
	}
	r = down(n - 1);
	STAY;
	return r + pad[3] + (sink == 7);
}
/* More than a copy can hold. */
static NOINLINE void fat(void)
{
	volatile char pad[100000];

	pad[sink % 100000] = 1;
	burn(20000000);
	STAY;
}
static void *work(void *p) { for (int i = 0; i < 800; i++) one(); return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	int depth = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 2 && !strcmp(argv[1], "down"))
		for (int i = 0; i < 800; i++)
			down(depth);
	else if (argc > 1 && !strcmp(argv[1], "fat"))
		for (int i = 0; i < 20; i++)
			fat();
	else if (argc > 1)
		pthread_create(&t, 0, work, 0), pthread_join(t, 0);
	else
		work(0);
	return 0;
}
END
t_run "a program is compiled" cc -pthread -o plain plain.c
t_run "its stacks are recorded" record_stacks -o plain.tally -- ./plain
t_is "each function has its caller" \
	"$(agree plain.tally 'burn ' '^burn two one work main ')" yes
t_is "up to the program's entry" \
	"$(agree plain.tally 'burn ' ' _start$')" yes
t_like "nothing is cut or broken" "$(stacks plain.tally whole) $(stacks \
	plain.tally cut) $(stacks plain.tally broken)" '^[1-9][0-9]+ 0 [0-3]$'
record_stacks -o thread.tally -- ./plain thread
t_is "a thread's stack reaches its start" "$(agree thread.tally 'burn ' \
	'^burn two one work (start_thread|[[]unknown]) ')" yes
record_stacks -o down.tally -- ./plain down 200
t_is "200 frames of recursion" "$(chains down.tally | awk '/^burn down / {
	n++; k += gsub(/down /, "") == 201 && /^burn main / }
	END { print (n > 30 && k * 1000 >= n * 985 ? "yes" : k " of " n) }')" yes

# Copies that hold a part of the stack only.
"$TALLY" record -q --call-graph=dwarf,1024 -F 2000 -e cpu-clock:u \
	-o short.tally -- ./plain down 200
t_is "no stack of them is whole by its copy" \
	"$(agree short.tally 'burn ' '^burn down down down ')" yes
short=$(($(stacks short.tally cut) + $(stacks short.tally later)))
t_ok "they say so" $((short < 30 || $(stacks short.tally whole) * 20 > short))
t_like "so does the report" "$("$TALLY" report short.tally)" \
	'^# Stacks: .*(truncated|read later)'
t_like "info says what would help" "$("$TALLY" info short.tally)" \
	'(--call-graph=dwarf,65528|probably correct)'
record_stacks -o fat.tally -- ./plain fat
t_is "100 KB of locals: the callers are read later, or the stack says cut" \
	"$(agree fat.tally 'burn ' '^burn fat( main |$)')" yes
t_ok "and does not count as whole" $(($(stacks fat.tally whole) > 20))

# Call frame information that is in the separate debug file only.  What never
# returns cannot be followed to its ret.
cat >apart.c <<'END'
#include <stdlib.h>
#include "burn.h"
static NOINLINE void two(void) { burn(200000); STAY; }
static NOINLINE __attribute__((noreturn)) void forever(int n)
{
	volatile long pad[100];

	pad[n % 100] = n;
	while (n--) {
		two();
		pad[n % 100]++;
	}
	exit(pad[3] == 7);
}
static NOINLINE void one(int n) { forever(n); STAY; }
int main(void) { one(800); return 0; }
/* so that it has more code than the start files have information */
__asm__(".text; .skip 60000, 0x90");
END
cc -fno-asynchronous-unwind-tables -fno-unwind-tables -o apart.full apart.c
if command -v objcopy >/dev/null; then
	objcopy --only-keep-debug apart.full apart.debug
	objcopy --strip-debug apart.full apart
	record_stacks --no-symbols -o apart0.tally -- ./apart
	t_like "there are stacks without tables" \
		"$("$TALLY" dump --only samples apart0.tally | wc -l)" \
		'^[1-9][0-9]+$'
	t_ok "without tables stacks are not known to be whole" \
		$(($(stacks apart0.tally whole) > 20))
	rm -f apart
	objcopy --strip-debug --add-gnu-debuglink=apart.debug apart.full apart
	record_stacks -o apart.tally -- ./apart
	t_is "the debug file's .debug_frame leads on" "$(agree apart.tally \
		'burn ' '^burn two forever one main .*_start$')" yes
	t_like "and nothing is cut or broken" "$(stacks apart.tally whole) $(stacks \
		apart.tally cut) $(stacks apart.tally broken)" \
		'^[1-9][0-9]+ 0 [0-3]$'
else
	t_skip "call frame information apart" "no objcopy here"
fi

cat >signal.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include "burn.h"
static NOINLINE void inner(void) { burn(20000000); STAY; }
static void handler(int s) { (void)s; inner(); STAY; }
static NOINLINE void interrupted(void) { raise(SIGUSR1); STAY; }
int main(int argc, char **argv)
{
	stack_t alt = { .ss_sp = malloc(1 << 17), .ss_size = 1 << 17 };
	struct sigaction sa = { .sa_handler = handler };

	(void)argv;
	sa.sa_flags = argc > 1 ? SA_ONSTACK : 0;
	sigaltstack(&alt, 0);
	sigaction(SIGUSR1, &sa, 0);
	for (int i = 0; i < 16; i++)
		interrupted();
	return 0;
}
END
cc -o signal signal.c
record_stacks -o signal.tally -- ./signal
t_is "through a signal handler" "$(agree signal.tally 'burn ' \
	'^burn inner handler .* interrupted main ')" yes
record_stacks -o alt.tally -- ./signal alternate
t_is "one on a stack of its own" "$(agree alt.tally 'burn ' \
	'^burn inner handler( |$)')" yes
t_is "goes on on the other stack, or says that it does not" "$(agree alt.tally \
	'burn ' '( interrupted main | MISSING)' MISSING)" yes

for l in a b; do
	cat >lib$l.c <<-END
	#include "burn.h"
	NOINLINE void ${l}_inner(void) { burn($([ $l = a ] && echo 900000 ||
		echo 800000)); STAY; }
	void run(void) { volatile char pad[$([ $l = a ] && echo 64 ||
		echo 640)]; pad[sink % 64] = 1; ${l}_inner(); STAY; }
	END
	cc -shared -fPIC -o lib$l.so lib$l.c
done
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	for (int i = 0; i < 300; i++) {
		void *l = dlopen(i & 1 ? "./liba.so" : "./libb.so", RTLD_NOW);
		void (*run)(void) = l ? (void (*)(void))dlsym(l, "run") : 0;

		if (!run)
			return 1;
		run();
		dlclose(l);
	}
	return 0;
}
END
cc -o load load.c -ldl
record_stacks -o load.tally -- ./load
t_is "libraries that come and go at the same place" "$(agree load.tally \
	'burn ' '^burn (a_inner|b_inner) run main ')" yes

# Code without call frame information: with a frame pointer, and with none.
cat >asm.S <<'END'
	.text
	.globl	by_pointer, without
	.type	by_pointer, @function
by_pointer:
	push	%rbp
	mov	%rsp, %rbp
	call	*%rdi
	pop	%rbp
	ret
	.size	by_pointer, . - by_pointer
	.type	without, @function
without:
	push	%rbp
	mov	%rsp, saved(%rip)
	mov	%rsi, %rsp
	mov	$1, %ebp
	call	*%rdi
	mov	saved(%rip), %rsp
	pop	%rbp
	ret
	.size	without, . - without
	.local	saved
	.comm	saved, 8, 8
	.section .note.GNU-stack, "", @progbits
END
cat >gaps.c <<'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "burn.h"
void by_pointer(void (*)(void));
/* … on a stack of its own. */
void without(void (*)(void), void *);
static _Alignas(16) char own[1 << 20];
static NOINLINE void lost(void) { burn(200000); STAY; }
static NOINLINE void found(void) { burn(200000); STAY; }
static NOINLINE void jitted(void) { burn(200000); STAY; }
int main(void)
{
	/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
	static const char code[] = "\x55\x48\x89\xe5\xff\xd7\x5d\xc3";
	char *jit = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(jit, code, sizeof(code));
	for (int i = 0; i < 500; i++) {
		by_pointer(found);
		without(lost, own + (1 << 19));
		((void (*)(void (*)(void)))jit)(jitted);
	}
	return 0;
}
END
if t_like "assembly is compiled" "$(cc -o gaps gaps.c asm.S 2>&1)" '^$'; then
	record_stacks -o gaps.tally -- ./gaps
	t_is "a frame pointer leads through code without tables" \
		"$(agree gaps.tally 'burn found' \
		'^burn found by_pointer main ')" yes
	t_is "and through code made at run time" "$(agree gaps.tally \
		'burn jitted' '^burn jitted [^ ]* main ')" yes
	t_is "without either the stack ends" \
		"$(agree gaps.tally 'burn lost' '^burn lost without$')" yes
	t_like "and says why and where" \
		"$("$TALLY" report --format=json gaps.tally | tr '}' '\n')" \
		'"state":"broken","reason":"no unwind data","image":"[^"]*/gaps"'
	t_like "the report names the program" "$("$TALLY" report gaps.tally)" \
		'^# Stacks: [0-9.]+% broken: no unwind data in gaps'
	t_like "info says what helps" "$("$TALLY" info gaps.tally)" \
		'gaps: build it with -fasynchronous-unwind-tables'
fi

if cc -m32 -o plain32 plain.c -pthread 2>/dev/null && ./plain32; then
	record_stacks -o plain32.tally -- ./plain32
	t_is "a program of 32 bits" "$(agree plain32.tally 'burn ' \
		'^burn two one work main ')" yes
else
	t_skip "a program of 32 bits" "the compiler makes none here"
fi

# Inlined frames stand between real ones.
cat >inlined.c <<'END'
#include "burn.h"
static inline __attribute__((always_inline)) void middle(void)
{
	burn(200000);
	STAY;
}
static NOINLINE void outer(void) { middle(); STAY; }
int main(void) { for (int i = 0; i < 800; i++) outer(); return 0; }
END
cc -o inlined inlined.c
record_stacks -o inlined.tally -- ./inlined
t_is "inlined functions are callers, too" \
	"$(agree inlined.tally 'burn ' '^burn middle outer main ')" yes
t_like "and are marked" "$("$TALLY" report -g inlined.tally)" \
	'middle \(inlined\)'

"$TALLY" record -q --call-graph=fp -F 2000 -e cpu-clock:u -o fp.tally \
	-- ./plain
t_like "fp is another way" "$("$TALLY" info fp.tally)" 'callgraph +fp'
"$TALLY" record -q --call-graph=none -o none.tally -- ./plain
t_like "none records none" "$("$TALLY" info none.tally)" 'callgraph +none'
for wrong in dwarf,8 dwarf,70000 dwarf, dwarf,x dwarf,-8 lbr dwarfish; do
	"$TALLY" record --call-graph=$wrong -o wrong.tally -- true 2>wrong.err
	t_is "--call-graph=$wrong is refused" "$?" 2
done

check=$top_builddir/tests/record/stackcheck
if [ -x "$check" ]; then
	"$check" -F 2000 ./plain down 50 2>check.txt
	t_like "libdw walks to the same addresses" "$(awk '/^samples/ {
		print ($2 > 30 && $4 * 1000 >= $2 * 985 ? "yes" : $0) }' \
		check.txt)" '^yes$'
else
	t_skip "libdw walks to the same addresses" "built without libdw"
fi
t_done
