/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_OPINION_H
#define TALLY_VERIFY_OPINION_H
/*
 * Asks libdw (elfutils) about addresses of an ELF file: functions, inlined calls,
 * files, lines and ELF symbols.  tally's own ELF and DWARF readers take no part, so
 * the answers are independent.
 *
 * libdw.so.1 is loaded on first use; tally also runs without it.  libdw runs in a
 * child process.  A file that makes libdw crash or use too much memory therefore
 * only causes an error message.  The child never asks a debuginfod server.
 */
#include "verify/opinion_data.h"

/* Asks libdw.  On success the caller owns *out and frees it with opinion_free.
 * Returns ERR_UNSUPPORTED if tally was built without libdw's headers or libdw.so.1
 * is not installed. */
int opinion_ask(const struct opinion_request *q, struct opinion **out,
		struct error *err);
void opinion_free(struct opinion *o);

#endif
