#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that commands write: existing files, links, modes.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
umask 022
if ! "$TALLY" record -q -o a.tally -- true 2>rec.err; then
	t_skip_all "outputs" "cannot record here: $(head -n 1 rec.err)"
fi
mode() { stat -c %a "$1"; }
leftover() { # files of ours that have not got their names
	find "${1:-.}" -name '.*.tally-part' | wc -l
}

# An older recording.
t_is "only its owner may read a recording" "$(mode a.tally)" 600
first=$(cksum <a.tally)
"$TALLY" record -q -o a.tally -- true
t_is "an older recording is kept as FILE.old" "$(cksum <a.tally.old)" "$first"
t_ok "the new one is another" "$([ "$(cksum <a.tally)" != "$first" ]; echo $?)"
second=$(cksum <a.tally)
"$TALLY" record -q -o a.tally -- true
t_is "FILE.old is the last one before" "$(cksum <a.tally.old)" "$second"
if command -v perf >/dev/null &&
   perf record -q -o p.data -- true >/dev/null 2>&1; then
	first=$(cksum <p.data)
	perf record -q -o p.data -- true >/dev/null 2>&1
	t_is "as perf does" "$(cksum <p.data.old)" "$first"
else
	t_skip "as perf does" "no perf that records here (linux-perf)"
fi
chmod 666 a.tally
"$TALLY" record -q -o a.tally -- true
t_is "its mode is not that of an older file" "$(mode a.tally)" 600
before=$(cksum <a.tally)
"$TALLY" record -q -o a.tally -- ./no-such-command 2>err
t_is "a command that cannot run leaves the older file" "$(cksum <a.tally)" \
	"$before"
: >empty
"$TALLY" record -q -o empty -- true
t_is "an empty file is no older recording" "$?:$(ls empty.old 2>&1 |
	grep -c 'No such')" 0:1

# Text and pages go to standard output, recordings and counts to files only.
for c in "report" "report --html" "annotate --html" "flamegraph" "export --format=csv"; do
	# shellcheck disable=SC2086 # words
	"$TALLY" $c a.tally >out 2>err
	# shellcheck disable=SC2086
	"$TALLY" $c -o - a.tally >out.dash 2>err
	t_same "-o - is standard output: $c" out.dash out
done
for c in "merge -o - a.tally a.tally.old" "import -o - p.data" "symbolize -o - a.tally" \
	"stat -o - true" "record -o - true"; do
	case $c in import*) [ -s p.data ] || continue;; esac
	# shellcheck disable=SC2086 # words
	"$TALLY" $c >out 2>err
	t_like "$c: names the reason" "$?:$(cat err)" '^2:.*name a file'
done
t_none "none makes a file of this name" "$(ls ./- 2>/dev/null)"

# Whoever kills the recorder leaves a file that opens, however early: here the
# command does, at once.
for s in perf timer ptrace; do
	if ! "$TALLY" record -q --source=$s -o k.tally -- true 2>rec.err; then
		t_skip "killed at once, --source=$s" "$(head -n 1 rec.err)"
		continue
	fi
	rm -f k.tally k.tally.old
	for older in no an; do
		"$TALLY" record -q --source=$s -o k.tally -- \
			sh -c 'kill -9 $PPID' 2>/dev/null
		t_is "killed at once, --source=$s, with $older older file: status" \
			$? 137
		"$TALLY" report --no-tui k.tally >k.txt 2>&1
		t_like "… the file opens" "$?:$(head -n 1 k.txt)" \
			'^0:# sh -c .kill -9'
		t_like "… and says what it lacks" "$(cat k.txt)" \
			'did not end properly'
		t_like "… with its environment" "$("$TALLY" info k.tally)" \
			'sh -c'
	done
	t_like "… the older one is kept" "$("$TALLY" info k.tally.old)" 'sh -c'
done
rm -f k.tally k.tally.old
mkdir taken
"$TALLY" record -q -o taken/new.tally -- ./no-such-command 2>err
t_none "a command that cannot run leaves no file" "$(ls -A taken)"

# Killed before each call that makes, renames, removes or writes a file: the
# recording before is always there under one of its two names, and what else is
# left goes with the next recording.
if ${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o fault.so \
	"$top_srcdir/tests/e2e/fault.c" -ldl 2>/dev/null &&
	LD_PRELOAD=$PWD/fault.so "$TALLY" --version >/dev/null 2>&1; then
	"$TALLY" record -q -o one.tally -- true
	"$TALLY" record -q -o two.tally -- true
	mkdir killed
	bad='' hidden=0 n=0 status=137
	while [ $status -eq 137 ] && [ $n -lt 100 ]; do
		n=$((n + 1))
		rm -rf killed/*
		cp one.tally killed/k.tally.old
		cp two.tally killed/k.tally
		FAULT="any $n KILL" LD_PRELOAD=$PWD/fault.so \
			"$TALLY" record -q -o killed/k.tally -- true 2>/dev/null
		status=$?
		"$TALLY" info killed/k.tally >/dev/null 2>err ||
			bad="$bad $n:$(cat err)"
		cmp -s two.tally killed/k.tally ||
			cmp -s two.tally killed/k.tally.old ||
			bad="$bad $n:lost"
		[ "$(leftover killed)" -eq 0 ] || hidden=$((hidden + 1))
		"$TALLY" record -q -o killed/k.tally -- true
		[ "$(leftover killed)" -eq 0 ] || bad="$bad $n:left"
	done
	t_is "killed before each call that changes a file: all were tried" \
		"$status:$([ $n -gt 5 ] && echo many):$([ $hidden -gt 0 ] &&
		echo hidden)" 0:many:hidden
	t_none "… the older recording is never lost, and no file is left" "$bad"
	rm -rf killed/*
	if python3 -c 'import os
os.open("killed", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null; then
		bad='' n=0 status=137
		while [ $status -eq 137 ] && [ $n -lt 100 ]; do
			n=$((n + 1))
			FAULT="write $n KILL" LD_PRELOAD=$PWD/fault.so "$TALLY" export \
				--format=chrome -o killed/out two.tally 2>/dev/null
			status=$?
			[ $status -eq 0 ] || bad="$bad$(ls -A killed)"
		done
		t_is "killed while writing: the end was reached" \
			"$status:$([ $n -gt 1 ] && echo killed)" 0:killed
		t_none "… and nothing of a part is left" "$bad"
	else
		t_skip "killed while writing" "this file system has no unnamed files"
	fi
else
	t_skip "killed before each call that changes a file" \
		"no library can be loaded into tally here"
fi

# Other files.
echo text >notes.txt
"$TALLY" record -o notes.txt -- sh -c 'echo ran >ran' 2>err
t_is "what is no recording is not overwritten" "$?:$(cat notes.txt)" 2:text
t_like "and what to do is said" "$(cat err)" \
	'notes.txt exists and is not a recording: .*--force'
t_ok "before the command runs" "$([ ! -e ran ]; echo $?)"
"$TALLY" record -q --force -o notes.txt -- true
t_like "--force overwrites it" "$("$TALLY" info notes.txt)" true
echo text >a.tally.old
"$TALLY" record -o a.tally -- true 2>err
t_is "nor is another file called FILE.old" "$?:$(cat a.tally.old)" 2:text
t_like "which is named" "$(cat err)" 'a.tally.old'
rm a.tally.old
ln -s elsewhere a.tally.old
"$TALLY" record -o a.tally -- true 2>err
t_is "nor a link of that name" "$?:$(readlink a.tally.old)" 2:elsewhere
rm a.tally.old
# What only root can read may be a recording or not.
as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
mkdir -m 755 shared
cp "$TALLY" shared/tally
chmod 777 shared
chmod 755 .
if [ "$(id -u)" -eq 0 ] && as_nobody shared/tally --version >/dev/null 2>&1
then
	(umask 077; cp a.tally shared/a.tally)
	(cd shared && as_nobody ./tally record -o a.tally -- true) 2>err
	t_like "what cannot be read is not overwritten, and why is said" \
		"$?:$(cat err)" \
		'a.tally exists, and cannot be read .*--force.*: Permission denied'
	t_same "it stays" a.tally shared/a.tally
	(cd shared && as_nobody ./tally record -q --force -o a.tally -- true)
	t_is "--force overwrites it too" "$?:$(stat -c %u shared/a.tally)" \
		0:64321
	# A folder that takes no new files.
	mkdir closed
	cp a.tally closed/a.tally
	cp a.tally closed/s.tally
	chown 64321 closed/a.tally closed/s.tally
	(cd closed && as_nobody ../shared/tally record -q -o a.tally -- true) \
		2>err
	t_like "a recording is not overwritten where it cannot be kept" \
		"$?:$(cat err)" '^1:.*cannot write a.tally here .*-o FILE'
	t_same "… and stays as it is" a.tally closed/a.tally
	(cd closed && as_nobody ../shared/tally symbolize s.tally) 2>err
	t_like "nor are symbols stored there" "$?:$(cat err)" \
		'^1:.*cannot write s.tally'
	t_same "… which leaves the recording" a.tally closed/s.tally
	rm -r closed
else
	t_skip "files of other users" "needs root and setpriv"
fi
mkdir folder
"$TALLY" record -o folder -- true 2>err
t_like "a folder is an error" "$?:$(cat err)" '^1:.*folder: Is a directory'

# Links.
echo precious >victim
ln -s victim link
ln -s nothing dangling
for cmd in "record -q -o" "record -q --force -o" "stat -q -o"; do
	for l in link dangling; do
		# shellcheck disable=SC2086 # words
		"$TALLY" $cmd $l -- true 2>err
		t_like "tally $cmd writes through no link ($l)" \
			"$?:$(cat victim):$(cat err)" \
			'^1:precious:.*a symbolic link to (victim|nothing)'
	done
done
"$TALLY" record -q -F 2000 -o b.tally -- sh -c \
	'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
for cmd in "report --html" "report --format=json" "flamegraph" \
	"annotate --html" "diff b.tally --format=json" \
	"diff b.tally --format=svg" symbolize; do
	# shellcheck disable=SC2086 # words
	"$TALLY" $cmd b.tally -o link 2>err
	t_like "tally $cmd writes through no link" \
		"$?:$(cat victim):$(cat err)" \
		'^1:precious:.*a symbolic link to victim'
done
cp b.tally c.tally
"$TALLY" check --baseline b.tally --new c.tally --json link >/dev/null 2>err
t_is "tally check --json writes through no link" \
	"$(cat victim):$(grep -c 'symbolic link' err)" precious:1
t_ok "nothing is made behind a link" "$([ ! -e nothing ]; echo $?)"

mkdir store elsewhere
ln -s ../elsewhere store/runs
"$TALLY" history add --store store --commit 1 b.tally 2>err
t_like "nor does a history" "$?:$(ls elsewhere):$(cat err)" \
	'^1::.*store/runs: is a symbolic link'
"$TALLY" history --store store >out 2>err
t_like "and it reads through none" "$?:$(cat out err)" \
	'^1:tally: store/runs: is a symbolic link$'

# Pages are for others.
"$TALLY" report --html -o page.html a.tally
t_is "a page has the umask's mode" "$(mode page.html)" 644
(umask 077; "$TALLY" report --html -o page.html a.tally)
t_is "also where one was" "$(mode page.html)" 600
echo text >page.txt
"$TALLY" report --format=json -o page.txt a.tally
t_like "a page takes the place of another file" "$(head -c 1 page.txt)" '{'
t_is "and of no more than that" "$(ls page.txt.old 2>&1 |
	grep -c 'No such')" 1
mkdir kept
"$TALLY" check --runs 2 --run true --against true --keep kept -F 999 \
	>/dev/null 2>&1
t_is "recordings of check --keep are ours alone" \
	"$(find kept -type f | wc -l | tr -d ' '):$(find kept -type f \
		! -perm 600 | wc -l | tr -d ' ')" 4:0

# What is open already, pipes and devices.
echo before >all.txt
"$TALLY" stat -q -e task-clock -o /dev/stdout -- true >>all.txt
t_is "/dev/stdout is the standard output" "$(head -n 1 all.txt):$(grep -c \
	task-clock all.txt)" before:1
"$TALLY" report --format=json -o /dev/fd/3 a.tally 3>fd.txt
t_like "/dev/fd/3 is descriptor 3" "$(head -c 1 fd.txt)" '{'
"$TALLY" record -q -o /dev/stdout -- true >out.tally
t_like "a recording there opens" "$("$TALLY" info out.tally)" true
mkfifo pipe
"$TALLY" symbolize -q -o /dev/stdout b.tally >out.tally
t_like "so does one with symbols" "$("$TALLY" info out.tally)" '^ +symbols +[1-9][0-9]*$'
"$TALLY" symbolize -q -o copy.tally a.tally
t_is "a copy with symbols is as private as the recording" "$(mode copy.tally)" 600
chmod 640 a.tally
"$TALLY" symbolize -q a.tally
t_is "symbols leave a recording's mode as it is" "$(mode a.tally)" 640
cat pipe >from-pipe.tally &
"$TALLY" record -q -o pipe -- true
wait
t_like "a recording through a pipe opens" "$("$TALLY" info from-pipe.tally)" \
	true
t_is "/dev/null takes everything" \
	"$("$TALLY" report --html -o /dev/null a.tally 2>&1; echo $?)" 0
# A link there is the system's, unless others may make links in its folder.
for d in /dev/shm "/dev/..$T_TMP/shared"; do
	[ -d "$d" ] && [ -w "$d" ] || continue
	l=$d/tally-test.$$
	ln -s /dev/null "$l" || continue
	t_cleanup "rm -f '$l'"
	"$TALLY" report --html -o "$l" a.tally 2>err
	t_like "no link in ${d%%/tally-test*} is followed, not even to a device" \
		"$?:$(cat err)" '^1:.*a symbolic link to /dev/null'
done
if [ "$(id -u)" -eq 0 ] && unshare -m sh -c 'mount -t tmpfs -o mode=755 none /dev &&
	mknod -m 666 /dev/null c 1 3 && ln -s null /dev/other' 2>/dev/null; then
	t_is "a link of the system to a device is followed" "$(unshare -m sh -c '
		mount -t tmpfs -o mode=755 none /dev && mknod -m 666 /dev/null c 1 3 &&
		ln -s null /dev/other && "$TALLY" report --html -o /dev/other a.tally
		echo $?' 2>&1)" 0
else
	t_skip "a link of the system to a device" "needs root and unshare"
fi
"$TALLY" report --html -o /dev/full a.tally 2>err
t_like "a full disk is an error" "$?:$(cat err)" '^1:.*No space left'
if [ "$(id -u)" -ne 0 ]; then
	mkdir closed; echo x >closed/file; chmod 555 closed
	"$TALLY" report --html -o closed/file a.tally
	t_like "a file in a folder that takes no new ones" \
		"$(head -c 9 closed/file)" '<!DOCTYPE'
	chmod 755 closed
fi
t_is "no file is left over" "$(leftover)" 0

t_done
