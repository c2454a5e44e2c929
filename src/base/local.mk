# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	src/base/beneath.c \
	src/base/beneath.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/child.c \
	src/base/child.h \
	src/base/cursor.c \
	src/base/cursor.h \
	src/base/duration.c \
	src/base/duration.h \
	src/base/error.c \
	src/base/error.h \
	src/base/git.c \
	src/base/git.h \
	src/base/gzip.c \
	src/base/gzip.h \
	src/base/hash.c \
	src/base/hash.h \
	src/base/io.c \
	src/base/io.h \
	src/base/json.c \
	src/base/json.h \
	src/base/json_in.c \
	src/base/json_in.h \
	src/base/nearest.c \
	src/base/nearest.h \
	src/base/outfile.c \
	src/base/outfile.h \
	src/base/proto_in.c \
	src/base/proto_in.h \
	src/base/search.h \
	src/base/sha256.c \
	src/base/sha256.h \
	src/base/stats.c \
	src/base/stats.h \
	src/base/strtab.c \
	src/base/strtab.h \
	src/base/text.c \
	src/base/text.h \
	src/base/variance.c \
	src/base/variance.h \
	src/base/vec.c \
	src/base/vec.h
