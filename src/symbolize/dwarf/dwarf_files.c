// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads headers of line tables (DWARF 5 §6.2.4), and the paths of their files. */
#include <dwarf.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

/* Reads the tables of versions 2 to 4: directories, then files, each list
 * terminated by "". */
static bool read_old_tables(struct dwarf_lines *l, struct cursor *c)
{
	const char *s;

	while ((s = cursor_cstr(c)) != NULL && *s)
		if (vec_push(&l->dirs, s) < 0)
			return false;
	while ((s = cursor_cstr(c)) != NULL && *s) {
		struct dwarf_file f = { s, cursor_uleb(c), NULL };

		cursor_uleb(c);		/* time */
		cursor_uleb(c);		/* size */
		if (vec_push(&l->files, f) < 0)
			return false;
	}
	return !c->bad;
}

/* Reads one field of a version 5 entry. */
static void read_field(const struct dwarf_unit *u, struct cursor *c,
		       uint64_t content, uint64_t form, uint8_t off_size,
		       struct dwarf_file *f)
{
	struct dwarf_die die = { .have = 1u << SLOT_NAME };
	const uint8_t *next;

	if (content == DW_LNCT_path && form == DW_FORM_string) {
		f->name = cursor_cstr(c);
		return;
	}
	next = dwarf_skip_form(form, u->addr_size, off_size, false, c->p,
			       c->end);
	if (!next) {
		cursor_fail(c);
		return;
	}
	if (content == DW_LNCT_directory_index) {
		f->dir = form == DW_FORM_udata
				 ? cursor_uleb(&(struct cursor){ c->p, c->p,
								 next, false })
				 : dwarf_fixed(c->p, next - c->p > 8 ? 8
						: (unsigned)(next - c->p));
	} else if (content == DW_LNCT_path) {
		die.form[SLOT_NAME] = (uint16_t)form;
		die.value[SLOT_NAME] =
			form == DW_FORM_strx
				? cursor_uleb(&(struct cursor){ c->p, c->p,
								next, false })
				: dwarf_fixed(c->p, next - c->p > 8 ? 8
						: (unsigned)(next - c->p));
		f->name = dwarf_string(u, &die, SLOT_NAME);
	}
	c->p = next;
}

/* Reads a table of version 5: a description of the fields, then the entries. */
static bool read_new_table(struct dwarf_unit *u, struct cursor *c,
			   uint8_t off_size, bool dirs)
{
	uint64_t format[2][16], i, n;
	unsigned k, fields = cursor_u8(c);

	if (fields > 16)
		return false;
	for (k = 0; k < fields; k++) {
		format[0][k] = cursor_uleb(c);
		format[1][k] = cursor_uleb(c);
	}
	n = cursor_uleb(c);
	if (c->bad || (n && !fields))
		return false;
	for (i = 0; i < n && !c->bad; i++) {
		struct dwarf_file f = { NULL, 0, NULL };
		const uint8_t *before = c->p;

		for (k = 0; k < fields; k++)
			read_field(u, c, format[0][k], format[1][k],
				   off_size, &f);
		if (c->bad || c->p == before)
			return false;
		if (!f.name)
			f.name = "";
		if (dirs ? vec_push(&u->lines.dirs, f.name) < 0
			 : vec_push(&u->lines.files, f) < 0)
			return false;
	}
	return !c->bad;
}

static bool read_params(struct cursor *c, struct line_header *h,
			uint16_t version)
{
	h->min_inst = cursor_u8(c);
	h->max_ops = version >= 4 ? cursor_u8(c) : 1;
	cursor_u8(c);		/* default_is_stmt */
	h->line_base = (int8_t)cursor_u8(c);
	h->line_range = cursor_u8(c);
	h->opcode_base = cursor_u8(c);
	h->lengths = cursor_take(c, h->opcode_base ? h->opcode_base - 1u : 0);
	return !c->bad && h->line_range && h->opcode_base && h->max_ops;
}

bool dwarf_read_files(struct dwarf_unit *u, struct line_header *h, struct dwarf_work *w)
{
	const struct span *s = &u->set->line;
	struct dwarf_lines *l = &u->lines;
	bool known = l->files_read, ok;
	uint8_t off_size;
	struct cursor c, head;
	uint64_t n;

	l->files_read = true;
	if (u->stmt_list >= s->n)
		return false;
	c = cursor_of(s->p + u->stmt_list, s->n - (size_t)u->stmt_list);
	n = dwarf_read_length(&c, &off_size);
	c = cursor_sub(&c, n);
	l->version = cursor_u16(&c);
	h->addr_size = u->addr_size;
	if (l->version >= 5) {
		h->addr_size = cursor_u8(&c);
		cursor_u8(&c);	/* segment selector size */
	}
	n = cursor_sized(&c, off_size);
	head = cursor_sub(&c, n);
	h->program = c.p;
	h->end = c.end;
	ok = l->version >= 2 && l->version <= 5 && !c.bad &&
	     read_params(&head, h, l->version) &&
	     dwarf_spend(w, cursor_left(&head));
	if (ok && !known)
		ok = l->version < 5 ? read_old_tables(l, &head)
				    : read_new_table(u, &head, off_size, true) &&
				      read_new_table(u, &head, off_size, false);
	if (!ok)
		dwarf_work_damage(w, ".debug_line: bad header", u->stmt_list);
	return ok;
}

static void add_part(struct buf *out, const char *part)
{
	if (!part || !*part)
		return;
	if (strnlen(part, DWARF_PATH_MAX) == DWARF_PATH_MAX) {
		out->failed = true;
		return;
	}
	if (out->n && out->p[out->n - 1] != '/')
		buf_u8(out, '/');
	buf_str(out, part);
}

/* Joins directory and name like llvm-symbolizer: the compilation directory
 * precedes a relative directory.  In version 5, directory 0 is the compilation
 * directory itself. */
static const char *join_path(struct dwarf *d, const struct dwarf_unit *u,
			     const struct dwarf_file *f)
{
	const struct dwarf_lines *l = &u->lines;
	bool v5 = l->version >= 5;
	const char *dir = NULL;
	struct buf b = { 0 };
	const char *path;

	if (f->name[0] == '/')
		return dwarf_keep(d, f->name);
	if (v5 ? f->dir < l->dirs.n : f->dir && f->dir <= l->dirs.n)
		dir = l->dirs.v[v5 ? f->dir : f->dir - 1];
	if ((!v5 || f->dir) && (!dir || dir[0] != '/'))
		add_part(&b, u->comp_dir);
	add_part(&b, dir);
	add_part(&b, f->name);
	path = b.failed ? "" : dwarf_keep(d, buf_cstr(&b));
	buf_fini(&b);
	return path;
}

const char *dwarf_file_path(struct dwarf *d, struct dwarf_unit *u, uint64_t i)
{
	struct dwarf_lines *l = &u->lines;
	struct dwarf_file *f;

	if (!l->files_read) {
		struct dwarf_work w;
		struct line_header h;

		dwarf_work_init(d, &w);
		dwarf_read_files(u, &h, &w);
		if (w.damage)
			dwarf_damage(d, w.damage, w.damage_at);
	}
	if (l->version < 5 && i-- == 0)
		return "";
	if (i >= l->files.n)
		return "";
	f = &l->files.v[i];
	if (!f->path)
		f->path = join_path(d, u, f);
	return f->path;
}
