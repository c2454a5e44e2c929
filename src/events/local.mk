# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libevents.a
libevents_a_SOURCES = \
	include/tally/pmu.h \
	include/tally/pmu_regs.h \
	kmod/pmu_core.c \
	kmod/pmu_regs.c \
	src/events/encode.c \
	src/events/event.h \
	src/events/events.c \
	src/events/events.h \
	src/events/formula.c \
	src/events/hw.c \
	src/events/hw.h \
	src/events/hw_spec.c \
	src/events/k8.c \
	src/events/metric_table.c \
	src/events/metrics.c \
	src/events/metrics.h \
	src/events/names.c \
	src/events/p6.c \
	src/events/pmu.c \
	src/events/pmu.h \
	src/events/sysfs_files.c \
	src/events/sysfs_files.h \
	src/events/tracepoints.c
