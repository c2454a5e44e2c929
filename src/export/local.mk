# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libexport.a
libexport_a_SOURCES = \
	src/export/export.h \
	src/export/folded.c \
	src/export/formats.c \
	src/export/formats.h \
	src/export/pprof.c \
	src/export/proto.h \
	src/export/samples.c \
	src/export/speedscope.c \
	src/export/walk.c \
	src/export/walk.h
