// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses specifiers of K8 and P6 events. */
#include "events/hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/nearest.h"

/* A part of a specifier, not NUL-terminated. */
struct part {
	const char *s;
	size_t n;
};

struct parser {
	struct hw_spec *out;
	struct error *err;
	char name[128];			/* displayed name of the event */
	bool masked, counted;
	uint8_t mask;
};

/* Parses a number, hexadecimal with 0x, otherwise decimal.  Returns -1 if it is no
 * number, HW_CODE_MAX + 1 if it is too large. */
static int number(struct part w)
{
	bool hex = w.n > 2 && w.s[0] == '0' && (w.s[1] == 'x' || w.s[1] == 'X');
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
	size_t skip = hex ? 2 : 0;
	unsigned long v;

	/* no part is followed by a digit */
	if (!w.n || strspn(w.s + skip, digits) != w.n - skip)
		return -1;
	v = strtoul(w.s, NULL, hex ? 16 : 10);
	return v > HW_CODE_MAX ? HW_CODE_MAX + 1 : (int)v;
}

/* Returns the number of bytes before a character, or of all. */
static size_t until(struct part w, char c)
{
	const char *end = memchr(w.s, c, w.n);

	return end ? (size_t)(end - w.s) : w.n;
}

void hw_event_name(const struct hw_pmu *pmu, const struct hw_event *e,
		   char *out, size_t size)
{
	char name[128];

	hw_names_at(e->names, 0, name, sizeof(name));
	snprintf(out, size, "%s%s", pmu->prefix, name);
}

static bool word_is(struct part w, const char *word)
{
	return w.n == strlen(word) && !strncasecmp(w.s, word, w.n);
}

/* Appends a list of masks: "m, e, s". */
static void masks_list(const struct hw_event *e, struct buf *out)
{
	char name[64];

	for (size_t i = 0; i < e->nmasks; i++) {
		hw_names_at(e->masks[i].names, 0, name, sizeof(name));
		buf_printf(out, "%s%s", i ? ", " : "", name);
	}
}

/* Parses letters: ME for M+E. */
static bool letters(const struct hw_event *e, struct part w, uint8_t *bits)
{
	static const char states[] = "isem";
	const char *at;

	*bits = 0;
	if (e->rule != HW_MASK_MESI)
		return false;
	for (size_t i = 0; i < w.n; i++) {
		at = strchr(states, w.s[i] | 0x20);
		if (!at || !*at)
			return false;
		*bits |= (uint8_t)(1u << (at - states));
	}
	return w.n > 0;
}

static int mask_word(struct parser *p, struct part w)
{
	const struct hw_event *e = p->out->event;
	int v = number(w);
	struct buf b = { 0 };
	uint8_t bits;

	for (size_t i = 0; i < e->nmasks; i++)
		if (hw_names_have(e->masks[i].names, w.s, w.n)) {
			p->mask |= e->masks[i].bits;
			return 0;
		}
	if (letters(e, w, &bits)) {
		p->mask |= bits;
		return 0;
	}
	if (v >= 0 && v <= 255 && !(v & ~hw_event_bits(e))) {
		p->mask |= (uint8_t)v;
		return 0;
	}
	if (!e->nmasks)
		return error_set(p->err, ERR_USAGE, "event %s takes no mask, "
				 "so not \"%.*s\"", p->name,
				 (int)(w.n < 40 ? w.n : 40), w.s);
	if (v >= 0)
		return error_set(p->err, ERR_USAGE, "event %s has no mask bits "
				 "%#x: its bits are %#x", p->name,
				 v & ~hw_event_bits(e), hw_event_bits(e));
	masks_list(e, &b);
	error_set(p->err, ERR_USAGE, "event %s has no mask \"%.*s\"; it has %s",
		  p->name, (int)(w.n < 40 ? w.n : 40), w.s, buf_cstr(&b));
	buf_fini(&b);
	return -ERR_USAGE;
}

/* Parses m+e+…; `w` is untrusted, but contains no comma. */
static int masks_parse(struct parser *p, struct part w)
{
	if (p->masked)
		return error_set(p->err, ERR_USAGE, "\"%s\": the mask is given "
				 "twice; join the names with +", p->out->text);
	p->masked = true;
	for (;;) {
		size_t k = until(w, '+');
		int r;

		r = mask_word(p, (struct part){ w.s, k });
		if (r < 0 || k == w.n)
			return r;
		w.s += k + 1;
		w.n -= k + 1;
	}
}

static int count_parse(struct parser *p, struct part w)
{
	uint8_t max = p->out->pmu->model->cmask_max;
	int v = number(w);

	if (p->counted)
		return error_set(p->err, ERR_USAGE, "\"%s\": count is given "
				 "twice", p->out->text);
	if (v < 0)
		return error_set(p->err, ERR_USAGE, "\"%s\": count=%.*s is "
				 "not a number", p->out->text,
				 (int)(w.n < 40 ? w.n : 40), w.s);
	if (v > max)
		return error_set(p->err, ERR_USAGE, "\"%s\": count is at most "
				 "%d on %s%s", p->out->text, max,
				 p->out->pmu->name,
				 max == 3 ? ": 4 to 255 are reserved (BKDG "
					    "10.2, CNT_MASK)" : "");
	p->counted = true;
	p->out->sel.cmask = (uint8_t)v;
	return 0;
}

enum { USR, OS, EDGE, INV, PC, COUNT_IS, CMASK_IS, MASK_IS, UMASK_IS, QUALIFIERS };

static const char *const words[QUALIFIERS] = {
	"usr", "os", "edge", "inv", "pc", "count=",
	"cmask=",		/* the manuals' name */
	"mask=", "umask=",
};

/* Names that other tools use. */
static const char *const otherwise[][2] = {
	{ "user", "usr" }, { "kernel", "os" }, { "sys", "os" },
	{ "invert", "inv" }, { "cnt=", "count=" },
};

/* Returns whether a part is the word, or begins with it if it ends in '='. */
static bool fits(struct part w, const char *word)
{
	size_t n = strlen(word);

	return word[n - 1] == '=' ? w.n >= n && !strncasecmp(w.s, word, n)
				  : word_is(w, word);
}

/* Returns which of `words` fits, or QUALIFIERS. */
static size_t qualifier_find(struct part w)
{
	size_t i = 0;

	while (i < QUALIFIERS && !fits(w, words[i]))
		i++;
	return i;
}

bool hw_spec_qualifier(const char *s)
{
	return qualifier_find((struct part){ s, strcspn(s, ",}") }) < QUALIFIERS;
}

static int unknown_qualifier(struct parser *p, struct part w)
{
	int n = (int)(w.n < 40 ? w.n : 40);

	for (size_t i = 0; i < COUNT(otherwise); i++)
		if (fits(w, otherwise[i][0]))
			return error_set(p->err, ERR_USAGE, "\"%s\": unknown "
					 "qualifier \"%.*s\"; write %s",
					 p->out->text, n, w.s, otherwise[i][1]);
	return error_set(p->err, ERR_USAGE, "\"%s\": unknown qualifier "
			 "\"%.*s\" (known: usr, os, edge, inv, pc, count=N, "
			 "mask=NAME+NAME)", p->out->text, n, w.s);
}

static int qualifier_parse(struct parser *p, struct part w)
{
	bool *const flags[] = {
		[USR] = &p->out->sel.usr, [OS] = &p->out->sel.os,
		[EDGE] = &p->out->sel.edge, [INV] = &p->out->sel.inv,
		[PC] = &p->out->sel.pc,
	};
	size_t i = qualifier_find(w), n;

	if (i == QUALIFIERS)
		return unknown_qualifier(p, w);
	if (i < COUNT(flags)) {
		*flags[i] = true;
		return 0;
	}
	n = strlen(words[i]);
	w = (struct part){ w.s + n, w.n - n };
	return i == COUNT_IS || i == CMASK_IS ? count_parse(p, w) : masks_parse(p, w);
}

static int unknown(const struct hw_pmu *pmu, const char *text, struct part w,
		   struct error *err)
{
	char word[HW_SPEC_MAX], name[128];
	struct nearest near;

	snprintf(word, sizeof(word), "%.*s", (int)w.n, w.s);
	near = nearest_to(word);
	for (const struct hw_event *e = pmu->events; e->names; e++) {
		hw_event_name(pmu, e, name, sizeof(name));
		nearest_try(&near, name);
		nearest_try(&near, name + strlen(pmu->prefix));
		if (near.best >= name && near.best < name + sizeof(name))
			near.best = e->names;	/* must outlive the loop */
	}
	if (!nearest_best(&near))
		return error_set(err, ERR_USAGE, "\"%s\": %s has no event "
				 "\"%s\"; \"tally list %s\" shows them", text,
				 pmu->name, word, pmu->name);
	hw_names_at(near.best, 0, name, sizeof(name));
	return error_set(err, ERR_USAGE, "\"%s\": %s has no event \"%s\"; did "
			 "you mean %s%s?", text, pmu->name, word, pmu->prefix,
			 name);
}

/* The manuals write 41h.  Returns whether the digits would name an event if they
 * were hexadecimal. */
static bool hex_code(const struct hw_pmu *pmu, const char *s, size_t n)
{
	char text[8];
	int v;

	if (n < 1 || n > 3)
		return false;
	snprintf(text, sizeof(text), "0x%.*s", (int)n, s);
	v = number((struct part){ text, strlen(text) });
	return v >= 0 && hw_event_code(pmu, (uint32_t)v);
}

/* Parses CODE[:MASK] after "k8:"; *rest receives what follows the code. */
static int code_parse(struct parser *p, struct part *w)
{
	const struct hw_pmu *pmu = p->out->pmu;
	size_t k = until(*w, ':');
	int v;

	v = number((struct part){ w->s, k });
	p->out->event = v < 0 ? NULL : hw_event_code(pmu, (uint32_t)v);
	w->s += k;
	w->n -= k;
	if (!p->out->event && v >= 0 && hex_code(pmu, w->s - k, k))
		return error_set(p->err, ERR_USAGE, "\"%s\": %s has no event "
				 "of code %.*s; hexadecimal is written 0x%.*s",
				 p->out->text, pmu->name, (int)k, w->s - k,
				 (int)k, w->s - k);
	if (!p->out->event)
		return error_set(p->err, ERR_USAGE, "\"%s\": %s has no event "
				 "of code %.*s: codes that are not in its "
				 "documents are reserved, what they count is "
				 "undefined", p->out->text, pmu->name,
				 (int)(k < 40 ? k : 40), w->s - k);
	return 0;
}

/* Skips "k8:" before a name or number; another PMU's prefix stays. */
static bool colon_prefix(const struct hw_pmu *pmu, struct part *w)
{
	size_t n = strlen(pmu->name);

	if (w->n <= n + 1 || strncasecmp(w->s, pmu->name, n) ||
	    w->s[n] != ':')
		return false;
	w->s += n + 1;
	w->n -= n + 1;
	return true;
}

/* Parses perf's :u, :k, :uk if they are not masks. */
static bool modifiers(struct parser *p, struct part w)
{
	struct pmu_event *sel = &p->out->sel;
	bool usr = false, os = false;

	for (size_t i = 0; i < w.n; i++) {
		if (w.s[i] == 'u')
			usr = true;
		else if (w.s[i] == 'k')
			os = true;
		else
			return false;
	}
	sel->usr |= usr;
	sel->os |= os;
	return usr || os;
}

static int event_parse(struct parser *p, struct part w)
{
	const struct hw_pmu *pmu = p->out->pmu;
	bool prefixed = colon_prefix(pmu, &w);
	size_t k = until(w, ':');
	int r;

	if (prefixed && number((struct part){ w.s, k }) >= 0) {
		r = code_parse(p, &w);
		if (r < 0)
			return r;
	} else {
		p->out->event = hw_event_find(pmu, w.s, k);
		if (!p->out->event)
			return unknown(pmu, p->out->text,
				       (struct part){ w.s, k }, p->err);
		w.s += k;
		w.n -= k;
	}
	hw_event_name(pmu, p->out->event, p->name, sizeof(p->name));
	if (!w.n)
		return 0;
	w = (struct part){ w.s + 1, w.n - 1 };
	return modifiers(p, w) ? 0 : masks_parse(p, w);
}

/* Reports an event that only another PMU has. */
static int foreign(const struct hw_pmu *pmu, const char *text,
		   struct error *err)
{
	const struct hw_event *e;
	const struct hw_pmu *other = hw_spec_pmu(text, pmu, &e);

	if (!other || other == pmu)
		return 0;
	return error_set(err, ERR_USAGE, "\"%s\" is an event of %s, not of %s",
			 text, other->name, pmu->name);
}

/* Checks what depends on the whole specifier. */
static int finish(struct parser *p)
{
	struct hw_spec *o = p->out;
	const struct hw_event *e = o->event;

	o->sel.event = e->code;
	o->sel.umask = p->masked ? p->mask : e->default_mask;
	o->sel.allowed = hw_event_counters(o->pmu, e);
	if (!o->sel.usr && !o->sel.os)
		o->sel.usr = o->sel.os = true;
	if (e->rule == HW_MASK_MESI && !o->sel.umask)
		return error_set(p->err, ERR_USAGE, "\"%s\": mask 0 of %s "
				 "counts nothing: choose of m, e, s, i",
				 o->text, p->name);
	if (e->rule == HW_MASK_PATHS && !hw_paths_legal(o->sel.umask))
		return error_set(p->err, ERR_USAGE, "\"%s\": mask %#x is not "
				 "a sum of the paths that %s has: A8h A4h A2h "
				 "A1h 98h 94h 92h 91h 64h 61h (a type, a "
				 "source and a target each)", o->text, o->sel.umask,
				 p->name);
	switch (pmu_event_check(o->pmu->model, &o->sel)) {
	case PMU_INV_ALONE:
		return error_set(p->err, ERR_USAGE, "\"%s\": inv without "
				 "count=N: it inverts the comparison with "
				 "count", o->text);
	case PMU_CODE_RESERVED:		/* refused during parsing */
	case PMU_CMASK_RESERVED:
	case PMU_NOWHERE:
	case PMU_FINE:
		break;
	}
	return 0;
}

int hw_spec_parse(const struct hw_pmu *pmu, const char *text,
		  struct hw_spec *out, struct error *err)
{
	struct parser p = { .out = out, .err = err };
	struct part w = { text, strcspn(text, ",") };
	int r;

	memset(out, 0, sizeof(*out));
	if (strlen(text) >= sizeof(out->text))
		return error_set(err, ERR_USAGE, "\"%.20s…\" is longer than %d "
				 "characters", text, HW_SPEC_MAX - 1);
	memcpy(out->text, text, strlen(text) + 1);
	out->pmu = pmu;
	if (!w.n)
		return error_set(err, ERR_USAGE, "\"%s\": an event name is "
				 "empty", text);
	r = foreign(pmu, text, err);
	if (!r)
		r = event_parse(&p, w);
	while (!r && w.s[w.n]) {
		w.s += w.n + 1;
		w.n = strcspn(w.s, ",");
		r = qualifier_parse(&p, w);
	}
	return r < 0 ? r : finish(&p);
}

static const struct hw_event *named(const struct hw_pmu *pmu, struct part w,
				    bool *prefixed)
{
	size_t k;
	int v;

	*prefixed = colon_prefix(pmu, &w);
	k = until(w, ':');
	v = *prefixed ? number((struct part){ w.s, k }) : -1;
	if (v >= 0)
		return hw_event_code(pmu, (uint32_t)v);
	/* k8-, p6-: the PMU's name and a dash */
	if (w.n > 3 && !strncasecmp(w.s, pmu->name, 2) &&
	    (w.s[2] == '-' || w.s[2] == '_'))
		*prefixed = true;
	return hw_event_find(pmu, w.s, k);
}

const struct hw_pmu *hw_spec_pmu(const char *text, const struct hw_pmu *here,
				 const struct hw_event **event)
{
	struct part w = { text, strcspn(text, ",") };
	const struct hw_pmu *by_prefix = NULL, *found = NULL;
	const struct hw_pmu *pmu;

	*event = NULL;
	for (size_t i = 0; (pmu = hw_pmu_at(i)); i++) {
		bool prefixed;
		const struct hw_event *e = named(pmu, w, &prefixed);

		if (prefixed)
			by_prefix = pmu;
		if (e && (!found || pmu == here)) {
			found = pmu;
			*event = e;
		}
	}
	return found ? found : by_prefix;
}
