#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module's Kbuild as kernels of all versions read it: where it finds headers, and
# whether it asks security modules.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
name='how the kernel module is built'
command -v make >/dev/null || t_skip_all "$name" "no make here"
SRC=$(cd "$srcdir" && pwd -P)
cp "$SRC/kmod/Kbuild" "$T_TMP"
cd "$T_TMP" || exit 1
mkdir -p kernel/include/linux
printf 'include Kbuild\nshow:\n\t@echo $(ccflags-y)\n' >show.mk
# What $(src) is: a folder's full name up to 6.12, then a name from the working folder.
flags() { # SRC DECLARATION
	echo "$2" >kernel/include/linux/perf_event.h
	env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -f show.mk src="$1" \
		srctree="$T_TMP/kernel" show
}

inline='static inline int perf_allow_kernel(struct perf_event_attr *attr)'
t_is "6.1: headers; perf_allow_kernel is not exported" \
	"$(flags "$T_TMP" "$inline")" "-I$T_TMP/include"
t_is "6.12: … it is" "$(flags "$T_TMP" 'int perf_allow_kernel(void);')" \
	"-I$T_TMP/include -DTALLY_HAS_PERF_ALLOW"
t_is "7.3: … by a name relative to the module, declared as extern" \
	"$(flags . 'extern int perf_allow_kernel(void);')" \
	"-I./include -DTALLY_HAS_PERF_ALLOW"
t_done
