#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names, lines and instructions of code generated at run time, from jitdump files.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
if [ "$(uname -m)" != x86_64 ]; then
	t_skip_all "code told by jitdump files" "the programs here make x86-64 code"
fi

# Puts two loops at one address, one after the other, then the second one elsewhere; and
# tells of it as it is asked to.  They take 1/2, 1/4 and 1/4 of its time.
cat >made.c <<'END2'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $n,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const uint8_t loop[] = {
	0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x40, 0x00,
	0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3,
};
static FILE *out;

static uint64_t now(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void put(const void *p, size_t n)
{
	fwrite(p, n, 1, out);
}

static void u32(uint32_t v)
{
	put(&v, 4);
}

static void u64(uint64_t v)
{
	put(&v, 8);
}

static void prefix(uint32_t id, size_t n)
{
	u32(id);
	u32(16 + n);
	u64(now(CLOCK_MONOTONIC));
}

static void lines(uint64_t at)
{
	prefix(2, 16 + 2 * (16 + 7));
	u64(at);
	u64(2);
	u64(at);
	u32(11);
	u32(0);
	put("made.x", 7);
	u64(at + 9);
	u32(12);
	u32(0);
	put("made.x", 7);
}

static void load(uint64_t at, uint64_t index, const char *name)
{
	prefix(0, 40 + strlen(name) + 1 + sizeof(loop));
	u32(getpid());
	u32(getpid());
	u64(at);
	u64(at);
	u64(sizeof(loop));
	u64(index);
	put(name, strlen(name) + 1);
	put(loop, sizeof(loop));
}

static void run(const uint8_t *code, uint64_t ms)
{
	uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
		((void (*)(void))(uintptr_t)code)();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)code;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 2 ? argv[2] : ".",
		 getpid() + !strcmp(how, "pid"));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (!strcmp(how, "other") && fchown(fd, 12345, 12345) < 0)
		return 1;
	if (!strcmp(how, "stop"))	/* the recorder opens the file later */
		kill(getppid(), SIGSTOP);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	out = fdopen(fd, "w");
	if (!strcmp(how, "late"))	/* as V8 does */
		setvbuf(out, NULL, _IOFBF, 2 << 20);
	if (!strcmp(how, "gone"))
		unlink(path);
	u32(strcmp(how, "strange") ? 0x4a695444 : 0x44544950);
	u32(1);
	u32(40);
	u32(62);
	u32(0);
	u32(getpid());
	u64(now(CLOCK_MONOTONIC));
	u64(0);
	memcpy(code, loop, sizeof(loop));
	lines(at);
	load(at, 0, "made_first");
	run(code, 300);
	load(at, 1, "made_second");
	if (!strcmp(how, "stop")) {
		fflush(out);
		kill(getppid(), SIGCONT);
	}
	if (!strcmp(how, "damage")) {
		u32(0);
		u32(3);
	}
	run(code, 150);
	memcpy(code + 5000, loop, sizeof(loop));
	prefix(1, 48);
	u32(getpid());
	u32(getpid());
	u64(at + 5000);
	u64(at);
	u64(at + 5000);
	u64(sizeof(loop));
	u64(1);
	if (!strcmp(how, "fork") && fork() == 0)
		_exit(0);
	run(code + 5000, 150);
	fclose(out);
	return 0;
}
END2
t_run "a program that makes code" ${CC:-cc} -O2 -w -o made made.c
# shares FILE: of the two functions in %, and the rest of anonymous memory
shares() {
	"$TALLY" report --no-pager --format=csv --percent-limit 0 "$1" |
		tr -d '\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i
			next }
		{ self = $c["self_percent"]; all += self }
		$c["symbol"] == "made_first" { a += self }
		$c["symbol"] == "made_second" { b += self }
		$c["symbol"] ~ /anon/ { x += self }
		END { printf "%.0f %.0f %.0f\n", a, b, x }'
}
# both NAME SHARES: each a half, to what 0.6 s of 1 ms samples allow
both() {
	t_ok "$1 ($2)" "$(echo "$2" | awk '{ exit !($1 > 35 && $1 < 62 &&
		$2 > 35 && $2 < 62 && $3 < 3) }'; echo $?)"
}
made() { # NAME ARGS…
	out=$1; shift
	"$TALLY" record -q -g -e cpu-clock:u -o $out.tally -- "$@"
	rm -f jit-*.dump
}
made plain ./made
both "each function has its time, though they share an address" "$(shares plain.tally)"
t_like "its lines are reported" "$("$TALLY" report --no-pager --format=csv -s symbol,line \
	plain.tally | tr -d '\r')" '^made_first,made\.x,12,'
t_like "and where the names are from" "$("$TALLY" dump --no-pager plain.tally |
	grep '^source ')" 'names=0x200'
t_like "callers are the program's" "$("$TALLY" report --no-pager -g --symbol made_second \
	plain.tally)" 'main'
instructions() { # NAME FILE FUNCTION ERE
	code=$("$TALLY" annotate --no-pager --asm "$2" "$3" 2>&1)
	if echo "$code" | t_no_zydis; then
		t_skip "$1" "built without Zydis"
	else
		t_like "$1" "$code" "$4"
	fi
}
instructions "instructions" plain.tally made_first 'dec ecx'
made late ./made late
both "a program that writes at its end" "$(shares late.tally)"
made stop ./made stop
t_like "a file that has grown when it is opened" "$(shares stop.tally)" \
	'^[1-9][0-9]* [1-9][0-9]* [0-2]$'
made gone ./made gone
both "a file that is removed" "$(shares gone.tally)"
made forks ./made fork
both "a program that forks" "$(shares forks.tally)"
made damage ./made damage
t_like "behind damage nothing has a name" "$(shares damage.tally)" \
	'^[3-6][0-9] (1[5-9]|2[0-9]|3[0-5]) (1[5-9]|2[0-9]|3[0-5])$'
t_like "... which is said" "$("$TALLY" info --no-pager damage.tally)" \
	'jitdump file is *damaged at offset'
for how in strange pid; do
	made $how ./made $how
	t_like "no names from a file that is none of the process's: $how" \
		"$(shares $how.tally)" '^0 0 [1-9]'
done
if [ "$(id -u)" -eq 0 ]; then
	made other ./made other
	t_like "nor from another user's" "$(shares other.tally)" '^0 0 [1-9]'
	if unshare -m -p -f true 2>/dev/null; then
		made apart unshare -m -p -f sh -c \
			'mount -t tmpfs none /tmp && ./made plain /tmp; :'
		both "a program with numbers and a /tmp of its own" \
			"$(shares apart.tally)"
	else
		t_skip "a program with numbers and a /tmp of its own" "cannot unshare here"
	fi
else
	t_skip "files of another user" "not root"
	t_skip "a program with numbers and a /tmp of its own" "not root"
fi
for source in timer ptrace; do
	"$TALLY" record -q -g --source=$source -o $source.tally -- ./made late
	rm -f jit-*.dump
	both "--source=$source" "$(shares $source.tally)"
done

if perf record -h 2>&1 | grep -q clockid &&
   perf record -q -k mono -g -e cpu-clock:u -o perf.data ./made >/dev/null 2>&1; then
	perf inject --jit -i perf.data -o injected.data >/dev/null 2>&1
	perf report --stdio -g none --no-children -s sym -i injected.data 2>/dev/null |
		awk '/made_/ { print $NF, $1 + 0 }' | sort >theirs
	"$TALLY" import -q -o imported.tally perf.data
	rm -f jit-*.dump jitted-*
	"$TALLY" report --no-pager --format=csv imported.tally | tr -d '\r' |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			$c["symbol"] ~ /^made_/ {
				printf "%s %.2f\n", $c["symbol"], $c["self_percent"] }' |
		sort >ours
	t_ok "an imported recording is as perf inject --jit has it ($(paste -sd' ' ours))" \
		"$(join theirs ours | awk '{ d = $2 - $3; if (d < 0) d = -d
			n++; bad += d > 0.02 } END { exit bad || n != 2 }'; echo $?)"
	perf record -q -g -e cpu-clock:u -o other.data ./made >/dev/null 2>&1
	"$TALLY" import -q -o other.tally other.data
	rm -f jit-*.dump
	t_like "with another clock the last function counts" \
		"$(shares other.tally)" '^0 (9.|100) '
else
	t_skip "an imported recording is as perf inject --jit has it" "no perf here"
fi

if command -v node >/dev/null && node --perf-prof -e 0 2>/dev/null; then
	rm -f jit-*.dump isolate*.log
	cat >hot.js <<'END2'
function inner(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s += Math.sqrt(i) ^ i;
	return s;
}
const end = Date.now() + 500;
let r = 0;
while (Date.now() < end)
	r += inner(100000);
END2
	made node node --perf-prof --interpreted-frames-native-stack hot.js
	rm -f isolate*.log
	rows=$("$TALLY" report --no-pager --format=csv -s image,symbol,line node.tally |
		tr -d '\r' | grep ',inner,' | grep -o 'hot\.js,[0-9]*' | sort -u |
		tr '\n' ' ')
	t_like "lines of JavaScript ($rows)" "$rows" 'hot\.js,3 hot\.js,4'
	instructions "and its instructions" node.tally inner 'sqrtsd'
	t_like "in its own image" "$("$TALLY" report --no-pager --format=csv -s image,symbol \
		node.tally)" '\[javascript\],inner,'
else
	t_skip "lines of JavaScript" "no node with --perf-prof here"
fi
t_done
