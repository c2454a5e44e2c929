/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_FORMULA_H
#define TALLY_EVENTS_FORMULA_H
/*
 * Formulas of metrics: numbers, names, + - * / and parentheses.  The formula
 * shown to the user is the one that is computed.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct formula_name {
	const char *name;
	double value;
};

/* Evaluates a formula.  Division by zero gives NaN. */
int formula_eval(const char *text, const struct formula_name *names, size_t n,
		 double *out, struct error *err);
/* Returns whether `name` occurs in the formula. */
bool formula_uses(const char *text, const char *name);

#endif
