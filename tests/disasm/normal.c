// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spelling of instructions: see normal.h.  Only what says the same is made equal:
 *
 *  - case, blanks, <symbols>, and "# address" comments: a rip-relative operand
 *    becomes the address that the comment names;
 *  - aliases of conditions (jz, je), of prefixes (repz, rep) and of a few
 *    mnemonics (movabs, mov);
 *  - 0x0 displacements; segment prefixes of no-ops and hints of branches;
 *  - AT&T only: size suffixes where a register tells the size.
 */
#include "normal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alias {
	const char *from, *to;
};

static const struct alias conditions[] = {
	{ "nae", "b" }, { "c", "b" }, { "nb", "ae" }, { "nc", "ae" },
	{ "z", "e" }, { "nz", "ne" }, { "na", "be" }, { "nbe", "a" },
	{ "pe", "p" }, { "po", "np" }, { "nge", "l" }, { "nl", "ge" },
	{ "ng", "le" }, { "nle", "g" }, { NULL, NULL },
};

static const struct alias words[] = {
	{ "movabs", "mov" }, { "movabsq", "mov" }, { "repz", "rep" },
	{ "repe", "rep" }, { "repnz", "repne" }, { "retq", "ret" },
	{ "callq", "call" }, { "jmpq", "jmp" }, { "sal", "shl" },
	{ "fwait", "wait" }, { "icebp", "int1" },
	{ "pushfq", "pushf" }, { "popfq", "popf" }, { "iretd", "iret" },
	{ NULL, NULL },
};

static void apply(char *word, const char *prefix, const struct alias *list)
{
	size_t n = strlen(prefix);

	if (strncmp(word, prefix, n))
		return;
	for (; list->from; list++)
		if (!strcmp(word + n, list->from)) {
			strcpy(word + n, list->to);
			return;
		}
}

/* Copies without what is between < and >, in lower case. */
static void copy_plain(const char *s, char *out, size_t room)
{
	size_t n = 0;
	int depth = 0;

	for (; *s && n + 1 < room; s++) {
		if (*s == '#' && !depth)
			break;
		if (*s == '<')
			depth++;
		if (!depth)
			out[n++] = (char)tolower((unsigned char)*s);
		if (*s == '>' && depth)
			depth--;
	}
	out[n] = '\0';
}

static void replace(char *s, const char *from, const char *to, size_t room)
{
	size_t nf = strlen(from), nt = strlen(to);
	char *p = s;

	while ((p = strstr(p, from)) != NULL) {
		if (strlen(s) + nt - nf >= room)
			return;
		memmove(p + nt, p + nf, strlen(p + nf) + 1);
		memcpy(p, to, nt);
		p += nt;
	}
}

/* The rip-relative operand becomes the address. */
static void put_address(char *s, const char *text, bool intel, size_t room)
{
	const char *note = strstr(text, "# ");
	char addr[40], *p = strstr(s, intel ? "[rip" : "(%rip)"), *end;

	if (!p && !intel)
		p = strstr(s, "(%eip)");
	if (!p && intel)
		p = strstr(s, "[eip");
	if (!note || !p)
		return;
	note += 2;
	if (note[0] == '0' && note[1] == 'x')
		note += 2;
	snprintf(addr, sizeof(addr), intel ? "[0x%.*s]" : "0x%.*s",
		 (int)strspn(note, "0123456789abcdef"), note);
	if (intel) {
		end = strchr(p, ']');
		end = end ? end + 1 : p + strlen(p);
	} else {
		end = p + 6;
		while (p > s && strchr("-0123456789abcdefx", p[-1]))
			p--;
	}
	if (strlen(s) + strlen(addr) >= room)
		return;
	memmove(p + strlen(addr), end, strlen(end) + 1);
	memcpy(p, addr, strlen(addr));
}

/* objdump writes the operands of string instructions, which are always the same:
 * "stos dword ptr es:[rdi],eax" is stosd. */
static void name_string_op(char *out)
{
	static const char *const ops[] = { "movs", "stos", "lods", "scas",
					   "cmps", "ins", "outs" };
	static const struct alias sizes[] = {
		{ "byte ptr", "b" }, { "word ptr", "w" },
		{ "dword ptr", "d" }, { "qword ptr", "q" },
	};
	char *p = strncmp(out, "rep", 3) ? out : strchr(out, ' ') + 1;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t n = strlen(ops[i]);

		if (strncmp(p, ops[i], n) || p[n] != ' ')
			continue;
		for (size_t k = 0; k < 4; k++) {
			const char *at = strstr(p, sizes[k].from);

			if (at && (at[-1] == ' ' || at[-1] == ',')) {
				strcpy(p + n, sizes[k].to);
				return;
			}
		}
	}
}

/* st is st(0) and st0; an absolute address has brackets. */
static void name_operands(char *s, size_t room)
{
	static const char *const digits[] = { "0", "1", "2", "3", "4", "5", "6",
					      "7" };
	static const char *const segs[] = { "ds", "fs", "gs", "es", "ss",
					    "cs" };
	char from[16], to[16], *p;

	for (int i = 0; i < 8; i++) {
		snprintf(from, sizeof(from), "st(%s)", digits[i]);
		snprintf(to, sizeof(to), "st%s", digits[i]);
		replace(s, from, to, room);
	}
	for (p = s; (p = strstr(p, "st")) != NULL; p += 2)
		if (p > s && (p[-1] == ' ' || p[-1] == ',') &&
		    (!p[2] || p[2] == ',') && strlen(s) + 2 < room) {
			memmove(p + 3, p + 2, strlen(p + 2) + 1);
			p[2] = '0';
		}
	for (int i = 0; i < 6; i++) {
		snprintf(from, sizeof(from), "%s:0x", segs[i]);
		p = strstr(s, from);
		if (!p || strlen(s) + 3 >= room)
			continue;
		p += 3;
		memmove(p + 1, p, strlen(p) + 1);
		*p++ = '[';
		p += strcspn(p, ",");
		memmove(p + 1, p, strlen(p) + 1);
		*p = ']';
	}
	replace(s, "ds:[", "[", room);
}

/* Comparisons whose predicate is part of the name: vpcmpeqb k0,… is vpcmpb with
 * 0 behind its operands.  cmpeqps and pclmullqlqdq in the same way. */
static void name_predicate(char *s, size_t room)
{
	static const char *const of_float[] = {
		"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq",
		"nge", "ngt", "false", "neq_oq", "ge", "gt", "true", "eq_os",
		"lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq",
		"ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os",
		"ge_oq", "gt_oq", "true_us",
	};
	static const char *const of_int[] = { "eq", "lt", "le", "false", "neq",
					      "nlt", "nle", "true" };
	static const char *const float_ends[] = { "ps", "pd", "ss", "sd", "ph",
						  "sh" };
	static const char *const int_ends[] = { "b", "w", "d", "q", "ub", "uw",
						"ud", "uq" };
	bool ints = !strncmp(s, "vpcmp", 5) && !strncmp(s + strcspn(s, " "),
							" k", 2);
	bool floats = !strncmp(s, "vcmp", 4) || (!strncmp(s, "cmp", 3) &&
			strstr(s, "xmm"));
	size_t head = ints ? 5 : s[0] == 'v' ? 4 : 3, n = strcspn(s, " ");
	size_t nends = ints ? 8 : 6, npreds = ints ? 8 : 32;
	char all[40];

	if (!ints && !floats)
		return;
	for (size_t p = 0; p < npreds; p++)
		for (size_t e = 0; e < nends; e++) {
			const char *end = ints ? int_ends[e] : float_ends[e];

			snprintf(all, sizeof(all), "%s%s",
				 ints ? of_int[p] : of_float[p], end);
			if (n != head + strlen(all) ||
			    strncmp(s + head, all, strlen(all)) ||
			    strlen(s) + 8 > room)
				continue;
			memmove(s + head + strlen(end), s + n,
				strlen(s + n) + 1);
			memcpy(s + head, end, strlen(end));
			snprintf(s + strlen(s), 8, ",0x%zx", p);
			return;
		}
}

static void name_product(char *s, size_t room)
{
	static const struct alias halves[] = {
		{ "lqlq", ",0x0" }, { "hqlq", ",0x1" }, { "lqhq", ",0x10" },
		{ "hqhq", ",0x11" }, { NULL, NULL },
	};
	char *p = strstr(s, "pclmul");

	if (!p || p > s + 1)
		return;
	for (const struct alias *a = halves; a->from; a++)
		if (!strncmp(p + 6, a->from, 4) && strlen(s) + 6 < room) {
			memmove(p + 6, p + 9, strlen(p + 9) + 1);
			strcpy(s + strlen(s), a->to);
			return;
		}
}

/* riz: an index that is none. */
static void drop_riz(char *s)
{
	char *p = strstr(s, "+riz");
	size_t n;

	if (!p)
		p = strstr(s, "+eiz");
	if (!p)
		return;
	n = p[4] == '*' ? 6 : 4;
	memmove(p, p + n, strlen(p + n) + 1);
}

/* One word of the instruction; false: it says nothing. */
static bool put_word(char *word, bool first)
{
	if (first && (!strcmp(word, "cs") || !strcmp(word, "ds") ||
		      !strcmp(word, "es") || !strcmp(word, "ss") ||
		      !strcmp(word, "data16") || !strncmp(word, "rex", 3) ||
		      !strcmp(word, "notrack") || !strcmp(word, "bnd") ||
		      !strcmp(word, "addr32") || !strcmp(word, "{evex}") ||
		      !strcmp(word, "{vex}") || !strcmp(word, "xacquire") ||
		      !strcmp(word, "xrelease")))
		return false;
	{
		char *comma = strchr(word, ',');

		if (first && comma && (!strcmp(comma, ",pt") ||
				       !strcmp(comma, ",pn")))
			*comma = '\0';
	}
	apply(word, "", words);
	apply(word, "j", conditions);
	apply(word, "set", conditions);
	apply(word, "cmov", conditions);
	return true;
}

static bool is_prefix(const char *word)
{
	return !strcmp(word, "rep") || !strcmp(word, "repne") ||
	       !strcmp(word, "lock");
}

void normal(const char *text, bool intel, char *out, size_t room)
{
	char plain[512], word[128], *p, *save;
	bool first = true;

	copy_plain(text, plain, sizeof(plain));
	put_address(plain, text, intel, sizeof(plain));
	replace(plain, ", ", ",", sizeof(plain));
	*out = '\0';
	for (p = strtok_r(plain, " \t", &save); p;
	     p = strtok_r(NULL, " \t", &save)) {
		snprintf(word, sizeof(word), "%s", p);
		if (first && !put_word(word, true))
			continue;
		if (!is_prefix(word))
			first = false;
		if (strlen(out) + strlen(word) + 2 > room)
			return;
		if (*out)
			strcat(out, " ");
		strcat(out, word);
	}
	/* A branch's target without 0x. */
	p = strrchr(out, ' ');
	if (p && strspn(p + 1, "0123456789abcdef") == strlen(p + 1) &&
	    strlen(out) + 3 < room && (out[0] == 'j' || out[0] == 'c' ||
				       out[0] == 'l' || out[0] == 'x')) {
		memmove(p + 3, p + 1, strlen(p + 1) + 1);
		memcpy(p + 1, "0x", 2);
	}
	if (!strncmp(out, "nop", 3) || !strcmp(out, "xchg ax,ax"))
		strcpy(out, "nop");
	if (!intel)
		return;
	replace(out, " {", "{", room);
	replace(out, "rep ret", "ret", room);
	replace(out, "ret far", "retf", room);
	replace(out, "call far ", "call ", room);
	replace(out, "jmp far ", "jmp ", room);
	/* It loads no memory: later versions of both write no size, or do. */
	if (!strncmp(out, "lea ", 4)) {
		replace(out, "qword ptr ", "", room);
		replace(out, "dword ptr ", "", room);
		replace(out, "word ptr ", "", room);
	}
	drop_riz(out);
	name_operands(out, room);
	name_predicate(out, room);
	name_product(out, room);
	if (!strncmp(out, "sha256rnds2", 11))
		replace(out, ",xmm0", "", room);
	name_string_op(out);
	replace(out, "+0x0]", "]", room);
	/* The count of a shift by one. */
	p = strrchr(out, ',');
	if (p && !strcmp(p, ",1") && strlen(out) + 3 < room)
		strcpy(p, ",0x1");
	replace(out, "*1+", "+", room);
	replace(out, "*1]", "]", room);
}
