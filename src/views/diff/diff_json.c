// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a diff as JSON (schema 1) and as CSV.
 *
 *	{"schema":1,
 *	 "header":{"normalised_by","why","runs_differ","runs_differ_assumed",
 *	   "old":{"path","command","runs","seconds","samples","lost"},"new":{…},
 *	   "events":[{"event","unit","old","new","change","low","high"}],
 *	   "rows_tested","rows_beyond_noise","hidden_rows"},
 *	 "rows":[
 *	  {"symbol","moved_from","moved_to","image","file","line","old_line",
 *	   "comm","cpu","status",
 *	   "self":{"old":{"samples","weight","cost"},"new":{…},
 *	     "change","low","high","p","q","beyond_noise"},
 *	   "total":{…}}, …]}
 *
 * Costs are in the event's unit.  Only requested keys are present.  With several
 * events a row has "events":[{"event","status","self","total"}] instead of
 * "self" and "total".  "low" and "high" are null if unknown.
 */
#include <inttypes.h>

#include "base/json.h"
#include "base/text.h"
#include "views/diff/diff_internal.h"

static const char *const side_names[] = { "old", "new" };

static void put_side(const struct diff *d, int side, struct json *j)
{
	const struct diff_side *s = &d->side[side];
	const struct profile *p = s->p;

	json_object(j, side_names[side]);
	json_str(j, "path", s->path);
	json_str(j, "command", p->runs.n ? quality_run_title(p, &p->runs.v[0])
					 : "");
	json_uint(j, "runs", s->nruns);
	json_fixed(j, "seconds", s->seconds, 6);
	json_uint(j, "samples", s->rep->quality.shown);
	json_uint(j, "lost", s->rep->quality.lost);
	if (*reader_damage(s->reader)->message)
		json_str(j, "damage", reader_damage(s->reader)->message);
	json_end(j);
}

/* Writes a number with a precision that suits both costs in ns and small
 * shares. */
static void put_number(struct json *j, const char *key, double x)
{
	json_fixed(j, key, x, 4);
}

static void put_change(const struct cost_change *c, struct json *j)
{
	put_number(j, "change", c->change);
	put_number(j, "low", c->low);
	put_number(j, "high", c->high);
}

void diff_json_header(const struct diff *d, struct json *j)
{
	json_object(j, "header");
	json_str(j, "normalised_by", diff_norm_name(d->norm));
	json_str(j, "why", d->why);
	for (int s = 0; s < DIFF_SIDES; s++)
		put_side(d, s, j);
	json_array(j, "events");
	for (size_t c = 0; c < d->cols.n; c++) {
		const struct diff_column *k = &d->cols.v[c];

		json_object(j, NULL);
		json_str(j, "event", diff_event_name(d, c));
		json_str(j, "unit", diff_unit(d, c));
		put_number(j, "old", k->total.cost[DIFF_OLD]);
		put_number(j, "new", k->total.cost[DIFF_NEW]);
		put_change(&k->total, j);
		json_fixed(j, "runs_differ", k->tau, 6);
		json_bool(j, "runs_differ_assumed", d->tau_assumed);
		json_end(j);
	}
	json_end(j);
	json_uints(j, { "rows_tested", d->tested },
		   { "rows_beyond_noise", d->real }, { "hidden_rows", d->hidden });
	json_end(j);
}

static void put_costs(const struct diff *d, uint32_t row, size_t col,
		      bool total, struct json *j)
{
	const struct cost_change *c = diff_row_change(d, row, col, total);

	json_object(j, total ? "total" : "self");
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct values *v = &diff_values(d, s, row)[col];
		struct cell x = total ? v->total : v->self;

		json_object(j, side_names[s]);
		json_uint(j, "samples", x.count);
		json_uint(j, "weight", x.weight);
		put_number(j, "cost", c->cost[s]);
		json_end(j);
	}
	put_change(c, j);
	json_fixed(j, "p", c->p, 6);
	json_fixed(j, "q", c->q, 6);
	json_bool(j, "beyond_noise", c->real);
	json_end(j);
}

static void put_column(const struct diff *d, uint32_t row, size_t col,
		       struct json *j)
{
	json_str(j, "status", diff_status_name(
			diff_status(d, row, col, d->spec.by_total)));
	put_costs(d, row, col, false, j);
	put_costs(d, row, col, true, j);
}

/* Writes "line", the new number if there is one, and "old_line". */
static void put_line(const struct diff *d, uint32_t key, struct json *j)
{
	uint32_t old = diff_line(d, key, DIFF_OLD);
	bool gone = d->key_fk[DIFF_NEW].v[key] == PROF_NONE;
	uint32_t now = gone ? old : diff_line(d, key, DIFF_NEW);

	json_uint(j, "line", now);
	if (d->keys.keys.v[key].line & LINE_REMOVED || (old && old != now))
		json_uint(j, "old_line", old);
}

static void put_moved(const struct diff *d, uint32_t other, const char *key,
		      struct buf *tmp, struct json *j)
{
	if (other == PROF_NONE)
		return;
	buf_again(tmp);
	diff_name(d, d->rows.v[other].key, tmp);
	json_str(j, key, buf_cstr(tmp));
}

static void put_row(const struct diff *d, uint32_t row, struct buf *tmp,
		    struct json *j)
{
	const struct diff_row *r = &d->rows.v[row];
	const struct frame_key *k = &d->keys.keys.v[r->key];
	uint32_t mask = d->spec.keys.mask;
	struct lane lane = { .comm = r->comm, .cpu = r->cpu, .wait = r->wait };
	struct column_at x = { .p = &d->names, .lane = &lane, .frame = k };

	json_object(j, NULL);
	for (int key = 0; key < KEY_COUNT; key++)
		if (mask & KEY_BIT(key) & ~KEYS_OF_FRAME)
			column_json(&report_columns[key], &x, tmp, j);
	if (mask & KEY_BIT(KEY_SYMBOL)) {
		buf_again(tmp);
		diff_name(d, r->key, tmp);
		json_str(j, "symbol", buf_cstr(tmp));
		buf_again(tmp);
		diff_name_stable(d, r->key, tmp);
		json_str(j, "id", buf_cstr(tmp));
	}
	buf_again(tmp);
	if (mask & KEY_BIT(KEY_SYMBOL) && diff_name_before(d, r->key, tmp))
		json_str(j, "moved_from", buf_cstr(tmp));
	else
		put_moved(d, d->moved_from[row], "moved_from", tmp, j);
	put_moved(d, d->moved_to[row], "moved_to", tmp, j);
	if (mask & KEY_BIT(KEY_IMAGE))
		json_str(j, "image", profile_cstr(&d->names, k->image));
	if (mask & (KEY_BIT(KEY_FILE) | KEY_BIT(KEY_LINE)))
		json_str(j, "file", profile_cstr(&d->names, k->file));
	if (mask & KEY_BIT(KEY_LINE))
		put_line(d, r->key, j);
	if (d->cols.n == 1)
		put_column(d, row, 0, j);
	else
		json_array(j, "events");
	for (size_t c = 0; d->cols.n > 1 && c < d->cols.n; c++) {
		json_object(j, NULL);
		json_str(j, "event", diff_event_name(d, c));
		put_column(d, row, c, j);
		json_end(j);
	}
	if (d->cols.n > 1)
		json_end(j);
	json_end(j);
}

void diff_json(const struct diff *d, struct buf *out)
{
	struct json j = json_on(out);
	struct buf tmp = { 0 };

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	diff_json_header(d, &j);
	json_array_lines(&j, "rows");
	for (size_t i = 0; i < d->order.n; i++)
		put_row(d, d->order.v[i], &tmp, &j);
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
	buf_close(&tmp, out);
}

static void put_csv_key(const struct diff *d, const struct diff_row *r,
			enum view_key key, struct buf *tmp, struct buf *out)
{
	const struct frame_key *k = &d->keys.keys.v[r->key];
	struct lane lane = { .comm = r->comm, .cpu = r->cpu, .wait = r->wait };
	struct column_at x = { .p = &d->names, .lane = &lane, .frame = k };

	if (!(KEY_BIT(key) & KEYS_OF_FRAME)) {
		column_csv(&report_columns[key], &x, tmp, out);
		buf_u8(out, ',');
		return;
	}
	buf_again(tmp);
	if (key == KEY_SYMBOL)
		diff_name(d, r->key, tmp);
	else if (key == KEY_IMAGE)
		buf_str(tmp, profile_cstr(&d->names, k->image));
	else if (key == KEY_FILE || !key_list_has(&d->spec.keys, KEY_FILE))
		buf_str(tmp, profile_cstr(&d->names, k->file));
	if (key != KEY_LINE || !key_list_has(&d->spec.keys, KEY_FILE)) {
		text_csv(out, buf_cstr(tmp));
		buf_u8(out, ',');
	}
	if (key == KEY_LINE)
		buf_printf(out, "%u,", diff_line(d, r->key, d->key_fk[DIFF_NEW].v[
				r->key] == PROF_NONE ? DIFF_OLD : DIFF_NEW));
}

static void put_csv_costs(const struct diff *d, uint32_t row, size_t col,
			  bool total, struct buf *out)
{
	const struct cost_change *c = diff_row_change(d, row, col, total);

	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct values *v = &diff_values(d, s, row)[col];

		buf_printf(out, ",%" PRIu64 ",%.4f",
			   total ? v->total.count : v->self.count, c->cost[s]);
	}
	buf_printf(out, ",%.4f,%.4f,%.4f,%.6f", c->change, c->low, c->high,
		   c->q);
}

void diff_csv(const struct diff *d, struct buf *out)
{
	const struct key_list *keys = &d->spec.keys;
	struct buf tmp = { 0 };

	for (size_t k = 0; k < keys->n; k++) {
		if (keys->v[k] == KEY_LINE && !key_list_has(keys, KEY_FILE))
			buf_str(out, "file,");
		buf_printf(out, "%s,", key_name(keys->v[k]));
	}
	buf_str(out, "event,unit,status");
	for (int total = 0; total < 2; total++) {
		const char *what = total ? "total" : "self";

		buf_printf(out, ",%s_old_samples,%s_old,%s_new_samples,%s_new,"
			   "%s_change,%s_low,%s_high,%s_q", what, what, what,
			   what, what, what, what, what);
	}
	buf_str(out, "\r\n");
	for (size_t i = 0; i < d->order.n; i++)
		for (size_t c = 0; c < d->cols.n; c++) {
			uint32_t row = d->order.v[i];

			for (size_t k = 0; k < keys->n; k++)
				put_csv_key(d, &d->rows.v[row], keys->v[k],
					    &tmp, out);
			text_csv(out, diff_event_name(d, c));
			buf_printf(out, ",%s,%s", diff_unit(d, c),
				   diff_status_name(diff_status(
					d, row, c, d->spec.by_total)));
			put_csv_costs(d, row, c, false, out);
			put_csv_costs(d, row, c, true, out);
			buf_str(out, "\r\n");
		}
	buf_close(&tmp, out);
}
