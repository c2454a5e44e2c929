// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a diff: see edits.h. */
#include "check/edits.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "check/source_line.h"

enum { NAME_MAX_SHOWN = 100 };
/* Values of `names` besides the index of an edit: a declaration that is no edit so far,
 * and an edit beyond EDITS_MAX. */
#define UNCHANGED (U64MAP_NONE - 1)
#define OMITTED (U64MAP_NONE - 2)

/* One side of the file that is being read. */
struct side {
	struct source_state state;
	struct text around;	/* the declaration around the next line */
	bool removed;		/* `around` was removed */
	struct text macro;	/* the #define that the next line continues */
	uint32_t line;		/* number of the next line */
};

struct reader {
	struct edits *e;
	struct buf path, old_path;	/* `path` is empty outside of a file */
	bool deleted;
	enum source_language language;
	struct u64map names;	/* declarations of this file: index of the edit */
	struct side old, new;
	bool memory;		/* false if it ran out */
};

static bool next_line(struct text *rest, struct text *line)
{
	const char *end;

	if (!rest->n)
		return false;
	end = memchr(rest->p, '\n', rest->n);
	line->p = rest->p;
	line->n = end ? (size_t)(end - rest->p) : rest->n;
	rest->p += line->n + !!end;
	rest->n -= line->n + !!end;
	return true;
}

static struct text name_of(struct text line)
{
	struct text name = source_declared(line);

	if (name.n > NAME_MAX_SHOWN)
		name.n = NAME_MAX_SHOWN;
	name.n = strnlen(name.p, name.n);
	return name;
}

char *edits_name(const char *line, size_t n)
{
	struct text name = name_of((struct text){ line, n });

	return strndup(name.p, name.n);
}

/* Returns the slot in `names` of a name in this file; NULL if memory ran out. */
static uint32_t *slot_of(struct reader *r, struct text name)
{
	uint32_t *slot = u64map_slot(&r->names, hash_bytes(name.p, name.n));

	r->memory &= slot != NULL;
	return slot;
}

/* Adds an edit of a name that has none in this file.  The history of lines `at` to `to`
 * has its commit. */
static void add_new(struct reader *r, struct edit d, struct text name, uint32_t *slot)
{
	r->e->all++;
	*slot = OMITTED;
	if (r->e->v.n == EDITS_MAX)
		return;
	if (r->deleted)
		d.at = d.to = 0;
	d.path = strndup((char *)r->path.p, r->path.n);
	d.name = strndup(name.p, name.n);
	if (d.path && d.name && vec_push(&r->e->v, d) == 0) {
		*slot = (uint32_t)r->e->v.n - 1;
		return;
	}
	free(d.path);
	free(d.name);
	r->memory = false;
}

/* Adds what changed at lines of the new revision. */
static void add_changed(struct reader *r, uint32_t first, uint32_t last,
			struct text line)
{
	struct text name = name_of(line);
	uint32_t *slot = slot_of(r, name);
	struct edit *known;

	first = first ? first : 1;
	if (!slot)
		return;
	if (*slot >= OMITTED) {
		if (*slot != OMITTED)
			add_new(r, (struct edit){ .line = first,
						  .at = first, .to = last },
				name, slot);
		return;
	}
	known = &r->e->v.v[*slot];
	if (known->kind != EDIT_REMOVED)
		return;
	known->kind = EDIT_CHANGED;
	known->line = known->at = first;
	known->to = last;
}

/* Adds a change of a whole file, whose history has the commit. */
static void add_file(struct reader *r, enum edit_kind kind, struct text any)
{
	struct text none = { any.p, 0 };
	uint32_t *slot = slot_of(r, none);

	if (slot && *slot == U64MAP_NONE)
		add_new(r, (struct edit){ .kind = kind, .line = 1 }, none, slot);
}

/* Adds a declaration that the new revision lacks, unless it is declared elsewhere in
 * the file. */
static void add_removed(struct reader *r, struct text line)
{
	struct text name = name_of(line);
	uint32_t *slot = slot_of(r, name), next = r->new.line;

	if (!slot)
		return;
	if (*slot == UNCHANGED)
		add_changed(r, next - (next > 1), next, line);
	else if (*slot == U64MAP_NONE)
		add_new(r, (struct edit){ .kind = EDIT_REMOVED, .line = r->old.line,
					  .at = next - (next > 1), .to = next },
			name, slot);
}

/* Remembers a declaration that both revisions have. */
static void add_unchanged(struct reader *r, struct text line)
{
	uint32_t *slot = slot_of(r, name_of(line));

	/* a deleted file has no other lines */
	if (!slot || *slot == OMITTED || *slot == UNCHANGED || r->deleted)
		return;
	if (*slot == U64MAP_NONE)
		*slot = UNCHANGED;
	else if (r->e->v.v[*slot].kind == EDIT_REMOVED) {
		r->e->v.v[*slot].kind = EDIT_CHANGED;
		r->e->v.v[*slot].line = r->e->v.v[*slot].at;
	}
}

/* The role of a line on one side. */
struct reading {
	bool declares, code;
	struct text owner;	/* the declaration that it begins or is in */
};

static struct reading read_line(struct reader *r, struct side *s, struct text line)
{
	bool continued = line.n && line.p[line.n - 1] == '\\';
	struct reading found = { .owner = s->macro.n ? s->macro : s->around };

	found.declares = !s->macro.n &&
			 source_declares(line, r->language, &s->state);
	found.code = source_has_code(line, r->language, &s->state);
	if (found.declares) {
		found.owner = line;
		if (*line.p != '#')
			s->around = line;
	}
	if (s->macro.n || (found.declares && *line.p == '#'))
		s->macro = continued ? found.owner : (struct text){ line.p, 0 };
	if (!s->state.in_declaration)
		s->around.n = 0;
	return found;
}

/* Lines removed and added next to each other. */
struct block {
	uint32_t first;		/* in the new revision */
	bool removed;		/* code was removed from `owner`, which remains */
	bool removing;		/* a declaration was removed */
	bool declared;		/* one was added */
	struct text owner;
};

static void end_block(struct reader *r, struct block *b)
{
	uint32_t next = r->new.line;

	/* nothing was added: the change is between two lines */
	if (b->removed)
		add_changed(r, next - 1, next, b->owner);
	*b = (struct block){ .owner = { "", 0 } };
}

static void read_removed(struct reader *r, struct block *b, struct text line)
{
	struct reading is = read_line(r, &r->old, line);

	if (is.declares) {
		b->removing = r->old.removed = true;
		add_removed(r, line);
	} else if (is.code && r->deleted && !is.owner.n) {
		add_removed(r, is.owner);
	} else if (is.code && !b->removing && !b->removed &&
		   !(r->old.removed && is.owner.n)) {
		b->removed = true;
		b->owner = is.owner;
	}
	r->old.line++;
}

static void read_added(struct reader *r, struct block *b, struct text line)
{
	struct reading is;

	if (text_begins(line, "Subproject commit ") && r->new.line == 1) {
		*b = (struct block){ .first = 1, .owner = { "", 0 } };
		add_file(r, EDIT_SUBMODULE, line);
		r->new.line++;
		return;
	}
	is = read_line(r, &r->new, line);
	/* code outside of all declarations was replaced by a declaration */
	if (b->removed && (b->owner.n || !is.declares))
		add_changed(r, b->first, b->first, b->owner);
	b->removed = false;
	b->declared |= is.declares;
	if (is.declares)
		add_changed(r, r->new.line, r->new.line, line);
	else if (is.code)
		add_changed(r, b->declared ? r->new.line : b->first,
			    b->declared ? r->new.line : b->first, is.owner);
	r->new.line++;
}

static void read_context(struct reader *r, struct text line)
{
	if (read_line(r, &r->old, line).declares)
		r->old.removed = false;
	if (read_line(r, &r->new, line).declares)
		add_unchanged(r, line);
	r->old.line++;
	r->new.line++;
}

/* Reads "N" or "N,M" and moves behind it. */
static bool range(struct text *t, uint32_t *first, uint32_t *count)
{
	uint64_t v[2] = { 0, 1 };

	for (int i = 0; i < 2; i++) {
		size_t digits = 0;

		v[i] = 0;
		for (; t->n && isdigit((unsigned char)*t->p); t->p++, t->n--) {
			v[i] = v[i] * 10 + (uint64_t)(*t->p - '0');
			if (v[i] > INT32_MAX)
				return false;
			digits++;
		}
		if (!digits)
			return false;
		if (i || !t->n || *t->p != ',')
			break;
		t->p++;
		t->n--;
	}
	*first = (uint32_t)v[0];
	*count = (uint32_t)v[1];
	return true;
}

/* Begins a side of a hunk.  `around` is the line that git shows as the declaration around
 * it; a complete declaration does not contain the hunk. */
static struct side side_at(uint32_t first, uint32_t count, struct text around)
{
	struct side s = { .line = first ? first + !count : 1,
			  .around = { "", 0 }, .macro = { "", 0 } };

	/* at the first line, the state is known */
	s.state.guess = s.line > 1;
	if (around.n && s.state.guess && !source_is_complete(around) &&
	    (around.p[around.n - 1] != ':' || memchr(around.p, ' ', around.n))) {
		s.around = around;
		s.state.in_declaration = true;
	}
	return s;
}

static bool read_head(struct reader *r, struct text t, uint32_t *removed,
		      uint32_t *added)
{
	uint32_t old, new;

	if (!text_begins(t, "@@ -"))
		return false;
	t.p += 4;
	t.n -= 4;
	if (!range(&t, &old, removed) || !text_begins(t, " +"))
		return false;
	t.p += 2;
	t.n -= 2;
	if (!range(&t, &new, added) || !text_begins(t, " @@"))
		return false;
	t = text_trimmed((struct text){ t.p + 3, t.n - 3 });
	r->old = side_at(old, *removed, t);
	r->new = side_at(new, *added, t);
	return true;
}

/* Reads the lines of a hunk.  What changed before its first declaration belongs to the
 * one around it. */
static void read_hunk(struct reader *r, uint32_t removed, uint32_t added,
		      struct text *rest)
{
	struct block b = { .owner = { "", 0 } };
	struct text t;

	while (r->memory && (removed || added) && next_line(rest, &t)) {
		struct text body = { t.p + 1, t.n ? t.n - 1 : 0 };
		bool old = text_begins(t, "-"), new = text_begins(t, "+");

		if (text_begins(t, "\\"))
			continue;
		if (!old && !new && t.n && *t.p != ' ')
			break;
		if ((!new && !removed) || (!old && !added))
			break;
		removed -= !new;
		added -= !old;
		if (!old && !new) {
			end_block(r, &b);
			read_context(r, body);
			continue;
		}
		if (!b.first)
			b.first = r->new.line;
		if (old)
			read_removed(r, &b, body);
		else
			read_added(r, &b, body);
	}
	end_block(r, &b);
}

/* Appends a path of the head of a file, which begins after "a/" or "b/".  Git quotes
 * paths with control characters, quotes and backslashes as C does. */
static void read_path(struct text t, const char *prefix, struct buf *out)
{
	static const char letters[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
	bool quoted = text_begins(t, "\"");
	size_t i = quoted + 2u;

	buf_reset(out);
	/* a path with spaces ends with a tab */
	if (!quoted && t.n && t.p[t.n - 1] == '\t')
		t.n--;
	if (quoted && t.n > 1 && t.p[t.n - 1] == '"')
		t.n--;
	if (t.n < i || memcmp(t.p + quoted, prefix, 2) ||
	    memchr(t.p, '\0', t.n))
		return;
	while (i < t.n) {
		const char *letter;
		unsigned int c = (unsigned char)t.p[i++];

		if (quoted && c == '\\' && i < t.n) {
			c = (unsigned char)t.p[i++];
			letter = strchr(letters, (int)c);
			if (letter)
				c = (unsigned char)values[letter - letters];
			else
				for (c -= '0'; i < t.n && t.p[i] >= '0' &&
				     t.p[i] <= '7' && c < 32; i++)
					c = 8 * c + (unsigned int)(t.p[i] - '0');
		}
		if (c & 0xff)
			buf_u8(out, (uint8_t)c);
	}
}

static void begin_file(struct reader *r)
{
	u64map_clear(&r->names);
	r->language = source_language((struct text){ (char *)r->path.p, r->path.n });
}

/* Reads "Binary files a/PATH and b/PATH differ": a file that is no text changed. */
static void read_binary(struct reader *r, struct text t)
{
	static const char head[] = "Binary files ", between[] = " and ",
			  end[] = " differ";
	const char *mid;

	t.p += sizeof(head) - 1;
	t.n -= sizeof(head) - 1;
	if (t.n < sizeof(end) || memcmp(t.p + t.n - sizeof(end) + 1, end,
					sizeof(end) - 1))
		return;
	t.n -= sizeof(end) - 1;
	mid = memmem(t.p, t.n, between, sizeof(between) - 1);
	if (!mid)
		return;
	read_path((struct text){ t.p, (size_t)(mid - t.p) }, "a/", &r->old_path);
	mid += sizeof(between) - 1;
	t = (struct text){ mid, (size_t)(t.p + t.n - mid) };
	read_path(t, "b/", &r->path);
	r->deleted = text_begins(t, "/dev/null");
	if (r->deleted)
		buf_bytes(&r->path, r->old_path.p, r->old_path.n);
	begin_file(r);
	r->old.line = r->new.line = 1;
	if (r->path.n && r->deleted)
		add_removed(r, (struct text){ t.p, 0 });
	else if (r->path.n)
		add_file(r, EDIT_CHANGED, t);
	buf_reset(&r->path);
}

/* Reads a line between hunks: the names of a file. */
static void read_file_head(struct reader *r, struct text t)
{
	struct text path = { t.p + 4, t.n > 4 ? t.n - 4 : 0 };

	if (text_begins(t, "Binary files ")) {
		read_binary(r, t);
	} else if (text_begins(t, "--- ")) {
		read_path(path, "a/", &r->old_path);
		buf_reset(&r->path);
	} else if (text_begins(t, "+++ ")) {
		r->deleted = path.n == 9 && text_begins(path, "/dev/null");
		read_path(path, "b/", &r->path);
		if (r->deleted)
			buf_bytes(&r->path, r->old_path.p, r->old_path.n);
		begin_file(r);
	}
}

int edits_parse(struct edits *e, const char *diff, size_t n)
{
	struct reader r = { .e = e, .memory = true };
	struct text rest = { diff, n }, t;

	while (r.memory && next_line(&rest, &t)) {
		uint32_t removed, added;

		if (r.path.n && read_head(&r, t, &removed, &added))
			read_hunk(&r, removed, added, &rest);
		else
			read_file_head(&r, t);
		r.memory &= !r.path.failed && !r.old_path.failed;
	}
	buf_fini(&r.path);
	buf_fini(&r.old_path);
	u64map_fini(&r.names);
	return r.memory ? 0 : -ERR_NOMEM;
}

void edits_fini(struct edits *e)
{
	for (size_t i = 0; i < e->v.n; i++) {
		free(e->v.v[i].path);
		free(e->v.v[i].name);
	}
	vec_fini(&e->v);
}
