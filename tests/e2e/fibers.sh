#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks that programs allocate themselves end at their first function. Which functions
# these are follows from the sources here, makecontext(3), and src/runtime/asm_amd64.s
# of Go.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/stacks.sh"

cat >context.c <<'END'
#include <stdlib.h>
#include <ucontext.h>
#include "burn.h"
static ucontext_t home, fiber[2];
static NOINLINE void inner(int k)
{
	burn(200000);
	swapcontext(&fiber[k], &home);
	STAY;
}
static void body(int k)
{
	for (;;) {
		inner(k);
		STAY;
	}
}
int main(void)
{
	for (int k = 0; k < 2; k++) {
		getcontext(&fiber[k]);
		fiber[k].uc_stack.ss_sp = calloc(1, 1 << 16);
		fiber[k].uc_stack.ss_size = 1 << 16;
		fiber[k].uc_link = k ? &home : 0;
		makecontext(&fiber[k], (void (*)(void))body, 1, k);
	}
	for (int i = 0; i < 1500; i++)
		swapcontext(&home, &fiber[i & 1]);
	return 0;
}
END
t_run "fibers of makecontext are compiled" cc -o context context.c
"$TALLY" record -q -g -F 2000 -e cpu-clock:u -o context.tally -- ./context
t_is "their stacks end with the function that makecontext put there" \
	"$(agree context.tally 'burn inner' \
	'^burn inner body (__start_context|libc[^ ]*|[?])$' MISSING)" yes
t_ok "and are whole" $(($(stacks context.tally whole) < 30 ||
	$(stacks context.tally broken) * 50 > $(stacks context.tally whole)))

# As boost.context does it: a return address that no call left, of code that no
# call frame information describes, and that ends the process.
cat >switch.S <<'END'
	.text
	.globl	jump, finish, unknown
	.type	jump, @function
jump:	push	%rbp		/* jump(save, to) */
	push	%rbx
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%rbx
	pop	%rbp
	ret
	.size	jump, . - jump
	.type	finish, @function
	nop
finish:	xor	%edi, %edi
	call	_exit@PLT
	hlt
	.size	finish, . - finish
	/* this one does return: nothing says that the stack ends here */
	.type	unknown, @function
	nop
unknown:	inc	%rax
	mov	%rax, %rsp
	ret
	.size	unknown, . - unknown
	.section .note.GNU-stack, "", @progbits
END
cat >switch.c <<'END'
#include <stdlib.h>
#include <string.h>
#include "burn.h"
void jump(void **save, void *to);
void finish(void), unknown(void);
static void *home, *fiber;
static NOINLINE void inner(void) { burn(200000); jump(&fiber, home); STAY; }
static void body(void) { for (;;) { inner(); STAY; } }
int main(int argc, char **argv)
{
	void **top = (void **)((char *)calloc(1, 1 << 16) + (1 << 15));

	memset(top, 0x55, 4096);	/* no caller is above */
	(void)argv;
	*--top = argc > 1 ? (void *)unknown : (void *)finish;
	*--top = (void *)body;
	*--top = (void *)1;		/* rbp, rbx */
	*--top = (void *)1;
	fiber = top;
	for (int i = 0; i < 1500; i++)
		jump(&home, fiber);
	return 0;
}
END
t_run "fibers made by hand are compiled" cc -o switch switch.c switch.S
"$TALLY" record -q -g -F 2000 -e cpu-clock:u -o switch.tally -- ./switch
t_is "their stacks end with the code that ends the process" \
	"$(agree switch.tally 'burn inner' '^burn inner body finish$' MISSING)" yes
"$TALLY" record -q -g -F 2000 -e cpu-clock:u -o broken.tally -- ./switch x
t_is "code that might return is no end: such stacks are broken" \
	"$(agree broken.tally 'burn inner' ' MISSING$' MISSING)" yes
t_ok "and count as such" $(($(stacks broken.tally broken) < 30))

if command -v go >/dev/null; then
	cat >m.go <<'END'
package main

import "sync"

//go:noinline
func burn(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return
}

//go:noinline
func inner(n int) int { return burn(n) + 1 }

func main() {
	var wg sync.WaitGroup
	for k := 0; k < 2; k++ {
		wg.Add(1)
		go func(k int) {
			for i := 0; i < 2000; i++ {
				k += inner(100000)
			}
			wg.Done()
		}(k)
	}
	wg.Wait()
}
END
	GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS=
	export GO111MODULE GOCACHE GOFLAGS
	t_run "a Go program without symbols and DWARF is built" \
		env HOME="$PWD" go build -ldflags '-s -w' -o gostripped m.go
	"$TALLY" record -q -g -F 2000 -e cpu-clock:u -o go.tally -- ./gostripped
	t_ok "stacks of goroutines are whole" \
		$(($(stacks go.tally whole) < 30 || $(stacks go.tally broken) \
		* 10 > $(stacks go.tally whole)))
	# burn, inner, the closure, its wrapper or not, goexit
	t_like "from the function to where the runtime begins them" \
		"$(chains go.tally MISSING | awk '{ c[NF]++ }
		END { print (c[4] + c[5] > NR * 0.8 ? "yes" : "no"), NR }')" \
		'^yes ([3-9].|...)'
else
	t_skip "Go" "no Go here"
fi
t_done
