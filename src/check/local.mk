# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcheck.a
libcheck_a_SOURCES = \
	src/check/judge.c \
	src/check/judge.h \
	src/check/judge_internal.h \
	src/check/moderate.c \
	src/check/moderate.h \
	src/check/reference.c \
	src/check/stats.c \
	src/check/stats.h \
	src/check/total.c
