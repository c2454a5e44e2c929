// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intel P6 family: the external bus.  EN spells some names BUS_TRAN_ and some
 * BUS_TRANS_, and ZH differs for two of them (P and IO). tally accepts both
 * spellings of each.  See hw.h for the documents.
 */
#include "events/hw.h"

#define BOTH (HW_P6_EN | HW_P6_ZH)

/* EN note 2, ZH note 2: bit 5. */
static const struct hw_mask agents[] = {
	{ 0x00, "self", "of this processor" },
	{ 0x20, "any all", "of any processor on the bus" },
};

/* Both lists have "00H (Self)" and no 20H. */
static const struct hw_mask self[] = {
	{ 0x00, "self", "of this processor" },
};

#define ANY(code, src, names, what, note, generic)			\
	{ code, 0, 0, src, HW_UNSAID, 0, 2, agents, names, "", what,	\
	  note, NULL, generic }
#define SELF(code, src, names, what, note, generic)			\
	{ code, 0, 0, src, HW_UNSAID, 0, 1, self, names, "", what,	\
	  note, NULL, generic }

static const struct hw_event events[] = {
	ANY(0x62, BOTH, "BUS_DRDY_CLOCKS",
	    "clocks that DRDY# is driven: data moves on the bus",
	    "self counts clocks of the bus, any those of the processor.",
	    "bus-cycles"),
	ANY(0x63, BOTH, "BUS_LOCK_CLOCKS", "clocks that LOCK# is driven",
	    "Always clocks of the processor.", "bus-cycles"),
	SELF(0x60, HW_P6_EN, "BUS_REQ_OUTSTANDING",
	     "open bus requests in each cycle, summed",
	     "Only cacheable reads of whole data lines, until the last part "
	     "has come.", "bus-cycles"),
	ANY(0x65, HW_P6_EN, "BUS_TRAN_BRD BUS_TRANS_BRD",
	    "burst reads", NULL, "cache-misses"),
	/* ZH describes this as an exchange to acquire the bus.  EN and the name
	 * mean reading for ownership of a line. */
	ANY(0x66, BOTH, "BUS_TRAN_RFO BUS_TRANS_RFO",
	    "reads to own a line for writing", NULL, "LLC-store-misses"),
	ANY(0x67, HW_P6_EN, "BUS_TRANS_WB BUS_TRAN_WB",
	    "writebacks", NULL, "LLC-stores"),
	ANY(0x68, BOTH, "BUS_TRAN_IFETCH BUS_TRANS_IFETCH",
	    "instruction fetches on the bus", NULL, "cache-misses"),
	ANY(0x69, BOTH, "BUS_TRAN_INVAL BUS_TRANS_INVAL",
	    "invalidations", NULL, NULL),
	ANY(0x6a, BOTH, "BUS_TRAN_PWR BUS_TRANS_PWR",
	    "partial writes", NULL, NULL),
	/* EN BUS_TRANS_P, ZH BUS_TRAN_P; the same for IO. */
	ANY(0x6b, BOTH, "BUS_TRANS_P BUS_TRAN_P",
	    "partial transactions", NULL, NULL),
	ANY(0x6c, BOTH, "BUS_TRANS_IO BUS_TRAN_IO",
	    "I/O transactions", NULL, NULL),
	ANY(0x6d, BOTH, "BUS_TRAN_DEF BUS_TRANS_DEF",
	    "deferred transactions", NULL, NULL),
	ANY(0x6e, BOTH, "BUS_TRAN_BURST BUS_TRANS_BURST",
	    "burst transactions", NULL, "cache-misses"),
	ANY(0x70, BOTH, "BUS_TRAN_ANY BUS_TRANS_ANY",
	    "all transactions, special cycles included",
	    "Times the clocks that an address takes: use of the address bus.",
	    "bus-cycles"),
	ANY(0x6f, BOTH, "BUS_TRAN_MEM BUS_TRANS_MEM",
	    "memory transactions", NULL, "cache-misses"),
	SELF(0x64, HW_P6_EN, "BUS_DATA_RCV",
	     "bus clocks that this processor receives data", NULL,
	     "bus-cycles"),
	SELF(0x61, BOTH, "BUS_BNR_DRV",
	     "bus clocks that this processor drives BNR", NULL, "bus-cycles"),
	SELF(0x7a, BOTH, "BUS_HIT_DRV",
	     "bus clocks that this processor drives HIT",
	     "Snoop stalls are included.", "bus-cycles"),
	SELF(0x7b, HW_P6_EN, "BUS_HITM_DRV",
	     "bus clocks that this processor drives HITM",
	     "Snoop stalls are included.", "bus-cycles"),
	SELF(0x7e, BOTH, "BUS_SNOOP_STALL",
	     "clocks that the bus waits for a snoop", NULL, "bus-cycles"),
};

const struct hw_part hw_p6_bus = {
	events, COUNT(events),
};
