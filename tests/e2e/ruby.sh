#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of Ruby: methods, files and lines against what the program itself says of them
# (ruby_scenes.rb).
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

e2e=$top_srcdir/tests/e2e
case $(ruby -e 'print RUBY_ENGINE, RUBY_VERSION' 2>/dev/null) in
ruby3.1.*) ;;
*) t_skip "frames of Ruby" "no Ruby 3.1 here"; t_done; exit;;
esac
mkdir -p made
t_run "records" timeout 120 "$TALLY" record --source=timer -g -o s.tally \
	ruby "$e2e/ruby_scenes.rb" 6 truth.json "$PWD/made"
"$TALLY" export --format=firefox -i s.tally -o s.json
got=$(python3 "$e2e/python_check.py" s.json truth.json)
echo "$got" | sed 's/^/# /'
value() { echo "$got" | awk -v n="$1" '$1 == n { print $2 }'; }
t_is "all that spin are seen" "$(value unseen)" none
t_run "99 % of samples have the right chain and lines" \
	awk -v v="$(value right)" 'BEGIN { exit !(v >= 99) }'
t_run "98 % are in the line of the loop" \
	awk -v v="$(value loop-line)" 'BEGIN { exit !(v >= 98) }'
t_run "shares of time are the program's own" \
	awk -v v="$(value off)" -v n="$(value samples)" 'BEGIN {
		exit !(v != "" && v <= 1 + 420 * sqrt(0.045 / n)) }'
t_run "nearly all stacks have their frames" \
	awk -v v="$(value spinning)" 'BEGIN { exit !(v >= 90) }'

# a line that runs twice as long as the next one
cat >lines.rb <<'END2'
def both
  i = s = 0
  while i < 2_000_000 do s = (i * 3) & 255; i += 1 end
  while i < 3_000_000 do s = (i * 3) & 255; i += 1 end
end
finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 3
both while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
puts ENV['LD_PRELOAD'] || 'none'
END2
said=$("$TALLY" record -o l.tally ruby lines.rb 2>&1)
t_like "timers are chosen, and that is said" "$said" \
	'a Ruby program: .*timers in the program'
t_like "the program sees nothing" "$said" '^none'
"$TALLY" report --no-pager --format=csv --percent-limit 0 -s image,symbol,line \
	--children l.tally | tr -d '\r' | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["symbol"] == "both" && $c["image"] == "[ruby]" {
		n[$c["line"]] = $c["total_samples"] }
	END { exit !(n[3] > 1.4 * n[4] && n[3] < 2.8 * n[4]) }'
t_is "lines have the time that they take" $? 0
t_like "annotate shows its source" \
	"$("$TALLY" annotate --no-pager l.tally both)" '2_000_000 do s'
t_done
