/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_COMPLETE_H
#define TALLY_CLI_COMPLETE_H
/*
 * Completes command lines for the scripts of bash, zsh and fish
 * (src/cli/completion).  They call `tally --complete WORD...` with the words after
 * "tally" up to the one that is being typed, which may be empty.
 *
 * The output has a line for each completion of the last word,
 * "WORD<tab>description".  Its last line is one of
 *
 *	:			no other completions
 *	:files			also names of files
 *	:folders		also names of folders
 *	:command N		another command begins at word N (from 0)
 */
#include "base/buf.h"

/* Appends the completions of the last of n words. */
void complete(char *const *words, size_t n, struct buf *out);

#endif
