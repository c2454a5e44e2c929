// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates locations in the profile for frames that have names instead of addresses. */
#include "record/collect/frame_names.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

enum { NAME_BITS = 4 };		/* log2 of the addresses per name */

/* Base of a non-canonical range, where no code can be.  The image number is above the
 * lower half. */
#define NAME_BASE 0x4000000000000000ull
#define NAME_IMAGES (1u << 29)

void frame_names_init(struct frame_names *n, struct images *im,
		      const char *path, uint64_t base)
{
	*n = (struct frame_names){ im, path, base, UINT32_MAX, 0 };
}

static bool has_image(struct frame_names *n)
{
	struct images *im = n->images;
	struct recorded_image *r;
	int fd;

	if (n->image != UINT32_MAX)
		return true;
	if (im->fds >= im->max_fds)
		return false;
	fd = memfd_create("tally-names", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	n->image = images_add(im, n->path, PROF_IMAGE_ANON, n->base, NULL);
	if (n->image >= NAME_IMAGES) {
		close(fd);
		n->image = UINT32_MAX;
		return false;
	}
	r = &im->v.v[n->image];
	r->fd = fd;
	r->named = true;
	im->fds++;
	return true;
}

bool frame_names_add(struct frame_names *n, const char *name)
{
	struct buf b = { 0 };
	bool good;

	if (n->written + 1 >= FRAME_NAMES_MAX || !has_image(n))
		return false;
	buf_printf(&b, "%llx %x %s\n",
		   (unsigned long long)(n->written + 1) << NAME_BITS,
		   1 << NAME_BITS, name);
	good = !b.failed && !io_write_all(n->images->v.v[n->image].fd, n->path, b.p, b.n,
					  NULL);
	buf_fini(&b);
	n->written += good;
	return good;
}

uint64_t frame_names_address(const struct frame_names *n, uint32_t name)
{
	if (!name || name > n->written)
		return 0;
	return NAME_BASE | (uint64_t)n->image << 32 |
	       (uint64_t)name << NAME_BITS;
}

bool frame_is_name(const struct images *im, uint64_t addr)
{
	return addr >> 61 == NAME_BASE >> 61 &&
	       frame_name_image(addr) < im->v.n &&
	       im->v.v[frame_name_image(addr)].named;
}

uint32_t frame_name_image(uint64_t addr)
{
	return (uint32_t)(addr >> 32) & (NAME_IMAGES - 1);
}

uint64_t frame_name_vaddr(uint64_t addr)
{
	return (uint32_t)addr;
}
