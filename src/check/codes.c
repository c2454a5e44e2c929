// SPDX-License-Identifier: GPL-2.0-or-later
/* Code of functions: see codes.h. */
#include "check/codes.h"

#include <stdlib.h>

#include "base/error.h"

int check_codes_init(struct check_codes *x, const struct check_runs *runs)
{
	*x = (struct check_codes){ .runs = runs };
	for (int s = 0; s < 2; s++)
		x->code[s] = calloc(runs->funcs.n + 1, sizeof(*x->code[s]));
	x->symbols = calloc(runs->files.n + 1, sizeof(*x->symbols));
	return x->code[0] && x->code[1] && x->symbols ? 0 : -ERR_NOMEM;
}

void check_codes_fini(struct check_codes *x)
{
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; x->code[s] && i < x->runs->funcs.n; i++)
			code_runs_fini(&x->code[s][i].runs);
		free(x->code[s]);
	}
	for (size_t i = 0; x->symbols && i < x->runs->files.n; i++)
		symbol_index_fini(&x->symbols[i]);
	free(x->symbols);
}

const struct code_runs *check_code_of(struct check_codes *x, uint32_t func,
				      enum check_side side)
{
	const struct check_runs *runs = x->runs;
	struct func_code *code = &x->code[side][func];
	uint32_t before = check_func_before(runs, func);
	const char *name = check_str(runs, runs->funcs.v[
		side == CHECK_BASE && before != PROF_NONE ? before : func].name);

	for (size_t i = 0; !code->asked && i < runs->files.n; i++) {
		const struct check_file *f = &runs->files.v[i];
		int rc;

		if (f->side != side)
			continue;
		if (!x->symbols[i].v &&
		    symbol_index_init(&x->symbols[i], f->p) < 0) {
			x->failed = true;
			break;
		}
		rc = code_runs_of(f->p, name, x->symbols[i].v, &code->runs);
		x->failed |= rc < 0;
		code->known = !rc;
		if (rc <= 0)
			break;
	}
	code->asked = true;
	return code->known ? &code->runs : NULL;
}
