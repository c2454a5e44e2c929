/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SOURCES_H
#define TALLY_VIEWS_SOURCES_H
/*
 * Source lines by the path that debug information gives: from the recording
 * where it holds them, else from this machine's files, at that path or at the one
 * that --source-map makes of it.  Where there is no such file, or one that is
 * newer than the program, the commit that was checked out when it was recorded
 * may have it, or a debuginfod server.  Files are anybody's: those that are huge
 * or no text are not shown.
 */
#include "profile/model.h"
#include "views/source_git.h"
#include "views/source_server.h"

struct source_map {
	const char *from, *to;	/* paths that begin with from begin with to */
};

/* Where to look beside the recording and the paths in it. */
struct source_where {
	const struct source_map *maps;
	size_t nmaps;
	const char *repo;		/* source_git.repo */
	bool debuginfod;		/* servers may be asked */
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

struct source_file {
	uint32_t file;		/* str, as in frames */
	uint8_t place;		/* enum source_place */
	bool newer;		/* than the program, or than the recording */
	bool changed;		/* SOURCE_GIT…: another one is at its path now */
	char *path;		/* where a file was looked for */
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
	struct source_git git;		/* .repo may be set */
	struct source_server server;	/* .on may be set: off by default */
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
/* "recording", "file", "git", "debuginfod", or "no". */
const char *source_place_word(const struct source_file *f);
/* Where it comes from, if that is not the file at its path: "from the recording".
 * Unsafe text. */
void source_origin(const struct sources *s, const struct source_file *f,
		   struct buf *out);
/* Line `line` of it, counted from 1, without its end; false where there is none. */
bool source_line(const struct sources *s, const struct source_file *f,
		 uint32_t line, struct span *out);

#endif
