/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_FILL_INTERNAL_H
#define TALLY_PROFILE_FILL_INTERNAL_H
/* Shared by the fill_*.c files: one run of profile_fill_symbols. */
#include <pthread.h>

#include "profile/symbolize_profile.h"
#include "symbolize/kernel/kallsyms.h"
#include "symbolize/symbolize.h"

/* A location of the current image. */
struct fill_loc {
	uint64_t vaddr;
	uint32_t loc;
};

/* A symbol whose code bytes may be stored. */
struct fill_code {
	uint32_t symbol;	/* row of profile.symbols */
	uint64_t self_samples;
	size_t offset, size;	/* position in fill.bytes */
};

struct keep_old;

/* Work item: an image and its n locations from fill.locs[at]. */
struct fill_part {
	uint32_t image;
	size_t at, n;
	const char *path;
	const char *reason;	/* prof_image.reason */
	size_t turn;		/* position in the order in which images add rows */
};

struct fill {
	struct profile *p;
	const struct fill_options *o;
	struct error *err;
	struct fill_loc *locs;		/* locations whose images were started */
	uint64_t *vaddrs;		/* their addresses, for the symbolizer */
	struct u64map strings;		/* string pointer -> id, for one image */
	struct u64map symbols;		/* symbol start -> id, for one image */
	VEC(struct fill_code) codes;	/* symbols of all images */
	VEC(uint64_t) self_samples;		/* by row of profile.symbols */
	uint64_t all_self_samples;		/* sum over all locations */
	struct buf bytes;
	struct keep_old *old;		/* or NULL */
	struct kallsyms *kallsyms;	/* NULL: see kallsyms_error */
	struct error kallsyms_error;
	pthread_t kallsyms_thread;
	bool kallsyms_running;		/* the thread owns both until joined */
	struct kernel_files *kernel_files;	/* NULL until first used */
	struct kcore *kcore;		/* or NULL */
	struct fill_part *order;	/* images with locations */
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
int fill_images(struct fill *f, struct fill_part *parts);
/*
 * Waits for the turn of a part.  Several threads read images.  Before its turn,
 * a thread may only read the images and locations of the profile.  From then on
 * it has exclusive use of the whole struct fill until it returns.
 */
void fill_wait_turn(struct fill *f, const struct fill_part *part);
/* Must surround callbacks of the caller that run before the turn. */
void fill_lock(struct fill *f);
void fill_unlock(struct fill *f);

/* Symbolize one image.  Return 0 or an error that ends the run (out of memory,
 * stopped). */
int symbolize_elf(struct fill *f, const struct fill_part *part);
int fill_vdso(struct fill *f, const struct fill_part *part);
int fill_kernel(struct fill *f, const struct fill_part *part);
int fill_generated(struct fill *f, const struct fill_part *part);
int fill_jit(struct fill *f, const struct fill_part *part);
/* Result of reading a program's jitdump file. */
struct fill_jit_names {
	bool found;		/* at least one name was found */
	bool javascript;
	uint32_t machine;	/* EM_* of the code */
};
/* Names locations from the jitdump file of an image's process, and sets
 * named[i] of these locations.  Waits for the image's turn. */
int fill_jitdump(struct fill *f, const struct fill_part *part, bool *named,
		 struct fill_jit_names *out);
/* Reason why an image has no names. */
struct fill_why {
	uint32_t missing;	/* PROF_MISSING_* */
	struct error text;
};
/* Opens the file of an image, which the caller closes.  Returns NULL and sets
 * *why if it is not the recorded file or cannot be opened. */
struct image *fill_open_elf(struct fill *f, const struct fill_part *part,
			    struct fill_why *why);
/* Read /proc/kallsyms in a thread while images are read, because the kernel
 * takes long to generate it. */
void fill_kernel_begin(struct fill *f);
void fill_kernel_end(struct fill *f);

/* Adds rows for the frames of a result.  Sets *frame to the innermost one, or
 * PROF_NONE. */
int fill_frames(struct fill *f, uint32_t image, const struct sym_result *r,
		uint32_t *frame);
/* Adds rows for the result of location i of the part; `frame` is from
 * fill_frames. */
int fill_result(struct fill *f, const struct fill_part *part, size_t i,
		const struct sym_result *r, uint32_t frame);
/* Like fill_result, but adds the frames too. */
int fill_location(struct fill *f, const struct fill_part *part, size_t i,
		  const struct sym_result *r);
/* Clears the strings and symbols of the previous image. */
void fill_next_image(struct fill *f);

/* Appends at most n bytes of code at vaddr and returns their number. */
typedef size_t fill_read_code(void *ctx, uint64_t vaddr, size_t n,
			      struct buf *out);
/* Reads from an open image, which is the ctx. */
fill_read_code fill_image_code;
/* Adds the code of one image's hot symbols, which start at row `first`, to
 * f->codes and f->bytes. */
int fill_keep_code(struct fill *f, uint32_t first, fill_read_code *read,
		   void *ctx);
/* Returns whether the code and all lines of a function with this many samples
 * are stored regardless of the budget. */
bool fill_is_hot(const struct fill *f, uint64_t self_samples, uint64_t size);
/* Adds a row for the ELF symbol of a result, or adds the samples to its
 * existing row. */
int fill_symbol(struct fill *f, uint32_t image, const struct sym_result *r,
		uint64_t self_samples);
/* name_call_targets.c: names the addresses that the hot code of an image, from
 * f->codes[first] on, calls and refers to. */
int name_call_targets(struct fill *f, const struct fill_part *part,
		      struct symbolizer *s, struct image *img, size_t first);
/* fill_lines.c: addresses to symbolize: the locations of an image and every
 * byte of its hot functions. */
enum { FILL_NO_LOC = UINT32_MAX };
struct fill_ask {
	uint64_t *vaddrs;
	uint32_t *locs;		/* location index in the part; FILL_NO_LOC: a byte of
				 * code */
	size_t n;
	uint32_t last;		/* frame of the most recent line */
	uint64_t end;		/* end of the current function; 0: none */
};
int fill_ask_init(struct fill *f, const struct fill_part *part,
		  struct symbolizer *s, struct fill_ask *a);
void fill_ask_fini(struct fill_ask *a);
/* Adds a line row for an address of code; `frame` is from fill_frames. */
int fill_ask_line(struct fill *f, const struct fill_part *part,
		  struct fill_ask *a, const struct sym_result *r,
		  uint32_t frame);
/* Adds the row that ends the current function. */
int fill_ask_end(struct fill *f, const struct fill_part *part,
		 struct fill_ask *a);
/* embed_source.c: stores the source lines of hot functions. */
int embed_source(struct fill *f);

/* Stores the code of the hottest functions within the budget. */
int fill_choose_code(struct fill *f);

/* Detaches the profile's old symbol part into *out, which the caller frees;
 * NULL if there is none. */
int keep_old_take(struct profile *p, struct keep_old **out);
void keep_old_free(struct keep_old *o);
/* Restores the old names of images that got no name. */
int keep_old_restore(struct fill *f, struct keep_old *o);
/* Restores the code bytes of images that kept their old names. */
int keep_old_code(struct fill *f, const struct keep_old *o);
/* Restores old source lines, because they are closer to the time of
 * recording. */
int keep_old_texts(struct fill *f, const struct keep_old *o);

/* Returns whether the old names of an image came from better sources than
 * `names` (PROF_NAMES_*). */
bool keep_old_is_better(const struct fill *f, uint32_t image, uint32_t names);

/* Finds the old symbol that covers an address of an image; false if there is
 * none. */
bool keep_old_symbol(struct keep_old *o, uint32_t image, uint64_t vaddr,
		     const char **name, uint64_t *start, uint64_t *size);

/* Records the origin of an image's names; `file` is a file that would help, or
 * "". */
int fill_source(struct fill *f, const struct image_debug_info *s,
		const char *file);
int fill_nomem(struct fill *f);
void fill_note(struct fill *f, uint32_t image, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
