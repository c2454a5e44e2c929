# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += liblaunch.a
liblaunch_a_SOURCES = \
	src/launch/busy.c \
	src/launch/busy.h \
	src/launch/control.c \
	src/launch/control.h \
	src/launch/launch.c \
	src/launch/launch.h \
	src/launch/mapping.h \
	src/launch/priority.c \
	src/launch/priority.h \
	src/launch/proc_read.c \
	src/launch/proc_read.h \
	src/launch/proc_text.c \
	src/launch/proc_text.h \
	src/launch/signals.c \
	src/launch/signals.h \
	src/launch/target.c \
	src/launch/target.h
