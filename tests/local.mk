# SPDX-License-Identifier: GPL-2.0-or-later
# Every test speaks TAP.  Unit tests need cmocka; shell tests are end to end.
EXTRA_DIST += tests/checks.h tests/lane tests/lib.sh tests/made_runs.sh tests/stacks.sh tests/unit
CLEANFILES += tests/*.bell tests/*.lock tests/times
# Those that take longest: scripts/test starts them first.
LONG_TESTS = \
	tests/e2e/bombs.sh \
	tests/e2e/check_repo.sh \
	tests/e2e/consumers.sh \
	tests/e2e/continuous.sh \
	tests/e2e/doctor.sh \
	tests/e2e/faults.sh \
	tests/e2e/format.sh \
	tests/e2e/html_browser.sh \
	tests/e2e/import.sh \
	tests/e2e/import_perfs.sh \
	tests/e2e/jitdump.sh \
	tests/e2e/memory.sh \
	tests/e2e/merge.sh \
	tests/e2e/ptrace.sh \
	tests/e2e/push.sh \
	tests/e2e/python.sh \
	tests/e2e/record.sh \
	tests/e2e/source.sh \
	tests/e2e/traced.sh \
	tests/structure/configure.sh \
	tests/symbolize/forms.sh \
	tests/symbolize/matrix.sh \
	tests/symbolize/test_symbol_cache
include tests/base/local.mk
include tests/image/local.mk
include tests/disasm/local.mk
include tests/hints/local.mk
include tests/events/local.mk
include tests/symbolize/local.mk
include tests/unwind/local.mk
include tests/runtime/local.mk
include tests/profile/local.mk
include tests/kmod/local.mk
include tests/record/local.mk
include tests/count/local.mk
include tests/rdpmc/local.mk
include tests/views/local.mk
include tests/tui/local.mk
include tests/check/local.mk
include tests/history/local.mk
include tests/push/local.mk
include tests/continuous/local.mk
include tests/cli/local.mk
include tests/e2e/local.mk
include tests/fuzz/local.mk
include tests/structure/local.mk
include tests/workload/local.mk
