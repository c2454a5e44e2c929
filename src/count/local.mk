# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcount.a
libcount_a_SOURCES = \
	src/count/count.c \
	src/count/count.h \
	src/count/counters.c \
	src/count/plan.c \
	src/count/show_json.c \
	src/count/show_text.c \
	src/count/values.c
