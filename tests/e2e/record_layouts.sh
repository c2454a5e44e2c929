#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All layouts of code: linkers, segments, text moved to huge pages, vdso, 32 bits,
# kernel, BPF. Names come from the sources of the programs here, shares from their loops
# and from perf.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
root=$([ "$(id -u)" -eq 0 ] && echo yes)
x86=$([ "$(uname -m)" = x86_64 ] && echo yes)
cc() { command ${CC:-cc} -O1 -g "$@"; }
# -o FILE comes first.  No older recording passes for one that failed.
user() { rm -f "$2"; "$TALLY" record -q -F 4000 -e cpu-clock:u "$@"; }
kernel() { rm -f "$2"; "$TALLY" record -q -F 4000 -e cpu-clock "$@"; }
# "image symbol" with enough samples to matter
rows() {
	"$TALLY" report --format=csv --no-header -s image,symbol "$1" \
		2>rows.err | awk -F, 'NR > 1 && $3 > 20 {
		sub(/.*\//, "", $1); sub(/\+0x.*/, "+", $2); print $1, $2 }' |
		sort -u | grep -v -F '[kernel]'
}
# The share of a symbol, rounded.
share() { # FILE SYMBOL
	"$TALLY" report --format=csv --no-header -s symbol "$1" 2>rows.err |
		awk -F, -v s="$2" '$1 == s { n += $4 } END { printf "%d", n }'
}
perf_share() { # EVENT SYMBOL PROGRAM… (what perf says of the same program)
	event=$1 s=$2; shift 2
	perf record -q -F 4000 -e "$event" -o p.data -- "$@" >/dev/null 2>&1 &&
		perf report --stdio -i p.data --no-children -s symbol 2>/dev/null |
		awk -v s="$s" '$0 !~ /^#/ && index($0, s) { sub(/%/, "", $1)
		n += $1 } END { printf "%d", n }'
}
near() { # A B: within ten points (500 samples and a busy machine)
	[ $(($1 - $2)) -le 10 ] && [ $(($2 - $1)) -le 10 ]
}
# Whether perf gives a function the share $a that `user` or `kernel` gave it; what
# disturbs one run does not disturb three.
agrees() { # user|kernel SYMBOL PROGRAM…
	who=$1 f=$2; shift 2
	event=cpu-clock; [ $who = kernel ] || event=cpu-clock:u
	for try in 1 2 3; do
		p=$(perf_share $event "$f" "$@")
		near $a ${p:-0} && return
		echo "# try $try, $f: $a %, perf ${p:-0} %"
		$who -o agrees.tally -- "$@" >/dev/null 2>&1
		a=$(share agrees.tally "$f")
	done
	near $a ${p:-0}
}
perf=$(perf record -q -o p.data -- true >/dev/null 2>&1 && echo yes)

# Each product needs the one before, so that a round takes as long wherever the loop
# lies, on all processors.
cat >work.h <<'END'
static volatile unsigned int sink;
#define WORK(name, where, times) \
__attribute__((noinline, section(where))) void name(long n) \
{ \
	unsigned int x = (unsigned int)n; \
	for (long i = 0; i < times * n; i++) { \
		x = x * 1664525u + (unsigned int)i; \
		__asm__ volatile("" : "+r"(x)); \
	} \
	sink = x; \
}
END
# Two functions, one with three times the work of the other, in sections that
# linkers put apart.
cat >two.c <<'END'
#include "work.h"
WORK(alpha_work, ".text.first", 3)
WORK(beta_work, ".text.zlast", 1)
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = argc > 1 ? 199 : 0; i < 200; i++) {
		alpha_work(200000);
		beta_work(200000);
	}
	return 0;
}
END
layout() { # NAME OPTIONS…
	name=$1; shift
	if ! cc "$@" two.c -o two 2>err || ! ./two shortly 2>err; then
		t_skip "$name" "cannot be built or run here: $(head -1 err)"
		return
	fi
	user -o a.tally -- ./two
	a=$(share a.tally alpha_work) b=$(share a.tally beta_work)
	t_ok "$name: $a % and $b %" "$(near $a 75 && near $b 25; echo $?)"
	[ "$perf" ] || return
	agrees user alpha_work ./two
	agreed=$?
	# perf is at a loss with some of these.
	if [ "${p:-0}" -lt 50 ]; then
		t_skip "$name, beside perf" "perf finds only ${p:-0} %"
	else
		t_ok "$name, beside perf: $p %" $agreed
	fi
}
layout "position-independent" -pie -fPIE
layout "not position-independent" -no-pie
layout "static" -static
layout "static and position-independent" -static-pie -fPIE
layout "without separate code" -Wl,-z,noseparate-code
layout "large pages" -Wl,-z,max-page-size=0x200000
layout "aligned to 1 GB" -no-pie -Wl,-z,max-page-size=0x40000000
layout "at an address of its own" -no-pie -Wl,-Ttext-segment=0x10000000
for ld in gold lld mold; do
	layout "$ld" -fuse-ld=$ld
	layout "$ld, not position-independent" -fuse-ld=$ld -no-pie
	layout "$ld, large pages" -fuse-ld=$ld -Wl,-z,max-page-size=0x200000
done
layout "lld, one segment for code and constants" -fuse-ld=lld \
	-Wl,--no-rosegment
layout "32 bits" -m32
layout "x32" -mx32

# Two executable segments that share one page of the file.
cat >page.c <<'END'
#include "work.h"
WORK(alpha_work, ".text1", 3)
WORK(beta_work, ".text2", 1)
__attribute__((section(".text1"), used)) void _start(void)
{
	for (int i = 0; i < 200; i++) {
		alpha_work(200000);
		beta_work(200000);
	}
	__asm__ volatile("syscall" :: "a"(231), "D"(0));
}
END
cat >page.ld <<'END'
ENTRY(_start)
PHDRS { head PT_LOAD FILEHDR PHDRS FLAGS(4); one PT_LOAD FLAGS(5);
	two PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS {
	. = 0x400000 + SIZEOF_HEADERS;
	.rodata : { *(.rodata*) } :head
	. = 0x500000 + (. & 0xfff);
	.text1 : { *(.text1) } :one
	. = 0x700000 + (. & 0xfff);
	.text2 : { *(.text2) } :two
	. = 0x900000;
	.data : { *(.data) *(.bss) } :data
	/DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) }
}
END
if [ "$x86" ] && cc -static -nostdlib -fno-pie -no-pie -fno-stack-protector \
	-fcf-protection=none -Wl,--build-id=none -Wl,-T,page.ld page.c \
	-o page 2>err && ./page 2>err; then
	user -o a.tally -- ./page
	a=$(share a.tally alpha_work) b=$(share a.tally beta_work)
	t_ok "two code segments in one page: $a % and $b %" \
		"$(near $a 75 && near $b 25; echo $?)"
else
	t_skip "two code segments in one page" "$(head -1 err)"
fi

# Code that a program moves onto other memory.
cat >move.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noinline, section("hot_text"), aligned(4096)))
void moved_work(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}
__asm__(".pushsection hot_text, \"ax\"; .fill 5000, 1, 0xcc; .popsection");
extern char __start_hot_text[], __stop_hot_text[];
int main(int argc, char **argv)
{
	char *at = __start_hot_text;
	size_t n = (size_t)(__stop_hot_text - at + 4095) & ~4095ul;
	char *copy = mmap(NULL, n, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(copy, at, n);
	if (!strcmp(argv[1], "map")) {
		mmap(at, n, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		madvise(at, n, MADV_HUGEPAGE);
		memcpy(at, copy, n);
		mprotect(at, n, PROT_READ | PROT_EXEC);
	} else if (!strcmp(argv[1], "mremap")) {
		mprotect(copy, n, PROT_READ | PROT_EXEC);
		if (mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, at) !=
		    (void *)at)
			return 77;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		moved_work(1000000);
	return 0;
}
END
if cc move.c -o move 2>err; then
	for how in map mremap; do
		user -o a.tally -- ./move $how 300
		t_is "code moved onto anonymous memory ($how)" \
			"$(rows a.tally)" "move moved_work"
	done
	./move map 100000 & pid=$!
	sleep 0.5
	user -o a.tally --duration 0.6 -p $pid
	kill $pid
	wait $pid 2>/dev/null
	t_is "… before the recorder came" "$(rows a.tally)" "move moved_work"
else
	t_skip "moved code" "$(head -1 err)"
fi
# But not what generates code where a library was.
cat >plug.c <<'END'
static volatile unsigned long sink;
void plug_work(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}
END
cat >reuse.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static const unsigned char code[] = { 0xb9, 0, 0xca, 0x9a, 0x3b, 0xff, 0xc9,
				      0x75, 0xfc, 0xc3 };
int main(void)
{
	void *lib = dlopen("./plug.so", RTLD_NOW), *p;
	void (*work)(long) = (void (*)(long))dlsym(lib, "plug_work");
	uintptr_t page = (uintptr_t)work & ~4095ul;

	work(100000000);
	dlclose(lib);
	p = mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != (void *)page)
		return 77;
	memcpy((char *)p + ((uintptr_t)work & 4095), code, sizeof(code));
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	work(0);
	return 0;
}
END
if [ "$x86" ] && cc -shared -fPIC plug.c -o plug.so 2>err &&
	cc reuse.c -o reuse -ldl 2>err; then
	if user -o a.tally -- ./reuse; then
		t_is "code generated where a library was" "$(rows a.tally)" \
			"[anon] [anon]+
plug.so plug_work"
	else
		t_skip "code generated where a library was" \
			"the library is still there"
	fi
else
	t_skip "code generated where a library was" "made for x86-64"
fi

# What the kernel gives to each process.
cat >vdso.c <<'END'
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec t;

	for (long i = 0; i < atol(argv[1]); i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	return 0;
}
END
cc vdso.c -o vdso
user -o a.tally -- ./vdso 10000000
if grep -q vdso /proc/self/maps; then
	t_like "the vdso's functions have names" "$(rows a.tally)" \
		'^\[vdso\] .*clock_gettime'
	# The functions that it does not export have no names (which of them run
	# depends on the machine's clock).
	"$TALLY" report --format=csv --no-header -s image,symbol a.tally |
		sed -n 's/^\[vdso\],\[vdso\]+\(0x[0-9a-f]*\),.*/\1/p' >unnamed
	python3 - unnamed >unnamed.out 2>&1 <<'END'
import subprocess, sys
for line in open('/proc/self/maps'):
    if '[vdso]' in line:
        start, end = (int(x, 16) for x in line.split()[0].split('-'))
with open('/proc/self/mem', 'rb') as mem, open('vdso.so', 'wb') as f:
    mem.seek(start)
    f.write(mem.read(end - start))
rows = subprocess.run(['readelf', '-sW', 'vdso.so'], stdout=subprocess.PIPE, text=True)
words = (line.split() for line in rows.stdout.splitlines())
symbols = [(int(w[1], 16), int(w[2], 0)) for w in words if len(w) >= 8 and w[3] == 'FUNC']
assert symbols, 'no symbols'
for a in (int(line, 16) for line in open(sys.argv[1])):
    assert not any(v <= a < v + n for v, n in symbols), hex(a)
END
	t_ok "all that it exports: $(cat unnamed.out)" $?
fi
if cc -m32 vdso.c -o vdso32 2>err && ./vdso32 1 2>err; then
	user -o a.tally -- ./vdso32 10000000
	if rows a.tally | grep -q -F '[vdso]'; then
		t_like "also those of the 32-bit one" "$(rows a.tally)" \
			'^\[vdso\] .*clock_gettime'
		# Functions that it does not export have no names.
	else
		t_skip "the vdso of 32 bits" "the C library does not use it"
	fi
else
	t_skip "the vdso of 32 bits" "$(head -1 err)"
fi
cat >vsyscall.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
	long (*old_time)(long *) = (long (*)(long *))0xffffffffff600400ul;

	for (long i = 0; i < atol(argv[1]); i++)
		old_time(0);
	return 0;
}
END
if [ "$x86" ] && cc vsyscall.c -o vsyscall && ./vsyscall 1 2>/dev/null; then
	kernel -o a.tally -g -- ./vsyscall 500000
	t_like "the vsyscall page is known" "$("$TALLY" report --format=csv \
		--no-header -g -s image a.tally)" '\[vsyscall\]'
else
	t_skip "the vsyscall page" "this kernel or processor has none"
fi

# The kernel, as long as its names are visible.
t_settings -s
names=$(awk '$1 !~ /^0+$/ { print "yes"; exit }' /proc/kallsyms 2>/dev/null)
kernel -o a.tally -- dd if=/dev/zero of=/dev/null bs=1M count=20000 2>/dev/null
if [ "$root" ] && [ "$names" ]; then
	t_ok "nearly all of the kernel has names" "$("$TALLY" report \
		--format=csv --no-header -s image,symbol a.tally |
		awk -F, '/^\[kernel\]/ { n += $3
		if ($2 ~ /^\[kernel\]/) bad += $3 }
		END { print (n < 100 || bad > n / 100) }')"
	if [ "$perf" ]; then
		f=$("$TALLY" report --format=csv --no-header -s symbol \
			a.tally | sed -n '2s/,.*//p')
		a=$(share a.tally "$f")
		agrees kernel "$f" dd if=/dev/zero of=/dev/null bs=1M count=20000
		t_ok "as perf: $f $a % and ${p:-0} %" $?
	fi
else
	t_skip "names of the kernel" "they are hidden from this user"
fi

# BPF programs: loaded before and while recording, gone before the end.
cat >bpf.c <<'END'
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define INSN(c, d, s, o, i) \
	{ .code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i }
static int bpf(int cmd, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, cmd, a, sizeof(*a));
}
static int load(const char *name)
{
	static const struct bpf_insn code[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 10000),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 1, 0, 0),
		INSN(BPF_ALU64 | BPF_SUB | BPF_K, 1, 0, 0, 1),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 1, 0, -3, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	a.insns = (unsigned long)code;
	a.insn_cnt = sizeof(code) / sizeof(code[0]);
	a.license = (unsigned long)"GPL";
	strcpy(a.prog_name, name);
	return bpf(BPF_PROG_LOAD, &a);
}
static int run(int fd, unsigned int repeat)
{
	static char data[64];
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (unsigned int)fd;
	a.test.data_in = (unsigned long)data;
	a.test.data_size_in = sizeof(data);
	a.test.repeat = repeat;
	return bpf(BPF_PROG_TEST_RUN, &a);
}
int main(int argc, char **argv)
{
	int fd = load(argv[1]);

	if (fd < 0 || run(fd, 1)) {
		perror("bpf");
		return 77;
	}
	if (argc > 3) {
		struct stat st;

		puts("ready");
		fflush(stdout);
		for (int i = 0; i < 600 && (stat(argv[3], &st) || !st.st_size);
		     i++)
			usleep(100000);
	}
	return run(fd, (unsigned int)atoi(argv[2]));
}
END
if [ "$root" ] && cc bpf.c -o bpf 2>err && ./bpf probe 1 2>err; then
	kernel -o a.tally -- sh -c './bpf first 50000; ./bpf second 100000'
	t_is "BPF programs that came and went" "$(rows a.tally |
		sed -n 's/prog_[0-9a-f]\{16\}_/prog_TAG_/p')" \
"[bpf] bpf_prog_TAG_first
[bpf] bpf_prog_TAG_second"
	./bpf third 200000 third.tally >ready & pid=$!
	t_until [ -s ready ]
	kernel -o third.tally -p $pid
	wait $pid
	t_is "one that was there before and is gone at the end" \
		"$(rows third.tally |
		sed -n 's/prog_[0-9a-f]\{16\}_/prog_TAG_/p')" \
		"[bpf] bpf_prog_TAG_third"
	kernel -o a.tally -- ./bpf fourth 100000
	f=$(rows a.tally | sed -n 's/^\[bpf\] //p')
	if [ "$perf" ]; then
		a=$(share a.tally "$f")
		agrees kernel "$f" ./bpf fourth 100000
		t_ok "as perf: $f $a % and ${p:-0} %" $?
	fi
	"$TALLY" symbolize a.tally 2>/dev/null
	t_like "names of what is gone outlive symbolizing again" \
		"$(rows a.tally)" '^\[bpf\] bpf_prog_[0-9a-f]*_fourth'
else
	t_skip "BPF programs" "they cannot be loaded here: $(head -1 err)"
fi

# A trampoline of ftrace.
cat >ppid.c <<'END'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (long i = 0; i < atol(argv[1]); i++)
		syscall(SYS_getppid);
	return 0;
}
END
cat >trace.sh <<'END'
cd $1 && echo '*sys_getppid' >set_ftrace_filter &&
	echo function >current_tracer || exit 77
$2 3000000
echo nop >current_tracer
END
tracing=/sys/kernel/tracing
if [ "$root" ] && [ ! -d $tracing/instances ]; then
	mkdir -p trace && mount -t tracefs none trace 2>err &&
		tracing=$PWD/trace
fi
instance=$tracing/instances/tally-test.$$
if [ "$root" ] && cc ppid.c -o ppid &&
	grep -q -w function $tracing/available_tracers 2>>err &&
	mkdir $instance 2>>err; then
	t_cleanup "rmdir $instance 2>/dev/null"
	if kernel -o a.tally -- sh trace.sh $instance \
		$PWD/ppid 2>err; then
		t_like "a trampoline of ftrace" "$(rows a.tally)" \
			'^\[ftrace\] ftrace_trampoline'
	else
		t_skip "a trampoline of ftrace" "$(head -1 err)"
	fi
else
	t_skip "a trampoline of ftrace" "$(head -1 err)"
fi
t_done
