// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions of the functions that a unit is in. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "disasm/disasm.h"
#include "views/annotate/annotate.h"
#include "compare/insn_tokens.h"

enum {
	CODES_MAX = 1000,	/* codes of one unit */
	INSNS_MAX = 4 << 20,	/* instructions of all units */
	INSN_BYTES = 256,	/* memory of one, with its text and row of output */
};

size_t annotate_max_insns(uint64_t max_memory)
{
	return max_memory / INSN_BYTES < INSNS_MAX
		? (size_t)(max_memory / INSN_BYTES) : INSNS_MAX;
}

/* Returns the code of a symbol from by_code. */
static const struct prof_code *stored_code(const struct annotation *a,
					   const struct prof_symbol *s)
{
	const struct profile *p = a->p;
	const struct prof_code *c = p->codes.v;
	size_t at;

	lower_bound(at, 0, p->codes.n,
		    place_compare(c[a->by_code[at]].image,
				  c[a->by_code[at]].vaddr, s->image,
				  s->vaddr) < 0);
	c = at < p->codes.n ? &p->codes.v[a->by_code[at]] : NULL;
	return c && c->image == s->image && c->vaddr == s->vaddr &&
	       c->offset <= p->code_bytes.n &&
	       c->size <= p->code_bytes.n - c->offset ? c : NULL;
}

/* Returns the index of the first sorted location at or after vaddr. */
static size_t first_loc(const struct annotation *a, uint32_t image,
			uint64_t vaddr)
{
	const struct annot_loc *l = a->locs.v;
	size_t at;

	lower_bound(at, 0, a->locs.n,
		    place_compare(l[at].image, l[at].vaddr, image, vaddr) < 0);
	return at;
}

/* Returns the index in by_line of the row that covers vaddr, or SIZE_MAX. */
static size_t find_row(const struct annotation *a, uint32_t image,
		       uint64_t vaddr)
{
	const struct prof_line *l = a->p->lines.v;
	size_t end;

	lower_bound(end, 0, a->p->lines.n,
		    place_compare(l[a->by_line[end]].image,
				  l[a->by_line[end]].vaddr, image, vaddr) <= 0);
	if (!end)
		return SIZE_MAX;
	return l[a->by_line[end - 1]].image == image ? end - 1 : SIZE_MAX;
}

struct coder {
	struct annotation *a;
	struct annot_code *code;
	const struct prof_symbol *sym;
	struct disasm *d;
	size_t loc;		/* next index in a->locs */
};

/* Returns the frame of an instruction: from a sample in it, or from the line
 * table. */
static uint32_t insn_frame(struct coder *k, const struct disasm_insn *in)
{
	const struct annotation *a = k->a;
	size_t row;

	if (k->loc < a->locs.n && a->locs.v[k->loc].image == k->sym->image &&
	    a->locs.v[k->loc].vaddr - in->vaddr < in->size)
		return profile_loc_frame(a->p, a->locs.v[k->loc].loc);
	row = find_row(a, k->sym->image, in->vaddr);
	return row == SIZE_MAX ? PROF_NONE
			       : a->p->lines.v[a->by_line[row]].frame;
}

static int add_insn(struct coder *k, const struct disasm_insn *in,
		    const char *text)
{
	struct annotation *a = k->a;
	struct annot_insn row = { .vaddr = in->vaddr, .target = in->target,
				  .text = (uint32_t)a->text.n,
				  .jump = PROF_NONE, .size = in->size,
				  .flow = in->flow, .bad = in->bad,
				  .has_target = in->has_target,
				  .has_data = in->has_data,
				  .cost = annotate_cost_row(a) };

	row.frame = insn_frame(k, in);
	buf_bytes(&a->text, text, strlen(text) + 1);
	if (row.cost == SIZE_MAX || a->text.failed || a->text.n > UINT32_MAX ||
	    vec_push(&a->insns, row) < 0)
		return -ERR_NOMEM;
	for (; k->loc < a->locs.n &&
	       a->locs.v[k->loc].image == k->sym->image &&
	       a->locs.v[k->loc].vaddr - in->vaddr < in->size; k->loc++)
		annotate_add(a, row.cost, a->locs.v[k->loc].loc, false);
	return 0;
}

static int decode(struct coder *k, const struct prof_code *c)
{
	const uint8_t *p = k->a->p->code_bytes.p + c->offset;
	char text[DISASM_TEXT_MAX];
	struct disasm_insn in;
	int rc = 0;

	k->loc = first_loc(k->a, c->image, c->vaddr);
	for (size_t at = 0; !rc && at < c->size; at += in.size) {
		if (k->a->insns.n >= k->a->max_insns) {
			k->code->missing = "more than the limit of memory "
					   "allows (--max-memory)";
			break;
		}
		disasm_next(k->d, p + at, c->size - at, c->vaddr + at, &in,
			    text);
		rc = add_insn(k, &in, text);
	}
	k->code->ninsns = k->a->insns.n - k->code->insn;
	return rc;
}

static uint32_t find_insn(const struct annot_insn *v, size_t n, uint64_t vaddr)
{
	size_t at;

	lower_bound(at, 0, n, v[at].vaddr < vaddr);
	return at < n && v[at].vaddr == vaddr ? (uint32_t)at : PROF_NONE;
}

static uint32_t low(const struct annot_jump *j)
{
	return j->from < j->to ? j->from : j->to;
}

static uint32_t high(const struct annot_jump *j)
{
	return j->from < j->to ? j->to : j->from;
}

static int shorter(const void *x, const void *y)
{
	const struct annot_jump *a = x, *b = y;
	uint32_t m = high(a) - low(a), n = high(b) - low(b);

	return ascending(m, n) ?: ascending(a->from, b->from);
}

/* Assigns lanes to jumps.  Short jumps are near the code, and overlapping jumps
 * have different lanes.  A jump without a free lane is shown by its target's
 * address only. */
static int set_lanes(struct annot_jump *v, size_t n, size_t ninsns)
{
	uint8_t *used = calloc(ninsns + 1, 1);	/* bits of used lanes, by instruction */

	if (!used)
		return -ERR_NOMEM;
	sort_rows(v, n, shorter);
	for (size_t i = 0; i < n; i++) {
		uint8_t taken = 0;
		uint32_t k;

		v[i].lane = ANNOT_LANES;
		if (high(&v[i]) - low(&v[i]) > 1000)
			continue;
		for (k = low(&v[i]); k <= high(&v[i]); k++)
			taken |= used[k];
		for (uint8_t l = 0; l < ANNOT_LANES; l++)
			if (!(taken >> l & 1)) {
				v[i].lane = l;
				break;
			}
		for (k = low(&v[i]); v[i].lane < ANNOT_LANES &&
				     k <= high(&v[i]); k++)
			used[k] |= (uint8_t)(1u << v[i].lane);
	}
	free(used);
	return 0;
}

static int find_jumps(struct annotation *a, struct annot_code *c)
{
	struct annot_insn *v = a->insns.v + c->insn;

	c->jump = a->jumps.n;
	for (size_t i = 0; i < c->ninsns; i++) {
		struct annot_jump j = { .from = (uint32_t)i };

		if (!v[i].has_target || (v[i].flow != FLOW_JUMP &&
					 v[i].flow != FLOW_BRANCH))
			continue;
		j.to = find_insn(v, c->ninsns, v[i].target);
		if (j.to == PROF_NONE)
			continue;
		v[i].jump = j.to;
		j.loop = j.to <= j.from;
		if (vec_push(&a->jumps, j) < 0)
			return -ERR_NOMEM;
	}
	c->njumps = a->jumps.n - c->jump;
	return c->njumps ? set_lanes(a->jumps.v + c->jump, c->njumps, c->ninsns)
			 : 0;
}

static int add_code(struct annotation *a, struct annot_code *c)
{
	const struct prof_symbol *s = &a->p->symbols.v[c->symbol];
	const struct prof_code *bytes = stored_code(a, s);
	uint16_t machine = insn_machine(a->p, s->image);
	struct coder k = { .a = a, .code = c, .sym = s };
	int rc;

	c->insn = a->insns.n;
	c->unknown = !bytes;
	if (!bytes && a->p->images.v[s->image].kind == PROF_IMAGE_KERNEL)
		c->missing = "kernel code is not available: record as root on "
			     "a machine with /proc/kcore, or use its vmlinux "
			     "(-k)";
	else if (!bytes)
		c->missing = "the recording does not contain its code: too few "
			     "samples, or its file could not be read";
	else if (!machine)
		c->missing = "the recording does not say for which machine its "
			     "code is: 'tally symbolize' adds that";
	else if (!disasm_knows(machine))
		c->missing = disasm_knows(EM_X86_64)
			? "only code of x86 can be disassembled: source only"
			: "this tally was built without Zydis, which "
			  "disassembles: source only";
	if (c->missing)
		return 0;
	rc = disasm_open(machine, a->spec.intel ? SYNTAX_INTEL : SYNTAX_ATT, &k.d,
			 NULL) ?:
	     decode(&k, bytes);
	disasm_close(k.d);
	return rc ? rc : find_jumps(a, c);
}

struct hot_code {
	uint32_t symbol;
	uint64_t weight;
	size_t total;
};

static int hotter(const void *x, const void *y)
{
	const struct hot_code *a = x, *b = y;

	return descending(a->weight, b->weight) ?:
	       ascending(a->symbol, b->symbol);
}

/* Collects the functions that the unit's samples are in, with all their
 * samples. */
static int hit_codes(struct annotation *a, const struct annot_unit *u,
		     struct hot_code **out, size_t *n)
{
	const size_t *unit = &a->in_unit.first[u - a->units.v];
	struct u64map tab = { 0 };
	VEC(struct hot_code) v = { 0 };
	int rc = 0;

	for (size_t i = unit[0]; !rc && i < unit[1]; i++) {
		const struct annot_loc *l = &a->locs.v[a->in_unit.v[i].loc];
		uint32_t *slot;

		if (l->symbol == PROF_NONE)
			continue;
		slot = u64map_slot(&tab, l->symbol);
		if (slot && *slot == U64MAP_NONE) {
			struct hot_code h = { l->symbol, 0, annotate_cost_row(a) };

			*slot = (uint32_t)v.n;
			if (h.total == SIZE_MAX || vec_push(&v, h) < 0)
				slot = NULL;
		}
		if (!slot)
			rc = -ERR_NOMEM;
		for (size_t c = 0; !rc && c < a->ncols; c++)
			v.v[*slot].weight += a->loc_cells[
				(size_t)l->loc * a->ncols + c].weight;
	}
	for (size_t k = 0; !rc && k < v.n; k++) {
		const size_t *all = &a->in_symbol.first[v.v[k].symbol];

		for (size_t i = all[0]; i < all[1]; i++)
			annotate_add(a, v.v[k].total,
				     a->locs.v[a->in_symbol.v[i].loc].loc,
				     false);
	}
	u64map_fini(&tab);
	*out = v.v;
	*n = v.n;
	return rc;
}

int annotate_codes(struct annotation *a, struct annot_unit *u)
{
	struct hot_code *v = NULL;
	size_t n = 0;
	int rc = 0;

	u->code = a->codes.n;
	if (!a->spec.code)
		return 0;
	rc = hit_codes(a, u, &v, &n);
	if (!rc)
		sort_rows(v, n, hotter);
	for (size_t i = 0; !rc && i < n && i < CODES_MAX; i++) {
		struct annot_code c = { .symbol = v[i].symbol,
					.total = v[i].total };

		rc = add_code(a, &c) ?: vec_push(&a->codes, c);
	}
	u->ncodes = a->codes.n - u->code;
	free(v);
	return rc;
}

const char *annot_skid(const struct prof_event *e)
{
	if (prof_is_wait(e))
		return "exact: where the thread left its processor, and for "
				"how long";
	if (prof_is_waking(e))
		return "where a thread woke another one, and how long that one "
		       "had waited";
	if (prof_is_latency(e))
		return "wall-clock time: of a sample what its thread has since the "
		       "one before, of a wait what no thread ran of it";
	switch (e->precise) {
	case 3:
		return "precise: samples are at the exact instruction";
	case 2:
		return "precise: samples are at the very instruction where the "
		       "processor can (precise_ip 2)";
	case 1:
		return "samples are a constant distance after the instruction, "
		       "mostly at the next one (precise_ip 1)";
	}
	if (e->type == 1)	/* PERF_TYPE_SOFTWARE */
		return "timer interrupts: samples are where the program was "
		       "stopped, at or an unknown number of instructions after "
		       "the one that took the time";
	return "not precise: samples are an unknown number of instructions "
	       "after the one that caused the event (often tens)";
}
