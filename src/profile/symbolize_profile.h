/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOLIZE_PROFILE_H
#define TALLY_PROFILE_SYMBOLIZE_PROFILE_H
/*
 * Creates a profile's symbol part: every sampled location is symbolized once,
 * image by image, and the code bytes of hot functions are stored.
 */
#include "profile/model.h"
#include "profile/source_access.h"
#include "symbolize/symbolize.h"

/* Reports progress; may be NULL. */
typedef void symbolize_progress(void *ctx, const char *image, size_t done,
				size_t total);

/* Meaning of an image's addresses for its process's jitdump file. */
struct symbolize_jitdump_use {
	bool by_offset;	/* true: file offsets of code; false: process addresses… */
	bool first;	/* … where the first function counts; false: the last one */
};

/* Meaning of an image's addresses for its process's perf map. */
struct symbolize_perfmap_use {
	bool by_line;	/* true: positions of lines (symbolize/perfmap.h); false: process
			 * addresses, whose first names count, in parts of the file ... */
	const uint64_t *ends;	/* ... that end at these offsets; the caller's */
	size_t nends;		/* 0: the last names count */
};

struct symbolize_options {
	const char *debug_dirs;	/* as in sym_options; NULL: /usr/lib/debug */
	const char *kallsyms;	/* NULL: /proc/kallsyms */
	const char *kallsyms_copy;	/* an earlier copy of /proc/kallsyms by a
					 * kernel with the recorded build ID, which is
					 * faster to read; or NULL */
	int kept_kallsyms;	/* from kallsyms_keep, for /proc/kallsyms; 0: none */
	const char *vmlinux;	/* ELF file of the kernel; NULL: search for it */
	/* Opens an image's file: returns an fd that the caller closes, or -1.
	 * For anonymous memory: the file in which its program names the code.
	 * NULL: opened by path, and accepted only if the build ID is the
	 * recorded one. */
	int (*open_image)(void *ctx, uint32_t image);
	/* Says how to use that file of anonymous memory, if it is a perf map.  May be
	 * NULL. */
	void (*perfmap_use)(void *ctx, uint32_t image,
			    struct symbolize_perfmap_use *use);
	/* By image: descriptor of its file, which has another path or none here;
	 * -1: as above.  NULL: none.  Stays the caller's. */
	const int *files;
	/* Opens the jitdump file of the process that the image's memory belongs
	 * to: returns an fd that the caller closes, or -1.  May be NULL. */
	int (*open_jitdump)(void *ctx, uint32_t image,
			    struct symbolize_jitdump_use *use);
	/* Returns the name and size of the code that the kernel generated as
	 * this image, or NULL.  May be NULL. */
	const char *(*generated)(void *ctx, uint32_t image, uint64_t *size);
	/* Self samples by location (array of locs.n), to choose the functions
	 * whose code is stored; NULL: none. */
	const uint64_t *self_samples;
	uint64_t self_samples_elsewhere;	/* samples in other profiles,
						 * included when deciding what is hot */
	bool one_thread;	/* use less memory, and one processor */
	bool no_code;		/* collector_symbolize leaves self_samples NULL */
	const struct symbol_cache *cache;	/* as in sym_options */
	enum sym_detail detail;	/* as in sym_options; the kernel keeps its lines */
	bool for_others;	/* profile_add_cold_code: leave out files that others
				 * may not read, unless their build IDs match */
	bool identified_later;	/* leave out images that their build IDs identify */
	size_t code_budget;	/* bytes of code to store for functions that are not
				 * hot (see symbolize_is_hot) */
	/* Access to source files whose lines are stored with hot functions;
	 * NULL: none. */
	const struct source_access *embed_source;
	symbolize_progress *progress;
	void *ctx;		/* passed to all callbacks.  They may run in another
				 * thread than the caller's, but only one at a time. */
};

/* Returns the code budget in bytes for a recording with this many samples. */
size_t symbolize_code_budget(uint64_t samples);

/* Creates a symbol part.  Images that cannot be read get a note, not an error,
 * and keep the symbols they had.  Does nothing for another user's recording
 * (profile.foreign), because that user would choose which files are opened. */
int profile_symbolize(struct profile *p, const struct symbolize_options *o,
		      struct error *err);

/*
 * Stores the code of more functions, with its lines, in the existing symbol
 * part: rows are added, existing ones do not change.  `symbols`: n rows of
 * p->symbols without stored code, the most important first.  Functions that
 * exceed a budget (4 MB), or whose files are not available, get none.  Uses
 * only debug_dirs and progress of `o`.  Does nothing for another user's
 * recording.
 */
int profile_add_cold_code(struct profile *p, const uint32_t *symbols, size_t n,
			  const struct symbolize_options *o, struct error *err);

#endif
