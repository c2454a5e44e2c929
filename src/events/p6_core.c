// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intel P6 family: everything except the external bus.  Each row has EN's name
 * without its PP_, then other spellings; hw_event_find() accepts PP_ and p6-. Eight
 * events are in EN only.  See hw.h for the documents.
 *
 * EN calls only 11h to 14h speculative.  What is executed (10h) or decoded (D0h,
 * E0h) is speculative by its nature and is marked so, too.
 */
#include "events/hw.h"

#define BOTH (HW_P6_EN | HW_P6_ZH)
#define MASKS(m) COUNT(m), (m)
#define NONE 0, 0, NULL

enum { CTR0 = 1 << 0, CTR1 = 1 << 1 };

/* EN note 1 prints 'MES"' for MESI (FH); ZH note 1 is correct. */
static const struct hw_mask mesi[] = {
	{ 0x08, "m", "modified" }, { 0x04, "e", "exclusive" },
	{ 0x02, "s", "shared" }, { 0x01, "i", "invalid: a miss" },
	{ 0x0f, "mesi", "all states" },
};

#define MESI HW_MASK_MESI, MASKS(mesi)

static const struct hw_event events[] = {
	{ 0x43, 0, 0, BOTH, HW_UNSAID, NONE, "DATA_MEM_REFS", "",
	  "data reads and writes, of any kind of memory",
	  "Each part of a split access counts; 80-bit floating point counts "
	  "twice.", NULL, "L1-dcache-loads" },
	{ 0x45, 0, 0, BOTH, HW_UNSAID, NONE, "DCU_LINES_IN", "",
	  "lines brought into the data cache", NULL, NULL,
	  "L1-dcache-load-misses" },
	{ 0x46, 0, 0, BOTH, HW_UNSAID, NONE, "DCU_M_LINES_IN", "",
	  "modified lines brought into the data cache", NULL, NULL,
	  "L1-dcache-store-misses" },
	/* ZH counts snoops that hit (HITM), interventions and replacements.  EN
	 * says the same in other words. */
	{ 0x47, 0, 0, BOTH, HW_UNSAID, NONE, "DCU_M_LINES_OUT", "",
	  "modified lines that left the data cache",
	  "By snoops of others, interventions or replacement.", NULL,
	  "L1-dcache-stores" },
	{ 0x48, 0, 0, BOTH, HW_UNSAID, NONE, "DCU_MISS_OUTSTANDING", "",
	  "cycles with data cache misses open, times their number",
	  "Misses that also miss the L2 count two cycles too few; further "
	  "loads of the line count nothing. Useful, not exact.", NULL,
	  "stalled-cycles-backend" },
	/* EN: cacheable and uncacheable; ZH: fetched from the cache and not. */
	{ 0x80, 0, 0, BOTH, HW_UNSAID, NONE, "IFU_IFETCH", "",
	  "instruction fetches, cacheable or not",
	  "One for each cached line, one for each uncached instruction.",
	  NULL, "L1-icache-loads" },
	{ 0x81, 0, 0, BOTH, HW_UNSAID, NONE, "IFU_IFETCH_MISS", "",
	  "instruction fetches that went to memory, uncached ones included",
	  NULL, NULL, "L1-icache-load-misses" },
	{ 0x85, 0, 0, BOTH, HW_UNSAID, NONE, "ITLB_MISS", "",
	  "misses of the instruction TLB", NULL, NULL, "iTLB-load-misses" },
	/* EN lists "other minor stalls", ZH victim cache evictions.  Both are only
	 * examples of "any reason". */
	{ 0x86, 0, 0, BOTH, HW_UNSAID, NONE, "IFU_MEM_STALL", "",
	  "cycles that instruction fetch stands still, for any reason", NULL,
	  NULL, "stalled-cycles-frontend" },
	{ 0x87, 0, 0, BOTH, HW_UNSAID, NONE, "ILD_STALL", "",
	  "cycles that the instruction length decoder stands still", NULL,
	  NULL, "stalled-cycles-frontend" },
	/* ZH lists the L2 under the instruction fetch unit, without a separate
	 * heading, and lacks 28h. */
	{ 0x28, 0x0f, 0, HW_P6_EN, HW_UNSAID, MESI, "L2_IFETCH", "",
	  "instruction fetches that reach the L2, by state of the line",
	  "Only cacheable ones; misses of the instruction TLB are not among "
	  "them.", NULL, "LLC-loads" },
	{ 0x29, 0x0f, 0, BOTH, HW_UNSAID, MESI, "L2_LD", "",
	  "data reads that reach the L2, by state of the line",
	  "Unlocked, cacheable; page walks count.", NULL, "LLC-loads" },
	{ 0x2a, 0x0f, 0, BOTH, HW_UNSAID, MESI, "L2_ST", "",
	  "data writes that reach the L2, by state of the line",
	  "Requests to own a line for writing; unlocked, cacheable; page walks "
	  "count.", NULL, "LLC-stores" },
	{ 0x24, 0, 0, BOTH, HW_UNSAID, NONE, "L2_LINES_IN", "",
	  "lines brought into the L2", NULL, NULL, "cache-misses" },
	{ 0x26, 0, 0, BOTH, HW_UNSAID, NONE, "L2_LINES_OUT", "",
	  "lines that left the L2", NULL, NULL, "cache-misses" },
	{ 0x25, 0, 0, BOTH, HW_UNSAID, NONE,
	  "L2_M_LINES_INM L2_M_LINES_IN", "",
	  "modified lines brought into the L2", NULL, NULL, "LLC-stores" },
	{ 0x27, 0, 0, BOTH, HW_UNSAID, NONE,
	  "L2_M_LINES_OUTM L2_M_LINES_OUT", "",
	  "modified lines that left the L2", NULL, NULL, "LLC-stores" },
	{ 0x2e, 0x0f, 0, BOTH, HW_UNSAID, MESI, "L2_RQSTS", "",
	  "all requests to the L2, by state of the line", NULL, NULL,
	  "cache-references" },
	{ 0x21, 0, 0, BOTH, HW_UNSAID, NONE, "L2_ADS", "",
	  "address strobes of the L2", NULL, NULL, "cache-references" },
	/* ZH does not say whose data bus it is.  EN and the name say the L2's. */
	{ 0x22, 0, 0, BOTH, HW_UNSAID, NONE, "L2_DBUS_BUSY", "",
	  "cycles that the L2's data bus is busy", NULL, NULL, "bus-cycles" },
	{ 0x23, 0, 0, BOTH, HW_UNSAID, NONE, "L2_DBUS_BUSY_RD", "",
	  "cycles that the L2's data bus carries data to the processor", NULL,
	  NULL, "bus-cycles" },
	{ 0xc1, 0, CTR0, BOTH, HW_RETIRED, NONE, "FLOPS", "",
	  "floating point calculations",
	  "Those that trap or need an assist do not count, but those that the "
	  "assist itself does do.", NULL, NULL },
	{ 0x10, 0, CTR0, BOTH, HW_SPECULATIVE, NONE, "FP_COMP_OPS_EXE FP_COMPS_OPS_EXE", "",
	  "floating point calculations executed, and integer MUL and DIV",
	  "Operations, not cycles; steps of transcendental functions count as "
	  "others do.", NULL, NULL },
	{ 0x11, 0, CTR1, BOTH, HW_SPECULATIVE, NONE, "FP_ASSIST", "",
	  "floating point exceptions that microcode handles", NULL, NULL,
	  NULL },
	{ 0x12, 0, CTR1, BOTH, HW_SPECULATIVE, NONE, "MUL", "",
	  "multiplications, integer and floating point", NULL, NULL, NULL },
	/* EN notes "integer and FP multiplies", copied from 12h.  Its own title
	 * and ZH say divides. */
	{ 0x13, 0, CTR1, BOTH, HW_SPECULATIVE, NONE, "DIV", "",
	  "divisions, integer and floating point", NULL, NULL, NULL },
	{ 0x14, 0, CTR0, BOTH, HW_SPECULATIVE, NONE, "CYCLES_DIV_BUSY", "",
	  "cycles that the divider takes no new work",
	  "Integer and floating point division, FPREM, FSQRT.", NULL,
	  "stalled-cycles-backend" },
	{ 0x03, 0, 0, BOTH, HW_UNSAID, NONE, "LD_BLOCKS", "",
	  "loads held up by earlier stores",
	  "Stores whose address or data is not known yet, or that overlap the "
	  "load in part.", NULL, "stalled-cycles-backend" },
	/* ZH counts the cycles lost, EN each cycle of draining.  Both mean the
	 * same. */
	{ 0x04, 0, 0, BOTH, HW_UNSAID, NONE, "SB_DRAINS", "",
	  "cycles that the store buffer drains",
	  "Because of CPUID, XCHG, interrupts, cache flushes and the like.",
	  NULL, "stalled-cycles-backend" },
	{ 0x05, 0, 0, BOTH, HW_UNSAID, NONE, "MISALIGN_MEM_REF", "",
	  "misaligned data accesses",
	  "An approximation, about in proportion to the true number: halves, "
	  "blocked and missing accesses count, too.", NULL,
	  "alignment-faults" },
	/* EN prints the mask of C0h as OOH, with the letter O. */
	{ 0xc0, 0, 0, BOTH, HW_RETIRED, NONE, "INST_RETIRED", "",
	  "instructions", NULL, NULL, "instructions" },
	{ 0xc2, 0, 0, BOTH, HW_RETIRED, NONE, "UOPS_RETIRED", "",
	  "micro-operations", NULL, NULL, "instructions" },
	{ 0xd0, 0, 0, BOTH, HW_SPECULATIVE, NONE,
	  "INST_DECODER INST_DECODED", "", "instructions decoded", NULL, NULL,
	  "instructions" },
	{ 0xc8, 0, 0, BOTH, HW_UNSAID, NONE, "HW_INT_RX", "",
	  "hardware interrupts", NULL, NULL, NULL },
	{ 0xc6, 0, 0, BOTH, HW_UNSAID, NONE, "CYCLES_INT_MASKED", "",
	  "cycles with interrupts masked",
	  "With edge: how often they were masked.", NULL, "cycles" },
	/* EN ends this name in MASKD; the SDM's lists have MASKED. */
	{ 0xc7, 0, 0, HW_P6_EN, HW_UNSAID, NONE,
	  "CYCLES_INT_PENDING_AND_MASKD CYCLES_INT_PENDING_AND_MASKED", "",
	  "cycles with interrupts masked while one waits",
	  "With edge: how often one had to wait.", NULL, "cycles" },
	{ 0xc4, 0, 0, BOTH, HW_RETIRED, NONE, "BR_INST_RETIRED", "",
	  "branches", NULL, NULL, "branches" },
	/* ZH says "unpredicted", EN mispredicted, which agrees with the name. */
	{ 0xc5, 0, 0, BOTH, HW_RETIRED, NONE, "BR_MISS_PRED_RETIRED", "",
	  "branches that went elsewhere than predicted, taken or not", NULL,
	  NULL, "branch-misses" },
	{ 0xc9, 0, 0, BOTH, HW_RETIRED, NONE, "BR_TAKEN_RETIRED", "",
	  "branches taken", NULL, NULL, "branches" },
	{ 0xca, 0, 0, BOTH, HW_RETIRED, NONE,
	  "BR_MISS_PRED_TAKEN_RET BR_MISS_PRED_TAKEN_RETIRED", "",
	  "branches taken that were not predicted so", NULL, NULL,
	  "branch-misses" },
	{ 0xe0, 0, 0, BOTH, HW_SPECULATIVE, NONE, "BR_INST_DECODED", "",
	  "branches decoded", NULL, NULL, "branches" },
	{ 0xe2, 0, 0, HW_P6_EN, HW_UNSAID, NONE, "BTB_MISSES", "",
	  "branches that the branch target buffer did not know", NULL, NULL,
	  "branch-misses" },
	{ 0xe4, 0, 0, BOTH, HW_UNSAID, NONE, "BR_BOGUS", "",
	  "predictions where there is no branch", NULL, NULL,
	  "branch-misses" },
	/* ZH misreads "time" in EN's "number of time" as a duration; it is a
	 * number of occurrences. */
	{ 0xe6, 0, 0, BOTH, HW_UNSAID, NONE, "BACLEARS", "",
	  "static predictions, made because the target buffer had none", NULL,
	  NULL, "branch-misses" },
	{ 0xa2, 0, 0, BOTH, HW_UNSAID, NONE, "RESOURCE_STALLS", "",
	  "cycles that wait for a resource (reorder, load, store buffers)",
	  "Full bus queues and too many misses are not among them; some other "
	  "events are.", NULL, "stalled-cycles-backend" },
	/* EN PARTIAL_RAT_STALLS and ZH PARTIAL_STALLS are one event. */
	{ 0xd2, 0, 0, BOTH, HW_UNSAID, NONE,
	  "PARTIAL_RAT_STALLS PARTIAL_STALLS", "",
	  "stalls by use of a part of a register or of the flags",
	  "Cycles or events: the documents leave it open.", NULL,
	  "stalled-cycles-backend" },
	{ 0x06, 0, 0, BOTH, HW_UNSAID, NONE, "SEGMENT_REG_LOADS", "",
	  "loads of segment registers", NULL, NULL, NULL },
	{ 0x79, 0, 0, BOTH, HW_UNSAID, NONE, "CPU_CLK_UNHALTED", "",
	  "cycles that the processor is not halted", NULL, NULL, "cycles" },
};

const struct hw_part hw_p6_core = {
	events, COUNT(events),
};
