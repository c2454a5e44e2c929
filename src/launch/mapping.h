/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_MAPPING_H
#define TALLY_LAUNCH_MAPPING_H
/* A mapping of executable memory, as the kernel or /proc/PID/maps describes it. */
#include <stdint.h>

#include "image/image.h"

struct mapping {
	uint64_t start, len, offset;	/* offset: position in the file */
	struct build_id build_id;	/* len 0: dev and inode are set instead */
	uint64_t dev, inode;
	uint64_t generation;		/* generation of the inode; 0: unknown */
	const char *path;		/* borrowed */
};

#endif
