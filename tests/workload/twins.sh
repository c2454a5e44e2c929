# SPDX-License-Identifier: GPL-2.0-or-later
# make_twins: ./twins, two files of which each has a static function process(), from
# sources made here.  Sourced by tests.  With a NAME, the loop of process() is in a
# function of this name, which is always inlined.
make_twins() { # [NAME]
	kind='__attribute__((noinline))'
	[ $# -eq 0 ] || kind='inline __attribute__((always_inline))'
	for f in a b; do
		cat >$f.c <<END
static $kind unsigned ${1:-process}(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
${1:+static __attribute__((noinline)) unsigned process(unsigned n) { return $1(n); \}}
unsigned run_$f(unsigned n)
{
	return process(n) + 1;
}
END
	done
	cat >main.c <<END
unsigned run_a(unsigned), run_b(unsigned);
int main(void)
{
	unsigned s = 0;

	for (int i = 0; i < 500; i++)
		s += run_a(300000) + run_b(200000);
	return s == 42;
}
END
	${CC:-cc} -O2 -g -o twins main.c a.c b.c
}
