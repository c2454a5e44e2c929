#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a build needs and does not find is named, with the package that has it.
. "$top_srcdir/tests/lib.sh"

# A copy: a source tree that is configured itself refuses other build folders.
tree=$T_TMP/tree
mkdir -p "$tree/src/base" "$tree/build"
for f in configure configure.ac aclocal.m4 config.h.in Makefile.in \
	build-aux src/base/error.h; do
	cp -R "$top_srcdir/$f" "$tree/$f"
done
cd "$tree/build" || exit 1

# A folder of everything that the shell finds here, but for some names.
commands_without() { # ERE
	rm -rf "$T_TMP/bin"
	mkdir "$T_TMP/bin"
	# One command of a name: the first folder's.
	(IFS=:
	 for d in $PATH; do
		for c in "$d"/*; do
			[ -x "$c" ] && ! [ -e "$T_TMP/bin/${c##*/}" ] &&
				printf '%s\n' "$c"
		done
	 done) | grep -vE "/($1)$" | awk -F/ '!seen[$NF]++' |
		xargs ln -s -t "$T_TMP/bin"
}

# What one run found out of the compiler and the machine, the next ones with the same
# compiler need not ask again; a word ac_cv_… counts for more than the cache.
cached="CC=${CC:-cc}"
conf_cached() {
	conf_args="--cache-file=cache $conf_args"
	conf "$cached"
}
conf() {
	env -u CC -u CFLAGS -u MAKE -u MAKEFLAGS -u MAKELEVEL "$@" \
		../configure $conf_args >out 2>err
	echo $?
}

# Messages name commands for apt-get; what they name must come with the build set.
build_set=$(sed -n "/^build='/,/'$/p" "$top_srcdir/scripts/install-needs")
lacks() { # NAME PACKAGE… (of the last line that names some)
	name=$1
	shift
	line=$(sed -n 's/.*apt-get install//p' err)
	t_is "$name: the message names the packages" "$line" " $*"
	for p; do
		printf '%s\n' "$build_set" | grep -Eqw -e "$p"
		t_ok "$p is in the set for building" $?
	done
}

conf_args=
commands_without '(.*-)?(gcc|clang)(-[0-9.]+)?|cc|c89|c99|c[0-9]+-gcc|tcc'
t_is "without a compiler configure fails" "$(conf PATH="$T_TMP/bin")" 1
lacks "no compiler" gcc libc6-dev make

printf '#!/bin/sh\necho "no crt1.o" >&2\nexit 1\n' >"$T_TMP/cc"
chmod +x "$T_TMP/cc"
t_is "with a compiler that cannot link it fails" "$(conf CC="$T_TMP/cc")" 1
lacks "no libc" gcc libc6-dev
t_like "no libc: what the compiler said is shown" "$(cat err)" 'no crt1.o'

commands_without 'g?make'
t_is "without make it fails" "$(conf CC="${CC:-cc}" PATH="$T_TMP/bin")" 1
lacks "no make" make

# Its checks are made, its files are not: config.status has nothing to say here.
conf_args='--no-create ac_cv_header_zstd_h=no ac_cv_header_libdeflate_h=no ac_cv_header_lzma_h=no ac_cv_header_curses_h=no
	ac_cv_header_Zydis_Zydis_h=no ac_cv_header_sqlite3_h=no ac_cv_header_cmocka_h=no'
t_is "it does without other libraries" "$(conf_cached)" 0
for p in libzstd-dev libdeflate-dev liblzma-dev libncurses-dev libzydis-dev libsqlite3-dev libcmocka-dev; do
	t_like "and says what is lost without $p" "$(cat out)" \
		"^  without $p.*: .{20}"
done

# Then nothing of tally may stand in for the allocator, which is the sanitizer's.
conf_args=--no-create
if echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=thread -o tsan -x c - 2>/dev/null
then
	t_is "with a sanitizer in CFLAGS it succeeds" \
		"$(conf CC="${CC:-cc}" CFLAGS=-fsanitize=thread)" 0
	t_like "... and knows of it" "$(cat out)" 'CFLAGS ask for a sanitizer\.\.\. yes'
else
	t_skip "a sanitizer in CFLAGS" "this compiler has no ThreadSanitizer"
fi

for i in zlib_h,zlib1g-dev gelf_h,libelf-dev dwarf_h,libdw-dev; do
	conf_args="ac_cv_header_${i%,*}=no"
	t_is "without ${i%,*} it fails" "$(conf_cached)" 1
	lacks "no ${i%,*}" "${i#*,}"
done
conf_args='ac_cv_lib_z_inflate=no ac_cv_lib_elf_elf_memory=no
	ac_cv_header_dwarf_h=no'
t_is "without several it fails once" "$(conf_cached)" 1
lacks "without several" zlib1g-dev libelf-dev libdw-dev

t_done
