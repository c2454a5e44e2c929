# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/kmod/fake_kernel.h tests/kmod/fake_machine.h tests/kmod/fake_samples.h \
	tests/kmod/fake_threads.h \
	tests/kmod/pmu_model.h \
	tests/kmod/two_kinds.c \
	tests/rig/build-qemu \
	tests/rig/endure.sh tests/rig/exact.sh tests/rig/forbidden.c tests/rig/four_to_one.c \
	tests/rig/inside-endure.sh tests/rig/inside-exact.sh tests/rig/inside-races.sh \
	tests/rig/races.sh \
	tests/rig/pmu_model.c tests/rig/pmu_model.h tests/rig/qemu-7.2.diff \
	tests/rig/run
if CMOCKA
check_PROGRAMS += tests/kmod/test_count tests/kmod/test_lives \
	tests/kmod/test_pmu_regs tests/kmod/test_ring tests/kmod/test_tasks \
	tests/kmod/test_waits
TESTS += tests/kmod/test_count tests/kmod/test_lives tests/kmod/test_pmu_regs \
	tests/kmod/test_ring tests/kmod/test_tasks tests/kmod/test_waits
tests_kmod_test_count_SOURCES = tests/kmod/test_count.c
tests_kmod_test_count_CPPFLAGS = -I$(srcdir)/include $(AM_CPPFLAGS)
tests_kmod_test_count_LDADD = -lcmocka
tests_kmod_test_pmu_regs_SOURCES = tests/kmod/test_pmu_regs.c \
	tests/kmod/pmu_model.c
tests_kmod_test_ring_SOURCES = tests/kmod/test_ring.c
tests_kmod_test_ring_LDADD = -lcmocka
tests_kmod_test_pmu_regs_LDADD = libevents.a libbase.a -lcmocka

# The module's own files, on headers that all are the fake kernel.
tests_kmod_test_lives_SOURCES = tests/kmod/test_lives.c tests/kmod/pmu_model.c \
	kmod/session.c kmod/waits.c kmod/ring.c kmod/count.c kmod/pmu.c \
	kmod/timer.c
tests_kmod_test_lives_CPPFLAGS = -DTALLY_HAS_PERF_ALLOW -Itests/kmod/fake \
	-I$(srcdir)/include -I$(srcdir)/tests/kmod $(AM_CPPFLAGS)
tests_kmod_test_lives_CFLAGS = $(AM_CFLAGS) -Wno-unused-parameter \
	-Wno-sign-compare -Wno-sign-conversion -Wno-conversion
tests_kmod_test_lives_LDADD = libevents.a libbase.a -lcmocka
tests_kmod_test_tasks_SOURCES = tests/kmod/test_tasks.c kmod/tasks.c
tests_kmod_test_tasks_CPPFLAGS = $(tests_kmod_test_lives_CPPFLAGS)
tests_kmod_test_tasks_CFLAGS = $(tests_kmod_test_lives_CFLAGS) -Wno-missing-field-initializers
tests_kmod_test_tasks_LDADD = -lcmocka
tests_kmod_test_waits_SOURCES = tests/kmod/test_waits.c kmod/waits.c kmod/ring.c
tests_kmod_test_waits_CPPFLAGS = $(tests_kmod_test_lives_CPPFLAGS)
tests_kmod_test_waits_CFLAGS = $(tests_kmod_test_lives_CFLAGS)
tests_kmod_test_waits_LDADD = -lcmocka
fake_headers = asm/apic.h asm/irq_regs.h asm/msr.h asm/nmi.h asm/perf_event.h \
	asm/processor.h asm/timex.h linux/cpu.h linux/cpumask.h linux/cred.h linux/delay.h linux/hash.h linux/hrtimer.h \
	linux/irq_work.h linux/list.h linux/math64.h linux/mm.h linux/mutex.h \
	linux/percpu.h linux/perf_event.h linux/pid.h linux/pid_namespace.h linux/preempt.h linux/random.h linux/rculist.h \
	linux/sched.h linux/sched/signal.h linux/sched/user.h linux/security.h linux/seqlock.h linux/slab.h linux/smp.h linux/spinlock.h \
	linux/string.h linux/suspend.h linux/timekeeping.h linux/topology.h linux/tracepoint.h linux/uaccess.h linux/version.h \
	linux/vmalloc.h linux/wait.h
tests/kmod/fake/stamp: tests/kmod/local.mk
	$(AM_V_GEN)for h in $(fake_headers); do \
		mkdir -p "tests/kmod/fake/$${h%/*}" && \
		echo '#include "fake_kernel.h"' >"tests/kmod/fake/$$h" || exit 1; \
	done; touch $@
$(tests_kmod_test_lives_OBJECTS) $(tests_kmod_test_tasks_OBJECTS) \
$(tests_kmod_test_waits_OBJECTS): \
	tests/kmod/fake/stamp
CLEANFILES += tests/kmod/fake/stamp tests/kmod/fake/*/*.h \
	tests/kmod/fake/*/*/*.h
endif
