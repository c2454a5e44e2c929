# SPDX-License-Identifier: GPL-2.0-or-later
# The module is built by its own Makefile, not by this make.
EXTRA_DIST += \
	include/tally/kmod.h \
	kmod/Kbuild \
	kmod/Makefile \
	kmod/cgroup.c \
	kmod/chain.c \
	kmod/compat.h \
	kmod/copy.c \
	kmod/count.c \
	kmod/count_core.h \
	kmod/dkms.conf \
	kmod/main.c \
	kmod/perf.c \
	kmod/pmu.c \
	kmod/ring.c \
	kmod/ring_core.h \
	kmod/rows.c \
	kmod/sample.c \
	kmod/session.c \
	kmod/tally.h \
	kmod/tasks.c \
	kmod/timer.c \
	kmod/waits.c \
	kmod/walk_core.c \
	kmod/walk_core.h
