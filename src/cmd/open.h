/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_OPEN_H
#define TALLY_CMD_OPEN_H
/* What commands that read a recording share. */
#include "base/buf.h"
#include "cmd/command.h"
#include "profile/reader.h"

/* The recording that the words name (at most one; none: `input`, or
 * profile.tally where that is NULL).  max_memory: as for reader_open. */
int cmd_open(const char *input, int argc, char **argv, uint64_t max_memory,
	     const char **path, struct reader **out, struct error *err);
/* The same of one path; a file of perf's (perf.data) is read as a recording that
 * was imported, with its names. */
int cmd_open_file(const char *path, uint64_t max_memory, struct reader **out,
		  struct error *err);
/* Whether files that the recording names may be opened: says that they are not
 * where it is another user's, unless it is `trusted`. */
void cmd_take_trust(struct cmd_io *io, const char *path, struct reader *r,
		    bool trusted);
/* Symbolizes in memory a recording that holds no symbols, and says so. */
int cmd_symbolize_now(struct cmd_io *io, const char *path, struct reader *r,
		      const struct opt_strs *debug_dirs, struct error *err);
/* Says on io->err what is missing in a recording whose samples were read: for what
 * does not say it itself (tables for programs, pages, pictures, copies). */
void cmd_tell_damage(struct cmd_io *io, const char *path,
		     const struct reader *r);
/* fill_options.progress; ctx is the struct cmd_io. */
void cmd_show_image(void *ctx, const char *image, size_t done, size_t total);
/* Writes text to a file, or to io->out where `path` is NULL. */
int cmd_output(struct cmd_io *io, const char *path, const struct buf *text,
	       struct error *err);
/* --color: true and *out is set; false when the word is not known. */
bool cmd_color(const char *word, bool automatic, bool *out);

#endif
