// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the addresses in hot code: the functions that it calls or takes the
 * address of. */
#include "disasm/disasm.h"
#include "profile/symbolize_internal.h"

struct targets {
	struct symbolize_run *f;
	const struct symbolize_item *part;
	struct symbolizer *s;
	struct disasm *d;
};

static int add_target(struct targets *t, uint64_t vaddr)
{
	struct sym_result r = { .vaddr = vaddr };

	if (!symbolizer_extent(t->s, vaddr, &r.symbol, &r.sym_start,
			       &r.sym_size) ||
	    !*r.symbol || vaddr - r.sym_start >= r.sym_size)
		return 0;
	return symbolize_add_symbol(t->f, t->part->image, &r, 0);
}

static int add_code(struct targets *t, const struct symbolize_code *c)
{
	const struct prof_symbol s = t->f->p->symbols.v[c->symbol];
	struct disasm_insn in;
	int rc = 0;

	for (size_t at = 0; !rc && at < c->size; at += in.size) {
		disasm_next(t->d, t->f->bytes.p + c->offset + at, c->size - at,
			    s.vaddr + at, &in, NULL);
		if ((in.has_target || in.has_data) &&
		    in.target - s.vaddr >= s.size)
			rc = add_target(t, in.target);
	}
	return rc;
}

int name_call_targets(struct symbolize_run *f,
		      const struct symbolize_item *part, struct symbolizer *s,
		      struct image *img, size_t first)
{
	struct targets t = { .f = f, .part = part, .s = s };
	int rc = 0;

	if (f->codes.n == first || !disasm_knows(image_machine(img)) ||
	    disasm_open(image_machine(img), SYNTAX_INTEL, &t.d, NULL) < 0)
		return 0;
	for (size_t i = first; !rc && i < f->codes.n; i++) {
		const struct symbolize_code *c = &f->codes.v[i];

		if (symbolize_is_hot(f, c->self_samples, c->size))
			rc = add_code(&t, c);
	}
	disasm_close(t.d);
	return rc ? symbolize_nomem(f) : 0;
}
