# SPDX-License-Identifier: GPL-2.0-or-later
# The workflow for GitHub in doc/check-in-ci.md: its steps, unchanged, in two checkouts
# of a repository that is created here.
# shellcheck disable=SC1091
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1

for need in git make bash; do
	command -v "$need" >/dev/null && continue
	echo "1..0 # SKIP needs $need"
	exit 0
done
if ! "$TALLY" record -q -o try.tally -- true 2>/dev/null; then
	echo "1..0 # SKIP no event may be opened here"
	exit 0
fi

# --- steps, one file each, as a runner would write them
awk '
/^```yaml/ && !seen { inside = 1; seen = 1; next }
/^```/ { inside = 0 }
!inside { next }
/^ *- run: \|$/ { n++; block = 1; name = "step-" n; printf "" >name; next }
/^ *- run: / { n++; block = 0; name = "step-" n; sub(/^ *- run: /, ""); print >name; next }
/^ *- / { block = 0 }
block && !/^          / { block = 0 }	# other keys of the step
block { sub(/^          /, ""); print >name }
' "$top_srcdir/doc/check-in-ci.md"
t_is "the workflow has four steps to run" "$(echo step-*)" "step-1 step-2 step-3 step-4"

# --- a repository of two commits, the second of which doubles the work of one function
git init -q origin
g() {
	git -C origin -c user.name=T -c user.email=t@example.org "$@"
}
cat >origin/Makefile <<'END'
bench: bench.c
	$(CC) -g -O1 -o bench bench.c
END
program() {
	cat <<-END
	static volatile unsigned int sum;

	static __attribute__((noinline)) void steady(void)
	{
		for (int i = 0; i < 12000000; i++)
			sum += 3;
	}

	static __attribute__((noinline)) void grows(void)
	{
		for (int i = 0; i < $1; i++)
			sum += 5;
	}

	int main(void)
	{
		steady();
		grows();
		return 0;
	}
	END
}
program 12000000 >origin/bench.c
g add . && g commit -qm 'Begin'
old=$(g rev-parse HEAD)
program 30000000 >origin/bench.c
g commit -qam 'Grow with care'
echo text >origin/notes
g add . && g commit -qm 'Write notes'
mkdir work && git clone -q origin work/new && git clone -q origin work/old &&
	git -C work/old checkout -q "$old" || exit 1

# --- what a runner has: tally in the path, and rights to set a limit of the kernel
mkdir bin
printf '#!/bin/sh\nprintf "%%s\\n" "$*" >>"%s/asked"\n' "$T_TMP" >bin/sudo
printf '#!/bin/sh\nexec %s "$@"\n' "$TALLY" >bin/tally
chmod +x bin/sudo bin/tally
PATH=$T_TMP/bin:$PATH
GITHUB_STEP_SUMMARY=$T_TMP/summary.md
export PATH GITHUB_STEP_SUMMARY
for i in 1 2; do
	(cd work && timeout 120 bash -e "../step-$i") >"out-$i" 2>&1
	t_is "step $i succeeds" $? 0
done
t_is "the limit of the kernel is set" "$(cat asked)" "sysctl kernel.perf_event_paranoid=1"
(cd work && timeout 120 bash -e ../step-3) >out-3 2>&1
t_is "the check fails" $? 1
t_like "... by the function that does more" "$(grep -v '^tally: ' out-3 | head -n 1)" '^regressed: grows \+[0-9.]+%'
t_like "... of sides in turns" "$(cat out-3)" '[0-9]+ baseline runs .* [0-9]+ new runs .*, interleaved'
t_like "... and names the commit" "$(cat out-3)" 'commit [0-9a-f]+ Grow with care'
t_lacks "... and no other" "$(cat out-3)" 'Write notes'
t_like "... at its place in the checkout" "$(cat out-3)" '^::error file=bench\.c,line=[0-9]+,title=grows is slower'

# --- the comment, on a server that keeps comments in files
if command -v jq >/dev/null; then
	cat >bin/gh <<-'END'
	#!/bin/sh
	echo "$*" >>"$SERVER/asked"
	case "$1 $2 $3" in
	"api --paginate repos/o/r/issues/7/comments")
		# a page for each comment
		for f in "$SERVER"/*.md; do
			id=${f##*/}
			[ -f "$f" ] && jq -n --rawfile body "$f" --arg id "${id%.md}" '[{id: ($id | tonumber), body: $body}]'
		done; exit 0;;
	"api --method POST") id=501;;
	"api --method PATCH") id=${4##*/};;
	*) exit 1;;
	esac
	[ "$5" = -F ] && cat "${6#body=@}" >"$SERVER/$id.md"
	END
	chmod +x bin/gh
	mkdir server
	echo 'Nice work! <!-- tally check -->' >server/100.md
	SERVER=$T_TMP/server GITHUB_REPOSITORY=o/r NUMBER=7
	export SERVER GITHUB_REPOSITORY NUMBER
	(cd work && timeout 60 bash -e ../step-4) >out-4 2>&1
	t_is "the first run comments" $?/"$(echo server/*.md)" "0/server/100.md server/501.md"
	t_like "... what is slower" "$(cat server/501.md)" 'grows'
	t_like "the summary says it" "$(cat summary.md)" 'grows'
	echo '<!-- tally check --> of another run' >work/check.md
	(cd work && timeout 60 bash -e ../step-4) >out-4 2>&1
	t_is "the next run updates its comment" "$?/$(cat server/501.md)" "0/<!-- tally check --> of another run"
	t_is "... and no other" "$(cat server/100.md)" 'Nice work! <!-- tally check -->'
	t_is "... nor adds one" "$(echo server/*.md)" "server/100.md server/501.md"
else
	t_skip "the comment" "needs jq"
fi
t_ok "the artefact is there" "$([ -s work/check.json ]; echo $?)"
t_done
