/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_GUARD_H
#define TALLY_CLI_GUARD_H
/*
 * Handles signals that would otherwise kill tally in the middle of its work:
 *
 *	SIGBUS	another process truncated a mapped file. Zeros replace the missing
 *		pages, and the reader detects invalid data.
 *	SIGPIPE	the reader of the output has exited. Writing fails with EPIPE, and the
 *		command ends quietly.
 *
 * Handlers are used instead of SIG_IGN, so that programs started by tally get the
 * default actions.
 */
void guard_install(void);

#endif
