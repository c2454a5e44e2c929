/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_GUARD_H
#define TALLY_CLI_GUARD_H
/*
 * Signals that must not kill tally in the middle of its work:
 *
 *	SIGBUS	a mapped file was cut short by somebody else: zeros take the
 *place of the missing pages, and the reader finds bad data SIGPIPE	the
 *reader of the output has gone: writing fails with EPIPE and the command ends
 *quietly
 *
 * Handlers, not SIG_IGN: programs that tally starts get the default actions
 *back.
 */
void guard_install(void);

#endif
