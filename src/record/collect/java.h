/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_JAVA_H
#define TALLY_RECORD_COLLECT_JAVA_H
/*
 * Java programs among the recorded processes: applies runtime/hotspot.h to the code
 * that they generate, through live_memory.h.
 *
 * A frame of such code gets a name instead of its address (frame_names.h), in an
 * image PROF_IMAGE_JAVA of its program.
 */
#include "record/collect/frame_names.h"
#include "record/collect/images.h"
#include "record/collect/live_memory.h"
#include "runtime/hotspot.h"

struct java {
	struct images *images;
	struct live_memory *live;
	VEC(struct java_process *) procs;
	struct u64map by_pid;
	uint32_t batch;
};

void java_init(struct java *j, struct images *im, struct live_memory *live);
void java_fini(struct java *j);
/* Starts a new batch of samples. */
void java_batch(struct java *j);

/* Frees the data of processes that have ended. */
void java_drop_ended(struct java *j);

/* Narrows *out, code of an anonymous mapping, to the code at pc, and sets its
 * instructions.  Returns false if the code is not Java's or is unknown. */
bool java_code(struct java *j, uint32_t pid, const struct mapset *maps,
	       uint64_t pc, struct unwind_code *out);
/* Calls hotspot_frame.  Sets *name to the address that represents the frame's name,
 * or 0. */
bool java_frame(struct java *j, uint32_t pid, const struct mapset *maps,
		const struct unwind_regs *regs, bool exact,
		const struct hotspot_stack *stack, struct unwind_caller *out,
		uint64_t *name);

#endif
