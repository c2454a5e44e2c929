// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of metrics: of the kernel's own events, which perf_event_open(2) defines,
 * then of the processor families. */
#include "events/metrics.h"

#define PAGE "perf_event_open(2)"

/*
 * AMD K8, as BKDG §10.2.1 describes its metrics with its events.  Each fits the four
 * counters, so all its events are counted at the same time.
 */
#define K8_CYCLES "k8-bu-cpu-clk-unhalted"
#define K8_MASKED "k8-fr-interrupts-masked-cycles"
#define K8_PENDING "k8-fr-interrupts-masked-while-pending-cycles"
#define K8_PAGES "k8-nb-memory-controller-page-access-event"
#define K8_NODE "Counts the whole node: measure it with -a."

/* BKDG F6h-F8h: use = (01h + 02h + 04h) / all four; bytes = dwords * 4. */
#define K8_LINK "BKDG 10.2.1.9, F6h to F8h"
#define K8_SENT(n, mask) "k8-nb-ht-bus" #n "-bandwidth,mask=" mask
#define LINK(n)								\
	{ .name = "k8-ht" #n "-use", &hw_k8, "%", "100 * a / (a + b)",	\
	  { K8_SENT(n, "command+data+buffer-release"), K8_SENT(n, "nop") }, \
	  "use of HyperTransport link " #n ", sending", K8_LINK, K8_NODE }, \
	{ .name = "k8-ht" #n "-bandwidth", &hw_k8, "B/s", "4 * a / time", \
	  { K8_SENT(n, "command+data+buffer-release") },		\
	  "bytes sent over HyperTransport link " #n, K8_LINK, K8_NODE }, \
	{ .name = "k8-ht" #n "-data", &hw_k8, "B/s", "4 * a / time",	\
	  { K8_SENT(n, "data") },					\
	  "bytes of data sent over HyperTransport link " #n, K8_LINK, K8_NODE }

#define PAGES(what, letter, text)					\
	{ .name = "k8-page-" what "-rate", &hw_k8, "%",			\
	  "100 * " letter " / (a + b + c)",				\
	  { K8_PAGES ",mask=page-hit", K8_PAGES ",mask=page-miss",	\
	    K8_PAGES ",mask=page-conflict" },				\
	  text, "BKDG 10.2.1.7, E0h", K8_NODE }

/*
 * The P6 family.  The SDM (3B §18.22.1, flag E) explains how edges give the share of time
 * in a state and its average length.  The others follow from the descriptions of their
 * events.  Each fits the two counters.
 */
#define P6_CYCLES "CPU_CLK_UNHALTED"
#define P6_MASKED "CYCLES_INT_MASKED"
#define P6_PENDING "CYCLES_INT_PENDING_AND_MASKD"

const struct metric metric_table[] = {
	{ .name = "cpus", NULL, "", "a / 1000000000 / time", { "task-clock" },
	  "processors kept busy, on average", PAGE },
	{ .name = "ghz", NULL, "GHz", "a / b", { "cycles", "task-clock" },
	  "cycles in a nanosecond of CPU time", PAGE },
	{ .name = "ipc", NULL, "", "a / b", { "instructions", "cycles" },
	  "instructions per cycle", PAGE },
	{ .name = "cpi", NULL, "", "a / b", { "cycles", "instructions" },
	  "cycles per instruction", PAGE, .on_request = true },
	{ .name = "branch-miss-rate", NULL, "%", "100 * a / b",
	  { "branch-misses", "branches" },
	  "branches that were predicted wrongly", PAGE },
	{ .name = "cache-miss-rate", NULL, "%", "100 * a / b",
	  { "cache-misses", "cache-references" },
	  "accesses of the last-level cache that miss", PAGE },
	{ .name = "l1d-miss-rate", NULL, "%", "100 * a / b",
	  { "L1-dcache-load-misses", "L1-dcache-loads" },
	  "reads that miss the level 1 data cache", PAGE },
	{ .name = "llc-miss-rate", NULL, "%", "100 * a / b",
	  { "LLC-load-misses", "LLC-loads" },
	  "reads of the last-level cache that miss", PAGE },
	{ .name = "dtlb-miss-rate", NULL, "%", "100 * a / b",
	  { "dTLB-load-misses", "dTLB-loads" }, "reads that miss the data TLB",
	  PAGE },
	{ .name = "itlb-miss-rate", NULL, "%", "100 * a / b",
	  { "iTLB-load-misses", "iTLB-loads" },
	  "fetches that miss the instruction TLB", PAGE },
	{ .name = "frontend-stalls", NULL, "%", "100 * a / b",
	  { "stalled-cycles-frontend", "cycles" },
	  "cycles without instructions to issue", PAGE },
	{ .name = "backend-stalls", NULL, "%", "100 * a / b",
	  { "stalled-cycles-backend", "cycles" },
	  "cycles that wait for results", PAGE },
	{ .name = "switch-rate", NULL, "/s", "a * 1000000000 / b",
	  { "context-switches", "task-clock" },
	  "context switches per second of CPU time", PAGE },
	{ .name = "migration-rate", NULL, "/s", "a * 1000000000 / b",
	  { "cpu-migrations", "task-clock" },
	  "moves to another processor per second of CPU time", PAGE },
	{ .name = "fault-rate", NULL, "/s", "a * 1000000000 / b",
	  { "page-faults", "task-clock" }, "page faults per second of CPU time",
	  PAGE },

	{ .name = "k8-cpi", &hw_k8, "", "a / b",
	  { K8_CYCLES, "k8-fr-retired-x86-instructions" },
	  "cycles per instruction, without idle time",
	  "BKDG 10.2.1.6, note of 76h; C0h",
	  "76h stands still while the processor is halted; an idle loop that "
	  "does not halt counts." },
	{ .name = "k8-ipc", &hw_k8, "", "a / b",
	  { "k8-fr-retired-x86-instructions", K8_CYCLES },
	  "instructions per cycle, without idle time",
	  "BKDG 10.2.1.6, note of 76h; C0h", .on_request = true },
	{ .name = "k8-interrupts-masked", &hw_k8, "cycles", "a / b",
	  { K8_MASKED, K8_MASKED ",edge" },
	  "how long interrupts are masked each time, on average",
	  "BKDG 10.2.1.6, CDh" },
	{ .name = "k8-interrupts-masked-by-handling", &hw_k8, "%",
	  "100 * a / b", { "k8-fr-taken-hardware-interrupts", K8_MASKED ",edge" },
	  "times that interrupts are masked to handle one",
	  "BKDG 10.2.1.6, CDh; CFh" },
	{ .name = "k8-interrupts-delayed", &hw_k8, "%", "100 * a / b",
	  { K8_PENDING ",edge", K8_MASKED ",edge" },
	  "times that interrupts are masked and one waits",
	  "BKDG 10.2.1.6, CEh" },
	{ .name = "k8-interrupt-delay", &hw_k8, "cycles", "a / b",
	  { K8_PENDING, K8_PENDING ",edge" },
	  "how long a delayed interrupt waits, on average",
	  "BKDG 10.2.1.6, CEh" },
	PAGES("hit", "a", "memory accesses that find their page open"),
	PAGES("miss", "b", "memory accesses that find no page open"),
	PAGES("conflict", "c", "memory accesses that find another page open"),
	{ .name = "k8-dram-bandwidth", &hw_k8, "B/s", "block * a / time",
	  { K8_PAGES }, "bytes moved by this node's memory controller", "BKDG 10.2.1.7, E0h",
	  K8_NODE,
	  .params = { { "block", 64, "bytes of an access: 64, or 32 where a "
				     "single channel is set up so" } } },
	{ .name = "k8-dram-turnaround-loss", &hw_k8, "B/s",
	  "width * 2 * (2 * a + b + (tcl - 1) * c) / time",
	  { "k8-nb-memory-controller-turnaround,mask=dimm-turnaround",
	    "k8-nb-memory-controller-turnaround"
	    ",mask=read-to-write-turnaround",
	    "k8-nb-memory-controller-turnaround"
	    ",mask=write-to-read-turnaround" },
	  "bandwidth lost to turnarounds of the memory bus",
	  "BKDG 10.2.1.7, E3h", K8_NODE,
	  .params = { { "width", 16, "bytes of the memory bus: 16 with two "
				     "channels, 8 with one" },
		      { "tcl", 3, "CAS latency in memory clocks" } } },
	{ .name = "k8-gart-miss-rate", &hw_k8, "%", "100 * a / b",
	  { "k8-gart-events,mask=miss", "k8-gart-events,mask=cpu-hit+io-hit" },
	  "accesses of the graphics aperture that miss its TLB",
	  "BKDG 10.2.1.7, EEh", K8_NODE },
	{ .name = "k8-probe-bandwidth", &hw_k8, "B/s", "64 * a / time",
	  { "k8-nb-probe-result"
	    ",mask=probe-hit-dirty-no-memory-cancel"
	    "+probe-hit-dirty-with-memory-cancel" },
	  "bytes moved because a probe hit a dirty line", "BKDG 10.2.1.7, ECh",
	  K8_NODE },
	LINK(0), LINK(1), LINK(2),
	{ .name = "k8-read-bandwidth", &hw_k8, "B/s", "64 * a / time",
	  { "k8:0x6c" },
	  "bytes that caches of this processor read from the system",
	  "BKDG 10.2.1.4, 6Ch" },
	{ .name = "k8-write-bandwidth", &hw_k8, "B/s", "8 * a / time",
	  { "k8:0x6d" }, "bytes that this processor writes to the system",
	  "BKDG 10.2.1.4, 6Dh" },
	{ .name = "k8-prefetch-bandwidth", &hw_k8, "B/s", "64 * (a - b) / time",
	  { "k8:0x67,mask=0x02", "k8:0x67,mask=0x01" },
	  "bytes that the data prefetcher reads from the system",
	  "BKDG 10.2.1.4, 67h" },
	{ .name = "k8-wc-writes", &hw_k8, "", "a - b",
	  { "k8:0x65,mask=0x02", "k8:0x65,mask=0x80" },
	  "writes to write-combining memory, without streaming stores to other "
	  "memory", "BKDG 10.2.1.2, 65h" },
	{ .name = "k8-fpu-busy", &hw_k8, "%", "100 * a / b",
	  { "k8-fp-cycles-with-no-fpu-ops-retired,inv,count=1", K8_CYCLES },
	  "cycles in which a floating point operation retired",
	  "BKDG 10.2.1.1, 01h; 76h" },
	{ .name = "k8-branch-miss-rate", &hw_k8, "%", "100 * a / b",
	  { "k8-fr-retired-branches-mispredicted", "k8-fr-retired-branches" },
	  "branches that were not predicted correctly",
	  "BKDG 10.2.1.6, C2h and C3h",
	  "Far transfers, exceptions and interrupts are never predicted and "
	  "count as missed." },
	{ .name = "k8-return-miss-rate", &hw_k8, "%", "100 * a / b",
	  { "k8-fr-retired-near-returns-mispredicted",
	    "k8-fr-retired-near-returns" },
	  "near returns that were not predicted correctly",
	  "BKDG 10.2.1.6, C8h and C9h" },

	{ .name = "p6-cpi", &hw_p6, "", "a / b", { P6_CYCLES, "INST_RETIRED" },
	  "cycles per instruction, without idle time",
	  "P6 list, 79H (not halted) and C0H" },
	{ .name = "p6-ipc", &hw_p6, "", "a / b", { "INST_RETIRED", P6_CYCLES },
	  "instructions per cycle, without idle time",
	  "P6 list, 79H (not halted) and C0H", .on_request = true },
	{ .name = "p6-interrupts-masked", &hw_p6, "cycles", "a / b",
	  { P6_MASKED, P6_MASKED ",edge" },
	  "how long interrupts are masked each time, on average",
	  "SDM 3B 18.22.1, flag E; C6H" },
	{ .name = "p6-interrupts-masked-share", &hw_p6, "%", "100 * a / b",
	  { P6_MASKED, P6_CYCLES }, "share of the time that interrupts are masked",
	  "SDM 3B 18.22.1, flag E; C6H, 79H" },
	{ .name = "p6-interrupt-delay", &hw_p6, "cycles", "a / b",
	  { P6_PENDING, P6_PENDING ",edge" },
	  "how long a delayed interrupt waits, on average",
	  "SDM 3B 18.22.1, flag E; C7H" },
	{ .name = "p6-interrupts-delayed", &hw_p6, "%", "100 * a / b",
	  { P6_PENDING ",edge", P6_MASKED ",edge" },
	  "times that interrupts are masked and one waits",
	  "SDM 3B 18.22.1, flag E; C6H, C7H" },
	{ .name = "p6-bus-use", &hw_p6, "%", "100 * a / b",
	  { "BUS_DRDY_CLOCKS:ANY", P6_CYCLES },
	  "use of the external data bus, by any processor",
	  "P6 list, 62H (utilization of the data bus), 79H",
	  "With ANY, 62H counts clocks of the processor, as 79H does; its own "
	  "share (SELF) counts bus clocks." },
	{ .name = "p6-data-miss-cycles", &hw_p6, "cycles", "a / b",
	  { "DCU_MISS_OUTSTANDING", "DCU_LINES_IN" },
	  "how long a data cache miss is open, on average",
	  "P6 list, 48H (weighted by open misses), 45H",
	  "Misses that also miss the L2 count two cycles too few." },
	{ .name = "p6-l2-miss-rate", &hw_p6, "%", "100 * a / b",
	  { "L2_RQSTS:I", "L2_RQSTS:MESI" }, "requests to the L2 that miss",
	  "P6 list, 2EH; note 1, state I" },
	{ .name = "p6-fetch-miss-rate", &hw_p6, "%", "100 * a / b",
	  { "IFU_IFETCH_MISS", "IFU_IFETCH" },
	  "instruction fetches that go to memory", "P6 list, 80H and 81H" },
	{ .name = "p6-branch-miss-rate", &hw_p6, "%", "100 * a / b",
	  { "BR_MISS_PRED_RETIRED", "BR_INST_RETIRED" },
	  "branches that were predicted wrongly", "P6 list, C4H and C5H" },
	{ .name = "p6-btb-miss-rate", &hw_p6, "%", "100 * a / b",
	  { "BTB_MISSES", "BR_INST_DECODED" },
	  "branches that the branch target buffer did not know",
	  "P6 list, E0H and E2H" },
	{ .name = NULL },
};
