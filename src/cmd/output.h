/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_TARGET_H
#define TALLY_CMD_TARGET_H
/*
 * Where output goes while a command makes it, piece by piece: standard output, or a file
 * that gets its name when it is complete.  A reader of standard output that has exited
 * ends the output, which is no error.
 */
#include "base/buf.h"
#include "base/outfile.h"
#include "cmd/command.h"

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

/* Writes a text of at most `most` bytes (0: no limit) that `make` appends to a buffer, in
 * little memory.  `make` must not change what it has appended. */
int cmd_target_stream(struct cmd_io *io, const char *path, uint64_t most,
		      void (*make)(void *ctx, struct buf *out), void *ctx,
		      struct error *err);

#endif
