// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and evaluates formulas of metrics. */
#include "events/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct formula {
	const char *text, *at;
	const struct formula_name *names;
	size_t n;
	int depth;
	struct error *err;
};

static int series_parse(struct formula *f, bool sum, double *out);

static int bad(struct formula *f, const char *what)
{
	return error_set(f->err, ERR_FORMAT, "formula \"%s\": %s at \"%s\"",
			 f->text, what, f->at);
}

static void blanks_skip(struct formula *f)
{
	while (*f->at == ' ')
		f->at++;
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s))
		return 0;
	while (isalnum((unsigned char)s[n]))
		n++;
	return n;
}

/* Parses digits with at most one point.  strtod(3) would accept "inf" and depend
 * on the locale. */
static bool number_parse(struct formula *f, double *out)
{
	double value = 0, unit = 1;
	const char *s = f->at;

	if (!isdigit((unsigned char)*s))
		return false;
	while (isdigit((unsigned char)*s))
		value = value * 10 + (*s++ - '0');
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++) {
			unit /= 10;
			value += (*s - '0') * unit;
		}
	f->at = s;
	*out = value;
	return true;
}

static int atom_parse(struct formula *f, double *out)
{
	size_t n;
	int r;

	blanks_skip(f);
	if (*f->at == '(') {
		if (++f->depth > DEPTH_MAX)
			return bad(f, "too many parentheses");
		f->at++;
		r = series_parse(f, true, out);
		if (!r && *f->at != ')')
			r = bad(f, "a ) is missing");
		f->depth--;
		f->at += !r;
		return r;
	}
	if (number_parse(f, out))
		return 0;
	n = name_length(f->at);
	for (size_t i = 0; n && i < f->n; i++)
		if (strlen(f->names[i].name) == n &&
		    !memcmp(f->names[i].name, f->at, n)) {
			*out = f->names[i].value;
			f->at += n;
			return 0;
		}
	return bad(f, n ? "unknown name" : "a number or name is missing");
}

static double combine(char op, double a, double b)
{
	switch (op) {
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	}
	return b == 0 ? NAN : a / b;
}

/* Parses a sum of products, or (`sum` false) a product of atoms. */
static int series_parse(struct formula *f, bool sum, double *out)
{
	int r = sum ? series_parse(f, false, out) : atom_parse(f, out);

	while (!r) {
		double v;
		char op;

		blanks_skip(f);
		op = *f->at;
		if (!op || !strchr(sum ? "+-" : "*/", op))
			break;
		f->at++;
		r = sum ? series_parse(f, false, &v) : atom_parse(f, &v);
		if (!r)
			*out = combine(op, *out, v);
	}
	return r;
}

int formula_eval(const char *text, const struct formula_name *names, size_t n,
		 double *out, struct error *err)
{
	struct formula f = { text, text, names, n, 0, err };
	int r = series_parse(&f, true, out);

	if (!r && *f.at)
		r = bad(&f, "an operator is missing");
	return r;
}

bool formula_uses(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (*text) {
		size_t k = name_length(text);

		if (k == n && !memcmp(text, name, n))
			return true;
		text += k ? k : 1;
	}
	return false;
}
