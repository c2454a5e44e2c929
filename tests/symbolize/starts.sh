#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that start threads, programs and the loader, where nothing names them:
# a C library without its debug file.  Expected names are those of the debug file.
. "$top_srcdir/tests/lib.sh"

tally=$(cd "$top_builddir/src" && pwd)/tally
cd "$T_TMP" || exit 1

cat >work.c <<'END2'
#include <pthread.h>
static volatile unsigned sink;
static void *spin(void *x)
{
	for (unsigned i = 0; i < 300000000; i++)
		sink += i;
	return x;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, spin, NULL);
	spin(NULL);
	return pthread_join(t, NULL);
}
END2
if ! ${CC:-cc} -O1 -o work work.c -pthread 2>cc.err; then
	t_skip_all "starts" "no C compiler that works: $(head -n 1 cc.err)"
fi
strip -o bare work
libc=$(ldd work | sed -n 's/.*libc\.so[^/]*=> \([^ ]*\).*/\1/p')
loader=$(ldd work | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\).*/\1/p')
id() { readelf -n "$1" | sed -n 's/.*Build ID: \(..\)/\1\//p'; }
debug() { echo "/usr/lib/debug/.build-id/$(id "$1").debug"; }
if [ "$(uname -m)" != x86_64 ] || ! [ -e "$(debug "$libc")" ] ||
	! [ -e "$(debug "$loader")" ]; then
	t_skip_all "starts" "needs an x86-64 libc with its debug files (libc6-dbg)"
fi

# The same bytes with a build-id that no debug file has.
hide() { # FILE OUT
	python3 - "$1" "$2" "$(id "$1" | tr -d /)" <<-'END2'
	import sys
	data, build_id = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[3])
	assert data.count(build_id) == 1
	open(sys.argv[2], "wb").write(data.replace(build_id, bytes(len(build_id))))
	END2
	chmod +x "$2"
}
mkdir lib
hide "$libc" lib/libc.so.6 && hide "$loader" lib/ld-linux-x86-64.so.2
t_ok "copies without debug file" $?

# NAME FILE COPY: the name at the function's first and last byte.  From glibc 2.41
# on the symbol of clone3 is __clone3.
named() {
	nm -S "$(debug "$2")" | awk -v n="$1" '$NF == n || $NF == "__" n { print $1,
		NF == 4 ? $2 : "1"; exit }' >at
	read -r start size <at
	t_is "$1" "$(for a in $((0x$start)) $((0x$start + 0x$size - 1)); do
		"$tally" addr2line -fe "$3" "$(printf %x "$a")" | head -n 1
	done | uniq)" "$1"
}
for name in start_thread clone3 __libc_start_call_main; do
	named $name "$libc" lib/libc.so.6
done
for name in _start _dl_start_user _dl_start _dl_init _dl_fini; do
	named $name "$loader" lib/ld-linux-x86-64.so.2
done
entry=$(readelf -h bare | sed -n 's/.*Entry point address: *0x//p')
t_is "_start of a stripped program" \
	"$("$tally" addr2line -fe bare "$entry" | head -n 1)" _start
t_is "as its symbol table says" \
	"$(nm work | sed -n "s/^0*$entry T //p")" _start
# What is behind these functions has no name for that.
for name in posix_spawn pthread_create; do
	nm -D "$libc" | grep " $name@@" | cut -d' ' -f1 >at
	t_is "$name keeps its name" "$("$tally" addr2line -fe lib/libc.so.6 \
		"$(cat at)" | head -n 1)" $name
done
nm -S "$(debug "$libc")" >all
for name in __spawni_child create_thread __clone_internal; do
	t_is "$name has none" "$("$tally" addr2line -fe lib/libc.so.6 \
		"$(sed -n "s/^\([0-9a-f]*\) .* $name\$/\1/p" all)" |
		head -n 1)" '??'
done

if ! "$tally" record -q -g -o a.tally -- lib/ld-linux-x86-64.so.2 \
	--library-path lib ./work 2>rec.err; then
	t_skip_all "in reports" "cannot record here: $(head -n 1 rec.err)"
fi
"$tally" report -g=callees --no-tui a.tally >tree 2>&1
t_like "the tree has the thread's start" "$(cat tree)" ' start_thread$'
t_like "and what started it" "$(cat tree)" ' clone3$'
t_like "and what calls main" "$(cat tree)" ' __libc_start_call_main$'
"$tally" flamegraph -o f.svg a.tally
for name in clone3 start_thread __libc_start_call_main; do
	t_like "the flame graph has $name" "$(cat f.svg)" "<title>$name\$"
done
"$tally" report --format=json -g a.tally >a.json
t_like "JSON has them" "$(cat a.json)" '"start_thread"'
t_lacks "none is an address" "$(cat tree)" "libc[.]so[.]6[+]0x($(sed -n \
	's/^0*\([0-9a-f]*\) .* \(start_thread\|clone3\)$/\1/p' all |
	paste -sd'|'))"
"$tally" symbolize --verify a.tally >verify 2>&1
status=$?
if grep -q 'without libdw\|libdw.so.1 cannot' verify; then
	t_skip "libdw names none of them, which is explained" "$(cat verify)"
else
	t_is "libdw names none of them, which is explained" $status 0
	t_like "and said" "$(cat verify)" 'explained: no symbol names it'
fi
t_done
