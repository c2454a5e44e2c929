/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGES_H
#define TALLY_RECORD_COLLECT_IMAGES_H
/*
 * The files that are mapped somewhere, each opened once, when it is first seen:
 * a process, container or file may be gone a millisecond later.  An image is a
 * path with a build-id; without build-id, with device and inode.
 *
 * Images get a row in the profile when a sample falls into them, not before.
 * What is opened is checked: a file that is not the one that was mapped does
 * not count.  Files are only read.
 */
#include "profile/model.h"
#include "record/collect/image_identity.h"
#include "record/source/mapset.h"

struct recorded_image {
	char *path;
	uint8_t kind, flags;		/* of prof_image */
	struct build_id build_id;
	uint64_t base;
	/* Of the file; 0 when only the build-id is known. */
	uint64_t dev, inode, generation;
	struct file_stamp stamp;	/* when it was opened */
	char *reason;			/* why it could not be opened, or NULL */
	char *symbol;			/* all that it is, or NULL */
	uint64_t symbol_size;
	uint32_t row;			/* prof_image or PROF_NONE */
	int fd;				/* kept for symbolizing, or -1 */
	struct image_segment *segs;
	size_t nsegs;			/* 0: could not be opened */
	bool let_go;			/* closed, as nothing mapped it */
	uint64_t mapped;		/* see let_go.c: when it last was */
	uint32_t named_locs;		/* locations before this one have names */
	uint8_t tries;			/* to open it after all */
	uint32_t owner;			/* of a process's memory: whose that is,
					 * or UINT32_MAX */
	bool jitdump;			/* fd is a jitdump file (jit_map.h) */
	bool jit_offsets;		/* addresses are offsets in the jitdump file of
					 * the process (held_samples.h) */
	bool named;			/* addresses are numbers of names (java.h),
					 * which fd tells */
};

/* A file as the kernel named it: path, and build-id or inode. */
struct image_alias {
	uint64_t hash;
	uint64_t dev, inode, generation;
	uint32_t image;
	bool by_id;
};

struct images {
	struct profile *profile;
	VEC(struct recorded_image) v;
	struct idtab by_file;		/* ids: of aliases */
	VEC(struct image_alias) aliases;
	struct u64map jit_dumps;	/* process -> image of its jitdump file */
	VEC(uint32_t) by_row;		/* prof_image -> image */
	size_t fds, max_fds;
	char *proc;			/* "/proc", or a copy in tests */
	const char *cache;	/* of programs by build-id, laid out as perf's
				 * ~/.debug/.build-id; the caller's, or NULL */
	bool foreign_proc;	/* it numbers processes otherwise than we do */
	uint32_t unknown, guest;	/* images of what has no mapping */
	int vdso;			/* fd of a copy of our vdso, or -1 */
	size_t vdso_size;
	int64_t began_ns;		/* by the wall clock */
	bool own_maps;	/* perf maps are written for this recording: they are
			 * removed when they are read */
	bool other_clock;	/* samples have another one than jitdump files */
	int64_t ended_ns;		/* of a recording made elsewhere, or 0 */
};

/* `proc` is normally "/proc".  0 or -ERR_NOMEM. */
int images_init(struct images *im, struct profile *p, const char *proc);
void images_fini(struct images *im);

enum { MAP_ANCESTORS = 3 };

/* Whose mapping it is. */
struct map_owner {
	uint32_t pid;
	uint32_t ancestors[MAP_ANCESTORS];	/* parent first; 0: unknown */
	uint64_t time_ns;	/* when it was made; 0: not known */
	struct mapset *maps;	/* what else is mapped, or NULL */
};

/* What `m` maps in a process; fills *out.  0 or -ERR_NOMEM. */
int images_map(struct images *im, const struct map_owner *who,
	       const struct mapping *m, struct map *out);
/* A new image that is no file; UINT32_MAX when out of memory. */
uint32_t images_add(struct images *im, const char *path, uint8_t kind,
		    uint64_t base, const struct build_id *id);
/* Calls memory of a process after the runtime whose code it has, which other files
 * of the process tell (profile/jit_runtimes.h); before it has a row.  0 or
 * -ERR_NOMEM. */
int images_name_code(struct images *im, uint32_t image, const struct mapset *maps);
/* The image's row in the profile, made when needed; PROF_NONE when out of
 * memory. */
uint32_t images_row(struct images *im, uint32_t image);
/* The file of an image that could be opened: an fd that is the caller's, or
 * -1. */
int images_open_fd(const struct images *im, uint32_t image);
/* When recording has ended: finds files that were written to.  0 or
 * -ERR_NOMEM. */
int images_check_rows(struct images *im);
/* fill_options.open_image; ctx is struct images. */
int images_open_row(void *ctx, uint32_t row);
/* As fill_options.open_jitdump. */
int images_open_jitdump(const struct images *im, uint32_t row, bool *by_offset);

#endif
