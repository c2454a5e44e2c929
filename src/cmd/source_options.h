/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SOURCE_OPTIONS_H
#define TALLY_CMD_SOURCE_OPTIONS_H
/* Options that say where source files are, for commands that show them. */
#include "cmd/command.h"
#include "views/annotate/annotate.h"

struct source_opts {
	struct opt_strs maps;
	const char *repo;
	bool no_debuginfod;
};

/* Their rows in the table of a command whose options are a `type` with a struct
 * source_opts called `source_at`. */
#define SOURCE_OPTION_ROWS(type) \
	{ OPT_STRS, 0, "source-map", "FROM=TO", \
	  "Replace the prefix FROM of source paths by TO. May be repeated; " \
	  "the first match is used.", \
	  offsetof(type, source_at.maps) }, \
	{ OPT_STR, 0, "repo", "DIR", \
	  "Also take source files that are missing, or newer than the " \
	  "program, from this git repository at the recorded commit.", \
	  offsetof(type, source_at.repo) }, \
	{ OPT_FLAG, 0, "no-debuginfod", NULL, \
	  "Do not ask the servers in DEBUGINFOD_URLS for source files.", \
	  offsetof(type, source_at.no_debuginfod) }

/* --embed-source, in a table. */
#define EMBED_OPTION_ROW(offset, help) \
	{ OPT_OPTSTR, 0, "embed-source", "DIR", help " Only files below the " \
	  "working directory and DIR are stored.", offset }
/* What its value allows (NULL: nothing); source_access_fini also after an error. */
int cmd_embed(const char *value, struct source_access *out, struct error *err);

/* Where sources are, and which of them may be read; the maps of `first` (may be
 * NULL) come before the others.  cmd_sources_free when it is used no more, also
 * after an error. */
int cmd_sources(struct cmd_io *io, const struct source_opts *o,
		const struct opt_strs *first, enum source_use use,
		struct source_where *out, struct error *err);
/* SOURCES_ON_SCREEN where a person looks at what is written to `path` (NULL:
 * standard output), and nobody gets it. */
enum source_use cmd_source_use(const struct cmd_io *io, const char *path);
/* Tells on standard error what sources_summary wrote, and empties it. */
void cmd_tell_sources(const struct cmd_io *io, struct buf *summary);
void cmd_sources_free(struct source_where *where);

#endif
