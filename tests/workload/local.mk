# SPDX-License-Identifier: GPL-2.0-or-later
# Programs to be profiled: known_cost by tests, the rest by scripts/bench only.
check_PROGRAMS += tests/workload/known_cost
tests_workload_known_cost_SOURCES = tests/workload/known_cost.c
# Without the sanitizers, whose checks would be part of the known costs.
tests_workload_known_cost_CFLAGS = $(TALLY_CFLAGS) -O2 -g \
	-fno-omit-frame-pointer -fno-sanitize=all -pthread
tests_workload_known_cost_LDFLAGS = -pthread
EXTRA_DIST += tests/workload/big tests/workload/known_waits.c tests/workload/known_waits.sh \
	tests/workload/shares.c tests/workload/twins.sh
# Recordings that no machine would make: for tests and benches of views.
check_PROGRAMS += tests/workload/made_recording
tests_workload_made_recording_SOURCES = tests/workload/made_recording.c
tests_workload_made_recording_LDADD = $(TALLY_LIBS)
# What a profiler inside of it could disturb (tests/e2e/timer_torture.sh).
check_PROGRAMS += tests/workload/torture
tests_workload_torture_SOURCES = tests/workload/torture.c \
	tests/workload/torture.h tests/workload/torture_children.c \
	tests/workload/torture_environ.c \
	tests/workload/torture_files.c tests/workload/torture_jumps.c \
	tests/workload/torture_signals.c tests/workload/torture_stops.c \
	tests/workload/torture_threads.c tests/workload/torture_transfers.c \
	tests/workload/torture_waits.c
tests_workload_torture_CFLAGS = $(TALLY_CFLAGS) -O2 -g -fno-sanitize=all \
	-pthread
tests_workload_torture_LDFLAGS = -pthread
EXTRA_DIST += tests/workload/torture_throw.cpp
