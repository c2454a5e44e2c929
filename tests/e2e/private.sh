#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording from another user must not make tally read this disk: output for others
# contains only source text from the recording and from folders that were named.
. "$top_srcdir/tests/lib.sh"

unset DEBUGINFOD_URLS
cd "$T_TMP" || exit 1
chmod 755 .
umask 022
for p in python3 script; do
	command -v $p >/dev/null && continue
	t_skip_all "private files" "there is no $p"
done
page() { # FILE: all of a page that its script shows
	python3 -B -c '
import json, sys
sys.path.insert(0, sys.argv[1])
import html_check
meta = html_check.data(sys.argv[2])["meta"]
print(json.dumps(meta["lines"]["files"], ensure_ascii=False))
print("\n".join(meta["sources"]))
' "$top_srcdir/tests/e2e" "$1"
}

# What the stranger wants, and where: a private key, a file that anybody on this
# machine may read, and in the project a hidden file, one that is private by its
# mode, and links that lead out of it.
mkdir -p home/.ssh home/notes proj/src proj/.git
for i in home/.ssh/id_rsa home/notes/diary.c proj/.env proj/src/mode.c \
	proj/.git/config; do
	for l in 1 2 3 4 5 6 7 8 9; do echo "SECRET $i $l"; done >"$i"
done
chmod 600 home/.ssh/id_rsa proj/src/mode.c
ln -s ../../home/notes/diary.c proj/src/link.c
ln -s ../../home/notes proj/src/folder
ln -s own.c proj/src/inside.c
ln -s . "$T_TMP/proj/src/self"
work() { # NUMBER PATH: a function whose lines are said to be in PATH
	echo "#line 2 \"$2\""
	echo "__attribute__((noinline)) unsigned f$1(unsigned x) {"
	echo "for (int i = 0; i < 4000; i++) x = x * 1664525u + (x >> 7) + $1;"
	echo "return x; }"
}
cat >proj/src/own.c <<'END2'
/* the project's own */
/* own line two */
/* own line three */
/* own line four */
END2
i=0
for p in home/.ssh/id_rsa home/notes/diary.c proj/.env proj/src/mode.c \
	proj/src/link.c proj/src/folder/diary.c proj/.git/config \
	proj/src/../../home/notes/diary.c proj/src/own.c proj/src/inside.c \
	proj/src/self/self/own.c home/notes/gone.c; do
	i=$((i + 1))
	work $i "$T_TMP/$p"
done >stranger.c
{
	echo '#line 1 "main.c"'
	echo '#include <stdlib.h>'
	echo 'int main(int argc, char **argv) { unsigned s = 0;'
	echo 'for (int i = 0; i < atoi(argv[argc - 1]); i++) {'
	for k in $(seq $i); do echo "s += f$k(s);"; done
	echo '} return s == 12345; }'
} >>stranger.c
if ! ${CC:-cc} -O1 -g -o stranger stranger.c 2>cc.err; then
	t_skip_all "private files" "no C compiler that works: $(head -n 1 cc.err)"
fi
for f in a b; do
	"$TALLY" record -q -F 4000 -o $f.tally -- ./stranger 3000 2>rec.err &&
		continue
	t_skip_all "private files" "cannot record here: $(head -n 1 rec.err)"
done
cd proj || exit 1
cp ../a.tally ../b.tally .

# Every way out.
"$TALLY" report --html -o report.html a.tally 2>report.err
"$TALLY" flamegraph -o flame.html a.tally 2>flame.err
"$TALLY" annotate --html -o annotate.html a.tally 2>annotate.err
"$TALLY" diff -o diff.html a.tally b.tally 2>diff.err
"$TALLY" check --warn-only --format none --html check.html --baseline a.tally \
	--new b.tally 2>check.err
for p in report flame annotate diff check; do
	page $p.html >$p.txt
	t_like "$p: the project's own source is in the page" "$(cat $p.txt)" \
		'own line three'
	t_lacks "$p: nothing else is" "$(cat $p.txt)" SECRET
	t_like "$p: the page says how many files were read, and from where" \
		"$(cat $p.txt)" \
		"^source text: 1 file read on this machine below $T_TMP/proj: src/own.c$"
	t_like "$p: and which were not" "$(cat $p.txt)" \
		'^source text: (9|10) files left out .*id_rsa'
	t_like "$p: so does the command" "$(cat $p.err)" \
		"^tally: source text: 1 file read on this machine below $T_TMP/proj: src/own.c$"
done
"$TALLY" annotate --all --top 0 --percent-limit 0 a.tally >text.txt
"$TALLY" annotate --all --top 0 --percent-limit 0 -o file.txt a.tally \
	2>file.err
"$TALLY" annotate --format=json --top 0 --percent-limit 0 a.tally >json.txt
# without a name, only functions are shown whose change is no noise
for f in 1 2 3 4 5 6 7 8 9 10 11; do
	"$TALLY" diff --source --all a.tally b.tally f$f
done >difftext.txt
for p in text file json difftext; do
	t_like "$p: the project's own source" "$(cat $p.txt)" 'own line three'
	t_lacks "$p: nothing else" "$(cat $p.txt)" SECRET
done
t_like "the command says which files it read" "$(cat file.err)" \
	"^tally: source text: 1 file read .* below $T_TMP/proj: src/own.c$"
t_like "why there is no source is said" "$(tr -d '\n' <text.txt | tr -s ' #')" \
	'no source: it is not below the working directory, its git work tree, --repo'
t_like "also of a link that leads out" "$(tr -d '\n' <text.txt | tr -s ' #')" \
	'no source: a symbolic link leads out'
t_like "also of what others may not read" \
	"$(tr -d '\n' <text.txt | tr -s ' #')" \
	'no source: others may not read it .its mode is 0600'
t_is "the page does not show whether a file exists" \
	"$(python3 -c '
import json, sys
files = json.loads(open("report.txt").readline())
why = {f["name"].split("/home/")[1]: f["why"] for f in files
       if "/home/" in f["name"] and "folder" not in f["name"]}
print(*sorted(why), len(set(why.values())))')" \
	".ssh/id_rsa notes/diary.c notes/gone.c 1"

# Recordings with source are for others, too.
"$TALLY" record -q -F 4000 --embed-source -o c.tally -- ../stranger 2000
"$TALLY" symbolize -q --embed-source -o d.tally a.tally
for f in c d; do
	"$TALLY" dump $f.tally >$f.txt
	t_like "$f: embedded: the project's own source" \
		"$(cat $f.txt)" own.c
	rm -rf ../empty && mkdir ../empty
	(cd ../empty && "$TALLY" annotate --all --top 0 --percent-limit 0 \
		../proj/$f.tally) >$f.txt
	t_like "$f: embedded: its lines" "$(cat $f.txt)" 'own line three'
	t_lacks "$f: embedded: nothing else" "$(cat $f.txt)" SECRET
done

# A build folder is in its project, whose top is that of the git work tree: one of
# the user's own, and not the home.
mkdir ../proj/build && cd ../proj/build || exit 1
"$TALLY" report --html -o ../../page.html ../a.tally 2>err
page ../../page.html >page.txt
t_like "in a build folder the project's source is in the page" "$(cat page.txt)" \
	'own line three'
t_lacks "and nothing else is" "$(cat page.txt)" SECRET
t_like "and it says from where" "$(cat err)" \
	"1 file read on this machine below $T_TMP/proj: src/own.c$"
work_tree() { # NAME WORDS…: elsewhere the build folder is all
	n=$1; shift
	t_lacks "$n" "$("$@" "$TALLY" annotate --all --top 0 --percent-limit 0 \
		../a.tally)" 'own line|SECRET'
}
work_tree "the home is no project" env HOME="$T_TMP/proj"
mv ../.git ../git
work_tree "without git there is no top" env
if [ "$(id -u)" -eq 0 ]; then
	mv ../git ../.git && chown 64321 ../.git
	work_tree "another user's work tree is not the user's" env
	chown 0 ../.git && chown 64321 ..
	work_tree "nor is one in another user's folder" env
	chown 0 .. && mv ../.git ../git
fi
mv ../git ../.git
cd ../../empty && rm -r ../proj/build

# What the user names is taken, but nothing beyond.
"$TALLY" report --html -o page.html ../a.tally 2>err
page page.html >page.txt
t_lacks "elsewhere there is no source" "$(cat page.txt)" 'own line|SECRET'
t_like "and the page says so" "$(cat page.txt)" \
	'^source text: no file was read on this machine$'
t_like "so does the command" "$(cat err)" 'tally: source text: .* left out'
for o in --repo --source-map; do
	v=$T_TMP/proj
	[ $o = --repo ] || v=$v=$v
	rm -f page.html
	"$TALLY" report --html $o "$v" -o page.html ../a.tally 2>err
	page page.html >page.txt
	t_like "$o allows a folder" "$(cat page.txt)" 'own line three'
	t_lacks "$o allows no other" "$(cat page.txt)" SECRET
done
"$TALLY" annotate --source-map "$T_TMP/home/notes=../home/notes" --all --top 0 \
	--percent-limit 0 ../a.tally >text.txt
t_like "--source-map to a relative folder" "$(cat text.txt)" \
	'SECRET home/notes/diary.c 3'
t_lacks "which allows no other" "$(cat text.txt)" 'own line|id_rsa 3'
(cd / && "$TALLY" annotate --all --top 0 --percent-limit 0 \
	"$T_TMP/a.tally") >text.txt
t_lacks "the root folder is no project" "$(cat text.txt)" \
	'own line|SECRET'
mkdir ../there && mv ../proj/src ../there/
ln -s ../there/src ../proj/src
(cd ../proj && "$TALLY" annotate --all --top 0 --percent-limit 0 a.tally
	) >text.txt
t_lacks "a folder that became a link out is not followed" "$(cat text.txt)" \
	'own line|SECRET'
rm ../proj/src && mv ../there/src ../proj/

# On a terminal it may show any file, and names it.
on_terminal() { # COMMAND: what it shows in one long line
	script -qec "$1" /dev/null </dev/null | tr -d '\r' | tr -s ' #' |
		tr '\n' ' '
}
out=$(on_terminal "COLUMNS=300 '$TALLY' annotate --no-pager --color=never \
	--all --top 0 --percent-limit 0 ../a.tally")
t_like "a terminal shows any file" "$out" 'SECRET home/notes/diary.c 3'
t_like "and says that it is this machine's" "$out" \
	"proj/src/own.c \(this machine's file\)"
t_like "and which one" "$out" \
	"proj/src/link.c \(read from $T_TMP/home/notes/diary.c\)"

# Root, with a recording of somebody else.
if [ "$(id -u)" -eq 0 ]; then
	cd ../proj || exit 1
	chown 64321 a.tally
	out=$(on_terminal "'$TALLY' annotate --no-pager --color=never --all --top 0 \
		--percent-limit 0 a.tally")
	t_lacks "root opens nothing for another user" "$out" 'own line|SECRET'
	t_like "and says so" "$out" "the recording belongs to another user"
	"$TALLY" report --html --repo . -o page.html a.tally 2>err
	page page.html >page.txt
	t_lacks "nor for a page" "$(cat page.txt)" 'own line|SECRET'
	chown 64321 c.tally
	t_like "stored source is shown" "$("$TALLY" annotate --all --top 0 \
		--percent-limit 0 c.tally)" 'own line three'
	"$TALLY" diff --source --all f9 --baseline a.tally b.tally \
		--new b.tally c.tally >text.txt 2>&1
	t_lacks "nor together with others" "$(tr -d '\n' <text.txt | tr -s ' #')" \
		"this machine.s file|SECRET"
	t_like "… whose stored source is shown" "$(cat text.txt)" 'own line three'

	# Nor for names and code: this machine's programs are not opened.
	"$TALLY" record -q --no-symbols -F 4000 -o e.tally -- ../stranger 1000
	"$TALLY" report --no-pager --sort symbol e.tally >own.txt 2>own.err
	t_like "of one's own recording names come from this machine" \
		"$(cat own.txt)" ' f3'
	chown 64321 e.tally
	for c in report 'annotate --all' 'flamegraph --format=svg' 'diff e.tally'; do
		# shellcheck disable=SC2086
		"$TALLY" $c --sort symbol e.tally >out.txt 2>err ||
			"$TALLY" $c -o out.txt e.tally 2>err
		t_lacks "$c: no names of another user's" "$(cat out.txt)" \
			'\bf3\b'
		t_is "$c: which is said" "$(grep -c \
			"^tally: e.tally belongs to another user: the files .* are not opened" \
			err | sed 's/^[12]$/told/')" told
	done
	t_like "--trust-recording opens them" "$("$TALLY" report --no-pager \
		--trust-recording --sort symbol e.tally 2>/dev/null)" ' f3'
	t_like "… for exports, too" "$("$TALLY" export --trust-recording \
		--format=folded -o - e.tally 2>/dev/null)" ';f3'
	for c in export push; do
		"$TALLY" $c --format=folded e.tally >out.txt 2>err ||
			"$TALLY" $c -q --retry-for 1s pyroscope+http://127.0.0.1:1 \
				e.tally 2>err
		t_like "$c names the option" "$(cat err)" '--trust-recording'
		t_like "… that it has" "$("$TALLY" $c --help)" '--trust-recording'
	done
	chmod 644 e.tally
	cp e.tally f.tally && chown 64321 f.tally
	"$TALLY" symbolize -o g.tally f.tally 2>err
	t_is "symbolize is refused" "$? $(ls g.tally 2>/dev/null)" "1 "
	t_like "and names the option" "$(cat err)" '--trust-recording'
	# What is merged belongs to the user, and with it the names of files.
	"$TALLY" merge -o g.tally f.tally 2>err
	t_is "merge is refused" "$? $(ls g.tally 2>/dev/null)" "1 "
	t_like "and names the option" "$(cat err)" '--trust-recording'
	"$TALLY" merge -q --trust-recording -o g.tally f.tally 2>err
	t_is "which allows it" "$? $(ls g.tally) $(cat err)" "0 g.tally "
	# The code of a function that the recording holds none of.
	"$TALLY" symbolize -q -o h.tally --trust-recording e.tally
	chown 64321 h.tally
	t_like "annotate: no code of another user's" \
		"$("$TALLY" annotate --asm --all h.tally main 2>&1)" \
		"another user"
	# check and history: which files they ask the system for, own recordings first.
	for f in base new; do
		"$TALLY" record -q --no-symbols -F 4000 -o $f.tally -- \
			../stranger 1000
		"$TALLY" symbolize -q -o $f-named.tally $f.tally
	done
	git init -q tree 2>/dev/null && cp src/own.c tree &&
		git -C tree -c user.name=n -c user.email=e@x commit -q \
			--allow-empty -m first
	asks() { # NAME STATUSES COMMAND…: files below here it asks for, but its own
		name=$1 statuses=$2; shift 2
		# a leak check needs ptrace for itself
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
			strace -f -qq -y -o calls -e trace=%file,readlink "$TALLY" "$@" \
			>out.txt 2>err
		status=$?
		case " $statuses " in
		*" $status "*) ;;
		*) echo "status $status: $(head -n 1 err)";;
		esac
		grep -oE 'stranger"|id_rsa"|(diary|mode|link|own|inside)\.c"|build-id/' \
			calls | sort -u
	}
	check_forms() { # CALL SUFFIX…
		call=$1; shift
		for s in "$@"; do
			sides="--baseline base$s.tally --new new$s.tally"
			# shellcheck disable=SC2086
			$call "check$s" "0" check --warn-only $sides
			# shellcheck disable=SC2086
			$call "check$s: each output" "0" check --warn-only \
				--threshold 0 --html x.html --json x.json \
				--junit x.xml --sarif x.sarif --markdown x.md \
				--code-quality x.cq --openmetrics x.om --github \
				$sides
			# shellcheck disable=SC2086
			$call "check$s --repo" "0" check --warn-only --repo tree \
				--html x.html $sides
			rm -rf store
			$call "history add$s" "0" history add --store store \
				--repo tree --commit HEAD base$s.tally
			$call "history report$s" "0" history report --store store \
				--repo tree --html x.html --json x.json
			$call "check$s --history" "0" check --warn-only \
				--history store --repo tree --commit HEAD \
				--new new$s.tally
		done
	}
	opens() { t_like "own: $1" "$(asks "$@")" 'stranger|own\.c'; }
	opens_none() { t_none "another user's: $1 asks for no file it names" \
		"$(asks "$@")"; }
	if command -v strace >/dev/null && [ -d tree/.git ] &&
	   strace -o calls true 2>/dev/null; then
		for c in "check" "history add --store store --commit 1"; do
			# shellcheck disable=SC2086
			case $c in
			check) opens check 0 check --warn-only --baseline \
				base.tally --new new.tally;;
			*) opens history 0 $c base.tally;;
			esac
		done
		opens "check --html" 0 check --warn-only --threshold 0 --html \
			x.html --baseline base-named.tally --new new-named.tally
		chown 64321 base.tally new.tally base-named.tally new-named.tally
		check_forms opens_none "" -named
	else
		t_skip "which files check and history ask for" \
			"no strace that works, or no git"
	fi
	# What is true for root is true for users; root's are no stranger's.
	cp "$TALLY" t && chmod 755 t
	for o in 64321 0; do
		chown $o e.tally
		setpriv --reuid 64322 --clear-groups ./t report --no-pager \
			--sort symbol e.tally >out.$o 2>err.$o
	done
	if [ -s out.0 ]; then
		t_lacks "a user: no names of another user's" "$(cat out.64321)" \
			'\bf3\b'
		t_like "a user: root is trusted" "$(cat out.0)" ' f3'
	else
		t_skip "recordings of another user for a user" \
			"cannot run as one here: $(head -n 1 err.0)"
	fi
else
	t_skip "recordings of other users" "needs root"
fi
t_done
