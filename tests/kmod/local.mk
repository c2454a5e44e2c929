# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/kmod/pmu_model.h tests/rig/build-qemu \
	tests/rig/exact.sh tests/rig/forbidden.c tests/rig/four_to_one.c \
	tests/rig/inside-exact.sh tests/rig/inside-races.sh tests/rig/races.sh \
	tests/rig/pmu_model.c tests/rig/pmu_model.h tests/rig/qemu-7.2.diff \
	tests/rig/run
if CMOCKA
check_PROGRAMS += tests/kmod/test_pmu_regs tests/kmod/test_ring
TESTS += tests/kmod/test_pmu_regs tests/kmod/test_ring
tests_kmod_test_pmu_regs_SOURCES = tests/kmod/test_pmu_regs.c \
	tests/kmod/pmu_model.c
tests_kmod_test_ring_SOURCES = tests/kmod/test_ring.c
tests_kmod_test_ring_LDADD = -lcmocka
tests_kmod_test_pmu_regs_LDADD = libevents.a libbase.a -lcmocka
endif
