// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as an ELF file: segments, sections, symbols, all of its DWARF. */
#include <stdlib.h>
#include <string.h>

#include "image/cfi.h"
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 256 };

static bool use_result(void *ctx, size_t i, const struct sym_result *r)
{
	size_t *sum = ctx, k;

	*sum += i + strlen(r->symbol);
	for (k = 0; k < r->nframes; k++)
		*sum += strlen(r->frames[k].name) + strlen(r->frames[k].file) +
			strlen(r->frames[k].decl_file);
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Addresses spread over the segments, and some outside of them. */
static size_t pick_addresses(struct image *img, uint64_t *out)
{
	const struct image_segment *segs;
	size_t n = image_segments(img, &segs), i, k = 0;
	uint64_t lo, hi;

	if (image_code_range(img, &lo, &hi))
		for (i = 0; i < ADDRESSES / 2; i++)
			out[k++] = lo + (hi - lo) / (ADDRESSES / 2) * i + i % 7;
	for (i = 0; i < n && k < ADDRESSES - 2; i++) {
		out[k++] = segs[i].vaddr;
		out[k++] = segs[i].vaddr + segs[i].memsz / 2;
	}
	out[k++] = 0;
	out[k++] = UINT64_MAX;
	qsort(out, k, sizeof(*out), by_value);
	return k;
}

static void use_fdes(struct image *img, enum cfi_kind kind, size_t *sum)
{
	struct cfi_cie cie = { 0 };
	struct cfi_section s;
	enum cfi_entry e;
	struct cfi_fde fde;
	uint64_t at = 0;

	if (!cfi_open(img, kind, &s))
		return;
	/* CIEs may be shared by many */
	while (*sum < 1 << 20 &&
	       (e = cfi_next(&s, &at, &cie, &fde)) != CFI_END) {
		for (size_t i = 0; e == CFI_FDE && i < cie.program.n; i++)
			*sum += cie.program.p[i];
		for (size_t i = 0; e == CFI_FDE && i < fde.program.n; i++)
			*sum += fde.program.p[i];
	}
}

static void use_image(struct image *img, const uint64_t *addrs, size_t n,
		      size_t *sum)
{
	struct image_stub stub;
	size_t i;

	use_fdes(img, CFI_EH_FRAME, sum);
	use_fdes(img, CFI_DEBUG_FRAME, sum);
	for (i = 0; i < n; i++)
		if (image_find_stub(img, addrs[i], &stub))
			*sum += strlen(stub.target) + strlen(stub.section);
	*sum += strlen(image_problem(img));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym_options o = { .no_debug_files = true };
	uint64_t addrs[ADDRESSES + 2], vaddr;
	struct symbolizer *s;
	struct image *img;
	size_t sum = 0, n;
	uint32_t crc;

	if (image_open_bytes(data, size, "fuzz", &img, NULL) < 0)
		return 0;
	n = pick_addresses(img, addrs);
	image_vaddr_of_offset(img, size / 2, &vaddr);
	image_debuglink(img, &crc);
	sum += image_bytes(img, addrs[n / 2], 64).n;
	use_image(img, addrs, n, &sum);
	if (!symbolizer_open(img, &o, &s, NULL)) {
		symbolizer_resolve(s, addrs, n, use_result, &sum, NULL);
		symbolizer_resolve(s, addrs, n / 2, use_result, &sum, NULL);
		symbolizer_close(s);
	}
	image_close(img);
	return sum == SIZE_MAX;
}
