// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a report as JSON, schema 1:
 *
 *	{"schema":1,"header":{…},"rows":[
 *	{"symbol":…,"image":…,"id":…,"self":{"samples","weight","percent"},"total":{…},
 *	 "children":[…]}, …]}
 *
 * Only requested keys are present.  With several events a row has
 * "events":[{"event","self","total"},…] instead of "self" and "total".  Rows
 * have "children" only with a tree; children have them if there are any.
 * Branches of a caller tree have no "self".
 */
#include "base/json.h"
#include "base/text.h"
#include "views/query/names.h"
#include "views/report.h"

struct writer_json {
	const struct report *rep;
	struct buf *out;
	struct name_cache names, tree_names;
	struct buf tmp;
};

/* Returns a name as JSON, which is built once and then copied. */
static const char *json_name(struct name_cache *c, uint32_t fk)
{
	if (!c->at[fk] && c->text.n < UINT32_MAX - 1) {
		c->at[fk] = (uint32_t)c->text.n + 1;
		buf_reset(&c->tmp);
		name_symbol(c->p, c->keys, &c->keys->keys.v[fk], c->how,
			    &c->tmp);
		text_json(&c->text, buf_cstr(&c->tmp));
		buf_u8(&c->text, 0);
	}
	return c->text.failed || !c->at[fk]
		       ? "\"\"" : (const char *)c->text.p + c->at[fk] - 1;
}

static void put_values(struct writer_json *w, struct json *j, uint32_t lane,
		       const struct values *v, bool self)
{
	const struct report *rep = w->rep;
	struct column_at x = { .p = rep->p };

	if (rep->table.ncols == 1) {
		report_at_event(rep, lane, 0, v, &x);
		column_json_numbers(&x, self, j);
		return;
	}
	json_array(j, "events");
	for (size_t e = 0; e < rep->table.ncols; e++) {
		report_at_event(rep, lane, e, v, &x);
		json_object(j, NULL);
		json_str(j, "event", profile_cstr(rep->p, rep->p->events.v[
			report_event(rep, lane, e)].name));
		column_json_numbers(&x, self, j);
		json_end(j);
	}
	json_end(j);
}

/* Writes the keys in `mask`; a line includes its file. */
static void put_keys(struct writer_json *w, struct json *j, uint32_t mask,
		     const struct column_at *x)
{
	if (mask & KEY_BIT(KEY_LINE))
		mask |= KEY_BIT(KEY_FILE);
	for (int k = 0; k < KEY_COUNT; k++)
		if (mask & KEY_BIT(k))
			column_json(&report_columns[k], x, &w->tmp, j);
}

static void put_frame(struct writer_json *w, struct json *j,
		      struct name_cache *names, const struct frame_keys *keys,
		      uint32_t fk)
{
	struct column_at x = { .p = w->rep->p, .keys = keys,
			       .frame = &keys->keys.v[fk] };

	if (keys->mask & KEY_BIT(KEY_SYMBOL)) {
		buf_str(w->out, j->comma[j->depth] ? ",\"symbol\":"
						   : "\"symbol\":");
		j->comma[j->depth] = true;
		buf_str(w->out, json_name(names, fk));
	}
	put_keys(w, j, keys->mask & KEYS_OF_FRAME & ~KEY_BIT(KEY_SYMBOL), &x);
	if (keys->mask & KEY_BIT(KEY_SYMBOL)) {
		buf_again(&w->tmp);
		name_stable(x.p, keys, x.frame, &w->tmp);
		json_str(j, "id", buf_cstr(&w->tmp));
	}
}

/*
 * Writes the pre-order tree as nested objects.  Each object has its own JSON
 * writer and is closed here, because trees may be deeper than a writer nests.
 */
static void put_tree(struct writer_json *w, const struct row *row)
{
	const struct report *rep = w->rep;
	bool self = rep->spec.tree == TREE_CALLEES;
	uint32_t end = row->tree + row->tree_n, depth = 0;

	buf_str(w->out, ",\"children\":[");
	for (uint32_t i = row->tree; i < end; i++) {
		const struct tree_node *n = &rep->tree.v[i];
		struct json j = json_on(w->out);

		for (; depth > n->depth; depth--)
			buf_str(w->out, "]}");
		if (i > row->tree && rep->tree.v[i - 1].depth >= n->depth)
			buf_u8(w->out, ',');
		json_object(&j, NULL);
		put_frame(w, &j, &w->tree_names, rep->tree_keys, n->fk);
		if (n->inlined)
			json_bool(&j, "inlined", true);
		if (n->recursive)
			json_bool(&j, "recursive", true);
		put_values(w, &j, row->lane,
			   &rep->tree_vals.v[i * rep->table.ncols], self);
		if (i + 1 < end && rep->tree.v[i + 1].depth > n->depth) {
			buf_str(w->out, ",\"children\":[");
			depth = n->depth + 1;
		} else {
			buf_u8(w->out, '}');
		}
	}
	for (; depth > 0; depth--)
		buf_str(w->out, "]}");
	buf_u8(w->out, ']');
}

static void put_row(struct writer_json *w, uint32_t r)
{
	const struct report *rep = w->rep;
	const struct row *row = &rep->table.rows.v[r];
	struct json j = json_on(w->out);
	struct column_at x;

	report_at_row(rep, r, &x);
	json_object(&j, NULL);
	put_keys(w, &j, rep->spec.keys.mask & ~KEYS_OF_FRAME, &x);
	put_frame(w, &j, &w->names, &rep->keys, row->fk);
	put_values(w, &j, row->lane, report_values(rep, r), true);
	if (rep->spec.tree != TREE_NONE)
		put_tree(w, row);
	json_end(&j);
}

static void put_report(struct writer_json *w)
{
	const struct report *rep = w->rep;
	struct json j = json_on(w->out);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_object(&j, "header");
	quality_json(&rep->quality, &j);
	missing_json(&rep->missing, &j);
	json_uint(&j, "hidden_rows", rep->below_limit + rep->beyond_top);
	json_end(&j);
	buf_str(w->out, ",\"rows\":[");
	for (size_t i = 0; i < rep->order.n; i++) {
		buf_str(w->out, i ? ",\n" : "\n");
		put_row(w, rep->order.v[i]);
	}
	buf_str(w->out, rep->order.n ? "\n]}\n" : "]}\n");
}

void report_json(const struct report *rep, struct buf *out)
{
	struct writer_json w = { .rep = rep, .out = out };

	if (name_cache_init(&w.names, rep->p, &rep->keys, 0) < 0 ||
	    name_cache_init(&w.tree_names, rep->p, rep->tree_keys, 0) < 0)
		out->failed = true;
	else
		put_report(&w);
	if (w.names.text.failed || w.tree_names.text.failed)
		out->failed = true;
	name_cache_fini(&w.names);
	name_cache_fini(&w.tree_names);
	buf_fini(&w.tmp);
}
