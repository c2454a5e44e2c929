// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally dump`: shows the records of a recording, line by line. */
#include "views/dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/open.h"
#include "cmd/output.h"

struct dump_opts {
	struct cmd_reading reading;
	const char *input;
	struct opt_strs only;
	bool stacks, no_pager;
	uint64_t max_output;
};

static const struct opt dump_opt_table[] = {
	OPT_ROW_INPUT(offsetof(struct dump_opts, input)),
	{ OPT_STRS, 0, "only", "PART", offsetof(struct dump_opts,only),
	  "Print only this part: chunks, tables, stacks, symbols or samples. "
	  "May be repeated." },
	{ OPT_FLAG, 'g', "frames", NULL, offsetof(struct dump_opts,stacks),
	  "Print the functions of each sample's stack below it." },
	OPT_ROW_NO_PAGER(offsetof(struct dump_opts, no_pager)),
	{ OPT_UINT, 0, "max-output", "SIZE",
	  offsetof(struct dump_opts,max_output),
	  "Stop after this many bytes (k, M, G). Default: 64 times the size of "
	  "the file plus 64 MB." },
	OPT_ROW_MAX_MEMORY(offsetof(struct dump_opts, reading.max_memory)),
	OPT_END
};

static const struct {
	const char *name;
	unsigned int part;
} parts[] = {
	{ "chunks", DUMP_CHUNKS },   { "tables", DUMP_TABLES },
	{ "stacks", DUMP_STACKS },   { "symbols", DUMP_SYMBOLS },
	{ "samples", DUMP_SAMPLES },
};

static int add_part(const char *word, unsigned int *out, struct error *err)
{
	struct nearest near = nearest_to(word);

	for (size_t i = 0; i < COUNT(parts); i++) {
		nearest_try(&near, parts[i].name);
		if (!strcmp(word, parts[i].name)) {
			*out |= parts[i].part;
			return 0;
		}
	}
	return error_set(err, ERR_USAGE, "--only '%s': %s%s%s", word,
			 nearest_best(&near)
				 ? "did you mean '"
				 : "use chunks, tables, stacks, symbols or "
				   "samples",
			 nearest_best(&near) ? nearest_best(&near) : "",
			 nearest_best(&near) ? "'?" : "");
}

struct dump_out {
	struct cmd_io *io;
	const char *path;
	uint64_t limit, written;	/* in bytes */
	struct error *err;
	int rc;
};

static bool write_text(void *ctx, struct buf *text)
{
	struct dump_out *d = ctx;

	if (text->n > d->limit - d->written) {
		d->rc = error_set(d->err, ERR_UNSUPPORTED,
				  "%s: stopped after %" PRIu64 " MB of text: "
				  "--max-output SIZE allows more, --only PART "
				  "shows less", d->path, d->written >> 20);
		return false;
	}
	d->written += text->n;
	d->rc = cmd_output(d->io, NULL, text, d->err);
	return d->rc == 0 && !ferror(d->io->out);
}

static int run_dump(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	const struct dump_opts *o = opts;
	unsigned int which = 0;
	struct reader *r = NULL;
	struct dump_out out = { .io = io, .err = err };
	const char *path;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->only.n; i++)
		rc = add_part(o->only.v[i], &which, err);
	if (!rc)
		rc = cmd_open(io, &o->reading, o->input, argc, argv, &path, &r,
			      err);
	if (rc < 0)
		return rc;
	out.path = path;
	out.limit = cmd_max_output(o->max_output, reader_bytes(r),
				   CMD_TEXT_A_BYTE);
	if (!o->no_pager && io->start_pager)
		io->start_pager(io);
	rc = dump_file(r, (which ? which : DUMP_ALL) |
			  (o->stacks ? DUMP_FRAMES : 0), write_text, &out, err);
	reader_close(r);
	return rc == -ERR_STOPPED ? out.rc : rc;
}

const struct command cmd_dump = {
	.name = "dump",
	.summary = "print the records of a recording, one per line",
	.args = "[FILE]",
	.opts = dump_opt_table,
	.opts_size = sizeof(struct dump_opts),
	.defaults = &(const struct dump_opts){ .reading.as_it_is = true },
	.run = run_dump,
};
