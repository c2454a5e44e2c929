// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles Ada names encoded by GNAT (exp_dbug.ads): parents and children
 * joined by two underscores, operators as Oadd, overloaded ones numbered.  C
 * uses two underscores too.  So without debug information, only forms that are
 * unique to GNAT are read: the units of Ada's own library, elaboration
 * procedures and operators.
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"

struct word {
	const char *code, *text;
};

static const struct word operators[] = {
	{ "Oabs", "abs" }, { "Oand", "and" }, { "Omod", "mod" },
	{ "Onot", "not" }, { "Oor", "or" }, { "Orem", "rem" },
	{ "Oxor", "xor" }, { "Oeq", "=" }, { "One", "/=" }, { "Olt", "<" },
	{ "Ole", "<=" }, { "Ogt", ">" }, { "Oge", ">=" }, { "Oadd", "+" },
	{ "Osubtract", "-" }, { "Oconcat", "&" }, { "Omultiply", "*" },
	{ "Odivide", "/" }, { "Oexpon", "**" },
};

/* Suffixes after three underscores. */
static const struct word specials[] = {
	{ "_elabb", "'Elab_Body" }, { "_elabs", "'Elab_Spec" },
	{ "_size", "'Size" }, { "_alignment", "'Alignment" },
	{ "_assign", ".\":=\"" }, { "_finalizer", ".finalizer" },
};

/* The roots of Ada's library (Ada RM annex A, and GNAT's own). */
static const char *const roots[] = { "ada__", "gnat__", "interfaces__", "system__" };

static bool has(const char *s, const char *end, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(end - s) >= n && !memcmp(s, text, n);
}

static bool equals(const char *s, const char *end, const char *text)
{
	return (size_t)(end - s) == strlen(text) && has(s, end, text);
}

/* Returns the operator at s, up to the end or the next underscore. */
static const struct word *operator_at(const char *s, const char *end)
{
	const char *to = s;
	size_t i;

	while (to < end && *to != '_' && *to != '.' && *to != '$')
		to++;
	for (i = 0; i < COUNT(operators); i++)
		if (equals(s, to, operators[i].code))
			return &operators[i];
	return NULL;
}

static const struct word *special_at(const char *s, const char *end)
{
	size_t i;

	for (i = 0; i < COUNT(specials); i++)
		if (equals(s, end, specials[i].code))
			return &specials[i];
	return NULL;
}

/* Returns the end without suffixes that distinguish overloaded and nested
 * entities: __2, $2, .3, __2_1, followed by Xb, Xnb. */
static const char *without_number(const char *s, const char *end)
{
	const char *p = end;

	while (p - s > 1 && (p[-1] == 'b' || p[-1] == 'n'))
		p--;
	if (p < end && p - s > 1 && p[-1] == 'X')
		end = p - 1;
	for (p = end; p - s > 2 && (text_is_digit(p[-1]) ||
				    (p < end && p[-1] == '_' && text_is_digit(*p) &&
				     text_is_digit(p[-2]))); )
		p--;
	if (p < end && p - s > 2 && p[-1] == '_' && p[-2] == '_')
		return p - 2;
	if (p < end && p - s > 1 && (p[-1] == '$' || p[-1] == '.'))
		return without_number(s, p - 1);
	return end;
}

/* Handles marks directly after a name: those of task bodies and protected
 * operations are removed, attributes and controlled operations are named. */
static const char *without_mark(const char *s, const char *end,
				const char **text)
{
	static const struct word marks[] = {
		{ "TB", "" }, { "SR", "'Read" }, { "SW", "'Write" },
		{ "SI", "'Input" }, { "SO", "'Output" },
		{ "DA", ".Adjust" }, { "DF", ".Finalize" },
		{ "DI", ".Initialize" }, { "N", "" }, { "P", "" }, { "B", "" },
	};
	size_t i, n;

	*text = "";
	for (i = 0; i < COUNT(marks); i++) {
		n = strlen(marks[i].code);
		if ((size_t)(end - s) > n && has(end - n, end, marks[i].code) &&
		    (text_is_lower(*(end - n - 1)) || text_is_digit(*(end - n - 1)))) {
			*text = marks[i].text;
			return end - n;
		}
	}
	return end;
}

/* Returns whether a name is that of an entity in a child of a library root:
 * ada__calendar__clock, or a child's elaboration. */
static bool is_library(const char *s, const char *end)
{
	for (size_t i = 0; i < COUNT(roots); i++)
		if (has(s, end, roots[i])) {
			s += strlen(roots[i]);
			return memmem(s, (size_t)(end - s), "__", 2);
		}
	return false;
}

/* Returns whether the name has only characters of the encoding and starts like
 * an Ada name. */
static bool is_encoded(const char *s, const char *end)
{
	if (s == end || !text_is_lower(*s))
		return false;
	for (; s < end; s++)
		if (!text_is_lower(*s) && !text_is_digit(*s) && *s != '_' && *s != '.' &&
		    *s != '$' && !(*s >= 'A' && *s <= 'Z') &&
		    (unsigned char)*s < 0x80)
			return false;
	return true;
}

/* Returns whether only GNAT writes this form. */
static bool is_certain(const char *s, const char *end)
{
	const char *p;

	if (has(s, end, "_ada_") || is_library(s, end) ||
	    (end - s > 8 && (has(end - 8, end, "___elabb") ||
			     has(end - 8, end, "___elabs"))))
		return true;
	for (p = s; end - p > 4; p++)
		if (p > s && p[0] == '_' && p[1] == '_' && p[2] == 'O' &&
		    text_is_lower(p[-1]) && operator_at(p + 2, end))
			return true;
	return false;
}

static void decode(const char *s, const char *end, struct buf *out)
{
	const struct word *w;

	while (s < end) {
		if (!has(s, end, "__")) {
			/* a task's own scope: workerTK__run */
			if (has(s, end, "TK__"))
				s += 2;
			else
				buf_u8(out, (uint8_t)*s++);
			continue;
		}
		s += 2;
		w = special_at(s, end);
		if (w) {
			buf_str(out, w->text);
			return;
		}
		buf_u8(out, '.');
		w = operator_at(s, end);
		if (w) {
			buf_printf(out, "\"%s\"", w->text);
			s += strlen(w->code);
		}
	}
}

bool demangle_ada(const char *s, size_t n, bool sure, struct buf *out)
{
	const char *end = s + n, *name = s, *text;

	if (!sure && !is_certain(s, end))
		return false;
	if (has(name, end, "_ada_"))
		name += 5;
	if (!is_encoded(name, end))
		return false;
	end = without_number(name, end);
	end = without_mark(name, end, &text);
	decode(name, end, out);
	buf_str(out, text);
	return true;
}
