/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_COMPLETE_H
#define TALLY_CLI_COMPLETE_H
/*
 * Completion of command lines, for the scripts of bash, zsh and fish
 * (src/cli/completion), which call `tally --complete WORD...`: the words behind
 * "tally" up to the one that is being written, which may be empty.
 *
 * Answers a line for each way to complete the last word, "WORD<tab>what it is",
 * and as its last line one of
 *
 *	:			nothing besides
 *	:files			names of files, too
 *	:folders		names of folders, too
 *	:command N		a command of its own begins at word N (from 0)
 */
#include "base/buf.h"

void complete(char *const *words, size_t n, struct buf *out);

#endif
