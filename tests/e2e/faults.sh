#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recording must survive: kill -9 of the recorder at any moment, a full disk,
# truncation at any byte, flipped bits.  TALLY_TESTS=long: more kills, cuts and flips.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1

kills=8 places=10	# kills in each lane
if t_long; then kills=25 places=40; fi

# A command that keeps a CPU busy for about three seconds and does not outlive its
# recorder; and one that works for a part of that time.
busy='i=0; end=$(( $(date +%s) + 3 )); while [ "$(date +%s)" -lt $end ]; do
	kill -0 $PPID 2>/dev/null || exit
	i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done'
partly=$(echo "$busy" | sed 's/20000/8000/; s/done; done$/done; sleep 0.1; done/')

# kill_one LANE N: records, kills the recorder after N hundredths of a second, and reads
# what it left.  Prints one word.  (Eight lanes of busy commands would leave each of them
# a quarter of a processor of two.)
kill_one() {
	f=kill.$1.$2.tally
	"$TALLY" record -q -F 4000 -o "$f" -- sh -c "$partly; : >$f.done" \
		>/dev/null 2>&1 &
	pid=$!
	sleep "$(awk "BEGIN { print $2 / 100 }")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	if [ $? -ne 137 ]; then
		echo ended	# by itself, on a slow machine
	elif [ ! -s "$f" ]; then
		echo nofile
	elif "$TALLY" report --no-pager "$f" >"$f.out" 2>"$f.err"; then
		if grep -q 'did not end properly' "$f.out" "$f.err"; then
			echo good
		elif [ -e "$f.done" ]; then
			echo good	# all was written when the kill came
		else
			echo silent
		fi
	else
		echo "broken($2): $(head -c 200 "$f.err")"
	fi
	rm -f "$f" "$f.out" "$f.err" "$f.done"
}

# Each at another part of the time, so that few kills meet each part.
kill_many() { # LANE COUNT SEED
	awk -v n="$2" -v s="$3" 'BEGIN { srand(s)
		for (i = 0; i < n; i++) print int((i + rand()) * 250 / n) }' |
	while read -r t; do kill_one "$1" "$t"; done >"lane.$1"
}

if "$TALLY" record -q -o probe.tally -- true >/dev/null 2>probe.err; then
	lanes=""
	for lane in 1 2 3 4 5 6 7 8; do
		kill_many $lane $kills $lane$$ &
		lanes="$lanes $!"
	done
	for pid in $lanes; do wait "$pid"; done
	cat lane.* >lanes
	t_is "$((8 * kills)) recorders killed" "$(wc -l <lanes)" $((8 * kills))
	t_none "every file opens and says that its recording was cut" \
		"$(grep -Ev '^(good|nofile|ended)' lanes)"
	# Only the first moments, before the file exists, may leave nothing; on a
	# slow machine these are long.
	t_ok "many leave a file" "$([ "$(grep -c good lanes)" -ge $((2 * kills)) ]; echo $?)"
	# 2.4 s after the file is there, at least one flush a second has happened.
	"$TALLY" record -q -F 999 -o late.tally -- sh -c "$(echo "$busy" |
		sed 's/+ 3 /+ 30 /')" >/dev/null 2>&1 &
	pid=$!
	t_until [ -s late.tally ]
	sleep 2.4; kill -9 $pid; wait $pid 2>/dev/null
	t_is "one is killed after more than two seconds" $? 137
	n=$("$TALLY" info --format=json late.tally | python3 -c '
import json, sys; print(json.load(sys.stdin)["counts"]["samples"])')
	t_ok "what was flushed in time is there ($n samples)" \
		"$([ "$n" -ge 50 ]; echo $?)"
else
	t_skip "kill -9 of the recorder" "cannot record here: $(head -1 probe.err)"
fi

# A full disk: a tmpfs of 64 KB.
mkdir full
if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
	head -c 40000 /dev/zero >full/ballast
	"$TALLY" record -F 20000 -o full/p.tally -- sh -c "$busy" \
		>full.out 2>full.err
	status=$?
	t_like "a full disk is said" "$(cat full.err)" 'p\.tally.*No space left'
	t_ok "and is a failure" "$([ $status -ne 0 ]; echo $?)"
	t_run "what was written before opens" "$TALLY" report --no-pager full/p.tally
	t_like "and says that the recording was cut" \
		"$("$TALLY" report --no-pager full/p.tally 2>&1)" \
		'did not end properly'
else
	t_skip "a full disk" "mounting a tmpfs needs root"
fi

# The same, while a recording continues in another file: its command goes on, too, and the
# process that looks up the names of the first file ends before tally.
fault=$T_TMP/fault.so
source=$top_srcdir/tests/e2e/fault.c
case $source in /*) ;; *) source=$OLDPWD/$source;; esac
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o "$fault" "$source" -ldl 2>cc.err || fault=
# faulty FAULT OPTION...: records into s.tally with files of 300 ms; status in $status
faulty() {
	rm -f s.tally* went
	FAULT=$1; shift
	FAULT=$FAULT FAULT_POLLS=$T_TMP/polls LD_PRELOAD=$fault "$TALLY" record -F 5000 -g \
		--switch-output=300ms -o s.tally "$@" -- \
		env -u LD_PRELOAD sh -c "$working" >faulty.out 2>faulty.err
	status=$?
}
working='n=0; while [ $n -lt 100 ]; do n=$((n + 1))
	i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; sleep 0.01; done; : >went'
info() { # FILE EXPRESSION: of the JSON j
	"$TALLY" info --format=json "$1" |
		python3 -c "import json, sys; j = json.load(sys.stdin); print($2)"
}
if [ -s probe.tally ] && [ "$fault" ]; then
	faulty "open 2+ ENOSPC,child 1+ SLEEP"
	t_is "a full disk at a switch of files is a failure" $status 1
	t_like "… and is said" "$(cat faulty.err)" \
		'^tally: .*s\.tally.*No space left.*nothing more is recorded'
	t_ok "… and the command goes on" "$([ -e went ]; echo $?)"
	# Of rounds there are some 100 a second.
	t_ok "… and the recorder waits for it ($(cat polls) times)" \
		"$([ "$(cat polls)" -lt 20000 ]; echo $?)"
	t_is "… and the file before is finished with tally" \
		"$(info s.tally.2* "j['header']['complete']")" True
	for f in "ENOSPC No space left" "KILL killed by signal 9"; do
		what=${f%% *}
		faulty "child 1+ $what"
		t_is "$what of the process that looks up names is a failure" $status 1
		t_like "… with its reason" "$(cat faulty.err)" \
			"^tally: s\.tally\.2[0-9]*: .*${f#* }"
		t_like "… and its file" "$(cat faulty.err)" \
			'^tally: s\.tally\.2[0-9]* is not complete'
		t_ok "… and the command goes on" "$([ -e went ]; echo $?)"
	done
	# NFS, 9p and some of FUSE rename without flags only.
	for f in "flagged 1+ EINVAL" "flagged 1+ EINVAL,link 2 EPERM"; do
		faulty "$f"
		t_is "files are switched where renames fail: $f" $status 0
		t_is "… and each is under its own name" "$(info "$(find . -name \
			's.tally.2*' | head -n 1)" "j['header']['complete']") $(find . \
			-name 's.tally*' | wc -l)" "True $(find . -name 's.tally.2*' |
			wc -l)"
	done
else
	t_skip "faults at a switch of files" "cannot record or compile: $(head -1 cc.err)"
fi

# Writes that take long.  A rate that was lowered is noted in the file that it was lowered
# for, and a last file after the command's end knows no other reason for having no samples.
cat >deep.c <<'END'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static int deep(int depth, double end)
{
	volatile char room[400];

	room[0] = (char)depth;
	if (depth)
		return deep(depth - 1, end) + room[0];
	while (now() < end)
		sink++;
	return 0;
}
int main(int argc, char **argv)
{
	return deep(150, now() + atof(argv[argc - 1])) == 1;
}
END
if [ -s probe.tally ] && [ "$fault" ] && t_has perf && ${CC:-cc} -O1 -o deep deep.c 2>cc.err
then
	working="./deep 5"
	faulty "write 4 SLEEP,write 5 SLEEP" -F 20000 --no-symbols --switch-output=4s
	omitted() { info "$1" "int(j['header']['environment'].get('thinned_samples', 0))"; }
	sum=0 first=
	for f in s.tally.2*; do
		n=$(omitted "$f")
		: "${first:=$n}"
		sum=$((sum + n))
	done
	said=$(sed -n 's/.*lowered the rate temporarily (\([0-9]*\) samples.*/\1/p' faulty.err)
	if [ "$said" ]; then
		t_ok "the first file has omitted samples ($first)" "$([ "$first" -gt 0 ]
			echo $?)"
		t_is "… and all files have those that are said" "$sum" "$said"
	else
		t_skip "omitted samples by file" "the recorder kept up"
	fi
	working="./deep 1"
	faulty "write 4 SLEEP,write 5 SLEEP" -F 997 --switch-output=650ms
	last=$(find . -name 's.tally.2*' | sort | tail -n 1)
	text=$("$TALLY" report --no-pager "$last" 2>&1 | tr -d '\n#' | tr -s ' ')
	t_lacks "the source was at work in the last file, too" "$text" 'did not work in them'
	t_like "… when the command had ended" "$text" 'the recorded programs did not run'
else
	t_skip "files of a lowered rate" "needs perf and a compiler"
fi

# A file that is removed, or replaced by another recorder, is not named as a success.
if [ -s probe.tally ]; then
	until='while [ ! -e enough ]; do i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; done
		: >went'
	mkdir removed
	rm -f enough went
	"$TALLY" record -o removed/r.tally -- sh -c "rm -r removed; : >enough; $until" \
		2>removed.err
	t_is "a file that is removed while recording is a failure" "$?" 1
	t_like "… and its samples are lost" "$(cat removed.err)" \
		'^tally: removed/r\.tally was removed.*lost'
	t_lacks "… and not counted" "$(cat removed.err)" 'samples? in'
	for o in "" --switch-output=300ms; do
		rm -f enough went two.tally*
		"$TALLY" record $o -o two.tally -- sh -c "$until" 2>two.err &
		pid=$!
		t_until test -s two.tally
		"$TALLY" record -q -o two.tally -- echo the other >/dev/null
		cp two.tally other
		sleep 0.5
		: >enough
		wait $pid
		t_is "a file that another recorder replaces is a failure $o" "$?" 1
		t_like "… and says where the samples are" "$(cat two.err)" \
			'^tally: two\.tally was .*replaced.* in two\.tally\.old'
		t_ok "… and the command goes on" "$([ -e went ]; echo $?)"
		t_same "… and the other recording keeps its name" two.tally other
		t_like "… and the samples are there" "$("$TALLY" report --no-pager \
			two.tally.old 2>&1)" '%.* (dash|bash|sh|busybox)'
	done
fi

# A real file cut at many places, and with flipped bytes, through the program.
# (Every byte of a small file: tests/profile/test_profile.c.)
if [ -s probe.tally ]; then
	"$TALLY" record -q -g -F 2000 -o real.tally -- sh -c \
		'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
	t_ok "a file to cut has samples" "$([ "$(info real.tally \
		"j['counts']['samples']")" -gt 0 ]; echo $?)"
	size=$(wc -c <real.tally)
	bad=0 k=0
	while [ $k -lt $places ]; do
		n=$((32 + (size - 32) * k / places))
		head -c $n real.tally >cut.tally
		"$TALLY" report --no-pager cut.tally >cut.out 2>cut.err ||
			{ bad=$((bad + 1)); sed 's/^/# /' cut.err; }
		cp real.tally flip.tally
		printf '\377' | dd of=flip.tally bs=1 seek=$n conv=notrunc \
			2>/dev/null
		"$TALLY" report --no-pager flip.tally >cut.out 2>cut.err
		[ $? -le 2 ] || { bad=$((bad + 1)); echo "# flip at $n"; }
		k=$((k + 1))
	done
	t_is "cut and flipped files never end in a crash" "$bad" 0
fi
# Every command that reads recordings, on a few hundred damaged ones: an error, or
# a word about what is missing.  (scripts/endure: on all that can be made of it.)
mkdir harm
cd harm || exit 1
"$top_builddir/tests/cli/damage" \
	"$top_srcdir/tests/fuzz/corpus/annotate/embedded" 131 >../harm.out 2>&1
t_like "no command gives other numbers without a word" "$?:$(cat ../harm.out)" \
	'^0:[1-9][0-9]+ files: [1-9].* errors, .* [1-9][0-9]* marked, 0 without'
cd ..
# An address space that is too small: a message at any limit, up to those that are enough.
# (Sanitizers need more.)
if prlimit --as=100000000 "$TALLY" --version >out 2>err; then
	m=22000000 enough=0
	while [ $enough -lt 20 ] && [ $m -lt 4000000000 ]; do
		prlimit --as=$m "$TALLY" record -q -g -o as.tally -- true >out 2>err
		status=$?
		echo "$status $(head -c 40 err)"
		[ $status -ne 0 ] || enough=$((enough + 1))
		m=$((m + m / 50))
	done >as.all
	grep -vE '^0 |^[14] tally: ' as.all >as.out
	sed 's|^|# |' as.out
	t_is "recording in a small address space says what is wrong" \
		"$(wc -l <as.out | tr -d ' ')" 0
	t_ok "… in one that is too small, and in one that nearly is" "$([ $enough -gt 0 ] &&
		grep -q '^[14]' as.all; echo $?)"
else
	t_skip "a small address space" "$(head -n 1 err)"
fi
# A stack that is too small: its limit is raised for tally only.
if [ -s probe.tally ] && prlimit --stack=98304:8388608 true 2>/dev/null; then
	t_is "a small limit of the stack is the command's only" "$(prlimit \
		--stack=98304:8388608 "$TALLY" record -q -g -o stack.tally -- sh -c \
		'ulimit -s' 2>err; echo $?)" "96
0"
	prlimit --stack=98304:8388608 "$TALLY" report --no-pager probe.tally >out 2>err
	t_is "… also when reading" $? 0
	prlimit --stack=98304:98304 "$TALLY" record -q -o stack.tally -- true 2>err
	t_like "one that cannot be raised is said" "$?:$(cat err)" \
		'^1:tally: the limit of the stack is 96 KB.*ulimit -s 1024'
else
	t_skip "a small limit of the stack" "cannot record or set it"
fi
"$TALLY" annotate lost.tally >out 2>err
t_like "a file that is not there is no function" "$?:$(cat err)" \
	'^1:.*lost.tally: cannot open'

t_done
