// SPDX-License-Identifier: GPL-2.0
/* Unwinds a stack frame by frame by rows, to its end: see walk_core.h. */
#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/string.h>
#else
#include <string.h>
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#endif

#include "walk_core.h"

enum { AX, DX, CX, BX, SI, DI, BP, SP, IP = 16, REGS = TALLY_COPY_REGS };

#define KNOWN_ALWAYS (1u << IP | 1u << SP)
/* A larger distance above the stack pointer means that the address lies below it. */
#define REACH (1ull << 63)
#define CALL_MAX 7		/* longest call instruction that is recognized,
				 * bytes */
#define POPPED_MAX 512		/* reach below rsp of slots that an epilogue has
				 * popped, bytes */

struct walk {
	const struct walk_map *maps;
	uint32_t nmaps;
	const struct walk_map *map;	/* map that was found last, or NULL */
	const struct walk_memory *mem;
	uint64_t bottom;		/* rsp at the start of the walk */
	uint64_t r[REGS];
	uint32_t known;
	bool exact;			/* rip is the address of an instruction,
					 * not a return address */
	uint64_t *pc;
	uint32_t n, max;
	enum tally_walk end;
};

/* Returns the last row at or below an address; the first row is at 0. */
static uint32_t row_find(const struct walk_page *p, uint16_t addr)
{
	uint32_t at = 0, n = p->nrows;

	while (n > 1) {
		uint32_t half = n / 2;

		if (p->starts[at + half] <= addr)
			at += half;
		n -= half;
	}
	return at;
}

static bool how_valid(uint8_t how, int32_t val)
{
	if (how >= TALLY_HOW_MEM)
		return how - TALLY_HOW_MEM < REGS;
	return how != TALLY_HOW_REG || (val >= 0 && val < REGS);
}

static bool rule_valid(const struct tally_rule *r)
{
	return r->cfa_reg < REGS && r->cfa_memory <= 1 && r->signal <= 1 &&
	       r->called <= 1 && !r->reserved &&
	       how_valid(r->ip, r->ip_val) && how_valid(r->sp, r->sp_val) &&
	       how_valid(r->bp, r->bp_val);
}

static bool word_valid(const struct walk_page *p, uint32_t w)
{
	switch (w & 7) {
	case TALLY_ROW_NONE:
	case TALLY_ROW_END:
		return !(w >> 3);
	case TALLY_ROW_RSP:
	case TALLY_ROW_RBP:
		return true;
	case TALLY_ROW_RULE:
		return w >> 3 < p->nrules;
	case TALLY_ROW_PLT:
		return !(w >> 7);
	case TALLY_ROW_BEGIN:
		return !(w >> 4);
	default:
		return false;
	}
}

bool walk_page_check(const struct walk_page *p)
{
	uint32_t i;

	if (!p->nrows || p->starts[0])
		return false;
	for (i = 0; i < p->nrows; i++)
		if ((i && p->starts[i] <= p->starts[i - 1]) ||
		    p->word[i] >= p->nwords)
			return false;
	for (i = 0; i < p->nwords; i++)
		if (!word_valid(p, p->words[i]))
			return false;
	for (i = 0; i < p->nrules; i++)
		if (!rule_valid(&p->rules[i]))
			return false;
	return true;
}

bool walk_maps_check(const struct walk_map *maps, uint32_t n, uint64_t end)
{
	uint64_t from = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (maps[i].start < from || maps[i].end <= maps[i].start ||
		    maps[i].end > end)
			return false;
		from = maps[i].end;
	}
	return true;
}

static bool stop(struct walk *w, enum tally_walk why)
{
	w->end = why;
	return false;
}

static bool read_word(struct walk *w, uint64_t addr, uint64_t *out)
{
	return addr - w->bottom < REACH &&
	       w->mem->read(w->mem->ctx, addr, out, sizeof(*out));
}

static bool map_find(struct walk *w, uint64_t at)
{
	uint32_t lo = 0, hi = w->nmaps;

	if (w->map && at >= w->map->start && at < w->map->end)
		return true;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->maps[mid].end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	w->map = lo < w->nmaps && at >= w->maps[lo].start ? &w->maps[lo] : NULL;
	return w->map;
}

/* Finds the unwind word at address `at`; *page receives the page with its rules. */
static bool word_find(struct walk *w, uint64_t at, uint32_t *word,
		      const struct walk_page **page)
{
	const struct walk_table *t;
	uint64_t number;

	if (!map_find(w, at) || !w->map->table)
		return stop(w, TALLY_WALK_NO_MAP);
	t = w->map->table;
	at += w->map->delta;
	number = (at - t->base) >> TALLY_PAGE_BITS;
	*page = number < t->pages ? READ_ONCE(t->page[number]) : NULL;
	if (!*page)
		return stop(w, TALLY_WALK_NO_PAGE);
	*word = (*page)->words[(*page)->word[row_find(*page, (uint16_t)at)]];
	return true;
}

/* Returns whether the bytes before `end` form a call (Intel SDM vol.  2A, CALL: E8
 * cd, FF /2 with each form of ModRM). */
static bool ends_in_call(const uint8_t *end)
{
	uint8_t two = end[-1], three = end[-2], six = end[-5];

	if (six == 0xe8)
		return true;
	if (end[-2] == 0xff && ((two & 0xf8) == 0xd0 ||
	    ((two & 0xf8) == 0x10 && two != 0x14 && two != 0x15)))
		return true;
	if (end[-3] == 0xff && (three == 0x14 ||
	    ((three & 0xf8) == 0x50 && three != 0x54)))
		return true;
	if (end[-4] == 0xff && end[-3] == 0x54)
		return true;
	if (end[-6] == 0xff && (six == 0x15 ||
	    ((six & 0xf8) == 0x90 && six != 0x94)))
		return true;
	return end[-7] == 0xff && (end[-6] == 0x94 || end[-6] == 0x14);
}

/* Returns whether a call precedes the return address.  If none does, the stack may
 * begin with this frame.  Go code with E8 behind the address is not accepted. */
static bool was_called(struct walk *w)
{
	uint8_t code[CALL_MAX + 1];
	uint64_t ra = w->r[IP];

	if (ra < w->map->start + CALL_MAX || ra >= w->map->end ||
	    !w->mem->read(w->mem->ctx, ra - CALL_MAX, code, sizeof(code)))
		return false;
	if (w->map->table->flags & TALLY_TABLE_GO && code[CALL_MAX] == 0xe8)
		return false;
	return ends_in_call(code + CALL_MAX);
}

static bool add_frame(struct walk *w, uint64_t pc)
{
	if (w->n == w->max)
		return stop(w, TALLY_WALK_TOO_DEEP);
	w->pc[w->n++] = pc;
	return true;
}

/* Returns whether the innermost function has already popped this slot, so that the
 * register holds the caller's value. */
static bool popped(const struct walk *w, uint64_t addr)
{
	return w->exact && addr < w->r[SP] && w->r[SP] - addr <= POPPED_MAX;
}

static bool step_word(struct walk *w, uint32_t word)
{
	uint64_t cfa, ra, bp = w->r[BP], at;
	int64_t bp_words = (int32_t)word >> 17;
	uint32_t kind = word & 7;

	if (kind == TALLY_ROW_PLT) {
		cfa = w->r[SP] + 8;
		cfa += (w->r[IP] & 15) >= (word >> 3 & 15) ? 8 : 0;
		bp_words = 0;
	} else if (kind == TALLY_ROW_RSP) {
		cfa = w->r[SP] + (uint64_t)(word >> 3 & 0x3fff) * 8;
	} else {
		if (!(w->known >> BP & 1))
			return stop(w, TALLY_WALK_REGISTER);
		cfa = bp + (uint64_t)(word >> 3 & 0x3fff) * 8;
	}
	if (!read_word(w, cfa - 8, &ra))
		return stop(w, TALLY_WALK_MEMORY);
	at = cfa + (uint64_t)bp_words * 8;
	if (bp_words && !popped(w, at) && !read_word(w, at, &bp))
		return stop(w, TALLY_WALK_MEMORY);
	if (!ra)
		return stop(w, TALLY_WALK_COMPLETE);
	if (cfa <= w->r[SP])
		return stop(w, TALLY_WALK_NO_PROGRESS);
	w->r[IP] = ra;
	w->r[SP] = cfa;
	w->r[BP] = bp;
	w->known &= KNOWN_ALWAYS | 1u << BP;
	w->known |= (uint32_t)!!bp_words << BP;
	w->exact = false;
	return true;
}

/* Computes the caller's value of a register.  Returns false if it is unavailable. */
static bool restore(struct walk *w, int reg, uint8_t how, int32_t val,
		    uint64_t cfa, uint64_t *out)
{
	uint64_t off = (uint64_t)(int64_t)val;

	switch (how) {
	case TALLY_HOW_SAME:
		*out = reg == SP ? cfa : w->r[reg];
		return reg == SP || w->known >> reg & 1;
	case TALLY_HOW_LOST:
		return false;
	case TALLY_HOW_CFA:
		if (!popped(w, cfa + off))
			return read_word(w, cfa + off, out);
		*out = w->r[reg];
		return w->known >> reg & 1;
	case TALLY_HOW_VAL:
		*out = cfa + off;
		return true;
	case TALLY_HOW_REG:
		*out = w->r[val];
		return w->known >> val & 1;
	default:
		how -= TALLY_HOW_MEM;
		return w->known >> how & 1 && read_word(w, w->r[how] + off, out);
	}
}

static bool step_rule(struct walk *w, const struct tally_rule *r)
{
	uint64_t cfa = w->r[r->cfa_reg] + (uint64_t)(int64_t)r->cfa_val;
	uint64_t ip, sp, bp;
	bool same, has_bp;

	if (r->ip == TALLY_HOW_SAME)
		return stop(w, TALLY_WALK_BAD_RULE);
	if (!(w->known >> r->cfa_reg & 1))
		return stop(w, TALLY_WALK_REGISTER);
	if (r->cfa_memory && !read_word(w, cfa, &cfa))
		return stop(w, TALLY_WALK_MEMORY);
	if (!restore(w, IP, r->ip, r->ip_val, cfa, &ip) ||
	    !restore(w, SP, r->sp, r->sp_val, cfa, &sp))
		return stop(w, TALLY_WALK_MEMORY);
	has_bp = restore(w, BP, r->bp, r->bp_val, cfa, &bp);
	if (!has_bp && r->called && r->bp == TALLY_HOW_CFA)
		return stop(w, TALLY_WALK_MEMORY);
	if (!ip)
		return stop(w, TALLY_WALK_COMPLETE);
	/* In longjmp and vfork, the caller's frame has the same stack pointer. */
	same = (w->n == 1 && r->sp != TALLY_HOW_SAME) ||
	       (w->exact && r->ip == TALLY_HOW_REG);
	if (!r->signal && sp < w->r[SP] + !same)
		return stop(w, TALLY_WALK_NO_PROGRESS);
	w->r[IP] = ip;
	w->r[SP] = sp;
	w->known = KNOWN_ALWAYS;
	if (has_bp) {
		w->r[BP] = bp;
		w->known |= 1u << BP;
	}
	w->exact = r->signal;
	return true;
}

/* Moves to the caller.  Returns false if the walk ends; w->end holds the reason. */
static bool step(struct walk *w)
{
	uint64_t at = w->r[IP] - !w->exact;
	const struct tally_rule *rule = NULL;
	const struct walk_page *page;
	uint32_t word, kind;

	if (!word_find(w, at, &word, &page))
		return false;
	kind = word & 7;
	if (kind == TALLY_ROW_RULE)
		rule = &page->rules[word >> 3];
	if (kind == TALLY_ROW_NONE ||
	    (w->exact && (kind == TALLY_ROW_BEGIN || (rule && rule->called))))
		return stop(w, TALLY_WALK_NO_WORD);
	if (kind == TALLY_ROW_BEGIN)
		return add_frame(w, at + (word >> 3)) && stop(w, TALLY_WALK_COMPLETE);
	if (rule && rule->signal)
		at = w->r[IP];		/* no call precedes it */
	else if (!w->exact && !was_called(w))
		return stop(w, TALLY_WALK_NO_CALL);
	if (!add_frame(w, at))
		return false;
	if (kind == TALLY_ROW_END)
		return stop(w, TALLY_WALK_COMPLETE);
	return rule ? step_rule(w, rule) : step_word(w, word);
}

enum tally_walk walk_user(const struct walk_map *maps, uint32_t nmaps,
			const uint64_t regs[TALLY_COPY_REGS],
			const struct walk_memory *mem, uint64_t *pc,
			uint32_t max, uint32_t *n)
{
	struct walk w;

	w.maps = maps;
	w.nmaps = nmaps;
	w.map = NULL;
	w.mem = mem;
	w.bottom = regs[SP];
	memcpy(w.r, regs, sizeof(w.r));
	w.known = (1u << REGS) - 1;
	w.exact = true;
	w.pc = pc;
	w.n = 0;
	w.max = max;
	w.end = TALLY_WALK_COMPLETE;
	while (step(&w))
		;
	*n = w.n;
	return w.end;
}
