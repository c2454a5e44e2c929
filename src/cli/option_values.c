// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses values of options: see options.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "cli/options.h"

int option_uint(const char *name, const char *text, uint64_t *out,
		struct error *err)
{
	static const struct {
		const char *suffix;
		uint64_t factor;
	} units[] = {
		{ "", 1 },	    { "k", 1000 },	 { "K", 1000 },
		{ "M", 1000000 },   { "m", 1000000 },	 { "G", 1000000000 },
		{ "g", 1000000000 },
	};
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return error_set(err, ERR_USAGE,
				 "%s '%s': not a whole number", name, text);
	errno = 0;
	v = strtoull(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		if (errno || v > UINT64_MAX / units[i].factor)
			return error_set(err, ERR_USAGE,
					 "%s '%s': too large", name, text);
		*out = v * units[i].factor;
		return 0;
	}
	return error_set(err, ERR_USAGE,
			 "%s '%s': not a number with an optional k, M or G",
			 name, text);
}

int option_rate(const char *name, const char *text, uint64_t *out,
		struct error *err)
{
	if (!strcmp(text, "max")) {
		*out = UINT64_MAX;
		return 0;
	}
	return option_uint(name, text, out, err);
}

static int parse_double(const char *text, double *v, char **end)
{
	/* reject hexadecimal numbers, "inf" and "nan", which strtod accepts */
	if (strspn(text, "0123456789.") == 0 || text[1] == 'x' ||
	    text[1] == 'X')
		return -ERR_USAGE;
	*v = strtod(text, end);
	return *end == text || !isfinite(*v) ? -ERR_USAGE : 0;
}

int option_double(const char *name, const char *text, double *out,
		  struct error *err)
{
	char *end;
	double v;

	if (parse_double(text, &v, &end) < 0 || *end)
		return error_set(err, ERR_USAGE, "%s '%s': not a number",
				 name, text);
	*out = v;
	return 0;
}

int option_duration(const char *name, const char *text, enum opt_kind kind,
		    double *out, struct error *err)
{
	bool bare;

	/* perf's value for "start disabled". */
	if (kind == OPT_DELAY && !strcmp(text, "-1")) {
		*out = -1;
		return 0;
	}
	if (!duration_parse(text, strlen(text), out, &bare))
		return error_set(err, ERR_USAGE,
				 "%s '%s': not a time: use a number with ms, "
				 "s, m or h", name, text);
	if (bare && kind == OPT_MILLIS)
		*out /= 1000;
	/* A delay of ten seconds or more is rare, but perf's users often give ten
	 * or more milliseconds. */
	if (bare && *out > 0 && (kind == OPT_UNIT ||
				 (kind == OPT_DELAY && *out >= 10)))
		return error_set(err, ERR_USAGE,
				 "%s %s: %s milliseconds, as perf reads it, or "
				 "%s seconds? Write %sms or %ss", name, text,
				 text, text, text, text);
	return 0;
}
