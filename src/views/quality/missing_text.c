// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the images that lack names or lines, as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "views/query/framekey.h"
#include "views/query/lines.h"
#include "views/quality/missing.h"

static void share(struct buf *line, const struct missing *m, uint64_t n,
		  const char *what, size_t start)
{
	if (!n)
		return;
	if (line->n > start)
		buf_str(line, ", ");
	if (line_share(n, m->shown) < 0.05)
		buf_printf(line, "%" PRIu64 " sample%s", n, plural(n, "s"));
	else
		buf_printf(line, "%.1f%% of samples", line_share(n, m->shown));
	buf_printf(line, " %s", what);
}

static void put_help(const struct missing_row *r, struct buf *line)
{
	if (*r->command) {
		buf_str(line, "; ");
		text_safe(line, r->command);
		if (*r->note) {
			buf_str(line, " (");
			text_safe(line, r->note);
			buf_u8(line, ')');
		}
	} else if (*r->note) {
		buf_str(line, "; ");
		text_safe(line, r->note);
	}
}

static void put_row(const struct missing *m, const struct missing_row *r,
		    int columns, struct buf *out)
{
	const struct prof_image *im = &m->p->images.v[r->image];
	struct buf line = { 0 }, reason = { 0 };
	size_t start;

	buf_str(&line, "  ");
	text_safe(&line, path_base(profile_cstr(m->p, im->path)));
	buf_str(&line, ": ");
	start = line.n;
	share(&line, m, r->unnamed, "unresolved", start);
	share(&line, m, r->exported, "resolved to exported functions only",
	      start);
	if (!r->unnamed && !r->exported)
		share(&line, m, r->lineless, "without lines", start);
	missing_reason(m, r, &reason);
	if (reason.n) {
		buf_str(&line, ": ");
		text_safe(&line, buf_cstr(&reason));
	}
	put_help(r, &line);
	line_comment(out, buf_cstr(&line), columns);
	buf_fini(&reason);
	buf_fini(&line);
}

void missing_text(const struct missing *m, size_t n, int columns,
		  struct buf *out)
{
	struct buf line = { 0 };
	bool get = false;

	if (n > m->rows.n)
		n = m->rows.n;
	if (!n)
		return;
	buf_str(&line, "Missing");
	if (n < m->rows.n)
		buf_printf(&line, " (%zu more image%s: --missing)",
			   m->rows.n - n, plural(m->rows.n - n, "s"));
	buf_str(&line, ":");
	buf_str(out, "#\n");
	line_comment(out, buf_cstr(&line), columns);
	buf_fini(&line);
	for (size_t i = 0; i < n; i++) {
		put_row(m, &m->rows.v[i], columns, out);
		get |= *m->rows.v[i].command &&
		       !strstr(m->rows.v[i].command, "tally symbolize");
	}
	/* The names are stored in the recording, so an installation alone
	 * changes nothing. */
	if (get)
		line_comment(out, "Then run: tally symbolize", columns);
}

static void json_bits(struct json *j, const char *key, uint32_t bits,
		      const char *const *names, size_t n)
{
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		if (bits >> i & 1)
			json_str(j, NULL, names[i]);
	json_end(j);
}

static void json_row(const struct missing *m, const struct missing_row *r,
		     struct json *j)
{
	static const char *const sources[] = { "symtab", "dynsym", "debugdata",
					       "unwind", "dwarf", "kallsyms",
					       "perfmap", "gopclntab" };
	static const char *const lacks[] = { "file", "changed", "symtab",
					     "dwarf", "alternate", "split",
					     "damaged", "kernel" };
	const struct image_debug_info none = { 0 };
	const struct image_debug_info *s = r->source ? r->source : &none;
	struct buf reason = { 0 };

	json_object(j, NULL);
	json_str(j, "path",
		 profile_cstr(m->p, m->p->images.v[r->image].path));
	json_uint(j, "without_name", r->unnamed);
	json_uint(j, "exported_name_only", r->exported);
	json_uint(j, "without_line", r->lineless);
	json_bits(j, "names_from", s->names, sources,
		  COUNT(sources));
	json_bits(j, "lacks", s->missing, lacks,
		  COUNT(lacks));
	missing_reason(m, r, &reason);
	json_str(j, "reason", buf_cstr(&reason));
	buf_fini(&reason);
	json_str(j, "file", profile_cstr(m->p, s->file));
	json_str(j, "package", r->package);
	json_str(j, "command", r->command);
	json_str(j, "note", r->note);
	json_str(j, "fetch", r->fetch);
	json_end(j);
}

void missing_json(const struct missing *m, struct json *j)
{
	json_array_lines(j, "missing");
	for (size_t i = 0; i < m->rows.n; i++)
		json_row(m, &m->rows.v[i], j);
	json_end(j);
}
