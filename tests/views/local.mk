# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/views/make_profile.h
if CMOCKA
VIEWS_TESTS = tests/views/test_report tests/views/test_output \
	tests/views/test_annotate tests/views/test_diff tests/views/test_align \
	tests/views/test_func_match \
	tests/views/test_select tests/views/test_calltree \
	tests/views/test_labels \
	tests/views/test_merge tests/views/test_memory \
	tests/views/test_merge_sum \
	tests/views/test_moves tests/views/test_renames \
	tests/views/test_outward tests/views/test_wait_sites
check_PROGRAMS += $(VIEWS_TESTS)
TESTS += $(VIEWS_TESTS)
VIEWS_TEST_HELP = tests/views/make_profile.c tests/views/make_profile.h
tests_views_test_report_SOURCES = tests/views/test_report.c $(VIEWS_TEST_HELP)
tests_views_test_report_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_annotate_SOURCES = tests/views/test_annotate.c
tests_views_test_annotate_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_diff_SOURCES = tests/views/test_diff.c $(VIEWS_TEST_HELP)
tests_views_test_diff_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_func_match_SOURCES = tests/views/test_func_match.c
tests_views_test_func_match_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_align_SOURCES = tests/views/test_align.c
tests_views_test_align_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_output_SOURCES = tests/views/test_output.c $(VIEWS_TEST_HELP)
tests_views_test_output_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_select_SOURCES = tests/views/test_select.c $(VIEWS_TEST_HELP)
tests_views_test_select_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_labels_SOURCES = tests/views/test_labels.c $(VIEWS_TEST_HELP)
tests_views_test_labels_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_calltree_SOURCES = tests/views/test_calltree.c $(VIEWS_TEST_HELP)
tests_views_test_calltree_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_merge_SOURCES = tests/views/test_merge.c $(VIEWS_TEST_HELP)
tests_views_test_merge_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_merge_sum_SOURCES = tests/views/test_merge_sum.c $(VIEWS_TEST_HELP)
tests_views_test_merge_sum_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_memory_SOURCES = tests/views/test_memory.c $(VIEWS_TEST_HELP)
tests_views_test_memory_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_outward_SOURCES = tests/views/test_outward.c
tests_views_test_outward_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_wait_sites_SOURCES = tests/views/test_wait_sites.c $(VIEWS_TEST_HELP)
tests_views_test_wait_sites_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_moves_SOURCES = tests/views/test_moves.c
tests_views_test_moves_LDADD = $(TALLY_LIBS) -lcmocka
tests_views_test_renames_SOURCES = tests/views/test_renames.c
tests_views_test_renames_LDADD = $(TALLY_LIBS) -lcmocka
endif
