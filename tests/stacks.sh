# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of call stacks share: sourced after tests/lib.sh, it leaves the test
# where there are no stacks to be had.
# shellcheck shell=sh
cd "$T_TMP" || exit 1
t_needs perf
if [ "$(uname -m)" != x86_64 ]; then
	t_skip_all "stacks" "tally walks copied stacks on x86-64 only"
fi
cc() { command ${CC:-cc} -O2 -g -fomit-frame-pointer "$@"; }
record_stacks() { "$TALLY" record -q -g -F 2000 -e cpu-clock:u "$@"; }
# The number of stacks in a state: whole, later, guessed, cut or broken.
stacks() { # FILE STATE
	"$TALLY" info --format=json "$1" |
		sed -n 's/.*"stacks":{\([^[]*\).*/\1/p' |
		sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"
}
# The functions of each sample, innermost first, one sample a line; "?" is an
# address without a name.
chains() { # FILE [WORD for the mark of a stack that is not known to be whole]
	"$TALLY" dump --max-output 8G --only samples -g "$1" |
	awk -v mark="${2-}" '
		/^sample / { if (c) print c; c = ""; next }
		/^  \[/ { if (mark) c = c " " mark; next }
		{ c = c (c ? " " : "") ($2 ~ /^[[(]/ ? "?" : $2) }
		END { if (c) print c }'
}
# Of the samples that begin so, do nearly all match?  Many are asked for, so that a
# few at the program's start do not count.
agree() { # FILE BEGINS MATCHES [WORD]
	chains "$1" "${4-}" >chains.txt
	awk -v b="$2" -v m="$3" '$0 ~ "^" b { n++; if ($0 ~ m) k++
		else bad = $0 }
		END { if (n < 30) print "only " n + 0 " samples"
		else if (k * 1000 >= n * 985) print "yes"
		else print k + 0 " of " n ", not: " bad }' chains.txt
}

cat >burn.h <<'END'
#define NOINLINE __attribute__((noinline))
/* No tail call may take a frame away. */
#define STAY __asm__ volatile("" ::: "memory")
static volatile unsigned long sink;
/* Each product needs the one before, so that a loop takes about as long on all
 * processors.  (How soon memory gives back what was just stored differs fivefold.)
 * The empty asm keeps compilers from computing several rounds at once. */
static NOINLINE void burn(long n)
{
	unsigned int x = (unsigned int)n;

	for (long i = 0; i < n; i++) {
		x = x * 1664525u + (unsigned int)i;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}
END
