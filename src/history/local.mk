# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libhistory.a
libhistory_a_SOURCES = \
	src/history/changes.c \
	src/history/changes.h \
	src/history/detail.c \
	src/history/detail.h \
	src/history/gather.c \
	src/history/history.h \
	src/history/series.c \
	src/history/series.h \
	src/history/show.h \
	src/history/show_ci.c \
	src/history/show_html.c \
	src/history/show_json.c \
	src/history/show_text.c \
	src/history/store.c \
	src/history/verdict.c \
	src/history/verdict.h
