// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates execution counts of instructions from samples per basic block. */
#include "export/block_counts.h"

#include "disasm/disasm.h"

enum { INSNS_MAX = 1 << 18 };	/* instructions of one function */

struct blocks {
	struct block_counts *out;
	uint64_t start, size;
	bool *leads;		/* by byte of the code: a block begins here */
};

/* Returns whether an instruction with this flow ends its block. */
static bool ends_block(uint8_t flow)
{
	return flow == FLOW_JUMP || flow == FLOW_BRANCH ||
	       flow == FLOW_RETURN || flow == FLOW_TRAP;
}

static int decode(struct blocks *b, struct disasm *d, const uint8_t *bytes)
{
	b->leads[0] = true;
	for (uint64_t at = 0; at < b->size && b->out->insns.n < INSNS_MAX;) {
		struct disasm_insn in;

		disasm_next(d, bytes + at, b->size - at, b->start + at, &in,
			    NULL);
		if (vec_push(&b->out->insns,
			     (struct insn_runs){ b->start + at, 0 }) < 0)
			return -ERR_NOMEM;
		at += in.size;
		if (ends_block(in.flow) && at < b->size)
			b->leads[at] = true;
		if (ends_block(in.flow) && in.has_target &&
		    in.target - b->start < b->size)
			b->leads[in.target - b->start] = true;
	}
	return 0;
}

/* Adds each sample to the instruction that contains its address. */
static void add_samples(struct blocks *b, const struct address_samples *samples,
			size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		while (k + 1 < b->out->insns.n &&
		       b->out->insns.v[k + 1].vaddr <= samples[i].vaddr)
			k++;
		b->out->insns.v[k].runs += (double)samples[i].count;
	}
}

static void average(struct blocks *b)
{
	struct insn_runs *v = b->out->insns.v;
	size_t n = b->out->insns.n;

	for (size_t first = 0, end; first < n; first = end) {
		double sum = v[first].runs;

		for (end = first + 1;
		     end < n && !b->leads[v[end].vaddr - b->start]; end++)
			sum += v[end].runs;
		for (size_t i = first; i < end; i++)
			v[i].runs = sum / (double)(end - first);
	}
}

int block_counts_fill(const struct profile *p, const struct prof_code *code,
		      uint16_t machine, const struct address_samples *samples,
		      size_t n, struct block_counts *out)
{
	struct blocks b = { .out = out, .start = code->vaddr };
	struct disasm *d = NULL;
	int rc;

	out->insns.n = 0;
	if (code->offset > p->code_bytes.n || !code->size ||
	    code->size > p->code_bytes.n - code->offset || !machine ||
	    !disasm_knows(machine))
		return 1;
	b.size = code->size;
	rc = disasm_open(machine, SYNTAX_INTEL, &d, NULL);
	if (rc < 0)
		return rc == -ERR_NOMEM ? rc : 1;
	b.leads = calloc(b.size, sizeof(*b.leads));
	rc = b.leads ? decode(&b, d, p->code_bytes.p + code->offset)
		     : -ERR_NOMEM;
	if (!rc) {
		add_samples(&b, samples, n);
		average(&b);
	}
	free(b.leads);
	disasm_close(d);
	return rc;
}

void block_counts_fini(struct block_counts *b)
{
	vec_fini(&b->insns);
}
