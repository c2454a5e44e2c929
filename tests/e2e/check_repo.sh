# SPDX-License-Identifier: GPL-2.0-or-later
# `tally check --repo` on synthetic recordings: which file of a repository a recording
# names, what changed in it, and what is said if git cannot tell.
# shellcheck disable=SC1091,SC2086
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
TMPDIR=$T_TMP
GIT_CONFIG_GLOBAL=/dev/null
export TMPDIR GIT_CONFIG_GLOBAL
make="$top_builddir/tests/check/make_recording"
. "$top_srcdir/tests/made_runs.sh"
command -v git >/dev/null || { echo "1..0 # SKIP needs git"; exit 0; }
git=$(command -v git)

g() {
	git -C repo -c user.name=T -c user.email=t@example.org \
		-c protocol.file.allow=always -c core.autocrlf=false "$@"
}
all() { # SUBJECT: commits everything
	g add -A && g commit -qm "$1"
}
begin() { # a repository with 20 lines in each FILE
	rm -rf repo && git init -q repo || exit 1
	for f; do
		mkdir -p "repo/$(dirname "$f")"
		seq 1 20 | sed 's/^/	line /' >"repo/$f"
	done
	all Begin
	old=$(g rev-parse HEAD)
}
edit() { # FILE LINE SUBJECT
	sed -i "$2s/.*/	slower $2/" "repo/$1" && all "$3"
}
# recordings PATH [SCRIPT]: lex, in the file PATH, is slower in the last commit
recordings() {
	new=$(g rev-parse HEAD)
	for i in 1 2 3 4 5 6; do
		echo "b-$i.tally $((7919 + i * 104729)) $((1700000001 + i * 10))000000000"
	done | describe 'extra = "env revision '"$old"'";'"${2-}" |
		sed "s#/src/lex\\.c#$1#" >spec && "$make" <spec || exit 1
	for i in 1 2 3 4 5 6; do
		echo "n-$i.tally $((3 * 7919 + i * 104729)) $((1700000003 + i * 10))000000000"
	done | describe 'n["lex"] *= 1.25; extra = "env revision '"$new"'";'"${2-}" |
		sed "s#/src/lex\\.c#$1#" >spec && "$make" <spec || exit 1
}
check_with() { # PATH ARGS…
	t_path=$1; shift
	PATH=$t_path "$TALLY" check --repo repo --baseline b-*.tally --new n-*.tally "$@" >out 2>err
}
check() { # ARGS…
	check_with "$PATH" "$@"
}
# Commits and changes that are listed, without IDs.
listed() {
	sed -n 's/^    \(commit\|changed\|[0-9]* more commit\)/\1/p' out |
		sed 's/commit [0-9a-f]\{7,\} /commit /'
}

# --- which file
begin lex.c bench/lex.c
edit lex.c 11 'The slower lex'
edit bench/lex.c 11 'Another lex'
recordings "$T_TMP/repo/lex.c"
check
t_is "the file at the recorded place" "$(listed)" 'commit The slower lex'
recordings "$T_TMP/repo/bench/../bench/./lex.c"
check
t_is "... also by a path with dots" "$(listed)" 'commit Another lex'
recordings lex.c
check
t_is "... relative to the top of the repository" "$(listed)" 'commit The slower lex'
recordings "$T_TMP/repo/generated/lex.c"
check
t_lacks "a file that is not in the repository is no other" "$(cat out)" '^    commit'

begin app/lex.c app/deps/lex.c other/lex.c
edit app/deps/lex.c 11 'Deps'
edit app/lex.c 11 'App'
edit other/lex.c 11 'Other'
recordings /ci/build/app/lex.c
check
t_is "the whole path in the repository counts in another folder" "$(listed)" 'commit App'
recordings ../app/deps/lex.c
check
t_is "... of a relative path" "$(listed)" 'commit Deps'
recordings lex.c
check
t_lacks "a name of several files is none of them" "$(cat out)" '^    commit'
t_like "... and that is said" "$(cat out)" \
	'^note: --repo: the recorded file lex\.c may be [a-z/]*lex\.c or 2 others, so no commits'
"$TALLY" check --repo repo/app --baseline b-*.tally --new n-*.tally >out
t_like "... in a folder of the repository, too" "$(cat out)" 'may be (deps/)?lex\.c or 1 other,'
recordings /ci/build/app/lex.c
"$TALLY" check --repo repo/app --baseline b-*.tally --new n-*.tally >out
t_is "a folder of the repository" "$(listed)" 'commit App'

begin mylibc/lex.c
edit mylibc/lex.c 11 'Another strlen'
recordings /build/glibc-2.36/string/lex.c
check
t_lacks "a library's file of the same name is not ours" "$(cat out)" '^    commit'
recordings lex.c
check
t_is "a unique name is enough without a folder" "$(listed)" 'commit Another strlen'

# --- callers and the function itself are in their files
begin src/lex.c
printf '%s\n' 'int main(void)' '{' '	return lex(1);' '}' >repo/src/app.c
echo 'static int warm = lex(0);' >>repo/src/lex.c
all 'Warm'
recordings /src/lex.c
check
t_is "a main of another file calls nothing, a variable is not its value" "$(listed)" \
	'changed elsewhere: warm (src/lex.c:21), in the same file, commit Warm
changed elsewhere: main (src/app.c:1), commit Warm'
mkdir repo/vendor
for i in $(seq 1 2100); do printf 'int v%d(int x)\n{\n\treturn x;\n}\n' "$i"; done >repo/vendor/a.c
printf '%s\n' 'int main(void)' '{' '	return lex(1);' '}' >repo/src/main.c
all 'Vendor'
recordings /src/lex.c
check
t_like "a caller is found behind many others" "$(listed | head -n 1)" \
	'^changed elsewhere: main \(src/main\.c:1\), which calls it'
t_like "... whose number is true" "$(listed | tail -n 1)" \
	'^changed elsewhere: 2098 more places$'

# --- changes of all kinds
begin src/lex.c
mkdir repo/inc
printf '%s\n' '#define HAVE_SIMD 1' 'int f(void);' >repo/inc/config.h
printf '%s\n' 'int sort(int x)' '{' '	return x;' '}' >repo/gone.c
printf '%s\n' '#[inline(never)]' 'fn look() {' '	one();' '	two();' '}' >repo/lib.rs
printf '%s\n' 'int' 'grow(a)' 'int a;' '{' '	a = 1;' '	return a;' '}' >repo/k.c
printf '%s\n' '/* Some' '   text' '   here */' 'int text;' >repo/comment.c
all Begin
old=$(g rev-parse HEAD)
kind() { # NAME WANT
	all "$1"
	recordings /src/lex.c
	check
	t_is "$1" "$(listed)" "changed elsewhere: $2, commit $1"
	old=$new
}
sed -i 1d repo/inc/config.h; kind 'a macro that was deleted' 'HAVE_SIMD (inc/config.h:1), removed'
rm repo/gone.c; kind 'a file that was deleted' 'sort (gone.c:1), removed'
printf 'int q(int x)\n{\n\treturn x;\n}\n' >'repo/a"grün.c'
kind 'a path that git quotes' 'q (a"grün.c:1)'
sed -i '1s/never/always/' repo/lib.rs; kind 'an attribute of Rust' 'lib.rs:1'
sed -i 4d repo/lib.rs; kind 'a line that was deleted' 'look (lib.rs:3)'
sed -i '5s/1/2/' repo/k.c; kind 'parameters declared below their function' 'grow (k.c:5)'
g config diff.interHunkContext 100
g config i18n.logOutputEncoding ISO-8859-1
sed -i -e '2s/text/words/' -e '4s/text/size/' repo/comment.c
sed -i '5s/2/3/' repo/k.c; all 'größer'
recordings /src/lex.c
check
t_is "a comment of several lines is no change, and settings of diff do not matter" "$(listed)" \
	'changed elsewhere: text (comment.c:4), removed, commit größer
changed elsewhere: size (comment.c:4), commit größer
changed elsewhere: grow (k.c:5), commit größer'
old=$new
printf '\0\1\2' >repo/table.bin; all 'Binary'; old=$(g rev-parse HEAD)
printf '\0\1\3' >repo/table.bin; kind 'a binary file' 'table.bin:1'
git init -q lib && echo 1 >lib/z.c && git -C lib add . &&
	git -C lib -c user.name=T -c user.email=t@example.org commit -qm 1
g submodule --quiet add "$T_TMP/lib" lib 2>err && all 'Add a library'
old=$(g rev-parse HEAD)
(cd repo/lib && echo 2 >z.c && git -c user.name=T -c user.email=t@example.org commit -qam 2)
all 'a submodule'
g config diff.ignoreSubmodules all
recordings /src/lex.c
check
t_is "a submodule" "$(listed)" 'changed elsewhere: submodule lib, commit a submodule'

# --- lists that end early
begin src/lex.c
for i in 1 2 3 4 5 6 7; do
	sed -i "11s/.*/	slower $i/" repo/src/lex.c && all "Change $i"
done
edit src/lex.c 12 "$(printf '%0300d' 0)ü"
recordings /src/lex.c
check --json repo.json
t_is "more than five commits are counted" "$(listed | tail -n 1)" '3 more commits'
t_like "... in JSON" "$(tr -d '\n ' <repo.json)" '"commits_found":8,"commits":\['
t_like "a subject has at most 200 bytes" "$(listed | head -n 1)" '^commit 0{197}…$'

# --- what git cannot tell
says() { # NAME ERE
	t_like "$1" "$(cat out)" "^note: --repo: $2"
}
begin src/lex.c
edit src/lex.c 20 'The end'
recordings /src/lex.c
mkdir old slow large counting nothing
cat >old/git <<END
#!/bin/sh
case "\$*" in *" -L"*) exit 128;; esac
exec "$git" "\$@"
END
cat >large/git <<END
#!/bin/sh
case "\$*" in *" diff "*) exec head -c 70000000 /dev/zero;; esac
exec "$git" "\$@"
END
cat >counting/git <<END
#!/bin/sh
printf '%s\n' "\$*" >>"$T_TMP/asked"
exec "$git" "\$@"
END
printf '#!/bin/sh\ncase "$*" in *" -L"*) exec sleep 600;; esac\nexec "%s" "$@"\n' "$git" >slow/git
chmod +x ./*/git
(
	start=$(date +%s)
	PATH=$T_TMP/slow:$PATH timeout 120 "$TALLY" check --repo repo --baseline b-*.tally \
		--new n-*.tally >slow.out
	echo $(($(date +%s) - start)) >slow.time
) &
slow=$!
check_with "$T_TMP/old:$PATH" --json repo.json
t_like "a git that cannot ask for lines" "$(listed | head -n 1)" \
	'^commit changed the file, perhaps not these lines: The end$'
t_like "... in JSON" "$(tr -d '\n ' <repo.json)" '"changed":"file"'
check_with "$T_TMP/nothing"
says "no git" 'there is no program git in PATH: install git$'
"$TALLY" check --repo nowhere --baseline b-*.tally --new n-*.tally >out
says "no folder" 'nowhere: No such file or directory$'
mkdir /tmp/tally-no-repo.$$ && t_cleanup "rmdir /tmp/tally-no-repo.$$"
"$TALLY" check --repo /tmp/tally-no-repo.$$ --baseline b-*.tally --new n-*.tally >out
says "no repository" '/tmp/tally-no-repo\.[0-9]+ is not in a git repository: name a checkout'
if [ "$(id -u)" = 0 ]; then
	cp -r repo foreign && chown -R 12345 foreign
	"$TALLY" check --repo foreign/src --baseline b-*.tally --new n-*.tally >out
	says "a repository of another user" "git does not read $T_TMP/foreign, which belongs to another user: git config --global --add safe\\.directory $T_TMP/foreign\$"
else
	t_skip "a repository of another user" "needs root"
fi
git clone -q --depth 1 "file://$T_TMP/repo" shallow 2>err
"$TALLY" check --repo shallow --baseline b-*.tally --new n-*.tally >out
says "a shallow clone" "the repository does not contain the recorded revision [0-9a-f]{12} of the baseline: it is a shallow clone; fetch .*fetch-depth: 0"
edit src/lex.c 3 'Later'
edit src/lex.c 19 'Last'
recordings /src/lex.c
rm -rf shallow && git clone -q --depth 1 "file://$T_TMP/repo" shallow 2>err
git -C "$T_TMP/repo" config uploadpack.allowAnySHA1InWant true
git -C shallow fetch -q --depth 1 origin "$old" 2>err
"$TALLY" check --repo shallow --baseline b-*.tally --new n-*.tally >out
says "a clone without the commits between" 'cannot list commits: the repository is a shallow clone that lacks some'
t_lacks "... blames none" "$(cat out)" 'commit [0-9a-f]{7}'
t_like "... but shows what changed" "$(cat out)" '^    changed'
rm -rf other && git init -q other && git -C other -c user.name=T -c user.email=t@example.org \
	commit -q --allow-empty -m x
"$TALLY" check --repo other --baseline b-*.tally --new n-*.tally >out
says "another repository" "the repository does not contain the recorded revision [0-9a-f]{12} of the baseline: git fetch origin $old\$"
old=$(g rev-parse HEAD)
edit src/lex.c 15 'More'
g config uploadpack.allowFilter true
git clone -q --no-checkout --filter=blob:none "file://$T_TMP/repo" partial 2>err
recordings /src/lex.c
"$TALLY" check --repo partial --baseline b-*.tally --new n-*.tally >out
says "a partial clone" 'git diff failed with exit status [0-9]+; in a partial clone, fetch'
check_with "$T_TMP/large:$PATH"
says "a diff that is too large" 'cannot list what else changed: the diff of both revisions is larger than 64 MB'
wait $slow
t_like "a git that does not answer" "$(cat slow.out)" \
	'^note: --repo: git took more than 30 s: commits and changes may be missing'
t_lacks "... blames no commit" "$(cat slow.out)" '^    commit'
t_ok "... once" "$([ "$(cat slow.time)" -lt 60 ]; echo $?)"

# --- more functions than are asked about
begin src/f00.c
edit src/f00.c 11 'Slow everything'
# shellcheck disable=SC2016 # awk's
many='for (i = 0; i < 25; i++)
	extra = extra sprintf("\nhit %d /usr/bin/app f%02d /src/f%02d.c 11 main", SIZE, i, i);
for (i = 0; i < 50; i++)
	extra = extra sprintf("\nhit 1500 /usr/bin/app g%02d /src/g%02d.c 11 main", i, i);'
recordings /src/lex.c "$(printf '%s' "$many" | sed 's/SIZE/1500/')"
for i in 1 2 3 4 5 6; do
	echo "n-$i.tally $((3 * 7919 + i * 104729)) $((1700000003 + i * 10))000000000"
done | describe 'extra = "env revision '"$new"'";'"$(printf '%s' "$many" | sed 's/SIZE/2100/')" >spec
"$make" <spec
check_with "$T_TMP/counting:$PATH"
t_is "no question is asked twice" \
	"$(grep -e ' log ' asked | sort | uniq -c | awk '{ print $1 }' | sort -u)" 1
says "functions beyond the twentieth" 'commits are listed for the first 20 of 25 regressed functions$'
t_done
