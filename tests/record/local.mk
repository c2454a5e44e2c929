# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/record/btf_types.h tests/record/perf_bytes.h tests/record/replay.h
if LIBDW
check_PROGRAMS += tests/record/stackcheck
tests_record_stackcheck_SOURCES = tests/record/stackcheck.c
tests_record_stackcheck_LDADD = $(TALLY_LIBS) $(LIBDW)
endif
if CMOCKA
RECORD_TESTS = tests/record/test_addrspace tests/record/test_btf \
	tests/record/test_collector \
	tests/record/test_collect_waits \
	tests/record/test_copies tests/record/test_cpu_watch \
	tests/record/test_filter \
	tests/record/test_jit_lines \
	tests/record/test_kmod tests/record/test_kmod_kinds \
	tests/record/test_kmod_ring tests/record/test_kmod_rows \
	tests/record/test_live \
	tests/record/test_maps_watch tests/record/test_unwinder \
	tests/record/test_outer_callers \
	tests/record/test_ptrace tests/record/test_order tests/record/test_perf \
	tests/record/test_perf_cpus tests/record/test_perf_pace \
	tests/record/test_perf_drain \
	tests/record/test_priority tests/record/test_proc_text \
	tests/record/test_rights \
	tests/record/test_sources \
	tests/record/test_timer tests/record/test_timer_sideband \
	tests/record/test_wait_samples tests/record/test_waits \
	tests/record/test_latency tests/record/test_lost_rbp \
	tests/record/test_polled_waits tests/record/test_sleeping
check_PROGRAMS += $(RECORD_TESTS)
TESTS += $(RECORD_TESTS)
tests_record_test_kmod_kinds_SOURCES = tests/record/test_kmod_kinds.c \
	tests/events/sysfs.c
tests_record_test_kmod_kinds_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_kmod_ring_SOURCES = tests/record/test_kmod_ring.c
tests_record_test_kmod_ring_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_kmod_rows_SOURCES = tests/record/test_kmod_rows.c \
	tests/unwind/live.c tests/unwind/live.h kmod/walk_core.c kmod/walk_core.h
tests_record_test_kmod_rows_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_btf_SOURCES = tests/record/test_btf.c
tests_record_test_btf_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_filter_SOURCES = tests/record/test_filter.c
tests_record_test_filter_LDADD = -lcmocka
tests_record_test_latency_SOURCES = tests/record/test_latency.c
tests_record_test_latency_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_outer_callers_SOURCES = tests/record/test_outer_callers.c
tests_record_test_outer_callers_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_lost_rbp_SOURCES = tests/record/test_lost_rbp.c
tests_record_test_lost_rbp_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_polled_waits_SOURCES = tests/record/test_polled_waits.c
tests_record_test_polled_waits_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_sleeping_SOURCES = tests/record/test_sleeping.c
tests_record_test_sleeping_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_waits_SOURCES = tests/record/test_waits.c
tests_record_test_waits_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_addrspace_SOURCES = tests/record/test_addrspace.c
tests_record_test_addrspace_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_collector_SOURCES = tests/record/test_collector.c
tests_record_test_collector_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_collect_waits_SOURCES = tests/record/test_collect_waits.c
tests_record_test_collect_waits_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_copies_SOURCES = tests/record/test_copies.c
tests_record_test_copies_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_cpu_watch_SOURCES = tests/record/test_cpu_watch.c
tests_record_test_cpu_watch_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_jit_lines_SOURCES = tests/record/test_jit_lines.c
tests_record_test_jit_lines_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_live_SOURCES = tests/record/test_live.c
tests_record_test_live_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_unwinder_SOURCES = tests/record/test_unwinder.c
tests_record_test_unwinder_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_kmod_SOURCES = tests/record/test_kmod.c
tests_record_test_kmod_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_maps_watch_SOURCES = tests/record/test_maps_watch.c
tests_record_test_maps_watch_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_order_SOURCES = tests/record/test_order.c
tests_record_test_order_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_perf_SOURCES = tests/record/test_perf.c
tests_record_test_perf_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_perf_cpus_SOURCES = tests/record/test_perf_cpus.c
tests_record_test_perf_cpus_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_perf_pace_SOURCES = tests/record/test_perf_pace.c
tests_record_test_perf_pace_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_priority_SOURCES = tests/record/test_priority.c
tests_record_test_priority_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_proc_text_SOURCES = tests/record/test_proc_text.c
tests_record_test_proc_text_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_ptrace_SOURCES = tests/record/test_ptrace.c
tests_record_test_ptrace_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_sources_SOURCES = tests/record/test_sources.c
tests_record_test_sources_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_rights_SOURCES = tests/record/test_rights.c
tests_record_test_rights_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_perf_drain_SOURCES = tests/record/test_perf_drain.c
tests_record_test_perf_drain_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_timer_sideband_SOURCES = tests/record/test_timer_sideband.c
tests_record_test_timer_sideband_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_wait_samples_SOURCES = tests/record/test_wait_samples.c
tests_record_test_wait_samples_LDADD = $(TALLY_LIBS) -lcmocka
tests_record_test_timer_SOURCES = tests/record/test_timer.c
tests_record_test_timer_LDADD = $(TALLY_LIBS) -lcmocka
endif
