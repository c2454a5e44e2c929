// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Holds a disassembler against objdump:
 *
 *	objdump -d -w FILE | disasmcmp [-i] [-v N] [-e tally|capstone]
 *
 * -i: Intel syntax (of `objdump -M intel`); -v: show N
 * differences of each mnemonic; -e: which one (capstone: only in builds for the
 * table of doc/disassembly.md).
 *
 * For each instruction that objdump shows, the same bytes are decoded.  The sizes
 * must be equal, and the texts as well after both were normalised by rules for
 * spelling alone: see normal.c.  Prints one line: instructions, sizes that
 * differ, texts that differ, and the time for decoding and formatting.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "disasm/disasm.h"
#include "normal.h"

#ifdef WITH_CAPSTONE
#include <capstone/capstone.h>
#endif

struct insn {
	uint64_t vaddr;
	uint8_t bytes[16];
	uint8_t size;
	char text[256];
};

struct engine {
	struct disasm *d;
	bool capstone;
#ifdef WITH_CAPSTONE
	csh cs;
	cs_insn *in;
#endif
};

static int hex(int c)
{
	return c >= '0' && c <= '9' ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "  401000:\t55 48 \tpush   %rbp" */
static bool parse(char *line, struct insn *in)
{
	char *p = line, *end;

	while (*p == ' ')
		p++;
	in->vaddr = strtoull(p, &end, 16);
	if (end == p || end[0] != ':' || end[1] != '\t')
		return false;
	p = end + 2;
	in->size = 0;
	while (hex(p[0]) >= 0 && hex(p[1]) >= 0 && in->size < 16) {
		in->bytes[in->size++] = (uint8_t)(hex(p[0]) << 4 | hex(p[1]));
		p += 3;
	}
	while (*p == ' ')
		p++;
	if (*p != '\t' || !in->size)
		return false;
	p++;
	p[strcspn(p, "\n")] = '\0';
	if (strlen(p) >= sizeof(in->text))
		return false;
	strcpy(in->text, p);
	return true;
}

#ifdef WITH_CAPSTONE
static void next_capstone(struct engine *e, const struct insn *in,
			  struct disasm_insn *out, char *text)
{
	const uint8_t *p = in->bytes;
	size_t n = in->size;
	uint64_t at = in->vaddr;

	*out = (struct disasm_insn){ .vaddr = at, .size = 1, .bad = true };
	strcpy(text, "(bad)");
	if (!cs_disasm_iter(e->cs, &p, &n, &at, e->in))
		return;
	out->size = (uint8_t)e->in->size;
	out->bad = false;
	snprintf(text, DISASM_TEXT_MAX, "%s %s", e->in->mnemonic,
		 e->in->op_str);
}
#endif

static void next(struct engine *e, const struct insn *in,
		 struct disasm_insn *out, char *text)
{
#ifdef WITH_CAPSTONE
	if (e->capstone) {
		next_capstone(e, in, out, text);
		return;
	}
#endif
	disasm_next(e->d, in->bytes, in->size, in->vaddr, out, text);
}

static bool engine_open(struct engine *e, bool intel)
{
	struct error err;

#ifdef WITH_CAPSTONE
	if (e->capstone) {
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &e->cs))
			return false;
		cs_option(e->cs, CS_OPT_SYNTAX,
			  intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
		e->in = cs_malloc(e->cs);
		return e->in != NULL;
	}
#endif
	if (disasm_open(EM_X86_64, intel ? SYNTAX_INTEL : SYNTAX_ATT, &e->d,
			&err) == 0)
		return true;
	fprintf(stderr, "%s\n", err.msg);
	return false;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct shown {
	char mnemonic[24];
	unsigned n;
};

static void show(const struct insn *in, const char *got, const char *a,
		 const char *b, unsigned most)
{
	static struct shown seen[4096];
	char word[24];
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(in->text, " "),
		 in->text);
	for (i = 0; i + 1 < 4096 && seen[i].n; i++)
		if (!strcmp(seen[i].mnemonic, word))
			break;
	strcpy(seen[i].mnemonic, word);
	if (seen[i].n++ < most)
		printf("%llx: want '%s' got '%s'\n    '%s' '%s'\n",
		       (unsigned long long)in->vaddr, in->text, got, a, b);
}

struct count {
	unsigned long n, sizes, texts;
	double time;
};

static void compare(struct engine *e, const struct insn *in, bool intel,
		    unsigned verbose, struct count *c)
{
	char text[DISASM_TEXT_MAX], a[512], b[512];
	struct disasm_insn out;
	bool bad = strstr(in->text, "(bad)") != NULL;

	next(e, in, &out, text);
	c->n++;
	if (bad && out.bad)
		return;
	if (out.size != in->size || out.bad != bad) {
		c->sizes++;
		c->texts++;
		if (verbose)
			show(in, text, "size", "", verbose);
		return;
	}
	normal(in->text, intel, a, sizeof(a));
	normal(text, intel, b, sizeof(b));
	if (strcmp(a, b)) {
		c->texts++;
		if (verbose)
			show(in, text, a, b, verbose);
	}
}

enum { BATCH = 65536 };

static void take_time(struct engine *e, const struct insn *v, size_t n,
		      struct count *c)
{
	char text[DISASM_TEXT_MAX];
	struct disasm_insn out;
	double start = seconds();

	for (size_t i = 0; i < n; i++)
		next(e, &v[i], &out, text);
	c->time += seconds() - start;
}

int main(int argc, char **argv)
{
	struct insn *v = malloc(BATCH * sizeof(*v));
	static char line[4096];
	struct engine e = { 0 };
	struct count c = { 0 };
	bool intel = false;
	unsigned verbose = 0;
	size_t n = 0, i;
	int o;

	while ((o = getopt(argc, argv, "iv:e:")) != -1) {
		if (o == 'i')
			intel = true;
		else if (o == 'v')
			verbose = (unsigned)atoi(optarg);
		else if (o == 'e')
			e.capstone = !strcmp(optarg, "capstone");
		else
			return 2;
	}
	if (!v || !engine_open(&e, intel))
		return 77;
	for (;;) {
		bool more = fgets(line, sizeof(line), stdin) != NULL;

		if (more && parse(line, &v[n]))
			n++;
		if (n == BATCH || !more) {
			take_time(&e, v, n, &c);
			for (i = 0; i < n; i++)
				compare(&e, &v[i], intel, verbose, &c);
			n = 0;
		}
		if (!more)
			break;
	}
	printf("%lu instructions, %lu other sizes, %lu other texts "
	       "(%.4f%% equal), %.0f ns each\n", c.n, c.sizes, c.texts,
	       c.n ? 100.0 - 100.0 * (double)c.texts / (double)c.n : 0,
	       c.n ? 1e9 * c.time / (double)c.n : 0);
	disasm_close(e.d);
	free(v);
	return c.sizes != 0;
}
