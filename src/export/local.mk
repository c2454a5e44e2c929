# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libexport.a
libexport_a_SOURCES = \
	src/export/block_counts.c \
	src/export/block_counts.h \
	src/export/bolt.c \
	src/export/callgrind.c \
	src/export/chrome.c \
	src/export/cpuprofile.c \
	src/export/csv.c \
	src/export/export.h \
	src/export/firefox.c \
	src/export/folded.c \
	src/export/formats.c \
	src/export/formats.h \
	src/export/llvm.c \
	src/export/otlp.c \
	src/export/parts.c \
	src/export/paths.c \
	src/export/paths.h \
	src/export/perf_script.c \
	src/export/pieces.c \
	src/export/pieces.h \
	src/export/pprof.c \
	src/export/proto.h \
	src/export/samples.c \
	src/export/speedscope.c \
	src/export/tree.c \
	src/export/tree.h \
	src/export/walk.c \
	src/export/walk.h
if SQLITE
libexport_a_SOURCES += src/export/sqlite.c
else
EXTRA_DIST += src/export/sqlite.c
endif
