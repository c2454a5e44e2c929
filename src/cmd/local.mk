# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcmd.a
libcmd_a_SOURCES = \
	src/cmd/addr2line.c \
	src/cmd/addr2line.h \
	src/cmd/addr2line_names.c \
	src/cmd/addr2line_text.c \
	src/cmd/addresses.c \
	src/cmd/addresses.h \
	src/cmd/annotate.c \
	src/cmd/check.c \
	src/cmd/check.h \
	src/cmd/check_commits.c \
	src/cmd/check_options.c \
	src/cmd/check_record.c \
	src/cmd/command.h \
	src/cmd/diff.c \
	src/cmd/doctor.c \
	src/cmd/dump.c \
	src/cmd/encode.c \
	src/cmd/flamegraph.c \
	src/cmd/info.c \
	src/cmd/list.c \
	src/cmd/list_hw.c \
	src/cmd/list_hw.h \
	src/cmd/list_metrics.c \
	src/cmd/list_metrics.h \
	src/cmd/debug_dirs.c \
	src/cmd/debug_dirs.h \
	src/cmd/missing.c \
	src/cmd/missing.h \
	src/cmd/open.c \
	src/cmd/open.h \
	src/cmd/page.c \
	src/cmd/page.h \
	src/cmd/record.c \
	src/cmd/report.c \
	src/cmd/stat.c \
	src/cmd/status.c \
	src/cmd/status.h \
	src/cmd/select_options.c \
	src/cmd/select_options.h \
	src/cmd/source_maps.c \
	src/cmd/source_maps.h \
	src/cmd/symbol_names.c \
	src/cmd/symbol_names.h \
	src/cmd/symbolize.c
