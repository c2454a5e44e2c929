// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD K8, BKDG §10.2.1.7 to .9: memory controller, system requests and
 * HyperTransport.  All of them count in the northbridge, which the cores of a node
 * share.  See hw.h for the documents.
 */
#include "events/hw.h"

#define BOTH (HW_BKDG | HW_PMC_K8)
#define MASKS(m) COUNT(m), (m)

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

#define LINK(code, n)							\
	{ code, 0x0f, 0, BOTH, HW_UNSAID, 0, MASKS(links),		\
	  "nb-ht-bus" #n "-bandwidth",					\
	  "HyperTransport Link " #n " Transmit Bandwidth",		\
	  "dwords sent over HyperTransport link " #n ", by kind",	\
	  "Use of the link: (command+data+buffer-release) / all. Times 4 and " \
	  "by time: bytes per second.", NULL, NULL }

static const struct hw_event events[] = {
	{ 0xe0, 0x07, 0, BOTH, HW_UNSAID, 0, MASKS(pages),
	  "nb-memory-controller-page-access-event", "DRAM Accesses",
	  "accesses of this node's memory, by state of the page",
	  "Each is 64 bytes, or 32 where a single channel is set up so. Waits "
	  "may be hidden by other accesses.", NULL, "node-loads" },
	/* BKDG prints E1, E3 and E5 without their h. */
	{ 0xe1, 0, 0, BOTH, HW_UNSAID, 0, 0, NULL,
	  "nb-memory-controller-page-table-overflow",
	  "Memory Controller Page Table Overflows",
	  "requests for a page when the table of open pages is full",
	  "Each waits as a page conflict does.", NULL, "node-load-misses" },
	/* In pmc.k8 only; BKDG leaves E2h out. */
	{ 0xe2, 0, 0, HW_PMC_K8, HW_UNSAID, 0, 0, NULL,
	  "nb-memory-controller-dram-slots-missed", "",
	  "memory clocks in which a DRAM command slot was missed", NULL, NULL,
	  NULL },
	{ 0xe3, 0x07, 0, BOTH, HW_UNSAID, 0, MASKS(turnarounds),
	  "nb-memory-controller-turnaround", "Memory Controller Turnarounds",
	  "turnarounds of the memory bus, which lose bandwidth",
	  "width is 8 bytes, or 16 with two channels; Tcl is the CAS latency "
	  "in memory clocks.", NULL, NULL },
	{ 0xe4, 0x0f, 0, BOTH, HW_UNSAID, 0, MASKS(bypasses),
	  "nb-memory-controller-bypass-saturation",
	  "Memory Controller Bypass Counter Saturation",
	  "requests that were passed by as often as is allowed", NULL, NULL,
	  NULL },
	{ 0xe5, 0x3c, 0, HW_BKDG, HW_UNSAID, 0, MASKS(sized_blocks),
	  "sized-blocks", "Sized Blocks",
	  "transfers of exactly 32 or 64 bytes, of processor or I/O",
	  "Those of the processor are flushes of write-combining buffers; 32 "
	  "bytes: partly filled ones. Compare 65h.",
	  "revision D and later (BKDG)", NULL },
	{ 0xe8, 0x80, 0, HW_BKDG, HW_UNSAID, 0, MASKS(ecc),
	  "ecc-errors", "ECC Errors", "memory errors found by ECC", NULL,
	  "revision E (BKDG)", NULL },
	{ 0xe9, 0xff, 0, HW_BKDG, HW_UNSAID, HW_MASK_PATHS, MASKS(paths),
	  "cpu-io-requests-to-memory-io", "CPU/IO Requests to Memory/IO",
	  "requests between processors, I/O and memory, by path",
	  "The mask is a sum of A8h A4h A2h A1h (local to local), 98h 94h 92h "
	  "91h (local to remote), 64h 61h (remote to local). Does not "
	  "show sizes and directions: see F6h to F8h.", "revision E (BKDG)",
	  "node-loads" },
	{ 0xea, 0x3d, 0, HW_BKDG, HW_UNSAID, 0, MASKS(blocks),
	  "cache-block-commands", "Cache Block Commands",
	  "requests for cache lines or for the right to write them",
	  "Each moves a line; change-to-dirty only when another cache owns it.",
	  "revision E (BKDG)", "cache-misses" },
	{ 0xeb, 0x7f, 0, BOTH, HW_UNSAID, 0, MASKS(sized),
	  "nb-sized-commands", "Sized Commands",
	  "reads and writes of a size, of processor or I/O",
	  "E5h has the common sizes, ECh what comes from I/O alone.", NULL,
	  NULL },
	/* BKDG says that bits 0-3 and 4-6 are unrelated.  pmc.k8 has only the
	 * probes, and the name refers to them.  They are the default, because the
	 * sum of all bits is meaningless. */
	{ 0xec, 0x0f, 0, BOTH, HW_UNSAID, 0, MASKS(probes),
	  "nb-probe-result", "Probe Responses and Upstream Requests",
	  "answers of the caches to probes; or requests from devices",
	  "Two unrelated sets: do not mix probe-… and upstream-…. Each dirty "
	  "hit moves 64 bytes.", NULL, NULL },
	{ 0xee, 0x07, 0, HW_BKDG, HW_UNSAID, 0, MASKS(gart),
	  "gart-events", "GART Events",
	  "accesses through the graphics aperture, and TLB misses of it",
	  "miss / (cpu-hit + io-hit) is the miss rate.", NULL, NULL },
	LINK(0xf6, 0),
	LINK(0xf7, 1),
	LINK(0xf8, 2),
};

const struct hw_part hw_k8_nb = {
	events, COUNT(events),
};
