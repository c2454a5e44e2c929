// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses time slices. */
#include "views/query/timeslice.h"

#include <math.h>
#include <string.h>

#include "base/duration.h"

struct span_ns {
	uint64_t start, end;
};

static int usage(const char *text, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "--time '%s': use START,END in seconds since the "
			 "start of the recording (1.5,3 or 200ms,1s) or in %% "
			 "of it "
			 "(10%%,20%%)", text);
}

/* Parses one side of the slice from word[0..n). */
static int parse_side(const char *word, size_t n, struct span_ns whole,
		      uint64_t *out)
{
	bool share = n && word[n - 1] == '%', bare;
	double v;

	if (!duration_parse(word, n - share, &v, &bare) || (share && !bare))
		return -ERR_USAGE;
	if (share && !whole.end)
		return -ERR_NOTFOUND;
	v *= share ? (double)(whole.end - whole.start) / 100 : 1e9;
	*out = v < 1e18 ? whole.start + (uint64_t)llround(v) : UINT64_MAX;
	return 0;
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
