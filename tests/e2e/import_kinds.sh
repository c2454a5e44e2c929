#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Rarer kinds of perf.data: directories, the other byte order, deferred call chains,
# waits, names kept by perf or a JIT compiler. What this perf cannot record is derived
# from what it can, following the document of the format.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
PERF=${PERF:-perf}
make_data() { # WHAT IN OUT
	rm -f "$3"
	python3 "$top_srcdir/tests/e2e/perf_data.py" "$@"
}
perf_record() {
	for _ in 1 2 3; do
		timeout 60 "$PERF" record -q -N "$@" >perf.out 2>perf.err && break
	done
}
perf_record -e cpu-clock -o try.data true
if [ ! -s try.data ]; then
	t_skip_all "kinds of perf.data" "perf is not here or may not record"
fi

cat >work.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void leaf(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) void outer(unsigned long n)
{
	leaf(n);
	sum++;
}
/* x86-64: mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9,
				      0x75, 0xfb, 0xc3 };
int main(int argc, char **argv)
{
	static char b[1 << 16];
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 60; i++) {
		outer(400000);
		for (int k = 0; k < 20; k++)
			sum += (unsigned long)read(fd, b, sizeof(b));
	}
	if (argc > 1) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void (*f)(unsigned long);
		char path[64];
		FILE *map;

		memcpy(p, code, sizeof(code));
		memcpy(&f, &p, sizeof(f));
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		map = fopen(path, "w");
		fprintf(map, "%lx 40 made_by_hand\n", (unsigned long)p);
		fclose(map);
		map = fopen(argv[1], "w");
		fprintf(map, "%s\n", path);
		fclose(map);
		f(300000000);
	}
	return 0;
}
END
${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-inline -o work work.c || exit 1

column() { # FILE KEY
	"$TALLY" report --format=csv -s "$2" "$1" 2>err |
		awk -F, 'NR > 1 && $2 { print $2, $3, $1 }' | sort
}
by_perf() { # FILE KEY
	"$PERF" report -q -i "$1" --no-itrace --stdio -g none --no-inline --no-children \
		-n --percent-limit 0 -F sample,period,"$2" -t '|' 2>/dev/null |
		sed 's/ *| */ /g; s/^ *//; s/ *$//; s/ \[[k.]\] / /' |
		grep -v '^#' | grep . | sort
}

perf_record -g -e cpu-clock -o fp.data ./work
want=$(column fp.data symbol)
t_like "a recording to start from" "$want" ' leaf( |$)'

# --- the other byte order
for bits in '' 32; do
	make_data swap$bits fp.data swap$bits.data
	t_is "the other byte order${bits:+, $bits bits}: commands, as perf reads it" \
		"$(column swap$bits.data comm)" "$(by_perf swap$bits.data comm)"
	t_is "functions, as in ours" "$(column swap$bits.data symbol)" "$want"
	t_is "whole stacks" "$("$TALLY" export --format=folded -o - swap$bits.data 2>err)" \
		"$("$TALLY" export --format=folded -o - fp.data 2>err)"
	t_like "and its machine's name" "$("$TALLY" info --no-pager swap$bits.data)" \
		"$(uname -n)"
done
head -c $(($(stat -c %s swap.data) / 2)) swap.data >cut.data
t_like "a cut one" "$("$TALLY" report --format=csv cut.data 2>&1)" 'truncated at offset'
perf_record --call-graph dwarf,4096 -e cpu-clock -F 500 -o dwarf.data ./work
make_data swap dwarf.data sdwarf.data
t_is "registers of another machine are not taken for ours" \
	"$(column sdwarf.data comm)" "$(column dwarf.data comm)"

# --- descriptions of events of all sizes so far: PERF_ATTR_SIZE_VER0 to 9
judges=
for size in 64 72 80 96 104 112 120 128 136 144; do
	make_data attrs fp.data attrs.data $size
	t_is "descriptions of $size bytes" "$(column attrs.data symbol)" "$want"
	# perf refuses those that are newer than itself
	theirs=$(by_perf attrs.data comm)
	[ -z "$theirs" ] || { judges=$judges$size,; t_is "… as perf reads them" \
		"$(column attrs.data comm)" "$theirs"; }
done
t_like "perf has read the older sizes" "$judges" '^64,72,80,96,104,112,120,'
for size in 96 144; do
	make_data attrs dwarf.data attrs.data $size
	t_is "… with copies of stacks, $size bytes" "$(column attrs.data symbol)" \
		"$(column dwarf.data symbol)"
done

# --- directories
perf_record --threads=cpu -g -e cpu-clock -o threads.dir ./work
if [ -d threads.dir ]; then
	t_is "a directory with files of threads" "$(column threads.dir comm)" \
		"$(by_perf threads.dir comm)"
	t_run "it becomes a recording" "$TALLY" import -q -o dir.tally threads.dir
else
	t_skip "directories of --threads" "this perf is older"
fi
mkdir empty.dir
"$TALLY" report empty.dir >out 2>err
t_is "another directory is an error" $? 1

# --- the user part of chains in records of their own
made=$(make_data defer fp.data defer.data)
t_is "chains that come later: each function's samples" \
	"$(column defer.data symbol)" "$want"
stacks() {
	"$TALLY" export --format=folded -o - "$1" 2>err |
		awk '/;main;(outer;)?leaf [0-9]/ { n += $NF } END { print n + 0 }'
}
t_is "joined ones are whole, those that never came are not" \
	"$(echo "$(stacks fp.data) $(stacks defer.data) $made" | awk '
		{ low = $1 - $4 * 250000; print ($1 > 20 && $2 < $1 && $2 >= low) }')" 1

# --- waits
perf_record -g -e cpu-clock -e 'bpf-output/no-inherit=1,name=offcpu-time/' \
	-o two.data ./work
if [ -s two.data ]; then
	n=$(make_data offcpu two.data offcpu.data)
	t_is "waits of --off-cpu, in nanoseconds" "$("$TALLY" report --format=csv \
		-s comm offcpu.data 2>err | awk -F, '$2 == "offcpu-time" {
			print $1, $3, $4 }')" "work $n $((n * 7000000))"
	t_like "are time" "$("$TALLY" info --no-pager offcpu.data 2>err)" 'offcpu-time'
else
	t_skip "waits" "this perf has no events of BPF programs"
fi

# --- samples of guests, branches, data sources
perf_record -g -e cpu-clock --buildid-mmap -o b.data ./work
n=$(make_data guest b.data guest.data)
by_image() {
	"$TALLY" report --format=csv --percent-limit=0 -s image "$1" 2>err |
		awk -F, -v k="$2" '$1 == k { print $2 }'
}
t_is "each fifth sample is a guest's" "$(by_image guest.data '[guest]')" "$n"
n=$(make_data branch b.data branch.data)
"$TALLY" import -o branch.tally branch.data 2>err
t_like "samples with branches are counted" "$(cat err)" \
	"; branch stacks of $n samples skipped"
t_is "and are samples" "$(column branch.tally symbol)" "$(column b.data symbol)"
perf_record -d -W --buildid-mmap -e cpu-clock -o d.data ./work
n=$(make_data sources d.data sources.data)
"$TALLY" import -o sources.tally sources.data 2>err
t_like "samples with sources of data are counted" "$(cat err)" \
	"; data sources of $n samples skipped"
t_is "and are samples, too" "$(column sources.tally symbol)" \
	"$(column d.data symbol)"

# --- kinds that say nothing of samples are no loss; tracing data is
make_data others fp.data others.data >made
"$TALLY" import -o others.tally others.data 2>err
t_like "of ten other records only tracing data counts" "$(cat err)" \
	'; 1 records of other kinds skipped$'
t_is "the samples are the same" "$(column others.tally symbol)" "$want"

t_is "… as perf reads them" "$(column others.data comm)" "$(by_perf others.data comm)"
n=$(make_data poke fp.data poke.data)
"$TALLY" import -o poke.tally poke.data 2>err
t_lacks "of $n changes of the kernel's code nothing is lost" "$(cat err)" 'skipped'
t_is "… as perf reads them" "$(column poke.tally comm)" "$(by_perf poke.data comm)"
n=$(make_data trace fp.data trace.data)
"$TALLY" import -o trace.tally trace.data 2>err
t_like "traces are skipped, with the records that point to them" "$(cat err)" \
	"; $((2 * n)) records of other kinds skipped\$"
t_is "their bytes are no samples" "$(column trace.tally symbol)" "$want"
t_is "… as perf reads them" "$(column trace.tally comm)" "$(by_perf trace.data comm)"
head -c $(($(stat -c %s trace.data) / 2)) trace.data >cut.data
t_like "a cut one" "$("$TALLY" report --format=csv cut.data 2>&1)" \
	'truncated at offset'

# --- the kernel's names: in the directory, and in perf's cache by build-id
# (of the function that has most samples and its name alone)
name=$("$PERF" report -q -i fp.data --stdio -g none --no-children -s sym 2>/dev/null |
	sed -n 's/.* \[k\] \([a-z0-9_]*\) *$/\1/p' |
	while read -r name; do
		[ "$(grep -c "^0*[1-9a-f][0-9a-f]* . $name\$" /proc/kallsyms)" = 1 ] &&
			echo "$name" && break
	done)
if [ "$name" ]; then
	sed "s/ $name\$/ ${name}_recorded/" /proc/kallsyms >names
	cache=home/.debug/.build-id/ab/$(printf 'ab%.0s' \
		1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
	mkdir -p k.dir/kcore_dir "$cache"
	cp fp.data k.dir/data
	cp names k.dir/kcore_dir/kallsyms
	named=$(by_perf fp.data sym | awk -v n="$name" '$3 == n { print $1, $2, n "_recorded" }')
	t_is "names of the kernel in a directory of --kcore" \
		"$(column k.dir symbol | grep -w "${name}_recorded")" "$named"
	cp names "$cache/kallsyms"
	make_data kernel fp.data other.data
	t_is "… and in perf's cache" "$(HOME=$T_TMP/home column other.data symbol |
		grep -w "${name}_recorded")" "$named"
	mv home/.debug/.build-id/ab home/.debug/.build-id/cd
	t_lacks "only for the same kernel" \
		"$(HOME=$T_TMP/home column other.data symbol)" " ${name}_recorded"
else
	t_skip "names of the kernel" "they are hidden here"
fi

# --- names of code that a program made
if [ "$(uname -m)" = x86_64 ]; then
	perf_record -e cpu-clock -o jit.data ./work map_path
	map=$(cat map_path)
	t_like "names in /tmp/perf-PID.map" "$(column jit.data symbol)" ' made_by_hand'
	cp "$map" kept
	touch -d '1 hour ago' "$map"
	t_lacks "not those of an older one" "$(column jit.data symbol)" made_by_hand
	rm -f "$map"
	sleep 3
	cp kept "$map"
	t_lacks "nor of one that was made later" "$(column jit.data symbol)" made_by_hand
	if [ "$(id -u)" -eq 0 ]; then
		perf_record -e cpu-clock -o jit2.data ./work map_path
		rm -f "$map"
		map=$(cat map_path)
		t_like "names of another run" "$(column jit2.data symbol)" ' made_by_hand'
		chown 65534 "$map"
		t_lacks "nor another user's" "$(column jit2.data symbol)" made_by_hand
	fi
	rm -f "$map"
fi
t_done
