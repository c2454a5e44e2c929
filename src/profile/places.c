// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frames of locations, in the order of addresses: neighbours are in the same
 * function or the next.  The order comes from LOCS, of which a checksum is kept:
 * where rows of it are damaged, frames are not known either.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/format.h"

/* Locations that share an order, and so a loss. */
enum { PLACES = 8192 };

struct place {
	uint64_t vaddr;
	uint32_t image, id;
};

static unsigned int digit(const struct place *x, unsigned int k)
{
	return (k < 8 ? x->vaddr >> 8 * k : x->image >> 8 * (k - 8)) & 0xff;
}

/* Moves all of v to out, in the order of one byte and else as they are; false:
 * they have the same byte, nothing was moved. */
static bool sort_digit(const struct place *v, struct place *out, size_t n,
		       unsigned int k)
{
	size_t at[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[digit(&v[i], k)]++;
	if (at[digit(&v[0], k)] == n)
		return false;
	for (size_t i = 0; i < 256; i++) {
		size_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		out[at[digit(&v[i], k)]++] = v[i];
	return true;
}

/* By image, vaddr and id, from the lowest byte on; they come in the order of
 * ids.  `v` has room for as many more. */
static void sort_places(struct place *v, size_t n)
{
	struct place *from = v, *to = v + n;

	for (unsigned int k = 0; k < 12; k++) {
		if (sort_digit(from, to, n, k)) {
			struct place *t = from;

			from = to;
			to = t;
		}
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* Locations [first, end) in order, or NULL when out of memory; their checksum. */
static struct place *places_sort(const struct profile *p, size_t first,
				 size_t end, uint32_t *crc)
{
	struct place *v = malloc(2 * (end - first) * sizeof(*v));
	struct buf rows = { 0 };

	if (!v)
		return NULL;
	for (size_t i = first; i < end; i++)
		v[i - first] = (struct place){ p->locs.v[i].vaddr,
					       p->locs.v[i].image,
					       (uint32_t)i };
	sort_places(v, end - first);
	for (size_t i = 0; i < end - first; i++) {
		buf_u32(&rows, v[i].image);
		buf_u64(&rows, v[i].vaddr);
	}
	if (rows.failed) {
		free(v);
		v = NULL;
	} else {
		*crc = format_crc(rows.p, rows.n);
	}
	buf_fini(&rows);
	return v;
}

static void put_frames(struct buf *out, const struct profile *p,
		       const struct place *v, size_t n)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t f = profile_loc_frame(p, v[i].id);

		if (f == PROF_NONE) {
			buf_uleb(out, 0);
			continue;
		}
		buf_uleb(out, 1 + (f < prev ? (prev - f) * 2 - 1
					    : (f - prev) * 2));
		prev = f;
	}
}

void section_put_places(struct buf *out, const struct profile *p)
{
	size_t all = p->loc_frame.n < p->locs.n ? p->loc_frame.n : p->locs.n;

	for (size_t first = 0; first < all; first += PLACES) {
		size_t n = all - first < PLACES ? all - first : PLACES;
		struct buf body = { 0 };
		uint32_t crc = 0;
		struct place *v = places_sort(p, first, first + n, &crc);

		body.failed = !v;
		buf_uleb(&body, first);
		buf_uleb(&body, n);
		buf_u32(&body, crc);
		if (v)
			put_frames(&body, p, v, n);
		section_put(out, SECTION_PLACES, &body);
		buf_fini(&body);
		free(v);
	}
}

static bool get_frames(struct profile *p, struct cursor *c,
		       const struct place *v, size_t n)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t z = cursor_uleb(c);

		if (!z)
			continue;
		z--;
		prev += z & 1 ? -(z / 2 + 1) : z / 2;
		if (c->bad || prev >= PROF_NONE)
			return false;
		p->loc_frame.v[v[i].id] = (uint32_t)prev;
	}
	return !c->bad;
}

bool section_get_places(struct profile *p, struct cursor *c)
{
	uint64_t first = cursor_uleb(c), n = cursor_uleb(c);
	uint32_t crc = cursor_u32(c), own = 0;
	/* what sorting takes for a while */
	uint64_t charge = n < UINT32_MAX ? n * (3 * sizeof(struct place)) : 0;
	struct place *v;
	bool good;

	/* one byte each at least */
	if (c->bad || n > cursor_left(c) || first > p->locs.n || !n ||
	    n > p->locs.n - first || first < p->loc_frame.n ||
	    profile_reserve(p, &p->loc_frame, (size_t)(first + n)) < 0 ||
	    !profile_charge(p, charge))
		return false;
	while (p->loc_frame.n < first + n)
		p->loc_frame.v[p->loc_frame.n++] = PROF_NONE;
	v = places_sort(p, (size_t)first, (size_t)(first + n), &own);
	good = v && own == crc && get_frames(p, c, v, (size_t)n);
	if (!good)
		for (size_t i = (size_t)first; i < p->loc_frame.n; i++)
			p->loc_frame.v[i] = PROF_NONE;
	free(v);
	profile_uncharge(p, charge);
	return good;
}
