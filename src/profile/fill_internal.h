/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_FILL_INTERNAL_H
#define TALLY_PROFILE_FILL_INTERNAL_H
/* What the fill_*.c files share: one run of profile_fill_symbols. */
#include <pthread.h>

#include "profile/symbolize_profile.h"
#include "symbolize/kernel/kallsyms.h"
#include "symbolize/symbolize.h"

/* A location of the image at hand. */
struct fill_loc {
	uint64_t vaddr;
	uint32_t loc;
};

/* A symbol whose code may be kept. */
struct fill_code {
	uint32_t symbol;	/* profile.symbols */
	uint64_t self_samples;
	size_t offset, size;	/* in fill.bytes */
};

struct keep_old;

/* The image's locations: n of them from fill.locs[at]. */
struct fill_part {
	uint32_t image;
	size_t at, n;
	const char *path;
	const char *reason;	/* prof_image.reason */
	size_t turn;		/* when its rows are made */
};

struct fill {
	struct profile *p;
	const struct fill_options *o;
	struct error *err;
	struct fill_loc *locs;		/* of all images, by image and vaddr */
	uint64_t *vaddrs;		/* the same, for the symbolizer */
	struct u64map strings;		/* string pointer -> id; one image */
	struct u64map symbols;		/* symbol start -> id; one image */
	VEC(struct fill_code) codes;	/* of all images */
	VEC(uint64_t) self_samples;		/* by profile.symbols */
	uint64_t all_self_samples;		/* of all locations */
	struct buf bytes;
	struct keep_old *old;		/* or NULL */
	struct kallsyms *kallsyms;	/* NULL: see kallsyms_error */
	struct error kallsyms_error;
	pthread_t kallsyms_thread;
	bool kallsyms_running;		/* the thread owns both until joined */
	struct kernel_files *kernel_files;	/* or NULL: not looked for yet */
	struct kcore *kcore;		/* or NULL */
	struct fill_part *order;	/* images with locations */
	pthread_mutex_t lock;		/* of what follows, and of callbacks */
	pthread_cond_t moved;		/* turn was counted up */
	size_t next, end;		/* of order: to be read, by this call */
	size_t turn;			/* of order: makes its rows now */
	size_t done;			/* locations */
	int rc;				/* the first error */
};

/* Reads all images that have locations. */
int fill_images(struct fill *f, struct fill_part *parts);
/*
 * Images are read by several threads.  Before its turn an image's reader may look
 * at the images and locations of the profile and at nothing else of it; from
 * then on the whole struct fill is its own until it returns.
 */
void fill_wait_turn(struct fill *f, const struct fill_part *part);
/* Around callbacks of the caller, before the turn. */
void fill_lock(struct fill *f);
void fill_unlock(struct fill *f);

/* All return 0 or an error that ends the run (out of memory, stopped). */
int symbolize_elf(struct fill *f, const struct fill_part *part);
int fill_vdso(struct fill *f, const struct fill_part *part);
int fill_kernel(struct fill *f, const struct fill_part *part);
int fill_generated(struct fill *f, const struct fill_part *part);
int fill_jit(struct fill *f, const struct fill_part *part);
/* What a program's jitdump file told. */
struct fill_jit_names {
	bool found;		/* a name at least */
	bool javascript;
	uint32_t machine;	/* EM_* of the code */
};
/* Names what the jitdump file of an image's process tells, and sets named[i] of these
 * locations.  Waits for the image's turn. */
int fill_jitdump(struct fill *f, const struct fill_part *part, bool *named,
		 struct fill_jit_names *out);
/* Why an image gives no names. */
struct fill_why {
	uint32_t missing;	/* PROF_MISSING_* */
	struct error text;
};
/* Opens the file of an image, if it is the recorded one; NULL: see *why. */
struct image *fill_open_elf(struct fill *f, const struct fill_part *part,
			    struct fill_why *why);
/* The kernel takes long to write /proc/kallsyms: reads it beside the images. */
void fill_kernel_begin(struct fill *f);
void fill_kernel_end(struct fill *f);

/* The frames of a result become rows; the innermost, or PROF_NONE. */
int fill_frames(struct fill *f, uint32_t image, const struct sym_result *r,
		uint32_t *frame);
/* The result of one location becomes rows, its frames have. */
int fill_result(struct fill *f, const struct fill_part *part, size_t i,
		const struct sym_result *r, uint32_t frame);
/* … or its frames do as well. */
int fill_location(struct fill *f, const struct fill_part *part, size_t i,
		  const struct sym_result *r);
/* Forgets strings and symbols of the last image. */
void fill_next_image(struct fill *f);

/* Appends at most n bytes of code at vaddr and returns how many. */
typedef size_t fill_read_code(void *ctx, uint64_t vaddr, size_t n,
			      struct buf *out);
/* From an open image, which is the ctx. */
fill_read_code fill_image_code;
/* Remembers the code of one image's hot symbols; symbols from `first`. */
int fill_keep_code(struct fill *f, uint32_t first, fill_read_code *read,
		   void *ctx);
/* Returns whether a function with this many samples is kept whatever the budget:
 * its code and the lines of all of it. */
bool fill_is_hot(const struct fill *f, uint64_t self_samples, uint64_t size);
/* The ELF symbol of a result becomes a row, or its row gets hotter. */
int fill_symbol(struct fill *f, uint32_t image, const struct sym_result *r,
		uint64_t self_samples);
/* name_call_targets.c: names what the hot code of an image, from f->codes[first] on,
 * calls and refers to. */
int name_call_targets(struct fill *f, const struct fill_part *part,
		      struct symbolizer *s, struct image *img, size_t first);
/* fill_lines.c: the addresses to ask the symbolizer for: those of an image's
 * locations, and every byte of its hot functions. */
enum { FILL_NO_LOC = UINT32_MAX };
struct fill_ask {
	uint64_t *vaddrs;
	uint32_t *locs;		/* in the part, or FILL_NO_LOC: code */
	size_t n;
	uint32_t last;		/* frame of the newest line */
	uint64_t end;		/* of the function it is in, 0: none */
};
int fill_ask_init(struct fill *f, const struct fill_part *part,
		  struct symbolizer *s, struct fill_ask *a);
void fill_ask_fini(struct fill_ask *a);
/* What is known of code becomes a line row; `frame` as fill_frames gave it. */
int fill_ask_line(struct fill *f, const struct fill_part *part,
		  struct fill_ask *a, const struct sym_result *r,
		  uint32_t frame);
/* Ends the last function. */
int fill_ask_end(struct fill *f, const struct fill_part *part,
		 struct fill_ask *a);
/* embed_source.c: takes the source lines of hot functions along. */
int embed_source(struct fill *f);

/* Chooses the hottest within the budget. */
int fill_choose_code(struct fill *f);

/* The symbol part that was there before, NULL when there was none. */
int keep_old_take(struct profile *p, struct keep_old **out);
void keep_old_free(struct keep_old *o);
/* Images without any name take their old ones. */
int keep_old_restore(struct fill *f, struct keep_old *o);
/* Images that kept their old names keep their code bytes. */
int keep_old_code(struct fill *f, const struct keep_old *o);
/* Source lines of then are worth more than those of now. */
int keep_old_texts(struct fill *f, const struct keep_old *o);

/* True when the old names of an image came from more than those at hand. */
bool keep_old_is_better(const struct fill *f, uint32_t image, uint32_t names);

/* The old symbol that covers an address of an image. */
bool keep_old_symbol(struct keep_old *o, uint32_t image, uint64_t vaddr,
		     const char **name, uint64_t *start, uint64_t *size);

/* Says where names came from: file is one that would help, or "". */
int fill_source(struct fill *f, const struct image_debug_info *s,
		const char *file);
int fill_nomem(struct fill *f);
void fill_note(struct fill *f, uint32_t image, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
