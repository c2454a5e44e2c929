#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf.data as a recording: exactly the samples that perf itself reports.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
PERF=${PERF:-perf}
# Some versions of perf abort now and then where they handle build-ids.
perf_do() {
	for _ in 1 2 3; do
		"$PERF" "$@" >perf.out 2>perf.err && break
	done
}
perf_record() {
	perf_do record -q -N "$@"
}
perf_record -e cpu-clock -o try.data true
if [ ! -s try.data ]; then
	t_skip_all "perf.data" "perf is not here or may not record"
fi

cat >work.c <<'END2'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void leaf(unsigned long n)
{
	unsigned int x = 1;

	/* as long on all processors: each product needs the one before */
	for (unsigned long i = 0; i < n; i++)
		x = x * 1664525u + (unsigned int)i;
	sum += x;
}
__attribute__((noinline)) void middle(unsigned long n)
{
	leaf(n);
	sum++;
}
__attribute__((noinline)) void outer(unsigned long n)
{
	middle(n);
	sum++;
}
static void *run(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY);
	static char b[1 << 16];

	for (int i = 0; i < 40; i++) {
		outer(4000000);
		for (int k = 0; k < 20; k++)
			sum += (unsigned long)read(fd, b, sizeof(b));
	}
	close(fd);
	return arg;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run, NULL);
	run(NULL);
	pthread_join(t, NULL);
	return 0;
}
END2
${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-inline -pthread -o work work.c ||
	exit 1

# "SAMPLES WEIGHT KEY", by perf and by tally.  perf shows [kernel.kallsyms], and calls the
# vdso of programs of both word sizes [vdso32] once it has seen a 32-bit one.
by_perf() { # FILE KEYS
	perf_do report -q -i "$1" --stdio -g none --no-inline --no-children \
		-n --percent-limit 0 -F sample,period,"$2" -t '|'
	sed 's/ *| */|/g; s/^ *//; s/ *$//; s/\[kernel.kallsyms\]/[kernel]/
			s/\[vdso32\]/[vdso]/
			s/|\[[k.]\] /|/; s/ (deleted)$//; s/|:-1$/|[exited]/' \
		perf.out | grep '|' | grep -v '^#' | sort
}
by_tally() { # FILE KEYS
	"$TALLY" report --format=json -s "$2" "$1" | python3 -c '
import json, os, re, sys
for row in json.load(sys.stdin)["rows"]:
	key = str(row[sys.argv[1]])
	if sys.argv[1] == "image":
		# two builds of one path are told apart: perf does not do that
		key = re.sub(r" \[(#[0-9]+|[0-9a-f]{8})\]$", "", os.path.basename(key))
	self = row["self"]
	if self["samples"]:
		print("%d|%d|%s" % (self["samples"], self["weight"], key))
' "$2" | sort
}

# Code that other programs made has no file: perf counts it by thread.
of_files() { grep -vE '\|(\[JIT\] tid [0-9]*|\[anon\]|\[unknown\]|//anon.*)$'; }
# perf adds up files of one name (a second libc, of a container); tally does not.
by_name() {
	awk -F'|' '{ n[$3] += $1; w[$3] += $2 }
		END { for (k in n) printf "%.0f|%.0f|%s\n", n[k], w[k], k }' | sort
}
# perf cuts long names of commands.
short() { sed -E 's/(\|[^|]{5})[^|]*$/\1/' | sort; }
same() { # NAME FILE
	t_is "$1: by command" "$(by_tally "$2" comm | short)" \
		"$(by_perf "$2" comm | short)"
	t_is "$1: by image" "$(by_tally "$2" image | of_files | by_name)" \
		"$(by_perf "$2" dso | of_files | by_name)"
	t_like "$1: has samples" "$(by_tally "$2" comm)" '^[1-9][0-9]*\|'
}

perf_record -e cpu-clock -o plain.data ./work
same "one event" plain.data
perf_record -g -e cpu-clock -o fp.data ./work
same "call chains" fp.data
perf_record --call-graph dwarf,4096 -e cpu-clock -F 500 -o dwarf.data \
	./work
same "copies of stacks" dwarf.data
perf_record -g -e cpu-clock -o - ./work
cp perf.out pipe.data
same "a pipe's data in a file" pipe.data
perf_record -e cpu-clock -B -o noid.data ./work
same "without build-ids" noid.data
perf_record -c 1000000 -e cpu-clock -a -o all.data ./work
same "the whole machine" all.data
perf_record -z -g -e cpu-clock -o z.data ./work
if [ -s z.data ]; then
	same "compressed" z.data
else
	t_skip "compressed" "this perf was built without zstd"
fi

t_is "functions" "$(by_tally fp.data symbol | grep -E '\|(leaf|outer)$')" \
	"$(by_perf fp.data sym | grep -E '\|(leaf|outer)$')"
chain='main.*run.*outer.*middle.*leaf'
for file in fp dwarf; do
	"$TALLY" dump --only samples -g $file.data >dump 2>err
	share=$(awk '/^sample / { n += leaf; whole += leaf && outer && run
			leaf = outer = run = first = 0; next }
		!first { leaf = / leaf \(/; first = 1 }
		/ outer \(/ { outer = 1 }
		/ run \(/ { run = 1 }
		END { print (n > 20 && whole / n > 0.95) }' dump)
	t_is "$file: whole stacks, $chain" "$share" 1
done

# Both events of a file, each with its own samples.
perf_record -e cpu-clock,page-faults -o two.data ./work
perf_do report -q -i two.data --stdio -g none --no-children -F sample -s comm
t_is "two events" "$("$TALLY" report --format=csv -s comm two.data |
		awk -F, 'NR > 1 { n[$2] += $3 } END {
			print n["cpu-clock"], n["page-faults"] }')" \
	"$(awk '$1 + 0 { printf "%s%s", k++ ? " " : "", $1 }' perf.out)"

# A recording that stays, and commands that take perf.data as it is.
t_run "import" "$TALLY" import -o fp.tally fp.data
t_is "… reports the same" "$(by_tally fp.tally image)" "$(by_tally fp.data image)"
t_run "diff of both" "$TALLY" diff --format=text fp.data fp.tally
t_like "annotate" "$("$TALLY" annotate --no-pager fp.data leaf)" 'x = x \*'
t_like "info says what it is" "$("$TALLY" info --no-pager fp.tally)" \
	'source +perf.data'

# perf's own choice of an event is "cpu-clock:pppH", which is no more precise.
perf_record -o own.data ./work
"$PERF" report -i own.data --stdio 2>/dev/null | grep -q "event 'cpu-clock:p" && {
	t_run "its own event is comparable" "$TALLY" diff --format=text plain.data own.data
	t_like "… and not precise" "$("$TALLY" annotate --no-pager own.data leaf)" \
		'timer[ #]+interrupts'
}

# The command is the program's, without perf's options.
command_of() { # OPTION… PROGRAM…
	rm -f command.data
	"$PERF" record -q -N -e cpu-clock -F 4000 -o command.data "$@" >perf.out 2>&1
	"$TALLY" report --format=json command.data 2>err |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["header"]["command"])'
}
loop='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; :'
t_is "the command: a script's" "$(command_of sh -c "$loop")" "sh -c $loop"
t_is "… behind --" "$(command_of -g -- sh -c "$loop # ./work")" \
	"sh -c $loop # ./work"
t_is "… of the whole machine" "$(command_of -a sh -c "$loop")" "sh -c $loop"
t_is "… with -- of its own" "$(command_of sh -c "$loop" x -- y)" "sh -c $loop x -- y"

# Hostile ones.
head -c $(($(stat -c %s fp.data) / 2)) fp.data >cut.data
t_like "a cut file: what came before" "$("$TALLY" report --format=text \
	cut.data 2>&1)" 'truncated[ #]+at[ #]+offset'
if [ "$(id -u)" -eq 0 ]; then
	cp plain.data theirs.data
	chown 65534 theirs.data
	"$TALLY" report theirs.data >out 2>err
	t_like "another user's names no file of ours to open" "$? $(cat err)" \
		"^1 tally: theirs.data belongs to another user, .*--trust-recording"
	t_run "… unless one wants that" "$TALLY" import -q --trust-recording \
		-o theirs.tally theirs.data
	t_run "… in reports, too" "$TALLY" report --trust-recording theirs.data
fi
# Debug files that the user names.
mkdir dbg away
objcopy --only-keep-debug work dbg/work.debug && objcopy -g work away/work &&
	perf_record -e cpu-clock -o away.data away/work
t_lacks "without debug files there are no lines" \
	"$("$TALLY" report -s symbol,line away.data 2>&1)" 'work\.c:'
for c in "report -s symbol,line" "annotate --format=text" "export --format=csv"; do
	# shellcheck disable=SC2086 # words
	t_like "--debug-dir has them: $c" \
		"$("$TALLY" $c --debug-dir dbg away.data 2>&1)" 'work\.c'
done
# Without inlined functions and lines, symbol tables suffice, and give the same rows.
. "$top_srcdir/tests/workload/twins.sh"
make_twins spin && perf_record -e cpu-clock -F 2000 -o twins.data ./twins
rows() {
	"$TALLY" report "$@" --percent-limit 0 twins.data 2>/dev/null
}
t_like "inlined functions are rows" "$(rows --format=csv)" '/twins,spin \(a\.c\),'
t_is "… which perf's plain report has not" "$(rows --format=text --no-inline -n |
	awk '/twins +process/ { print $3 }' | sort -n)" \
	"$(by_perf twins.data sym | awk -F'|' '$3 == "process" { print $1 }' | sort -n)"
# Text has names only, CSV also files, from the debug information.
t_is "names from symbol tables are those of debug information" \
	"$("$TALLY" export --format=folded --no-inline twins.data |
		sed -n 's/.*;\(process .*\)/\1/p' | sort)" \
	"$(rows --format=csv --no-inline -s symbol | awk -F, '/process/ {
		print $1 " " $3 }' | sort)"
t_is "a symbol's file is known, also of a global one" "$("$TALLY" report --no-pager \
	--no-inline -s symbol --symbol work.c:leaf --no-header plain.data 2>/dev/null |
	awk '/%/ { print $3 }')" leaf
# Text needs no lines, so none are read, and it is that of a recording that has them.
"$TALLY" import -q -o twins.tally twins.data
for c in "report --no-pager" "report --no-pager -g" "export --format=folded -o -" \
	"export --format=perf-script -o -" "flamegraph --format=svg -o -" \
	"flamegraph --no-inline -o -"; do
	for of in tally data; do
		# shellcheck disable=SC2086 # words
		"$TALLY" $c twins.$of >as.$of 2>err
	done
	t_same "the same as of a recording with lines: $c" as.data as.tally
done
# Debug information of which a part is missing: lines that are not read are not missing.
# A sample may be in a stub of the linker, which has none.
mkdir split && ${CC:-cc} -O1 -g -gsplit-dwarf -pthread -c -o split/work.o work.c &&
	${CC:-cc} -pthread -o split/work split/work.o && rm split/*.dwo &&
	perf_record -e cpu-clock -o split.data split/work
"$TALLY" import -q -o split.tally split.data
for of in tally data; do
	"$TALLY" report --no-pager --missing split.$of 2>err |
		awk '/^# work: [0-4]\.[0-9]% .*without lines/ { skip = 1; next }
			skip && /^#   / { next }
			{ skip = 0; print }' >as.$of
done
t_same "what else is missing is the same" as.data as.tally
"$TALLY" report --no-pager --missing --no-inline split.data >as.data 2>err
t_lacks "nor is it by symbols alone" "$(cat as.data)" \
	'^# work: ([5-9]|[0-9]{2,})[.0-9]*% .*without lines'
t_like "there are such samples" "$(cat as.data)" ' work +leaf'
printf 'PERFILE2' >short.data
"$TALLY" report short.data >out 2>err
t_like "a short one" "$? $(cat err)" '^1 tally: short.data: '
python3 - <<'END2'
data = bytearray(open('plain.data', 'rb').read())
at = int.from_bytes(data[40:48], 'little')
data[at + 6:at + 8] = b'\0\0'
open('bad.data', 'wb').write(data)
END2
rm -f bad.tally
"$TALLY" import -o bad.tally bad.data >out 2>err
t_like "damage has its offset" "$? $(cat err)" \
	'^1 tally: bad.data: damaged at offset [0-9]+: '
t_none "… and leaves nothing behind" "$(ls bad.tally* 2>/dev/null)"
# tally does nothing to the files of other recorders.  Others that run now may.
cat >beside.sh <<'END2'
for _ in 1 2 3; do
	HOME=$PWD "$1" record -q -e cpu-clock -o beside.data -- sh -c '
		ls; ls; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' >/dev/null &&
		"$1" report --stdio -i beside.data && exit
done
exit 1
END2
if "$TALLY" record -q -a -o beside.tally -- true 2>err; then
	t_run "perf reads what it records next to tally" "$TALLY" record -q -a \
		-o beside.tally -- sh beside.sh "$PERF"
else
	t_skip "perf next to tally" "$(head -n 1 err)"
fi
t_done
