#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of programs without a C library, whose own entry point is their outermost frame.
# Its call frame information does not say so.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/stacks.sh"

cat >own.c <<'END'
#include "burn.h"
#ifdef DECEIVE
#define ENTRY
/* Pushes an address in _start, and a word above it that is no return address: the frame
 * that the call frame information leads to is none, and not followed by arguments. */
void odd(void);
__asm__(".pushsection .text\n"
	".type odd, @function\n"
	"odd:	.cfi_startproc\n"
	"	lea entered(%rip), %rax\n"
	"	push $5\n	push $5\n	push $5\n	push $5\n"
	"	push $5\n	push $5\n	push $5\n	push %rax\n"
	"	mov $1200000000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	add $64, %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size odd, . - odd\n"
	".popsection\n");
#else
#define ENTRY __attribute__((force_align_arg_pointer))
static NOINLINE void odd(void) { STAY; }
#endif
static NOINLINE void two(void) { burn(200000); STAY; }
static NOINLINE void one(void) { two(); STAY; }
static void leave(void)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" : : "a"(60l), "D"(0l));
#else
	__asm__ volatile("int $0x80" : : "a"(1l), "b"(0l));
#endif
	__builtin_unreachable();
}
ENTRY void _start(void)
{
	__asm__ volatile("nop\nentered: nop");
	odd();
	for (int i = 0; i < 800; i++)
		one();
	leave();
}
END
# Its frames have no call frame information, and its registers no meaning.
cat >bare.s <<'END'
.globl _start
.type _start, @function
_start:	mov $1, %rbp
	mov $2, %rbx
	mov $3, %r12
	mov $4, %r13
	mov $5, %r15
	nop
	nop
	nop
	mov $900, %r14d
1:	call work
	dec %r14d
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
.size _start, . - _start
.type work, @function
work:	mov $1000000, %ecx
2:	dec %ecx
	jnz 2b
	ret
.size work, . - work
.section .note.GNU-stack, "", @progbits
END
# whole NAME FILE CHAIN: all stacks are complete, and as they should be
whole() {
	t_is "$1: its entry point is the outermost frame" "$(agree "$2" "${3%% *} " "^$3\$")" yes
	t_like "... and nothing is cut or broken" "$(stacks "$2" whole) $(stacks "$2" \
		cut) $(stacks "$2" broken)" '^[1-9][0-9]+ 0 0$'
}
for how in '-static' '-static-pie -fPIE' '-m32 -static'; do
	# shellcheck disable=SC2086
	if ! cc -nostdlib $how -o own own.c 2>cc.err; then
		t_skip "a program of its own ($how)" "it cannot be built: $(head -n 1 cc.err)"
		continue
	fi
	record_stacks -o own.tally -- ./own
	whole "a program of its own ($how)" own.tally 'burn two one _start'
	record_stacks -o many.tally -- ./own one two '' four
	whole "... with arguments" many.tally 'burn two one _start'
done
t_run "a program in assembler" cc -nostdlib -static -o bare bare.s
record_stacks -o bare.tally -- ./bare
whole "a program without call frame information" bare.tally 'work _start'
t_run "a program whose stack deceives" cc -DDECEIVE -nostdlib -static -o deceive own.c
record_stacks -o deceive.tally -- ./deceive
t_is "frames that lead to the entry point by mistake are no whole stack" \
	"$(agree deceive.tally 'odd' 'MISSING' MISSING)" yes
t_ok "... and count as such" $(($(stacks deceive.tally broken) < 30))

# with a loader, but without a C library
t_run "a program with a loader" cc -nostartfiles -o loaded own.c
for source in timer ptrace; do
	t_run "it runs with --source=$source" "$TALLY" record -q -g --source=$source \
		-o loaded.tally -- ./loaded
	t_is "... and its stacks are complete" "$(agree loaded.tally 'burn ' \
		'^burn two one _start$')" yes
done
t_done
