# SPDX-License-Identifier: GPL-2.0-or-later
# Not libunwind.a: that is somebody else's.
noinst_LIBRARIES += libtallyunwind.a
libtallyunwind_a_SOURCES = \
	src/unwind/begin.c \
	src/unwind/cfa.c \
	src/unwind/code.c \
	src/unwind/expr.c \
	src/unwind/heuristics.c \
	src/unwind/insn.c \
	src/unwind/insn.h \
	src/unwind/simulate_return.c \
	src/unwind/rows.c \
	src/unwind/rows.h \
	src/unwind/rules.c \
	src/unwind/step.c \
	src/unwind/table.c \
	src/unwind/unwind.h \
	src/unwind/unwind_internal.h \
	src/unwind/walk.c
