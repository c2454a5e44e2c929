# SPDX-License-Identifier: GPL-2.0-or-later
# `tally history` and `tally check --history`, on synthetic recordings.
# shellcheck disable=SC1091,SC2086
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
TMPDIR=$T_TMP
export TMPDIR
make="$top_builddir/tests/check/make_recording"
. "$top_srcdir/tests/made_runs.sh"

# A repository: c0 to c23, an empty commit between c11 and c12, tags by number.
git init -q repo
git -C repo config user.name Tester
git -C repo config user.email tester@example.org
for i in $(seq 0 23); do
	[ "$i" -ne 12 ] || git -C repo commit -q --allow-empty -m 'not recorded'
	GIT_COMMITTER_DATE="$((1700000000 + i * 86400)) +0000" \
		git -C repo commit -q --allow-empty -m "commit $i" &&
		git -C repo tag "c$i" || exit 1
done

# Three runs each; from c12 on lex costs 30 % more and hash 20 %.
for i in $(seq 0 23); do
	change=
	[ "$i" -lt 12 ] || change='n["lex"] *= 1.3; n["hash"] *= 1.2;'
	side "b$i" $((i + 1)) 3 "$change"
done
add() { # COMMIT FILE…
	commit=$1
	shift
	"$TALLY" history add --store store --repo repo --commit "$commit" "$@"
}
# Not in their order.
for i in $(seq 12 23) $(seq 0 11); do
	add "c$i" "b$i"-*.tally >>added 2>&1 || t_fail "add c$i" "$(cat added)"
done
"$TALLY" history add --store single --repo repo --commit c3 b3-*.tally >/dev/null 2>&1
t_like "one batch of one commit" \
	"$("$TALLY" history report --store single --repo repo 2>&1)" \
	'^1 batch of 1 commit, '
t_is "a batch a commit is a file" "$(find store -type f | wc -l)" 24
t_like "... of the full name" "$(head -n 1 added)" \
	"^added: $(git -C repo rev-parse c12), 3 runs, [0-9]+ functions$"
t_like "the same batch again" "$(add c3 b3-3.tally b3-1.tally b3-2.tally)" '^already there: '
t_is "... is no other file" "$(find store -type f | wc -l)" 24
gzip -dc "$(find store -name '*.gz' | head -n 1)" >text
t_like "a batch is text" "$(cat text)" '^f	[0-9]+ [0-9]+ [0-9]+	app	lex	$'
sum=$(find store -name '*.gz' | head -n 1)
t_is "... of which the file has its name" "$(sha256sum <text | cut -d' ' -f1)" \
	"$(echo "$sum" | sed 's,.*/\(..\)/\(.*\)\.gz,\1\2,')"
size=$(find store -name '*.gz' -exec cat {} + | wc -c)
t_ok "... and small" "$([ "$size" -lt $((24 * 2000)) ]; echo $?)"

"$TALLY" history report --store store --repo repo >out 2>&1
t_is "a report" $? 0
t_like "... knows how much there is" "$(cat out)" '^24 batches of 24 commits, 2023-11-14 to 2023-12-07'
t_like "... and where costs changed" "$(cat out)" \
	"^$(git -C repo rev-parse c12 | cut -c1-12) \"commit 12\" \(1 before it was not recorded\)$"
t_like "... the largest first" "$(grep -A1 'not recorded' out | tail -n 1)" \
	'^  slower: lex \+(2[5-9]|3[0-5])\.[0-9]% \(95%: '
t_like "... and others of the same cause" "$(cat out)" '^  slower: hash \+(1[5-9]|2[0-5])\.'
t_like "... by lines" "$(grep -A1 'slower: lex' out)" '^    lines with most of it: lex\.c:1[02] \+[23]\.[0-9]%, lex\.c:1[02] \+'
t_like "... and callers" "$(grep -A1 'slower: lex' out)" '; callers with most of it: main \+[567]\.'
t_like "... with a command that compares the recordings" "$(cat out)" \
	'^  compare: tally diff --baseline b11-1\.tally b11-2\.tally b11-3\.tally --new b12-1\.tally b12-2\.tally b12-3\.tally$'
t_lacks "... but no other" "$(cat out)" '^  (slower|faster): (parse|emit|copy|sort|look) '
"$TALLY" history --store store --json - >json 2>&1
t_is "JSON" $? 0
python=
for p in /usr/bin/python3 python3; do
	command -v "$p" >/dev/null && python=$p && break
done
if [ "$python" ]; then
	t_is "... says the same" "$("$python" -c '
import json
c = json.load(open("json"))["classes"][0]
steps = [x for x in c["changes"] if x["kind"] == "step"]
print(len(c["batches"]), len(steps), sorted(f["name"] for x in steps for f in x["functions"] if f["name"] != "[total]"))')" \
		"24 1 ['hash', 'lex']"
else
	t_skip "... says the same" "no python3"
fi
"$TALLY" history --store store --repo repo --html page.html
t_is "a page" $? 0
t_like "... has a curve for each function" "$(grep -c '<polyline' page.html)" '^[78]$'
t_lacks "... and nothing from elsewhere" "$(sed 's/<a href="page-1.html">//' page.html)" 'src=|href=|<script'
t_like "... and a link to the recordings of a change" "$(cat page.html)" \
	'^<p><a href="page-1\.html">Compare'
t_like "... which are compared there" "$(head -c 2000 page-1.html)" '<title>compared: '
# Recordings that were replaced are not those of the batch; kept ones are copies.
mkdir kept && cp -r store/runs kept/ && mv b12-1.tally moved.tally
cp b1-1.tally b12-1.tally
"$TALLY" history report --store kept --repo repo >out2
t_lacks "recordings that are gone are not compared" "$(cat out2)" 'compare:'
mv moved.tally b12-1.tally
for i in 11 12; do
	"$TALLY" history add --keep --store kept --repo repo --commit "c$i" \
		"b$i"-*.tally >>added || t_fail "add --keep" "$(cat added)"
done
mkdir away && mv b11-*.tally b12-*.tally away/
"$TALLY" history report --store kept --repo repo >out2
t_like "kept ones are" "$(cat out2)" '^  compare: tally diff --baseline kept/recordings/../[0-9a-f]{62}\.tally kept/'
sh -c "TALLY='$TALLY'; tally() { \"\$TALLY\" \"\$@\"; }; $(sed -n 's/^  compare: //p' out2)" >out2
t_like "... by the command" "$(cat out2)" '^# old: kept/'
mv away/* .

# A function that is new and one that is gone: of 5,400 samples, 216 and 150 with sort.
for i in $(seq 0 11); do
	change=
	[ "$i" -lt 6 ] || change='n["sort"] = 0; extra = "hit 216 /usr/bin/app extra /src/extra.c 3 main";'
	side "e$i" $((i + 101)) 3 "$change"
	"$TALLY" history add --store extra --commit "e$i" "e$i"-*.tally >/dev/null
done
"$TALLY" history report --store extra >out2
t_like "a new function" "$(cat out2)" '^  slower: extra, new, (3\.[89]|4\.[01])% of the program$'
t_like "one that is gone" "$(cat out2)" '^  faster: sort, gone, 2\.[78]% of the program$'
t_lacks "... without a factor" "$(cat out2)" '(extra|sort) [+-]'
"$TALLY" history report --store extra --json - >json
t_like "... in JSON" "$(cat json)" '"name":"extra",.*"status":"new","impact":0\.0[34][0-9]*,"ratio":null'

# The union of two stores is their merge, in any order.
mkdir -p one/runs two/runs
n=0
for f in store/runs/*/*.gz; do
	n=$((n + 1))
	to=one
	[ $((n % 2)) -eq 0 ] || to=two
	d=${f%/*}
	mkdir -p "$to/runs/${d##*/}" && cp "$f" "$to/runs/${d##*/}/"
done
cp -r one/runs/. two/runs/
"$TALLY" history report --store two --repo repo >merged 2>&1
t_same "a merge of two stores" out merged

# Damage is reported, and the rest is read.
cp -r store hurt
f=$(find hurt -name '*.gz' | head -n 1)
printf x | dd of="$f" bs=1 seek=30 conv=notrunc 2>/dev/null
"$TALLY" history list --store hurt >hurt.out 2>&1
t_is "a damaged file" $? 0
t_like "... is reported" "$(head -n 1 hurt.out)" '^skipped 1 damaged file of the history: hurt/runs/'
t_is "... and the rest is read" "$(grep -c ' 3 runs' hurt.out)" 23
# Adding the batch again replaces a damaged file, and a kept recording.
gzip -dc "store/${f#hurt/}" | sed -n 's/^commit	//p' >commit
i=$(git -C repo describe --tags "$(cat commit)")
add_hurt() {
	"$TALLY" history add --keep --store hurt --repo repo --commit "$i" "b${i#c}"-*.tally
}
t_like "adding it again repairs it" "$(add_hurt)" '^added: '
t_same "... the file is as it was" "$f" "store/${f#hurt/}"
k=$(find hurt/recordings -name '*.tally' | head -n 1)
cp "$k" whole && chmod u+w "$k" && echo >>"$k"
t_like "... is there then" "$(add_hurt)" '^already there: '
t_same "... and the kept recording is whole again" "$k" whole
mkdir strange && cp -r store/runs strange/ && rm -rf strange/runs/0f strange/runs/f0
echo file >strange/runs/0f && ln -s /tmp strange/runs/f0
"$TALLY" history list --store strange >out2 2>&1
t_like "foreign entries are skipped" "$?$(head -n 1 out2)" \
	'^0skipped 2 damaged files of the history: strange/runs/(0f|f0): '
t_like "... and the rest is read" "$(grep -c ' 3 runs' out2)" '^2[0-4]$'
"$TALLY" history --store nothing >none 2>&1
t_is "no history" $? 1
t_like "... says how to begin one" "$(cat none)" "'tally history add' creates one"
"$TALLY" history add --store store --repo repo --commit nothing b1-1.tally >none 2>&1
t_is "no such commit" $? 1

# A check: the last batches are those of the slower lex.
side fresh 60 3 'n["lex"] *= 1.3; n["hash"] *= 1.2;'
side again 70 3 'n["lex"] *= 1.3; n["hash"] *= 1.2; n["emit"] *= 1.25;'
mkdir early && cp -r store/runs early/
for f in early/runs/*/*.gz; do
	c=$(gzip -dc "$f" | sed -n 's/^commit	//p')
	git -C repo merge-base --is-ancestor c12 "$c" && rm "$f"
done
check() {
	"$TALLY" check --history "$@" >verdict 2>&1
}
check early --commit new --new b5-*.tally
t_is "the cost of before passes" $? 0
t_like "... says so" "$(head -n 1 verdict)" '^pass: .* would have been detected; 1 batch compared with the last 12$'
check early --commit new --new fresh-*.tally
t_is "a higher cost fails" $? 1
t_like "... by name" "$(cat verdict)" '^slower: lex \+(2[5-9]|3[0-5])\.[0-9]% \(95%: '
t_like "... and how much of it matters" "$(cat verdict)" '^slower: lex .*, \+[67]\.[0-9]% of the program, p '
side heavy 61 3 'for (k in n) n[k] *= 1.3;'
check early --commit new --new heavy-*.tally
t_like "a slower machine is no slower function" "$?$(head -n 1 verdict)" \
	'^1regressed: the whole run; 1 batch compared with the last 12$'
t_lacks "... none is accused" "$(cat verdict)" '^(slower|suspect): [a-z]+ \+'
t_like "... and the whole run is shown" "$(cat verdict)" \
	'^slower: the whole run \+(2[5-9]|3[0-5])\.'

# Runs that did not do their work.
side little 62 3 'for (k in n) n[k] *= 0.1;'
check early --commit new --new little-*.tally --json broken.json --junit broken.xml
t_like "a tenth of the work is broken" "$?$(head -n 1 verdict)" \
	'^4broken: the new side did (9\.[0-9]|10|11)% of the baseline.s work \(--any-outcome '
t_like "... in JSON" "$(cat broken.json)" '"verdict":"broken","broken":"the new side did '
t_like "... and in JUnit" "$(cat broken.xml)" '<error type="broken" message="the new side did '
check early --commit new --new little-*.tally --any-outcome
t_like "... unless any outcome is compared" "$?$(head -n 1 verdict)" \
	'^(0pass|3inconclusive): .* compared with the last 12$'
side failed 63 3 'status = 256;'
side crashed 64 3 'status = 11;'
check early --commit new --new failed-*.tally
t_like "an exit status that no stored run had" "$?$(head -n 1 verdict)" \
	'^4broken: 3 of 3 new runs ended with exit status 1, unlike all baseline runs \(--any-outcome '
check early --commit new --new failed-*.tally --any-outcome
t_is "... unless any outcome is compared" $? 0
cp -r early odd
"$TALLY" history add --store odd --commit odd failed-*.tally >/dev/null
check odd --commit new --new failed-*.tally
t_is "... or one had it" $? 0
# Batches of earlier versions do not know.
mkdir -p old/runs
for f in early/runs/*/*.gz; do
	gzip -dc "$f" | sed '1s/3/2/; /^ended	/d' >text
	sum=$(sha256sum <text | cut -d' ' -f1)
	mkdir -p "old/runs/${sum%"${sum#??}"}"
	gzip -c text >"old/runs/${sum%"${sum#??}"}/${sum#??}.gz"
done
check old --commit new --new failed-*.tally
t_like "where statuses are unknown, any may be usual" "$?$(head -n 1 verdict)" \
	'^0pass: .* compared with the last 12$'
check old --commit new --new crashed-*.tally
t_like "... but no signal" "$?$(head -n 1 verdict)" \
	'^4broken: 3 of 3 new runs ended with signal 11 \(--any-outcome '
check old --commit new --new crashed-*.tally --any-outcome
t_is "... unless any outcome is compared" $? 0

# Reports for continuous integration, judged by readers of their formats.
check early --commit new --new fresh-*.tally --junit all.xml --sarif all.sarif \
	--code-quality all.issues --markdown all.md --github
t_is "all reports at once" $? 1
t_like "GitHub's annotation" "$(cat verdict)" \
	'^::error file=/src/lex\.c,line=1,title=lex is slower::lex \+[0-9.]+%25 .*compared with 11 batches$'
t_like "... after the verdict" "$(grep -m 1 "^::" verdict)" \
	'^::notice title=tally check::regressed: 1 function and the whole run; 1 batch compared with the last 12$'
t_is "Markdown begins with a mark by which a comment is found" "$(head -n 1 all.md)" '<!-- tally check -->'
t_like "Markdown's table" "$(cat all.md)" '^\| ❌ \| lex \| slower \| &#43;[0-9.]+%'
cat >reports.py <<'END'
import json
import xml.etree.ElementTree as E

suite = E.parse("all.xml").getroot().find("testsuite")
cases = {c.get("name"): c for c in suite.findall("testcase")}
failed = {n for n, c in cases.items() if c.find("failure") is not None}
assert failed == {"lex", "[total]"}, failed
assert int(suite.get("failures")) == 2 and int(suite.get("tests")) == len(cases)
assert cases["lex"].get("file") == "/src/lex.c", cases["lex"].attrib
results = json.load(open("all.sarif"))["runs"][0]["results"]
assert {"slower", "total-slower"} <= {r["ruleId"] for r in results}, results
place = [r["locations"][0]["physicalLocation"] for r in results
         if r["message"]["text"].startswith("lex is slower: +")]
assert [p["artifactLocation"]["uri"] for p in place] == ["file:///src/lex.c"], place
issues = json.load(open("all.issues"))
assert len(issues) == len(results)
assert {i["location"]["path"] for i in issues} >= {"/src/lex.c", "program"}
END
if command -v python3 >/dev/null; then
	t_run "JUnit, SARIF and GitLab's issues name what is slower" python3 reports.py
	t_run "SARIF by its standard" python3 "$top_srcdir/tests/e2e/issues_check.py" sarif all.sarif
	t_run "Code Quality by its documentation" python3 \
		"$top_srcdir/tests/e2e/issues_check.py" gitlab all.issues
else
	t_skip "JUnit, SARIF and GitLab's issues" "needs python3"
fi
check early --commit new --new b5-*.tally --junit none.xml --code-quality none.issues
t_is "nothing is slower" "$(cat none.issues)" "[]"
t_lacks "... and fails" "$(cat none.xml)" '<failure|<skipped'
check early --commit new --new fresh-*.tally --warn-only
t_is "... only warns where asked" $? 0
echo 'lex +40% -- a better lexer' >allow
printf 'hash +40%% -- it too\n[total] +10%% -- by these\n' >>allow
check early --commit new --new fresh-*.tally --allow allow
t_is "what is known does not fail" $? 0
t_like "... and is shown" "$(cat verdict)" '^allowed: lex .* -- a better lexer$'
check store --commit c3 --new b3-*.tally --json verdict.json
t_ok "JSON of a verdict" "$(grep -q '"verdict":"' verdict.json; echo $?)"
check early --commit new --new again-*.tally
t_like "a third one is named, too" "$(cat verdict)" '^slower: emit '
side more 71 3 'n["lex"] *= 1.3; n["hash"] *= 1.2;'
check early --commit new --new fresh-*.tally --again again-1.tally more-1.tally
t_is "more batches of the commit decide with the first" $? 1
t_like "... each file is one" "$(head -n 1 verdict)" '; 3 batches compared with the last 12$'

# Beginning or end of what is compared.
git -C repo commit -q --allow-empty -m next
git -C repo tag next
check store --new b5-*.tally --from c12 --repo repo --commit next
t_is "costs accepted from a commit on" $? 0
t_like "... are those of its batches" "$(head -n 1 verdict)" '; 1 batch compared with the last 12$'
t_like "... and what was before is faster" "$(cat verdict)" '^faster: lex '
check store --new fresh-*.tally --since c11 --repo repo --commit next
t_is "since a release, what all later commits have counts, too" $? 1
t_like "... by name" "$(cat verdict)" '^slower: lex \+(2[5-9]|3[0-5])\.'
t_like "... against its batches" "$(head -n 1 verdict)" '; 1 batch compared with the last 12$'
check store --new fresh-*.tally --since "c12~1" --repo repo --commit next
t_like "a commit without batches has its place in the repository" \
	"$?$(head -n 1 verdict)" '^1.*compared with the last 12$'
check store --commit new --new fresh-*.tally --since "$(git -C repo rev-parse c11)"
t_like "without one, a commit of the history has its batches" \
	"$?$(head -n 1 verdict)" '^1.*compared with the last 12$'
check store --commit new --new fresh-*.tally --since c11
t_like "... and a name alone none" "$?$(cat verdict)" \
	'^2.*--since c11: the history has no batch of this commit; with --repo'
check store --new fresh-*.tally --since c11 --from c12 --repo repo --commit next
t_like "nothing between them judges nothing" "$?$(head -n 1 verdict)" \
	'^3inconclusive: still learning, with 0 of 5 batches'
side few 80 3
mkdir -p few.d
"$TALLY" history add --store few.d --commit x few-1.tally >/dev/null
check few.d --commit new --new fresh-1.tally
t_is "too few batches judge nothing" $? 3
t_like "... says how many there are" "$(head -n 1 verdict)" '^inconclusive: still learning, with 1 of 5 batches'
side other 90 3 'cpu = "Slow"'
check early --commit new --new other-*.tally
t_is "another machine is no measure" $? 3
t_like "... says so" "$(cat verdict)" '^12 batches of other machines'

side rate 95 3 'event = "cpu-clock 999 1001001 ns"'
check early --commit new --new rate-*.tally
t_like "another rate is no measure, and which one is, is said" "$?$(cat verdict)" \
	'^12 batches of machines of this kind are not compared, .* settings: 4999 Hz; record with the same ones \(such as -F\)$'
# Four samples in each run, and five: the cost may be nearly the same.
for i in 1 2 3 4 5 6 7; do
	for run in 1 2 3; do
		echo "env cpu Fast
env kernel 6.1
event cpu-clock 4999 200040 ns
run 1700$i$run$((i / 7))000000000 0
hit $((4 + i / 7)) /usr/bin/app main /src/main.c 10 _start" >spec && "$make" whole$i-$run.tally <spec
	done
	[ $i = 7 ] || "$TALLY" history add --store equal --commit w$i whole$i-?.tally >/dev/null
done
check equal --commit new --new whole7-?.tally
t_like "equal runs of few samples do not show less than a sample" "$?$(cat verdict)" \
	'^total: the whole run \+25\.0% \(95%: -'
for words in '--baseline b1-1.tally --new b2-1.tally' '--new b1-1.tally --html x' \
	'--new b1-1.tally --run true' '--run true --again b1-1.tally' ''; do
	check early $words
	t_is "--history $words is a mistake" $? 2
done
"$TALLY" check --baseline b1-1.tally --new b2-1.tally --again b3-1.tally >none 2>&1
t_like "--again without a history" "$?$(cat none)" '^2.*--again requires --history'

# A branch from c19 on, merged after c23, with a slower emit in between.
branch() {
	git -C repo checkout -q "$@"
}
branch -b side c19
for i in 1 2 3; do
	git -C repo commit -q --allow-empty -m "side $i" && git -C repo tag "s$i"
	side "s$i" $((i + 200)) 3 'n["lex"] *= 1.3; n["hash"] *= 1.2; n["emit"] *= 1.5;'
	add "s$i" "s$i"-*.tally >>added || t_fail "add s$i" "$(cat added)"
done
branch - && git -C repo merge -q --no-ff -m merged side && git -C repo tag merged
"$TALLY" history report --store store --repo repo >out2
t_like "batches of a branch" "$(head -n 1 out2)" \
	'^3 batches of commits on other branches are not analysed$'
t_lacks "... are no change" "$(cat out2)" '(slower|faster): emit'
t_like "... of the others" "$(cat out2)" '^24 batches of 24 commits'
"$TALLY" history list --store store --repo repo >out2
t_is "... but are listed" "$(sed '1,/^commits on other branches/d' out2 | cut -d' ' -f4 | sort)" \
	"$(git -C repo rev-parse s1 s2 s3 | cut -c1-12 | sort)"
check store --repo repo --commit merged --new s1-*.tally
t_like "a check compares with the first parents" "$?$(head -n 1 verdict)" '^1regressed: 1 function;'
t_like "... which have the old cost" "$(cat verdict)" '^slower: emit \+(4[0-9]|5[0-9])\.'
t_like "... and with no others" "$(cat verdict)" \
	'^3 batches of commits on other branches are not compared$'
branch s3
"$TALLY" history report --store store --repo repo >out2
t_like "... of what is checked out" "$(head -n 1 out2)" \
	'^4 batches of commits on other branches are not analysed$'
check store --repo repo --commit s3 --new s3-*.tally --since s2
t_like "... or of the judged commit" "$(cat verdict)" \
	'^4 batches of commits on other branches are not compared$'
branch -

# Mistakes.
add c3 b3-1.tally b3-2.tally b3-1.tally >none 2>&1
t_like "a recording counts once" "$?$(cat none)" '^2.*b3-1\.tally is named twice'
check early --commit new --new fresh-1.tally fresh-2.tally --again fresh-2.tally
t_like "... in --again, too" "$?$(cat verdict)" '^2.*fresh-2\.tally is named twice'
for words in 'history report --store store' 'history add --store store b1-1.tally' \
	'check --history store --commit x --new b1-1.tally'; do
	"$TALLY" $words --repo kept >none 2>&1
	t_like "$words --repo of no repository" "$?$(cat none)" '^[12].*--repo kept: is not a git repository'
done
git init -q empty
"$TALLY" history --store store --repo empty >none 2>&1
t_is "an empty repository is one" $? 0
"$TALLY" history --store store --benchmark nothing >none 2>&1
t_like "an unknown benchmark" "$?$(cat none)" '^1.*--benchmark nothing: .*; it has default$'
check few.d --commit new --new fresh-1.tally --json learning.json
t_like "nothing is detectable while learning" "$(cat learning.json)" '"mde":null'
t_done
