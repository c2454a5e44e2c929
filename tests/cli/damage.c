// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * damage FILE STEP: cuts a recording at every STEP-th byte and turns every STEP-th
 * bit of it, and has each command that reads recordings read it, all in one
 * process.  Each must fail with an error that names the file, give what it gives
 * for the whole file, or say what is missing.  Works in the current folder;
 * prints what is wrong and, last, what became of how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/options.h"

#define DAMAGED "damaged.tally"

enum { WORDS = 8, WRONG_MAX = 20 };

enum outcome { FAILED, SAME, MARKED, SILENT, OUTCOMES };

struct line {
	const char *words[WORDS];
	char *whole;		/* its output for the whole file */
	size_t seen[OUTCOMES];
};

static char store[32];		/* a new one for each run */

static struct line lines[] = {
	{ .words = { "report", DAMAGED } },
	{ .words = { "report", "-g", DAMAGED } },
	{ .words = { "report", "--format=json", DAMAGED } },
	{ .words = { "report", "--format=csv", DAMAGED } },
	{ .words = { "report", "--html", DAMAGED } },
	{ .words = { "info", DAMAGED } },
	{ .words = { "info", "--format=json", DAMAGED } },
	{ .words = { "dump", DAMAGED } },
	{ .words = { "annotate", DAMAGED } },
	{ .words = { "annotate", "--format=json", DAMAGED } },
	{ .words = { "annotate", "--html", DAMAGED } },
	{ .words = { "flamegraph", DAMAGED } },
	{ .words = { "flamegraph", "--format=svg", DAMAGED } },
	{ .words = { "diff", "whole.tally", DAMAGED } },
	{ .words = { "diff", "--format=json", "whole.tally", DAMAGED } },
	{ .words = { "diff", "--format=csv", "whole.tally", DAMAGED } },
	{ .words = { "diff", "--format=svg", "whole.tally", DAMAGED } },
	{ .words = { "diff", "--html", "whole.tally", DAMAGED } },
	{ .words = { "check", "--baseline", "whole.tally", "--new", DAMAGED } },
	{ .words = { "history", "--store", store, "--commit", "one", "add",
		     DAMAGED } },
	{ .words = { "symbolize", "-o", "out.tally", DAMAGED } },
};
enum { LINES = sizeof(lines) / sizeof(lines[0]) };

static void no_progress(struct cmd_io *io, const char *text)
{
	(void)io;
	(void)text;
}

/* Runs a command; *text is all that it said. */
static int run(const struct line *l, char **text, struct error *err)
{
	const struct command *cmd = command_find(l->words[0], NULL);
	void *opts = calloc(1, cmd->opts_size ? cmd->opts_size : 1);
	char *argv[WORDS + 1] = { NULL };
	size_t n;
	FILE *f = open_memstream(text, &n);
	struct cmd_io io = { .out = f, .err = f, .progress = no_progress,
			     .no_screen = "a test" };
	int argc = 0, rest, rc;
	static unsigned int runs;
	bool help = false;

	if (!opts || !f)
		abort();
	snprintf(store, sizeof(store), "store.%u", runs++);
	memset(err, 0, sizeof(*err));
	while (argc < WORDS && l->words[argc]) {
		argv[argc] = (char *)l->words[argc];
		argc++;
	}
	if (cmd->defaults)
		memcpy(opts, cmd->defaults, cmd->opts_size);
	rc = options_parse(cmd, opts, argc, argv, &rest, &help, err);
	if (rc >= 0)
		rc = cmd->run(&io, opts, argc - rest, argv + rest, err);
	options_release(cmd, opts);
	free(opts);
	fclose(f);
	return rc;
}

static enum outcome try(const struct line *l)
{
	static const char *const marks[] = {
		"damaged part", "did not end properly",
	};
	enum outcome is = SILENT;
	struct error err;
	char *text = NULL;
	int rc = run(l, &text, &err);

	if (rc < 0)
		is = strstr(err.msg, DAMAGED) ? FAILED : SILENT;
	else if (!strcmp(text, l->whole))
		is = SAME;
	for (size_t i = 0; is == SILENT && i < 2; i++)
		if (strstr(text, marks[i]))
			is = MARKED;
	if (is == SILENT && rc < 0)
		printf("error: %s\n", err.msg);
	free(text);
	return is;
}

static size_t try_all(const struct buf *b, const char *how, size_t at)
{
	struct error err;
	size_t wrong = 0;

	if (outfile_write(DAMAGED, b->p, b->n, &err) < 0) {
		puts(err.msg);
		exit(2);
	}
	for (int i = 0; i < LINES; i++) {
		enum outcome is = try(&lines[i]);

		lines[i].seen[is]++;
		if (is != SILENT)
			continue;
		printf("without a word: %s at %zu:", how, at);
		for (int w = 0; w < WORDS && lines[i].words[w]; w++)
			printf(" %s", lines[i].words[w]);
		putchar('\n');
		wrong++;
	}
	return wrong;
}

static void read_whole(const char *path, struct buf *b)
{
	struct error err;

	if (io_read_file(path, 1 << 20, b, &err) < 0 ||
	    outfile_write("whole.tally", b->p, b->n, &err) < 0 ||
	    outfile_write(DAMAGED, b->p, b->n, &err) < 0) {
		puts(err.msg);
		exit(2);
	}
	for (int i = 0; i < LINES; i++)
		if (run(&lines[i], &lines[i].whole, &err) < 0) {
			printf("the whole file: %s\n", err.msg);
			exit(2);
		}
}

int main(int argc, char **argv)
{
	size_t step = argc > 2 ? (size_t)atol(argv[2]) : 1, cases = 0;
	size_t wrong = 0, whole;
	struct buf b = { 0 };

	if (argc < 2 || !step)
		return 2;
	read_whole(argv[1], &b);
	whole = b.n;
	for (size_t n = 0; n < whole && wrong < WRONG_MAX; n += step) {
		b.n = n;
		wrong += try_all(&b, "cut", n);
		cases++;
	}
	b.n = whole;
	for (size_t bit = 0; bit < 8 * whole && wrong < WRONG_MAX;
	     bit += step) {
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		wrong += try_all(&b, "bit turned", bit);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cases++;
	}
	printf("%zu files: ", cases);
	for (int o = 0; o < OUTCOMES; o++) {
		static const char *const names[] = {
			"errors", "as of the whole file", "marked",
			"without a word" };
		size_t sum = 0;

		for (int i = 0; i < LINES; i++)
			sum += lines[i].seen[o];
		printf("%zu %s%s", sum, names[o], o + 1 < OUTCOMES ? ", "
								   : "\n");
	}
	for (int i = 0; i < LINES; i++)
		free(lines[i].whole);
	buf_fini(&b);
	return wrong > 0;
}
