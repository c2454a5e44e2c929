# SPDX-License-Identifier: GPL-2.0-or-later
# What inside-exact.sh must have left; sourced by run, which sets w (the machine's
# name) and cpu (k8 or p6).

# Where overflows of a PerfEvtSel found the processor, in a program whose
# addresses begin with the digits.
overflows() { # SELECT DIGITS
	awk -v s="$1" -v p="^$2[0-9a-f]{6}\$" '$3 == s && $5 ~ p { print $5 }' \
		overflows
}
# The samples of a recording: EVENT MODE ADDRESS IMAGE.
places() { # FILE
	dumped "$1" | awk '
		$1 == "image" { path = $0; sub(/.* path="/, "", path)
			sub(/" .*/, "", path); name["image=" $2] = path }
		$1 == "loc" { sub(/^vaddr=0x/, "", $4)
			at["loc=" $2] = $4 " " name[$3]
			mode["loc=" $2] = name[$3] ~ /^\[/ &&
				name[$3] != "[vdso]" ? "os" : "usr" }
		$1 == "node" { leaf["stack=" $2] = $4 }
		$1 == "sample" { match($0, /event=[0-9]+/)
			e = substr($0, RSTART + 6, RLENGTH - 6)
			match($0, /stack=[0-9]+/)
			l = leaf[substr($0, RSTART, RLENGTH)]
			print e, mode[l], at[l] }'
}
stat_field() { # FILE EVENT FIELD, of a recording
	dumped "$1" | sed -n "s/^stat .* event=$2 .*$3=\([0-9]*\).*/\1/p"
}
check_samples() {
	places exact.tally | awk '$4 ~ /\/exact$/ { print $3 }' >got
	# 200 rounds with 2,000,000 instructions, one sample in 100,000.
	near "$w: 4,000 samples of 400,000,000 instructions" \
		"$(wc -l <got)" 4000 40
	overflows 5100c0 10 | sort | uniq -c >want
	t_is "$w: a sample for each overflow, exact to the instruction" \
		"$(sort got | uniq -c | tail -n 20)" "$(tail -n 20 want)"
	near "$w: their weights are what was counted" \
		"$(stat_field exact.tally 0 value)" 400000000 400000
	near "$w: functions 4:1" "$(share exact.tally four)" 80 0.8
	near "$w: … at a rate" "$(share rate.tally four)" 80 4
	places modes.tally >modes
	t_lacks "$w: nothing of the kernel counts as USR" \
		"$(cat modes)" '^0 os'
	t_lacks "$w: … nothing else as OS" "$(cat modes)" '^1 usr'
	near "$w: … 1,200 samples of 120,000,000 instructions" \
		"$(grep -c '^0 usr .*/ratio$' modes)" 1200 12
	t_ok "$w: … and the kernel's own ($(grep -c '^1 os' modes))" \
		"$([ "$(grep -c '^1 os' modes)" -gt 50 ]; echo $?)"
}

# Counters that overflow while another's overflow is handled.
check_many() { # SELECT…
	i=0
	for s; do
		n=$(awk -v s="$s" '$3 == s' overflows | wc -l)
		t_is "$w: $# events at once: each overflow is a sample ($s)" \
			"$(dumped four.tally | grep -c "^sample .* event=$i ") $(
			stat_field four.tally $i wanted)" "$n $n"
		i=$((i + 1))
	done
}

# A number that the recording has of itself.
fact() { # FILE NAME
	dumped "$1" | sed -n 's/^env .*key="'"$2"'" value="\(.*\)"/\1/p'
}
check_unwound() { # FILE WORDS LEAST
	n=$(fact $1 stacks_verified)
	t_ok "$w: $2: stacks were unwound within the NMI ($n)" \
		"$([ "${n:-0}" -gt $3 ]; echo $?)"
	t_is "$w: … and are tally's own" "$(fact $1 stacks_differing)" 0
}
# The kernel's own events, by the module.
check_own() {
	near "$w: the kernel's own events: 4,000 samples of 400,000,000" \
		"$(dumped own.tally | grep -c '^sample .* event=1 ')" 4000 40
	near "$w: … and what was counted" "$(stat_field own.tally 1 value)" \
		400000000 400000
	places own.tally | awk '$1 == 1 { n++ } $1 == 1 && $4 ~ /\/ratio$/ { k++ }
		END { print n - k }' >astray
	t_ok "$w: … in the program, but for its start and end ($(cat astray))" \
		"$([ "$(cat astray)" -lt 20 ]; echo $?)"
	t_like "$w: … not with pin control" "$(cat own-pc)" 'pin control \(pc\)'
}

check_perf() {
	near "$w: perf: 4,000 samples by the same event" \
		"$(samples perf.tally)" 4000 40
	near "$w: … 4:1" "$(share perf.tally four)" 80 0.8
	t_like "$w: … its registers" "$(dumped perf.tally | grep '^event')" \
		' exclude_kernel=1 type=4 config=0xc0 '
	t_like "$w: … throttled" "$(dumped perf-fast.tally |
		grep -c '^throttle')$(cat perf-fast)" 'throttl'
	t_like "$w: the default is a counter" "$(dumped default.tally |
		grep '^event')" 'actual="cycles.*precise=0 .*type=0 config=0x0'
	t_like "$w: more precision than there is is refused" "$(cat precise)" \
		'does not offer that precision'
}

value() { # FILE EVENT: of tally stat's CSV
	sed -n "s/^,event,\"$2\",\([0-9]*\),.*/\1/p" "$1"
}
# 100 rounds have 200,000,000 instructions of two cycles each, and a few thousand
# before and after.
check_counts() {
	near "$w: stat counts instructions" \
		"$(value stat.csv "$instructions,usr")" 200020000 10000
	near "$w: … two cycles each" "$(value stat.csv "$cycles,usr" |
		awk -v i="$(value stat.csv "$instructions,usr")" \
		'{ print $1 / i }')" 2 0.00001
	near "$w: … as many as perf" "$(sed -n 's/,.*instr.*//p' perf.csv)" \
		"$(value stat.csv "$instructions,usr")" 10000
	near "$w: … those of the kernel and the program are all" \
		"$(value modes.csv "$instructions,usr,os" | awk \
		-v os="$(value modes.csv "$instructions,os")" '{ print $1 - os }')" \
		200020000 20000
	near "$w: … metrics" "$(sed -n 's/.*"metric":"'$cpu'-cpi".*"value":\([0-9.]*\).*/\1/p' metric.json)" 2 0.0001
}

# region(1000000) has five instructions in its loop.
check_rdpmc() {
	near "$w: a program counts itself" "$(sed 's/ .*//' rdpmc.1)" \
		5000000 500
	t_like "$w: … by RDPMC" "$(cat rdpmc.1)" 'by RDPMC$'
	near "$w: … by a system call, where it is forbidden" \
		"$(sed 's/ .*//' rdpmc.0)" 5000000 500
	t_like "$w: … which it says" "$(cat rdpmc.0)" 'by a system call$'
	# One RDPMC, one system call; two instructions 1,000,000 times, and
	# those of a write.
	t_like "$w: … and where it is forbidden in between" \
		"$(cat rdpmc.fault)" '^1 0 200[0-9]{4}$'
}

# Some overflows find the module at what records waits.  Copies of stacks fill the ring.
check_waits() {
	check_known_waits "$w: while counters overflow" waits 1
	n=$(awk '$3 == "5300c0"' overflows | wc -l)
	t_is "$w: … each overflow is a sample, or was lost" \
		"$(dumped waits.tally | awk '/^sample .* event=0 / { n++ }
			/^lost .* event=0 / { sub(/.*count=/, ""); n += $0 }
			END { print n + 0 }')" "$n"
	n=$("$TALLY" report --no-pager --format=csv --children --percent-limit 0 \
		-e "$instructions,usr,os" waits.tally | awk -F, '
			$2 ~ /^waits_(switched|woken)$/ && $1 == "[tally]" {
				n += $6 } END { print n + 0 }')
	t_ok "$w: … $n of them in what records waits" "$([ "$n" -gt 20 ]; echo $?)"
	check_full
}
check_full() {
	sed 's/^/# full: /' full
	t_is "$w: … switches that came and those that were lost add up" \
		"$(tail -n 1 full)" 0
}

check_refused() {
	t_like "$w: counters of others are left alone" "$(cat busy)" \
		'performance counters are in use'
	t_like "$w: … also those of the watchdog" "$(cat watched)" \
		'sysctl kernel.nmi_watchdog=0'
	t_ok "$w: … nothing was started" "$([ ! -e started ]; echo $?)"
	t_ok "$w: … and afterwards it works ($(samples last.tally))" \
		"$([ "$(samples last.tally)" -ge 395 ]; echo $?)"
}

check_exact() {
	t_like "$w: the kernel itself sees the counters" "$(cat boot)" "$driver"
	t_like "$w: so does the module" "$(cat doctor)" "by $counters counters"
	check_samples
	if [ $cpu = k8 ]; then
		check_many 530040 530041 530045 530046
	else
		check_many 530043 130080
	fi
	near "$w: callers by copies of stacks" "$("$TALLY" report --no-pager \
		--format=csv --children stacks.tally |
		awk -F, '$2 == "main" { print $8 }')" 100 3
	t_like "$w: … the ceiling holds" "$(cat fast-stacks)" 'throttled'
	check_unwound unwound.tally 'counters' 300
	check_own
	check_unwound own-unwound.tally "the kernel's own events" 300
	t_like "$w: the ceiling holds" "$(cat fast)" 'throttled'
	near "$w: … and all is counted, in percent of what a slow rate counts" \
		"$(awk -v a="$(stat_field fast.tally 0 value)" \
		-v b="$(stat_field slow.tally 0 value)" \
		'BEGIN { print b ? 100 * a / b : -1 }')" 100 1
	near "$w: … functions 4:1" "$(share fast.tally four)" 80 3
	near "$w: … what was wanted is said: one sample in 2,000" \
		"$(stat_field fast.tally 0 wanted)" \
		"$(($(stat_field fast.tally 0 value) / 2000))" \
		"$(($(stat_field fast.tally 0 value) / 200000))"
	t_like "$w: a period below the least is explained" \
		"$(tr '\n' ' ' <least)" '50 is below 100.* 2 $'
	# A "cycle" of the time stamp counter is a nanosecond here.
	sed 's/^/# /' cost
	t_like "$w: what samples cost is counted" "$(cat cost)" \
		'^samples [1-9][0-9]+ .* mean [1-9]'
	[ ! -s registers ] || t_is "$w: the registers are as before" \
		"$(cat registers)" "$(cat registers.before)"
	check_perf
	check_counts
	check_rdpmc
	check_waits
	check_refused
	check_log
}
