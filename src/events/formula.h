/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_FORMULA_H
#define TALLY_EVENTS_FORMULA_H
/*
 * Formulas of metrics: numbers, names, + - * / and parentheses.  What is shown
 * to the user is what is computed.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct formula_name {
	const char *name;
	double value;
};

/* A division by zero gives NaN: there is no such ratio. */
int formula_eval(const char *text, const struct formula_name *names, size_t n,
		 double *out, struct error *err);
/* Does `name` occur in it? */
bool formula_uses(const char *text, const char *name);

#endif
