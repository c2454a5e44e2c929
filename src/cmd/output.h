/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_OUTPUT_H
#define TALLY_CMD_OUTPUT_H
/*
 * The output of commands: standard output, or a file that gets its name when it is
 * complete.  A reader of standard output that has exited ends the output, which is no
 * error.
 */
#include "base/buf.h"
#include "base/outfile.h"
#include "cmd/command.h"

/* --- output that is made piece by piece */

struct cmd_target {
	struct cmd_io *io;
	struct outfile file;
	bool to_file, gone;
};

/* Opens the target; `path` is NULL or "-" for standard output.  End with
 * cmd_target_close in any case. */
int cmd_target_open(struct cmd_target *t, struct cmd_io *io, const char *path,
		    struct error *err);
/* Writes; ctx is the target. */
int cmd_target_put(void *ctx, const void *p, size_t n, struct error *err);
/* Completes the file, or removes it if `rc`, the result so far, is an error.  Returns that
 * or an error of its own. */
int cmd_target_close(struct cmd_target *t, int rc, struct error *err);

/* --- texts */

/* Most bytes of output about recordings of `bytes` bytes: what the user asked for or,
 * if that is 0, `a_byte` for each byte of the recordings and CMD_OUTPUT_MORE.  It is
 * a limit for buf.most, with a message by cmd_output. */
enum {
	CMD_TEXT_A_BYTE = 64,		/* for text, which is held in memory */
	CMD_EXPORT_A_BYTE = 1024,	/* for what repeats whole stacks, and is not */
	CMD_OUTPUT_MORE = 64 << 20,
};
uint64_t cmd_max_output(uint64_t asked, uint64_t bytes, uint64_t a_byte);
/* Writes text to a file, or to io->out if `path` is NULL or "-". */
int cmd_output(struct cmd_io *io, const char *path, const struct buf *text,
	       struct error *err);
/* The same, and releases the text. */
int cmd_output_last(struct cmd_io *io, const char *path, struct buf *text,
		    struct error *err);
/* Passes io->out to the user's pager from now on if there is no `path`, unless
 * `no_pager`. */
void cmd_use_pager(struct cmd_io *io, const char *path, bool no_pager);
/* As cmd_output, after cmd_use_pager. */
int cmd_output_paged(struct cmd_io *io, const char *path, bool no_pager,
		     const struct buf *text, struct error *err);
/* Writes a text of at most `most` bytes (0: no limit) that `make` appends to a buffer, in
 * little memory.  `make` must not change what it has appended. */
int cmd_output_stream(struct cmd_io *io, const char *path, uint64_t most,
		      void (*make)(void *ctx, struct buf *out), void *ctx,
		      struct error *err);

#endif
