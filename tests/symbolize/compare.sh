# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced: frames of every byte of .text by another tool and by tally.  Sets
# $other to the other tool, or to nothing where there is none.

have() { command -v "$1" >/dev/null 2>&1; }

# The addresses of .text, one a line.  STEP
text_addresses() { # FILE STEP
	readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \.text  *PROGBITS *//p' |
	while read -r addr off size rest; do
		awk -v a="0x$addr" -v n="0x$size" -v s="$2" 'function hex(t,  i, v) {
			v = 0
			for (i = 3; i <= length(t); i++)
				v = v * 16 + index("0123456789abcdef",
						   tolower(substr(t, i, 1))) - 1
			return v
		} BEGIN { a = hex(a); n = hex(n)
			for (i = 0; i < n; i += s) printf "0x%x\n", a + i }'
	done
}

# Both tools also guess a file from STT_FILE symbols: a copy without symbols
# compares DWARF with DWARF.
dwarf_only() { # FILE
	objcopy --strip-all --keep-section='.debug*' --keep-section='.zdebug*' \
		"$1" "$1.dwarf"
}

# Without symbols tally still knows entry points; the others do not.
no_start() { sed -E '/^(_start|\[entry point\])$/{N;s/^.*\n\?\?:0:0$/??\n??:0:0/;}'; }

if have llvm-symbolizer; then
	other=llvm-symbolizer
	expected() { # FILE
		llvm-symbolizer --no-demangle --inlines --functions=linkage \
			-e "$1"
	}
	ours() { "$symcat" -p "$@" | no_start; }
elif have addr2line; then
	other=addr2line
	expected() {
		addr2line -i -f -e "$1" | sed -e 's/ (discriminator [0-9]*)//' \
			-e 's/:?$/:0/'
	}
	# its form: no columns, no empty lines
	ours() { "$symcat" -p "$@" | no_start | sed -e '/^$/d' -e 's/:[0-9]*$//'; }
else
	other=
fi
