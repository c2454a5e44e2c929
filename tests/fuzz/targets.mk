# SPDX-License-Identifier: GPL-2.0-or-later

FUZZ_TARGETS += tests/fuzz/fuzz_profile
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_profile_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_text
tests_fuzz_fuzz_text_SOURCES = tests/fuzz/fuzz_text.c $(FUZZ_MAIN)
tests_fuzz_fuzz_text_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_elf
tests_fuzz_fuzz_elf_SOURCES = tests/fuzz/fuzz_elf.c $(FUZZ_ELF) $(FUZZ_MAIN)
tests_fuzz_fuzz_elf_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_libdw
tests_fuzz_fuzz_libdw_SOURCES = tests/fuzz/fuzz_libdw.c $(FUZZ_ELF) $(FUZZ_MAIN)
tests_fuzz_fuzz_libdw_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_gopclntab
tests_fuzz_fuzz_gopclntab_SOURCES = tests/fuzz/fuzz_gopclntab.c $(FUZZ_GO) $(FUZZ_MAIN)
tests_fuzz_fuzz_gopclntab_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_kallsyms
tests_fuzz_fuzz_kallsyms_SOURCES = tests/fuzz/fuzz_kallsyms.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_kallsyms_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_demangle
tests_fuzz_fuzz_demangle_SOURCES = tests/fuzz/fuzz_demangle.c $(FUZZ_MAIN)
tests_fuzz_fuzz_demangle_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_events
tests_fuzz_fuzz_events_SOURCES = tests/fuzz/fuzz_events.c \
	tests/events/sysfs.c $(FUZZ_MAIN)
tests_fuzz_fuzz_events_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_options
tests_fuzz_fuzz_options_SOURCES = tests/fuzz/fuzz_options.c $(FUZZ_MAIN)
tests_fuzz_fuzz_options_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_ring
tests_fuzz_fuzz_ring_SOURCES = tests/fuzz/fuzz_ring.c $(FUZZ_MAIN)
tests_fuzz_fuzz_ring_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_maps
tests_fuzz_fuzz_maps_SOURCES = tests/fuzz/fuzz_maps.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_maps_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_report
tests_fuzz_fuzz_report_SOURCES = tests/fuzz/fuzz_report.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_report_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_debug_files
tests_fuzz_fuzz_debug_files_SOURCES = tests/fuzz/fuzz_debug_files.c $(FUZZ_ELF) $(FUZZ_MAIN)
tests_fuzz_fuzz_debug_files_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_hw_spec
tests_fuzz_fuzz_hw_spec_SOURCES = tests/fuzz/fuzz_hw_spec.c $(FUZZ_MAIN)
tests_fuzz_fuzz_hw_spec_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_packages
tests_fuzz_fuzz_packages_SOURCES = tests/fuzz/fuzz_packages.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_packages_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_disasm
tests_fuzz_fuzz_disasm_SOURCES = tests/fuzz/fuzz_disasm.c $(FUZZ_MAIN)
tests_fuzz_fuzz_disasm_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_unwind
tests_fuzz_fuzz_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(FUZZ_ELF) $(FUZZ_MAIN)
tests_fuzz_fuzz_unwind_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_metrics
tests_fuzz_fuzz_metrics_SOURCES = tests/fuzz/fuzz_metrics.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_metrics_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_history
tests_fuzz_fuzz_history_SOURCES = tests/fuzz/fuzz_history.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_history_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_edits
tests_fuzz_fuzz_edits_SOURCES = tests/fuzz/fuzz_edits.c $(FUZZ_MAIN)
tests_fuzz_fuzz_edits_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_allow
tests_fuzz_fuzz_allow_SOURCES = tests/fuzz/fuzz_allow.c $(FUZZ_MAIN)
tests_fuzz_fuzz_allow_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_annotate
tests_fuzz_fuzz_annotate_SOURCES = tests/fuzz/fuzz_annotate.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_annotate_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_kmod_ring
tests_fuzz_fuzz_kmod_ring_SOURCES = tests/fuzz/fuzz_kmod_ring.c $(FUZZ_MAIN)
tests_fuzz_fuzz_kmod_ring_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_check
tests_fuzz_fuzz_check_SOURCES = tests/fuzz/fuzz_check.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_check_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_lost_rbp
tests_fuzz_fuzz_lost_rbp_SOURCES = tests/fuzz/fuzz_lost_rbp.c $(FUZZ_MAIN)
tests_fuzz_fuzz_lost_rbp_LDADD = $(FUZZ_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_perfmap
tests_fuzz_fuzz_perfmap_SOURCES = tests/fuzz/fuzz_perfmap.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_perfmap_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_timer_ring
tests_fuzz_fuzz_timer_ring_SOURCES = tests/fuzz/fuzz_timer_ring.c $(FUZZ_MAIN)
tests_fuzz_fuzz_timer_ring_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_merge
tests_fuzz_fuzz_merge_SOURCES = tests/fuzz/fuzz_merge.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_merge_LDADD = $(FUZZ_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_diff
tests_fuzz_fuzz_diff_SOURCES = tests/fuzz/fuzz_diff.c $(FUZZ_TALLY) $(FUZZ_MAIN)
tests_fuzz_fuzz_diff_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_tui
tests_fuzz_fuzz_tui_SOURCES = tests/fuzz/fuzz_tui.c $(FUZZ_TALLY) $(FUZZ_MAIN) \
	tests/tui/memory_screen.c tests/tui/memory_screen.h
tests_fuzz_fuzz_tui_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_btf
tests_fuzz_fuzz_btf_SOURCES = tests/fuzz/fuzz_btf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_btf_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_perf_data
tests_fuzz_fuzz_perf_data_SOURCES = tests/fuzz/fuzz_perf_data.c $(FUZZ_MAIN)
tests_fuzz_fuzz_perf_data_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_hotspot
tests_fuzz_fuzz_hotspot_SOURCES = tests/fuzz/fuzz_hotspot.c \
	tests/runtime/made_jvm.c tests/runtime/made_jvm.h $(FUZZ_MAIN)
tests_fuzz_fuzz_hotspot_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_foreign
tests_fuzz_fuzz_foreign_SOURCES = tests/fuzz/fuzz_foreign.c $(FUZZ_MAIN)
tests_fuzz_fuzz_foreign_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_python
tests_fuzz_fuzz_python_SOURCES = tests/fuzz/fuzz_python.c tests/fuzz/frames.h $(FUZZ_MAIN)
tests_fuzz_fuzz_python_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_python_asyncio
tests_fuzz_fuzz_python_asyncio_SOURCES = tests/fuzz/fuzz_python_asyncio.c \
	tests/fuzz/frames.h $(FUZZ_MAIN)
tests_fuzz_fuzz_python_asyncio_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_push
tests_fuzz_fuzz_push_SOURCES = tests/fuzz/fuzz_push.c $(FUZZ_MAIN)
tests_fuzz_fuzz_push_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_jitdump
tests_fuzz_fuzz_jitdump_SOURCES = tests/fuzz/fuzz_jitdump.c $(FUZZ_MAIN)
tests_fuzz_fuzz_jitdump_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_php
tests_fuzz_fuzz_php_SOURCES = tests/fuzz/fuzz_php.c tests/fuzz/frames.h $(FUZZ_MAIN)
tests_fuzz_fuzz_php_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_ruby
tests_fuzz_fuzz_ruby_SOURCES = tests/fuzz/fuzz_ruby.c tests/fuzz/frames.h $(FUZZ_MAIN)
tests_fuzz_fuzz_ruby_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_symbol_cache
tests_fuzz_fuzz_symbol_cache_SOURCES = tests/fuzz/fuzz_symbol_cache.c $(FUZZ_MAIN)
tests_fuzz_fuzz_symbol_cache_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_status
tests_fuzz_fuzz_status_SOURCES = tests/fuzz/fuzz_status.c $(FUZZ_MAIN)
tests_fuzz_fuzz_status_LDADD = libcli.a $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_kmod_walk
tests_fuzz_fuzz_kmod_walk_SOURCES = tests/fuzz/fuzz_kmod_walk.c \
	tests/unwind/kernel_walk.c tests/unwind/kernel_walk.h \
	kmod/walk_core.c kmod/walk_core.h $(FUZZ_ELF) $(FUZZ_MAIN)
tests_fuzz_fuzz_kmod_walk_LDADD = $(FUZZ_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_cgroup
tests_fuzz_fuzz_cgroup_SOURCES = tests/fuzz/fuzz_cgroup.c $(FUZZ_LINES) $(FUZZ_MAIN)
tests_fuzz_fuzz_cgroup_LDADD = $(FUZZ_LIBS)
