// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts instructions to tokens that do not depend on addresses. */
#include "compare/insn_tokens.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "disasm/disasm.h"
#include "profile/symbol_order.h"

enum { INSNS_MAX = 1 << 18 };	/* instructions of one function */

uint16_t insn_machine(const struct profile *p, uint32_t image)
{
	const struct image_debug_info *s = profile_source(p, image);
	const char *arch = profile_fact(p, "arch");

	if (s && s->machine)
		return (uint16_t)s->machine;
	if (!prof_is_kernel(&p->images.v[image]) &&
	    p->images.v[image].kind != PROF_IMAGE_VDSO)
		return 0;
	return !strcmp(arch, "x86_64") ? EM_X86_64
	       : !strcmp(arch, "aarch64") ? EM_AARCH64 : 0;
}

void insn_normalize(const char *text, uint64_t target, const char *name,
		    struct buf *out)
{
	char number[32];
	size_t n = (size_t)snprintf(number, sizeof(number), "0x%llx",
				    (unsigned long long)target);
	const char *at = strstr(text, number);

	if (!at) {
		buf_str(out, text);
		return;
	}
	buf_bytes(out, text, (size_t)(at - text));
	buf_u8(out, '@');
	buf_str(out, name);
	buf_str(out, at + n);
}

static const struct prof_code *find_code(const struct profile *p,
					 const struct prof_symbol *s)
{
	for (size_t i = 0; i < p->codes.n; i++) {
		const struct prof_code *c = &p->codes.v[i];

		if (c->image == s->image && c->vaddr == s->vaddr &&
		    c->offset <= p->code_bytes.n &&
		    c->size <= p->code_bytes.n - c->offset)
			return c;
	}
	return NULL;
}

struct wording {
	const struct profile *p;
	const struct prof_symbol *s, *by_address;
	struct strtab *tokens;
	struct insn_tokens *out;
	struct buf text;
};

static int add(struct wording *w, const struct disasm_insn *in,
	       const char *text)
{
	const struct prof_symbol *to = NULL;
	uint32_t full, weak;

	buf_reset(&w->text);
	if ((in->has_target || in->has_data) &&
	    in->target - w->s->vaddr >= w->s->size)
		to = symbols_find(w->by_address, w->p->symbols.n, w->s->image,
				  in->target);
	if (in->has_target || in->has_data)
		insn_normalize(text, in->target,
			       to ? profile_cstr(w->p, to->name) : "",
			       &w->text);
	else
		buf_str(&w->text, text);
	full = strtab_add(w->tokens, buf_cstr(&w->text));
	weak = strtab_add_n(w->tokens, text, strcspn(text, " "));
	return w->text.failed || full == UINT32_MAX || weak == UINT32_MAX ||
	       vec_push(&w->out->offset, in->vaddr - w->s->vaddr) < 0 ||
	       vec_push(&w->out->full, full) < 0 ||
	       vec_push(&w->out->weak, weak) < 0 ? -ERR_NOMEM : 0;
}

int insn_tokens(const struct profile *p, const struct prof_symbol *s,
		const struct prof_symbol *by_address, struct strtab *tokens,
		struct insn_tokens *out)
{
	const struct prof_code *c = find_code(p, s);
	struct wording w = { p, s, by_address, tokens, out, { 0 } };
	uint16_t machine = insn_machine(p, s->image);
	struct disasm *d = NULL;
	int rc = 0;

	*out = (struct insn_tokens){ .offset = { 0 } };
	if (!c || !machine || !disasm_knows(machine) ||
	    disasm_open(machine, SYNTAX_INTEL, &d, NULL) < 0)
		return 1;
	for (size_t at = 0, n = 0; !rc && at < c->size && n < INSNS_MAX; n++) {
		char text[DISASM_TEXT_MAX];
		struct disasm_insn in;

		disasm_next(d, p->code_bytes.p + c->offset + at, c->size - at,
			    c->vaddr + at, &in, text);
		at += in.size;
		rc = add(&w, &in, text);
	}
	disasm_close(d);
	buf_fini(&w.text);
	if (rc)
		insn_tokens_fini(out);
	return rc;
}

void insn_tokens_fini(struct insn_tokens *w)
{
	vec_fini(&w->offset);
	vec_fini(&w->full);
	vec_fini(&w->weak);
}
