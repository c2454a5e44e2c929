#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Source files of a tree that changed since: from the recorded commit, by git, and from
# a real debuginfod server.
. "$top_srcdir/tests/lib.sh"

unset DEBUGINFOD_URLS
bad_server=$top_srcdir/tests/e2e/bad_server.py
case $bad_server in /*) ;; *) bad_server=$PWD/$bad_server;; esac
HOME=$T_TMP
export HOME
for p in git python3; do
	command -v "$p" >/dev/null && continue
	t_skip_all "sources" "there is no $p"
done
mkdir -p "$T_TMP/tree/src" && cd "$T_TMP/tree" || exit 1
cat >src/work.c <<'END'
#include <stdlib.h>
/* what the recorded commit says */
__attribute__((noinline)) unsigned heavy(unsigned x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 1664525u + 1013904223u + (x >> 7);
	return x;
}
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += heavy(s);
	return s == 12345;
}
END
if ! ${CC:-cc} -O1 -g -Wl,--build-id=sha1 -o work "$PWD/src/work.c" 2>cc.err
then
	t_skip_all "sources" "no C compiler that works: $(head -n 1 cc.err)"
fi
commit() {
	git add -A . && git -c user.name=x -c user.email=x@x commit -q -m "$1"
}
if ! { git init -q . && echo work >.gitignore && commit first; } 2>git.err
then
	t_skip_all "sources" "git does not work here: $(head -n 1 git.err)"
fi
rev=$(git rev-parse HEAD)
short=$(echo "$rev" | cut -c1-12)
if ! "$TALLY" record -q -F 2000 -o ../a.tally -- ./work 2000 2>rec.err; then
	t_skip_all "sources" "cannot record here: $(head -n 1 rec.err)"
fi
annotate() { # OPTIONS…: comments that go over several lines in one
	timeout 60 "$TALLY" annotate --no-pager --no-header "$@" ../a.tally heavy 2>&1 |
	awk '{ if (sub(/^#   /, " ")) printf "%s", $0
		else printf "%s%s", (NR > 1 ? "\n" : ""), $0 } END { print "" }'
}
later() { touch -d '+1 hour' "$@"; }
loop='for \(int i = 0; i < 20000; i\+\+\)$'

out=$(annotate)
t_like "the file itself" "$out" "$loop"
t_lacks "... nothing is said of git" "$out" git
later src/work.c
out=$(annotate)
t_lacks "a newer file of the same text is the same" "$out" 'git|newer'
sed -i '1i // one more line\n// and another' src/work.c
later src/work.c
out=$(annotate)
t_like "a file that changed is taken from git" "$out" \
	"^# $T_TMP/tree/src/work.c \(from git $short:src/work.c: the file has changed since\)"
t_like "... with the lines of then" "$out" " 5  *$loop"
t_lacks "... without a warning" "$out" newer
t_like "... in JSON" "$(annotate --format=json)" \
	"\"found\":\"git\".*\"origin\":\"git $short:src/work.c\""
commit second
t_like "... whatever is checked out now" "$(annotate)" "from git $short:"
rm src/work.c
out=$(annotate)
t_like "a file that is gone" "$out" "\(from git $short:src/work.c\)"
t_like "... has its lines" "$out" " 5  *$loop"
rm -r src
t_like "a folder that is gone" "$(annotate)" "from git $short:src/work.c"

# What a hostile repository or environment could do.
mark=$T_TMP/ran
printf '#!/bin/sh\necho x >>%s\ncat\n' "$mark" >../evil
chmod +x ../evil
git config core.fsmonitor "$T_TMP/evil"
git config core.pager "$T_TMP/evil"
git config core.sshCommand "$T_TMP/evil"
git config diff.c.textconv "$T_TMP/evil"
git config filter.c.smudge "$T_TMP/evil"
echo '*.c diff=c filter=c' >.git/info/attributes
mkdir -p .git/hooks
cp ../evil .git/hooks/post-checkout
cp ../evil .git/hooks/post-index-change
t_like "a repository with programs of its own" "$(annotate)" \
	"from git $short:src/work.c"
t_like "variables that lead git elsewhere" \
	"$(GIT_DIR=/nowhere GIT_OBJECT_DIRECTORY=/nowhere GIT_PAGER="$T_TMP/evil" \
		annotate)" "from git $short:src/work.c"
t_run "none of them was run" test ! -e "$mark"

# The tree is elsewhere.
cd .. && mv tree moved && mkdir tree && cd tree || exit 1
out=$(annotate)
t_like "a tree that was moved" "$out" 'no source: .*--repo DIR'
t_like "... is found by --repo" "$(annotate --repo ../moved)" \
	"from git $short:src/work.c"
t_like "... --repo that is none" "$(annotate --repo /)" \
	"no source: .*; / is not a git repository with the commit $short"
t_like "a git that does not come back" "$(
	printf '#!/bin/sh\nexec sleep 100\n' >slow && chmod +x slow &&
	mkdir bin && mv slow bin/git && PATH=$PWD/bin:$PATH \
	annotate --repo ../moved)" 'no source: .*git: no answer within 10 s'

# --- debuginfod
server() { # starts it on a free port, with the archive and an empty cache
	python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])' >port
	debuginfod -p "$(cat port)" -d :memory: -Z .tar -t 1 "$PWD/pool" \
		>server.log 2>&1 &
	server=$!
	t_cleanup "kill $server 2>/dev/null"
}
answers() {
	python3 -c '
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=5).read()' "$1" 2>/dev/null
}
if ! command -v debuginfod >/dev/null; then
	t_skip_all "debuginfod" "there is no debuginfod (Debian: debuginfod)"
fi
lib=
for d in /lib /usr/lib /lib64 /usr/lib64 /lib/* /usr/lib/*; do
	[ -e "$d/libdebuginfod.so.1" ] && lib=$d
done
if [ -z "$lib" ]; then
	t_skip_all "debuginfod" "there is no libdebuginfod.so.1"
fi
mkdir -p pool "root$T_TMP/tree/src"
git -C ../moved show "$rev:src/work.c" >"root$T_TMP/tree/src/work.c"
cp ../moved/work "root$T_TMP/tree/"
tar -C root -cf pool/work.tar .
server
id=$(LC_ALL=C readelf -n ../moved/work | awk '/Build ID/ { print $3 }')
url=http://127.0.0.1:$(cat port)
if ! t_until answers "$url/buildid/$id/source$T_TMP/tree/src/work.c"; then
	t_skip_all "debuginfod" "the server does not serve: $(tail -n 1 server.log)"
fi
DEBUGINFOD_CACHE_PATH=$PWD/cache
export DEBUGINFOD_CACHE_PATH
out=$(DEBUGINFOD_URLS=$url annotate)
t_like "a source file from a server" "$out" \
	"^# $T_TMP/tree/src/work.c \(from debuginfod\)"
t_like "... with its lines" "$out" " 5  *$loop"
t_is "... which is told once, with the server" \
	"$(echo "$out" | grep -c "^tally: asking debuginfod for source files: $url .*--no-debuginfod")" 1
t_lacks "... not where no server is asked" "$(DEBUGINFOD_URLS=$url annotate \
	--repo ../moved)" 'tally: asking'
t_is "... once also for both sides of a diff" "$(DEBUGINFOD_URLS=$url \
	"$TALLY" diff --source ../a.tally ../a.tally heavy 2>&1 |
	grep -c 'asking debuginfod')" 1
if command -v script >/dev/null; then
	rm -rf cache
	t_like "... with progress on a terminal" "$(DEBUGINFOD_URLS=$url \
		script -qec "'$TALLY' annotate --no-pager ../a.tally heavy" \
		/dev/null </dev/null)" 'debuginfod: .*src/work.c'
else
	t_skip "... with progress on a terminal" "there is no script"
fi
t_like "--no-debuginfod" "$(DEBUGINFOD_URLS=$url annotate --no-debuginfod)" \
	'no source: '
kill "$server"
wait "$server" # it serves until it has ended
t_like "its cache, when the server is gone" "$(DEBUGINFOD_URLS=$url annotate)" \
	'from debuginfod'
rm -rf cache
t_like "a server that is gone" "$(DEBUGINFOD_URLS=$url annotate)" \
	'no source: .*debuginfod'
# One that takes the question and never answers, and one that sends without end;
# libdebuginfod itself would wait for 90 s, or three times that, and take any size.
for how in silent endless; do
	rm -rf cache port
	python3 "$bad_server" $how &
	server=$!
	t_cleanup "kill $server 2>/dev/null"
	t_until test -s port
	# A sanitizer that finds a leak (libc's dprintf, which libdebuginfod calls,
	# has one) starts llvm-symbolizer, which would ask the same server.
	out=$(ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}symbolize=0 \
		DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) annotate)
	case $how in
	silent) t_like "a server that does not answer" "$out" \
		'no source: .*no answer from debuginfod( within 10 s)?';;
	endless) t_like "a server that sends without end" "$out" \
		'no source: .*debuginfod: more than 16 MB';;
	esac
	kill "$server"
	wait "$server" 2>/dev/null
done
t_done
