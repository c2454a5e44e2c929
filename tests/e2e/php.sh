#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of PHP: functions, files and lines compared with what the program itself prints
# (php_scenes.php). TALLY_PHPS: further programs to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

e2e=$top_srcdir/tests/e2e
tried=
for php in php ${TALLY_PHPS:-/usr/bin/php8.[0-9]}; do
	php=$(command -v "$php") || continue
	version=$("$php" -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION,
		PHP_ZTS || PHP_DEBUG ? "-other" : "";')
	case $version in
	8.2|8.4) ;;
	*) continue;;
	esac
	case "$tried " in
	*" $version "*) continue;;
	esac
	tried="$tried $version"
	mkdir -p made
	t_run "PHP $version: records" timeout 120 "$TALLY" record --source=timer -g -o s.tally \
		"$php" "$e2e/php_scenes.php" 4 truth.json "$PWD/made"
	"$TALLY" export --format=firefox -i s.tally -o s.json
	got=$(python3 "$e2e/python_check.py" s.json truth.json)
	echo "$got" | sed 's/^/# /'
	value() { echo "$got" | awk -v n="$1" '$1 == n { print $2 }'; }
	t_is "PHP $version: all that spin are seen" "$(value unseen)" none
	t_run "PHP $version: 99 % of samples have the right chain and lines" \
		awk -v v="$(value right)" 'BEGIN { exit !(v >= 99) }'
	t_run "PHP $version: 98 % are in the line of the loop" \
		awk -v v="$(value loop-line)" 'BEGIN { exit !(v >= 98) }'
	t_run "PHP $version: shares of time are the program's own" \
		awk -v v="$(value off)" -v n="$(value samples)" 'BEGIN {
			exit !(v != "" && v <= 1 + 420 * sqrt(0.045 / n)) }'
	t_run "PHP $version: nearly all stacks have their frames" \
		awk -v v="$(value spinning)" 'BEGIN { exit !(v >= 90) }'

	# a line that runs twice as long as the next one, and what they are written in
	cat >lines.php <<'END2'
<?php
function both() {
	for ($i = 0; $i < 2000000; $i++) { $a = ($i * 3) & 255; }
	for ($i = 0; $i < 1000000; $i++) { $a = ($i * 3) & 255; }
}
$end = getrusage()['ru_utime.tv_sec'] + 3;
while (getrusage()['ru_utime.tv_sec'] < $end) { both(); }
json_decode(json_encode(range(1, 3000000)));
echo getenv('LD_PRELOAD') ?: 'none', "\n";
END2
	lines_said=$("$TALLY" record -o l.tally "$php" lines.php 2>&1)
	t_like "PHP $version: timers are chosen, and that is said" "$lines_said" \
		'a PHP program: .*timers in the program'
	t_like "PHP $version: the program sees nothing" "$lines_said" '^none'
	"$TALLY" report --no-pager --format=csv --percent-limit 0 -s symbol,line \
		--children l.tally | tr -d '\r' | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["symbol"] == "both" { n[$c["line"]] = $c["total_samples"] }
		END { exit !(n[3] > 1.4 * n[4] && n[3] < 2.8 * n[4]) }'
	t_is "PHP $version: lines have the time that they take" $? 0
	t_like "PHP $version: functions in C have names" \
		"$("$TALLY" report --no-pager --format=csv --percent-limit 0 -s image,symbol \
		--children l.tally)" '\[php\],json_decode'
	t_like "PHP $version: annotate shows its source" \
		"$("$TALLY" annotate --no-pager l.tally both)" '2000000; .i\+\+'
	# The same with another number of the module API, as of another version.
	python3 - "$(readlink -f "$(command -v "$php")")" other-php <<'END2'
import os, struct, sys
api = [struct.pack('<I', n) for n in (20220829, 20240924)]
data = open(sys.argv[1], 'rb').read()
for old in api:
    data = data.replace(b'\xa8\0\0\0' + old, b'\xa8\0\0\0' + b'\x01\0\x34\x01')
with open(sys.argv[2], 'wb') as f:
    f.write(data)
os.chmod(sys.argv[2], 0o755)
END2
	said=$("$TALLY" record -o o.tally ./other-php -n -r \
		'for ($i = 0; $i < 30000000; $i++) { $a = ($i * 3) & 255; }' 2>&1)
	t_like "PHP $version: another version has no frames, and that is said" \
		"$said" 'no sample has PHP functions: tally reads PHP 8.2 and 8.4'
	t_lacks "PHP $version: … only then" "$lines_said" 'no sample has PHP'
done
[ "$tried" ] || t_skip "frames of PHP" "no PHP 8.2 or 8.4 here"
t_done
