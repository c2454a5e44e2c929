// SPDX-License-Identifier: GPL-2.0-or-later
/* Time slices: see timeslice.h. */
#include "views/timeslice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *suffix;
	double ns;
} units[] = {
	{ "ns", 1 },	 { "us", 1e3 },	   { "ms", 1e6 }, { "s", 1e9 },
	{ "m", 60e9 },	 { "min", 60e9 },  { "h", 3600e9 }, { "", 1e9 },
};

struct span_ns {
	uint64_t start, end;
};

static int usage(const char *text, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "--time '%s': want START,END in seconds since the "
			 "recording began (1.5,3 or 200ms,1s) or in %% of it "
			 "(10%%,20%%)", text);
}

/* One side of the slice in word[0..n). */
static int parse_side(const char *word, size_t n, struct span_ns whole,
		      uint64_t *out)
{
	char buf[40], *end;
	double v;

	if (n >= sizeof(buf))
		return -ERR_USAGE;
	memcpy(buf, word, n);
	buf[n] = 0;
	v = strtod(buf, &end);
	if (end == buf || !isfinite(v) || v < 0)
		return -ERR_USAGE;
	if (!strcmp(end, "%")) {
		if (!whole.end)
			return -ERR_NOTFOUND;
		v = v / 100 * (double)(whole.end - whole.start);
		*out = v < 1e18 ? whole.start + (uint64_t)llround(v)
				: UINT64_MAX;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		v *= units[i].ns;
		*out = v < 1e18 ? whole.start + (uint64_t)llround(v)
				: UINT64_MAX;
		return 0;
	}
	return -ERR_USAGE;
}

int timeslice_parse(const char *text, uint64_t start_ns, uint64_t end_ns,
		    uint64_t *from, uint64_t *to, struct error *err)
{
	struct span_ns whole = { start_ns,
				 end_ns > start_ns ? end_ns : 0 };
	const char *comma = strchr(text, ',');
	int rc = 0;

	*from = 0;
	*to = UINT64_MAX;
	/* perf writes a slice in percent as 10%-20% */
	if (!comma && strstr(text, "%-"))
		comma = strstr(text, "%-") + 1;
	if (!comma)
		return usage(text, err);
	if (comma > text)
		rc = parse_side(text, (size_t)(comma - text), whole, from);
	if (!rc && comma[1])
		rc = parse_side(comma + 1, strlen(comma + 1), whole, to);
	if (rc == -ERR_NOTFOUND)
		return error_set(err, ERR_USAGE,
				 "--time '%s': the file does not say when the "
				 "recording ended; give seconds instead of %%",
				 text);
	if (rc < 0)
		return usage(text, err);
	if (*from >= *to)
		return error_set(err, ERR_USAGE,
				 "--time '%s': the slice ends before it starts",
				 text);
	return 0;
}
