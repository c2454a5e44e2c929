#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that trace others, or themselves, while they are recorded by ptrace: they
# behave as they do alone, and processes released for that are named.
. "$top_srcdir/tests/lib.sh"

case $(uname -m) in
x86_64) ;;
*) t_skip_all "recording by ptrace" "it is for x86-64 only";;
esac
cc=${CC:-cc}
source=$top_srcdir/tests/e2e/traced_program.c
case $source in /*) ;; *) source=$PWD/$source;; esac
cd "$T_TMP" || exit 1
$cc -O1 -g -D_GNU_SOURCE "$source" -o program -lpthread || exit 1
record() { "$TALLY" record --source=ptrace "$@"; }
if ! record -q -o a.tally -- true 2>err; then
	t_like "a refusal is explained" "$(cat err)" \
		'ptrace_scope|seccomp|SYS_PTRACE|/proc'
	t_skip_all "recording by ptrace" "not allowed here: $(cat err)"
fi
# Nothing here takes long: who waits for us would do so forever.
both() { # COMMAND…: alone to `alone`, below us to `traced`, both with the status
	ALONE=1 timeout 120 "$@" >alone 2>&1
	echo "exit $?" >>alone
	timeout 120 "$TALLY" record --source=ptrace -q -F 2000 -o a.tally -- \
		"$@" >traced 2>&1
	echo "exit $?" >>traced
}
not_recorded() { "$TALLY" info --no-pager "$1" | sed -n 's/^ *not_recorded *//p'; }

# --- ptrace(2) itself
for how in attach stopped child both; do
	both ./program $how
	t_same "$how: traces as alone" traced alone
done
t_lacks "nothing was refused alone" "$(./program attach)" ' [1-9][0-9]* refused'
record -o a.tally -- ./program attach >out 2>err
t_like "the command says what was let go" "$(cat err)" \
	'not recorded: what program traces \(a process can have only one tracer'
t_is "and the file" "$(not_recorded a.tally)" "what program traces"
record -q -o a.tally -- ./program both >out
t_like "one of two" "$(not_recorded a.tally)" '^what program traces$'
# Other programs, and stops for samples in their waits.
$cc -static -O1 -g -D_GNU_SOURCE "$source" -o static -lpthread 2>/dev/null
if [ -x static ]; then
	both ./static attach
	t_same "a static program traces as alone" traced alone
else
	t_skip "a static program" "no static C library"
fi
if unshare -pf --mount-proc true 2>/dev/null; then
	both unshare -pf --mount-proc ./program attach
	t_same "so does one with process numbers of its own" traced alone
else
	t_skip "process numbers of its own" "no namespaces of them here"
fi
# All system calls of a program that may trace are watched: it sees the same.
printf '#include <sys/ptrace.h>\nvoid *reference = (void *)ptrace;\n' >refer.c
$cc -O1 -D_GNU_SOURCE "${source%/*}/ptrace_program.c" refer.c -o watched \
	-lpthread || exit 1
both sh -c './watched; echo $?'
t_same "a program that is watched sees the same" traced alone
t_is "to its end, by a signal" "$(tail -n 2 alone)" "143
exit 0"
if ! $cc -m32 -O1 -g -D_GNU_SOURCE "$source" -o small 2>/dev/null -lpthread; then
	t_skip "an i386 program" "no compiler for it"
elif ./small >alone 2>&1; [ $? -eq 126 ]; then
	t_skip "an i386 program" "this machine cannot run it"
else
	both ./small attach
	t_same "an i386 program traces as alone" traced alone
fi

# --- tracers
if command -v strace >/dev/null; then
	cat >script <<-'END'
	echo one
	(echo two)
	cat /dev/null
	exit 7
	END
	for how in "-f" "-f --seccomp-bpf" "-D -f"; do
		# shellcheck disable=SC2086
		both strace $how -o calls -e trace=write,execve sh script
		t_same "strace $how: the program does the same" traced alone
		t_is "strace $how: all calls are seen" \
			"$(sed 's/^[0-9]* *//' calls | grep -c -e write \
				-e execve -e exited)" 7
	done
	# the program is in its long sleep by then
	attach='sleep 3 & p=$!; sleep 1; exec strace -o calls -p $p'
	sh -c "$attach" 2>/dev/null
	alone=$(grep -v restart calls)
	record -q -o a.tally -- sh -c "$attach" 2>err
	t_is "strace -p: the same calls" "$(grep -v restart calls)" "$alone"
	# (Tracers try on children of theirs what the kernel can.)
	t_like "the report names the traced program and its tracer" "$(not_recorded a.tally)" \
		'(^|, )sleep once traced by strace(,|$)'
else
	t_skip "strace" "there is none"
fi
if command -v gdb >/dev/null; then
	attach() { "$@" sh -c 'sleep 60 & gdb -q -batch -nx -p $! \
		-ex "set debuginfod enabled off" -ex "info threads"; kill $!' 2>&1 |
		grep -c -e 'process [0-9]*) detached' -e '^\* 1 '; }
	t_is "gdb -p below us as alone" \
		"$(attach "$TALLY" record --source=ptrace -q -o a.tally --)" \
		"$(attach env)"
	t_like "it was let go" "$(not_recorded a.tally)" \
		'(^|, )sleep once traced by gdb(,|$)'
else
	t_skip "gdb -p" "no gdb"
fi

# --- leaks: only a recording of shares of time needs work that takes time
cat >leak.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char *volatile kept;
static volatile unsigned int sink;
__attribute__((noinline)) void work(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink += i;
}
static void *wait(void *arg)
{
	pause();
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, wait, NULL);
	work(argc > 1 || getenv("ALONE") ? 1000 : 300000000);
	kept = malloc(77);
	if (argc > 1)
		kept = NULL;
	puts(argv[0]);
	return 0;
}
END
tried=
for compiler in gcc clang; do
	for what in address leak; do
		command -v $compiler >/dev/null || continue
		p=$compiler-$what
		$compiler -g -fsanitize=$what leak.c -o $p -lpthread 2>/dev/null ||
			continue
		ALONE=1 ./$p >/dev/null 2>&1 || continue	# not at all here
		tried="$tried $p"
		both ./$p
		t_same "$p: a program without leaks ends well" traced alone
		t_is "$p: with success" "$(tail -n 1 traced)" "exit 0"
		t_like "$p: it was recorded" \
			"$("$TALLY" report --no-pager --percent-limit 0 a.tally)" \
			'^ +([5-9][0-9]|100)\.[0-9]+%.* work$'
		t_is "$p: to its check" "$(not_recorded a.tally)" \
			"$(echo $p | cut -c1-15) once in its leak check"
		./$p leak >/dev/null 2>alone.err
		alone=$?
		record -q -o a.tally -- ./$p leak >/dev/null 2>err
		t_is "$p: leaks have their exit status" $? $alone
		t_is "$p: and their report" "$(grep -e '^SUMMARY' -e '^Direct' err)" \
			"$(grep -e '^SUMMARY' -e '^Direct' alone.err)"
	done
done
[ "$tried" ] || t_skip "leak checks" "no compiler has them"
t_done
