// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kerncat -i BUILD-ID -b BASE [options]: names kernel addresses as a recording's
 * are named.  Reads hexadecimal addresses, one a line, and prints their frames as
 * llvm-symbolizer does (name, file:line:column, an empty line); the note of the
 * image at the end, behind "# ".
 *	-m NAME	they are a module's
 *	-r RELEASE  of the kernel
 *	-d DIR	where debug files are
 *	-v FILE	the kernel's file
 *	-k FILE	its kallsyms
 *	-o FILE	before that, names were looked up in this kallsyms only
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/symbolize_profile.h"

static void parse_id(const char *text, struct build_id *id)
{
	unsigned int byte;

	for (; id->len < BUILD_ID_MAX && sscanf(text, "%2x", &byte) == 1;
	     text += 2)
		id->bytes[id->len++] = (uint8_t)byte;
}

static void print_loc(const struct profile *p, uint32_t loc)
{
	uint32_t at = profile_loc_frame(p, loc);

	if (at == PROF_NONE)
		puts("??\n??:0:0");
	for (; at != PROF_NONE; at = p->frames.v[at].outer) {
		const struct prof_frame *f = &p->frames.v[at];
		const char *file = profile_cstr(p, f->file);

		printf("%s\n%s:%u:%u\n",
		       profile_cstr(p, p->funcs.v[f->func].name),
		       *file ? file : "??", f->line, f->column);
	}
	puts("");
}

static void fill(struct profile *p, const struct symbolize_options *o)
{
	struct error err;

	if (profile_symbolize(p, o, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
}

/* Reads the addresses; where each one's location is. */
static size_t read_addresses(struct profile *p, uint32_t **out)
{
	uint64_t base = p->images.v[0].base;
	size_t n = 0;
	char line[64];

	*out = NULL;
	while (fgets(line, sizeof(line), stdin)) {
		*out = realloc(*out, (n + 1) * sizeof(**out));
		if (!*out)
			exit(2);
		(*out)[n++] = profile_loc(p, 0, strtoull(line, NULL, 16) -
						base);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct prof_image im = { .kind = PROF_IMAGE_KERNEL };
	struct symbolize_options o = { 0 }, first = { 0 };
	const char *name = "[kernel]", *release = "none";
	uint32_t *locs;
	struct profile p;
	size_t n, i;
	int c;

	while ((c = getopt(argc, argv, "i:b:m:r:d:v:k:o:")) != -1) {
		switch (c) {
		case 'i': parse_id(optarg, &im.build_id); break;
		case 'b': im.base = strtoull(optarg, NULL, 16); break;
		case 'm': name = optarg; im.kind = PROF_IMAGE_MODULE; break;
		case 'r': release = optarg; break;
		case 'd': o.debug_dirs = first.debug_dirs = optarg; break;
		case 'v': o.vmlinux = optarg; break;
		case 'k': o.kallsyms = optarg; break;
		case 'o': first.kallsyms = optarg; break;
		default: return 2;
		}
	}
	if (profile_init(&p) < 0)
		return 2;
	im.path = profile_str(&p, name);
	if (vec_push(&p.images, im) < 0 ||
	    profile_set_env(&p, PROF_NONE, "kernel", release) < 0)
		return 2;
	n = read_addresses(&p, &locs);
	if (first.kallsyms) {
		first.debug_dirs = "/nonexistent";
		fill(&p, &first);
	}
	fill(&p, &o);
	for (i = 0; i < n; i++)
		print_loc(&p, locs[i]);
	printf("# %s\n", profile_cstr(&p, p.images.v[0].note));
	free(locs);
	profile_fini(&p);
	return 0;
}
