// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads single lines of source: see source_line.h. */
#include "check/source_line.h"

#include <ctype.h>
#include <strings.h>

#include "base/vec.h"

struct text text_trimmed(struct text t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

static bool is_word(struct text t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.p, word, t.n);
}

static bool is_one_of(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t.n == strlen(words[i]) && !strncasecmp(t.p, words[i], t.n))
			return true;
	return false;
}

enum source_language source_language(struct text path)
{
	static const char *const c[] = {
		"c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++",
		"inc", "inl", "ipp", "tcc", "m", "mm", "cu", "cuh", "cl", "s",
		"y", "l", "java", "js", "jsx", "mjs", "cjs", "ts", "tsx", "cs",
		"go", "rs", "swift", "kt", "kts", "scala", "groovy", "d", "dart",
		"php", "zig", "v", "proto", "css", "scss",
	};
	static const char *const hash[] = {
		"sh", "bash", "zsh", "ksh", "fish", "py", "pyx", "pyi", "rb",
		"pl", "pm", "tcl", "awk", "r", "jl", "nim", "ex", "exs", "cr",
		"mk", "am", "ac", "cmake", "yml", "yaml", "toml", "cfg", "conf",
		"Makefile", "GNUmakefile", "Kbuild", "Kconfig", "Dockerfile",
		"Rakefile", "Gemfile", "configure", "SConstruct", "BUILD",
	};
	struct text name = path;

	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/' || path.p[i] == '.')
			name = (struct text){ path.p + i + 1, path.n - i - 1 };
	if (is_one_of(name, c, COUNT(c)))
		return SOURCE_C;
	return is_one_of(name, hash, COUNT(hash)) ||
	       text_begins(name, "Makefile") ? SOURCE_HASH : SOURCE_OTHER;
}

/* Letters of names, including those of C++ scopes and destructors. */
static bool in_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_$:~", c)) ||
	       (unsigned char)c >= 0x80;
}

/* Returns the name that ends at `end`, after skipping template arguments. */
static struct text name_before(struct text t, size_t end)
{
	size_t first;
	int depth = 0;

	while (end && isspace((unsigned char)t.p[end - 1]))
		end--;
	if (end && t.p[end - 1] == '>') {
		do {
			end--;
			depth += t.p[end] == '>' ? 1 : t.p[end] == '<' ? -1 : 0;
		} while (end && depth);
	}
	for (first = end; first && in_name(t.p[first - 1]);)
		first--;
	while (first < end && (t.p[first] == ':'))
		first++;
	return (struct text){ t.p + first, end - first };
}

/* Returns the first index at or after `at` that is no blank. */
static size_t skip_blanks(struct text t, size_t at)
{
	while (at < t.n && isspace((unsigned char)t.p[at]))
		at++;
	return at;
}

/* Returns the index after the bracket that closes the one at `at`, of one kind. */
static size_t close_of(struct text t, size_t at, char open, char close)
{
	int depth = 0;

	for (; at < t.n; at++) {
		depth += t.p[at] == open ? 1 : t.p[at] == close ? -1 : 0;
		if (!depth)
			return at + 1;
	}
	return t.n + 1;
}

/* Returns the index after template arguments, or after the attributes [[…]] or the
 * brackets of a type int[], that begin at `at`; `at` if there are none. */
static size_t skip_group(struct text t, size_t at)
{
	size_t end = at;

	if (t.p[at] == '<' && at + 1 < t.n && !strchr("<=", t.p[at + 1]))
		end = close_of(t, at, '<', '>');
	else if (t.p[at] == '[' && at + 1 < t.n && t.p[at + 1] == '[')
		end = close_of(t, at, '[', ']');
	else if (t.p[at] == '[' && at + 2 < t.n && t.p[at + 1] == ']' &&
		 in_name(t.p[skip_blanks(t, at + 2) < t.n
			     ? skip_blanks(t, at + 2) : at]))
		end = at + 2;
	return end > t.n ? at : end;
}

/* Returns the name of a pointer in parentheses that begin at `at`, such as "table" of
 * int (*table[])(int); "" if it is none. */
static struct text pointer_name(struct text t, size_t at)
{
	size_t first = skip_blanks(t, at + 1), after = close_of(t, at, '(', ')');
	struct text none = { t.p, 0 };

	if (first >= t.n || (t.p[first] != '*' && t.p[first] != '^'))
		return none;
	after = after < t.n ? skip_blanks(t, after) : t.n;
	if (after >= t.n || (t.p[after] != '(' && t.p[after] != '['))
		return none;
	/* int (*const table[])(int) */
	while (first < t.n && (t.p[first] == '*' || t.p[first] == '^' ||
			       in_name(t.p[first]) ||
			       isspace((unsigned char)t.p[first])))
		first++;
	return name_before(t, first);
}

/* Returns "operator==" with its scope; "" if the line declares none. */
static struct text operator_name(struct text t)
{
	static const char word[] = "operator";
	const char *at = memmem(t.p, t.n, word, sizeof(word) - 1);
	size_t first, end;

	if (!at || (at > t.p && in_name(at[-1]) && at[-1] != ':'))
		return (struct text){ t.p, 0 };
	first = (size_t)(at - t.p);
	end = first + sizeof(word) - 1;
	if (end < t.n && (isalnum((unsigned char)t.p[end]) || t.p[end] == '_'))
		return (struct text){ t.p, 0 };
	while (first && in_name(t.p[first - 1]))
		first--;
	end = skip_blanks(t, end);
	if (end + 1 < t.n && t.p[end] == '(' && t.p[end + 1] == ')')
		end += 2;
	while (end < t.n && t.p[end] != '(')
		end++;
	return text_trimmed((struct text){ t.p + first, end - first });
}

/* Returns whether parentheses after this word hold no parameters. */
static bool is_attribute(struct text name)
{
	static const char *const words[] = { "__attribute__", "__declspec",
		"alignas", "_Alignas", "decltype", "typeof", "__typeof__",
		"noexcept", "explicit", "requires", "func" };

	return !name.n || is_one_of(name, words, COUNT(words));
}

/* Returns whether = at this index assigns: not one of ==, <=, >=, != and =>. */
static bool assigns(struct text t, size_t i)
{
	return t.p[i] == '=' && !(i && strchr("=<>!", t.p[i - 1])) &&
	       !(i + 1 < t.n && strchr("=>", t.p[i + 1]));
}

/* Returns the name before parameters, an initial value, an array's size or a body,
 * whichever comes first. */
static struct text declarator(struct text t)
{
	struct text name = operator_name(t);

	for (size_t i = 0, end; !name.n && i < t.n; i = end) {
		end = skip_group(t, i);
		if (end > i)
			continue;
		end = i + 1;
		if (t.p[i] == '(') {
			name = pointer_name(t, i);
			if (name.n)
				break;
			name = name_before(t, i);
			if (!is_attribute(name))
				break;
			name.n = 0;
			end = close_of(t, i, '(', ')');
		} else if (t.p[i] == ':' && i + 1 < t.n && t.p[i + 1] == ':') {
			end = i + 2;
		} else if (assigns(t, i) || (t.p[i] && strchr("[{;:", t.p[i]))) {
			name = name_before(t, i);
		}
	}
	return name.n ? name : name_before(t, t.n);
}

/* Returns whether a line is this directive of the C preprocessor, with what follows
 * its name. */
static bool directive(struct text t, const char *name, struct text *rest)
{
	size_t n = strlen(name);

	if (!text_begins(t, "#"))
		return false;
	t = text_trimmed((struct text){ t.p + 1, t.n - 1 });
	if (!text_begins(t, name))
		return false;
	*rest = text_trimmed((struct text){ t.p + n, t.n - n });
	return true;
}

struct text source_declared(struct text line)
{
	struct text t = text_trimmed(line), name = { t.p, 0 };

	if (text_begins(t, "#")) {
		if (!directive(t, "define", &t))
			return name;
		while (name.p = t.p, name.n < t.n && in_name(t.p[name.n]))
			name.n++;
		return name;
	}
	name = declarator(t);
	if (name.n && isdigit((unsigned char)*name.p))
		name.n = 0;
	return name;
}

bool source_is_complete(struct text line)
{
	struct text t = text_trimmed(line);

	return t.n && (t.p[t.n - 1] == ';' || t.p[t.n - 1] == '}');
}

/* Returns whether a line is "TYPE NAME;". */
static bool is_variable(struct text t)
{
	return t.n && t.p[t.n - 1] == ';' && memchr(t.p, ' ', t.n) &&
	       !text_begins(t, "return ") && !text_begins(t, "using ") &&
	       !text_begins(t, "import ");
}

static bool looks_declared(struct text t, enum source_language l,
			   const struct source_state *s)
{
	struct text d = text_trimmed(t), rest;

	if (!t.n)
		return false;
	if (*t.p == '#')
		return l != SOURCE_HASH && directive(t, "define", &rest);
	if (!isalpha((unsigned char)*t.p) && *t.p != '_' && *t.p != '$' &&
	    !text_begins(t, "[["))
		return false;
	/* "out:" is a label, "class X:" is not */
	if (d.p[d.n - 1] == ':' && !memchr(d.p, ' ', d.n))
		return false;
	/* "int a;" before the body of a function is one of its parameters */
	if (s->in_declaration && is_variable(d) && !memchr(d.p, '=', d.n) &&
	    !memchr(d.p, '{', d.n) && !memchr(d.p, '(', d.n))
		return false;
	return memchr(d.p, '(', d.n) || memchr(d.p, '{', d.n) ||
	       memchr(d.p, '=', d.n) || d.p[d.n - 1] == ':' ||
	       text_begins(d, "struct ") || text_begins(d, "class ") ||
	       is_variable(d);
}

bool source_declares(struct text line, enum source_language l,
		     struct source_state *s)
{
	bool found = !s->in_comment && looks_declared(line, l, s);

	/* a macro may be defined within a function */
	if (found && *line.p != '#')
		s->in_declaration = !source_is_complete(line);
	else if (text_begins(line, "}"))
		s->in_declaration = false;
	return found;
}

/* Returns the index after a string or character at `at`; `at` if there is none. */
static size_t skip_quoted(struct text t, size_t at)
{
	size_t i = at + 1;

	/* 'a' and '\n', not the lifetime 'a of Rust or a digit separator */
	if (t.p[at] == '\'' &&
	    !(at + 2 < t.n && (t.p[at + 1] == '\\' || t.p[at + 2] == '\'')))
		return at;
	if (t.p[at] != '"' && t.p[at] != '\'')
		return at;
	while (i < t.n && t.p[i] != t.p[at])
		i += t.p[i] == '\\' ? 2 : 1;
	return i < t.n ? i + 1 : t.n;
}

/* Returns whether a line of C has letters or digits outside comments. */
static bool c_has_code(struct text t, bool *in_comment)
{
	bool code = false;

	for (size_t i = 0, end; i < t.n; i = end) {
		struct text rest = { t.p + i, t.n - i };

		end = i + 1;
		if (*in_comment) {
			*in_comment = !text_begins(rest, "*/");
			end += !*in_comment;
		} else if (text_begins(rest, "//")) {
			break;
		} else if (text_begins(rest, "/*")) {
			*in_comment = true;
			end = i + 2;
		} else if (skip_quoted(t, i) > i) {
			end = skip_quoted(t, i);
			code = true;
		} else {
			code |= isalnum((unsigned char)t.p[i]) != 0;
		}
	}
	return code;
}

/* Returns whether a line looks like the middle of a comment of C. */
static bool is_middle(struct text t)
{
	return text_begins(t, "* ") || text_begins(t, "*/") || is_word(t, "*");
}

bool source_has_code(struct text line, enum source_language l,
		     struct source_state *s)
{
	struct text t = text_trimmed(line);

	if (l == SOURCE_C) {
		if (s->guess && !s->in_comment && is_middle(t))
			return false;
		return c_has_code(t, &s->in_comment);
	}
	if (text_begins(t, "#") && (l == SOURCE_HASH || text_begins(t, "# ") ||
				    text_begins(t, "#!")))
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (isalnum((unsigned char)t.p[i]))
			return true;
	return false;
}
