// SPDX-License-Identifier: GPL-2.0-or-later
/* Head, frames and text of flame graphs as SVG. */
#include "views/svg/svg_frame.h"

#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"

enum { NAME_COLUMNS = 300 };

void svg_names_reset(struct svg_names *n)
{
	buf_again(&n->name);
	buf_again(&n->full);
	buf_again(&n->brief);
	buf_again(&n->tmp);
}

void svg_names_make(struct svg_names *n)
{
	text_safe(&n->tmp, buf_cstr(&n->name));
	text_cut(&n->full, buf_cstr(&n->tmp), NAME_COLUMNS);
	buf_again(&n->tmp);
	name_shorten(buf_cstr(&n->name), &n->tmp);
	text_safe(&n->brief, buf_cstr(n->tmp.n ? &n->tmp : &n->name));
}

void svg_names_fini(struct svg_names *n, struct buf *out)
{
	out->failed |= n->name.failed || n->full.failed || n->brief.failed ||
		       n->tmp.failed;
	buf_fini(&n->name);
	buf_fini(&n->full);
	buf_fini(&n->brief);
	buf_fini(&n->tmp);
}

void svg_begin(struct buf *out, unsigned int width, unsigned int height)
{
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" font-family=\""
		   "DejaVu Sans Mono,Menlo,Consolas,monospace\" "
		   "font-size=\"11\" fill=\"#1c1c1c\">\n"
		   "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
		   width, height, width, height, width, height);
}

void svg_frame_begin(struct buf *out, double x, unsigned int y, double width)
{
	buf_printf(out, "<g><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
		   "height=\"%d\" fill=\"", x, y,
		   width > 1 ? width - 0.5 : width, SVG_ROW - 1);
}

void svg_frame_end(struct buf *out, struct svg_names *n, bool italic,
		   double x, unsigned int y, double width)
{
	size_t room = width > 8 ? (size_t)((width - 6) / SVG_CHAR_WIDTH) : 0;
	struct buf text = { 0 };

	if (room >= 3) {
		line_cut_symbol(&text, buf_cstr(&n->brief), room);
		buf_printf(out, "<text x=\"%.1f\" y=\"%u\"%s>", x + 3, y + 12,
			   italic ? " font-style=\"italic\"" : "");
		text_xml(out, buf_cstr(&text));
		buf_str(out, "</text>");
	}
	buf_str(out, "</g>\n");
	out->failed |= text.failed;
	buf_fini(&text);
}
