/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SYMBOL_NAMES_H
#define TALLY_CMD_SYMBOL_NAMES_H
/* The functions of an image by name, for questions like "main+0x10". */
#include "base/hash.h"
#include "base/vec.h"
#include "image/image.h"

struct symbol_name {
	const char *name;	/* borrowed from the image */
	uint64_t vaddr;
};

struct symbol_names {
	struct image *img;
	bool read;		/* on the first question */
	bool failed;		/* out of memory */
	VEC(struct symbol_name) syms;
	struct idtab tab;
};

void symbol_names_init(struct symbol_names *s, struct image *img);
void symbol_names_fini(struct symbol_names *s);
/* The address of the first symbol of that name; false when there is none. */
bool symbol_names_find(struct symbol_names *s, const char *name,
		       uint64_t *vaddr);

#endif
