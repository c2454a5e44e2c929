// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens .gnu_debugdata: a small ELF file, compressed with xz, inside an image (gdb
 * manual, "Debugging information in a special section"). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#ifdef HAVE_LIBLZMA
#include <lzma.h>
#endif

#include "image/image_internal.h"

#ifdef HAVE_LIBLZMA
enum {
	FIRST_ROOM = 1 << 20,
	/* xz -9 needs 65 MB; the largest programs' symbols are below 100 MB */
	MAX_DECODER = 128 << 20,
	MAX_SIZE = 256 << 20,
};

/* Decodes at most `room` bytes; *n is the size, 0 if damaged. */
static int decode(lzma_stream *z, uint64_t room, uint8_t **out, size_t *n)
{
	size_t cap = 0;
	lzma_ret rc = LZMA_OK;

	while (rc == LZMA_OK) {
		size_t more = cap ? 2 * cap : FIRST_ROOM;
		uint8_t *p;

		if (more > room)
			break;
		p = realloc(*out, more);
		if (!p)
			return -ERR_NOMEM;
		*out = p;
		z->next_out = p + cap;
		z->avail_out = more - cap;
		cap = more;
		while (rc == LZMA_OK && z->avail_out)
			rc = lzma_code(z, LZMA_FINISH);
	}
	if (rc == LZMA_MEM_ERROR)
		return -ERR_NOMEM;
	*n = rc == LZMA_STREAM_END ? (size_t)z->total_out : 0;
	return 0;
}

static int unpack(struct image *img, struct span in, uint8_t **out, size_t *n)
{
	lzma_stream z = LZMA_STREAM_INIT;
	uint64_t room = image_inflate_room(img);
	int rc = -ERR_NOMEM;

	z.next_in = in.p;
	z.avail_in = in.n;
	if (lzma_stream_decoder(&z, MAX_DECODER, 0) == LZMA_OK)
		rc = decode(&z, room < MAX_SIZE ? room : MAX_SIZE, out, n);
	lzma_end(&z);
	if (!rc && !*n)
		image_set_problem(img, ".gnu_debugdata: damaged");
	return rc;
}
#endif

int image_open_debugdata(struct image *img, struct image **out)
{
	struct span in = image_section(img, ".gnu_debugdata");

	*out = NULL;
	if (!in.n)
		return 0;
#ifdef HAVE_LIBLZMA
	{
		uint8_t *bytes = NULL;
		size_t n = 0;
		int rc = unpack(img, in, &bytes, &n);

		if (rc < 0 || !n) {
			free(bytes);
			return rc;
		}
		rc = image_open_owned((struct io_map){ 0 }, bytes,
				      (struct span){ bytes, n },
				      image_name(img), out, NULL);
		if (rc < 0 && rc != -ERR_NOMEM) {
			image_set_problem(img, ".gnu_debugdata: not an ELF file");
			rc = 0;
		}
		return rc;
	}
#else
	image_set_problem(img, ".gnu_debugdata is compressed with xz, which this "
		    "tally was built without (install liblzma-dev and "
		    "configure again)");
	return 0;
#endif
}
