// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symcat [-p] [-e] [-d] [-q] [-x] [-D DIR] [-C DIR] [-n N] FILE: reads hexadecimal addresses,
 * one a line, and prints their frames as llvm-symbolizer does (name,
 * file:line:column, an empty line).
 *	-p	names as they stand in DWARF
 *	-e	name the outermost frame by its ELF symbol
 *	-d	add a line "decl FILE:LINE" to each frame
 *	-x	print instead: symbol (- if it has none), start, size
 *	-q	print only how many frames there were
 *	-D DIR	where separate debug files are
 *	-C DIR	the cache of results
 *	-n N	ask for N addresses at a time
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbolize/symbol_cache.h"
#include "symbolize/symbolize.h"

struct job {
	struct { uint64_t vaddr; size_t at; } *in;
	size_t n, batch, first;
	struct buf out;
	struct { size_t off, len; } *text;	/* by sorted position */
	bool plain, elf, decl, quiet, extent;
	uint64_t frames;
};

static int by_vaddr(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	struct job *j = ctx;
	size_t start = j->out.n, k;

	j->frames += r->nframes;
	if (j->quiet)
		return true;
	for (k = 0; k < r->nframes && !j->extent; k++) {
		const struct sym_frame *f = &r->frames[k];
		const char *name = f->name;

		if (j->plain && *f->plain)
			name = f->plain;
		if (j->elf && k + 1 == r->nframes && *r->symbol)
			name = r->symbol;
		buf_str(&j->out, *name ? name : "??");
		buf_printf(&j->out, "\n%s:%u:%u\n", *f->file ? f->file : "??",
			   f->line, f->column);
		if (j->decl)
			buf_printf(&j->out, "decl %s:%u\n",
				   *f->decl_file ? f->decl_file : "??",
				   f->decl_line);
	}
	if (j->extent)
		buf_printf(&j->out, "%s %" PRIx64 " %" PRIx64,
			   *r->symbol ? r->symbol : "-", r->sym_start,
			   r->sym_size);
	else if (!r->nframes)
		buf_str(&j->out, "??\n??:0:0\n");
	buf_u8(&j->out, '\n');
	j->text[j->first + i].off = start;
	j->text[j->first + i].len = j->out.n - start;
	return true;
}

static void read_addresses(struct job *j)
{
	size_t cap = 0;
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		if (j->n == cap) {
			cap = cap ? 2 * cap : 1024;
			j->in = realloc(j->in, cap * sizeof(*j->in));
			if (!j->in)
				exit(2);
		}
		j->in[j->n].vaddr = strtoull(line, NULL, 16);
		j->in[j->n].at = j->n;
		j->n++;
	}
}

static void print_all(const struct job *j)
{
	size_t *at = malloc((j->n + 1) * sizeof(*at)), i;

	if (!at || j->out.failed)
		exit(2);
	for (i = 0; i < j->n; i++)
		at[j->in[i].at] = i;
	for (i = 0; i < j->n; i++)
		fwrite(j->out.p + j->text[at[i]].off, 1, j->text[at[i]].len,
		       stdout);
	free(at);
}

static int resolve_all(struct job *j, struct symbolizer *s,
		       const uint64_t *vaddrs, struct error *err)
{
	size_t most = j->batch ? j->batch : j->n ? j->n : 1, n;
	int rc = 0;

	for (j->first = 0; j->first < j->n && !rc; j->first += n) {
		n = j->n - j->first < most ? j->n - j->first : most;
		rc = symbolizer_resolve(s, vaddrs + j->first, n, on_result, j,
					err);
	}
	return rc;
}

static void print_sources(struct sym_sources s)
{
	if (*s.damage)
		fprintf(stderr, "damage: %s\n", s.damage);
	if (*s.unreadable)
		fprintf(stderr, "unreadable: %s\n", s.unreadable);
	if (*s.missing)
		fprintf(stderr, "missing: %s\n", s.missing);
	if (*s.missing_alt)
		fprintf(stderr, "missing alternate file: %s\n", s.missing_alt);
	if (s.missing_dwo_units)
		fprintf(stderr, "missing: %zu split units, first %s\n",
			s.missing_dwo_units, s.missing_dwo);
}

static int run(struct job *j, const char *file, const char *debug_dir,
	       const struct symbol_cache *cache)
{
	struct sym_options o = { .debug_dirs = debug_dir, .cache = cache };
	uint64_t *vaddrs = malloc((j->n + 1) * sizeof(*vaddrs));
	struct symbolizer *s;
	struct image *img;
	struct error err;
	size_t i;

	j->text = calloc(j->n + 1, sizeof(*j->text));
	if (!vaddrs || !j->text)
		return 2;
	qsort(j->in, j->n, sizeof(*j->in), by_vaddr);
	for (i = 0; i < j->n; i++)
		vaddrs[i] = j->in[i].vaddr;
	if (image_open_file(file, &img, &err) < 0 ||
	    symbolizer_open(img, &o, &s, &err) < 0 ||
	    resolve_all(j, s, vaddrs, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	print_sources(symbolizer_sources(s));
	if (j->quiet)
		printf("%" PRIu64 "\n", j->frames);
	else
		print_all(j);
	symbolizer_close(s);
	image_close(img);
	free(vaddrs);
	return 0;
}

int main(int argc, char **argv)
{
	struct job j = { 0 };
	struct symbol_cache *cache = NULL;
	const char *dir = NULL;
	struct error err;
	int opt, rc;

	while ((opt = getopt(argc, argv, "pedqxC:D:n:")) > 0) {
		j.plain |= opt == 'p';
		j.elf |= opt == 'e';
		j.decl |= opt == 'd';
		j.quiet |= opt == 'q';
		j.extent |= opt == 'x';
		if (opt == 'D')
			dir = optarg;
		if (opt == 'C' &&
		    symbol_cache_open(optarg, 1 << 30, 0, &cache, &err) < 0)
			return 2;
		if (opt == 'n')
			j.batch = strtoul(optarg, NULL, 10);
	}
	if (optind + 1 != argc)
		return 2;
	read_addresses(&j);
	rc = run(&j, argv[optind], dir, cache);
	symbol_cache_close(cache);
	free(j.in);
	free(j.text);
	buf_fini(&j.out);
	return rc;
}
