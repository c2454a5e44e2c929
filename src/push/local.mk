# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libpush.a
libpush_a_SOURCES = \
	src/push/answer.c \
	src/push/answer.h \
	src/push/debuginfo.c \
	src/push/debuginfo.h \
	src/push/divide.c \
	src/push/divide.h \
	src/push/entry.c \
	src/push/entry.h \
	src/push/grpc.h \
	src/push/http.c \
	src/push/http.h \
	src/push/labels.c \
	src/push/labels.h \
	src/push/push.c \
	src/push/push.h \
	src/push/request.c \
	src/push/spool.c \
	src/push/spool.h \
	src/push/url.c \
	src/push/url.h
