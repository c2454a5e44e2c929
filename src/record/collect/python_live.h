/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_PYTHON_LIVE_H
#define TALLY_RECORD_COLLECT_PYTHON_LIVE_H
/*
 * Reads frames of Python interpreters in stopped threads of other processes by
 * process_vm_readv(2).  The result is the part that runtime/python_frames.h
 * describes.  The caller checks that the thread stayed stopped, and discards the
 * stack if not.
 *
 * An interpreter is a file that exports _PyRuntime and its types, whatever its name.
 * Its location in a process comes from the recorder's mappings (python_live_maps), or
 * from a caller that found it itself (python_live_set).
 */
#include "base/buf.h"
#include "image/image.h"
#include "record/collect/images.h"
#include "record/source/mapset.h"
#include "record/source/source.h"

/* Addresses in the interpreter's file. */
struct python_file {
	uint64_t version, runtime, code, text, bytes;
	uint64_t by_names;	/* version derived from exported functions, if
				 * Py_Version is absent */
	uint64_t loop, loop_bytes;	/* start and size of the interpreter's loop */
};
bool python_file_of(struct image *img, struct python_file *f);

struct python_live {
	struct images *images;		/* NULL: python_live_maps is not used */
	const char *proc;
	VEC(struct python_process *) procs;
	uint32_t free;			/* number of free rows in procs */
	struct u64map by_pid;
	VEC(uint32_t) known;		/* state, or position in `files`, by image */
	VEC(struct python_file) files;
	struct python_scratch *scratch;
	struct buf part;
	uint32_t clock;
};

/* Initialises `p`.  `im` and `proc` must outlive it. */
void python_live_init(struct python_live *p, struct images *im, const char *proc);
void python_live_fini(struct python_live *p);

/* Finds a process's interpreter in its mappings.  Call it before asking for frames. */
void python_live_maps(struct python_live *p, uint32_t pid,
		      const struct mapset *maps);
/* Forgets an image, because its number will be another's. */
void python_live_forget(struct python_live *p, uint32_t image);
/* Sets a process's interpreter.  bias: address - address in the file. */
void python_live_set(struct python_live *p, uint32_t pid,
		     const struct python_file *f, uint64_t bias);
void python_live_fork(struct python_live *p, uint32_t pid, uint32_t parent);
/* Forgets a process that has ended or runs another program. */
void python_live_end(struct python_live *p, uint32_t pid);

/* Returns whether a process runs a known Python. */
bool python_live_knows(struct python_live *p, uint32_t pid);
/* Sets s->frames and s->frame_bytes, valid until the next call, if the thread runs
 * Python.  Returns false if not. */
bool python_live_frames(struct python_live *p, uint32_t pid, uint32_t tid,
			struct record_sample *s);
/* Handles the loss of the last frames: names reported with them are reported again. */
void python_live_lost(struct python_live *p, uint32_t pid);

#endif
