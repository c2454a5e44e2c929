#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each format of tally export, opened by the tool that it is for or by a reader
# written from the format's document; totals are those of tally report.
. "$top_srcdir/tests/lib.sh"
t_needs auto
cd "$T_TMP" || exit 1

cat >prog.cc <<'END'
#include <cmath>
#include <cstring>
#include <pthread.h>
#include <utility>
volatile double sink;
template <typename A, typename B> __attribute__((noinline))
double work(A a, B b)
{
	double s = 0;

	for (int i = 1; i < 3000; i++)
		s += a * i / (b + i);
	return s;
}
static inline __attribute__((always_inline)) double squares(int n)
{
	double s = 0;

	for (int i = 1; i < n; i++)
		s += std::sqrt((double)i);
	return s;
}
extern "C" __attribute__((noinline)) double outer(int n)
{
	double s = squares(n) + work<std::pair<int, int>::first_type, long>(3, 4);

	sink = s;
	return s;
}
static double burn(int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += outer(30000);
	return s;
}
static void *second(void *p)
{
	/* the worst that a name can hold */
	pthread_setname_np(pthread_self(), "a;b \"c\n\xff\t<");
	sink = burn(800);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		pthread_create(&t, 0, second, 0);
	sink = burn(1200);
	if (argc > 1)
		pthread_join(t, 0);
	return argv && 0;
}
END
t_run "a program is compiled" g++ -O2 -g -pthread -o prog prog.cc
t_run "it is recorded" timeout 60 "$TALLY" record -g -o p.tally -- ./prog two
timeout 20 "$TALLY" report --format=json --percent-limit=0 p.tally >report.json

export_as() { # FORMAT FILE [OPTION…]
	t_format=$1 t_file=$2
	shift 2
	timeout 20 "$TALLY" export --format="$t_format" -o "$t_file" "$@" p.tally
}
check() { python3 "$top_srcdir/tests/e2e/export_check.py" report.json "$@"; }

# --- folded: the last word of each line is its weight
t_run "folded stacks are written" export_as folded p.folded
t_run "their lines, names and sums are those of the report" check folded p.folded
"$TALLY" export --format=folded -o - p.tally >piped 2>/dev/null
t_same "-o - writes the same to a pipe" piped p.folded

# --- pprof, by Go's own tool
t_run "a pprof profile is written" export_as pprof p.pb.gz
t_run "its messages, ids and sums are right" check pprof p.pb.gz
if command -v go >/dev/null; then
	go tool pprof -top -nodecount=1000 -nodefraction=0 -unit=ns p.pb.gz >top 2>pprof.err
	t_run "go tool pprof counts as the report does" check pprof-top top
	go tool pprof -traces -lines p.pb.gz >traces 2>/dev/null
	t_like "it knows threads" "$(cat traces)" 'tid:.*[0-9]'
	t_like "it knows lines" "$(cat traces)" 'work.*prog\.cc:1[0-9]'
	t_run "a profile for Go's compiler is written" export_as go-pgo default.pgo
	go tool pprof -raw default.pgo >raw 2>/dev/null
	t_like "its values are those that the compiler wants" "$(cat raw)" \
		'samples/count'
	t_like "functions begin at lines" "$(cat raw)" 'outer .*prog.cc:.* s=23'
else
	t_skip "go tool pprof opens it" "no go here"
fi

# --- OpenTelemetry's profiles
t_run "an OTLP file is written" export_as otlp p.otlp.pb
t_run "it names the version of tally" \
	grep -qaF "$("$TALLY" --version | sed 's/.* //')" p.otlp.pb
t_run "its tables have no holes, orphans or equals; its sums are right" \
	check otlp p.otlp.pb
if command -v protoc >/dev/null; then
	protoc --decode_raw <p.otlp.pb >decoded 2>protoc.err
	t_is "protoc decodes it" "$?:$(head -c 3 decoded)" '0:1 {'
	t_like "and finds the tables" "$(cat decoded)" '^2 \{'
else
	t_skip "protoc decodes it" "no protoc here"
fi

# --- speedscope
t_run "a speedscope file is written" export_as speedscope p.speedscope.json
t_run "its samples have stacks and weights that add up" check speedscope p.speedscope.json

# --- the Firefox Profiler, Chrome, text and tables
for f in firefox perf-script cpuprofile chrome csv; do
	t_run "a $f file is written" export_as $f p.$f
	t_run "$f: what is in it is what the report says" check $f p.$f
done

# Nothing in it has a source file: each text about files is empty.
echo 'int main(void) { for (volatile unsigned i = 0; i < 99999999; i++) ; }' >bare.c
if ${CC:-cc} -static -s -o bare bare.c 2>/dev/null; then
	"$TALLY" record -q -g -o bare.tally -- ./bare
	for f in firefox perf-script cpuprofile chrome csv folded speedscope; do
		t_run "a program without symbols as $f" timeout 20 \
			"$TALLY" export --format=$f -o bare.$f bare.tally
		t_like "… has its code's addresses" "$(cat bare.$f)" 'bare\+0x[0-9a-f]+'
	done
else
	t_skip "a program without symbols" "no static C library"
fi

# --- callgrind, by valgrind's own reader
t_run "a callgrind file is written" export_as callgrind p.callgrind
t_lacks "it has no calls without cost" "$(cat p.callgrind)" '^calls=0'
if command -v callgrind_annotate >/dev/null; then
	callgrind_annotate --threshold=100 --auto=no p.callgrind >annotated
	t_run "callgrind_annotate counts as the report does" \
		check callgrind annotated
	callgrind_annotate --tree=calling --inclusive=yes p.callgrind >tree
	t_like "it knows who calls whom" "$(cat tree)" ' > .*:outer '
	callgrind_annotate --threshold=100 --auto=yes p.callgrind >lines
	t_like "and which lines" "$(cat lines)" \
		'^ *[0-9,]+ .*(s \+= std::sqrt|int i = 1; i < n;)'
else
	t_skip "callgrind_annotate opens it" "no valgrind here"
fi

if "$TALLY" annotate --no-pager --asm p.tally 2>&1 | t_no_zydis; then
	t_skip "positions are instructions" "built without Zydis"
else
	t_run "positions are instructions" check callgrind-insns p.callgrind
fi

# --- compilers
for f in llvm bolt; do
	t_run "a $f profile is written" export_as $f p.$f
	t_run "$f: it has the samples of functions" check $f p.$f
done
if command -v llvm-profdata >/dev/null; then
	t_run "llvm-profdata reads it" \
		llvm-profdata merge --sample -o p.profdata p.llvm
	t_like "and finds an inlined function" \
		"$(llvm-profdata show --sample p.profdata)" \
		'inlined callee: squares'
else
	t_skip "llvm-profdata reads it" "no llvm here"
fi

# --- SQLite, where tally was built with it
if "$TALLY" export --list-formats | grep -q '^sqlite '; then
	t_run "a database is written" export_as sqlite p.db
	python3 - <<'END' >rows
import sqlite3
db = sqlite3.connect("p.db")
assert db.execute("PRAGMA foreign_key_check").fetchall() == []
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
for row in db.execute("SELECT function, samples, weight FROM self"):
    print("|".join(map(str, row)))
END
	t_run "its sums are those of the report" check sqlite rows
	"$TALLY" export --format=sqlite -o - p.tally >out 2>err
	t_is "to a pipe it is an error of usage" $? 2
	t_like "which says what helps" "$(cat err)" '-o FILE'
else
	t_skip "a database is written" "built without SQLite"
fi

# --- filters
export_as folded main.folded --comm=prog
t_lacks "filters hold" "$(cat main.folded)" '^a:b'
t_like "and keep the rest" "$(cat main.folded)" '^prog;'
export_as folded flat.folded --no-inline
t_lacks "inlined functions can be left out" "$(cat flat.folded)" 'squares'

# --- what goes wrong
"$TALLY" export --format=pproff p.tally >out 2>err
t_is "an unknown format is an error of usage" $? 2
t_like "which names the one that was meant" "$(cat err)" "did you mean 'pprof'"
"$TALLY" export p.tally >out 2>err
t_is "no format is, too" $? 2
"$TALLY" export -o by-name.folded p.tally
t_same "the output's name can say it" by-name.folded p.folded
mkdir full
"$TALLY" export --format=pprof -o full/x.pb.gz p.tally.absent 2>err
t_is "no recording: fails" $? 1
t_none "and leaves nothing" "$(ls -A full)"
"$TALLY" export --format=folded -o /dev/full p.tally 2>err
t_is "a full device is an error" $? 1
t_like "that is reported" "$(cat err)" '/dev/full'
"$TALLY" export --format=speedscope -o - p.tally | head -c 10 >/dev/null
t_is "every format of the table is in the man page" "$(
	"$TALLY" export --list-formats | while read -r f rest; do
		grep -q "^\.It Cm $f\$" "$top_srcdir/doc/tally-export.1" &&
			echo yes || echo "not $f"
	done | sort -u)" yes
t_done
