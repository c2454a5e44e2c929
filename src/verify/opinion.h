/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VERIFY_OPINION_H
#define TALLY_VERIFY_OPINION_H
/*
 * What libdw (elfutils) says about addresses of an ELF file: functions, inlined
 * calls, files, lines and ELF symbols.  Nothing of tally's own ELF or DWARF
 * readers takes part, so the answers are a second opinion.
 *
 * libdw.so.1 is loaded when it is asked for the first time; tally runs without it.
 * It works in a child process: a file that makes libdw crash or use too much
 * memory costs an error message and no more.  The child never asks a debuginfod
 * server.
 */
#include "verify/opinion_data.h"

/* ERR_UNSUPPORTED where tally was built without libdw's headers or libdw.so.1 is
 * not installed.  On success *out is the caller's, to be freed by opinion_free. */
int opinion_ask(const struct opinion_request *q, struct opinion **out,
		struct error *err);
void opinion_free(struct opinion *o);

#endif
