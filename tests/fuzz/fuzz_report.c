// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arbitrary bytes as a .tally file, through the reader and every view in every
 * format.  The first byte chooses options; the rest is the file, whose checksums
 * are made right so that mutations reach the views.  libFuzzer sees one view at a
 * time, chosen by the size too, which is several times as fast.
 */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "mend.h"
#include "views/dump.h"
#include "views/info.h"
#include "views/html/html.h"
#include "views/svg/svg.h"
#include "views/tree/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool swallow(void *ctx, struct buf *text)
{
	size_t *n = ctx;

	*n += text->n;
	return *n < 4 << 20;
}

static void see_report(struct reader *r, const char *keys, uint8_t choice)
{
	struct text_style style = { .columns = choice & 1 ? 80 : 0,
				    .samples = choice & 2,
				    .full_names = choice & 4 };
	struct report_spec spec = { .tree = (enum tree_mode)(choice / 8 % 3),
				    .no_inline = choice & 64,
				    .by_total = choice & 128,
				    .limit = 1, .top = 1000 };
	const char *const names[] = { "a" };
	struct report *rep;
	struct error err;
	struct buf out = { 0 };

	if (choice & 32)
		spec.select.symbols = (struct name_list){ names, 1 };
	if (choice & 2)
		spec.select.time = "0,1h";
	if (key_list_parse(keys, &spec.keys, &err) < 0 ||
	    report_with_trees(r, &spec, &rep, &err) < 0)
		return;
	report_text(rep, &style, &out);
	buf_reset(&out);
	report_json(rep, &out);
	buf_reset(&out);
	report_csv(rep, &out);
	buf_fini(&out);
	report_free(rep);
}

static int forget(void *ctx, const void *p, size_t n, struct error *err)
{
	size_t *written = ctx;

	(void)p;
	*written += n;
	return *written < 4 << 20 ? 0 : error_set(err, ERR_STOPPED, "enough");
}

static void see_export(struct reader *r, size_t which, uint8_t choice)
{
	size_t n, written = 0;
	const struct export_format *f = export_formats(&n);
	struct export_spec spec = { .no_inline = choice & 64,
				    .version = "0" };
	struct export_sink sink = { .put = forget, .ctx = &written };
	struct error err;

	if (choice & 2)
		spec.select.time = "0,1h";
	if (!(f[which % n].flags & EXPORT_FILE))
		export_write(r, &f[which % n], &spec, &sink, &err);
}

static void see_pictures(struct reader *r, uint8_t choice)
{
	struct report_spec spec = { .no_inline = choice & 1 };
	const struct svg_style svg = { choice & 2, choice & 4, 1200 };
	const struct html_compare compare = { .how = "" };
	const struct html_style html = { .inverted = choice & 2,
					 .compare = choice & 8 ? &compare
							       : NULL };
	const struct annotate_spec lines = { .code = true, .top = 20,
					     .by_symbol = true };
	struct html_input in[2] = { { .r = r, .side = HTML_BASE },
				    { .r = r, .label = "new" } };
	struct report *rep;
	struct error err;
	struct buf out = { 0 };

	if (key_list_parse("image,symbol", &spec.keys, &err) < 0 ||
	    report_build(r, &spec, &rep, &err) < 0)
		return;
	svg_write(rep, &svg, &out, &err);
	buf_reset(&out);
	if (annotate_build(r, &lines, &in[1].lines, &err) < 0)
		in[1].lines = NULL;
	in[0].rep = in[1].rep = rep;
	/* with itself or alone */
	html_write(choice & 8 ? in : in + 1, choice & 8 ? 2 : 1, &html, &out,
		   &err);
	annotate_free(in[1].lines);
	buf_fini(&out);
	report_free(rep);
}

static void see_others(struct reader *r, size_t size)
{
	struct error err;
	struct info in;
	struct buf out = { 0 };
	size_t n = 0;

	if (info_build(&in, r, "fuzz", size, &err) == 0) {
		info_text(&in, 80, &out);
		info_json(&in, &out);
		info_fini(&in);
	}
	dump_file(r, DUMP_ALL | DUMP_FRAMES, swallow, &n, &err);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader *r;
	struct error err;
	uint8_t *copy;

	if (size < 1 || size > 64 * 1024)
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	mend_checksums(copy, size - 1);
	if (reader_open_bytes(copy, size - 1, "fuzz", &r, &err) == 0) {
		unsigned int views = fuzz_views(data[0] + size, 5);

		if (views & 1)
			see_report(r, "image,symbol", data[0]);
		if (views & 2)
			see_report(r, "comm,pid,tid,cpu,run,event,file,line",
				   data[0] ^ 0x18);
		if (views & 4)
			see_others(r, size);
		if (views & 8)
			see_export(r, data[0] + size / 5, data[0]);
		/* a page takes as long as ten tables */
		if (views & 16 && (views != 16 || data[0] & 64))
			see_pictures(r, data[0]);
		reader_close(r);
	}
	free(copy);
	return 0;
}
