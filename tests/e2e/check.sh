# SPDX-License-Identifier: GPL-2.0-or-later
# `tally check` on synthetic recordings, so that nothing depends on time.
# shellcheck disable=SC1091,SC2086
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
TMPDIR=$T_TMP
export TMPDIR
make="$top_builddir/tests/check/make_recording"
python=
for p in /usr/bin/python3 python3; do
	command -v "$p" >/dev/null && python=$p && break
done
. "$top_srcdir/tests/made_runs.sh"

side a 1 6
side same 2 6
side slow 3 6 'n["lex"] *= 1.25;'

# --- verdicts and exit statuses
"$TALLY" check --baseline a-*.tally --new same-*.tally >out 2>&1
t_is "equal code passes" $? 0
t_like "... says so first" "$(head -n 1 out)" '^pass: no regression \(would have detected \+[0-9.]+% in the total, '
"$TALLY" check --baseline a-*.tally --new slow-*.tally >out 2>&1
t_is "a slower function fails the check" $? 1
t_like "... and is named first" "$(head -n 1 out)" '^regressed: lex \+2[0-9.]+%, total \+[0-9.]+%$'
t_like "... with its place" "$(cat out)" 'at /src/lex\.c:1'
t_like "... its lines" "$(cat out)" 'lines that gained: .*lex\.c:1[02] \+[0-9.]+ ms'
t_like "... instructions" "$(cat out)" 'instructions that gained: .*lex\+0x(28|30) \+[0-9.]+ ms'
for f in 'a ' 'slow n["lex"] *= 1.25;'; do
	echo "cxx-${f%% *}.tally 7 1700000000000000000" | describe "${f#* }" |
		sed 's, lex , _ZN2ns3lexESt6vectorIiSaIiEE ,' >spec && "$make" <spec
done
"$TALLY" check --baseline cxx-a.tally --new cxx-slow.tally >out2 2>&1
t_like "... of a C++ function, by its readable name" "$(cat out2)" \
	'instructions that gained: .*ns::lex\(…\)\+0x(28|30) .*ms'
t_like "... and callers" "$(cat out)" 'callers that gained: main \+'
t_like "... the milliseconds of a run" "$(cat out)" '\+2[0-9]\.[0-9]+% .* \+[56][0-9]\.[0-9]+ ms .* lex \(app\)'
if [ "$python" ]; then
	"$TALLY" check --warn-only --format none --json agree.check.json \
		--baseline a-*.tally --new slow-*.tally
	"$TALLY" diff --format json --baseline a-*.tally --new slow-*.tally \
		>agree.diff.json
	t_run "diff sees the same costs, noise and changes" "$python" - <<'END'
import json, math
rows = {r['symbol']: r for r in json.load(open('agree.diff.json'))['rows']}
seen = 0
for check in json.load(open('agree.check.json'))['rows']:
    row = rows.get(check['function'])
    if not row or not check.get('ratio'):
        continue
    diff = row['self']
    old, new = diff['old']['cost'], diff['new']['cost']
    assert math.isclose(old, check['base'], rel_tol=1e-6), (check, row)
    assert (check['status'] == 'regressed') == (row['status'] == 'grew'), (check, row)
    if check['method'] != 'absolute' or check['paired']:
        continue
    assert math.isclose(new, check['new'], rel_tol=1e-6), (check, row)
    # one is the interval of a ratio, the other that of a difference
    ratio = math.log(check['high'] / check['low']) / 2
    wide = (diff['high'] - diff['low']) / 2
    assert math.isclose(wide, ratio * math.hypot(old, new) / math.sqrt(2),
                        rel_tol=0.05), (check, row)
    seen += 1
assert seen >= 5, seen
END
fi
# Four samples in each run, and five: the cost may be nearly the same.
for i in 1 2 3 4 5; do
	for n in 4 5 500 505; do
		echo "env cpu Fast
env kernel 6.1
event cpu-clock 4999 200040 ns
run 17000$n${i}000000000 0
hit $n /usr/bin/app main /src/main.c 10 _start" >spec && "$make" whole$n-$i.tally <spec
	done
done
"$TALLY" check --baseline whole4-*.tally --new whole5-*.tally >out 2>&1
t_is "equal runs of few samples do not show less than a sample" $? 3
t_like "... and say so" "$(grep '^total' out)" \
	'^total \+25\.0% .*95%: -.* would have detected \+[3-9][0-9]'
"$TALLY" check --total-threshold 0.5% --threshold 0.5% --margin 0.1% \
	--baseline whole500-*.tally --new whole505-*.tally >out2 2>&1
t_like "... which is no matter where there are many" "$(grep '^total' out2)" \
	'^total \+1\.0% '
"$TALLY" check --warn-only --baseline a-*.tally --new slow-*.tally >out 2>&1
t_is "--warn-only exits with 0" $? 0
t_like "... but says it" "$(head -n 1 out)" '^regressed: lex'
"$TALLY" check --baseline slow-*.tally --new a-*.tally >out 2>&1
t_is "an improvement passes" $? 0
t_like "... and is listed" "$(cat out)" '^improved$'
t_like "... by the probability of that" "$(sed -n '/^improved/,$p' out)" '^ *-[0-9.]+% .* <0\.0001 .* lex '
"$TALLY" check --require-mde 200% --baseline a-*.tally --new same-*.tally >/dev/null
t_is "--require-mde that is met: 0" $? 0
"$TALLY" check --require-mde off --baseline a-1.tally --new same-1.tally >/dev/null
t_is "--require-mde off: a check that sees little passes" $? 0
"$TALLY" check --require-mde 1% --baseline a-*.tally --new same-*.tally >out
t_is "--require-mde that is not: 3" $? 3
t_like "... inconclusive" "$(head -n 1 out)" '^inconclusive: a slowdown of 1% of a run could have gone undetected \(minimum detectable effect: [0-9.]+% of a run, in .*\(required: 1%\); no number of runs'
side quick 48 2
side long 49 2 'n["lex"] *= 9;'
"$TALLY" check --baseline quick-1.tally long-1.tally --new long-2.tally quick-2.tally >out
t_like "what two runs cannot tell is no percentage" "$? $(head -n 1 out)" \
	'^3 inconclusive: .*effect: more than 1000% of a run'
side few 50 6 'for (x in n) n[x] /= 60;'
side fewer 51 6 'for (x in n) n[x] /= 60;'
"$TALLY" check --json blind.json --junit blind.xml --sarif blind.sarif --github --baseline few-*.tally \
	--new fewer-*.tally >out
t_is "what sees nothing does not pass: 3" $? 3
t_like "... and says how many runs would" "$(head -n 1 out)" \
	'^inconclusive: a slowdown of 10% of a run .* about [0-9]+ runs per side would detect it\)$'
t_like "... to GitHub" "$(cat out)" '^::warning title=tally check::inconclusive'
t_like "... to JUnit" "$(cat blind.xml)" '<skipped message="inconclusive: '
t_like "... in JSON" "$(cat blind.json)" '"runs_needed": ?[0-9]+'
"$TALLY" check --warn-only --baseline few-*.tally --new fewer-*.tally >out
t_is "... --warn-only exits with 0" $? 0
"$TALLY" check --require-mde 1% --baseline a-*.tally --new slow-*.tally >out
t_is "a regression is one, whatever could not be seen" $? 1
"$TALLY" check --baseline a-1.tally --new slow-1.tally >out
t_like "one run a side has its caveat" "$(cat out)" 'noise is assumed \(2%\), not measured'
"$TALLY" check --threshold 40% --total-threshold off --baseline a-*.tally --new slow-*.tally >out
t_is "--threshold and --total-threshold" $? 0
"$TALLY" check --by line --baseline a-*.tally --new slow-*.tally >out
t_is "--by line" $? 1
t_like "... names the line" "$(head -n 1 out)" 'lex lex\.c:1[02] \+'
"$TALLY" check --inclusive --baseline a-*.tally --new slow-*.tally >out
t_like "--inclusive shows the caller" "$(sed -n '/including callees/,$p' out)" 'main \(app\)'

# --- which functions changed, where most of the cost did
parts='split("3000 2500 2000 600 500 400 300", c, " "); for (i = 1; i <= 7; i++) n[f[i]] = c[i];'
side p 1 10 "$parts"
side hot 3 10 "$parts"' for (i = 1; i <= 3; i++) n[f[i]] *= 0.9;'
"$TALLY" check --baseline p-*.tally --new hot-*.tally >out
t_is "faster hot functions do not make others slower" $? 0
t_lacks "... in words, too" "$(sed -n '/^improved/,/^$/p' out)" 'hash|copy|sort|look'
side triple 5003 10 "$parts"' for (i = 1; i <= 3; i++) n[f[i]] *= 3;'
"$TALLY" check --baseline p-*.tally --new triple-*.tally >out
t_like "three functions that cost three times as much are no slower machine" \
	"$? $(head -n 1 out)" '^1 regressed: parse \+[0-9.]+% .*lex \+.*emit \+.*total \+'
t_lacks "... and others are not faster" "$(cat out)" '^improved'
side slower 5003 10 "$parts"' for (x in n) n[x] *= 1.6;'
"$TALLY" check --baseline p-*.tally --new slower-*.tally >out
t_like "everything +60% on another day does not pass" "$? $(head -n 1 out)" \
	'^3 inconclusive: the total changed by \+[56][0-9.]+%, and all larger functions alike'
"$TALLY" check --require-mde off --baseline p-*.tally --new slower-*.tally >out
t_is "... unless nothing may be inconclusive" $? 0
half='for (q in n) n[q] = 0; for (i = 0; i < 120; i++)
	extra = extra "hit " noise(300 * (MORE && i % 2 ? 1.4 : 1)) " /usr/bin/app fn" i " /src/m.c " 10 + i " main\n";'
side evens 1 6 "$half"
side odds 3 6 "MORE = 1; $half"
"$TALLY" check --top 100 --baseline evens-*.tally --new odds-*.tally >out
t_is "half of the functions cost +40%: those regressed" \
	"$(sed -n '/^regressed$/,/^$/p' out | grep -c ' fn[0-9]*[13579] ')/$(grep -c '^ .* fn[0-9]*[02468] .*' out)/$(
		sed -n '/^improved/,/^$/p' out | grep -c ' fn')" "60/60/0"
big='split("8000 300 300 300 60 60 60", c, " "); for (i = 1; i <= 7; i++) n[f[i]] = c[i];'
side big 1 8 "$big"
side slowly 5003 8 "$big for (x in n) n[x] *= 1.05;"
"$TALLY" check --baseline big-*.tally --new slowly-*.tally >out
t_is "a machine that is 5% slower later accuses no large function" $? 0
only='for (q in n) n[q] = 0; extra = "hit " noise(C) " /usr/bin/app only /src/o.c 3 main";'
side only 1 8 "C = 5000; $only"
side once 5003 8 "C = 5300; $only"
"$TALLY" check --baseline only-*.tally --new once-*.tally >out
t_is "... nor the only function: that is inconclusive" $? 3
t_like "... and more runs do not help" "$(head -n 1 out)" 'no number of runs would detect it'

# --- many runs against few
side many 1 30 'extra = "hit 3 /usr/bin/app cache /src/cache.c 40 main";'
side two 5002 2 'extra = "hit 240 /usr/bin/app cache /src/cache.c 40 main\nhit 320 /usr/bin/app audit /src/audit.c 40 main";'
"$TALLY" check --baseline many-*.tally --new two-*.tally >out
t_like "few new runs: a function that exploded and a new one" "$? $(head -n 1 out)" \
	'^1 regressed: audit new .*cache x[78][0-9]\.'
side alone 5003 1 'extra = "hit 2000 /usr/bin/app rare /src/r.c 3 main";'
"$TALLY" check --baseline a-1.tally --new alone-1.tally >out
t_like "one run a side: a new function of a third" "$? $(head -n 1 out)" '^1 regressed: rare new'

# --- small functions: the kernel's are not summed, nor what one was split into
kernels() { # SAMPLES
	for f in finish_task_switch clear_page_erms handle_mm_fault do_user_addr_fault \
			rcu_sched_clock_irq try_to_wake_up enqueue_entity; do
		printf 'hit %s [kernel] %s - 0\\n' "$1" $f
	done
}
seven='for (i = 5; i <= 7; i++) n[f[i]] = 700;'
side quiet 1 6 "$seven extra = \"$(kernels 12)\";"
side faults 5003 6 "$seven extra = \"$(kernels 26)\";"
"$TALLY" check --baseline quiet-*.tally --new faults-*.tally >out
t_is "small kernel functions do not fail in their sum" $? 0
small='hit 15 /usr/bin/app s1 /src/s1.c 3 main\nhit 15 /usr/bin/app s2 /src/s2.c 3 main\nhit 14 /usr/bin/app s3 /src/s3.c 3 main\n'
side whole 1 6 "extra = \"${small}hit 100 /usr/bin/app dispatch /src/d.c 3 main\";"
five=$(for i in 1 2 3 4 5; do printf 'hit 20 /usr/bin/app d%s /src/d.c %s3 main\\n' $i $i; done)
side split 3 6 "extra = \"$small$five\";"
"$TALLY" check --baseline whole-*.tally --new split-*.tally >out
t_is "a function split into small ones does not fail" $? 0
side page 1 6 'extra = "hit 100 [kernel] clear_page_erms - 0";'
side pages 3 6 'extra = "hit 500 [kernel] clear_page_erms - 0";'
"$TALLY" check --baseline page-*.tally --new pages-*.tally >out
t_is "page faults alone do not make the total fail" $? 0
"$TALLY" check --gate-kernel --baseline page-*.tally --new pages-*.tally >out
t_is "... but do with --gate-kernel" $? 1

# --- how runs ended
side works 1 6
side dies 7 6 'for (x in n) n[x] = 0; status = 256;'
"$TALLY" check --baseline works-*.tally --new dies-*.tally >out 2>&1
t_like "runs that end before their first sample are broken" "$? $(head -n 1 out)" \
	'^4 broken: 6 of 6 new runs ended with exit status 1,'
side idles 7 6 'for (x in n) n[x] = 0;'
"$TALLY" check --baseline works-*.tally --new idles-*.tally >out 2>&1
t_like "... also with status 0" "$? $(head -n 1 out)" '^4 broken: 6 of 6 new runs have no samples$'
"$TALLY" check --any-outcome --baseline works-*.tally --new idles-*.tally >out 2>&1
t_is "... and incomparable with --any-outcome" $? 2
side nocore 1 4 'status = 11;'
side core 3 4 'status = 139;'
"$TALLY" check --baseline nocore-*.tally --new core-*.tally >out
t_is "whether a core was dumped does not matter" $? 0
side ends 3 3 'status = $1 ~ /-1/ ? 256 : $1 ~ /-2/ ? 11 : 768;'
"$TALLY" check --baseline works-*.tally --new ends-*.tally >out
t_like "all ways in which runs ended are said" "$(head -n 1 out)" \
	'3 of 3 new runs ended with exit status 1 or signal 11 or exit status 3,'
side wrote 1 5 'written = 5000;'
side writes 3 5 'written = $1 ~ /-5/ ? 9000 : 1000;'
"$TALLY" check --baseline wrote-*.tally --new writes-*.tally >out
t_like "what most runs wrote is said" "$(head -n 1 out)" 'wrote 1000 bytes per run, the baseline 5000'
"$TALLY" check --by line --baseline works-*.tally --new pages-*.tally >out
t_like "source files are counted once" "$(cat out)" '^note: lines of 8 source files are matched by number'

# --- usage and refusals
refuses() { # NAME ERE ARGS…
	t_name=$1; t_ere=$2; shift 2
	"$TALLY" check "$@" >out 2>err
	t_is "$t_name: exit status 2" $? 2
	t_like "... $t_name" "$(cat err)" "$t_ere"
}
refuses "no files" 'nothing to compare' --baseline a-1.tally
refuses "a word on no side" "which side is 'x'" x
refuses "files and commands" 'either files' --baseline a-1.tally --new same-1.tally --run true
refuses "a missing file" 'no\.tally' --baseline no.tally --new a-1.tally
refuses "no recording" 'spec' --baseline spec --new a-1.tally
refuses "one file on both sides" 'both sides' --baseline a-1.tally --new a-1.tally
refuses "a file twice" 'twice' --baseline a-1.tally a-1.tally --new same-1.tally
refuses "a bad percentage" 'threshold x.*percentage' --threshold x --baseline a-1.tally --new same-1.tally
refuses "a bad alpha" 'alpha 1' --alpha 1 --baseline a-1.tally --new same-1.tally
refuses "an event that is not there" 'has no event "cycles"' -e cycles --baseline a-1.tally --new same-1.tally
refuses "a bad --by" 'function or line' --by file --baseline a-1.tally --new same-1.tally
record other.tally 77 1700000000000000000 'event = "page-faults 0 1 count";'
refuses "other events" 'different events cannot be compared' --baseline a-1.tally --new other.tally
record lost.tally 78 1700000000000000000 'extra = "lost 500";'
refuses "lost samples" '8\.[0-9]% of its samples were lost' --baseline a-1.tally --new lost.tally
record cut.tally 79 1700000000000000000 'extra = "cut";'
refuses "a recording that was cut" 'incomplete' --baseline a-1.tally --new cut.tally
head -c 300 a-1.tally >short.tally
refuses "a damaged recording" 'short\.tally' --baseline a-1.tally --new short.tally

# --- what cannot be compared in full is said
side far 4 6 'cpu = "Slow"; for (x in n) n[x] *= 1.3;'
"$TALLY" check --baseline a-*.tally --new far-*.tally >out
t_is "a slower machine accuses nobody" $? 0
t_like "... and is named" "$(cat out)" 'machines differ \(processor: Fast, Slow\)'
t_like "... the total is information" "$(cat out)" 'slower, which does not fail the check'
side half 5 6 'event = "cpu-clock 2500 400080 ns"; for (x in n) n[x] /= 2;'
"$TALLY" check --baseline a-*.tally --new half-*.tally >out
t_is "half the rate is scaled" $? 0
t_like "... and said" "$(cat out)" 'sampling rates differ'
side crash 6 6 'status = 256;'
"$TALLY" check --baseline a-*.tally --new crash-*.tally >out
t_is "a program that fails now is no improvement" $? 4
t_like "... it is broken" "$(head -n 1 out)" \
	'^broken: 6 of 6 new runs ended with exit status 1, unlike all baseline runs'
t_like "runs that failed are noted" "$(cat out)" '6 runs failed and may have done less work'
t_is "--any-outcome compares them" "$("$TALLY" check --any-outcome \
	--baseline a-*.tally --new crash-*.tally >out; echo $?)" 0
"$TALLY" check --github --junit broken.xml --json broken.json --sarif broken.sarif \
	--code-quality broken.issues --baseline a-*.tally \
	--new crash-*.tally >out
t_like "... GitHub shows it" "$(cat out)" '^::error title=the new side is broken::6 of 6'
t_like "... JUnit has an error" "$(cat broken.xml)" '<error type="broken" message="6 of 6'
side failing 40 6 'status = 256;'
"$TALLY" check --baseline failing-*.tally --new crash-*.tally >out
t_is "a program that always fails is compared" $? 0
side out 42 6 'written = 5000;'
side out2 43 6 'written = 5000 + 5 * (int(start / 1e10) % 10);'
"$TALLY" check --baseline out-*.tally --new out2-*.tally >out
t_is "a few more bytes of output are no failure" $? 0
side silent 44 6 'written = 4000;'
"$TALLY" check --baseline out2-*.tally --new silent-*.tally >out
t_is "a fifth less output is one" $? 4
t_like "... and is said" "$(head -n 1 out)" \
	'^broken: the new side wrote 4000 bytes per run, the baseline 50[0-9]+ \(--any-outcome compares them\)'
"$TALLY" check --any-outcome --baseline out2-*.tally --new silent-*.tally >out
t_is "... --any-outcome compares it" $? 0
side varied 45 6 'written = 3000 + 400 * (int(start / 1e10) % 10);'
"$TALLY" check --baseline varied-*.tally --new out-*.tally >out
t_is "output within the spread of the baseline's is none" $? 0
"$TALLY" check --baseline a-*.tally --new silent-*.tally >out
t_is "unknown output is not compared" $? 0
side idle 41 6 'for (x in n) n[x] *= 0.03;'
"$TALLY" check --baseline a-*.tally --new idle-*.tally >out
t_is "far less work is no improvement" $? 4
t_like "... and is said" "$(head -n 1 out)" \
	"^broken: the new side did [23](\\.[0-9])?% of the baseline's work"

# --- moved, new, gone, renamed
side moved 7 6 'n["parse"] *= 0.7; extra = "hit 750 /usr/bin/app parse_tail /src/parse.c 40 main";'
"$TALLY" check --baseline a-*.tally --new moved-*.tally >out
t_is "code moved to a helper of the same file passes" $? 0
t_like "... and is reported" "$(cat out)" 'moved from parse'
side added 8 6 'extra = "hit 750 /usr/bin/app audit /src/audit.c 40 main";'
"$TALLY" check --baseline a-*.tally --new added-*.tally >out
t_is "a costly new function fails the check" $? 1
t_like "... and is named" "$(head -n 1 out)" '^regressed: audit new'
"$TALLY" check --baseline added-*.tally --new a-*.tally >out
t_is "a function that is gone passes" $? 0
t_like "... and is listed" "$(cat out)" '^gone$'
side both 9 6 'n["parse"] *= 0.7; n["hash"] *= 1.4; extra = "hit 750 /usr/bin/app parse_tail /src/parse.c 40 main";'
"$TALLY" check --baseline a-*.tally --new both-*.tally >out
t_is "a regression beside moved code stays one" $? 1
t_like "... and is the one named" "$(head -n 1 out)" '^regressed: hash'
# What another function of the file lost excuses none that was there before: its code
# would have to be in it now.
pair() {
	printf '%s\n' 'extra = "hit '"$1"' /usr/bin/app fell /src/pair.c 40 main\nhit '"$2"' /usr/bin/app rose /src/pair.c 90 main";'
}
side even 34 6 "$(pair 1000 700)"
side odd 35 6 "$(pair 700 1000)"
"$TALLY" check --baseline even-*.tally --new odd-*.tally >out
t_is "a function that was there before is not excused by another's gain" $? 1
t_like "... and is named" "$(head -n 1 out)" '^regressed: rose \+4'
# The kernel's housekeeping is shown; what it does for the program fails the check.
kernel() { echo 'extra = "hit '"$1"' [kernel] '"$2"' - 0";'; }
side calm 36 6 "$(kernel 400 finish_task_switch.isra.0)"
side busy 37 6 "$(kernel 900 finish_task_switch.isra.0)"
side later 5036 6 "$(kernel 900 finish_task_switch.isra.0)"
"$TALLY" check --total-threshold off --baseline calm-*.tally --new busy-*.tally >out
t_is "the kernel's scheduling fails no check" $? 0
t_like "... and is shown" "$(cat out)" '^ *\+1[0-9]{2}.*finish_task_switch'
t_like "... with the reason" "$(cat out)" \
	"^note: 1 of the suspects is kernel overhead .* without --gate-kernel"
"$TALLY" check --total-threshold off --gate-kernel --baseline calm-*.tally \
	--new busy-*.tally >out
t_is "--gate-kernel: it does when sides ran in turns" $? 1
"$TALLY" check --total-threshold off --gate-kernel --baseline calm-*.tally \
	--new later-*.tally >out
t_is "... and only then" $? 0
side reads 38 6 "$(kernel 400 vfs_read)"
side more 5039 6 "$(kernel 900 vfs_read)"
"$TALLY" check --total-threshold off --baseline reads-*.tally --new more-*.tally >out
t_is "what the kernel does for the program fails it" $? 1
t_like "... by its name" "$(head -n 1 out)" '^regressed: \[k\] vfs_read '
# chance makes what moved a little dearer, too: 2,250 samples to 2,400
side here 31 3 'extra = "hit 750 /usr/bin/app audit /src/audit.c 40 main";'
side there 32 3 'extra = "hit 800 /usr/bin/app verify /src/audit.c 40 main";'
"$TALLY" check --require-mde off --baseline here-*.tally --new there-*.tally >out
t_is "moved code costs more when that is sure" $? 0
t_like "... and is reported" "$(cat out)" 'moved from audit'
side dear 33 3 'extra = "hit 1100 /usr/bin/app verify /src/audit.c 40 main";'
"$TALLY" check --baseline here-*.tally --new dear-*.tally >out
t_like "... as it is for half as much again" "$(head -n 1 out)" \
	'^regressed: verify new'
# Where the slower one is most of what both sides ran, its cost says nothing of the
# machine: 1600 samples less are not 2300 more.
few='n["emit"] = n["hash"] = n["copy"] = n["sort"] = n["look"] = 8;'
side left 21 8 "$few"' n["parse"] = 1700; n["lex"] = 1050; extra = "hit 1600 /usr/bin/app before /src/parse.c 40 main";'
side tripled 22 8 "$few"' n["parse"] = 5000; n["lex"] = 1100; extra = "hit 1100 /usr/bin/app after /src/parse.c 40 main\nhit 1200 /usr/bin/app fresh /src/parse.c 90 main";'
"$TALLY" check --baseline left-*.tally --new tripled-*.tally >out
t_like "what moved costs as much in a run" "$(head -n 1 out)" \
	'^regressed: parse \+1[89].*(after|fresh) new'
side named 10 6 'image = "/home/me/app-new";'
"$TALLY" check --baseline a-*.tally --new named-*.tally >out
t_is "another file name is the same program" $? 0
side clone 11 6 'f[2] = "lex.constprop.0"; n["lex.constprop.0"] = 1250;'
"$TALLY" check --baseline a-*.tally --new clone-*.tally >out
t_is "a clone is its function" $? 0

# --- known changes
cat >allow <<'END'
# reviewed
lex +40% -- checks more since 2.3
[total] -- the same
END
"$TALLY" check --allow allow --baseline a-*.tally --new slow-*.tally >out
t_is "--allow" $? 0
t_like "... shows the reason" "$(cat out)" 'allowed: checks more since 2\.3'
t_like "... and says first that it is slower" "$(head -n 1 out)" \
	'^pass: lex \+2[0-9.]+%, total \+[0-9.]+% allowed, no other regression '
printf 'lex -- known\033[31m\n[total] -- red\033[31m\n' >allow
"$TALLY" check --allow allow --baseline a-*.tally --new slow-*.tally >out
t_like "--allow's reason for the total is safe" "$(cat out)" '^total .*: allowed: red\\x1b\[31m$'
t_lacks "... and those of functions" "$(cat out)" "$(printf '\033')"
printf 'l?x +5%% -- a little\n[total] -- known\n' >allow
"$TALLY" check --allow allow --baseline a-*.tally --new slow-*.tally >out
t_is "--allow up to a limit" $? 1
echo 'lex' >allow
refuses "--allow without reason" 'allow:1: has no reason' --allow allow --baseline a-1.tally --new same-1.tally
head -c 4096 /dev/zero >allow
refuses "--allow of no text" 'not a text file' --allow allow --baseline a-1.tally --new same-1.tally
refuses "--allow that is not there" 'nope' --allow nope --baseline a-1.tally --new same-1.tally

# --- runs of one file are runs; the order of files does not matter
for s in a slow; do
	n=1
	: >many
	for i in 1 2 3 4 5; do
		record one.tally $((i * 1000 + n)) "$((1800000000 + i * 10))000000000" \
			"$([ $s = slow ] && echo 'n["lex"] *= 1.25;')"
		if [ $i = 1 ]; then cat spec; else grep -E '^(run|hit)' spec; fi >>many
	done
	"$make" many-$s.tally <many
done
"$TALLY" check --baseline many-a.tally --new many-slow.tally >out
t_is "runs of one file" $? 1
t_like "... count each" "$(cat out)" '^5 baseline runs .*, 5 new runs'
"$TALLY" check --format none --json one.json --baseline a-1.tally a-2.tally a-3.tally --new slow-3.tally slow-2.tally slow-1.tally
"$TALLY" check --format none --json two.json --baseline a-3.tally a-1.tally a-2.tally --new slow-1.tally slow-3.tally slow-2.tally
t_same "equal bytes whatever the order" one.json two.json

# --- outputs for programs
"$TALLY" check --json all.json --junit all.xml --markdown all.md \
	--sarif all.sarif --code-quality all.issues --openmetrics all.txt --github --repo / --inclusive \
	--baseline a-*.tally --new slow-*.tally >out
t_is "all outputs at once" $? 1
t_like "GitHub's annotation" "$(cat out)" '^::error file=src/lex\.c,line=1,title=lex is slower::lex \+2[0-9.]+%25 '
t_is "... after the verdict and the total" "$(sed -n 's/^\(::[^:]*\)::.*/\1/p' out | head -n 3)" \
	'::notice title=tally check
::error title=the total is slower
::error file=src/lex.c,line=1,title=lex is slower'
t_is "Markdown begins with a mark by which a comment is found" "$(head -n 1 all.md)" '<!-- tally check -->'
t_like "Markdown's table" "$(cat all.md)" '^\| ❌ \| \+2[0-9.]+% \|.*\| lex \(app\) \|$'
t_is "OpenMetrics ends as it must" "$(tail -n 1 all.txt)" "# EOF"
t_like "... and has the function's change" "$(cat all.txt)" '^tally_change_ratio\{image="app",function="lex"\} 1\.2'
cat >look.py <<'END'
import json, sys, xml.etree.ElementTree as E
what = sys.argv[1]
if what == "junit":
    suite = E.parse("all.xml").getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases), suite.attrib
    failed = [c.get("name") for c in cases if c.find("failure") is not None]
    assert int(suite.get("failures")) == len(failed)
    assert "lex" in failed and "parse" not in failed, failed
    lex = [c for c in cases if c.get("name") == "lex"][0]
    assert lex.get("file") == "/src/lex.c", lex.attrib
elif what == "issues":
    # SARIF 2.1.0, sections 3.13, 3.14 and 3.27, and what GitHub's code scanning wants
    d = json.load(open("all.sarif"))
    assert d["version"] == "2.1.0" and len(d["runs"]) == 1
    known = {r["id"] for r in d["runs"][0]["tool"]["driver"]["rules"]}
    results = d["runs"][0]["results"]
    lex = [r for r in results if r["message"]["text"].startswith("lex is slower")]
    assert len(lex) == 1 and lex[0]["level"] == "error", results
    place = lex[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/lex.c", place
    assert place["region"]["startLine"] == 1
    assert not any("parse" in r["message"]["text"] for r in results)
    for r in results:
        assert r["ruleId"] in known and len(r["locations"]) == 1
        assert list(r["partialFingerprints"].values())[0]
    # GitLab's documentation, "Code Quality report format"
    q = json.load(open("all.issues"))
    assert len(q) == len(results)
    for issue in q:
        assert issue["severity"] in ("major", "minor") and issue["description"]
        assert issue["check_name"] and issue["location"]["path"]
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({i["fingerprint"] for i in q}) == len(q)
    assert [i["location"]["path"] for i in q
            if i["description"].startswith("lex is")] == ["src/lex.c"]
    again = json.load(open("none.issues"))
    assert again == [], again
elif what == "json":
    d = json.load(open("all.json"))
    rows = {r["function"]: r for r in d["rows"]}
    assert d["schema"] == 1 and d["verdict"] == "regressed"
    assert rows["lex"]["fails"] and rows["lex"]["status"] == "regressed"
    assert rows["lex"]["low"] < 1.25 < rows["lex"]["high"], rows["lex"]
    assert rows["parse"]["status"] == "same"
    assert len(d["inputs"]) == 12 and d["noise"]["interleaved"]
    names = [(r.get("image", ""), r["linkage_name"]) for r in d["rows"] if "image" in r]
    assert names == sorted(names), names
elif what == "schema":
    import jsonschema
    schema = json.load(open(sys.argv[2]))
    for f in sys.argv[3:]:
        jsonschema.validate(json.load(open(f)), schema)
END
"$TALLY" check --format none --json single.json --baseline a-1.tally --new same-1.tally
"$TALLY" check --format none --json added.json --baseline a-*.tally --new added-*.tally
"$TALLY" check --format none --json moved.json --baseline a-*.tally --new moved-*.tally
if [ -n "$python" ]; then
	t_run "JUnit by an XML parser" "$python" look.py junit
	"$TALLY" check --format none --code-quality none.issues --baseline a-*.tally \
		--new same-*.tally
	t_run "SARIF's and GitLab's issues" "$python" look.py issues
	t_run "SARIF by its standard" "$python" "$top_srcdir/tests/e2e/issues_check.py" sarif \
		all.sarif broken.sarif blind.sarif
	t_run "Code Quality by its documentation" "$python" \
		"$top_srcdir/tests/e2e/issues_check.py" gitlab all.issues none.issues broken.issues
	t_run "JSON's values" "$python" look.py json
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		t_run "JSON by its schema" "$python" look.py schema \
			"$top_srcdir/doc/tally-check.schema.json" all.json \
			single.json added.json moved.json broken.json blind.json
	else
		t_skip "JSON by its schema" "needs python3-jsonschema"
	fi
else
	t_skip "JUnit, JSON" "need python3"
fi

# --- recording both sides (any machine that may sample at all)
if "$TALLY" record -q -o try.tally -- true 2>/dev/null; then
	work='i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo shout'
	"$TALLY" check -n 2 --run "$work" --against "$work" --keep kept --json made.json >out 2>err
	t_like "--run and --against: a verdict" "$?/$(head -n 1 out)" '^[013]/(pass|regressed|inconclusive): '
	t_lacks "... without the commands' output" "$(cat out)" shout
	t_is "... recordings kept" "$(echo kept/*)" "kept/baseline-01.tally kept/baseline-02.tally kept/new-01.tally kept/new-02.tally"
	t_like "... in turns" "$(cat out)" '2 baseline runs .* 2 new runs .*, interleaved'
	# eight times as much of all is clear long before the last run
	much="$work; $work; $work; $work; $work; $work; $work; $work"
	"$TALLY" check --any-outcome --run "$much" --against "$work" --keep early \
		--json early.json >out 2>err
	t_is "something clear" $? 1
	t_lacks "... ends the recording" "$(echo early/*)" 'new-16'
	t_like "... and says so" "$(cat out)" '^note: [0-9]+ of at most 16 runs on each side: the verdict is certain; each interim analysis uses alpha 0\.000'
	t_like "... in JSON" "$(cat early.json)" '"runs_most": ?16'
	"$TALLY" check --any-outcome --early -n 20 --run "$much" --against "$work" >out 2>err
	t_like "--early -n 20 may make 32" "$(cat out)" '^note: [0-9]+ of at most 32 runs'
	# no block fits into the time, but three are always made
	"$TALLY" check --budget 1ms --run "$work" --against "$work" --keep hasty >out 2>err
	t_is "--budget ends the recording" "$(echo hasty/*)" "hasty/baseline-01.tally hasty/baseline-02.tally hasty/baseline-03.tally hasty/new-01.tally hasty/new-02.tally hasty/new-03.tally"
	# a text of another length from the same work
	"$TALLY" check -n 2 --run "$work; echo and another line of output" --against "$work" >out 2>err
	t_is "another amount of output" $? 4
	t_like "... is broken" "$(head -n 1 out)" '^broken: the new side wrote 33 bytes per run, the baseline 6 \(--any-outcome'
	"$TALLY" check --calibrate -n 3 --run "$work" >out 2>err
	t_like "--calibrate" "$(head -n 1 out)" '^calibration: identical code .*% of 200 random permutations of the runs$'
	refuses "a baseline that fails" "'exit 3' failed with status 3" --run "$work" --against 'exit 3'
	"$TALLY" check -n 2 --run 'exit 3' --against "$work" --junit gone.xml >out 2>err
	t_is "a new side that fails is broken" $? 4
	t_like "... and is named" "$(head -n 1 out)" "^broken: ('exit 3' failed with status 3|2 of 2 new runs ended with exit status 3)"
	t_like "... in JUnit, too" "$(cat gone.xml)" '<error type="broken" message="'
	"$TALLY" check -n 2 --run "$work; kill -9 \$\$" --against "$work" >out 2>err
	t_is "a new side that crashes is broken" $? 4
	t_like "... by its signal" "$(head -n 1 out)" '^broken: 2 of 2 new runs ended with signal 9, unlike all baseline runs \(--any-outcome compares them\)'
	"$TALLY" record -o stored.tally sh -c "$work" >/dev/null 2>&1
	"$TALLY" history add --store stored --commit c1 stored.tally >/dev/null
	"$TALLY" check --history stored --commit c2 -n 2 --run "$work; kill -9 \$\$" >out 2>err
	t_like "... with a history, too" "$?$(head -n 1 out)" '^4broken: 2 of 2 new runs ended with signal 9'
	t_is "... leaves nothing behind" "$(find . -name 'tally-check.*' | wc -l)" 0
else
	t_skip "--run and --against" "no event may be opened here"
fi

# --- names of anyone
side evil 12 6 'extra = "hit 900 /usr/bin/a<b>&\"\\.so <script>alert(1)</script>::error\033[31m|`%0a /src/e:v,i%l.c 3 main";'
"$TALLY" check --json e.json --junit all.xml --markdown e.md --openmetrics e.txt --github \
	--baseline a-*.tally --new evil-*.tally >out
t_is "hostile names" $? 1
for f in out all.xml e.md e.txt e.json; do
	t_lacks "... no escape sequences in $f" "$(cat $f)" "$(printf '\033')"
done
t_lacks "... no markup in Markdown" "$(cat e.md)" '<script>'
side links 13 6 'extra = "hit 900 /usr/bin/app see:http://evil.example/a,www.evil.example/b,WWW.evil.example/c 3 main";'
"$TALLY" check --format none --markdown e.md --baseline a-*.tally --new links-*.tally
t_like "... the name of a function that is an address" "$(cat e.md)" 'evil\.example/a'
# GitHub Flavored Markdown 6.9, "Autolinks (extension)"
t_none "... is no link in Markdown" "$(grep -iE 'https?://|www\.' e.md)"
t_like "... escaped annotations" "$(cat out)" '^::error file=.*e%3Av%2Ci%25l\.c,line=1,title='
# Forges look for mentions after they decoded entities; a zero-width space ends one.
side mention 14 6 'extra = "hit 900 /usr/bin/app @octocat#12!3GH-4 /src/e.c 3 main";'
"$TALLY" check --format none --markdown e.md --baseline a-*.tally --new mention-*.tally
t_like "... a mention and references are none in Markdown" "$(cat e.md)" \
	'&#64;&#8203;octocat&#35;&#8203;12&#33;&#8203;3GH-&#8203;4 \(app'
long=$(printf '%0400d' 0 | tr 0 @)
side long 15 6 'for (i = 10; i < 70; i++) extra = extra "\nhit 900 /usr/bin/app '"$long"'" i " /src/e.c 3 main";'
"$TALLY" check --any-outcome --markdown e.md --baseline a-*.tally --new long-*.tally >out
t_ok "many long names: at most 60 kB of Markdown" "$([ "$(wc -c <e.md)" -le 60000 ]; echo $?)"
t_like "... that say what has no room" "$(cat e.md)" '^… and [0-9]+ more$'
t_is "... and end" "$(tail -n 1 e.md)" '</details>'
t_like "... cut in text, too" "$(cat out)" ' @{199}… \(app\)$'
if [ -n "$python" ]; then
	t_run "... XML and JSON that parse" "$python" -c '
import json, xml.etree.ElementTree as E
E.parse("all.xml"); json.load(open("e.json"))'
fi

# --- the recipes for continuous integration
cat >recipes.py <<'END'
import re, sys, yaml
text = open(sys.argv[1]).read()
blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
assert len(blocks) >= 3, len(blocks)
def commands(x):
    if isinstance(x, dict):
        for key, value in x.items():
            if key == "run":
                yield value
            elif key == "script":
                yield from value
            else:
                yield from commands(value)
    elif isinstance(x, list):
        for value in x:
            yield from commands(value)
for block in blocks:
    found = list(commands(yaml.safe_load(block)))
    assert found and all(isinstance(c, str) for c in found), found
    # a checkout of the last commit only has no history
    if any("--repo" in c for c in found):
        assert "fetch-depth: 0" in block or "GIT_DEPTH: 0" in block, block
    for c in found:
        if c.startswith("curl"):
            assert '--header "JOB-TOKEN: $CI_JOB_TOKEN" --output' in c, c
            assert c.strip().count("\n") == 0, c
END
yaml=
for p in "$python" python3; do
	"$p" -c 'import yaml' 2>/dev/null && yaml=$p && break
done
if [ -n "$yaml" ]; then
	t_run "the recipes are YAML" "$yaml" recipes.py "$top_srcdir/doc/check-in-ci.md"
else
	t_skip "the recipes are YAML" "needs python3-yaml"
fi

# --- commits that touched the culprit
if command -v git >/dev/null; then
	git init -q repo
	g() {
		git -C repo -c user.name=T -c user.email=t@example.org "$@"
	}
	mkdir repo/src
	for f in lex parse; do
		seq 1 20 | sed "s/^/$f /" >repo/src/$f.c
	done
	g add . && g commit -qm 'Begin'
	old=$(g rev-parse HEAD)
	sed -i '11s/.*/slower/' repo/src/lex.c && g commit -qam 'Lex with care'
	sed -i '11s/.*/other/' repo/src/parse.c && g commit -qam 'Parse anew'
	new=$(g rev-parse HEAD)
	side r 1 6 'extra = "env revision '"$old"'";'
	side rs 3 6 'n["lex"] *= 1.25; extra = "env revision '"$new"'";'
	"$TALLY" check --repo repo --baseline r-*.tally --new rs-*.tally >out
	t_is "--repo" $? 1
	t_like "... names the commit" "$(cat out)" 'commit [0-9a-f]+ Lex with care'
	t_lacks "... and no other" "$(cat out)" 'Parse anew'
	"$TALLY" check --repo repo --baseline a-*.tally --new slow-*.tally >out
	t_like "... or says why not" "$(cat out)" 'cannot list commits'

	# the reason is in another function: closest ones first, each with its commit
	mid=$(g rev-parse HEAD)
	printf '%s\n' '/* new */' 'unsigned mixed(const char *s)' '{' '	return *s;' '}' \
		>repo/src/keys.c
	printf '%s\n' 'int parse(int x)' '{' '	return x;' '}' >>repo/src/parse.c
	g add . && g commit -qm 'Hash *first* letters'
	printf '%s\n' 'int main(void)' '{' '	return lex(2);' '}' >repo/src/main.c
	printf '%s\n' 'int main(void)' '{' '	return lex(3);' '}' >repo/src/app.c
	echo 'static int limit = 4;' >>repo/src/lex.c
	g add . && g commit -qm 'Lex twice'
	elsewhere=$(g rev-parse HEAD)
	side rm 1 6 'extra = "env revision '"$mid"'";'
	side re 3 6 'n["lex"] *= 1.25; extra = "env revision '"$elsewhere"'";'
	"$TALLY" check --repo repo --baseline rm-*.tally --new re-*.tally --json e.json \
		--markdown e.md --junit e.xml >out
	t_is "--repo where no commit changed the slower lines" $? 1
	grep '^    changed' out | sed 's/commit [0-9a-f]* /commit /' >got
	cat >want <<-END
		    changed elsewhere: main (src/main.c:1), which calls it, commit Lex twice
		    changed elsewhere: limit (src/lex.c:21), in the same file, commit Lex twice
		    changed elsewhere: parse (src/parse.c:21), commit Hash *first* letters
		    changed elsewhere: main (src/app.c:1), commit Lex twice
		    changed elsewhere: mixed (src/keys.c:2), commit Hash *first* letters
	END
	t_same "... names what changed, callers first" want got
	t_like "... in Markdown" "$(cat e.md)" \
		'^\* changed elsewhere: mixed &#40;src/keys.c:2&#41;, commit [0-9a-f]+ Hash &#42;first'
	t_like "... in JUnit" "$(cat e.xml)" '^changed elsewhere: main .*calls it'
	t_like "... in JSON" "$(tr -d '\n ' <e.json)" \
		'"places_changed":5,"changed_elsewhere":\[\{"function":"main","file":"src/main.c","line":1,"change":"changed","relation":"caller"'
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		t_run "... by its schema" "$python" look.py schema \
			"$top_srcdir/doc/tally-check.schema.json" e.json
	fi
	side rt 5 6 'for (x in n) n[x] *= 1.2; extra = "env revision '"$elsewhere"'";'
	"$TALLY" check --repo repo --baseline rm-*.tally --new rt-*.tally >out
	t_like "... also where only the total is slower" "$? $(grep -A 1 '^total' out | tail -n 1)" \
		'^1     changed elsewhere: (main|mixed|parse) '
	# programs that a repository or the environment names
	cat >evil <<-END
		#!/bin/sh
		case "\$*" in
		*-bsau*) cat >/dev/null
			echo '[GNUPG:] SIG_CREATED ' >&2
			printf -- '-----BEGIN PGP SIGNATURE-----\n\nx\n'
			echo '-----END PGP SIGNATURE-----';;
		*) echo "\$*" >>$T_TMP/ran;;
		esac
	END
	chmod +x evil
	g config gpg.program "$T_TMP/evil"
	g commit -q --amend --no-edit -S
	new=$(g rev-parse HEAD)
	side rs 3 6 'n["lex"] *= 1.25; extra = "env revision '"$new"'";'
	g config log.showSignature true
	g config core.fsmonitor "$T_TMP/evil"
	g config core.pager "$T_TMP/evil"
	g config diff.c.textconv "$T_TMP/evil"
	g config diff.external "$T_TMP/evil"
	echo '*.c diff=c' >repo/.git/info/attributes
	g log -1 -p >/dev/null 2>&1
	t_ok "a trap is laid in the repository" "$([ -s ran ]; echo $?)"
	rm -f ran
	GIT_DIR=/nowhere GIT_EXTERNAL_DIFF=$T_TMP/evil GIT_CONFIG_COUNT=1 \
		GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$T_TMP/evil \
		"$TALLY" check --repo repo --baseline r-*.tally \
		--new rs-*.tally >out
	t_like "--repo there and with variables of git's" "$(cat out)" \
		'commit [0-9a-f]+ Lex with care'
	t_ok "... runs none of their programs" "$([ ! -e ran ]; echo $?)"
else
	t_skip "--repo" "needs git"
fi

# --- the total and its interval are those of diff, if the machine cannot have changed
turn() {	# START LEX PARSE
	printf 'run %d000000000 0\n' "$1"
	printf 'hit %d /bin/app %s /src/app.c 3\n' "$2" lex "$3" parse
}
{
	printf 'file %s\nenv target command\nevent cpu-clock 1000 1000000 ns\n' agree-old.tally
	turn 1700000000 900 410; turn 1700000020 930 400
	printf 'file %s\nenv target command\nevent cpu-clock 1000 1000000 ns\n' agree-new.tally
	turn 1700000010 1010 395; turn 1700000030 1000 415
} | "$make"
if [ "$python" ]; then
	"$TALLY" check --json agree.json --require-mde off --baseline agree-old.tally \
		--new agree-new.tally >out
	"$TALLY" diff --format=json agree-old.tally agree-new.tally >agree-diff.json
	t_run "check and diff give the same interval of the total" "$python" - <<-'END'
	import json
	check = json.load(open('agree.json'))['total']
	diff = json.load(open('agree-diff.json'))['header']['events'][0]
	for end in ('low', 'high'):
	    assert abs(check[end] - 1 - diff[end] / diff['old']) < 2e-6, (check, diff)
	END
else
	t_skip "the total of check and diff" "needs python3"
fi
t_done
