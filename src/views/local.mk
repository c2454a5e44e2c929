# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libviews.a
libviews_a_SOURCES = \
	src/views/aggregate.c \
	src/views/aggregate.h \
	src/views/annotate.c \
	src/views/annotate.h \
	src/views/annotate_calls.c \
	src/views/annotate_code.c \
	src/views/annotate_hits.c \
	src/views/annotate_json.c \
	src/views/annotate_lines.c \
	src/views/insns_by_line.c \
	src/views/annotate_rows.c \
	src/views/annotate_rows.h \
	src/views/annotate_text.c \
	src/views/annotate_text_code.c \
	src/views/annotate_units.c \
	src/views/cells.c \
	src/views/cells.h \
	src/views/diff.c \
	src/views/diff.h \
	src/views/diff_annotate.c \
	src/views/diff_annotate.h \
	src/views/diff_annotate_json.c \
	src/views/diff_annotate_text.c \
	src/views/diff_code.c \
	src/views/diff_files.c \
	src/views/diff_flame.c \
	src/views/diff_funcs.c \
	src/views/diff_head.c \
	src/views/diff_internal.h \
	src/views/diff_json.c \
	src/views/diff_lines.c \
	src/views/diff_match.c \
	src/views/diff_moved.c \
	src/views/diff_norm.c \
	src/views/diff_rows.c \
	src/views/diff_stats.c \
	src/views/diff_svg.c \
	src/views/diff_text.c \
	src/views/dump.c \
	src/views/dump.h \
	src/views/flame.c \
	src/views/flame.h \
	src/views/flame_invert.c \
	src/views/flame_prune.c \
	src/views/fold.c \
	src/views/fold.h \
	src/views/framekey.c \
	src/views/framekey.h \
	src/views/html.c \
	src/views/html.h \
	src/views/html_calls.c \
	src/views/html_data.h \
	src/views/html_diff.c \
	src/views/html_diff.h \
	src/views/html_encode.c \
	src/views/html_encode_lines.c \
	src/views/html_threads.c \
	src/views/html_line_codes.c \
	src/views/html_line_frames.c \
	src/views/html_lines.c \
	src/views/html_lines.h \
	src/views/html_samples.c \
	src/views/html_tree.c \
	src/views/html_union.c \
	src/views/info.c \
	src/views/info.h \
	src/views/info_text.c \
	src/views/interval.c \
	src/views/interval.h \
	src/views/keys.c \
	src/views/keys.h \
	src/views/line_match.c \
	src/views/line_match.h \
	src/views/lines.c \
	src/views/lines.h \
	src/views/match.c \
	src/views/match.h \
	src/views/missing.c \
	src/views/missing.h \
	src/views/missing_text.c \
	src/views/names.c \
	src/views/names.h \
	src/views/outward.c \
	src/views/outward.h \
	src/views/preorder.c \
	src/views/preorder.h \
	src/views/ranges.c \
	src/views/report.c \
	src/views/report.h \
	src/views/report_csv.c \
	src/views/report_json.c \
	src/views/select.c \
	src/views/select.h \
	src/views/source_git.c \
	src/views/source_git.h \
	src/views/source_server.c \
	src/views/source_server.h \
	src/views/source_summary.c \
	src/views/sources.c \
	src/views/sources.h \
	src/views/svg.c \
	src/views/svg_frame.c \
	src/views/svg_frame.h \
	src/views/table.c \
	src/views/table.h \
	src/views/text.c \
	src/views/timeslice.c \
	src/views/timeslice.h \
	src/views/tree.c \
	src/views/tree.h \
	src/views/tree_level.c \
	src/views/tree_level.h \
	src/views/tree_rows.c \
	src/views/wait_sites.c \
	src/views/wait_sites.h \
	src/views/quality.c \
	src/views/quality.h \
	src/views/quality_json.c \
	src/views/quality_stacks.c \
	src/views/quality_text.c \
	src/views/quality_time.c

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
	src/views/html/page.js \
	src/views/html/search.js \
	src/views/html/menu.js \
	src/views/html/start.js
EXTRA_DIST += $(HTML_PARTS) src/views/html/embed.awk
nodist_libviews_a_SOURCES = src/views/html_assets.c
CLEANFILES += src/views/html_assets.c
src/views/html_assets.c: $(HTML_PARTS) src/views/html/embed.awk
	$(AM_V_GEN)$(MKDIR_P) src/views && cd $(srcdir) && \
		$(AWK) -f src/views/html/embed.awk $(HTML_PARTS) \
		>'$(abs_builddir)/$@.tmp' && \
		mv '$(abs_builddir)/$@.tmp' '$(abs_builddir)/$@'
