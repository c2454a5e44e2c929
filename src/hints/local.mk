# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libhints.a
libhints_a_SOURCES = \
	src/hints/apt_lists.c \
	src/hints/apt_lists.h \
	src/hints/dpkg.c \
	src/hints/dpkg.h \
	src/hints/hints.c \
	src/hints/hints.h \
	src/hints/os_release.c \
	src/hints/os_release.h
