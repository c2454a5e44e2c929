// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes --help from the tables of options: see options.h. */
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

enum { WIDTH = 80, INDENT = 30 };

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
	buf_printf(out, "%*s", (int)(INDENT - n), "");
	text_wrap(out, o->help, INDENT, WIDTH);
	buf_fini(&left);
}

void options_help(const struct command *cmd, struct buf *out)
{
	const struct opt *o = cmd->opts;

	buf_printf(out, "Usage: tally %s [options]%s%s\n\n", cmd->name,
		   *cmd->args ? " " : "", cmd->args);
	text_wrap(out, cmd->summary, 0, WIDTH);
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
