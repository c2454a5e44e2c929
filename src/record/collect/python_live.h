/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_PYTHON_LIVE_H
#define TALLY_RECORD_COLLECT_PYTHON_LIVE_H
/*
 * Frames of Python interpreters in threads of other processes that stand still: the part
 * that runtime/python_frames.h describes, read by process_vm_readv(2).  Whether the
 * thread stood still all the time, the caller finds out, and forgets the stack if not.
 *
 * An interpreter is a file that exports _PyRuntime and its types, whatever its name.
 * Where a process has it comes from the recorder's mappings (python_live_maps), or from
 * who finds it by himself (python_live_set).
 */
#include "base/buf.h"
#include "image/image.h"
#include "record/collect/images.h"
#include "record/source/mapset.h"
#include "record/source/source.h"

/* Addresses in the file. */
struct python_file {
	uint64_t version, runtime, code, text, bytes;
	uint64_t by_names;	/* its version, where that has no address */
	uint64_t loop, loop_bytes;	/* the interpreter's */
};
bool python_file_of(struct image *img, struct python_file *f);

struct python_live {
	struct images *images;		/* NULL: without python_live_maps */
	const char *proc;
	VEC(struct python_process *) procs;
	uint32_t free;			/* of them */
	struct u64map by_pid;
	VEC(uint32_t) known;		/* by image */
	VEC(struct python_file) files;
	struct python_scratch *scratch;
	struct buf part;
	uint32_t clock;
};

/* Both must outlive it. */
void python_live_init(struct python_live *p, struct images *im, const char *proc);
void python_live_fini(struct python_live *p);

/* Where a process's interpreter is, before it is asked for. */
void python_live_maps(struct python_live *p, uint32_t pid,
		      const struct mapset *maps);
/* bias: address - address in the file. */
void python_live_set(struct python_live *p, uint32_t pid,
		     const struct python_file *f, uint64_t bias);
void python_live_fork(struct python_live *p, uint32_t pid, uint32_t parent);
/* It has ended, or is another program. */
void python_live_end(struct python_live *p, uint32_t pid);

/* Whether a process runs Python that is known. */
bool python_live_knows(struct python_live *p, uint32_t pid);
/* Sets s->frames and s->frame_bytes, valid until the next call, if the thread runs
 * Python; false if not. */
bool python_live_frames(struct python_live *p, uint32_t pid, uint32_t tid,
			struct record_sample *s);
/* What that set was lost: what it told is to be told again. */
void python_live_untold(struct python_live *p, uint32_t pid);

#endif
