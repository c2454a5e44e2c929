#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording that a stranger made, and the user copied: output for others has nothing
# of this machine but what its readers may read below the folders that were named.
. "$top_srcdir/tests/lib.sh"

unset DEBUGINFOD_URLS
for p in git python3; do
	command -v $p >/dev/null && continue
	t_skip_all "a stranger's recordings" "there is no $p"
done
here=$(cd "$top_srcdir/tests/e2e" && pwd)
cd "$T_TMP" || exit 1
chmod 755 .
umask 022
HOME=$T_TMP/home
export HOME
mkdir home
make() { python3 -B "$here/stranger.py" "$@"; }
commit() { # FOLDER
	git -C "$1" add -f . && git -C "$1" -c user.name=n -c user.email=e@x \
		commit -q -m all && git -C "$1" rev-parse HEAD
}
secret() { for f; do mkdir -p "${f%/*}" && echo "SECRET $f" >"$f"; done; }
text() { # OPTIONS…: all sources, as output for others
	timeout 60 "$TALLY" annotate --all --top 0 --percent-limit 0 "$@" 2>&1
}
page() { # FILE: where a page says that its sources are from
	python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import html_check
print("\n".join(html_check.data(sys.argv[2])["meta"]["sources"]))
' "$here" "$1"
}

# --- Source files from git.
secret notes/d/diary.c
if ! { git init -q notes && notes=$(commit notes); }; then
	t_skip_all "a stranger's recordings" "git does not work here"
fi
# The project: private by mode, by a folder's mode, hidden; and sources of its own.
secret project/src/mode.c project/closed/in.c project/closed/gone.c project/.env \
	project/.hidden/h.c project/inner/other.c
mkdir project/part
echo 'own source' >project/src/own.c
echo 'own part' >project/part/own.c
git init -q project && rev=$(commit project)
rm project/closed/gone.c project/src/own.c
chmod 600 project/src/mode.c
chmod 700 project/closed
# What looks like a part of it, and is a repository elsewhere, or none.
ln -s ../notes project/vendor
mkdir -p project/filed project/linked project/bogus/.git
echo 'gitdir: ../../notes/.git' >project/filed/.git
ln -s ../../notes/.git project/linked/.git
# Submodules and work trees, which are allowed.
mkdir project/.git/modules
git init -q --separate-git-dir=project/.git/modules/sub project/sub
echo 'source of a submodule' >project/sub/s.c
sub=$(commit project/sub) && rm project/sub/s.c
git -C project worktree add -q ../tree HEAD && rm tree/src/own.c

P=$T_TMP/project
make sources notes.tally "$notes" "$P/vendor/d/diary.c" "$P/filed/d/diary.c" \
	"$P/linked/d/diary.c" "$P/bogus/d/diary.c"
make sources project.tally "$rev" "$P/src/own.c" "$P/src/mode.c" \
	"$P/closed/in.c" "$P/closed/gone.c" "$P/.env" "$P/.hidden/h.c" \
	"$P/bogus/src/mode.c" "$P/bogus/src/own.c"
make sources sub.tally "$sub" "$P/sub/s.c"
make sources tree.tally "$rev" "$T_TMP/tree/src/own.c"
cd project || exit 1
# what a bogus repository must not stand for: that of a folder above it
out=$(text ../project.tally)
t_like "a file that is gone is taken from git" "$out" 'own source'
t_is "… once, by its own name" "$(echo "$out" | grep -c 'own source')" 1
t_lacks "what is private now, or hidden, is not" "$out" SECRET
t_like "… and why is said" "$(echo "$out" | tr -d '\n' | tr -s ' #')" \
	'others may not search its folder .its mode is 0700'
out=$(text ../notes.tally)
t_lacks "git reads no repository elsewhere" "$out" SECRET
t_like "a submodule in the project is read" "$(text ../sub.tally)" \
	'source of a submodule'
t_like "… on a work tree, too" "$(cd ../tree && text ../tree.tally)" 'own source'
"$TALLY" annotate --html -o ../page.html ../project.tally 2>../err
t_like "the command names the repository" "$(cat ../err)" \
	"^tally: source text: 1 file read from git in $P: .*:src/own.c$"
t_like "… and the page" "$(page ../page.html)" \
	"^source text: 1 file read from git in $P: .*:src/own.c$"
chmod 711 closed
t_like "what others may reach is read" "$(text ../project.tally)" \
	'SECRET project/closed/in.c'
t_like "… as it was before" "$(text ../project.tally)" \
	'SECRET project/closed/gone.c'
chmod 700 closed .
t_like "the folder that was named may be closed to others" \
	"$(cd closed && text ../../project.tally)" 'SECRET project/closed/in.c'
t_like "… also the top of the work tree" "$(cd inner && text ../../project.tally)" \
	'own source'
chmod 755 .

# --repo: by the longest common end of the path.
cd ../home || exit 1
make sources ../repo.tally "$rev" /x/src/own.c /x/src/mode.c /x/closed/in.c \
	/x/closed/gone.c /x/.env /x/.hidden/h.c /x/inner/other.c
out=$(text --repo ../project ../repo.tally)
t_like "--repo gives sources" "$out" 'own source'
t_is "… but what is private or hidden" "$(echo "$out" | grep -c SECRET):$(
	echo "$out" | grep -c 'SECRET project/inner/other.c')" 1:1
out=$(text --repo ../project/part ../repo.tally)
t_lacks "--repo gives nothing from above the folder" "$out" 'SECRET|own source'
make sources ../part.tally "$rev" /x/part/own.c /x/own.c
t_like "… but what is below it" "$(text --repo ../project/part ../part.tally)" \
	'own part'
make sources ../bare.tally "$rev" /x/src/own.c
git clone -q --bare ../project ../bare.git
t_like "a bare repository has sources, too" \
	"$(text --repo ../bare.git ../bare.tally)" 'own source'
cd .. || exit 1

# --- Files that do something when they are opened, here a pipe: the writer goes on.
mkfifo home/pipe
echo text 2>/dev/null >home/pipe &
writer=$!
t_cleanup "kill $writer 2>/dev/null"
make sources pipe.tally "$rev" "$T_TMP/home/pipe"
make names image.tally 1700000000 "$T_TMP/home/pipe" 0x1000
waits() { grep -q wait_for_partner "/proc/$writer/wchan"; }
if t_until waits; then
	(cd home && text ../pipe.tally) >out.txt
	t_like "a pipe is no source file" "$(cat out.txt)" 'not a regular file'
	"$TALLY" report --no-pager image.tally >out.txt 2>&1
	t_like "nor a program; a report is made" "$(cat out.txt)" '^ *SELF '
	if command -v script >/dev/null; then
		t_like "nor a source file on a terminal" "$(script -qec \
			"'$TALLY' annotate --no-pager --all pipe.tally" \
			/dev/null </dev/null | tr -s '\r\n #' ' ')" \
			'a pipe, where a regular file is wanted'
	else
		t_skip "nor a source file on a terminal" "there is no script"
	fi
	sleep 0.2
	t_run "its writer still waits" waits
else
	t_skip "pipes" "the kernel does not say where a process waits"
fi
kill "$writer" 2>/dev/null

# --- Code of programs without build ID: of the function main of 256 bytes at 0x1000.
make program program 2 5 256
touch -d '2022-01-01 12:00' program
make code code.tally 1700000000 "$T_TMP/program" 0x1000 256
code() { # RECORDING: its code, as output for others
	timeout 60 "$TALLY" annotate --asm "$1" main 2>&1
}
hidden() { # NAME PROGRAM START ADDRESS SIZE: no code is shown
	touch -d '2022-01-01 12:00' "$2"
	make code claim.tally "$3" "$T_TMP/$2" "$4" "$5"
	out=$(code claim.tally)
	t_lacks "$1" "$out" 0x1234567
}
make names unnamed.tally 1700000000 "$T_TMP/program" 0x1000
named() { "$TALLY" report --no-pager --sort symbol unnamed.tally 2>&1; }
if code code.tally | grep -q 'mov.*0x1234567'; then
	"$TALLY" annotate --html -o page.html code.tally main 2>err
	t_like "code is read from a program, which the command names" "$(cat err)" \
		"^tally: code: 1 file read on this machine: $T_TMP/program$"
	t_like "… and the page" "$(page page.html)" \
		"^code: 1 file read on this machine: $T_TMP/program$"
	make program core 4 5 256
	hidden "not from a core dump" core 1700000000 0x1000 256
	make program data 2 6 256
	hidden "not from data" data 1700000000 0x1000 256
	make program short 2 5 16
	hidden "not beyond a function" short 1700000000 0x1000 256
	hidden "not a part of one" program 1700000000 0x1000 128
	hidden "nor from inside of it" program 1700000000 0x1005 100
	hidden "not from beyond the code" program 1700000000 0x1000 512
	cp program private
	chmod 600 private
	hidden "not from a program that others may not read" private \
		1700000000 0x1000 256
	# What a recording says of its time is what its author wants.
	hidden "not if the recording has no time" program 0 0x1000 256
	hidden "nor one to come" program 4000000000 0x1000 256
	hidden "nor one before the program" program 1600000000 0x1000 256
	touch -d '2021-01-01' code.tally
	t_lacks "nor if it was stored before" "$(code code.tally)" 0x1234567
else
	t_skip "code of programs" "$(code code.tally | tail -n 1)"
fi
t_like "names are read from a program" "$(named)" ' main'
touch -d '2021-01-01' unnamed.tally
t_lacks "… not if the recording was stored before" "$(named)" ' main'
make names unnamed.tally 4000000000 "$T_TMP/program" 0x1000
t_lacks "… or says that it is of a time to come" "$(named)" ' main'
make names unnamed.tally 0 "$T_TMP/program" 0x1000
t_lacks "… or of none" "$(named)" ' main'
t_like "… and why is said" "$("$TALLY" info unnamed.tally 2>&1; named)" \
	'does not say when it began'

t_done
