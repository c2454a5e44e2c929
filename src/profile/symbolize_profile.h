/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOLIZE_PROFILE_H
#define TALLY_PROFILE_SYMBOLIZE_PROFILE_H
/*
 * Creates a profile's symbol part: every sampled location is symbolized once,
 * image by image, and the code bytes of hot functions are stored.
 */
#include "profile/model.h"
#include "profile/source_access.h"

/* Reports progress; may be NULL. */
typedef void fill_progress(void *ctx, const char *image, size_t done,
			   size_t total);

/* What an image's addresses are to its process's jitdump file. */
struct fill_jitdump_use {
	bool by_offset;	/* offsets of code in the file; else addresses of the process, */
	bool first;	/* … of which the first function counts; else the last */
};

struct fill_options {
	const char *debug_dirs;	/* as in sym_options; NULL: /usr/lib/debug */
	const char *kallsyms;	/* NULL: /proc/kallsyms */
	const char *vmlinux;	/* ELF file of the kernel; NULL: search for it */
	/* Opens an image's file: an fd that the callee closes, or -1.  NULL:
	 * by path, accepted only if the build-id is the recorded one.  Of
	 * anonymous memory: the file in which its program names the code. */
	int (*open_image)(void *ctx, uint32_t image);
	/* The jitdump file of the process whose memory the image is: an fd that the
	 * callee closes, or -1; may be NULL. */
	int (*open_jitdump)(void *ctx, uint32_t image, struct fill_jitdump_use *use);
	/* The name and size of what the kernel generated as this image, or
	 * NULL; may be NULL. */
	const char *(*generated)(void *ctx, uint32_t image, uint64_t *size);
	/* Self samples by location (array of locs.n), to choose whose code
	 * bytes are kept; NULL: none are. */
	const uint64_t *self_samples;
	uint64_t self_samples_elsewhere;	/* samples in other profiles, which
					 * count for what is hot */
	size_t code_budget;	/* bytes of code to keep of functions that are
				 * not hot (see fill_is_hot) */
	/* The source files whose lines hot functions take along; NULL: none. */
	const struct source_access *embed_source;
	fill_progress *progress;
	void *ctx;		/* of all callbacks */
};

/* Returns the code budget in bytes for a recording with this many samples. */
size_t fill_code_budget(uint64_t samples);

/* Creates a symbol part.  Images that cannot be read get a note, not an error,
 * and keep the symbols they had.  Does nothing for another user's recording
 * (profile.foreign), because that user would choose which files are opened. */
int profile_fill_symbols(struct profile *p, const struct fill_options *o,
			 struct error *err);

/*
 * Takes the code of more functions along, with its lines, into the symbol part
 * that is there: rows are added, none changes.  `symbols`: n rows of p->symbols
 * whose code it does not hold, the most important first; those that do not fit
 * a budget (of 4 MB), or whose files are not at hand, get none.  Of `o` only
 * debug_dirs and progress are used.  Nothing for another user's recording, too.
 */
int profile_fill_code(struct profile *p, const uint32_t *symbols, size_t n,
		      const struct fill_options *o, struct error *err);

#endif
