// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arbitrary bytes as an ELF file, of which libdw is asked, too.  With
 * FUZZ_LIBDW_STRICT set, another answer ends the program.  That is for files that are
 * not damaged (replay.sh): in others both answers may be as good.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/symbolize.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 512 };

static bool add(void *ctx, size_t i, const struct sym_result *r)
{
	struct verify_cases *c = ctx;
	struct verify_case v = { r->vaddr, (uint32_t)c->frames.n, 0 };

	(void)i;
	for (; v.n < r->nframes; v.n++)
		if (vec_push(&c->frames, ((struct verify_frame){
				r->frames[v.n].name, r->frames[v.n].file,
				r->frames[v.n].line })) < 0)
			return false;
	return vec_push(&c->v, v) >= 0;
}

/* Addresses spread over the code, in ascending order. */
static size_t pick_addresses(struct image *img, uint64_t *out)
{
	uint64_t lo, hi, step;
	size_t n = 0;

	if (!image_code_range(img, &lo, &hi))
		return 0;
	step = (hi - lo) / ADDRESSES + 1;
	for (; n < ADDRESSES && lo < hi; lo += step)
		out[n++] = lo;
	return n;
}

static void compare(struct image *img, struct symbolizer *s, const char *path)
{
	struct opinion_request q = { .path = path, .debug_dirs = "" };
	struct build_id id = image_build_id(img);
	struct verify_counts counts = { 0 };
	struct verify_cases cases = { 0 };
	struct buf out = { 0 };
	struct error err = { 0 };
	uint64_t addrs[ADDRESSES];
	size_t n = pick_addresses(img, addrs);
	int rc = 0;

	if (!symbolizer_resolve(s, addrs, n, add, &cases, NULL))
		rc = verify_image(&q, symbolizer_sources(s).go, &id, &cases,
				  &counts, &out, &err);
	if (getenv("FUZZ_LIBDW_STRICT")) {
		verify_summary(&counts, &out);
		printf("%s%s\n", buf_cstr(&out), rc < 0 ? err.msg : "");
		if (counts.different)
			exit(1);
	}
	verify_cases_fini(&cases);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym_options o = { .no_debug_files = true };
	struct symbolizer *s;
	struct image *img;
	char path[64];
	int fd;

	if (image_open_bytes(data, size, "fuzz", &img, NULL) < 0)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    !symbolizer_open(img, &o, &s, NULL)) {
		compare(img, s, path);
		symbolizer_close(s);
	}
	if (fd >= 0)
		close(fd);
	image_close(img);
	return 0;
}
