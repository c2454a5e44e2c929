// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses durations and sizes: see duration.h. */
#include "base/duration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { LONGEST = 40 };

static const struct {
	const char *name;
	double seconds;
} units[] = {
	{ "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
	{ "m", 60 },	{ "min", 60 },	{ "h", 3600 },	{ "", 1 },
};

bool duration_parse(const char *text, size_t n, double *seconds, bool *bare)
{
	char copy[LONGEST];
	size_t digits;
	double v;

	if (n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = 0;
	/* strtod(3) also accepts signs, exponents, hex, "inf" and "nan". */
	digits = strspn(copy, "0123456789.");
	if (!strspn(copy + strspn(copy, "."), "0123456789"))
		return false;
	for (size_t i = 0; i < COUNT(units); i++) {
		char *end;

		if (strcmp(copy + digits, units[i].name) != 0)
			continue;
		copy[digits] = 0;
		v = strtod(copy, &end);
		if (*end || !isfinite(v))
			return false;
		*bare = !*units[i].name;
		*seconds = v * units[i].seconds;
		return true;
	}
	return false;
}

bool size_parse(const char *text, uint64_t *bytes)
{
	static const char letters[] = "BKMG";
	unsigned long long n;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(letters, *end) : NULL;
	if (errno || !unit || end[1] || !n || n > UINT64_MAX >> 30)
		return false;
	*bytes = (uint64_t)n << 10 * (unit - letters);
	return true;
}
