// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `tally addr2line`: translates addresses to functions, files and lines.  It has the
 * options and the output of binutils' addr2line, so that it can replace that.
 */
#include "config.h"

#include "cmd/addr2line.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/debug_dirs.h"
#include "cmd/verify.h"
#include "image/image.h"

/* Functions by name.  The table is built for the first name. */
struct symbol_name {
	const char *name;	/* owned by the image */
	uint64_t vaddr;
};

struct symbol_names {
	struct image *img;
	bool read;		/* the symbols have been read */
	bool failed;		/* out of memory */
	VEC(struct symbol_name) syms;
	struct idtab tab;
};

static void symbol_names_init(struct symbol_names *s, struct image *img)
{
	*s = (struct symbol_names){ .img = img };
}

static void symbol_names_fini(struct symbol_names *s)
{
	vec_fini(&s->syms);
	idtab_fini(&s->tab);
}

static bool same_name(const void *ctx, uint32_t id, const void *key)
{
	const struct symbol_names *s = ctx;

	return !strcmp(s->syms.v[id].name, key);
}

static uint64_t hash_name(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static bool add_symbol(void *ctx, const struct image_symbol *sym)
{
	struct symbol_names *s = ctx;
	uint64_t hash = hash_name(sym->name);

	if (idtab_find(&s->tab, hash, same_name, s, sym->name) != IDTAB_NONE)
		return true;
	s->failed = s->syms.n >= IDTAB_NONE ||
		    vec_push(&s->syms, (struct symbol_name){
				sym->name, sym->vaddr }) < 0 ||
		    idtab_add(&s->tab, hash, (uint32_t)s->syms.n - 1) < 0;
	return !s->failed;
}

/* Finds the address of the first symbol of that name.  Returns false if there is
 * none. */
static bool symbol_names_find(struct symbol_names *s, const char *name,
			      uint64_t *vaddr)
{
	uint32_t id;

	if (!s->read) {
		s->read = true;
		image_each_symbol(s->img, IMAGE_SYMTAB, add_symbol, s);
		image_each_symbol(s->img, IMAGE_DYNSYM, add_symbol, s);
	}
	id = idtab_find(&s->tab, hash_name(name), same_name, s, name);
	if (id == IDTAB_NONE)
		return false;
	*vaddr = s->syms.v[id].vaddr;
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

static void addresses_init(struct addresses *a, int fd,
			   struct symbol_names *names)
{
	memset(a, 0, offsetof(struct addresses, text));
	a->fd = fd;
	a->names = names;
}

static void addresses_fini(struct addresses *a)
{
	vec_fini(&a->batch);
}

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
	bool functions, inlines, addresses, pretty, basenames;
	bool demangled, short_names, json, no_recurse_limit, recurse_limit;
	bool version, verify;
};

#define AT(field) offsetof(struct addr2line_opts, field)
static const struct opt addr2line_opt_table[] = {
	{ OPT_STR, 'e', "exe", "FILE",
	  "The program or library. Default: a.out.", AT(exe) },
	{ OPT_FLAG, 'f', "functions", NULL, "Show functions.", AT(functions) },
	{ OPT_FLAG, 'i', "inlines", NULL,
	  "Also show the functions that an inlined function was inlined into.",
	  AT(inlines) },
	{ OPT_FLAG, 'C', NULL, NULL, "Demangle names.",
	  AT(demangled) },
	{ OPT_OPTSTR, 0, "demangle", "STYLE",
	  "The same. STYLE is as in binutils, but the style of each name is "
	  "detected; 'none' turns demangling off.", AT(demangle) },
	{ OPT_FLAG, 0, "short", NULL,
	  "Demangle names without template arguments and parameters.",
	  AT(short_names) },
	{ OPT_FLAG, 'p', "pretty-print", NULL, "Print one line for each "
	  "function.",
	  AT(pretty) },
	{ OPT_FLAG, 'a', "addresses", NULL, "Print each address before its "
	  "result.", AT(addresses) },
	{ OPT_FLAG, 's', "basenames", NULL, "Print file names without "
	  "directories.",
	  AT(basenames) },
	{ OPT_STR, 'j', "section", "NAME",
	  "Take addresses relative to the start of this section.",
	  AT(section) },
	{ OPT_FLAG, 0, "json", NULL,
	  "Print one JSON object for each address, with all details.",
	  AT(json) },
	DEBUG_DIR_ROW("", AT(debug_dirs)),
	{ OPT_FLAG, 0, "verify", NULL,
	  "Compare the results with those of libdw and print each difference "
	  "instead. Exit status 1 if there is an unexplained difference.",
	  AT(verify) },
	{ OPT_STR, 'b', "target", "NAME",
	  "Accepted for compatibility with binutils and ignored.",
	  AT(target) },
	{ OPT_FLAG, 'r', "no-recurse-limit", NULL,
	  "Accepted for compatibility with binutils; the length of names is "
	  "always bounded.",
	  AT(no_recurse_limit) },
	{ OPT_FLAG, 'R', "recurse-limit", NULL, "The same.",
	  AT(recurse_limit) },
	{ OPT_FLAG, 'v', "version", NULL, "Show the version.", AT(version) },
	{ OPT_FLAG, 'V', NULL, NULL, "The same.", AT(version) },
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

static int by_vaddr(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr) ?: ascending(x->at, y->at);
}

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	struct lookup *l = ctx;
	size_t most = l->style.inlines ? r->nframes : 1;
	size_t n = r->nframes < most ? r->nframes : most;

	if (l->verify)
		l->nomem = cmd_verify_add(l->verify, r) < 0;
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
	qsort(l->sorted.v, l->sorted.n, sizeof(*l->sorted.v), by_vaddr);
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
	rc = answers_reset(&l->ans, n);
	if (!rc)
		rc = sort_batch(l, addrs, n);
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
	struct addresses *a = malloc(sizeof(*a));
	int rc = 0;

	if (!a)
		return error_nomem(err);
	addresses_init(a, STDIN_FILENO, &l->names);
	err->code = 0;
	while (rc >= 0 && !ferror(io->out) && addresses_next(a, err))
		rc = answer(io, l, a->batch.v, a->batch.n, err);
	if (rc >= 0 && err->code)
		rc = -err->code;
	addresses_fini(a);
	free(a);
	return rc;
}

static int find_section(struct lookup *l, const char *exe, struct image *img,
			const char *name, struct error *err)
{
	l->limit = UINT64_MAX;
	if (name && !image_section_range(img, name, &l->bias, &l->limit))
		return error_set(err, ERR_NOTFOUND, "%s: no section %s", exe,
				 name);
	return 0;
}

static struct answer_style style_of(const struct cmd_io *io,
				    const struct addr2line_opts *o)
{
	return (struct answer_style){
		.functions = o->functions,
		.inlines = o->inlines || o->json,
		.addresses = o->addresses,
		.pretty = o->pretty,
		.basenames = o->basenames,
		.demangle = o->demangled || o->demangle || o->short_names ||
			    o->json,
		.short_names = o->short_names,
		.json = o->json,
		.safe = io->out_tty,
		.digits = 16,
	};
}

static int look_up(struct cmd_io *io, const struct addr2line_opts *o,
		   struct lookup *l, struct image *img, int argc, char **argv,
		   struct error *err)
{
	struct buf dirs = { 0 };
	struct sym_options so = { 0 };
	struct verify_cases cases = { 0 };
	const char *exe = image_name(img);
	int rc = find_section(l, exe, img, o->section, err);

	if (!image_is_64(img))
		l->style.digits = 8;
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
	symbol_names_init(&l->names, img);
	rc = argc ? answer_words(io, l, argc, argv, err)
		  : answer_lines(io, l, err);
	if (rc >= 0 && o->verify)
		rc = cmd_verify_image(io, img, l->s, so.debug_dirs, &cases, err);
	verify_cases_fini(&cases);
	buf_fini(&dirs);
	symbol_names_fini(&l->names);
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
	struct lookup l = { .style = style_of(io, o) };
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
