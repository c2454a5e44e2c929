#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of format 1.0 must always remain readable. The rows that tally finds are
# those of a reader in Python that was written from tally-format(5) alone, and those
# found when the files were made. corpus-1.0 is never written again.
. "$top_srcdir/tests/lib.sh"

corpus=$top_srcdir/tests/profile/corpus-1.0
cd "$T_TMP" || exit 1

reader() { python3 -B "$top_srcdir/tests/e2e/format_reader.py" "$@"; }

# Weight, samples and name of the functions that samples of an event were in.
by_dump() { # FILE EVENT
	"$TALLY" dump --no-pager -g --only samples "$1" | awk -v want="$2" '
		function add() {
			if (event == want) { weight[name] += w; n[name]++ }
		}
		/^sample / {
			add()
			for (i = 2; i <= NF; i++) {
				split($i, part, "=")
				if (part[1] == "event") event = part[2]
				if (part[1] == "weight") w = part[2]
			}
			name = "[unresolved]"; inner = 1
			next
		}
		inner {
			sub(/^ *0x[0-9a-f]+ /, ""); sub(/ \(\/.*| \(\[.*/, "")
			name = $0 == "[unknown]" ? "[unresolved]" : $0
			inner = 0
		}
		BEGIN { event = "none" }
		END { add(); for (k in n) printf "%d %d %s\n", weight[k], n[k], k }'
}

for file in "$corpus"/*.tally; do
	name=${file##*/}
	name=${name%.tally}
	events=$(reader "$file" --tables | awk '$1 == "EVENTS" { print $2 }')
	{
		echo "# tables"
		reader "$file" --tables
		for e in $(seq 0 $((events - 1))); do
			echo "# event $e"
			reader "$file" "$e"
		done
	} >"$name.txt"
	t_is "$name: as when it was made" "$(cat "$name.txt")" \
		"$(cat "$corpus/$name.txt")"
	for e in $(seq 0 $((events - 1))); do
		t_is "$name: tally finds the same, event $e" \
			"$(by_dump "$file" "$e" | sort)" \
			"$(reader "$file" "$e" | c++filt | sort)"
	done
	"$TALLY" report --format=csv "$file" >report 2>err
	t_is "$name: opens" "$? $(sed -n 1p report | cut -d, -f1-2)" \
		"0 image,symbol"
	t_is "$name: damage is said of the cut one only" \
		"$("$TALLY" info --no-pager "$file" | grep -c '^# Damaged')" \
		"$([ "$name" = killed ] && echo 1 || echo 0)"
done
# Each chunk but SAMPLES may be compressed, the last one too.
cat >pack_end.py <<'END'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
at = data.rindex(b'TLYC')
payload = data[at + 32:]
packed = zlib.compress(payload)
if len(sys.argv) > 3:           # a longer one than its header says
    packed = zlib.compress(payload + bytes(1000))
head = data[at:at + 10] + b'\1\0' + struct.pack(
    '<IIII', len(packed), len(payload), 0, zlib.crc32(packed))
open(sys.argv[2], 'wb').write(data[:at] + head +
                              struct.pack('<I', zlib.crc32(head)) + packed)
END
if command -v python3 >/dev/null; then
	first=$(ls "$corpus"/*.tally | grep -v killed | head -n 1)
	python3 pack_end.py "$first" packed.tally
	t_is "a compressed end is no damage" \
		"$("$TALLY" report --format=csv packed.tally 2>&1 | cksum)" \
		"$("$TALLY" report --format=csv "$first" 2>&1 | cksum)"
	t_lacks "... nor said" "$("$TALLY" info packed.tally)" Damaged
	python3 pack_end.py "$first" packed.tally longer
	t_like "one that does not inflate to its size is" \
		"$("$TALLY" info packed.tally)" '^# Damaged'
else
	t_skip "a compressed end" "no python3"
fi
tables=$(cat "$corpus"/*.txt | awk '/^[A-Z_]+ [0-9]/ { print $1 }' | sort -u | wc -l)
t_is "each table has rows in one of them" \
	"$(cat "$corpus"/*.txt | awk '/^[A-Z_]+ [1-9]/ { print $1 }' | sort -u |
		wc -l)" "$([ "$tables" -gt 0 ] && echo "$tables")"

# What it writes now is what the page says.
gcc_or_cc=${CC:-cc}
cat >work.c <<'END2'
static volatile unsigned long sum;
__attribute__((noinline)) static void inner(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) static void outer(unsigned long n)
{
	inner(n);
	sum++;
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		outer(1000000);
	return 0;
}
END2
# shellcheck disable=SC2086 # words
$gcc_or_cc -O1 -g -o work work.c || exit 1
t_run "a recording" "$TALLY" record -q -g --source=ptrace -o new.tally ./work
t_is "what is recorded today is what the page says" \
	"$(by_dump new.tally 0 | sort)" "$(reader new.tally | c++filt | sort)"
t_like "… with the function" "$(reader new.tally | sed -n 1p)" '^[1-9].* inner$'
t_done
