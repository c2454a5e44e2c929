# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcompare.a
libcompare_a_SOURCES = \
	src/compare/align.c \
	src/compare/align.h \
	src/compare/code_overlap.c \
	src/compare/code_overlap.h \
	src/compare/estimate.c \
	src/compare/estimate.h \
	src/compare/func_code.c \
	src/compare/func_match.c \
	src/compare/func_match.h \
	src/compare/identity.c \
	src/compare/identity.h \
	src/compare/insn_tokens.c \
	src/compare/insn_tokens.h \
	src/compare/labels.c \
	src/compare/labels.h \
	src/compare/match.c \
	src/compare/match.h \
	src/compare/moved.c \
	src/compare/moves.c \
	src/compare/moves.h \
	src/compare/paths.c \
	src/compare/paths.h \
	src/compare/renames.c \
	src/compare/renames.h
