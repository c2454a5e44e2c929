# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libviews.a
libviews_a_SOURCES = \
	src/views/aggregate.c \
	src/views/aggregate.h \
	src/views/cells.c \
	src/views/cells.h \
	src/views/dump.c \
	src/views/dump.h \
	src/views/fold.c \
	src/views/fold.h \
	src/views/framekey.c \
	src/views/framekey.h \
	src/views/info.c \
	src/views/info.h \
	src/views/info_text.c \
	src/views/keys.c \
	src/views/keys.h \
	src/views/lines.c \
	src/views/lines.h \
	src/views/match.c \
	src/views/match.h \
	src/views/missing.c \
	src/views/missing.h \
	src/views/missing_text.c \
	src/views/names.c \
	src/views/names.h \
	src/views/ranges.c \
	src/views/report.c \
	src/views/report.h \
	src/views/report_csv.c \
	src/views/report_json.c \
	src/views/select.c \
	src/views/select.h \
	src/views/table.c \
	src/views/table.h \
	src/views/text.c \
	src/views/timeslice.c \
	src/views/timeslice.h \
	src/views/tree.c \
	src/views/tree.h \
	src/views/tree_rows.c \
	src/views/truth.c \
	src/views/truth.h \
	src/views/truth_json.c \
	src/views/truth_stacks.c \
	src/views/truth_text.c
