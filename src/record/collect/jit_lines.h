/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_JIT_LINES_H
#define TALLY_RECORD_COLLECT_JIT_LINES_H
/*
 * Follows the perf maps of programs (jit_map.h) while they are recorded.  Functions that
 * used the same address one after the other are told apart by the time of the sample
 * (symbolize/perfmap_times.h).
 *
 * An address keeps its location for the first name that it had.  Samples in later
 * functions get locations in another image of the process.  Their addresses are the
 * position of the function's line in the file and the offset in its code.
 *
 * inotify(7) tells when a file was written.  It watches the file that is open, so neither
 * its name nor its container matters.  Files that it does not accept are looked at each
 * time, as are all in recordings that wake rarely.  If code was replaced, samples at its
 * address between the last moment at which nothing was written, as far as is known, and
 * the look that found the line may belong to either function, so they get no name.
 *
 * This relies on programs that write a line before the code runs, as V8 does.
 * If a program writes lines later, code at an address that it used before has the old
 * name until then; inotify tells of no lines that are written by mmap(2).  If a file is
 * written anew, its last lines count.
 */
#include "profile/symbolize_profile.h"
#include "record/collect/images.h"
#include "record/collect/processes.h"
#include "symbolize/perfmap_times.h"

/* The perf map of a process. */
struct jit_lines {
	uint32_t pid, image;	/* the process, and the image of its memory */
	uint32_t later;		/* image of later functions; UINT32_MAX: none yet */
	struct perfmap_times *times;	/* NULL: the file was written anew */
	uint64_t size;		/* of the file when it was last looked at */
	uint64_t read;		/* end of the last whole line */
	uint64_t looked_ns;	/* time before that look */
	uint8_t tail[32];	/* the bytes before `read` */
	uint32_t ntail;
	uint32_t wait, waited;	/* rounds between attempts to open the file */
	int wd;			/* watch of inotify; 0: not asked for yet, -1: none */
	bool changed;		/* must be looked at */
	bool ended;		/* the process is gone, and the lines are forgotten */
};

struct jit_follow {
	VEC(struct jit_lines) v;
	struct u64map by_pid;
	size_t rows;		/* rows of images examined so far */
	bool watch;		/* use inotify */
	int fd;			/* its queue, for poll(2); 0: none yet, -1: none */
	uint64_t quiet_ns;	/* until then no watched file changed since its last
				 * look; whoever waits for fd may raise it */
	bool changed;		/* one had changed at the last look */
	size_t unwatched;	/* files of running programs that have no watch */
	uint64_t early_ns;	/* a sample's time may be this much before it was taken */
};

void jit_follow_fini(struct jit_follow *f);
/* Looks at the files that have changed or are not watched.  Returns 0 or -ERR_NOMEM. */
int jit_follow_look(struct jit_follow *f, struct images *im);
/* Forgets the lines of processes that have ended. */
void jit_follow_forget(struct jit_follow *f, struct processes *p);
/* Returns the map of a process, or NULL. */
struct jit_lines *jit_follow_find(struct jit_follow *f, uint32_t pid);
/* Returns a number that differs for times at which an address has different names; 0: all
 * addresses have their first names. */
uint32_t jit_lines_epoch(const struct jit_lines *l, uint64_t time_ns);
/* Returns the image for a sample in l->image, and changes the address to one in that
 * image.  Returns UINT32_MAX when out of memory. */
uint32_t jit_lines_image(struct jit_lines *l, struct images *im, uint64_t time_ns,
			 uint64_t *vaddr);
/* Says how to find the names of a row of images for symbolizing. */
void jit_follow_use(const struct jit_follow *f, const struct images *im, uint32_t row,
		    struct symbolize_perfmap_use *use);
/* Opens the file for a row whose addresses are positions of lines.  Returns a descriptor
 * that the caller closes, or -1, also for other rows. */
int jit_follow_open(const struct jit_follow *f, const struct images *im, uint32_t row);

#endif
