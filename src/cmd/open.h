/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_OPEN_H
#define TALLY_CMD_OPEN_H
/* What commands share: how they open recordings, write notices, and which exit status they
 * return. */
#include "base/buf.h"
#include "cmd/command.h"
#include "cmd/show_options.h"
#include "profile/reader.h"
#include "symbolize/symbolize.h"

/* How a command reads recordings. */
struct cmd_reading {
	struct opt_strs debug_dirs;	/* --debug-dir */
	uint64_t max_memory;	/* --max-memory; as for reader_open */
	bool trust;		/* --trust-recording */
	bool no_code;		/* for a view without code: files of other profilers
				 * are imported without it, which is faster */
	enum sym_detail detail;	/* what a view shows of symbols that are added */
	struct strpool *strings;	/* as for reader_open_in */
	bool as_it_is;		/* neither decide about trust nor add symbols */
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * cmd_reading called `reading`.  `when`: when the folders are searched, such as "For
 * recordings without symbols: ", or "". */
#define IF_NO_SYMBOLS "If the recording contains no symbols: "
#define READING_DIRS_ROW(type, when) \
	DEBUG_DIR_ROW(when, offsetof(type, reading.debug_dirs))
#define READING_ROWS(type) \
	OPT_ROW_MAX_MEMORY(offsetof(type, reading.max_memory)), \
	OPT_ROW_TRUST(offsetof(type, reading.trust))

/* Appends the list of folders for sym_options.debug_dirs: the named ones (NULL: none),
 * which must exist, then the cache of debuginfod's client and /usr/lib/debug. */
int cmd_debug_dirs(const struct opt_strs *named, struct buf *out,
		   struct error *err);

/* Opens the recording in argv, which may hold one word.  Without a word, opens
 * `input`, or profile.tally if that is NULL.  Decides whether the files that it names
 * may be opened, and if it has no symbols, adds those of this machine; tells the user
 * of both.  Files of other profilers (perf.data) are imported. */
int cmd_open(struct cmd_io *io, const struct cmd_reading *how, const char *input,
	     int argc, char **argv, const char **path, struct reader **out,
	     struct error *err);
/* The same for one path. */
int cmd_open_file(struct cmd_io *io, const struct cmd_reading *how, const char *path,
		  struct reader **out, struct error *err);
/* Refuses a file that is named twice: its runs would count twice. */
int cmd_named_once(const struct opt_strs *a, const struct opt_strs *b,
		   struct error *err);
/* Receives a recording and its name.  Owns the reader, also if it fails. */
typedef int cmd_add_fn(void *ctx, const char *name, struct reader *r,
		       struct error *err);
/* Opens several recordings, which are named once, and passes each to `add`: all of
 * it, or its samples with these labels ("NAME=VALUE", NULL: none are given).  ERR_USAGE if
 * no thread has them. */
int cmd_open_files(struct cmd_io *io, const struct cmd_reading *how,
		   const struct opt_strs *files, const struct opt_strs *labels,
		   cmd_add_fn *add, void *ctx, struct error *err);
/* Appends the name of such a selection: "a.tally (canary=yes)". */
void cmd_labelled_name(const char *path, const struct opt_strs *labels,
		       struct buf *out);
/* The parts of cmd_open that as_it_is leaves out.  Symbolizes a recording without
 * symbols in memory, and tells the user. */
int cmd_add_symbols(struct cmd_io *io, const struct cmd_reading *how,
		    const char *path, struct reader *r, struct error *err);
/* Decides whether files that the recording names may be opened.  If the recording
 * belongs to another user and is not `trusted`, they may not, and a message says so. */
void cmd_take_trust(struct cmd_io *io, const char *path, struct reader *r,
		    bool trusted);
/* Reports on io->err what is missing in a recording, after its samples were read.
 * For output that does not report it itself (tables for programs, pages, pictures,
 * copies). */
void cmd_report_damage(struct cmd_io *io, const char *path,
		       const struct reader *r);
/* The callbacks symbolize_options.progress and import_options.progress; ctx is the
 * struct cmd_io. */
void cmd_show_image(void *ctx, const char *image, size_t done, size_t total);
void cmd_show_step(void *ctx, const char *text);
/* Ends --verify, the comparison of names and lines with those of libdw: prints the
 * summary after the differences, which it releases.  Returns the exit status, 1 if a
 * difference is not explained. */
struct verify_counts;
int cmd_verified(struct cmd_io *io, const struct verify_counts *counts, struct buf *out,
		 int rc, struct error *err);
/* Parses the value of --color, which is `automatic` without it. */
int cmd_color(const char *word, bool automatic, bool *out, struct error *err);
/* Returns the width of text that is written to `path`, or to io->out if it is NULL:
 * `asked` (UINT64_MAX: the terminal's), or 0 for no limit. */
int cmd_columns(const struct cmd_io *io, const char *path, uint64_t asked);

/* --- exit statuses of recorded commands, and notices to the user */

/* Returns tally's exit status after a command that ended with this wait status. */
int cmd_pass_status(struct cmd_io *io, int wait_status);
/* Prints a line for the user, "tally: TEXT", as safe text. */
void cmd_notice(const struct cmd_io *io, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for each line of a text. */
void cmd_notice_lines(const struct cmd_io *io, const char *lines);
/* The same as a callback, unless messages are off; ctx is a struct cmd_messages. */
struct cmd_messages {
	struct cmd_io *io;
	bool quiet;
};
void cmd_message(void *ctx, const char *text);

#endif
