// SPDX-License-Identifier: GPL-2.0-or-later
/* AMD K8, BKDG §10.2.1.1 to .5: floating point dispatch, loads and stores, data
 * and instruction cache, the L2 interface.  See hw.h for the documents. */
#include "events/hw.h"

#define BOTH (HW_BKDG | HW_PMC_K8)
#define MASKS(m) COUNT(m), (m)

/*
 * BKDG names the upper three load operations; pmc.k8 calls them junk.  Their bits
 * agree (order of pipes: add, multiply, store), so tally accepts both keywords.
 */
static const struct hw_mask fpu_ops[] = {
	{ 0x01, "add-pipe-excluding-junk-ops add", "add pipe" },
	{ 0x02, "multiply-pipe-excluding-junk-ops multiply", "multiply pipe" },
	{ 0x04, "store-pipe-excluding-junk-ops store", "store pipe" },
	{ 0x08, "add-pipe-junk-ops add-load", "loads in the add pipe" },
	{ 0x10, "multiply-pipe-junk-ops multiply-load",
	  "loads in the multiply pipe" },
	{ 0x20, "store-pipe-junk-ops store-load", "loads in the store pipe" },
};

/* Only BKDG has HS; pmc.k8 ends with GS. The default ("all types of loads",
 * pmc.k8) is BKDG's seven bits, as in libpfm4. */
static const struct hw_mask segments[] = {
	{ 0x01, "es", "ES" }, { 0x02, "cs", "CS" }, { 0x04, "ss", "SS" },
	{ 0x08, "ds", "DS" }, { 0x10, "fs", "FS" }, { 0x20, "gs", "GS" },
	{ 0x40, "hs", "HS, the hidden one of microcode" },
};

/* pmc.k8 lists these alphabetically.  The bits are BKDG's: instructions, then
 * speculative, then non-speculative cycles. */
static const struct hw_mask locks[] = {
	{ 0x01, "locked-instructions executed", "locked instructions" },
	{ 0x02, "cycles-in-request speculative",
	  "cycles of the speculative phase (request and grant)" },
	{ 0x04, "cycles-to-complete non-speculative",
	  "cycles of the non-speculative phase, cache misses included" },
};

static const struct hw_mask memory_requests[] = {
	{ 0x01, "uncacheable uc", "requests to uncacheable memory" },
	{ 0x02, "write-combining wc",
	  "requests to write-combining memory, and flushes of such buffers" },
	{ 0x80, "streaming-store ss", "flushes of streaming stores" },
};

/* Coherency states in BKDG's order; pmc.k8 lists them alphabetically. */
static const struct hw_mask states[] = {
	{ 0x01, "invalid", "invalid" }, { 0x02, "shared", "shared" },
	{ 0x04, "exclusive", "exclusive" }, { 0x08, "owner owned", "owned" },
	{ 0x10, "modified", "modified" },
};

/* Bit 0: BKDG says refills from the system, pmc.k8 "invalid".  Both mean the same:
 * the line was not valid in the L2 because it came from the system.  BKDG's
 * wording is clearer. */
static const struct hw_mask refill_l2[] = {
	{ 0x01, "system invalid", "refilled from the system: not in the L2" },
	{ 0x02, "shared", "shared line of the L2" },
	{ 0x04, "exclusive", "exclusive line of the L2" },
	{ 0x08, "owner owned", "owned line of the L2" },
	{ 0x10, "modified", "modified line of the L2" },
};

static const struct hw_mask scrubber[] = {
	{ 0x01, "scrubber", "found by the scrubber" },
	{ 0x02, "piggyback", "found while data was read for something else" },
};

static const struct hw_mask prefetches[] = {
	{ 0x01, "load", "PREFETCH, PREFETCHT0, T1, T2" },
	{ 0x02, "store", "PREFETCHW" },
	{ 0x04, "nta", "PREFETCHNTA" },
};

/*
 * pmc.k8 has bit 0 (accesses) and bit 1 (misses) and counts accesses by default.
 * BKDG, which is the vendor's and newer, has only bit 1 and the heading "misses".
 * Bit 0 is available on request.  The default is the bit that both have, as in
 * libpfm4.
 */
static const struct hw_mask lock_misses[] = {
	{ 0x01, "accesses", "accesses (pmc.k8 only: BKDG leaves it out)" },
	{ 0x02, "misses", "misses of the data cache" },
};

static const struct hw_mask prefetcher[] = {
	{ 0x01, "cancelled", "found in the L2 or data cache: no transfer" },
	{ 0x02, "attempts attempted", "all requests" },
};

/* The bits are not in MESI order. */
static const struct hw_mask read_responses[] = {
	{ 0x01, "exclusive", "exclusive" },
	{ 0x02, "modified", "modified" },
	{ 0x04, "shared", "shared" },
};

static const struct hw_mask quadwords[] = {
	{ 0x01, "quadword", "8 bytes written" },
};

/* pmc.k8 lists "cancelled" first; its bit is the last. */
static const struct hw_mask l2_requests[] = {
	{ 0x01, "ic-fill", "instruction cache fills" },
	{ 0x02, "dc-fill", "data cache fills" },
	{ 0x04, "tlb-reload tlb-fill", "page table walks" },
	{ 0x08, "tag-snoop", "tag snoops" },
	{ 0x10, "cancelled", "cancelled requests" },
};

static const struct hw_mask l2_misses[] = {
	{ 0x01, "ic-fill", "instruction cache fills" },
	{ 0x02, "dc-fill", "data cache fills, replays included" },
	{ 0x04, "tlb-reload tlb-fill", "page table walks" },
};

/*
 * BKDG's table has only bit 0, but its text assigns bit 1 to writebacks of dirty
 * lines.  pmc.k8 explains its keyword dirty-l2-victim with BKDG's text for bit 0
 * (victims of the L1 caches arrive in the L2).  It is therefore bit 0, whatever its
 * name suggests, and victim-from-l2 is bit 1.
 */
static const struct hw_mask l2_fills[] = {
	{ 0x01, "dirty-l2-victim fills",
	  "lines that arrive: L1 victims, page walks, prefetches" },
	{ 0x02, "victim-from-l2 writebacks",
	  "dirty lines that the L2 writes to the system" },
};

static const struct hw_event events[] = {
	{ 0x00, 0x3f, 0, BOTH, HW_SPECULATIVE, 0, MASKS(fpu_ops),
	  "fp-dispatched-fpu-ops", "Dispatched FPU Operations",
	  "operations sent to the floating point pipes, by pipe",
	  "Moves and loads count, and packed SSE counts twice: no measure of "
	  "MFLOPS. Compare k8-fr-retired-fpu-instructions.",
	  "revision B and later (pmc.k8)", NULL },
	{ 0x01, 0, 0, BOTH, HW_RETIRED, 0, 0, NULL,
	  "fp-cycles-with-no-fpu-ops-retired",
	  "Cycles with no FPU Ops Retired",
	  "cycles in which no floating point operation retired",
	  "With inv,count=1: cycles in which at least one retired.",
	  "revision B and later (pmc.k8)", "cycles" },
	{ 0x02, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "fp-dispatched-fpu-fast-flag-ops",
	  "Dispatched Fast Flag FPU Operations",
	  "floating point comparisons that set flags directly (FCOMI, COMISD)",
	  NULL, "revision B and later (pmc.k8)", NULL },
	{ 0x20, 0x7f, 0, BOTH, HW_UNSAID, 0, MASKS(segments),
	  "ls-segment-register-load", "Segment Register Loads",
	  "loads of segment registers, by register", NULL, NULL, NULL },
	{ 0x21, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "ls-microarchitectural-resync-by-self-modifying-code",
	  "Pipeline Restart Due to Self-Modifying Code",
	  "pipeline restarts because a store hit code already fetched",
	  NULL, NULL, NULL },
	{ 0x22, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "ls-microarchitectural-resync-by-snoop",
	  "Pipeline Restart Due to Probe Hit",
	  "pipeline restarts because others took a line of an early load",
	  NULL, NULL, NULL },
	{ 0x23, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "ls-buffer2-full ls-buffer-2-full", "LS Buffer 2 Full",
	  "cycles that the buffer of stores and missed requests is full",
	  "Other work may hide these cycles.", NULL,
	  "stalled-cycles-backend" },
	{ 0x24, 0x01, 0, BOTH, HW_UNSAID, 0, MASKS(locks),
	  "ls-locked-operation", "Locked Operations",
	  "locked instructions, or the cycles that they take",
	  "Instructions and cycles in one sum mean nothing: choose. "
	  "cycles-to-complete finds locks that miss the cache.",
	  "masks: revision C and later (pmc.k8)", NULL },
	/* In pmc.k8 only; BKDG leaves 25h out. */
	{ 0x25, 0, 0, HW_PMC_K8, HW_UNSAID, 0, 0, NULL,
	  "ls-microarchitectural-late-cancel", "",
	  "late cancels of operations in the load/store unit", NULL, NULL,
	  NULL },
	{ 0x65, 0x83, 0, HW_BKDG, HW_UNSAID, 0, MASKS(memory_requests),
	  "memory-requests-by-type", "Memory Requests by Type",
	  "requests to uncacheable and write-combining memory",
	  "Counts flushes of buffers, not stores: a buffer that was filled "
	  "partly takes two or more. wc includes ss; their difference is "
	  "writes to WC memory.", NULL, NULL },
	{ 0x40, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "dc-access", "Data Cache Accesses",
	  "reads and writes of the data cache, by 8 bytes",
	  "A few accesses of microcode's scratch pad are among them.", NULL,
	  "L1-dcache-loads" },
	{ 0x41, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "dc-miss", "Data Cache Misses", "misses of the data cache",
	  "Only the first miss of a line that is on its way counts, but every "
	  "streaming store does: for refills use k8-dc-refill-from-l2.", NULL,
	  "L1-dcache-load-misses" },
	{ 0x42, 0x1f, 0, BOTH, HW_SPECULATIVE, 0, MASKS(refill_l2),
	  "dc-refill-from-l2", "Data Cache Refills from L2 or System",
	  "lines brought into the data cache, by where they were",
	  "Mask system alone equals k8-dc-refill-from-system.", NULL,
	  "L1-dcache-load-misses" },
	{ 0x43, 0x1f, 0, BOTH, HW_SPECULATIVE, 0, MASKS(states),
	  "dc-refill-from-system", "Data Cache Refills from System",
	  "lines brought into the data cache from memory or other caches",
	  NULL, NULL, "cache-misses" },
	{ 0x44, 0x1f, 0, BOTH, HW_SPECULATIVE, 0, MASKS(states),
	  "dc-copyback", "Data Cache Lines Evicted",
	  "lines of the data cache displaced by refills, by state",
	  "invalid: lines that were to be invalidated by others' writes. Lines "
	  "of PREFETCHNTA go to memory and cannot be told apart.", NULL,
	  "L1-dcache-stores" },
	/* BKDG prints "L2 DLTB" here and in 46h.  It means DTLB, as in pmc.k8 and
	 * in BKDG's own text. */
	{ 0x45, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "dc-l1-dtlb-miss-and-l2-dtlb-hit",
	  "L1 DTLB Miss and L2 DTLB Hit",
	  "data accesses whose page is in the second TLB only", NULL, NULL,
	  "dTLB-loads" },
	{ 0x46, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "dc-l1-dtlb-miss-and-l2-dtlb-miss", "L1 DTLB and L2 DTLB Miss",
	  "data accesses whose page is in no TLB", NULL, NULL,
	  "dTLB-load-misses" },
	{ 0x47, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "dc-misaligned-data-reference", "Misaligned Accesses",
	  "accesses across an 8-byte boundary",
	  "Each costs a second access (see k8-dc-access) and, when reading, a "
	  "cycle.", NULL, "alignment-faults" },
	{ 0x48, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "dc-microarchitectural-late-cancel-of-an-access",
	  "Microarchitectural Late Cancel of an Access",
	  "data cache accesses cancelled late", NULL, NULL, NULL },
	{ 0x49, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "dc-microarchitectural-early-cancel-of-an-access",
	  "Microarchitectural Early Cancel of an Access",
	  "data cache accesses cancelled early", NULL, NULL, NULL },
	{ 0x4a, 0x03, 0, BOTH, HW_UNSAID, 0, MASKS(scrubber),
	  "dc-one-bit-ecc-error",
	  "Single-bit ECC Errors Recorded by Scrubber",
	  "single-bit errors that the data cache corrected", NULL, NULL,
	  NULL },
	{ 0x4b, 0x07, 0, BOTH, HW_SPECULATIVE, 0, MASKS(prefetches),
	  "dc-dispatched-prefetch-instructions",
	  "Prefetch Instructions Dispatched",
	  "prefetch instructions decoded, by kind",
	  "Not each of them moves a line; their hits and misses also count in "
	  "the events of the caches.", NULL, "L1-dcache-prefetches" },
	{ 0x4c, 0x02, 0, BOTH, HW_UNSAID, 0, MASKS(lock_misses),
	  "dc-dcache-accesses-by-locks dcache-misses-by-locks",
	  "DCACHE Misses by Locked Instructions",
	  "data cache misses (or accesses) of locked instructions",
	  "Samples fall close to the instruction. Included in k8-dc-miss; "
	  "does not show whether the L2 had the line.",
	  "revision C and later (pmc.k8)", "L1-dcache-load-misses" },
	{ 0x67, 0x03, 0, HW_BKDG, HW_UNSAID, 0, MASKS(prefetcher),
	  "data-prefetcher", "Data Prefetcher",
	  "requests of the hardware prefetcher",
	  "attempts minus cancelled are the lines it read; these also count in "
	  "k8-bu-fill-into-l2. The sum of both bits means nothing.", NULL,
	  "L1-dcache-prefetches" },
	{ 0x6c, 0x07, 0, HW_BKDG, HW_UNSAID, 0, MASKS(read_responses),
	  "system-read-responses-by-coherency-state",
	  "System Read Responses by Coherency State",
	  "lines received from memory or other caches, by state",
	  "modified: for writing; exclusive: code, loads, page walks; shared: "
	  "another cache has it, too.", NULL, "cache-misses" },
	{ 0x6d, 0x01, 0, HW_BKDG, HW_UNSAID, 0, MASKS(quadwords),
	  "quadwords-written-to-system", "Quadwords Written to System",
	  "8-byte units written to the system",
	  "A written-back line is 8; a write-combining flush 1 to 8.", NULL,
	  "LLC-stores" },
	{ 0x7d, 0x1f, 0, BOTH, HW_UNSAID, 0, MASKS(l2_requests),
	  "bu-internal-l2-request", "Requests to L2 Cache",
	  "read requests to the L2, by origin",
	  "Retries count, and can dominate when the L2 is busy: for traffic "
	  "use the refill events 42h, 43h, 82h, 83h.", NULL,
	  "cache-references" },
	{ 0x7e, 0x07, 0, BOTH, HW_SPECULATIVE, 0, MASKS(l2_misses),
	  "bu-fill-request-l2-miss", "L2 Cache Misses",
	  "requests that miss the L2, by origin",
	  "Includes retries, and more speculative ones than the refill events "
	  "43h and 83h.", NULL, "cache-misses" },
	{ 0x7f, 0x03, 0, BOTH, HW_UNSAID, 0, MASKS(l2_fills),
	  "bu-fill-into-l2 l2-fill-writeback", "L2 Fill/Writeback",
	  "lines written into the L2, or from it to the system",
	  "Unlike k8-dc-copyback, lines of PREFETCHNTA are not among them.",
	  NULL, "LLC-stores" },
	/* BKDG §10.2.1.5: all instruction cache events are speculative. */
	{ 0x80, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-fetch", "Instruction Cache Fetches",
	  "reads of 16 aligned bytes of code", NULL, NULL,
	  "instructions" },
	{ 0x81, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-miss", "Instruction Cache Misses",
	  "misses of the instruction cache",
	  "About the sum of k8-ic-refill-from-l2 and -system.", NULL,
	  "L1-icache-load-misses" },
	{ 0x82, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-refill-from-l2", "Instruction Cache Refills from L2",
	  "lines of code brought from the L2", NULL, NULL,
	  "L1-icache-load-misses" },
	{ 0x83, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-refill-from-system", "Instruction Cache Refills from System",
	  "lines of code brought from memory or other caches", NULL, NULL,
	  "cache-misses" },
	{ 0x84, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-l1-itlb-miss-and-l2-itlb-hit", "L1 ITLB Miss, L2 ITLB Hit",
	  "fetches whose page is in the second TLB only", NULL, NULL,
	  "iTLB-loads" },
	{ 0x85, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-l1-itlb-miss-and-l2-itlb-miss", "L1 ITLB Miss, L2 ITLB Miss",
	  "fetches whose page is in no TLB", NULL, NULL,
	  "iTLB-load-misses" },
	{ 0x86, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-microarchitectural-resync-by-snoop",
	  "Pipeline Restart Due to Instruction Stream Probe",
	  "pipeline restarts because another processor wrote running code",
	  NULL, NULL, NULL },
	{ 0x87, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-instruction-fetch-stall", "Instruction Fetch Stall",
	  "cycles that fetching stands still, for any reason",
	  "Often hidden by other stalls or by execution: not all cost time.",
	  NULL, "stalled-cycles-frontend" },
	{ 0x88, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-return-stack-hits", "Return Stack Hits",
	  "returns that took their address from the return stack",
	  "The address may be wrong; do not compare with C9h and CAh, which "
	  "count at retirement.", NULL, "branches" },
	{ 0x89, 0, 0, BOTH, HW_SPECULATIVE, 0, 0, NULL,
	  "ic-return-stack-overflow ic-return-stack-overflows",
	  "Return Stack Overflows",
	  "calls that pushed the oldest entry out of the return stack", NULL,
	  NULL, "branch-misses" },
};

const struct hw_part hw_k8_core = {
	events, COUNT(events),
};
