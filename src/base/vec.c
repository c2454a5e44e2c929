// SPDX-License-Identifier: GPL-2.0-or-later
/* Grows vectors: see vec.h. */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

int vec_reserve_raw(void *vec_ptr, size_t *cap, size_t want, size_t size)
{
	size_t c = vec_capacity(*cap, want);
	void *old, *p;

	if (want <= *cap)
		return 0;
	if (c > SIZE_MAX / size)
		return -ERR_NOMEM;
	memcpy(&old, vec_ptr, sizeof(old));
	p = realloc(old, c * size);
	if (!p)
		return -ERR_NOMEM;
	memcpy(vec_ptr, &p, sizeof(p));
	*cap = c;
	return 0;
}
