# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	scripts/bench-check \
	scripts/check-docs \
	scripts/check-structure \
	scripts/debian-source \
	scripts/install-needs \
	scripts/test \
	scripts/torture \
	scripts/try \
	scripts/bench/accuracy \
	scripts/bench/accuracy-programs \
	scripts/bench/avx512-program \
	scripts/bench/bench_addresses.py \
	scripts/bench/bench_annotate.py \
	scripts/bench/bench_disasm.py \
	scripts/bench/bench_html.py \
	scripts/bench/bench_images.py \
	scripts/bench/bench_lib.py \
	scripts/bench/bench_names.py \
	scripts/bench/bench_regress.py \
	scripts/bench/bench_ptrace.py \
	scripts/bench/bench_report.py \
	scripts/bench/bench_shares.py \
	scripts/bench/bench_stat.py \
	scripts/bench/bench_stacks.py \
	scripts/bench/bench_timer.py \
	scripts/bench/bench_truth.py \
	scripts/bench/bench_unwind.py \
	scripts/bench/build-twice \
	scripts/bench/build-workload \
	scripts/bench/diff-noise \
	scripts/bench/run \
	scripts/bench/setup-newest-perf \
	scripts/vm/boot \
	scripts/vm/get-kernel \
	scripts/vm/get-module-kernels
