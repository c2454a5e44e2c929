// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `tally addr2line`: translates addresses to functions, files and lines.  It has the
 * options and the output of binutils' addr2line, so that it can replace that.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/radix.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/open.h"
#include "image/image.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/symbolize.h"
#include "verify/verify.h"

/* --- answers of a batch of addresses, stored compactly, and their text */

/* The layout of answers, mostly options; addr2line(1) of binutils describes each. */
struct answer_style {
	bool functions, inlines, addresses, pretty, basenames;
	bool demangle, short_names;
	bool json;
	bool safe;		/* the output is a terminal: no control characters */
	int digits;		/* digits of an address, 8 or 16 */
};

/* A frame, reduced to what is shown. */
struct answer_frame {
	const char *name, *file;	/* owned by the symbolizer */
	uint32_t line, column;
	uint16_t lang;			/* language of the unit, which determines
					 * how the name is demangled */
};

struct answer {
	uint32_t first, n;	/* range in `frames`; n == 0: unresolved */
};

/* A readable name, cached because it is shown more than once. */
struct readable_name {
	const char *name;
	uint32_t uses;
	uint32_t at;		/* offset in text[worker], or NOT_MADE */
	uint16_t lang;
	uint8_t worker;		/* thread that makes it */
};

struct readable_names {
	VEC(struct readable_name) v;
	struct u64map index;	/* by linkage name and whether it is Ada's */
	struct buf text[2];	/* by worker */
};

struct answers {
	VEC(struct answer) by_addr;
	VEC(struct answer_frame) frames;
	struct readable_names names;
	struct buf out[2];
};

/*
 * Readable names of a batch.  Some take longer to make than everything else about an
 * address, and are ten times as long as linkage names.  Names shown more than once
 * are made once, by two threads, up to a limit.  Other names are made when they are
 * shown.
 */

enum { TEXT_LIMIT = 12 << 20 };
#define NOT_MADE UINT32_MAX

/* Runs fn(one) and fn(two), in parallel if possible. */
static void run_both(void *(*fn)(void *), void *one, void *two)
{
	pthread_t t;
	bool started = !pthread_create(&t, NULL, fn, two);

	fn(one);
	if (started)
		pthread_join(t, NULL);
	else
		fn(two);
}

/* The same linkage name may be Ada's in one unit and C's in another. */
static uint64_t key_of(const char *name, uint16_t lang)
{
	return (uint64_t)(uintptr_t)name | (uint64_t)lang_is_ada(lang) << 63;
}

static void make_name(const char *name, uint16_t lang, bool short_names,
		      struct buf *out)
{
	struct buf full = { 0 };

	if (!short_names) {
		demangle_as(lang, name, out);
		return;
	}
	demangle_as(lang, name, &full);
	demangle_short(buf_cstr(&full), out);
	buf_close(&full, out);
}

static int count_name(struct readable_names *r, const struct answer_frame *f)
{
	uint32_t *slot = u64map_slot(&r->index, key_of(f->name, f->lang));

	if (!slot)
		return -ERR_NOMEM;
	if (*slot == U64MAP_NONE) {
		*slot = (uint32_t)r->v.n;
		if (vec_push(&r->v, (struct readable_name){
				f->name, 0, NOT_MADE, f->lang, 0 }) < 0)
			return -ERR_NOMEM;
	}
	r->v.v[*slot].uses++;
	return 0;
}

struct maker {
	struct readable_names *r;
	uint8_t worker;		/* thread that makes it */
	bool short_names;
};

/* Makes every second name. */
static void *make_half(void *arg)
{
	struct maker *m = arg;
	struct buf *text = &m->r->text[m->worker];
	size_t i;

	for (i = m->worker; i < m->r->v.n && text->n < TEXT_LIMIT / 2; i += 2) {
		struct readable_name *n = &m->r->v.v[i];

		if (n->uses < 2)
			continue;
		n->worker = m->worker;
		n->at = (uint32_t)text->n;
		make_name(n->name, n->lang, m->short_names, text);
		buf_u8(text, '\0');
	}
	return NULL;
}

/* Makes the readable names of all frames that are shown more than once.  Returns 0
 * or -ERR_NOMEM. */
static int readable_names_make(struct readable_names *r,
			       const struct answer_frame *frames, size_t n,
			       bool short_names)
{
	struct maker one = { r, 0, short_names }, two = { r, 1, short_names };
	size_t i;

	u64map_clear(&r->index);
	r->v.n = 0;
	buf_reset(&r->text[0]);
	buf_reset(&r->text[1]);
	for (i = 0; i < n; i++)
		if (count_name(r, &frames[i]) < 0)
			return -ERR_NOMEM;
	run_both(make_half, &one, &two);
	return r->text[0].failed || r->text[1].failed ? -ERR_NOMEM : 0;
}

/* Appends the readable form of a name.  Safe to call from any thread. */
static void readable_name_put(const struct readable_names *r,
			      const struct answer_frame *f, bool short_names,
			      struct buf *out)
{
	uint32_t i = u64map_get(&r->index, key_of(f->name, f->lang));

	if (i != U64MAP_NONE && r->v.v[i].at != NOT_MADE)
		buf_str(out, (const char *)r->text[r->v.v[i].worker].p +
				     r->v.v[i].at);
	else
		make_name(f->name, f->lang, short_names, out);
}

enum {
	STEP = 256,		/* addresses that a thread formats at a time */
	THREADS_FROM = 512,	/* fewer addresses do not justify a thread */
};

static void answers_fini(struct answers *a)
{
	vec_fini(&a->by_addr);
	vec_fini(&a->frames);
	vec_fini(&a->names.v);
	u64map_fini(&a->names.index);
	buf_fini(&a->names.text[0]);
	buf_fini(&a->names.text[1]);
	buf_fini(&a->out[0]);
	buf_fini(&a->out[1]);
}

/* Makes room for n unresolved answers.  Returns 0 or -ERR_NOMEM. */
static int answers_reset(struct answers *a, size_t n)
{
	if (vec_reserve(&a->by_addr, n) < 0)
		return -ERR_NOMEM;
	if (n)
		memset(a->by_addr.v, 0, n * sizeof(*a->by_addr.v));
	a->by_addr.n = n;
	a->frames.n = 0;
	return 0;
}

/* Stores the first n frames of a result as the answer at position `at`. */
static int answers_set(struct answers *a, size_t at, const struct sym_result *r,
		       size_t n)
{
	if (a->frames.n > UINT32_MAX - n ||
	    vec_reserve(&a->frames, a->frames.n + n) < 0)
		return -ERR_NOMEM;
	a->by_addr.v[at] = (struct answer){ (uint32_t)a->frames.n,
					    (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		const struct sym_frame *f = &r->frames[i];

		a->frames.v[a->frames.n++] = (struct answer_frame){
			f->name, f->file, f->line, f->column,
			f->lang };
	}
	/* a function without DWARF: show the file at least */
	if (n && n == r->nframes && !*r->frames[n - 1].file)
		a->frames.v[a->frames.n - 1].file = r->sym_file;
	return 0;
}

/* The text that one thread makes of some answers. */
struct printer {
	const struct answers *a;
	const struct answer_style *st;
	const uint64_t *addrs;
	size_t from, to;
	struct buf *out, scratch;
};

static void put_text(struct printer *p, const char *s)
{
	if (p->st->safe)
		text_safe(p->out, s);
	else
		buf_str(p->out, s);
}

/* Returns the displayed name, stored in p->scratch. */
static const char *shown_name(struct printer *p, const struct answer_frame *f)
{
	buf_reset(&p->scratch);
	if (p->st->demangle)
		readable_name_put(&p->a->names, f, p->st->short_names,
				  &p->scratch);
	else
		buf_str(&p->scratch, f->name);
	p->out->failed |= p->scratch.failed;
	return buf_cstr(&p->scratch);
}

static void put_name(struct printer *p, const struct answer_frame *f)
{
	if (!*f->name)
		buf_str(p->out, "??");
	else if (p->st->safe)
		text_safe(p->out, shown_name(p, f));
	else if (p->st->demangle)
		readable_name_put(&p->a->names, f, p->st->short_names,
				  p->out);
	else
		buf_str(p->out, f->name);
}

static void put_hex(struct buf *out, uint64_t v, int digits)
{
	char text[18] = "0x";

	for (int i = 0; i < digits; i++)
		text[2 + i] = "0123456789abcdef"[v >> 4 * (digits - 1 - i) &
						 15];
	buf_bytes(out, text, 2 + (size_t)digits);
}

static const char *shown_file(const struct answer_style *st, const char *file)
{
	const char *slash = st->basenames ? strrchr(file, '/') : NULL;

	if (!*file)
		return "??";
	return slash ? slash + 1 : file;
}

static void put_frame(struct printer *p, const struct answer_frame *f)
{
	if (p->st->functions) {
		put_name(p, f);
		buf_str(p->out, p->st->pretty ? " at " : "\n");
	}
	put_text(p, shown_file(p->st, f->file));
	buf_u8(p->out, ':');
	if (f->line)
		buf_decimal(p->out, f->line);
	else
		buf_u8(p->out, '?');
	buf_u8(p->out, '\n');
}

static void put_answer(struct printer *p, uint64_t addr,
		       const struct answer *an)
{
	const struct answer_style *st = p->st;

	if (st->addresses) {
		put_hex(p->out, addr, st->digits);
		buf_str(p->out, st->pretty ? ": " : "\n");
	}
	if (!an->n) {
		if (st->functions)
			buf_str(p->out, st->pretty ? "?? " : "??\n");
		buf_str(p->out, "??:0\n");
	}
	for (uint32_t i = 0; i < an->n; i++) {
		if (i && st->pretty)
			buf_str(p->out, " (inlined by) ");
		put_frame(p, &p->a->frames.v[an->first + i]);
	}
}

static void put_json(struct printer *p, uint64_t addr, const struct answer *an)
{
	struct json j = json_on(p->out);

	json_object(&j, NULL);
	json_hex(&j, "address", addr);
	json_array(&j, "frames");
	for (uint32_t i = 0; i < an->n; i++) {
		const struct answer_frame *f = &p->a->frames.v[an->first + i];

		json_object(&j, NULL);
		json_str(&j, "function", shown_name(p, f));
		json_str(&j, "linkage_name", f->name);
		json_str(&j, "file",
			 *f->file ? shown_file(p->st, f->file) : "");
		json_uint(&j, "line", f->line);
		json_uint(&j, "column", f->column);
		json_bool(&j, "inlined", i + 1 < an->n);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(p->out, '\n');
}

static void *put_answers(void *arg)
{
	struct printer *p = arg;

	for (size_t i = p->from; i < p->to; i++) {
		const struct answer *an = &p->a->by_addr.v[i];

		if (p->st->json)
			put_json(p, p->addrs[i], an);
		else
			put_answer(p, p->addrs[i], an);
	}
	buf_fini(&p->scratch);
	return NULL;
}

static int write_out(struct buf *out, FILE *to, struct error *err)
{
	if (out->failed)
		return error_nomem(err);
	errno = 0;
	if (out->n && fwrite(out->p, 1, out->n, to) != out->n && errno != EPIPE)
		return error_errno(err, errno, "cannot write the output");
	buf_reset(out);
	return 0;
}

/* Prints the answers from `from` on, by one thread or two.  Returns the next one
 * to print. */
static size_t print_some(struct answers *a, const struct answer_style *st,
			 const uint64_t *addrs, size_t from, size_t n)
{
	size_t mid = n - from < STEP ? n : from + STEP;
	size_t end = n - mid < STEP ? n : mid + STEP;
	struct printer one = { a, st, addrs, from, mid, &a->out[0], { 0 } };
	struct printer two = { a, st, addrs, mid, end, &a->out[1], { 0 } };

	if (st->demangle && n >= THREADS_FROM && mid < end) {
		run_both(put_answers, &one, &two);
		return end;
	}
	put_answers(&one);
	return mid;
}

/* Writes the answers for n addresses in their order, and flushes. */
static int answers_print(struct answers *a, const struct answer_style *st,
			 const uint64_t *addrs, size_t n, FILE *to, struct error *err)
{
	size_t i = 0;
	int rc = 0;

	if (st->demangle && n >= THREADS_FROM)
		rc = readable_names_make(&a->names, a->frames.v, a->frames.n,
					 st->short_names);
	if (rc)
		return error_nomem(err);
	while (i < n && !rc) {
		i = print_some(a, st, addrs, i, n);
		rc = write_out(&a->out[0], to, err) ?: write_out(&a->out[1], to, err);
	}
	errno = 0;
	if (!rc && fflush(to) && errno != EPIPE)
		rc = error_errno(err, errno, "cannot write the output");
	return rc;
}

/* --- options, the file, input of addresses, batches */

/* Functions by name.  The table is built for the first name. */
struct symbol_names {
	struct image *img;
	bool failed;		/* out of memory */
	struct strtab names;	/* empty: the symbols have not been read */
	VEC(uint64_t) vaddr;	/* by id of the name */
};

static bool add_symbol(void *ctx, const struct image_symbol *sym)
{
	struct symbol_names *s = ctx;
	uint32_t id = strtab_add(&s->names, sym->name);

	s->failed |= id == UINT32_MAX ||
		     (id == s->vaddr.n && vec_push(&s->vaddr, sym->vaddr) < 0);
	return !s->failed;
}

/* Finds the address of the first symbol of that name.  Returns false if there is
 * none. */
static bool symbol_names_find(struct symbol_names *s, const char *name,
			      uint64_t *vaddr)
{
	uint32_t id;

	if (!s->vaddr.n) {
		s->failed |= strtab_init(&s->names) < 0 || vec_push(&s->vaddr, 0) < 0;
		if (!s->failed)
			image_each_symbol(s->img, IMAGE_SYMTAB, add_symbol, s);
		if (!s->failed)
			image_each_symbol(s->img, IMAGE_DYNSYM, add_symbol, s);
	}
	id = s->failed ? UINT32_MAX : strtab_find(&s->names, name);
	if (id == UINT32_MAX || !id)
		return false;
	*vaddr = s->vaddr.v[id];
	return true;
}

/*
 * Reads addresses as lines of text, in batches.  A batch is everything that can be
 * read without waiting.  A long file is thus looked up at once, and a program that
 * asks for single addresses gets each answer immediately.
 *
 * A line is interpreted as in binutils' addr2line: a function's name and "+OFFSET",
 * or the result of strtoull with base 16 (0 for anything else).  A line longer than
 * 99 bytes counts as several.
 */
struct addresses {
	int fd;
	struct symbol_names *names;
	bool eof;
	size_t at, n;			/* range of unread bytes in `text` */
	VEC(uint64_t) batch;
	char text[64 * 1024];
};

/* MAX_BATCH limits the memory for results. */
enum { MAX_LINE = 99, MAX_BATCH = 64 * 1024 };

/* Returns whether a word is a name.  A word that begins like a hexadecimal number
 * is a name only with an offset. */
static bool is_name(const char *word)
{
	if (isxdigit((unsigned char)*word))
		return !isdigit((unsigned char)*word) && strchr(word, '+');
	return *word && (isalpha((unsigned char)*word) || strchr("_.$", *word));
}

static uint64_t address_parse(const char *text, struct symbol_names *names)
{
	const char *end, *plus;
	uint64_t addr = 0;
	char *name;

	while (isspace((unsigned char)*text))
		text++;
	if (!is_name(text))
		return isxdigit((unsigned char)*text)
			? strtoull(text, NULL, 16) : 0;
	end = plus = text + strcspn(text, "+ \t\n\v\f\r");
	while (isspace((unsigned char)*plus))
		plus++;
	name = strndup(text, (size_t)(end - text));
	if (name && symbol_names_find(names, name, &addr) && *plus == '+')
		addr += strtoull(plus + 1, NULL, 0);
	free(name);
	return addr;
}

/* Parses one line of the text.  Returns false if there is no complete line. */
static bool take_line(struct addresses *a, uint64_t *out)
{
	const char *from = a->text + a->at;
	size_t left = a->n < MAX_LINE ? a->n : MAX_LINE;
	const char *end = memchr(from, '\n', left);
	char line[MAX_LINE + 1];
	size_t n;

	if (!end && left < MAX_LINE && !(a->eof && left))
		return false;
	n = end ? (size_t)(end - from) : left;
	memcpy(line, from, n);
	line[n] = '\0';
	*out = address_parse(line, a->names);
	n += end != NULL;
	a->at += n;
	a->n -= n;
	return true;
}

static int take_lines(struct addresses *a)
{
	uint64_t addr;

	while (a->batch.n < MAX_BATCH && take_line(a, &addr))
		if (vec_push(&a->batch, addr) < 0)
			return -ERR_NOMEM;
	return 0;
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static int read_more(struct addresses *a, struct error *err)
{
	ssize_t n;

	memmove(a->text, a->text + a->at, a->n);
	a->at = 0;
	do {
		n = read(a->fd, a->text + a->n, sizeof(a->text) - a->n);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_errno(err, errno, "cannot read addresses");
	a->eof = n == 0;
	a->n += (size_t)n;
	return 0;
}

/* Reads the next batch into a->batch.  Returns false at the end or on an error
 * (err->code). */
static bool addresses_next(struct addresses *a, struct error *err)
{
	int rc;

	a->batch.n = 0;
	while (!(rc = take_lines(a)) && a->batch.n < MAX_BATCH && !a->eof) {
		if (a->batch.n && !readable(a->fd))
			break;
		if (read_more(a, err) < 0)
			return false;
	}
	if (rc < 0) {
		error_nomem(err);
		return false;
	}
	return a->batch.n > 0;
}

struct addr2line_opts {
	const char *exe, *section, *target, *demangle;
	struct opt_strs debug_dirs;
	struct answer_style style;
	bool no_recurse_limit, recurse_limit, version, verify;
};

#define AT(field) offsetof(struct addr2line_opts, field)
static const struct opt addr2line_opt_table[] = {
	{ OPT_STR, 'e', "exe", "FILE", AT(exe),
	  "The program or library. Default: a.out." },
	{ OPT_FLAG, 'f', "functions", NULL, AT(style.functions), "Show functions." },
	{ OPT_FLAG, 'i', "inlines", NULL, AT(style.inlines),
	  "Also show the functions that an inlined function was inlined "
	  "into." },
	{ OPT_FLAG, 'C', NULL, NULL, AT(style.demangle), "Demangle names." },
	{ OPT_OPTSTR, 0, "demangle", "STYLE", AT(demangle),
	  "The same. STYLE is as in binutils, but the style of each name is "
	  "detected; 'none' turns demangling off." },
	{ OPT_FLAG, 0, "short", NULL, AT(style.short_names),
	  "Demangle names without template arguments and parameters." },
	{ OPT_FLAG, 'p', "pretty-print", NULL, AT(style.pretty),
	  "Print one line for each function." },
	{ OPT_FLAG, 'a', "addresses", NULL, AT(style.addresses),
	  "Print each address before its result." },
	{ OPT_FLAG, 's', "basenames", NULL, AT(style.basenames),
	  "Print file names without directories." },
	{ OPT_STR, 'j', "section", "NAME", AT(section),
	  "Take addresses relative to the start of this section." },
	{ OPT_FLAG, 0, "json", NULL, AT(style.json),
	  "Print one JSON object for each address, with all details." },
	DEBUG_DIR_ROW("", AT(debug_dirs)),
	{ OPT_FLAG, 0, "verify", NULL, AT(verify),
	  "Compare the results with those of libdw and print each difference "
	  "instead. Exit status 1 if there is an unexplained difference." },
	{ OPT_STR, 'b', "target", "NAME", AT(target),
	  "Accepted for compatibility with binutils and ignored." },
	{ OPT_FLAG, 'r', "no-recurse-limit", NULL, AT(no_recurse_limit),
	  "Accepted for compatibility with binutils; the length of names is "
	  "always bounded." },
	{ OPT_FLAG, 'R', "recurse-limit", NULL, AT(recurse_limit),
	  "The same." },
	{ OPT_FLAG, 'v', "version", NULL, AT(version), "Show the version." },
	{ OPT_FLAG, 'V', NULL, NULL, AT(version), "The same." },
	OPT_END
};
#undef AT

static int check_style(const char *style, bool *none, struct error *err)
{
	static const char *const styles[] = {
		"", "auto", "gnu-v3", "java", "gnat", "dlang", "rust", "none",
	};

	*none = style && !strcmp(style, "none");
	for (size_t i = 0; style && i < COUNT(styles); i++)
		if (!strcmp(style, styles[i]))
			return 0;
	return !style ? 0 : error_set(err, ERR_USAGE,
				      "no demangling style '%s': use auto, "
				      "gnu-v3, rust, dlang, gnat, java or none",
				      style);
}

struct sorted {
	uint64_t vaddr;
	uint32_t at;
};

/* Results of a batch, which are printed in the requested order. */
struct lookup {
	struct symbolizer *s;
	struct answers ans;
	struct answer_style style;
	VEC(struct sorted) sorted;
	VEC(uint64_t) vaddrs;
	struct symbol_names names;
	uint64_t bias, limit;		/* for the section of -j */
	bool nomem;
	struct verify_cases *verify;	/* receives the answers instead if not NULL */
};

/* Adds the answer about one address.  Returns 0 or -ERR_NOMEM. */
static int verify_add(struct verify_cases *c, const struct sym_result *r)
{
	struct verify_case v = { r->vaddr, (uint32_t)c->frames.n, 0 };

	for (size_t i = 0; i < r->nframes; i++, v.n++)
		if (vec_push(&c->frames, (struct verify_frame){
				r->frames[i].name, r->frames[i].file,
				r->frames[i].line }) < 0)
			return -ERR_NOMEM;
	return vec_push(&c->v, v) < 0 ? -ERR_NOMEM : 0;
}

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	struct lookup *l = ctx;
	size_t most = l->style.inlines ? r->nframes : 1;
	size_t n = r->nframes < most ? r->nframes : most;

	if (l->verify)
		l->nomem = verify_add(l->verify, r) < 0;
	else if (answers_set(&l->ans, l->sorted.v[i].at, r, n) < 0)
		l->nomem = true;
	return !l->nomem;
}

/* Sorts the requested addresses, converted to those of the file.  Addresses
 * outside of the section (-j) get no answer. */
static int sort_batch(struct lookup *l, const uint64_t *addrs, size_t n)
{
	l->sorted.n = l->vaddrs.n = 0;
	if (vec_reserve(&l->sorted, n) < 0 || vec_reserve(&l->vaddrs, n) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (addrs[i] < l->limit)
			l->sorted.v[l->sorted.n++] = (struct sorted){
				addrs[i] + l->bias, (uint32_t)i };
	if (radix_sort_rows(l->sorted.v, l->sorted.n, sizeof(*l->sorted.v),
			    offsetof(struct sorted, vaddr)) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < l->sorted.n; i++)
		l->vaddrs.v[i] = l->sorted.v[i].vaddr;
	return 0;
}

static int answer(struct cmd_io *io, struct lookup *l, uint64_t *addrs,
		  size_t n, struct error *err)
{
	int rc;

	for (size_t i = 0; i < n; i++)
		if (l->style.digits == 8)
			addrs[i] = (uint32_t)addrs[i];
	rc = answers_reset(&l->ans, n) ?: sort_batch(l, addrs, n);
	if (rc || l->names.failed)
		return error_nomem(err);
	rc = symbolizer_resolve(l->s, l->vaddrs.v, l->sorted.n, on_result, l,
				err);
	if (l->nomem)
		rc = error_nomem(err);
	if (!rc && !l->verify)
		rc = answers_print(&l->ans, &l->style, addrs, n, io->out, err);
	return rc;
}

static int answer_words(struct cmd_io *io, struct lookup *l, int argc,
			char **argv, struct error *err)
{
	VEC(uint64_t) addrs = { 0 };
	int rc = vec_reserve(&addrs, (size_t)argc) < 0 ? -ERR_NOMEM : 0;

	if (rc < 0)
		return error_nomem(err);
	for (int i = 0; i < argc; i++)
		addrs.v[i] = address_parse(argv[i], &l->names);
	rc = answer(io, l, addrs.v, (size_t)argc, err);
	vec_fini(&addrs);
	return rc;
}

static int answer_lines(struct cmd_io *io, struct lookup *l, struct error *err)
{
	struct addresses *a = calloc(1, sizeof(*a));
	int rc = 0;

	if (!a)
		return error_nomem(err);
	a->fd = STDIN_FILENO;
	a->names = &l->names;
	err->code = 0;
	while (rc >= 0 && !ferror(io->out) && addresses_next(a, err))
		rc = answer(io, l, a->batch.v, a->batch.n, err);
	if (rc >= 0 && err->code)
		rc = -err->code;
	vec_fini(&a->batch);
	free(a);
	return rc;
}

/* Compares a symbolizer's answers about an image with libdw's.  Returns the exit
 * status. */
static int verify(struct cmd_io *io, struct image *img, const struct symbolizer *s,
		  const char *debug_dirs, struct verify_cases *c, struct error *err)
{
	struct opinion_request q = {
		.path = image_name(img),
		.debug_file = symbolizer_sources(s).debug_file,
		.debug_dirs = debug_dirs,
	};
	struct build_id id = image_build_id(img);
	struct verify_counts counts = { 0 };
	struct buf out = { 0 };
	int rc = verify_image(&q, symbolizer_sources(s).go, &id, c, &counts, &out,
			      err);

	return cmd_verified(io, &counts, &out, rc, err);
}

static int look_up(struct cmd_io *io, const struct addr2line_opts *o,
		   struct lookup *l, struct image *img, int argc, char **argv,
		   struct error *err)
{
	struct buf dirs = { 0 };
	struct sym_options so = { 0 };
	struct verify_cases cases = { 0 };
	int rc = 0;

	l->style.digits = image_is_64(img) ? 16 : 8;
	if (o->section && !image_section_range(img, o->section, &l->bias, &l->limit))
		rc = error_set(err, ERR_NOTFOUND, "%s: no section %s", image_name(img),
			       o->section);
	if (rc >= 0)
		rc = cmd_debug_dirs(&o->debug_dirs, &dirs, err);
	so.debug_dirs = buf_cstr(&dirs);
	if (rc >= 0)
		rc = symbolizer_open(img, &so, &l->s, err);
	if (rc < 0) {
		buf_fini(&dirs);
		return rc;
	}
	l->verify = o->verify ? &cases : NULL;
	l->names.img = img;
	rc = argc ? answer_words(io, l, argc, argv, err)
		  : answer_lines(io, l, err);
	if (rc >= 0 && o->verify)
		rc = verify(io, img, l->s, so.debug_dirs, &cases, err);
	verify_cases_fini(&cases);
	buf_fini(&dirs);
	strtab_fini(&l->names.names);
	vec_fini(&l->names.vaddr);
	answers_fini(&l->ans);
	vec_fini(&l->sorted);
	vec_fini(&l->vaddrs);
	symbolizer_close(l->s);
	return rc;
}

static int run_addr2line(struct cmd_io *io, void *opts, int argc, char **argv,
			 struct error *err)
{
	const struct addr2line_opts *o = opts;
	struct lookup l = { .style = o->style, .limit = UINT64_MAX };
	struct image *img;
	bool none;
	int rc;

	if (o->version) {
		fprintf(io->out, "tally addr2line %s\n", PACKAGE_VERSION);
		return 0;
	}
	rc = check_style(o->demangle, &none, err);
	if (rc < 0)
		return rc;
	l.style.inlines |= l.style.json;
	l.style.demangle |= o->demangle || l.style.short_names || l.style.json;
	l.style.safe = io->out_tty;
	if (none)
		l.style.demangle = l.style.short_names = false;
	rc = image_open_file(o->exe ? o->exe : "a.out", &img, err);
	if (rc < 0)
		return rc;
	rc = look_up(io, o, &l, img, argc, argv, err);
	image_close(img);
	return rc;
}

const struct command cmd_addr2line = {
	.name = "addr2line",
	.summary = "show the function, file and line of addresses",
	.args = "[ADDRESS…]",
	.opts = addr2line_opt_table,
	.opts_size = sizeof(struct addr2line_opts),
	.at_files = true,
	.run = run_addr2line,
};
