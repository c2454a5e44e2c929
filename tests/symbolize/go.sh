# SPDX-License-Identifier: GPL-2.0-or-later
# Go programs linked with -s -w: functions, files and lines from .gopclntab, against
# `go tool addr2line` and the DWARF of the program that is not stripped.
. "$top_srcdir/tests/lib.sh"

tally=$(cd "$top_builddir/src" && pwd)/tally
src=$(cd "$top_srcdir/tests/symbolize" && pwd)
cd "$T_TMP" || exit 1
GOCACHE=$T_TMP/cache GO111MODULE=off
export GOCACHE GO111MODULE

build() { # OUT FLAGS…
	out=$1
	shift
	go build "$@" -o "$out" "$src/words.go"
}

# As if sstrip had been there.
cut_sections() { # IN OUT
	cp "$1" "$2" &&
		head -c 8 /dev/zero | dd of="$2" bs=1 seek=40 conv=notrunc &&
		head -c 6 /dev/zero | dd of="$2" bs=1 seek=58 conv=notrunc
}

if command -v go >/dev/null; then
	t_run 'built' build full
	t_run 'built with -s -w' build bare -ldflags='-s -w'
	t_run 'no symbols and no DWARF are left' \
		sh -c '! readelf -SW bare | grep -E " \.(symtab|z?debug_)"'
	t_run 'as the whole program says' \
		python3 "$src/go.py" "$tally" full bare
	t_run 'without section headers' cut_sections bare cut
	t_run 'without section headers: as the whole program says' \
		python3 "$src/go.py" "$tally" full cut
	t_run 'built as PIE' build pie -buildmode=pie
	t_run 'built as PIE with -s -w' \
		build barepie -buildmode=pie -ldflags='-s -w'
	t_run 'PIE: as the whole program says' \
		python3 "$src/go.py" "$tally" pie barepie
	t_run 'PIE, without section headers' cut_sections barepie cutpie
	t_run 'PIE, without section headers: as the whole program says' \
		python3 "$src/go.py" "$tally" pie cutpie
	if "$tally" record -q --repeat 30 -F 5000 -e cpu-clock -o a.tally \
		-- ./bare >/dev/null 2>err; then
		t_like 'info says where the names are from' \
			"$("$tally" info a.tally | grep -A 3 '/bare$')" \
			'^ +symbols from [.]gopclntab$'
		t_lacks 'which lists all functions: none is missing' \
			"$("$tally" report --no-tui a.tally)" \
			'exported functions only'
		"$tally" symbolize --verify a.tally >verify 2>&1
		status=$?
		if grep -q 'without libdw\|libdw.so.1 cannot' verify; then
			t_skip 'libdw does not read them' "$(cat verify)"
		else
			t_is 'libdw does not read them: that is explained' \
				$status 0
			t_like 'and said' "$(cat verify)" \
				"explained: libdw does not read Go's own table"
		fi
	else
		t_skip 'info says where the names are from' \
			"cannot record here: $(head -n 1 err)"
	fi
else
	t_skip 'functions and lines of Go programs without symbols' \
		'no Go compiler is installed'
fi
t_done
