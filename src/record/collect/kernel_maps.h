/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_KERNEL_MAPS_H
#define TALLY_RECORD_COLLECT_KERNEL_MAPS_H
/*
 * The kernel's own address space: its image, its modules and code that it
 * generated.  What lies in none is the kernel's: /proc/kallsyms names that by
 * address.
 */
#include "record/collect/images.h"

struct kernel_maps {
	uint32_t kernel;	/* image */
	uint64_t base;		/* 0 when addresses are hidden */
	struct mapset *modules;	/* delta = -start */
	struct mapset *generated;	/* see kernel_code.h */
	uint32_t space;		/* a new number with each change */
	bool stray;		/* an address lay neither in kernel nor module */
	uint64_t read_ns;	/* when the modules were read last */
};

/* Reads PROC/kallsyms, PROC/modules and SYSFS/kernel/notes; what is hidden or
 * missing is left out.  0 or -ERR_NOMEM. */
int kernel_maps_init(struct kernel_maps *k, struct images *im,
		     const char *proc, const char *sysfs,
		     uint32_t *generation);
void kernel_maps_fini(struct kernel_maps *k);
/* The build-id in a file of ELF notes, such as /sys/kernel/notes; empty where
 * there is none. */
struct build_id kernel_notes_id(const char *path);
/* Of a kernel whose PROC is not at hand: where its text lies, with its build-id or
 * NULL; and a module.  0 or -ERR_NOMEM. */
int kernel_maps_place(struct kernel_maps *k, struct images *im, uint64_t base,
		      const struct build_id *id, uint32_t *generation);
int kernel_maps_add(struct kernel_maps *k, struct images *im, const char *name,
		    uint64_t start, uint64_t size, const struct build_id *id,
		    uint32_t *generation);
/* Modules that were loaded meanwhile, when there is reason to look: the kernel
 * does not tell.  0 or -ERR_NOMEM. */
int kernel_maps_refresh(struct kernel_maps *k, struct images *im,
			const char *proc, const char *sysfs,
			uint32_t *generation, uint64_t now_ns);
/* The image and the address in it. */
uint32_t kernel_maps_find(struct kernel_maps *k, uint64_t addr,
			  uint64_t *vaddr);

#endif
