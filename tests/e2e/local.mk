# SPDX-License-Identifier: GPL-2.0-or-later
# Whole-program tests.  Those that record skip where no event may be opened.
E2E_TESTS = \
	tests/e2e/debuginfod.sh \
	tests/e2e/fibers.sh \
	tests/e2e/kernel_vm.sh \
	tests/e2e/kmod_build.sh tests/e2e/kmod_vm.sh \
	tests/e2e/memory.sh \
	tests/e2e/outer_callers.sh \
	tests/e2e/source.sh \
	tests/e2e/debian_vm.sh \
	tests/e2e/stack_holes.sh \
	tests/e2e/stripped.sh \
	tests/e2e/traced.sh \
	tests/e2e/wait_changes.sh
TESTS += $(E2E_TESTS)
# Tests of what tally reads, computes and writes: with sanitizers they say more, so
# scripts/test runs them with sanitizers only.
SANITIZED_TESTS = \
	tests/e2e/annotate.sh \
	tests/e2e/bombs.sh \
	tests/e2e/events.sh \
	tests/e2e/export.sh \
	tests/e2e/export_llvm.sh \
	tests/e2e/format.sh \
	tests/e2e/hardware.sh \
	tests/e2e/history.sh \
	tests/e2e/html.sh \
	tests/e2e/import.sh \
	tests/e2e/import_kinds.sh \
	tests/e2e/import_names.sh \
	tests/e2e/late_names.sh \
	tests/e2e/merge.sh \
	tests/e2e/no_samples.sh \
	tests/e2e/outputs.sh \
	tests/e2e/private.sh \
	tests/e2e/push.sh \
	tests/e2e/record.sh \
	tests/e2e/report.sh \
	tests/e2e/report_cli.sh \
	tests/e2e/stranger.sh \
	tests/e2e/tui.sh \
	tests/e2e/wait_tables.sh
TESTS += $(SANITIZED_TESTS)
# Tests that do not run with sanitizers: what takes time there are other programs (a
# browser, a shell that calls tally some hundred times), or they judge answers, shares of
# time and waits, or what is not compiled with sanitizers, the library in the program.
# The code of tally that they run, other tests and fuzz targets run with sanitizers.
UNSANITIZED_TESTS = \
	tests/e2e/addr2line.sh \
	tests/e2e/agree.sh \
	tests/e2e/check.sh \
	tests/e2e/check_recipe.sh \
	tests/e2e/check_repo.sh \
	tests/e2e/completion.sh \
	tests/e2e/consumers.sh \
	tests/e2e/continuous.sh \
	tests/e2e/deep_stacks.sh \
	tests/e2e/diff.sh \
	tests/e2e/doctor.sh \
	tests/e2e/entry.sh \
	tests/e2e/faults.sh \
	tests/e2e/gone.sh \
	tests/e2e/html_browser.sh \
	tests/e2e/html_labels.sh \
	tests/e2e/import_perfs.sh \
	tests/e2e/go.sh \
	tests/e2e/java.sh \
	tests/e2e/jit.sh \
	tests/e2e/jitdump.sh \
	tests/e2e/languages.sh \
	tests/e2e/late_view.sh \
	tests/e2e/missing.sh \
	tests/e2e/perf_words.sh \
	tests/e2e/php.sh \
	tests/e2e/ptrace.sh \
	tests/e2e/python.sh \
	tests/e2e/python_interpreters.sh \
	tests/e2e/python_tasks.sh \
	tests/e2e/python_threads.sh \
	tests/e2e/record_layouts.sh \
	tests/e2e/record_lives.sh \
	tests/e2e/record_processes.sh \
	tests/e2e/ruby.sh \
	tests/e2e/same_names.sh \
	tests/e2e/stacks.sh \
	tests/e2e/stat.sh \
	tests/e2e/switch.sh \
	tests/e2e/timer.sh \
	tests/e2e/timer_torture.sh \
	tests/e2e/verify.sh \
	tests/e2e/wait_kinds.sh \
	tests/e2e/waits.sh
EXTRA_DIST += $(E2E_TESTS) $(SANITIZED_TESTS) $(UNSANITIZED_TESTS)
if !SANITIZERS
TESTS += $(UNSANITIZED_TESTS)
endif
# Runs a command without perf_event_open, as containers do.
check_PROGRAMS += tests/e2e/deny
tests_e2e_deny_SOURCES = tests/e2e/deny.c
EXTRA_DIST += tests/e2e/ptrace_program.c tests/e2e/traced_program.c
EXTRA_DIST += tests/e2e/fault.c tests/e2e/fake_pmu.c tests/e2e/fake_counts.c \
	tests/e2e/stat_program.c
EXTRA_DIST += tests/e2e/format_reader.py tests/e2e/bombs.py tests/e2e/browser.py tests/e2e/html_browser.py \
	tests/e2e/html_changes.py tests/e2e/label_browser.py tests/e2e/wait_browser.py \
	tests/e2e/html_check.py tests/e2e/issues_check.py tests/e2e/tui.py \
	tests/e2e/completion.py tests/e2e/consumers.py tests/e2e/export_check.py \
	tests/e2e/import_judge.py tests/e2e/perf_data.py \
	tests/e2e/php_scenes.php tests/e2e/python_scenes.py \
	tests/e2e/python_check.py tests/e2e/python_interpreters.py tests/e2e/python_tasks.py \
	tests/e2e/python_labels.sh tests/e2e/python_spin.py tests/e2e/python_threads.py \
	tests/e2e/ruby_scenes.rb tests/e2e/stranger.py \
	tests/e2e/bad_server.py tests/e2e/tally_bytes.py \
	tests/e2e/debuginfod_program.sh tests/e2e/terminal.py \
	tests/e2e/late_view.py
# Misuses the kernel module's device.
check_PROGRAMS += tests/e2e/kmod_torture
tests_e2e_kmod_torture_SOURCES = tests/e2e/kmod_torture.c tests/e2e/kmod_torture.h \
	tests/e2e/kmod_calls.c tests/e2e/kmod_hostile.c tests/e2e/kmod_hostile.h \
	tests/e2e/kmod_reload.c tests/e2e/kmod_samples.c tests/e2e/kmod_waits.c \
	tests/e2e/kmod_walk.c
tests_e2e_kmod_torture_LDADD = -lpthread
