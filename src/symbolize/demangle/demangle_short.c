// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shortens demangled names in one pass from left to right.  If brackets do not
 * match, the whole name is kept: a long name is better than a wrong one.
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/demangle/demangle.h"

enum { MAX_NEST = 64, SHORT_LAMBDA = 24 };

struct shortener {
	const char *p, *end;
	char *out;
	const char *out_start;
	struct short_cuts *cuts;	/* may be NULL */
	unsigned nest;		/* kept brackets that are still open */
	char close[MAX_NEST];
};

static bool is_ident(char c)
{
	return text_is_word(c) || c == '$';
}

/* Returns the length of the operator after the word "operator"; 0 for a
 * conversion. */
static size_t operator_len(const char *p, const char *end)
{
	static const char ops[][5] = {	/* longest first */
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=",
		">=", "->", "==", "!=", "&&", "||", "++", "--", "+=", "-=",
		"*=", "/=", "%=", "^=", "&=", "|=", "\"\"", "<", ">", "+", "-",
		"*", "/", "%", "^", "&", "|", "~", "!", "=", ",",
	};
	size_t i, n;

	for (i = 0; i < COUNT(ops); i++) {
		n = strlen(ops[i]);
		if ((size_t)(end - p) >= n && !memcmp(p, ops[i], n))
			return n;
	}
	return 0;
}

static bool at_operator(const char *start, const char *p, const char *end)
{
	return end - p > 8 && *p == 'o' && !memcmp(p, "operator", 8) &&
	       !is_ident(p[8]) && (p == start || !is_ident(p[-1]));
}

/* Returns the end of the bracket that opens at p, or NULL. */
static const char *skip_group(const char *start, const char *p, const char *end)
{
	char open[MAX_NEST];
	unsigned n = 0;

	for (; p < end; p++) {
		char c = *p;

		if (c == 'o' && at_operator(start, p, end)) {
			p += 8 + operator_len(p + 8, end) - 1;
		} else if (c == '-' && p + 1 < end && p[1] == '>') {
			p++;
		} else if (c == '(' || c == '[' || c == '{' ||
			   (c == '<' && !(n && open[n - 1] == '('
					  && p[-1] == ')'))) {
			if (n == MAX_NEST)
				return NULL;
			open[n++] = c;
		} else if (c == ')' || c == ']' || c == '}') {
			char want = c == ')' ? '(' : c == ']' ? '[' : '{';

			/* a single < inside was a comparison */
			while (n && open[n - 1] == '<' && want == '(')
				n--;
			if (!n || open[--n] != want)
				return NULL;
		} else if (c == '>' && n && open[n - 1] == '<') {
			n--;
		}
		if (!n)
			return p + 1;
	}
	return NULL;
}

static void put(struct shortener *s, const char *text, size_t n)
{
	memcpy(s->out, text, n);
	s->out += n;
}

/* Copies the input from p up to `to`. */
static void keep(struct shortener *s, const char *to)
{
	put(s, s->p, (size_t)(to - s->p));
	s->p = to;
}

static bool starts(const struct shortener *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->p) >= n && !memcmp(s->p, text, n);
}

/* Keeps a bracket and shortens its contents. */
static bool enter(struct shortener *s, char close)
{
	if (s->nest == MAX_NEST)
		return false;
	s->close[s->nest++] = close;
	keep(s, s->p + 1);
	return true;
}

/* Replaces the group that ends at `to` with a sign; an empty group is kept. */
static void elide(struct shortener *s, const char *to, const char *sign)
{
	struct short_cut cut = { s->p, to, (size_t)(s->out - s->out_start) };

	if (to - s->p == 2) {
		keep(s, to);
		return;
	}
	if (s->cuts)
		s->cuts->failed |= vec_push(s->cuts, cut) < 0;
	put(s, sign, SHORT_SIGN);
	s->p = to;
}

static bool on_angle(struct shortener *s, const char *start)
{
	const char *to;

	/* constructors of Java */
	if (s->p > start && s->p[-1] == '.' &&
	    (starts(s, "<init>") || starts(s, "<clinit>"))) {
		keep(s, memchr(s->p, '>', (size_t)(s->end - s->p)));
		keep(s, s->p + 1);
		return true;
	}
	/* Rust: <T as Trait>::method, at the start of a name */
	if (s->p == start || strchr(" (&,*", s->p[-1])) {
		bool op = s->p - start >= 9 &&
			  memchr("<>=-+*/%^&|~!,)]", s->p[-2], 16);

		if (!op)
			return enter(s, '>');
	}
	to = skip_group(start, s->p, s->end);
	if (!to)
		return false;
	elide(s, to, "<…>");
	return true;
}

static bool on_paren(struct shortener *s, const char *start)
{
	const char *to;

	if (starts(s, "(anonymous namespace)")) {
		keep(s, s->p + 21);
		return true;
	}
	/* void (*name(int))(long): the name is inside */
	if (starts(s, "(*") || starts(s, "(&"))
		return enter(s, ')');
	to = skip_group(start, s->p, s->end);
	if (!to)
		return false;
	elide(s, to, "(…)");
	return true;
}

/* Removes [abi:cxx11] and Rust crate hashes, keeps [clone .cold], and shortens
 * Go's type arguments to […]. */
static bool on_square(struct shortener *s, const char *start)
{
	const char *to = skip_group(start, s->p, s->end);
	size_t n;

	if (!to)
		return false;
	n = (size_t)(to - s->p) - 2;
	if (starts(s, "[abi:") ||
	    (n >= 8 && n <= 16 &&
	     strspn(s->p + 1, "0123456789abcdef") == n))
		s->p = to;
	else if (s->p > start && is_ident(s->p[-1]))
		elide(s, to, "[…]");
	else
		keep(s, to);
	return true;
}

/* Keeps {lambda(int)#1}, {closure#0}, {{closure}}; shortens long ones. */
static bool on_brace(struct shortener *s, const char *start)
{
	const char *to = skip_group(start, s->p, s->end);

	if (!to)
		return false;
	if (to - s->p <= SHORT_LAMBDA || s->p[1] == '{') {
		keep(s, to);
		return true;
	}
	return enter(s, '}');
}

static void on_operator(struct shortener *s)
{
	keep(s, s->p + 8);
	keep(s, s->p + operator_len(s->p, s->end));
	/* operator new[] and delete[] */
	if (starts(s, " new[]"))
		keep(s, s->p + 6);
	else if (starts(s, " delete[]"))
		keep(s, s->p + 9);
}

static bool shorten(struct shortener *s)
{
	const char *start = s->p;

	while (s->p < s->end) {
		char c = *s->p;
		bool ok = true;

		if (is_ident(c) && c != 'o')
			keep(s, s->p + 1);
		else if (c == 'o' && at_operator(start, s->p, s->end))
			on_operator(s);
		else if (s->nest && c == s->close[s->nest - 1]) {
			s->nest--;
			keep(s, s->p + 1);
		} else if (c == '<')
			ok = on_angle(s, start);
		else if (c == '(')
			ok = on_paren(s, start);
		else if (c == '[')
			ok = on_square(s, start);
		else if (c == '{')
			ok = on_brace(s, start);
		else if (c == '-' && starts(s, "->"))
			keep(s, s->p + 2);
		else if (c == '>' || c == ')' || c == ']' || c == '}')
			ok = false;
		else
			keep(s, s->p + 1);
		if (!ok)
			return false;
	}
	return s->nest == 0;
}

/* Returns the length without a Rust hash at the end: ::h and 16 hexadecimal
 * digits. */
static size_t without_hash(const char *name, size_t n)
{
	if (n > 19 && !memcmp(name + n - 19, "::h", 3) &&
	    strspn(name + n - 16, "0123456789abcdef") == 16)
		return n - 19;
	return n;
}

/* Returns whether a name must be kept: Objective-C methods, Ada operators
 * (pkg."<"), and forms of Python and Java: f.<locals>.<lambda>, Foo.<init>. */
static bool is_plain(const char *s)
{
	return ((s[0] == '-' || s[0] == '+') && s[1] == '[') ||
	       strstr(s, ".\"") || strstr(s, ".<");
}

size_t cxx_name_stem(const char *name)
{
	size_t n = strcspn(name, "<"), all = strlen(name);
	const char *p = name + 8;

	if (strncmp(name, "operator", 8) || (*p && strchr("_ ", *p)) || n != 8)
		return n;
	/* operator<, operator<<, operator<<=, operator<=, operator<=> */
	p += strspn(p, "<");
	if (p - name > 10)		/* operator<< <int> */
		p = name + 10;
	else if (p - name == 10 && all > 11 && name[all - 1] == '>' &&
		 p[0] != '=' && p[0] != ' ')
		p = name + 9;		/* operator<<int> */
	p += *p == '=';
	p += *p == '>' && p[-1] == '=';
	return (size_t)(p - name);
}

const char *skip_part(const char *start, const char *p, const char *end)
{
	if (at_operator(start, p, end))
		return p + 8 + operator_len(p + 8, end);
	if (*p == '-' && p + 1 < end && p[1] == '>')
		return p + 2;
	return memchr("<([{", *p, 4) ? skip_group(start, p, end) : p + 1;
}

void demangle_short(const char *demangled, struct buf *out)
{
	demangle_short_cuts(demangled, out, NULL);
}

void demangle_short_cuts(const char *demangled, struct buf *out,
			 struct short_cuts *cuts)
{
	size_t n = strlen(demangled);
	struct shortener s = { .p = demangled, .cuts = cuts };
	uint8_t *room;

	if (shorten_go(demangled, n, out))
		return;
	room = buf_room(out, 2 * n + 16);
	if (!room)
		return;
	s.end = demangled + without_hash(demangled, n);
	s.out = (char *)room;
	s.out_start = s.out;
	if (!strpbrk(demangled, "<([{") || is_plain(demangled) ||
	    !shorten(&s)) {
		if (cuts)
			cuts->n = 0;
		s.out = (char *)room;
		memcpy(s.out, demangled, (size_t)(s.end - demangled));
		s.out += s.end - demangled;
	}
	out->n += (size_t)((uint8_t *)s.out - room);
}
