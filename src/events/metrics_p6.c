// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics of the P6 family.  The SDM (3B §18.22.1, flag E) explains how edges give
 * the share of time in a state and its average length.  The others follow from the
 * descriptions of their events.  Each fits the two counters.
 */
#include "events/metrics.h"

#define CYCLES "CPU_CLK_UNHALTED"
#define MASKED "CYCLES_INT_MASKED"
#define PENDING "CYCLES_INT_PENDING_AND_MASKD"

const struct metric metrics_p6[] = {
	{ .name = "p6-cpi", .pmu = &hw_p6,
	  .summary = "cycles per instruction, without idle time",
	  .events = { CYCLES, "INST_RETIRED" }, .formula = "a / b",
	  .unit = "", .source = "P6 list, 79H (not halted) and C0H" },
	{ .name = "p6-ipc", .on_request = true, .pmu = &hw_p6,
	  .summary = "instructions per cycle, without idle time",
	  .events = { "INST_RETIRED", CYCLES }, .formula = "a / b",
	  .unit = "", .source = "P6 list, 79H (not halted) and C0H" },
	{ .name = "p6-interrupts-masked", .pmu = &hw_p6,
	  .summary = "how long interrupts are masked each time, on average",
	  .events = { MASKED, MASKED ",edge" }, .formula = "a / b",
	  .unit = "cycles", .source = "SDM 3B 18.22.1, flag E; C6H" },
	{ .name = "p6-interrupts-masked-share", .pmu = &hw_p6,
	  .summary = "share of the time that interrupts are masked",
	  .events = { MASKED, CYCLES }, .formula = "100 * a / b",
	  .unit = "%", .source = "SDM 3B 18.22.1, flag E; C6H, 79H" },
	{ .name = "p6-interrupt-delay", .pmu = &hw_p6,
	  .summary = "how long a delayed interrupt waits, on average",
	  .events = { PENDING, PENDING ",edge" }, .formula = "a / b",
	  .unit = "cycles", .source = "SDM 3B 18.22.1, flag E; C7H" },
	{ .name = "p6-interrupts-delayed", .pmu = &hw_p6,
	  .summary = "times that interrupts are masked and one waits",
	  .events = { PENDING ",edge", MASKED ",edge" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "SDM 3B 18.22.1, flag E; C6H, C7H" },
	{ .name = "p6-bus-use", .pmu = &hw_p6,
	  .summary = "use of the external data bus, by any processor",
	  .events = { "BUS_DRDY_CLOCKS:ANY", CYCLES },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "P6 list, 62H (utilization of the data bus), 79H",
	  .note = "With ANY, 62H counts clocks of the processor, as 79H does; "
		  "its own share (SELF) counts bus clocks." },
	{ .name = "p6-data-miss-cycles", .pmu = &hw_p6,
	  .summary = "how long a data cache miss is open, on average",
	  .events = { "DCU_MISS_OUTSTANDING", "DCU_LINES_IN" },
	  .formula = "a / b", .unit = "cycles",
	  .source = "P6 list, 48H (weighted by open misses), 45H",
	  .note = "Misses that also miss the L2 count two cycles too few." },
	{ .name = "p6-l2-miss-rate", .pmu = &hw_p6,
	  .summary = "requests to the L2 that miss",
	  .events = { "L2_RQSTS:I", "L2_RQSTS:MESI" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "P6 list, 2EH; note 1, state I" },
	{ .name = "p6-fetch-miss-rate", .pmu = &hw_p6,
	  .summary = "instruction fetches that go to memory",
	  .events = { "IFU_IFETCH_MISS", "IFU_IFETCH" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "P6 list, 80H and 81H" },
	{ .name = "p6-branch-miss-rate", .pmu = &hw_p6,
	  .summary = "branches that were predicted wrongly",
	  .events = { "BR_MISS_PRED_RETIRED", "BR_INST_RETIRED" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "P6 list, C4H and C5H" },
	{ .name = "p6-btb-miss-rate", .pmu = &hw_p6,
	  .summary = "branches that the branch target buffer did not know",
	  .events = { "BTB_MISSES", "BR_INST_DECODED" },
	  .formula = "100 * a / b", .unit = "%",
	  .source = "P6 list, E0H and E2H" },
	{ .name = NULL },
};
