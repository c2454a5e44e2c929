#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records the kernel in a virtual machine, with KASLR and modules, and symbolizes it
# here with the kernel's debug files. TALLY_VM_KERNEL is a folder made by
# scripts/vm/get-kernel.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
TREE=${TALLY_VM_KERNEL-}
name='records a kernel in a virtual machine'
skip() { t_skip_all "$name" "$1"; }
[ -n "$TREE" ] || skip "no TALLY_VM_KERNEL: see scripts/vm/get-kernel"
for tool in qemu-system-x86_64 busybox llvm-symbolizer addr2line; do
	command -v $tool >/dev/null || skip "no $tool here"
done
BOOT=$(cd "$srcdir" && pwd)/scripts/vm/boot
TALLY=$(cd "${top_builddir:-.}" && pwd)/src/tally
DEBUG=$TREE/usr/lib/debug
VMLINUX=$(ls "$DEBUG"/boot/vmlinux-*)
REL=${VMLINUX##*/vmlinux-}
cd "$T_TMP" || exit 1

cat >work.sh <<'END'
i=0
while [ $i -lt 3 ]; do
	find /usr/lib/git-core /usr/include/linux -type f -size +8k >/dev/null
	dd if=/dev/zero of=/var/tmp/zeros bs=4k count=4000
	i=$((i + 1))
done 2>/dev/null
END
chmod 777 .
cat >inside.sh <<END
uname -r
echo 1 >/proc/sys/kernel/perf_event_paranoid
echo 1 >/proc/sys/kernel/kptr_restrict
setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$TALLY" record -q --kernel -o hidden.tally -- sh "$T_TMP/work.sh"
"$TALLY" symbolize -q -o known.tally hidden.tally
"$TALLY" record -q -g -o plain.tally -- sh "$T_TMP/work.sh"
"$TALLY" record -q -g -k "$VMLINUX" -o lines.tally -- sh "$T_TMP/work.sh"
grep ' [Tt] _stext\$' /proc/kallsyms >stext
cat /proc/modules >modules
# lower halves: this shell may not count higher
base=\$(sed 's/^ffffffff//; s/ .*//' stext)
readelf -lW /proc/kcore | sed -n 's/^ *LOAD *\([^ ]*\) 0xffffffff\([^ ]*\) [^ ]* [^ ]* 0x\([^ ]*\) .*/\1 \2 \3/p' >segments
"$TALLY" dump --no-pager plain.tally | sed -n 's/^code image=\([0-9]*\) vaddr=\([^ ]*\) size=\([^ ]*\) .*/\1 \2 \3/p' >codes
image=\$("$TALLY" dump --no-pager plain.tally | sed -n 's/^image \([0-9]*\) path="\[kernel\]".*/\1/p')
while read -r im vaddr size; do
	[ "\$im" = "\$image" ] || continue
	at=\$((0x\$base + vaddr))
	while read -r offset start len; do
		[ \$at -lt \$((0x\$start)) ] ||
		[ \$at -ge \$((0x\$start + 0x\$len)) ] ||
		printf '%s %s\n' "\$vaddr" "\$(dd if=/proc/kcore bs=4096 iflag=skip_bytes,count_bytes \
			skip=\$((offset + at - 0x\$start)) count=\$size 2>/dev/null | od -An -v -tx1 | tr -d ' \n')"
	done <segments
done <codes >memory
END
"$BOOT" -k "$TREE" -w "$T_TMP" -t 300 -- sh "$T_TMP/inside.sh" >vm.log 2>&1
t_is "$name" "$? $(cat vm.log)" "0 $REL"
[ -s plain.tally ] || { t_done; exit 1; }

# Prints: LOCATION NAME FILE:LINE NAME FILE:LINE…, innermost first, of one image
chains() { # FILE IMAGE
	"$TALLY" dump --no-pager "$1" | awk -v want="$2" '
	function text(key,  s) {
		s = substr($0, index($0, " " key "=\"") + length(key) + 3)
		return substr(s, 1, index(s, "\"") - 1)
	}
	function number(key,  s) {
		s = substr($0, index($0, " " key "=") + length(key) + 2)
		sub(/ .*/, "", s)
		return s
	}
	$1 == "image" && text("path") == want { image = $2 }
	$1 == "func" { fn[$2] = text("name") }
	$1 == "frame" {
		at[$2] = fn[number("func")] " " text("file") ":" number("line")
		outer[$2] = number("outer")
	}
	$1 == "loc" && number("image") == image {
		n++; vaddr[n] = number("vaddr"); frame[n] = number("frame")
	}
	END {
		for (i = 1; i <= n; i++) {
			s = vaddr[i]
			for (f = frame[i]; f != "none"; f = outer[f])
				s = s " " at[f]
			print s
		}
	}'
}
# The same from what a symbolizer prints: lines, an empty one behind each location.
blocks() {
	awk -v RS= -F '\n' '{
		s = ""
		for (i = 1; i < NF; i += 2) {
			sub(/ \(discriminator.*/, "", $(i + 1))
			if ($(i + 1) ~ /^\?\?/ || $(i + 1) ~ /:\?/)
				$(i + 1) = ":0"
			s = s " " $i " " $(i + 1)
		}
		print substr(s, 2)
	}'
}
# A function that exists may be called by any of its names.
no_outer() { awk '{ $(NF - 1) = "-"; print }'; }
compare() { # NAME GOT WANT LEAST
	n=$(wc -l <"$2")
	same=$(paste -d '|' "$2" "$3" | awk -F '|' '$1 == $2' | wc -l)
	echo "# $1: $same of $n locations equal, $(awk 'NF > 2' "$2" |
		wc -l) with inlined functions"
	paste -d '|' "$2" "$3" | awk -F '|' '$1 != $2 { print "# " $0 }' |
		head -n 5
	# what neither knows is equal, too
	known=$(grep -c ':[1-9]' "$3")
	t_ok "$1" "$([ "$n" -ge "$4" ] && [ $((known * 2)) -ge "$n" ] &&
		[ $((same * 1000)) -ge $((n * 990)) ]
		echo $?)"
}

t_like "the recording has names of its own" \
	"$("$TALLY" report --no-pager --percent-limit 0 plain.tally)" \
	'\[kernel\] +\[k\] (clear_page_|clear_user_|copy_user_|rep_)'
"$TALLY" dump --no-pager plain.tally | awk '
	/^image/ && /path="\[kernel\]"/ { im = "image=" $2 }
	$1 == "code" && $2 == im { print substr($3, 7), substr($5, 7) }' >codes
t_ok "the code of hot functions is what the memory held" \
	"$([ "$(wc -l <codes)" -gt 3 ] && cmp codes memory >&2; echo $?)"
cp plain.tally old.tally
t_like "a file of another kernel is refused" \
	"$("$TALLY" symbolize -o wrong.tally -k "$TALLY" plain.tally 2>&1)" \
	"^tally: --vmlinux $TALLY is not the recorded kernel: "
t_run "its kernel's files name it on another machine" \
	"$TALLY" symbolize -q --debug-dir "$DEBUG" plain.tally
base=$(nm "$VMLINUX" | sed -n 's/ [Tt] _stext$//p')
chains plain.tally '[kernel]' >chains
sed 's/^[^ ]* //' chains | no_outer >got
while read -r vaddr _; do
	# not all shells can count so high
	printf '0x%s%08x\n' "${base%????????}" \
		$((vaddr + 0x${base#????????}))
done <chains | llvm-symbolizer --obj="$VMLINUX" --inlines \
	--functions=linkage | sed 's/^\(.*:[0-9]*\):[0-9]*$/\1/' |
	blocks | no_outer >want
compare "chains of kernel code as llvm-symbolizer has them" got want 100
# kallsyms is the other witness: the outermost function is the same place
chains old.tally '[kernel]' | awk '{ print $1, $(NF - 1) }' |
	sed 's/\.[a-z].*//' | sort >old
awk '{ print $1, $(NF - 1) }' chains | sed 's/\.[a-z].*//' | sort >new
t_ok "names agree with the running kernel's" \
	"$([ $(($(comm -12 old new | wc -l) * 100)) -ge \
	$(($(wc -l <new) * 95)) ]; echo $?)"

for module in 9p 9pnet overlay; do
	ko=$(find "$DEBUG/lib/modules/$REL" -name "$module.ko")
	[ -n "$ko" ] || {
		t_skip "chains of module $module as addr2line has them" \
			"no debug file of it"
		continue
	}
	size=$(objdump -h "$ko" | awk '$2 == ".text" { print $3 }')
	chains plain.tally "[$module]" | while read -r vaddr rest; do
		[ $((vaddr)) -lt $((0x$size)) ] && echo "$vaddr $rest"
	done >chains
	sed 's/^[^ ]* //' chains | no_outer >got
	while read -r vaddr _; do
		addr2line -e "$ko" -j .text -f -i "$vaddr"
		echo
	done <chains | blocks | no_outer >want
	compare "chains of module $module as addr2line has them" got want 1
done

# Somebody else may not see where the kernel is; root may, until the next boot.
has_names() {
	"$TALLY" report --no-pager --percent-limit 0 "$1" |
		awk '/\[k\] ([a-z_]*clear_|[a-z_]*copy_user|rep_)/ { n++ }
			END { print NR ? n + 0 : "no report" }'
}
t_is "a user who may not see kernel addresses gets no names" \
	"$(has_names hidden.tally)" 0
t_like "… and is told why" "$("$TALLY" info --no-pager hidden.tally)" \
	'kptr_restrict'
t_ok "… but root finds them, in the same boot" \
	"$([ "$(has_names known.tally)" -gt 0 ]; echo $?)"
t_run "elsewhere its kernel's file can be looked at" \
	"$TALLY" symbolize -q --debug-dir "$DEBUG" hidden.tally
t_is "… but gives no names: where it lay is not known" \
	"$(has_names hidden.tally)" 0
t_like "… and it is told why" "$("$TALLY" info --no-pager hidden.tally)" \
	'hidden from the recorder'

# Recorded with the file at hand: lines at once.
chains lines.tally '[kernel]' | awk 'NF > 3' >inlined
t_ok "record takes them from --vmlinux itself" \
	"$([ "$(wc -l <inlined)" -gt 20 ]; echo $?)"
t_like "… which it notes" "$("$TALLY" dump --no-pager lines.tally)" \
	'^image .*kind=kernel.*debug_file="[^"]*/vmlinux-'
t_done
