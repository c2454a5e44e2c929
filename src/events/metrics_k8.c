// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics of AMD K8, as BKDG §10.2.1 describes them with its events.  Each fits the
 * four counters, so all its events are counted at the same time.
 */
#include "events/metrics.h"

#define CYCLES "k8-bu-cpu-clk-unhalted"
#define MASKED "k8-fr-interrupts-masked-cycles"
#define PENDING "k8-fr-interrupts-masked-while-pending-cycles"
#define PAGES "k8-nb-memory-controller-page-access-event"
#define NODE "Counts the whole node: measure it with -a."

/* BKDG F6h-F8h: use = (01h + 02h + 04h) / all four; bytes = dwords * 4. */
#define LINK(n)								\
	{ .name = "k8-ht" #n "-use", .pmu = &hw_k8,			\
	  .summary = "use of HyperTransport link " #n ", sending",	\
	  .events = { "k8-nb-ht-bus" #n "-bandwidth,mask=command+data"	\
		      "+buffer-release",				\
		      "k8-nb-ht-bus" #n "-bandwidth,mask=nop" },	\
	  .formula = "100 * a / (a + b)", .unit = "%", .note = NODE,	\
	  .source = "BKDG 10.2.1.9, F6h to F8h" },			\
	{ .name = "k8-ht" #n "-bandwidth", .pmu = &hw_k8,		\
	  .summary = "bytes sent over HyperTransport link " #n,		\
	  .events = { "k8-nb-ht-bus" #n "-bandwidth,mask=command+data"	\
		      "+buffer-release" },				\
	  .formula = "4 * a / time", .unit = "B/s", .note = NODE,	\
	  .source = "BKDG 10.2.1.9, F6h to F8h" },			\
	{ .name = "k8-ht" #n "-data", .pmu = &hw_k8,			\
	  .summary = "bytes of data sent over HyperTransport link " #n, \
	  .events = { "k8-nb-ht-bus" #n "-bandwidth,mask=data" },	\
	  .formula = "4 * a / time", .unit = "B/s", .note = NODE,	\
	  .source = "BKDG 10.2.1.9, F6h to F8h" }

#define PAGE(what, letter, text)					\
	{ .name = "k8-page-" what "-rate", .pmu = &hw_k8,		\
	  .summary = text,						\
	  .events = { PAGES ",mask=page-hit", PAGES ",mask=page-miss",	\
		      PAGES ",mask=page-conflict" },			\
	  .formula = "100 * " letter " / (a + b + c)", .unit = "%",	\
	  .note = NODE, .source = "BKDG 10.2.1.7, E0h" }

const struct metric metrics_k8[] = {
	{ .name = "k8-cpi", .pmu = &hw_k8,
	  .summary = "cycles per instruction, without idle time",
	  .events = { CYCLES, "k8-fr-retired-x86-instructions" },
	  .formula = "a / b", .unit = "",
	  .source = "BKDG 10.2.1.6, note of 76h; C0h",
	  .note = "76h stands still while the processor is halted; an idle "
		  "loop that does not halt counts." },
	{ .name = "k8-ipc", .on_request = true, .pmu = &hw_k8,
	  .summary = "instructions per cycle, without idle time",
	  .events = { "k8-fr-retired-x86-instructions", CYCLES },
	  .formula = "a / b", .unit = "",
	  .source = "BKDG 10.2.1.6, note of 76h; C0h" },
	{ .name = "k8-interrupts-masked", .pmu = &hw_k8,
	  .summary = "how long interrupts are masked each time, on average",
	  .events = { MASKED, MASKED ",edge" },
	  .formula = "a / b", .unit = "cycles",
	  .source = "BKDG 10.2.1.6, CDh" },
	{ .name = "k8-interrupts-masked-by-handling", .pmu = &hw_k8,
	  .summary = "times that interrupts are masked to handle one",
	  .events = { "k8-fr-taken-hardware-interrupts", MASKED ",edge" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.6, CDh; CFh" },
	{ .name = "k8-interrupts-delayed", .pmu = &hw_k8,
	  .summary = "times that interrupts are masked and one waits",
	  .events = { PENDING ",edge", MASKED ",edge" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.6, CEh" },
	{ .name = "k8-interrupt-delay", .pmu = &hw_k8,
	  .summary = "how long a delayed interrupt waits, on average",
	  .events = { PENDING, PENDING ",edge" },
	  .formula = "a / b", .unit = "cycles",
	  .source = "BKDG 10.2.1.6, CEh" },
	PAGE("hit", "a", "memory accesses that find their page open"),
	PAGE("miss", "b", "memory accesses that find no page open"),
	PAGE("conflict", "c", "memory accesses that find another page open"),
	{ .name = "k8-dram-bandwidth", .pmu = &hw_k8,
	  .summary = "bytes moved by this node's memory controller",
	  .events = { PAGES }, .formula = "block * a / time", .unit = "B/s",
	  .source = "BKDG 10.2.1.7, E0h", .note = NODE,
	  .params = { { "block", 64, "bytes of an access: 64, or 32 where a "
				     "single channel is set up so" } } },
	{ .name = "k8-dram-turnaround-loss", .pmu = &hw_k8,
	  .summary = "bandwidth lost to turnarounds of the memory bus",
	  .events = {
		"k8-nb-memory-controller-turnaround,mask=dimm-turnaround",
		"k8-nb-memory-controller-turnaround"
		",mask=read-to-write-turnaround",
		"k8-nb-memory-controller-turnaround"
		",mask=write-to-read-turnaround" },
	  .formula = "width * 2 * (2 * a + b + (tcl - 1) * c) / time",
	  .unit = "B/s", .source = "BKDG 10.2.1.7, E3h", .note = NODE,
	  .params = { { "width", 16, "bytes of the memory bus: 16 with two "
				     "channels, 8 with one" },
		      { "tcl", 3, "CAS latency in memory clocks" } } },
	{ .name = "k8-gart-miss-rate", .pmu = &hw_k8,
	  .summary = "accesses of the graphics aperture that miss its TLB",
	  .events = { "k8-gart-events,mask=miss",
		      "k8-gart-events,mask=cpu-hit+io-hit" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.7, EEh", .note = NODE },
	{ .name = "k8-probe-bandwidth", .pmu = &hw_k8,
	  .summary = "bytes moved because a probe hit a dirty line",
	  .events = { "k8-nb-probe-result"
		      ",mask=probe-hit-dirty-no-memory-cancel"
		      "+probe-hit-dirty-with-memory-cancel" },
	  .formula = "64 * a / time", .unit = "B/s",
	  .source = "BKDG 10.2.1.7, ECh", .note = NODE },
	LINK(0), LINK(1), LINK(2),
	{ .name = "k8-read-bandwidth", .pmu = &hw_k8,
	  .summary = "bytes that caches of this processor read from the system",
	  .events = { "k8:0x6c" }, .formula = "64 * a / time", .unit = "B/s",
	  .source = "BKDG 10.2.1.4, 6Ch" },
	{ .name = "k8-write-bandwidth", .pmu = &hw_k8,
	  .summary = "bytes that this processor writes to the system",
	  .events = { "k8:0x6d" }, .formula = "8 * a / time", .unit = "B/s",
	  .source = "BKDG 10.2.1.4, 6Dh" },
	{ .name = "k8-prefetch-bandwidth", .pmu = &hw_k8,
	  .summary = "bytes that the data prefetcher reads from the system",
	  .events = { "k8:0x67,mask=0x02", "k8:0x67,mask=0x01" },
	  .formula = "64 * (a - b) / time", .unit = "B/s",
	  .source = "BKDG 10.2.1.4, 67h" },
	{ .name = "k8-wc-writes", .pmu = &hw_k8,
	  .summary = "writes to write-combining memory, without streaming "
		     "stores to other memory",
	  .events = { "k8:0x65,mask=0x02", "k8:0x65,mask=0x80" },
	  .formula = "a - b", .unit = "",
	  .source = "BKDG 10.2.1.2, 65h" },
	{ .name = "k8-fpu-busy", .pmu = &hw_k8,
	  .summary = "cycles in which a floating point operation retired",
	  .events = { "k8-fp-cycles-with-no-fpu-ops-retired,inv,count=1",
		      CYCLES },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.1, 01h; 76h" },
	{ .name = "k8-branch-miss-rate", .pmu = &hw_k8,
	  .summary = "branches that were not predicted correctly",
	  .events = { "k8-fr-retired-branches-mispredicted",
		      "k8-fr-retired-branches" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.6, C2h and C3h",
	  .note = "Far transfers, exceptions and interrupts are never "
		  "predicted and count as missed." },
	{ .name = "k8-return-miss-rate", .pmu = &hw_k8,
	  .summary = "near returns that were not predicted correctly",
	  .events = { "k8-fr-retired-near-returns-mispredicted",
		      "k8-fr-retired-near-returns" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "BKDG 10.2.1.6, C8h and C9h" },
	{ .name = NULL },
};
