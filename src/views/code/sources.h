/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCES_H
#define TALLY_VIEWS_CODE_SOURCES_H
/*
 * Source lines by the path that debug information gives: from the recording
 * where it holds them, else from this machine's files, at that path or at the one
 * that --source-map makes of it, as far as profile/source_access.h allows.  Where
 * there is no such file, or one that is newer than the program, the commit that
 * was checked out when it was recorded may have it, or a debuginfod server.  Files
 * that are huge or no text are not shown.
 */
#include "profile/model.h"
#include "profile/source_access.h"
#include "views/code/source_git.h"
#include "views/code/source_server.h"

struct source_map {
	const char *from, *to;	/* paths that begin with from begin with to */
};

/* Where to look beside the recording and the paths in it. */
struct source_where {
	const struct source_map *maps;
	size_t nmaps;
	const char *repo;		/* source_git.repo */
	struct source_server *server;	/* debuginfod may be asked; or NULL */
	struct source_access access;	/* files that may be read; borrowed */
};

enum source_place {
	SOURCE_NONE,		/* not found: see `why` */
	SOURCE_RECORDING,
	SOURCE_FILE,
	SOURCE_GIT,
	SOURCE_DEBUGINFOD,
};

struct source_row {
	uint32_t line, start, size;	/* in the text */
};

enum source_shared { SHARED_UNKNOWN, SHARED, NOT_SHARED };

struct source_file {
	uint32_t file;		/* str, as in frames */
	uint8_t place;		/* enum source_place */
	bool newer;		/* than the program, or than the recording */
	bool changed;		/* SOURCE_GIT…: another one is at its path now */
	bool refused;		/* SOURCE_NONE: it may not be read */
	char *path;		/* where a file was looked for; SOURCE_FILE: the
				 * file that was read */
	const char *root;	/* SOURCE_FILE: the folder that allowed it (of
				 * the access), NULL: none had to */
	uint8_t shared;		/* source_is_for_others: enum source_shared */
	char *origin;		/* SOURCE_GIT: "git 1234abcd:a.c", else NULL */
	char *why;		/* "": found */
	struct buf text;	/* but SOURCE_RECORDING */
	VEC(struct source_row) rows;	/* by line; SOURCE_RECORDING: in
					 * profile.text_bytes */
};

struct sources {
	const struct profile *p;
	const struct source_map *maps;
	size_t nmaps;
	struct source_access access;	/* borrowed */
	struct source_git git;
	struct source_server *server;	/* borrowed, or NULL */
	VEC(struct source_file *) files;
	struct u64map tab;
};

void sources_init(struct sources *s, const struct profile *p,
		  const struct source_where *where);
void sources_fini(struct sources *s);
/* A file, looked for once; `image` is what its code is in (for its age). NULL when
 * out of memory. */
const struct source_file *sources_get(struct sources *s, uint32_t file,
				      uint32_t image);
/* Whether what was found for a screen may also be written for others. */
bool source_is_for_others(struct sources *s, const struct source_file *f);
/* "recording", "file", "git", "debuginfod", or "no". */
const char *source_place_word(const struct source_file *f);
/* Where it comes from: "from the recording", "this machine's file", "read from
 * /other/a.c".  Unsafe text. */
void source_origin(const struct sources *s, const struct source_file *f,
		   struct buf *out);
/* Line `line` of it, counted from 1, without its end; false where there is none. */
bool source_line(const struct sources *s, const struct source_file *f,
		 uint32_t line, struct span *out);
/* How many files were read for what `n` of these are in, and from where, and which
 * might not be read: a line for each kind, which names some.  `all`: also what is
 * from recordings, and that nothing was read.  Safe text. */
void sources_summary(struct sources *const *s, size_t n, bool all,
		     struct buf *out);

#endif
