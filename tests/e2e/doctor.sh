#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tally doctor says what can be recorded, here and with fewer rights, and tally record
# agrees. With TALLY_TESTS=long, more numbers of files and sizes of memory, and
# perf is asked and what would help is tried at each level of perf_event_paranoid.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
deny=$top_builddir/tests/e2e/deny
case $deny in /*) ;; *) deny=$OLDPWD/$deny;; esac
chmod 755 . && mkdir -m 777 open && cp "$TALLY" "$deny" open/
doctor=$T_TMP/open/tally

# The summary is the first line of the JSON, and each check has a line; one check below
# says that it is JSON.  can FILE: the summary as six letters.
can() {
	awk 'NR == 1 { n = split("own_user own_kernel others system counters " \
			"kernel_names", k, " ")
		for (i = 1; i <= n; i++)
			s = s (index($0, "\"" k[i] "\":true") ? "y" :
				index($0, "\"" k[i] "\":false") ? "n" : "?")
		print s }' "$1"
}
# own FILE: what its exit status says
own() { sed -n '1s/.*"own_programs":true.*/0/p; 1s/.*"own_programs":false.*/1/p' "$1"; }
# check FILE NAME: state, what was found and the fix, in one line.
check() {
	sed -n 's|^{"name":"'"$2"'","state":"\([a-z]*\)","found":"\(.*\)","fix":"\(.*\)"},*$|\1: \2: \3|p' \
		"$1" | sed 's|\\\(.\)|\1|g'
}
long=$(t_long && echo yes)
yes() { if "$@" >/dev/null 2>&1; then printf y; else printf n; fi; }

"$TALLY" doctor >text
status=$?
"$TALLY" doctor --format=json >json
t_is "both formats end the same" $? $status
t_is "the status says whether own programs can be recorded" $status \
	"$(own json)"
t_is "as it is with record" \
	"$("$TALLY" record -q -o a.tally -e cpu-clock:u -- true; echo $?)" \
	"$(own json)"
t_is "and with perf events" \
	"$(yes "$TALLY" record --source=perf -q -o a.tally -e cpu-clock:u \
	-- true)" "$(can json | cut -c1)"
t_is "and with ptrace" \
	"$(yes "$TALLY" record --source=ptrace -q -o a.tally -- true)" \
	"$(check json 'source ptrace' | sed 's/^no:.*/n/; s/^[ol].*/y/')"
t_like "the first line sums up" "$(head -1 text)" '^own programs: .*; other users.* processes: .*; whole system: .*; hardware counters: .*; kernel names: '
t_none "each check has a state" "$(tail -n +3 text | awk '
	!/^(ok |limited |no |         )/ { print } END { if (NR < 9) print NR }')"
t_is "what is in order needs no fix" "$(python3 -c '
import json
print(sum(c["state"] == "ok" and c["fix"] != ""
          for c in json.load(open("json"))["checks"]))')" 0
mkdir empty
(cd empty && "$TALLY" doctor >/dev/null)
t_none "nothing is left in the folder" "$(ls -A empty)"
"$TALLY" doctor now 2>err
t_is "words are a usage error" $? 2

# A machine with counters: where there are none, a library feigns them.
pmu=
if ! "$TALLY" list cycles 2>/dev/null | grep -q cpu-cycles; then
	${CC:-cc} -shared -fPIC -o pmu.so -D_GNU_SOURCE \
		"$top_srcdir/tests/e2e/fake_pmu.c" -ldl 2>/dev/null &&
		pmu=$T_TMP/pmu.so
	if [ -z "$pmu" ] || ! LD_PRELOAD=$pmu "$TALLY" --version >/dev/null 2>&1
	then
		t_skip "hardware counters" "cannot preload a library here"
		pmu=
	fi
fi
if [ -n "$pmu" ]; then
	t_like "no counters are no failure" "$(check json 'hardware counters')" \
		'^no: cycles cannot be sampled .*cpu-clock is used'
	LD_PRELOAD=$pmu "$TALLY" doctor --format=json >json
	t_is "counters are found" "$(can json | cut -c1,5)" yy
	t_like "by name" "$(check json 'hardware counters')" \
		'^ok: cycles instructions'
	t_like "with their precision" "$(check json precision)" '^ok: cycles:pp '
	LD_PRELOAD=$pmu "$TALLY" record -o a.tally -- true 2>err
	t_lacks "and record uses them" "$(cat err)" counter
fi

# Filters in the kernel's place, as containers and services have them.
if ! open/deny EPERM true 2>/dev/null; then
	t_skip "seccomp filters" "this kernel takes no seccomp filter"
else
	for e in EPERM EACCES ENOSYS; do
		open/deny $e "$TALLY" doctor --format=json >json
		t_is "$e of a filter: the status is ptrace's" $? "$(own json)"
		t_is "$e of a filter: perf can nothing" \
			"$(can json | cut -c1-5)" nnnnn
		t_like "a filter that says $e is named" \
			"$(check json 'own programs')" \
			'^no: a seccomp filter .*(--cap-add=PERFMON|seccomp=unconfined)'
		open/deny $e "$TALLY" record --source=perf -o a.tally \
			-- true 2>err
		t_is "record of perf events fails under $e" $? 1
		t_like "and names the filter and doctor" "$(cat err)" \
			'seccomp filter.*(PERFMON|unconfined).*tally doctor'
	done
	taken=$(open/deny EPERM "$TALLY" record -o a.tally -- true 2>&1 |
		sed -n 's/^tally: recording by \([a-z]*\) .*/\1/p')
	t_like "the first line names what record takes, $taken" \
		"$(open/deny EPERM "$TALLY" doctor --no-pager | head -n 1)" \
		"^own programs: user code, by ${taken:-nothing}"
	open/deny KILL "$TALLY" doctor --format=json >json
	t_is "a filter that kills does not kill doctor" $? "$(own json)"
	t_like "and is named" "$(check json 'own programs')" \
		'^no: callers of perf_event_open are killed .*seccomp'
	open/deny KILL "$TALLY" record --source=perf -o a.tally -- true 2>err
	t_is "nor record" $? 1
	t_like "which says so" "$(cat err)" 'seccomp filter kills.*tally doctor'
	t_like "nor list" "$(open/deny KILL "$TALLY" list --all cpu-clock)" \
		'unusable: a seccomp filter kills'
	open/deny KILL-BPF "$TALLY" doctor --format=json >json
	t_is "a filter of bpf does not kill doctor" $? "$(own json)"
	if check json waits | grep -q .; then
		t_like "and is named" "$(check json waits)" \
			'^ok: .*perf events.*a system call filter kills'
	fi
	open/deny KILL-BPF "$TALLY" record -q --wait -o a.tally -- true
	t_is "nor record" $? 0
fi

# Every setting, as a user without rights.
as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
sysctl=/proc/sys/kernel
t_settings
if [ "$(id -u)" -ne 0 ] || ! as_nobody "$doctor" --version >/dev/null 2>&1 ||
	! cat $sysctl/kptr_restrict >kptr || ! [ -w $sysctl/kptr_restrict ] ||
	! cat $sysctl/perf_event_paranoid >paranoid; then
	t_skip_all "other users and settings" "needs root, setpriv, and settings that may be changed"
fi
restore() {
	cat "$T_TMP/paranoid" >$sysctl/perf_event_paranoid
	cat "$T_TMP/kptr" >$sysctl/kptr_restrict
	[ ! -e "$T_TMP/mlock" ] ||
		cat "$T_TMP/mlock" >$sysctl/perf_event_mlock_kb
}
t_cleanup restore
cd open || exit 1

# What perf, and a plain read, can do now; nothing of it asks tally.
# Root's recordings are root.tally: other users can neither read nor replace them.
perf_can() {
	yes as_nobody perf record -q -o p.data -e cpu-clock:u true
	yes as_nobody perf record -q -o p.data -e cpu-clock:k true
	yes as_nobody perf stat -e cpu-clock:u -p $$ sleep 0.01
	yes as_nobody perf stat -a -e cpu-clock true
}
tally_can() {
	yes as_nobody ./tally record --source=perf -q -o p.tally \
		-e cpu-clock:u true
	yes as_nobody ./tally record --source=perf -q -o p.tally \
		-e cpu-clock:k true
	yes as_nobody ./tally record --source=perf -q -o p.tally \
		-e cpu-clock:u -p $$ --duration 0.01
	yes as_nobody ./tally record --source=perf -q -o p.tally -a \
		-e cpu-clock true
}
sees_kernel() {
	as_nobody head -n 20000 /proc/kallsyms |
		grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* '
}

for level in -1 0 1 2 ${long:+3} 4; do
	echo $level >$sysctl/perf_event_paranoid
	as_nobody ./tally doctor --format=json >json
	status=$?
	doctor_can=$(can json)
	t_is "paranoid $level: the status follows" $status "$(own json)"
	t_is "paranoid $level: record does what doctor says" "$(tally_can)" \
		"$(echo "$doctor_can" | cut -c1-4)"
	if [ -z "$long" ] && [ $level != 1 ] && [ $level != 2 ]; then
		:	# record alone is asked there
	elif perf --version >/dev/null 2>&1; then
		t_is "paranoid $level: and perf" "$(perf_can)" \
			"$(echo "$doctor_can" | cut -c1-4)"
	else
		t_skip "paranoid $level: and perf" "perf is not installed"
	fi
	t_is "paranoid $level: kernel names" "$(yes sees_kernel)" \
		"$(echo "$doctor_can" | cut -c6)"
	# The fix is one: with what it sets, it works.
	[ "$long" ] || [ $level = 2 ] && for what in 'kernel code' 'whole system'; do
		fix=$(check json "$what" | grep -o 'paranoid=[0-9]')
		[ -n "$fix" ] || continue
		echo "${fix#*=}" >$sysctl/perf_event_paranoid
		as_nobody ./tally doctor --format=json >after
		t_like "paranoid $level: the fix for $what is one" \
			"$(check after "$what")" '^(ok|limited)'
		echo $level >$sysctl/perf_event_paranoid
	done
	as_nobody ./tally record --source=perf -o p.tally -e cpu-clock -- \
		sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' 2>err
	if [ "${doctor_can#n}" != "$doctor_can" ]; then
		# as Debian's kernel does from 3 on
		t_like "paranoid $level: record says that it may not" \
			"$(cat err)" \
			"must be 2 or less.*it is $level.*tally doctor"
	elif [ $level -ge 2 ]; then
		line="kernel part not visible: kernel.perf_event_paranoid is $level"
		t_like "paranoid $level: record says what is missing" \
			"$(cat err)" "$line"
		t_like "paranoid $level: and each report" \
			"$(./tally report p.tally | tr -d '\n#' | tr -s ' ')" \
			"$line"
	else
		t_lacks "paranoid $level: record has nothing to say" \
			"$(cat err)" 'not visible'
	fi
done

# Debian's kernel refuses everything from 3 on.
if ./deny LEVEL true 2>/dev/null; then
	echo 3 >$sysctl/perf_event_paranoid
	as_nobody ./deny LEVEL ./tally doctor --format=json >json
	t_is "a kernel that refuses everything" $? "$(own json)"
	t_like "is told from a filter, with the way out" \
		"$(check json 'own programs')" \
		'^no: not allowed: .*paranoid is 3.*sysctl kernel.perf_event_paranoid=2'
	as_nobody ./deny LEVEL ./tally record --source=perf -o p.tally true \
		2>err
	t_is "record fails there" $? 1
	t_like "and says how to change that" "$(cat err)" \
		'must be 2 or less.*it is 3.*sysctl kernel.perf_event_paranoid=2.*tally doctor'
fi

# kptr_restrict: 1 leaves names to CAP_SYSLOG, 2 to nobody.
echo 1 >$sysctl/perf_event_paranoid
for level in 0 1 2; do
	echo $level >$sysctl/kptr_restrict
	as_nobody ./tally doctor --format=json >json
	./tally doctor --format=json >root.json
	seen=$(yes sees_kernel)
	./tally record -o root.tally -e cpu-clock -- true 2>err
	root_seen=$(yes grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* ' /proc/kallsyms)
	cat ../kptr >$sysctl/kptr_restrict
	t_is "kptr_restrict $level: a user's names" "$(can json | cut -c6)" \
		$seen
	t_is "kptr_restrict $level: root's names" "$(can root.json | cut -c6)" \
		$root_seen
	t_is "kptr_restrict $level: record says so" \
		"$(grep -q 'samples* in root.tally' err &&
			yes grep -q 'will have no names' err)" \
		"$(echo $root_seen | tr yn ny)"
	for f in json root.json; do
		fix=$(check $f 'kernel names' | grep -o 'kptr_restrict=[0-9]')
		[ -n "$fix" ] || continue
		[ $f = json ] && as=as_nobody || as=
		echo "${fix#*=}" >$sysctl/kptr_restrict
		$as ./tally doctor --format=json >after
		cat ../kptr >$sysctl/kptr_restrict
		t_is "kptr_restrict $level: the fix of $f is one" \
			"$(can after | cut -c6)" y
	done
done
restore

# Capabilities in place of settings.
echo 2 >$sysctl/perf_event_paranoid
as_perfmon() {
	as_nobody --inh-caps +perfmon --ambient-caps +perfmon "$@"
}
if as_perfmon true 2>/dev/null; then
	as_perfmon ./tally doctor --format=json >json
	t_is "CAP_PERFMON alone records everything" "$(can json | cut -c1-4)" \
		yyyy
	# Up to Linux 6.12 it does not show the mappings of others.
	sleep 30 & other=$!
	if as_perfmon cat /proc/$other/maps >/dev/null 2>&1; then
		maps='^ok: '
	else
		maps='^limited: .*CAP_SYS_PTRACE'
	fi
	kill $other
	t_like "and so far as it does, mappings of others" \
		"$(check json 'other users')" "$maps"
	t_like "and it is named" "$(check json capabilities)" \
		'^ok: CAP_PERFMON: $'
	t_is "which record shows" \
		"$(yes as_perfmon ./tally record -q -o p.tally -a -e cpu-clock \
			true)" y
else
	t_skip "CAP_PERFMON alone" "setpriv cannot give it here"
fi
restore

# Paranoid 0 opens the whole system, but not what others have mapped.
echo 0 >$sysctl/perf_event_paranoid
sleep 30 & other=$!
if as_nobody cat /proc/$other/maps >/dev/null 2>&1; then
	t_skip "what others have mapped" "anybody may read it here"
else
	as_nobody ./tally doctor --format=json >json
	t_like "paranoid 0 does not open what others have mapped" \
		"$(check json 'whole system')" \
		'^limited: .*no symbols of running programs of other users.*CAP_SYS_PTRACE'
	as_nobody ./tally record -a --duration 0.1 -e cpu-clock -o p.tally 2>err
	t_like "as record says" "$(cat err)" \
		'\(process [0-9]+\)( and [0-9]+ more)? will have no symbols: .*tally doctor'
	t_like "and its file" "$(./tally info p.tally)" 'closed_programs +[1-9]'
fi
kill $other
if cp tally capable && setcap cap_perfmon=ep capable 2>/dev/null; then
	echo 2 >$sysctl/perf_event_paranoid
	t_is "tally with a file capability records everything" \
		"$(as_nobody ./capable doctor --format=json >json 2>err
		can json | cut -c1-4)" yyyy
	t_is "also in truth" "$(yes as_nobody ./capable record -q -a \
		-e cpu-clock -o p.tally true)" y
else
	t_skip "tally with a file capability" "needs setcap"
fi

# Few files, little memory, no /proc, no room to write.
echo 2 >$sysctl/perf_event_paranoid
(ulimit -r 0 && as_nobody ./tally doctor --format=json) >json
t_like "normal priority is a limit" "$(check json priority)" \
	'^limited: (normal|nice [1-9][0-9]*): .*prlimit --pid .* --rtprio=2'
if (ulimit -r 2) 2>err && chrt -f 2 true 2>>err; then
	(ulimit -r 2 && as_nobody ./tally doctor --format=json) >json
	t_like "what the fix says lifts it" "$(check json priority)" \
		'^ok: real-time'
	(ulimit -r 2 && as_nobody ./tally record -q --source=perf -o p.tally \
		true)
	t_like "and recordings are drained so" "$(./tally info p.tally)" \
		'drain_priority +real-time'
else
	t_skip "what the fix says lifts it" "$(cat err)"
fi
(ulimit -n 40 && as_nobody ./tally doctor --format=json) >json
t_like "few files are a limit" "$(check json 'open files')" \
	'^(limited|no): 40: .*ulimit -Hn'
# least COMMAND: the smallest limit of open files with which it succeeds
least() {
	few=7 enough=1024
	while [ $((enough - few)) -gt 1 ]; do
		n=$(((few + enough) / 2))
		if (ulimit -n $n && "$@" 9<&-) >/dev/null 2>&1; then
			enough=$n
		else
			few=$n
		fi
	done
	echo $enough
}
says_yes() { ./tally doctor --format=json | grep -q '"own_user": *true'; }
for inherited in 0 1; do
	[ $inherited -eq 0 ] || exec 8</dev/null
	t_is "record needs as many files as doctor says, $inherited inherited" \
		"$(least ./tally record --source=perf -q -o root.tally true)" \
		"$(least says_yes)"
done
exec 8<&-
(ulimit -n 12 && as_nobody ./tally record -q -o p.tally true) 2>err
t_like "and says what it needs" "$(cat err)" 'too many files|Too many open files'
if cat $sysctl/perf_event_mlock_kb >../mlock; then
	for n in 0 ${long:+4} 16 ${long:+64} 516; do
		echo $n >$sysctl/perf_event_mlock_kb
		(ulimit -l 0
		as_nobody ./tally doctor --format=json >json
		as_nobody ./tally record --source=perf -o p.tally \
			-e cpu-clock:u true 2>err)
		mlock_doctor=$(can json | cut -c1)
		mlock_record=$([ -s err ] && ! grep -q 'cannot lock' err &&
			echo y || echo n)
		mlock_line=$(check json 'memory for samples')
		cat ../mlock >$sysctl/perf_event_mlock_kb
		t_is "mlock_kb $n: record does what doctor says" \
			"$mlock_record" "$mlock_doctor"
		[ $mlock_doctor = n ] && continue
		t_is "mlock_kb $n: both say the same of its size" \
			"KB: $(sed -n 's/.*only \([0-9]*\) KB per CPU.*/\1/p' \
			err)" "KB: $(echo "$mlock_line" |
			sed -n 's/^limited: \([0-9]*\) KB per.*/\1/p')"
	done
fi
if as_nobody unshare -rm true 2>/dev/null; then
	as_nobody unshare -r ./tally doctor --format=json >json
	t_like "capabilities of a user namespace do not count" \
		"$(check json capabilities)" '^limited: .*user namespace'
	t_is "also not for what can be done" "$(can json | cut -c1-4)" ynnn
else
	t_skip "user namespaces" "users may not make them here"
fi
without_proc() { unshare -m sh -c 'umount -l /proc && "$@"' sh "$@"; }
if without_proc ./tally --version >/dev/null 2>&1; then
	without_proc ./tally doctor --format=json >json
	t_is "without /proc, own programs can be recorded" $? 0
	t_like "and it is said" "$(check json '/proc and /sys')" \
		'^limited: /proc is not mounted.*mount -t proc proc /proc'
	without_proc ./tally record -e cpu-clock -o root.tally -- true 2>err
	t_is "and record does it" $? 0
	t_like "and says what it cannot" "$(cat err)" \
		'no names: /proc/kallsyms cannot be'
	without_proc ./tally record -p 1 -o root.tally 2>err
	t_like "also that it finds no process" "$(cat err)" \
		'process 1 cannot be looked up: /proc is not mounted'
	unshare -pf --mount-proc ./tally doctor --format=json >json
	t_like "own process IDs are named" "$(check json namespaces)" \
		'^limited: own process IDs'
else
	t_skip "without /proc" "cannot unmount it, or this build needs it"
fi
# Tracepoints: the file system of its own mount is the same for all.
if unshare -m sh -c '[ -d /sys/kernel/tracing/events ] ||
	mount -t tracefs tracefs /sys/kernel/tracing' 2>why; then
	cat >traced.sh <<-'END'
	t=/sys/kernel/tracing
	as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
	[ -d $t/events ] || mount -t tracefs tracefs $t || exit 1
	old=$(stat -c mode=%a,gid=%g $t)
	trap 'mount -o remount,$old $t' EXIT
	trap 'exit 1' HUP INT TERM
	mount -o remount,mode=700,gid=0 $t
	./tally doctor --format=json >root.json
	./deny KILL ./tally doctor --format=json >killed.json
	as_nobody ./tally doctor --format=json >json
	fix=$(python3 -c '
	import json
	print(*[c["fix"] for c in json.load(open("json"))["checks"]
	        if c["name"] == "tracepoints"])' | sed 's/^sudo //')
	$fix
	echo 1 >/proc/sys/kernel/perf_event_paranoid
	as_nobody ./tally doctor --format=json >fixed.json
	as_nobody ./tally record -q -o p.tally -e sched:sched_switch sleep 0.1
	echo $? >status
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	as_nobody ./tally doctor --format=json >hidden.json
	END
	sed -i 's/^	//' traced.sh
	unshare -m sh traced.sh
	t_like "root samples tracepoints" "$(check root.json tracepoints)" '^ok'
	t_like "events that a filter kills for are not tried" \
		"$(check killed.json tracepoints)" '^no: .*filter kills'
	t_like "others may not read their list" "$(check json tracepoints)" \
		'^no: .*may not be read: sudo mount -o remount'
	t_like "the fix is one" "$(check fixed.json tracepoints)" '^ok'
	t_is "as it is with record" "$(cat status)" 0
	t_like "tracepoints lie in the kernel" \
		"$(check hidden.json tracepoints)" '^no: .*in the kernel, which is not visible'
else
	t_skip "tracepoints" "no mounts of its own here: $(head -n 1 why)"
fi
mkdir -m 755 closed
(cd closed && as_nobody ../tally doctor --format=json) >json
t_like "a folder that may not be written is named" "$(check json output)" \
	'^no: .*Permission denied.*record -o'
(cd closed && as_nobody ../tally record -- true) 2>err
t_like "as record says" "$(cat err)" 'cannot write profile.tally here .-o FILE.*Permission denied'
restore
t_done
