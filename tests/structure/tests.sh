#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests themselves: no check passes where what it checks is absent.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
printf 'one\ntwo\n' >some
cp some same
: >empty

# says HELPER ARGS…: what the helper prints, without reasons and numbers
says() {
	(T_COUNT=0; "$@") | sed -n 's/^\(ok\|not ok\) 1 - .*/\1/p'
}
good() { t_is "it passes: $*" "$(says "$@")" ok; }
bad() { t_is "it fails: $*" "$(says "$@")" 'not ok'; }
good t_is x 1 1
bad t_is x 1 2
bad t_is x "" ""
bad t_is x 1 ""
good t_like x word 'o.d'
bad t_like x "" 'o.d'
good t_lacks x word nothing
bad t_lacks x word 'o.d'
bad t_lacks x "" nothing
bad t_lacks x word '('
good t_none x ""
bad t_none x word
good t_same x some same
bad t_same x some empty
bad t_same x empty empty
bad t_same x some nowhere
bad t_same x nowhere nowhere
good t_near x 5.5 5 1
bad t_near x 7 5 1
bad t_near x -1.00 -1.00 4
bad t_near x 0 0 4
bad t_near x "" "" 4
bad t_near x nothing nothing 4
good t_narrow x some 3
bad t_narrow x some 2
bad t_narrow x empty 80
bad t_narrow x nowhere 80

# What these helpers are for may not be written otherwise.
written() { # FOLDER ERE
	(cd "$1" && sed -e :a -e '/\\$/N; s/[ \t]*\\\n[ \t]*/ /; ta' ./*/*.sh |
		grep -E -e "^[[:space:]]*t_$2")
}
wrong() { # WHAT ERE CHECK, as printf takes it
	mkdir -p wrong/one
	printf "$3" >wrong/one/test.sh
	t_like "it is found: $1" "$(written wrong "$2")" .
	t_none "no test has $1" "$(written "$top_srcdir/tests" "$2")"
}
t_like "the tests are found" "$(ls "$top_srcdir"/tests/*/*.sh)" e2e/report.sh
wrong "an empty text to compare with: t_none" "is .* (\"\"|'')\$" \
	't_is "a" "$b" \\\n\t""\n'
wrong "a count of 0 lines that match: t_lacks" 'is .*grep -[A-Za-z]*c .*\)" 0$' \
	't_is "a" "$(grep -c b c)" \\\n\t0\n'
wrong "files that may both be empty: t_same" 'run "[^"]*" cmp [^ ]+ [^ ]+$' \
	't_run "a" cmp \\\n\tb c\n'

# Nor in C: tests/checks.h, tried with a program of each kind.
unit() { # NAME BODY: what a unit test of this body prints, and its exit status
	cat >unit.c <<-END
	#include "$top_srcdir/tests/checks.h"
	#include <stdlib.h>
	#include <unistd.h>
	static volatile int none;
	static const char *volatile nothing = "", *volatile same = "same";
	static void test(void **state) { (void)state; $2 }
	int main(void)
	{
		const struct CMUnitTest tests[] = { cmocka_unit_test(test) };
		return cmocka_run_group_tests(tests, NULL, NULL);
	}
	END
	$CC -std=gnu11 -Wall -Wno-unused-variable -o unit unit.c -lcmocka \
		2>unit.err || { cat unit.err; return; }
	CMOCKA_MESSAGE_OUTPUT=TAP ./unit 2>&1
	echo "status $?"
}
printf '#include <cmocka.h>\n' |
$CC -include setjmp.h -include stdarg.h -include stddef.h -include stdint.h \
	-fsyntax-only -xc - 2>/dev/null && cmocka=1
if [ "${cmocka-}" ]; then
	holds() {
		t_like "it passes: $1" "$(unit "$1" "$1")" '^status 0$'
	}
	holds_not() {
		t_like "it fails: $1" "$(unit "$1" "$1")" "^# .*unit.c:[0-9]*: $2"
	}
	holds 'assert_int_equal(none, 0);'
	holds 'assert_string_equal(nothing, "");'
	holds 'assert_string_equal(same, same);'
	holds 'skip_test("no"); assert_int_equal(none, 0);'
	holds_not 'for (int i = 0; i < none; i++) assert_int_equal(i, i);' \
		'never ran: i = i'
	holds_not 'if (none) assert_true(none);' 'never ran: none'
	holds_not 'if (!none) return; assert_non_null(nothing);' 'never ran'
	holds_not 'if (!fork()) { assert_false(none); exit(0); }' 'never ran'
	holds_not 'assert_string_equal(nothing, nothing);' 'compared empty'
	holds_not 'assert_memory_equal(same, nothing, (size_t)none);' \
		'compared empty'
else
	t_skip "checks of unit tests" "cmocka is not installed"
fi
t_none "all unit tests use it" "$(grep -lE '<cmocka.h>' \
	"$top_srcdir"/tests/*/*.[ch])"
t_none "each test that is skipped says why" "$(grep -nE '\bskip\(\)' \
	"$top_srcdir"/tests/*/*.[ch])"
t_none "absence is looked for in what is not empty (check_lacks)" "$(grep -nE \
	'assert_null\((strstr|strchr|memmem)' "$top_srcdir"/tests/*/*.[ch])"
t_done
