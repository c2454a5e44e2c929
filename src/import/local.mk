# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libimport.a
libimport_a_SOURCES = \
	src/import/firefox_file.c \
	src/import/foreign.c \
	src/import/foreign.h \
	src/import/import.c \
	src/import/import.h \
	src/import/import_foreign.c \
	src/import/perf_file.c \
	src/import/perf_file.h \
	src/import/perf_ids.c \
	src/import/perf_records.c \
	src/import/perf_records.h \
	src/import/perf_swap.c \
	src/import/perf_swap.h \
	src/import/perf_text.c \
	src/import/pprof_file.c
