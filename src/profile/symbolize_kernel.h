/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOLIZE_KERNEL_H
#define TALLY_PROFILE_SYMBOLIZE_KERNEL_H
/* Shared by symbolize_kernel*.c: one image of the kernel. */
#include "profile/symbolize_internal.h"
#include "symbolize/kernel/kernel_files.h"

enum { MODULE_NAME_MAX = 128 };

struct kernel_part {
	struct symbolize_run *f;
	const struct symbolize_item *part;
	char module[MODULE_NAME_MAX];	/* "": the kernel itself */
	bool wrong_file; /* symbolize_options.vmlinux belongs to another kernel */
	bool live;		/* kallsyms belongs to the recorded kernel… */
	uint64_t base;		/* … whose current address is this */
	bool same_boot;		/* … and its generated code still exists */
	uint8_t *done;		/* by location of the part: whether it has a name */
	bool has_delta;		/* delta is known */
	uint64_t delta;
	size_t in_file;		/* number of locations named by the file… */
	size_t named;		/* … and by kallsyms, now or in the old recording */
};

/* symbolize_kernel_running.c: returns the symbols of the running kernel, when they are
 * read (symbolize_kernel_begin); NULL: see kallsyms_error. */
struct kallsyms *kernel_kallsyms(struct symbolize_run *f);
/* Returns NULL if the running kernel can name the locations, and sets where it is now;
 * otherwise the reason why not. */
const char *kernel_check_running(struct kernel_part *k);

/* A kernel symbol: of the running kernel if that is the recorded one, otherwise
 * from the recording. */
struct kernel_name {
	const char *name;
	uint64_t start, size;	/* addresses in the image */
};
bool kernel_name_at(const struct kernel_part *k, uint64_t vaddr,
		    struct kernel_name *out);

/* symbolize_kernel_file.c: names locations with the ELF file of the kernel or module.
 * Returns 0 or an error. */
int symbolize_kernel_file(struct kernel_part *k, struct image *img);

#endif
