# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += librecord.a
librecord_a_SOURCES = \
	src/record/collector.c \
	src/record/collector.h \
	src/record/environment.c \
	src/record/image_open.c \
	src/record/image_open.h \
	src/record/images.c \
	src/record/images.h \
	src/record/kernel_maps.c \
	src/record/kernel_maps.h \
	src/record/launch.c \
	src/record/launch.h \
	src/record/mapset.c \
	src/record/mapset.h \
	src/record/order.c \
	src/record/order.h \
	src/record/perf_abi.h \
	src/record/perf_decode.c \
	src/record/perf_decode.h \
	src/record/perf_open.c \
	src/record/perf_open.h \
	src/record/perf_ring.c \
	src/record/perf_ring.h \
	src/record/perf_source.c \
	src/record/perf_source.h \
	src/record/probe.c \
	src/record/probe.h \
	src/record/proc_text.c \
	src/record/proc_text.h \
	src/record/processes.c \
	src/record/processes.h \
	src/record/record.h \
	src/record/run.c \
	src/record/scan.c \
	src/record/session.c \
	src/record/session.h \
	src/record/source.h \
	src/record/stacks.c \
	src/record/stacks.h \
	src/record/target.c
