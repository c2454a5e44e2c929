#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of kernel code by a vmlinux and by modules: a small program linked like
# one, moved as the kernel moves itself, must be named as llvm-symbolizer names it
# where it was linked, and a module as addr2line names its sections.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
KERNCAT=${top_builddir:-.}/tests/symbolize/kerncat
CC=${CC:-cc}
REL=6.6.6-test
LC_ALL=C
export LC_ALL
# Lower halves of addresses: not all shells can count that high.
HIGH=ffffffff
LINK=01000000
BASE=8d400000
MODBASE=c0a00000

names='chains as llvm-symbolizer has them'
for tool in llvm-symbolizer addr2line nm objcopy readelf; do
	command -v $tool >/dev/null && continue
	t_skip_all "$names" "no $tool here"
done
cd "$T_TMP" || exit 1
case $KERNCAT in /*) ;; *) KERNCAT=$OLDPWD/$KERNCAT ;; esac

cat >kern.c <<'END'
__asm__(".text\n.globl _text\n_text:\n.globl _stext\n_stext:\n\t.zero 64\n");
volatile int cell;
static inline __attribute__((always_inline)) void inner(int n)
{
	cell += n;
	cell *= 3;
}
static inline __attribute__((always_inline)) void middle(int n)
{
	cell ^= 5;
	inner(n + 1);
}
__attribute__((noinline)) int do_work(int n)
{
	middle(n);
	return cell + EXTRA;
}
__attribute__((noinline)) int do_more(int n)
{
	inner(n);
	middle(cell);
	return cell;
}
void _start(void);
void _start(void)
{
	cell = do_work(1) + do_more(2);
}
__asm__(".text\n.globl _etext\n_etext:\n");
END
flags='-g -O2 -ffreestanding -fno-pic -fno-toplevel-reorder
	-fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables'
$CC -g -O2 -fcf-protection=none -x c -c -o /dev/null - </dev/null 2>/dev/null ||
	flags=$(echo "$flags" | sed 's/-fcf-protection=none//')
link() { # EXTRA FILE
	# shellcheck disable=SC2086
	$CC $flags -DEXTRA="$1" -nostdlib -static -no-pie -Wl,--build-id=sha1 \
		-Wl,-Ttext=0x1000000 -o "$2" kern.c >link.log 2>&1
}
if ! link 0 vmlinux || ! link 7777777 other; then
	t_skip_all "$names" "this compiler cannot link a program of its own: \
$(tail -n 1 link.log)"
fi
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
low() { printf '%s' "${1#????????}"; }
add() { printf '%08x' $((0x$1 + 0x$2)); }
sub() { printf '%08x' $((0x$1 - 0x$2)); }
ID=$(build_id vmlinux)
nm vmlinux | while read -r addr type name; do
	case $type in
	t | T)
		at=$(add "$(sub "$(low "$addr")" $LINK)" $BASE)
		echo "$HIGH$at $type $name"
		;;
	esac
done >kallsyms
# Every byte of every function, but not past it.
nm -S vmlinux | while read -r addr size type name; do
	case $name in do_work | do_more | _start) ;; *) continue ;; esac
	i=0
	while [ $i -lt $((0x$size)) ]; do
		add "$(low "$addr")" "$(printf %x $i)"
		echo
		i=$((i + 1))
	done
done >linked
while read -r a; do
	echo "$HIGH$(add "$(sub "$a" $LINK)" $BASE)"
done <linked >addresses
sed 's/^/0x/' linked |
	llvm-symbolizer --obj=vmlinux --inlines --functions=linkage >want
run() { # OUTPUT kerncat options
	out=$1
	shift
	"$KERNCAT" -i "$ID" -b $HIGH$BASE -r $REL "$@" <addresses >"$out.all"
	sed '/^# /d' "$out.all" >"$out"
}

# of addresses and of inlined chains there are enough to tell
t_ok "there is something to compare" "$([ "$(wc -l <addresses)" -gt 60 ] &&
	[ "$(wc -l <want)" -gt $((4 * $(wc -l <addresses))) ]; echo $?)"

run got -v vmlinux -k kallsyms
t_same "$names" want got
run got -v vmlinux
t_same "… also when another kernel runs here" want got

mkdir -p debug/boot debug/lib/modules/$REL
cp vmlinux debug/boot/vmlinux-$REL
run got -d debug -k kallsyms
t_same "found below boot/" want got
mv debug/boot/vmlinux-$REL debug/lib/modules/$REL/vmlinux
run got -d debug
t_same "… below lib/modules" want got
# a wrong one in the better place is passed over
cp other debug/boot/vmlinux-$REL
run got -d debug
t_same "another build-id is not used" want got
rm debug/lib/modules/$REL/vmlinux
mkdir -p "debug/.build-id/${ID%"${ID#??}"}"
cp vmlinux "debug/.build-id/${ID%"${ID#??}"}/${ID#??}.debug"
run got -d debug
t_same "found by build-id" want got
rm -r debug/.build-id

run got -d debug
t_is "without it there is no name" "$(sort -u got | tr '\n' ' ')" \
	" ?? ??:0:0 "
t_like "… and a reason" "$(cat got.all)" "^# (another kernel is running|.*kallsyms)"
run got -v other
t_like "a wrong file is named" "$(cat got.all)" \
	"^# other is not the recorded kernel's"
run got -v other -k kallsyms
t_is "with the wrong file names come from kallsyms" \
	"$(grep -v : got | sort -u | tr '\n' ' ')" " _start do_more do_work "
t_like "… and the file is named, too" "$(cat got.all)" \
	"^# other is not the recorded kernel's"

# Names of an earlier look-up stay where the file knows nothing.
echo "$HIGH$(add 7000000 $BASE)" >>addresses
sed "s/_etext/&\n$HIGH$(add 7000000 $BASE) t bpf_prog_0123456789abcdef_x [bpf]/" \
	kallsyms >kallsyms.bpf
run got -o kallsyms.bpf -v vmlinux
t_is "what the file does not know keeps its name" \
	"$(tail -n 3 got | head -n 1)" bpf_prog_0123456789abcdef_x
head -n -3 got >got.kernel
t_same "… beside what it does" want got.kernel

# A module: two files with a function of the same name, and code that is laid
# elsewhere by the kernel than by the linker.
for n in 1 2; do
	cat >mod$n.c <<END
extern volatile int mod_cell;
static inline __attribute__((always_inline)) void bump(int n)
{
	mod_cell += n;
	mod_cell *= $n;
}
static __attribute__((noinline, noclone)) int twin(int n)
{
	bump(n);
	return mod_cell + $n;
}
int mod_entry$n(int n);
int mod_entry$n(int n)
{
	bump(n - 1);
	return twin(n) + 1;
}
int mod_apart$n(int n);
__attribute__((section(".text.apart"))) int mod_apart$n(int n)
{
	bump(n + 2);
	return mod_cell;
}
END
	# shellcheck disable=SC2086
	$CC $flags -c -o mod$n.o mod$n.c
done
echo 'volatile int mod_cell;' | $CC -x c -c -o mod3.o -
mkdir -p debug/lib/modules/$REL/kernel/net
KO=debug/lib/modules/$REL/kernel/net/tally-mod.ko
if ! ld -r --build-id=sha1 -o $KO mod1.o mod2.o mod3.o 2>link.log; then
	t_skip_all "functions of a module" "ld -r: $(tail -n 1 link.log)"
fi
ID=$(build_id $KO)
BASE=$MODBASE
# .text first, .text.apart 32 KB behind it
objdump -t $KO | awk '$3 == "F" || $4 == "F" {
	for (i = 2; i <= NF; i++) if ($i ~ /^\.text/) print $1, $i, $(i + 1), $NF
}' >functions
: >kallsyms
: >addresses
: >want
while read -r value section size name; do
	case $section in .text) at=$MODBASE ;; *) at=$(add $MODBASE 8000) ;; esac
	value=$(low "$value")
	echo "$HIGH$(add "$value" "$at") t $name [tally_mod]" >>kallsyms
	i=0
	while [ $i -lt $((0x$size)) ]; do
		off=$(add "$value" "$(printf %x $i)")
		echo "$HIGH$(add "$off" "$at")" >>addresses
		addr2line -e $KO -j "$section" -f -i "$off" |
			sed 's/ (discriminator [0-9]*)//' >>want
		echo >>want
		i=$((i + 1))
	done
done <functions
t_ok "the module has its functions" \
	"$([ "$(grep -c twin functions)" = 2 ] && grep -q '\.text\.apart' functions
	echo $?)"
without_columns() { sed 's/:[0-9]*$//' "$1" >"$1.lines"; }
run got -m '[tally_mod]' -d debug -k kallsyms
without_columns got
sed '$d' want >want.lines
t_same "functions of a module as addr2line has them" want got.lines
run got -m '[tally_mod]' -d debug -o kallsyms
without_columns got
# only what was hit tells where its sections are: that is all of it here
t_same "… on another machine" want got.lines
t_done
