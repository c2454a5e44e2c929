// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally export`: writes a recording in the formats of other tools. */
#include "config.h"

#include <string.h>

#include "cmd/open.h"
#include "cmd/output.h"
#include "export/export.h"

struct export_opts {
	struct cmd_reading reading;
	uint64_t max_output;
	const char *input, *output, *format;
	struct select_opts samples_of;
	bool no_inline, list;
};

#define AT(field) offsetof(struct export_opts, field)

static const struct opt export_opt_table[] = {
	OPT_TITLE("What to write"),
	{ OPT_STR, 0, "format", "FORMAT", AT(format),
	  "Output format; --list-formats lists them. Default: from the name of "
	  "the output." },
	{ OPT_FLAG, 0, "list-formats", NULL, AT(list),
	  "List the formats, their file names and the programs that open "
	  "them." },
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE, or to standard output (-). Default: profile with the "
	  "extension of the format on a terminal, otherwise standard output." },
	OPT_ROW_INPUT(AT(input)),
	OPT_ROWS_INLINE(AT(no_inline),
		"Write inlined functions as frames (the default)."),

	SELECT_OPTION_ROWS(struct export_opts, "Only these events."),
	READING_DIRS_ROW(struct export_opts, IF_NO_SYMBOLS),
	{ OPT_UINT, 0, "max-output", "SIZE", AT(max_output),
	  "Fail if the output has more than this many bytes (k, M, G) before "
	  "compression. Default: 1,024 times the size of the file plus 64 "
	  "MB." },
	READING_ROWS(struct export_opts),
	OPT_END
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end) && s[n - m - 1] == '.';
}

static int choose_format(const struct export_opts *o,
			 const struct export_format **out, struct error *err)
{
	const struct export_format *f, *best = NULL;
	size_t n;

	if (o->format)
		return export_format_find(o->format, out, err);
	f = export_formats(&n);
	for (size_t i = 0; o->output && i < n; i++)
		if (ends_with(o->output, f[i].ending) &&
		    (!best || strlen(f[i].ending) > strlen(best->ending)))
			best = &f[i];
	*out = best;
	return best ? 0 : error_set(err, ERR_USAGE, "no format given: use "
				    "--format=NAME; 'tally export "
				    "--list-formats' lists them");
}

static int list_formats(struct cmd_io *io, struct error *err)
{
	struct buf text = { 0 };
	size_t n;
	const struct export_format *f = export_formats(&n);

	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%-12s .%-16s %s\n", f[i].name, f[i].ending,
			   f[i].help);
	return cmd_output_last(io, NULL, &text, err);
}

/* A format that must be written to a file of its own gets a name for it. */
static int name_file(struct cmd_target *t, const struct export_format *f,
		     const char *path, struct error *err)
{
	if (!(f->flags & EXPORT_FILE))
		return 0;
	if (!t->to_file)
		return error_set(err, ERR_USAGE, "--format=%s cannot be "
				 "written to a pipe: use -o FILE", f->name);
	return t->file.temp ? outfile_name(&t->file, err)
	       : error_set(err, ERR_USAGE, "--format=%s requires a regular "
			   "file in a writable directory, which %s is not",
			   f->name, path);
}

static int write_to(struct cmd_io *io, struct reader *r,
		    const struct export_format *f, const struct export_opts *o,
		    const char *path, struct error *err)
{
	struct cmd_target t;
	struct export_spec spec = { .select = cmd_select(&o->samples_of),
				    .no_inline = o->no_inline,
				    .version = PACKAGE_VERSION,
				    .max_output = cmd_max_output(o->max_output,
					reader_bytes(r), CMD_EXPORT_A_BYTE) };
	int rc = cmd_target_open(&t, io, path, err);

	if (!rc)
		rc = name_file(&t, f, path, err);
	if (!rc)
		rc = export_write(r, f, &spec, &(struct export_sink){
			.put = cmd_target_put, .ctx = &t, .path = t.file.temp }, err);
	return cmd_target_close(&t, rc, err);
}

static int run_export(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	struct export_opts *o = opts;
	const struct export_format *f = NULL;
	struct reader *r = NULL;
	struct buf name = { 0 };
	const char *path, *output = o->output;
	int rc;

	if (o->list)
		return list_formats(io, err);
	rc = choose_format(o, &f, err);
	if (!rc) {
		o->reading.detail = !(f->flags & EXPORT_NAMES) ? SYM_LINES
				    : o->no_inline ? SYM_SYMBOLS : SYM_INLINED;
		rc = cmd_open(io, &o->reading, o->input, argc, argv, &path, &r, err);
	}
	if (!rc && !output && io->out_tty) {
		buf_printf(&name, "profile.%s", f->ending);
		output = buf_cstr(&name);
	}
	if (output && !strcmp(output, "-"))
		output = NULL;
	if (!rc)
		rc = write_to(io, r, f, o, output, err);
	if (!rc)
		cmd_report_damage(io, path, r);
	if (!rc && name.n)
		cmd_notice(io, "wrote %s", output);
	buf_fini(&name);
	reader_close(r);
	return rc < 0 ? rc : 0;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "write a recording in the formats of other tools",
	.args = "[FILE]",
	.opts = export_opt_table,
	.opts_size = sizeof(struct export_opts),
	.run = run_export,
};
