#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion: the words tally offers, and the scripts in real shells.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
scripts=$top_srcdir/src/cli/completion
offers() { # WORD…: what may stand for the last one
	"$TALLY" --complete "$@" | cut -f1 | tr '\n' ' '
}

t_is "commands" "$(offers sy)" "symbolize : "
t_is "every command" "$(offers '' | tr ' ' '\n' | grep -vxF -e : -e help |
	sort | tr '\n' ' ')" "$("$TALLY" --help | sed -n \
	'/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p' | grep -vx help |
	sort | tr '\n' ' ')"
for c in $("$TALLY" --complete '' | sed -n 's/\t.*//p' | grep -vx help); do
	t_is "every option of $c" "$("$TALLY" --complete "$c" - | cut -f1 |
		sed -n 's/^--*/-/p' | sort)" \
		"$("$TALLY" "$c" --help | sed -n -e \
		's/^  -.,* *--\([a-z0-9-]*\).*/-\1/p' -e \
		's/^      --\([a-z0-9-]*\).*/-\1/p' -e \
		's/^  \(-.\) .*/\1/p' | sort)"
done
t_is "values" "$(offers record --source '')" \
	"auto perf kmod timer ptrace : "
t_is "formats of other tools" "$(offers export --format=cal)" \
	"--format=callgrind : "
t_is "values behind =" "$(offers report --format=j)" "--format=json : "
t_is "values with more behind a comma" "$(offers record --call-graph dw)" \
	"dwarf : "
t_is "a value is no option" "$(offers record -o -)" ":files "
t_is "of letters together" "$(offers record -qo x)" ":files "
t_is "not where the letter has its value" "$(offers record -ox --sou)" \
	"--source : "
t_is "folders" "$(offers symbolize --debug-dir '')" ":folders "
t_is "keys, one after the other" "$(offers report -s image,sym)" \
	"image,symbol : "
t_is "metrics" "$(offers stat --metrics ip)" "ipc : "
t_is "a command of its own" "$(offers record -g -- ls -)" ":command 3 "
t_is "also without --" "$(offers record -F 99 ls x)" ":command 3 "
t_is "options of that are not ours" "$(offers record ls --sou)" ":command 1 "
t_is "no option behind --" "$(offers record -- --sou)" ":command 2 "
t_is "commands of help" "$(offers help enc)" "encode : "
t_is "an unknown command has none" "$(offers nothing --x)" ": "
t_like "processes" "$(offers record -p $$)" "(^| )$$ "
t_is "events that can be used here" "$(offers record -e task-c)" \
	"task-clock : "
t_is "also in a list" "$(offers record -e page-faults,task-c)" \
	"page-faults,task-clock : "
if [ -r /sys/kernel/tracing/events/sched ]; then
	t_is "tracepoints" "$(offers record -e sched:sched_switch)" \
		"sched:sched_switch : "
else
	t_skip "tracepoints" "tracefs cannot be read here"
fi

# Real shells, with a tally that shows its words.
mkdir bin
cat >bin/tally <<END
#!/bin/sh
[ "\$1" = --complete ] && exec "$TALLY" "\$@"
printf 'ARGS'; printf ' <%s>' "\$@"; echo
END
chmod +x bin/tally
: >recording.tally
mkdir debug-folder
bash=$(command -v bash) zsh=$(command -v zsh) fish=$(command -v fish)
# What is typed, and what the command is to get: one shell takes all lines, as it takes
# long to start.
sched=
[ ! -r /sys/kernel/tracing/events/sched ] || sched='
a tracepoint|tally record -e sched:sched_migrate_t@x|<record> <-e> <sched:sched_migrate_task> <x>'
lines="a command|tally symb@x|<symbolize> <x>
an option|tally record --sourc@x|<record> <--source> <x>
a value|tally record --source ptr@x|<record> <--source> <ptrace> <x>
a value behind =|tally record --source=ptr@x|<record> <--source=ptrace> <x>
an event with a colon|tally record -e task-cl@x|<record> <-e> <task-clock> <x>$sched
a file|tally report recor@x|<report> <recording.tally> <x>
a file behind =|tally report --input=recor@x|<report> <--input=recording.tally> <x>
the command that is recorded|tally record -g -- basena@x|<record> <-g> <--> <basename> <x>
its files|tally record basename recor@x|<record> <basename> <recording.tally> <x>"
for shell in bash zsh; do
	eval "path=\$$shell"
	if [ -z "$path" ]; then
		t_skip "completion in $shell" "no $shell here"
		continue
	fi
	printf '%s\n' "$lines" | cut -d'|' -f2 | tr '\n' '\0' |
		xargs -0 python3 "$top_srcdir/tests/e2e/completion.py" \
		$shell "$scripts" "$T_TMP/bin" >got 2>&1
	exec 3<got
	while IFS='|' read -r name keys want; do
		read -r got <&3 || got="nothing for $keys"
		t_is "$shell: $name" "$got" "ARGS $want"
	done <<-END
	$lines
	END
	exec 3<&-
done
if [ "$fish" ]; then
	fishes() { # WORDS: candidates
		HOME=$T_TMP PATH="$T_TMP/bin:$PATH" fish -c "
			source $scripts/tally.fish
			complete -C '$1'" 2>&1 | cut -f1 | tr '\n' ' '
	}
	t_is "fish: a command" "$(fishes 'tally symb')" "symbolize "
	t_is "fish: an option" "$(fishes 'tally record --sourc')" "--source "
	t_is "fish: a value" "$(fishes 'tally record --source ptr')" "ptrace "
	t_is "fish: a value behind =" "$(fishes 'tally record --source=ptr')" \
		"--source=ptrace "
	t_is "fish: a file" "$(fishes 'tally report recor')" \
		"recording.tally "
	t_is "fish: the command that is recorded" \
		"$(fishes 'tally record -g -- basena')" "basename "
else
	t_skip "completion in fish" "no fish here"
fi

t_done
