/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_FETCH_DEBUG_H
#define TALLY_CMD_FETCH_DEBUG_H
/* Requests files from debuginfod servers for commands. */
#include <signal.h>

#include "cmd/command.h"
#include "profile/reader.h"
#include "symbolize/debuginfod.h"

/* Sets the callbacks of d to the command's connection to the user. */
void cmd_debuginfod(struct cmd_io *io, struct debuginfod *d);

/* The options --debuginfod and --debuginfod-size. */
struct fetch_opts {
	const char *time;	/* NULL: files are not requested */
	uint64_t size;		/* 0: the default */
};

#define FETCH_OPTION_SIZE(type, field) \
	{ OPT_UINT, 0, "debuginfod-size", "SIZE", offsetof(type, field.size), \
	  "With --debuginfod: request at most SIZE bytes (k, M, G). Default: " \
	  "4G." }

/* What has been done, for the user. */
struct fetch_step {
	uint32_t image;
	size_t at, of;		/* which image of how many is requested, from 1 on */
	uint64_t bytes;		/* that all requests gave so far */
	bool done;		/* the requests for this image have ended, and … */
	uint64_t got;		/* … gave this … */
	const char *why;	/* … and why a file is missing, or "" … */
	int code;		/* … as an error: ERR_NOTFOUND if no server has it */
	int program;		/* … and the program, as a descriptor to keep; or -1 */
};

/* The result of all requests. */
struct fetch_result {
	size_t asked;		/* images */
	size_t left;		/* images that were not asked for because … */
	char why[96];		/* … of this */
};

struct fetch_options {
	const char *debug_dirs;	/* as in symbolize_options */
	unsigned int seconds;	/* time limit; 0: nothing is requested */
	unsigned int mb;	/* limit of what is transferred */
	/* Called while files arrive and after each image. */
	void (*step)(void *ctx, const struct fetch_step *s);
	/* Returns whether to end the requests, besides Ctrl-C. */
	bool (*stopped)(void *ctx);	/* may be NULL */
	void (*notice)(void *ctx, const char *text);	/* as in debuginfod */
	void *ctx;
};

/* Parses the options.  Sets seconds to 0 without --debuginfod. */
int cmd_fetch_limits(const struct fetch_opts *o, struct fetch_options *out,
		     struct error *err);
/* Appends "fetching debug information of libc.so.6 (2 of 7, 12.0 MB)", as safe
 * text. */
void cmd_fetch_show_step(const struct profile *p, const struct fetch_step *s,
			 struct buf *out);
/* Appends "/usr/lib/libc.so.6: 3.1 MB", as safe text, for an image that is done. */
void cmd_fetch_show_image(const struct profile *p, const struct fetch_step *s,
			  struct buf *out);
/* Appends lines that say what was not requested, and why; nothing otherwise. */
void cmd_fetch_show_result(const struct fetch_result *f, struct buf *out);

/* Ctrl-C ends requests, not the command that makes them: the signal is blocked, asked for,
 * and taken before the mask is what it was `before`. */
void cmd_interrupts_block(sigset_t *before);
bool cmd_interrupted(void);
void cmd_interrupts_end(const sigset_t *before);

/*
 * Fetches what a symbolized recording lacks into libdebuginfod's cache: the debug
 * files of its images, dwz's alternate files, and programs that are gone or were
 * replaced.  Images with the most samples without names come first.  Ctrl-C ends
 * the requests, not the command.
 *
 * A file that no server has is no error.  Errors: out of memory, a damaged
 * recording.
 */
int cmd_fetch_debug(struct reader *r, const char *path,
		    const struct fetch_options *o, struct fetch_result *result,
		    struct error *err);

/* --- store_symbols.c: looks up the symbols of a recording again and stores them in it. */

struct store_options {
	const struct opt_strs *debug_dirs;	/* --debug-dir; NULL: none */
	const char *kallsyms, *vmlinux;		/* as in symbolize_options */
	const char *embed_source;		/* --embed-source */
	const char *output;	/* file to write; NULL: replace the recording */
	const int *files;	/* as in symbolize_options */
};

/* Looks up the symbols and writes the file.  Nothing is written on an error. */
int cmd_store_symbols(struct cmd_io *io, const struct store_options *o,
		      const char *path, struct reader *r, struct error *err);

/* Counts how often each location was sampled itself.  The caller frees the array
 * of locs.n + 1 numbers; NULL: out of memory. */
uint64_t *cmd_count_self(struct reader *r);

#endif
