// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of AMD K8, in the order of BKDG §10.2.1.  See hw.h for the documents. */
#include "events/hw.h"

#define BOTH (HW_BKDG | HW_PMC_K8)
#define MASKS(usual, table) \
	.default_mask = usual, .nmasks = COUNT(table), .masks = table
#define OVERLAP "Stalls of several reasons may overlap; the net sum is D1h."

/* --- 10.2.1.1 to .5: floating point dispatch, loads and stores, data and instruction
 * cache, the L2 interface */

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

/* --- 10.2.1.6: clocks, retirement, interrupts, dispatch stalls and breakpoints */

/* pmc.k8 lists these alphabetically. */
static const struct hw_mask fp_retired[] = {
	{ 0x01, "x87", "x87" },
	{ 0x02, "mmx-3dnow", "MMX and 3DNow!" },
	{ 0x04, "packed-sse-sse2", "packed SSE and SSE2" },
	{ 0x08, "scalar-sse-sse2", "scalar SSE and SSE2" },
};

static const struct hw_mask double_op[] = {
	{ 0x01, "low-op-pos-0", "low operation in position 0" },
	{ 0x02, "low-op-pos-1", "low operation in position 1" },
	{ 0x04, "low-op-pos-2", "low operation in position 2" },
};

/* pmc.k8 lists them in exactly the reverse order of the bits. */
static const struct hw_mask fpu_exceptions[] = {
	{ 0x01, "x87-reclass-microfaults", "x87 reclass microfaults" },
	{ 0x02, "sse-retype-microfaults", "SSE retype microfaults" },
	{ 0x04, "sse-reclass-microfaults", "SSE reclass microfaults" },
	{ 0x08, "sse-and-x87-microtraps", "SSE and x87 microtraps" },
};

/*
 * --- 10.2.1.7 to .9: memory controller, system requests and HyperTransport.  All of
 * them count in the northbridge, which the cores of a node share.
 */

/* pmc.k8 lists these alphabetically (conflict first). */
static const struct hw_mask pages[] = {
	{ 0x01, "page-hit", "the page was open" },
	{ 0x02, "page-miss", "no page was open: waits Trcd" },
	{ 0x04, "page-conflict", "another page was open: waits Trp + Trcd" },
};

/*
 * BKDG's formulas of lost bytes print "R/W turnaround" twice.  The table has
 * read-to-write and write-to-read.  The second (Tcl-1) can thus only be
 * write-to-read, as pmc.k8's keyword for bit 2 confirms.
 */
static const struct hw_mask turnarounds[] = {
	{ 0x01, "dimm-turnaround", "of the DIMM: loses width * 4 bytes" },
	{ 0x02, "read-to-write-turnaround",
	  "from reading to writing: loses width * 2 bytes" },
	{ 0x04, "write-to-read-turnaround",
	  "from writing to reading: loses width * 2 * (Tcl - 1) bytes" },
};

/* pmc.k8 lists the DRAM controller's first; the bits are BKDG's. */
static const struct hw_mask bypasses[] = {
	{ 0x01, "memory-controller-hi-pri-bypass",
	  "high priority, memory controller" },
	{ 0x02, "memory-controller-lo-pri-bypass",
	  "low priority, memory controller" },
	{ 0x04, "dram-controller-interface-bypass",
	  "DRAM controller interface" },
	{ 0x08, "dram-controller-queue-bypass", "DRAM controller queue" },
};

static const struct hw_mask sized_blocks[] = {
	{ 0x04, "32-byte-writes", "writes of 32 bytes" },
	{ 0x08, "64-byte-writes", "writes of 64 bytes" },
	{ 0x10, "32-byte-reads", "reads of 32 bytes" },
	{ 0x20, "64-byte-reads", "reads of 64 bytes" },
};

/* libpfm4 has thermal bits 01h to 08h here, for later revisions.  BKDG has only
 * this bit. */
static const struct hw_mask ecc[] = {
	{ 0x80, "dram-ecc-errors", "DRAM errors, corrected or not" },
};

static const struct hw_mask paths[] = {
	{ 0x01, "io-to-io", "type: I/O to I/O" },
	{ 0x02, "io-to-mem", "type: I/O to memory" },
	{ 0x04, "cpu-to-io", "type: processor to I/O" },
	{ 0x08, "cpu-to-mem", "type: processor to memory" },
	{ 0x10, "to-remote-node", "target: another node" },
	{ 0x20, "to-local-node", "target: this node" },
	{ 0x40, "from-remote-node", "source: another node" },
	{ 0x80, "from-local-node", "source: this node" },
};

static const struct hw_mask blocks[] = {
	{ 0x01, "victim-block", "writebacks" },
	{ 0x04, "read-block", "data read misses" },
	{ 0x08, "read-block-shared", "code misses" },
	{ 0x10, "read-block-modified", "data write misses" },
	{ 0x20, "change-to-dirty", "first write to a clean line" },
};

static const struct hw_mask sized[] = {
	{ 0x01, "nonpostwrszbyte",
	  "non-posted writes of 1 to 32 bytes: mostly old or mapped I/O" },
	{ 0x02, "nonpostwrszdword",
	  "non-posted writes of 1 to 16 dwords: mostly old or mapped I/O" },
	{ 0x04, "postwrszbyte",
	  "posted writes of 1 to 32 bytes: DMA, partly filled WC buffers" },
	{ 0x08, "postwrszdword",
	  "posted writes of 1 to 16 dwords: DMA of blocks, WC buffers" },
	{ 0x10, "rdszbyte", "reads of 4 bytes: mostly old or mapped I/O" },
	{ 0x20, "rdszdword", "reads of 1 to 16 dwords: DMA of blocks" },
	{ 0x40, "rdmodwr", "read, modify, write" },
};

/* Bit 1: pmc.k8 says all hits, BKDG clean hits, with dirty ones in bits 2 and 3.
 * tally follows BKDG, as libpfm4 does. */
static const struct hw_mask probes[] = {
	{ 0x01, "probe-miss", "probe: not in the cache" },
	{ 0x02, "probe-hit probe-hit-clean", "probe: clean line" },
	{ 0x04, "probe-hit-dirty-no-memory-cancel",
	  "probe: dirty line, memory answers (sized write, change to dirty)" },
	{ 0x08, "probe-hit-dirty-with-memory-cancel",
	  "probe: dirty line in place of memory (DMA read, refill)" },
	{ 0x10, "upstream-display-refresh-reads", "reads to refresh displays" },
	{ 0x20, "upstream-non-display-refresh-reads", "other upstream reads" },
	{ 0x40, "upstream-writes", "upstream writes (revision D and later)" },
};

static const struct hw_mask gart[] = {
	{ 0x01, "cpu-hit", "aperture accessed by the processor" },
	{ 0x02, "io-hit", "aperture accessed by I/O" },
	{ 0x04, "miss", "translation not in the GART's TLB" },
};

static const struct hw_mask links[] = {
	{ 0x01, "command", "commands" },
	{ 0x02, "data", "data" },
	{ 0x04, "buffer-release", "buffer releases" },
	{ 0x08, "nop", "nothing: idle" },
};

#define LINK(number, n)							\
	{ .code = number, BOTH, HW_UNSAID, "nb-ht-bus" #n "-bandwidth",	\
	  "HyperTransport Link " #n " Transmit Bandwidth", NULL,	\
	  "dwords sent over HyperTransport link " #n ", by kind",	\
	  "Use of the link: (command+data+buffer-release) / all. Times 4 and " \
	  "by time: bytes per second.", MASKS(0x0f, links) }

const struct hw_event hw_k8_events[] = {
	{ .code = 0x00, BOTH, HW_SPECULATIVE, "fp-dispatched-fpu-ops",
	  "Dispatched FPU Operations", NULL,
	  "operations sent to the floating point pipes, by pipe",
	  "Moves and loads count, and packed SSE counts twice: no measure of "
	  "MFLOPS. Compare k8-fr-retired-fpu-instructions.",
	  MASKS(0x3f, fpu_ops), .revision = "revision B and later (pmc.k8)" },
	{ .code = 0x01, BOTH, HW_RETIRED, "fp-cycles-with-no-fpu-ops-retired",
	  "Cycles with no FPU Ops Retired", "cycles",
	  "cycles in which no floating point operation retired",
	  "With inv,count=1: cycles in which at least one retired.",
	  .revision = "revision B and later (pmc.k8)" },
	{ .code = 0x02, BOTH, HW_SPECULATIVE, "fp-dispatched-fpu-fast-flag-ops",
	  "Dispatched Fast Flag FPU Operations", NULL,
	  "floating point comparisons that set flags directly (FCOMI, COMISD)",
	  .revision = "revision B and later (pmc.k8)" },
	{ .code = 0x20, BOTH, HW_UNSAID, "ls-segment-register-load",
	  "Segment Register Loads", NULL,
	  "loads of segment registers, by register", MASKS(0x7f, segments) },
	{ .code = 0x21, BOTH, HW_UNSAID,
	  "ls-microarchitectural-resync-by-self-modifying-code",
	  "Pipeline Restart Due to Self-Modifying Code", NULL,
	  "pipeline restarts because a store hit code already fetched" },
	{ .code = 0x22, BOTH, HW_UNSAID,
	  "ls-microarchitectural-resync-by-snoop",
	  "Pipeline Restart Due to Probe Hit", NULL,
	  "pipeline restarts because others took a line of an early load" },
	{ .code = 0x23, BOTH, HW_UNSAID, "ls-buffer2-full ls-buffer-2-full",
	  "LS Buffer 2 Full", "stalled-cycles-backend",
	  "cycles that the buffer of stores and missed requests is full",
	  "Other work may hide these cycles." },
	{ .code = 0x24, BOTH, HW_UNSAID, "ls-locked-operation",
	  "Locked Operations", NULL,
	  "locked instructions, or the cycles that they take",
	  "Instructions and cycles in one sum mean nothing: choose. "
	  "cycles-to-complete finds locks that miss the cache.",
	  MASKS(0x01, locks),
	  .revision = "masks: revision C and later (pmc.k8)" },
	/* In pmc.k8 only; BKDG leaves 25h out. */
	{ .code = 0x25, HW_PMC_K8, HW_UNSAID,
	  "ls-microarchitectural-late-cancel", "", NULL,
	  "late cancels of operations in the load/store unit" },
	{ .code = 0x65, HW_BKDG, HW_UNSAID, "memory-requests-by-type",
	  "Memory Requests by Type", NULL,
	  "requests to uncacheable and write-combining memory",
	  "Counts flushes of buffers, not stores: a buffer that was filled "
	  "partly takes two or more. wc includes ss; their difference is "
	  "writes to WC memory.", MASKS(0x83, memory_requests) },
	{ .code = 0x40, BOTH, HW_SPECULATIVE, "dc-access",
	  "Data Cache Accesses", "L1-dcache-loads",
	  "reads and writes of the data cache, by 8 bytes",
	  "A few accesses of microcode's scratch pad are among them." },
	{ .code = 0x41, BOTH, HW_SPECULATIVE, "dc-miss", "Data Cache Misses",
	  "L1-dcache-load-misses", "misses of the data cache",
	  "Only the first miss of a line that is on its way counts, but every "
	  "streaming store does: for refills use k8-dc-refill-from-l2." },
	{ .code = 0x42, BOTH, HW_SPECULATIVE, "dc-refill-from-l2",
	  "Data Cache Refills from L2 or System", "L1-dcache-load-misses",
	  "lines brought into the data cache, by where they were",
	  "Mask system alone equals k8-dc-refill-from-system.",
	  MASKS(0x1f, refill_l2) },
	{ .code = 0x43, BOTH, HW_SPECULATIVE, "dc-refill-from-system",
	  "Data Cache Refills from System", "cache-misses",
	  "lines brought into the data cache from memory or other caches",
	  MASKS(0x1f, states) },
	{ .code = 0x44, BOTH, HW_SPECULATIVE, "dc-copyback",
	  "Data Cache Lines Evicted", "L1-dcache-stores",
	  "lines of the data cache displaced by refills, by state",
	  "invalid: lines that were to be invalidated by others' writes. Lines "
	  "of PREFETCHNTA go to memory and cannot be told apart.",
	  MASKS(0x1f, states) },
	/* BKDG prints "L2 DLTB" here and in 46h.  It means DTLB, as in pmc.k8 and
	 * in BKDG's own text. */
	{ .code = 0x45, BOTH, HW_SPECULATIVE, "dc-l1-dtlb-miss-and-l2-dtlb-hit",
	  "L1 DTLB Miss and L2 DTLB Hit", "dTLB-loads",
	  "data accesses whose page is in the second TLB only" },
	{ .code = 0x46, BOTH, HW_SPECULATIVE,
	  "dc-l1-dtlb-miss-and-l2-dtlb-miss", "L1 DTLB and L2 DTLB Miss",
	  "dTLB-load-misses", "data accesses whose page is in no TLB" },
	{ .code = 0x47, BOTH, HW_SPECULATIVE, "dc-misaligned-data-reference",
	  "Misaligned Accesses", "alignment-faults",
	  "accesses across an 8-byte boundary",
	  "Each costs a second access (see k8-dc-access) and, when reading, a "
	  "cycle." },
	{ .code = 0x48, BOTH, HW_UNSAID,
	  "dc-microarchitectural-late-cancel-of-an-access",
	  "Microarchitectural Late Cancel of an Access", NULL,
	  "data cache accesses cancelled late" },
	{ .code = 0x49, BOTH, HW_UNSAID,
	  "dc-microarchitectural-early-cancel-of-an-access",
	  "Microarchitectural Early Cancel of an Access", NULL,
	  "data cache accesses cancelled early" },
	{ .code = 0x4a, BOTH, HW_UNSAID, "dc-one-bit-ecc-error",
	  "Single-bit ECC Errors Recorded by Scrubber", NULL,
	  "single-bit errors that the data cache corrected",
	  MASKS(0x03, scrubber) },
	{ .code = 0x4b, BOTH, HW_SPECULATIVE,
	  "dc-dispatched-prefetch-instructions",
	  "Prefetch Instructions Dispatched", "L1-dcache-prefetches",
	  "prefetch instructions decoded, by kind",
	  "Not each of them moves a line; their hits and misses also count in "
	  "the events of the caches.", MASKS(0x07, prefetches) },
	{ .code = 0x4c, BOTH, HW_UNSAID,
	  "dc-dcache-accesses-by-locks dcache-misses-by-locks",
	  "DCACHE Misses by Locked Instructions", "L1-dcache-load-misses",
	  "data cache misses (or accesses) of locked instructions",
	  "Samples fall close to the instruction. Included in k8-dc-miss; does "
	  "not show whether the L2 had the line.", MASKS(0x02, lock_misses),
	  .revision = "revision C and later (pmc.k8)" },
	{ .code = 0x67, HW_BKDG, HW_UNSAID, "data-prefetcher",
	  "Data Prefetcher", "L1-dcache-prefetches",
	  "requests of the hardware prefetcher",
	  "attempts minus cancelled are the lines it read; these also count in "
	  "k8-bu-fill-into-l2. The sum of both bits means nothing.",
	  MASKS(0x03, prefetcher) },
	{ .code = 0x6c, HW_BKDG, HW_UNSAID,
	  "system-read-responses-by-coherency-state",
	  "System Read Responses by Coherency State", "cache-misses",
	  "lines received from memory or other caches, by state",
	  "modified: for writing; exclusive: code, loads, page walks; shared: "
	  "another cache has it, too.", MASKS(0x07, read_responses) },
	{ .code = 0x6d, HW_BKDG, HW_UNSAID, "quadwords-written-to-system",
	  "Quadwords Written to System", "LLC-stores",
	  "8-byte units written to the system",
	  "A written-back line is 8; a write-combining flush 1 to 8.",
	  MASKS(0x01, quadwords) },
	{ .code = 0x7d, BOTH, HW_UNSAID, "bu-internal-l2-request",
	  "Requests to L2 Cache", "cache-references",
	  "read requests to the L2, by origin",
	  "Retries count, and can dominate when the L2 is busy: for traffic "
	  "use the refill events 42h, 43h, 82h, 83h.",
	  MASKS(0x1f, l2_requests) },
	{ .code = 0x7e, BOTH, HW_SPECULATIVE, "bu-fill-request-l2-miss",
	  "L2 Cache Misses", "cache-misses",
	  "requests that miss the L2, by origin",
	  "Includes retries, and more speculative ones than the refill events "
	  "43h and 83h.", MASKS(0x07, l2_misses) },
	{ .code = 0x7f, BOTH, HW_UNSAID, "bu-fill-into-l2 l2-fill-writeback",
	  "L2 Fill/Writeback", "LLC-stores",
	  "lines written into the L2, or from it to the system",
	  "Unlike k8-dc-copyback, lines of PREFETCHNTA are not among them.",
	  MASKS(0x03, l2_fills) },
	/* BKDG §10.2.1.5: all instruction cache events are speculative. */
	{ .code = 0x80, BOTH, HW_SPECULATIVE, "ic-fetch",
	  "Instruction Cache Fetches", "instructions",
	  "reads of 16 aligned bytes of code" },
	{ .code = 0x81, BOTH, HW_SPECULATIVE, "ic-miss",
	  "Instruction Cache Misses", "L1-icache-load-misses",
	  "misses of the instruction cache",
	  "About the sum of k8-ic-refill-from-l2 and -system." },
	{ .code = 0x82, BOTH, HW_SPECULATIVE, "ic-refill-from-l2",
	  "Instruction Cache Refills from L2", "L1-icache-load-misses",
	  "lines of code brought from the L2" },
	{ .code = 0x83, BOTH, HW_SPECULATIVE, "ic-refill-from-system",
	  "Instruction Cache Refills from System", "cache-misses",
	  "lines of code brought from memory or other caches" },
	{ .code = 0x84, BOTH, HW_SPECULATIVE, "ic-l1-itlb-miss-and-l2-itlb-hit",
	  "L1 ITLB Miss, L2 ITLB Hit", "iTLB-loads",
	  "fetches whose page is in the second TLB only" },
	{ .code = 0x85, BOTH, HW_SPECULATIVE,
	  "ic-l1-itlb-miss-and-l2-itlb-miss", "L1 ITLB Miss, L2 ITLB Miss",
	  "iTLB-load-misses", "fetches whose page is in no TLB" },
	{ .code = 0x86, BOTH, HW_SPECULATIVE,
	  "ic-microarchitectural-resync-by-snoop",
	  "Pipeline Restart Due to Instruction Stream Probe", NULL,
	  "pipeline restarts because another processor wrote running code" },
	{ .code = 0x87, BOTH, HW_SPECULATIVE, "ic-instruction-fetch-stall",
	  "Instruction Fetch Stall", "stalled-cycles-frontend",
	  "cycles that fetching stands still, for any reason",
	  "Often hidden by other stalls or by execution: not all cost time." },
	{ .code = 0x88, BOTH, HW_SPECULATIVE, "ic-return-stack-hits",
	  "Return Stack Hits", "branches",
	  "returns that took their address from the return stack",
	  "The address may be wrong; do not compare with C9h and CAh, which "
	  "count at retirement." },
	{ .code = 0x89, BOTH, HW_SPECULATIVE,
	  "ic-return-stack-overflow ic-return-stack-overflows",
	  "Return Stack Overflows", "branch-misses",
	  "calls that pushed the oldest entry out of the return stack" },

	/* pmc.k8 lists 26h and 27h under the load/store unit, BKDG under the
	 * execution unit.  pmc.k8 writes "cflush"; tally accepts both spellings. */
	{ .code = 0x26, BOTH, HW_RETIRED,
	  "ls-retired-cflush-instructions ls-retired-clflush-instructions",
	  "Retired CLFLUSH Instructions", NULL, "CLFLUSH instructions" },
	{ .code = 0x27, BOTH, HW_RETIRED, "ls-retired-cpuid-instructions",
	  "Retired CPUID Instructions", NULL, "CPUID instructions" },
	{ .code = 0x76, BOTH, HW_UNSAID, "bu-cpu-clk-unhalted",
	  "CPU Clocks not Halted", "cycles",
	  "cycles that the processor is not halted (HLT, STPCLK)",
	  "Divided by C0h: cycles per instruction without idle time, where the "
	  "system halts when idle." },
	{ .code = 0xc0, BOTH, HW_RETIRED, "fr-retired-x86-instructions",
	  "Retired Instructions", "instructions", "instructions",
	  "Each exception and interrupt counts as one." },
	{ .code = 0xc1, BOTH, HW_RETIRED, "fr-retired-uops", "Retired uops",
	  "instructions",
	  "micro-operations, those of microcode and interrupts included" },
	{ .code = 0xc2, BOTH, HW_RETIRED, "fr-retired-branches",
	  "Retired Branch Instructions", "branches",
	  "branches of all kinds, exceptions and interrupts included" },
	{ .code = 0xc3, BOTH, HW_RETIRED, "fr-retired-branches-mispredicted",
	  "Retired Mispredicted Branch Instructions", "branch-misses",
	  "branches that went elsewhere than predicted",
	  "Includes those that are never predicted: far transfers, exceptions, "
	  "interrupts." },
	{ .code = 0xc4, BOTH, HW_RETIRED, "fr-retired-taken-branches",
	  "Retired Taken Branch Instructions", "branches",
	  "branches taken, exceptions and interrupts included" },
	{ .code = 0xc5, BOTH, HW_RETIRED,
	  "fr-retired-taken-branches-mispredicted",
	  "Retired Taken Branch Instructions Mispredicted", "branch-misses",
	  "branches taken that were not predicted so" },
	/* pmc.k8: always mispredicted; BKDG: not subject to prediction.  Both
	 * imply a count in C3h; BKDG gives the reason. */
	{ .code = 0xc6, BOTH, HW_RETIRED, "fr-retired-far-control-transfers",
	  "Retired Far Control Transfers", "branches",
	  "far calls, jumps and returns, system calls, exceptions, interrupts",
	  "They are never predicted, so each counts as mispredicted." },
	{ .code = 0xc7, BOTH, HW_RETIRED, "fr-retired-resyncs",
	  "Retired Branch Resyncs", "branch-misses",
	  "pipeline restarts by microcode assists and the like",
	  "Rare; each costs what a mispredicted branch costs." },
	{ .code = 0xc8, BOTH, HW_RETIRED, "fr-retired-near-returns",
	  "Retired Near Returns", "branches", "near returns" },
	{ .code = 0xc9, BOTH, HW_RETIRED,
	  "fr-retired-near-returns-mispredicted",
	  "Retired Near Returns Mispredicted", "branch-misses",
	  "near returns whose address was not predicted" },
	/* pmc.k8 says taken branches with a wrong address.  BKDG identifies them
	 * as indirect branches. */
	{ .code = 0xca, BOTH, HW_RETIRED,
	  "fr-retired-taken-branches-mispredicted-by-addr-miscompare",
	  "Retired Indirect Branches Mispredicted", "branch-misses",
	  "indirect branches whose target was not predicted" },
	{ .code = 0xcb, BOTH, HW_RETIRED, "fr-retired-fpu-instructions",
	  "Retired MMX/FP Instructions", "instructions",
	  "floating point and media instructions, by kind",
	  "Moves count, too: no measure of MFLOPS.", MASKS(0x0f, fp_retired),
	  .revision = "revision B and later (pmc.k8)" },
	{ .code = 0xcc, BOTH, HW_RETIRED,
	  "fr-retired-fastpath-double-op-instructions",
	  "Retired Fastpath Double op Instructions", "instructions",
	  "instructions of two operations, by position of the first",
	  MASKS(0x07, double_op), .revision = "revision B and later (pmc.k8)" },
	{ .code = 0xcd, BOTH, HW_UNSAID, "fr-interrupts-masked-cycles",
	  "Interrupts-Masked Cycles", "cycles",
	  "cycles with interrupts masked (EFLAGS.IF = 0)",
	  "With edge: how often they were masked. Cycles divided by that is "
	  "the mean length; compare with CFh for how often it was for an "
	  "interrupt." },
	{ .code = 0xce, BOTH, HW_UNSAID,
	  "fr-interrupts-masked-while-pending-cycles",
	  "Interrupts-Masked Cycles with Interrupt Pending", "cycles",
	  "cycles with interrupts masked while one waits",
	  "With edge: how often one had to wait; cycles divided by that is the "
	  "mean delay." },
	/* pmc.k8's alias table has k8-fr-taken-hardware-interrupts, its list
	 * …-retired-taken-…. They are one event, and tally accepts both names. */
	{ .code = 0xcf, BOTH, HW_UNSAID,
	  "fr-retired-taken-hardware-interrupts fr-taken-hardware-interrupts",
	  "Interrupts Taken", NULL, "hardware interrupts",
	  "INT n instructions are not among them." },
	{ .code = 0xd0, BOTH, HW_UNSAID, "fr-decoder-empty", "Decoder Empty",
	  "stalled-cycles-frontend", "cycles with nothing to dispatch",
	  "Mostly waiting for code after a cache miss or a mispredicted "
	  "branch." },
	{ .code = 0xd1, BOTH, HW_UNSAID, "fr-dispatch-stalls",
	  "Dispatch Stalls", "stalled-cycles-backend",
	  "cycles with instructions ready that cannot be dispatched",
	  "The net effect of D2h to DAh, which overlap." },
	{ .code = 0xd2, BOTH, HW_UNSAID,
	  "fr-dispatch-stall-from-branch-abort-to-retire",
	  "Dispatch Stall for Branch Abort to Retire", "stalled-cycles-backend",
	  "dispatch waits for the pipe to drain after a mispredicted branch",
	  OVERLAP },
	{ .code = 0xd3, BOTH, HW_UNSAID, "fr-dispatch-stall-for-serialization",
	  "Dispatch Stall for Serialization", "stalled-cycles-backend",
	  "dispatch waits for a serializing operation",
	  "Rare; system instructions mostly." },
	{ .code = 0xd4, BOTH, HW_UNSAID, "fr-dispatch-stall-for-segment-load",
	  "Dispatch Stall for Segment Load", "stalled-cycles-backend",
	  "a segment load waits for an earlier one",
	  "Rare outside 16-bit code." },
	{ .code = 0xd5, BOTH, HW_UNSAID,
	  "fr-dispatch-stall-when-reorder-buffer-is-full",
	  "Dispatch Stall for Reorder Buffer Full", "stalled-cycles-backend",
	  "dispatch waits for room in the reorder buffer", OVERLAP },
	{ .code = 0xd6, BOTH, HW_UNSAID,
	  "fr-dispatch-stall-when-reservation-stations-are-full",
	  "Dispatch Stall for Reservation Station Full",
	  "stalled-cycles-backend",
	  "dispatch waits for an integer reservation station", OVERLAP },
	{ .code = 0xd7, BOTH, HW_UNSAID, "fr-dispatch-stall-when-fpu-is-full",
	  "Dispatch Stall for FPU Full", "stalled-cycles-backend",
	  "dispatch waits for room in the floating point scheduler",
	  "Little parallelism in floating point code, or its loads miss the "
	  "cache (then perhaps D8h instead)." },
	{ .code = 0xd8, BOTH, HW_UNSAID, "fr-dispatch-stall-when-ls-is-full",
	  "Dispatch Stall for LS Full", "stalled-cycles-backend",
	  "dispatch waits for room in the load/store unit",
	  "Mostly a sign of many cache misses." },
	{ .code = 0xd9, BOTH, HW_UNSAID,
	  "fr-dispatch-stall-when-waiting-for-all-to-be-quiet",
	  "Dispatch Stall Waiting for All Quiet", "stalled-cycles-backend",
	  "dispatch waits until no request to the system is open",
	  "Rare; system instructions and some interrupts." },
	{ .code = 0xda, BOTH, HW_UNSAID,
	  "fr-dispatch-stall-when-waiting-far-xfer-or-resync-branch-pending",
	  "Dispatch Stall for Far Transfer or Resync to Retire",
	  "stalled-cycles-backend",
	  "dispatch waits for the target of a far transfer or resync",
	  "Rare; does not overlap with the other stalls." },
	{ .code = 0xdb, BOTH, HW_UNSAID, "fr-fpu-exceptions", "FPU Exceptions",
	  NULL, "floating point exceptions that microcode handles",
	  MASKS(0x0f, fpu_exceptions),
	  .revision = "revision B and later (pmc.k8)" },
	{ .code = 0xdc, BOTH, HW_UNSAID, "fr-number-of-breakpoints-for-dr0",
	  "DR0 Breakpoint Matches", NULL,
	  "matches of debug register 0, enabled or not",
	  "A match of an instruction costs about 120 cycles, one of data "
	  "nothing." },
	{ .code = 0xdd, BOTH, HW_UNSAID, "fr-number-of-breakpoints-for-dr1",
	  "DR1 Breakpoint Matches", NULL,
	  "matches of debug register 1, enabled or not", "See DCh." },
	{ .code = 0xde, BOTH, HW_UNSAID, "fr-number-of-breakpoints-for-dr2",
	  "DR2 Breakpoint Matches", NULL,
	  "matches of debug register 2, enabled or not", "See DCh." },
	{ .code = 0xdf, BOTH, HW_UNSAID, "fr-number-of-breakpoints-for-dr3",
	  "DR3 Breakpoint Matches", NULL,
	  "matches of debug register 3, enabled or not", "See DCh." },

	{ .code = 0xe0, BOTH, HW_UNSAID,
	  "nb-memory-controller-page-access-event", "DRAM Accesses",
	  "node-loads", "accesses of this node's memory, by state of the page",
	  "Each is 64 bytes, or 32 where a single channel is set up so. Waits "
	  "may be hidden by other accesses.", MASKS(0x07, pages) },
	/* BKDG prints E1, E3 and E5 without their h. */
	{ .code = 0xe1, BOTH, HW_UNSAID,
	  "nb-memory-controller-page-table-overflow",
	  "Memory Controller Page Table Overflows", "node-load-misses",
	  "requests for a page when the table of open pages is full",
	  "Each waits as a page conflict does." },
	/* In pmc.k8 only; BKDG leaves E2h out. */
	{ .code = 0xe2, HW_PMC_K8, HW_UNSAID,
	  "nb-memory-controller-dram-slots-missed", "", NULL,
	  "memory clocks in which a DRAM command slot was missed" },
	{ .code = 0xe3, BOTH, HW_UNSAID, "nb-memory-controller-turnaround",
	  "Memory Controller Turnarounds", NULL,
	  "turnarounds of the memory bus, which lose bandwidth",
	  "width is 8 bytes, or 16 with two channels; Tcl is the CAS latency "
	  "in memory clocks.", MASKS(0x07, turnarounds) },
	{ .code = 0xe4, BOTH, HW_UNSAID,
	  "nb-memory-controller-bypass-saturation",
	  "Memory Controller Bypass Counter Saturation", NULL,
	  "requests that were passed by as often as is allowed",
	  MASKS(0x0f, bypasses) },
	{ .code = 0xe5, HW_BKDG, HW_UNSAID, "sized-blocks", "Sized Blocks",
	  NULL, "transfers of exactly 32 or 64 bytes, of processor or I/O",
	  "Those of the processor are flushes of write-combining buffers; 32 "
	  "bytes: partly filled ones. Compare 65h.", MASKS(0x3c, sized_blocks),
	  .revision = "revision D and later (BKDG)" },
	{ .code = 0xe8, HW_BKDG, HW_UNSAID, "ecc-errors", "ECC Errors", NULL,
	  "memory errors found by ECC", MASKS(0x80, ecc),
	  .revision = "revision E (BKDG)" },
	{ .code = 0xe9, HW_BKDG, HW_UNSAID, "cpu-io-requests-to-memory-io",
	  "CPU/IO Requests to Memory/IO", "node-loads",
	  "requests between processors, I/O and memory, by path",
	  "The mask is a sum of A8h A4h A2h A1h (local to local), 98h 94h 92h "
	  "91h (local to remote), 64h 61h (remote to local). Does not show "
	  "sizes and directions: see F6h to F8h.", MASKS(0xff, paths),
	  .rule = HW_MASK_PATHS, .revision = "revision E (BKDG)" },
	{ .code = 0xea, HW_BKDG, HW_UNSAID, "cache-block-commands",
	  "Cache Block Commands", "cache-misses",
	  "requests for cache lines or for the right to write them",
	  "Each moves a line; change-to-dirty only when another cache owns it.",
	  MASKS(0x3d, blocks), .revision = "revision E (BKDG)" },
	{ .code = 0xeb, BOTH, HW_UNSAID, "nb-sized-commands", "Sized Commands",
	  NULL, "reads and writes of a size, of processor or I/O",
	  "E5h has the common sizes, ECh what comes from I/O alone.",
	  MASKS(0x7f, sized) },
	/* BKDG says that bits 0-3 and 4-6 are unrelated.  pmc.k8 has only the
	 * probes, and the name refers to them.  They are the default, because the
	 * sum of all bits is meaningless. */
	{ .code = 0xec, BOTH, HW_UNSAID, "nb-probe-result",
	  "Probe Responses and Upstream Requests", NULL,
	  "answers of the caches to probes; or requests from devices",
	  "Two unrelated sets: do not mix probe-… and upstream-…. Each dirty "
	  "hit moves 64 bytes.", MASKS(0x0f, probes) },
	{ .code = 0xee, HW_BKDG, HW_UNSAID, "gart-events", "GART Events", NULL,
	  "accesses through the graphics aperture, and TLB misses of it",
	  "miss / (cpu-hit + io-hit) is the miss rate.", MASKS(0x07, gart) },
	LINK(0xf6, 0),
	LINK(0xf7, 1),
	LINK(0xf8, 2),
	{ .names = NULL },
};
