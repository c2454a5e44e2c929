/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_KERNEL_MAPS_H
#define TALLY_RECORD_COLLECT_KERNEL_MAPS_H
/*
 * The kernel's address space: its image, its modules and the code that it generated.
 * Addresses in none of these belong to the kernel image; /proc/kallsyms names them by
 * address.
 */
#include "record/collect/images.h"

struct kernel_maps {
	uint32_t kernel;	/* image */
	uint64_t base;		/* address of the text; 0 when addresses are hidden */
	struct mapset *modules;	/* delta = -start */
	struct mapset *generated;	/* see kernel_code.h */
	uint32_t space;		/* number that changes with each change */
	bool stray;		/* an address lay outside the kernel and all modules */
	uint64_t read_ns;	/* time of the last reading of the modules */
};

/* Reads PROC/kallsyms, PROC/modules and SYSFS/kernel/notes.  Hidden or missing parts
 * are ignored.  Returns 0 or -ERR_NOMEM. */
int kernel_maps_init(struct kernel_maps *k, struct images *im,
		     const char *proc, const char *sysfs,
		     uint32_t *generation);
void kernel_maps_fini(struct kernel_maps *k);
/* Returns the build ID in a file of ELF notes such as /sys/kernel/notes, empty if
 * there is none. */
struct build_id kernel_notes_id(const char *path);
/* Describe a kernel whose PROC is not available: the address of its text, with its
 * build ID or NULL; and a module.  They return 0 or -ERR_NOMEM. */
int kernel_maps_place(struct kernel_maps *k, struct images *im, uint64_t base,
		      const struct build_id *id, uint32_t *generation);
int kernel_maps_add(struct kernel_maps *k, struct images *im, const char *name,
		    uint64_t start, uint64_t size, const struct build_id *id,
		    uint32_t *generation);
/* Adds modules loaded since the last reading, when there is reason to look, because
 * the kernel does not report them.  Returns 0 or -ERR_NOMEM. */
int kernel_maps_refresh(struct kernel_maps *k, struct images *im,
			const char *proc, const char *sysfs,
			uint32_t *generation, uint64_t now_ns);
/* Returns the image at an address, and sets *vaddr to the address in it. */
uint32_t kernel_maps_find(struct kernel_maps *k, uint64_t addr,
			  uint64_t *vaddr);

#endif
