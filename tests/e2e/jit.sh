#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of code generated at run time, from /tmp/perf-PID.map.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
if [ "$(uname -m)" != x86_64 ]; then
	t_skip_all "code made at run time" "the programs here make x86-64 code"
fi

# Makes a loop and one that calls it, by frame pointers, and tells their names as
# it is asked to.
cat >made.c <<'END2'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $n,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const uint8_t loop[] = {
	0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x00, 0x08,
	0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3,
};
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const uint8_t caller[] = {
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3,
};

/* push %rbx; sub $24,%rsp; mov $n,%ecx; 1: dec %ecx; jnz 1b; add $24,%rsp;
 * pop %rbx; ret: without a frame pointer */
static const uint8_t bare[] = {
	0x53, 0x48, 0x83, 0xec, 0x18, 0xb9, 0x00, 0x00, 0x00, 0x08,
	0xff, 0xc9, 0x75, 0xfc, 0x48, 0x83, 0xc4, 0x18, 0x5b, 0xc3,
};

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long at = (unsigned long)code;
	void (*call)(void *);
	char path[64];
	FILE *f;

	memcpy(code, loop, sizeof(loop));
	memcpy(code + 256, caller, sizeof(caller));
	memcpy(code + 512, bare, sizeof(bare));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	if (!strcmp(how, "link")) {
		symlink(argv[2], path);
	} else if (!strcmp(how, "fifo")) {
		mkfifo(path, 0600);
	} else {
		f = fopen(path, "w");
		if (!strcmp(how, "late"))
			fprintf(f, "%lx 1000 older_code\n", at);
		fprintf(f, "%lx %zx made_loop(int) /a b.js:1\n", at,
			sizeof(loop));
		fprintf(f, "%lx %zx made_caller\n", at + 256, sizeof(caller));
		fprintf(f, "%lx %zx made_bare\n", at + 512, sizeof(bare));
		if (!strcmp(how, "garbage"))
			for (int i = 0; i < 100000; i++)
				fprintf(f, "%x\n\xff %s\n", i, "f f");
		fclose(f);
	}
	if (!strcmp(how, "other") && chown(path, 12345, 12345) < 0)
		return 1;
	if (!strcmp(how, "stale") && utimensat(AT_FDCWD, path,
	    (struct timespec[2]){ { 1000000000, 0 }, { 1000000000, 0 } }, 0) < 0)
		return 1;
	if (argc > 2)	/* for `link`: names in a file of its own */
		if ((f = fopen(argv[2], "w")) != NULL) {
			fprintf(f, "%lx 1000 linked\n", at);
			fclose(f);
		}
	call = (void (*)(void *))(uintptr_t)(code + 256);
	for (int i = 0; i < 3; i++)
		call(strcmp(how, "bare") ? code : code + 512);
	/* another function at the same address, later */
	if (!strcmp(how, "reuse")) {
		f = fopen(path, "a");
		fprintf(f, "%lx %zx made_other\n", at, sizeof(loop));
		fclose(f);
		for (int i = 0; i < 3; i++)
			call(code);
	}
	unlink(argc > 3 ? path : "");
	return 0;
}
END2
t_run "a program that makes code" ${CC:-cc} -O2 -w -o made made.c
maps=
made() { # NAME ARGS…: recorded, its map removed
	out=$1; shift
	"$TALLY" record -q -g -F 2000 -e cpu-clock:u -o $out.tally -- ./made "$@"
	maps="/tmp/perf-$("$TALLY" dump --no-pager $out.tally | sed -n \
		's/^thread .* pid=\([0-9]*\) .*comm="made".*/\1/p' |
		head -n 1).map"
	rm -f "$maps"
}
# The functions of the code, by their share.
names() {
	"$TALLY" report --no-pager --format=csv --image '[anon]' $1.tally |
		sed 1d | cut -d, -f2 | tr '\n' ' '
}
made plain
t_like "its code has the names that it reported" "$(names plain)" \
	'^"?made_loop\(int\) /a b\.js:1'
t_like "callers, too" "$("$TALLY" report --no-pager -g \
	--symbol '*made_loop*' plain.tally)" 'made_caller'
t_like "and info says where from" "$("$TALLY" dump --no-pager plain.tally |
	grep '^source ')" 'names=0x40'
made bare bare
t_like "callers of code that keeps no frame pointer" "$("$TALLY" report \
	--no-pager -g --symbol '*made_bare*' bare.tally | grep -A 1 made_bare |
	tail -n 1)" 'made_caller'
made late late
t_like "the last line counts" "$(names late)" '^"?made_loop'
# shares FILE: of the two functions that had one address, and of neither, in %
shares() {
	"$TALLY" report --no-pager --format=csv --percent-limit 0 "$1" |
		tr -d '\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i
			next }
		{ self = $c["self_percent"] }
		$c["symbol"] ~ /made_loop/ { a += self }
		$c["symbol"] == "made_other" { b += self }
		$c["symbol"] ~ /anon/ { x += self }
		END { printf "%.0f %.0f %.0f\n", a, b, x }'
}
for source in perf timer ptrace; do
	"$TALLY" record -q -g -F 1000 --source=$source -o reuse.tally -- ./made reuse - unlink
	reuse=$(shares reuse.tally)
	t_ok "code at an address that had other code before ($source: $reuse)" "$(echo "$reuse" |
		awk '{ exit !($1 + $3 > 35 && $1 < 62 && $2 + $3 > 35 && $2 < 62 && $3 < 30) }'
		echo $?)"
	t_like "... below their caller" "$("$TALLY" report --no-pager -g --symbol made_other \
		reuse.tally)" 'made_caller'
done
made garbage garbage
t_like "lines of nonsense are left out" "$(names garbage)" '^"?made_loop'
made gone plain - unlink
t_like "a file that its program removes is read, too" "$(names gone)" \
	'^"?made_loop'
made stale stale
t_lacks "a file that is older than the program is not its own" \
	"$(names stale)" 'made_loop'
made link link "$T_TMP/names"
t_lacks "links are not followed" "$(names link)" 'linked'
made fifo fifo
t_lacks "and nothing waits for a pipe" "$(names fifo)" 'made'
if [ "$(id -u)" -eq 0 ]; then
	made other other
	t_lacks "nor are files of strangers read" "$(names other)" 'made_loop'
	if unshare -m true 2>/dev/null; then
		"$TALLY" record -q -e cpu-clock:u -o apart.tally -- \
			unshare -m sh -c 'mount -t tmpfs none /tmp && ./made'
		t_like "a program with a /tmp of its own" "$(names apart)" \
			'made_loop'
	else
		t_skip "a program with a /tmp of its own" "cannot unshare here"
	fi
else
	t_skip "files of strangers, another /tmp" "not root"
fi

if command -v node >/dev/null && node --perf-basic-prof -e 0 2>/dev/null; then
	cat >hot.js <<'END2'
function innerFunction(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s += Math.sqrt(i) ^ i;
	return s;
}
const end = Date.now() + 500;
let r = 0;
while (Date.now() < end)
	r += innerFunction(100000);
END2
	echo 'console.log(process.env.NODE_OPTIONS || "none")' >>hot.js
	# rows FILE: image, function and file of rows that have innerFunction
	rows() {
		"$TALLY" report --no-header --format csv -s image,symbol,file \
			"$1" | tr -d '\r' | awk -F, 'NR == 1 {
			for (i = 1; i <= NF; i++) c[$i] = i; next }
			$c["symbol"] ~ /innerFunction/ { n = split($c["file"],
			f, "/"); print $c["image"], $c["symbol"], f[n] }'
	}
	map_of() {
		echo "/tmp/perf-$("$TALLY" dump --no-pager "$1" | sed -n \
			's/^thread 0 .* pid=\([0-9]*\) .*/\1/p').map"
	}
	"$TALLY" record -g -o node.tally -- node hot.js >out 2>err
	t_is "JavaScript functions of node, whichever compiler made them" \
		"$(rows node.tally)" '[javascript] innerFunction hot.js'
	t_like "node was told to name them" "$(cat out)" \
		'^--perf-basic-prof --interpreted-frames-native-stack$'
	t_like "and the user is told that" "$(cat err)" \
		'setting NODE_OPTIONS=.* for the command.*--no-runtime-env'
	t_ok "the file with the names is removed" \
		"$(test ! -e "$(map_of node.tally)"; echo $?)"
	NODE_OPTIONS=--no-warnings "$TALLY" record -q -g -o kept.tally -- \
		/usr/bin/env node hot.js >out
	t_like "options of the user are kept" "$(cat out)" \
		'^--no-warnings --perf-basic-prof --interpreted-'
	t_is "... and functions have names" "$(rows kept.tally)" \
		'[javascript] innerFunction hot.js'
	"$TALLY" record -q -g --no-runtime-env -o plain.tally -- node hot.js >out
	t_is "--no-runtime-env sets nothing" "$(cat out)" none
	t_lacks "... so functions have no names" \
		"$("$TALLY" report --no-header plain.tally)" innerFunction
	t_like "... and what to do is said" "$("$TALLY" report --no-pager plain.tally |
		tr -d '#\n' | tr -s ' ')" '\[javascript\]: .*by V8 .*--perf-basic-prof'
	"$TALLY" record -q -g -o own.tally -- node --perf-basic-prof hot.js >out
	t_is "a user who asks for names gets them" "$(rows own.tally) $(cat out)" \
		'[javascript] innerFunction hot.js none'
	t_ok "... and keeps the file" "$(ls "$(map_of own.tally)" >/dev/null; echo $?)"
	rm -f "$(map_of own.tally)"

	# maps memory again and again, for code that replaces other code
	cat >again.js <<'END2'
const end = Date.now() + 1500;
for (let n = 0; Date.now() < end; n++) {
	const f = eval(`(function made_${n % 50}(a) { let t = 0;
		for (let i = 0; i < 20000; i++) t = (t * ${n + 3} + a.x + i) | 0; return t; })`);
	for (let r = 0; r < 60; r++) f({ x: r });
	const junk = []; for (let j = 0; j < 20000; j++) junk.push({ a: j, b: [j] });
}
END2
	"$TALLY" record -q -g -o again.tally -- node again.js
	t_like "memory of node is one image, or two where code replaced other code" \
		"$("$TALLY" dump --no-pager again.tally | grep -c '^image .*javascript')" '^[12]$'

	# Commands that start node.
	"$TALLY" record -g -o shell.tally -- sh -c 'node -e 0; exec node hot.js' \
		>out 2>err
	t_is "JavaScript functions of a node that a shell starts" \
		"$(rows shell.tally)" '[javascript] innerFunction hot.js'
	t_like "... and the user is told" "$(cat err)" \
		'setting NODE_OPTIONS=.* for the command.*--no-runtime-env'
	# at this rate, most of them have no sample in their code
	"$TALLY" record -q -g -F 5 -o many.tally -- sh -c \
		'for i in 1 2 3; do node -e "console.log(process.pid)"; done' >out
	t_is "... and no node leaves its file" "$(sed 's,.*,/tmp/perf-&.map,' out |
		while read -r file; do ls "$file" 2>/dev/null; done; wc -l <out)" 3
	cat >run.sh <<'END2'
#!/bin/sh
# PATH=elsewhere nvm
cd . && ./inner
END2
	printf '#!/usr/bin/env bash\nnode hot.js "$@"\n' >inner
	chmod +x run.sh inner
	for how in ./run.sh 'sh -e run.sh' 'timeout 60 sh run.sh' \
		'env A=1 nice -n 1 ./run.sh'; do
		# shellcheck disable=SC2086
		"$TALLY" record -q -g -o script.tally -- $how >out
		t_like "$how: node below scripts is told to name its functions" \
			"$(cat out)" '^--perf-basic-prof --interpreted-'
	done
	t_is "... and they have names" "$(rows script.tally)" \
		'[javascript] innerFunction hot.js'
	"$TALLY" record -q -g --no-runtime-env -o script.tally -- ./run.sh >out
	t_is "--no-runtime-env sets nothing for scripts" "$(cat out)" none
	mkdir old && cp /bin/true old/node
	"$TALLY" record -q -g -o old.tally -- sh -c './old/node; node hot.js' >out
	t_is "nothing is set if a node would refuse it" "$(cat out)" none
	# shellcheck disable=SC2016
	"$TALLY" record -q -g -o path.tally -- sh -c 'PATH=$PWD:$PATH; node hot.js' \
		>out
	t_is "... or if which node runs is unknown" "$(cat out)" none
	"$TALLY" record -q -g -o not.tally -- sh -c 'echo "$NODE_OPTIONS."' >out
	t_is "... or if there is none" "$(cat out)" .
else
	t_skip "JavaScript functions of node" "no node here"
fi

if command -v erlc >/dev/null && command -v erl >/dev/null; then
	cat >hot.erl <<'END2'
-module(hot).
-export([main/0]).
inner(0, S) -> S;
inner(N, S) -> inner(N - 1, (S * 31 + N) rem 1000003).
loop(0) -> ok;
loop(N) -> inner(100000, 1), loop(N - 1).
main() -> loop(1000), io:format("~p~n", [os:getenv("ERL_FLAGS")]), halt().
END2
	erlc hot.erl
	"$TALLY" record -g -o erl.tally -- erl -noshell -s hot main >out 2>err
	t_is "Erlang is told to name its functions" "$(cat out)" '"+JPperf true"'
	t_like "and the user is told that" "$(cat err)" \
		'setting ERL_FLAGS=.* for the command.*--no-runtime-env'
	t_like "... and they have names" "$("$TALLY" report --no-header --top 1 \
		erl.tally)" '\[erlang\] *hot:inner/2'
	ERL_FLAGS="+S 2" "$TALLY" record -q --no-runtime-env -g -o plain.tally -- \
		erl -noshell -s hot main >out
	t_is "--no-runtime-env leaves it alone" "$(cat out)" '"+S 2"'
	t_like "code without names is called by what made it" \
		"$("$TALLY" report --no-pager plain.tally | tr -d '#\n' | tr -s ' ')" \
		'\[erlang\]: .*generated by Erlang'
else
	t_skip "functions of Erlang" "no erlc here"
fi
# A stand-in for .NET, which is not to be had here: the name of the library that
# "dotnet" loads, and names as its src/coreclr/vm/perfmap.cpp writes them.
cat >dotnet.c <<'END2'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char library[] = "libhostfxr.so";
static const uint8_t loop[] = {
	0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x00, 0x08,
	0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3,
};

int main(void)
{
	const char *set = getenv("DOTNET_PerfMapEnabled"), *kinds[] = { "perf", "perfinfo" };
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];

	memcpy(code, loop, sizeof(loop));
	memcpy(code + 256, loop, sizeof(loop));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	printf("%s %d\n", set ? set : "none", getpid());
	for (int i = 0; set && i < 2; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/tmp/%s-%d.map", kinds[i], getpid());
		f = fopen(path, "w");
		fprintf(f, "%p 20 int32 [shop] Shop.Cart::Total(int32)[Tier0]\n"
			"%p 20 int32 [shop] Shop.Cart::Total(int32)[Tier1]\n",
			(void *)code, (void *)(code + 256));
		fclose(f);
	}
	for (int i = 0; i < 4; i++)
		((void (*)(void))(code + i % 2 * 256))();
	return library[0] != 'l';
}
END2
$CC -O1 -o dotnet dotnet.c
"$TALLY" record -g -o dotnet.tally -- ./dotnet >out 2>err
t_like ".NET is told to name its methods" "$(cat out)" '^3 '
t_like "and the user is told that" "$(cat err)" \
	'setting DOTNET_PerfMapEnabled=3 for the command.*--no-runtime-env'
t_is "... and both compilations of a method are one row" "$("$TALLY" report \
	--no-header --format csv -s image,symbol dotnet.tally | tr -d '\r' |
	grep -c 'net\],"*int32 \[shop\] Shop.Cart::Total(int32)"*,')" 1
pid=$(sed 's/.* //' out)
t_ok "... and no file of names is left" "$(test ! -e "/tmp/perf-$pid.map" &&
	test ! -e "/tmp/perfinfo-$pid.map"; echo $?)"
DOTNET_PerfMapEnabled=0 "$TALLY" record -q -g -o own.tally -- ./dotnet >out
t_like "a user who wants no names gets none" "$(cat out)" '^0 '
rm -f "/tmp/perf-$(sed 's/.* //' out).map" "/tmp/perfinfo-$(sed 's/.* //' out).map"
if command -v luajit >/dev/null; then
	cat >hot.lua <<'END2'
local function inner(n) local s = 0 for i = 1, n do s = s + math.sqrt(i) % 3 end return s end
local t, r = os.clock(), 0
while os.clock() - t < 1 do r = r + inner(100000) end
END2
	"$TALLY" record -q -g -o lua.tally -- luajit hot.lua
	t_like "so is LuaJIT's" "$("$TALLY" report --no-pager lua.tally | tr -d '#\n' | tr -s ' ')" \
		'\[luajit\]: .*generated by LuaJIT'
else
	t_skip "code of LuaJIT" "no luajit here"
fi

py=
for p in python3.14 python3.13 python3.12 $(t_pythons 3.12 3.16); do
	[ -n "$py" ] || ! "$p" -c 'import sys
sys.exit(sys.version_info < (3, 12) or sys.platform != "linux")' 2>/dev/null || py=$p
done
if [ -n "$py" ] && PYTHONPERFSUPPORT=1 $py -c 'import sys
sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null; then
	cat >hot.py <<'END2'
import os, time
def inner_function(n):
    return sum(i * i for i in range(n))
def outer_function():
    end = time.process_time() + 1
    while time.process_time() < end:
        inner_function(20000)
outer_function()
print(os.environ.get("PYTHONPERFSUPPORT", "none"))
END2
	"$TALLY" record -q --source=perf -g -o py.tally -- $py hot.py >out
	t_is "Python by perf events is told to name its functions" "$(cat out)" 1
	t_like "... and they stand in its stacks, with their file" \
		"$("$TALLY" report --no-header --format csv -s symbol,file \
		--children py.tally | tr -d '\r')" '^outer_function,.*hot\.py,'
	"$TALLY" record -q -o py.tally -- $py hot.py >out
	t_is "nothing is set where its frames are read" "$(cat out)" none
else
	t_skip "Python by perf events" "no Python 3.12 or later here"
fi
t_done
