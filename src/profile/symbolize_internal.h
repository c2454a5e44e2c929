/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOLIZE_INTERNAL_H
#define TALLY_PROFILE_SYMBOLIZE_INTERNAL_H
/* Shared by the fill_*.c files: one run of profile_symbolize. */
#include <pthread.h>

#include "profile/symbolize_profile.h"
#include "symbolize/kernel/kallsyms.h"
#include "symbolize/perfmap.h"
#include "symbolize/symbolize.h"

/* A location of the current image. */
struct symbolize_loc {
	uint64_t vaddr;
	uint32_t loc;
};

/* A symbol whose code bytes may be stored. */
struct symbolize_code {
	uint32_t symbol;	/* row of profile.symbols */
	uint64_t self_samples;
	size_t offset, size;	/* position in fill.bytes */
};

struct keep_old;

/* Work item: an image and its n locations from fill.locs[at]. */
struct symbolize_item {
	uint32_t image;
	size_t at, n;
	const char *path;
	const char *reason;	/* prof_image.reason */
	size_t turn;		/* position in the order in which images add rows */
};

struct symbolize_run {
	struct profile *p;
	const struct symbolize_options *o;
	struct error *err;
	struct symbolize_loc *locs;	/* locations whose images were started */
	uint64_t *vaddrs;		/* their addresses, for the symbolizer */
	struct u64map strings;		/* string pointer -> id, for one image */
	struct u64map symbols;		/* symbol start -> id, for one image */
	VEC(struct symbolize_code) codes;	/* symbols of all images */
	VEC(uint64_t) self_samples;		/* by row of profile.symbols */
	uint64_t all_self_samples;		/* sum over all locations */
	struct buf bytes;
	struct keep_old *old;		/* or NULL */
	struct kallsyms *kallsyms;	/* NULL: see kallsyms_error */
	struct error kallsyms_error;
	uint64_t kallsyms_reach;	/* see kallsyms_open */
	const struct symbolize_item *kallsyms_part; /* the only image that needs it:
						     * the kernel's; or NULL */
	pthread_t kallsyms_thread;
	bool kallsyms_running;		/* the thread owns both until joined */
	struct kernel_files *kernel_files;	/* NULL until first used */
	struct kcore *kcore;		/* or NULL */
	struct symbolize_item *order;	/* images with locations */
	pthread_mutex_t lock;		/* protects the members below and calls of
					 * callbacks */
	pthread_cond_t moved;		/* signalled when `turn` grows */
	size_t next, end;		/* next part of `order` to read, and end of
					 * the range to read */
	size_t turn;			/* part of `order` that adds rows now */
	size_t done;			/* locations */
	int rc;				/* the first error */
};

/* Symbolizes all images that have locations. */
int symbolize_images(struct symbolize_run *f, struct symbolize_item *parts);
/*
 * Waits for the turn of a part.  Several threads read images.  Before its turn,
 * a thread may only read what no turn changes: its image in the profile, the options,
 * the locations, and the profile's old symbol part.  From then on it has exclusive use
 * of the rest of the struct, and of the profile's rows, until it returns.
 */
void symbolize_wait_turn(struct symbolize_run *f, const struct symbolize_item *part);
/* Must surround callbacks of the caller, in the turn, too: another thread may be in
 * one. */
void symbolize_lock(struct symbolize_run *f);
void symbolize_unlock(struct symbolize_run *f);

/* Symbolize one image.  Return 0 or an error that ends the run (out of memory,
 * stopped). */
int symbolize_elf(struct symbolize_run *f, const struct symbolize_item *part);
int symbolize_vdso(struct symbolize_run *f, const struct symbolize_item *part);
int symbolize_kernel(struct symbolize_run *f, const struct symbolize_item *part);
int symbolize_jit(struct symbolize_run *f, const struct symbolize_item *part);
/* Result of reading a program's jitdump file. */
struct jitdump_names {
	bool found;		/* at least one name was found */
	enum perfmap_runtime runtime;
	uint32_t machine;	/* EM_* of the code */
};
/* Names locations from the jitdump file of an image's process, and sets
 * named[i] of these locations.  Waits for the image's turn. */
int symbolize_jitdump(struct symbolize_run *f,
		      const struct symbolize_item *part, bool *named,
		      struct jitdump_names *out);
/* Reason why an image has no names. */
struct symbolize_failure {
	uint32_t missing;	/* PROF_MISSING_* */
	struct error text;
};
/* Opens the file of an image, which the caller closes.  Returns NULL and sets
 * *why if it is not the recorded file or cannot be opened. */
struct image *symbolize_open_elf(struct symbolize_run *f,
				 const struct symbolize_item *part,
				 struct symbolize_failure *why);
/* Read /proc/kallsyms, in a thread while images are read, because the kernel
 * takes long to generate it; with one_thread at once.  `parts`: n images of the
 * kernel. */
void symbolize_kernel_begin(struct symbolize_run *f,
			    const struct symbolize_item *parts, size_t n);
void symbolize_kernel_end(struct symbolize_run *f);
/* Releases what a run has; the profile stays. */
void symbolize_run_end(struct symbolize_run *f);

/* Adds rows for the frames of a result.  Sets *frame to the innermost one, or
 * PROF_NONE. */
int symbolize_add_frames(struct symbolize_run *f, uint32_t image,
			 const struct sym_result *r, uint32_t *frame);
/* Adds rows for the result of location i of the part; `frame` is from
 * symbolize_add_frames. */
int symbolize_add_result(struct symbolize_run *f,
			 const struct symbolize_item *part, size_t i,
			 const struct sym_result *r, uint32_t frame);
/* Like symbolize_add_result, but adds the frames too. */
int symbolize_add_location(struct symbolize_run *f,
			   const struct symbolize_item *part, size_t i,
			   const struct sym_result *r);
/* Clears the strings and symbols of the previous image. */
void symbolize_next_image(struct symbolize_run *f);

/* Appends at most n bytes of code at vaddr and returns their number. */
typedef size_t read_code_fn(void *ctx, uint64_t vaddr, size_t n,
			    struct buf *out);
/* Reads from an open image, which is the ctx. */
read_code_fn read_image_code;
/* Adds the code of one image's hot symbols, which start at row `first`, to
 * f->codes and f->bytes. */
int symbolize_keep_code(struct symbolize_run *f, uint32_t first, read_code_fn *read,
			void *ctx);
/* Returns whether the code and all lines of a function with this many samples
 * are stored regardless of the budget. */
bool symbolize_is_hot(const struct symbolize_run *f, uint64_t self_samples,
		      uint64_t size);
/* Appends a symbol without samples.  On failure nothing changes, because other images
 * are still being read then. */
int symbolize_push_symbol(struct symbolize_run *f, const struct prof_symbol *s);
/* Adds a row for the ELF symbol of a result, or adds the samples to its
 * existing row. */
int symbolize_add_symbol(struct symbolize_run *f, uint32_t image,
			 const struct sym_result *r, uint64_t self_samples);
/* name_call_targets.c: names the addresses that the hot code of an image, from
 * f->codes[first] on, calls and refers to. */
int name_call_targets(struct symbolize_run *f, const struct symbolize_item *part,
		      struct symbolizer *s, struct image *img, size_t first);
/* symbolize_lines.c: addresses to symbolize: the locations of an image and every
 * byte of its hot functions. */
enum { SYMBOLIZE_NO_LOC = UINT32_MAX };
struct symbolize_addrs {
	uint64_t *vaddrs;
	uint32_t *locs;	/* location index in the part; SYMBOLIZE_NO_LOC: a byte of
				 * code */
	size_t n;
	uint32_t last;		/* frame of the most recent line */
	uint64_t end;		/* end of the current function; 0: none */
};
int symbolize_addrs_init(struct symbolize_run *f, const struct symbolize_item *part,
			 struct symbolizer *s, struct symbolize_addrs *a);
void symbolize_addrs_fini(struct symbolize_addrs *a);
/* Adds a line row for an address of code; `frame` is from symbolize_add_frames. */
int symbolize_add_line(struct symbolize_run *f, const struct symbolize_item *part,
		       struct symbolize_addrs *a, const struct sym_result *r,
		       uint32_t frame);
/* Adds the row that ends the current function. */
int symbolize_end_lines(struct symbolize_run *f, const struct symbolize_item *part,
			struct symbolize_addrs *a);
/* embed_source.c: stores the source lines of hot functions. */
int embed_source(struct symbolize_run *f);

/* Stores the code of the hottest functions within the budget. */
int symbolize_choose_code(struct symbolize_run *f);

/* Detaches the profile's old symbol part into *out, which the caller frees;
 * NULL if there is none. */
int keep_old_take(struct profile *p, struct keep_old **out);
void keep_old_free(struct keep_old *o);
/* Restores the old names of images that got no name. */
int keep_old_restore(struct symbolize_run *f, struct keep_old *o);
/* Restores the code bytes of images that kept their old names. */
int keep_old_code(struct symbolize_run *f, const struct keep_old *o);
/* Restores old source lines, because they are closer to the time of
 * recording. */
int keep_old_texts(struct symbolize_run *f, const struct keep_old *o);

/* Returns whether the old names of an image came from better sources than
 * `names` (PROF_NAMES_*). */
bool keep_old_is_better(const struct symbolize_run *f, uint32_t image, uint32_t names);

/* Finds the old symbol that covers an address of an image; false if there is
 * none. */
bool keep_old_symbol(struct keep_old *o, uint32_t image, uint64_t vaddr,
		     const char **name, uint64_t *start, uint64_t *size);

/* Records the origin of an image's names; `file` is a file that would help, or
 * "". */
int symbolize_set_source(struct symbolize_run *f, const struct image_debug_info *s,
			 const char *file);
int symbolize_nomem(struct symbolize_run *f);
void symbolize_note(struct symbolize_run *f, uint32_t image, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
