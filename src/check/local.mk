# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcheck.a
libcheck_a_SOURCES = \
	src/check/allow.c \
	src/check/allow.h \
	src/check/check.c \
	src/check/check.h \
	src/check/check_internal.h \
	src/check/comparable.c \
	src/check/decide.c \
	src/check/edits.c \
	src/check/edits.h \
	src/check/evidence.c \
	src/check/findings.c \
	src/check/findings.h \
	src/check/judge.c \
	src/check/judge.h \
	src/check/judge_internal.h \
	src/check/outcome.c \
	src/check/outcome.h \
	src/check/reference.c \
	src/check/repo_files.c \
	src/check/repo_files.h \
	src/check/runs.c \
	src/check/runs.h \
	src/check/sequence.c \
	src/check/shift.c \
	src/check/show.h \
	src/check/show_ci.c \
	src/check/show_html.c \
	src/check/show_json.c \
	src/check/show_markdown.c \
	src/check/show_text.c \
	src/check/votes.h \
	src/check/source_line.c \
	src/check/source_line.h \
	src/check/describe.c
