# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcontinuous.a
libcontinuous_a_SOURCES = \
	src/continuous/continuous.h \
	src/continuous/files.c \
	src/continuous/files.h \
	src/continuous/folder.c \
	src/continuous/folder.h \
	src/continuous/keeper.c \
	src/continuous/keeper.h \
	src/continuous/status.c \
	src/continuous/status.h \
	src/continuous/supervise.c
