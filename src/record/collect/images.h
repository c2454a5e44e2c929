/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGES_H
#define TALLY_RECORD_COLLECT_IMAGES_H
/*
 * The mapped files.  Each is opened once, when it is first seen, because a process,
 * container or file may be gone a millisecond later.  An image is identified by path
 * and build ID, or by path, device and inode if it has no build ID.
 *
 * An image gets a row in the profile when a sample first falls into it.  Opened files
 * are checked: a file other than the mapped one does not count.  Files are only read.
 */
#include "profile/model.h"
#include "record/collect/image_identity.h"
#include "record/collect/processes.h"
#include "record/source/mapset.h"

struct recorded_image {
	char *path;
	char *mapped_path;		/* that of its mappings, if it is another, or NULL */
	uint8_t kind, flags;		/* as in prof_image */
	struct build_id build_id;
	uint64_t base;
	/* Identity of the file; 0 when only the build ID is known. */
	uint64_t dev, inode, generation;
	struct file_stamp stamp;	/* state when it was opened */
	char *reason;			/* reason why it could not be opened, or NULL */
	char *symbol;			/* the image's only symbol, or NULL */
	uint64_t symbol_size;
	uint32_t row;			/* prof_image or PROF_NONE */
	int fd;				/* descriptor kept for symbolizing, or -1 */
	struct image_segment *segs;
	size_t nsegs;			/* 0: could not be opened */
	bool closer;			/* closed because nothing mapped it */
	uint64_t mapped;	/* round of image_closer.c that last saw it mapped */
	uint64_t checked;	/* batch in which it was last the file that was opened */
	uint32_t named_locs;		/* locations before this one have names */
	uint8_t tries;			/* number of later attempts to open it */
	uint32_t owner;			/* process whose memory this is, or
					 * UINT32_MAX */
	bool jitdump;			/* fd is a jitdump file (jit_map.h) */
	bool jit_offsets;		/* addresses are offsets in the process's
					 * jitdump file (held_samples.h) */
	bool jit_lines;			/* addresses are positions of lines in the process's
					 * perf map (jit_lines.h) */
	bool named;			/* addresses are numbers of names (java.h),
					 * which fd lists */
};

/* A file as the kernel identifies it: path, and build ID or inode. */
struct image_alias {
	uint64_t hash;
	uint64_t dev, inode, generation;
	uint32_t image;
	bool by_id;
};

/* Descriptors that must be free to read images and /proc. */
enum { IMAGES_FREE_FDS = 6 };

struct images {
	struct profile *profile;
	VEC(struct recorded_image) v;
	VEC(uint32_t) dropped;		/* numbers in v without an image, for new ones */
	struct idtab by_file;		/* ids of aliases */
	VEC(struct image_alias) aliases;
	struct u64map jit_dumps;	/* process -> image of its jitdump file */
	VEC(uint32_t) by_row;		/* prof_image -> image */
	size_t fds, max_fds;
	uint64_t batch;		/* number of batches of records before this one; 0: not
				 * counted */
	char *proc;			/* "/proc", or a copy in tests */
	const char *cache;	/* cache of programs by build ID, laid out as perf's
				 * ~/.debug/.build-id; the caller's, or NULL */
	bool foreign_proc;	/* /proc uses other process numbers than the
				 * recording */
	uint32_t unknown, guest;	/* images for addresses without a mapping */
	int vdso;			/* descriptor of a copy of tally's vdso, or
					 * -1 */
	size_t vdso_size;
	int64_t began_ns;		/* start by the wall clock */
	bool own_maps;	/* perf maps are written for this recording and are removed
			 * once read */
	VEC(uint32_t) ended;	/* with own_maps: processes that have ended */
	bool other_clock;	/* samples use another clock than jitdump files */
	int64_t ended_ns;		/* end of a recording made elsewhere, or 0 */
};

/* Initialises `im`.  `proc` is normally "/proc".  Returns 0 or -ERR_NOMEM. */
int images_init(struct images *im, struct profile *p, const char *proc);
void images_fini(struct images *im);

/* The owner of a mapping. */
struct map_owner {
	uint32_t pid;
	struct processes *processes;	/* its ancestors, which few images need */
	uint64_t time_ns;	/* time when the mapping was made; 0: unknown */
	struct mapset *maps;	/* other mappings of the process, or NULL */
};

static inline struct map_owner map_owner_of(struct processes *all,
					    const struct process *proc, uint64_t time_ns)
{
	return (struct map_owner){ .pid = proc->pid, .processes = all,
				   .time_ns = time_ns, .maps = proc->maps };
}

/* Finds the image that `m` maps in a process and fills *out.  Returns 0 or
 * -ERR_NOMEM. */
int images_map(struct images *im, const struct map_owner *who,
	       const struct mapping *m, struct map *out);
/* Adds an image that is not a file.  Returns its index, or UINT32_MAX when out of
 * memory. */
uint32_t images_add(struct images *im, const char *path, uint8_t kind,
		    uint64_t base, const struct build_id *id);
/* Returns the image of this name and number that is not a file, made if necessary, or
 * UINT32_MAX when out of memory. */
uint32_t image_special(struct images *im, const char *path, uint8_t kind,
		       uint64_t number);
/* Drops images, which nothing may refer to.  Their numbers are given to new images.
 * Returns 0 or -ERR_NOMEM. */
int images_drop(struct images *im, const uint32_t *images, size_t n);
/* Names a process's memory after the runtime that generated code there, which other
 * files of the process reveal (profile/jit_runtimes.h).  Call it before the image has
 * a row.  Returns 0 or -ERR_NOMEM. */
int images_name_code(struct images *im, uint32_t image, const struct mapset *maps);
/* Returns the image's row in the profile, made if necessary, or PROF_NONE when out of
 * memory. */
uint32_t images_row(struct images *im, uint32_t image);
/* Forgets the rows of all images, because the tables of the profile begin anew. */
void images_forget_rows(struct images *im);
/* Returns a descriptor for the file of an image that could be opened, or -1.  The
 * caller closes it. */
int images_open_fd(const struct images *im, uint32_t image);
/* Finds files that were written to.  Call it when recording has ended.  Returns 0 or
 * -ERR_NOMEM. */
int images_check_rows(struct images *im);
/* Implements symbolize_options.open_image; ctx is struct images. */
int images_open_row(void *ctx, uint32_t row);
/* Implements symbolize_options.open_jitdump. */
int images_open_jitdump(const struct images *im, uint32_t row, bool *by_offset);

#endif
