// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of the Intel P6 family.  Each row has EN's name without its PP_, then other
 * spellings; hw_event_find() accepts PP_ and p6-.  Eight events are in EN only.  See
 * hw.h for the documents.
 *
 * EN calls only 11h to 14h speculative.  What is executed (10h) or decoded (D0h,
 * E0h) is speculative by its nature and is marked so, too.
 */
#include "events/hw.h"

#define BOTH (HW_P6_EN | HW_P6_ZH)
#define MASKS(table) .nmasks = COUNT(table), .masks = table

enum { CTR0 = 1 << 0, CTR1 = 1 << 1 };

/* EN note 1 prints 'MES"' for MESI (FH); ZH note 1 is correct. */
static const struct hw_mask mesi[] = {
	{ 0x08, "m", "modified" }, { 0x04, "e", "exclusive" },
	{ 0x02, "s", "shared" }, { 0x01, "i", "invalid: a miss" },
	{ 0x0f, "mesi", "all states" },
};

/* EN note 2, ZH note 2: bit 5. */
static const struct hw_mask agents[] = {
	{ 0x00, "self", "of this processor" },
	{ 0x20, "any all", "of any processor on the bus" },
};

/* Both lists have "00H (Self)" and no 20H. */
static const struct hw_mask self[] = {
	{ 0x00, "self", "of this processor" },
};

#define MESI .default_mask = 0x0f, .rule = HW_MASK_MESI, MASKS(mesi)
#define ANY MASKS(agents)
#define SELF MASKS(self)

const struct hw_event hw_p6_events[] = {
	{ .code = 0x43, BOTH, HW_UNSAID, "DATA_MEM_REFS", "", "L1-dcache-loads",
	  "data reads and writes, of any kind of memory",
	  "Each part of a split access counts; 80-bit floating point counts "
	  "twice." },
	{ .code = 0x45, BOTH, HW_UNSAID, "DCU_LINES_IN", "",
	  "L1-dcache-load-misses", "lines brought into the data cache" },
	{ .code = 0x46, BOTH, HW_UNSAID, "DCU_M_LINES_IN", "",
	  "L1-dcache-store-misses",
	  "modified lines brought into the data cache" },
	/* ZH counts snoops that hit (HITM), interventions and replacements.  EN
	 * says the same in other words. */
	{ .code = 0x47, BOTH, HW_UNSAID, "DCU_M_LINES_OUT", "",
	  "L1-dcache-stores", "modified lines that left the data cache",
	  "By snoops of others, interventions or replacement." },
	{ .code = 0x48, BOTH, HW_UNSAID, "DCU_MISS_OUTSTANDING", "",
	  "stalled-cycles-backend",
	  "cycles with data cache misses open, times their number",
	  "Misses that also miss the L2 count two cycles too few; further "
	  "loads of the line count nothing. Useful, not exact." },
	/* EN: cacheable and uncacheable; ZH: fetched from the cache and not. */
	{ .code = 0x80, BOTH, HW_UNSAID, "IFU_IFETCH", "", "L1-icache-loads",
	  "instruction fetches, cacheable or not",
	  "One for each cached line, one for each uncached instruction." },
	{ .code = 0x81, BOTH, HW_UNSAID, "IFU_IFETCH_MISS", "",
	  "L1-icache-load-misses",
	  "instruction fetches that went to memory, uncached ones included" },
	{ .code = 0x85, BOTH, HW_UNSAID, "ITLB_MISS", "", "iTLB-load-misses",
	  "misses of the instruction TLB" },
	/* EN lists "other minor stalls", ZH victim cache evictions.  Both are only
	 * examples of "any reason". */
	{ .code = 0x86, BOTH, HW_UNSAID, "IFU_MEM_STALL", "",
	  "stalled-cycles-frontend",
	  "cycles that instruction fetch stands still, for any reason" },
	{ .code = 0x87, BOTH, HW_UNSAID, "ILD_STALL", "",
	  "stalled-cycles-frontend",
	  "cycles that the instruction length decoder stands still" },
	/* ZH lists the L2 under the instruction fetch unit, without a separate
	 * heading, and lacks 28h. */
	{ .code = 0x28, HW_P6_EN, HW_UNSAID, "L2_IFETCH", "", "LLC-loads",
	  "instruction fetches that reach the L2, by state of the line",
	  "Only cacheable ones; misses of the instruction TLB are not among "
	  "them.", MESI },
	{ .code = 0x29, BOTH, HW_UNSAID, "L2_LD", "", "LLC-loads",
	  "data reads that reach the L2, by state of the line",
	  "Unlocked, cacheable; page walks count.", MESI },
	{ .code = 0x2a, BOTH, HW_UNSAID, "L2_ST", "", "LLC-stores",
	  "data writes that reach the L2, by state of the line",
	  "Requests to own a line for writing; unlocked, cacheable; page walks "
	  "count.", MESI },
	{ .code = 0x24, BOTH, HW_UNSAID, "L2_LINES_IN", "", "cache-misses",
	  "lines brought into the L2" },
	{ .code = 0x26, BOTH, HW_UNSAID, "L2_LINES_OUT", "", "cache-misses",
	  "lines that left the L2" },
	{ .code = 0x25, BOTH, HW_UNSAID, "L2_M_LINES_INM L2_M_LINES_IN", "",
	  "LLC-stores", "modified lines brought into the L2" },
	{ .code = 0x27, BOTH, HW_UNSAID, "L2_M_LINES_OUTM L2_M_LINES_OUT", "",
	  "LLC-stores", "modified lines that left the L2" },
	{ .code = 0x2e, BOTH, HW_UNSAID, "L2_RQSTS", "", "cache-references",
	  "all requests to the L2, by state of the line", MESI },
	{ .code = 0x21, BOTH, HW_UNSAID, "L2_ADS", "", "cache-references",
	  "address strobes of the L2" },
	/* ZH does not say whose data bus it is.  EN and the name say the L2's. */
	{ .code = 0x22, BOTH, HW_UNSAID, "L2_DBUS_BUSY", "", "bus-cycles",
	  "cycles that the L2's data bus is busy" },
	{ .code = 0x23, BOTH, HW_UNSAID, "L2_DBUS_BUSY_RD", "", "bus-cycles",
	  "cycles that the L2's data bus carries data to the processor" },
	{ .code = 0xc1, BOTH, HW_RETIRED, "FLOPS", "", NULL,
	  "floating point calculations",
	  "Those that trap or need an assist do not count, but those that the "
	  "assist itself does do.", .counters = CTR0 },
	{ .code = 0x10, BOTH, HW_SPECULATIVE,
	  "FP_COMP_OPS_EXE FP_COMPS_OPS_EXE", "", NULL,
	  "floating point calculations executed, and integer MUL and DIV",
	  "Operations, not cycles; steps of transcendental functions count as "
	  "others do.", .counters = CTR0 },
	{ .code = 0x11, BOTH, HW_SPECULATIVE, "FP_ASSIST", "", NULL,
	  "floating point exceptions that microcode handles",
	  .counters = CTR1 },
	{ .code = 0x12, BOTH, HW_SPECULATIVE, "MUL", "", NULL,
	  "multiplications, integer and floating point", .counters = CTR1 },
	/* EN notes "integer and FP multiplies", copied from 12h.  Its own title
	 * and ZH say divides. */
	{ .code = 0x13, BOTH, HW_SPECULATIVE, "DIV", "", NULL,
	  "divisions, integer and floating point", .counters = CTR1 },
	{ .code = 0x14, BOTH, HW_SPECULATIVE, "CYCLES_DIV_BUSY", "",
	  "stalled-cycles-backend", "cycles that the divider takes no new work",
	  "Integer and floating point division, FPREM, FSQRT.",
	  .counters = CTR0 },
	{ .code = 0x03, BOTH, HW_UNSAID, "LD_BLOCKS", "",
	  "stalled-cycles-backend", "loads held up by earlier stores",
	  "Stores whose address or data is not known yet, or that overlap the "
	  "load in part." },
	/* ZH counts the cycles lost, EN each cycle of draining.  Both mean the
	 * same. */
	{ .code = 0x04, BOTH, HW_UNSAID, "SB_DRAINS", "",
	  "stalled-cycles-backend", "cycles that the store buffer drains",
	  "Because of CPUID, XCHG, interrupts, cache flushes and the like." },
	{ .code = 0x05, BOTH, HW_UNSAID, "MISALIGN_MEM_REF", "",
	  "alignment-faults", "misaligned data accesses",
	  "An approximation, about in proportion to the true number: halves, "
	  "blocked and missing accesses count, too." },
	/* EN prints the mask of C0h as OOH, with the letter O. */
	{ .code = 0xc0, BOTH, HW_RETIRED, "INST_RETIRED", "", "instructions",
	  "instructions" },
	{ .code = 0xc2, BOTH, HW_RETIRED, "UOPS_RETIRED", "", "instructions",
	  "micro-operations" },
	{ .code = 0xd0, BOTH, HW_SPECULATIVE, "INST_DECODER INST_DECODED", "",
	  "instructions", "instructions decoded" },
	{ .code = 0xc8, BOTH, HW_UNSAID, "HW_INT_RX", "", NULL,
	  "hardware interrupts" },
	{ .code = 0xc6, BOTH, HW_UNSAID, "CYCLES_INT_MASKED", "", "cycles",
	  "cycles with interrupts masked",
	  "With edge: how often they were masked." },
	/* EN ends this name in MASKD; the SDM's lists have MASKED. */
	{ .code = 0xc7, HW_P6_EN, HW_UNSAID,
	  "CYCLES_INT_PENDING_AND_MASKD CYCLES_INT_PENDING_AND_MASKED", "",
	  "cycles", "cycles with interrupts masked while one waits",
	  "With edge: how often one had to wait." },
	{ .code = 0xc4, BOTH, HW_RETIRED, "BR_INST_RETIRED", "", "branches",
	  "branches" },
	/* ZH says "unpredicted", EN mispredicted, which agrees with the name. */
	{ .code = 0xc5, BOTH, HW_RETIRED, "BR_MISS_PRED_RETIRED", "",
	  "branch-misses",
	  "branches that went elsewhere than predicted, taken or not" },
	{ .code = 0xc9, BOTH, HW_RETIRED, "BR_TAKEN_RETIRED", "", "branches",
	  "branches taken" },
	{ .code = 0xca, BOTH, HW_RETIRED,
	  "BR_MISS_PRED_TAKEN_RET BR_MISS_PRED_TAKEN_RETIRED", "",
	  "branch-misses", "branches taken that were not predicted so" },
	{ .code = 0xe0, BOTH, HW_SPECULATIVE, "BR_INST_DECODED", "", "branches",
	  "branches decoded" },
	{ .code = 0xe2, HW_P6_EN, HW_UNSAID, "BTB_MISSES", "", "branch-misses",
	  "branches that the branch target buffer did not know" },
	{ .code = 0xe4, BOTH, HW_UNSAID, "BR_BOGUS", "", "branch-misses",
	  "predictions where there is no branch" },
	/* ZH misreads "time" in EN's "number of time" as a duration; it is a
	 * number of occurrences. */
	{ .code = 0xe6, BOTH, HW_UNSAID, "BACLEARS", "", "branch-misses",
	  "static predictions, made because the target buffer had none" },
	{ .code = 0xa2, BOTH, HW_UNSAID, "RESOURCE_STALLS", "",
	  "stalled-cycles-backend",
	  "cycles that wait for a resource (reorder, load, store buffers)",
	  "Full bus queues and too many misses are not among them; some other "
	  "events are." },
	/* EN PARTIAL_RAT_STALLS and ZH PARTIAL_STALLS are one event. */
	{ .code = 0xd2, BOTH, HW_UNSAID, "PARTIAL_RAT_STALLS PARTIAL_STALLS",
	  "", "stalled-cycles-backend",
	  "stalls by use of a part of a register or of the flags",
	  "Cycles or events: the documents leave it open." },
	{ .code = 0x06, BOTH, HW_UNSAID, "SEGMENT_REG_LOADS", "", NULL,
	  "loads of segment registers" },
	{ .code = 0x79, BOTH, HW_UNSAID, "CPU_CLK_UNHALTED", "", "cycles",
	  "cycles that the processor is not halted" },

	/* The external bus.  EN spells some names BUS_TRAN_ and some BUS_TRANS_, and
	 * ZH differs for two of them (P and IO). tally accepts both spellings of
	 * each. */
	{ .code = 0x62, BOTH, HW_UNSAID, "BUS_DRDY_CLOCKS", "", "bus-cycles",
	  "clocks that DRDY# is driven: data moves on the bus",
	  "self counts clocks of the bus, any those of the processor.", ANY },
	{ .code = 0x63, BOTH, HW_UNSAID, "BUS_LOCK_CLOCKS", "", "bus-cycles",
	  "clocks that LOCK# is driven", "Always clocks of the processor.",
	  ANY },
	{ .code = 0x60, HW_P6_EN, HW_UNSAID, "BUS_REQ_OUTSTANDING", "",
	  "bus-cycles", "open bus requests in each cycle, summed",
	  "Only cacheable reads of whole data lines, until the last part has "
	  "come.", SELF },
	{ .code = 0x65, HW_P6_EN, HW_UNSAID, "BUS_TRAN_BRD BUS_TRANS_BRD", "",
	  "cache-misses", "burst reads", ANY },
	/* ZH describes this as an exchange to acquire the bus.  EN and the name
	 * mean reading for ownership of a line. */
	{ .code = 0x66, BOTH, HW_UNSAID, "BUS_TRAN_RFO BUS_TRANS_RFO", "",
	  "LLC-store-misses", "reads to own a line for writing", ANY },
	{ .code = 0x67, HW_P6_EN, HW_UNSAID, "BUS_TRANS_WB BUS_TRAN_WB", "",
	  "LLC-stores", "writebacks", ANY },
	{ .code = 0x68, BOTH, HW_UNSAID, "BUS_TRAN_IFETCH BUS_TRANS_IFETCH", "",
	  "cache-misses", "instruction fetches on the bus", ANY },
	{ .code = 0x69, BOTH, HW_UNSAID, "BUS_TRAN_INVAL BUS_TRANS_INVAL", "",
	  NULL, "invalidations", ANY },
	{ .code = 0x6a, BOTH, HW_UNSAID, "BUS_TRAN_PWR BUS_TRANS_PWR", "", NULL,
	  "partial writes", ANY },
	/* EN BUS_TRANS_P, ZH BUS_TRAN_P; the same for IO. */
	{ .code = 0x6b, BOTH, HW_UNSAID, "BUS_TRANS_P BUS_TRAN_P", "", NULL,
	  "partial transactions", ANY },
	{ .code = 0x6c, BOTH, HW_UNSAID, "BUS_TRANS_IO BUS_TRAN_IO", "", NULL,
	  "I/O transactions", ANY },
	{ .code = 0x6d, BOTH, HW_UNSAID, "BUS_TRAN_DEF BUS_TRANS_DEF", "", NULL,
	  "deferred transactions", ANY },
	{ .code = 0x6e, BOTH, HW_UNSAID, "BUS_TRAN_BURST BUS_TRANS_BURST", "",
	  "cache-misses", "burst transactions", ANY },
	{ .code = 0x70, BOTH, HW_UNSAID, "BUS_TRAN_ANY BUS_TRANS_ANY", "",
	  "bus-cycles", "all transactions, special cycles included",
	  "Times the clocks that an address takes: use of the address bus.",
	  ANY },
	{ .code = 0x6f, BOTH, HW_UNSAID, "BUS_TRAN_MEM BUS_TRANS_MEM", "",
	  "cache-misses", "memory transactions", ANY },
	{ .code = 0x64, HW_P6_EN, HW_UNSAID, "BUS_DATA_RCV", "", "bus-cycles",
	  "bus clocks that this processor receives data", SELF },
	{ .code = 0x61, BOTH, HW_UNSAID, "BUS_BNR_DRV", "", "bus-cycles",
	  "bus clocks that this processor drives BNR", SELF },
	{ .code = 0x7a, BOTH, HW_UNSAID, "BUS_HIT_DRV", "", "bus-cycles",
	  "bus clocks that this processor drives HIT",
	  "Snoop stalls are included.", SELF },
	{ .code = 0x7b, HW_P6_EN, HW_UNSAID, "BUS_HITM_DRV", "", "bus-cycles",
	  "bus clocks that this processor drives HITM",
	  "Snoop stalls are included.", SELF },
	{ .code = 0x7e, BOTH, HW_UNSAID, "BUS_SNOOP_STALL", "", "bus-cycles",
	  "clocks that the bus waits for a snoop", SELF },
	{ .names = NULL },
};
