# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libviews.a
libviews_a_SOURCES = \
	src/views/cells.c \
	src/views/cells.h \
	src/views/dump.c \
	src/views/dump.h \
	src/views/info.c \
	src/views/info.h \
	src/views/report.c \
	src/views/report.h \
	src/views/report_csv.c \
	src/views/report_json.c \
	src/views/text.c \
	src/views/wait_place.c \
	src/views/wait_place.h \
	src/views/wait_sites.c \
	src/views/wait_sites.h \
	src/views/query/wait_kinds.c \
	src/views/query/wait_kinds.h \
	src/views/query/aggregate.c \
	src/views/query/aggregate.h \
	src/views/query/fold.c \
	src/views/query/fold.h \
	src/views/query/framekey.c \
	src/views/query/framekey.h \
	src/views/query/interval.c \
	src/views/query/interval.h \
	src/views/query/columns.c \
	src/views/query/columns.h \
	src/views/query/keys.h \
	src/views/query/lines.c \
	src/views/query/lines.h \
	src/views/query/match.c \
	src/views/query/match.h \
	src/views/query/names.c \
	src/views/query/names.h \
	src/views/query/outward.c \
	src/views/query/outward.h \
	src/views/query/select.c \
	src/views/query/select.h \
	src/views/query/table.c \
	src/views/query/table.h \
	src/views/code/line_match.c \
	src/views/code/line_match.h \
	src/views/code/source_git.c \
	src/views/code/source_git.h \
	src/views/code/sources.c \
	src/views/code/sources.h \
	src/views/quality/missing.c \
	src/views/quality/missing.h \
	src/views/quality/quality.c \
	src/views/quality/quality.h \
	src/views/quality/quality_stacks.c \
	src/views/quality/quality_text.c \
	src/views/quality/quality_time.c \
	src/views/quality/source_summary.c \
	src/views/tree/calltree.c \
	src/views/tree/calltree.h \
	src/views/tree/tree.c \
	src/views/tree/tree.h \
	src/views/tree/tree_level.c \
	src/views/tree/tree_level.h \
	src/views/annotate/annotate.c \
	src/views/annotate/annotate.h \
	src/views/annotate/annotate_code.c \
	src/views/annotate/annotate_json.c \
	src/views/annotate/annotate_lines.c \
	src/views/annotate/listing.c \
	src/views/annotate/listing.h \
	src/views/annotate/annotate_text.c \
	src/views/annotate/listing_fold.c \
	src/views/annotate/listing_text.c \
	src/views/annotate/annotate_units.c \
	src/views/diff/diff.c \
	src/views/diff/diff.h \
	src/views/diff/diff_annotate.c \
	src/views/diff/diff_annotate.h \
	src/views/diff/diff_annotate_json.c \
	src/views/diff/diff_annotate_text.c \
	src/views/diff/diff_tree.c \
	src/views/diff/diff_head.c \
	src/views/diff/diff_internal.h \
	src/views/diff/diff_json.c \
	src/views/diff/diff_match.c \
	src/views/diff/diff_norm.c \
	src/views/diff/diff_stats.c \
	src/views/diff/diff_text.c \
	src/views/svg/svg.c \
	src/views/svg/svg.h \
	src/views/html/html.c \
	src/views/html/html.h \
	src/views/html/html_data.h \
	src/views/html/html_diff.c \
	src/views/html/html_encode.c \
	src/views/html/html_encode_lines.c \
	src/views/html/html_encoder.c \
	src/views/html/html_entries.c \
	src/views/html/html_labels.c \
	src/views/html/html_lines.c \
	src/views/html/html_pairs.c \
	src/views/html/html_samples.c \
	src/views/html/html_threads.c \
	src/views/html/html_union.c \
	src/views/html/html_waits.c

# The HTML page: its parts become text in C.  Order matters for the scripts.
HTML_PARTS = \
	src/views/html/page.html \
	src/views/html/page.css \
	src/views/html/data.js \
	src/views/html/model.js \
	src/views/html/transform.js \
	src/views/html/branches.js \
	src/views/html/graph.js \
	src/views/html/table.js \
	src/views/html/butterfly.js \
	src/views/html/lines.js \
	src/views/html/source.js \
	src/views/html/tree.js \
	src/views/html/compare.js \
	src/views/html/timeline.js \
	src/views/html/labels.js \
	src/views/html/waits.js \
	src/views/html/page.js \
	src/views/html/search.js \
	src/views/html/menu.js \
	src/views/html/start.js
EXTRA_DIST += $(HTML_PARTS) src/views/html/embed.awk
nodist_libviews_a_SOURCES = src/views/html/html_assets.c
CLEANFILES += src/views/html/html_assets.c
src/views/html/html_assets.c: $(HTML_PARTS) src/views/html/embed.awk
	$(AM_V_GEN)$(MKDIR_P) src/views/html && cd $(srcdir) && \
		$(AWK) -f src/views/html/embed.awk $(HTML_PARTS) \
		>'$(abs_builddir)/$@.tmp' && \
		mv '$(abs_builddir)/$@.tmp' '$(abs_builddir)/$@'
