/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SOURCE_OPTIONS_H
#define TALLY_CMD_SOURCE_OPTIONS_H
/* Options of commands that show source lines and instructions. */
#include "cmd/command.h"
#include "views/annotate/annotate.h"

struct source_opts {
	struct opt_strs maps;
	const char *repo;
	bool no_debuginfod;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * source_opts called `source_at`. */
#define SOURCE_OPTION_ROWS(type) \
	{ OPT_STRS, 0, "source-map", "FROM=TO", offsetof(type, source_at.maps), \
	  "Replace the prefix FROM of source paths by TO. May be repeated; " \
	  "the first match is used." }, \
	{ OPT_STR, 0, "repo", "DIR", offsetof(type, source_at.repo), \
	  "Also take source files that are missing, or newer than the " \
	  "program, from this git repository at the recorded commit." }, \
	{ OPT_FLAG, 0, "no-debuginfod", NULL, \
	  offsetof(type, source_at.no_debuginfod), \
	  "Do not ask the servers in DEBUGINFOD_URLS for source files." }

/* What to show of the code of a function. */
struct listing_opts {
	bool source, code, both, all;
	uint64_t context;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * listing_opts called `listing`. */
#define LISTING_OPTION_ROWS(type, asm_help, both_help) \
	{ OPT_FLAG, 0, "source", NULL, offsetof(type, listing.source), \
	  "Show source lines. Default: source where lines are known, " \
	  "otherwise instructions." }, \
	{ OPT_FLAG, 0, "asm", NULL, offsetof(type, listing.code), asm_help }, \
	{ OPT_FLAG, 0, "both", NULL, offsetof(type, listing.both), both_help }, \
	{ OPT_UINT, 0, "context", "N", offsetof(type, listing.context), \
	  "Show N lines or instructions around each one with a cost, and " \
	  "fold the others. Default: 3." }, \
	{ OPT_FLAG, 0, "all", NULL, offsetof(type, listing.all), \
	  "Do not fold anything." }

/* Sets the members of a style that follow from these options. */
void cmd_listing_style(const struct listing_opts *o, struct annotate_style *out);

/* The row of --embed-source. */
#define EMBED_OPTION_ROW(offset, help) \
	{ OPT_OPTSTR, 0, "embed-source", "DIR", offset, \
	  help " Only files below the working directory, its git work tree " \
	  "and DIR are stored." }
/* Converts its value (NULL: nothing is allowed) to access rights.  Call
 * source_access_fini even after an error. */
int cmd_embed(const char *value, struct source_access *out, struct error *err);

/* Fills in where sources are and which of them may be read.  The maps of `first`
 * (may be NULL) precede the others.  Call cmd_sources_free even after an error. */
int cmd_sources(struct cmd_io *io, const struct source_opts *o,
		const struct opt_strs *first, enum source_use use,
		struct source_where *out, struct error *err);
/* Returns SOURCES_ON_SCREEN if the output to `path` (NULL: standard output) only
 * goes to a terminal, so that sources are not passed on. */
enum source_use cmd_source_use(const struct cmd_io *io, const char *path);
/* Prints the text of sources_summary on standard error and empties it. */
void cmd_report_sources(const struct cmd_io *io, struct buf *summary);
/* Prints which sources were read for a file, without those of the recording. */
void cmd_summarize_sources(const struct cmd_io *io, struct sources *const *read,
			   size_t n);
void cmd_sources_free(struct source_where *where);

#endif
