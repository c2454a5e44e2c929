/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_FILL_KERNEL_H
#define TALLY_PROFILE_FILL_KERNEL_H
/* What fill_kernel*.c share: one image of the kernel. */
#include "profile/fill_internal.h"
#include "symbolize/kernel/kernel_files.h"

enum { MODULE_NAME_MAX = 128 };

struct kernel_part {
	struct fill *f;
	const struct fill_part *part;
	char module[MODULE_NAME_MAX];	/* "": the kernel itself */
	bool wrong_file;	/* fill_options.vmlinux is another kernel's */
	bool live;		/* kallsyms is of the recorded kernel… */
	uint64_t base;		/* … which lies here now */
	bool same_boot;		/* … and what it generated is still there */
	uint8_t *done;		/* by location of the part: has a name */
	bool has_delta;		/* address in the file - address in the image */
	uint64_t delta;
	size_t in_file;		/* locations that the file names… */
	size_t named;		/* … kallsyms does, or did before */
};

/* The symbol that covers an address: of the running kernel where that is the
 * recorded one, else the name that the recording has. */
struct kernel_name {
	const char *name;
	uint64_t start, size;	/* in the image */
};
bool fill_kernel_name(const struct kernel_part *k, uint64_t vaddr,
		      struct kernel_name *out);

/* Remembers the code of hot functions; img may be NULL.  0 or an error. */
int fill_kernel_code(const struct kernel_part *k, struct image *img,
		     uint32_t first);
void kcore_close(struct kcore *k);

/* Names locations by the ELF file of the kernel or module.  0 or an error. */
int fill_kernel_file(struct kernel_part *k, struct image *img);

#endif
