# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += doc/disassembly.md doc/examples/count_region.c doc/examples/record.conf \
	doc/examples/compose.yaml doc/examples/daemonset.yaml doc/examples/Dockerfile \
	doc/examples/perf_event_paranoid.conf doc/roadmap.md \
	doc/symbolizing-differences.md \
	doc/unwinding-differences.md
EXTRA_DIST += doc/check-in-ci.md doc/tally-check.schema.json
EXTRA_DIST += doc/kernel-module.md
EXTRA_DIST += doc/views-compared.md doc/releasing.md
EXTRA_DIST += doc/pictures/page.png doc/pictures/terminal.svg doc/pictures/waits.png
EXTRA_DIST += doc/developers.md doc/guide.md doc/measurements.md doc/where-it-works.md
dist_man_MANS += \
	doc/tally.1 \
	doc/tally-addr2line.1 \
	doc/tally-annotate.1 \
	doc/tally-check.1 \
	doc/tally-diff.1 \
	doc/tally-doctor.1 \
	doc/tally-dump.1 \
	doc/tally-encode.1 \
	doc/tally-export.1 \
	doc/tally-flamegraph.1 \
	doc/tally-history.1 \
	doc/tally-import.1 \
	doc/tally-merge.1 \
	doc/tally-info.1 \
	doc/tally-list.1 \
	doc/tally-push.1 \
	doc/tally-record.1 \
	doc/tally-report.1 \
	doc/tally-stat.1 \
	doc/tally-status.1 \
	doc/tally-symbolize.1 \
	doc/tally-format.5 \
	doc/tally-rdpmc.3
