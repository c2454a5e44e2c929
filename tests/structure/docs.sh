#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Documents and program agree; scripts/check-docs says what each check is.
. "$top_srcdir/tests/lib.sh"

check=$top_srcdir/scripts/check-docs

for c in pages options keys readme version page format; do
	sh "$check" -s "$top_srcdir" -t "$TALLY" $c >"$T_TMP/out" 2>&1
	status=$?
	sed 's/^/# /' "$T_TMP/out"
	if [ $status -eq 77 ]; then
		t_skip "$c" "$(cat "$T_TMP/out")"
	else
		t_ok "$c" $status
	fi
done

# The checks themselves, with a program that has one command.
bad=$T_TMP/bad
mkdir -p "$bad/doc" "$bad/src/base"
cat >"$bad/tally" <<'END'
#!/bin/sh
if [ "$1" = --help ]; then
	printf 'usage: tally COMMAND\n\nCommands:\n  go   goes\n\nOptions:\n'
elif [ "$1" = --version ]; then
	echo 'tally 2.1'
else
	cat <<-'HELP'
	Options:
	  -f, --fast    goes fast
	      --slow=N  not --fast
	  -x            the same as --fast
	  -h, --help    shows this
	HELP
fi
END
chmod +x "$bad/tally"
echo "tally stops" >"$bad/README.md"
echo "folders" >"$bad/doc/developers.md"
printf '.It Fl f , Fl -fast\n.It Fl -old Ar N\n' \
	>"$bad/doc/tally-go.1"
: >"$bad/doc/tally-gone.1"

finds() { # NAME CHECK ERE
	out=$(sh "$check" -s "$bad" -t "$bad/tally" "$2" 2>&1)
	status=$?
	t_like "$1" "$(printf '%s\n' "$out" | sed "s/^/$status /")" "^1 .*$3"
}
finds "a page without a command is found" pages 'no command gone$'
finds "a page without sections is found" pages 'tally-go.1: no section NAME'
finds "an option without words is found" options 'nothing on --slow'
finds "a short option without words is found" options 'nothing on -x'
finds "words without an option are found" options '--old: in doc'
finds "a folder missing in the developers page is found" readme 'not name src/base'
finds "a command missing in README is found" readme 'not name tally go'
mkdir "$bad/kmod"
printf 'News.\n\ntally 2.1 (2027-01-01)\n\ntally 2.0\n' >"$bad/NEWS"
echo 'AC_INIT([tally], [2.0])' >"$bad/configure.ac"
echo 'PACKAGE_VERSION=2.1' >"$bad/kmod/dkms.conf"
finds "a place without a version is found" version 'a version is missing'
echo 'MODULE_VERSION("2.1");' >"$bad/kmod/main.c"
sed -i 's/2\.0/2.1/' "$bad/configure.ac"
out=$(sh "$check" -s "$bad" -t "$bad/tally" version 2>&1)
t_none "one version everywhere is not found" "$out"
sed -i 's/2\.1/2.0/' "$bad/configure.ac"
finds "a place of another version is found" version \
	'configure.ac: not every version is 2.0'
out=$(sh "$check" -s "$bad" -t "$bad/tally" options 2>&1)
t_lacks "an option with its words is not found" "$out" 'fast'
rm "$bad/doc/tally-go.1"
finds "a command without page is found" pages 'tally go: no page'

t_done
