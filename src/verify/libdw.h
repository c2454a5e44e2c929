/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_LIBDW_H
#define TALLY_VERIFY_LIBDW_H
/* The part of opinion_ask that runs in the child process (private to src/verify). */
#include "base/buf.h"
#include "verify/opinion_data.h"

/* Loads libdw.so.1.  Returns ERR_UNSUPPORTED if that is not possible. */
int libdw_load(struct error *err);

/*
 * Appends to `out`: u8 whether there is DWARF; u8 length and bytes of the build ID;
 * then for each address:
 *
 *	u8 flags				OPINION_*
 *	uleb n, n strings			ELF symbols
 *	uleb n, n × (string, string, uleb)	folder, file and line by the line table
 *	uleb n, n × chain			uleb n, n × frame
 *	frame: string linkage, string name, string folder,
 *	       string file, uleb line, u8 inlined
 *
 * A string is encoded as its number (uleb; 0 is "").  New strings are numbered in
 * order; the first use of a number is followed by the string's bytes and a NUL.
 */
int libdw_answer(const struct opinion_request *q, struct buf *out,
		 struct error *err);

#endif
