// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions with aliases, without sizes, in parts; see symbols.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;

/* What the C library does: the plain name is the weak one. */
NOINLINE int __say(int n)
{
	sink += n;
	return n * 3;
}
int say(int n) __attribute__((weak, alias("__say")));
static int inner_say(int n) __attribute__((alias("__say"), used));

NOINLINE static int hidden_work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
	return sink;
}

NOINLINE static int hidden_more(int n)
{
	return hidden_work(n) + hidden_work(n + 1);
}

NOINLINE int exported_work(int n)
{
	return hidden_more(n) * say(n);
}

/* No size: up to the next symbol; the function behind it has one. */
__asm__(".text\n"
	".globl asm_first\n"
	"asm_first: ret\n"
	".fill 20, 1, 0x90\n"
	".globl asm_second\n"
	"asm_second: ret\n"
	".fill 20, 1, 0x90\n");
void asm_first(void);
void asm_second(void);

int main(int argc, char **argv)
{
	char *copy = malloc(strlen(argv[0]) + 1);

	asm_first();
	asm_second();
	if (!copy || argc > 100)
		abort();
	strcpy(copy, argv[0]);
	printf("%s %d\n", getenv("HOME"), exported_work(argc));
	puts(copy);
	free(copy);
	return sink == 1;
}
