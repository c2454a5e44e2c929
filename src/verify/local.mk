# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libverify.a
libverify_a_SOURCES = \
	src/verify/libdw.c \
	src/verify/libdw.h \
	src/verify/opinion.c \
	src/verify/opinion_data.h \
	src/verify/opinion.h \
	src/verify/verify.c \
	src/verify/verify.h
