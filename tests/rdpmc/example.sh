#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The example of tally/rdpmc.h: it runs, and the header stands alone.
. "$top_srcdir/tests/lib.sh"

out=$("$top_builddir/tests/rdpmc/count_region" 2>&1)
status=$?
case $out in
'no counter:'*) t_skip "a region is counted" "$out";;
*)	t_like "a region is counted" "$status $out" \
		'^0 [1-9][0-9]* .*read by (RDPMC|a system call)'
esac

cat >"$T_TMP/a.c" <<'END'
#include "tally/rdpmc.h"
int main(void)
{
	struct tally_counter c;
	struct tally_count v;

	return tally_counter_open(&c, PERF_TYPE_SOFTWARE,
				  PERF_COUNT_SW_DUMMY, 0) < 0 ? 0
	       : tally_counter_read(&c, &v) < 0;
}
END
cp "$T_TMP/a.c" "$T_TMP/a.cc"
for guard in '' -DTALLY_NO_GUARD; do
	# shellcheck disable=SC2086 # CC may hold options
	t_run "C11 $guard" ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra \
		-Wshadow -Werror $guard -I"$top_srcdir/include" -pthread \
		-o "$T_TMP/a" "$T_TMP/a.c"
	t_run "it runs $guard" "$T_TMP/a"
done
if c++ --version >/dev/null 2>&1; then
	t_run "C++" c++ -Wall -Wextra -Werror -I"$top_srcdir/include" \
		-pthread -o "$T_TMP/b" "$T_TMP/a.cc"
else
	t_skip "C++" "no C++ compiler"
fi

# A program and a library of it, each with instructions that may fault: counters
# that no processor has do, everywhere.
cat >"$T_TMP/lib.c" <<'END'
#include "tally/rdpmc.h"
int in_library(void);
int in_library(void)
{
	uint64_t v;

	tally_guard_install();
	return tally_rdpmc(0xffffff, &v);
}
END
cat >"$T_TMP/main.c" <<'END'
#include "tally/rdpmc.h"
int in_library(void);
int main(void)
{
	uint64_t v;

	tally_guard_install();
	return in_library() || tally_rdpmc(0xffffff, &v);
}
END
for how in -O0 '-O2 -ffunction-sections -Wl,--gc-sections'; do
	# shellcheck disable=SC2086
	if ${CC:-cc} $how -D_GNU_SOURCE -shared -fPIC \
		-I"$top_srcdir/include" -o "$T_TMP/lib.so" "$T_TMP/lib.c" &&
		${CC:-cc} $how -D_GNU_SOURCE -I"$top_srcdir/include" \
		-pthread -o "$T_TMP/main" "$T_TMP/main.c" "$T_TMP/lib.so" \
		-Wl,-rpath,"$T_TMP"
	then
		t_run "faults are caught in a library, too: $how" "$T_TMP/main"
	else
		t_ok "a library can be built: $how" 1
	fi
done
t_done
