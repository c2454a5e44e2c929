// SPDX-License-Identifier: GPL-2.0-or-later
/* Names and templates of D: see demangle_d.h. */
#include "symbolize/demangle/demangle_d.h"

size_t d_read_number(struct d_reader *r)
{
	size_t v = 0;

	if (!d_is_digit(d_peek(r)))
		d_fail(r);
	while (d_is_digit(d_peek(r)) && v < 1u << 30)
		v = v * 10 + (size_t)(r->s[r->at++] - '0');
	if (v >= 1u << 30)
		d_fail(r);
	return v;
}

size_t d_read_reference(struct d_reader *r)
{
	size_t from = r->at++, v = 0;

	while (r->at < r->n && v < r->n) {
		char c = r->s[r->at++];

		if (c >= 'a' && c <= 'z') {
			v = v * 26 + (size_t)(c - 'a');
			return v && v <= from ? from - v : r->n;
		}
		if (c < 'A' || c > 'Z')
			break;
		v = v * 26 + (size_t)(c - 'A');
	}
	return r->n;
}

/* Turns "ab" behind `from` into "ba"; b starts at mid. */
static void reverse(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t c = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = c;
	}
}

void d_swap_parts(struct d_reader *r, size_t from, size_t mid)
{
	uint8_t *p = r->out->p + from;
	size_t n = r->out->n - from, a = mid - from;

	if (r->out->failed)
		return;
	r->steps += (uint32_t)(n / 16);
	reverse(p, a);
	reverse(p + a, n - a);
	reverse(p, n);
}

static const char *special_name(const char *s, size_t n)
{
	static const char *const names[][2] = {
		{ "__ctor", "this" }, { "__dtor", "~this" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i][0]) == n && !memcmp(s, names[i][0], n))
			return names[i][1];
	return NULL;
}

static bool at_template(const struct d_reader *r)
{
	return r->n - r->at > 3 && !memcmp(r->s + r->at, "__", 2) &&
	       (r->s[r->at + 2] == 'T' || r->s[r->at + 2] == 'U');
}

/* A whole symbol, _D name type, or only its name. */
static void read_symbol_argument(struct d_reader *r)
{
	size_t end;

	if (d_peek(r) != '_' || d_peek_at(r, 1) != 'D') {
		d_read_qualified(r, false);
		return;
	}
	r->at += 2;
	d_read_qualified(r, false);
	end = r->out->n;
	if (!r->bad && !d_accept(r, 'Z'))
		d_read_type(r);
	if (!r->bad)
		r->out->n = end;
}

static bool read_template_args(struct d_reader *r)
{
	bool first = true;

	for (; !d_accept(r, 'Z'); first = false) {
		if (!d_enter(r))
			return false;
		r->depth--;
		if (!first)
			d_put(r, ", ");
		d_accept(r, 'H');		/* specialized */
		if (d_accept(r, 'T')) {
			d_read_type(r);
		} else if (d_accept(r, 'V')) {
			d_read_value_argument(r);
		} else if (d_accept(r, 'S')) {
			read_symbol_argument(r);
		} else if (d_accept(r, 'X')) {
			size_t n = d_read_number(r);

			if (r->bad || n > r->n - r->at)
				return d_fail(r);
			buf_bytes(r->out, r->s + r->at, n);
			r->at += n;
		} else {
			return d_fail(r);
		}
	}
	return !r->bad;
}

static void read_identifier(struct d_reader *r);

static void read_template(struct d_reader *r)
{
	r->at += 3;
	if (!d_is_digit(d_peek(r)) && d_peek(r) != 'Q') {
		d_fail(r);
		return;
	}
	read_identifier(r);
	d_put(r, "!(");
	read_template_args(r);
	d_put(r, ")");
}

/* A name with its length; templates of old compilers have theirs in there. */
static void read_lname(struct d_reader *r)
{
	size_t n = d_read_number(r), all = r->n;
	const char *special;

	if (r->bad || !n || n > r->n - r->at) {
		d_fail(r);
		return;
	}
	if (n > 5 && at_template(r)) {
		r->n = r->at + n;
		read_template(r);
		if (r->at != r->n)
			d_fail(r);
		r->n = all;
		return;
	}
	r->steps += (uint32_t)(n / 16);
	special = special_name(r->s + r->at, n);
	if (special)
		d_put(r, special);
	else
		buf_bytes(r->out, r->s + r->at, n);
	r->at += n;
}

static void read_identifier(struct d_reader *r)
{
	size_t to, at;

	if (!d_enter(r))
		return;
	if (d_peek(r) == 'Q') {
		to = d_read_reference(r);
		at = r->at;
		if (to >= r->n || !d_is_digit(r->s[to])) {
			d_fail(r);
		} else {
			r->at = to;
			read_lname(r);
			r->at = at;
		}
	} else if (at_template(r)) {
		read_template(r);
	} else {
		read_lname(r);
	}
	r->depth--;
}

/* True where a name goes on: a length, a template, a reference to a name. */
static bool at_symbol(struct d_reader *r)
{
	size_t at = r->at, to;

	if (d_peek(r) != 'Q')
		return d_is_digit(d_peek(r)) || at_template(r);
	to = d_read_reference(r);
	r->at = at;
	return to < r->n && d_is_digit(r->s[to]);
}

/* The parameters behind a name, when it is a function; what follows may also be
 * the type of a variable: then all is as it was. */
static void read_signature(struct d_reader *r, bool mods_last)
{
	struct buf mods = { 0 };
	struct d_reader saved = *r;
	size_t n = r->out->n;

	if (d_accept(r, 'M'))
		d_read_modifiers(r, &mods);
	if (d_at_call(r)) {
		r->at++;
		d_read_attributes(r, false);
		d_read_parameters(r);
	} else {
		d_fail(r);
	}
	if (r->bad) {
		saved.steps = r->steps;
		*r = saved;
		r->out->n = n;
	} else if (mods_last) {
		d_put(r, buf_cstr(&mods));
	}
	buf_fini(&mods);
}

void d_read_qualified(struct d_reader *r, bool mods_last)
{
	bool first = true;

	if (!d_enter(r))
		return;
	do {
		if (d_accept(r, '0')) {	/* no name of its own */
			while (d_accept(r, '0'))
				;
			continue;
		}
		if (!first)
			d_put(r, ".");
		first = false;
		read_identifier(r);
		if (!r->bad && (d_peek(r) == 'M' || d_at_call(r)))
			read_signature(r, mods_last);
	} while (!r->bad && at_symbol(r));
	r->depth--;
}

bool demangle_d(const char *s, size_t n, struct buf *out)
{
	struct d_reader r = { .s = s, .n = n, .at = 2, .out = out,
			    .start = out->n, .back = SIZE_MAX };
	size_t end;

	if (n == 6 && !memcmp(s, "_Dmain", 6)) {
		d_put(&r, "D main");
		return true;
	}
	if (n < 4 || s[0] != '_' || s[1] != 'D' ||
	    !(d_is_digit(s[2]) || at_template(&r)))
		return false;
	d_read_qualified(&r, true);
	end = out->n;
	if (!r.bad && !d_accept(&r, 'Z'))
		d_read_type(&r);		/* what it returns, or is */
	if (!r.bad && r.at == n && end - r.start <= D_OUT_MAX) {
		out->n = end;
		return true;
	}
	out->n = r.start;
	return false;
}
