// SPDX-License-Identifier: GPL-2.0-or-later
/* Names code that the kernel generated.  The kernel reports the names to the
 * recorder when the code is created; later they are unavailable, so old names
 * remain. */
#include "profile/symbolize_internal.h"

int symbolize_generated(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct image_debug_info row = { .image = part->image,
				   .names = PROF_NAMES_KALLSYMS };
	const char *name = NULL;
	uint64_t size = 0;
	int rc = 0;

	symbolize_wait_turn(f, part);
	if (f->o->generated)
		name = f->o->generated(f->o->ctx, part->image, &size);
	if (!name)
		return 0;
	for (size_t i = 0; i < part->n && !rc; i++) {
		struct sym_frame frame = { name, "", 0, 0, "", 0, false, 0, "" };
		struct sym_result r = {
			.vaddr = f->vaddrs[part->at + i], .frames = &frame,
			.nframes = 1, .symbol = name, .sym_size = size,
		};

		rc = symbolize_add_location(f, part, i, &r);
	}
	return rc ? rc : symbolize_set_source(f, &row, "");
}
