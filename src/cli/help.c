// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes --help from the tables of options: see options.h. */
#include <string.h>

#include "cli/options.h"

enum { WIDTH = 80, INDENT = 30 };

static void pad_to(struct buf *out, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		buf_u8(out, ' ');
}

/* Wraps text at blanks.  The first line begins in column `at`, others in `indent`. */
static void put_folded(struct buf *out, const char *text, size_t at,
		       size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > indent && at + 1 + n > WIDTH) {
			buf_u8(out, '\n');
			pad_to(out, 0, indent);
			at = indent;
		} else if (at > indent) {
			buf_u8(out, ' ');
			at++;
		}
		buf_bytes(out, text, n);
		at += n;
		text += n;
		text += strspn(text, " ");
	}
	buf_u8(out, '\n');
}

static void put_option(struct buf *out, const struct opt *o)
{
	struct buf left = { 0 };
	size_t n;

	if (!o->name)
		buf_printf(&left, "  -%c", o->short_name);
	else if (o->short_name)
		buf_printf(&left, "  -%c, --%s", o->short_name, o->name);
	else
		buf_printf(&left, "      --%s", o->name);
	if (o->arg)
		buf_printf(&left, o->kind == OPT_OPTSTR ? "[=%s]" : " %s",
			   o->arg);
	n = left.n;
	buf_str(out, buf_cstr(&left));
	if (n + 2 > INDENT) {
		buf_u8(out, '\n');
		n = 0;
	}
	pad_to(out, n, INDENT);
	put_folded(out, o->help, INDENT, INDENT);
	buf_fini(&left);
}

void options_help(const struct command *cmd, struct buf *out)
{
	const struct opt *o = cmd->opts;

	buf_printf(out, "Usage: tally %s [options]%s%s\n\n", cmd->name,
		   *cmd->args ? " " : "", cmd->args);
	put_folded(out, cmd->summary, 0, 0);
	if (o && o->kind != OPT_HEADING)
		buf_str(out, "\nOptions:\n");
	for (; o && !option_is_end(o); o++) {
		if (o->kind == OPT_HEADING)
			buf_printf(out, "\n%s:\n", o->help);
		else
			put_option(out, o);
	}
	buf_str(out, "  -h, --help                  Show this text.\n");
}
