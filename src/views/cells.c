// SPDX-License-Identifier: GPL-2.0-or-later
/* Key columns of the text report: see cells.h. */
#include "views/cells.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"

enum { GAP = 2, LEAST = 6, LEAST_SYMBOL = 16 };

static const struct frame_key *row_frame(const struct report *rep,
					 uint32_t row)
{
	return &rep->keys.keys.v[rep->table.rows.v[row].fk];
}

static void put_number(struct buf *out, uint32_t n)
{
	if (n == PROF_NONE)
		buf_str(out, "?");
	else
		buf_printf(out, "%u", n);
}

static void word_of_lane(const struct report *rep, const struct lane *l,
			 enum view_key key, struct buf *out)
{
	switch (key) {
	case KEY_COMM:
		buf_str(out, profile_cstr(rep->p, l->comm));
		break;
	case KEY_PID:
		put_number(out, l->pid);
		break;
	case KEY_TID:
		put_number(out, l->tid);
		break;
	case KEY_CPU:
		put_number(out, l->cpu);
		break;
	case KEY_RUN:
		buf_printf(out, "%llu", l->run + 1ull);
		break;
	default:
		buf_str(out, profile_cstr(rep->p,
					  rep->p->events.v[l->event].name));
		break;
	}
}

void key_word(const struct report *rep, uint32_t row, enum view_key key,
	      struct buf *out)
{
	const struct frame_key *k = row_frame(rep, row);
	const char *s;

	switch (key) {
	case KEY_IMAGE:
		name_image(rep->p, &rep->keys, k, true, out);
		break;
	case KEY_SYMBOL:
		name_symbol(rep->p, &rep->keys, k, 0, out);
		break;
	case KEY_FILE:
	case KEY_LINE:
		s = profile_cstr(rep->p, k->file);
		buf_str(out, *s ? s : "[unknown]");
		if (key == KEY_LINE && *s)
			buf_printf(out, ":%u", k->line);
		break;
	default:
		word_of_lane(rep,
			     &rep->agg.lanes.v[rep->table.rows.v[row].lane],
			     key, out);
		break;
	}
}

/* What was really measured, as the lines above the table call it. */
static const char *event_shown(const struct report *rep, uint32_t row)
{
	const struct lane *l = &rep->agg.lanes.v[rep->table.rows.v[row].lane];
	const struct prof_event *e = &rep->p->events.v[l->event];

	return prof_event_actual(rep->p, e);
}

/* The word as it is shown: safe, images by their last part. */
static void put_cell(struct key_cells *c, uint32_t row, enum view_key key,
		     struct buf *tmp)
{
	if (key == KEY_SYMBOL) {
		buf_str(&c->text,
			name_cached(&c->names, c->rep->table.rows.v[row].fk));
	} else if (key == KEY_EVENT) {
		text_safe(&c->text, event_shown(c->rep, row));
	} else {
		buf_reset(tmp);
		if (key == KEY_IMAGE && !c->full_names)
			name_image(c->rep->p, &c->rep->keys,
				   row_frame(c->rep, row), false, tmp);
		else
			key_word(c->rep, row, key, tmp);
		c->text.failed |= tmp->failed;
		text_safe(&c->text, buf_cstr(tmp));
	}
	buf_u8(&c->text, 0);
}

static const char *cell(const struct key_cells *c, size_t i, size_t k)
{
	size_t keys = c->rep->spec.keys.n;

	return (const char *)c->text.p + c->at.v[i * keys + k];
}

/* Takes columns away from the widest until the rest fits. */
static void fit(struct key_cells *c, size_t room)
{
	const struct key_list *keys = &c->rep->spec.keys;

	for (;;) {
		size_t sum = 0, widest = keys->n;

		for (size_t k = 0; k < keys->n; k++) {
			size_t least = keys->v[k] == KEY_SYMBOL ? LEAST_SYMBOL
								: LEAST;

			sum += c->width[k] + (k ? GAP : 0);
			if (c->width[k] > least &&
			    (widest == keys->n ||
			     c->width[k] > c->width[widest]))
				widest = k;
		}
		if (sum <= room || widest == keys->n)
			return;
		c->width[widest]--;
	}
}

static void measure(struct key_cells *c, size_t room)
{
	const struct key_list *keys = &c->rep->spec.keys;

	for (size_t k = 0; k < keys->n; k++) {
		size_t most = strlen(key_name(keys->v[k]));

		for (size_t i = 0; i < c->rep->order.n; i++) {
			size_t w = text_columns(cell(c, i, k));

			most = w > most ? w : most;
		}
		/* one endless name must not make fit() slow */
		c->width[k] = room && most > room ? room : most;
	}
	if (room)
		fit(c, room);
}

int key_cells_init(struct key_cells *c, const struct report *rep,
		   bool full_names, size_t room)
{
	const struct key_list *keys = &rep->spec.keys;
	struct buf tmp = { 0 };

	*c = (struct key_cells){ .rep = rep, .full_names = full_names };
	if (name_cache_init(&c->names, rep->p, &rep->keys,
			    full_names ? 0 : NAME_SHORT) < 0 ||
	    vec_reserve(&c->at, rep->order.n * keys->n + 1) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < rep->order.n; i++) {
		for (size_t k = 0; k < keys->n; k++) {
			c->at.v[c->at.n++] = (uint32_t)c->text.n;
			put_cell(c, rep->order.v[i], keys->v[k], &tmp);
		}
	}
	buf_fini(&tmp);
	if (c->text.failed || c->names.text.failed || c->text.n > UINT32_MAX)
		return -ERR_NOMEM;
	measure(c, room);
	return 0;
}

void key_cells_fini(struct key_cells *c)
{
	name_cache_fini(&c->names);
	buf_fini(&c->text);
	vec_fini(&c->at);
}

static void put_column(struct key_cells *c, size_t k, const char *s,
		       struct buf *out)
{
	const struct key_list *keys = &c->rep->spec.keys;
	size_t width = c->width[k], used = text_columns(s);

	if (k)
		line_pad(out, GAP);
	if (used <= width)
		buf_str(out, s);
	else if (keys->v[k] == KEY_FILE || keys->v[k] == KEY_LINE)
		line_cut_left(out, s, width);
	else if (keys->v[k] == KEY_SYMBOL && !c->full_names)
		line_cut_symbol(out, s, width);
	else
		text_cut(out, s, width);
	if (k + 1 < keys->n && used < width)
		line_pad(out, width - used);
}

void key_cells_row(struct key_cells *c, size_t i, struct buf *out)
{
	for (size_t k = 0; k < c->rep->spec.keys.n; k++)
		put_column(c, k, cell(c, i, k), out);
}

void key_cells_head(struct key_cells *c, struct buf *out)
{
	char name[16];

	for (size_t k = 0; k < c->rep->spec.keys.n; k++) {
		const char *s = key_name(c->rep->spec.keys.v[k]);
		size_t n = 0;

		for (; s[n] && n < sizeof(name) - 1; n++)
			name[n] = (char)toupper((unsigned char)s[n]);
		name[n] = 0;
		put_column(c, k, name, out);
	}
}
