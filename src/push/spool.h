/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_SPOOL_H
#define TALLY_PUSH_SPOOL_H
/*
 * A folder of entries that wait to be sent, oldest first.  Each is a file
 *
 *	NUMBER.push	16 hexadecimal digits, counted up
 *
 *	offset  size
 *	     0     8	"TLYPUSH1"
 *	     8     4	CRC-32 of the payload, little-endian
 *	    12     8	bytes of the payload, little-endian
 *	    20		payload (entry.h)
 *
 * that gets its name when it is whole and on the disk: whenever a process is
 * killed, an entry is there or it is not.  The file "lock" is locked by whoever has
 * the spool open.  It holds at most a number of bytes: for a new entry the oldest
 * ones go, and so they do when the disk is full.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct spool;

struct spool_counts {
	uint64_t files, bytes;		/* that are there */
	uint64_t dropped;		/* entries that made room */
	uint64_t damaged;		/* files that were none, removed */
};

/* Makes the folder (0700) where there is none.  ERR_USAGE: another process has it
 * open.  `max_bytes`: what entries may take together. */
int spool_open(const char *path, uint64_t max_bytes, struct spool **out,
	       struct error *err);
void spool_close(struct spool *s);
/* ERR_IO: there is no room, even without all others; nothing is there then. */
int spool_add(struct spool *s, const void *entry, size_t n, struct error *err);
/* Fills `out` with the oldest entry; 1, or 0 where none is left. */
int spool_oldest(struct spool *s, struct buf *out, struct error *err);
/* The one that spool_oldest gave is no longer needed. */
int spool_remove(struct spool *s, struct error *err);
struct spool_counts spool_count(const struct spool *s);

/* A file's payload, which may be hostile; false: it is none. */
bool spool_payload(const void *p, size_t n, const uint8_t **payload,
		   size_t *bytes);

#endif
