/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_CODES_H
#define TALLY_CHECK_CODES_H
/* What functions of the recordings are made of, read when it is asked for. */
#include "check/runs.h"
#include "check/symbols.h"
#include "views/code_like.h"

struct func_code {
	struct code_runs runs;
	bool asked, known;
};

struct check_codes {
	const struct check_runs *runs;	/* borrowed */
	struct func_code *code[2];	/* by enum check_side and function */
	struct symbol_index *symbols;	/* by file */
	bool failed;			/* out of memory */
};

/* 0 or -ERR_NOMEM; to be ended either way. */
int check_codes_init(struct check_codes *x, const struct check_runs *runs);
void check_codes_fini(struct check_codes *x);
/* The code of a function in the first recording of a side that holds it, in the
 * baseline by the name that it had there; NULL: none does, or x->failed. */
const struct code_runs *check_code_of(struct check_codes *x, uint32_t func,
				      enum check_side side);

#endif
