/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCES_H
#define TALLY_VIEWS_CODE_SOURCES_H
/*
 * Source lines by the path that debug information gives.  They come from the
 * recording if it contains them.  Otherwise they come from this machine's
 * files, at that path or at the path that --source-map makes of it, if
 * profile/source_access.h allows it.  If there is no such file, or if it is
 * newer than the program, tally tries two more places.  These are the commit
 * that was checked out during recording, and a debuginfod server.  Huge and
 * binary files are not shown.
 */
#include "profile/model.h"
#include "profile/source_access.h"
#include "views/code/source_git.h"

struct source_map {
	const char *from, *to;	/* prefix of paths, and its replacement */
};

/* Options for looking up sources outside the recording. */
struct source_where {
	const struct source_map *maps;
	size_t nmaps;
	const char *repo;		/* source_git.repo */
	struct debuginfod *server;	/* debuginfod servers to use, or NULL */
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
	uint32_t line, start, size;	/* line number, and range in the text */
};

enum source_shared { SHARED_UNKNOWN, SHARED, NOT_SHARED };

struct source_file {
	uint32_t file;		/* str, as in frames */
	uint8_t place;		/* enum source_place */
	bool newer;		/* newer than the program or the recording */
	/* SOURCE_GIT and later: the file at its path differs now */
	bool changed;
	bool refused;		/* SOURCE_NONE: reading it is not allowed */
	/* path that was tried; SOURCE_FILE: path of the file that was read */
	char *path;
	/* SOURCE_FILE: folder (of `access`) that allowed it; NULL: none was
	 * needed */
	const char *root;
	uint8_t shared;		/* enum source_shared, cached by source_is_for_others */
	char *origin;		/* SOURCE_GIT: "git 1234abcd:a.c", else NULL */
	char *folder;		/* SOURCE_GIT: the repository, else NULL */
	char *why;		/* reason why it was not found, or "" */
	struct buf text;	/* text; empty for SOURCE_RECORDING */
	/* by line; for SOURCE_RECORDING, ranges in profile.text_bytes */
	VEC(struct source_row) rows;
};

struct sources {
	const struct profile *p;
	const struct source_map *maps;
	size_t nmaps;
	struct source_access access;	/* borrowed */
	struct source_git git;
	struct debuginfod *server;	/* borrowed, or NULL */
	VEC(struct source_file *) files;
	struct u64map tab;
};

void sources_init(struct sources *s, const struct profile *p,
		  const struct source_where *where);
void sources_fini(struct sources *s);
/* Returns a file, looked up once.  `image` contains its code and is needed for
 * its age.  Returns NULL if out of memory. */
const struct source_file *sources_get(struct sources *s, uint32_t file,
				      uint32_t image);
/* Returns whether a file that was read for the screen may also be written to
 * output for others. */
bool source_is_for_others(struct sources *s, const struct source_file *f);
/* Returns "recording", "file", "git", "debuginfod", or "no". */
const char *source_place_word(const struct source_file *f);
/* Appends the origin of a file: "from the recording", "this machine's file",
 * "read from /other/a.c".  Unsafe text. */
void source_origin(const struct sources *s, const struct source_file *f,
		   struct buf *out);
/* Returns line `line`, counted from 1, without its end; false if there is
 * none. */
bool source_line(const struct sources *s, const struct source_file *f,
		 uint32_t line, struct span *out);
/* Appends the text of a line, at most `max` bytes and then an ellipsis, as
 * unsafe text.  Returns false if it is unknown. */
bool source_text(const struct sources *s, const struct source_file *f,
		 uint32_t line, size_t max, struct buf *out);
/*
 * Appends a summary of the source files in `n` source sets: how many were read,
 * from where, and which were refused.  Each kind has a line, which names some
 * files.  Programs whose code was read are named, too.  `all` adds files from recordings, and a line if none were read.  Safe
 * text.
 */
void sources_summary(struct sources *const *s, size_t n, bool all,
		     struct buf *out);

#endif
