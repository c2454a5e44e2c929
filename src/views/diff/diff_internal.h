/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_INTERNAL_H
#define TALLY_VIEWS_DIFF_DIFF_INTERNAL_H
/* Functions shared by the source files of a diff. */
#include "base/json.h"
#include "views/diff/diff.h"
#include "views/query/names.h"

/* diff_norm.c: pairs events and chooses the divisor of costs. */
int diff_columns(struct diff *d, struct error *err);
int diff_normalise(struct diff *d, struct error *err);

/* Chooses the unit in which a column's costs are shown; `most` is the
 * largest. */
void diff_choose_unit(struct diff *d, size_t col, double most);
/* Writes the member "header" of the open object. */
void diff_json_header(const struct diff *d, struct json *j);

#endif
