# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libevents.a
libevents_a_SOURCES = \
	src/events/events.c \
	src/events/events.h \
	src/events/names.c \
	src/events/names.h \
	src/events/pmu.c \
	src/events/pmu.h
