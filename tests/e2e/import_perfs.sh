#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kinds of perf.data written here by the perfs of Debian 12, of Debian 13 and of its
# backports: samples and weights of each event, command, image and function equal those
# that the same perf reports. TALLY_PROGRAMS is a folder made by scripts/get-programs,
# with the perfs that are not installed. With TALLY_TESTS=long, the perf between the oldest
# and the newest one writes all kinds, too.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >work.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void leaf(unsigned long n)
{
	unsigned int x = 1;

	/* as long on all processors: each product needs the one before */
	for (unsigned long i = 0; i < n; i++)
		x = x * 1664525u + (unsigned int)i;
	sum += x;
}
__attribute__((noinline)) void outer(unsigned long n)
{
	leaf(n);
	sum++;
}
static void *run(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY);
	static char b[1 << 16];

	for (int i = 0; i < 6; i++) {
		outer(3000000);
		for (int k = 0; k < 20; k++)
			sum += (unsigned long)read(fd, b, sizeof(b));
	}
	close(fd);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	pthread_create(&t, NULL, run, NULL);
	do
		run(NULL);
	while (argc > 1);
	pthread_join(t, NULL);
	return 0;
}
END
# without a linkage table, whose first entry perf 6.1 takes for _init
${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-inline -fno-plt -pthread -o work work.c ||
	exit 1
make_data() { # WHAT IN OUT
	rm -f "$3"
	python3 "$top_srcdir/tests/e2e/perf_data.py" "$@"
}

# While another recorder on the machine asks the kernel for build-ids, Linux 6.18 marks
# the mappings in everybody's records as if they had some, and perf aborts; not if it asks
# for them, too.
perf_record() { # FILE OPTION…
	file=$1
	shift
	for way in -N -N --buildid-mmap; do
		rm -rf "$file"
		timeout 60 "$perf" record -q $way "$@" -o "$file" ./work \
			>perf.out 2>perf.err && return
	done
	return 1
}
same() { # NAME FILE [COMM]
	t_same_name=$1
	shift
	judge "$@"
	tell_judged "$t_same_name" $?
}
judge() { # FILE [COMM]
	python3 "$top_srcdir/tests/e2e/import_judge.py" "$perf" "$TALLY" "$@" >judged 2>&1
}
tell_judged() { # NAME STATUS
	[ "$2" -eq 0 ] || sed 's/^/# /' judged
	t_ok "$who: $1: $(tail -n 1 judged | cut -c 1-60)" "$2"
}
perf_can_read() {
	"$perf" report -i "$1" --stdio -s comm >/dev/null 2>report.err
	! grep -q 'build-id\.c' report.err
}
# Another test may hide the kernel's names from perf: not meanwhile.
kind() { # NAME OPTION…
	kind_name=$1
	shift
	# what it writes in a way of its own
	case $between,$kind_name in
	yes,*"in mappings"|yes,compressed|yes,"a directory"*|yes,*pages|,*) ;;
	*) return;;
	esac
	t_settings -s
	if perf_record k.data "$@"; then
		judge k.data ${only:+"$only"}
		kind_status=$?
		# perf aborts
		if [ $kind_status -eq 3 ] && perf_record k.data --buildid-mmap "$@"; then
			judge k.data ${only:+"$only"}
			kind_status=$?
		fi
		tell_judged "$kind_name" $kind_status
	else
		t_skip "$who: $kind_name" "$(grep . perf.err | head -n 1)"
	fi
	exec 9<&-
}

kinds() {
	kind "one event, without build-ids" -B -e cpu-clock
	kind "with build-ids of all images" --buildid-all -e cpu-clock
	kind "build-ids in mappings" --buildid-mmap -g -e cpu-clock
	kind "copies of stacks" --call-graph dwarf,4096 -F 500 -e cpu-clock
	kind "compressed" -z -g -e cpu-clock
	kind "two events" -e cpu-clock,page-faults
	kind "a group" -g -e '{cpu-clock,page-faults}'
	kind "a group, sampled by its first event" -g -e '{cpu-clock,page-faults}:S'
	kind "a directory, a file for each processor" --threads=cpu -g -e cpu-clock
	kind "switches, namespaces and cgroups" --switch-events --namespaces \
		--all-cgroups -e cpu-clock
	kind "addresses and pages" -d --phys-data --data-page-size \
		--code-page-size -W -c 1 -e page-faults
	kind "registers, identifiers, counts of threads" --user-regs=ip,sp \
		--intr-regs=ip --sample-identifier -s -g -e cpu-clock
	kind "another clock, what was there before at the end" -k CLOCK_MONOTONIC \
		--tail-synthesize --overwrite -e cpu-clock
	kind "a tracepoint with raw data" -R -e sched:sched_switch
	only=work
	kind "the whole machine" -a -e cpu-clock
	only=
	if [ -r /proc/kcore ]; then
		kind "kernel memory" --kcore -e cpu-clock
	else
		t_skip "$who: kernel memory" "no /proc/kcore here"
	fi
	kind "call chains, deferred where the kernel can" --call-graph fp,defer -e cpu-clock

	# one recording as perf's other programs and other machines write it
	t_settings -s
	perf_record fp.data -g -e cpu-clock
	perf_can_read fp.data || perf_record fp.data --buildid-mmap -g -e cpu-clock
	same "call chains" fp.data
	if timeout 60 "$perf" inject -b -i fp.data -o inject.data 2>perf.err; then
		same "with build-ids injected" inject.data
	else
		t_skip "$who: injected" "$(head -n 1 perf.err)"
	fi
	for bits in '' 32; do
		make_data swap$bits fp.data swap$bits.data
		same "the other byte order${bits:+, $bits bits}" swap$bits.data
	done
	pipe_status=3
	for way in -N -N --buildid-mmap; do
		timeout 60 "$perf" record -q $way -g -e cpu-clock -o - ./work \
			>pipe.data 2>perf.err && perf_can_read pipe.data || continue
		judge pipe.data
		pipe_status=$?
		[ $pipe_status -eq 3 ] || break
	done
	tell_judged "a pipe's data in a file" $pipe_status
	cat pipe.data | "$TALLY" import -q -o pipe.tally -
	t_is "$who: a pipe" "$("$TALLY" report --format=csv pipe.tally 2>err)" \
		"$("$TALLY" report --format=csv pipe.data 2>err)"

	# a recorder that was killed after it had written something, not the one before it
	rm -f killed.data
	"$perf" record -q -N --buildid-mmap -m 1 -F 10000 -g -e cpu-clock \
		-o killed.data ./work long >perf.out 2>perf.err &
	pid=$!
	T_CLEANUP="kill $pid 2>/dev/null; $T_CLEANUP"
	has_more() { [ "$(stat -c %s killed.data 2>/dev/null || echo 0)" -gt 30000 ]; }
	t_until has_more
	kill -KILL $pid
	wait $pid
	for child in $(pgrep -P 1 -f "^\./work long$"); do
		[ "$(readlink "/proc/$child/cwd")" != "$T_TMP" ] || kill "$child"
	done
	make_data mend killed.data mended.data
	same "what a killed recorder wrote" mended.data
	rows() {
		"$TALLY" report --format=csv -s comm,image,symbol "$1" 2>err
	}
	t_is "$who: … as it left it" "$(rows killed.data)" "$(rows mended.data)"
	exec 9<&-
}

found=
between=
for perf in "${PERF:-perf}" ${TALLY_PROGRAMS:+"$TALLY_PROGRAMS/bin/perf-other"} \
		${TALLY_PROGRAMS:+"$TALLY_PROGRAMS/bin/perf-newest"}; do
	command -v "$perf" >/dev/null || continue
	who=$("$perf" version 2>/dev/null | sed 's/ version//; s/^\(perf [0-9]*\.[0-9]*\).*/\1/')
	if ! perf_record try.data -e cpu-clock; then
		t_skip "kinds of $who" "it may not record"
		continue
	fi
	found="$found $perf"
	case $perf in
	*/perf-other) t_long || between=yes;;
	*) between=;;
	esac
	kinds
done
[ -n "$found" ] || t_skip "kinds of perf.data" "no perf may record here"
[ -n "${TALLY_PROGRAMS-}" ] ||
	t_skip "perfs of other releases" "scripts/get-programs gets them for scripts/test"

# --- the judge: samples whose command only tally knows are equal, others are not
judged() { # NAME WANTED-STATUS AWK-PROGRAM-FOR-PERF AWK-PROGRAM-FOR-TALLY
	cat >perf-edited <<END
#!/bin/sh
[ "\$1" = report ] || exec "$perf" "\$@"
"$perf" "\$@" | awk -F '|' -v OFS='|' -v tid=$tid '$3
	{ print }'
END
	cat >tally-edited <<END
#!/bin/sh
"$TALLY" "\$@" | awk -F , -v OFS=, -v tid=$tid '$4
	{ print }'
END
	chmod +x perf-edited tally-edited
	python3 "$top_srcdir/tests/e2e/import_judge.py" ./perf-edited ./tally-edited \
		judge.data >judged.out 2>&1
	t_status=$?
	[ $t_status -eq "$2" ] || sed 's/^/# /' judged.out
	t_is "the judge: $1" "$t_status" "$2"
}
for perf in $found; do
	perf_record judge.data -B -e cpu-clock && perf_can_read judge.data || continue
	tid=$("$perf" script -i judge.data -F comm,tid 2>perf.err |
		awk '$1 == "work" { print $2; exit }')
	# a row of 7 samples is one of 4 and one of 3 without a name
	halve='$3 ~ /^ *work *$/ && $1 > 1 && !done++ {
		n = int($1 / 2); w = n * int($2 / $1)
		print n, w, ":" tid, $4, $5; $1 -= n; $2 -= w }'
	alike='{ }'
	judged "equal reports" 0 "$alike" "$alike"
	judged "perf knows no command" 0 "$halve" "$alike"
	judged "… and tally another one" 1 "$halve" \
		'{ for (i = 1; i <= NF; i++) if ($i == "work") $i = "other" }'
	judged "… and tally has one sample less" 1 "$halve" \
		'/work/ && !done++ { for (i = 1; i < NF; i++) if ($i > 1) { $i--; break } }'
	judged "… for a thread of another process" 1 \
		"$(echo "$halve" | sed 's/":" tid/":1"/')" "$alike"
	judged "tally knows no command" 1 "$alike" \
		'{ for (i = 1; i <= NF; i++) if ($i == "work") $i = ":" tid }'
	break
done

# --- marks of build-ids where there are none
for perf in $found; do
	timeout 60 "$perf" record -q -N -B -g -e cpu-clock -o plain.data ./work \
		>perf.out 2>perf.err || continue
	if make_data flag plain.data flag.data >made 2>&1 && [ "$(cat made)" != 0 ]; then
		t_is "mappings marked by mistake are still mappings" \
			"$("$TALLY" report --format=csv flag.data 2>err)" \
			"$("$TALLY" report --format=csv plain.data 2>err)"
		break
	fi
done
t_done
