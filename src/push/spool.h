/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_SPOOL_H
#define TALLY_PUSH_SPOOL_H
/*
 * A folder of entries that wait to be sent, oldest first.  Each is a file:
 *
 *	NUMBER.push	16 hexadecimal digits, counted up
 *
 *	offset  size
 *	     0     8	"TLYPUSH1"
 *	     8     4	CRC-32 of the payload, little-endian
 *	    12     8	bytes of the payload, little-endian
 *	    20		payload (entry.h)
 *
 * A file gets its name when it is complete and on the disk.  After a process was
 * killed, an entry therefore exists completely or not at all.  The process that has
 * the spool open holds a lock on the file "lock".  The spool has a limited size.
 * The oldest entries are removed to make room for a new one, or when the disk is
 * full.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct spool;

struct spool_counts {
	uint64_t files, bytes;		/* files in the spool, and their size */
	uint64_t dropped;		/* entries removed to make room */
	uint64_t damaged;		/* invalid files that were removed */
};

/* Opens a spool and creates the folder (0700) if it is missing.  `max_bytes`
 * limits the total size of the entries.  ERR_USAGE: another process has the spool
 * open. */
int spool_open(const char *path, uint64_t max_bytes, struct spool **out,
	       struct error *err);
void spool_close(struct spool *s);
/* Adds an entry.  `may_drop`: removes the oldest ones if there is no room otherwise.
 * On an error nothing is left behind. */
int spool_add(struct spool *s, const void *entry, size_t n, bool may_drop,
	      struct error *err);
/* Removes entries for which `unwanted` returns true. */
int spool_discard(struct spool *s,
		  bool (*unwanted)(void *ctx, const void *entry, size_t n),
		  void *ctx, struct error *err);
/* Fills `out` with the oldest entry, or with the one behind `skip` others.  Returns
 * 1, or 0 if there is none. */
int spool_oldest(struct spool *s, size_t skip, struct buf *out,
		 struct error *err);
/* Removes the entry that spool_oldest returned. */
int spool_remove(struct spool *s, size_t skip, struct error *err);
/* Returns the counts of the spool. */
struct spool_counts spool_count(const struct spool *s);

/* Finds the payload of a file, which may be hostile.  Returns false if the file is
 * invalid. */
bool spool_payload(const void *p, size_t n, const uint8_t **payload,
		   size_t *bytes);

#endif
