// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two ELF files in one input: a program and the file that its debug information
 * goes on in (split DWARF, an alternate file, a separate debug file).  The first
 * four bytes are the program's length (24 bits) and which names the other file
 * has (8 bits).
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 200, NAME_DWP = 1, NAME_DWO = 2, NAME_OTHER = 4 };

struct other {
	const uint8_t *p;
	size_t n;
	unsigned names, opened;
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

static struct image *open_other(void *ctx, const char *path)
{
	struct other *o = ctx;
	unsigned name = ends_with(path, ".dwp") ? NAME_DWP
			: ends_with(path, ".dwo") ? NAME_DWO : NAME_OTHER;
	struct image *img;

	/* A unit may name a file; many units with the same are no news. */
	if (!(o->names & name) || o->opened++ > 16 ||
	    image_open_bytes(o->p, o->n, path, &img, NULL) < 0)
		return NULL;
	return img;
}

static bool use_result(void *ctx, size_t i, const struct sym_result *r)
{
	size_t *sum = ctx, k;

	*sum += i + strlen(r->symbol);
	for (k = 0; k < r->nframes; k++)
		*sum += strlen(r->frames[k].name) + strlen(r->frames[k].file) +
			strlen(r->frames[k].decl_file);
	return true;
}

static size_t pick_addresses(struct image *img, uint64_t *out)
{
	uint64_t lo, hi;
	size_t i;

	if (!image_code_range(img, &lo, &hi))
		return 0;
	for (i = 0; i < ADDRESSES; i++)
		out[i] = lo + (hi - lo) / ADDRESSES * i;
	return i;
}

static size_t try_options(struct image *img, const struct sym_options *o)
{
	uint64_t addrs[ADDRESSES];
	size_t n = pick_addresses(img, addrs), sum = 0;
	struct symbolizer *s;
	struct sym_sources src;

	if (symbolizer_open(img, o, &s, NULL) < 0)
		return 0;
	/* Many and few are read in different ways; both again. */
	symbolizer_resolve(s, addrs, n, use_result, &sum, NULL);
	symbolizer_resolve(s, addrs, n < 8 ? n : 8, use_result, &sum, NULL);
	symbolizer_resolve(s, addrs, n, use_result, &sum, NULL);
	src = symbolizer_sources(s);
	sum += strlen(src.missing) + strlen(src.missing_alt) +
	       strlen(src.missing_dwo) + strlen(src.damage);
	symbolizer_close(s);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct other other = { 0 };
	struct sym_options o = { .debug_dirs = "/nowhere", .ctx = &other,
				 .open_file = open_other };
	struct image *img;
	size_t n, sum;

	if (size < 4)
		return 0;
	n = (size_t)(data[0] | data[1] << 8 | data[2] << 16);
	if (n > size - 4)
		return 0;
	other.names = data[3];
	other.p = data + 4 + n;
	other.n = size - 4 - n;
	if (image_open_bytes(data + 4, n, "prog", &img, NULL) < 0)
		return 0;
	sum = try_options(img, &o);
	image_close(img);
	return sum == SIZE_MAX;
}
